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
from genaipa.languages.catalog import ENGLISH, language_from_name
from genaipa.policies.document import Document, load_document
from genaipa.questions.annotations import (
    Annotations,
    apply_corrections,
    find_annotations,
    find_corrections,
    find_question_set,
    index_annotated_texts,
    map_to_questions,
    match_questions,
    read_annotations,
)
from genaipa.questions.sets import Question, QuestionSet
from genaipa.runs import journal
from genaipa.runs.documents import KeptDocuments, kept_text, text_file
from genaipa.runs.manifest import MANIFEST
from genaipa.runs.procedure import coordinates_of, find_procedure_plan
from genaipa.systems.base import Message, Purpose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.questions.annotations import AnnotatedAnswer
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import MeasuredHead, Record, RecordKind
    from genaipa.workspace import Workspace

    Shared = dict[tuple[object, ...], Annotations | None]
    """Annotated answers by what they depend on, beside the workspace."""


_BEGINNINGS = (200, 50, 15)
"""Characters of a part by which it is found in the message that announces it; a part may be a short one."""


class _Begun(msgspec.Struct):
    """As much of a `ConversationRecord` as is needed here."""

    id: str
    introduction: str


class Inputs:
    """The inputs of one run; a DataError if its manifest can't be used.

    `problems` are sentences on unreadable files; an answer can be scored without it. `shared` are the workspace's
    annotated answers that inputs of other runs found for the same texts and questions; these inputs add theirs.
    """

    def __init__(self, workspace: Workspace, folder: RunFolder, shared: Shared | None = None) -> None:
        self.workspace, self.folder = workspace, folder
        self._shared = {} if shared is None else shared
        self.manifest = folder.manifest()
        plan = find_procedure_plan(self.manifest.spec)
        self._sets: Mapping[str, str] = plan.questions if plan else {}
        self.problems: list[str] = []
        self._kept = KeptDocuments(folder.path)
        # Caches of this run alone, which go when it goes.
        self.document = cache(self._document)
        self.questions = cache(self._questions)
        self._set = cache(self._read_set)
        self.question = cache(self._question)
        self._held = cache(self._find_held)
        self._annotations = cache(self._find_annotations)
        self._corrected = cache(self._correct)
        self._spans = cache(self._find_spans)
        self._texts = cache(self._annotated_texts)
        self._begun: dict[str, str] = {}
        self._begun_size = 0

    def _document(self, name: str) -> Document:
        """The document as this run used it; a DataError if its text is lost or another."""
        if name not in self.manifest.documents:
            raise DataError(self.folder.path / MANIFEST, f"knows no document '{name}'.")
        facts = self.manifest.documents[name]
        if self._kept:
            return self._kept.checked({name: facts})[name]
        held = self._held(name)
        if held is not None:
            return held
        return kept_text(text_file(self.folder.path, facts), name, facts, self.folder.name)

    def _find_held(self, name: str) -> Document | None:
        """The workspace's document, if its text is that of the run."""
        try:
            document = load_document(name, self.workspace)
        except UsageError:
            return None
        return document if document.digest == self.manifest.documents[name].digest else None

    def _questions(self, document: str) -> QuestionSet | None:
        """The questions that were asked about a document, from the run's copy; None if that can't be read."""
        return self._set(self._sets.get(document, ""))

    def _read_set(self, name: str) -> QuestionSet | None:
        path = self.folder.path / "questions" / f"{name}.yaml"
        try:
            found = read_yaml(path, QuestionSet)
            kept = "" if self.folder.is_withheld else self.manifest.digests.questions.get(name, "")
            if kept and hashlib.sha256(path.read_bytes()).hexdigest() != kept:
                said = f"{path}: has changed since the run was made; restore the file. Tables by category rely on it."
                self.problems += [said] if said not in self.problems else []
        except DataError as error:
            self.problems.append(f"{error} Paraphrases are shown without their original.")
            return None
        return found

    def _question(self, document: str, question: str) -> Question | None:
        """A question that was asked about a document; None if the run's copy of its questions lacks it."""
        asked = self.questions(document)
        return next((q for q in asked.questions if q.id == question), None) if asked else None

    def wording(self, record: Record) -> str:
        """The record's question as the question set words it, the company filled in.

        Not as the system was asked it: numbering or quotes that one study put around a question for one system would
        tell an analyst whose answer it is. The record's own text where the run's copy of the set lacks the question.
        """
        found = self.questions(record.document)
        try:
            at = coordinates_of(record)
            return found.question_text(at.question, at.wording, self._company(record)) if found else record.asked
        except (UnknownNameError, IndexError):
            return record.asked

    def original(self, record: Record) -> str:
        """The original wording of a record's question, the company filled in; empty if the record was asked that."""
        asked, question = self.questions(record.document), self.question(record.document, record.question)
        if coordinates_of(record).wording == "original" or asked is None or question is None:
            return ""
        return question.text.replace(asked.placeholder, self._company(record))

    def _company(self, record: Record) -> str:
        return self.manifest.documents[record.document].company

    def annotated(self, document: str, question: str, *, corrected: bool = False) -> tuple[AnnotatedAnswer | None, str]:
        """The annotated answer and the part set that its "Part n" refers to; (None, "") where there is none.

        `corrected` is for the answer as the corrections have it that are known to the workspace.
        """
        found = (self._corrected if corrected else self._annotations)(document)
        if found is None or question not in found.answers:
            return None, ""
        return found.answers[question], found.part_set

    def _correct(self, document: str) -> Annotations | None:
        """The annotated answers with what the corrections about this text put in their place."""
        found, asked = self._annotations(document), self.questions(document)
        if found is None or asked is None:
            return found
        basis = self._basis(document)
        if found is self._shared.get(basis):
            basis = ("corrected", *basis)
            if basis not in self._shared:
                self._shared[basis] = self._with_corrections(document, found, asked)
            return self._shared[basis]
        return self._with_corrections(document, found, asked)

    def _with_corrections(self, document: str, found: Annotations, asked: QuestionSet) -> Annotations | None:
        """These annotated answers with the corrections; without them where these can't be read, which is noted."""
        try:
            about = self.document(document)
            if texts := self._texts():
                about = replace(about, name=texts.get(about.digest, about.name))
            for layer, known in find_corrections(self.workspace, about):
                written_for = find_question_set(self.workspace, known.questions, layer)
                same = match_questions(known.corrections, written_for, asked, about.company) if written_for else {}
                found = apply_corrections(
                    found, {question: known.corrections[source] for question, source in same.items()}
                )
        except GenaipaError as error:
            self.problems.append(f"{error} Annotated answers about {document} are not corrected.")
            return self._annotations(document)
        return found

    def _find_annotations(self, document: str) -> Annotations | None:
        """The workspace's annotations where it holds the same text, else the run's copy; of the questions asked."""
        if document not in self.manifest.documents:
            return None  # other tasks ask about none
        try:
            held, basis = self.document(document) if self._kept else self._held(document), self._basis(document)
            if basis in self._shared:
                return self._shared[basis]
            known = find_annotations(self.workspace, held, self._texts()) if held is not None else None
            if held is not None and known is not None and known.of_this_text:
                self._shared[basis] = self._of_asked(document, known.annotations, known.question_set)
                return self._shared[basis]
            path = self.folder.path / "annotations" / f"{document}.yaml"
            kept = read_annotations(path) if path.is_file() else None
            if kept is None or (kept.digest != self.manifest.documents[document].digest and (kept.digest or known)):
                # Where the workspace knows annotations to be about another text, an older run took them over by name.
                return None
            return self._of_asked(document, kept, None)
        except DataError as error:
            self.problems.append(f"{error} Answers about {document} are shown without annotated ones.")
            return None

    def _basis(self, document: str) -> tuple[object, ...]:
        """Key of the facts on which the workspace's annotated answers about a document depend."""
        facts, asked = self.manifest.documents[document], self.questions(document)
        questions = hashlib.sha256(msgspec.json.encode(asked)).digest()
        return document, facts.digest, facts.company, self._sets.get(document), questions

    def _annotated_texts(self) -> dict[str, str] | None:
        """Texts about which the workspace has annotated answers, for documents of a corpus; None for any others."""
        return index_annotated_texts(self.workspace) if self._kept else None

    def _of_asked(self, document: str, found: Annotations, written_for: QuestionSet | None) -> Annotations | None:
        """The annotated answers to the questions that were asked about a document; `written_for` if it is known."""
        name, asked = self._sets.get(document), self.questions(document)
        if asked is None or (written_for is None and found.questions == name):
            # A run keeps annotations as those of the questions that it asks.
            return found if found.questions == name else None
        return map_to_questions(
            found,
            written_for or find_question_set(self.workspace, found.questions),
            asked,
            self.manifest.documents[document].company,
        )

    def parts(self, record: MeasuredHead) -> tuple[tuple[int, int], ...]:
        """The spans of the document's text in which the system was given it; none if it was not."""
        conversations = [record.conversation]
        if record.coordinates.get("initialization") == "summary-of-document":
            # Its summary, which may speak of parts, was written in a conversation of its own.
            conversations.append(f"{record.conversation}|(summary)")
        try:
            introductions = [found for name in conversations if (found := self._introduction(name))]
            return next(filter(None, (self._spans(found, record.document) for found in introductions)), ())
        except GenaipaError:
            # A damaged file beside the answers: "Part 2" can't be resolved, and the answer can be scored.
            return ()

    def _introduction(self, conversation: str) -> str | None:
        """Return the digest under which the messages before a conversation's first question are kept."""
        path = self.folder.conversations_file
        if conversation not in self._begun and path.is_file() and path.stat().st_size != self._begun_size:
            self._begun_size = path.stat().st_size
            self._begun |= {begun.id: begun.introduction for _, begun in journal.read(path, _Begun)}
        return self._begun.get(conversation)

    def _find_spans(self, introduction: str, document: str) -> tuple[tuple[int, int], ...]:
        text, end, spans = self.document(document).text, 0, []
        for message in self.folder.introduction(introduction):
            if message.purpose == "part":
                span = _span(text, end, message.carries or message.content)
                if span is None:
                    return ()
                end = span[1]
                spans.append(span)
        return tuple(spans)


