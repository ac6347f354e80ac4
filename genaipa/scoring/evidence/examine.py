"""Collect the evidence about an answer before it is scored, and the value of its citations that follows.

evidence = examine(reply, document, parts=case.parts, annotated=case.reliable_annotation, part_set=case.part_set)

The value is suggested to the analyst, who gives it or another; nothing is scored without that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from genaipa.languages.catalog import language_to_read_reply
from genaipa.languages.language import expression
from genaipa.policies.numbering import SEVERAL
from genaipa.policies.sections import find_innermost_cited_section
from genaipa.scoring.evidence.abstention import SilenceAssessment, assess_silence_claim
from genaipa.scoring.evidence.asked import denials_concern_question
from genaipa.scoring.evidence.quotations import Quotation, TextIndex, find_quotations
from genaipa.scoring.evidence.resolution import ResolvedCitation, find_and_resolve_citations
from genaipa.scoring.evidence.section_finder import find_outline, list_citable_sections

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from genaipa.policies.document import Document
    from genaipa.questions.annotations import AnnotatedAnswer
    from genaipa.scoring.evidence.asked import QuestionWordings

Span = tuple[int, int]

# A possible title, or a section's number without a word.
_TITLE = re.compile(
    r"(?:[\"\u201c*_]|(?<!\w)['\u2018])([A-Z][^\"\u201c\u201d*_\n]{5,100}?)(?:[\"\u201d*_]|['\u2019](?!\w))"
    rf"|(?<![\w.]){SEVERAL}(?![\w.])"
)
_MOST = 100  # titles of an answer that are looked up


@dataclass(frozen=True)
class Evidence:
    """A reply's citations, quotations and abstention.

    `suggestion` is the value of the citations, None if the evidence doesn't settle it; `reason`
    is the sentence that says why. `targets` is how many passages the annotated answer rests on. `points` says that the
    reply seems to name a section in a way that is not recognised: then nothing is made of its naming none.
    `summarised` says that the system had a summary, from which it may quote. `language` is the
    code of the language by whose rules it was read; empty where genaipa lacks these: then quotations and numbers in
    brackets are all that is known. `on_question` says whether its denials are of the question asked; None where the
    reply is in another language than the question.
    """

    references: tuple[ResolvedCitation, ...]
    quotations: tuple[Quotation, ...]
    silence: SilenceAssessment
    suggestion: float | None
    reason: str
    targets: int = 0
    points: bool = False
    summarised: bool = False
    language: str = ""
    on_question: bool | None = True

    @property
    def cited_passage_count(self) -> int:
        """The number of passages of the annotated answer that are cited."""
        return len({index for reference in self.references for index in reference.expected})


def collect_reply_evidence(
    reply: str,
    document: Document,
    *,
    part_spans_given: Sequence[Span] = (),
    annotated: AnnotatedAnswer | None = None,
    annotated_part_set: str = "",
    system_had_summary: bool = False,
    question: QuestionWordings | None = None,
) -> Evidence:
    """Collect the evidence about a reply.

    `part_spans_given` are the spans of "Part 1", "Part 2", … as this system was given the document.
    `annotated_part_set` is the segmentation of the annotated answer's own "Part n", perhaps another.
    `system_had_summary`: the system had a summary, whose parts it may mean. Without the `question` a denial is taken to
    be of it.
    """
    targets = (
        [span for _, span in locate_annotated_sections(annotated, document, annotated_part_set) if span]
        if annotated
        else []
    )
    named = find_and_resolve_citations(
        reply, document, part_spans_given, targets, system_had_summary=system_had_summary
    )
    quotations = find_quotations(reply, document, [(reference.start, reference.end) for reference in named])
    references = tuple(
        reference for reference in named if not _is_citation_text_within_quotation(reference, quotations, document)
    )
    exact_quotations = [(q.start, q.end) for q in quotations if q.match in {"exact", "normalised"}]
    silence, language = (
        assess_silence_claim(reply, annotated, exact_quotations, document.language),
        language_to_read_reply(reply, document.language),
    )
    if language is None or language.citations is None or language.silence is None:
        return Evidence(references, quotations, silence, None, "", len(targets), True, system_had_summary)
    points = not references and _mentions_section(reply, document, silence, language.citations.pointing)
    ours = (
        denials_concern_question(reply, silence.phrases, question, document) if question and silence.phrases else True
    )
    value, reason = None, ""
    if annotated and annotated.silent == "yes":
        value, reason = _suggest_value_and_reason_where_silent(
            references, silence, mentions_section=points, concerns_question=ours
        )
    elif annotated:
        # A summary has parts of its own.
        summary = re.search(language.citations.summary, reply.casefold())
        value, reason = (None, "") if summary else _suggest_if_all_right_or_all_missing(references)
    context = points, system_had_summary, language.code, ours
    return Evidence(references, quotations, silence, value, reason, len(targets), *context)


def locate_annotated_sections(
    annotated: AnnotatedAnswer, document: Document, part_set: str
) -> tuple[tuple[str, Span | None], ...]:
    """List the sections of the annotated answer with their spans; None for one that the document lacks."""
    return locate_labelled_sections(annotated.sections, document, part_set)


def locate_labelled_sections(
    labels: Iterable[str], document: Document, part_set: str
) -> tuple[tuple[str, Span | None], ...]:
    """List sections, named as annotated answers name them, with their spans; None for one that the document lacks."""
    targets: list[tuple[str, Span | None]] = []
    for label in labels:
        word, _, number = label.partition(" ")
        span = document.part(part_set, int(number)) if word == "Part" and number.isdecimal() else None
        section = None if span else find_innermost_cited_section(list_citable_sections(document), label)
        # The system may call another passage by the same number.
        named = f"the annotators' {label}" if span else label
        targets.append((named, span or ((section.start, section.end) if section else None)))
    return tuple(targets)


def _is_citation_text_within_quotation(
    citation: ResolvedCitation, quotations: Sequence[Quotation], document: Document
) -> bool:
    """Whether a citation is the document's own, inside a quotation; words in brackets may be the answer's."""
    return any(
        quote.start <= citation.start
        and citation.end <= quote.end
        and quote.target is not None
        and TextIndex(document.text[slice(*quote.target)]).find_phrase(citation.text) is not None
        for quote in quotations
    )


def _mentions_section(reply: str, document: Document, silence: SilenceAssessment, pointing_pattern: str) -> bool:
    """Whether a reply has a section's title, or mentions a section except to say that there is none.

    `pointing_pattern` is how an answer points at a section without a number: "the following section:", "Reference:
    Security".
    """
    sections = find_outline(document)
    if any(
        find_innermost_cited_section(sections, match.group(1) or match.group())
        for match in islice(_TITLE.finditer(reply), _MOST)
    ):
        return True
    lines = (match.span() for match in re.finditer(r"[^\n.]+", reply))
    denied = [line for line in lines if any(line[0] <= start < line[1] for start, _ in silence.phrases)]
    mentions = expression(pointing_pattern, re.IGNORECASE | re.MULTILINE).finditer(reply)
    return any(not any(start <= match.start() < end for start, end in denied) for match in mentions)


def _suggest_value_and_reason_where_silent(
    references: tuple[ResolvedCitation, ...],
    silence: SilenceAssessment,
    *,
    mentions_section: bool,
    concerns_question: bool | None,
) -> tuple[float | None, str]:
    """Score the references, with the reason, where the document is silent; None if it takes an analyst.

    `concerns_question` says whether the reply denies what was asked.
    """
    if any(not reference.outside for reference in references):
        return -1.0, "The document does not answer this question, yet the answer cites a section."
    if silence.claimed and concerns_question and not references and not mentions_section:
        return 1.0, "The answer rightly says that the document does not answer the question, and it cites nothing."
    return None, ""


def _suggest_if_all_right_or_all_missing(references: tuple[ResolvedCitation, ...]) -> tuple[float | None, str]:
    """Score the references, with the reason, where the document answers; None if it takes an analyst."""
    inside = [reference for reference in references if reference.outside not in {"another law", "a summary"}]
    if not inside or any(reference.outside for reference in inside):
        return None, ""
    if all(reference.expected and not reference.problem for reference in inside):
        return 1.0, "The annotated answer rests on every section of this document that the answer cites."
    if all(reference.missing for reference in inside):
        return -1.0, "None of the sections that the answer cites exists in this document."
    return None, ""
