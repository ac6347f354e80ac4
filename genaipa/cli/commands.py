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
    show,
    systems,
    validate,
)

if TYPE_CHECKING:
    import typer

STUDY = "A study"
DATA = "What is asked about what"
SETUP = "This machine"


def register(app: typer.Typer) -> None:
    """Put the commands into the app, in the order in which `--help` shows them."""
    app.command("run", rich_help_panel=STUDY)(run.run)
    app.command("collect", rich_help_panel=STUDY)(collect.collect)
    app.command("runs", rich_help_panel=STUDY)(runs.runs)
    app.command("show", rich_help_panel=STUDY)(show.show)
    app.command("demo", rich_help_panel=STUDY)(demo.demo)
    app.add_typer(policies.app, name="policies", rich_help_panel=DATA)
    app.command("questions", rich_help_panel=DATA)(questions.questions)
    app.command("prompts", rich_help_panel=DATA)(prompts.prompts)
    app.command("pull", rich_help_panel=DATA)(pull.pull)
    app.command("systems", rich_help_panel=SETUP)(systems.systems)
    app.command("init", rich_help_panel=SETUP)(init.init)
    app.command("validate", rich_help_panel=SETUP)(validate.validate)
    app.command("doctor", rich_help_panel=SETUP)(doctor.doctor)
