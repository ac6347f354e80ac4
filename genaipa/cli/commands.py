"""Every command and the file that it lives in."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

from genaipa.cli import (
    batches,
    collect,
    compare,
    demo,
    doctor,
    importing,
    init,
    judge,
    judges,
    leaderboard,
    objections,
    pack,
    policies,
    prompts,
    pull,
    questions,
    report,
    run,
    runs,
    sample,
    score,
    scores,
    show,
    systems,
    unpack,
    validate,
)
from genaipa.cli.help import Command, Group, Listing
from genaipa.cli.options import WorkspaceOption

if TYPE_CHECKING:
    from collections.abc import Callable

    import typer


_COMMANDS: dict[str, Callable[..., None]] = {
    "run": run.run,
    "collect": collect.collect,
    "systems": systems.systems,
    "show": show.show,
    "judge": judge.judge,
    "sample": sample.sample,
    "score": score.score,
    "report": report.report,
    "compare": compare.compare,
    "leaderboard": leaderboard.leaderboard,
    "judges": judges.judges,
    "pack": pack.pack,
    "unpack": unpack.unpack,
    "pull": pull.pull,
    "import": importing.import_,
    "init": init.init,
    "questions": questions.questions,
    "prompts": prompts.prompts,
    "validate": validate.validate,
    "demo": demo.demo,
    "doctor": doctor.doctor,
}
_GROUPS = {
    "runs": (runs.app, Listing),
    "batches": (batches.app, Listing),
    "scores": (scores.app, Group),
    "objections": (objections.app, Group),
    "policies": (policies.app, Group),
}


_NOWHERE = (init.init, unpack.unpack)
"""Commands that work outside of any workspace."""


def register(app: typer.Typer) -> None:
    """Put the commands into the app."""
    for name, command in _COMMANDS.items():
        app.command(name, cls=Command)(_located(command))
    for name, (group, cls) in _GROUPS.items():
        for one in group.registered_commands:
            one.cls, one.callback = Command, _located(one.callback)
        if group.registered_callback is not None:
            group.registered_callback.callback = _located(group.registered_callback.callback)
        app.add_typer(group, name=name, cls=cls)


def _located(command: Any) -> Any:
    """The command with the option --workspace, which `current_workspace` goes by."""
    signature = inspect.signature(command, eval_str=True)
    if command in _NOWHERE or "workspace" in signature.parameters:
        return command
    option = inspect.Parameter("workspace", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=WorkspaceOption)

    @functools.wraps(command)
    def located(*, workspace: Any = None, **given: Any) -> None:  # noqa: ARG001 - noted by its callback
        command(**given)

    parameters = [*signature.parameters.values(), option]
    located.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    located.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return located
