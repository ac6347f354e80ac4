"""The desk without its pages: each analyst's next answer, and the events that score, skip, undo and adjudicate.

Nothing here returns another analyst's values of an answer that this analyst could still be asked to score.
"""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass
from itertools import chain, pairwise, tee
from typing import TYPE_CHECKING, Any

from msgspec import UNSET
from msgspec.structs import replace

from genaipa.errors import UsageError
from genaipa.files.stamps import now
from genaipa.runs.authors import normalize_person_name
from genaipa.scoring.assignment import (
    EarlyDoubleScoring,
    ScoreCoverage,
    ScoringOrders,
    count_wanted_scores,
    document_rank_by_answer_digest,
)
from genaipa.scoring.events import EXPOSURE, JUDGING, MEAN, SEND_BACK, Draft, Event, new_event_id

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from genaipa.questions.points import Ticks
    from genaipa.scoring.answers import AnswerPool
    from genaipa.scoring.assignment import AnalystHistory, Dispute, ScoringPlan
    from genaipa.scoring.current import CurrentScores
    from genaipa.scoring.events import EventKind, Objection, Pin, ScreenContents
    from genaipa.scoring.rubric import Values
    from genaipa.scoring.store import ScoreStore


@dataclass(frozen=True)
class ScoringProgress:
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


