"""Adjudication: answers whose scores differ, every analyst's values side by side, and the values that settle them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st
from msgspec import UNSET, structs, to_builtins

from genaipa.errors import GenaipaError
from genaipa.files.stamps import now
from genaipa.scoring.aids import SUGGESTIONS, list_built_in_aids_in_plan
from genaipa.scoring.events import Draft, Event, new_event_id
from genaipa.ui.answer_view import (
    PreparedAnswer,
    list_send_back_discussion,
    make_metric_screen_data,
    make_metric_value_screen_data,
    prepare_answer,
)
from genaipa.ui.panel import load_panels_enabled_by_plan
from genaipa.ui.widgets import (
    ANY,
    cache_in_session,
    format_duration,
    format_utc_minute,
    load_component,
    log_error_and_describe_for_desk,
    show_notice,
    show_page_header,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.scoring.assignment import Dispute
    from genaipa.scoring.people import User
    from genaipa.scoring.rubric import Rubric
    from genaipa.ui.desk import Desk

_NAMES_KEY = "adjudication names"
"""Key of the choice to settle with the analysts' names on screen."""
_STATES = ("not settled", "sent back", "settled", ANY)


@dataclass
class OpenDispute:
    """An answer on the adjudicator's screen.

    `event` becomes the event's id, so that Enter pressed twice is one adjudication. `message` tells the outcome of the
    last one; `failures` counts failed tries to save this one.
    """

    user: str
    answer: str
    event: str
    draft: Draft
    message: str = ""
    failures: int = 0

    @property
    def browser_id_of_save_attempt(self) -> str:
        """Its id in the browser, which stops waiting when it gets another."""
        return f"{self.event} {self.failures}"


@dataclass
class AdjudicationSession:
    """The state of this page in one browser session; callbacks fetch it as `ScoringSession`'s do."""

    opened: OpenDispute | None = None
    filters: tuple[str, ...] = ()
    wanted: str = ""
    """The answer that another page led here for."""


def open_answer_on_next_visit(answer_digest: str) -> None:
    """Have the page open on this answer when it is next shown."""
    _get_or_create_adjudication_session().wanted = answer_digest


def _get_or_create_adjudication_session() -> AdjudicationSession:
    session: AdjudicationSession = st.session_state.setdefault("adjudication session", AdjudicationSession())
    return session


def show_page(desk: Desk, user: User) -> None:
    """Show one disputed answer at a time; its adjudication is committed before the next is shown."""
    show_page_header("Adjudicate", title_visible=False)
    st.html("<style>.stMainBlockContainer{padding-inline:1.2rem}</style>")
    if user.reason_user_may_not_adjudicate_or_empty:
        st.text(user.reason_user_may_not_adjudicate_or_empty)
        return
    desk.current.read_new_events()
    disputes = disputes_user_may_settle_by_answer(desk, user)
    if not disputes:
        show_notice(
            "adjudication none",
            "There is nothing to settle: no fully scored answer has scores that differ"
            + (" (answers that you can still be asked to score are left out)." if user.scores else "."),
        )
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        chosen = _show_filters_and_select_answers(desk, disputes)
        opened = _choose_dispute_on_screen(desk, user, disputes, chosen)
        _show_total_disputes_and_names_checkbox(disputes, chosen, opened)
    if opened is None:
        show_notice("adjudication done", "No more answers match. Change the filters above.", "done")
        return
    try:
        prepared = _load_answer_without_suggestions(desk, opened.answer)
    except GenaipaError as error:
        desk.drop_and_report_unreadable_answer(opened.answer, error)
        st.rerun()
    try:
        desk.queue.record_exposures(user.name, [opened.answer], sees_scores=True, sees_system=not desk.queue.plan.blind)
    except GenaipaError as error:
        show_notice("adjudication trouble", log_error_and_describe_for_desk(error), "bad")
        return
    left_column, right_column = st.columns([5, 6], gap="medium")
    with left_column:
        load_component("case")(
            key="case",
            data={"answer": prepared.screen_data, "document": prepared.document, "names": desk.rubric.display_names},
        )
    with right_column:
        load_component("verdict")(
            key="verdict",
            data=_make_adjudication_screen_data(desk, user, disputes[opened.answer], opened, prepared)
            | {"can": _map_acts_to_whether_possible(desk, user, disputes[opened.answer], disputes, chosen)},
            on_did_change=lambda: _carry_out_act_sent_by_browser(desk, user, disputes, chosen),
        )


