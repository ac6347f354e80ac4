"""Adjudication: answers whose scores differ, every analyst's values side by side, and the values that settle them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st
from msgspec import UNSET, structs, to_builtins

from genaipa.errors import GenaipaError
from genaipa.files.stamps import now
from genaipa.scoring.events import Draft, Event, new_id
from genaipa.ui.answer_view import Prepared, in_words, metric_in_words, prepare, thread
from genaipa.ui.panel import panels
from genaipa.ui.widgets import ANY, component, desk_message, duration, format_time, notice, page_header, session_cached

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.scoring.assignment import Dispute
    from genaipa.scoring.people import User
    from genaipa.scoring.rubric import Rubric
    from genaipa.ui.desk import Desk

_NAMED = "adjudication names"
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
    def id(self) -> str:
        """Its id in the browser, which stops waiting when it gets another."""
        return f"{self.event} {self.failures}"


@dataclass
class AdjudicationSession:
    """The state of this page in one browser session; callbacks fetch it as `ScoringSession`'s do."""

    opened: OpenDispute | None = None
    filters: tuple[str, ...] = ()
    wanted: str = ""
    """The answer that another page led here for."""


def lead_to(answer: str) -> None:
    """Have the page open on this answer when it is next shown."""
    _session().wanted = answer


def _session() -> AdjudicationSession:
    session: AdjudicationSession = st.session_state.setdefault("adjudication session", AdjudicationSession())
    return session


def page(desk: Desk, user: User) -> None:
    """Show one disputed answer at a time; its adjudication is committed before the next is shown."""
    page_header("Adjudicate", seen=False)
    st.html("<style>.stMainBlockContainer{padding-inline:1.2rem}</style>")
    if user.why_no_adjudication:
        st.text(user.why_no_adjudication)
        return
    desk.current.refresh()
    found = disputes(desk, user)
    if not found:
        notice(
            "adjudication none",
            "There is nothing to settle: of the answers that have all their scores, none has scores that differ"
            + (" (answers that you can still be asked to score are left out)." if user.scores else "."),
        )
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        chosen = _chosen(desk, found)
        opened = _opened(desk, user, found, chosen)
        _say_where(found, chosen, opened)
    if opened is None:
        notice("adjudication done", "None of these is left. Choose others above.", "done")
        return
    try:
        prepared = _prepared(desk, opened.answer)
    except GenaipaError as error:
        desk.set_aside(opened.answer, error)
        st.rerun()
    try:
        desk.queue.record_exposures(user.name, [opened.answer], scores=True, system=not desk.queue.plan.blind)
    except GenaipaError as error:
        notice("adjudication trouble", desk_message(error), "bad")
        return
    left, right = st.columns([5, 6], gap="medium")
    with left:
        component("case")(
            key="case", data={"answer": prepared.shown, "document": prepared.document, "names": desk.rubric.names}
        )
    with right:
        component("verdict")(
            key="verdict",
            data=_on_screen(desk, user, found[opened.answer], opened, prepared)
            | {"can": _can(desk, user, found[opened.answer], found, chosen)},
            on_did_change=lambda: _take(desk, user, found, chosen),
        )


# -- which answer --


def disputes(desk: Desk, user: User) -> dict[str, Dispute]:
    """The disputes that this user may settle: answers with all their scores, the largest difference first."""
    stamp = (user.name, desk.current.event_count, len(desk.pool.arrivals), desk.pool.generation)

    def differing() -> dict[str, Dispute]:
        all_of_them = desk.queue.disputes(user.name, scores=user.scores)
        return {d.answer: d for d in all_of_them if len(d.scores) >= desk.queue.count_wanted_scores(d.answer)}

    return session_cached("adjudication disputes", stamp, differing)


