"""What an analyst should know about an answer before scoring it, and the reference score that follows from it.

evidence = examine(reply, document, parts=case.parts, annotated=case.annotated, part_set=case.part_set)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from genaipa.policies.sections import resolve
from genaipa.scoring.evidence.outline import outline
from genaipa.scoring.evidence.quotations import Quotation, find_quotations
from genaipa.scoring.evidence.references import Reference, find_references
from genaipa.scoring.evidence.silence import Silence, find_silence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.annotations import AnnotatedAnswer
    from genaipa.policies.document import Document
    from genaipa.scoring.rubric import Metric

Span = tuple[int, int]


@dataclass(frozen=True)
class Evidence:
    """What a reply cites, quotes and says of the document's silence.

    `suggestion` holds a value for the metric "reference", or nothing where the evidence doesn't settle it; `reason`
    is the sentence that says why.
    """

    references: tuple[Reference, ...]
    quotations: tuple[Quotation, ...]
    silence: Silence
    suggestion: dict[Metric, float]
    reason: str


def examine(
    reply: str,
    document: Document,
    *,
    parts: Sequence[Span] = (),
    annotated: AnnotatedAnswer | None = None,
    part_set: str = "",
) -> Evidence:
    """All that can be said about a reply without a model.

    `parts` are where "Part 1", "Part 2", … stand in the document as this system was given it. `part_set` is the
    segmentation that the annotated answer's own "Part n" refers to, which may be another one.
    """
    targets = [span for _, span in annotated_targets(annotated, document, part_set) if span] if annotated else []
    references = find_references(reply, document, parts, targets)
    quotations = find_quotations(reply, document, [(reference.start, reference.end) for reference in references])
    said = [(q.start, q.end) for q in quotations if q.match in {"exact", "normalised"}]
    silence = find_silence(reply, annotated, said)
    value, reason = None, ""
    if annotated and annotated.silent:
        value, reason = _on_silence(references, silence)
    elif annotated:
        # Without an outline or parts, what seems missing may only have gone unrecognised; a summary has its own parts.
        checked = bool(parts or outline(document)) and "summary" not in reply.casefold()
        value, reason = _on_sections(references, checked=checked)
    return Evidence(references, quotations, silence, {} if value is None else {"reference": value}, reason)


def annotated_targets(
    annotated: AnnotatedAnswer, document: Document, part_set: str
) -> tuple[tuple[str, Span | None], ...]:
    """Each section that the annotated answer rests on, and where it stands; None if the document hasn't got it."""
    found: list[tuple[str, Span | None]] = []
    for label in annotated.sections:
        word, _, number = label.partition(" ")
        span = document.part(part_set, int(number)) if word == "Part" and number.isdecimal() else None
        section = None if span else resolve(outline(document), label)
        found.append((label, span or ((section.start, section.end) if section else None)))
    return tuple(found)


def _on_silence(references: tuple[Reference, ...], silence: Silence) -> tuple[float | None, str]:
    """The value for references, and why, where the document does not answer; None where that takes an analyst."""
    if any(not reference.outside for reference in references):
        return -1.0, "The document does not answer this question, and the answer cites a section all the same."
    if silence.claimed and not references:
        return 1.0, "The answer says that the document does not say, as it should, and cites nothing."
    return None, ""


def _on_sections(references: tuple[Reference, ...], *, checked: bool) -> tuple[float | None, str]:
    """The value for references, and why, where the document answers; None where that takes an analyst."""
    inside = [reference for reference in references if reference.outside not in {"another law", "a summary"}]
    if not inside or any(reference.outside for reference in inside):
        return None, ""
    if all(reference.expected for reference in inside):
        return 1.0, "Every section of this document that the answer cites is one that the annotated answer rests on."
    if checked and not any(reference.target for reference in inside):
        return -1.0, "None of the sections that the answer cites exists in this document."
    return None, ""