# -- which answer --


def disputes_user_may_settle_by_answer(desk: Desk, user: User) -> dict[str, Dispute]:
    """List the disputes that this user may settle: answers with all their scores, the largest difference first."""
    stamp = (user.name, desk.current.event_count, len(desk.pool.arrivals), desk.pool.generation)

    def find_fully_scored_disputes_by_answer() -> dict[str, Dispute]:
        all_of_them = desk.queue.visible_open_and_settled_disputes(user.name, gives_scores=user.scores)
        return {d.answer: d for d in all_of_them if len(d.scores) >= desk.queue.count_wanted_scores(d.answer)}

    return cache_in_session("adjudication disputes", stamp, find_fully_scored_disputes_by_answer)


def _show_filters_and_select_answers(desk: Desk, disputes: dict[str, Dispute]) -> list[str]:
    box = st.popover("Which answers", width="content")
    documents = sorted({desk.pool.answers[answer].document for answer in disputes})
    state = box.selectbox("State", list(_STATES), key="adjudication state")
    metric = box.selectbox(
        "Metric",
        [ANY, *desk.rubric.metrics],
        format_func=lambda m: desk.rubric.display_names.get(m, m),
        key="adjudication metric",
    )
    differences = sorted({high - low for high in desk.rubric.values for low in desk.rubric.values if high > low})
    least_difference = box.selectbox(
        "Difference of at least", differences, format_func=lambda v: f"{v:g}", key="adjudication least"
    )
    document = box.selectbox("Document", [ANY, *documents], key="adjudication document")

    def find_largest_chosen_difference(dispute: Dispute) -> float:
        return max(far for on, far in dispute.differences.items() if metric in (ANY, on))

    answers = [
        answer
        for answer, dispute in disputes.items()
        if find_largest_chosen_difference(dispute) >= least_difference
        and document in (ANY, desk.pool.answers[answer].document)
        and state in (ANY, _classify_settled_or_sent_back(desk, dispute))
    ]
    return sorted(answers, key=lambda answer: -find_largest_chosen_difference(disputes[answer]))


def _classify_settled_or_sent_back(desk: Desk, dispute: Dispute) -> str:
    if dispute.adjudication_or_mean_acceptance:
        return "settled"
    return "sent back" if desk.queue.analysts_yet_to_rescore(dispute.answer) else "not settled"


def _choose_dispute_on_screen(
    desk: Desk, user: User, disputes: Mapping[str, Dispute], filtered_answers: list[str]
) -> OpenDispute | None:
    """Choose the answer on screen while it is still in dispute, else the first that passes the filters."""
    session = _get_or_create_adjudication_session()
    filters = tuple(st.session_state[f"adjudication {box}"] for box in ("state", "metric", "least", "document"))
    same_filters = session.filters == filters
    session.filters = filters
    wanted, session.wanted = session.wanted, ""
    if wanted in disputes:
        session.opened = _load_dispute_with_draft(desk, user, disputes[wanted])
        return session.opened
    opened = session.opened
    stays = (
        opened is not None
        and opened.user == user.name
        and opened.answer in disputes
        # An answer whose adjudication was undone stays even if the filters exclude it.
        and (same_filters or opened.answer in filtered_answers)
    )
    if not stays:
        opened = session.opened = (
            _load_dispute_with_draft(desk, user, disputes[filtered_answers[0]]) if filtered_answers else None
        )
    return opened


