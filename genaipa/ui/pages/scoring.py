"""The desk itself: one answer at a time, its document beside it, and the keys that score it."""

from __future__ import annotations

import math
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st
from msgspec.structs import replace

from genaipa.errors import GenaipaError
from genaipa.scoring.events import Draft
from genaipa.ui.answer_view import Prepared, comparison, prepare
from genaipa.ui.components import component

if TYPE_CHECKING:
    from genaipa.scoring.events import Event
    from genaipa.scoring.queue import Progress
    from genaipa.ui.desk import Desk, Visitor


@dataclass
class Turn:
    """An answer on an analyst's screen. `id` becomes the id of its score, so that Enter pressed twice is one score."""

    analyst: str
    answer: str
    mode: Literal["score", "correction"]
    id: str
    draft: Draft
    trouble: str = ""


@dataclass
class Sitting:
    """What one session at the desk is about.

    It changes as a whole: Streamlit may break off a callback wherever that reaches into the session's state, if the
    browser has sent something else meanwhile. So a callback reaches there once, before it does anything.
    """

    turn: Turn | None = None
    settled: str = ""
    """The turn that was dealt with last."""
    answered: int = 0
    """The number of the act that was carried out last."""
    message: str = ""
    comparison: dict[str, Any] | None = None
    """How the score of this turn lies beside the reference analyst's, while that is read."""
    preselect: bool = False
    begun: bool = False
    """Whether an answer was on screen before."""
    shown: dict[str, Any] | None = None
    """What was on screen last."""


def _sitting() -> Sitting:
    sitting: Sitting = st.session_state.setdefault("sitting", Sitting())
    return sitting


def page(desk: Desk, visitor: Visitor) -> None:
    """Show the next answer and take its score; a finished one is committed before the next is shown."""
    if not visitor.scores:
        st.info("You are not among the analysts of this study; the other pages are open to you.")
        return
    st.html("<style>.stMainBlockContainer{padding:3.6rem 1.2rem 0}</style>")
    sitting = _sitting()
    if sitting.turn is not None and sitting.turn.analyst != visitor.name:
        sitting.turn = sitting.comparison = sitting.shown = None
    try:
        if sitting.turn is None:
            sitting.turn = _compared_last(desk, visitor, sitting) or _next(desk, visitor, sitting)
        if sitting.turn is None:
            sitting.shown = None
            _nothing_left(desk, visitor, sitting)
            return
        sitting.shown = _on_screen(desk, visitor, sitting, sitting.turn)
    except GenaipaError as error:
        # Whoever is in the middle of an answer goes on with it: what they type is kept in their browser until then.
        if sitting.shown is None:
            raise
        _mount(desk, visitor, sitting.shown | _away(sitting, error))
    else:
        _mount(desk, visitor, sitting.shown)


def _away(sitting: Sitting, error: GenaipaError) -> dict[str, Any]:
    """What the screen says while the scores can't be reached."""
    if sitting.turn is None:
        trouble = f"Saved; the next answer can't be shown yet: {error}"
    else:
        trouble = sitting.turn.trouble or f"Not kept yet: {error}"
    return {"away": True, "answered": sitting.answered, "trouble": trouble}


def _mount(desk: Desk, visitor: Visitor, data: dict[str, Any]) -> None:
    component("pad")(
        key="pad",
        data=data,
        on_draft_change=lambda: _take_draft(desk, visitor),
        on_act_change=lambda: _take_act(desk, visitor),
    )


@st.cache_resource(max_entries=256, show_spinner=False)
def _prepared(_desk: Desk, digest: str) -> Prepared:
    # The desk is one for the whole server; its digest tells answers apart, so it is the whole key.
    return prepare(
        _desk.pool.case(digest), _desk.rubric, blind=_desk.settings.blind, suggestions=_desk.settings.suggestions
    )


def _next(desk: Desk, visitor: Visitor, sitting: Sitting) -> Turn | None:
    """What this analyst scores next, with what they had typed for it before."""
    while True:
        digest = desk.queue.next(visitor.name)
        if digest is None and desk.pool.refresh():
            digest = desk.queue.next(visitor.name)
        if digest is None:
            return None
        try:
            _prepared(desk, digest)
        except GenaipaError as error:
            desk.set_aside(digest, error)
        else:
            return _turn(desk, visitor, digest, sitting)


