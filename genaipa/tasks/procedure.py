"""Algorithm 1 (paper, Appendix A): who is introduced to what, how, and asked what in which order.

Pure functions of the spec and the data: nothing here talks to a system or writes a file.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from genaipa.errors import UsageError
from genaipa.policies.document import DocumentKind
from genaipa.questions.sets import WORDINGS, QuestionSet, Wording
from genaipa.runs.records import INITIALIZATIONS, Initialization, RunSpec
from genaipa.systems.base import Message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.policies.document import Document
    from genaipa.tasks.prompts import Prompts

SUMMARY = "(summary)"
"""The step, in place of a question, under which a summary is kept."""


@dataclass(frozen=True)
class Experiment:
    """A preset: one of the paper's experiments (section 6, Appendix B)."""

    purpose: str
    initializations: tuple[Initialization, ...]
    wordings: tuple[Wording, ...] = ("original",)
    kind: DocumentKind | None = None


EXPERIMENTS: dict[str, Experiment] = {
    "quality": Experiment("answers about a document that was shown (paper, 6.1)", ("document",)),
    "robustness": Experiment("the same, asked in three other wordings (6.2)", ("document",), WORDINGS[1:]),
    "recall": Experiment("answers from what was learnt in training (6.3)", ("company-name",)),
    "regulation": Experiment(
        "the six questions on a regulation, by its name (6.4)", ("company-name",), kind="regulation"
    ),
    "summary": Experiment("answers from the system's own summary of the document (B.1)", ("summary-of-document",)),
    "procedure": Experiment("all four initializations (Algorithm 1)", INITIALIZATIONS),
}
DEFAULT_EXPERIMENT = "procedure"


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

    @cached_property
    def id(self) -> str:
        """Names the conversation in records and folders."""
        return f"{self.system}|{self.document}|{self.initialization}|{self.wording}|{self.repetition}"

    def key(self, question: str) -> str:
        """Names one answer (or step) of the conversation; the repetition is part of it."""
        return f"{self.id}|{question}"

    def holding(self, question: str) -> str:
        """Names the conversation in which a question or step stands: this one, or the one that writes its summary."""
        return self.key(SUMMARY) if question.startswith(SUMMARY[:-1]) else self.id

    @property
    def summarizes(self) -> bool:
        """Whether a conversation before this one has to write the summary that it starts from."""
        return self.initialization in ("summary-by-name", "summary-of-document")


@dataclass(frozen=True)
class Step:
    """A message of an introduction and the acknowledgement that stands for the system's reply to it."""

    name: str
    message: Message
    acknowledgement: Message


def shuffled(seed: int, document: str, repetition: int, ids: Sequence[str]) -> tuple[str, ...]:
    """Q' of Algorithm 1: a pure function of its arguments, so that nothing else in a plan moves it."""
    digest = hashlib.sha256(f"{seed}|{document}|{repetition}".encode()).digest()
    order = sorted(ids)
    random.Random(int.from_bytes(digest[:8], "big")).shuffle(order)  # noqa: S311 - a shuffle, not a secret
    return tuple(order)


def order_of(spec: RunSpec, document: str, repetition: int, questions: QuestionSet) -> tuple[str, ...]:
    """The questions of one repetition as they are asked, cut to the spec's limit."""
    order = shuffled(spec.seed, document, repetition, [q.id for q in questions.questions])
    if spec.limit is None:
        return order
    first, last = spec.limit
    return order[first - 1 : last]


def plan(spec: RunSpec, questions: dict[str, QuestionSet], system: str) -> Iterator[Conversation]:
    """Every conversation with one system, in Algorithm 1's order within a document and repetition."""
    for document in spec.documents:
        for repetition in range(1, spec.repetitions + 1):
            order = order_of(spec, document, repetition, questions[document])
            for initialization in spec.initializations:
                for wording in spec.wordings:
                    yield Conversation(system, document, initialization, wording, repetition, order)


def orders(spec: RunSpec, questions: dict[str, QuestionSet]) -> dict[str, tuple[str, ...]]:
    """`document|repetition` → the order in which its questions are asked."""
    return {
        f"{document}|{repetition}": order_of(spec, document, repetition, questions[document])
        for document in spec.documents
        for repetition in range(1, spec.repetitions + 1)
    }