def _load_dispute_with_draft(desk: Desk, user: User, dispute: Dispute, outcome_message: str = "") -> OpenDispute:
    """Open an answer with this adjudicator's draft, else with their adjudication, else with what all gave."""
    name, adjudication = user.name, dispute.adjudication
    draft = desk.store.load_draft(name, dispute.answer, "adjudication")
    if draft is None:
        draft = Draft(name, dispute.answer, "adjudication")
        if adjudication is not None and adjudication.analyst == name and adjudication.values is not None:
            keys = desk.rubric.format_as_digits(adjudication.values)
            draft = structs.replace(draft, typed=keys, note=adjudication.note, ticks=adjudication.ticks or UNSET)
        else:
            draft = structs.replace(draft, typed=_format_agreed_digits_with_dots(desk.rubric, dispute))
    return OpenDispute(name, dispute.answer, new_event_id(), draft, outcome_message)


def _format_agreed_digits_with_dots(rubric: Rubric, dispute: Dispute) -> str:
    """Return the keys of the values that all analysts gave, and a dot where they differ."""
    values = next(score.values for score in dispute.scores.values() if score.values is not None)
    keys = rubric.format_as_digits(values)
    return "".join(
        "." if dispute.differences[metric] else key for metric, key in zip(rubric.metrics, keys, strict=True)
    )


def _show_total_disputes_and_names_checkbox(
    disputes: Mapping[str, Dispute], filtered_answers: list[str], opened: OpenDispute | None
) -> None:
    settled = sum(1 for dispute in disputes.values() if dispute.adjudication_or_mean_acceptance)
    means = sum(
        1 for dispute in disputes.values() if dispute.adjudication_or_mean_acceptance and dispute.adjudication is None
    )
    by_mean = f" ({means:,} by the mean)" if means else ""
    where = (
        f" · {filtered_answers.index(opened.answer) + 1:,} of {len(filtered_answers):,} shown"
        if opened and opened.answer in filtered_answers
        else ""
    )
    st.caption(
        f"Answers with differing scores: {len(disputes):,}, {settled:,} of them settled{by_mean}{where}",
        width="content",
    )
    st.checkbox("Show who gave which score", key=_NAMES_KEY)


# -- what is on screen --


def _load_answer_without_suggestions(desk: Desk, answer: str) -> PreparedAnswer:
    """Load the answer with the aids of the study's plan but suggestions; nothing is withheld from an adjudicator."""

    def prepare_answer_without_suggestions() -> PreparedAnswer:
        plan = desk.queue.plan
        own_aids = set(list_built_in_aids_in_plan(plan)) - {SUGGESTIONS}
        return prepare_answer(
            desk.pool.load_case(answer),
            desk.rubric,
            mask_system_names=plan.blind,
            built_in_aids=own_aids,
            panels=load_panels_enabled_by_plan(plan),
        )

    return cache_in_session("adjudication case", (answer, desk.pool.generation), prepare_answer_without_suggestions)


def _make_adjudication_screen_data(
    desk: Desk, user: User, dispute: Dispute, opened: OpenDispute, prepared: PreparedAnswer
) -> dict[str, Any]:
    other_adjudications = [event for event in (dispute.adjudication,) if event and event.analyst != user.name]
    columns = [*dispute.scores.values(), *other_adjudications]
    about = [
        {"name": event.analyst, "about": _describe_event_time_and_duration(event), "note": event.note}
        for event in columns
    ]
    names = None
    if not st.session_state.get(_NAMES_KEY):
        columns, about = _shuffle_scores_and_make_anonymous_heads(columns)
        names = {event.analyst: head["name"] for event, head in zip(columns, about, strict=True)}
    draft, rubric = opened.draft, desk.rubric
    case, active_panels = prepared.case, load_panels_enabled_by_plan(desk.queue.plan)
    return {
        "id": opened.browser_id_of_save_attempt,
        "answer": opened.answer,
        "analysts": about,
        "metrics": [_make_metric_row_with_given_values(rubric, metric, dispute, columns) for metric in rubric.metrics],
        "draft": to_builtins(draft) | {"typed": draft.typed or rubric.blank_digits},
        "message": opened.message,
        "bound": desk.people.key_by_action,
        "thread": list_send_back_discussion(desk, opened.answer, names),
        "panels": {
            name: active_panels[name].make_script_data(case, rubric, columns) for name in prepared.screen_data["panels"]
        },
    }


