"""Every section, part or article that an answer names, and whether the document has it.

An answer cites by number ("Section 2.3", "Articles 12-14", "§ 1798.105", "IV.B"), by the part in which it was given the
document ("Part 2", "[^Part 1^]", "ChatGPT: P6"), by both ("Part 2, Section 2.3", "Part 5E") or by a heading ("the
'Your choices' section"). What is named is read in mentions.py, and found here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from genaipa.policies.lookup import resolve
from genaipa.policies.numbering import from_roman
from genaipa.policies.sections import Section
from genaipa.scoring.evidence.citations import Mention, find_mentions
from genaipa.scoring.evidence.headings import Headings
from genaipa.scoring.evidence.outline import numbers_inside, outline
from genaipa.scoring.evidence.text_index import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.policies.document import Document
    from genaipa.scoring.evidence.external import Outside

Span = tuple[int, int]

SIMILAR = 72.0
"""Least similarity (0 to 100) of a title as cited and as the document has it."""


class Found(NamedTuple):
    """What a mention is in the document: its label and title, where it is, and what is wrong with the citation.

    There is no `span` where the document has no such thing; `sure` then says that nothing can have been overlooked.
    `split` marks a part of the split in which the system was given the document.
    """

    label: str
    span: Span | None
    problem: str = ""
    sure: bool = True
    split: bool = False


@dataclass(frozen=True)
class Reference:
    """One section, part or article that a reply names.

    `resolved` is the label and title of what that is in this document, empty if it doesn't exist; `target` is where
    it is. `problem` says in words what is wrong with the citation: the number and the title don't fit, or there is no
    such thing. `expected` are those sections of the annotated answer, by their place in its list, that it is, lies in
    or contains. `split` marks a part of the split that this system was given. `outside` says of which other text it
    is; it is then not missing from this document. `missing` says that the document certainly has no such thing;
    `touches` that it has a little of what is expected; `instead` names the expected section with a part's number.
    """

    start: int
    end: int
    text: str
    resolved: str
    target: Span | None
    expected: tuple[int, ...]
    outside: Outside = ""
    problem: str = ""
    split: bool = False
    missing: bool = False
    touches: bool = False
    instead: str = ""

    @property
    def invented(self) -> bool:
        """Whether it is a part of the document with a heading that is nowhere in the document."""
        return self.split and bool(self.problem)


def find_references(
    reply: str,
    document: Document,
    parts: Sequence[Span] = (),
    expected: Sequence[Span] = (),
    *,
    summarised: bool = False,
) -> tuple[Reference, ...]:
    """What a reply names of the document, in order; of numbers the first thousand.

    `parts` are where the parts stand that the system was given, `expected` the sections of the annotated answer. A
    system that was given a summary (`summarised`) may count that one's parts: of what it names by a number, only what a
    title confirms is surely the document's.
    """
    mentions = find_mentions(reply, document)
    lookup = _Lookup(document, parts)
    lookup.counts_sections = any(lookup.takes_part_for_section(mention) for mention in mentions)
    found: dict[Mention, Found] = {}
    references = []
    for mention in mentions:
        key = replace(mention, start=0, end=0)
        if key not in found:
            other = mention.outside in {"another law", "a summary"}
            found[key] = Found("", None) if other else lookup.find(mention)
        place, outside = found[key], mention.outside
        # A number of several steps that the document has is its own, as is a title.
        sure = place.span and not place.split and (mention.title or "." in mention.number)
        if summarised and mention.number and not outside and not sure:
            place, outside = place._replace(span=None), "perhaps another text"
        if mention.loose and (not place.span or place.problem):
            continue
        found_here = _reference(reply, mention, place, expected, "" if place.span else outside)
        instead = lookup.instead(mention.number, expected) if found_here.split and not found_here.expected else ""
        references.append(replace(found_here, instead=instead))
    return tuple(references)


def _reference(reply: str, mention: Mention, place: Found, expected: Sequence[Span], outside: Outside) -> Reference:
    target = place.span
    return Reference(
        start=mention.start,
        end=mention.end,
        text=reply[mention.start : mention.end],
        resolved=place.label,
        target=target,
        expected=tuple(n for n, span in enumerate(expected) if target and shares(target, span)),
        outside=outside,
        problem=place.problem,
        split=place.split,
        missing=not target and not outside and place.sure,
        touches=any(target[0] < span[1] and span[0] < target[1] for span in expected) if target else False,
    )


def shares(one: Span, other: Span) -> bool:
    """Whether at least half of the shorter of two passages lies in the other."""
    shared = min(one[1], other[1]) - max(one[0], other[0])
    return shared > 0 and 2 * shared >= min(one[1] - one[0], other[1] - other[0])


def _range(first: Found, last: Found) -> Found:
    """From one to the other, if both are there and in this order."""
    if not first.span or not last.span:
        return first if not first.span else last
    if last.span[1] < first.span[0]:
        return Found("", None, "no such range in this document")
    return Found(f"{first.label} to {last.label}", (first.span[0], last.span[1]), split=first.split and last.split)


def _lacking(section: Section, number: str) -> str:
    """What to say of section 1.1 where 1.1.4 is cited, and it has no such subsection."""
    deeper = re.fullmatch(r"\d+(?:\.\d+)+", number) and number.count(".") > section.number.count(".")
    return f"which has no {number} of its own" if deeper else ""


class _Lookup:
    """Finds in a document what is named."""

    def __init__(self, document: Document, parts: Sequence[Span]) -> None:
        self.document = document
        self.parts = parts
        self.sections = outline(document)
        self.headings = Headings(document.text, self.sections, self._whole)
        self.counts_sections = False
        """Whether this answer says "Part 7" where it means section 7."""

    def find(self, mention: Mention) -> Found:
        """What a mention is in the document and where."""
        if not mention.number:
            return self._by_heading(mention.title)
        if mention.within:
            return self._inside(mention)
        if mention.word.lower().startswith("part"):
            return self._part(mention)
        if mention.last:
            last = replace(mention, number=mention.last)
            return _range(self._section(mention.label, ""), self._section(last.label, ""))
        return self._section(mention.label, mention.title)

    def takes_part_for_section(self, mention: Mention) -> bool:
        """Whether "Part 7: Title" has the title of section 7, or "Part 7.2" is section 7.2, and part 7 is elsewhere."""
        top = re.match(r"\d+", mention.number)
        if not top or mention.within or not self.parts or not mention.word.lower().startswith("part"):
            return False
        given, section = self._given(top.group()), self._numbered(f"Section {mention.number}", self.sections)
        if section is None or (given and given[0] <= section.start < given[1]):
            return False
        return "." in mention.number or not given or bool(mention.title and self._agrees(section, mention.title))

    def instead(self, number: str, expected: Sequence[Span]) -> str:
        """The section with a part's number, if the annotated answer rests on that: it may be what is meant."""
        section = self._numbered(f"Section {number}", self.sections) if number.isdecimal() else None
        meant = section and any(shares(self._whole(section), span) for span in expected)
        return section.label if section and meant else ""

    def _whole(self, section: Section) -> Span:
        """From the section's heading to the next one that isn't beneath it."""
        if section not in self.sections:
            return section.start, section.end
        after = (s.start for s in self.sections if s.start > section.start and s.level <= section.level)
        return section.start, max(section.end, next(after, section.end))

    # -- by a heading alone --

    def _by_heading(self, title: str) -> Found:
        place = self.headings.find(title)
        if place and place.heading:
            return Found(place.label, place.span)
        if place and place.fits:
            return Found("", None, f"no such heading in this document, only the words {place.label}", sure=False)
        if place:
            return Found(place.label, place.span, "which has nearly these words")
        return Found("", None, "no such heading in this document", sure=self.headings.is_nowhere(title))

    # -- parts --

    def _part(self, mention: Mention) -> Found:
        """What "Part 3", "Part 3-5" and "Part 5E" name, and "Part 2.10" for section 2.10."""
        number = mention.number
        if not number.isdecimal():
            found = self._section(f"Section {number}", mention.title)
            split = re.fullmatch(r"(\d+)\.?([A-Za-z].*)", number)
            if found.span or not split:
                return found
            return self._inside(replace(mention, word="Section", within=split[1], number=split[2].upper()))
        given = self._given(number)
        if given is None:
            named = self._section(f"Part {number}", mention.title)
            return named if named.span else self._no_part(mention)
        if mention.title and not mention.last:
            return self._titled_part(number, given, mention.title)
        if not mention.last and (section := self._counted(number)):
            return Found(self._label(section), self._whole(section), "if its parts are the sections")
        whole = Found(f"Part {number}", given, split=True)
        return _range(whole, self._last_part(mention.last)) if mention.last else whole

    def _counted(self, number: str) -> Section | None:
        """The section with the number of a part, where this answer counts the sections so."""
        return self._numbered(f"Section {number}", self.sections) if self.counts_sections else None

    def _last_part(self, number: str) -> Found:
        given = self._given(number)
        if not given:
            return Found("", None, f"no Part {number} of this document", sure=bool(self.parts))
        return Found(f"Part {number}", given, split=True)

    def _no_part(self, mention: Mention) -> Found:
        """A part that the system was not given, unless its title tells what is meant."""
        place = self.headings.find(mention.title) if mention.title else None
        if place and place.fits and place.heading:
            return Found(place.label, place.span, "" if place.is_numbered(mention.number) else "which is no part")
        if section := self._counted(mention.number):
            return Found(self._label(section), self._whole(section), "if its parts are the sections")
        # A system that was given no parts may count those of a summary.
        return Found("", None, f"no Part {mention.number} of this document", sure=bool(self.parts))

    def _titled_part(self, number: str, given: Span, title: str) -> Found:
        """A part with a title: what has the title, in the part or elsewhere; the part, if nothing has it."""
        inside, place = self.headings.find(title, given), self.headings.find(title)
        if inside and inside.heading:
            return Found(f"Part {number}: {inside.label}", inside.span)
        if place and place.heading:
            elsewhere = "" if place.is_numbered(number) else f"which is not in Part {number} of the system's split"
            return Found(place.label, place.span, elsewhere)
        if section := self._counted(number):
            another = "" if self._agrees(section, title) else "which has another title"
            return Found(self._label(section), self._whole(section), another)
        if place and not place.fits:
            return Found(place.label, place.span, "which has nearly these words")
        invented = "but this document has no such heading" if self.headings.is_nowhere(title) else ""
        return Found(f"Part {number}", given, invented, split=True)

    def _given(self, number: str) -> Span | None:
        """Where the part of that number stands, as the system was given it."""
        return self.parts[int(number) - 1] if number.isdecimal() and 0 < int(number) <= len(self.parts) else None

    def _inside(self, mention: Mention) -> Found:
        """A section, or several, said to be in a part."""
        outer = self._given(mention.within)
        if outer is None:
            return self._elsewhere(mention)
        if mention.last:
            ends = (mention.number, mention.last)
            first, last = (self._inside(replace(mention, number=number, last="", title="")) for number in ends)
            whole = _range(first, last)._replace(problem=first.problem or last.problem)
            return whole if first.span and last.span else self._not_in(f"Part {mention.within}", mention)
        there = self._in_part(mention.number, mention.title, outer)
        if there:
            return there._replace(label=f"Part {mention.within}: {there.label}")
        titled = self.headings.find(mention.title, outer) if mention.title else None
        if titled and titled.heading:
            other = titled.section and not f".{titled.section}".endswith(f".{mention.number}")
            problem = f"which is not {mention.label}" if other else ""
            return Found(f"Part {mention.within}: {titled.label}", titled.span, problem)
        return self._elsewhere(mention)

    def _elsewhere(self, mention: Mention) -> Found:
        """A section that isn't in the part it is said to be in, if a title or its number leaves no doubt.

        "Part 4, 4.6" and "Part 7, Section 7" say twice which section is meant; "Part 4, Section 2" may be any list's.
        """
        part = f"Part {mention.within}"
        if resolve(self.document.sections, part):
            return self._section(f"{part}, {mention.label}", mention.title)
        found = self._section(mention.label, mention.title)
        if not self._given(mention.within):
            return found
        if not found.span:
            # "Section E" may be the E of any section.
            numbers = [section.number for section in (*self.sections, *numbers_inside(self.document.text))]
            elsewhere = any(number == mention.number or number.endswith(f".{mention.number}") for number in numbers)
            return (
                self._not_in(part, mention) if elsewhere and not self._numbered(mention.label, self.sections) else found
            )
        # "Part 4, 4.6", and "Part 4, Section A" where the document has a section IV.A.
        top = re.search(r"(\w+)\.\w+(?=\s|$)", found.label.partition(",")[0])
        if mention.within in {mention.number.partition(".")[0], str(from_roman(top[1]) if top else "")}:
            return found
        if "." in mention.number or mention.title or mention.number.isalpha():
            return found._replace(problem=found.problem or f"which is not in {part} of the system's split")
        return self._not_in(part, mention)

    def _not_in(self, part: str, mention: Mention) -> Found:
        given = self._given(mention.within)
        there = self._in_part(mention.number, "", given) if given and mention.title else None
        if there:
            return there._replace(label=f"{part}: {there.label}", problem="which has another title")
        several = f" to {mention.last}" if mention.last else ""
        return Found("", None, f"no {mention.label}{several} in {part} of the system's split", sure=False)

    def _in_part(self, number: str, title: str, part: Span) -> Found | None:
        """The section with that number in a part: one of the outline, or what the part's own text numbers so."""
        inside = tuple(section for section in self.sections if section.start < part[1] and part[0] < section.end)
        section = self._numbered(f"Section {number}", inside)
        # Beneath IV. the section IV.B is cited as B.
        below = [s for s in inside if number.isalpha() and s.number.endswith(f".{number}")]
        listed = [s for s in numbers_inside(self.document.text) if s.number == number and part[0] <= s.start < part[1]]
        candidates = [*([section] if section else []), *(below or listed)]
        fitting = [s for s in candidates if not title or self._agrees(s, title)]
        # One that begins there rather than one whose end is there.
        one = min(fitting, key=lambda section: section.start < part[0], default=None)
        if one is None:
            return None
        begun = one.start >= part[0] or shares(self._whole(one), part)
        problem = _lacking(one, number) if begun else "which only ends there"
        return Found(self._label(one), self._whole(one), problem)

    # -- sections --

    def _section(self, label: str, title: str) -> Found:
        """The section with a label and, if there is one beside it, with that title."""
        section, number = self._numbered(label, self.sections), label.rpartition(" ")[2]
        if section and (not title or self._agrees(section, title)):
            return Found(self._label(section), self._whole(section), _lacking(section, number))
        titled = self._titled(label, title) if title else None
        if titled:
            return titled
        below = [s for s in self.sections if s.number.endswith(f".{number}")]
        if len(below) == 1 and number.isalpha() and not title:
            return Found(self._label(below[0]), self._whole(below[0]))
        if section:
            begins = "begins with" if section not in self.sections else "is"
            return Found("", None, f"{section.label} of this document {begins} “{section.title}”", sure=False)
        absent = self._is_absent(label, title)
        return Found("", None, f"no {label}{'' if absent else ' is recognised'} in this document", sure=absent)

    def _titled(self, label: str, title: str) -> Found | None:
        """What has a title, where nothing has it and the label too."""
        # "IV. Research" may be what the text of section III counts as 4.
        listed = (s for s in numbers_inside(self.document.text) if resolve((s,), label) and self._agrees(s, title))
        one, place = next(listed, None), self.headings.find(title)
        if one:
            return Found(self._label(one), self._whole(one))
        if place and place.heading:
            other = place.section and not f".{place.section}".endswith(f".{label.rpartition(' ')[2]}")
            return Found(place.label, place.span, f"which is not {label}" if other else "")
        return Found(place.label, place.span, "which has nearly these words") if place and not place.fits else None

    def _numbered(self, label: str, sections: tuple[Section, ...]) -> Section | None:
        """The section with a label."""
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

    def _agrees(self, section: Section, title: str) -> bool:
        """Whether a section has the title by which it is cited."""
        from rapidfuzz.fuzz import ratio

        begin = section.start
        heading = re.sub(r"^[#\s]*(?:[\w.]*\d[.)]*|[A-Z]{1,4}\.)?\s*", "", self.document.text[begin : begin + 300])
        titles = [section.title, heading[: len(title)]]
        return max(ratio(fold(title), fold(other)) for other in titles) >= SIMILAR

    def _label(self, section: Section) -> str:
        named = section.number and section.title
        return f"{section.label} {section.title}" if named else section.label or section.title

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
