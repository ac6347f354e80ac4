"""Algorithm 1 (paper, Appendix A): who is introduced to what, how, and asked what in which order."""

from __future__ import annotations

import dataclasses
import hashlib
import random
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from genaipa.errors import OptionError, UsageError
from genaipa.files.strict_yaml import format_yaml
from genaipa.files.text import digest, read_text
from genaipa.languages.catalog import language_from_name
from genaipa.policies.corpus import LAYER
from genaipa.policies.document import load_document, split_by_token_limit
from genaipa.questions.annotations import find_annotations, index_annotated_texts
from genaipa.questions.sets import WORDINGS, QuestionSet, Wording, load_question_set
from genaipa.runs.documents import encode_documents
from genaipa.runs.procedure import (
    Coordinates,
    Initialization,
    ProcedurePlan,
    conversation_id,
    procedure_plan,
)
from genaipa.runs.records import DOCUMENTS, Digests, DocumentFacts, RunSpec
from genaipa.systems.base import Message
from genaipa.tasks.base import Call, Task
from genaipa.tasks.prompts import Script, Step, list_introduction_messages, load_prompts

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from genaipa.runs.records import RecordKind
    from genaipa.tasks.base import Dialogue, Target
    from genaipa.workspace import Workspace

SUMMARY = "(summary)"
"""The step, in place of a question, under which a summary is kept."""


@dataclass(frozen=True)
class Conversation:
    """One fresh conversation: a system introduced to a document in one way, then questioned in one wording."""

    system: str
    document: str
    initialization: Initialization
    wording: Wording
    repetition: int
    order: tuple[str, ...]
    """Question ids in the order in which they are asked."""
    prompts: str = ""
    """The set of prompts, in a run that has several."""

    @cached_property
    def id(self) -> str:
        """The name of the conversation in records and folders."""
        return conversation_id(
            self.system, self.document, self.initialization, self.wording, self.repetition, self.prompts
        )

    def key(self, question: str) -> str:
        """Return the key of an answer (or step) of the conversation; the repetition is part of it."""
        return f"{self.id}|{question}"

    def coordinates(self, question: str) -> dict[str, str]:
        """Return the coordinates of an answer (or step) among the others of its system."""
        values = self.document, self.initialization, self.wording, self.repetition, self.prompts, question
        return Coordinates(*values).as_dict()

    @property
    def needs_summary(self) -> bool:
        """Whether a conversation before this one has to write the summary that it starts from."""
        return self.initialization in ("summary-by-name", "summary-of-document")


def shuffle_questions(seed: int, document: str, repetition: int, ids: Sequence[str]) -> tuple[str, ...]:
    """Return Q' of Algorithm 1: a pure function of its arguments, so that nothing else in a plan moves it."""
    digest = hashlib.sha256(f"{seed}|{document}|{repetition}".encode()).digest()
    order = sorted(ids)
    random.Random(int.from_bytes(digest[:8], "big")).shuffle(order)  # noqa: S311 - an order, not a secret
    return tuple(order)


def question_order(spec: RunSpec, document: str, repetition: int, questions: QuestionSet) -> tuple[str, ...]:
    """Return the questions of one repetition as they are asked, cut to the spec's limit."""
    order = shuffle_questions(spec.seed, document, repetition, [q.id for q in questions.questions])
    limit = procedure_plan(spec).limit
    if limit is None:
        return order
    first, last = limit
    return order[first - 1 : last]


def list_conversations(spec: RunSpec, questions: dict[str, QuestionSet], system: str) -> Iterator[Conversation]:
    """List every conversation with one system, in Algorithm 1's order within a document and repetition."""
    plan = procedure_plan(spec)
    for document in plan.documents:
        for repetition in range(1, spec.repetitions + 1):
            order = question_order(spec, document, repetition, questions[document])
            for initialization in plan.initializations:
                for wording in plan.wordings:
                    for prompts in plan.prompts if len(plan.prompts) > 1 else ("",):
                        yield Conversation(system, document, initialization, wording, repetition, order, prompts)


def list_orders(spec: RunSpec, questions: dict[str, QuestionSet]) -> dict[str, tuple[str, ...]]:
    """Return `document|repetition` → the order in which its questions are asked."""
    return {
        f"{document}|{repetition}": question_order(spec, document, repetition, questions[document])
        for document in procedure_plan(spec).documents
        for repetition in range(1, spec.repetitions + 1)
    }


def check_question_limit(spec: RunSpec, questions: dict[str, QuestionSet]) -> None:
    """Raise a UsageError if the limit leaves none of the questions about a document."""
    limit = procedure_plan(spec).limit
    for document, question_set in questions.items():
        if limit is not None and limit[0] > (available := len(question_set.questions)):
            raise OptionError(
                "limit", f" {'-'.join(map(str, limit))}: there are only {available} questions about {document}."
            )


