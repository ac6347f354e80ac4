"""Tables and sentences fitted to a terminal's width: words stay whole, and nothing is left out.

A table too wide for the terminal first says above itself, once, what is the same in each row; then it breaks text
between words; then columns move under their row, one by one. A word wider than the terminal stays in one piece, and
so do commands and whatever `whole` marks, so that they can be pasted.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from genaipa.cli.terminal.headings import command_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LEAST_TEXT = 12
"""Characters to which a column of text is narrowed at most before columns move under their row."""
LEAST_FLEXIBLE = 30
"""The same for the column that is mainly text."""
_INDENT = 4
_KEPT = "\ue000"
"""Stands for a blank at which no line may break."""

_WORD = r"""(?:'[^'\n]*'|"[^"\n]*"|[^\s'"])\S*"""


@functools.cache
def _unit() -> re.Pattern[str]:
    """Match a blank and what may not be broken: a word, or a command, which ends where its sentence does."""
    names = "|".join(command_names())
    return re.compile(
        rf"""(?P<blank>\s*)(?P<unit>['`]genaipa\ (?:{names})\b[^'`\n]*['`]\S*
        |\(?genaipa\ (?:{names})(?![\w-])(?:(?<![.,;:)])\ {_WORD})*
        |pip\ install\ {_WORD}
        |\S+)""",
        re.VERBOSE,
    )


def whole(text: object) -> str:
    """The text marked as one word, whatever blanks are in it: a path, a name."""
    return str(text).replace(" ", _KEPT)


def unmarked(text: str) -> str:
    """The text without the marks of `whole`."""
    return text.replace(_KEPT, " ")


def columns_of(text: str) -> int:
    """Columns of a terminal that the text takes; a Chinese character takes two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def wrapped(text: str, width: int, hanging: int = 0) -> list[str]:
    """The text in lines of at most `width`, broken between words; lines after the first are indented by `hanging`.

    A line's own indentation, and that of a list's item, is kept for what is broken off it.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        if columns_of(line) <= width:
            lines.append(line)
        else:
            lines += _broken(line, width, hanging)
    return lines


