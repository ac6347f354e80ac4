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
    get,
    init,
    judge,
    judges,
    leaderboard,
    objections,
    pack,
    policies,
    prompts,
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
    view,
)
from genaipa.cli.closing import NOTHING, closing
from genaipa.cli.help import Command, Group, Listing
from genaipa.cli.options import ExplainOption, QuietOption, WorkspaceOption

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
    "get": get.get,
    "init": init.init,
    "prompts": prompts.prompts,
    "validate": validate.validate,
    "demo": demo.demo,
    "doctor": doctor.doctor,
    "view": view.view,
}
_GROUPS = {
    "runs": (runs.app, Listing),
    "scores": (scores.app, Group),
    "policies": (policies.app, Group),
    "questions": (questions.app, Listing),
}


_WITHIN: dict[str, dict[str, Any]] = {
    "runs": {"batches": (batches.app, Listing)},
    "scores": {"objections": (objections.app, Group)},
}
"""Command → its own commands that have commands."""
_NOWHERE = (init.init, unpack.unpack)
"""Commands that work outside of any workspace."""


def register(app: typer.Typer) -> None:
    """Put the commands into the app, each with the options that every command has."""
    for name, command in _COMMANDS.items():
        app.command(name, cls=Command)(_everywhere(command))
    _add_groups(app, _GROUPS)
    for name, below in _WITHIN.items():
        _add_groups(_GROUPS[name][0], below)


def _add_groups(app: typer.Typer, groups: dict[str, Any]) -> None:
    for name, (group, cls) in groups.items():
        for one in group.registered_commands:
            one.cls, one.callback = Command, _everywhere(one.callback)
        if group.registered_callback is not None:
            group.registered_callback.callback = _everywhere(group.registered_callback.callback)
        app.add_typer(group, name=name, cls=cls)


def _everywhere(command: Any) -> Any:
    """The command with --workspace, which `current_workspace` goes by, and with --explain and --quiet."""
    signature = inspect.signature(command, eval_str=True)
    own, general = list(signature.parameters.values()), _general(command)
    added: dict[str, Any] = {"explain": ExplainOption, "quiet": QuietOption}
    if command not in _NOWHERE and "workspace" not in signature.parameters:
        added = {"workspace": WorkspaceOption, **added}
    kind = inspect.Parameter.KEYWORD_ONLY
    defaults = {"workspace": None, "explain": False, "quiet": False}
    parameters = [
        *own,
        *(inspect.Parameter(name, kind, default=defaults[name], annotation=of) for name, of in added.items()),
    ]

    @functools.wraps(command)
    def everywhere(**given: Any) -> None:
        explains, quiet = given.pop("explain"), given.pop("quiet")
        if "workspace" in added:
            given.pop("workspace")  # noted by its callback
        with closing(general, explains=explains, quiet=quiet, json=bool(given.get("json"))):
            command(**given)

    everywhere.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    everywhere.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return everywhere


def _general(command: Any) -> str:
    """The help page's text after its first sentence: it explains a command that has no explanation of its own."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")[1:]
    return "\n".join(" ".join(one.split()) for one in paragraphs) or NOTHING
