"""Inputs of a run: its documents, questions, annotated answers, and its conversations as a system had them.

A document that the workspace still holds with the same text is taken from there, with what has been noted about it
since; else the run's own copies are used. Everything is read when it is first needed, and kept.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError, GenaipaError, UnknownNameError, UsageError
from genaipa.files.strict_yaml import read_yaml
from genaipa.kinds import DEFAULT
from genaipa.languages.catalog import ENGLISH, language_of_prompt_set_or_english
from genaipa.policies.document import Document, load_document
from genaipa.questions.annotations import (
    Annotations,
    apply_corrections_to_existing_answers,
    find_annotation_file,
    find_corrections_with_layers,
    load_question_set_or_none,
    map_annotated_digests_to_names,
    map_annotations_to_questions,
    map_questions_to_annotated_question,
    read_annotations_without_blanks,
)
from genaipa.questions.sets import FOLLOW_UP, Question, QuestionSet, id_without_follow_up_suffix
from genaipa.runs import journal
from genaipa.runs.documents import KeptDocuments, document_text_path, load_verified_document_copy
from genaipa.runs.manifest import MANIFEST
from genaipa.runs.procedure import get_plan_if_procedure_run, read_coordinates
from genaipa.systems.base import Message, Purpose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.questions.annotations import AnnotatedAnswer
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import MeasuredRecordHead, Record, RecordKind
    from genaipa.workspace import Workspace

    Shared = dict[tuple[object, ...], Annotations | None]
    """Annotated answers by what they depend on, beside the workspace."""


_BEGINNINGS = (200, 50, 15)
"""Characters of a part by which it is found in the message that announces it; a part may be a short one."""


class _ConversationHead(msgspec.Struct):
    """As much of a `ConversationRecord` as is needed here."""

    id: str
    introduction: str


class RunDocumentsAndQuestions:
    """The inputs of one run; a DataError if its manifest can't be used.

    `problems` are sentences on unreadable files; an answer can be scored without it. `shared` are the workspace's
    annotated answers that inputs of other runs found for the same texts and questions; these inputs add theirs.
    """

    def __init__(self, workspace: Workspace, folder: RunFolder, shared: Shared | None = None) -> None:
        self.workspace, self.folder = workspace, folder
        self._shared = {} if shared is None else shared
        self.manifest = folder.manifest()
        plan = get_plan_if_procedure_run(self.manifest.spec)
        self._sets: Mapping[str, str] = plan.questions if plan else {}
        self.problems: list[str] = []
        self._kept = KeptDocuments(folder.path)
        # Caches of this run alone, which go when it goes.
        self.document = cache(self._load_document)
        self.questions = cache(self._load_questions_about_document)
        self._set = cache(self._read_question_set_or_note_problem)
        self.question = cache(self._find_question)
        self._workspace_document = cache(self._find_unchanged_workspace_document)
        self._annotations = cache(self._find_annotations_of_asked_questions)
        self._corrected = cache(self._correct_annotations)
        self._spans = cache(self._find_document_part_spans)
        self._texts = cache(self._annotated_names_by_digest_if_corpus)
        self._introduction_digests: dict[str, str] = {}
        self._conversations_size = 0

    def _load_document(self, document_name: str) -> Document:
        """Return the document as this run used it; a DataError if its text is lost or another."""
        if document_name not in self.manifest.documents:
            raise DataError(self.folder.path / MANIFEST, f"lists no document '{document_name}'.")
        facts = self.manifest.documents[document_name]
        if self._kept:
            return self._kept.load_all_documents_or_raise({document_name: facts})[document_name]
        held = self._workspace_document(document_name)
        if held is not None:
            return held
        return load_verified_document_copy(
            document_text_path(self.folder.path, facts), document_name, facts, self.folder.name
        )

    def _find_unchanged_workspace_document(self, document_name: str) -> Document | None:
        """Return the workspace's document, if its text is that of the run."""
        try:
            document = load_document(document_name, self.workspace)
        except UsageError:
            return None
        return document if document.digest == self.manifest.documents[document_name].digest else None

    def _load_questions_about_document(self, document_name: str) -> QuestionSet | None:
        """Return the questions that were asked about a document, from the run's copy; None if that can't be read."""
        return self._set(self._sets.get(document_name, ""))

    def _read_question_set_or_note_problem(self, set_name: str) -> QuestionSet | None:
        path = self.folder.path / "questions" / f"{set_name}.yaml"
        try:
            question_set = read_yaml(path, QuestionSet)
            digest = "" if self.folder.has_withheld_texts else self.manifest.digests.questions.get(set_name, "")
            if digest and hashlib.sha256(path.read_bytes()).hexdigest() != digest:
                problem = f"{path} has changed since the run was made; restore the file. Tables by category rely on it."
                self.problems += [problem] if problem not in self.problems else []
        except DataError as error:
            self.problems.append(f"{error} Paraphrases are shown without the original question.")
            return None
        return question_set

    def _find_question(self, document_name: str, question_id: str) -> Question | None:
        """Return a question that was asked about a document; None if the run's copy of its questions lacks it."""
        question_set = self.questions(document_name)
        return next((q for q in question_set.questions if q.id == question_id), None) if question_set else None

    def question_in_wording_of_set(self, record: Record) -> str:
        """Return the record's question as the question set words it, the company filled in.

        Not as the system was asked it: numbering or quotes that one study put around a question for one system would
        tell an analyst whose answer it is. The record's own text where the run's copy of the set lacks the question.
        """
        question_set = self.questions(record.document)
        try:
            coordinates = read_coordinates(record)
            return (
                question_set.question_text(coordinates.question, coordinates.wording, self._company_name(record))
                if question_set
                else record.asked
            )
        except (UnknownNameError, IndexError):
            return record.asked

    def earlier_question_or_empty(self, record: Record) -> str:
        """Return the question that a follow-up goes on from, the company filled in; empty for any other record."""
        earlier = id_without_follow_up_suffix(record.question)
        if earlier == record.question:
            return ""
        question_set, question = self.questions(record.document), self.question(record.document, earlier)
        if question_set is None or question is None:
            return ""
        return question.text.replace(question_set.placeholder, self._company_name(record))

    def original_question_if_paraphrased(self, record: Record) -> str:
        """Return the original wording of a record's question, the company filled in; empty if that was asked."""
        question_set, question = self.questions(record.document), self.question(record.document, record.question)
        if read_coordinates(record).wording in ("original", FOLLOW_UP) or question_set is None or question is None:
            return ""
        return question.text.replace(question_set.placeholder, self._company_name(record))

    def _company_name(self, record: Record) -> str:
        return self.manifest.documents[record.document].company

    def annotations_of_asked_questions(self, document_name: str) -> Annotations | None:
        """Return the annotated answers about a document to the questions that were asked; None without any."""
        return self._annotations(document_name)

    def annotated_answer_and_part_set_name(
        self, document_name: str, question_id: str, *, corrected: bool = False
    ) -> tuple[AnnotatedAnswer | None, str]:
        """Return the annotated answer and the part set that its "Part n" refers to; (None, "") where there is none.

        `corrected` is for the answer as the corrections have it that are known to the workspace.
        """
        annotations = (self._corrected if corrected else self._annotations)(document_name)
        if annotations is None or question_id not in annotations.answers:
            return None, ""
        return annotations.answers[question_id], annotations.part_set

    def _correct_annotations(self, document_name: str) -> Annotations | None:
        """Return the annotated answers with what the corrections about this text put in their place."""
        annotations, question_set = self._annotations(document_name), self.questions(document_name)
        if annotations is None or question_set is None:
            return annotations
        key = self._annotations_cache_key(document_name)
        if annotations is self._shared.get(key):
            key = ("corrected", *key)
            if key not in self._shared:
                self._shared[key] = self._apply_corrections_or_note_problem(document_name, annotations, question_set)
            return self._shared[key]
        return self._apply_corrections_or_note_problem(document_name, annotations, question_set)

    def _apply_corrections_or_note_problem(
        self, document_name: str, annotations: Annotations, question_set: QuestionSet
    ) -> Annotations | None:
        """Return the corrected annotated answers; uncorrected, with a note, where the corrections can't be read."""
        try:
            about = self.document(document_name)
            if texts := self._texts():
                about = replace(about, name=texts.get(about.digest, about.name))
            for layer, correction_file in find_corrections_with_layers(self.workspace, about):
                written_for = load_question_set_or_none(self.workspace, correction_file.questions, layer)
                sources = (
                    map_questions_to_annotated_question(
                        correction_file.corrections, written_for, question_set, about.company
                    )
                    if written_for
                    else {}
                )
                annotations = apply_corrections_to_existing_answers(
                    annotations, {question: correction_file.corrections[source] for question, source in sources.items()}
                )
        except GenaipaError as error:
            self.problems.append(f"{error} The annotated answers about {document_name} are shown uncorrected.")
            return self._annotations(document_name)
        return annotations

    def _find_annotations_of_asked_questions(self, document_name: str) -> Annotations | None:
        """Return the workspace's annotations of the questions asked, if it holds the same text; else the run's copy."""
        if document_name not in self.manifest.documents:
            return None  # other tasks ask about none
        try:
            workspace_document, key = (
                self.document(document_name) if self._kept else self._workspace_document(document_name),
                self._annotations_cache_key(document_name),
            )
            if key in self._shared:
                return self._shared[key]
            workspace_answers = (
                find_annotation_file(self.workspace, workspace_document, self._texts())
                if workspace_document is not None
                else None
            )
            if workspace_document is not None and workspace_answers is not None and workspace_answers.of_this_text:
                self._shared[key] = self._map_annotations_to_asked_questions(
                    document_name, workspace_answers.annotations, workspace_answers.question_set
                )
                return self._shared[key]
            path = self.folder.path / "annotations" / f"{document_name}.yaml"
            run_copy = read_annotations_without_blanks(path) if path.is_file() else None
            if run_copy is None or (
                run_copy.digest != self.manifest.documents[document_name].digest
                and (run_copy.digest or workspace_answers)
            ):
                # Where the workspace knows annotations to be about another text, an older run took them over by name.
                return None
            return self._map_annotations_to_asked_questions(document_name, run_copy, None)
        except DataError as error:
            self.problems.append(f"{error} Answers about {document_name} are shown without annotated answers.")
            return None

    def _annotations_cache_key(self, document_name: str) -> tuple[object, ...]:
        """Return the key of the facts on which the workspace's annotated answers about a document depend."""
        facts, question_set = self.manifest.documents[document_name], self.questions(document_name)
        questions = hashlib.sha256(msgspec.json.encode(question_set)).digest()
        return document_name, facts.digest, facts.company, self._sets.get(document_name), questions

    def _annotated_names_by_digest_if_corpus(self) -> dict[str, str] | None:
        """Return the texts with annotated answers in the workspace, for documents of a corpus; None for any others."""
        return map_annotated_digests_to_names(self.workspace) if self._kept else None

    def _map_annotations_to_asked_questions(
        self, document_name: str, annotations: Annotations, question_set_of_annotations: QuestionSet | None
    ) -> Annotations | None:
        """Return the annotated answers to the questions that were asked.

        `question_set_of_annotations` are those of the annotations.
        """
        name, question_set = self._sets.get(document_name), self.questions(document_name)
        if question_set is None or (question_set_of_annotations is None and annotations.questions == name):
            # A run keeps annotations as those of the questions that it asks.
            return annotations if annotations.questions == name else None
        return map_annotations_to_questions(
            annotations,
            question_set_of_annotations or load_question_set_or_none(self.workspace, annotations.questions),
            question_set,
            self.manifest.documents[document_name].company,
        )

    def spans_of_document_parts_given(self, record: MeasuredRecordHead) -> tuple[tuple[int, int], ...]:
        """Return the spans of the document's text in which the system was given it; none if it was not."""
        conversations = [record.conversation]
        if record.coordinates.get("initialization") == "summary-of-document":
            # Its summary, which may speak of parts, was written in a conversation of its own.
            conversations.append(f"{record.conversation}|(summary)")
        try:
            introductions = [digest for name in conversations if (digest := self._introduction_digest(name))]
            return next(filter(None, (self._spans(digest, record.document) for digest in introductions)), ())
        except GenaipaError:
            # A damaged file beside the answers: "Part 2" can't be resolved, and the answer can be scored.
            return ()

    def _introduction_digest(self, conversation_id: str) -> str | None:
        """Return the digest under which the messages before a conversation's first question are kept."""
        path = self.folder.conversations_path
        if (
            conversation_id not in self._introduction_digests
            and path.is_file()
            and path.stat().st_size != self._conversations_size
        ):
            self._conversations_size = path.stat().st_size
            self._introduction_digests |= {
                begun.id: begun.introduction for _, begun in journal.read_records_with_offsets(path, _ConversationHead)
            }
        return self._introduction_digests.get(conversation_id)

    def _find_document_part_spans(self, introduction_digest: str, document_name: str) -> tuple[tuple[int, int], ...]:
        text, end, spans = self.document(document_name).text, 0, []
        for message in self.folder.read_introduction(introduction_digest):
            if message.purpose == "part":
                span = _find_next_part_span(text, end, message.carries or message.content)
                if span is None:
                    return ()
                end = span[1]
                spans.append(span)
        return tuple(spans)


