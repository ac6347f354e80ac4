"""Agreement page: how much the analysts agree, where they differ most, and who is more lenient."""

from __future__ import annotations

from functools import lru_cache
from math import isnan
from typing import TYPE_CHECKING

import streamlit as st

from genaipa.scoring.agreement import (
    LEAST_ANSWERS,
    Agreement,
    AnalystPair,
    Leaning,
    SuggestionEffect,
    compare_suggestions,
    explain_alpha,
    measure,
)
from genaipa.stats.agreement import LEVEL
from genaipa.ui.answer_view import annotated_of, asked_of, case_of, scores_of
from genaipa.ui.download import scores_button
from genaipa.ui.pages import adjudication
from genaipa.ui.panel import panels
from genaipa.ui.scoring_session import words_of
from genaipa.ui.widgets import (
    FOLD,
    PAGES_HERE,
    SHORT,
    ListCell,
    ListColumn,
    ListRow,
    Text,
    heading,
    long_table,
    notice,
    numbers,
    page_header,
    session_cached,
    table,
    texts,
)
from genaipa.words import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.scoring.answers import Pool
    from genaipa.scoring.assignment import Dispute
    from genaipa.scoring.current import CurrentScores
    from genaipa.scoring.people import User
    from genaipa.scoring.rubric import Rubric
    from genaipa.scoring.store import Store
    from genaipa.stats.agreement import ScaleAgreement
    from genaipa.ui.desk import Desk

ANSWER = "agreement answer"
"""Key of the chosen answer in the session's state."""
FEW = 30
"""Answers below which a number about agreement is said to rest on few."""


def page(desk: Desk, user: User) -> None:
    """Show the agreement of the people's current scores."""
    page_header("Agreement")
    desk.current.refresh()
    found, beside, left_out = measured(desk)
    if left_out:
        scores = "One score is" if left_out == 1 else f"{left_out:,} scores are"
        st.caption(
            f"{scores} left out, given after their analysts had seen how others scored the answer; "
            "the scores that they gave before that are measured instead."
        )
    if not found.answers:
        notice("agreement none", "No answer has been scored by two analysts yet, so there is nothing to compare.")
        return
    answers = f"{number(found.answers, 'answer')} scored by two analysts or more"
    st.caption(f"From the {answers}; scores of people only, calibration included.")
    if found.answers < FEW:
        notice("agreement few", f"That is fewer than {FEW}: these numbers may change much with every score.", "warning")
    _metrics(found, desk.rubric)
    _pairs(found, desk.rubric)
    _leanings(found, desk.rubric)
    _show_suggested(beside, desk.rubric)
    for panel in panels().values():
        panel.show_agreement(desk, user)
    _answers(desk, user)
    scores_button(desk, user)


def measured(desk: Desk, apart: tuple[str, ...] = ()) -> tuple[Agreement, dict[str, SuggestionEffect], int]:
    """Return the agreement on the desk's answers, the effects of suggestions, and the number of scores left out.

    These are not independent. The analysts who are `apart` are left out.
    """
    stamp = (desk.pool.generation, len(desk.pool.arrivals), desk.current.event_count)
    return _measured(desk.pool, desk.current, desk.store, apart, stamp)


@lru_cache(maxsize=2)
def _measured(
    pool: Pool, current: CurrentScores, store: Store, apart: tuple[str, ...], _stamp: tuple[int, ...]
) -> tuple[Agreement, dict[str, SuggestionEffect], int]:
    """The same, computed once for all sessions until something comes in."""
    given = [score for score in current.all_scores() if score.answer in pool.answers and score.analyst not in apart]
    left_out = sum(not score.independent for score in given)
    own = current.independent_scores()
    scores = [score for score in own if score.answer in pool.answers and score.analyst not in apart]
    rubric = store.rubric
    return measure(scores, rubric), compare_suggestions(scores, rubric), left_out


def _heads(rubric: Rubric, more: str = "") -> list[str | ListColumn]:
    return numbers(*(f"{SHORT.get(metric, name)}{more}" for metric, name in rubric.names.items()))


def _metrics(found: Agreement, rubric: Rubric) -> None:
    heading("By metric")
    table(
        "agreement metrics",
        "Agreement by metric",
        [
            "metric",
            f"Krippendorff's alpha, {LEVEL:.0%} interval",
            *numbers("AC2", "commonest value", "equal values", "mean difference"),
        ],
        [
            ListRow(
                (
                    rubric.names[metric],
                    _alpha(on),
                    _number(on.ac2),
                    _percent(on.commonest),
                    _percent(on.equal),
                    _number(on.difference),
                )
            )
            for metric, on in found.metrics.items()
        ],
    )
    st.caption(
        "Alpha for ordinal values: 1 is perfect agreement, 0 (the line) agreement by chance. "
        "The interval says where alpha could lie for other answers of this kind. "
        "Gwet's AC2 stays high where nearly all values are equal and alpha falls."
    )


def _alpha(on: ScaleAgreement) -> ListCell:
    reason = explain_alpha(on.why, on.value)
    if isnan(on.alpha):
        return ListCell(reason, tone="quiet")
    if isnan(on.low):
        return ListCell(f"{on.alpha:.2f}{f' ({reason})' if reason else ''}", value=on.alpha)
    return ListCell(f"{on.alpha:.2f}  [{on.low:.2f}, {on.high:.2f}]", low=on.low, value=on.alpha, high=on.high)


def _pairs(found: Agreement, rubric: Rubric) -> None:
    heading("Pairs that differ most")
    columns = ["analysts", *numbers("answers", "mean difference"), *_heads(rubric, " equal")]
    long_table("agreement pairs", "Pairs of analysts", columns, found.pairs, _pair)


