"""Options that several commands share, the files that `-o` writes, and `--config`.

Every flag can also be set as `GENAIPA_<FLAG>` in the environment, or in a YAML file whose keys are the flags' names;
the command line wins. A file that a command writes is there whole or not at all, and overwrites none unasked.
"""

from __future__ import annotations

import contextlib
import re
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from genaipa.errors import DataError, UsageError, format_shell_command, name_suggestion
from genaipa.files.atomic import open_for_atomic_write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.reports.figures.figure import Format
    from genaipa.workspace import Workspace


_named: ContextVar[Path | None] = ContextVar("_named", default=None)
"""The workspace that the command line names."""


SELDOM = "Rarely needed"
"""The panel of options that most people never need."""


def option(*flags: str, help: str, panel: str | None = None, **details: Any) -> Any:  # noqa: A002 - typer's word
    """Make a typer option that the environment can set too, under the name of its first long flag.

    Only `--help-all` shows an option of a `panel`, under that heading.
    """
    flag = next(name for name in flags if name.startswith("--"))
    variable = "GENAIPA_" + flag.removeprefix("--").partition("/")[0].replace("-", "_").upper()
    return typer.Option(*flags, help=help, rich_help_panel=panel, envvar=variable, show_envvar=False, **details)


def _remember_workspace(context: typer.Context, folder: Path | None) -> Path | None:
    """Remember the workspace that a command is called with: its own option wins over the one before it."""
    source = context.get_parameter_source("workspace")
    # What the environment names is found later on, and yields to both.
    chosen = folder if source is not None and source.name != "ENVIRONMENT" else None
    if chosen is not None or context.parent is None:
        _named.set(chosen)
    return folder


def current_workspace() -> Workspace:
    """Return the workspace of this command; a UsageError if one was named and isn't there."""
    from genaipa.workspace import find_workspace

    return find_workspace(_named.get())


_NEXT_COMMAND = re.compile(r"(?<=: )genaipa (?!init\b|get\b|unpack\b)(?=[a-z])")
"""The beginning of a printed command that works in a workspace."""


def name_workspace_in_next_command(text: str) -> str:
    """Return a text whose printed command names the workspace that this command line named, where it must."""
    folder = _named.get()
    if folder is None or "--workspace" in text or not _NEXT_COMMAND.search(text):
        return text
    from genaipa.workspace import find_workspace, workspace_option_if_needed

    try:
        words = workspace_option_if_needed(find_workspace(folder).home)
    except UsageError:
        return text
    return _NEXT_COMMAND.sub(lambda _: f"{format_shell_command('genaipa', *words)} ", text)


WorkspaceOption = Annotated[
    Path | None,
    option(
        "--workspace",
        "-w",
        metavar="DIR",
        help="Folder with your data and runs.",
        callback=_remember_workspace,
    ),
]
ExplainOption = Annotated[bool, option("--explain", help="Explain how to read the result.")]
QuietOption = Annotated[bool, option("--quiet", help="Print only the result.")]
ExcludedOption = Annotated[bool, option("--include-excluded", help="Count excluded answers, too.")]
JsonOption = Annotated[bool, option("--json", help="Print JSON for machines.")]
OfflineOption = Annotated[
    bool, option("--offline", help="Don't fetch anything; missing data is an error.", panel=SELDOM)
]


def _check_gate_points(points: float | None) -> float | None:
    """Refuse what is no number of points: a gate of nan would let everything pass."""
    if points is not None and not 0 <= points <= MOST_POINTS:
        raise typer.BadParameter(
            f"{points:g} is not a possible loss of M_all; choose between 0 and {MOST_POINTS} points."
        )
    return points


MOST_POINTS = 90
"""The largest loss that there is, from 100 to 10."""
GateOption = Annotated[
    float | None,
    option(
        "--gate",
        metavar="N",
        callback=_check_gate_points,
        help="Exit with code 5 for a statistically significant loss of N points of M_all or more.",
    ),
]


def split_names(option_values: list[str] | None) -> tuple[str, ...]:
    """Split repeated flags and commas alike: `-s a,b -s c` is a, b, c, each once."""
    names = [name.strip() for value in option_values or () for name in value.split(",")]
    return tuple(dict.fromkeys(name for name in names if name))


FormatsOption = Annotated[
    list[str] | None,
    option("--formats", help="Formats of the figures: png, svg, pdf, slide (a 16:9 PNG), column (a one-column PDF)."),
]


def choose_figure_formats(option_values: list[str] | None, default_formats: tuple[Format, ...]) -> tuple[Format, ...]:
    """Return the formats that are wanted, else the usual ones; a UsageError for an unknown one."""
    names = split_names(option_values)
    # Written out: the figures' module takes a second to import.
    formats: tuple[Format, ...] = ("png", "svg", "pdf", "slide", "column")
    for name in names:
        if name not in formats:
            raise UsageError(f"There is no format '{name}'{name_suggestion(name, formats)}")
    return tuple(form for form in formats if form in names) or default_formats


ForceOption = Annotated[bool, option("--force", help="Overwrite an existing file.")]


def pass_json_to_subcommands(context: typer.Context, *, json: bool) -> None:
    """Have --json before a command's own command hold for that, too."""
    group: Any = context.command
    context.default_map = {name: {"json": json or None} for name in group.commands}


def check_no_overwrite(path: Path, *, force: bool) -> None:
    """Raise a UsageError where a file is there already that nobody asked to overwrite."""
    if path.exists() and not force:
        raise UsageError(f"{path} already exists; choose another file, or add --force to overwrite it.")


@contextlib.contextmanager
def open_output_file(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Open a file that replaces the earlier one once it is whole; a UsageError as `check_no_overwrite`."""
    check_no_overwrite(path, force=force)
    try:
        with open_for_atomic_write(path) as file:
            yield file
    except OSError as error:
        raise UsageError(f"{path} can't be written ({error.strerror}).") from None


def read_parameters_from_config(path: Path, context: typer.Context) -> dict[str, Any]:
    """Return parameter → value; a DataError for a key that is no flag of the command, or a value that it can't have."""
    from genaipa.files.strict_yaml import read_yaml

    flags = {opt.removeprefix("--"): p for p in context.command.params for opt in p.opts if opt.startswith("--")}
    for never in ("config", "help"):
        flags.pop(never, None)
    defaults: dict[str, Any] = {}
    for key, value in read_yaml(path, dict[str, Any]).items():
        if key not in flags:
            raise DataError(path, f"unknown key '{key}'{name_suggestion(key, flags)}")
        if isinstance(value, dict) or value is None:
            raise DataError(path, "needs a value or a list of values.", key)
        parameter = flags[key]
        is_list = getattr(parameter, "multiple", False)
        converted = ([str(v) for v in value] if isinstance(value, list) else [str(value)]) if is_list else value
        if not is_list:
            _check_config_value(path, key, value, parameter, context)
        defaults[str(parameter.name)] = converted
    return defaults


def _check_config_value(path: Path, key: str, value: Any, parameter: Any, context: typer.Context) -> None:
    """Raise a DataError if the flag can't take the value: the error of the flag would blame what nobody typed."""
    try:
        parameter.process_value(context, value)
    except typer.BadParameter as error:
        raise DataError(path, f"can't be {value!r} ({error.message.rstrip('.')}).", key) from None
