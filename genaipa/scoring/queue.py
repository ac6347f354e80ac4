"""The desk without its pages: each analyst's next answer, and the events that score, skip, undo and adjudicate.

Nothing here returns another analyst's values of an answer that this analyst could still be asked to score.
"""

from __future__ import annotations

import hashlib
import threading
from bisect import insort
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from msgspec.structs import replace

from genaipa.scoring.assignment import Coverage, wanted_from
from genaipa.scoring.events import EXPOSURE, Draft, Event, new_id, now

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from genaipa.scoring.answers import Pool
    from genaipa.scoring.assignment import Dispute, History, Plan
    from genaipa.scoring.current import CurrentScores
    from genaipa.scoring.events import EventKind
    from genaipa.scoring.rubric import Values
    from genaipa.scoring.store import Store

_FEW = 1000
"""Answers that are put into their order at once; a whole order of 100,000 takes a good part of a second."""


@dataclass(frozen=True)
class Progress:
    """The progress of an analyst and of the study.

    Of this analyst: the number of answers `scored` and of those `remaining` that they could be asked, and their median
    `seconds` (None before the first). Of the study: its number of `answers`, and of scores `wanted` and `given`.
    """

    analyst: str
    scored: int
    remaining: int
    seconds: float | None
    answers: int
    wanted: int
    given: int


