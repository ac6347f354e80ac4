"""Annotated answers and their corrections: the expert reference for a (document, question), or that it is silent.

A file `annotations/NAME.yaml` belongs to one text of the document NAME and to one question set. Its answers hold for
every question with the same text, in any set. A file `corrections/NAME.yaml` belongs to the same two. Annotated answers
stay as they are: a correction, with the sentence of the document that proves it, is a layer above them, applied where
somebody asks for it.
"""

from __future__ import annotations

import contextlib
import re
import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import msgspec
import yaml

from genaipa.errors import DataError, UnknownNameError, UsageError, clip
from genaipa.files.strict_yaml import format_yaml, read_yaml
from genaipa.files.text import sha256_of
from genaipa.policies.document import load_document
from genaipa.policies.reading import read_markdown
from genaipa.questions.points import Point, point_flaws
from genaipa.questions.sets import Question, QuestionSet, load_question_set

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from genaipa.policies.document import Document
    from genaipa.workspace import Workspace


Silent = Literal["no", "partly", "yes"]
"""Whether a document leaves a question open: `partly` where it answers some of it. Files may say true and false."""

SAID: dict[Silent, str] = {
    "no": "",
    "partly": "the document answers only part of the question",
    "yes": "the document is silent",
}
"""The same in words for a reader; empty where it answers the question."""


class AnnotatedAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The right answer to one question about one document.

    `sections` are those it rests on, as the document labels them ("4.2", "Article 3") or as parts of a published
    segmentation ("Part 3"); empty if the document is silent or the annotators named none. `points` are the statements
    that a complete answer makes, if somebody wrote them down.
    """

    silent: Silent
    answer: str
    sections: tuple[str, ...] = ()
    note: str = ""
    points: tuple[Point, ...] = ()

    @property
    def silence_and_sections_in_words(self) -> str:
        """The words beside an answer: whether the document leaves something open, and the sections."""
        return ", ".join(filter(None, (SAID[self.silent], *self.sections)))

    @property
    def is_blank(self) -> bool:
        """Whether this is a blank entry of the template."""
        return not (self.silent != "no" or self.answer.strip() or self.sections or self.note.strip() or self.points)


class Annotations(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """All annotated answers of one document, by the ids of the question set `questions`.

    `digest` is the SHA-256 of the annotated text, or empty. `part_set` is the segmentation of "Part n", `written_for`
    the original question set of answers that were carried over to another.
    """

    document: str
    questions: str
    annotators: tuple[str, ...]
    answers: dict[str, AnnotatedAnswer]
    date: str = ""
    source: str = ""
    license: str = ""
    digest: str = ""
    part_set: str = ""
    written_for: str = ""

    @property
    def silent_questions(self) -> tuple[str, ...]:
        """Ids of the questions on which the document is wholly silent."""
        return tuple(question for question, answer in self.answers.items() if answer.silent == "yes")


@dataclass(frozen=True)
class AnnotationFile:
    """A file of annotated answers, as found for a document.

    `of_this_text`: it is about the document's very text. `question_set` is its question set, None if that can't be
    loaded.
    """

    path: Path
    layer: str
    annotations: Annotations
    of_this_text: bool
    question_set: QuestionSet | None

    def usable_annotations(self, questions: QuestionSet, company: str) -> Annotations:
        """Annotated answers to the questions of a set about this text, by the set's ids; perhaps none."""
        if self.question_set is None or not self.of_this_text:
            return msgspec.structs.replace(self.annotations, answers={})
        return map_annotations_to_questions(self.annotations, self.question_set, questions, company)

    def unused_answers_notice_or_empty(self, questions: QuestionSet, company: str) -> str:
        """Return a notice about annotated answers that are unused or from another set; else empty."""
        name, written_for, every = self.annotations.document, self.annotations.questions, len(self.annotations.answers)
        if not self.of_this_text:
            return f"{name}: {explain_unused_annotations(self.annotations, self.path, self.layer)}"
        if self.question_set is None:
            return f"{name}: its annotated answers are not used, because there is no question set '{written_for}'."
        used, is_same_set = len(self.usable_annotations(questions, company).answers), questions.name == written_for
        if used == every:
            carried = f"its {every} annotated answers, written for the question set {written_for}"
            return "" if is_same_set else f"{name}: {carried}, apply to these questions too."
        reason = f"They were written for the question set {written_for}; ask that set to use all of them."
        if is_same_set:
            reason = f"The others were written for the question set {written_for}, which asks different questions."
        return f"{name}: {used} of its {every} annotated answers apply to these questions. {reason}"


