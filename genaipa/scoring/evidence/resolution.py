"""Resolve the sections, parts and articles that an answer cites to places in the document.

An answer cites by number ("Section 2.3", "Articles 12-14", "§ 1798.105", "IV.B"), by the part in which it was given the
document ("Part 2", "[^Part 1^]", "ChatGPT: P6"), by both ("Part 2, Section 2.3", "Part 5E") or by a heading ("the
'Your choices' section"). citations.py finds these citations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from genaipa.policies.numbering import roman_value_or_zero
from genaipa.policies.sections import Section, find_innermost_cited_section
from genaipa.scoring.evidence.citations import Citation, find_citations
from genaipa.scoring.evidence.section_finder import FoundSection, SectionFinder, overlap_by_half_of_shorter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.policies.document import Document
    from genaipa.scoring.evidence.citations import Outside

Span = tuple[int, int]


@dataclass(frozen=True)
class ResolvedCitation:
    """A section, part or article that a reply cites.

    `resolved` is its label and title in this document, empty if it doesn't exist; `target` is its span. `problem` says
    what is wrong with the citation. `expected` are the annotated answer's sections, by index, that it is, lies in or
    contains; `touches`: it overlaps one of them a little. `split` marks a part of the split that this system was given.
    `outside` is the external text that it refers to; it is then not `missing`: certainly absent from the document.
    `instead` names the expected section with a part's number.
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
    def is_part_with_invented_heading(self) -> bool:
        """Whether it is an existing part cited with a heading that the document lacks."""
        return self.split and bool(self.problem)


def find_and_resolve_citations(
    reply: str,
    document: Document,
    part_spans_given: Sequence[Span] = (),
    expected_spans: Sequence[Span] = (),
    *,
    system_had_summary: bool = False,
) -> tuple[ResolvedCitation, ...]:
    """Find the references of a reply in order; of numbers the first thousand.

    `part_spans_given` are the spans of the parts given to the system, `expected_spans` the spans of the annotated
    answer's sections. A system that was given a summary (`system_had_summary`) may mean its parts, so a number without
    a title is uncertain.
    """
    citations = find_citations(reply, document)
    lookup = _CitationLookup(document, part_spans_given)
    lookup.counts_sections = any(lookup.calls_section_a_part(citation) for citation in citations)
    sections_by_citation: dict[Citation, FoundSection] = {}
    references = []
    for citation in citations:
        key = replace(citation, start=0, end=0)
        if key not in sections_by_citation:
            is_external = citation.outside in {"another law", "a summary"}
            sections_by_citation[key] = (
                FoundSection("", None) if is_external else lookup.resolve_citation_to_section(citation)
            )
        section, outside = sections_by_citation[key], citation.outside
        # A number of several steps that the document has is its own, as is a title.
        sure = section.span and not section.split and (citation.title or "." in citation.number)
        if system_had_summary and citation.number and not outside and not sure:
            section, outside = section._replace(span=None), "perhaps another text"
        if citation.loose and (not section.span or section.problem):
            continue
        target = section.span
        expected_indices = tuple(
            n for n, span in enumerate(expected_spans) if target and overlap_by_half_of_shorter(target, span)
        )
        references.append(
            ResolvedCitation(
                start=citation.start,
                end=citation.end,
                text=reply[citation.start : citation.end],
                resolved=section.label,
                target=target,
                expected=expected_indices,
                outside="" if target else outside,
                problem=section.problem,
                split=section.split,
                missing=not target and not outside and section.sure,
                touches=any(target[0] < span[1] and span[0] < target[1] for span in expected_spans)
                if target
                else False,
                instead=lookup.find_expected_section_label(citation.number, expected_spans)
                if section.split and not expected_indices
                else "",
            )
        )
    return tuple(references)


def _join_sections_to_range(first: FoundSection, last: FoundSection) -> FoundSection:
    """Join two places to a range, if both exist in this order."""
    if not first.span or not last.span:
        return first if not first.span else last
    if last.span[1] < first.span[0]:
        return FoundSection("", None, "no such range in this document")
    return FoundSection(
        f"{first.label} to {last.label}", (first.span[0], last.span[1]), split=first.split and last.split
    )


_SECTIONS = frozenset(("chapter", "part", "clause"))
"""What answers call sections, whatever the document calls them; an article or a § may be a law's."""


