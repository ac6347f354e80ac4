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
from genaipa.ui.desk import lasting, workloads
from genaipa.ui.download import scores_button
from genaipa.ui.launch import why_no_results
from genaipa.ui.pages import adjudication
from genaipa.ui.pages.agreement import FEW, measured
from genaipa.ui.widgets import PAGES_HERE, Text, notice, page_header, problems, texts
from genaipa.words import listed, number

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from streamlit.navigation.page import StreamlitPage

    from genaipa.scoring.people import User
    from genaipa.ui.desk import Desk, Workload
    from genaipa.ui.results import ResultsView

_LATELY = timedelta(days=7)
_LEAST = 10
"""Answers below which an interval says too little to forecast from."""


@dataclass(frozen=True)
class Said:
    """The answer to one of the five questions, and the path of the page on which to act."""

    question: str
    sentence: str
    path: str = ""


def page(desk: Desk, user: User) -> None:
    """Show the five sentences; the two that rest on the report's numbers come when these are worked out."""
    page_header("Study")
    if user.why_no_adjudication:
        st.text(f"{user.why_no_adjudication} This page is for those who adjudicate.")
        return
    desk.pool.refresh()
    desk.current.refresh()
    problems("study problems", desk.problems(user))
    if not desk.pool.answers:
        notice("study none", "There is no answer yet. Begin with: genaipa run --system extractive --policy brindlecart")
        return
    for said in (_how_far(desk), _who_disagrees(desk), _what_to_discuss(desk, user)):
        _show(said)
    found = _view(desk, user)
    for said in (_is_the_judge_good(desk, found), _when_to_stop(desk, found)):
        _show(said)
    scores_button(desk, user)


def _show(said: Said) -> None:
    texts(f"study {said.question}", [Text(said.sentence, said.question, tone="plain")])
    pages: Mapping[str, StreamlitPage] = st.session_state.get(PAGES_HERE, {})
    if said.path in pages:
        st.page_link(pages[said.path], label=f"Go to {pages[said.path].title}", icon=":material/arrow_forward:")


def _how_far(desk: Desk) -> Said:
    question, progress = "How far are we?", desk.queue.progress("")
    if not progress.wanted:
        return Said(question, "No score is wanted of anyone.", "overview")
    share, left = progress.given / progress.wanted, progress.wanted - progress.given
    works = [work for work in workloads(desk) if work.analyst not in desk.people.reference]
    said = f"{progress.given:,} of {progress.wanted:,} scores are given ({share:.0%}){_due(desk, left)}."
    if left > 0 and (ahead := sum(work.ahead or 0 for work in works)):
        said += f" About {lasting(ahead)} of analysts' time is left{_at_this_pace(desk, left)}."
    shares = [
        f"{work.analyst}: {work.scored:,} of {work.scored + work.left:,} ({_share(work):.0%})."
        for work in sorted(works, key=_share)
    ]
    return Said(question, "\n".join([said, *shares]), "overview")


def _share(work: Workload) -> float:
    """Return the share of an analyst's scores that is done."""
    return work.scored / (work.scored + work.left) if work.scored + work.left else 1.0


def _due(desk: Desk, left: int) -> str:
    """Return the day on which all is to be scored, and what is wanted of each day until then."""
    day = desk.people.plan.last_day
    if day is None:
        return ""
    said, days = f", due on {_written(day)}", (day - datetime.now(UTC).date()).days + 1
    if left <= 0:
        return said
    if days < 1:
        return f"{said}, {number(1 - days, 'day')} ago"
    return f"{said}: that is {math.ceil(left / days):,} a day"


def _written(day: date) -> str:
    return f"{day:%A}, {day.day} {day:%B %Y}"


def _at_this_pace(desk: Desk, left: int) -> str:
    """The day on which the rest is done if as many are scored a day as lately."""
    now = datetime.now(UTC)
    times = [
        datetime.fromisoformat(score.time)
        for name, known in desk.queue.histories().items()
        if name not in desk.people.reference
        for score in known.scores
    ]
    lately = [time for time in times if now - time < _LATELY]
    if len(lately) < _LEAST:
        return f"; with {len(lately)} scores in the last {_LATELY.days} days there is no pace to tell a day by"
    days = max((now - min(lately)) / timedelta(days=1), 1.0)
    done = (now + timedelta(days=left / (len(lately) / days))).date()
    due = desk.people.plan.last_day
    late = "" if due is None or done <= due else f", {number((done - due).days, 'day')} late"
    return f"; at the pace of the last {_LATELY.days} days all is scored by {_written(done)}{late}"


