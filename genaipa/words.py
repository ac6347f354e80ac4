"""Numbers and names in sentences: `1 answer`, `2 answers`; `A, B and 3 more`; `A, B and C`; strangers' words, safe."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from unicodedata import category

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def format_count(count: int, singular: str, plural: str = "") -> str:
    """Write a count with its noun, as `2 answers`; `plural` is that of a noun that does not end in s."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def join_some(names: Iterable[object], most_shown: int) -> str:
    """Join the first `most_shown` names and count the others: `A, B and 3 more`."""
    items = [str(name) for name in names]
    return ", ".join(items[:most_shown]) + (f" and {len(items) - most_shown:,} more" if len(items) > most_shown else "")


def join_names(names: Sequence[str], conjunction: str = "and") -> str:
    """Join at least one name: `A, B and C`, or `A, B or C` by another word."""
    return f"{', '.join(names[:-1])} {conjunction} {names[-1]}" if len(names) > 1 else names[0]


def replace_unprintable_characters(text: str) -> str:
    """Return a text without control and direction characters: what a stranger says must not steer a terminal."""
    return _map_unprintable(text, lambda _sign: "�")


def escape_unprintable(json_text: str) -> str:
    """Return the same JSON, with the characters that `replace_unprintable_characters` removes written as escapes."""
    return _map_unprintable(json_text, lambda sign: json.dumps(sign)[1:-1])


def _map_unprintable(text: str, replace_character: Callable[[str], str]) -> str:
    # Blanks without a break, as French has them before a colon, are none that Python calls printable.
    return "\n".join(
        line
        if line.isprintable()
        else "".join(
            c if c in "\t\ue000" or c.isprintable() or category(c) == "Zs" else replace_character(c) for c in line
        )
        for line in text.split("\n")
    )


_MANY = 1000
"""Items from which on a share of them has decimals."""


def format_percent_by_item_count(percent: float, item_count: float) -> str:
    """Write a share, in per cent, of so many items: whole where a decimal would be of less than one of them.

    >>> format_percent_by_item_count(97.5, 40), format_percent_by_item_count(71.351, 4152)
    ('98 %', '71.35')
    """
    return f"{percent:.0f} %" if item_count < _MANY else f"{percent:.2f}"


_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\u201c`])")


def first_sentences(text: str, most_sentences: int = 2) -> str:
    """Return the first sentences of a text."""
    return " ".join(_SENTENCE.split(text.strip())[:most_sentences])
