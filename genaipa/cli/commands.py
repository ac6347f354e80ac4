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

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Put the commands into the app, in the order in which `--help` shows them."""
    app.command("run")(run.run)
    app.command("collect")(collect.collect)
    app.command("runs")(runs.runs)
    app.command("show")(show.show)
    app.command("score")(score.score)
    app.add_typer(scores.app, name="scores")
    app.command("report")(report.report)
    app.command("compare")(compare.compare)
    app.command("leaderboard")(leaderboard.leaderboard)
    app.command("pack")(pack.pack)
    app.command("unpack")(unpack.unpack)
    app.command("demo")(demo.demo)
    app.add_typer(policies.app, name="policies")
    app.command("questions")(questions.questions)
    app.command("prompts")(prompts.prompts)
    app.command("pull")(pull.pull)
    app.command("import")(importing.import_)
    app.command("systems")(systems.systems)
    app.command("init")(init.init)
    app.command("validate")(validate.validate)
    app.command("doctor")(doctor.doctor)
