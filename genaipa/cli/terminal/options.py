"""Options that several commands share. Every flag can also be set as `GENAIPA_<FLAG>` in the environment."""

from __future__ import annotations

from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from genaipa.workspace import Workspace

_named: ContextVar[Path | None] = ContextVar("_named", default=None)
"""The workspace that the command line names."""


def option(*names: str, help: str, **details: Any) -> Any:  # noqa: A002 - typer's word
    """A typer option that the environment can set too, under the name of its first long flag."""
    flag = next(name for name in names if name.startswith("--"))
    variable = "GENAIPA_" + flag.removeprefix("--").partition("/")[0].replace("-", "_").upper()
    return typer.Option(*names, help=help, envvar=variable, show_envvar=False, **details)


def _note_workspace(context: typer.Context, folder: Path | None) -> Path | None:
    """Remember the workspace that a command is called with: its own option wins over the one before it."""
    source = context.get_parameter_source("workspace")
    # What the environment names is found later on, and yields to both.
    given = folder if source is not None and source.name != "ENVIRONMENT" else None
    if given is not None or context.parent is None:
        _named.set(given)
    return folder


def current_workspace() -> Workspace:
    """The workspace of this command; a UsageError if one was named and isn't there."""
    from genaipa.workspace import find_workspace

    return find_workspace(_named.get())


WorkspaceOption = Annotated[
    Path | None,
    option(
        "--workspace",
        "-w",
        metavar="DIR",
        help="Folder with your data and runs; else the nearest with a genaipa.toml.",
        callback=_note_workspace,
    ),
]
ExplainOption = Annotated[bool, option("--explain", help="Say how the result is to be read, too.")]
QuietOption = Annotated[bool, option("--quiet", help="Print the result alone.")]
ExcludedOption = Annotated[bool, option("--include-excluded", help="Count answers that an audit excludes, too.")]
JsonOption = Annotated[bool, option("--json", help="Print JSON for machines.")]
OfflineOption = Annotated[bool, option("--offline", help="Fetch nothing: missing data is an error.")]


def several(values: list[str] | None) -> tuple[str, ...]:
    """Repeated flags and commas alike: `-s a,b -s c` is a, b, c, each once."""
    names = [name.strip() for value in values or () for name in value.split(",")]
    return tuple(dict.fromkeys(name for name in names if name))
