"""The Score page: one answer at a time, its document beside it, and the keys that score it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st
from msgspec import UNSET, to_builtins
from msgspec.structs import replace

from genaipa.archive.contents import find_command_after_scoring
from genaipa.errors import GenaipaError, format_shell_command
from genaipa.scoring.events import Draft
from genaipa.ui.answer_view import compare_with_reference, make_metric_screen_data
from genaipa.ui.desk import list_progress_line_pieces
from genaipa.ui.scoring_session import (
    OpenAnswer,
    ScoringSession,
    find_shared_pin_range_for_browser,
    get_or_create_scoring_session,
    load_prepared_answer,
    make_own_objection_data,
    make_recent_scores_and_notes_data,
    open_answer_with_draft_or_score,
    parse_screen_contents_from_browser,
    save_or_remove_passage_pin,
    save_or_withdraw_objection_or_explain,
)
from genaipa.ui.widgets import (
    load_component,
    log_error_and_describe_for_desk,
    run_page_safely,
    show_screen_reader_header,
)
from genaipa.words import format_count

if TYPE_CHECKING:
    from genaipa.scoring.people import User
    from genaipa.ui.desk import Desk


_A_DAY = 24 * 3600
"""Seconds."""


def show_page(desk: Desk, user: User) -> None:
    """Show the next answer and take its score; a finished one is committed before the next is shown."""
    if user.reason_user_may_not_score_or_empty:
        st.text(user.reason_user_may_not_score_or_empty)
        return
    st.html("<style>.stMainBlockContainer{padding:3.6rem 1.2rem 0}</style>")
    show_screen_reader_header("Score")
    session = get_or_create_scoring_session()
    if session.opened is not None and session.opened.analyst != user.name:
        session.opened = session.comparison = session.shown = None
    if session.opened is not None:
        session.opened.shown = session.opened.draft
    session.stays = False
    # Where a part of a page runs by itself, a browser that comes back after a server's end asks for the whole page.
    # A key would ask for the part below alone, which a server that was started anew does not know.
    st.fragment(run_every=_A_DAY)(lambda: None)()
    # What the pad tells runs this part of the page alone.
    st.fragment(run_page_safely)(lambda: _show_answer_to_score(desk, user), desk)


def _show_answer_to_score(desk: Desk, user: User) -> None:
    session = get_or_create_scoring_session()
    if session.stays and session.shown is not None:
        _show_scoring_pad(desk, user, session.shown)
        _send_following_answer_in_advance(desk, user, session)
        return
    try:
        if session.opened is None:
            session.opened = _restore_comparison_with_reference(desk, user, session) or _reserve_and_load_next_answer(
                desk, user, session
            )
        if session.opened is None:
            session.shown = None
            _show_note_that_nothing_is_left(desk, user, session)
            return
        session.shown, session.next_shown = (
            _make_screen_parts_and_assign_slot(desk, user, session, session.opened),
            None,
        )
    except GenaipaError as error:
        # Whoever is in the middle of an answer goes on with it: what they type is kept in their browser until then.
        if session.shown is None:
            raise
        _show_scoring_pad(
            desk, user, session.shown | {"turn": session.shown["turn"] | _make_turn_data_for_outage(session, error)}
        )
    else:
        session.stays = True
        _show_scoring_pad(desk, user, session.shown)
        _send_following_answer_in_advance(desk, user, session)


def _make_turn_data_for_outage(session: ScoringSession, error: GenaipaError) -> dict[str, Any]:
    """Describe for the pad that the store can't be reached."""
    if session.opened is None:
        trouble = f"Saved; the next answer can't be shown yet: {log_error_and_describe_for_desk(error)}"
    else:
        trouble = session.opened.trouble or f"Not saved yet: {log_error_and_describe_for_desk(error)}"
    return {"away": True, "answered": session.answered, "trouble": trouble}


def _show_scoring_pad(desk: Desk, user: User, screen_parts: dict[str, dict[str, Any]]) -> None:
    """Show the pad. A part that the browser has is not sent again (`launch`), and a key changes none of them."""
    metrics = [make_metric_screen_data(desk.rubric, metric) for metric in desk.rubric.metrics]
    guide = {"text": desk.guidelines.text, "sections": desk.guidelines.sections} if desk.guidelines else None
    pad = {"metrics": metrics, "guidelines": guide, "bound": desk.people.key_by_action}
    load_component("pad")(key="pad", data=pad)
    _send_screen_parts_to_browser({name: part for name, part in screen_parts.items() if name != "turn"})
    load_component("feed")(
        key="turn",
        data={"part": "turn", **screen_parts["turn"]},
        on_draft_change=lambda: _save_draft_from_browser(desk, user),
        on_act_change=lambda: _carry_out_act_sent_by_browser(desk, user),
    )


