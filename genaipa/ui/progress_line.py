"""The line above the pad: how far this analyst and the study are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.ui.workload import lasting, left_for

if TYPE_CHECKING:
    from genaipa.scoring.people import User
    from genaipa.scoring.queue import ScoringProgress
    from genaipa.ui.desk import Desk


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
