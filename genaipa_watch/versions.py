"""Annotated answers of one version of a document, held against another: which of them hold, and carrying those over.

An answer holds if no sentence of its sections changed, and one that the document is silent if no new sentence is near
its question. A score never passes to another text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import msgspec

from genaipa.files.strict_yaml import format_yaml
from genaipa.policies.reading import read_markdown
from genaipa.policies.search import rank_text_indices, split_into_search_spans
from genaipa.policies.sections import find_innermost_cited_section
from genaipa.questions.annotations import AnnotatedAnswer, Annotations
from genaipa_watch.changes import UNCHANGED, DocumentChanges, normalize_text_to_words, split_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.policies.sections import Section
    from genaipa.questions.sets import QuestionSet
    from genaipa_watch.changes import SectionChange

AnswerState = Literal["holds", "look", "perhaps"]
"""The fate of an annotated answer: it holds, is to be looked at again, or is perhaps answered now (was silent)."""
_NEAREST = 3
"""Pieces of the later version, nearest to a question by its words, in which a new sentence may answer it."""


@dataclass(frozen=True)
class CarriedAnswer:
    """An annotated answer, whether it holds, and why.

    `touched` are the changes of its sections, `points` the ids of its points whose sections changed.
    """

    question: str
    state: AnswerState
    answer: AnnotatedAnswer
    touched: tuple[SectionChange, ...] = ()
    points: tuple[str, ...] = ()


class CarriedAnswers:
    """The annotated answers of the earlier version of a document (`annotations`), held against the later."""

    def __init__(self, changes: DocumentChanges, annotations: Annotations, question_set: QuestionSet) -> None:
        self.changes, self.annotations, self.question_set = changes, annotations, question_set

    @cached_property
    def answers(self) -> tuple[CarriedAnswer, ...]:
        """Every annotated answer once, in their order."""
        return tuple(
            self._classify_whether_answer_holds(question, answer)
            for question, answer in self.annotations.answers.items()
        )

    def list_question_ids_in_state(self, state: AnswerState) -> list[str]:
        """Return the ids of the questions whose answers have this state."""
        return [carried.question for carried in self.answers if carried.state == state]

    def make_annotations_of_later_version(self, date: str) -> Annotations:
        """Return the annotations of the later version: what holds, its sections renumbered; the rest is left out."""
        return msgspec.structs.replace(
            self.annotations,
            document=self.changes.after.name,
            answers={
                carried.question: self._renumber_sections(carried.answer)
                for carried in self.answers
                if carried.state == "holds"
            },
            date=date,
            digest=self.changes.after.digest,
            part_set="",
        )

    def format_earlier_answers_with_changes(self) -> dict[str, str]:
        """Format the answers that do not hold: question → the whole entry, after a line that says what changed."""
        entries = {}
        for carried in self.answers:
            changed = "; ".join(dict.fromkeys(change.heading_or_both_if_renamed for change in carried.touched))
            why = f"changed: {changed}" if changed else "may now be answered"
            entries[carried.question] = f"Before ({why}):\n{format_yaml(carried.answer)}"
        return entries

    def _classify_whether_answer_holds(self, question: str, answer: AnnotatedAnswer) -> CarriedAnswer:
        if self.changes.has_same_words:
            return CarriedAnswer(question, "holds", answer)
        touched = tuple(self._list_changes_of_sections(answer.sections))
        points = tuple(point.id for point in answer.points if any(self._list_changes_of_sections(point.sections)))
        # Without its sections nobody can say that an answer holds.
        has_sections = bool(answer.sections) and all(self._find_earlier_sections(label) for label in answer.sections)
        if answer.silent != "yes" and (touched or points or not has_sections):
            return CarriedAnswer(question, "look", answer, touched, points)
        if answer.silent != "no" and self._has_new_sentence_near_question(question):
            return CarriedAnswer(question, "perhaps", answer)
        return CarriedAnswer(question, "holds", answer)

    def _list_changes_of_sections(self, labels: tuple[str, ...]) -> Iterator[SectionChange]:
        for label in labels:
            for section in self._find_earlier_sections(label):
                yield from (
                    change
                    for change in self.changes.list_changes_in_section_tree(section)
                    if change.state not in UNCHANGED
                )

    def _find_earlier_sections(self, label: str) -> list[Section]:
        """Return the sections of the earlier version that a label names: one, or all that a part of the text spans."""
        before, part_set = self.changes.before, self.annotations.part_set
        word, _, number = label.partition(" ")
        span = before.part(part_set, int(number)) if part_set and word == "Part" and number.isdecimal() else None
        if span is None:
            return [section] if (section := find_innermost_cited_section(before.sections, label)) else []
        within = (change.before for change in self.changes.changes_of_all_sections if change.before)
        return [section for section in within if section.start < span[1] and section.end > span[0]]

    def _has_new_sentence_near_question(self, question: str) -> bool:
        """Tell whether one of the pieces nearest to the question has a sentence that is new."""
        if not (new := self.changes.new_sentences_as_words):
            return False
        texts = self._pieces_of_later_version
        question_text = self.question_set.question_text(question, "original", self.changes.after.company)
        near = [texts[index] for index in rank_text_indices(texts, question_text)[:_NEAREST]]
        return any(normalize_text_to_words(sentence) in new for text in near for sentence in split_sentences(text))

    @cached_property
    def _pieces_of_later_version(self) -> tuple[str, ...]:
        after = self.changes.after
        spans = split_into_search_spans(after.text, (section.start for section in after.sections))
        return tuple(read_markdown(after.text).plain_text_of_source_span(*span) for span in spans)

    def _renumber_sections(self, answer: AnnotatedAnswer) -> AnnotatedAnswer:
        """Return an answer that holds, its sections as the later version numbers them; its text is as it was."""

        def convert_labels_to_later_version(labels: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(dict.fromkeys(new for label in labels for new in self._find_later_labels(label)))

        points = tuple(
            msgspec.structs.replace(point, sections=convert_labels_to_later_version(point.sections))
            for point in answer.points
        )
        renumberings = [
            f"{label} is now {', '.join(later_labels)}"
            for label in answer.sections
            if (later_labels := self._find_later_labels(label)) != [label]
        ]
        note = f"Carried over; in the text, {'; '.join(renumberings)}." if renumberings else ""
        return msgspec.structs.replace(
            answer,
            sections=convert_labels_to_later_version(answer.sections),
            points=points,
            note=" ".join(filter(None, (answer.note.strip(), note))),
        )

    def _find_later_labels(self, label: str) -> list[str]:
        """Return the labels by which the later version knows what a label of the earlier one names."""
        labels = []
        for section in self._find_earlier_sections(label):
            later = next(
                change.after
                for change in self.changes.list_changes_in_section_tree(section)
                if change.before == section
            )
            if later:
                is_unchanged = (later.number, later.title) == (section.number, section.title)
                labels.append(label if is_unchanged and not self.annotations.part_set else later.number or later.title)
        return labels or [label]