def _chosen(desk: Desk, disputes: dict[str, Dispute]) -> list[str]:
    box = st.popover("Which answers", width="content")
    documents = sorted({desk.pool.answers[answer].document for answer in disputes})
    state = box.selectbox("Which", list(_STATES), key="adjudication state")
    metric = box.selectbox(
        "On which metric",
        [ANY, *desk.rubric.metrics],
        format_func=lambda m: desk.rubric.names.get(m, m),
        key="adjudication metric",
    )
    differences = sorted({more - less for more in desk.rubric.values for less in desk.rubric.values if more > less})
    least = box.selectbox("Apart by at least", differences, format_func=lambda v: f"{v:g}", key="adjudication least")
    document = box.selectbox("Document", [ANY, *documents], key="adjudication document")

    def apart(dispute: Dispute) -> float:
        return max(far for on, far in dispute.differences.items() if metric in (ANY, on))

    found = [
        answer
        for answer, dispute in disputes.items()
        if apart(dispute) >= least
        and document in (ANY, desk.pool.answers[answer].document)
        and state in (ANY, _state(desk, dispute))
    ]
    return sorted(found, key=lambda answer: -apart(disputes[answer]))


def _state(desk: Desk, dispute: Dispute) -> str:
    if dispute.settlement:
        return "settled"
    return "sent back" if desk.queue.pending_analysts(dispute.answer) else "not settled"


def _opened(desk: Desk, user: User, disputes: Mapping[str, Dispute], chosen: list[str]) -> OpenDispute | None:
    """The answer on screen while it is still in dispute, else the first that passes the filters."""
    session = _session()
    filters = tuple(st.session_state[f"adjudication {box}"] for box in ("state", "metric", "least", "document"))
    same_filters = session.filters == filters
    session.filters = filters
    wanted, session.wanted = session.wanted, ""
    if wanted in disputes:
        session.opened = _open(desk, user, disputes[wanted])
        return session.opened
    opened = session.opened
    stays = (
        opened is not None
        and opened.user == user.name
        and opened.answer in disputes
        # An answer whose adjudication was undone stays even if the filters exclude it.
        and (same_filters or opened.answer in chosen)
    )
    if not stays:
        opened = session.opened = _open(desk, user, disputes[chosen[0]]) if chosen else None
    return opened


def _open(desk: Desk, user: User, dispute: Dispute, message: str = "") -> OpenDispute:
    """An answer with this adjudicator's draft, else with their adjudication, else with what all analysts gave."""
    name, given = user.name, dispute.adjudication
    draft = desk.store.draft(name, dispute.answer, "adjudication")
    if draft is None:
        draft = Draft(name, dispute.answer, "adjudication")
        if given is not None and given.analyst == name and given.values is not None:
            keys = desk.rubric.format_keys(given.values)
            draft = structs.replace(draft, typed=keys, note=given.note, ticks=given.ticks or UNSET)
        else:
            draft = structs.replace(draft, typed=_agreed(desk.rubric, dispute))
    return OpenDispute(name, dispute.answer, new_id(), draft, message)


def _agreed(rubric: Rubric, dispute: Dispute) -> str:
    """The keys of the values that all analysts gave, and a dot where they differ."""
    values = next(score.values for score in dispute.scores.values() if score.values is not None)
    keys = rubric.format_keys(values)
    return "".join(
        "." if dispute.differences[metric] else key for metric, key in zip(rubric.metrics, keys, strict=True)
    )


def _say_where(disputes: Mapping[str, Dispute], chosen: list[str], opened: OpenDispute | None) -> None:
    settled = sum(1 for dispute in disputes.values() if dispute.settlement)
    means = sum(1 for dispute in disputes.values() if dispute.settlement and dispute.adjudication is None)
    by_mean = f" ({means:,} by the mean)" if means else ""
    where = (
        f" · {chosen.index(opened.answer) + 1:,} of {len(chosen):,} shown" if opened and opened.answer in chosen else ""
    )
    st.caption(f"{len(disputes):,} answers differ, {settled:,} of them settled{by_mean}{where}", width="content")
    st.checkbox("Show who gave what", key=_NAMED)


# -- what is on screen --


