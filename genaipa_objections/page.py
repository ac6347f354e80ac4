"""The page Objections of the desk, about annotated answers: who said what, the proof, and the form that settles it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, get_args

import streamlit as st

from genaipa.errors import GenaipaError
from genaipa.questions.annotations import SAID
from genaipa.scoring.objections import (
    Status,
    collect_objections_even_withdrawn,
    digest_question_set_and_question_id,
    make_correction,
)
from genaipa.ui.widgets import (
    ANY,
    FOLD,
    ListRow,
    TitledText,
    format_utc_minute,
    log_error_and_describe_for_desk,
    show_notice,
    show_page_header,
    show_table_in_pages,
    show_texts,
)
from genaipa_objections.settling import format_corrections_export_command, make_objection_ruling_event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.questions.annotations import Correction, Silent
    from genaipa.scoring.answers import ScoringCase
    from genaipa.scoring.objections import FiledObjection
    from genaipa.scoring.people import User
    from genaipa.ui.desk import Desk

_CHOSEN = "objection chosen"
_SETTLED = "objection settled"
_ALONE = (
    "While you score, the desk hides objections that could influence you. An adjudicator who doesn't score (listed "
    "in desk.yaml under adjudicators, not under analysts) can settle them. You can also settle them in a terminal: "
    "genaipa scores objections accept ID --by NAME"
)
_SILENT: dict[Silent | None, str] = {
    None: "as annotated",
    "no": "answers the question",
    "partly": "answers only part of it",
    "yes": "is silent",
}


def list_objections_to_desk_answers(desk: Desk) -> list[FiledObjection]:
    """Return the objections that were made beside answers of this desk."""
    return [
        objection
        for objection in collect_objections_even_withdrawn(desk.current.list_objections_undos_and_rulings())
        if objection.event.answer in desk.pool.answers
    ]


def show_page(desk: Desk, user: User) -> None:
    """List the objections that this user may see, and settle one; the rest appear once their scores are in."""
    show_page_header("Objections", title_visible=False)
    if user.reason_user_may_not_adjudicate_or_empty:
        st.text(user.reason_user_may_not_adjudicate_or_empty)
        return
    desk.current.read_new_events()
    all_objections = list_objections_to_desk_answers(desk)
    visible = _hide_objections_while_user_may_score(desk, user, all_objections)
    counts = Counter(objection.status for objection in visible)
    state_counts = ", ".join(f"{counts[status]:,} {status}" for status in get_args(Status) if counts[status]) or "none"
    hidden = len(all_objections) - len(visible)
    later = (
        f" · {hidden:,} more {'is' if hidden == 1 else 'are'} hidden, because you may still be asked to score answers "
        "to these questions"
        if hidden
        else ""
    )
    st.caption(f"Annotated answers that somebody found wrong: {state_counts}{later}")
    if later:
        show_notice("objections hidden", _ALONE)
    if settled := st.session_state.pop(_SETTLED, ""):
        show_notice("objection settled", settled, "done")
    state = st.selectbox("Which", [*get_args(Status), ANY], key="objection state", width=240)
    chosen = [objection for objection in visible if state in (ANY, objection.status)]
    # By annotated answer, and of one in the order of the log.
    chosen.sort(
        key=lambda objection: (
            objection.objection.document,
            objection.objection.question,
            digest_question_set_and_question_id(objection.objection),
        )
    )
    if not chosen:
        show_notice("objections none", "There are no such objections.")
        return
    objection = next(
        (objection for objection in chosen if objection.event.id == st.session_state.get(_CHOSEN)), chosen[0]
    )
    columns = ("Document", "Question", "By", "When", "State")
    show_table_in_pages(
        "objections",
        "Objections",
        columns,
        chosen,
        _objection_row,
        chosen_row_id=objection.event.id,
        on_row_chosen=_remember_chosen_objection,
    )
    try:
        case = desk.pool.load_case(objection.event.answer)
        about_same_answer = (
            same_answer
            for same_answer in visible
            if digest_question_set_and_question_id(same_answer.objection)
            == digest_question_set_and_question_id(objection.objection)
        )
        beside = [
            same_answer
            for same_answer in about_same_answer
            if same_answer is objection or same_answer.status != "withdrawn"
        ]
        _record_that_user_saw_objections(desk, user, objection, beside)
    except GenaipaError as error:
        show_notice("objection trouble", log_error_and_describe_for_desk(error), "bad")
        return
    texts_column, form_column = st.columns(2, gap="medium")
    with texts_column:
        _show_question_and_objections(case, beside)
    with form_column:
        _show_ruling_form_and_store_ruling(desk, user, case, objection)


def _hide_objections_while_user_may_score(
    desk: Desk, user: User, objections: list[FiledObjection]
) -> list[FiledObjection]:
    """Select the objections except those to an annotated answer beside which this user may be asked to score."""
    if not user.scores or not objections:
        return objections
    answers = (desk.pool.answers.get(digest) for digest in desk.queue.answers_analyst_may_still_score(user.name))
    ahead = {(answer.document_digest, answer.question) for answer in answers if answer}
    return [
        objection for objection in objections if (objection.objection.digest, objection.objection.question) not in ahead
    ]


def _record_that_user_saw_objections(
    desk: Desk, user: User, objection: FiledObjection, shown_objections: Sequence[FiledObjection]
) -> None:
    """Record that this user saw what others think of these answers: a score changed later isn't independent."""
    if any(neighbour.event.analyst != user.name for neighbour in shown_objections):
        about = (objection.objection.digest, objection.objection.question)
        answers = [d for d, answer in desk.pool.answers.items() if (answer.document_digest, answer.question) == about]
        desk.queue.record_exposures(user.name, answers, sees_scores=True)


