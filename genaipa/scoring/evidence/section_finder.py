"""Find a document's sections by number and title."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from genaipa.policies.sections import Section, resolve
from genaipa.scoring.evidence.headings import Headings
from genaipa.scoring.evidence.outline import numbers_inside, outline
from genaipa.scoring.evidence.text_index import fold

if TYPE_CHECKING:
    from genaipa.policies.document import Document

Span = tuple[int, int]

SIMILAR = 72.0
"""Least similarity (0 to 100) of a title as cited and as the document has it."""


class Found(NamedTuple):
    """A cited place in the document: label with title, span, and what is wrong with the citation.

    Without a `span` the document has no such place, for certain if `sure`. `split` marks a part of the split that the
    system was given.
    """

    label: str
    span: Span | None
    problem: str = ""
    sure: bool = True
    split: bool = False


def shares(one: Span, other: Span) -> bool:
    """Whether at least half of the shorter of two passages lies in the other."""
    shared = min(one[1], other[1]) - max(one[0], other[0])
    return shared > 0 and 2 * shared >= min(one[1] - one[0], other[1] - other[0])


class SectionFinder:
    """Finds the sections of one document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.sections = outline(document)
        self.headings = Headings(document.text, self.sections, self.whole)

    def found(self, section: Section, problem: str = "") -> Found:
        """Make a section a result."""
        return Found(section.heading, self.whole(section), problem)

    def whole(self, section: Section) -> Span:
        """Span from a section's heading to the next one that isn't beneath it."""
        if section not in self.sections:
            return section.start, section.end
        after = (s.start for s in self.sections if s.start > section.start and s.level <= section.level)
        return section.start, max(section.end, next(after, section.end))

    def find(self, label: str, title: str) -> Found:
        """The section with a label and, if there is one beside it, with that title."""
        section, number = self.numbered(label), label.rpartition(" ")[2]
        if section and (not title or self.agrees(section, title)):
            return self.found(section, _lacking(section, number))
        titled = self._titled(label, title) if title else None
        if titled:
            return titled
        below = [s for s in self.sections if s.number.endswith(f".{number}")]
        if len(below) == 1 and number.isalpha() and not title:
            return self.found(below[0])
        if section:
            begins = "begins with" if section not in self.sections else "is"
            return Found("", None, f"{section.label} of this document {begins} “{section.title}”", sure=False)
        absent = self._is_absent(label, title)
        return Found("", None, f"no {label}{'' if absent else ' is recognised'} in this document", sure=absent)

    def every(self) -> list[Section]:
        """All sections, and the numbers inside lines that may be others."""
        return [*self.sections, *numbers_inside(self.document.text)]

    def _titled(self, label: str, title: str) -> Found | None:
        """The section with this title, if none has both the title and the label."""
        # "IV. Research" may be what the text of section III counts as 4.
        listed = (s for s in numbers_inside(self.document.text) if resolve((s,), label) and self.agrees(s, title))
        one, place = next(listed, None), self.headings.find(title)
        if one:
            return self.found(one)
        if place and place.heading:
            other = place.section and not f".{place.section}".endswith(f".{label.rpartition(' ')[2]}")
            return Found(place.label, place.span, f"which is not {label}" if other else "")
        return Found(place.label, place.span, "which has nearly these words") if place and not place.fits else None

    def numbered(self, label: str, among: tuple[Section, ...] | None = None) -> Section | None:
        """The section with a label."""
        sections = self.sections if among is None else among
        section = resolve(sections, label)
        steps = len(re.findall(r"\d\.(?=\d)", label))
        deepest = max((s.number.count(".") for s in self.sections), default=0)
        if section and section.number.count(".") < min(steps, deepest):
            return None  # resolve() takes 9.3 for 9; where others have such numbers, it is missing
        number = label.removeprefix("Section ")
        beneath = [s for s in sections if s.number.startswith(f"{number}.")]
        if section or not beneath or any(s.number == number for s in sections):
            return section
        # Its heading was lost or is not recognised: it is what its own sections make up.
        first, last = beneath[0], beneath[-1]
        return Section(number, f"{first.number} {first.title}", first.level - 1, first.start, last.end)

    def agrees(self, section: Section, title: str) -> bool:
        """Whether a section has the title by which it is cited."""
        from rapidfuzz.fuzz import ratio

        begin = section.start
        heading = re.sub(r"^[#\s]*(?:[\w.]*\d[.)]*|[A-Z]{1,4}\.)?\s*", "", self.document.text[begin : begin + 300])
        titles = [section.title, heading[: len(title)]]
        return max(ratio(fold(title), fold(other)) for other in titles) >= SIMILAR

    def _is_absent(self, label: str, title: str) -> bool:
        """Whether nothing in the text can be what a label names: the number begins nothing there, nor is it a title."""
        if title and not self.headings.is_nowhere(title):
            return False
        if not self.sections and not title:
            return False
        word, _, number = map(re.escape, label.rpartition(" "))
        if not re.match(r"(?:sub-?)?sect?(?:ion)?\b|part\b|\u00a7", word, re.IGNORECASE):
            return not re.search(rf"\b{word}s?\.?\s+{number}\b", self.document.text, re.IGNORECASE)
        # Where there is a section 2, a section 1 may only have lost its number.
        tops = [int(top[0]) for section in self.sections if (top := re.match(r"\d+", section.number))]
        if number.isdecimal() and int(number) < max(tops, default=0):
            return False
        # A number of several steps is one wherever it is; of others only what looks like the beginning of a section.
        begins = rf"(?<![\w.]){number}(?![\w]|\.\d)" if "." in label else rf"(?<![\w.,]){number}[.):]?\s+(?=[A-Z])"
        return not re.search(begins, self.document.text)

    def find_within(self, number: str, title: str, part: Span) -> Found | None:
        """The section with that number in a part: one of the outline, or what the part's own text numbers so."""
        inside = tuple(section for section in self.sections if section.start < part[1] and part[0] < section.end)
        section = self.numbered(f"Section {number}", inside)
        # Beneath IV. the section IV.B is cited as B.
        below = [s for s in inside if number.isalpha() and s.number.endswith(f".{number}")]
        listed = [s for s in numbers_inside(self.document.text) if s.number == number and part[0] <= s.start < part[1]]
        candidates = [*([section] if section else []), *(below or listed)]
        fitting = [s for s in candidates if not title or self.agrees(s, title)]
        # One that begins there rather than one whose end is there.
        one = min(fitting, key=lambda section: section.start < part[0], default=None)
        if one is None:
            return None
        begun = one.start >= part[0] or shares(self.whole(one), part)
        problem = _lacking(one, number) if begun else "which only ends there"
        return self.found(one, problem)


def _lacking(section: Section, number: str) -> str:
    """A sentence on section 1.1 where 1.1.4 is cited, and it has no such subsection."""
    deeper = re.fullmatch(r"\d+(?:\.\d+)+", number) and number.count(".") > section.number.count(".")
    return f"which has no {number} of its own" if deeper else ""
