"""The Score page's state in one browser session: the answer on screen, and how one is opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st
from msgspec.structs import replace

from genaipa.scoring.events import Draft, new_id
from genaipa.ui.answer_view import Prepared, prepare
from genaipa.ui.proposing import proposed

if TYPE_CHECKING:
    from genaipa.scoring.events import Event
    from genaipa.scoring.evidence.settled import Proposal
    from genaipa.scoring.people import User
    from genaipa.ui.desk import Desk


@dataclass
class OpenAnswer:
    """An answer on an analyst's screen. `id` becomes the id of its score, so that Enter pressed twice is one score."""

    analyst: str
    answer: str
    mode: Literal["score", "correction"]
    id: str
    draft: Draft
    shown: Draft
    """The draft that the browser was sent; what it has typed since, it knows."""
    proposal: Proposal | None = None
    """The values that were filled in for the analyst to accept or change."""
    trouble: str = ""
    objection: str = ""
    """A sentence on why the last objection to its annotated answer was not kept."""
    pinned: bool = False
    """Whether a pinned passage was on screen."""


@dataclass
class ScoringSession:
    """The state of this page in one browser session.

    Streamlit may interrupt a callback wherever it accesses the session's state, if the browser has sent something else
    meanwhile. So a callback fetches this object once, before it does anything, and changes that.
    """

    opened: OpenAnswer | None = None
    settled: str = ""
    """The id of the answer that was finished last."""
    answered: int = 0
    """The number of the last act that was carried out."""
    message: str = ""
    comparison: dict[str, Any] | None = None
    """This answer's score beside the reference analyst's, while that is on screen."""
    preselect: bool = False
    begun: bool = False
    """Whether an answer was on screen before."""
    shown: dict[str, dict[str, Any]] | None = None
    """The pad's parts when it was last on screen: the document, the answer, and this analyst's turn at it."""
    stays: bool = False
    """Whether nothing but drafts came since: then it is on screen as it should be."""


def current_session() -> ScoringSession:
    """This browser session's state, made when it is first asked for."""
    session: ScoringSession = st.session_state.setdefault("scoring session", ScoringSession())
    return session


def prepared(desk: Desk, digest: str) -> Prepared:
    """An answer ready to be shown; a GenaipaError if it can't be read."""
    return _prepared(desk, digest, desk.rubric.digest)


@st.cache_resource(max_entries=256, show_spinner=False)
def _prepared(_desk: Desk, digest: str, rubric: str) -> Prepared:  # noqa: ARG001 - part of the key
    # The desk is one for the whole server. Its digest tells answers apart; the rubric is for tests with two of them.
    return prepare(
        _desk.pool.case(digest), _desk.rubric, blind=_desk.queue.plan.blind, suggestions=_desk.settings.suggestions
    )


def open_answer(desk: Desk, user: User, digest: str, session: ScoringSession) -> OpenAnswer:
    """An answer with its draft, else with the score to be corrected, else with what is filled in, else empty."""
    score = desk.current.score(digest, user.name)
    draft = desk.store.draft(user.name, digest, "score") or _as_draft(desk, score) or Draft(user.name, digest, "score")
    mode: Literal["score", "correction"] = "correction" if score else "score"
    proposal = None if score else proposed(desk, user.name, digest, lambda other: prepared(desk, other))
    suggested = prepared(desk, digest).shown["suggestion"]
    if draft.typed in ("", desk.rubric.untyped) and not draft.preselected:
        # A note may have been written before.
        if proposal:
            draft = replace(draft, typed=desk.rubric.keys_of(proposal.values), preselected=True)
        elif suggested and session.preselect:
            typed = "".join(suggested.get(metric, ".") for metric in desk.rubric.metrics)
            draft = replace(draft, typed=typed, preselected=True)
    return OpenAnswer(user.name, digest, mode, new_id(), draft, draft, proposal if draft.preselected else None)


def _as_draft(desk: Desk, score: Event | None) -> Draft | None:
    if score is None or score.values is None:
        return None
    return Draft(
        score.analyst,
        score.answer,
        "score",
        typed=desk.rubric.keys_of(score.values),
        note=score.note,
        # A correction adds to the time that it took.
        seconds=score.seconds or 0.0,
        updated=score.time,
        preselected=score.preselected,
    )
