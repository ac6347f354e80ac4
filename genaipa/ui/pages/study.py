"""Study page, for whoever leads: how far, who disagrees, what to discuss, whether the judge is good, when to stop.

Each is a sentence with the way to act on it. None tells how an answer was scored that the user could still score.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import streamlit as st

from genaipa.judging.name import Judge
from genaipa.ui.desk import format_hours_and_minutes, list_analyst_workloads
from genaipa.ui.download import offer_scores_download_recording_exposure
from genaipa.ui.launch import explain_missing_results_packages_if_any
from genaipa.ui.pages import adjudication
from genaipa.ui.pages.agreement import FEW, measure_agreement_and_dropped_count
from genaipa.ui.widgets import PAGES_KEY, TitledText, show_first_problems, show_notice, show_page_header, show_texts
from genaipa.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from streamlit.navigation.page import StreamlitPage

    from genaipa.scoring.people import User
    from genaipa.ui.desk import AnalystWorkload, Desk
    from genaipa.ui.results import ResultsView

_LATELY = timedelta(days=7)
_LEAST = 10
"""Answers below which an interval says too little to forecast from."""


@dataclass(frozen=True)
class StudyFinding:
    """The answer to one of the five questions, and the path of the page on which to act."""

    question: str
    sentence: str
    path: str = ""


def show_page(desk: Desk, user: User) -> None:
    """Show the five sentences; the two that rest on the report's numbers follow when those are computed."""
    show_page_header("Study")
    if user.reason_user_may_not_adjudicate_or_empty:
        st.text(f"{user.reason_user_may_not_adjudicate_or_empty} This page is for those who adjudicate.")
        return
    desk.pool.read_new_answers()
    desk.current.read_new_events()
    show_first_problems("study problems", desk.list_pool_problems_user_may_read(user))
    if not desk.pool.answers:
        show_notice(
            "study none", "There is no answer yet. Begin with: genaipa run --system extractive --policy brindlecart"
        )
        return
    for finding in (
        _make_progress_finding(desk),
        _make_most_disagreeing_pair_finding(desk),
        _make_disputes_finding(desk, user),
    ):
        _show_finding(finding)
    results = _compute_results_user_may_see(desk, user)
    for finding in (_make_judges_finding(desk, results), _make_precision_finding(desk, results)):
        _show_finding(finding)
    offer_scores_download_recording_exposure(desk, user)


def _show_finding(finding: StudyFinding) -> None:
    show_texts(f"study {finding.question}", [TitledText(finding.sentence, finding.question, tone="plain")])
    pages: Mapping[str, StreamlitPage] = st.session_state.get(PAGES_KEY, {})
    if finding.path in pages:
        st.page_link(pages[finding.path], label=f"Go to {pages[finding.path].title}", icon=":material/arrow_forward:")


def _make_progress_finding(desk: Desk) -> StudyFinding:
    question, progress = "How far along are we?", desk.queue.measure_scoring_progress("")
    if not progress.wanted:
        return StudyFinding(question, "No scores are needed.", "overview")
    share, scores_left = progress.given / progress.wanted, progress.wanted - progress.given
    works = [work for work in list_analyst_workloads(desk) if work.analyst not in desk.people.reference]
    due = _describe_due_date_and_daily_pace(desk, scores_left)
    sentence = f"{progress.given:,} of {progress.wanted:,} scores are given ({share:.0%}){due}."
    if scores_left > 0 and (ahead := sum(work.seconds_left or 0 for work in works)):
        sentence += (
            f" About {format_hours_and_minutes(ahead)} of analysts' time is "
            f"left{_forecast_end_or_say_too_few_scores(desk, scores_left)}."
        )
    shares = [
        f"{work.analyst}: {work.scored:,} of {work.scored + work.answers_left:,} ({_share_of_scores_done(work):.0%})."
        for work in sorted(works, key=_share_of_scores_done)
    ]
    return StudyFinding(question, "\n".join([sentence, *shares]), "overview")