def _broken(line: str, width: int, hanging: int) -> Iterator[str]:
    indent = re.match(r"\s*(?:[-*] )?", line)
    margin = " " * (hanging or (len(indent[0]) if indent and len(indent[0]) <= width // 2 else 0))
    current = ""
    for found in _unit().finditer(line):
        blank, unit = found["blank"], found["unit"]
        if current.strip() and columns_of(current + blank + unit) > width:
            yield current
            current = margin + unit
        else:
            current += blank + unit
    yield current


@dataclass(frozen=True)
class Fit:
    """The order in which columns of a table give way on a narrow terminal.

    `right` are columns of numbers, never broken. `flexible` is the column that is mainly text. `under` are the columns
    that move under their row first, in this order; the others follow from the right, and the first always stays.
    """

    right: frozenset[int] = frozenset()
    flexible: int | None = None
    under: tuple[int, ...] = ()


@dataclass
class Layout:
    """A table as it is printed: `above` is said before it, `lines` are pieces of text with their styles."""

    above: str = ""
    lines: list[list[tuple[str, str]]] = field(default_factory=list)


Row = list[str] | str
"""The cells of a row, or a heading across all columns."""


def laid_out(
    headers: Sequence[str],
    rows: Sequence[Row],
    fit: Fit,
    width: int | None,
    *,
    rule: str = "─",
    style: Callable[[str, str], str] = lambda header, cell: "",  # noqa: ARG005 - what a caller may replace
) -> Layout:
    """The table in lines no wider than `width`; as wide as it needs to be where that is None."""
    cells = [row for row in rows if isinstance(row, list)]
    shown, under, layout = list(range(len(headers))), list[int](), Layout()
    widths = natural = _natural(headers, cells)
    gap = 3
    if width is not None and _total(widths, gap) > width:
        gap = 2
        same = _same(cells, fit, shown)
        layout.above = "; ".join(f"{headers[c]} {cells[0][c]}".strip() for c in same if cells[0][c])
        shown = [c for c in shown if c not in same]
        least = _least(headers, cells, natural, fit)
        narrow = _narrowed(natural, least, shown, fit, width)
        for column in _order(fit, shown):
            if narrow is not None:
                break
            under.append(column)
            shown = [c for c in shown if c != column]
            narrow = _narrowed(natural, least, shown, fit, width)
        widths = narrow or {c: least[c] for c in shown}
    room = width or _total(widths, gap)
    head = [wrapped(headers[c], widths[c]) for c in shown]
    layout.lines += _side_by_side(head, ["bold"] * len(shown), shown, widths, fit, gap)
    layout.lines.append([(" " + rule * (_total(widths, gap) - 1), "")])
    under.sort()
    for row in rows:
        if isinstance(row, str):
            layout.lines += [[(line, "bold")] for line in wrapped(row, room)]
            continue
        blocks = [wrapped(row[c], widths[c]) for c in shown]
        styles = [style(headers[c], row[c]) for c in shown]
        layout.lines += _side_by_side(blocks, styles, shown, widths, fit, gap)
        below = "; ".join(_named(headers[c], row[c]) for c in under if row[c])
        layout.lines += [[(line, "")] for line in wrapped(" " * _INDENT + below, room) if below]
    return layout


def _named(header: str, cell: str) -> str:
    """A cell under its row: what it is, and its content; a short one in one piece."""
    text = f"{header}: {' '.join(cell.split())}" if header else " ".join(cell.split())
    return whole(text) if " " not in cell else text


def _same(cells: Sequence[list[str]], fit: Fit, shown: list[int]) -> list[int]:
    """The columns of words that are alike in all of several rows; a column that tells rows apart is left."""
    if len(cells) < 2:  # noqa: PLR2004 - one row is like itself
        return []
    same = [c for c in shown if c not in fit.right and c != fit.flexible and len({row[c] for row in cells}) == 1]
    return same if len(same) < len(shown) else same[1:]


def _order(fit: Fit, shown: list[int]) -> list[int]:
    """The columns in the order in which they move under their row."""
    first = [c for c in fit.under if c in shown]
    others = [c for c in reversed(shown) if c not in first and c != shown[0]]
    return first + [c for c in others if c != fit.flexible] + [c for c in others if c == fit.flexible]


def _natural(headers: Sequence[str], cells: Sequence[list[str]]) -> dict[int, int]:
    """Column → characters that it takes unbroken."""
    return {
        c: max([columns_of(header), *(_widest(row[c].split("\n")) for row in cells)])
        for c, header in enumerate(headers)
    }


def _least(headers: Sequence[str], cells: Sequence[list[str]], natural: dict[int, int], fit: Fit) -> dict[int, int]:
    """Column → characters that it takes at least."""
    least = {}
    for c, header in enumerate(headers):
        split = str.splitlines if c in fit.right else _words
        longest = max([_widest(_words(header)), *(_widest(split(row[c])) for row in cells)])
        floor = LEAST_FLEXIBLE if c == fit.flexible else 0 if c in fit.right else LEAST_TEXT
        least[c] = max(longest, min(floor, natural[c]))
    return least


def _narrowed(
    natural: dict[int, int], least: dict[int, int], columns: Sequence[int], fit: Fit, width: int
) -> dict[int, int] | None:
    """Column → its width in a table of these columns that fits, the widest having given way; None if none fits."""
    widths = {c: natural[c] for c in columns}
    over = _total(widths, 2) - width
    while over > 0:
        able = [c for c in columns if widths[c] > least[c]]
        if not able:
            return None
        # The flexible column gives way first; among the others the widest does.
        column = max(able, key=lambda c: (c == fit.flexible, widths[c]))
        others = max((widths[c] for c in able if c != column), default=0)
        step = over if column == fit.flexible else max(1, min(over, widths[column] - others))
        step = min(step, widths[column] - least[column])
        widths[column] -= step
        over -= step
    return widths


def _words(text: str) -> list[str]:
    """The words of a text, which stay in one piece; the first keeps its indentation."""
    return [found["unit"] if found.start() else found["blank"] + found["unit"] for found in _unit().finditer(text)]


def _widest(texts: Sequence[str]) -> int:
    return max(map(columns_of, texts), default=0)


def _total(widths: dict[int, int], gap: int) -> int:
    """Characters of a line: a blank in front, and the gaps between columns."""
    return 1 + sum(widths.values()) + gap * (len(widths) - 1)


def _side_by_side(
    blocks: Sequence[list[str]],
    styles: Sequence[str],
    columns: Sequence[int],
    widths: dict[int, int],
    fit: Fit,
    gap: int,
) -> Iterator[list[tuple[str, str]]]:
    """The lines of a row whose cells may have several."""
    for index in range(max(map(len, blocks), default=0)):
        line: list[tuple[str, str]] = [(" ", "")]
        for place, column in enumerate(columns):
            text = blocks[place][index] if index < len(blocks[place]) else ""
            blank = " " * max(0, widths[column] - columns_of(text))
            last = place == len(columns) - 1
            if column in fit.right:
                line += [(blank, ""), (text, styles[place])]
            else:
                line += [(text, styles[place]), ("" if last else blank, "")]
            line.append(("" if last else " " * gap, ""))
        yield line
