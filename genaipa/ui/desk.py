"""The desk behind its pages: one for the whole server, shared by all sessions; and the work of a study's analysts.

Their work is the time so far, what is left, what both cost, and the line on it above the pad.
"""

from __future__ import annotations

import gc
import math
import sys
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

import msgspec

from genaipa.runs.selection import days_of, run_folders, select
from genaipa.scoring.answers import Pool
from genaipa.scoring.current import CurrentScores
from genaipa.scoring.people import People, load_people
from genaipa.scoring.queue import Queue
from genaipa.scoring.rubric import load_guidelines
from genaipa.scoring.store import Store, open_store
from genaipa.scoring.waves import Waves, describe_waves, draw_waves, measure_standings, short_digest
from genaipa.words import number
from genaipa.workspace import Workspace, find_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.errors import GenaipaError
    from genaipa.runs.selection import Source
    from genaipa.scoring.events import Event
    from genaipa.scoring.people import User
    from genaipa.scoring.queue import ScoringProgress
    from genaipa.scoring.rubric import Guidelines, Rubric
    from genaipa.ui.settings import DeskSettings


@dataclass(frozen=True)
class Desk:
    """Everything that the pages show and change."""

    settings: DeskSettings
    workspace: Workspace
    people: People
    pool: Pool
    store: Store
    current: CurrentScores
    queue: Queue
    waves: Waves
    guidelines: Guidelines | None = None

    @property
    def part(self) -> str:
        """The part of the answers that is asked for, in sentences; empty where all are."""
        if not self.waves:
            return ""
        found = measure_standings(self.waves, self.pool.answers.values(), self.current.find_scored_answers())
        late = sum(group.late for group in found)
        said = f"Asked for is a random part: {describe_waves(found)}; --sample all for everything." if found else ""
        return f"{said} {late:,} came later; the desk draws from them when it is opened again." if late else said

    @property
    def wanted_in_words(self) -> str:
        """The scores that are wanted and given, in a sentence: what all pages count."""
        progress = self.queue.progress("")
        apart = sum(len(self.queue.history(name).scores) for name in self.people.reference)
        reference = f" (beside {number(apart, 'score')} of reference analysts)" if apart else ""
        return (
            f"{number(progress.wanted, 'score')} {'is' if progress.wanted == 1 else 'are'} wanted, "
            f"{progress.given:,} {'is' if progress.given == 1 else 'are'} given{reference}."
        )

    @property
    def rubric(self) -> Rubric:
        """The rubric that answers are scored by."""
        return self.store.rubric

    def problems(self, user: User) -> list[str]:
        """The pool's problems, in words that this user may read."""
        return self.pool.blind_problems if user.scores and self.queue.plan.blind else self.pool.problems

    def set_aside(self, digest: str, error: GenaipaError) -> None:
        """Take an unreadable answer out of the pool, and say so to everyone.

        The reason goes to the terminal: its path and key would tell on a page whose answer it is.
        """
        sys.stderr.write(f"{error}\n")
        answer = self.pool.answers.get(digest)
        if answer is not None:
            what = f"An answer to {answer.question} about {answer.document}"
            self.pool.mark_unreadable(digest, f"{what} can't be read and is left out; the desk's terminal shows why.")


def open_desk(settings: DeskSettings) -> Desk:
    """Open the store and the runs; the errors of both."""
    workspace = find_workspace(settings.workspace)
    people = load_people(workspace)
    narrow = bool(settings.runs or settings.only)
    meant = select(workspace, settings.runs, settings.only) if narrow else []
    folders = [source.folder for source in meant] if narrow else run_folders(workspace)
    pool = Pool(workspace, folders, sources=meant, excluded=settings.excluded)
    store = open_store(workspace)
    current = CurrentScores(lambda seen: _counted(store, people, seen))
    counted, drawn_from = pool, meant
    if settings.excluded or settings.only:
        # A wave is drawn from all that it is a part of, whatever part of it one looks at.
        drawn_from = select(workspace, settings.runs) if settings.runs else []
        runs = [source.folder for source in drawn_from] if settings.runs else run_folders(workspace)
        counted = Pool(workspace, runs, sources=drawn_from, excluded=False)
    waves, asked = _sampled(workspace, counted, current, settings, drawn_from)
    # Whoever wants answers that no wave is drawn from gets them beside it.
    asked = asked and asked.union(map(short_digest, pool.answers.keys() - counted.answers.keys()))
    plan = msgspec.structs.replace(
        settings.plan, reference=people.reference, wave=asked, assign=tuple(people.assign.items())
    )
    queue = Queue(pool, store, current, plan)
    queue.prepare_orders()
    # A large study stays in memory as long as the desk is open: collecting garbage in it would make analysts wait.
    gc.collect()
    gc.freeze()
    guidelines = load_guidelines(workspace, store.rubric)
    return Desk(settings, workspace, people, pool, store, current, queue, waves, guidelines)


def _counted(store: Store, people: People, seen: int) -> Iterator[tuple[int, Event]]:
    """The log from a number on, without those whose scores are left out."""
    if not people.left_out:
        return iter(store.events(seen))
    return ((number, event) for number, event in store.events(seen) if [*people.keep_counted([event])])


def _sampled(
    workspace: Workspace, pool: Pool, current: CurrentScores, settings: DeskSettings, meant: Sequence[Source]
) -> tuple[Waves, frozenset[str] | None]:
    """The workspace's waves, drawn or grown if the settings want that, and what is asked for (`ScoringPlan.wave`)."""
    if settings.sample == "all":
        return Waves(), None
    answers = pool.answers.values()
    size, seed, days = settings.sample, settings.plan.seed, days_of(meant or select(workspace, []))
    waves = draw_waves(workspace, answers, current.find_scored_answers(), size=size, seed=seed, days=days)
    return waves, waves.all_answers_in_wave if waves else None


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
        seconds = sum(score.seconds or 0 for score in known.scores) if known else 0.0
        found.append(Workload(name, scored, each.get(name), seconds, left, ahead))
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


_PACE = 10
"""Answers from which an analyst's own pace is shown."""


def progress_line(desk: Desk, user: User, digest: str, *, correcting: bool, later: int = 0) -> list[str]:
    """Return the pieces of the line while that answer is on screen, once this analyst has scored so many more."""
    now = desk.queue.progress(user.name)
    scored, left, given = now.scored + later, max(now.remaining - later, 1), now.given + later
    progress = replace(now, scored=scored, remaining=left, given=given)
    calibrating = desk.queue.is_calibration(digest, user.name)
    pieces = [
        _which(desk, user, digest) if correcting else f"Answer {progress.scored + 1}",
        "calibration: compared with the reference once it is saved" if calibrating else "",
        _left(desk, progress),
        f"study: {progress.given:,} of {progress.wanted:,} scores, {progress.wanted - progress.given:,} left",
        f"{progress.seconds // 60:.0f}:{int(progress.seconds % 60):02} an answer"
        if progress.seconds is not None and _knows_pace(progress)
        else "",
        *([] if desk.queue.plan.blind else _systems(desk, digest)),
    ]
    return [piece for piece in pieces if piece]


def _which(desk: Desk, user: User, digest: str) -> str:
    """Why an answer is on screen that this analyst has scored; whoever sent it back is not named, only their word."""
    returned = desk.queue.second_looks(user.name)
    word = desk.current.latest_return(digest) if digest in returned else None
    if word is None:
        return "Correcting a score of yours"
    more = f" ({len(returned) - 1:,} more to look at again)" if len(returned) > 1 else ""
    return f"Please look again: “{word.note}”{more}"


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
