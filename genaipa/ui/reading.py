"""An answer as several pages show it to be read: its case, the annotated answer, and everyone's scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from genaipa.errors import GenaipaError
from genaipa.scoring.rubric import shown
from genaipa.ui.widgets import FOLD, Row, Text, numbers, table

if TYPE_CHECKING:
    from genaipa.scoring.answers import Case, PooledAnswer
    from genaipa.scoring.events import Event
    from genaipa.scoring.people import User
    from genaipa.ui.desk import Desk


def case_of(desk: Desk, digest: str) -> Case:
    """The case of an answer of the pool; one that can't be read is set aside, and the page drawn again without it."""
    try:
        return desk.pool.case(digest)
    except GenaipaError as error:
        desk.set_aside(digest, error)
        st.rerun()


def asked_of(case: Case, digest: str) -> Text:
    """The question, under the name of the document; it comes into view when it arrives."""
    return Text(case.asked, "Asked", case.document.about.title or case.document.company, "asked", arrives=digest)


def annotated_of(case: Case) -> list[Text]:
    """The annotated answer; empty without one."""
    if not case.annotated:
        return []
    return [Text(case.annotated.answer, "Annotated answer", case.annotated.aside, "good", fold=FOLD)]


def scores_of(desk: Desk, user: User, answer: PooledAnswer, *, key: str) -> None:
    """Everyone's values side by side, and the notes; seeing others' is recorded as an exposure."""
    given = list(desk.current.scores(answer.digest).values())
    given += filter(None, [desk.current.adjudication(answer.digest)])
    if any(event.analyst != user.name for event in given):
        desk.queue.expose(user.name, [answer.digest], scores=True)
    if not given:
        st.caption("Nobody has scored it yet.")
        return
    heads = ["by", *numbers(*desk.rubric.names.values(), "M_all"), "note"]
    table(key, "Scores of this answer", heads, [_score(desk, event) for event in given])


def _score(desk: Desk, event: Event) -> Row:
    assert event.values is not None, "scores and adjudications have values"
    by = f"{event.analyst}{' (adjudicated)' if event.kind == 'adjudication' else ''}"
    values = map(shown, event.values.values())
    return Row((by, *values, f"{desk.rubric.m_all(event.values):.1f}", event.note))
