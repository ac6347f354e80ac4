"""The command line: options in, one function of the package called, its result printed.

One command, one file. Each is made when it is named, so that a command imports none of the others, and nothing but
typer is imported until one runs, so that `genaipa --help` stays fast.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import inspect
import sys
from importlib import import_module
from typing import Any

import typer
from typer.exceptions import TyperException
from typer.main import get_group

from genaipa import __version__
from genaipa.cli.terminal.console import NOTHING, print_queued_notes_at_end
from genaipa.cli.terminal.headings import OWN, command_names, package_commands
from genaipa.cli.terminal.help import Command, DefaultListGroup, Group, RootGroup, describe_parser_error
from genaipa.cli.terminal.options import (
    ExplainOption,
    QuietOption,
    WorkspaceOption,
    name_workspace_in_next_command,
)
from genaipa.errors import GenaipaError, OptionError, RefusedSystemError, UsageError, clip
from genaipa.plugins import load_object

_WITHIN = {"runs": ("batches",)}
"""Command → its own commands that have commands."""
_NOWHERE = ("init", "unpack")
"""Commands that work outside of any workspace."""


class Commands(RootGroup):
    """`genaipa` itself, whose commands are made when they are named."""

    def __init__(self, **details: Any) -> None:
        super().__init__(**details)
        self.commands = dict.fromkeys(OWN)  # type: ignore[assignment]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of that name, made when it is first named; None for none."""
        if cmd_name not in self.commands:
            self.list_commands(ctx)
        if cmd_name in self.commands and self.commands[cmd_name] is None:
            try:
                self.commands[cmd_name] = make_command(cmd_name)
            except UsageError:
                # Whoever goes through all commands, as completion does, goes on without a package's that is broken.
                if ctx is not None and not ctx.resilient_parsing:
                    raise
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        """List all commands, those of packages too, which are looked for only where they are needed."""
        self.commands = {name: self.commands.get(name) for name in command_names()}  # type: ignore[misc]
        return super().list_commands(ctx)


def make_command(command_name: str) -> Any:
    """Make a command of the command line, once, with the options that every command has."""
    parent = typer.Typer(rich_markup_mode=None)
    _add_command(parent, command_name)
    return get_group(parent).commands[command_name]


def _load_command_function_or_group(command_words: str) -> Any:
    """Return a command's function, or its `typer.Typer` of several; a UsageError for a package's that is broken."""
    above, _, name = command_words.rpartition(" ")
    if command_words in OWN or name in _WITHIN.get(above, ()):
        module = import_module(f"genaipa.cli.commands.{name}")
        return getattr(module, "app", None) or getattr(module, name)
    target = package_commands()[command_words].target
    try:
        return load_object(target)
    except Exception as error:
        raise UsageError(
            f"the package command '{command_words}' can't be loaded from {target} ({type(error).__name__}: {error})."
        ) from error


def _add_command(parent: typer.Typer, command_words: str) -> None:
    """Add a command by its words to the one that they are below of, with its own commands."""
    name = command_words.rpartition(" ")[2]
    command = _load_command_function_or_group(command_words)
    if not isinstance(command, typer.Typer):
        parent.command(name, cls=Command)(_wrap_with_common_options(command))
        return
    for subcommand in command.registered_commands:
        subcommand.cls, subcommand.callback = Command, _wrap_with_common_options(subcommand.callback)
    if command.registered_callback is not None:
        command.registered_callback.callback = _wrap_with_common_options(command.registered_callback.callback)
    for below in _WITHIN.get(command_words, ()):
        _add_command(command, f"{command_words} {below}")
    for below in package_commands():
        if below.rpartition(" ")[0] == command_words:
            with contextlib.suppress(UsageError):  # the others still work
                _add_command(command, below)
    parent.add_typer(command, name=name, cls=DefaultListGroup if command.registered_callback is None else Group)


