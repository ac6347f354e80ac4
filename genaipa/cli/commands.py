"""Every command and the file that it lives in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.cli import (
    collect,
    compare,
    demo,
    doctor,
    importing,
    init,
    leaderboard,
    pack,
    policies,
    prompts,
    pull,
    questions,
    report,
    run,
    runs,
    score,
    scores,
    show,
    systems,
    unpack,
    validate,
)
from genaipa.cli.help import Command, Group, Listing

if TYPE_CHECKING:
    from collections.abc import Callable

    import typer


_COMMANDS: dict[str, Callable[..., None]] = {
    "run": run.run,
    "collect": collect.collect,
    "systems": systems.systems,
    "show": show.show,
    "score": score.score,
    "report": report.report,
    "compare": compare.compare,
    "leaderboard": leaderboard.leaderboard,
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
_GROUPS = {"runs": (runs.app, Listing), "scores": (scores.app, Group), "policies": (policies.app, Group)}


def register(app: typer.Typer) -> None:
    """Put the commands into the app."""
    for name, command in _COMMANDS.items():
        app.command(name, cls=Command)(command)
    for name, (group, cls) in _GROUPS.items():
        for one in group.registered_commands:
            one.cls = Command
        app.add_typer(group, name=name, cls=cls)
