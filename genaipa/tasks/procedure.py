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
from genaipa.files.text import read_text, sha256_of
from genaipa.languages.catalog import language_of_prompt_set_or_english
from genaipa.policies.corpus import LAYER
from genaipa.policies.document import load_document, split_by_token_limit
from genaipa.questions.annotations import find_annotation_file, map_annotated_digests_to_names
from genaipa.questions.sets import FOLLOW_UP, WORDINGS, QuestionSet, Wording, follow_up_id, load_question_set
from genaipa.runs.documents import encode_documents_as_corpus_lines
from genaipa.runs.procedure import (
    Initialization,
    ProcedurePlan,
    RecordCoordinates,
    assert_procedure_run_and_get_plan,
    conversation_id,
)
from genaipa.runs.records import DOCUMENTS, Digests, DocumentFacts, RunSpec, answer_digest
from genaipa.systems.base import Message
from genaipa.tasks.base import Call, Task
from genaipa.tasks.prompts import IntroductionStep, Script, list_messages_and_acknowledgements, load_prompts

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

    def answer_key(self, question_id: str) -> str:
        """Return the key of an answer (or step) of the conversation; the repetition is part of it."""
        return f"{self.id}|{question_id}"

    def coordinates_without_system(self, question_id: str) -> dict[str, str]:
        """Return the coordinates of an answer (or step) among the others of its system."""
        values = self.document, self.initialization, self.wording, self.repetition, self.prompts, question_id
        return RecordCoordinates(*values).as_dict_without_empty_values()

    @property
    def needs_summary(self) -> bool:
        """Whether a conversation before this one has to write the summary that it starts from."""
        return self.initialization in ("summary-by-name", "summary-of-document")


def shuffle_question_ids(seed: int, document: str, repetition: int, ids: Sequence[str]) -> tuple[str, ...]:
    """Return Q' of Algorithm 1: a pure function of its arguments, so that nothing else in a plan moves it."""
    digest = hashlib.sha256(f"{seed}|{document}|{repetition}".encode()).digest()
    order = sorted(ids)
    random.Random(int.from_bytes(digest[:8], "big")).shuffle(order)  # noqa: S311 - an order, not a secret
    return tuple(order)


def shuffled_question_order_within_limit(
    spec: RunSpec, document: str, repetition: int, questions: QuestionSet
) -> tuple[str, ...]:
    """Return the questions of one repetition as they are asked, cut to the spec's limit."""
    order = shuffle_question_ids(spec.seed, document, repetition, [q.id for q in questions.questions])
    limit = assert_procedure_run_and_get_plan(spec).limit
    if limit is None:
        return order
    first, last = limit
    return order[first - 1 : last]


def iterate_conversations(
    spec: RunSpec, question_set_by_document: dict[str, QuestionSet], system: str
) -> Iterator[Conversation]:
    """List every conversation with one system, in Algorithm 1's order within a document and repetition."""
    plan = assert_procedure_run_and_get_plan(spec)
    for document in plan.documents:
        for repetition in range(1, spec.repetitions + 1):
            order = shuffled_question_order_within_limit(spec, document, repetition, question_set_by_document[document])
            for initialization in plan.initializations:
                for wording in plan.wordings:
                    for prompts in plan.prompts if len(plan.prompts) > 1 else ("",):
                        yield Conversation(system, document, initialization, wording, repetition, order, prompts)


def map_document_repetitions_to_orders(
    spec: RunSpec, question_set_by_document: dict[str, QuestionSet]
) -> dict[str, tuple[str, ...]]:
    """Return `document|repetition` → the order in which its questions are asked."""
    return {
        f"{document}|{repetition}": shuffled_question_order_within_limit(
            spec, document, repetition, question_set_by_document[document]
        )
        for document in assert_procedure_run_and_get_plan(spec).documents
        for repetition in range(1, spec.repetitions + 1)
    }