def _compared_last(desk: Desk, visitor: Visitor, sitting: Sitting) -> Turn | None:
    """The comparison that a reload took off the screen: of the last score, where nothing was begun after it."""
    begun, sitting.begun = sitting.begun, True
    last = None if begun or desk.queue.has_begun(visitor.name) else desk.queue.last(visitor.name)
    if last is None or not last.calibration or last.answer not in desk.pool.answers:
        return None
    reference = desk.queue.reference(last.answer, visitor.name)
    if reference is None:
        return None
    sitting.comparison = comparison(last, reference, _prepared(desk, last.answer), desk.rubric)
    return _turn(desk, visitor, last.answer, sitting)


def _turn(desk: Desk, visitor: Visitor, digest: str, sitting: Sitting) -> Turn:
    standing = desk.current.score(digest, visitor.name)
    draft = desk.store.draft(visitor.name, digest, "score")
    turn = Turn(
        analyst=visitor.name,
        answer=digest,
        mode="correction" if standing else "score",
        id=uuid.uuid4().hex,
        draft=draft or _as_draft(desk, standing) or Draft(visitor.name, digest, "score"),
    )
    suggested = _prepared(desk, digest).shown["suggestion"]
    if turn.draft.typed in ("", desk.rubric.untyped) and suggested and sitting.preselect:
        typed = "".join(suggested.get(metric, ".") for metric in desk.rubric.metrics)
        turn.draft = Draft(visitor.name, digest, "score", typed=typed, preselected=True)
    return turn


def _as_draft(desk: Desk, score: Event | None) -> Draft | None:
    """A score as it was typed, to be corrected."""
    if score is None or score.values is None:
        return None
    return Draft(
        score.analyst,
        score.answer,
        "score",
        typed=desk.rubric.keys_of(score.values),
        note=score.note,
        # The time that it took so far: a correction adds to it.
        seconds=score.seconds or 0.0,
        updated=score.time,
        preselected=score.preselected,
    )


def _on_screen(desk: Desk, visitor: Visitor, sitting: Sitting, turn: Turn) -> dict[str, Any]:
    prepared = _prepared(desk, turn.answer)
    progress = desk.queue.progress(visitor.name)
    calibrating = desk.queue.is_calibration(turn.answer, visitor.name)
    lines = [
        "Correcting a score of yours" if turn.mode == "correction" else f"Answer {progress.scored + 1}",
        "calibration: compared with the reference once it is saved" if calibrating else "",
        _left(desk, progress),
        f"study: {progress.given:,} of {progress.wanted:,} scores",
        f"{_minutes(progress.seconds)} an answer" if progress.seconds is not None else "",
        *([] if desk.settings.blind else _whose(desk, turn.answer)),
    ]
    return prepared.shown | {
        "id": turn.id,
        "mode": turn.mode,
        "analyst": visitor.name,
        "draft": {
            "typed": turn.draft.typed or desk.rubric.untyped,
            "note": turn.draft.note,
            "seconds": turn.draft.seconds,
            "updated": turn.draft.updated,
            "turn": turn.draft.turn,
            "revision": turn.draft.revision,
            "preselected": turn.draft.preselected,
        },
        "progress": [line for line in lines if line],
        "can": {
            "back": desk.queue.before(visitor.name, _scored(turn)) is not None,
            "skip": True,
            "undo": desk.queue.last(visitor.name) is not None,
        },
        "preselect": sitting.preselect,
        "settled": sitting.settled,
        "answered": sitting.answered,
        "message": sitting.message,
        "trouble": turn.trouble,
        "comparison": sitting.comparison,
        "away": False,
    }


def _scored(turn: Turn) -> str | None:
    """The place in the analyst's history from which one goes back."""
    return turn.answer if turn.mode == "correction" else None


