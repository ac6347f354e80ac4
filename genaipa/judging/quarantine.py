"""The answer under judgement, between two lines that it can't write itself.

Whoever wrote the answer, or the document that it quotes, may want to speak to the judge. The mark in the lines around
it is drawn after the answer was written; wherever the answer has it nevertheless, or a line that looks like these,
they are taken apart.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 40_000
"""Characters of an answer that a judge is shown: more than any reply of a model has, less than fills a context."""
_TAIL = 8_000
_REPLACED = "[mark removed]"

# Letters that look like those of the mark and of the lines around an answer.
_LOOKS_LIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0455\u0501\u04bb\u0442\u043d\u0432\u03b1\u03b5\u03bf",
    "aeopcyxisdhthbaeo",
)
# A line around an answer: the rule that it begins with, some words at most, and what it says. Looked for apart, since
# in one pattern a long rule could be divided in so many ways that a table in an answer would take minutes.
_RULE = re.compile(r"[=\u2550\u2e40\u30a0-]{2,}")
_SAYS = re.compile(r"answer\s+(?:begins|ends)\W*")
_WORD = re.compile(r"\w+")
_MOST_WORDS = 6
_MOST_BETWEEN = 80


def mark(secret: str, digest: str, passed: int) -> str:
    """The mark around one answer in one pass: 16 hexadecimal digits that follow from the run's secret."""
    return hashlib.sha256(f"{secret}|{digest}|{passed}".encode()).hexdigest()[:16]


def lines(mark: str) -> tuple[str, str]:
    """The lines before and after an answer."""
    return f"===== {mark}: the answer begins =====", f"===== {mark}: the answer ends ====="


def enclosed(answer: str, mark: str) -> str:
    """The answer as it can be put between the lines: clipped, without the mark, and without lines like them."""
    return _without(_clipped(answer), mark)


def _clipped(answer: str) -> str:
    if len(answer) <= LONGEST:
        return answer
    left_out = len(answer) - LONGEST
    head, tail = answer[: LONGEST - _TAIL], answer[-_TAIL:]
    return f"{head}\n[{left_out:,} characters of the answer are left out here]\n{tail}"


def _without(text: str, mark: str) -> str:
    """The text with each place replaced that reads as the mark, or as one of the lines, however it is spelt."""
    folded, origins = _folded(text)
    kept, done = [], 0
    for start, end in sorted([*(found.span() for found in re.finditer(mark, folded)), *_like_lines(folded)]):
        if end > done:
            kept.append(text[origins[done - 1] + 1 if done else 0 : origins[max(start, done)]])
            done = end
    return _REPLACED.join([*kept, text[origins[done - 1] + 1 :]]) if done else text


def _like_lines(folded: str) -> Iterator[tuple[int, int]]:
    """The places that read as one of the lines."""
    rules = [found.span() for found in _RULE.finditer(folded)]
    ends = [end for _, end in rules]
    for said in _SAYS.finditer(folded):
        nearest = bisect_right(ends, said.start()) - 1
        if nearest >= 0 and said.start() - ends[nearest] <= _MOST_BETWEEN:
            words = _WORD.findall(folded, ends[nearest], said.start())
            if len(words) <= _MOST_WORDS:
                yield rules[nearest][0], said.end()


def _folded(text: str) -> tuple[str, list[int]]:
    """The text in small plain letters, without invisible characters, and each letter's place in the text."""
    if text.isascii():
        return text.lower(), list(range(len(text)))
    folded, origins = [], []
    for place, character in enumerate(text):
        if unicodedata.category(character) in ("Cf", "Mn", "Me"):
            continue
        plain = unicodedata.normalize("NFKC", character).casefold().translate(_LOOKS_LIKE)
        folded.append(plain)
        origins += [place] * len(plain)
    return "".join(folded), origins