def explain_unused_annotations(annotations: Annotations, path: Path, layer: str) -> str:
    """Explain that annotated answers are unused because they are about another text of that name."""
    answers = f"its annotated answers ({path}) are about another text and are not used;"
    if layer == "workspace":
        return f"{answers} if they also apply to this text, set 'digest' there to the SHA-256 of this text."
    return f"{answers} to write your own: genaipa policies annotate {annotations.document}"


def load_annotations(workspace: Workspace, document_name: str) -> Annotations:
    """Load the nearest annotations of a document name; a UsageError (none) or DataError (bad file)."""
    files = workspace.nearest_files("annotations")
    if document_name not in files:
        raise UnknownNameError("annotations for", document_name, files)
    return _read_checked_annotations(files[document_name][1], document_name)


def _read_checked_annotations(path: Path, document_name: str) -> Annotations:
    annotations = read_annotations_without_blanks(path)
    for error in annotation_problems(path, document_name, annotations):
        raise error
    return annotations


def read_annotations_without_blanks(path: Path) -> Annotations:
    """Read a file of annotated answers without blank entries; a DataError for a bad file."""
    return drop_blank_answers(read_yaml(path, Annotations))


def drop_blank_answers(annotations: Annotations) -> Annotations:
    """Leave out blank entries."""
    answers = {question: answer for question, answer in annotations.answers.items() if not answer.is_blank}
    return msgspec.structs.replace(annotations, answers=answers)


def format_annotation_template(
    document: Document,
    questions: QuestionSet,
    date: str,
    prefilled: Annotations | None = None,
    comments_by_question: Mapping[str, str] | None = None,
) -> str:
    """Make a file of annotated answers to fill in, with an entry for each question.

    Entries for questions of `prefilled` are filled in; `comments_by_question` has, for others, a comment on what was
    said before.
    """
    about = Annotations(
        document=document.name,
        questions=questions.name,
        annotators=(*(prefilled.annotators if prefilled else ()), "your name"),
        answers={},
        date=date,
        source=prefilled.source if prefilled else "",
        license=prefilled.license if prefilled else "",
        digest=document.digest,
    )
    head = format_yaml(about).replace("answers: {}\n", "")
    lines = [_TEMPLATE, head + "answers:"]
    for question in questions.questions:
        question_text = " ".join(questions.question_text(question.id, "original", document.company).split())
        key = question.id if yaml.safe_load(question.id) == question.id else f'"{question.id}"'
        lines.append(f"  {key}:  # {question_text}")
        if prefilled and (answer := prefilled.answers.get(question.id)):
            lines.append(textwrap.indent(format_yaml(answer), "    ").rstrip())
            continue
        lines += [f"    # {line}" for line in (comments_by_question or {}).get(question.id, "").splitlines()]
        lines += ["    silent: no", "    sections: []", '    answer: ""']
    return "\n".join(lines) + "\n"


_TEMPLATE = """\
# One entry for each question; a blank entry counts as not annotated. `sections` are those that the answer cites, as
# the document labels them. If the document does not answer the question, set silent: yes, list no sections, and say so
# in the answer; if it answers only part of the question, set silent: partly.
# You may list the statements of a complete answer, at most 12, at least one vital; analysts and judges tick them off:
#     points: [{id: kept, text: "Some data are kept.", sections: ["3"], weight: vital, if_wrong: harm, why: "..."}]
# weight is vital or okay (an answer may leave it out); if_wrong: harm marks one whose contradiction hurts readers.
# `digest` is the SHA-256 of the text that the answers are about; they are used for no other text.\
"""


