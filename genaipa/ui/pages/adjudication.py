"""Adjudication: answers whose scores differ, every analyst's values side by side, and the values that settle them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st
from msgspec import structs

from genaipa.errors import GenaipaError
from genaipa.scoring.events import Draft, Event, new_id, now
from genaipa.scoring.evidence.examine import annotated_targets
from genaipa.ui.answer_view import in_words, metric_in_words
from genaipa.ui.components import component
from genaipa.ui.widgets import ANY, FOLD, Text, duration, head, kept, moment, notice, texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.scoring.answers import Case
    from genaipa.scoring.assignment import Dispute
    from genaipa.scoring.rubric import Rubric
    from genaipa.ui.desk import Desk, Visitor

_STATES = {"not adjudicated": False, "adjudicated": True, ANY: None}


@dataclass
class Place:
    """What is on the adjudicator's screen.

    `event` becomes the event's id, so that Enter pressed twice is one adjudication. `message` is what came of the last
    one, and `failures` how often saving this one has failed.
    """

    visitor: str
    answer: str
    event: str
    draft: Draft
    message: str = ""
    failures: int = 0

    @property
    def id(self) -> str:
        """Under which the browser knows it: another one takes the browser out of its waiting."""
        return f"{self.event} {self.failures}"


@dataclass
class Sitting:
    """What one session settles: the answer on screen, and by what the answers were chosen.

    Streamlit may break off a callback wherever that reaches into the session's state, if the browser has sent something
    else meanwhile. So a callback reaches there once, before it does anything.
    """

    place: Place | None = None
    filters: tuple[str, ...] = ()


def _sitting() -> Sitting:
    sitting: Sitting = st.session_state.setdefault("adjudication sitting", Sitting())
    return sitting


def page(desk: Desk, visitor: Visitor) -> None:
    """One answer at a time whose scores differ; what settles it is committed before the next is shown."""
    head()
    if not visitor.adjudicates:
        notice("adjudication closed", "Only adjudicators settle answers whose scores differ, and you are not one.")
        return
    desk.current.refresh()
    disputes = _disputes(desk, visitor)
    if not disputes:
        notice(
            "adjudication none",
            "There is nothing to settle: of the answers that have all their scores, none has scores that differ"
            + (" (those that you can still be asked to score are left out)." if visitor.scores else "."),
        )
        return
    chosen = _chosen(desk, disputes)
    place = _place(desk, visitor, disputes, chosen)
    _say_where(disputes, chosen, place)
    if place is None:
        notice("adjudication done", "None of these is left. Choose others above.", "done")
        return
    try:
        case = desk.pool.case(place.answer)
    except GenaipaError as error:
        desk.set_aside(place.answer, error)
        st.rerun()
    try:
        desk.queue.expose(visitor.name, [place.answer], scores=True, system=not desk.queue.plan.blind)
    except GenaipaError as error:
        notice("adjudication trouble", str(error), "bad")
        return
    left, right = st.columns([5, 6], gap="medium")
    with left:
        _show_case(desk, case)
    with right:
        component("verdict")(
            key="verdict",
            data=_on_screen(desk, visitor, disputes[place.answer], place) | {"can": _can(visitor, disputes, chosen)},
            on_did_change=lambda: _take(desk, visitor, disputes, chosen),
        )


# -- which answer --


def _disputes(desk: Desk, visitor: Visitor) -> dict[str, Dispute]:
    """Everything that this visitor may settle: what has all its scores, what differs most first."""
    stamp = (visitor.name, desk.current.seen, len(desk.pool.arrived), desk.pool.generation)

    def found() -> dict[str, Dispute]:
        disputes = desk.queue.disputes(visitor.name, scores=visitor.scores)
        return {d.answer: d for d in disputes if len(d.scores) >= desk.queue.wanted(d.answer)}

    return kept("adjudication disputes", stamp, found)


def _differences(rubric: Rubric) -> list[float]:
    """By how much two values of the rubric can differ."""
    return sorted({more - less for more in rubric.values for less in rubric.values if more > less})


def _chosen(desk: Desk, disputes: dict[str, Dispute]) -> list[str]:
    """The answers that the filters leave, in order."""
    boxes = st.columns(4)
    documents = sorted({desk.pool.answers[answer].document for answer in disputes})
    state = boxes[0].selectbox("Which", list(_STATES), key="adjudication state")
    metric = boxes[1].selectbox(
        "On which metric",
        [ANY, *desk.rubric.metrics],
        format_func=lambda m: desk.rubric.names.get(m, m),
        key="adjudication metric",
    )
    least = boxes[2].selectbox(
        "Apart by at least", _differences(desk.rubric), format_func=lambda v: f"{v:g}", key="adjudication least"
    )
    document = boxes[3].selectbox("Document", [ANY, *documents], key="adjudication document")

    def apart(dispute: Dispute) -> float:
        return max(far for on, far in dispute.differences.items() if metric in (ANY, on))

    found = [
        answer
        for answer, dispute in disputes.items()
        if apart(dispute) >= least
        and document in (ANY, desk.pool.answers[answer].document)
        and _STATES[state] in (None, dispute.adjudication is not None)
    ]
    return sorted(found, key=lambda answer: -apart(disputes[answer]))


def _place(desk: Desk, visitor: Visitor, disputes: Mapping[str, Dispute], chosen: list[str]) -> Place | None:
    """What stays on screen, or was gone to; else the first answer that the filters leave."""
    sitting = _sitting()
    filters = tuple(st.session_state[f"adjudication {box}"] for box in ("state", "metric", "least", "document"))
    same_filters = sitting.filters == filters
    sitting.filters = filters
    place = sitting.place
    stays = (
        place is not None
        and place.visitor == visitor.name
        and place.answer in disputes
        # An answer whose adjudication was undone stands there even where the filters leave it out.
        and (same_filters or place.answer in chosen)
    )
    if not stays:
        place = sitting.place = _at(desk, visitor, disputes[chosen[0]]) if chosen else None
    return place


def _at(desk: Desk, visitor: Visitor, dispute: Dispute, message: str = "") -> Place:
    """An answer with what this adjudicator had typed for it: the draft, else how they settled it before."""
    name, standing = visitor.name, dispute.adjudication
    draft = desk.store.draft(name, dispute.answer, "adjudication")
    if draft is None and standing is not None and standing.analyst == name and standing.values is not None:
        draft = Draft(
            name, dispute.answer, "adjudication", typed=desk.rubric.keys_of(standing.values), note=standing.note
        )
    return Place(name, dispute.answer, new_id(), draft or Draft(name, dispute.answer, "adjudication"), message)


def _say_where(disputes: Mapping[str, Dispute], chosen: list[str], place: Place | None) -> None:
    settled = sum(1 for dispute in disputes.values() if dispute.adjudication)
    where = (
        f" · {chosen.index(place.answer) + 1:,} of {len(chosen):,} shown" if place and place.answer in chosen else ""
    )
    st.caption(f"{len(disputes):,} answers differ, {settled:,} of them adjudicated{where}")


# -- what is on screen --


def _show_case(desk: Desk, case: Case) -> None:
    """The question, the answer and the annotated answer with the sections that it rests on."""
    original = f"Originally: {case.original}" if case.original else ""
    about = case.document.about.title or case.document.company
    texts("adjudication question", [Text(case.asked, about, aside=original, tone="strong")])
    reply = case.masked_reply() if desk.queue.plan.blind else case.reply
    texts("adjudication texts", [Text(reply, "Answer", fold=FOLD), _annotated(case, desk.rubric.silent_rule)])
    if case.annotated and case.annotated.sections:
        with st.expander("What the annotated answer rests on"):
            texts("adjudication sections", _sections(case))
    with st.expander("The document"):
        texts("adjudication document text", [Text(case.document.text, about)])


def _annotated(case: Case, silent_rule: str) -> Text:
    annotated = case.annotated
    if annotated is None:
        return Text("There is none for this question.", "Annotated answer", tone="system")
    said = "\n\n".join(filter(None, (annotated.answer, silent_rule if annotated.silent else "", annotated.note)))
    return Text(said, "Annotated answer", aside=", ".join(annotated.sections), tone="good", fold=FOLD)


def _sections(case: Case) -> list[Text]:
    assert case.annotated is not None
    return [
        Text(case.document.text[slice(*span)], label, fold=FOLD) if span else Text("not in this document", label)
        for label, span in annotated_targets(case.annotated, case.document, case.part_set)
    ]


def _on_screen(desk: Desk, visitor: Visitor, dispute: Dispute, place: Place) -> dict[str, Any]:
    others = [event for event in (dispute.adjudication,) if event and event.analyst != visitor.name]
    columns = [*dispute.scores.values(), *others]
    draft, rubric = place.draft, desk.rubric
    return {
        "id": place.id,
        "answer": place.answer,
        "analysts": [{"name": event.analyst, "about": _about(event), "note": event.note} for event in columns],
        "metrics": [_metric(rubric, metric, dispute, columns) for metric in rubric.metrics],
        "draft": {"typed": draft.typed or rubric.untyped, "note": draft.note, "seconds": draft.seconds},
        "message": place.message,
    }


def _can(visitor: Visitor, disputes: Mapping[str, Dispute], chosen: list[str]) -> dict[str, bool]:
    others = len(chosen) > 1
    return {"back": others, "skip": others, "undo": _last(visitor, disputes) is not None}


def _about(event: Event) -> str:
    words = "adjudicated " if event.kind == "adjudication" else "calibration " if event.calibration else ""
    return f"{words}{moment(event.time)}\n{duration(event.seconds)}"


def _metric(rubric: Rubric, metric: str, dispute: Dispute, columns: list[Event]) -> dict[str, Any]:
    return {
        **metric_in_words(rubric, metric),
        "given": [in_words(rubric, metric, event.values[metric]) for event in columns if event.values is not None],
        "differs": dispute.differences[metric] > 0,
    }


# -- what comes from the browser --


def _take(desk: Desk, visitor: Visitor, disputes: Mapping[str, Dispute], chosen: list[str]) -> None:
    """Carry out what the adjudicator did, once: what belongs to an answer no longer on screen was carried out."""
    sitting, sent = _sitting(), st.session_state["verdict"].get("did")
    place = sitting.place
    if not sent or place is None or sent["id"] != place.id:
        return
    before, place.draft = place.draft, _drafted(desk.rubric, place.draft, sent)
    try:
        if sent["what"] == "save":
            sitting.place = _save(desk, visitor, place, disputes, chosen)
            return
        if (place.draft.typed, place.draft.note) != (before.typed, before.note):
            desk.store.save_draft(place.draft)
        if sent["what"] == "undo":
            sitting.place = _undo(desk, visitor, place, disputes)
        elif sent["what"] in ("skip", "back"):
            beside = _beside(place.answer, chosen, 1 if sent["what"] == "skip" else -1)
            sitting.place = _at(desk, visitor, disputes[beside])
    except (GenaipaError, ValueError) as error:
        sitting.place = replace(place, message=f"Not saved: {error}", failures=place.failures + 1)


def _drafted(rubric: Rubric, draft: Draft, sent: Mapping[str, Any]) -> Draft:
    """What is typed by now; the draft as it was where that can't be understood."""
    typed = str(sent["typed"])
    if not rubric.can_be_typed(typed):
        return draft
    return structs.replace(draft, typed=typed, note=str(sent["note"]), seconds=float(sent["seconds"]), updated=now())