def _send_screen_parts_to_browser(screen_parts: dict[str, dict[str, Any]]) -> None:
    for name, part in screen_parts.items():
        load_component("feed")(key=name, data={"part": name, **part})


def _send_following_answer_in_advance(desk: Desk, user: User, session: ScoringSession) -> None:
    """Send the answer after the one on screen, which waits in the browser until that one is saved."""
    opened, parts = session.opened, session.shown
    if opened is None or parts is None:
        return
    if session.next_shown is None:
        session.next_shown = _reserve_and_prepare_following_answer(desk, user, session, opened)
    _send_screen_parts_to_browser({name: part for name, part in session.next_shown.items() if name not in parts})


def _reserve_and_prepare_following_answer(
    desk: Desk, user: User, session: ScoringSession, opened: OpenAnswer
) -> dict[str, dict[str, Any]]:
    """Return the parts of the answer that comes next; empty for a correction, a comparison, and where none is left."""
    earlier, session.following = session.following, None
    if (
        opened.mode != "score"
        or session.comparison
        or desk.queue.would_score_count_as_calibration(opened.answer, user.name)
    ):
        return {}
    try:
        digest = desk.queue.promise_following_answer(user.name, opened.answer)
        if digest is None:
            return {}
        following = open_answer_with_draft_or_score(desk, user, digest)
        if earlier and earlier.answer == digest:
            following.id = earlier.id
        parts = _make_screen_parts_and_assign_slot(desk, user, session, following, predecessor=opened)
    except GenaipaError:
        return {}  # it is said once its turn has come
    session.following = following
    turn, answer = parts.pop("turn"), parts.pop("answer")
    del turn["past"]
    return {**parts, "following": {"turn": turn, "answer": answer}}


def _reserve_and_load_next_answer(desk: Desk, user: User, session: ScoringSession) -> OpenAnswer | None:
    """Open this analyst's next answer, with their draft of it; None when nothing is left."""
    following, session.following = session.following, None
    first = following.answer if following else ""
    while digest := desk.queue.reserve_next_answer(user.name, first) or (
        desk.queue.reserve_next_answer(user.name) if desk.pool.read_new_answers() else None
    ):
        try:
            load_prepared_answer(desk, user.name, digest)
        except GenaipaError as error:
            desk.drop_and_report_unreadable_answer(digest, error)
        else:
            opened = open_answer_with_draft_or_score(desk, user, digest)
            if digest == first and following:
                opened.id = following.id  # under which it may be on screen already
            return opened
    return None


def _restore_comparison_with_reference(desk: Desk, user: User, session: ScoringSession) -> OpenAnswer | None:
    """Restore the last score's comparison after a reload, if nothing was begun since."""
    begun, session.begun = session.begun, True
    last = (
        None
        if begun or desk.queue.has_reserved_or_begun_answer(user.name)
        else desk.queue.last_score_or_skip(user.name)
    )
    if last is None or not last.calibration or last.answer not in desk.pool.answers:
        return None
    reference = desk.queue.reference_score_after_own_score(last.answer, user.name)
    if reference is None:
        return None
    session.comparison = compare_with_reference(
        last, reference, load_prepared_answer(desk, user.name, last.answer), desk.rubric
    )
    return open_answer_with_draft_or_score(desk, user, last.answer)


