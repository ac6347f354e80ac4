"""Parts of a document: joined they are the document, each fits, and no sentence is cut that need not be."""

from __future__ import annotations

import itertools
import math
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from genaipa.policies.document import About, Document, load_document, split_by_token_limit

if TYPE_CHECKING:
    from collections.abc import Callable

COUNTERS: dict[str, Callable[[str], int]] = {
    "characters": len,
    "estimate": lambda text: math.ceil(len(text) / 4),
    "words": lambda text: len(text.split()),
}
WORDS = ("we", "collect", "your", "data", "§", "Art.", "e.g.", "naïve", "日本", "x" * 30)

counters = st.sampled_from(sorted(COUNTERS))
# The words of a sentence hold no mark that ends one, so a text of such sentences is cut into them without doubt.
sentences = st.lists(st.sampled_from([w for w in WORDS if "." not in w]), min_size=1, max_size=12).map(
    lambda words: " ".join(words) + "."
)
paragraphs = st.lists(sentences, min_size=1, max_size=6)
headings = st.tuples(st.integers(1, 4), st.sampled_from(("Data", "What we do", "Retention"))).map(
    lambda heading: [f"{'#' * heading[0]} {heading[1]}"]
)
documents = st.lists(st.one_of(paragraphs, headings), min_size=1, max_size=12)


def parts_of(text: str, size: int, counter: str) -> list[str]:
    """The parts of a document of that text."""
    return split_by_token_limit(Document("d", text, About(company="D")), size, COUNTERS[counter])


@given(st.text(min_size=1), st.integers(1, 40), counters)
@example(" \n\n \n" * 20 + "x", 5, "characters")
@example("x" + " " * 50, 10, "characters")
@example("# A\n\n\n\n\n\n\n\n\n\n# B", 3, "characters")
def test_joined_parts_are_the_document(text: str, size: int, counter: str) -> None:
    """Whatever the text and the size, nothing is lost, doubled or changed."""
    parts = parts_of(text, size, counter)
    assert "".join(parts) == text
    assert all(parts)


@given(documents, st.integers(1, 60), counters)
def test_parts_fit(blocks: list[list[str]], size: int, counter: str) -> None:
    """No part is larger than the size, in the tokens of whoever counts."""
    text = "\n\n".join(" ".join(block) for block in blocks)
    for part in parts_of(text, size, counter):
        assert COUNTERS[counter](part.strip()) <= size


@given(documents, st.integers(1, 60), counters)
def test_no_sentence_is_cut_where_a_border_exists(blocks: list[list[str]], size: int, counter: str) -> None:
    """A part ends inside a sentence only if that sentence alone is larger than a part."""
    text = "\n\n".join(" ".join(block) for block in blocks)
    ends = set(itertools.accumulate(len(part) for part in parts_of(text, size, counter)))
    for sentence in re.finditer(r"[^.\n ][^.\n]*\.?", text):
        if any(sentence.start() < end < sentence.end() for end in ends):
            # The blanks behind a sentence belong to its part.
            assert COUNTERS[counter](f"{sentence.group()}\n\n") >= size


@pytest.mark.parametrize(
    ("text", "size", "parts"),
    [
        ("Short enough.", 100, ["Short enough."]),
        ("# A\n\nOne.\n\n# B\n\nTwo.", 12, ["# A\n\nOne.\n", "\n# B\n\nTwo."]),
        ("One two. Three four. Five six.", 21, ["One two. Three four. ", "Five six."]),
        ("He said “no.” Then he left us.", 16, ["He said “no.” ", "Then he left us."]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("one two three", 8, ["one two ", "three"]),
    ],
)
def test_where_it_is_cut(text: str, size: int, parts: list[str]) -> None:
    """The coarsest border that leaves pieces of the right size is used."""
    assert parts_of(text, size, "characters") == parts


def test_shipped_policy_is_cut_at_its_borders() -> None:
    """The demo policy has paragraphs short enough that no part begins or ends inside one."""
    document = load_document("brindlecart")
    parts = split_by_token_limit(document, 500, COUNTERS["estimate"])
    assert len(parts) > 5
    assert "".join(parts) == document.text
    for part, after in itertools.pairwise(parts):
        assert part.endswith("\n") or after.startswith("\n"), (part[-80:], after[:80])
