"""Tables and sentences fitted to a terminal's width: words stay whole, and nothing is left out.

rich lays a table out: of its first columns, as many as fit with their words whole. The others are below each row, with
their headers. A word wider than the terminal stays in one piece, and so do commands and whatever `mark_unbreakable`
marks, so that they can be pasted.
"""

from __future__ import annotations

import functools
import re
import textwrap
from typing import TYPE_CHECKING

from genaipa.cli.terminal.headings import command_names

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from rich.table import Table
    from rich.text import Text

LEAST_TEXT = 12
"""Characters to which a column of text is narrowed at most."""
_GAP = 2
_INDENT = "    "
_KEPT = "\ue000"
"""Stands for a blank at which no line may break."""
_SECOND = "\ue001"
"""Stands for the second column of a character that takes two."""

_WORD = r"""(?:'[^'\n]*'|"[^"\n]*"|[^\s'"])\S*"""


@functools.cache
def _command_pattern() -> re.Pattern[str]:
    """Match a command, which ends where its sentence does."""
    names = "|".join(command_names())
    return re.compile(
        rf"""(?<!\S)(?:['`]genaipa\ (?:{names})\b[^'`\n]*['`]
        |\(?genaipa\ (?:{names})(?![\w-])(?:(?<![.,;:)])\ {_WORD})*
        |pip\ install\ {_WORD})""",
        re.VERBOSE,
    )


def mark_unbreakable(text: object) -> str:
    """Mark the text as one word, whatever blanks are in it: a path, a name."""
    return str(text).replace(" ", _KEPT)


def _mark_commands_unbreakable(text: str) -> str:
    """Mark each command, and a line's indentation, as one word with what follows it."""
    if "genaipa " in text or "pip install" in text:
        text = _command_pattern().sub(lambda match: mark_unbreakable(match[0]), text)
    return re.sub(r"^ +", lambda match: mark_unbreakable(match[0]), text, flags=re.MULTILINE)


def remove_unbreakable_marks(text: str) -> str:
    """Return the text without the marks of `mark_unbreakable`."""
    return text.replace(_KEPT, " ")


def count_terminal_columns(text: str) -> int:
    """Return the columns of a terminal that the text takes; a Chinese character takes two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def wrap_text(text: str, width: int, hanging_indent: int = 0) -> list[str]:
    """Return the text in lines of at most `width`, broken between words.

    Those after the first are indented, `hanging_indent`.

    A line's own indentation, and that of a list's item, is kept for what is broken off it.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        if count_terminal_columns(line) <= width:
            lines.append(line)
            continue
        lead = re.match(r"\s*(?:[-*] )?", line)
        indent = len(lead[0]) if lead and len(lead[0]) <= width // 2 else 0
        wide = "".join(
            letter + _SECOND * (count_terminal_columns(letter) - 1) for letter in _mark_commands_unbreakable(line)
        )
        broken = textwrap.wrap(
            wide,
            width,
            subsequent_indent=" " * (hanging_indent or indent),
            break_long_words=False,
            break_on_hyphens=False,
        )
        lines += [part.replace(_SECOND, "") for part in broken]
    return [remove_unbreakable_marks(line) for line in lines]


Row = list[str] | str
"""The cells of a row, or a heading across all columns."""


def lay_out_table_parts(
    headers: Sequence[str],
    rows_and_headings: Sequence[Row],
    right_aligned_columns: Collection[int],
    max_width: int | None,
    style_of_cell: Callable[[str, str], str],
) -> Iterator[Table | Text]:
    """Yield a table in parts, no wider than `max_width`; as wide as it needs to be without one."""
    from rich.text import Text

    rows_and_headings = [
        row if isinstance(row, str) else [_mark_commands_unbreakable(cell) for cell in row] for row in rows_and_headings
    ]
    widths = _widths_of_leading_columns_that_fit(
        headers, [row for row in rows_and_headings if isinstance(row, list)], right_aligned_columns, max_width
    )
    table = _make_empty_table(headers, widths, right_aligned_columns)
    for row in rows_and_headings:
        across = row if isinstance(row, str) else _format_cells_with_headers(headers[len(widths) :], row[len(widths) :])
        if isinstance(row, list):
            table.add_row(
                *(
                    Text(cell, style_of_cell(header, cell))
                    for header, cell, _ in zip(headers, row, widths, strict=False)
                )
            )
        if across:
            yield table
            lines = wrap_text(across, max_width) if max_width else [across]
            yield Text("\n".join(lines), "bold" if isinstance(row, str) else "")
            table = _make_empty_table(headers, widths, right_aligned_columns, show_header=False)
    yield table


def _format_cells_with_headers(headers: Sequence[str], cells: Sequence[str]) -> str:
    """Return the cells below their row, each with what it is; a short one in one piece."""
    facts = []
    for header, cell in zip(headers, cells, strict=True):
        fact = f"{header}: {' '.join(cell.split())}".removeprefix(": ")
        facts += [fact if " " in cell else mark_unbreakable(fact)] if cell else []
    return _INDENT + "; ".join(facts) if facts else ""


def _make_empty_table(
    headers: Sequence[str],
    column_widths: Sequence[int],
    right_aligned_columns: Collection[int],
    *,
    show_header: bool = True,
) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, _GAP - 1, 0, 0), pad_edge=False, show_header=show_header)
    for index, (header, width) in enumerate(zip(headers, column_widths, strict=False)):
        table.add_column(
            Text(header), width=width, overflow="fold", justify="right" if index in right_aligned_columns else "left"
        )
    return table


def _widths_of_leading_columns_that_fit(
    headers: Sequence[str], rows: Sequence[list[str]], right_aligned_columns: Collection[int], max_width: int | None
) -> list[int]:
    """Return the widths of the first columns, of as many as fit; the widest ones give way."""
    natural, minimal = [], []
    for index, header in enumerate(headers):
        texts = [row[index] for row in rows]
        # Numbers are never broken.
        words = [word for text in texts for word in re.split("\n" if index in right_aligned_columns else r"\s", text)]
        natural.append(max(count_terminal_columns(line) for text in (header, *texts) for line in text.split("\n")))
        longest = max(map(count_terminal_columns, [*header.split(), *words]), default=0)
        minimal.append(max(longest, 0 if index in right_aligned_columns else min(LEAST_TEXT, natural[-1])))
    if max_width is None:
        return natural
    beside = len(headers)
    # A blank is in front of the first.
    while beside > 1 and sum(minimal[:beside]) + _GAP * (beside - 1) + 1 > max_width:
        beside -= 1
    room = max_width - _GAP * (beside - 1) - 1
    for limit in range(max(natural), 0, -1):
        widths = [max(word, min(line, limit)) for word, line in zip(minimal[:beside], natural, strict=False)]
        if sum(widths) <= room:
            return widths
    return minimal[:beside]