def annotation_problems(path: Path, document_name: str, annotations: Annotations) -> Iterator[DataError]:
    """Yield every problem of a file of annotated answers that shows in the file alone."""
    if annotations.document != document_name:
        yield DataError(
            path, f"is '{annotations.document}', but the file has another name; the two must agree.", "document"
        )
    for question, answer in drop_blank_answers(annotations).answers.items():
        if not answer.answer.strip():
            yield DataError(path, "the answer is empty.", f"answers.{question}")
        if answer.silent == "yes" and answer.sections:
            yield DataError(path, "is marked silent, so it can't cite sections ('partly' can).", f"answers.{question}")
        for flaw in point_flaws(answer.points, is_document_silent=answer.silent == "yes"):
            yield DataError(path, flaw, f"answers.{question}.points")


def map_annotated_digests_to_names(workspace: Workspace) -> dict[str, str]:
    """SHA-256 of each text that annotated answers are about → the name under which they are filed."""
    names_by_digest: dict[str, str] = {}
    for name, files in workspace.files_in_all_layers("annotations").items():
        for layer, path in files:
            with contextlib.suppress(UsageError):
                text_digest = (
                    read_annotations_without_blanks(path).digest
                    or load_document(
                        name,
                        workspace.drop_nearer_layers([layer_name for layer_name, _ in workspace.layers].index(layer)),
                    ).digest
                )
                names_by_digest.setdefault(text_digest, name)
    return names_by_digest


def find_annotation_file(
    workspace: Workspace, document: Document, names_by_digest: Mapping[str, str] | None = None
) -> AnnotationFile | None:
    """Find the nearest annotated answers about this very text, else the nearest of its name; None without any.

    A file with a digest is about that text; one without, about the document of its own layer or one below. A DataError
    if a nearer file can't be used. A document of a corpus has a name of its own: `names_by_digest` (see
    `map_annotated_digests_to_names`) find the answers about its text.
    """
    if names_by_digest is not None:
        if document.digest not in names_by_digest:
            return None
        document = _find_filed_document_or_renamed_copy(workspace, document, names_by_digest[document.digest])
    nearest = None
    for layer, path in workspace.files_in_all_layers("annotations").get(document.name, ()):
        annotations = _read_checked_annotations(path, document.name)
        questions = load_question_set_or_none(workspace, annotations.questions, layer)
        file = AnnotationFile(
            path, layer, annotations, are_annotations_of_text(annotations, layer, document, workspace), questions
        )
        if file.of_this_text:
            return file
        nearest = nearest or file
    return nearest


def _find_filed_document_or_renamed_copy(workspace: Workspace, document: Document, annotated_name: str) -> Document:
    """Return a document of a corpus as the workspace has its text, or under the name of its annotated answers."""
    for number in range(len(workspace.layers)):
        with contextlib.suppress(UsageError):
            filed = load_document(annotated_name, workspace.drop_nearer_layers(number))
            if filed.digest == document.digest:
                return filed
    return replace(document, name=annotated_name)


def are_annotations_of_text(annotations: Annotations, layer: str, document: Document, workspace: Workspace) -> bool:
    """Whether annotations in that layer are about the document's very text."""
    if annotations.digest:
        return annotations.digest == document.digest
    layers = [name for name, _ in workspace.layers]
    return document.layer in layers[layers.index(layer) :]


def load_question_set_or_none(workspace: Workspace, name: str, annotations_layer: str = "") -> QuestionSet | None:
    """Load a question set as annotations of a layer know it; None if it is unknown or invalid."""
    layers = [layer_name for layer_name, _ in workspace.layers]
    views = (
        [workspace.drop_nearer_layers(layers.index(annotations_layer)), workspace] if annotations_layer else [workspace]
    )
    for view in views:
        try:
            return load_question_set(name, view)
        except UnknownNameError:
            continue
        except DataError:
            break
    return None


