"""Signs that the text of a document was read wrongly: a wrong text has to be said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from genaipa.policies.search import HALF, count_words
from genaipa.policies.sections import find_sections

if TYPE_CHECKING:
    from collections.abc import Iterator

_FEWEST = 100
"""Words below which a text is too short to tell."""
_SHORT = 3
"""Words of a line at least; in a text that has most of its words in shorter ones, each was taken for a line."""
_BLOCK = 12
"""Words of a paragraph that nobody writes twice by chance."""
_REPEATED = 0.3
"""Share of the words that are in repeated paragraphs."""
_UNDIVIDED = 5_000
"""Words of a text that nobody writes without headings."""
_LETTERS = 0.6
"""Least share of letters and signs between words; prose has 0.95, pages of figures more than this."""
_UNREADABLE = 0.005
"""Share of characters in place of letters that a font does not tell."""
_BROKEN = re.compile(r"[\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff]|\(cid:\d+\)|/g\d+\b|/uni[0-9A-F]{4}\b")
_READ = re.compile(r"[^\W\d_]+|[\s.,;:'\"()\u2018-\u201d]+")
_HEADING = re.compile(r"^#{1,6} \S", re.MULTILINE)


def extraction_warning_or_empty(text: str) -> str:
    """Return a sentence that says why a text looks wrong, and what to do; empty where it looks right."""
    signs = list(_list_signs_of_bad_extraction(text))
    if not signs:
        return ""
    return (
        f"the extracted text looks wrong: {' and '.join(signs)}; check it (genaipa policies show NAME "
        f"--text) and, if it is "
        "wrong, add the document as Word, HTML or plain text"
    )


def _list_signs_of_bad_extraction(text: str) -> Iterator[str]:
    words = count_words(text, HALF)
    if len(text) * _UNREADABLE < sum(1 for _ in _BROKEN.finditer(text)):
        yield "many of its characters are unreadable"
    elif text.strip() and sum(map(len, _READ.findall(text))) < _LETTERS * len(text):
        yield "it contains hardly any letters"
    if words < _FEWEST:
        return
    lines = [(count_words(line, HALF), " ".join(line.split())) for line in text.split("\n")]
    if 2 * sum(length for length, _ in lines if length < _SHORT) > words:
        yield f"most of its words are on lines with fewer than {_SHORT} words"
    if (share := _count_words_of_line_repetitions(lines) / words) >= _REPEATED:
        yield f"{100 * share:.0f} % of it consists of repeated paragraphs"
    if words >= _UNDIVIDED and not (_HEADING.search(text) or find_sections(text)):
        yield f"it has {count_words(text):,} words but no heading"


def _count_words_of_line_repetitions(word_counts_and_lines: list[tuple[int, str]]) -> int:
    """Return the words in paragraphs that repeat one before them, word for word."""
    paragraphs: set[str] = set()
    repeated = 0
    for words, line in word_counts_and_lines:
        if words >= _BLOCK:
            repeated += words * (line in paragraphs)
            paragraphs.add(line)
    return repeated
