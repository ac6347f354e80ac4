"""Agreement page: how much the analysts agree, where they differ most, and who is more lenient."""

from __future__ import annotations

from functools import lru_cache
from math import isnan
from typing import TYPE_CHECKING

import streamlit as st

from genaipa.scoring.agreement import (
    Agreement,
    AnalystLeniency,
    AnalystPair,
    explain_missing_alpha_or_empty,
    measure_analyst_agreement,
)
from genaipa.stats.agreement import LEVEL
from genaipa.ui.answer_view import (
    annotated_answer_with_warning_if_wrong,
    load_case_or_rerun_page,
    make_question_text_to_scroll_to,
    show_scores_recording_exposure,
)
from genaipa.ui.download import offer_scores_download_recording_exposure
from genaipa.ui.pages import adjudication
from genaipa.ui.panel import load_panels_enabled_by_plan
from genaipa.ui.scoring_session import read_question_and_reply_beginning
from genaipa.ui.widgets import (
    FOLD,
    PAGES_KEY,
    SHORT,
    ListCell,
    ListColumn,
    ListRow,
    TitledText,
    cache_in_session,
    number_column_heads,
    show_heading,
    show_notice,
    show_page_header,
    show_table,
    show_table_in_pages,
    show_texts,
)
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.scoring.answers import AnswerPool
    from genaipa.scoring.assignment import Dispute
    from genaipa.scoring.current import CurrentScores
    from genaipa.scoring.people import User
    from genaipa.scoring.rubric import Rubric
    from genaipa.scoring.store import ScoreStore
    from genaipa.stats.agreement import ScaleAgreement
    from genaipa.ui.desk import Desk

ANSWER = "agreement answer"
"""Key of the chosen answer in the session's state."""
FEW = 30
"""Answers below which a number about agreement is said to rest on few."""


def show_page(desk: Desk, user: User) -> None:
    """Show the agreement of the people's current scores."""
    show_page_header("Agreement")
    desk.current.read_new_events()
    agreement, left_out = measure_agreement_and_dropped_count(desk)
    if left_out:
        scores = "One score is" if left_out == 1 else f"{left_out:,} scores are"
        st.caption(
            f"{scores} left out because the analyst had already seen how others scored the answer; scores that "
            "analysts gave before that are used instead."
        )
    if not agreement.answers:
        show_notice("agreement none", "No answer has been scored by two analysts yet, so there is nothing to compare.")
        return
    answers = f"{format_count(agreement.answers, 'answer')} scored by two or more analysts"
    st.caption(f"Based on {answers}; only scores by people count, including calibration.")
    if agreement.answers < FEW:
        show_notice(
            "agreement few",
            f"With fewer than {FEW} answers, these numbers may change a lot with every score.",
            "warning",
        )
    _show_agreement_by_metric(agreement, desk.rubric)
    _show_analyst_pairs_that_differ_most(agreement, desk.rubric)
    _show_leniency_and_drift(agreement, desk.rubric)
    for panel in load_panels_enabled_by_plan().values():
        panel.show_agreement(desk, user)
    _show_disputes_recording_exposure(desk, user)
    offer_scores_download_recording_exposure(desk, user)


def measure_agreement_and_dropped_count(desk: Desk, excluded_analysts: tuple[str, ...] = ()) -> tuple[Agreement, int]:
    """Return the agreement on the desk's answers, and the number of scores left out.

    These are not independent. Scores of `excluded_analysts` do not count.
    """
    stamp = (desk.pool.generation, len(desk.pool.arrivals), desk.current.event_count)
    return _agreement_and_dropped_count_cached(desk.pool, desk.current, desk.store, excluded_analysts, stamp)


@lru_cache(maxsize=2)
def _agreement_and_dropped_count_cached(
    pool: AnswerPool,
    current: CurrentScores,
    store: ScoreStore,
    excluded_analysts: tuple[str, ...],
    _stamp: tuple[int, ...],
) -> tuple[Agreement, int]:
    """Measure the agreement once for all sessions, and again after a new answer or score."""
    all_scores = [
        score
        for score in current.list_all_current_scores()
        if score.answer in pool.answers and score.analyst not in excluded_analysts
    ]
    left_out = sum(not score.independent for score in all_scores)
    independent_scores = current.independent_human_scores()
    scores = [
        score for score in independent_scores if score.answer in pool.answers and score.analyst not in excluded_analysts
    ]
    return measure_analyst_agreement(scores, store.rubric), left_out


