"""Numbers and names in sentences: `1 answer`, `2 answers`; `A, B and 3 more`; `A, B and C`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def number(count: int, one: str, many: str = "") -> str:
    """`1 answer`, `2 answers`; `many` is the plural of a noun that does not end in s."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def some(names: Iterable[object], most: int) -> str:
    """`A, B and 3 more`: the first `most` of these names, and how many the others are."""
    every = [str(name) for name in names]
    return ", ".join(every[:most]) + (f" and {len(every) - most:,} more" if len(every) > most else "")


def listed(names: Sequence[str], last: str = "and") -> str:
    """`A, B and C`, or `A, B or C` by another word; at least one name."""
    return f"{', '.join(names[:-1])} {last} {names[-1]}" if len(names) > 1 else names[0]
