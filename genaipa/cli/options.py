"""Options that several commands share. Every flag can also be set as `GENAIPA_<FLAG>` in the environment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def option(*names: str, help: str, **details: Any) -> Any:  # noqa: A002 - typer's word
    """A typer option that the environment can set too, under the name of its first long flag."""
    flag = next(name for name in names if name.startswith("--"))
    variable = "GENAIPA_" + flag.removeprefix("--").partition("/")[0].replace("-", "_").upper()
    return typer.Option(*names, help=help, envvar=variable, show_envvar=False, **details)


WorkspaceOption = Annotated[
    Path | None,
    option(
        "--workspace",
        "-w",
        metavar="DIR",
        help="Folder with your data and runs; else the nearest with a genaipa.toml.",
    ),
]
JsonOption = Annotated[bool, option("--json", help="Print JSON for machines.")]
OfflineOption = Annotated[bool, option("--offline", help="Fetch nothing: what isn't here is an error.")]


def several(values: list[str] | None) -> tuple[str, ...]:
    """Repeated flags and commas alike: `-s a,b -s c` is a, b, c, each once."""
    names = [name.strip() for value in values or () for name in value.split(",")]
    return tuple(dict.fromkeys(name for name in names if name))
