"""What to score next, and keeping what was scored: the desk without its pages.

Nothing here gives another analyst's values of an answer that this analyst could still be asked to score.
"""

from __future__ import annotations

import hashlib
import threading
from bisect import insort
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from genaipa.scoring.events import Draft, Event, new_id, now
from genaipa.ui.coverage import Coverage, Dispute, Past, Plan, wanted_from

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from genaipa.scoring.answers import Pool
    from genaipa.scoring.ledger import Ledger
    from genaipa.scoring.rubric import Metric, Values
    from genaipa.scoring.store import Store

__all__ = ["Dispute", "Pace", "Plan", "Progress", "Queue"]

_FEW = 1000
"""Answers that are put into their order at once; a whole order of 100,000 takes a good part of a second."""


@dataclass(frozen=True)
class Progress:
    """How far an analyst and the study are.

    Of this analyst: how many answers they have `scored`, how many `remaining` ones they could be asked, and the median
    `seconds` of one (None before the first). Of the study: its `answers`, how many scores are `wanted` in all and how
    many of those are `given`.
    """

    analyst: str
    scored: int
    remaining: int
    seconds: float | None
    answers: int
    wanted: int
    given: int


@dataclass(frozen=True)
class Pace:
    """One analyst's share: the answers `scored`, and the median `seconds` of one."""

    analyst: str
    scored: int
    seconds: float | None