def _make_screen_parts_and_assign_slot(
    desk: Desk, user: User, session: ScoringSession, opened: OpenAnswer, *, predecessor: OpenAnswer | None = None
) -> dict[str, dict[str, Any]]:
    """Return the parts of an answer as it is on screen now, or as it will be right after its predecessor is scored."""
    ready = load_prepared_answer(desk, user.name, opened.answer)
    needed = load_prepared_answer(desk, user.name, predecessor.answer).document["digest"] if predecessor else ""
    pin = find_shared_pin_range_for_browser(desk, user, ready.case)
    opened.pinned = opened.pinned or pin is not None
    turn = {
        "id": opened.id,
        "of": opened.answer,
        "mode": opened.mode,
        "analyst": user.name,
        "draft": to_builtins(opened.shown) | {"typed": opened.shown.typed or desk.rubric.blank_digits},
        "progress": list_progress_line_pieces(
            desk,
            user,
            opened.answer,
            is_correction=opened.mode == "correction",
            later_score_count=int(predecessor is not None),
        ),
        "can": {
            "back": predecessor is not None
            or desk.queue.previously_scored_answer(user.name, _answer_to_go_back_from(opened)) is not None,
            "skip": True,
            "undo": predecessor is not None or desk.queue.last_score_or_skip(user.name) is not None,
        },
        "objection": make_own_objection_data(desk, user.name, ready.case, opened.objection),
        "pin": pin,
        "settled": predecessor.id if predecessor else session.settled,
        "answered": session.answered,
        "message": "" if predecessor else session.message,
        "trouble": opened.trouble,
        "comparison": session.comparison,
        "away": False,
        "past": make_recent_scores_and_notes_data(desk, user.name),
    }
    document = _assign_document_slot_and_name_it(session.documents, ready.document["digest"], needed)
    return {document: ready.document, "answer": ready.screen_data, "turn": turn}


def _assign_document_slot_and_name_it(slots: list[str], document_digest: str, digest_on_screen: str) -> str:
    """Place a document in the browser: where it is already, else where the answer on screen needs none."""
    if document_digest not in slots:
        slots[bool(digest_on_screen) and slots[0] == digest_on_screen] = document_digest
    return ("document", "document beside")[slots.index(document_digest)]


def _answer_to_go_back_from(opened: OpenAnswer) -> str | None:
    """Return the answer in the analyst's history from which Back goes further back; None for the newest."""
    return opened.answer if opened.mode == "correction" else None


def _show_note_that_nothing_is_left(desk: Desk, user: User, session: ScoringSession) -> None:
    progress = desk.queue.measure_scoring_progress(user.name)
    st.header("Nothing is left for you to score.")
    st.text(
        f"You have scored {format_count(progress.scored, 'answer')}; the study has {progress.given:,} of "
        f"{progress.wanted:,} scores."
    )
    if desk.sample_note_or_empty:
        st.text(desk.sample_note_or_empty)
    if progress.given < progress.wanted:
        st.text(
            "The remaining answers are on other analysts' screens, or assigned to others."
            if desk.queue.is_any_open_answer_held_by_others(user.name)
            else "The remaining scores are for other analysts to give: you have scored these answers, wrote them, or "
            "saw their scores."
        )
    if command := find_command_after_scoring(desk.workspace.home, ""):
        st.text(f"Next, in a terminal: {command} {format_shell_command(desk.workspace.home)}")
    back, again = st.columns([1, 5], gap="small")
    if progress.scored and back.button("Back to the last answer", shortcut=desk.people.key_by_action["back"]):
        last = desk.queue.previously_scored_answer(user.name, None)
        assert last is not None, "an analyst who has scored has a last score"
        session.opened = open_answer_with_draft_or_score(desk, user, last)
        st.rerun()
    if again.button("Check again"):
        desk.pool.read_new_answers()
        st.rerun()


# --- What comes from the browser -----------------------------------------------------------------------------------


def _save_draft_from_browser(desk: Desk, user: User) -> None:
    """Keep a draft that the browser sent; one that comes late, after its score was saved, is ignored."""
    session, sent = get_or_create_scoring_session(), st.session_state["turn"].draft
    opened = session.opened
    if sent and opened is not None and sent["id"] == opened.id and not session.comparison:
        trouble = opened.trouble
        _save_draft_unless_invalid(desk, user, opened, sent)
        session.stays = session.stays and not (trouble or opened.trouble)


def _save_draft_unless_invalid(desk: Desk, user: User, opened: OpenAnswer, browser_data: dict[str, Any]) -> None:
    if not desk.rubric.are_draft_digits(str(browser_data["typed"])):
        return
    try:
        opened.draft = _parse_draft_from_browser(desk, user, opened, browser_data)
    except ValueError:
        return
    try:
        desk.store.save_draft(opened.draft)
        opened.trouble = ""
    except GenaipaError as error:
        opened.trouble = f"Not saved yet: {log_error_and_describe_for_desk(error)}"


