"""In-memory view of the event log: scores, adjudications and skips in effect, and each analyst's exposures.

An event is in effect until it is undone, or its analyst gives a later one of its kind about the same answer; undoing
that one brings it back. A skip ends with its analyst's score.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import TYPE_CHECKING

from genaipa.scoring.events import ANCHOR, EXPOSURE, MEAN, SEND_BACK, VALUED, Pin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from genaipa.scoring.events import Event, EventKind, Scorer


class CurrentScores:
    """A view of a log of events as of the last `read_new_events`. Any number of threads may share it.

    `source` gives (number, event) of everything after a number, in order, as `ScoreStore.events` does. The scores of
    people and of machines are kept apart; `scorer` chooses between them.
    """

    def __init__(self, source: Callable[[int], Iterable[tuple[int, Event]]]) -> None:
        self._source = source
        self._last = 0
        self._log: list[Event] = []
        self._number_of: dict[str, int] = {}
        self._kinds: dict[EventKind | Scorer, _EffectiveEvents] = {}
        for kind in ("human", "machine", "adjudication", "skip", SEND_BACK, MEAN):
            self._kinds[kind] = _EffectiveEvents(self._number_of)
        self._objections: dict[str, Event] = {}
        """Id → objection, ruling, or undo of an objection, in the order of the log."""
        self._pins: dict[tuple[str, str, str], Event] = {}
        """`Pin.digest_question_set_and_question` → the latest pin."""
        self._saw_system: defaultdict[str, set[str]] = defaultdict(set)
        self._saw_scores: defaultdict[str, set[str]] = defaultdict(set)
        self._lock = threading.Lock()

    def read_new_events(self) -> bool:
        """Add the events that any process has appended since the last time; return whether there were any."""
        with self._lock:
            before = self._last
            for number, event in self._source(before):
                self._add_event(number, event)
                self._last = number
            return self._last > before

    def _add_event(self, number: int, event: Event) -> None:
        self._log.append(event)
        if event.scorer == "human" and not event.blind:
            self._saw_system[event.analyst].add(event.answer)
        if event.kind == "adjudication" or not event.independent:
            self._saw_scores[event.analyst].add(event.answer)
        if isinstance(event.annotation, Pin):
            self._pins[event.annotation.digest_question_set_and_question] = event
        elif event.annotation is not None or event.undoes in self._objections:
            self._objections[event.id] = event
        elif event.kind == "undo":
            for kind in self._kinds.values():
                kind.remove_event_named_by_undo(event)
        elif event.kind not in (EXPOSURE, ANCHOR):
            self._number_of[event.id] = number
            self._kinds[event.scorer if event.kind == "score" else event.kind].add(event)
            if event.kind == "score":
                self._kinds["skip"].drop_analyst_events_on_answer(event)

    @property
    def event_count(self) -> int:
        """The number of events in the view: anything derived from it is valid until there are more."""
        return len(self._log)

    def list_logged_events(self, first_index: int = 0) -> list[Event]:
        """Return the log in order, from the event with the index `first_index`."""
        with self._lock:
            return self._log[first_index:]

    def list_objections_undos_and_rulings(self) -> list[Event]:
        """Return the objections to annotated answers with their undos and rulings, in the log's order."""
        with self._lock:
            return list(self._objections.values())

    def find_pin(self, digest_question_set_and_question: tuple[str, str, str]) -> Event | None:
        """Return the pin in effect of a question about a text; None if no passage is pinned."""
        with self._lock:
            event = self._pins.get(digest_question_set_and_question)
        return event if event and isinstance(event.annotation, Pin) and event.annotation.at else None

    def find_score(self, answer_digest: str, analyst: str, scorer: Scorer = "human") -> Event | None:
        """Return an analyst's current score of an answer."""
        with self._lock:
            return self._kinds[scorer].latest_event(analyst, answer_digest)

    def scores_by_analyst(self, answer_digest: str, scorer: Scorer = "human") -> dict[str, Event]:
        """Analyst → their current score of an answer."""
        with self._lock:
            return self._kinds[scorer].latest_event_by_analyst(answer_digest)

    def find_latest_adjudication(self, answer_digest: str) -> Event | None:
        """Return the latest adjudication of an answer in effect, by anyone."""
        with self._lock:
            return max(
                self._kinds["adjudication"].latest_event_by_analyst(answer_digest).values(),
                key=self.event_number,
                default=None,
            )

    def list_adjudications_of_every_adjudicator(self) -> list[Event]:
        """Return all adjudications in effect, adjudicator by adjudicator."""
        with self._lock:
            return self._kinds["adjudication"].latest_events_of_all_analysts()

    def find_mean_acceptance_after_all_scores(self, answer_digest: str) -> Event | None:
        """Return the latest word that the mean of an answer's scores stands; None if any of them was given after it."""
        with self._lock:
            scores = self._kinds["human"].latest_event_by_analyst(answer_digest).values()
            latest = max(
                self._kinds[MEAN].latest_event_by_analyst(answer_digest).values(), key=self.event_number, default=None
            )
            if latest and all(self.event_number(score) < self.event_number(latest) for score in scores):
                return latest
        return None

    def latest_send_back(self, answer_digest: str) -> Event | None:
        """Return the latest word in effect by which an answer was sent back to those who had scored it."""
        with self._lock:
            return max(
                self._kinds[SEND_BACK].latest_event_by_analyst(answer_digest).values(),
                key=self.event_number,
                default=None,
            )

    def latest_send_back_by_answer(self) -> dict[str, Event]:
        """Answer → the latest word in effect by which it was sent back, the earliest first."""
        with self._lock:
            latest = sorted(self._kinds[SEND_BACK].latest_events_of_all_analysts(), key=self.event_number)
        return {event.answer: event for event in latest}

    def analysts_yet_to_rescore(self, answer_digest: str) -> list[str]:
        """Return the analysts who have not scored an answer again since it was sent back to them, by name.

        Nobody is waited for once it is settled.
        """
        word, settled = (
            self.latest_send_back(answer_digest),
            self.find_latest_adjudication(answer_digest) or self.find_mean_acceptance_after_all_scores(answer_digest),
        )
        if word is None or (settled and self.event_number(settled) > self.event_number(word)):
            return []
        scores = self.scores_by_analyst(answer_digest).values()
        return sorted(
            s.analyst for s in scores if s.analyst != word.analyst and self.event_number(s) < self.event_number(word)
        )

    def answers_with_seen_system(self, analyst: str) -> frozenset[str]:
        """Return the answers whose system was ever shown to an analyst."""
        with self._lock:
            return frozenset(self._saw_system.get(analyst, ()))

    def answers_with_seen_scores(self, analyst: str) -> frozenset[str]:
        """Return the answers whose scores by others were ever shown to an analyst, to adjudicate them or otherwise."""
        with self._lock:
            return frozenset(self._saw_scores.get(analyst, ()))

    def scores_of_analyst(self, analyst: str, scorer: Scorer = "human") -> list[Event]:
        """Return an analyst's current scores, oldest first; a correction has the place of its own time."""
        with self._lock:
            return self._kinds[scorer].latest_events_of_analyst(analyst)

    def last_skip_event_number_by_answer(self, analyst: str) -> dict[str, int]:
        """Answer → the number of this analyst's last skip of it in effect."""
        with self._lock:
            return {
                event.answer: self.event_number(event)
                for event in self._kinds["skip"].latest_events_of_analyst(analyst)
            }

    def find_last_skip(self, answer_digest: str, analyst: str) -> Event | None:
        """Return an analyst's last skip of an answer in effect."""
        with self._lock:
            return self._kinds["skip"].latest_event(analyst, answer_digest)

    def event_number(self, event: Event) -> int:
        """Return the number in the log of a score, an adjudication or a skip."""
        return self._number_of[event.id]

    def list_analysts_with_current_scores(self, scorer: Scorer = "human") -> list[str]:
        """Return the names of those with a current score, sorted."""
        with self._lock:
            return self._kinds[scorer].list_analysts_with_effective_events()

    def refresh_and_list_all_scored_answers(self) -> set[str]:
        """Refresh the view, and return the answers that people have scored."""
        self.read_new_events()
        return {score.answer for score in self.list_all_current_scores()}

    def list_all_current_scores(self, scorer: Scorer = "human") -> list[Event]:
        """Return all current scores, analyst by analyst, the oldest of each first."""
        with self._lock:
            return self._kinds[scorer].latest_events_of_all_analysts()

    def independent_human_scores(self) -> list[Event]:
        """Return people's scores as they were before they saw others', see `independent_human_scores`."""
        return independent_human_scores(self.list_logged_events())