class _CitationLookup:
    """Resolves citations in one document."""

    def __init__(self, document: Document, parts: Sequence[Span]) -> None:
        self.sections = SectionFinder(document)
        self.parts = parts
        self.counts_sections = False
        """Whether this answer says "Part 7" where it means section 7."""

    def resolve_citation_to_section(self, citation: Citation) -> FoundSection:
        """Resolve a citation."""
        if not citation.number:
            return self._resolve_heading(citation.title)
        if citation.within:
            return self._resolve_section_in_part(citation)
        if citation.word.lower().startswith("part") and not self._is_section_miscalled_part_or_chapter(citation):
            return self._resolve_part(citation)
        if self._is_section_miscalled_part_or_chapter(citation):
            citation = replace(citation, word="Section")
        if citation.last:
            last = replace(citation, number=citation.last)
            return _join_sections_to_range(
                self.sections.find_section_or_explain_absence(citation.singular_word_and_number, ""),
                self.sections.find_section_or_explain_absence(last.singular_word_and_number, ""),
            )
        return self.sections.find_section_or_explain_absence(citation.singular_word_and_number, citation.title)

    def _is_section_miscalled_part_or_chapter(self, citation: Citation) -> bool:
        """Whether "Chapter 7" or "Part 7" is section 7 of a document that has neither chapters nor parts."""
        kind = citation.word.lower().removesuffix("s")
        if (
            kind not in _SECTIONS
            or not citation.number[0].isdigit()
            or (kind == "part" and (self.parts or self.sections.document.about.part_sets))
        ):
            return False
        numbers = [section.number.lower() for section in self.sections.sections]
        return not any(number.startswith(kind) for number in numbers) and citation.number in numbers

    def calls_section_a_part(self, citation: Citation) -> bool:
        """Whether "Part 7: Title" has the title of section 7, or "Part 7.2" is section 7.2, and part 7 is elsewhere."""
        top = re.match(r"\d+", citation.number)
        if not top or citation.within or not self.parts or not citation.word.lower().startswith("part"):
            return False
        part_span, section = (
            self._span_of_part_shown_to_system(top.group()),
            self.sections.find_section_by_label(f"Section {citation.number}"),
        )
        if section is None or (part_span and part_span[0] <= section.start < part_span[1]):
            return False
        return (
            "." in citation.number
            or not part_span
            or bool(citation.title and self.sections.has_similar_title(section, citation.title))
        )

    def find_expected_section_label(self, part_number: str, expected_spans: Sequence[Span]) -> str:
        """Return the label of the section with a part's number, if the annotated answer rests on that section."""
        section = self.sections.find_section_by_label(f"Section {part_number}") if part_number.isdecimal() else None
        is_expected = section and any(
            overlap_by_half_of_shorter(self.sections.span_with_subsections(section), span) for span in expected_spans
        )
        return section.label if section and is_expected else ""

    def _resolve_heading(self, title: str) -> FoundSection:
        title_place = self.sections.headings.find_title_or_similar_words(title)
        if title_place and title_place.heading:
            return FoundSection(title_place.label, title_place.span)
        if title_place and title_place.fits:
            return FoundSection(
                "",
                None,
                f"no such heading in this document, but its text has the words {title_place.label}",
                sure=False,
            )
        if title_place:
            return FoundSection(title_place.label, title_place.span, "which has similar wording")
        return FoundSection(
            "", None, "no such heading in this document", sure=self.sections.headings.is_title_absent(title)
        )

    def _resolve_part(self, citation: Citation) -> FoundSection:
        """Resolve "Part 3", "Part 3-5" and "Part 5E", and "Part 2.10" for section 2.10."""
        number = citation.number
        if not number.isdecimal():
            result = self.sections.find_section_or_explain_absence(f"Section {number}", citation.title)
            split = re.fullmatch(r"(\d+)\.?([A-Za-z].*)", number)
            if result.span or not split:
                return result
            return self._resolve_section_in_part(
                replace(citation, word="Section", within=split[1], number=split[2].upper())
            )
        part_span = self._span_of_part_shown_to_system(number)
        if part_span is None:
            named = self.sections.find_section_or_explain_absence(f"Part {number}", citation.title)
            return named if named.span else self._resolve_missing_part(citation)
        if citation.title and not citation.last:
            return self._find_title_in_part_or_elsewhere(number, part_span, citation.title)
        if not citation.last and (section := self._find_section_meant_by_part_number(number)):
            return self.sections.make_found_section(section, "assuming that the answer calls sections parts")
        first = self._find_part_shown_to_system(number)
        return (
            _join_sections_to_range(first, self._find_part_shown_to_system(citation.last)) if citation.last else first
        )

    def _find_section_meant_by_part_number(self, part_number: str) -> Section | None:
        """Return the section with the number of a part, where this answer counts the sections so."""
        return self.sections.find_section_by_label(f"Section {part_number}") if self.counts_sections else None

    def _resolve_missing_part(self, citation: Citation) -> FoundSection:
        """Resolve a part that the system was not given, by its title if that tells what is meant."""
        title_place = self.sections.headings.find_title_or_similar_words(citation.title) if citation.title else None
        if title_place and title_place.fits and title_place.heading:
            return FoundSection(
                title_place.label,
                title_place.span,
                "" if title_place.is_in_section_numbered(citation.number) else "which is not a part",
            )
        if section := self._find_section_meant_by_part_number(citation.number):
            return self.sections.make_found_section(section, "assuming that the answer calls sections parts")
        return self._find_part_shown_to_system(citation.number)

    def _find_part_shown_to_system(self, part_number: str) -> FoundSection:
        if part_span := self._span_of_part_shown_to_system(part_number):
            return FoundSection(f"Part {part_number}", part_span, split=True)
        # A system that was given no parts may count those of a summary.
        return FoundSection("", None, f"no Part {part_number} in this document", sure=bool(self.parts))

    def _find_title_in_part_or_elsewhere(self, part_number: str, part_span: Span, title: str) -> FoundSection:
        """Find what has a title, in a part or elsewhere; the part itself, if nothing has it."""
        inside, title_place = (
            self.sections.headings.find_title_or_similar_words(title, part_span),
            self.sections.headings.find_title_or_similar_words(title),
        )
        if inside and inside.heading:
            return FoundSection(f"Part {part_number}: {inside.label}", inside.span)
        if title_place and title_place.heading:
            is_inside = title_place.is_in_section_numbered(part_number)
            elsewhere = "" if is_inside else f"which is outside the system's Part {part_number}"
            return FoundSection(title_place.label, title_place.span, elsewhere)
        if section := self._find_section_meant_by_part_number(part_number):
            another = "" if self.sections.has_similar_title(section, title) else "which has a different title"
            return self.sections.make_found_section(section, another)
        if title_place and not title_place.fits:
            return FoundSection(title_place.label, title_place.span, "which has similar wording")
        invented = "but this document has no such heading" if self.sections.headings.is_title_absent(title) else ""
        return FoundSection(f"Part {part_number}", part_span, invented, split=True)

    def _span_of_part_shown_to_system(self, part_number: str) -> Span | None:
        """Return the span of a part as the system was given it."""
        return (
            self.parts[int(part_number) - 1]
            if part_number.isdecimal() and 0 < int(part_number) <= len(self.parts)
            else None
        )

    def _resolve_section_in_part(self, citation: Citation) -> FoundSection:
        """Find a section, or several, said to be in a part."""
        outer = self._span_of_part_shown_to_system(citation.within)
        if outer is None:
            return self._resolve_section_outside_stated_part(citation)
        if citation.last:
            ends = (citation.number, citation.last)
            first, last = (
                self._resolve_section_in_part(replace(citation, number=number, last="", title="")) for number in ends
            )
            whole = _join_sections_to_range(first, last)._replace(problem=first.problem or last.problem)
            return (
                whole
                if first.span and last.span
                else self._report_absence_or_other_title_in_part(f"Part {citation.within}", citation)
            )
        section = self.sections.find_section_in_part(citation.number, citation.title, outer)
        if section:
            return section._replace(label=f"Part {citation.within}: {section.label}")
        titled = self.sections.headings.find_title_or_similar_words(citation.title, outer) if citation.title else None
        if titled and titled.heading:
            is_other = titled.section and not f".{titled.section}".endswith(f".{citation.number}")
            problem = f"which is not {citation.singular_word_and_number}" if is_other else ""
            return FoundSection(f"Part {citation.within}: {titled.label}", titled.span, problem)
        return self._resolve_section_outside_stated_part(citation)

    def _resolve_section_outside_stated_part(self, citation: Citation) -> FoundSection:
        """Find a section that isn't in the part it is said to be in, if a title or its number leaves no doubt.

        "Part 4, 4.6" and "Part 7, Section 7" say twice which section is meant; "Part 4, Section 2" may be any list's.
        """
        part = f"Part {citation.within}"
        if find_innermost_cited_section(self.sections.document.sections, part):
            return self.sections.find_section_or_explain_absence(
                f"{part}, {citation.singular_word_and_number}", citation.title
            )
        result = self.sections.find_section_or_explain_absence(citation.singular_word_and_number, citation.title)
        if not self._span_of_part_shown_to_system(citation.within):
            return result
        if not result.span:
            # "Section E" may be the E of any section.
            numbers = [section.number for section in self.sections.all_possible_sections()]
            elsewhere = any(number == citation.number or number.endswith(f".{citation.number}") for number in numbers)
            return (
                self._report_absence_or_other_title_in_part(part, citation)
                if elsewhere and not self.sections.find_section_by_label(citation.singular_word_and_number)
                else result
            )
        # "Part 4, 4.6", and "Part 4, Section A" where the document has a section IV.A.
        top = re.search(r"(\w+)\.\w+(?=\s|$)", result.label.partition(",")[0])
        if citation.within in {citation.number.partition(".")[0], str(roman_value_or_zero(top[1]) if top else "")}:
            return result
        if "." in citation.number or citation.title or citation.number.isalpha():
            return result._replace(problem=result.problem or f"which is outside the system's {part}")
        return self._report_absence_or_other_title_in_part(part, citation)

    def _report_absence_or_other_title_in_part(self, part_label: str, citation: Citation) -> FoundSection:
        part_span = self._span_of_part_shown_to_system(citation.within)
        section = (
            self.sections.find_section_in_part(citation.number, "", part_span) if part_span and citation.title else None
        )
        if section:
            return section._replace(label=f"{part_label}: {section.label}", problem="which has a different title")
        several = f" to {citation.last}" if citation.last else ""
        return FoundSection(
            "", None, f"no {citation.singular_word_and_number}{several} in the system's {part_label}", sure=False
        )
