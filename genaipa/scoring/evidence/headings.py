"""Find the words of a cited heading in a document: as a heading, in a sentence, or nearly."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from genaipa.policies.sections import Section, resolve
from genaipa.scoring.evidence.quotations import NEAR, nearest
from genaipa.scoring.evidence.text_index import index_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Span = tuple[int, int]

_FEWEST = 2  # words of a title that is searched: a single word may be anywhere
_FEWEST_NEAR = 3  # words of a title that is searched nearly: of two, one would be enough
_NEARLY = 90.0  # least similarity (0 to 100) of a title: one other word makes another title
_BEGINNING = 5  # words that a longer title shares with a heading before it differs
_MOST = 50  # places of a title that are looked at


@dataclass(frozen=True)
class Place:
    """A place in a document with the words of a title.

    `fits`: word for word, or a section's title. `heading`: a section's title, or words that begin with a capital.
    `section` is the section's number, if known.
    """

    label: str
    span: Span
    fits: bool = True
    heading: bool = True
    section: str = ""

    def is_numbered(self, number: str) -> bool:
        """Whether it is the section with this number, or one beneath it."""
        return bool(self.section) and f"{self.section.rpartition(' ')[2]}.".startswith(f"{number}.")


class Headings:
    """The headings of a document; `whole` gives the span of a section."""

    def __init__(self, text: str, sections: tuple[Section, ...], whole: Callable[[Section], Span]) -> None:
        self._text, self._sections, self._whole = text, sections, whole
        self._words = index_text(text)

    def find(self, title: str, within: Span | None = None) -> Place | None:
        """Find the best place of a title, in a passage or anywhere; None without any."""
        section = resolve(self._sections, title) if not re.match(r"[\dIVX]+\b", title) else None
        if section and (within is None or within[0] <= section.start < within[1]):
            return Place(section.heading, self._whole(section), section=section.number)
        if len(title.split()) < _FEWEST:
            return None
        places = list(islice(self._occurrences(title, within), _MOST))
        begun = next((section for span in places for section in self._sections if _begins(section, span)), None)
        if begun:
            return Place(begun.heading, self._whole(begun), section=begun.number)
        capital = next((span for span in places if self._is_capital(span)), None)
        if places:
            found = capital or places[0]
            return Place(f"“{self._text[slice(*found)]}”", found, heading=bool(capital))
        similarity, near = nearest(title, self._text) if len(title.split()) >= _FEWEST_NEAR else (0.0, None)
        if similarity < _NEARLY and len(title.split()) > _BEGINNING:
            # "How do we respond to requests, and to harm?" for "How do we respond to requests?"
            beginning = " ".join(title.split()[:_BEGINNING])
            similarity = 100.0
            near = next((s for s in self._occurrences(beginning, within) if self._is_capital(s)), None)
        if near and similarity >= _NEARLY and (within is None or within[0] <= near[0] < within[1]):
            return Place(f"“{self._text[slice(*near)]}”", near, fits=False, heading=False)
        return None

    def _occurrences(self, title: str, within: Span | None) -> Iterator[Span]:
        start, end = within or (0, None)
        while span := self._words.find(title, start, end):
            yield span
            start = span[1]

    def _is_capital(self, span: Span) -> bool:
        return self._text[span[0]].isupper()

    def is_nowhere(self, title: str) -> bool:
        """Whether the text has neither the title nor nearly its words: it must be invented."""
        if not re.search(r"[^\W_]", title):
            return False
        return self._words.find(title) is None and self.find(title) is None and nearest(title, self._text)[0] < NEAR


def _begins(section: Section, span: Span) -> bool:
    """Whether a section begins with the passage, behind its number."""
    return 0 <= span[0] - section.start <= len(section.number) + 3
