"""Every section, part or article that an answer names, and whether the document has it.

An answer cites by number ("Section 2.3", "Articles 12-14", "§ 1798.105", "IV.B"), by the part in which it was given the
document ("Part 2", "[^Part 1^]", "ChatGPT: P6"), by both ("Part 2, Section 2.3", "Part 5E") or by a heading ("the
'Your choices' section"). What is named is read in mentions.py, and found here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from genaipa.policies.sections import Section, resolve
from genaipa.scoring.evidence.mentions import Mention, find_mentions
from genaipa.scoring.evidence.outline import numbers_inside, outline
from genaipa.scoring.evidence.wording import fold, wording

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.policies.document import Document
    from genaipa.scoring.evidence.outside import Outside

Span = tuple[int, int]
Found = tuple[str, Span]

SIMILAR = 72.0
"""Least similarity (0 to 100) of a title as cited and as the document has it."""


@dataclass(frozen=True)
class Reference:
    """One section, part or article that a reply names.

    `resolved` is the label and title of what that is in this document, empty if it doesn't exist; `target` is where
    it stands. `expected` says that it is, lies in or contains a section that the annotated answer rests on. `outside`
    says of which other text it is; it is then not missing from this document.
    """

    start: int
    end: int
    text: str
    resolved: str
    target: Span | None
    expected: bool
    outside: Outside = ""


def find_references(
    reply: str, document: Document, parts: Sequence[Span] = (), expected: Sequence[Span] = ()
) -> tuple[Reference, ...]:
    """What a reply names of the document, in order; of numbers the first thousand.

    `parts` are where the parts stand that the system was given, `expected` the sections of the annotated answer.
    """
    lookup = _Lookup(document, parts)
    found: dict[Mention, Found | None] = {}
    references = []
    for mention in find_mentions(reply, document):
        key = replace(mention, start=0, end=0)
        if key not in found:
            found[key] = None if mention.outside in {"another law", "a summary"} else lookup.find(mention)
        resolved, target = found[key] or ("", None)
        if mention.loose and not target:
            continue
        good = target is not None and any(_shares(target, span) for span in expected)
        text, other = reply[mention.start : mention.end], "" if target else mention.outside
        references.append(Reference(mention.start, mention.end, text, resolved, target, good, other))
    return tuple(references)


def _shares(one: Span, other: Span) -> bool:
    """Whether at least half of the shorter of two passages lies in the other."""
    shared = min(one[1], other[1]) - max(one[0], other[0])
    return shared > 0 and 2 * shared >= min(one[1] - one[0], other[1] - other[0])


def _range(first: Found | None, last: Found | None) -> Found | None:
    """From one to the other, if both are there and in this order."""
    if not first or not last or last[1][1] < first[1][0]:
        return None
    return f"{first[0]} to {last[0]}", (first[1][0], last[1][1])


class _Lookup:
    """Finds in a document what is named."""

    def __init__(self, document: Document, parts: Sequence[Span]) -> None:
        self.document = document
        self.parts = parts
        self.sections = outline(document)
        self.wording = wording(document.text)

    def find(self, mention: Mention) -> Found | None:
        """What a mention is in the document and where; None if there is no such thing."""
        if not mention.number:
            return self._headed(mention.title, None)
        if mention.within:
            return self._inside(mention)
        if mention.word.lower().startswith("part"):
            return self._part(mention)
        first = self._section(f"{mention.word} {mention.number}".strip(), mention.title, self.sections)
        last = self._section(f"{mention.word} {mention.last}", "", self.sections) if mention.last else None
        return _range(first, last) if mention.last else first

    def _whole(self, section: Section) -> Span:
        """From the section's heading to the next one that isn't beneath it."""
        if section not in self.sections:
            return section.start, section.end
        after = (s.start for s in self.sections if s.start > section.start and s.level <= section.level)
        return section.start, max(section.end, next(after, section.end))

    def _part(self, mention: Mention) -> Found | None:
        """What "Part 3", "Part 3-5" and "Part 5E" name, and "Part 2.10" for section 2.10."""
        if not mention.number.isdecimal():
            section = self._section(f"Section {mention.number}", mention.title, self.sections)
            split = re.fullmatch(r"(\d+)\.?([A-Za-z].*)", mention.number)
            return section or (
                self._inside(replace(mention, within=split[1], number=split[2].upper())) if split else None
            )
        first = self._given(mention.number)
        if first is None:
            named = self._section(f"Part {mention.number}", mention.title, self.sections)
            return named or (self._headed(mention.title, None) if mention.title else None)
        if mention.last:
            last = self._given(mention.last)
            return _range((f"Part {mention.number}", first), (f"Part {mention.last}", last) if last else None)
        titled = self._headed(mention.title, first) if mention.title else None
        return (f"Part {mention.number}: {titled[0]}", titled[1]) if titled else (f"Part {mention.number}", first)

    def _given(self, number: str) -> Span | None:
        """Where the part of that number stands, as the system was given it."""
        return self.parts[int(number) - 1] if number.isdecimal() and 0 < int(number) <= len(self.parts) else None

    def _inside(self, mention: Mention) -> Found | None:
        """A section, or several, said to be in a part; None if it isn't in there."""
        outer = self._given(mention.within)
        if outer is None:
            return self._elsewhere(mention)
        first = self._in_part(mention.number, mention.title, outer)
        if mention.last:
            first = _range(first, self._in_part(mention.last, "", outer))
        if first:
            return f"Part {mention.within}: {first[0]}", first[1]
        titled = self._headed(mention.title, outer) if mention.title else None
        return (f"Part {mention.within}: {titled[0]}", titled[1]) if titled else self._elsewhere(mention)

    def _elsewhere(self, mention: Mention) -> Found | None:
        """A section that isn't in the part it is said to be in, if a title or its number leaves no doubt.

        "Part 4, 4.6" and "Part 7, Section 7" say twice which section is meant; "Part 4, Section 2" may be any list's.
        """
        label = f"{mention.word or 'Section'} {mention.number}"
        if resolve(self.document.sections, f"Part {mention.within}"):
            return self._section(f"Part {mention.within}, {label}", mention.title, self.sections)
        sure = "." in mention.number or mention.number == mention.within
        found = self._section(label, mention.title, self.sections) if sure else None
        found = found or (self._headed(mention.title, None) if mention.title else None)
        return (f"{found[0]}, which is not in Part {mention.within}", found[1]) if found else None

    def _in_part(self, number: str, title: str, part: Span) -> Found | None:
        """The section with that number in a part: one of the outline, or what the part's own text numbers so."""
        inside = tuple(section for section in self.sections if section.start < part[1] and part[0] < section.end)
        found = self._section(f"Section {number}", title, inside)
        # Beneath IV. the section IV.B is cited as B.
        below = [s for s in inside if number.isalpha() and s.number.endswith(f".{number}")]
        listed = [s for s in numbers_inside(self.document.text) if s.number == number and part[0] <= s.start < part[1]]
        candidates = below or listed
        return found or (self._agreed(candidates[0], title) if candidates else None)

    def _section(self, label: str, title: str, sections: tuple[Section, ...]) -> Found | None:
        """The section with a label and, if there is one beside it, with that title."""
        section = resolve(sections, label)
        steps = len(re.findall(r"\d\.(?=\d)", label))
        deepest = max((s.number.count(".") for s in self.sections), default=0)
        if section and section.number.count(".") < min(steps, deepest):
            section = None  # resolve() takes 9.3 for 9; where others have such numbers, it is missing
        found = self._agreed(section, title) if section else None
        if found or not title:
            return found
        # "IV. Research" may be what the text of section III counts as 4.
        listed = (self._agreed(s, title) for s in numbers_inside(self.document.text) if resolve((s,), label))
        found = next((place for place in listed if place), None)
        return found or (None if self.sections else self._headed(title, None))

    def _agreed(self, section: Section, title: str) -> Found | None:
        """The section, unless it is cited by another title than it has."""
        from rapidfuzz.fuzz import ratio

        begin = section.start
        heading = re.sub(r"^[#\s]*(?:[\w.]*\d[.)]*|[A-Z]{1,4}\.)?\s*", "", self.document.text[begin : begin + 300])
        titles = [section.title, heading[: len(title)]]
        if title and max(ratio(fold(title), fold(other)) for other in titles) < SIMILAR:
            return None
        named = section.number and section.title
        return f"{section.label} {section.title}" if named else section.label or section.title, self._whole(section)

    def _headed(self, title: str, within: Span | None) -> Found | None:
        """The section with a title, or the place where the document has it word for word."""
        section = resolve(self.sections, title) if not re.match(r"[\dIVX]+\b", title) else None
        if section and (within is None or within[0] <= section.start < within[1]):
            return self._agreed(section, "")
        if len(title.split()) < 2:  # noqa: PLR2004 - a word alone stands anywhere
            return None
        place = self.wording.find(title, *(within or (0, None)))
        # In the midst of a sentence it is no heading.
        while place and not self.document.text[place[0]].isupper():
            place = self.wording.find(title, place[1], within[1] if within else None)
        return (f"\u201c{self.document.text[place[0] : place[1]]}\u201d", place) if place else None
