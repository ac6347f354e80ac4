"""The page Objections of the desk, about annotated answers: who said what, the proof, and the form that settles it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, get_args

import streamlit as st

from genaipa.errors import GenaipaError
from genaipa.questions.annotations import SAID
from genaipa.scoring.objections import Status, annotation_key, collect_objections, make_correction
from genaipa.ui.widgets import (
    ANY,
    FOLD,
    ListRow,
    Text,
    desk_message,
    format_time,
    long_table,
    notice,
    page_header,
    texts,
)
from genaipa_objections.settling import export_command, settle_objection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.questions.annotations import Correction, Silent
    from genaipa.scoring.answers import Case
    from genaipa.scoring.objections import FiledObjection
    from genaipa.scoring.people import User
    from genaipa.ui.desk import Desk

_CHOSEN = "objection chosen"
_SETTLED = "objection settled"
_ALONE = (
    "While you score, you see none that could sway you. Somebody who doesn't score can settle them: named under "
    "adjudicators, not under analysts, in desk.yaml. Or in a terminal: genaipa scores objections accept ID --by NAME"
)
_SILENT: dict[Silent | None, str] = {
    None: "as annotated",
    "no": "answers the question",
    "partly": "answers only some of it",
    "yes": "is silent",
}


def list_objections(desk: Desk) -> list[FiledObjection]:
    """Return the objections that were made beside answers of this desk."""
    return [one for one in collect_objections(desk.current.objections()) if one.event.answer in desk.pool.answers]


def page(desk: Desk, user: User) -> None:
    """List the objections that this user may see, and settle one; others' come when their own scores are in."""
    page_header("Objections", seen=False)
    if user.why_no_adjudication:
        st.text(user.why_no_adjudication)
        return
    desk.current.refresh()
    every = list_objections(desk)
    found = _select_visible(desk, user, every)
    counts = Counter(one.status for one in found)
    said = ", ".join(f"{counts[status]:,} {status}" for status in get_args(Status) if counts[status]) or "none"
    hidden = len(every) - len(found)
    later = f" · {hidden:,} more about annotated answers beside which you can still be asked to score" if hidden else ""
    st.caption(f"Annotated answers that somebody found wrong: {said}{later}")
    if later:
        notice("objections hidden", _ALONE)
    if settled := st.session_state.pop(_SETTLED, ""):
        notice("objection settled", settled, "done")
    state = st.selectbox("Which", [*get_args(Status), ANY], key="objection state", width=240)
    chosen = [one for one in found if state in (ANY, one.status)]
    # By annotated answer, and of one in the order of the log.
    chosen.sort(key=lambda one: (one.objection.document, one.objection.question, annotation_key(one.objection)))
    if not chosen:
        notice("objections none", "There is none of these.")
        return
    one = next((one for one in chosen if one.event.id == st.session_state.get(_CHOSEN)), chosen[0])
    columns = ("Document", "Question", "By", "When", "State")
    long_table("objections", "Objections", columns, chosen, _row, chosen=one.event.id, choose=_choose)
    try:
        case = desk.pool.load_case(one.event.answer)
        same = (other for other in found if annotation_key(other.objection) == annotation_key(one.objection))
        beside = [other for other in same if other is one or other.status != "withdrawn"]
        _expose(desk, user, one, beside)
    except GenaipaError as error:
        notice("objection trouble", desk_message(error), "bad")
        return
    left, right = st.columns(2, gap="medium")
    with left:
        _show(case, beside)
    with right:
        _settle(desk, user, case, one)


def _select_visible(desk: Desk, user: User, every: list[FiledObjection]) -> list[FiledObjection]:
    """Without those about an annotated answer beside which this user can still be asked to score an answer."""
    if not user.scores or not every:
        return every
    answers = (desk.pool.answers.get(digest) for digest in desk.queue.answers_ahead(user.name))
    ahead = {(answer.document_digest, answer.question) for answer in answers if answer}
    return [one for one in every if (one.objection.digest, one.objection.question) not in ahead]


