"""The form of the page By hand on which people write: the document, a question, a clock, and a box for the answer.

It shows no annotated answer, no evidence, no answer of anybody else and no score.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import streamlit as st

from genaipa.runs.inputs import RunDocumentsAndQuestions
from genaipa.ui.pages.manual import save_reply
from genaipa.ui.widgets import TitledText, show_notice, show_texts
from genaipa.words import format_count
from genaipa_people.handout import (
    OpenQuestion,
    list_open_questions,
    load_reply_draft_or_empty,
    reserve_next_question,
    save_reply_draft_and_reserve_question,
)

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

    from genaipa.execution.manual import ManualRun
    from genaipa.scoring.people import User
    from genaipa.ui.desk import Desk
    from genaipa.ui.pages.manual import SavedReply

KEY = "people form"
_OUTCOME, _LOST = "people outcome", "people lost text"
"""Keys in the session's state: what became of the last answer, and the text of one that came second."""
_LONGEST_DAY = 24 * 3600.0
"""Seconds that an answer may take: a clock that says more is wrong."""


def reserve_question_and_show_form(desk: Desk, user: User, manual: ManualRun, system: str) -> None:
    """Show the question that this user answers now, and take their answer."""
    outcome: SavedReply | None = st.session_state.pop(_OUTCOME, None)
    if outcome is not None:
        show_notice("people outcome", outcome.sentence, outcome.tone)
    if lost := st.session_state.get(_LOST):
        show_texts("people lost", [TitledText(lost, "Your text", copies=True)])
    questions = list_open_questions(manual, system)
    question = reserve_next_question(desk, user, questions)
    if question is None:
        show_notice(
            "people none",
            f"{format_count(len(questions), 'question')} of {system} {'is' if len(questions) == 1 else 'are'} left: "
            "others have them on screen, or you have scored answers to them and so have seen the annotated answer.",
        )
        return
    draft = load_reply_draft_or_empty(desk, user, question)
    data = {
        "id": question.draft_id,
        "question": question.call.messages[-1].content,
        **_make_document_or_instructions_data(desk, manual, question),
        "text": draft.note,
        "seconds": draft.seconds,
        "left": f"{format_count(len(questions), 'question')} left",
    }
    _load_form_component()(
        key=KEY,
        data=data,
        on_draft_change=lambda: _save_typed_reply_draft(desk, user),
        on_kept_change=lambda: _save_typed_reply(desk, user, manual, question),
    )


def _make_document_or_instructions_data(desk: Desk, manual: ManualRun, question: OpenQuestion) -> dict[str, Any]:
    """Make what the question is asked about: the document where systems are sent it, else what they are sent."""
    if question.is_system_sent_document_parts:
        document = RunDocumentsAndQuestions(desk.workspace, manual.folder).document(
            question.call.coordinates["document"]
        )
        instructions = [message.content for message in question.sheet.introduction if message.purpose != "part"]
        title = document.about.title or document.company
        return {"title": title, "source": document.text, "told": "\n\n".join(instructions)}
    return {"title": "", "source": "\n\n".join(message.content for message in question.sheet.introduction), "told": ""}


@cache
def _load_form_component() -> ComponentRenderer:
    from streamlit.components import v2

    parts = (files("genaipa.ui") / "components", "elements"), (files(__package__), "form")
    script, style = (
        "".join((folder / f"{name}.{ending}").read_text("utf-8") for folder, name in parts) for ending in ("js", "css")
    )
    return v2.component("genaipa_people_form", html='<div class="form"></div>', css=style, js=script)


def _read_draft_id_text_and_seconds(browser_event_name: str) -> tuple[str, str, float] | None:
    """Read what the browser tells: the question, the text, and the seconds that it was on screen; None if nothing."""
    message = st.session_state[KEY].get(browser_event_name)
    if not message:
        return None
    return str(message["id"]), str(message["text"]), min(max(float(message["seconds"]), 0.0), _LONGEST_DAY)


def _save_typed_reply_draft(desk: Desk, user: User) -> None:
    if typing := _read_draft_id_text_and_seconds("draft"):
        save_reply_draft_and_reserve_question(desk, user, *typing)


def _save_typed_reply(desk: Desk, user: User, manual: ManualRun, question: OpenQuestion) -> None:
    typing = _read_draft_id_text_and_seconds("kept")
    if typing is None or typing[0] != question.draft_id:
        return
    draft_id, text, seconds = typing
    # Whatever becomes of it, the text is on disk before.
    save_reply_draft_and_reserve_question(desk, user, draft_id, text, seconds)
    name = (question.key, question.call.label)
    saved = save_reply(
        desk.workspace, manual.folder, name, text.strip(), author=user.name, writing_seconds=round(seconds, 1)
    )
    st.session_state[_OUTCOME] = saved
    st.session_state[_LOST] = text if saved.replaced else ""
    if saved.tone == "done":
        desk.store.discard_draft(user.name, draft_id, "reply")
