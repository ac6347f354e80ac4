"""The work of a study's analysts: their time so far, what is left, what both cost, and the line on it above the pad."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.scoring.assignment import History
    from genaipa.scoring.people import User
    from genaipa.scoring.queue import ScoringProgress
    from genaipa.ui.desk import Desk


_HOUR = 3600


@dataclass(frozen=True)
class Workload:
    """An analyst's work: answers `scored` and `left`, and seconds: `spent`, median `each`, and `ahead` (None: unknown).

    Whoever has no time of their own yet is expected to need the median of the others.
    """

    analyst: str
    scored: int
    each: float | None
    spent: float
    left: int
    ahead: float | None


def left_for(desk: Desk, progress: ScoringProgress) -> int:
    """The number of answers left for an analyst.

    The scores still wanted are shared by the analysts of desk.yaml, or else by those who have scored.
    """
    team = {*(desk.people.analysts or desk.current.analysts()), progress.analyst}.difference(desk.people.reference)
    if progress.analyst not in team:
        return progress.remaining
    return min(progress.remaining, math.ceil((progress.wanted - progress.given) / len(team)))


def workloads(desk: Desk) -> list[Workload]:
    """The work of all who have scored or are listed in desk.yaml, by name; reference analysts have nothing left."""
    histories = desk.queue.histories()
    each = {name: history.seconds for name, history in histories.items() if history.seconds is not None}
    usual = median(each.values()) if each else None
    found = []
    for name in sorted({*histories, *(desk.people.analysts or ())}):
        known = histories.get(name)
        left = 0 if name in desk.people.reference else left_for(desk, desk.queue.progress(name))
        pace = each.get(name, usual)
        ahead = None if pace is None else left * pace
        scored = len(known.scores) if known else 0
        found.append(Workload(name, scored, each.get(name), _spent(known), left, ahead))
    return found


def in_all(desk: Desk, works: Sequence[Workload]) -> str:
    """A sentence on all analysts' time, so far and left, and on what it costs where desk.yaml gives a rate."""
    settling = sum(event.seconds or 0 for event in desk.current.adjudications() if event.answer in desk.pool.answers)
    spent = sum(work.spent for work in works) + settling
    ahead = sum(work.ahead or 0 for work in works)
    own = f", {lasting(settling)} of it adjudication" if settling else ""
    left = f"about {lasting(ahead)} left" if ahead else "none left"
    said = f"In all {lasting(spent)} of analysts' time so far{own}, and {left}."
    if (rate := desk.people.rate) is None:
        return said
    return f"{said} At {rate:g} an hour that is {price(spent, rate)} so far, and {price(ahead, rate)} more."


def price(seconds: float | None, rate: float) -> str:
    """The price of this many seconds at so much an hour, in the currency of the rate; a dash for None."""
    return "-" if seconds is None else f"{seconds / _HOUR * rate:,.2f}"


def lasting(seconds: float | None) -> str:
    """Seconds in words, to the minute: "3 h 20 min"; a dash for None."""
    if seconds is None:
        return "-"
    hours, minutes = divmod(math.ceil(seconds / 60), 60)
    return f"{hours:,} h {minutes} min" if hours else f"{minutes} min"


def _spent(history: History | None) -> float:
    return sum(score.seconds or 0 for score in history.scores) if history else 0.0


_PACE = 10
"""Answers from which an analyst's own pace is shown."""


def progress_line(desk: Desk, user: User, digest: str, *, correcting: bool) -> list[str]:
    """The pieces of the line while that answer is on screen."""
    progress = desk.queue.progress(user.name)
    calibrating = desk.queue.is_calibration(digest, user.name)
    pieces = [
        "Correcting a score of yours" if correcting else f"Answer {progress.scored + 1}",
        "calibration: compared with the reference once it is saved" if calibrating else "",
        _left(desk, progress),
        f"study: {progress.given:,} of {progress.wanted:,} scores",
        f"{_minutes(progress.seconds)} an answer" if progress.seconds is not None and _knows_pace(progress) else "",
        "settled cases are filled in" if desk.queue.plan.settled else "",
        *([] if desk.queue.plan.blind else _systems(desk, digest)),
    ]
    return [piece for piece in pieces if piece]


def _systems(desk: Desk, digest: str) -> list[str]:
    answer = desk.pool.answers[digest]
    return [f"{where.system} · {where.initialization} · {where.run}" for where in answer.occurrences[:3]]


def _left(desk: Desk, progress: ScoringProgress) -> str:
    """A sentence on this analyst's remaining answers, and the time for them at the analyst's median."""
    share = left_for(desk, progress)
    about = "" if share == progress.remaining else "about "
    ahead = share * (progress.seconds or 0) if _knows_pace(progress) else 0
    lasts = f", about {lasting(ahead)}" if ahead else ""
    return f"{about}{share:,} left for you{lasts}"


def _knows_pace(progress: ScoringProgress) -> bool:
    """Whether the median of this analyst's times says how long the rest takes: a beginner's first answers don't."""
    return progress.scored >= _PACE


def _minutes(seconds: float) -> str:
    return f"{int(seconds // 60)}:{int(seconds % 60):02}"