def _share_of_scores_done(workload: AnalystWorkload) -> float:
    """Return the share of an analyst's scores that is done."""
    return (
        workload.scored / (workload.scored + workload.answers_left) if workload.scored + workload.answers_left else 1.0
    )


def _describe_due_date_and_daily_pace(desk: Desk, scores_left: int) -> str:
    """Return the day on which all is to be scored, and what is wanted of each day until then."""
    day = desk.people.plan.due_date
    if day is None:
        return ""
    due, days = f", due on {_format_day(day)}", (day - datetime.now(UTC).date()).days + 1
    if scores_left <= 0:
        return due
    if days < 1:
        return f"{due}, {format_count(1 - days, 'day')} ago"
    return f"{due}: that is {format_count(math.ceil(scores_left / days), 'score')} a day"


def _format_day(day: date) -> str:
    return f"{day:%A}, {day.day} {day:%B %Y}"


def _forecast_end_or_say_too_few_scores(desk: Desk, scores_left: int) -> str:
    """Forecast the day on which the rest is done if as many are scored a day as lately."""
    current_time = datetime.now(UTC)
    times = [
        datetime.fromisoformat(score.time)
        for name, history in desk.queue.histories_by_analyst().items()
        if name not in desk.people.reference
        for score in history.scores
    ]
    lately = [time for time in times if current_time - time < _LATELY]
    if len(lately) < _LEAST:
        return (
            f"; {format_count(len(lately), 'score')} in the last {_LATELY.days} days "
            f"{'is' if len(lately) == 1 else 'are'} too few for a forecast"
        )
    days = max((current_time - min(lately)) / timedelta(days=1), 1.0)
    done = (current_time + timedelta(days=scores_left / (len(lately) / days))).date()
    due = desk.people.plan.due_date
    late = "" if due is None or done <= due else f", {format_count((done - due).days, 'day')} late"
    return f"; at the pace of the last {_LATELY.days} days everything will be scored by {_format_day(done)}{late}"


def _make_most_disagreeing_pair_finding(desk: Desk) -> StudyFinding:
    question = "Who disagrees?"
    # How far analysts are from the reference is another question, which Agreement answers.
    apart = desk.people.reference
    agreement = measure_agreement_and_dropped_count(desk, excluded_analysts=apart)[0]
    if not agreement.answers:
        reference_note = (
            f" beside {join_names(apart)}"
            if set(apart).intersection(desk.current.list_analysts_with_current_scores())
            else ""
        )
        return StudyFinding(question, f"No answer has been scored by two analysts{reference_note} yet.")
    pair = next((pair for pair in agreement.pairs if pair.answers >= FEW), agreement.pairs[0])
    caveat = f" (fewer than {FEW}: this may change)" if pair.answers < FEW else ""
    widest = max(desk.rubric.values) - min(desk.rubric.values)
    sentence = (
        f"{' and '.join(pair.analysts)} disagree most: on {format_count(pair.answers, 'answer')}{caveat} "
        f"their values are {pair.difference:.2f} apart on average, out of at most {widest:g}."
    )
    alphas = {metric: on.alpha for metric, on in agreement.metrics.items() if not math.isnan(on.alpha)}
    if alphas:
        least_agreed = min(alphas, key=lambda metric: alphas[metric])
        name = desk.rubric.display_names[least_agreed]
        sentence += f" Agreement is lowest on {name}: alpha {alphas[least_agreed]:.2f} (1 is perfect, 0 is chance)."
    return StudyFinding(question, sentence, "agreement")


