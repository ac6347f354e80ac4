"""Count the right sections that the passages of an answer show, by their places in the document."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import GenaipaError
from genaipa.runs.folder import RunFolder
from genaipa.runs.inputs import RunDocumentsAndQuestions
from genaipa.runs.selection import list_all_slices_including_this_run
from genaipa.scoring.evidence.examine import locate_annotated_sections
from genaipa.scoring.evidence.passages import (
    RUN,
    SAME,
    OtherDocuments,
    PassageFinder,
    list_four_word_runs,
    list_normalized_words,
)
from genaipa.scoring.evidence.section_finder import overlap_by_half_of_shorter
from genaipa.scoring.evidence.support import find_supporting_sentence_spans, sentence_spans_without_headings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from genaipa.policies.document import Document
    from genaipa.scoring.evidence.quotations import Span
    from genaipa.systems.base import Passage
    from genaipa.workspace import Workspace

_DOCUMENTS = 32  # whose indices are kept; ten times as many are searched for passages that are elsewhere


class RightSections:
    """The sections of a document that an annotated answer rests on, by their sentences.

    A section is shown by a sentence of `support`, and by half of its sentences where it has none of these.
    """

    def __init__(self, document: Document, targets: Iterable[Span], support: Collection[Span] = ()) -> None:
        self._support = frozenset(support)
        sentences = sentence_spans_without_headings(document.text)
        self.sections = [
            [sentence for sentence in sentences if target[0] <= sentence[0] and sentence[1] <= target[1]] or [target]
            for target in dict.fromkeys(targets)
        ]

    def overlaps_passage(self, passage: Span) -> bool:
        """Tell whether a passage has a sentence of these sections, or is of one."""
        return any(
            overlap_by_half_of_shorter(sentence, passage) for sentences in self.sections for sentence in sentences
        )

    def count_shown_sections(self, passages: Sequence[Span]) -> int:
        """Count the sections that these passages show."""
        return sum(self._is_section_shown(sentences, passages) for sentences in self.sections)

    def _is_section_shown(self, sentences: Sequence[Span], passages: Sequence[Span]) -> bool:
        covered = {sentence for sentence in sentences if _is_at_least_half_covered(sentence, passages)}
        supporting = self._support.intersection(sentences)
        return not supporting.isdisjoint(covered) if supporting else 2 * len(covered) >= len(sentences)


def _is_at_least_half_covered(sentence: Span, passages: Sequence[Span]) -> bool:
    """Tell whether the passages together have at least half of a sentence."""
    start, end = sentence
    covered, reached = 0, start
    for first, last in sorted(passages):
        covered += max(0, min(last, end) - max(first, reached))
        reached = max(reached, last)
    return 2 * covered >= end - start


class RetrievalCounts(msgspec.Struct, frozen=True, omit_defaults=True):
    """Counts of an answer's passages, and of the sections that its annotated answer rests on.

    Of `passages`, `passages_annotated` have a sentence of these sections, `passages_elsewhere` are not in the document,
    and `passages_other` of these are in another document of the run. `sections` is how many there are, `sections_shown`
    how many the passages show, and `shown_at` the number of passages by which the first of them is shown, 0 if none is.
    `quotes` is 1 if the reply is made of its passages: at least half of its words are in runs that these have.
    """

    passages: int = 0
    passages_annotated: int = 0
    passages_elsewhere: int = 0
    passages_other: int = 0
    sections: int = 0
    sections_shown: int = 0
    shown_at: int = 0
    quotes: int = 0


def count_passages_and_right_sections(
    passages: Sequence[Passage],
    finder: PassageFinder,
    right_sections: RightSections,
    other_documents: OtherDocuments,
    document_name: str = "",
    reply: str = "",
) -> RetrievalCounts:
    """Count an answer's passages by place, and the right sections that they show.

    `document_name` is its document's name.

    With its `reply`, tell whether it is made of its passages.
    """
    placed = [finder.place(passage.text).span for passage in passages]
    elsewhere = [passage for passage, span in zip(passages, placed, strict=True) if span is None]
    shown_at, shown_spans = 0, list[tuple[int, int]]()
    for number, span in enumerate(placed, 1):
        shown_spans += [span] if span else []
        if (
            span
            and not shown_at
            and right_sections.overlaps_passage(span)
            and right_sections.count_shown_sections(shown_spans)
        ):
            shown_at = number
    return RetrievalCounts(
        passages=len(passages),
        passages_annotated=sum(right_sections.overlaps_passage(span) for span in shown_spans),
        passages_elsewhere=len(elsewhere),
        passages_other=sum(
            other_documents.does_one_contain_most_of_passage(passage.text, document_name) for passage in elsewhere
        ),
        sections=len(right_sections.sections),
        sections_shown=right_sections.count_shown_sections(shown_spans),
        shown_at=shown_at,
        quotes=int(_is_half_of_reply_from_passages(reply, passages)),
    )


def _is_half_of_reply_from_passages(reply: str, passages: Sequence[Passage]) -> bool:
    """Tell whether at least half of a reply's words are in runs that its passages have."""
    words = list_normalized_words(reply) if passages else []
    having = {run for passage in passages for run in list_four_word_runs(list_normalized_words(passage.text))}
    repeated = {at + step for at, run in enumerate(list_four_word_runs(words)) if run in having for step in range(RUN)}
    return bool(words) and len(repeated) >= SAME * len(words)