def check_wordings(spec: RunSpec, questions: dict[str, QuestionSet]) -> None:
    """A UsageError if a wording is asked for that a question does not have."""
    needed = max(WORDINGS.index(wording) for wording in spec.wordings)
    for question_set in {q.name: q for q in questions.values()}.values():
        for question in question_set.questions:
            if len(question.paraphrases) < needed:
                raise UsageError(
                    f"question {question.id} of the set '{question_set.name}' has {len(question.paraphrases)} "
                    f"paraphrases, so it can't be asked as {WORDINGS[needed]}; add one, or choose another --wording."
                )


@dataclass(frozen=True)
class Script:
    """The messages for one document, cut into the parts that suit one system.

    Messages are made once and shared by all conversations, so that a long document is held and encoded once.
    """

    document: Document
    parts: tuple[str, ...]
    questions: QuestionSet
    prompts: Prompts
    summary_words: int = 400

    @cached_property
    def _about(self) -> dict[str, object]:
        what = self.document.about.title
        subject = f"the privacy policy of {self.document.company}"
        if self.document.kind == "regulation":
            subject = f"the {what} ({self.document.company})" if what else f"the {self.document.company}"
        return {"company": self.document.company, "subject": subject}

    def _say(self, template: str, **variables: object) -> str:
        return self.prompts.render(template, **self._about, **variables)

    def _step(self, name: str, message: Message, part: int = 0) -> Step:
        said = self._say("acknowledgement", part=part, parts=len(self.parts))
        return Step(name, message, Message("assistant", said, "acknowledgement"))

    @cached_property
    def _company_steps(self) -> tuple[Step, ...]:
        return (self._step("(introduction)", Message("user", self._say("introduce-company"), "introduction")),)

    @cached_property
    def _document_steps(self) -> tuple[Step, ...]:
        total = len(self.parts)
        announcement = Message("user", self._say("introduce-document", parts=total), "introduction")
        steps = [self._step("(introduction)", announcement)]
        for number, text in enumerate(self.parts, 1):
            said = self._say("part", part=number, parts=total, text=text)
            message = Message("user", said, "part", carries=text, breakpoint=number == total)
            steps.append(self._step(f"(part {number})", message, number))
        return tuple(steps)

    def introduction(self, initialization: Initialization, summary: str = "") -> tuple[Step, ...]:
        """How a conversation that will be questioned begins; `summary` for the two initializations that need one."""
        if initialization == "company-name":
            return self._company_steps
        if initialization == "document":
            return self._document_steps
        said = self._say("introduce-summary", text=summary)
        message = Message("user", said, "introduction", carries=summary, breakpoint=True)
        return (self._step("(introduction)", message),)

    def summary_introduction(self, initialization: Initialization) -> tuple[Step, ...]:
        """How the conversation that writes the summary begins."""
        return self._document_steps if initialization == "summary-of-document" else ()

    @cached_property
    def _summary_requests(self) -> dict[str, Message]:
        return {
            initialization: Message("user", self._say(template, words=self.summary_words), "summary-request")
            for initialization, template in (
                ("summary-by-name", "summarize-by-name"),
                ("summary-of-document", "summarize-document"),
            )
        }

    def summary_request(self, initialization: Initialization) -> Message:
        """The message that asks for the summary."""
        return self._summary_requests[initialization]

    @cached_property
    def _questions(self) -> dict[tuple[str, str], Message]:
        return {}

    def question(self, question_id: str, wording: Wording) -> Message:
        """One question in one wording."""
        message = self._questions.get((question_id, wording))
        if message is None:
            asked = self.questions.asked(question_id, wording, self.document.company)
            said = self._say("question", question=asked, question_id=question_id)
            message = self._questions[question_id, wording] = Message("user", said, carries=asked)
        return message


def opening(steps: Sequence[Step]) -> list[Message]:
    """An introduction with its acknowledgements put in without a call."""
    return [message for step in steps for message in (step.message, step.acknowledgement)]
