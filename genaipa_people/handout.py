"""Which question a writer gets next, and what of theirs is kept until they have answered it.

A question is held for whoever has it on screen, by the store's reservations and drafts, as an answer is for an analyst.
Whoever has scored answers to a question about a document, or has one on screen to score, has seen the annotated answer:
they are not asked it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from genaipa.scoring.events import Draft

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.execution.manual import ChatSheet, ManualRun
    from genaipa.scoring.people import User
    from genaipa.tasks.base import Call
    from genaipa.ui.desk import Desk


@dataclass(frozen=True)
class OpenQuestion:
    """A question that nobody has answered yet, with the chat that introduces it."""

    run: str
    key: str
    call: Call
    sheet: ChatSheet

    @property
    def draft_id(self) -> str:
        """What stands for an answer's digest in the store as long as there is no answer."""
        return f"{self.run}|{self.key}"

    @property
    def is_system_sent_document_parts(self) -> bool:
        """Whether a system is sent the document, part by part."""
        return any(message.purpose == "part" for message in self.call.messages)


def list_open_questions(manual: ManualRun, system: str) -> list[OpenQuestion]:
    """List the unanswered questions of a system in the order of the plan."""
    return [
        OpenQuestion(manual.folder.name, key, sheet.calls[key], sheet)
        for sheet, key in manual.sheets_and_keys_missing_replies()
        if sheet.system == system
    ]


def reserve_next_question(desk: Desk, user: User, questions: Iterable[OpenQuestion]) -> OpenQuestion | None:
    """Return the question that this writer answers now, held for them: one that they have begun, else the next.

    None where others hold all that are left for them.
    """
    open_questions = {question.draft_id: question for question in questions}
    begun = [draft.answer for draft in desk.store.load_drafts_of_analyst(user.name) if draft.kind == "reply"]
    for draft_id in begun:
        if draft_id in open_questions:
            _reserve_question(desk, user, draft_id)
            return open_questions[draft_id]
    _save_empty_drafts_of_reserved_answers(desk, user)
    seen_questions = _find_questions_with_seen_annotations(desk, user)
    for draft_id, question in open_questions.items():
        about = (question.call.digest, question.call.coordinates.get("question", ""))
        if about not in seen_questions and _reserve_question(desk, user, draft_id):
            return question
    return None


def load_reply_draft_or_empty(desk: Desk, user: User, question: OpenQuestion) -> Draft:
    """Load what a writer has of an answer so far."""
    return desk.store.load_draft(user.name, question.draft_id, "reply") or Draft(user.name, question.draft_id, "reply")


def save_reply_draft_and_reserve_question(desk: Desk, user: User, draft_id: str, text: str, seconds: float) -> None:
    """Keep what a writer has of an answer, and hold its question for them."""
    desk.store.save_draft(Draft(user.name, draft_id, "reply", note=text, seconds=seconds))
    _reserve_question(desk, user, draft_id)


def _reserve_question(desk: Desk, user: User, draft_id: str) -> bool:
    return desk.store.reserve_answer(draft_id, user.name, wanted_scores=1, minutes=desk.queue.plan.minutes)


def _save_empty_drafts_of_reserved_answers(desk: Desk, user: User) -> None:
    """Make the answer that a writer has on screen to score one that they have begun: its question stays known."""
    for answer, names in desk.store.reservations_by_answer().items():
        if user.name in names and answer in desk.pool.answers and desk.store.load_draft(user.name, answer) is None:
            desk.store.save_draft(Draft(user.name, answer, "score"))


def _find_questions_with_seen_annotations(desk: Desk, user: User) -> set[tuple[str, str]]:
    """Return the questions (a document's digest, a question's id) whose annotated answers this writer has seen."""
    digests = chain(
        (score.answer for score in desk.queue.current_scores_and_pace(user.name).scores),
        (draft.answer for draft in desk.store.load_drafts_of_analyst(user.name) if draft.kind != "reply"),
        desk.current.answers_with_seen_scores(user.name),
        desk.current.answers_with_seen_system(user.name),
        desk.current.last_skip_event_number_by_answer(user.name),
    )
    answers = (desk.pool.answers.get(digest) for digest in digests)
    return {(answer.document_digest, answer.question) for answer in answers if answer is not None}
