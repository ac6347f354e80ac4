"""What an analyst should know about an answer before scoring it, and the value of its citations that follows from it.

evidence = examine(reply, document, parts=case.parts, annotated=case.annotated, part_set=case.part_set)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from genaipa.policies.lookup import resolve
from genaipa.scoring.evidence.abstention import Silence, find_silence
from genaipa.scoring.evidence.outline import outline
from genaipa.scoring.evidence.quotations import Quotation, find_quotations
from genaipa.scoring.evidence.resolution import Reference, find_references
from genaipa.scoring.evidence.text_index import Wording

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.policies.document import Document
    from genaipa.questions.annotations import AnnotatedAnswer

Span = tuple[int, int]

# What may be a title, or the number of a section, without a word that says so.
_TITLE = re.compile(
    r"(?:[\"\u201c*_]|(?<!\w)['\u2018])([A-Z][^\"\u201c\u201d*_\n]{5,100}?)(?:[\"\u201d*_]|['\u2019](?!\w))"
    r"|(?<![\w.])\d{1,3}(?:\.\d{1,3})+(?![\w.])"
)
_MOST = 100
"""Titles of an answer that are looked up."""
# How an answer points at a section without a number: "the following section:", "Reference: Security".
_POINTING = re.compile(
    r"\b(?:(?:sub-?)?section|heading|paragraph)s?\b"
    r"|(?:^|[.!?(\[])\W*(?:references?|sources?)\W*:\s*(?!\W*(?:none|no|not|n/?a|https?|www|(?:references?|sources?))\b)\w",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True)
class Evidence:
    """What a reply cites, quotes and says of the document's silence.

    `suggestion` is the value of the citations, None where the evidence doesn't settle it; `reason`
    is the sentence that says why. `targets` is how many passages the annotated answer rests on. `points` says that the
    reply seems to name a section in a way that is not recognised: then nothing is made of its naming none.
    `summarised` says that the system had a summary, from which it may quote.
    """

    references: tuple[Reference, ...]
    quotations: tuple[Quotation, ...]
    silence: Silence
    suggestion: float | None
    reason: str
    targets: int = 0
    points: bool = False
    summarised: bool = False

    @property
    def cited(self) -> int:
        """How many of the passages that the annotated answer rests on are cited."""
        return len({place for reference in self.references for place in reference.expected})


def examine(
    reply: str,
    document: Document,
    *,
    parts: Sequence[Span] = (),
    annotated: AnnotatedAnswer | None = None,
    part_set: str = "",
    summarised: bool = False,
) -> Evidence:
    """All that can be said about a reply without a model.

    `parts` are where "Part 1", "Part 2", … stand in the document as this system was given it. `part_set` is the
    segmentation that the annotated answer's own "Part n" refers to, which may be another one. `summarised` says that
    the system had a summary before it, whose parts it may mean.
    """
    targets = [span for _, span in annotated_targets(annotated, document, part_set) if span] if annotated else []
    named = find_references(reply, document, parts, targets, summarised=summarised)
    quotations = find_quotations(reply, document, [(reference.start, reference.end) for reference in named])
    references = tuple(reference for reference in named if not _is_quoted(reference, quotations, document))
    said = [(q.start, q.end) for q in quotations if q.match in {"exact", "normalised"}]
    silence = find_silence(reply, annotated, said)
    points = not references and _points(reply, document, silence)
    value, reason = None, ""
    if annotated and annotated.silent:
        value, reason = _on_silence(references, silence, points=points)
    elif annotated:
        # A summary has parts of its own.
        value, reason = (None, "") if "summary" in reply.casefold() else _on_sections(references)
    return Evidence(references, quotations, silence, value, reason, len(targets), points, summarised)


def annotated_targets(
    annotated: AnnotatedAnswer, document: Document, part_set: str
) -> tuple[tuple[str, Span | None], ...]:
    """Each section that the annotated answer rests on, and where it stands; None if the document hasn't got it."""
    found: list[tuple[str, Span | None]] = []
    for label in annotated.sections:
        word, _, number = label.partition(" ")
        span = document.part(part_set, int(number)) if word == "Part" and number.isdecimal() else None
        section = None if span else resolve(outline(document), label)
        # What the system calls by the same number may be another passage.
        named = f"{label} of the annotators' split" if span else label
        found.append((named, span or ((section.start, section.end) if section else None)))
    return tuple(found)


def _is_quoted(reference: Reference, quotations: Sequence[Quotation], document: Document) -> bool:
    """Whether what is named is named by the document itself, in words that the answer quotes from there.

    What stands in brackets within a quotation, and not in the document, is the answer's own.
    """
    return any(
        quote.start <= reference.start
        and reference.end <= quote.end
        and quote.target is not None
        and Wording(document.text[slice(*quote.target)]).find(reference.text) is not None
        for quote in quotations
    )


def _points(reply: str, document: Document, silence: Silence) -> bool:
    """Whether a reply speaks of a section, elsewhere than where it says that there is none, or has one's title."""
    sections = outline(document)
    if any(resolve(sections, match.group(1) or match.group()) for match in islice(_TITLE.finditer(reply), _MOST)):
        return True
    lines = (match.span() for match in re.finditer(r"[^\n.]+", reply))
    denied = [line for line in lines if any(line[0] <= start < line[1] for start, _ in silence.phrases)]
    return any(not any(start <= match.start() < end for start, end in denied) for match in _POINTING.finditer(reply))


def _on_silence(references: tuple[Reference, ...], silence: Silence, *, points: bool) -> tuple[float | None, str]:
    """The value for references, and why, where the document does not answer; None where that takes an analyst."""
    if any(not reference.outside for reference in references):
        return -1.0, "The document does not answer this question, and the answer cites a section all the same."
    if silence.claimed and not references and not points:
        return 1.0, "The answer says that the document does not say, as it should, and cites nothing."
    return None, ""


def _on_sections(references: tuple[Reference, ...]) -> tuple[float | None, str]:
    """The value for references, and why, where the document answers; None where that takes an analyst."""
    inside = [reference for reference in references if reference.outside not in {"another law", "a summary"}]
    if not inside or any(reference.outside for reference in inside):
        return None, ""
    if all(reference.expected and not reference.problem for reference in inside):
        return 1.0, "Every section of this document that the answer cites is one that the annotated answer rests on."
    if all(reference.missing for reference in inside):
        return -1.0, "None of the sections that the answer cites exists in this document."
    return None, ""
