"""Every command and the file that it lives in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.cli import (
    collect,
    demo,
    doctor,
    init,
    policies,
    prompts,
    pull,
    questions,
    run,
    runs,
    score,
    scores,
    show,
    systems,
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
    app.command("demo")(demo.demo)
    app.add_typer(policies.app, name="policies")
    app.command("questions")(questions.questions)
    app.command("prompts")(prompts.prompts)
    app.command("pull")(pull.pull)
    app.command("systems")(systems.systems)
    app.command("init")(init.init)
    app.command("validate")(validate.validate)
    app.command("doctor")(doctor.doctor)
