"""Find a document's sections by number and title: among its headings, in its sentences, or nearly.

A published policy may be one long line with Arabic numbers ("… 2.1 Information we need … 2.2 …"). They are no
recognised sections, but an answer that cites one is right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from genaipa.languages.language import CAPITAL, UNCASED
from genaipa.policies.numbering import (
    BELOW,
    can_follow_in_outline,
    convert_digits_to_ascii,
    may_have_unread_number,
    mentions_section,
)
from genaipa.policies.reading import read_markdown
from genaipa.policies.sections import Section, find_innermost_cited_section
from genaipa.scoring.evidence.quotations import (
    NEAR,
    casefold_and_compose_word,
    find_percent_similarity_and_passage,
    index_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from genaipa.policies.document import Document


# At the beginning of a word; a number of several steps may be glued to the sentence before it ("law.2.3 Sharing").
_NUMBER = re.compile(
    rf"(?:(?<!\S)(\d{{1,2}}\.)|(?:(?<!\S)|(?<=[a-z)][.!?]))(\d{{1,2}}(?:\.\d{{1,2}})+\.?))\s+(?=[{CAPITAL}{UNCASED}])"
)
_FEWEST_NUMBERS = 3  # numbers that make an outline
_MOST_NUMBERS = 400  # numbers that are compared with one another
_TITLE_WORDS = 6


def find_outline(document: Document) -> tuple[Section, ...]:
    """Return the sections of the document; if none are recognised, those numbered inside its lines."""
    return document.sections or _find_longest_numbered_sequence(find_inline_sections(document.text))


def list_citable_sections(document: Document) -> tuple[Section, ...]:
    """Return the outline, and the numbered clauses inside its sections."""
    return document.citable_sections or find_outline(document)


@lru_cache(maxsize=8)
def find_inline_sections(text: str) -> tuple[Section, ...]:
    """Find every "3." or "3.1" before a capitalised word, each up to the next one."""
    reading = read_markdown(text)
    matches = list(_NUMBER.finditer(reading.text))
    starts = [reading.source_span(*match.span())[0] for match in matches]
    return tuple(
        Section(
            number=match.group().strip(" .\n"),
            title=" ".join(reading.text[match.end() : match.end() + 100].split()[:_TITLE_WORDS]) + " …",
            level=match.group().strip(" .\n").count(".") + 1,
            start=start,
            end=end,
        )
        for match, start, end in zip(matches, starts, [*starts[1:], len(text)], strict=False)
    )


@lru_cache(maxsize=8)
def _find_longest_numbered_sequence(numbered: tuple[Section, ...]) -> tuple[Section, ...]:
    """Find the longest chain of numbers that follow one another; empty if short."""
    values = [tuple(map(int, section.number.split("."))) for section in numbered[:_MOST_NUMBERS]]
    best: list[list[int]] = []
    for i, value in enumerate(values):
        before = [best[j] for j in range(i) if can_follow_in_outline(values[j], value)]
        best.append([*max(before, key=len, default=[]), i])
    chain = [numbered[i] for i in max(best, key=len, default=[])]
    if len(chain) < _FEWEST_NUMBERS:
        return ()
    ends = [*(later.start for _, later in pairwise(chain)), chain[-1].end]
    return tuple(
        Section(section.number, section.title, section.level, section.start, end)
        for section, end in zip(chain, ends, strict=True)
    )


Span = tuple[int, int]

_FEWEST = 2  # words of a title that is searched: a single word may be anywhere
_FEWEST_NEAR = 3  # words of a title that is searched nearly: of two, one would be enough
_NEARLY = 90.0  # least similarity (0 to 100) of a title: one other word makes another title
_BEGINNING = 5  # words that a longer title shares with a heading before it differs
_MOST = 50  # places of a title that are looked at


@dataclass(frozen=True)
class TitlePlace:
    """A place in a document with the words of a title.

    `fits`: word for word, or a section's title. `heading`: a section's title, or words that begin with a capital.
    `section` is the section's number, if known.
    """

    label: str
    span: Span
    fits: bool = True
    heading: bool = True
    section: str = ""

    def is_in_section_numbered(self, number: str) -> bool:
        """Whether it is the section with this number, or one beneath it."""
        return bool(self.section) and f"{self.section.rpartition(' ')[2]}.".startswith(f"{number}.")


class DocumentHeadings:
    """The headings of a document; `SectionFinder.span_with_subsections` gives the span of a section."""

    def __init__(self, text: str, sections: tuple[Section, ...], whole: Callable[[Section], Span]) -> None:
        self._text, self._sections, self._whole = text, sections, whole
        self._words = index_text(text)

    def find_title_or_similar_words(self, title: str, within: Span | None = None) -> TitlePlace | None:
        """Find the best place of a title, in a passage or anywhere; None without any."""
        section = find_innermost_cited_section(self._sections, title) if not re.match(r"[\dIVX]+\b", title) else None
        if section and (within is None or within[0] <= section.start < within[1]):
            return TitlePlace(section.label_and_title, self._whole(section), section=section.number)
        if len(title.split()) < _FEWEST:
            return None
        places = list(islice(self._find_title_occurrences(title, within), _MOST))
        first_section = next(
            (section for span in places for section in self._sections if _section_starts_with(section, span)), None
        )
        if first_section:
            return TitlePlace(first_section.label_and_title, self._whole(first_section), section=first_section.number)
        capital = next((span for span in places if self._begins_with_capital(span)), None)
        if places:
            best_span = capital or places[0]
            return TitlePlace(f"“{self._read_span(best_span)}”", best_span, heading=bool(capital))
        similarity, near = (
            find_percent_similarity_and_passage(title, self._text)
            if len(title.split()) >= _FEWEST_NEAR
            else (0.0, None)
        )
        if similarity < _NEARLY and len(title.split()) > _BEGINNING:
            # "How do we respond to requests, and to harm?" for "How do we respond to requests?"
            beginning = " ".join(title.split()[:_BEGINNING])
            similarity = 100.0
            near = next(
                (s for s in self._find_title_occurrences(beginning, within) if self._begins_with_capital(s)), None
            )
        if near and similarity >= _NEARLY and (within is None or within[0] <= near[0] < within[1]):
            return TitlePlace(f"“{self._read_span(near)}”", near, fits=False, heading=False)
        return None

    def _find_title_occurrences(self, title: str, within: Span | None) -> Iterator[Span]:
        start, end = within or (0, None)
        while span := self._words.find_phrase(title, start, end):
            yield span
            start = span[1]

    def _read_span(self, span: Span) -> str:
        return read_markdown(self._text).plain_text_of_source_span(*span)

    def _begins_with_capital(self, span: Span) -> bool:
        return self._text[span[0]].isupper()

    def is_title_absent(self, title: str) -> bool:
        """Whether the text has neither the title nor nearly its words: it must be invented."""
        if not re.search(r"[^\W_]", title):
            return False
        return (
            self._words.find_phrase(title) is None
            and self.find_title_or_similar_words(title) is None
            and find_percent_similarity_and_passage(title, self._text)[0] < NEAR
        )


def _section_starts_with(section: Section, span: Span) -> bool:
    """Whether a section begins with the passage, behind its number."""
    return 0 <= span[0] - section.start <= len(section.number) + 3


SIMILAR = 72.0
"""Least similarity (0 to 100) of a title as cited and as the document has it."""


class FoundSection(NamedTuple):
    """A cited place in the document: label with title, span, and what is wrong with the citation.

    Without a `span` the document has no such place, for certain if `sure`. `split` marks a part of the split that the
    system was given.
    """

    label: str
    span: Span | None
    problem: str = ""
    sure: bool = True
    split: bool = False


def overlap_by_half_of_shorter(first: Span, second: Span) -> bool:
    """Whether at least half of the shorter of two passages lies in the other."""
    shared = min(first[1], second[1]) - max(first[0], second[0])
    return shared > 0 and 2 * shared >= min(first[1] - first[0], second[1] - second[0])


class SectionFinder:
    """Finds the sections of one document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.reading = read_markdown(document.text)
        self.sections = find_outline(document)
        self.places = list_citable_sections(document)
        self.headings = DocumentHeadings(document.text, self.sections, self.span_with_subsections)

    def make_found_section(self, section: Section, problem: str = "") -> FoundSection:
        """Make the result of a section."""
        return FoundSection(section.label_and_title, self.span_with_subsections(section), problem)

    def span_with_subsections(self, section: Section) -> Span:
        """Return the span from a section's heading to the next one that isn't beneath it."""
        if section not in self.places:
            return section.start, section.end
        after = (s.start for s in self.places if s.start > section.start and s.level <= section.level)
        return section.start, max(section.end, next(after, section.end))

    def find_section_or_explain_absence(self, label: str, title: str) -> FoundSection:
        """Return the section with a label and, if there is one beside it, with that title."""
        section, number = self.find_section_by_label(label), label.rpartition(" ")[2]
        if section and (not title or self.has_similar_title(section, title)):
            return self.make_found_section(section, _describe_subsection_if_missing(section, number))
        titled = self._find_title_under_any_label(label, title) if title else None
        if titled:
            return titled
        below = [s for s in self.sections if s.number.endswith(f".{number}")]
        if len(below) == 1 and number.isalpha() and not title:
            return self.make_found_section(below[0])
        if section:
            begins = "begins with" if section not in self.sections else "is"
            return FoundSection("", None, f"{section.label} of this document {begins} “{section.title}”", sure=False)
        absent = self._is_section_absent(label, title)
        return FoundSection("", None, f"no {label}{'' if absent else ' is recognised'} in this document", sure=absent)

    def all_possible_sections(self) -> list[Section]:
        """Return all sections, and the numbers inside lines that may be others."""
        return [*self.places, *find_inline_sections(self.document.text)]

    def _find_title_under_any_label(self, label: str, title: str) -> FoundSection | None:
        """Return the section with this title, if none has both the title and the label."""
        # "IV. Research" may be what the text of section III counts as 4.
        listed = (
            s
            for s in find_inline_sections(self.document.text)
            if find_innermost_cited_section((s,), label) and self.has_similar_title(s, title)
        )
        section, title_place = next(listed, None), self.headings.find_title_or_similar_words(title)
        if section:
            return self.make_found_section(section)
        if title_place and title_place.heading:
            is_other = title_place.section and not f".{title_place.section}".endswith(f".{label.rpartition(' ')[2]}")
            return FoundSection(title_place.label, title_place.span, f"which is not {label}" if is_other else "")
        return (
            FoundSection(title_place.label, title_place.span, "which has similar wording")
            if title_place and not title_place.fits
            else None
        )

    def find_section_by_label(
        self, label: str, candidate_sections: tuple[Section, ...] | None = None
    ) -> Section | None:
        """Return the section with a label."""
        sections = self.places if candidate_sections is None else candidate_sections
        section = find_innermost_cited_section(sections, label)
        steps = len(re.findall(r"\d\.(?=\d)", label))
        deepest = max((s.number.count(".") for s in self.places), default=0)
        if section and section.number.count(".") < min(steps, deepest):
            return None  # find_innermost_cited_section() takes 9.3 for 9; where others have such numbers, it is missing
        number = label.removeprefix("Section ")
        beneath = [s for s in sections if s.number.startswith(f"{number}.")]
        if section or not beneath or any(s.number == number for s in sections):
            return section
        # Its heading was lost or is not recognised: it is what its own sections make up.
        first, last = beneath[0], beneath[-1]
        return Section(number, f"{first.number} {first.title}", first.level - 1, first.start, last.end)

    def has_similar_title(self, section: Section, title: str) -> bool:
        """Whether a section has the title by which it is cited."""
        from rapidfuzz.fuzz import ratio

        begin = section.start
        text = self.reading.plain_text_of_source_span(begin, begin + 300)
        heading = re.sub(r"^[#\s]*(?:[\w.]*\d[.)]*|[A-Z]{1,4}\.)?\s*", "", text)
        titles = [section.title, heading[: len(title)]]
        return (
            max(ratio(casefold_and_compose_word(title), casefold_and_compose_word(candidate)) for candidate in titles)
            >= SIMILAR
        )

    @cached_property
    def _has_unreadable_heading_number(self) -> bool:
        """Whether a heading begins with a number that was not read: then nobody can say which ones there are."""
        return any(may_have_unread_number(section.title, section.number) for section in self.sections)

    def _is_section_absent(self, label: str, title: str) -> bool:
        """Whether nothing in the text can be what a label names: the number begins nothing there, nor is it a title."""
        if title and not self.headings.is_title_absent(title):
            return False
        if not self.sections and not title:
            return False
        if self._has_unreadable_heading_number:
            return False
        word, _, number = re.sub(rf"{BELOW}$", "", label).rpartition(" ")
        text = _plain_text_with_ascii_digits(self.document.text)
        if not re.match(r"(?:sub-?)?sect?(?:ion)?\b|part\b|\u00a7", word, re.IGNORECASE):
            return not mentions_section(text, word, number)
        # Where there is a section 2, a section 1 may only have lost its number.
        tops = [int(top[0]) for section in self.sections if (top := re.match(r"\d+", section.number))]
        if number.isdecimal() and int(number) < max(tops, default=0):
            return False
        number = re.escape(number)
        # A number of several steps is one wherever it is; of others only what looks like the beginning of a section.
        begins = (
            rf"(?<![\w.])0?{number}(?![\w]|\.\d)"
            if "." in label
            else rf"(?<![\w.,])0?{number}(?:[.):\u3001]\s*|\s+)(?=[{CAPITAL}{UNCASED}])"
        )
        return not re.search(begins, text)

    def find_section_in_part(self, section_number: str, title: str, part_span: Span) -> FoundSection | None:
        """Return the section with that number in a part: one of the outline, or what the part's own text numbers so."""
        inside = tuple(
            section for section in self.places if section.start < part_span[1] and part_span[0] < section.end
        )
        section = self.find_section_by_label(f"Section {section_number}", inside)
        # Beneath IV. the section IV.B is cited as B.
        below = [s for s in inside if section_number.isalpha() and s.number.endswith(f".{section_number}")]
        listed = [
            s
            for s in find_inline_sections(self.document.text)
            if s.number == section_number and part_span[0] <= s.start < part_span[1]
        ]
        candidates = [*([section] if section else []), *(below or listed)]
        fitting = [s for s in candidates if not title or self.has_similar_title(s, title)]
        # One that begins there rather than one whose end is there.
        chosen = min(fitting, key=lambda section: section.start < part_span[0], default=None)
        if chosen is None:
            return None
        begun = chosen.start >= part_span[0] or overlap_by_half_of_shorter(
            self.span_with_subsections(chosen), part_span
        )
        problem = (
            _describe_subsection_if_missing(chosen, section_number) if begun else "which is only completed in that part"
        )
        return self.make_found_section(chosen, problem)


@lru_cache(maxsize=8)
def _plain_text_with_ascii_digits(text: str) -> str:
    """Read a document with plain digits."""
    return convert_digits_to_ascii(read_markdown(text).text)


def _describe_subsection_if_missing(section: Section, cited_number: str) -> str:
    """Return a sentence on section 1.1 where 1.1.4 is cited, and it has no such subsection."""
    deeper = re.fullmatch(r"\d+(?:\.\d+)+", cited_number) and cited_number.count(".") > section.number.count(".")
    return f"which has no subsection {cited_number}" if deeper else ""