def _expose(desk: Desk, user: User, one: FiledObjection, beside: Sequence[FiledObjection]) -> None:
    """Record that this user saw what others think of these answers: a score changed later isn't independent."""
    if any(other.event.analyst != user.name for other in beside):
        about = (one.objection.digest, one.objection.question)
        answers = [d for d, answer in desk.pool.answers.items() if (answer.document_digest, answer.question) == about]
        desk.queue.record_exposures(user.name, answers, scores=True)


def _choose(which: str) -> None:
    st.session_state[_CHOSEN] = which


def _row(one: FiledObjection) -> ListRow:
    said = one.objection
    return ListRow((said.document, said.question, one.event.analyst, one.event.time[:10], one.status), one.event.id)


def _show(case: Case, beside: Sequence[FiledObjection]) -> None:
    """Show the question, the annotated answer, and every objection to it."""
    about = case.document.about.title or case.document.company
    texts("objection question", [Text(case.original or case.asked, about, tone="strong")])
    entries = []
    if case.annotated is not None:
        aside = ", ".join(filter(None, (SAID[case.annotated.silent], *case.annotated.sections)))
        entries.append(Text(case.annotated.answer, "Annotated answer", aside=aside, tone="good", fold=FOLD))
    for one in beside:
        by = f"{one.event.analyst}, {format_time(one.event.time)}"
        entries.append(
            Text(_word_objection(case, one.objection.correction), by, aside=one.status, tone="note", fold=FOLD)
        )
        if one.ruling is not None:
            note = one.ruling.note or "No reason is given."
            entries.append(Text(note, f"{one.status} by {one.ruling.analyst}", aside=format_time(one.ruling.time)))
    texts("objection texts", entries)
    with st.expander("The document"):
        texts("objection document", [Text(case.document.text, about)])


def _word_objection(case: Case, right: Correction) -> str:
    """Return an objection as text: what is right, why, and the passage that proves it."""
    passage = " ".join(right.find_proof(case.document.text).split())
    silent = f"The document {_SILENT[right.silent]}." if right.silent else ""
    return "\n\n".join(filter(None, (silent, right.answer, right.why and f"Why: {right.why}", f"Passage: “{passage}”")))


def _settle(desk: Desk, user: User, case: Case, one: FiledObjection) -> None:
    """Show the form with the correction as it was proposed or accepted, and the decision."""
    right, key = one.correction, one.event.id
    with st.form(f"objection {key} {one.status}"):
        silent = st.selectbox(
            "The document", list(_SILENT), list(_SILENT).index(right.silent), format_func=_SILENT.__getitem__
        )
        answer = st.text_area("The right answer (empty: as annotated)", right.answer)
        passage = st.text_area("Passage that proves it", right.find_proof(case.document.text))
        why = st.text_area("Why the annotated answer is wrong", right.why, height=68)
        reason = st.text_input("Your reason, for the log (needed to reject)", one.ruling.note if one.ruling else "")
        buttons = st.container(horizontal=True)
        accepts = buttons.form_submit_button("Accept", type="primary")
        rejects = buttons.form_submit_button("Reject")
    if not accepts and not rejects:
        return
    try:
        before = case.annotated.silent if case.annotated else None
        settled = (
            make_correction(case.document, passage, silent=silent, answer=answer, why=why, annotated=before)
            if accepts
            else None
        )
        desk.store.append([settle_objection(one, user.name, settled, reason=reason)])
    except GenaipaError as error:
        st.text(f"Not settled: {error}")
    else:
        export = f" Into a file of corrections: {export_command(desk.workspace, one.objection.document)}"
        st.session_state[_SETTLED] = f"{one.objection.question} of {one.objection.document} is " + (
            f"accepted.{export}" if accepts else "rejected."
        )
        # It stays on screen, with its new state, where the filter shows it.
        st.rerun()