def _parse_draft_from_browser(desk: Desk, user: User, opened: OpenAnswer, browser_data: dict[str, Any]) -> Draft:
    """Read what the browser sent of an answer, its panels' part by these; a ValueError if that makes no sense."""
    ready = load_prepared_answer(desk, user.name, opened.answer)
    draft = Draft(
        user.name,
        opened.answer,
        "score",
        typed=str(browser_data["typed"]),
        note=str(browser_data["note"]),
        seconds=float(browser_data["seconds"]),
        turn=opened.id,
        revision=int(browser_data.get("revision", 0)),
        shown=parse_screen_contents_from_browser(ready, browser_data, desk.current.find_score(opened.answer, user.name))
        or UNSET,
    )
    for panel in ready.panels:
        draft = panel.update_draft(ready.case, browser_data, draft)
    return draft


def _save_draft_if_changed(desk: Desk, user: User, opened: OpenAnswer, browser_data: dict[str, Any]) -> None:
    """Keep the draft of an answer that is being left, if it has changed."""
    current, before = _parse_draft_from_browser(desk, user, opened, browser_data), opened.draft
    if (current.typed, current.note, current.ticks) != (before.typed, before.note, before.ticks):
        _save_draft_unless_invalid(desk, user, opened, browser_data)


def _carry_out_act_sent_by_browser(desk: Desk, user: User) -> None:
    """Carry out an act of the analyst once: one for an answer no longer on screen was carried out before."""
    session, sent = get_or_create_scoring_session(), st.session_state["turn"].act
    opened = session.opened
    if not sent or opened is None or sent["id"] != opened.id:
        return
    session.stays, session.message, session.answered, opened.trouble = False, "", sent["number"], ""
    if session.comparison and sent["act"] != "compared":
        return
    try:
        _ACTS[sent["act"]](desk, user, session, opened, sent)
    except (GenaipaError, ValueError) as error:
        opened.trouble = f"Not saved: {log_error_and_describe_for_desk(error)}"


def _save_score(
    desk: Desk, user: User, session: ScoringSession, opened: OpenAnswer, browser_data: dict[str, Any]
) -> None:
    before = desk.current.find_score(opened.answer, user.name)
    if opened.mode == "score" and before:
        session.message = "You had already scored that answer in another tab; the score that you saved last counts."
    untimed = opened.mode == "correction" and before is not None and before.seconds is None
    calibrating = opened.mode == "score" and desk.queue.would_score_count_as_calibration(opened.answer, user.name)
    ready = load_prepared_answer(desk, user.name, opened.answer)
    draft = _parse_draft_from_browser(desk, user, opened, browser_data)
    suggested = {metric: ready.suggested[metric] for metric in (draft.shown.suggestion if draft.shown else ())}
    # Where two suggest a value, the first is seen.
    for panel in reversed(ready.panels):
        suggested.update(panel.suggest_value_by_metric(ready.case, desk.rubric, draft))
    score = desk.queue.save_score(
        user.name,
        opened.answer,
        desk.rubric.parse_digits(draft.typed),
        note=draft.note.strip(),
        # A score from a sheet has no time, and its correction's few seconds are not the time that it took.
        seconds=None if untimed else draft.seconds,
        suggested=suggested,
        pinned=opened.pinned,
        shown=draft.shown or None,
        ticks=draft.ticks or None,
        id=opened.id,
    )
    reference = desk.queue.reference_score_after_own_score(opened.answer, user.name) if calibrating else None
    if reference is not None:
        desk.queue.record_exposures(user.name, [opened.answer], sees_scores=True)
        session.comparison = compare_with_reference(score, reference, ready, desk.rubric)
    else:
        _close_answer_as_finished(session, opened)


def _postpone_answer_or_keep_score(
    desk: Desk, user: User, session: ScoringSession, opened: OpenAnswer, browser_data: dict[str, Any]
) -> None:
    if opened.mode == "score":
        _save_draft_if_changed(desk, user, opened, browser_data)
        desk.queue.skip_answer(user.name, opened.answer)
        session.message = "Skipped: the answer comes back at the end."
    elif opened.answer in desk.queue.answers_to_rescore(user.name):
        _save_draft_if_changed(desk, user, opened, browser_data)
        desk.queue.skip_answer(user.name, opened.answer)
        session.message = "Skipped: the answer comes back at the end. To keep its score as it is, press Enter."
    else:
        desk.store.discard_draft(user.name, opened.answer, "score")
        session.message = "The score is unchanged."
    _close_answer_as_finished(session, opened)