def _shuffle_scores_and_make_anonymous_heads(score_events: list[Event]) -> tuple[list[Event], list[dict[str, str]]]:
    """Hide the names behind scores: an order of each answer's own, and letters in place of names and times."""

    def hash_answer_and_analyst_for_sorting(event: Event) -> bytes:
        return hashlib.sha256(f"{event.answer}\0{event.analyst}".encode()).digest()

    score_events = sorted(score_events, key=hash_answer_and_analyst_for_sorting)
    heads = (
        f"{'Adjudicator' if event.kind == 'adjudication' else 'Analyst'} {chr(65 + n % 26)}"
        for n, event in enumerate(score_events)
    )
    return score_events, [
        {"name": head, "about": "", "note": event.note} for head, event in zip(heads, score_events, strict=True)
    ]


def _map_acts_to_whether_possible(
    desk: Desk, user: User, dispute: Dispute, disputes: Mapping[str, Dispute], filtered_answers: list[str]
) -> dict[str, bool]:
    has_others = len(filtered_answers) > 1
    last = _find_own_last_decision(desk, user, disputes)
    return {
        "back": has_others,
        "skip": has_others,
        "undo": last is not None,
        "mean": dispute.adjudication_or_mean_acceptance is None and desk.queue.is_close_dispute(dispute),
        "again": any(name != user.name for name in dispute.scores),
    }


def _describe_event_time_and_duration(event: Event) -> str:
    words = "adjudicated " if event.kind == "adjudication" else "calibration " if event.calibration else ""
    return f"{words}{format_utc_minute(event.time)}\n{format_duration(event.seconds)}"


def _make_metric_row_with_given_values(
    rubric: Rubric, metric: str, dispute: Dispute, score_events: list[Event]
) -> dict[str, Any]:
    return {
        **make_metric_screen_data(rubric, metric),
        "given": [
            make_metric_value_screen_data(rubric, metric, event.values[metric])
            for event in score_events
            if event.values is not None
        ],
        "differs": dispute.differences[metric] > 0,
    }


# -- what comes from the browser --


def _carry_out_act_sent_by_browser(
    desk: Desk, user: User, disputes: Mapping[str, Dispute], filtered_answers: list[str]
) -> None:
    """Carry out an act of the adjudicator once: one for an answer no longer on screen was carried out before."""
    session, sent = _get_or_create_adjudication_session(), st.session_state["verdict"].get("did")
    opened = session.opened
    if not sent or opened is None or sent["id"] != opened.browser_id_of_save_attempt:
        return
    before, opened.draft = opened.draft, _copy_draft_with_sent_values(desk, opened.draft, sent)
    try:
        if sent["what"] in _DECISIONS:
            decide, message = _DECISIONS[sent["what"]]
            decide(desk, user, opened)
            session.opened = _load_next_dispute_unless_last(desk, user, opened, disputes, filtered_answers, message)
            return
        if _draft_keys_note_and_ticks(opened.draft) != _draft_keys_note_and_ticks(before):
            desk.store.save_draft(opened.draft)
        if sent["what"] == "undo":
            session.opened = _withdraw_last_decision_and_reload(desk, user, opened, disputes)
        elif sent["what"] in ("skip", "back"):
            beside = _find_neighbouring_answer_cyclically(
                opened.answer, filtered_answers, 1 if sent["what"] == "skip" else -1
            )
            session.opened = _load_dispute_with_draft(desk, user, disputes[beside])
    except (GenaipaError, ValueError) as error:
        session.opened = replace(
            opened, message=f"Not saved: {log_error_and_describe_for_desk(error)}", failures=opened.failures + 1
        )


