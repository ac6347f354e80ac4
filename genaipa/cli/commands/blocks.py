"""A heat map in a terminal: a line for each system, a block for each question, in groups by category."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from genaipa.cli.terminal.console import width

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_SHADES = "░▒▓█"
_NONE = "·"
_LOW, _HIGH = 10.0, 100.0
_LONGEST_NAME = 24


def heat_map(
    cells: Mapping[tuple[str, str], float], categories: Mapping[str, str], names: Mapping[str, str]
) -> list[str]:
    """The lines of a heat map of values from 10 to 100 by system and question; none if it can't be shown.

    `categories` (question → category) has the questions in their order, `names` the systems' in that of the lines. A
    pipe, and a terminal that has no such signs, get nothing.
    """
    room = width() if sys.stdout.isatty() else None
    if room is None or not cells or not _has_signs():
        return []
    asked = {question for _, question in cells}
    groups: dict[str, list[str]] = {}
    for question in (one for one in (*categories, *sorted(asked - categories.keys())) if one in asked):
        groups.setdefault(categories.get(question, ""), []).append(question)
    aside = min(_LONGEST_NAME, max(map(len, names.values())))
    lines: list[str] = []
    for some in _fitting(groups, room - aside - 3):
        broad = [max(len(groups[name]), len(name)) for name in some]
        lines.append(" " * (aside + 3) + " ".join(f"{name:{size}}" for name, size in zip(some, broad, strict=True)))
        for system, name in names.items():
            blocks = ("".join(_block(cells.get((system, one))) for one in groups[category]) for category in some)
            row = " ".join(f"{block:{size}}" for block, size in zip(blocks, broad, strict=True))
            lines.append(f" {name[:aside]:{aside}}  {row}".rstrip())
    return [*lines, f" low {_SHADES} high; a column is a question"]


def _block(value: float | None) -> str:
    if value is None:
        return _NONE
    place = int((value - _LOW) / (_HIGH - _LOW) * len(_SHADES))
    return _SHADES[max(0, min(place, len(_SHADES) - 1))]


def _fitting(groups: Mapping[str, Sequence[str]], room: int) -> Iterator[list[str]]:
    """The categories in rows of at most that width."""
    row: list[str] = []
    taken = 0
    for name, questions in groups.items():
        size = max(len(questions), len(name)) + 1
        if row and taken + size > room:
            yield row
            row, taken = [], 0
        row.append(name)
        taken += size
    if row:
        yield row


def _has_signs() -> bool:
    try:
        (_SHADES + _NONE).encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