def _undo_last_action(
    desk: Desk, user: User, session: ScoringSession, opened: OpenAnswer, browser_data: dict[str, Any]
) -> None:
    _save_draft_if_changed(desk, user, opened, browser_data)
    withdrawn = desk.queue.undo_last_score_or_skip(user.name)
    if withdrawn is None:
        return
    message = f"Your {'skip' if withdrawn.kind == 'skip' else 'last score'} is withdrawn: here is the answer again."
    if desk.current.find_score(withdrawn.answer, user.name):
        # The correction must not come back as the draft of the earlier score.
        desk.store.discard_draft(user.name, withdrawn.answer, "score")
        message = "Your correction is withdrawn: the score before it is in effect again."
    _close_answer_as_finished(session, opened)
    session.opened = open_answer_with_draft_or_score(desk, user, withdrawn.answer)
    session.message = message


def _open_previous_answer(
    desk: Desk, user: User, session: ScoringSession, opened: OpenAnswer, browser_data: dict[str, Any]
) -> None:
    _reopen_scored_answer_or_stay(
        desk,
        user,
        session,
        opened,
        browser_data,
        desk.queue.previously_scored_answer(user.name, _answer_to_go_back_from(opened)),
    )


def _open_past_answer(
    desk: Desk, user: User, session: ScoringSession, opened: OpenAnswer, browser_data: dict[str, Any]
) -> None:
    is_scored = any(
        score.answer == browser_data["to"] for score in desk.queue.current_scores_and_pace(user.name).scores
    )
    _reopen_scored_answer_or_stay(desk, user, session, opened, browser_data, browser_data["to"] if is_scored else None)


def _reopen_scored_answer_or_stay(
    desk: Desk,
    user: User,
    session: ScoringSession,
    opened: OpenAnswer,
    browser_data: dict[str, Any],
    answer_digest: str | None,
) -> None:
    """Go back to an answer that this analyst scored; stay for None."""
    _save_draft_if_changed(desk, user, opened, browser_data)
    if answer_digest is not None:
        _close_answer_as_finished(session, opened)
        session.opened = open_answer_with_draft_or_score(desk, user, answer_digest)
        session.message = "Saving again corrects this score; Skip leaves it as it was."


def _save_or_withdraw_objection(
    desk: Desk, user: User, _: ScoringSession, opened: OpenAnswer, browser_data: dict[str, Any]
) -> None:
    _save_draft_if_changed(desk, user, opened, browser_data)
    opened.objection = save_or_withdraw_objection_or_explain(
        desk, user.name, load_prepared_answer(desk, user.name, opened.answer).case, browser_data["objection"]
    )


def _save_or_remove_passage_pin(
    desk: Desk, user: User, _: ScoringSession, opened: OpenAnswer, browser_data: dict[str, Any]
) -> None:
    _save_draft_if_changed(desk, user, opened, browser_data)
    save_or_remove_passage_pin(
        desk, user, load_prepared_answer(desk, user.name, opened.answer).case, browser_data["pin"]
    )


def _finish_comparison(
    desk: Desk, user: User, session: ScoringSession, opened: OpenAnswer, _browser_data: dict[str, Any]
) -> None:
    following = _reserve_and_load_next_answer(desk, user, session)
    if following is not None and not following.draft.updated:
        # Now it is begun: a reload does not lead back to the comparison.
        desk.store.save_draft(replace(following.draft, turn=following.id))
    session.comparison = None
    _close_answer_as_finished(session, opened)
    session.opened = following


def _close_answer_as_finished(session: ScoringSession, opened: OpenAnswer) -> None:
    """Finish with this answer: the next run of the page shows another."""
    session.settled = opened.id
    session.opened = None


_MOVES = {
    "save": _save_score,
    "skip": _postpone_answer_or_keep_score,
    "undo": _undo_last_action,
    "back": _open_previous_answer,
    "go": _open_past_answer,
}
_ACTS = {
    **_MOVES,
    "object": _save_or_withdraw_objection,
    "pin": _save_or_remove_passage_pin,
    "compared": _finish_comparison,
}
