"""A whole study at once: analysts at several desks, 20 at four in full, score until nothing is left for anybody.

Each desk is a process with a store, a view of it and a queue of its own, as several servers on one database would have.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

import pytest
from forking import forks
from running import carry_out, make_workspace, spec, write
from size import size
from stores import KINDS, empty_database, kept, opened

from genaipa.runs.selection import find_run
from genaipa.scoring.answers import AnswerPool
from genaipa.scoring.assignment import ScoringPlan
from genaipa.scoring.current import CurrentScores, effective_scores_and_adjudications
from genaipa.scoring.events import Draft, Event, new_event_id
from genaipa.scoring.queue import ScoringQueue
from genaipa.workspace import find_workspace
from rubrics import typed

if TYPE_CHECKING:
    from pathlib import Path

DESKS, AT_EACH = size(small=(2, 2), soak=(4, 5))
DOCUMENTS = ("acme", "bolt", "cask")
QUESTIONS = size(small=12, soak=50)
PATIENCE = 120.0
"""Seconds after which an analyst who waits for others has waited in vain."""
AFTER_ALL = float("inf")


@dataclass
class Given:
    """What one analyst remembers of the study.

    `scores` are what `save` returned, by id. `corrections` are the ids of those that were given as one, and `screens`
    from when to when (seconds of the machine's clock) which answer was theirs: until they skipped it, or for good.
    """

    analyst: str
    scores: dict[str, Event] = field(default_factory=dict)
    corrections: set[str] = field(default_factory=set)
    screens: list[tuple[str, float, float]] = field(default_factory=list)
    undone: int = 0
    skipped: int = 0


@dataclass
class Scorer:
    """An analyst who types, saves, skips, undoes, corrects and comes back by chance, as the scoring page lets them."""

    queue: ScoringQueue
    given: Given
    chance: random.Random
    answer: str = ""
    """What is on screen, empty where nothing is; with `correcting`, an answer that they have scored already."""
    correcting: bool = False
    typed: set[str] = field(default_factory=set)
    """The answers that have a draft of theirs."""
    theirs: dict[str, float] = field(default_factory=dict)
    """Answer → since when it is theirs."""

    @property
    def name(self) -> str:
        """Who this is."""
        return self.given.analyst

    def work(self) -> Given:
        """Score until nothing is left that they could be asked."""
        until = time.monotonic() + PATIENCE
        while self._ask():
            if not self.answer:
                assert time.monotonic() < until, f"{self.name} waits for answers that nobody gives back"
                time.sleep(0.02)
            while self.answer:
                self._act()
        self.given.screens += [(answer, since, AFTER_ALL) for answer, since in self.theirs.items()]
        return self.given

    def _ask(self) -> bool:
        """Let the queue put an answer on screen, in place of what was there; whether anything is left."""
        asked = time.monotonic()
        self.answer, self.correcting = self.queue.reserve_next_answer(self.name) or "", False
        self._leave_others(asked)
        if self.answer:
            self.theirs.setdefault(self.answer, time.monotonic())
        return bool(self.answer or self.queue.answers_analyst_may_still_score(self.name))

    def _leave_others(self, at: float) -> None:
        """Of what is not on screen, only what is begun or scored stays theirs; the rest may be another's since then."""
        for answer in [answer for answer in self.theirs if answer != self.answer and answer not in self.typed]:
            if self.queue.current.find_score(answer, self.name) is None:
                self.given.screens.append((answer, self.theirs.pop(answer), at))

    def _act(self) -> None:
        acts, weights = (self._save, self._type, self._skip, self._undo, self._back), (60, 15, 8, 9, 8)
        self.chance.choices(acts, weights)[0]()

    def _save(self) -> None:
        digits, event_id = "".join(self.chance.choices("123", k=5)), new_event_id()
        for _ in range(1 + (self.chance.random() < 0.1)):  # Enter pressed twice
            event = self.queue.save_score(
                self.name,
                self.answer,
                typed(digits),
                note=f"by {self.name}",
                seconds=1.0,
                suggested={},
                id=event_id,
            )
            assert (event.id, event.analyst, event.answer) == (event_id, self.name, self.answer)
            assert (event.values, event.note) == (typed(digits), f"by {self.name}")
            assert self.given.scores.setdefault(event_id, event) == event
        if self.correcting:
            self.given.corrections.add(event_id)
        self.typed.discard(self.answer)
        self._ask()

    def _type(self) -> None:
        """Begin; perhaps the tab is closed then, and the desk opened again."""
        self.queue.store.save_draft(Draft(self.name, self.answer, "score", typed="12..."))
        self.typed.add(self.answer)
        if self.chance.random() < 0.5:
            correcting = self.correcting
            self._ask()
            assert correcting or self.answer in self.typed, "what was begun does not come back"

    def _skip(self) -> None:
        if self.correcting:
            self.queue.store.discard_draft(self.name, self.answer)
            self.typed.discard(self.answer)
        else:
            self.given.screens.append((self.answer, self.theirs.pop(self.answer), time.monotonic()))
            self.queue.skip_answer(self.name, self.answer)
            self.given.skipped += 1
        self._ask()

    def _undo(self) -> None:
        """Withdraw the last score or skip: a score's answer is on screen again, a skipped one where it is free."""
        undone = time.monotonic()
        withdrawn = self.queue.undo_last_score_or_skip(self.name)
        self.given.undone += withdrawn is not None
        self.answer = ""
        if withdrawn is not None and withdrawn.kind == "score":
            self.typed.add(withdrawn.answer)
            self._show(withdrawn.answer)
        self._leave_others(undone)
        if not self.answer:
            self._ask()

    def _back(self) -> None:
        """Look at the score before again, to correct it."""
        before = self.queue.previously_scored_answer(self.name, self.answer if self.correcting else None)
        if before is not None:
            self._show(before)

    def _show(self, answer: str) -> None:
        self.answer = answer
        self.correcting = self.queue.current.find_score(answer, self.name) is not None


def open_desk(number: int, url: str, run: str, plan: ScoringPlan) -> list[Given]:
    """One desk, in a process of its own, with its analysts at work all at once; what they remember."""
    workspace = find_workspace()
    with opened(url) as store:
        pool = AnswerPool(workspace, [find_run(workspace, run)])
        queue = ScoringQueue(pool, store, CurrentScores(store.read_numbered_events), plan)
        names = [f"analyst {number * AT_EACH + seat}" for seat in range(AT_EACH)]
        scorers = [Scorer(queue, Given(name), random.Random(name)) for name in names]
        with ThreadPoolExecutor(AT_EACH) as threads:
            return list(threads.map(Scorer.work, scorers))


def open_all(url: str, run: str, plan: ScoringPlan) -> list[Given]:
    """The whole study; what the analysts of all desks remember."""
    # Each desk starts afresh, with no lock and no connection of this process.
    with ProcessPoolExecutor(DESKS, mp_context=forks()) as processes:
        desks = [processes.submit(open_desk, number, url, run, plan) for number in range(DESKS)]
        return list(chain.from_iterable(desk.result(timeout=2 * PATIENCE) for desk in desks))


def most_at_once(times: list[tuple[float, float]]) -> int:
    """How many of these times, from when to when, overlap at most."""
    # Of two at the same moment, the end comes first.
    changes = sorted(chain.from_iterable(((start, 1), (end, -1)) for start, end in times))
    now_there = most = 0
    for _, change in changes:
        now_there += change
        most = max(most, now_there)
    return most


@pytest.mark.full  # test_queue has two analysts who do not collide, test_store twenty at once
@pytest.mark.parametrize(
    ("kind", "per_answer"),
    size(small=[("sqlite", 2), ("postgresql", 1.2)], soak=[(kind, number) for kind in KINDS for number in (1.2, 2)]),
)
def test_a_whole_study(tmp_path: Path, request: pytest.FixtureRequest, kind: str, per_answer: float) -> None:
    """Each answer gets the scores that are wanted and no more, and what was saved is kept: nothing else, and once."""
    make_workspace(questions=QUESTIONS, documents=DOCUMENTS)
    write("say.yaml", "default: See section 2.\n")
    run = carry_out(spec(systems=("scripted/say.yaml",), documents=DOCUMENTS))[0]
    url, plan = empty_database(kind, tmp_path, request.config), ScoringPlan(per_answer=per_answer)
    everyone = open_all(url, run.name, plan)
    with opened(url) as store:
        events = kept(store)
        queue = ScoringQueue(
            AnswerPool(find_workspace(), [run]), store, CurrentScores(store.read_numbered_events), plan
        )
    wanted = {answer: queue.count_wanted_scores(answer) for answer in queue.pool.answers}
    assert len(wanted) == QUESTIONS * len(DOCUMENTS)

    # Exactly what is wanted stands, each score by another analyst.
    stands = [event for event in effective_scores_and_adjudications(events) if event.kind == "score"]
    by_answer: defaultdict[str, list[str]] = defaultdict(list)
    for event in stands:
        by_answer[event.answer].append(event.analyst)
    assert {answer: len(set(by_answer[answer])) for answer in wanted} == wanted
    assert len(stands) == sum(wanted.values())

    # What `save` returned is there, and nothing that nobody gave.
    returned = {event_id: event for given in everyone for event_id, event in given.scores.items()}
    assert {event.id: event for event in events if event.kind == "score"} == returned
    assert sum(event.kind == "skip" for event in events) == sum(given.skipped for given in everyone) > 0
    assert sum(event.kind == "undo" for event in events) == sum(given.undone for given in everyone) > 0

    # Nobody scored an answer again while their score stood, except to correct it.
    corrections = set().union(*(given.corrections for given in everyone))
    assert again(events) == corrections != set()

    # Nobody was shown an answer that as many others as are wanted had on screen or had scored.
    screens: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for answer, start, end in chain.from_iterable(given.screens for given in everyone):
        screens[answer].append((start, end))
    assert {answer: most_at_once(screens[answer]) for answer in wanted} == wanted


def again(events: list[Event]) -> set[str]:
    """The ids of the scores that were given while one by the same analyst of the same answer stood."""
    theirs: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    found: set[str] = set()
    for event in events:
        stand = theirs[event.analyst, event.answer]
        if event.kind == "score":
            if stand:
                found.add(event.id)
            stand.append(event.id)
        elif event.undoes in stand:
            stand.remove(event.undoes)
    return found