def _span(text: str, end: int, said: str) -> tuple[int, int] | None:
    """Start and end of the part of a text that continues at `end` and that a message contains, among other words."""
    start = end + len(text[end:]) - len(text[end:].lstrip())
    for characters in _BEGINNINGS:
        at = said.find(text[start : start + characters])
        if at >= 0:
            pairs = zip(text[start:], said[at:], strict=False)
            length = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            return start, start + len(text[start : start + length].rstrip())
    return None


NO_WORDS = ENGLISH.no_answer
"""Stands in the history for a reply without text: providers refuse an empty message. Each language has its own."""

_PURPOSES: dict[RecordKind, tuple[Purpose, Purpose]] = {
    "answer": ("question", "answer"),
    "summary": ("summary-request", "answer"),
    "acknowledgement": ("introduction", "acknowledgement"),
}
"""The roles of the question and the reply of each kind of record."""


def conversation(folder: RunFolder, record: Record, offsets: Mapping[str, int]) -> list[Message]:
    """The messages up to and with this record: introduction, turns before it, its question, the reply if any.

    `offsets` are the byte offsets of the latest record of each key (`folder.seen`): only the texts of this
    conversation are read.
    """
    begun = next((c for c in folder.conversations() if c.id == record.conversation), None)
    messages = []
    # Acknowledgements are asked for while an introduction is made: what came before them are others of theirs.
    making = record.kind == "acknowledgement"
    if begun is not None and not making:
        messages = folder.introduction(begun.introduction)
    if making or (begun is not None and begun.mode == "shared"):
        plan = find_procedure_plan(folder.manifest().spec)
        prompts = record.coordinates.get("prompts") or next(iter(plan.prompts if plan else ()), "")
        for earlier in _before(folder, record, offsets):
            messages += _turn(earlier, earlier.reply or language_from_name(prompts).no_answer)
    return messages + _turn(record, record.reply)


def _before(folder: RunFolder, record: Record, offsets: Mapping[str, int]) -> list[Record]:
    """The replies of the same kind that the same conversation had before this one, in their order."""
    start = record.key.removesuffix(record.question) if record.task == DEFAULT else f"{record.system}|{record.task}|"
    near = folder.records_at([offset for key, offset in offsets.items() if key.startswith(start)])
    same = (r for r in near if (r.conversation, r.kind) == (record.conversation, record.kind))
    return sorted((r for r in same if r.turn < record.turn and r.reply is not None), key=lambda r: r.turn)


def _turn(record: Record, reply: str | None) -> list[Message]:
    asking, replying = _PURPOSES[record.kind]
    asked = Message("user", record.asked, asking)
    return [asked] if reply is None else [asked, Message("assistant", reply, replying, key=record.digest)]
