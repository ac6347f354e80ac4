"""Judges page: how good the judges are, for the study's lead, and never of an answer that they could still score.

Its numbers are of 30 answers or more, so that none of them tells how one was scored.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from genaipa.judging.name import Judge
from genaipa.ui.charts import show_chapter
from genaipa.ui.results import view_without_ahead
from genaipa.ui.widgets import Text, noted, notice, page_header, problems, texts

if TYPE_CHECKING:
    from genaipa.scoring.people import User
    from genaipa.ui.desk import Desk
    from genaipa.ui.results import ResultsView


def page(desk: Desk, user: User) -> None:
    """Show what each judge is worth, and the figures and tables that this rests on."""
    page_header("Judges")
    if user.why_no_adjudication:
        st.text(f"{user.why_no_adjudication} This page is for those who adjudicate.")
        return
    desk.pool.refresh()
    desk.current.refresh()
    problems("judges problems", desk.problems(user))
    found = _view(desk, user)
    waiting = found is not None and _left_out(found)
    if found is None or not found.judges.tables:
        if waiting:
            return
        notice("judges none", "No judge has scored an answer here. Begin with: genaipa judge RUN --judge SYSTEM")
        return
    said, *tables = found.judges.tables
    entries = [Text(row["finding"], row["judge"], _counts(row)) for row in said.data.to_dict("records")]
    texts("judges findings", [*entries, noted("", said.note)])
    show_chapter("judges", replace(found.judges, tables=tables), found)


def _view(desk: Desk, user: User) -> ResultsView | None:
    """The answers that this user can't be asked to score any more, with all scores; None without a run or a judge."""
    if not any(map(Judge.parse, desk.current.analysts("machine"))):
        return None
    with st.spinner("Comparing the judges with people …"):
        return view_without_ahead(desk, user)


def _left_out(found: ResultsView) -> bool:
    """Name the answers in no number, since this user can still be asked to score them; whether there are any."""
    number = len(found.left_out)
    if number:
        answers, them = ("1 judged answer is", "it") if number == 1 else (f"{number:,} judged answers are", "them")
        notice("judges left out", f"{answers} in no number here: you can still be asked to score {them}.")
    return bool(number)


def _counts(row: dict[Any, Any]) -> str:
    return f"answers judged: {row['judged']}, of them scored by people: {row['answers']}, passes: {row['passes']}"