def check_limit_leaves_any_question(spec: RunSpec, question_set_by_document: dict[str, QuestionSet]) -> None:
    """Raise a UsageError if the limit leaves none of the questions about a document."""
    limit = assert_procedure_run_and_get_plan(spec).limit
    for document, question_set in question_set_by_document.items():
        if limit is not None and limit[0] > (available := len(question_set.questions)):
            raise OptionError(
                "limit",
                f" {'-'.join(map(str, limit))}: there are only {available} questions about {document}; begin with one "
                "of these.",
            )


def check_questions_have_wordings(spec: RunSpec, question_set_by_document: dict[str, QuestionSet]) -> None:
    """Raise a UsageError if a wording is asked for that a question does not have."""
    needed = max(WORDINGS.index(wording) for wording in assert_procedure_run_and_get_plan(spec).wordings)
    for question_set in {q.name: q for q in question_set_by_document.values()}.values():
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
        follow_up = self.plan.follow_up
        self._asked_sets = {
            name: question_set.with_follow_up_questions(follow_up) if follow_up else question_set
            for name, question_set in self._sets.items()
        }
        self._set_texts = {
            name: format_yaml(self._asked_sets[name])
            if follow_up
            else read_text(workspace.nearest_files("questions")[name][1])
            for name in sets
        }
        self.prompts = {name: load_prompts(workspace, name) for name in self.plan.prompts}
        self._texts = map_annotated_digests_to_names(workspace) if workspace.held else None
        self.documents = {name: load_document(name, workspace) for name in self.plan.documents}
        self.questions = {document: self._sets[name] for document, name in self.plan.questions.items()}
        self._annotation_files, self._notes = self._collect_annotation_files_and_notes()
        check_questions_have_wordings(spec, self.questions)
        check_limit_leaves_any_question(spec, self.questions)

    @property
    def plan(self) -> ProcedurePlan:
        """The plan of the run."""
        return assert_procedure_run_and_get_plan(self.spec)

    @property
    def part_tokens(self) -> int | None:
        """As the plan has it."""
        return self.plan.part_tokens

    @property
    def _is_corpus_run(self) -> bool:
        """Whether the documents are of a corpus, which is kept in one file."""
        return any(document.layer == LAYER for document in self.documents.values())

    def _collect_annotation_files_and_notes(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return document → the file of its annotated answers to the questions asked, and remarks on them."""
        files, notes = {}, []
        for name, document in self.documents.items():
            annotation_file = find_annotation_file(self.workspace, document, self._texts)
            if annotation_file is None:
                continue
            asked_set = self._asked_sets[self.plan.questions[name]]
            usable = annotation_file.usable_annotations(asked_set, document.company)
            if usable.answers and self._is_corpus_run:
                files[name] = format_yaml(replace(usable, document=name, digest=document.digest))
            elif usable.answers:
                files[name] = (
                    read_text(annotation_file.path) if usable is annotation_file.annotations else format_yaml(usable)
                )
            if notice := annotation_file.unused_answers_notice_or_empty(asked_set, document.company):
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
            for name, text in prompts.template_texts.items()
        }

    @cached_property
    def digests(self) -> Digests:
        """SHA-256 of every prompt, document, question set and file of annotated answers."""
        return Digests(
            prompts={name: sha256_of(text) for name, text in self._template_texts.items()},
            documents={name: document.digest for name, document in self.documents.items()},
            questions={name: sha256_of(text) for name, text in self._set_texts.items()},
            annotations={name: sha256_of(text) for name, text in self._annotation_files.items()},
        )

    @property
    def facts(self) -> dict[str, DocumentFacts]:
        """The documents as the manifest describes them."""
        return {name: DocumentFacts.from_document(document) for name, document in self.documents.items()}

    @cached_property
    def question_orders(self) -> dict[str, tuple[str, ...]]:
        """`document|repetition` → the order in which its questions are asked."""
        return map_document_repetitions_to_orders(self.spec, self.questions)

    @property
    def texts_for_run_folder(self) -> dict[str, str]:
        """Every text that the messages are made of, and the annotated answers."""
        every = self.documents.values()
        if self._is_corpus_run:
            sources = {DOCUMENTS: encode_documents_as_corpus_lines(every)}
        else:
            sources = {f"documents/{document.digest}.txt": document.text for document in every}
        sources |= {f"prompts/{name}.jinja": text for name, text in self._template_texts.items()}
        sources |= {f"questions/{name}.yaml": text for name, text in self._set_texts.items()}
        return sources | {f"annotations/{name}.yaml": text for name, text in self._annotation_files.items()}

    @property
    def long_request_texts_by_name(self) -> dict[str, str]:
        """The documents' texts."""
        return {name: document.text for name, document in self.documents.items()}

    @property
    def shows_documents(self) -> bool:
        """Whether any of its initializations shows the document."""
        return not {"document", "summary-of-document"}.isdisjoint(self.plan.initializations)

    def find_text_language(self, text_name: str) -> str:
        """Return the language of a document."""
        return self.documents[text_name].language if text_name in self.documents else ""

    def make_scripts_by_document_and_prompts(self, target: Target) -> dict[str, Script]:
        """Return `document|set of prompts` → its script, the text in parts that suit the system; made once for each."""
        if not target.memory:
            for name, document in self.documents.items():
                parts = tuple(split_by_token_limit(document, target.part_tokens, target.counters[name].count))
                for chosen, prompts in self.prompts.items():
                    asked_set = self._asked_sets[self.plan.questions[name]]
                    script = Script(document, parts, asked_set, prompts, self.plan.summary_words)
                    target.memory[f"{name}|{chosen}"] = script
        return target.memory

    def dialogues(self, target: Target) -> Iterator[Dialogue]:
        """Return a dialogue for each conversation, the one before it that writes its summary included."""
        return self._iterate_dialogues(self.spec, target)

    def estimation_dialogues_and_scale_to_run(self, target: Target) -> tuple[Iterator[Dialogue], int]:
        """Return the first repetition: the others only shuffle the questions."""
        return self._iterate_dialogues(replace(self.spec, repetitions=1), target), self.spec.repetitions

    def _iterate_dialogues(self, spec: RunSpec, target: Target) -> Iterator[Dialogue]:
        scripts = self.make_scripts_by_document_and_prompts(target)
        for conversation in iterate_conversations(spec, self.questions, target.name):
            prompts = conversation.prompts or self.plan.prompts[0]
            yield self._hold_conversation(conversation, scripts[f"{conversation.document}|{prompts}"], target)

    def _hold_conversation(self, conversation: Conversation, script: Script, target: Target) -> Dialogue:
        """Hold one conversation from its introduction to its last question."""
        if all(
            self._is_question_with_follow_up_done(conversation, question, target) for question in conversation.order
        ):
            return
        # What was begun goes on as it began, even if tokens are counted, and parts cut, in another way by now.
        opening = target.opening_messages(conversation.id)
        if opening is None:
            summary = (
                (yield from self._request_summary(conversation, script, target)) if conversation.needs_summary else ""
            )
            steps = script.introduction_steps(conversation.initialization, summary)
            opening = yield from self._introduce_document(conversation, steps)
        questions = [
            (turn, question, script.question_message(question, conversation.wording))
            for turn, question in enumerate(conversation.order, 1)
        ]
        if self.plan.conversation == "independent":
            yield tuple(
                self._ask_question(
                    conversation,
                    self._make_call(conversation, question, (*opening, message), turn=turn),
                    script,
                    target,
                )
                for turn, question, message in questions
                if not self._is_question_with_follow_up_done(conversation, question, target)
            )
            return
        messages = [*opening]
        for turn, question, message in questions:
            messages.append(message)
            call = self._make_call(conversation, question, tuple(messages), turn=turn)
            reply = yield call
            if not self._is_follow_up_done_or_unneeded(conversation, question, target):
                # In a branch: the next question is asked as if there were no follow-up, whatever becomes of this one.
                yield (self._ask_follow_up_question(conversation, call, reply, script),)
            messages.append(Message("assistant", reply or self._placeholder_for_empty_reply(conversation), "answer"))

    def _is_question_with_follow_up_done(self, conversation: Conversation, question_id: str, target: Target) -> bool:
        """Tell whether the answer to a question is in, and that to its follow-up."""
        return target.is_done(conversation.answer_key(question_id)) and self._is_follow_up_done_or_unneeded(
            conversation, question_id, target
        )

    def _is_follow_up_done_or_unneeded(self, conversation: Conversation, question_id: str, target: Target) -> bool:
        """Tell whether nothing follows up on a question, or the answer to its follow-up is in."""
        follow_up = self._follow_up_branch_or_none(conversation)
        return follow_up is None or target.is_done(follow_up.answer_key(follow_up_id(question_id)))

    def _follow_up_branch_or_none(self, conversation: Conversation) -> Conversation | None:
        """Return the coordinates of the follow-ups to a conversation: only answers to the first wording have some."""
        if not self.plan.follow_up or conversation.wording != self.plan.wordings[0]:
            return None
        return dataclasses.replace(conversation, wording=FOLLOW_UP)

    def _ask_follow_up_question(self, conversation: Conversation, call: Call, reply: str, script: Script) -> Dialogue:
        """Ask the follow-up to the question of a call, after its reply."""
        question = follow_up_id(call.coordinates["question"])
        branch = dataclasses.replace(conversation, wording=FOLLOW_UP)
        yield call.follow_up(
            reply or self._placeholder_for_empty_reply(conversation),
            script.question_message(question, FOLLOW_UP),
            coordinates=branch.coordinates_without_system(question),
            after=answer_digest(call.digest, call.messages[-1].content, reply),
        )

    def _placeholder_for_empty_reply(self, conversation: Conversation) -> str:
        return language_of_prompt_set_or_english(conversation.prompts or self.plan.prompts[0]).no_answer

    def _ask_question(self, conversation: Conversation, call: Call, script: Script, target: Target) -> Dialogue:
        """Ask a question by itself, and its follow-up if there is one."""
        reply = yield call
        if not self._is_follow_up_done_or_unneeded(conversation, call.coordinates["question"], target):
            yield from self._ask_follow_up_question(conversation, call, reply, script)

    def _request_summary(self, conversation: Conversation, script: Script, target: Target) -> Generator[Call, str, str]:
        """Return the summary that a conversation starts from, written in a conversation of its own."""
        messages = target.opening_messages(conversation.answer_key(SUMMARY))
        if messages is None:
            steps = script.steps_before_summary_request(conversation.initialization)
            messages = yield from self._introduce_document(conversation, steps, "summary ")
        request = (*messages, script.summary_request_message(conversation.initialization))
        turn = sum(message.role == "user" for message in request)
        call = self._make_call(conversation, SUMMARY, request, "summary", turn)
        return (yield dataclasses.replace(call, words=self.plan.summary_words)) or self._placeholder_for_empty_reply(
            conversation
        )

    def _introduce_document(
        self, conversation: Conversation, steps: Sequence[IntroductionStep], step_prefix: str = ""
    ) -> Generator[Call, str, list[Message]]:
        """Return the messages of an introduction; with the system's own replies if the plan says so."""
        if not self.plan.acknowledge:
            return list_messages_and_acknowledgements(steps)
        messages: list[Message] = []
        for turn, step in enumerate(steps, 1):
            messages.append(step.message)
            name = f"({step_prefix}{step.name.strip('()')})"
            call = self._make_call(conversation, name, tuple(messages), "acknowledgement", turn)
            reply = yield dataclasses.replace(call, placeholder_reply=step.acknowledgement.content)
            messages.append(
                Message("assistant", reply or self._placeholder_for_empty_reply(conversation), "acknowledgement")
            )
        return messages

    def _make_call(
        self,
        conversation: Conversation,
        question_or_step: str,
        messages: Sequence[Message],
        kind: RecordKind = "answer",
        turn: int = 1,
    ) -> Call:
        return Call(
            conversation.coordinates_without_system(question_or_step),
            messages,
            kind,
            # A step towards the summary, and the summary, are in the conversation that writes it.
            conversation.answer_key(SUMMARY) if question_or_step.startswith(SUMMARY[:-1]) else conversation.id,
            self.plan.conversation,
            conversation.order,
            turn,
            self.digests.documents[conversation.document],
            independent_of_reply=kind != "summary",
        )