def _find_next_part_span(document_text: str, previous_end: int, message_text: str) -> tuple[int, int] | None:
    """Find start and end of the part of a text that continues at `previous_end` and is in a message."""
    start = previous_end + len(document_text[previous_end:]) - len(document_text[previous_end:].lstrip())
    for characters in _BEGINNINGS:
        position = message_text.find(document_text[start : start + characters])
        if position >= 0:
            pairs = zip(document_text[start:], message_text[position:], strict=False)
            length = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            return start, start + len(document_text[start : start + length].rstrip())
    return None


NO_WORDS = ENGLISH.no_answer
"""Stands in the history for a reply without text: providers refuse an empty message. Each language has its own."""

_PURPOSES: dict[RecordKind, tuple[Purpose, Purpose]] = {
    "answer": ("question", "answer"),
    "summary": ("summary-request", "answer"),
    "acknowledgement": ("introduction", "acknowledgement"),
}
"""The roles of the question and the reply of each kind of record."""


def load_conversation_through_reply(
    folder: RunFolder, record: Record, offset_by_record_key: Mapping[str, int]
) -> list[Message]:
    """Return the messages up to and with this record: introduction, turns before it, its question, the reply if any.

    `offset_by_record_key` are the byte offsets of the latest record of each key
    (`folder.tally_records_and_map_offsets`): only the texts of this conversation are read.
    """
    if record.after:
        first_key = f"{record.conversation}|{id_without_follow_up_suffix(record.question)}"
        # The first answer is gone where somebody deleted its line, to have it asked again.
        first = folder.read_records_at([offset_by_record_key[first_key]] if first_key in offset_by_record_key else [])
        before = load_conversation_through_reply(folder, first[0], offset_by_record_key) if first else []
        return before + _question_and_reply_messages(record, record.reply)
    begun = next((c for c in folder.read_conversations() if c.id == record.conversation), None)
    messages = []
    # Acknowledgements are asked for while an introduction is made: what came before them are others of theirs.
    making = record.kind == "acknowledgement"
    if begun is not None and not making:
        messages = folder.read_introduction(begun.introduction)
    if making or (begun is not None and begun.mode == "shared"):
        plan = get_plan_if_procedure_run(folder.manifest().spec)
        prompts = record.coordinates.get("prompts") or next(iter(plan.prompts if plan else ()), "")
        for earlier in _earlier_replies_in_conversation(folder, record, offset_by_record_key):
            messages += _question_and_reply_messages(
                earlier, earlier.reply or language_of_prompt_set_or_english(prompts).no_answer
            )
    return messages + _question_and_reply_messages(record, record.reply)


def _earlier_replies_in_conversation(
    folder: RunFolder, record: Record, offset_by_record_key: Mapping[str, int]
) -> list[Record]:
    """Return the replies of the same kind that the same conversation had before this one, in their order."""
    start = record.key.removesuffix(record.question) if record.task == DEFAULT else f"{record.system}|{record.task}|"
    records = folder.read_records_at([offset for key, offset in offset_by_record_key.items() if key.startswith(start)])
    candidates = (r for r in records if (r.conversation, r.kind) == (record.conversation, record.kind))
    return sorted((r for r in candidates if r.turn < record.turn and r.reply is not None), key=lambda r: r.turn)


def _question_and_reply_messages(record: Record, reply: str | None) -> list[Message]:
    asking, replying = _PURPOSES[record.kind]
    question = Message("user", record.asked, asking)
    return [question] if reply is None else [question, Message("assistant", reply, replying, key=record.digest)]
