"""Annotated answers of one version of a document, held against another: which of them hold, and carrying those over.

An answer holds if no sentence of its sections changed, and one that the document is silent if no new sentence is near
its question. A score never passes to another text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import msgspec

from genaipa.files.strict_yaml import as_yaml
from genaipa.policies.reading import read
from genaipa.policies.search import rank_texts, split_pieces
from genaipa.policies.sections import resolve_citation
from genaipa.questions.annotations import AnnotatedAnswer, Annotations
from genaipa_watch.changes import HELD, Changes, sentences, words_only

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

    def __init__(self, changes: Changes, annotations: Annotations, asked: QuestionSet) -> None:
        self.changes, self.annotations, self.asked = changes, annotations, asked

    @cached_property
    def answers(self) -> tuple[CarriedAnswer, ...]:
        """Every annotated answer once, in their order."""
        return tuple(self._carry(question, answer) for question, answer in self.annotations.answers.items())

    def questions_in(self, state: AnswerState) -> list[str]:
        """Return the ids of the questions whose answers have this state."""
        return [one.question for one in self.answers if one.state == state]

    def carried_annotations(self, date: str) -> Annotations:
        """Return the annotations of the later version: what holds, its sections renumbered; the rest is left out."""
        return msgspec.structs.replace(
            self.annotations,
            document=self.changes.after.name,
            answers={one.question: self._renumber(one.answer) for one in self.answers if one.state == "holds"},
            date=date,
            digest=self.changes.after.digest,
            part_set="",
        )

    def earlier_entries(self) -> dict[str, str]:
        """Question → the whole entry of an answer that does not hold, after a line that says what changed."""
        found = {}
        for one in self.answers:
            changed = "; ".join(dict.fromkeys(change.heading for change in one.touched))
            why = f"changed: {changed}" if changed else "perhaps answered now"
            found[one.question] = f"Before ({why}):\n{as_yaml(one.answer)}"
        return found

    def _carry(self, question: str, answer: AnnotatedAnswer) -> CarriedAnswer:
        if self.changes.same:
            return CarriedAnswer(question, "holds", answer)
        touched = tuple(self._list_touched(answer.sections))
        points = tuple(point.id for point in answer.points if any(self._list_touched(point.sections)))
        # Without its sections nobody can say that an answer holds.
        has_sections = bool(answer.sections) and all(self._sections(label) for label in answer.sections)
        if answer.silent != "yes" and (touched or points or not has_sections):
            return CarriedAnswer(question, "look", answer, touched, points)
        if answer.silent != "no" and self._answers_now(question):
            return CarriedAnswer(question, "perhaps", answer)
        return CarriedAnswer(question, "holds", answer)

    def _list_touched(self, labels: tuple[str, ...]) -> Iterator[SectionChange]:
        for label in labels:
            for section in self._sections(label):
                yield from (change for change in self.changes.changes_of(section) if change.state not in HELD)

    def _sections(self, label: str) -> list[Section]:
        """Return the sections of the earlier version that a label names: one, or all that a part of the text spans."""
        before, part_set = self.changes.before, self.annotations.part_set
        word, _, number = label.partition(" ")
        span = before.part(part_set, int(number)) if part_set and word == "Part" and number.isdecimal() else None
        if span is None:
            return [section] if (section := resolve_citation(before.sections, label)) else []
        within = (change.before for change in self.changes.sections if change.before)
        return [section for section in within if section.start < span[1] and section.end > span[0]]

    def _answers_now(self, question: str) -> bool:
        """Whether one of the pieces nearest to the question has a sentence that is new."""
        if not (new := self.changes.new_sentences):
            return False
        texts = self._pieces
        asked = self.asked.question_text(question, "original", self.changes.after.company)
        near = [texts[place] for place in rank_texts(texts, asked)[:_NEAREST]]
        return any(words_only(sentence) in new for text in near for sentence in sentences(text))

    @cached_property
    def _pieces(self) -> tuple[str, ...]:
        after = self.changes.after
        spans = split_pieces(after.text, (section.start for section in after.sections))
        return tuple(read(after.text).read_span(*span) for span in spans)

    def _renumber(self, answer: AnnotatedAnswer) -> AnnotatedAnswer:
        """Return an answer that holds, its sections as the later version numbers them; its text is as it was."""

        def renumbered(labels: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(dict.fromkeys(new for label in labels for new in self._later_labels(label)))

        points = tuple(msgspec.structs.replace(point, sections=renumbered(point.sections)) for point in answer.points)
        other = [
            f"{label} is now {', '.join(now)}"
            for label in answer.sections
            if (now := self._later_labels(label)) != [label]
        ]
        note = f"Carried over; of the sections in the text {'; '.join(other)}." if other else ""
        return msgspec.structs.replace(
            answer,
            sections=renumbered(answer.sections),
            points=points,
            note=" ".join(filter(None, (answer.note.strip(), note))),
        )

    def _later_labels(self, label: str) -> list[str]:
        """Return the labels by which the later version knows what a label of the earlier one names."""
        found = []
        for section in self._sections(label):
            later = next(change.after for change in self.changes.changes_of(section) if change.before == section)
            if later:
                same = (later.number, later.title) == (section.number, section.title)
                found.append(label if same and not self.annotations.part_set else later.number or later.title)
        return found or [label]
