"""What is printed: tables and sentences, styled on a terminal and plain everywhere else."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

PIPE_WIDTH = 160


@cache
def out() -> Console:
    """The console for results."""
    from rich.console import Console

    return Console(highlight=False, width=_width(sys.stdout))


@cache
def err() -> Console:
    """The console for progress, notes and errors."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, width=_width(sys.stderr))


def _width(stream: TextIO) -> int | None:
    """What rich finds on a terminal; wide enough for every table where the output goes to a file or a pipe."""
    return None if stream.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH


def say(text: str) -> None:
    """A note beside the result, on stderr. The text is shown as it is: nothing in it is markup."""
    err().print(text, markup=False, soft_wrap=True)


def show(text: str = "") -> None:
    """A line of the result, on stdout, as it is."""
    out().print(text, markup=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """A value (msgspec Structs included) as JSON on stdout."""
    import msgspec

    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def table(
    headers: Sequence[str], rows: Iterable[Sequence[object]], *, title: str = "", right: Iterable[int] = ()
) -> None:
    """A table on stdout; `right` are the columns that hold numbers. Cells are plain text, never markup."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    numbers = set(right)
    shown = Table(title=title or None, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for index, header in enumerate(headers):
        shown.add_column(header, justify="right" if index in numbers else "left", overflow="fold")
    for row in rows:
        shown.add_row(*(Text("" if cell is None else printable(str(cell))) for cell in row))
    out().print(shown)


def printable(text: str) -> str:
    """The text without control characters: what a model says must not steer the terminal."""
    return "".join(c if c in "\n\t" or (c.isprintable() or c == " ") else "�" for c in text)