def _whose(desk: Desk, digest: str) -> list[str]:
    answer = desk.pool.answers[digest]
    return [f"{where.system} · {where.initialization} · {where.run}" for where in answer.occurrences[:3]]


def _left(desk: Desk, progress: Progress) -> str:
    """How many answers are left for this analyst, and how long they take at the pace so far.

    What is still wanted is shared: by the analysts of desk.yaml, or else by those who have scored.
    """
    team = {*(desk.people.analysts or desk.current.analysts()), progress.analyst}.difference(desk.people.reference)
    share = progress.remaining
    if progress.analyst in team:
        share = min(share, math.ceil((progress.wanted - progress.given) / len(team)))
    about = "" if share == progress.remaining else "about "
    hours, minutes = divmod(math.ceil(share * (progress.seconds or 0) / 60), 60)
    lasts = f", about {f'{hours} h ' if hours else ''}{minutes} min" if hours or minutes else ""
    return f"{about}{share:,} left for you{lasts}"


def _minutes(seconds: float) -> str:
    return f"{int(seconds // 60)}:{int(seconds % 60):02}"


def _nothing_left(desk: Desk, visitor: Visitor, sitting: Sitting) -> None:
    progress = desk.queue.progress(visitor.name)
    st.subheader("Nothing is left for you to score.")
    st.text(
        f"You have scored {progress.scored:,} answers; the study has {progress.given:,} of {progress.wanted:,} scores."
    )
    if progress.given < progress.wanted:
        st.text("What is still wanted is on other analysts' screens, or wanted from others.")
    back, again = st.columns([1, 5], gap="small")
    if progress.scored and back.button("Back to the last", shortcut="b"):
        last = desk.queue.before(visitor.name, None)
        assert last is not None, "an analyst who has scored has a last score"
        sitting.turn = _turn(desk, visitor, last, sitting)
        st.rerun()
    if again.button("Look again"):
        desk.pool.refresh()
        st.rerun()


# --- What comes from the browser -----------------------------------------------------------------------------------


def _take_draft(desk: Desk, visitor: Visitor) -> None:
    """Keep what is typed so far. One that comes late, after its score is in, is left alone."""
    sitting, sent = _sitting(), st.session_state["pad"].draft
    turn = sitting.turn
    if sent and turn is not None and sent["id"] == turn.id and not sitting.comparison:
        _keep_draft(desk, visitor, turn, sent)


def _keep_draft(desk: Desk, visitor: Visitor, turn: Turn, sent: dict[str, Any]) -> None:
    typed = str(sent["typed"])
    if not desk.rubric.can_be_typed(typed):
        return
    turn.draft = Draft(
        visitor.name,
        turn.answer,
        "score",
        typed=typed,
        note=str(sent["note"]),
        seconds=float(sent["seconds"]),
        turn=turn.id,
        revision=int(sent["revision"]),
        preselected=_filled_in(turn, sent),
    )
    try:
        desk.store.save_draft(turn.draft)
        turn.trouble = ""
    except GenaipaError as error:
        turn.trouble = f"Not kept yet: {error}"


def _filled_in(turn: Turn, sent: dict[str, Any]) -> bool:
    """Whether a suggestion was filled in before the analyst chose."""
    return turn.draft.preselected or bool(sent.get("preselected"))


def _keep_if_changed(desk: Desk, visitor: Visitor, turn: Turn, sent: dict[str, Any]) -> None:
    """Keep what is typed of an answer that is being left, if there is anything new in it."""
    if (sent["typed"], sent["note"]) != (turn.draft.typed, turn.draft.note):
        _keep_draft(desk, visitor, turn, sent)


def _take_act(desk: Desk, visitor: Visitor) -> None:
    """Carry out what the analyst decided, once: an act for an answer that is no longer on screen was carried out."""
    sitting, sent = _sitting(), st.session_state["pad"].act
    turn = sitting.turn
    if not sent or turn is None or sent["id"] != turn.id:
        return
    sitting.message, sitting.answered, turn.trouble = "", sent["number"], ""
    if sitting.comparison and sent["act"] != "compared":
        return
    try:
        _ACTS[sent["act"]](desk, visitor, sitting, turn, sent)
    except (GenaipaError, ValueError) as error:
        turn.trouble = f"Not saved: {error}"