class Queue:
    """The order of work of every analyst. Any number of threads may share it."""

    def __init__(self, pool: Pool, store: Store, current: CurrentScores, plan: Plan) -> None:
        self.pool, self.store, self.current, self.plan = pool, store, current, plan
        self._coverage = Coverage(pool, current, plan)
        self._orders: dict[str, tuple[list[str], int]] = {}
        """Analyst → their order, and how many of the pool's arrivals are in it."""
        self._generation = pool.generation
        self._lock = threading.Lock()

    def _caught_up(self) -> Coverage:
        with self._lock:
            self._coverage.catch_up()
            return self._coverage

    def _history(self, analyst: str) -> History:
        # Under the lock, so that none is kept that a score given meanwhile has outdated.
        with self._lock:
            self._coverage.catch_up()
            return self._coverage.history(analyst)

    # -- what comes next --

    def wanted(self, digest: str) -> int:
        """From how many analysts a score of this answer is wanted."""
        return wanted_from(self.plan, digest)

    def order(self, analyst: str) -> list[str]:
        """Every answer in the order in which this analyst meets them: document by document, each shuffled.

        An answer that is new in the pool moves no other.
        """
        with self._lock:
            if self._generation != self.pool.generation:
                self._generation = self.pool.generation
                self._orders.clear()
            order, taken = self._orders.get(analyst, ([], 0))
            new = self.pool.arrived[taken:]
            if new:
                order = _inserted(
                    order, [d for d in dict.fromkeys(new) if d in self.pool.answers], self._place(analyst)
                )
                self._orders[analyst] = (order, taken + len(new))
            return order

    def _place(self, analyst: str) -> Callable[[str], bytes]:
        """The place of an answer in an analyst's order, as a key to sort by."""

        def drawn(text: str) -> bytes:
            return hashlib.blake2b(f"{self.plan.seed}\0{analyst}\0{text}".encode(), digest_size=8).digest()

        of_document = cache(drawn)

        def place(digest: str) -> bytes:
            answer = self.pool.answers.get(digest)
            return of_document(answer.document_digest if answer else "") + drawn(digest)

        return place

    def next(self, analyst: str) -> str | None:
        """The answer to score now, kept from others for a while; None when nothing is left for this analyst.

        What they have begun comes first, then calibration, then their order, and last what they have skipped.
        """
        coverage = self._caught_up()
        scored, asked = coverage.scored[analyst], coverage.asked_of(analyst)
        begun, calibration = self._begun(analyst), self._calibration(analyst)
        seen, skipped = self.current.saw_scores(analyst), self.current.skipped(analyst)
        held = self.store.reservations()
        # These are theirs whoever else has scored them; for all others there is a number of scores that is wanted.
        theirs = {*begun, *calibration}
        first = (digest for digest in chain(calibration, self._in_order(analyst)) if digest not in skipped)
        for digest in chain(begun, first, sorted(skipped, key=skipped.__getitem__)):
            if digest in scored:
                continue
            if digest not in theirs and (
                digest in seen or digest not in asked or self._is_taken(digest, analyst, held)
            ):
                continue
            if self._reserve(digest, analyst, always=digest in theirs):
                return digest
        return None

    def ahead_of(self, analyst: str) -> set[str]:
        """The answers that this analyst could still be asked to score, those included that others are at now.

        Whose these are, and how others have scored them, is to be kept from this analyst.
        """
        coverage = self._caught_up()
        # One copy, changed in place: there may be 100,000.
        ahead = set(coverage.asked_of(analyst))
        ahead.difference_update(self.current.saw_scores(analyst))
        ahead.update(self._begun(analyst), self._calibration(analyst))
        ahead.difference_update(coverage.scored[analyst])
        return ahead

    def _remaining(self, analyst: str) -> int:
        """How many `ahead_of` would give, without a set of all of them: this is asked at every key that is pressed."""
        coverage = self._coverage
        asked, scored = coverage.asked_of(analyst), coverage.scored[analyst]
        more = {*self._begun(analyst), *self._calibration(analyst)} - scored
        away = (scored | self.current.saw_scores(analyst)) - more
        return len(asked) - sum(digest in asked for digest in away) + sum(digest not in asked for digest in more)

    def has_begun(self, analyst: str) -> bool:
        """Whether an analyst has an answer reserved, or is in the middle of one that they have not scored."""
        if any(analyst in holders for holders in self.store.reservations().values()):
            return True
        scored = self._caught_up().scored[analyst]
        return any(digest not in scored for digest in self._begun(analyst))

    def _begun(self, analyst: str) -> list[str]:
        """The answers that an analyst is in the middle of, the newest first; they can go on whoever scored them."""
        skipped = self.current.skipped(analyst)
        return [
            draft.answer
            for draft in self.store.drafts(analyst)
            # What was skipped waits for its turn, until it is gone on with.
            if draft.kind == "score" and draft.answer in self._coverage and draft.after >= skipped.get(draft.answer, 0)
        ]

    def _in_order(self, analyst: str) -> Iterable[str]:
        """What is asked of this analyst and not scored by them, in their order."""
        scored, asked = self._coverage.scored[analyst], self._coverage.asked_of(analyst)
        if len(asked) <= _FEW:
            # Near the end of a study these are quickly sorted, and far apart in the order.
            return sorted(asked - scored, key=self._place(analyst))
        return (digest for digest in self.order(analyst) if digest in asked and digest not in scored)

    def _calibration(self, analyst: str) -> list[str]:
        """The answers that this analyst is still to score for comparison, in the reference analyst's order."""
        if analyst in self.plan.reference or not self._coverage.referenced:
            return []
        done = self._history(analyst).calibrated
        if done >= self.plan.calibration:
            return []
        scored, seen = self._coverage.scored[analyst], self.current.saw_scores(analyst)
        left = [digest for digest in list(self._coverage.referenced) if digest not in scored and digest not in seen]
        return left[: self.plan.calibration - done]

    def _is_taken(self, digest: str, analyst: str, held: Mapping[str, Collection[str]]) -> bool:
        """Whether others who are at it will give all the scores that are wanted, so that asking for it is in vain."""
        if analyst in self.plan.reference:
            return False
        others = set(held.get(digest, ())) - {analyst, *self.plan.reference}
        return bool(others) and self._coverage.given_to(digest) + len(others) >= self.wanted(digest)

    def _reserve(self, digest: str, analyst: str, *, always: bool) -> bool:
        reserved = self.store.reserve(
            digest, analyst, wanted=self.wanted(digest), apart=self.plan.reference, minutes=self.plan.minutes
        )
        if not reserved and (always or analyst in self.plan.reference):
            self.store.release(analyst)  # of the answer before
            return True
        return reserved

    # -- calibration --

    def is_calibration(self, digest: str, analyst: str) -> bool:
        """Whether a score that this analyst gives now is there to be compared with a reference analyst's."""
        coverage = self._caught_up()
        standing = self.current.score(digest, analyst)
        if standing is not None:
            return standing.calibration
        return digest in coverage.referenced and digest in self._calibration(analyst)

    def reference(self, digest: str, analyst: str) -> Event | None:
        """A reference analyst's score to compare with; None before this analyst has given their own."""
        scores = self.current.scores(digest)
        if analyst not in scores:
            return None
        return next((scores[name] for name in self.plan.reference if name in scores and name != analyst), None)

    # -- keeping --

    def save(
        self,
        analyst: str,
        digest: str,
        values: Values,
        *,
        note: str,
        seconds: float | None,
        suggested: Mapping[str, float],
        preselected: bool,
        id: str,  # noqa: A002 - the event's own word
    ) -> Event:
        """Keep a score; it is on disk when this returns. The same `id` sent twice is kept once.

        It is kept whoever has scored the answer meanwhile, and even if the answer has gone from the pool.
        """
        given = self._event("score", analyst, digest, id=id, values=values, note=note, seconds=seconds)
        return self._keep(
            replace(
                given,
                suggested=dict(suggested),
                preselected=preselected,
                calibration=self.is_calibration(digest, analyst),
            )
        )

    def adjudicate(
        self,
        analyst: str,
        digest: str,
        values: Values,
        *,
        note: str,
        seconds: float | None,
        id: str,  # noqa: A002 - the event's own word
    ) -> Event:
        """Keep an adjudicated score beside those that differ. The same `id` sent twice is kept once."""
        given = self._event("adjudication", analyst, digest, id=id, values=values, note=note, seconds=seconds)
        return self._keep(replace(given, independent=False))

    def _event(
        self,
        kind: EventKind,
        analyst: str,
        digest: str,
        *,
        id: str = "",  # noqa: A002 - the event's own word
        values: Values | None = None,
        note: str = "",
        seconds: float | None = None,
        undoes: str = "",
    ) -> Event:
        """An event of this moment, which says what its analyst has been shown about the answer by now."""
        self._caught_up()
        return Event(
            id=id or new_id(),
            time=now(),
            kind=kind,
            analyst=analyst,
            answer=digest,
            values=values,
            note=note,
            seconds=seconds,
            undoes=undoes,
            blind=self.plan.blind and digest not in self.current.saw_system(analyst),
            independent=digest not in self.current.saw_scores(analyst),
            rubric=self.store.rubric.digest if values else "",
        )

    def _keep(self, event: Event) -> Event:
        new = self.store.append([event])
        self._caught_up()
        return event if new else next(kept for kept in self.store.events_of(event.answer) if kept.id == event.id)

    def skip(self, analyst: str, digest: str) -> None:
        """Put an answer behind all others of this analyst."""
        self._keep(self._event("skip", analyst, digest))

    def undo(self, analyst: str) -> Event | None:
        """Withdraw the analyst's last score or skip, and give it back; None if there is none.

        What a withdrawn score had typed comes back as the draft. A withdrawn skip (`kind` "skip") has no values.
        """
        last = self.last(analyst)
        if last is not None:
            # First, so that nobody is asked for it in between.
            self._reserve(last.answer, analyst, always=False)
            self._withdraw(last)
        return last

    def undo_adjudication(self, analyst: str, digest: str) -> Event | None:
        """Withdraw what settles an answer, and give it back; None if that is not of this analyst.

        What was typed comes back as the draft.
        """
        self._caught_up()
        standing = self.current.adjudication(digest)
        if standing is None or standing.analyst != analyst:
            return None
        self._withdraw(standing)
        return standing

    def _withdraw(self, event: Event) -> None:
        if event.values is not None and event.kind in ("score", "adjudication"):
            # First, so that what was typed is never lost: the draft of an answer that is scored disturbs nobody.
            typed, seconds = self.store.rubric.keys_of(event.values), event.seconds or 0.0
            draft = Draft(event.analyst, event.answer, event.kind, typed, event.note, seconds)
            self.store.save_draft(replace(draft, preselected=event.preselected))
        self._keep(self._event("undo", event.analyst, event.answer, undoes=event.id))

    def last(self, analyst: str) -> Event | None:
        """The score or skip that this analyst gave last, of those that stand."""
        coverage = self._caught_up()
        score = next(reversed(self._history(analyst).scores), None)
        skipped = {digest: number for digest, number in self.current.skipped(analyst).items() if digest in coverage}
        latest = max(skipped, key=skipped.__getitem__, default=None)
        if latest is None or (score is not None and self.current.number(score) > skipped[latest]):
            return score
        return self.current.skip(latest, analyst)

    # -- looking back and around --

    def before(self, analyst: str, digest: str | None) -> str | None:
        """The answer that this analyst scored before this one; before none, the last one."""
        scored = [score.answer for score in self._history(analyst).scores]
        if digest in scored:
            scored = scored[: scored.index(digest)]
        return scored[-1] if scored else None

    def progress(self, analyst: str) -> Progress:
        """How far this analyst and the study are."""
        coverage = self._caught_up()
        return Progress(
            analyst=analyst,
            scored=len(coverage.scored[analyst]),
            remaining=self._remaining(analyst),
            seconds=self._history(analyst).seconds,
            answers=len(coverage),
            wanted=coverage.wanted,
            given=coverage.given,
        )

    def histories(self) -> dict[str, History]:
        """Analyst → their history, by name, of those who have scored an answer of the pool."""
        self._caught_up()
        histories = {analyst: self._history(analyst) for analyst in self.current.analysts()}
        return {analyst: history for analyst, history in histories.items() if history.scores}

    # -- adjudication --

    def disputes(
        self,
        analyst: str,
        *,
        scores: bool = True,
    ) -> list[Dispute]:
        """The answers whose scores differ, the largest difference first.

        `analyst` is who looks: where they give `scores` themselves, answers that they could still be asked to score
        are left out.
        """
        coverage = self._caught_up()
        ahead = self.ahead_of(analyst) if scores else set()
        chosen = [dispute for dispute in list(coverage.disputes.values()) if dispute.answer not in ahead]
        return sorted(chosen, key=lambda dispute: (-dispute.largest, dispute.answer))

    def expose(self, analyst: str, digests: Iterable[str], *, system: bool = False, scores: bool = False) -> None:
        """Record, before they are shown, that this analyst sees the `system` of these answers, or others' `scores`.

        Whoever has seen the scores is not asked to score the answer; if they do, their score says what they saw.
        """
        coverage = self._caught_up()
        saw_system, saw_scores = self.current.saw_system(analyst), self.current.saw_scores(analyst)
        exposures = [
            replace(self._event(EXPOSURE, analyst, digest), blind=not system, independent=not scores)
            for digest in dict.fromkeys(digests)
            if digest in coverage and ((system and digest not in saw_system) or (scores and digest not in saw_scores))
        ]
        if exposures:
            self.store.append(exposures)
            self._caught_up()


def _inserted(order: list[str], new: list[str], place: Callable[[str], bytes]) -> list[str]:
    if len(new) > _FEW:
        return sorted([*order, *new], key=place)
    for digest in new:
        insort(order, digest, key=place)
    return order