def _pair(pair: AnalystPair) -> ListRow:
    equal = (_percent(metric.equal) for metric in pair.metrics.values())
    return ListRow((" and ".join(pair.analysts), _grey(pair.answers), _number(pair.difference), *equal))


def _leanings(found: Agreement, rubric: Rubric) -> None:
    heading("Leniency and drift")
    columns = ["analyst", *numbers("answers", "over all"), *_heads(rubric), *numbers("drift")]
    long_table("agreement leanings", "Leniency by analyst", columns, found.leanings, _leaning)
    st.caption(
        "An analyst's value less the mean of the others' on the same answers: above 0 is more lenient. "
        "Drift is how much that grew from the earlier half of these answers to the later."
        + (f" Grey: fewer than {FEW} answers." if any(leaning.answers < FEW for leaning in found.leanings) else "")
    )


def _leaning(leaning: Leaning) -> ListRow:
    lenient = map(_signed, leaning.lenient.values())
    drift = _signed(leaning.drift)
    return ListRow((leaning.analyst, _grey(leaning.answers), _signed(leaning.overall), *lenient, drift))


def _show_suggested(found: dict[str, SuggestionEffect], rubric: Rubric) -> None:
    """Values beside a suggestion and where it was held back; nothing where no score says what was on screen."""
    if not found:
        return
    heading("With and without a suggestion")
    heads = ["metric", *numbers("with", "without", "difference"), f"{LEVEL:.0%} interval"]
    heads += numbers("as suggested", "as held back", "answers")
    rows = [
        ListRow(
            (
                rubric.names[metric],
                *map(_number, (one.with_it, one.without)),
                _signed(one.difference),
                " to ".join(map(_signed, one.interval)) if one.interval else "-",
                *map(_percent, (one.as_suggested, one.as_withheld)),
                f"{one.shown:,} and {one.withheld:,}",
            )
        )
        for metric, one in found.items()
    ]
    table("agreement suggested", "With and without a suggestion", heads, rows)
    st.caption(
        "Mean values of independent scores beside a suggestion, and where it was held back: for one answer in five, by "
        "its digest. The interval says where the difference could lie for other answers of this kind (Welch's t over "
        f"answers; blank below {LEAST_ANSWERS} on a side). Then the shares of scores that are as suggested."
    )


def _answers(desk: Desk, user: User) -> None:
    """The answers whose scores differ most, except any that the user could be asked to score."""
    heading("Answers that differ most")
    name = user.name
    disputes = session_cached(
        "agreement disputes",
        (name, desk.current.event_count),
        lambda: sorted(desk.queue.disputes(name, scores=user.scores), key=lambda d: -sum(d.differences.values())),
    )
    if not disputes:
        hidden = ", or none whose scores you may see: answers that you can still be asked to score are left out"
        notice("agreement same", f"There is none{hidden if user.scores else ''}.")
        return
    columns = ["question", "answer begins", "document", "analysts", *_heads(desk.rubric), "settled"]

    def expose(page: Sequence[Dispute]) -> None:
        desk.queue.record_exposures(name, [dispute.answer for dispute in page], scores=True)

    title = "Answers that differ most"
    long_table(
        "agreement answers",
        title,
        columns,
        disputes,
        lambda d: _dispute(desk, d),
        chosen=st.session_state.get(ANSWER, ""),
        choose=lambda digest: st.session_state.update({ANSWER: digest}),
        before=expose,
    )
    st.caption(
        "How far the highest and the lowest value of each metric are apart, red from one end to the other. "
        "Answers that you can still be asked to score are left out. Choose one to read it."
    )
    chosen = st.session_state.get(ANSWER, "")
    if any(dispute.answer == chosen for dispute in disputes):
        _read(desk, user, chosen)


def _read(desk: Desk, user: User, digest: str) -> None:
    """An answer in dispute, as whoever settles it has it, with everyone's scores and notes."""
    answer = desk.pool.answers.get(digest)
    if answer is None:
        return
    case = case_of(desk, digest)
    reply = case.mask_reply() if desk.queue.plan.blind else case.reply
    entries = [asked_of(case, digest), Text(reply, "Answer", fold=FOLD), *annotated_of(case)]
    texts("agreement reply", entries)
    scores_of(desk, user, answer, key="agreement scores")
    if user.adjudicates and digest in adjudication.disputes(desk, user):
        there = st.session_state.get(PAGES_HERE, {}).get("adjudicate")
        if st.button("Settle it", on_click=adjudication.lead_to, args=(digest,)) and there:
            st.switch_page(there)


def _dispute(desk: Desk, dispute: Dispute) -> ListRow:
    answer = desk.pool.answers[dispute.answer]
    most = max(desk.rubric.values) - min(desk.rubric.values)
    spread = (_apart(difference, most) for difference in dispute.differences.values())
    settled = dispute.settlement.analyst if dispute.settlement else ""
    words, begins = words_of(desk, dispute.answer)
    asked = f"{words} ({answer.question})"
    by_mean = " (the mean)" if settled and not dispute.adjudication else ""
    about = (asked, begins, answer.document, ", ".join(dispute.scores))
    cells: tuple[str | ListCell, ...] = (*about, *spread, f"{settled}{by_mean}")
    return ListRow(cells, id=dispute.answer)


def _apart(difference: float, most: float) -> ListCell:
    """Show the distance of two values: red from one end of the scale to the other, grey for not at all."""
    return ListCell(f"{difference:g}", tone="bad" if difference == most else "" if difference else "quiet")


def _grey(answers: int) -> ListCell:
    return ListCell(f"{answers:,}", tone="quiet" if answers < FEW else "")


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+z.2f}"