def _save(desk: Desk, visitor: Visitor, sitting: Sitting, turn: Turn, sent: dict[str, Any]) -> None:
    standing = desk.current.score(turn.answer, visitor.name)
    if turn.mode == "score" and standing:
        sitting.message = "You had scored that answer in another tab: what you saved last stands."
    untimed = turn.mode == "correction" and standing is not None and standing.seconds is None
    calibrating = turn.mode == "score" and desk.queue.is_calibration(turn.answer, visitor.name)
    score = desk.queue.save(
        visitor.name,
        turn.answer,
        desk.rubric.typed(sent["typed"]),
        note=str(sent["note"]).strip(),
        # A score from a sheet has none, and the few of its correction are not what it took.
        seconds=None if untimed else float(sent["seconds"]),
        suggested=_prepared(desk, turn.answer).suggested,
        preselected=_filled_in(turn, sent),
        id=turn.id,
    )
    reference = desk.queue.reference(turn.answer, visitor.name) if calibrating else None
    if reference is not None:
        desk.queue.expose(visitor.name, [turn.answer], scores=True)
        sitting.comparison = comparison(score, reference, _prepared(desk, turn.answer), desk.rubric)
    else:
        _go_on(sitting, turn)


def _skip(desk: Desk, visitor: Visitor, sitting: Sitting, turn: Turn, sent: dict[str, Any]) -> None:
    if turn.mode == "score":
        _keep_if_changed(desk, visitor, turn, sent)
        desk.queue.skip(visitor.name, turn.answer)
        sitting.message = "Skipped: it comes back at the end."
    else:
        desk.store.discard_draft(visitor.name, turn.answer, "score")
        sitting.message = "Left as it was."
    _go_on(sitting, turn)


def _undo(desk: Desk, visitor: Visitor, sitting: Sitting, turn: Turn, sent: dict[str, Any]) -> None:
    _keep_if_changed(desk, visitor, turn, sent)
    withdrawn = desk.queue.undo(visitor.name)
    if withdrawn is None:
        return
    message = f"Your {'skip' if withdrawn.kind == 'skip' else 'last score'} is withdrawn: here is the answer again."
    if desk.current.score(withdrawn.answer, visitor.name):
        # What the correction said must not come back as the draft of the score that stands again.
        desk.store.discard_draft(visitor.name, withdrawn.answer, "score")
        message = "Your correction is withdrawn: the score before it stands again."
    _go_on(sitting, turn)
    sitting.turn = _turn(desk, visitor, withdrawn.answer, sitting)
    sitting.message = message


def _back(desk: Desk, visitor: Visitor, sitting: Sitting, turn: Turn, sent: dict[str, Any]) -> None:
    _keep_if_changed(desk, visitor, turn, sent)
    before = desk.queue.before(visitor.name, _scored(turn))
    if before is not None:
        _go_on(sitting, turn)
        sitting.turn = _turn(desk, visitor, before, sitting)
        sitting.message = "Saving again corrects this score; Skip leaves it as it was."


def _preselect(desk: Desk, visitor: Visitor, sitting: Sitting, turn: Turn, sent: dict[str, Any]) -> None:
    sitting.preselect = bool(sent.get("on"))
    _keep_if_changed(desk, visitor, turn, sent)


def _compared(desk: Desk, visitor: Visitor, sitting: Sitting, turn: Turn, _sent: dict[str, Any]) -> None:
    following = _next(desk, visitor, sitting)
    if following is not None and not following.draft.updated:
        # Now it is begun: a reload does not lead back to the comparison.
        desk.store.save_draft(replace(following.draft, turn=following.id))
    sitting.comparison = None
    _go_on(sitting, turn)
    sitting.turn = following


def _go_on(sitting: Sitting, turn: Turn) -> None:
    """This answer is dealt with: the next run of the page shows another."""
    sitting.settled = turn.id
    sitting.turn = None


_ACTS = {"save": _save, "skip": _skip, "undo": _undo, "back": _back, "preselect": _preselect, "compared": _compared}