def _make_metric_column_heads(rubric: Rubric, heading_suffix: str = "") -> list[str | ListColumn]:
    return number_column_heads(
        *(f"{SHORT.get(metric, name)}{heading_suffix}" for metric, name in rubric.display_names.items())
    )


def _show_agreement_by_metric(agreement: Agreement, rubric: Rubric) -> None:
    show_heading("By metric")
    show_table(
        "agreement metrics",
        "Agreement by metric",
        [
            "metric",
            f"Krippendorff's alpha, {LEVEL:.0%} interval",
            *number_column_heads("AC2", "most common value", "equal values", "mean difference"),
        ],
        [
            ListRow(
                (
                    rubric.display_names[metric],
                    _make_alpha_cell(measures),
                    _format_two_decimals_or_dash(measures.ac2),
                    _format_percent_or_dash(measures.commonest),
                    _format_percent_or_dash(measures.equal),
                    _format_two_decimals_or_dash(measures.difference),
                )
            )
            for metric, measures in agreement.metrics.items()
        ],
    )
    st.caption(
        "Alpha for ordinal values: 1 is perfect agreement, 0 (the line) agreement by chance. The interval "
        "shows where alpha could lie for other answers of this kind. Gwet's AC2 stays high where nearly all "
        "values are equal and alpha falls."
    )


def _make_alpha_cell(measures: ScaleAgreement) -> ListCell:
    reason = explain_missing_alpha_or_empty(measures.why, measures.value)
    if isnan(measures.alpha):
        return ListCell(reason, tone="quiet")
    if isnan(measures.low):
        return ListCell(f"{measures.alpha:.2f}{f' ({reason})' if reason else ''}", value=measures.alpha)
    return ListCell(
        f"{measures.alpha:.2f}  [{measures.low:.2f}, {measures.high:.2f}]",
        low=measures.low,
        value=measures.alpha,
        high=measures.high,
    )


def _show_analyst_pairs_that_differ_most(agreement: Agreement, rubric: Rubric) -> None:
    show_heading("Pairs that differ most")
    columns = [
        "analysts",
        *number_column_heads("answers", "mean difference"),
        *_make_metric_column_heads(rubric, " equal"),
    ]
    show_table_in_pages("agreement pairs", "Pairs of analysts", columns, agreement.pairs, _make_analyst_pair_row)


def _make_analyst_pair_row(pair: AnalystPair) -> ListRow:
    equal = (_format_percent_or_dash(metric.equal) for metric in pair.metrics.values())
    return ListRow(
        (
            " and ".join(pair.analysts),
            _make_answer_count_cell_grey_if_few(pair.answers),
            _format_two_decimals_or_dash(pair.difference),
            *equal,
        )
    )


def _show_leniency_and_drift(agreement: Agreement, rubric: Rubric) -> None:
    show_heading("Leniency and drift")
    columns = [
        "analyst",
        *number_column_heads("answers", "overall"),
        *_make_metric_column_heads(rubric),
        *number_column_heads("drift"),
    ]
    show_table_in_pages(
        "agreement leanings", "Leniency by analyst", columns, agreement.leanings, _make_leniency_and_drift_row
    )
    st.caption(
        "An analyst's value minus the mean of the others' on the same answers: above 0 is more lenient. "
        "Drift is the change of this difference from the earlier half of these answers to the later half."
        + (f" Grey: fewer than {FEW} answers." if any(leaning.answers < FEW for leaning in agreement.leanings) else "")
    )


def _make_leniency_and_drift_row(leaning: AnalystLeniency) -> ListRow:
    lenient = map(_format_signed_decimals_or_dash, leaning.lenient.values())
    drift = _format_signed_decimals_or_dash(leaning.drift)
    return ListRow(
        (
            leaning.analyst,
            _make_answer_count_cell_grey_if_few(leaning.answers),
            _format_signed_decimals_or_dash(leaning.overall),
            *lenient,
            drift,
        )
    )