def map_annotations_to_questions(
    annotations: Annotations, annotated_set: QuestionSet | None, asked_set: QuestionSet, company: str
) -> Annotations:
    """Map annotated answers to the questions of the set `asked_set`, by its ids.

    An answer holds for a question with the same original text, up to the company, case, spacing and quotation marks;
    never for one that merely has the same id. Annotations that fit as they are stay unchanged.
    """
    if annotated_set is None:
        return msgspec.structs.replace(annotations, answers={})
    chosen = map_questions_to_annotated_question(annotations.answers, annotated_set, asked_set, company)
    answers = {question: annotations.answers[source] for question, source in chosen.items()}
    if asked_set.name == annotations.questions and answers == annotations.answers:
        return annotations
    before = annotations.questions if asked_set.name != annotations.questions else annotations.written_for
    return msgspec.structs.replace(annotations, questions=asked_set.name, answers=answers, written_for=before)


def map_questions_to_annotated_question(
    annotated_ids: Collection[str], annotated_set: QuestionSet, asked_set: QuestionSet, company: str
) -> dict[str, str]:
    """Map questions of the set `asked_set` to those known of another set that have the same text."""
    ids: dict[str, list[str]] = {}
    for question in annotated_set.questions:
        if question.id in annotated_ids:
            ids.setdefault(_normalize_question_and_mask_company(question, annotated_set, company), []).append(
                question.id
            )
    matches = {
        question.id: ids.get(_normalize_question_and_mask_company(question, asked_set, company), [])
        for question in asked_set.questions
    }
    return {
        question: question if question in sources else sources[0] for question, sources in matches.items() if sources
    }


_QUOTES = str.maketrans("\u2018\u2019\u201a\u201b\u00b4`\u201c\u201d\u201e\u00ab\u00bb", "''''''" + '"""""')
_COMPANY = "\0"