def effective_scores_and_adjudications(events: Iterable[Event]) -> list[Event]:
    """Return the scores and adjudications of a whole log that are in effect, in its order.

    As `CurrentScores` has them; from a million events in a third of the time and memory.
    """
    undone: set[str] = set()
    later: defaultdict[tuple[EventKind, Scorer, str], set[str]] = defaultdict(set)
    effective = []
    for event in reversed(list(events)):
        if event.kind == "undo":
            undone.add(event.undoes)
        elif event.kind in VALUED and event.id not in undone:
            answers = later[event.kind, event.scorer, event.analyst]
            if event.answer not in answers:
                answers.add(event.answer)
                effective.append(event)
    return effective[::-1]


def count_scores_in_effect(events: Iterable[Event]) -> int:
    """Count the scores in effect of a whole log, by people and judges: no adjudication, look or other event."""
    return sum(event.kind == "score" for event in effective_scores_and_adjudications(events))


def independent_human_scores(events: Iterable[Event]) -> list[Event]:
    """Return the people's scores of a whole log that were in effect before they saw others', in its order.

    A correction or an undo after that does not change them.
    """
    independent = effective_scores_and_adjudications(
        event for event in events if event.independent and event.scorer == "human"
    )
    return [event for event in independent if event.kind == "score"]


