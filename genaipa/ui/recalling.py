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
    return {
        "answer": score.answer,
        "question": _asked(desk, score.answer),
        "document": desk.pool.answers[score.answer].document,
        "values": " ".join(map(shown, score.values.values())),
        "note": score.note,
        "time": score.time,
    }


@st.cache_data(max_entries=2048, show_spinner=False)
def _asked(_desk: Desk, digest: str) -> str:
    """The question of an answer; its id where the answer can no longer be read."""
    try:
        return _desk.pool.case(digest).asked
    except GenaipaError:
        return _desk.pool.answers[digest].question