def _normalize_question_and_mask_company(question: Question, questions: QuestionSet, company: str) -> str:
    """Normalise a question's text: spelling, and names of the company."""
    text = _normalize_quotes_case_and_blanks(question.text).replace(
        _normalize_quotes_case_and_blanks(questions.placeholder), _COMPANY
    )
    # Sets differ in whether "the company" is a placeholder, and may name the company itself.
    names = {
        _normalize_quotes_case_and_blanks(questions.placeholder).strip("[]{}<> "),
        _normalize_quotes_case_and_blanks(company),
        "the company" if questions.kind == "policy" else "",
    }
    for name in sorted(names - {""}, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", _COMPANY, text)
    return text


def _normalize_quotes_case_and_blanks(text: str) -> str:
    return " ".join(text.translate(_QUOTES).casefold().split())


_ENDS = 2


class Correction(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The right values for one question: `silent`, `answer` and `sections`, as far as they are given.

    The proof is a `sentence` of the document, word for word; or, where its words may not be passed on, its place in the
    text `at` (first character, and the one after the last) and the SHA-256 of these characters.
    """

    silent: Silent | None = None
    answer: str = ""
    sections: tuple[str, ...] | None = None
    sentence: str = ""
    at: tuple[int, ...] | None = None
    sha256: str = ""
    why: str = ""

    def find_proving_sentence_or_empty(self, document_text: str) -> str:
        """Return the sentence of the document that proves it, up to spacing and marks; empty without one."""
        if self.sentence:
            sought = _collapse_blanks(self.sentence)
            is_there = sought in _collapse_blanks(document_text) or sought in _collapse_blanks(
                read_markdown(document_text).text
            )
            return self.sentence if is_there else ""
        passage = document_text[slice(*self.at)] if self.at else ""
        return passage if passage and sha256_of(passage) == self.sha256 else ""

    def apply_to(self, answer: AnnotatedAnswer) -> AnnotatedAnswer:
        """Return the annotated answer with what is right in its place."""
        silent = self.silent or answer.silent
        sections = answer.sections if self.sections is None else self.sections
        return msgspec.structs.replace(
            answer,
            silent=silent,
            answer=self.answer or answer.answer,
            sections=() if silent == "yes" else sections,
            points=() if silent == "yes" else answer.points,
            note=" ".join(filter(None, (answer.note, f"Corrected: {self.why}" if self.why else "Corrected."))),
        )


class Corrections(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """All corrections of one document's annotated answers, by the ids of the question set `questions`.

    `digest` is the SHA-256 of the text that they are about.
    """

    document: str
    questions: str
    annotators: tuple[str, ...]
    digest: str
    corrections: dict[str, Correction]
    date: str = ""
    source: str = ""


def correction_problems(path: Path, document_name: str, corrections: Corrections) -> Iterator[DataError]:
    """Yield every problem of a file of corrections that shows in the file alone."""
    if corrections.document != document_name:
        yield DataError(
            path, f"is '{corrections.document}', but the file has another name; the two must agree.", "document"
        )
    for question, correction in corrections.corrections.items():
        for flaw in correction_flaws(correction):
            yield DataError(path, flaw, f"corrections.{question}")


def correction_flaws(correction: Correction) -> Iterator[str]:
    """Yield every problem of a correction by itself."""
    if correction.silent is None and not correction.answer.strip() and correction.sections is None:
        yield "corrects nothing; give 'silent', 'answer' or 'sections'."
    if correction.silent == "yes" and correction.sections:
        yield "is marked silent, so it can't cite sections ('partly' can)."
    if bool(correction.sentence.strip()) == bool(correction.at or correction.sha256):
        yield "needs evidence: give a sentence from the document, or its position 'at' and its sha256."
    elif not correction.sentence.strip() and (
        correction.at is None or len(correction.at) != _ENDS or not correction.sha256
    ):
        yield "needs both the position 'at', as [first, end] in characters, and the sha256."


def iterate_unproved_correction_errors(path: Path, corrections: Corrections, document_text: str) -> Iterator[DataError]:
    """Yield every correction whose proof is not in the text that it is about."""
    for question, correction in corrections.corrections.items():
        has_proof = correction.sentence.strip() or (correction.at and len(correction.at) == _ENDS and correction.sha256)
        if has_proof and not correction.find_proving_sentence_or_empty(document_text):
            quotation = (
                f"'{clip(correction.sentence)}'"
                if correction.sentence
                else f"the passage at {list(correction.at or ())}"
            )
            yield DataError(path, f"{quotation} is not in {corrections.document}'s text.", f"corrections.{question}")


def find_corrections_with_layers(workspace: Workspace, document: Document) -> list[tuple[str, Corrections]]:
    """Find the corrections about this very text in every layer (with its name), the nearest last.

    A DataError for a bad file, and for a correction whose proof is not in the text.
    """
    layers = []
    for layer, path in reversed(workspace.files_in_all_layers("corrections").get(document.name, ())):
        corrections = read_yaml(path, Corrections)
        if corrections.digest == document.digest:
            for error in (
                *correction_problems(path, document.name, corrections),
                *iterate_unproved_correction_errors(path, corrections, document.text),
            ):
                raise error
            layers.append((layer, corrections))
    return layers


def apply_corrections_to_existing_answers(annotations: Annotations, corrections: dict[str, Correction]) -> Annotations:
    """Put what is right in the place of annotated answers that are corrected."""
    answers = {
        question: corrections[question].apply_to(answer) if question in corrections else answer
        for question, answer in annotations.answers.items()
    }
    return msgspec.structs.replace(annotations, answers=answers)


def describe_correction_or_empty(answer: AnnotatedAnswer, corrected: AnnotatedAnswer) -> str:
    """Say what a correction puts in the place of an annotated answer; empty where it is the same."""
    if answer == corrected:
        return ""
    text = corrected.answer if corrected.answer != answer.answer else ""
    silent = corrected.silent if corrected.silent != answer.silent else ""
    # The note of a corrected answer begins with that of the answer, and goes on with why.
    why = corrected.note.removeprefix(answer.note).strip()
    return " ".join(filter(None, ("A correction is known:", silent and f"silent: {silent}.", text, why)))


def _collapse_blanks(text: str) -> str:
    return " ".join(text.split())