def _prepared(desk: Desk, answer: str) -> Prepared:
    """The answer with its evidence, as the pad has it; without the pad's suggestions."""

    def made() -> Prepared:
        plan = desk.queue.plan
        return prepare(
            desk.pool.load_case(answer), desk.rubric, blind=plan.blind, suggestions=False, panels=panels(plan)
        )

    return session_cached("adjudication case", (answer, desk.pool.generation), made)


def _on_screen(desk: Desk, user: User, dispute: Dispute, opened: OpenDispute, prepared: Prepared) -> dict[str, Any]:
    others = [event for event in (dispute.adjudication,) if event and event.analyst != user.name]
    columns = [*dispute.scores.values(), *others]
    about = [{"name": event.analyst, "about": _about(event), "note": event.note} for event in columns]
    names = None
    if not st.session_state.get(_NAMED):
        columns, about = _nameless(columns)
        names = {event.analyst: head["name"] for event, head in zip(columns, about, strict=True)}
    draft, rubric = opened.draft, desk.rubric
    case, on = prepared.case, panels(desk.queue.plan)
    return {
        "id": opened.id,
        "answer": opened.answer,
        "analysts": about,
        "metrics": [_metric(rubric, metric, dispute, columns) for metric in rubric.metrics],
        "draft": to_builtins(draft) | {"typed": draft.typed or rubric.blank_keys},
        "message": opened.message,
        "bound": desk.people.key_bindings,
        "thread": thread(desk, opened.answer, names),
        "panels": {name: on[name].show(case, rubric, columns) for name in prepared.shown["panels"]},
    }


def _nameless(columns: list[Event]) -> tuple[list[Event], list[dict[str, str]]]:
    """The scores in an order of each answer's own, and their heads: letters in place of names and times."""

    def drawn(event: Event) -> bytes:
        return hashlib.sha256(f"{event.answer}\0{event.analyst}".encode()).digest()

    columns = sorted(columns, key=drawn)
    heads = (
        f"{'Adjudicator' if event.kind == 'adjudication' else 'Analyst'} {chr(65 + n % 26)}"
        for n, event in enumerate(columns)
    )
    return columns, [
        {"name": head, "about": "", "note": event.note} for head, event in zip(heads, columns, strict=True)
    ]


def _can(
    desk: Desk, user: User, dispute: Dispute, disputes: Mapping[str, Dispute], chosen: list[str]
) -> dict[str, bool]:
    others = len(chosen) > 1
    last = _last(desk, user, disputes)
    return {
        "back": others,
        "skip": others,
        "undo": last is not None,
        "mean": dispute.settlement is None and desk.queue.is_close(dispute),
        "again": any(name != user.name for name in dispute.scores),
    }


def _about(event: Event) -> str:
    words = "adjudicated " if event.kind == "adjudication" else "calibration " if event.calibration else ""
    return f"{words}{format_time(event.time)}\n{duration(event.seconds)}"


def _metric(rubric: Rubric, metric: str, dispute: Dispute, columns: list[Event]) -> dict[str, Any]:
    return {
        **metric_in_words(rubric, metric),
        "given": [in_words(rubric, metric, event.values[metric]) for event in columns if event.values is not None],
        "differs": dispute.differences[metric] > 0,
    }


# -- what comes from the browser --


def _take(desk: Desk, user: User, disputes: Mapping[str, Dispute], chosen: list[str]) -> None:
    """Carry out an act of the adjudicator once: one for an answer no longer on screen was carried out before."""
    session, sent = _session(), st.session_state["verdict"].get("did")
    opened = session.opened
    if not sent or opened is None or sent["id"] != opened.id:
        return
    before, opened.draft = opened.draft, _drafted(desk, opened.draft, sent)
    try:
        if sent["what"] in _DECIDED:
            decide, message = _DECIDED[sent["what"]]
            decide(desk, user, opened)
            session.opened = _after(desk, user, opened, disputes, chosen, message)
            return
        if _typed(opened.draft) != _typed(before):
            desk.store.save_draft(opened.draft)
        if sent["what"] == "undo":
            session.opened = _undo(desk, user, opened, disputes)
        elif sent["what"] in ("skip", "back"):
            beside = _beside(opened.answer, chosen, 1 if sent["what"] == "skip" else -1)
            session.opened = _open(desk, user, disputes[beside])
    except (GenaipaError, ValueError) as error:
        session.opened = replace(opened, message=f"Not saved: {desk_message(error)}", failures=opened.failures + 1)


