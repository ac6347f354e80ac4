"""What is printed: tables and sentences, styled on a terminal and plain everywhere else."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, JustifyMethod

PIPE_WIDTH = 160
LEAST_FLEXIBLE = 30
"""Characters that a flexible column is wrapped to at least."""


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
    """A note beside the result, on stderr. The text is shown as it is: nothing in it is markup or steers a terminal."""
    err().print(printable(text), markup=False, soft_wrap=True)


def show(text: str = "") -> None:
    """A line of the result, on stdout, as it is."""
    out().print(text, markup=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """A value (msgspec Structs included) as JSON on stdout."""
    import msgspec

    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def number(count: int, one: str, many: str = "") -> str:
    """`1 answer`, `2 answers`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def table(
    headers: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Iterable[int] = (),
    flexible: int | None = None,
) -> None:
    """A table on stdout; `right` are the columns that hold numbers. Cells are plain text, never markup.

    Where the terminal is too narrow, columns that say the same in every row are said
    once above the table, the `flexible` column is wrapped between words, and no other column is ever broken.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [["" if cell is None else printable(str(cell)) for cell in row] for row in rows]
    shown = list(range(len(headers)))
    if _natural(headers, cells, shown) > out().width:
        same = [c for c in shown if c != flexible and len({row[c] for row in cells}) == 1 and len(cells) > 1]
        if same:
            show("; ".join(f"{headers[c]}: {cells[0][c] or '-'}" for c in same))
        shown = [c for c in shown if c not in same]
    numbers = set(right)
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for c in shown:
        justify: JustifyMethod = "right" if c in numbers else "left"
        made.add_column(headers[c], justify=justify, no_wrap=c != flexible, overflow="fold")
    for row in cells:
        made.add_row(*(Text(row[c]) for c in shown))
    rigid = _natural(headers, cells, [c for c in shown if c != flexible])
    needed = _natural(headers, cells, shown) if flexible is None else rigid + LEAST_FLEXIBLE
    Console(highlight=False, width=max(out().width, needed)).print(made)


def _natural(headers: Sequence[str], cells: Sequence[Sequence[str]], columns: Sequence[int]) -> int:
    """Characters that these columns take side by side, unwrapped."""
    widest = [max([len(headers[c]), *(len(line) for row in cells for line in row[c].split("\n"))]) for c in columns]
    return sum(widest) + 3 * len(columns)


def printable(text: str) -> str:
    """The text without control characters: what a model says must not steer the terminal."""
    return "".join(c if c in "\n\t" or (c.isprintable() or c == " ") else "�" for c in text)