def _make_disputes_finding(desk: Desk, user: User) -> StudyFinding:
    disputes = adjudication.disputes_user_may_settle_by_answer(desk, user).values()
    waiting = [dispute for dispute in disputes if desk.queue.analysts_yet_to_rescore(dispute.answer)]
    open_ = [
        dispute for dispute in disputes if dispute.adjudication_or_mean_acceptance is None and dispute not in waiting
    ]
    furthest = max((dispute.largest_difference for dispute in open_), default=0.0)
    apart = sum(1 for dispute in open_ if dispute.largest_difference == furthest)
    if not open_:
        settled = f"; settled: {len(disputes) - len(waiting):,}" if disputes else ""
        settled += f", sent back: {len(waiting):,}" if waiting else ""
        return StudyFinding("What to discuss?", f"There are no differing scores left to settle{settled}.", "adjudicate")
    returned = f" Sent back to the analysts: {len(waiting):,}." if waiting else ""
    sentence = (
        f"Scores of {format_count(len(open_), 'answer')} differ and are not settled. Start with the largest "
        f"difference, {furthest:g} on a metric: {format_count(apart, 'answer')}.{returned}"
    )
    return StudyFinding("What to discuss?", sentence, "adjudicate")


def _compute_results_user_may_see(desk: Desk, user: User) -> ResultsView | None:
    """Open the report's numbers on the answers that this user is not asked to score any more."""
    if explain_missing_results_packages_if_any() or not desk.current.list_all_current_scores():
        return None
    with st.spinner("Computing the report's numbers …"):
        from genaipa.ui.results import make_results_view_user_may_see

        return make_results_view_user_may_see(desk, user)


def _make_judges_finding(desk: Desk, results: ResultsView | None) -> StudyFinding:
    question = "Is the judge good?"
    if not any(map(Judge.parse, desk.current.list_analysts_with_current_scores("machine"))):
        return StudyFinding(question, "No judge has scored an answer here.")
    if results is None or not results.judges_chapter.tables:
        return StudyFinding(
            question,
            explain_missing_results_packages_if_any() or "The judge has not scored any answer that people have scored.",
            "judges",
        )
    # The first sentence of each: the others are on the page that this leads to.
    findings = results.judges_chapter.tables[0].data.to_dict("records")
    lines = (f"{row['judge']}: {row['finding'].partition('. ')[0].rstrip('.')}." for row in findings)
    return StudyFinding(question, "\n".join(lines), "judges")


def _make_precision_finding(desk: Desk, results: ResultsView | None) -> StudyFinding:
    """Say how sure the least sure average is, and how many more answers would make it as sure as wanted.

    From people alone: an interval is narrower by the root of the number of answers. The system is not named, since
    this page's reader may be an analyst.
    """
    question = "When may we stop?"
    if results is None:
        return StudyFinding(
            question, explain_missing_results_packages_if_any() or "Nobody has scored yet, so there is no interval."
        )
    halves = []
    for row in results.people_leaderboard.data.to_dict("records") if results.people_leaderboard else ():
        half = (row["high"] - row["low"]) / 2
        if row["answers"] >= _LEAST and half == half:  # noqa: PLR0124 - not a number where there is no interval
            halves.append((half, int(row["answers"])))
    if not halves:
        none = f"Too few scores: the first interval needs {_LEAST} scored answers of a system."
        return StudyFinding(question, none, "results")
    half, answers = max(halves)
    average = "The average of M_all" if len(halves) == 1 else f"The least certain of {len(halves)} averages of M_all"
    sure = (
        f"{average} is known to ±{half:.1f} points (on the scale of 10 to 100), from {format_count(answers, 'answer')}"
    )
    target = desk.people.plan.target
    if half <= target:
        return StudyFinding(
            question, f"Now: {sure[0].lower()}{sure[1:]}, and ±{target:g} is enough to stop.", "results"
        )
    answers_needed = round(answers * ((half / target) ** 2 - 1))
    shortage = _describe_answer_shortage_if_any(desk, answers_needed)
    return StudyFinding(
        question,
        f"{sure}. ±{target:g} needs about {answers_needed:,} more scored answers of that system{shortage}.",
        "results",
    )


def _describe_answer_shortage_if_any(desk: Desk, answers_needed: int) -> str:
    scored = desk.current.refresh_and_list_all_scored_answers()
    unscored = sum(1 for answer in desk.pool.answers if answer not in scored)
    if answers_needed <= unscored:
        return ""
    return f", but all systems together have only {unscored:,} unscored answers: add questions or documents"