def _who_disagrees(desk: Desk) -> Said:
    question = "Who disagrees?"
    # How far analysts are from the reference is another question, which Agreement answers.
    apart = desk.people.reference
    found = measured(desk, apart=apart)[0]
    if not found.answers:
        others = f" beside {listed(apart)}" if set(apart).intersection(desk.current.analysts()) else ""
        return Said(question, f"No answer has been scored by two analysts{others} yet.")
    pair = next((pair for pair in found.pairs if pair.answers >= FEW), found.pairs[0])
    few = f" (fewer than {FEW}: this may change)" if pair.answers < FEW else ""
    most = max(desk.rubric.values) - min(desk.rubric.values)
    said = (
        f"{' and '.join(pair.analysts)} most: on {pair.answers:,} answers{few} their values are "
        f"{pair.difference:.2f} apart on average, where {most:g} is the most."
    )
    alphas = {metric: on.alpha for metric, on in found.metrics.items() if not math.isnan(on.alpha)}
    if alphas:
        least = min(alphas, key=lambda metric: alphas[metric])
        name = desk.rubric.names[least]
        said += f" All agree least on {name}: alpha {alphas[least]:.2f}, where 1 is perfect and 0 chance."
    return Said(question, said, "agreement")


def _what_to_discuss(desk: Desk, user: User) -> Said:
    disputes = adjudication.disputes(desk, user).values()
    waiting = [dispute for dispute in disputes if desk.queue.pending_analysts(dispute.answer)]
    open_ = [dispute for dispute in disputes if dispute.settlement is None and dispute not in waiting]
    furthest = max((dispute.largest for dispute in open_), default=0.0)
    apart = sum(1 for dispute in open_ if dispute.largest == furthest)
    if not open_:
        settled = f"; {len(disputes) - len(waiting):,} are settled" if disputes else ""
        settled += f", {len(waiting):,} sent back" if waiting else ""
        return Said("What to discuss?", f"No scores differ that are not settled{settled}.", "adjudicate")
    returned = f" Sent back to the analysts: {len(waiting):,}." if waiting else ""
    said = (
        f"Scores of {number(len(open_), 'answer')} differ and are not settled; "
        f"{apart:,} of them by {furthest:g} on a metric. These come first.{returned}"
    )
    return Said("What to discuss?", said, "adjudicate")


def _view(desk: Desk, user: User) -> ResultsView | None:
    """The report's numbers on the answers that this user can't be asked to score any more."""
    if why_no_results() or not desk.current.all_scores():
        return None
    with st.spinner("Working out what the report says …"):
        from genaipa.ui.results import view_without_ahead

        return view_without_ahead(desk, user)


def _is_the_judge_good(desk: Desk, found: ResultsView | None) -> Said:
    question = "Is the judge good?"
    if not any(map(Judge.parse, desk.current.analysts("machine"))):
        return Said(question, "No judge has scored an answer here.")
    if found is None or not found.judges.tables:
        return Said(question, why_no_results() or "It has scored no answer that people have scored, too.", "judges")
    # The first sentence of each: the others are on the page that this leads to.
    said = found.judges.tables[0].data.to_dict("records")
    lines = (f"{row['judge']}: {row['finding'].partition('. ')[0].rstrip('.')}." for row in said)
    return Said(question, "\n".join(lines), "judges")


def _when_to_stop(desk: Desk, found: ResultsView | None) -> Said:
    """Say how sure the least sure average is, and how many more answers would make it as sure as wanted.

    From people alone: an interval is narrower by the root of the number of answers. The system is not named, since
    this page's reader may be an analyst.
    """
    question = "When may we stop?"
    if found is None:
        return Said(question, why_no_results() or "Nobody has scored yet, so there is no interval.")
    halves = []
    for row in found.people.data.to_dict("records") if found.people else ():
        half = (row["high"] - row["low"]) / 2
        if row["answers"] >= _LEAST and half == half:  # noqa: PLR0124 - not a number where there is no interval
            halves.append((half, int(row["answers"])))
    if not halves:
        none = f"There is too little to say: {_LEAST} scored answers of a system give the first interval."
        return Said(question, none, "results")
    half, answers = max(halves)
    which = "The average of M_all" if len(halves) == 1 else f"The least sure of {len(halves)} averages of M_all"
    sure = f"{which} is sure to ±{half:.1f} points of 10 to 100, from {answers:,} answers"
    target = desk.people.plan.target
    if half <= target:
        return Said(question, f"Now: {sure[0].lower()}{sure[1:]}, and ±{target:g} is enough to stop.", "results")
    more = round(answers * ((half / target) ** 2 - 1))
    return Said(
        question, f"{sure}. ±{target:g} needs about {more:,} more of that system{_not_there(desk, more)}.", "results"
    )


def _not_there(desk: Desk, more: int) -> str:
    scored = desk.current.find_scored_answers()
    left = sum(1 for answer in desk.pool.answers if answer not in scored)
    if more <= left:
        return ""
    return f"; all systems together have {left:,} that nobody has scored, so that it takes more questions or documents"
