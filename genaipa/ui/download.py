"""The button that hands out the scores as a table, for whoever leads and can't be asked to score any more."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import streamlit as st

from genaipa.scoring.tables import select_effective_scores, write_scores
from genaipa.ui.widgets import cache_in_session

if TYPE_CHECKING:
    from genaipa.scoring.people import User
    from genaipa.ui.desk import Desk

FILE = "scores.csv"


def offer_scores_download_recording_exposure(desk: Desk, user: User) -> None:
    """Offer the scores and adjudications in effect, as `genaipa scores export` writes them.

    They tell whose each answer is and how others scored it: whoever could still be asked to score one gets the command
    for whoever keeps the study, and that one who scores has them is recorded.
    """
    if not user.adjudicates or not desk.current.event_count:
        return
    if user.scores and desk.queue.answers_analyst_may_still_score(user.name):
        st.caption(
            "You can still be asked to score answers, so export the scores in a terminal instead: genaipa scores export"
        )
        return
    stamp = (desk.current.event_count, len(desk.pool.arrivals), desk.pool.generation)
    content = cache_in_session("scores as a table", stamp, lambda: make_effective_human_scores_csv(desk))

    def record_that_user_saw_all_scores() -> None:
        desk.queue.record_exposures(
            user.name, desk.current.refresh_and_list_all_scored_answers(), sees_scores=True, sees_system=True
        )

    st.download_button(
        "Download the scores (CSV)",
        content,
        FILE,
        "text/csv",
        on_click=record_that_user_saw_all_scores if user.scores else "rerun",
        key="scores",
    )


def make_effective_human_scores_csv(desk: Desk) -> bytes:
    """Return the table of the scores of people and of the adjudications in effect, as CSV."""
    file = io.BytesIO()
    events = select_effective_scores((event for _, event in desk.store.read_numbered_events()), include_machines=False)
    write_scores(file, ".csv", events, desk.pool.answers, desk.rubric)
    return file.getvalue()