def _wrap_with_common_options(command: Any) -> Any:
    """Add --workspace, which `current_workspace` goes by, --explain and --quiet to a command."""
    signature = inspect.signature(command, eval_str=True)
    own_parameters, general = list(signature.parameters.values()), _docstring_after_first_paragraph(command)
    added: dict[str, Any] = {"explain": ExplainOption, "quiet": QuietOption}
    if command.__name__ not in _NOWHERE and "workspace" not in signature.parameters:
        added = {"workspace": WorkspaceOption, **added}
    kind = inspect.Parameter.KEYWORD_ONLY
    defaults = {"workspace": None, "explain": False, "quiet": False}
    parameters = [
        *own_parameters,
        *(inspect.Parameter(name, kind, default=defaults[name], annotation=of) for name, of in added.items()),
    ]

    @functools.wraps(command)
    def run_with_options(**given: Any) -> None:
        explains, quiet = given.pop("explain"), given.pop("quiet")
        if "workspace" in added:
            given.pop("workspace")  # noted by its callback
        with print_queued_notes_at_end(
            general,
            name_workspace_in_step=name_workspace_in_next_command,
            explains=explains,
            quiet=quiet,
            json=bool(given.get("json")),
        ):
            command(**given)

    run_with_options.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run_with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run_with_options


def _docstring_after_first_paragraph(command: Any) -> str:
    """Return the help page's text after its first sentence, for a command without an explanation of its own."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")[1:]
    return "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs) or NOTHING


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


def _print_version_and_exit(wanted: bool) -> None:
    if wanted:
        typer.echo(f"genaipa {__version__}")
        raise typer.Exit


@app.callback()
def _print_help_or_load_dotenv(
    context: typer.Context,
    version: bool = typer.Option(  # noqa: ARG001 - handled by its callback
        False, "--version", help="Show the version and exit.", callback=_print_version_and_exit, is_eager=True
    ),
    workspace: WorkspaceOption = None,  # noqa: ARG001 - noted by its callback
) -> None:
    from genaipa.cli.terminal.env_file import load_keys_and_addresses_from_dotenv

    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        return
    load_keys_and_addresses_from_dotenv()


@functools.cache
def root_command() -> Any:
    """Return the whole command line as one command, made once for a process."""
    return typer.main.get_command(app)


def _check_utf8_arguments(arguments: list[str]) -> None:
    """Raise a UsageError for bytes that are no text: no file could hold such a name."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise UsageError(f"'{clip(argument)}' is not valid UTF-8; type it again in a UTF-8 terminal.") from None


def _print_error_and_alternatives(error: GenaipaError, arguments: list[str]) -> None:
    """Print an error in the command line's words, and below it what to run instead of these."""
    from genaipa.cli.terminal.alternatives import format_alternative_commands
    from genaipa.cli.terminal.console import print_error_to_stderr, print_to_stderr

    lines = list(format_alternative_commands(arguments, error.ways)) if isinstance(error, RefusedSystemError) else []
    if isinstance(error, RefusedSystemError) and lines:
        print_error_to_stderr(f"{error.problem} Instead:")
    else:
        sentence = f"{error.flag}{error.problem}" if isinstance(error, OptionError) else str(error)
        print_error_to_stderr(name_workspace_in_next_command(sentence))
    for line in lines:
        print_to_stderr(line, no_wrap=True)


def run_command_line(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code; an error is one sentence on stderr."""
    from genaipa.cli.terminal.console import print_error_to_stderr
    from genaipa.cli.terminal.process import prepare_streams_or_exit_if_closed

    prepare_streams_or_exit_if_closed()
    try:
        _check_utf8_arguments(sys.argv[1:] if arguments is None else arguments)
        code = root_command()(arguments, prog_name="genaipa", standalone_mode=False)
        sys.stdout.flush()
    except GenaipaError as error:
        _print_error_and_alternatives(error, sys.argv[1:] if arguments is None else arguments)
        return error.exit_code
    except TyperException as error:
        print_error_to_stderr(describe_parser_error(error))
        return error.exit_code
    except typer.Abort:
        print_error_to_stderr("cancelled; nothing was done.")
        return 1
    except BrokenPipeError:  # whoever read the output has read enough
        return 1
    except OSError as error:
        if error.errno not in _NAMES:
            raise
        print_error_to_stderr(
            UsageError(f"'{clip(str(error.filename))}' can't name a file or folder ({error.strerror}).")
        )
        return UsageError.exit_code
    return code if isinstance(code, int) else 0
