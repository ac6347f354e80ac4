"""Outline for looking up citations: the document's sections, or numbers inside its lines.

A published policy may be one long line with Arabic numbers ("… 2.1 Information we need … 2.2 …"). They are no
recognised sections, but an answer that cites one is right.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from genaipa.policies.sections import Section, follows

if TYPE_CHECKING:
    from genaipa.policies.document import Document

# At the beginning of a word; a number of several steps may be glued to the sentence before it ("law.2.3 Sharing").
_NUMBER = re.compile(r"(?:(?<!\S)(\d{1,2}\.)|(?:(?<!\S)|(?<=[a-z)][.!?]))(\d{1,2}(?:\.\d{1,2})+\.?))\s+(?=[A-Z])")
_FEWEST = 3  # numbers that make an outline
_MOST = 400  # numbers that are compared with one another
_TITLE_WORDS = 6


def outline(document: Document) -> tuple[Section, ...]:
    """Sections of the document; if none are recognised, those numbered inside its lines."""
    return document.sections or _rising(numbers_inside(document.text))


@lru_cache(maxsize=8)
def numbers_inside(text: str) -> tuple[Section, ...]:
    """Find every "3." or "3.1" before a capitalised word, each up to the next one."""
    found = list(_NUMBER.finditer(text))
    ends = [*(match.start() for match in found[1:]), len(text)]
    return tuple(
        Section(
            number=match.group().strip(" .\n"),
            title=" ".join(text[match.end() : match.end() + 100].split()[:_TITLE_WORDS]) + " …",
            level=match.group().strip(" .\n").count(".") + 1,
            start=match.start(),
            end=end,
        )
        for match, end in zip(found, ends, strict=False)
    )


@lru_cache(maxsize=8)
def _rising(numbered: tuple[Section, ...]) -> tuple[Section, ...]:
    """Find the longest chain of numbers that follow one another; empty if short."""
    values = [tuple(map(int, section.number.split("."))) for section in numbered[:_MOST]]
    best: list[list[int]] = []
    for i, value in enumerate(values):
        before = [best[j] for j in range(i) if follows(values[j], value)]
        best.append([*max(before, key=len, default=[]), i])
    chain = [numbered[i] for i in max(best, key=len, default=[])]
    if len(chain) < _FEWEST:
        return ()
    ends = [*(later.start for _, later in pairwise(chain)), chain[-1].end]
    return tuple(
        Section(section.number, section.title, section.level, section.start, end)
        for section, end in zip(chain, ends, strict=True)
    )
