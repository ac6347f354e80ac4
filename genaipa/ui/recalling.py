"""The analyst's own past on the Score page: their last answers, to go back to, and their notes, to be written again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from genaipa.errors import GenaipaError
from genaipa.scoring.rubric import shown

if TYPE_CHECKING:
    from genaipa.scoring.events import Event
    from genaipa.ui.desk import Desk

_LAST = 10
"""Answers that one can go back to from the list."""
_AMONG = 200
"""Last scores whose notes can be completed."""
_BEGINNING = 120
"""Characters of an answer by which it is known again."""
_NOTES = 20
_LONGEST = 200
"""Characters of a note that is worth repeating."""


def recalled(desk: Desk, analyst: str) -> dict[str, Any]:
    """This analyst's last answers and different notes, the last first, for the pad; nothing of anybody else's."""
    scores = desk.queue.history(analyst).scores
    notes = dict.fromkeys(" ".join(score.note.split()) for score in reversed(scores[-_AMONG:]))
    return {
        "answers": [_row(desk, score) for score in reversed(scores[-_LAST:])],
        "notes": [note for note in notes if 0 < len(note) <= _LONGEST][:_NOTES],
    }


def _row(desk: Desk, score: Event) -> dict[str, Any]:
    assert score.values is not None, "a score has values"
    question, begins = words_of(desk, score.answer)
    return {
        "answer": score.answer,
        "question": question,
        "begins": begins,
        "document": desk.pool.answers[score.answer].document,
        "values": " ".join(map(shown, score.values.values())),
        "note": score.note,
        "time": score.time,
    }


@st.cache_data(max_entries=2048, show_spinner=False)
def words_of(_desk: Desk, digest: str) -> tuple[str, str]:
    """The question of an answer, and how the answer on screen begins; the question's id where it can't be read."""
    try:
        case = _desk.pool.case(digest)
    except GenaipaError:
        return _desk.pool.answers[digest].question, ""
    reply = case.masked_reply() if _desk.queue.plan.blind else case.reply
    return case.asked, " ".join(reply[: 2 * _BEGINNING].split())[:_BEGINNING]