class ScoringQueue:
    """The order of work of every analyst. Any number of threads may share it."""

    def __init__(self, pool: AnswerPool, store: ScoreStore, current: CurrentScores, plan: ScoringPlan) -> None:
        self.pool, self.store, self.current, self.plan = pool, store, current, plan
        self._coverage = ScoreCoverage(pool, current, plan)
        self._orders = ScoringOrders(pool, plan)
        self._early = EarlyDoubleScoring(pool, plan)
        self._given_early: set[tuple[str, str]] = set()
        """Analysts, and answers that came up for them out of their order."""
        self._following: dict[str, tuple[str, float]] = {}
        """Analyst → the answer after the one on their screen, and until when (seconds) it is kept for them."""
        self._lock = threading.Lock()

    def warm_up_orders_and_early_answers(self) -> None:
        """Compute what all analysts' orders rest on, so that the first of them does not wait for it."""
        self._walk_answers_to_double_score_early("", bool)
        self._orders.group_answers_for_ordering()

    def _refresh_coverage(self) -> ScoreCoverage:
        with self._lock:
            self._coverage.update_with_new_answers_and_scores()
            return self._coverage

    def current_scores_and_pace(self, analyst: str) -> AnalystHistory:
        """Return this analyst's current scores of the pool's answers."""
        # Under the lock, so that none is kept that a score given meanwhile has outdated.
        with self._lock:
            self._coverage.update_with_new_answers_and_scores()
            return self._coverage.current_scores_and_pace(analyst)

    # -- what comes next --

    def count_wanted_scores(self, digest: str) -> int:
        """Return the number of analysts who are to score this answer."""
        return count_wanted_scores(self.plan, digest)

    def requested_answers_in_order_even_scored(self, analyst: str) -> list[str]:
        """Return the answers wanted of anyone, in this analyst's order. A new answer moves no other."""
        return list(self._orders.walk_answers_in_order(analyst))

    def reserve_next_answer(self, analyst: str, first_answer: str = "") -> str | None:
        """Return the answer to score now, reserved for some minutes; None when nothing is left for this analyst.

        The answer `first_answer` comes before all others if it is still open. Answers that they have begun come then,
        then those that were sent back to them, calibration, answers that two analysts score before all others, their
        order, and last the skipped ones.
        """
        reserved = self.store.reservations_by_answer()
        promised = self._other_analysts_promised_each_answer(analyst)
        # What is kept for somebody who will want it next is given where nothing else is left.
        for held in [_merge_reserved_and_promised_holders(reserved, promised), reserved] if promised else [reserved]:
            for digest, is_theirs, all_early in self._walk_open_answers_with_early_answers(analyst, held, first_answer):
                if self._reserve_answer_or_allow_anyway(digest, analyst, allow_anyway=is_theirs):
                    (self._given_early.add if digest in all_early else self._given_early.discard)((analyst, digest))
                    return digest
        return None

    def promise_following_answer(self, analyst: str, digest: str) -> str | None:
        """Return the answer that comes after this one, kept for the analyst for some minutes; None where nothing does.

        It is not reserved: whoever has nothing else left may get it.
        """
        held = _merge_reserved_and_promised_holders(
            self.store.reservations_by_answer(), self._other_analysts_promised_each_answer(analyst)
        )
        following = next(
            (
                candidate
                for candidate, _, _ in self._walk_open_answers_with_early_answers(analyst, held)
                if candidate != digest
            ),
            None,
        )
        self._following.pop(analyst, None)
        if following is not None:
            self._following[analyst] = (following, time.monotonic() + self.plan.minutes * 60)
        return following

    def _other_analysts_promised_each_answer(self, analyst: str) -> dict[str, list[str]]:
        """Answer → the other analysts who get it next."""
        moment, promised = time.monotonic(), dict[str, list[str]]()
        for name, (digest, until) in [*self._following.items()]:
            if name != analyst and until > moment:
                promised.setdefault(digest, []).append(name)
        return promised

    def _walk_open_answers_with_early_answers(
        self, analyst: str, holders_by_answer: Mapping[str, Collection[str]], first_answer: str = ""
    ) -> Iterator[tuple[str, bool, Iterable[str]]]:
        """Yield each answer that this analyst may get, in their order; whether it is theirs; and all early ones."""
        coverage = self._refresh_coverage()
        scored, requested = coverage.scored[analyst], coverage.list_assigned_open_answers(analyst)
        begun, calibration, returned = (
            self._list_drafted_answers(analyst),
            self._list_unscored_calibration_answers(analyst),
            self.answers_to_rescore(analyst),
        )
        exposed, skipped = (
            self._answers_with_seen_scores_or_authored(analyst),
            self.current.last_skip_event_number_by_answer(analyst),
        )
        # These are theirs whoever else has scored them; of the others each is given to as many as are wanted.
        theirs = {*begun, *returned, *calibration}

        def is_open_to_analyst(digest: str) -> bool:
            return (
                digest in requested
                and digest not in exposed
                and not self._is_fully_reserved(digest, analyst, holders_by_answer)
            )

        # Thousands may be early, of which the first that is open is wanted.
        early, all_early = tee(
            self._walk_answers_to_double_score_early(
                analyst, lambda d: is_open_to_analyst(d) and d not in scored and d not in skipped
            )
        )
        ordered = chain(returned, calibration, early, self._walk_unscored_assigned_answers(analyst))
        new = (digest for digest in ordered if digest not in skipped)
        for digest in chain(
            [first_answer] if first_answer else [], begun, new, sorted(skipped, key=skipped.__getitem__)
        ):
            if digest in scored and digest not in returned:
                continue
            if digest in theirs or is_open_to_analyst(digest):
                yield digest, digest in theirs, all_early

    def answers_analyst_may_still_score(self, analyst: str) -> set[str]:
        """Return the answers that this analyst could still be asked to score, even if others are scoring them now.

        Answers that only a larger wave would ask for are among them. Their systems and their scores by others must not
        be shown to this analyst.
        """
        coverage = self._refresh_coverage()
        ahead = (
            coverage.list_open_answers_ignoring_assignment(analyst) | coverage.outside_wave
        )  # one copy of perhaps 100,000, changed in place
        ahead.difference_update(self._answers_with_seen_scores_or_authored(analyst))
        ahead.update(self._list_drafted_answers(analyst), self._list_unscored_calibration_answers(analyst))
        ahead.difference_update(coverage.scored[analyst])
        # Until all have looked again, none of them is shown what the others gave.
        ahead.update(
            digest
            for digest, word in self.current.latest_send_back_by_answer().items()
            if word.analyst != analyst and digest in coverage.scored[analyst] and self.analysts_yet_to_rescore(digest)
        )
        return ahead

    def _answers_with_seen_scores_or_authored(self, analyst: str) -> AbstractSet[str]:
        """Return the answers whose scores this analyst has seen, and those that they wrote."""
        return self.current.answers_with_seen_scores(analyst) | self.pool.authors.answer_digests_of_author(analyst)

    def is_any_open_answer_held_by_others(self, analyst: str) -> bool:
        """Tell whether answers are open that this analyst could score, were they not others' by now."""
        coverage = self._refresh_coverage()
        return not coverage.open <= coverage.scored[analyst] | self._answers_with_seen_scores_or_authored(analyst)

    def answers_to_rescore(self, analyst: str) -> list[str]:
        """Return the answers that were sent back to this analyst and that they have not scored again since."""
        words, written = self.current.latest_send_back_by_answer(), self.pool.authors.answer_digests_of_author(analyst)
        return [
            digest
            for digest in words
            if digest in self._coverage and digest not in written and analyst in self.analysts_yet_to_rescore(digest)
        ]

    def analysts_yet_to_rescore(self, digest: str) -> list[str]:
        """Return the analysts who are still to look again at an answer that was sent back; none of the reference."""
        return [name for name in self.current.analysts_yet_to_rescore(digest) if name not in self.plan.reference]

    def _count_answers_left(self, analyst: str) -> int:
        """Count the answers ahead in the wave without going through them: this is needed at every key press."""
        coverage = self._coverage
        requested, scored = coverage.list_assigned_open_answers(analyst), coverage.scored[analyst]
        extra = {*self._list_drafted_answers(analyst), *self._list_unscored_calibration_answers(analyst)} - scored
        excluded = (scored | self._answers_with_seen_scores_or_authored(analyst)) - extra
        return (
            len(self.answers_to_rescore(analyst))
            + len(requested)
            - sum(digest in requested for digest in excluded)
            + sum(digest not in requested for digest in extra)
        )

    def has_reserved_or_begun_answer(self, analyst: str) -> bool:
        """Whether an analyst has an answer reserved, or has begun one that they have not scored."""
        if any(analyst in holders for holders in self.store.reservations_by_answer().values()):
            return True
        scored = self._refresh_coverage().scored[analyst]
        return any(digest not in scored for digest in self._list_drafted_answers(analyst))

    def _list_drafted_answers(self, analyst: str) -> list[str]:
        """Return the answers that an analyst has a draft of, the newest first; theirs whoever else scored them."""
        skipped = self.current.last_skip_event_number_by_answer(analyst)
        written = self.pool.authors.answer_digests_of_author(analyst)
        return [
            draft.answer
            for draft in self.store.load_drafts_of_analyst(analyst)
            if draft.kind == "score"
            and draft.answer in self._coverage
            and draft.answer not in written
            # A draft from before a skip waits until its answer comes up again.
            and draft.after >= skipped.get(draft.answer, 0)
        ]

    def _walk_unscored_assigned_answers(self, analyst: str) -> Iterable[str]:
        """Yield the answers asked of this analyst and not scored by them, in their order."""
        scored, requested = self._coverage.scored[analyst], self._coverage.list_assigned_open_answers(analyst)
        sorted_few = self._orders.sort_unscored_answers_or_none_if_many(analyst, requested, scored)
        if sorted_few is not None:
            return sorted_few
        return (
            digest
            for digest in self._orders.walk_answers_in_order(analyst)
            if digest in requested and digest not in scored
        )

    def _walk_answers_to_double_score_early(self, analyst: str, is_open: Callable[[str], bool]) -> Iterator[str]:
        with self._lock:
            return (
                iter(()) if analyst in self.plan.reference else self._early.walk_open_answers(self._coverage, is_open)
            )

    def _list_unscored_calibration_answers(self, analyst: str) -> list[str]:
        """List calibration answers that this analyst has not scored yet: the reference analyst's first, by document."""
        if analyst in self.plan.reference or not self._coverage.referenced:
            return []
        done = self.current_scores_and_pace(analyst).calibrated
        if done >= self.plan.calibration:
            return []
        scored, exposed = self._coverage.scored[analyst], self._answers_with_seen_scores_or_authored(analyst)
        referenced = list(self._coverage.referenced)
        unscored = [digest for digest in referenced if digest not in scored and digest not in exposed]
        return sorted(
            unscored[: self.plan.calibration - done],
            key=document_rank_by_answer_digest(referenced, self.pool).__getitem__,
        )

    def _is_fully_reserved(self, digest: str, analyst: str, holders_by_answer: Mapping[str, Collection[str]]) -> bool:
        """Whether others who have it reserved will give all the scores that it still needs."""
        if analyst in self.plan.reference:
            return False
        other_holders = set(holders_by_answer.get(digest, ())) - {analyst, *self.plan.reference}
        return bool(other_holders) and self._coverage.score_count_without_reference(digest) + len(
            other_holders
        ) >= self.count_wanted_scores(digest)

    def _is_uncounted_analyst(self, name: str, digest: str) -> bool:
        """Whether this person's score of the answer is not among those wanted."""
        return (
            name in self.plan.reference
            or normalize_person_name(name) in map(normalize_person_name, self.plan.left_out)
            or self.pool.authors.is_author(name, digest)
        )

    def _reserve_answer_or_allow_anyway(self, digest: str, analyst: str, *, allow_anyway: bool) -> bool:
        reserved = self.store.reserve_answer(
            digest,
            analyst,
            wanted_scores=self.count_wanted_scores(digest),
            is_uncounted_analyst=lambda name: self._is_uncounted_analyst(name, digest),
            minutes=self.plan.minutes,
        )
        if not reserved and (allow_anyway or analyst in self.plan.reference):
            self.store.release_reservation(analyst)  # of the answer before
            return True
        return reserved

    # -- calibration --

    def would_score_count_as_calibration(self, digest: str, analyst: str) -> bool:
        """Whether a score that this analyst gives now is for calibration."""
        coverage = self._refresh_coverage()
        own_score = self.current.find_score(digest, analyst)
        if own_score is not None:
            return own_score.calibration
        return digest in coverage.referenced and digest in self._list_unscored_calibration_answers(analyst)

    def reference_score_after_own_score(self, digest: str, analyst: str) -> Event | None:
        """Return a reference analyst's score to compare with; None until this analyst has given their own."""
        scores = self.current.scores_by_analyst(digest)
        if analyst not in scores:
            return None
        return next((scores[name] for name in self.plan.reference if name in scores and name != analyst), None)

    # -- events --

    def save_score(
        self,
        analyst: str,
        digest: str,
        values: Values,
        *,
        note: str,
        seconds: float | None,
        suggested: Mapping[str, float],
        pinned: bool = False,
        shown: ScreenContents | None = None,
        ticks: Ticks | None = None,
        id: str,  # noqa: A002 - the event's own word
    ) -> Event:
        """Keep a score, on disk when this returns. The same `id` sent twice is kept once.

        Neither another analyst's score nor the loss of the answer from the pool prevents that.
        """
        fields = {"id": id, "values": values, "note": note, "seconds": seconds, "rubric": self.store.rubric.digest}
        order = "random" if (analyst, digest) in self._given_early else self.plan.order
        screen: dict[str, Any] = {
            "suggested": dict(suggested),
            "pinned": pinned,
            "shown": shown,
            "order": order,
        }
        screen |= {"ticks": ticks, "calibration": self.would_score_count_as_calibration(digest, analyst)}
        word = self.current.latest_send_back(digest)
        if word and word.analyst != analyst and self.current.find_score(digest, analyst):
            # Whoever is told to look again knows that the scores differ.
            screen["independent"] = False
        return self._append_event(self._make_event("score", analyst, digest, **fields, **screen))

    def adjudicate(
        self,
        analyst: str,
        digest: str,
        values: Values,
        *,
        note: str,
        seconds: float | None,
        ticks: Ticks | None = None,
        id: str,  # noqa: A002 - the event's own word
    ) -> Event:
        """Keep an adjudication beside the scores that differ. The same `id` sent twice is kept once."""
        self._refresh_coverage()
        fields = {"id": id, "values": values, "note": note, "seconds": seconds, "rubric": self.store.rubric.digest}
        return self._append_event(
            self._make_event("adjudication", analyst, digest, **fields, ticks=ticks, independent=False)
        )

    def send_answer_back(self, analyst: str, digest: str, instruction: str, *, seconds: float | None = None) -> Event:
        """Send an answer back to the others who have scored it, to look again; a UsageError where that can't be.

        The word names none of them: they don't know of each other while they score.
        """
        self._refresh_coverage()
        names = sorted(set(self.current.scores_by_analyst(digest)).difference({analyst}, self.plan.reference))
        if not names:
            raise UsageError("nobody else has scored this answer, so it can't be sent back.")
        if not instruction.strip():
            raise UsageError("what should the analysts check? Write it in the note.")
        if mentioned := next(filter(None, (_find_mention_of_analyst(name, instruction) for name in names)), ""):
            raise UsageError(f"the note must not name {mentioned}: analysts score without knowing who else does.")
        note = " ".join(instruction.split())
        return self._append_event(
            self._make_event(SEND_BACK, analyst, digest, note=note, seconds=seconds, independent=False)
        )

    def accept_mean(self, analyst: str, digest: str, *, seconds: float | None = None) -> Event:
        """Let the scores of an answer stand, so that their mean counts; a UsageError if they are not close."""
        coverage = self._refresh_coverage()
        dispute = coverage.disputes.get(digest)
        if dispute is None or not self.is_close_dispute(dispute):
            raise UsageError(
                f"the mean can settle only scores that differ by at most {self.smallest_value_step:g} on every metric."
            )
        return self._append_event(self._make_event(MEAN, analyst, digest, seconds=seconds, independent=False))

    @property
    def smallest_value_step(self) -> float:
        """The smallest difference of two values of the rubric."""
        values = sorted(self.store.rubric.values)
        return min(upper - lower for lower, upper in pairwise(values))

    def is_close_dispute(self, dispute: Dispute) -> bool:
        """Whether scores differ so little that their mean may stand."""
        return dispute.largest_difference <= self.smallest_value_step

    def _make_event(self, kind: EventKind, analyst: str, digest: str, **fields: Any) -> Event:
        """Make an event; by default, `blind` and `independent` follow from its analyst's exposures."""
        exposure = {
            "blind": self.plan.blind and digest not in self.current.answers_with_seen_system(analyst),
            "independent": digest not in self.current.answers_with_seen_scores(analyst),
        }
        return Event(
            **{"id": new_event_id(), "time": now(), **exposure, **fields}, kind=kind, analyst=analyst, answer=digest
        )

    def _append_event(self, event: Event) -> Event:
        """Append an event; a UsageError where its analyst would judge what they wrote."""
        if event.kind in JUDGING and self.pool.authors.is_author(event.analyst, event.answer):
            raise UsageError(f"{event.analyst} wrote this answer, so somebody else has to score it.")
        new = self.store.append_new_events([event])
        self._refresh_coverage()
        return (
            event
            if new
            else next(stored for stored in self.store.load_answer_events(event.answer) if stored.id == event.id)
        )

    def skip_answer(self, analyst: str, digest: str) -> None:
        """Move an answer behind all others of this analyst."""
        self._refresh_coverage()
        self._append_event(self._make_event("skip", analyst, digest))

    def undo_last_score_or_skip(self, analyst: str) -> Event | None:
        """Withdraw the analyst's last score, which becomes a draft again, or skip; return it, or None."""
        last = self.last_score_or_skip(analyst)
        if last is not None:
            # Reserved first, so that nobody is asked for it in between.
            self._reserve_answer_or_allow_anyway(last.answer, analyst, allow_anyway=False)
            self._append_undo_and_restore_draft(last)
        return last

    def file_objection_replacing_earlier(self, analyst: str, digest: str, objection: Objection) -> None:
        """Keep an objection to the annotated answer beside this answer."""
        self._refresh_coverage()
        self._append_event(self._make_event("objection", analyst, digest, annotation=objection))

    def withdraw_event_and_restore_draft(self, event: Event) -> None:
        """Withdraw an objection, an adjudication, which becomes a draft again, or an adjudicator's word.

        That is in the name of the event's own analyst.
        """
        self._refresh_coverage()
        self._append_undo_and_restore_draft(event)

    def pin_passage(self, analyst: str, digest: str, pin: Pin) -> None:
        """Pin a passage for the question of this answer, or none any more."""
        self._refresh_coverage()
        self._append_event(self._make_event("pin", analyst, digest, annotation=pin))

    def _append_undo_and_restore_draft(self, event: Event) -> None:
        if event.values is not None and event.kind in ("score", "adjudication"):
            # The draft first, so that nothing is lost: that of a scored answer does no harm.
            typed, seconds = self.store.rubric.format_as_digits(event.values), event.seconds or 0.0
            draft = Draft(event.analyst, event.answer, event.kind, typed, event.note, seconds)
            self.store.save_draft(replace(draft, ticks=event.ticks or UNSET, shown=event.shown or UNSET))
        self._append_event(self._make_event("undo", event.analyst, event.answer, undoes=event.id))

    def last_score_or_skip(self, analyst: str) -> Event | None:
        """Return this analyst's last score or skip in effect."""
        coverage = self._refresh_coverage()
        score = next(reversed(self.current_scores_and_pace(analyst).scores), None)
        skipped = {
            digest: number
            for digest, number in self.current.last_skip_event_number_by_answer(analyst).items()
            if digest in coverage
        }
        latest = max(skipped, key=skipped.__getitem__, default=None)
        if latest is None or (score is not None and self.current.event_number(score) > skipped[latest]):
            return score
        return self.current.find_last_skip(latest, analyst)

    # -- looking back and around --

    def previously_scored_answer(self, analyst: str, digest: str | None) -> str | None:
        """Return the answer that this analyst scored before this one; their last one for None."""
        scored = [score.answer for score in self.current_scores_and_pace(analyst).scores]
        if digest in scored:
            scored = scored[: scored.index(digest)]
        return scored[-1] if scored else None

    def measure_scoring_progress(self, analyst: str) -> ScoringProgress:
        """Return the progress of this analyst and of the study."""
        coverage = self._refresh_coverage()
        return ScoringProgress(
            analyst=analyst,
            scored=len(coverage.scored[analyst]),
            remaining=self._count_answers_left(analyst),
            seconds=self.current_scores_and_pace(analyst).seconds,
            answers=len(coverage),
            wanted=coverage.wanted,
            given=coverage.given,
        )

    def histories_by_analyst(self) -> dict[str, AnalystHistory]:
        """Analyst → their history, by name, of those who have scored an answer of the pool."""
        self._refresh_coverage()
        histories = {
            analyst: self.current_scores_and_pace(analyst)
            for analyst in self.current.list_analysts_with_current_scores()
        }
        return {analyst: history for analyst, history in histories.items() if history.scores}

    # -- adjudication --

    def visible_open_and_settled_disputes(self, analyst: str, *, gives_scores: bool = True) -> list[Dispute]:
        """Return the answers whose scores differ, the largest difference first, for this analyst to see.

        If they give `gives_scores` themselves, answers that they could still be asked to score are left out.
        """
        coverage = self._refresh_coverage()
        ahead = self.answers_analyst_may_still_score(analyst) if gives_scores else set()
        ahead |= self.pool.authors.answer_digests_of_author(analyst)
        chosen = [dispute for dispute in list(coverage.disputes.values()) if dispute.answer not in ahead]
        return sorted(chosen, key=lambda dispute: (-dispute.largest_difference, dispute.answer))

    def record_exposures(
        self, analyst: str, digests: Iterable[str], *, sees_system: bool = False, sees_scores: bool = False
    ) -> None:
        """Record, before they are shown, that this analyst sees the systems of these answers, or others' scores.

        Whoever has seen the scores is not asked to score the answer; if they do, their score says what they saw.
        """
        coverage = self._refresh_coverage()
        saw_system, saw_scores = (
            self.current.answers_with_seen_system(analyst),
            self.current.answers_with_seen_scores(analyst),
        )
        exposures = [
            self._make_event(EXPOSURE, analyst, digest, blind=not sees_system, independent=not sees_scores)
            for digest in dict.fromkeys(digests)
            if digest in coverage
            and ((sees_system and digest not in saw_system) or (sees_scores and digest not in saw_scores))
        ]
        if exposures:
            self.store.append_new_events(exposures)
            self._refresh_coverage()


def _find_mention_of_analyst(name: str, text: str) -> str:
    """Return the words by which a text names an analyst; empty if it does not.

    Names are capitalised, so that a text may speak of a grace period; of an address the part before the @ is a name.
    """
    words = {name, name.title(), name.partition("@")[0].title()}
    return next((word for word in sorted(words) if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)), "")


def _merge_reserved_and_promised_holders(
    held: Mapping[str, Collection[str]], promised: Mapping[str, Collection[str]]
) -> dict[str, list[str]]:
    """Return who has each answer reserved or promised."""
    return {digest: [*held.get(digest, ()), *promised.get(digest, ())] for digest in {**held, **promised}}
