"""Turns of phrase by their rate: each is right now and then, and hides its noun when it becomes a habit."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from source import python_files, texts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SENTENCE = 7
"""Words from which on a string literal counts as a message."""

# Per 10,000 words of docstrings and messages. Whoever rewrites some lowers the number; nobody raises it.
MOST = {
    "those that": 0.3,
    "those of": 0.8,
    "the one that": 0.4,
    "of which": 0.4,
    "told": 0.4,
    "anew": 0.1,
    "so many": 0.2,
    "what stands": 0.0,
    "none where": 0.1,
}


def _prose(tracked: tuple[Path, ...]) -> Iterator[tuple[str, str]]:
    paths = [path for path in python_files(tracked) if path.parts[0].startswith("genaipa")]
    yield from texts(paths, docstrings=True)
    yield from ((place, text) for place, text in texts(paths, docstrings=False) if len(text.split()) >= SENTENCE)


@pytest.fixture(scope="module")
def prose(tracked: tuple[Path, ...]) -> list[tuple[str, str]]:
    """`file:line` and text of all docstrings and messages of the packages."""
    return list(_prose(tracked))


@pytest.mark.parametrize("phrase", MOST)
def test_rate_of_a_phrase_only_falls(prose: list[tuple[str, str]], phrase: str) -> None:
    """No phrase is more frequent than its number; a failure names the ten files that have most of it, and the lines."""
    pattern = re.compile(rf"\b{phrase}\b".replace(" ", r"\s+"), re.IGNORECASE)
    places = [place for place, text in prose for _ in pattern.finditer(text)]
    rate = len(places) / sum(len(text.split()) for _, text in prose) * 10_000
    worst = Counter(place.partition(":")[0] for place in places).most_common(10)
    shown = [place for file, _ in worst for place in places if place.startswith(f"{file}:")]
    assert rate <= MOST[phrase], f"{phrase!r}: {rate:.2f} in 10,000 words: {', '.join(shown)}"