def _copy_draft_with_sent_values(desk: Desk, draft: Draft, browser_data: Mapping[str, Any]) -> Draft:
    """Update the draft with the values, ticks and note that were sent; unchanged if these make no sense."""
    typed = str(browser_data["typed"])
    if not desk.rubric.are_draft_digits(typed):
        return draft
    note, seconds = str(browser_data["note"]), float(browser_data["seconds"])
    read = structs.replace(draft, typed=typed, note=note, seconds=seconds, ticks=UNSET, updated=now())
    prepared = _load_answer_without_suggestions(desk, draft.answer)
    try:
        for panel in prepared.panels:
            read = panel.update_draft(prepared.case, browser_data, read)
    except ValueError:
        return draft
    return read


def _draft_keys_note_and_ticks(draft: Draft) -> tuple[object, ...]:
    return draft.typed, draft.note, draft.ticks


def _save_adjudication(desk: Desk, user: User, opened: OpenDispute) -> None:
    draft = opened.draft
    desk.queue.adjudicate(
        user.name,
        opened.answer,
        desk.rubric.parse_digits(draft.typed),
        note=draft.note.strip(),
        seconds=draft.seconds,
        ticks=draft.ticks or None,
        id=opened.event,
    )


def _accept_mean_of_scores(desk: Desk, user: User, opened: OpenDispute) -> None:
    desk.queue.accept_mean(user.name, opened.answer, seconds=opened.draft.seconds)


def _send_answer_back_and_discard_draft(desk: Desk, user: User, opened: OpenDispute) -> None:
    """Send the answer back with the note; later the form is filled in from the new scores."""
    desk.queue.send_answer_back(user.name, opened.answer, opened.draft.note, seconds=opened.draft.seconds)
    desk.store.discard_draft(user.name, opened.answer, "adjudication")


_DECISIONS = {
    "save": (_save_adjudication, "Saved."),
    "mean": (_accept_mean_of_scores, "The mean stands."),
    "again": (
        _send_answer_back_and_discard_draft,
        "Sent back: the answer returns here once its analysts have looked at it again.",
    ),
}


def _load_next_dispute_unless_last(
    desk: Desk,
    user: User,
    opened: OpenDispute,
    disputes: Mapping[str, Dispute],
    filtered_answers: list[str],
    outcome_message: str,
) -> OpenDispute | None:
    """Return the next answer once something was decided about this one."""
    beside = _find_neighbouring_answer_cyclically(opened.answer, filtered_answers, 1)
    # The last one of its kind: the filters show the others.
    return None if beside == opened.answer else _load_dispute_with_draft(desk, user, disputes[beside], outcome_message)


def _find_neighbouring_answer_cyclically(answer: str, filtered_answers: list[str], step: int) -> str:
    """Find the answer after (1) or before (-1) this one; after the last comes the first."""
    position = filtered_answers.index(answer) if answer in filtered_answers else -1
    return filtered_answers[(position + step) % len(filtered_answers)] if filtered_answers else answer


def _find_own_last_decision(desk: Desk, user: User, disputes: Mapping[str, Dispute]) -> Event | None:
    """Return this adjudicator's last decision in effect: values, the mean, or a word that sent an answer back."""
    decisions = [event for dispute in disputes.values() for event in (dispute.adjudication, dispute.mean_acceptance)]
    decisions += [
        desk.current.latest_send_back(answer) for answer in disputes if desk.queue.analysts_yet_to_rescore(answer)
    ]
    mine = (event for event in decisions if event and event.analyst == user.name)
    return max(mine, key=desk.current.event_number, default=None)


def _withdraw_last_decision_and_reload(
    desk: Desk, user: User, opened: OpenDispute, disputes: Mapping[str, Dispute]
) -> OpenDispute:
    """Withdraw the last decision; its answer is there again with the note that was typed."""
    last = _find_own_last_decision(desk, user, disputes)
    if last is None:
        return opened
    desk.queue.withdraw_event_and_restore_draft(last)
    return _load_dispute_with_draft(
        desk, user, disputes[last.answer], "Your decision is withdrawn: here is the answer again."
    )
