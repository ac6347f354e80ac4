"""The command line: options in, one function of the package called, its result printed.

One command, one file. Nothing but typer is imported until a command runs, so that `genaipa --help` stays fast.
"""

from __future__ import annotations

import errno
import functools
import sys
from typing import Any

import typer
from typer.exceptions import TyperException

from genaipa import __version__
from genaipa.cli.register import Commands
from genaipa.cli.terminal.options import WorkspaceOption
from genaipa.errors import GenaipaError, OptionError, UsageError, clipped

WIDEST_HELP = 120
"""Columns beyond which a help page grows no wider."""
_NAMES = (errno.ENAMETOOLONG, errno.ELOOP)
"""Errors of the operating system for a name that no file can have."""

app = typer.Typer(
    name="genaipa",
    help="Measure how well AI assistants answer people's questions about privacy policies and data-protection law.",
    cls=Commands,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    # rich's help pages take three times as long to import as everything else here together.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST_HELP},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"genaipa {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: bool = typer.Option(  # noqa: ARG001 - handled by its callback
        False, "--version", help="Show the version and exit.", callback=_version, is_eager=True
    ),
    workspace: WorkspaceOption = None,  # noqa: ARG001 - noted by its callback
) -> None:
    from genaipa.cli.terminal.process import load_dotenv

    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        return
    load_dotenv()


@functools.cache
def command() -> Any:
    """The whole command line as one command, made once for a process."""
    return typer.main.get_command(app)


def _check_text(arguments: list[str]) -> None:
    """Raise a UsageError for bytes that are no text: no file could hold such a name."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise UsageError(
                f"'{clipped(argument)}' is not UTF-8 text; write it with letters of this terminal."
            ) from None


def carry_out(arguments: list[str] | None = None) -> int:
    """Carry out a command and give its exit code; an error is one sentence on stderr."""
    from genaipa.cli.terminal.console import complain
    from genaipa.cli.terminal.process import prepare_streams

    prepare_streams()
    try:
        _check_text(sys.argv[1:] if arguments is None else arguments)
        code = command()(arguments, prog_name="genaipa", standalone_mode=False)
        sys.stdout.flush()
    except GenaipaError as error:
        complain(f"{error.flag}{error.problem}" if isinstance(error, OptionError) else error)
        return error.exit_code
    except TyperException as error:
        from genaipa.cli.terminal.usage import sentence

        complain(sentence(error))
        return error.exit_code
    except typer.Abort:
        complain("nothing was done.")
        return 1
    except BrokenPipeError:  # whoever read the output has read enough
        return 1
    except OSError as error:
        if error.errno not in _NAMES:
            raise
        complain(UsageError(f"'{clipped(str(error.filename))}' can't name a file or folder ({error.strerror})."))
        return UsageError.exit_code
    return code if isinstance(code, int) else 0
