"""The command line: options in, one function of the package called, its result printed.

One command, one file. Nothing but typer is imported until a command runs, so that `genaipa --help` stays fast.
"""

from __future__ import annotations

import io
import sys

import typer

from genaipa import __version__
from genaipa.errors import GenaipaError

app = typer.Typer(
    name="genaipa",
    help="Measure how well AI assistants answer people's questions about privacy policies and data-protection law.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # rich's help pages take three times as long to import as everything else here together.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"genaipa {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(  # noqa: ARG001 - handled by its callback
        False, "--version", help="Say the version and leave.", callback=_version, is_eager=True
    ),
) -> None:
    from genaipa.cli.environment import load_dotenv

    load_dotenv()


def main() -> None:
    """Run the command line; an error is one sentence on stderr and its exit code."""
    from genaipa.cli import commands

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A reply may hold any character; a terminal that can't show it must not end the run.
            stream.reconfigure(errors="replace")
    commands.register(app)
    try:
        app()
    except GenaipaError as error:
        typer.echo(f"genaipa: {error}", err=True)
        sys.exit(error.exit_code)
