"""The command line: options in, one function of the package called, its result printed.

One command, one file. Nothing but typer is imported until a command runs, so that `genaipa --help` stays fast.
"""

from __future__ import annotations

import io
import signal
import sys
from typing import TYPE_CHECKING

import typer

from genaipa import __version__
from genaipa.errors import GenaipaError

if TYPE_CHECKING:
    from types import FrameType

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


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End as at Ctrl-C, so that a server that was started here ends too, in the way that holds at this moment."""
    # asyncio's own while it runs; in a shell's background job Ctrl-C is ignored, but other signals are not.
    at_ctrl_c = signal.getsignal(signal.SIGINT)
    (at_ctrl_c if callable(at_ctrl_c) else signal.default_int_handler)(number, frame)


def main() -> None:
    """Run the command line; an error is one sentence on stderr and its exit code."""
    from genaipa.cli import commands

    for name in ("SIGTERM", "SIGHUP"):  # Windows has no SIGHUP, and nohup ignores it
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A reply may hold any character; a terminal that can't show it must not end the run.
            stream.reconfigure(errors="replace")
    commands.register(app)
    try:
        app()
    except GenaipaError as error:
        from genaipa.cli.screen import complain

        complain(error)
        sys.exit(error.exit_code)
