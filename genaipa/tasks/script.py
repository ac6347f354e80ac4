"""The messages of Algorithm 1 about one document: introductions, requests for a summary, questions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from genaipa.systems.base import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.policies.document import Document
    from genaipa.questions.sets import QuestionSet, Wording
    from genaipa.runs.records import Initialization
    from genaipa.tasks.prompts import Prompts


@dataclass(frozen=True)
class Step:
    """A message of an introduction and the acknowledgement in place of the system's reply to it."""

    name: str
    message: Message
    acknowledgement: Message


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
        """First messages of a conversation to be questioned; `summary` for the two initializations that need one."""
        if initialization == "company-name":
            return self._company_steps
        if initialization == "document":
            return self._document_steps
        said = self._say("introduce-summary", text=summary)
        message = Message("user", said, "introduction", carries=summary, breakpoint=True)
        return (self._step("(introduction)", message),)

    def summary_introduction(self, initialization: Initialization) -> tuple[Step, ...]:
        """The first messages of the conversation that writes the summary."""
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