def _remember_chosen_objection(objection_id: str) -> None:
    st.session_state[_CHOSEN] = objection_id


def _objection_row(objection: FiledObjection) -> ListRow:
    objected = objection.objection
    return ListRow(
        (objected.document, objected.question, objection.event.analyst, objection.event.time[:10], objection.status),
        objection.event.id,
    )


def _show_question_and_objections(case: ScoringCase, objections: Sequence[FiledObjection]) -> None:
    """Show the question, the annotated answer, and every objection to it."""
    about = case.document.about.title or case.document.company
    show_texts(
        "objection question", [TitledText(case.original or case.asked_with_earlier_exchange, about, tone="strong")]
    )
    entries = []
    if case.annotated is not None:
        aside = ", ".join(filter(None, (SAID[case.annotated.silent], *case.annotated.sections)))
        entries.append(TitledText(case.annotated.answer, "Annotated answer", aside=aside, tone="good", fold=FOLD))
    for objection in objections:
        by = f"{objection.event.analyst}, {format_utc_minute(objection.event.time)}"
        entries.append(
            TitledText(
                _format_proposed_correction(case, objection.objection.correction),
                by,
                aside=objection.status,
                tone="note",
                fold=FOLD,
            )
        )
        if objection.ruling is not None:
            note = objection.ruling.note or "No reason was given."
            entries.append(
                TitledText(
                    note,
                    f"{objection.status} by {objection.ruling.analyst}",
                    aside=format_utc_minute(objection.ruling.time),
                )
            )
    show_texts("objection texts", entries)
    with st.expander("The document"):
        show_texts("objection document", [TitledText(case.document.text, about)])


def _format_proposed_correction(case: ScoringCase, correction: Correction) -> str:
    """Return an objection as text: what is right, why, and the passage that proves it."""
    passage = " ".join(correction.find_proving_sentence_or_empty(case.document.text).split())
    silent = f"The document {_SILENT[correction.silent]}." if correction.silent else ""
    return "\n\n".join(
        filter(None, (silent, correction.answer, correction.why and f"Why: {correction.why}", f"Passage: “{passage}”"))
    )


def _show_ruling_form_and_store_ruling(desk: Desk, user: User, case: ScoringCase, objection: FiledObjection) -> None:
    """Show the form with the correction as it was proposed or accepted, and the decision."""
    correction, key = objection.accepted_or_proposed_correction, objection.event.id
    with st.form(f"objection {key} {objection.status}"):
        silent = st.selectbox(
            "The document", list(_SILENT), list(_SILENT).index(correction.silent), format_func=_SILENT.__getitem__
        )
        answer = st.text_area("The right answer (empty to keep the annotated one)", correction.answer)
        passage = st.text_area("Passage that proves it", correction.find_proving_sentence_or_empty(case.document.text))
        why = st.text_area("Why the annotated answer is wrong", correction.why, height=68)
        reason = st.text_input(
            "Your reason, for the log (required to reject)", objection.ruling.note if objection.ruling else ""
        )
        buttons = st.container(horizontal=True)
        accepts = buttons.form_submit_button("Accept", type="primary")
        rejects = buttons.form_submit_button("Reject")
    if not accepts and not rejects:
        return
    try:
        before = case.annotated.silent if case.annotated else None
        settled = (
            make_correction(case.document, passage, silent=silent, answer=answer, why=why, annotated_silent=before)
            if accepts
            else None
        )
        desk.store.append_new_events([make_objection_ruling_event(objection, user.name, settled, reason=reason)])
    except GenaipaError as error:
        st.text(f"Not settled: {error}")
    else:
        export = (
            " To write a file of corrections: "
            f"{format_corrections_export_command(desk.workspace, objection.objection.document)}"
        )
        st.session_state[_SETTLED] = f"{objection.objection.question} of {objection.objection.document} is " + (
            f"accepted.{export}" if accepts else "rejected."
        )
        # It stays on screen, with its new state, where the filter shows it.
        st.rerun()