def _show_disputes_recording_exposure(desk: Desk, user: User) -> None:
    """Show the answers whose scores differ most, except any that the user could be asked to score."""
    show_heading("Answers that differ most")
    name = user.name
    disputes = cache_in_session(
        "agreement disputes",
        (name, desk.current.event_count),
        lambda: sorted(
            desk.queue.visible_open_and_settled_disputes(name, gives_scores=user.scores),
            key=lambda d: -sum(d.differences.values()),
        ),
    )
    if not disputes:
        hidden = " among those that you may see: answers that you can still be asked to score are left out"
        show_notice("agreement same", f"No scores differ{hidden if user.scores else ''}.")
        return
    columns = ["question", "answer begins", "document", "analysts", *_make_metric_column_heads(desk.rubric), "settled"]

    def record_scores_of_page_as_seen(page: Sequence[Dispute]) -> None:
        desk.queue.record_exposures(name, [dispute.answer for dispute in page], sees_scores=True)

    title = "Answers that differ most"
    show_table_in_pages(
        "agreement answers",
        title,
        columns,
        disputes,
        lambda d: _make_dispute_row(desk, d),
        chosen_row_id=st.session_state.get(ANSWER, ""),
        on_row_chosen=lambda digest: st.session_state.update({ANSWER: digest}),
        before_showing_page=record_scores_of_page_as_seen,
    )
    st.caption(
        "The difference between the highest and the lowest value of each metric, red if it spans the whole scale. "
        "Answers that you can still be asked to score are left out. Choose an answer to read it."
    )
    chosen = st.session_state.get(ANSWER, "")
    if any(dispute.answer == chosen for dispute in disputes):
        _show_disputed_answer_with_settle_button(desk, user, chosen)


def _show_disputed_answer_with_settle_button(desk: Desk, user: User, answer_digest: str) -> None:
    """Show an answer in dispute, as whoever settles it has it, with everyone's scores and notes."""
    answer = desk.pool.answers.get(answer_digest)
    if answer is None:
        return
    case = load_case_or_rerun_page(desk, answer_digest)
    reply = case.mask_names_in_reply() if desk.queue.plan.blind else case.reply
    entries = [
        make_question_text_to_scroll_to(case, answer_digest),
        TitledText(reply, "Answer", fold=FOLD),
        *annotated_answer_with_warning_if_wrong(case),
    ]
    show_texts("agreement reply", entries)
    show_scores_recording_exposure(desk, user, answer, key_prefix="agreement scores")
    if user.adjudicates and answer_digest in adjudication.disputes_user_may_settle_by_answer(desk, user):
        adjudication_page = st.session_state.get(PAGES_KEY, {}).get("adjudicate")
        if (
            st.button("Settle this answer", on_click=adjudication.open_answer_on_next_visit, args=(answer_digest,))
            and adjudication_page
        ):
            st.switch_page(adjudication_page)


def _make_dispute_row(desk: Desk, dispute: Dispute) -> ListRow:
    answer = desk.pool.answers[dispute.answer]
    widest = max(desk.rubric.values) - min(desk.rubric.values)
    spread = (_make_difference_cell_red_if_maximal(difference, widest) for difference in dispute.differences.values())
    settled = dispute.adjudication_or_mean_acceptance.analyst if dispute.adjudication_or_mean_acceptance else ""
    words, begins = read_question_and_reply_beginning(desk, dispute.answer)
    question = f"{words} ({answer.question})"
    by_mean = " (the mean)" if settled and not dispute.adjudication else ""
    about = (question, begins, answer.document, ", ".join(dispute.scores))
    cells: tuple[str | ListCell, ...] = (*about, *spread, f"{settled}{by_mean}")
    return ListRow(cells, id=dispute.answer)


def _make_difference_cell_red_if_maximal(difference: float, maximum: float) -> ListCell:
    """Show the distance of two values: red from one end of the scale to the other, grey for not at all."""
    return ListCell(f"{difference:g}", tone="bad" if difference == maximum else "" if difference else "quiet")


def _make_answer_count_cell_grey_if_few(answers: int) -> ListCell:
    return ListCell(f"{answers:,}", tone="quiet" if answers < FEW else "")


def _format_percent_or_dash(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _format_two_decimals_or_dash(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _format_signed_decimals_or_dash(value: float | None) -> str:
    return "-" if value is None else f"{value:+z.2f}"