def check_wordings(spec: RunSpec, questions: dict[str, QuestionSet]) -> None:
    """Raise a UsageError if a wording is asked for that a question does not have."""
    needed = max(WORDINGS.index(wording) for wording in procedure_plan(spec).wordings)
    for question_set in {q.name: q for q in questions.values()}.values():
        for question in question_set.questions:
            if len(question.paraphrases) < needed:
                raise UsageError(
                    f"question {question.id} of the set '{question_set.name}' has {len(question.paraphrases)} "
                    f"paraphrases, so it can't be asked as {WORDINGS[needed]}; add a paraphrase, or choose another "
                    "wording."
                )


class Procedure(Task):
    """Algorithm 1 on the documents, questions and prompts in effect, all loaded and checked; the loaders' errors."""

    def __init__(self, spec: RunSpec, workspace: Workspace) -> None:
        super().__init__(spec, workspace)
        sets = sorted(set(self.plan.questions.values()))
        self._sets = {name: load_question_set(name, workspace) for name in sets}
        self._set_texts = {name: read_text(workspace.names("questions")[name][1]) for name in sets}
        self.prompts = {name: load_prompts(workspace, name) for name in self.plan.prompts}
        self._texts = index_annotated_texts(workspace) if workspace.held else None
        self.documents = {name: load_document(name, workspace) for name in self.plan.documents}
        self.questions = {document: self._sets[name] for document, name in self.plan.questions.items()}
        self._annotation_files, self._notes = self._find_annotations()
        check_wordings(spec, self.questions)
        check_question_limit(spec, self.questions)

    @property
    def plan(self) -> ProcedurePlan:
        """The plan of the run."""
        return procedure_plan(self.spec)

    @property
    def part_tokens(self) -> int | None:
        """As the plan has it."""
        return self.plan.part_tokens

    @property
    def _is_corpus_run(self) -> bool:
        """Whether the documents are of a corpus, which is kept in one file."""
        return any(document.layer == LAYER for document in self.documents.values())

    def _find_annotations(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return document → the file of its annotated answers to the questions asked, and remarks on them."""
        files, notes = {}, []
        for name, document in self.documents.items():
            annotation_file = find_annotations(self.workspace, document, self._texts)
            if annotation_file is None:
                continue
            usable = annotation_file.usable_answers(self.questions[name], document.company)
            if usable.answers and self._is_corpus_run:
                files[name] = format_yaml(replace(usable, document=name, digest=document.digest))
            elif usable.answers:
                files[name] = (
                    read_text(annotation_file.path) if usable is annotation_file.annotations else format_yaml(usable)
                )
            if notice := annotation_file.notice(self.questions[name], document.company):
                notes.append(notice)
        return files, tuple(notes)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about annotated answers that hold for less than their author may think."""
        return self._notes

    @cached_property
    def _template_texts(self) -> dict[str, str]:
        """Name of a template, behind that of its set where there are several, → its text."""
        several = len(self.prompts) > 1
        return {
            f"{chosen}/{name}" if several else name: text
            for chosen, prompts in self.prompts.items()
            for name, text in prompts.sources.items()
        }

    @cached_property
    def digests(self) -> Digests:
        """SHA-256 of every prompt, document, question set and file of annotated answers."""
        return Digests(
            prompts={name: digest(text) for name, text in self._template_texts.items()},
            documents={name: document.digest for name, document in self.documents.items()},
            questions={name: digest(text) for name, text in self._set_texts.items()},
            annotations={name: digest(text) for name, text in self._annotation_files.items()},
        )

    @property
    def facts(self) -> dict[str, DocumentFacts]:
        """The documents as the manifest describes them."""
        return {name: DocumentFacts.from_document(document) for name, document in self.documents.items()}

    @cached_property
    def orders(self) -> dict[str, tuple[str, ...]]:
        """`document|repetition` → the order in which its questions are asked."""
        return list_orders(self.spec, self.questions)

    @property
    def sources(self) -> dict[str, str]:
        """Every text that the messages are made of, and the annotated answers."""
        every = self.documents.values()
        if self._is_corpus_run:
            sources = {DOCUMENTS: encode_documents(every)}
        else:
            sources = {f"documents/{document.digest}.txt": document.text for document in every}
        sources |= {f"prompts/{name}.jinja": text for name, text in self._template_texts.items()}
        sources |= {f"questions/{name}.yaml": text for name, text in self._set_texts.items()}
        return sources | {f"annotations/{name}.yaml": text for name, text in self._annotation_files.items()}

    @property
    def texts(self) -> dict[str, str]:
        """The documents' texts."""
        return {name: document.text for name, document in self.documents.items()}

    @property
    def shows_documents(self) -> bool:
        """Whether any of its initializations shows the document."""
        return not {"document", "summary-of-document"}.isdisjoint(self.plan.initializations)

    def language(self, text: str) -> str:
        """Return the language of a document."""
        return self.documents[text].language if text in self.documents else ""

    def make_scripts(self, target: Target) -> dict[str, Script]:
        """Return `document|set of prompts` → its script, the text in parts that suit the system; made once for each."""
        if not target.memory:
            for name, document in self.documents.items():
                parts = tuple(split_by_token_limit(document, target.part_tokens, target.counters[name].count))
                for chosen, prompts in self.prompts.items():
                    script = Script(document, parts, self.questions[name], prompts, self.plan.summary_words)
                    target.memory[f"{name}|{chosen}"] = script
        return target.memory

    def dialogues(self, target: Target) -> Iterator[Dialogue]:
        """Return a dialogue for each conversation, the one before it that writes its summary included."""
        return self._list_dialogues(self.spec, target)

    def sample(self, target: Target) -> tuple[Iterator[Dialogue], int]:
        """Return the first repetition: the others only shuffle the questions."""
        return self._list_dialogues(replace(self.spec, repetitions=1), target), self.spec.repetitions

    def _list_dialogues(self, spec: RunSpec, target: Target) -> Iterator[Dialogue]:
        scripts = self.make_scripts(target)
        for conversation in list_conversations(spec, self.questions, target.name):
            prompts = conversation.prompts or self.plan.prompts[0]
            yield self._hold_conversation(conversation, scripts[f"{conversation.document}|{prompts}"], target)

    def _hold_conversation(self, conversation: Conversation, script: Script, target: Target) -> Dialogue:
        """Hold one conversation from its introduction to its last question."""
        if all(target.is_done(conversation.key(question)) for question in conversation.order):
            return
        # What was begun goes on as it began, even if tokens are counted, and parts cut, in another way by now.
        opening = target.opening_messages(conversation.id)
        if opening is None:
            summary = (
                (yield from self._request_summary(conversation, script, target)) if conversation.needs_summary else ""
            )
            steps = script.introduction(conversation.initialization, summary)
            opening = yield from self._introduce_document(conversation, steps)
        questions = [
            (turn, question, script.question(question, conversation.wording))
            for turn, question in enumerate(conversation.order, 1)
        ]
        if self.plan.conversation == "independent":
            yield tuple(
                self._ask_call(self._make_call(conversation, question, (*opening, message), turn=turn))
                for turn, question, message in questions
                if not target.is_done(conversation.key(question))
            )
            return
        messages = [*opening]
        for turn, question, message in questions:
            messages.append(message)
            reply = yield self._make_call(conversation, question, tuple(messages), turn=turn)
            messages.append(Message("assistant", reply or self._no_answer_sentence(conversation), "answer"))

    def _no_answer_sentence(self, conversation: Conversation) -> str:
        return language_from_name(conversation.prompts or self.plan.prompts[0]).no_answer

    def _ask_call(self, call: Call) -> Dialogue:
        yield call

    def _request_summary(self, conversation: Conversation, script: Script, target: Target) -> Generator[Call, str, str]:
        """Return the summary that a conversation starts from, written in a conversation of its own."""
        messages = target.opening_messages(conversation.key(SUMMARY))
        if messages is None:
            steps = script.summary_introduction(conversation.initialization)
            messages = yield from self._introduce_document(conversation, steps, "summary ")
        request = (*messages, script.summary_request(conversation.initialization))
        turn = sum(message.role == "user" for message in request)
        call = self._make_call(conversation, SUMMARY, request, "summary", turn)
        return (yield dataclasses.replace(call, words=self.plan.summary_words)) or self._no_answer_sentence(
            conversation
        )

    def _introduce_document(
        self, conversation: Conversation, steps: Sequence[Step], prefix: str = ""
    ) -> Generator[Call, str, list[Message]]:
        """Return the messages of an introduction; with `acknowledge`, each acknowledgement is the system's own."""
        if not self.plan.acknowledge:
            return list_introduction_messages(steps)
        messages: list[Message] = []
        for turn, step in enumerate(steps, 1):
            messages.append(step.message)
            name = f"({prefix}{step.name.strip('()')})"
            call = self._make_call(conversation, name, tuple(messages), "acknowledgement", turn)
            reply = yield dataclasses.replace(call, placeholder_reply=step.acknowledgement.content)
            messages.append(Message("assistant", reply or self._no_answer_sentence(conversation), "acknowledgement"))
        return messages

    def _make_call(
        self,
        conversation: Conversation,
        question: str,
        messages: Sequence[Message],
        kind: RecordKind = "answer",
        turn: int = 1,
    ) -> Call:
        return Call(
            conversation.coordinates(question),
            messages,
            kind,
            # A step towards the summary, and the summary, are in the conversation that writes it.
            conversation.key(SUMMARY) if question.startswith(SUMMARY[:-1]) else conversation.id,
            self.plan.conversation,
            conversation.order,
            turn,
            self.digests.documents[conversation.document],
            independent_of_reply=kind != "summary",
        )