def _collect_other_documents(inputs: Sequence[RunDocumentsAndQuestions]) -> OtherDocuments:
    """Return the first documents, by name, of a run or of a study's slices."""
    inputs_by_name = {name: run_inputs for run_inputs in inputs for name in run_inputs.manifest.documents}
    texts = {}
    for name in sorted(inputs_by_name)[: _DOCUMENTS * 10]:
        with suppress(GenaipaError):
            texts[name] = inputs_by_name[name].document(name).text
    return OtherDocuments(texts)


@lru_cache(maxsize=2)
def _collect_other_documents_of_slices(workspace: Workspace, slice_folders: tuple[Path, ...]) -> OtherDocuments:
    """Return the same of the slices in these folders: once for all of them."""
    return _collect_other_documents([RunDocumentsAndQuestions(workspace, RunFolder(path)) for path in slice_folders])


class PassageCounter:
    """Counts the passages of one run's answers; `corrected` goes by the corrected annotated answers."""

    def __init__(self, inputs: RunDocumentsAndQuestions, *, corrected: bool = False) -> None:
        self._inputs, self._corrected = inputs, corrected
        # Of a corpus only the latest documents stay: records of one are close together.
        self._finder = lru_cache(maxsize=_DOCUMENTS)(self._make_passage_finder)
        self.right_sections = lru_cache(maxsize=_DOCUMENTS * 100)(self._find_right_sections)

    def count_passages_if_document_readable(
        self, document_name: str, question: str, passages: Sequence[Passage] = (), reply: str = ""
    ) -> RetrievalCounts | None:
        """Count the passages of an answer, which may have none; None if the document can't be read."""
        try:
            finder, right = self._finder(document_name), self.right_sections(document_name, question)
        except GenaipaError:
            return None  # which is said elsewhere
        return count_passages_and_right_sections(passages, finder, right, self._other_documents, document_name, reply)

    def _make_passage_finder(self, document_name: str) -> PassageFinder:
        return PassageFinder(self._inputs.document(document_name).text)

    def _find_right_sections(self, document_name: str, question: str) -> RightSections:
        about = self._inputs.document(document_name)
        annotated, part_set = self._inputs.annotated_answer_and_part_set_name(
            document_name, question, corrected=self._corrected
        )
        if annotated is None:
            return RightSections(about, ())
        targets = locate_annotated_sections(annotated, about, part_set)
        support = find_supporting_sentence_spans(about, annotated, part_set)
        return RightSections(about, [span for _, span in targets if span], support)

    @cached_property
    def _other_documents(self) -> OtherDocuments:
        if self._inputs.manifest.slice is None:
            return _collect_other_documents([self._inputs])
        siblings = list_all_slices_including_this_run(self._inputs.folder)
        return _collect_other_documents_of_slices(self._inputs.workspace, tuple(sibling.path for sibling in siblings))