class Queue:
    """The order of work of every analyst. Any number of threads may share it."""

    def __init__(self, pool: Pool, store: Store, ledger: Ledger, plan: Plan) -> None:
        self.pool, self.store, self.ledger, self.plan = pool, store, ledger, plan
        self._coverage = Coverage(pool, store, ledger, plan)
        self._orders: dict[str, tuple[list[str], int]] = {}
        """Analyst → their order, and how many of the pool's arrivals are in it."""
        self._generation = pool.generation
        self._lock = threading.Lock()

    def _caught_up(self) -> Coverage:
        with self._lock:
            self._coverage.catch_up()
            return self._coverage

    def _past(self, analyst: str) -> Past:
        # Under the lock, so that none is kept that a score given meanwhile has outdated.
        with self._lock:
            self._coverage.catch_up()
            return self._coverage.past(analyst)

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
        drafts = self.store.drafts(analyst)
        begun = [draft.answer for draft in drafts if draft.kind == "score" and draft.answer in coverage]
        looked = _looked(drafts)
        skipped = self.ledger.skipped(analyst)
        calibration = [digest for digest in self._calibration(analyst) if digest not in looked]
        held = self.store.reservations()
        # These are theirs whoever else has scored them; for all others there is a number of scores that is wanted.
        theirs = {*begun, *calibration}
        first = (digest for digest in chain(calibration, self._ahead(analyst)) if digest not in skipped)
        for digest in chain(begun, first, sorted(skipped, key=skipped.__getitem__)):
            if digest in scored or digest in looked or self._has_adjudicated(analyst, digest):
                continue
            if digest not in theirs and (digest not in asked or self._is_taken(digest, analyst, held)):
                continue
            if self._reserve(digest, analyst, always=digest in theirs):
                return digest
        return None

    def _ahead(self, analyst: str) -> Iterable[str]:
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
        done = self._past(analyst).calibrated
        if done >= self.plan.calibration:
            return []
        scored = self._coverage.scored[analyst]
        left = [digest for digest in list(self._coverage.referenced) if digest not in scored]
        return left[: self.plan.calibration - done]

    def _has_adjudicated(self, analyst: str, digest: str) -> bool:
        """Whether this analyst has seen the scores of an answer to settle them, even if they withdrew that."""
        if not self._coverage.given_to(digest):
            return False
        events = self.store.events_of(digest)
        return any(event.kind == "adjudication" and event.analyst == analyst for event in events)

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
        self._caught_up()
        standing = self.ledger.score(digest, analyst)
        if standing is not None:
            return standing.calibration
        return digest in self._calibration(analyst)

    def reference(self, digest: str, analyst: str) -> Event | None:
        """A reference analyst's score to compare with; None before this analyst has given their own."""
        scores = self.ledger.scores(digest)
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
        suggested: Mapping[Metric, float],
        preselected: bool,
        id: str,  # noqa: A002 - the event's own word
    ) -> Event:
        """Keep a score; it is on disk when this returns. The same `id` sent twice is kept once.

        It is kept whoever has scored the answer meanwhile, and even if the answer has gone from the pool.
        """
        return self._keep(
            Event(
                id=id,
                time=now(),
                kind="score",
                analyst=analyst,
                answer=digest,
                values=values,
                note=note,
                seconds=seconds,
                suggested=dict(suggested),
                preselected=preselected,
                blind=self.plan.blind,
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
        return self._keep(
            Event(
                id=id,
                time=now(),
                kind="adjudication",
                analyst=analyst,
                answer=digest,
                values=values,
                note=note,
                seconds=seconds,
                blind=self.plan.blind,
            )
        )

    def _keep(self, event: Event) -> Event:
        new = self.store.append([event])
        self._caught_up()
        return event if new else next(kept for kept in self.store.events_of(event.answer) if kept.id == event.id)

    def skip(self, analyst: str, digest: str) -> None:
        """Put an answer behind all others of this analyst."""
        self._keep(Event(id=new_id(), time=now(), kind="skip", analyst=analyst, answer=digest, blind=self.plan.blind))

    def undo(self, analyst: str) -> Event | None:
        """Withdraw the analyst's last score or skip, and give it back; None if there is none.

        What a withdrawn score had typed comes back as the draft. A withdrawn skip (`kind` "skip") has no values.
        """
        last = self._last(analyst)
        if last is None:
            return None
        if last.values is not None:
            # First, so that what was typed is never lost: the draft of an answer that is scored disturbs nobody.
            typed, seconds = last.values.keys, last.seconds or 0.0
            self.store.save_draft(Draft(analyst, last.answer, "score", typed, last.note, seconds, now()))
        self._keep(
            Event(
                id=new_id(),
                time=now(),
                kind="undo",
                analyst=analyst,
                answer=last.answer,
                undoes=last.id,
                blind=self.plan.blind,
            )
        )
        return last

    def _last(self, analyst: str) -> Event | None:
        """The score or skip that this analyst gave last, of those that stand."""
        coverage = self._caught_up()
        score = next(reversed(self._past(analyst).scores), None)
        skipped = {digest: time for digest, time in self.ledger.skipped(analyst).items() if digest in coverage}
        latest = max(skipped, key=skipped.__getitem__, default=None)
        if latest is None or (score is not None and score.time > skipped[latest]):
            return score
        events = self.store.events_of(latest)
        return next(event for event in reversed(events) if event.kind == "skip" and event.analyst == analyst)

    # -- looking back and around --

    def before(self, analyst: str, digest: str | None) -> str | None:
        """The answer that this analyst scored before this one; before none, the last one."""
        scored = [score.answer for score in self._past(analyst).scores]
        if digest in scored:
            scored = scored[: scored.index(digest)]
        return scored[-1] if scored else None

    def progress(self, analyst: str) -> Progress:
        """How far this analyst and the study are."""
        coverage = self._caught_up()
        scored, asked = coverage.scored[analyst], coverage.asked_of(analyst)
        looked = _looked(self.store.drafts(analyst)) - scored
        calibration = set(self._calibration(analyst)) - asked - looked
        return Progress(
            analyst=analyst,
            scored=len(scored),
            remaining=len(asked) - len(asked & scored) - len(asked & looked) + len(calibration),
            seconds=self._past(analyst).seconds,
            answers=len(coverage),
            wanted=coverage.wanted,
            given=coverage.given,
        )

    def paces(self) -> list[Pace]:
        """Every analyst's share, by name."""
        self._caught_up()
        pasts = {analyst: self._past(analyst) for analyst in self.ledger.analysts()}
        return [Pace(analyst, len(past.scores), past.seconds) for analyst, past in pasts.items() if past.scores]

    # -- adjudication --

    def disputes(
        self,
        analyst: str,
        *,
        scores: bool = True,
        metric: Metric | None = None,
        at_least: float = 0.5,
        adjudicated: bool | None = None,
    ) -> list[Dispute]:
        """The answers whose scores differ on `metric` (on any) by `at_least`, the largest difference first.

        `analyst` is who looks: where they give `scores` themselves, answers that they could still be asked to score
        are left out. `adjudicated` chooses those that are, or are not yet.
        """
        coverage = self._caught_up()
        ahead: set[str] = set()
        if scores:
            ahead = coverage.asked_of(analyst) | set(self._calibration(analyst))
            ahead -= coverage.scored[analyst] | _looked(self.store.drafts(analyst))

        def apart(dispute: Dispute) -> float:
            return dispute.differences[metric] if metric else dispute.largest

        chosen = [
            dispute
            for dispute in list(coverage.disputes.values())
            if apart(dispute) >= at_least
            and adjudicated in (None, dispute.adjudication is not None)
            and (dispute.answer not in ahead or _settled_by(dispute, analyst))
        ]
        return sorted(chosen, key=lambda dispute: (-apart(dispute), dispute.answer))

    def look(self, analyst: str, digest: str) -> None:
        """Remember that this analyst was shown the scores of an answer: they won't be asked to score it."""
        if self.store.draft(analyst, digest, "adjudication") is None:
            self.store.save_draft(Draft(analyst, digest, "adjudication", updated=now()))


def _inserted(order: list[str], new: list[str], place: Callable[[str], bytes]) -> list[str]:
    if len(new) > _FEW:
        return sorted([*order, *new], key=place)
    for digest in new:
        insort(order, digest, key=place)
    return order


def _looked(drafts: Iterable[Draft]) -> set[str]:
    """The answers whose scores an analyst is or was about to settle."""
    return {draft.answer for draft in drafts if draft.kind == "adjudication"}


def _settled_by(dispute: Dispute, analyst: str) -> bool:
    return dispute.adjudication is not None and dispute.adjudication.analyst == analyst