class _EffectiveEvents:
    """Of one kind of event, the latest of each analyst and answer that was not undone."""

    def __init__(self, numbers: dict[str, int]) -> None:
        # In the order of the log.
        self._latest: defaultdict[str, dict[str, Event]] = defaultdict(dict)
        self._earlier: dict[tuple[str, str], list[Event]] = {}
        """Events that a later one has replaced, and an undo brings back."""
        # Beside the events, not in tuples with them: hundreds of thousands of those keep the garbage collector busy.
        self._numbers = numbers

    def add(self, event: Event) -> None:
        answers = self._latest[event.analyst]
        # Taken out first, so that a correction has its own place in the order.
        before = answers.pop(event.answer, None)
        if before:
            self._earlier.setdefault((event.analyst, event.answer), []).append(before)
        answers[event.answer] = event

    def remove_event_named_by_undo(self, undo_event: Event) -> None:
        """Remove the event that an undo names, if it is of this kind."""
        answers = self._latest.get(undo_event.analyst, {})
        earlier = self._earlier.get((undo_event.analyst, undo_event.answer), [])
        earlier[:] = [event for event in earlier if event.id != undo_event.undoes]
        latest = answers.get(undo_event.answer)
        if latest is None or latest.id != undo_event.undoes:
            return
        del answers[undo_event.answer]
        if earlier:
            answers[undo_event.answer] = earlier.pop()
            ordered = sorted(answers.values(), key=lambda event: self._numbers[event.id])
            self._latest[undo_event.analyst] = {event.answer: event for event in ordered}

    def drop_analyst_events_on_answer(self, event: Event) -> None:
        """Forget everything of an event's analyst about its answer."""
        if self._latest.get(event.analyst, {}).pop(event.answer, None):
            self._earlier.pop((event.analyst, event.answer), None)

    def latest_event(self, analyst: str, answer_digest: str) -> Event | None:
        return self._latest.get(analyst, {}).get(answer_digest)

    def latest_event_by_analyst(self, answer_digest: str) -> dict[str, Event]:
        return {
            analyst: answers[answer_digest] for analyst, answers in self._latest.items() if answer_digest in answers
        }

    def latest_events_of_analyst(self, analyst: str) -> list[Event]:
        return list(self._latest.get(analyst, {}).values())

    def list_analysts_with_effective_events(self) -> list[str]:
        return sorted(analyst for analyst, answers in self._latest.items() if answers)

    def latest_events_of_all_analysts(self) -> list[Event]:
        """Return the events analyst by analyst, the oldest of each first."""
        return [
            event for analyst in self.list_analysts_with_effective_events() for event in self._latest[analyst].values()
        ]