def _save(
    desk: Desk, visitor: Visitor, place: Place, disputes: Mapping[str, Dispute], chosen: list[str]
) -> Place | None:
    """Commit the adjudication; the next answer."""
    draft = place.draft
    desk.queue.adjudicate(
        visitor.name,
        place.answer,
        desk.rubric.typed(draft.typed),
        note=draft.note.strip(),
        seconds=draft.seconds,
        id=place.event,
    )
    beside = _beside(place.answer, chosen, 1)
    # The last one of its kind: the filters say what is left.
    return None if beside == place.answer else _at(desk, visitor, disputes[beside], "Saved.")


def _beside(answer: str, chosen: list[str], step: int) -> str:
    """The answer after (1) or before (-1) this one; after the last comes the first."""
    here = chosen.index(answer) if answer in chosen else -1
    return chosen[(here + step) % len(chosen)] if chosen else answer


def _last(visitor: Visitor, disputes: Mapping[str, Dispute]) -> Event | None:
    """The latest adjudication of this visitor that stands."""
    given = (dispute.adjudication for dispute in disputes.values())
    return max((e for e in given if e and e.analyst == visitor.name), key=lambda event: event.time, default=None)


def _undo(desk: Desk, visitor: Visitor, place: Place, disputes: Mapping[str, Dispute]) -> Place:
    """Withdraw the last adjudication; its answer is there again with what was typed."""
    last = _last(visitor, disputes)
    if last is None or desk.queue.undo_adjudication(visitor.name, last.answer) is None:
        return place
    return _at(desk, visitor, disputes[last.answer], "Your adjudication is withdrawn: here is the answer again.")
