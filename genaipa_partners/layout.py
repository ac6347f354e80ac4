"""Which runs of a study become one run of a pack: those that asked the same questions about the same texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from genaipa.files.strict_yaml import format_yaml

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from genaipa.questions.annotations import Annotations
    from genaipa.questions.sets import QuestionSet
    from genaipa.runs.records import DocumentFacts


@dataclass
class RunLayout:
    """The documents and questions of runs that fit into one run of a pack: no name of theirs means two things.

    Runs keep copies of what they asked, which differ in comments, in questions that one alone asked, and in facts that
    no answer depends on. Such copies become one: a run of a pack for some systems alone would tell which they are.
    """

    documents: dict[str, DocumentFacts] = field(default_factory=dict)
    set_names: dict[str, str] = field(default_factory=dict)
    """Document → the name of its question set."""
    question_sets: dict[str, QuestionSet] = field(default_factory=dict)
    annotations: dict[str, Annotations] = field(default_factory=dict)
    """Document → its annotated answers."""

    def add_if_it_fits(self, added: RunLayout) -> bool:
        """Add another layout; False, and nothing is added, where a name means two things."""
        pairs: list[tuple[dict[str, Any], dict[str, Any]]] = [
            (_map_documents_to_identities(self.documents), _map_documents_to_identities(added.documents)),
            (self.set_names, added.set_names),
            (
                _map_questions_and_placeholders(self.question_sets),
                _map_questions_and_placeholders(added.question_sets),
            ),
            (
                _map_annotated_answers_and_part_sets(self.annotations),
                _map_annotated_answers_and_part_sets(added.annotations),
            ),
        ]
        if any(name in mine and mine[name] != value for mine, theirs in pairs for name, value in theirs.items()):
            return False
        self.documents = added.documents | self.documents
        self.set_names |= added.set_names
        for set_name, added_set in added.question_sets.items():
            own_set = self.question_sets.setdefault(set_name, added_set)
            questions = {question.id: question for question in (*own_set.questions, *added_set.questions)}
            self.question_sets[set_name] = msgspec.structs.replace(
                own_set, questions=tuple(questions.values()), categories=added_set.categories | own_set.categories
            )
        for document, annotated in added.annotations.items():
            own_annotations = self.annotations.setdefault(document, annotated)
            self.annotations[document] = msgspec.structs.replace(
                own_annotations, answers=annotated.answers | own_annotations.answers
            )
        return True

    def encode_files_about(self, document_names: Collection[str]) -> dict[str, bytes]:
        """Return path → content of the question sets and annotated answers of documents."""
        sets = {self.set_names[name] for name in document_names}
        files: dict[str, QuestionSet | Annotations] = {
            f"questions/{name}.yaml": self.question_sets[name] for name in sets if name in self.question_sets
        }
        files |= {
            f"annotations/{name}.yaml": self.annotations[name] for name in document_names if name in self.annotations
        }
        return {path: format_yaml(files[path]).encode() for path in sorted(files)}


def _map_documents_to_identities(documents: Mapping[str, DocumentFacts]) -> dict[str, Any]:
    """Return document → what the answers about it depend on."""
    return {name: (facts.digest, facts.company, facts.kind) for name, facts in documents.items()}


def _map_questions_and_placeholders(question_sets: Mapping[str, QuestionSet]) -> dict[Any, Any]:
    """Return (set, question) → the question with its words, and set → its placeholder."""
    questions: dict[Any, Any] = {
        (name, question.id): question
        for name, question_set in question_sets.items()
        for question in question_set.questions
    }
    return questions | {name: question_set.placeholder for name, question_set in question_sets.items()}


def _map_annotated_answers_and_part_sets(annotations: Mapping[str, Annotations]) -> dict[Any, Any]:
    """Return (document, question) → its annotated answer, and document → the segmentation that these speak of."""
    answers: dict[Any, Any] = {
        (name, question): answer for name, about in annotations.items() for question, answer in about.answers.items()
    }
    return answers | {name: about.part_set for name, about in annotations.items()}
