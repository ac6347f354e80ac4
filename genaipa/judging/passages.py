"""The passages of a long document that a judge is shown: for a question, and named in an answer."""

from __future__ import annotations

import math
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from genaipa.scoring.evidence.examine import annotated_targets
from genaipa.scoring.evidence.outline import outline
from genaipa.systems.extractive import ranked
from genaipa.systems.tokens import CHARACTERS_PER_TOKEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from genaipa.policies.document import Document
    from genaipa.scoring.answers import Case
    from genaipa.scoring.evidence.examine import Evidence

    Span = tuple[int, int]

WHOLE = 12_000
"""Tokens up to which a document is shown whole; more of a longer one is not shown either."""
NEAREST = 3
"""Passages that are shown because their words are nearest to the question's."""
_LONGEST = 4_000
"""Characters of a passage; a longer section is cut between paragraphs."""
_GAP = "[…]"


def is_long(document: Document) -> bool:
    """Whether a document is too long to be shown whole: by its length, and so alike for all judges."""
    return _tokens((0, len(document.text))) > WHOLE


class Passages:
    """A long document in pieces: its sections, long ones and texts without sections in several, none of them blank."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._nearest: dict[str, list[Span]] = {}

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """The passages, in characters of the document's text."""
        text = self.document.text
        borders = sorted({0, *(section.start for section in outline(self.document)), len(text)})
        pieces = (piece for border in pairwise(borders) for piece in _cut(text, *border))
        return tuple(span for span in pieces if text[slice(*span)].strip())

    def about_question(self, case: Case) -> tuple[Span, ...]:
        """The three nearest to the question and the annotated answer's passages, for all answers to it."""
        near = self._by_nearness(case.original or case.asked)
        targets = annotated_targets(case.annotated, self.document, case.part_set) if case.annotated else ()
        rests_on = self._touched(span for _, span in targets if span)
        return _within([*near[:NEAREST], *(span for span in near[NEAREST:] if span in rests_on)], WHOLE)

    def named(self, evidence: Evidence, shown: Sequence[Span]) -> tuple[Span, ...]:
        """The further passages that an answer cites or quotes."""
        targets = [one.target for one in evidence.quotations] + [one.target for one in evidence.references]
        further = [span for span in self._touched(filter(None, targets)) if span not in shown]
        return _within(further, WHOLE - sum(map(_tokens, shown)))

    def _touched(self, spans: Iterable[Span]) -> list[Span]:
        """The passages that share a character with one of these spans, in the document's order."""
        wanted = list(spans)
        return [one for one in self.spans if any(one[0] < end and start < one[1] for start, end in wanted)]

    def _by_nearness(self, question: str) -> list[Span]:
        """All passages, the nearest to the question first."""
        if question not in self._nearest:
            places = ranked(tuple(self.document.text[slice(*span)] for span in self.spans), question)
            self._nearest[question] = [self.spans[place] for place in places]
        return self._nearest[question]


def excerpt(document: Document, spans: Iterable[Span]) -> str:
    """The passages in the document's order, with a mark where something is left out, and the section that goes on."""
    pieces: list[str] = []
    done = 0
    for start, end in sorted(spans):
        if start > done:
            pieces.append(_GAP)
            section = next((one for one in reversed(outline(document)) if one.start < start < one.end), None)
            pieces += [f"[{section.heading}, continued]"] if section else []
        pieces.append(document.text[start:end].strip())
        done = end
    return "\n\n".join([*pieces, *([_GAP] if done < len(document.text) else [])])


def _cut(text: str, start: int, end: int) -> Iterable[Span]:
    """A stretch of the text in pieces that are not too long, cut behind a paragraph, else behind a sentence."""
    while end - start > _LONGEST:
        least, most = start + _LONGEST // 2, start + _LONGEST
        places = (text.rfind(border, least, most) + len(border) for border in ("\n\n", "\n", ". "))
        cut = next((place for place in places if place > least), most)
        yield start, cut
        start = cut
    yield start, end


def _tokens(span: Span) -> int:
    return math.ceil((span[1] - span[0]) / CHARACTERS_PER_TOKEN)


def _within(spans: Iterable[Span], room: int) -> tuple[Span, ...]:
    """The first of these passages that fit into this many tokens, in the document's order."""
    kept: list[Span] = []
    for span in spans:
        if _tokens(span) <= room:
            kept.append(span)
            room -= _tokens(span)
    return tuple(sorted(kept))
