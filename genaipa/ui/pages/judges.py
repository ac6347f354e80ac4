"""Judges page: how good the judges are, for the study's lead, and never of an answer that they could still score.

Its numbers are of 30 answers or more, so that none of them tells how one was scored.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from genaipa.judging.name import Judge
from genaipa.ui.charts import show_chapter
from genaipa.ui.results import make_results_view_user_may_see
from genaipa.ui.widgets import (
    TitledText,
    make_note_folded_to_first_sentence,
    show_first_problems,
    show_notice,
    show_page_header,
    show_texts,
)

if TYPE_CHECKING:
    from genaipa.scoring.people import User
    from genaipa.ui.desk import Desk
    from genaipa.ui.results import ResultsView


def show_page(desk: Desk, user: User) -> None:
    """Show what each judge is worth, and the figures and tables that this rests on."""
    show_page_header("Judges")
    if user.reason_user_may_not_adjudicate_or_empty:
        st.text(f"{user.reason_user_may_not_adjudicate_or_empty} This page is for those who adjudicate.")
        return
    desk.pool.read_new_answers()
    desk.current.read_new_events()
    show_first_problems("judges problems", desk.list_pool_problems_user_may_read(user))
    results = _open_judged_results_user_may_see(desk, user)
    waiting = results is not None and _show_note_and_tell_if_answers_hidden(results)
    if results is None or not results.judges_chapter.tables:
        if waiting:
            return
        show_notice("judges none", "No judge has scored an answer here. Begin with: genaipa judge RUN --judge SYSTEM")
        return
    findings, *tables = results.judges_chapter.tables
    entries = [
        TitledText(row["finding"], row["judge"], _describe_judge_counts(row))
        for row in findings.data.to_dict("records")
    ]
    show_texts("judges findings", [*entries, make_note_folded_to_first_sentence("", findings.note)])
    show_chapter("judges", replace(results.judges_chapter, tables=tables), results)


def _open_judged_results_user_may_see(desk: Desk, user: User) -> ResultsView | None:
    """Open the view of the answers that this user is not asked to score any more; None without run or judge."""
    if not any(map(Judge.parse, desk.current.list_analysts_with_current_scores("machine"))):
        return None
    with st.spinner("Comparing the judges with people …"):
        return make_results_view_user_may_see(desk, user)


def _show_note_and_tell_if_answers_hidden(results: ResultsView) -> bool:
    """Note the answers left out since this user may be asked to score them; tell whether there are any."""
    number = len(results.hidden_answers)
    if number:
        answers, them = ("1 judged answer is", "it") if number == 1 else (f"{number:,} judged answers are", "them")
        show_notice(
            "judges left out", f"{answers} left out of all numbers, because you can still be asked to score {them}."
        )
    return bool(number)


def _describe_judge_counts(finding_row: dict[Any, Any]) -> str:
    return (
        f"answers judged: {finding_row['judged']}; also scored by people: {finding_row['answers']}; passes: "
        f"{finding_row['passes']}"
    )
