"""What stands now: the scores, adjudications and skips that were not undone, kept in memory for quick answers.

The same as `events.standing` makes of the whole log, brought up to date event by event.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from genaipa.scoring.events import Event, Scorer
    from genaipa.scoring.store import Store


class Ledger:
    """What stands in a store. Any number of threads may share it; `refresh` takes in what was written since.

    The scores of people and of machines are kept apart, and asked for by `scorer`.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.seen = 0
        """The number of the last event that was taken in: what was worked out from the ledger holds while it stays."""
        self._scores: dict[Scorer, _Standing] = {"human": _Standing(), "machine": _Standing()}
        self._independent = _Standing()
        self._shown_whose: defaultdict[str, set[str]] = defaultdict(set)
        self._shown_scores: defaultdict[str, set[str]] = defaultdict(set)
        self._adjudications = _Standing()
        self._skips = _Standing()
        self._scored: Counter[str] = Counter()
        """Answer → how many scores of it stand, where there are any."""
        self._lock = threading.Lock()

    def refresh(self) -> bool:
        """Take in the events since the last time, of other processes too; whether there were any."""
        with self._lock:
            before = self.seen
            for number, event in self.store.events(before):
                self._take(number, event)
                self.seen = number
            return self.seen > before

    def _take(self, number: int, event: Event) -> None:
        if event.scorer == "human" and not event.blind:
            self._shown_whose[event.analyst].add(event.answer)
        if event.kind == "adjudication" or not event.independent:
            self._shown_scores[event.analyst].add(event.answer)
        if event.kind == "score":
            self._count(event.answer, +self._scores[event.scorer].add(number, event))
            self._skips.drop(event)
            if event.independent and event.scorer == "human":
                self._independent.add(number, event)
        elif event.kind == "adjudication":
            self._adjudications.add(number, event)
        elif event.kind == "skip":
            self._skips.add(number, event)
        elif event.kind == "undo":
            for scores in self._scores.values():
                self._count(event.answer, -scores.undo(event))
            self._adjudications.undo(event)
            self._skips.undo(event)
            if event.independent:
                self._independent.undo(event)

    def _count(self, answer: str, change: int) -> None:
        self._scored[answer] += change
        if not self._scored[answer]:
            del self._scored[answer]

    def score(self, answer: str, analyst: str, scorer: Scorer = "human") -> Event | None:
        """An analyst's score of an answer, as it stands."""
        with self._lock:
            return self._scores[scorer].at(analyst, answer)

    def scores(self, answer: str, scorer: Scorer = "human") -> dict[str, Event]:
        """Analyst → their score of an answer, as it stands."""
        with self._lock:
            return self._scores[scorer].of(answer)

    def adjudication(self, answer: str) -> Event | None:
        """The latest adjudication of an answer that stands, whoever gave it."""
        with self._lock:
            return max(self._adjudications.of(answer).values(), key=self._adjudications.place, default=None)

    def shown_whose(self, analyst: str) -> frozenset[str]:
        """The answers of which an analyst was ever shown whose they are."""
        with self._lock:
            return frozenset(self._shown_whose.get(analyst, ()))

    def shown_scores(self, analyst: str) -> frozenset[str]:
        """The answers of which an analyst was ever shown how others scored them, to adjudicate them or otherwise."""
        with self._lock:
            return frozenset(self._shown_scores.get(analyst, ()))

    def history(self, analyst: str, scorer: Scorer = "human") -> list[Event]:
        """An analyst's scores that stand, oldest first; a correction has the place of its own time."""
        with self._lock:
            return self._scores[scorer].by(analyst)

    def skipped(self, analyst: str) -> dict[str, int]:
        """Answer → the number of this analyst's last skip of it, unless that was undone or they scored it since."""
        with self._lock:
            return {event.answer: self._skips.place(event) for event in self._skips.by(analyst)}

    def skip(self, answer: str, analyst: str) -> Event | None:
        """An analyst's last skip of an answer, as it stands."""
        with self._lock:
            return self._skips.at(analyst, answer)

    def number(self, score: Event) -> int:
        """The number in the log of a score that stands."""
        with self._lock:
            return self._scores[score.scorer].place(score)

    def analysts(self, scorer: Scorer = "human") -> list[str]:
        """Whoever has a score that stands, sorted."""
        with self._lock:
            return self._scores[scorer].analysts()

    def all_scores(self, scorer: Scorer = "human") -> list[Event]:
        """Every score that stands, analyst by analyst, the oldest of each first."""
        with self._lock:
            scores = self._scores[scorer]
            return [event for analyst in scores.analysts() for event in scores.by(analyst)]

    def independent_scores(self) -> list[Event]:
        """Every score of a person that stood before they were shown those of others (see `events.independent`)."""
        with self._lock:
            scores = self._independent
            return [event for analyst in scores.analysts() for event in scores.by(analyst)]

    def answers(self) -> Collection[str]:
        """The answers with a score that stands, of a person or a machine."""
        with self._lock:
            return frozenset(self._scored)


class _Standing:
    """Of one kind of event, the latest of each analyst and answer that was not undone."""

    def __init__(self) -> None:
        # In the order of the log.
        self._latest: defaultdict[str, dict[str, Event]] = defaultdict(dict)
        self._earlier: dict[tuple[str, str], list[Event]] = {}
        """What a later event has taken the place of, and what an undo brings back."""
        # Beside the events, not in tuples with them: hundreds of thousands of those keep the garbage collector busy.
        self._numbers: dict[str, int] = {}

    def add(self, number: int, event: Event) -> bool:
        """Let an event stand; whether it is this analyst's first about the answer."""
        self._numbers[event.id] = number
        answers = self._latest[event.analyst]
        # Taken out first, so that a correction stands at its own place in the order.
        before = answers.pop(event.answer, None)
        if before:
            self._earlier.setdefault((event.analyst, event.answer), []).append(before)
        answers[event.answer] = event
        return before is None

    def undo(self, undo: Event) -> bool:
        """Take out what an undo names, if it is of this kind; whether nothing of its analyst and answer is left."""
        answers = self._latest[undo.analyst]
        earlier = self._earlier.get((undo.analyst, undo.answer), [])
        earlier[:] = [event for event in earlier if event.id != undo.undoes]
        latest = answers.get(undo.answer)
        if latest is None or latest.id != undo.undoes:
            return False
        del answers[undo.answer]
        if not earlier:
            return True
        answers[undo.answer] = earlier.pop()
        self._latest[undo.analyst] = {event.answer: event for event in sorted(answers.values(), key=self.place)}
        return False

    def place(self, event: Event) -> int:
        """An event's number in the log."""
        return self._numbers[event.id]

    def drop(self, event: Event) -> None:
        """Forget everything of an event's analyst about its answer."""
        if self._latest[event.analyst].pop(event.answer, None):
            self._earlier.pop((event.analyst, event.answer), None)

    def at(self, analyst: str, answer: str) -> Event | None:
        """What stands of one analyst about one answer."""
        return self._latest.get(analyst, {}).get(answer)

    def of(self, answer: str) -> dict[str, Event]:
        """Analyst → what stands about one answer."""
        return {analyst: answers[answer] for analyst, answers in self._latest.items() if answer in answers}

    def by(self, analyst: str) -> list[Event]:
        """What stands of one analyst, oldest first."""
        return list(self._latest.get(analyst, {}).values())

    def analysts(self) -> list[str]:
        """Those of whom something stands, sorted."""
        return sorted(analyst for analyst, answers in self._latest.items() if answers)