def _drafted(desk: Desk, draft: Draft, sent: Mapping[str, Any]) -> Draft:
    """The draft with the values, ticks and note that were sent; unchanged if these make no sense."""
    typed = str(sent["typed"])
    if not desk.rubric.are_draft_keys(typed):
        return draft
    note, seconds = str(sent["note"]), float(sent["seconds"])
    read = structs.replace(draft, typed=typed, note=note, seconds=seconds, ticks=UNSET, updated=now())
    prepared = _prepared(desk, draft.answer)
    try:
        for panel in prepared.panels:
            read = panel.keep(prepared.case, sent, read)
    except ValueError:
        return draft
    return read


def _typed(draft: Draft) -> tuple[object, ...]:
    return draft.typed, draft.note, draft.ticks


def _save(desk: Desk, user: User, opened: OpenDispute) -> None:
    draft = opened.draft
    desk.queue.adjudicate(
        user.name,
        opened.answer,
        desk.rubric.parse_keys(draft.typed),
        note=draft.note.strip(),
        seconds=draft.seconds,
        ticks=draft.ticks or None,
        id=opened.event,
    )


def _take_mean(desk: Desk, user: User, opened: OpenDispute) -> None:
    desk.queue.take_mean(user.name, opened.answer, seconds=opened.draft.seconds)


def _send_back(desk: Desk, user: User, opened: OpenDispute) -> None:
    """Send the answer back with the note as the word; what is filled in is made of the scores that come then."""
    desk.queue.send_back(user.name, opened.answer, opened.draft.note, seconds=opened.draft.seconds)
    desk.store.discard_draft(user.name, opened.answer, "adjudication")


_DECIDED = {
    "save": (_save, "Saved."),
    "mean": (_take_mean, "The mean stands."),
    "again": (_send_back, "Sent back: it comes up again here once its analysts have looked."),
}


def _after(
    desk: Desk,
    user: User,
    opened: OpenDispute,
    disputes: Mapping[str, Dispute],
    chosen: list[str],
    message: str,
) -> OpenDispute | None:
    """Return the next answer once something was decided about this one."""
    beside = _beside(opened.answer, chosen, 1)
    # The last one of its kind: the filters show the others.
    return None if beside == opened.answer else _open(desk, user, disputes[beside], message)


def _beside(answer: str, chosen: list[str], step: int) -> str:
    """The answer after (1) or before (-1) this one; after the last comes the first."""
    here = chosen.index(answer) if answer in chosen else -1
    return chosen[(here + step) % len(chosen)] if chosen else answer


def _last(desk: Desk, user: User, disputes: Mapping[str, Dispute]) -> Event | None:
    """Return this adjudicator's last decision in effect: values, the mean, or a word that sent an answer back."""
    given = [event for dispute in disputes.values() for event in (dispute.adjudication, dispute.mean_acceptance)]
    given += [desk.current.latest_return(answer) for answer in disputes if desk.queue.pending_analysts(answer)]
    mine = (event for event in given if event and event.analyst == user.name)
    return max(mine, key=desk.current.event_number, default=None)


def _undo(desk: Desk, user: User, opened: OpenDispute, disputes: Mapping[str, Dispute]) -> OpenDispute:
    """Withdraw the last decision; its answer is there again with the note that was typed."""
    last = _last(desk, user, disputes)
    if last is None:
        return opened
    desk.queue.withdraw(last)
    return _open(desk, user, disputes[last.answer], "Your decision is withdrawn: here is the answer again.")
