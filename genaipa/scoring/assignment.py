"""Assignment of answers to analysts: the scores still needed, their order, who gave the others, where they differ.

Counted once when the desk opens, then kept up to date score by score, so that the next answer is found at once among
100,000. Of the answers that want two scores or more, `EARLY` come first, for all analysts the same ones, drawn from all
systems, experiments and documents, so that agreement is known early, and served document by document. Once this many
have two scores, the others wait for their place in each analyst's order, so that agreement is measured throughout a
study.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from heapq import heapify, heappop
from itertools import chain, islice
from statistics import median
from typing import TYPE_CHECKING

import msgspec

from genaipa.runs.experiments import classify_experiment
from genaipa.scoring.events import MEAN, Order
from genaipa.scoring.waves import digest_prefix_used_in_waves

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from genaipa.scoring.answers import AnswerPool, PooledAnswer
    from genaipa.scoring.current import CurrentScores
    from genaipa.scoring.events import Event
    from genaipa.scoring.rubric import Values


_FEW = 1000
"""Answers that are put into their order at once."""


class ScoringPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a study's scoring.

    `per_answer` is the number of analysts per answer: 1.2 means one, and a second for a sample of 20 %. `seed` decides
    the sample and the orders. A new analyst begins with `calibration` answers that one of the `reference` analysts has
    scored; reference scores, and those of people `left_out`, don't count among those wanted. An answer on someone's
    screen is reserved for `minutes`. `order` is that of each analyst's work: all answers to one question about one
    document in a row, those about one document in a row, or none of these; what is in a row is shuffled, and so are the
    rows. `wave` are the answers that analysts are asked to score, by the beginnings of their digests
    (`Waves.all_wave_digest_prefixes`); None asks for all. `nearest`, `evidence` and `suggestions` are the desk's own
    aids (`aids.OWN`), and with `points` analysts tick the points of annotated answers; what proposes a value is off
    unless a study asks for it. `assign` pairs an analyst with the documents, experiments and systems whose answers they
    are asked to score.
    """

    per_answer: float = 1.2
    seed: int = 0
    calibration: int = 10
    reference: tuple[str, ...] = ("reference",)
    left_out: tuple[str, ...] = ()
    minutes: float = 15.0
    blind: bool = True
    order: Order = "question"
    wave: frozenset[str] | None = None
    assign: tuple[tuple[str, tuple[str, ...]], ...] = ()
    nearest: bool = True
    evidence: bool = True
    suggestions: bool = False
    points: bool = False


@dataclass(frozen=True)
class Dispute:
    """An answer whose scores differ: analyst → score, and per metric the highest value less the lowest."""

    answer: str
    scores: dict[str, Event]
    differences: dict[str, float]
    adjudication: Event | None
    mean_acceptance: Event | None = None
    """The word that the mean of the scores stands."""

    @property
    def adjudication_or_mean_acceptance(self) -> Event | None:
        """The adjudication or, without one, the word that the mean stands."""
        return self.adjudication or self.mean_acceptance

    @property
    def largest_difference(self) -> float:
        """The largest difference on one metric."""
        return max(self.differences.values())


@dataclass(frozen=True)
class AnalystHistory:
    """An analyst's current scores of the pool's answers, oldest first.

    `seconds` is their median time (None if there is none), `calibrated` how many were given for calibration.
    """

    scores: list[Event]
    seconds: float | None
    calibrated: int


class ScoreCoverage:
    """The scores that a pool's answers have and need, as of the last `update_with_new_answers_and_scores`.

    Reference analysts' are apart.
    """

    def __init__(self, pool: AnswerPool, current: CurrentScores, plan: ScoringPlan) -> None:
        self._pool, self._current, self._plan = pool, current, plan
        self._reset_counts()
        self.update_with_new_answers_and_scores()

    def _reset_counts(self) -> None:
        self._generation = self._pool.generation
        self._arrivals_read = 0
        self._current.read_new_events()
        self._events_read = self._current.event_count
        self._wanted: dict[str, int] = {}
        self._score_counts: dict[str, int] = {}
        self.requested: set[str] = set()
        """Answers that scores are wanted of."""
        self.open: set[str] = set()
        """Answers that need more scores than they have."""
        self.outside_wave: set[str] = set()
        """Answers outside of the wave that have no score: a larger wave may ask for them."""
        self._open_by_analyst: dict[str, set[str]] = {name.casefold(): set() for name, _ in self._plan.assign}
        """Analyst whose work is assigned → their open answers."""
        self.doubles: set[str] = set()
        """Answers that want two scores or more."""
        self.scored_once: set[str] = set()
        self.scored_twice: set[str] = set()
        self.wanted = self.given = 0
        """Scores wanted in all, and how many of them there are."""
        self.scored: defaultdict[str, set[str]] = defaultdict(set)
        """Analyst → the answers that they have scored; reference analysts too."""
        self.referenced: dict[str, None] = {}
        """Answers that a reference analyst has scored, in that order."""
        self.disputes: dict[str, Dispute] = {}
        self._histories: dict[str, AnalystHistory] = {}

    def update_with_new_answers_and_scores(self) -> None:
        """Count the answers and events that came since the last time."""
        if self._pool.generation != self._generation:
            self._reset_counts()
        if len(self._pool.arrivals) > self._arrivals_read:
            new = self._pool.arrivals[self._arrivals_read :]
            self._arrivals_read += len(new)
            self._add_answers(new)
        self._current.read_new_events()
        new_events = self._current.list_logged_events(self._events_read)
        self._events_read += len(new_events)
        for event in new_events:
            if (event.is_score_adjudication_or_undo or event.kind == MEAN) and event.answer in self._wanted:
                scores = self._current.scores_by_analyst(event.answer)
                if event.analyst not in scores:
                    self.scored[event.analyst].discard(event.answer)
                self._histories.pop(event.analyst, None)
                self._update_answer_counts_and_dispute(event.answer, scores)

    def _add_answers(self, digests: list[str]) -> None:
        new = {digest for digest in digests if digest in self._pool.answers and digest not in self._wanted}
        for digest in new:
            wanted = self._wanted[digest] = count_wanted_scores(self._plan, digest)
            self.wanted += wanted
            if wanted:
                self._set_open_for_scoring(digest, is_open=True)
                self.requested.add(digest)
            else:
                self.outside_wave.add(digest)
            if wanted > 1:
                self.doubles.add(digest)
        # All scores in one pass, each analyst's in their order: many times as fast as answer by answer.
        scored: defaultdict[str, dict[str, Event]] = defaultdict(dict)
        for score in self._current.list_all_current_scores():
            if score.answer in new:
                scored[score.answer][score.analyst] = score
        self._histories.clear()
        for digest, scores in scored.items():
            self._update_answer_counts_and_dispute(digest, scores)

    def _update_answer_counts_and_dispute(self, digest: str, score_by_analyst: dict[str, Event]) -> None:
        """Count an answer's current scores (analyst → score) in place of its earlier ones."""
        for analyst in score_by_analyst:
            self.scored[analyst].add(digest)
        counted = {analyst: score for analyst, score in score_by_analyst.items() if analyst not in self._plan.reference}
        if len(counted) < len(score_by_analyst):
            self.referenced.setdefault(digest)
        else:
            self.referenced.pop(digest, None)
        wanted = self._wanted[digest]
        self.given += min(len(counted), wanted) - min(self._score_counts.get(digest, 0), wanted)
        self._score_counts[digest] = len(counted)
        self._set_open_for_scoring(digest, is_open=len(counted) < wanted)
        if wanted > 1:
            (self.scored_once.add if len(counted) == 1 else self.scored_once.discard)(digest)
            (self.scored_twice.add if len(counted) > 1 else self.scored_twice.discard)(digest)
        (self.outside_wave.discard if wanted or counted else self.outside_wave.add)(digest)
        differences = _value_range_by_metric_or_none_if_equal(
            [score.values for score in counted.values() if score.values]
        )
        if differences:
            settled = (
                self._current.find_latest_adjudication(digest),
                self._current.find_mean_acceptance_after_all_scores(digest),
            )
            self.disputes[digest] = Dispute(digest, counted, differences, *settled)
        else:
            self.disputes.pop(digest, None)

    def _set_open_for_scoring(self, digest: str, *, is_open: bool) -> None:
        (self.open.add if is_open else self.open.discard)(digest)
        answer = self._pool.answers.get(digest)
        for name, about in self._plan.assign:
            theirs = self._open_by_analyst[name.casefold()]
            (theirs.add if is_open and answer and _belongs_to_assignment(answer, about) else theirs.discard)(digest)

    def current_scores_and_pace(self, analyst: str) -> AnalystHistory:
        """Return an analyst's current scores of these answers."""
        history = self._histories.get(analyst)
        if history is None:
            scores = [score for score in self._current.scores_of_analyst(analyst) if score.answer in self._wanted]
            seconds = [score.seconds for score in scores if score.seconds is not None]
            calibrated = sum(score.calibration for score in scores)
            history = AnalystHistory(scores, median(seconds) if seconds else None, calibrated)
            self._histories[analyst] = history
        return history

    def __contains__(self, digest: str) -> bool:
        return digest in self._wanted

    def __len__(self) -> int:
        return len(self._wanted)

    def score_count_without_reference(self, digest: str) -> int:
        """Return the number of scores of an answer."""
        return self._score_counts.get(digest, 0)

    def list_open_answers_ignoring_assignment(self, analyst: str) -> set[str]:
        """Return the answers that this analyst is asked to score, or would be without an assignment.

        What is hidden from them must not depend on it: the answers that are hidden would tell what they score.
        """
        return self.list_assigned_open_answers(analyst) if analyst in self._plan.reference else self.open

    def list_assigned_open_answers(self, analyst: str) -> set[str]:
        """Return the answers that this analyst is asked to score, scored ones included.

        A reference analyst is asked for all but those to be adjudicated, whose scores adjudicators see.
        """
        if analyst not in self._plan.reference:
            return self._open_by_analyst.get(analyst.casefold(), self.open)
        return self.requested - (self.disputes.keys() - self.open)


class ScoringOrders:
    """Each analyst's order of work: all that is in a row together, the rows and what is in them shuffled.

    It is put in order row by row as it is walked through: the whole order of 100,000 takes a good part of a second.
    Any number of threads may share it.
    """

    def __init__(self, pool: AnswerPool, plan: ScoringPlan) -> None:
        self._pool, self._plan = pool, plan
        self._as_of = (-1, -1)
        self._rows: dict[tuple[str, ...], list[str]] = {}
        """Document and question of a row, as far as they make it → its answers."""
        self._begun: dict[str, tuple[list[str], list[tuple[str, ...]]]] = {}
        """Analyst → the answers that are in their order so far, and the rows that come after, the next one last."""
        self._lock = threading.Lock()

    def group_answers_for_ordering(self) -> None:
        """Sort the answers into rows, which are the same for all analysts."""
        with self._lock:
            self._regroup_answers_if_pool_changed()

    def walk_answers_in_order(self, analyst: str) -> Iterator[str]:
        """Yield the answers wanted of anyone, in this analyst's order. A new answer moves no other."""
        with self._lock:
            self._regroup_answers_if_pool_changed()
            if analyst not in self._begun:
                hash_text = self._make_hasher_for_analyst(analyst)
                rows_left = sorted(self._rows, key=lambda row: [*map(hash_text, row)], reverse=True)
                self._begun[analyst] = ([], rows_left)
            ordered, rows_left = self._begun[analyst]
        sort_key = self._make_sort_key(analyst)
        index = 0
        while True:
            while index < len(ordered):
                yield ordered[index]
                index += 1
            with self._lock:
                if index == len(ordered):
                    if not rows_left:
                        return
                    ordered += sorted(self._rows.get(rows_left.pop(), ()), key=sort_key)

    def sort_unscored_answers_or_none_if_many(
        self, analyst: str, requested: set[str], scored: set[str]
    ) -> list[str] | None:
        """Sort the `requested` answers that are not `scored` if they are few; None if they are many, or of a wave.

        Near the end of a study they are far apart in the whole order; that of a wave is short.
        """
        if self._plan.wave is not None or len(requested) > _FEW:
            return None
        return sorted(requested - scored, key=self._make_sort_key(analyst))

    def _make_sort_key(self, analyst: str) -> Callable[[str], list[bytes]]:
        """Return the function by which answers are sorted into this analyst's order."""
        hash_text = self._make_hasher_for_analyst(analyst)
        hash_row_part = cache(hash_text)
        return lambda digest: [*map(hash_row_part, self._order_group_key_of_answer(digest)), hash_text(digest)]

    def _regroup_answers_if_pool_changed(self) -> None:
        """Begin again where answers came or went."""
        as_of = (self._pool.generation, len(self._pool.arrivals))
        if as_of == self._as_of:
            return
        self._as_of, self._rows, self._begun = as_of, {}, {}
        for digest in dict.fromkeys(self._pool.arrivals[: as_of[1]]):
            if digest in self._pool.answers and is_in_wave_if_plan_has_one(self._plan, digest):
                self._rows.setdefault(self._order_group_key_of_answer(digest), []).append(digest)

    def _order_group_key_of_answer(self, digest: str) -> tuple[str, ...]:
        answer = self._pool.answers.get(digest)
        document, question = (answer.document_digest, answer.question) if answer else ("", "")
        rows = {"random": (), "document": (document,), "question": (document, f"{document}\0{question}")}
        return rows[self._plan.order]

    def _make_hasher_for_analyst(self, analyst: str) -> Callable[[str], bytes]:
        prefix = f"{self._plan.seed}\0{analyst}\0"
        return lambda text: hashlib.blake2b(f"{prefix}{text}".encode(), digest_size=8).digest()


def _belongs_to_assignment(answer: PooledAnswer, documents_systems_or_experiments: Collection[str]) -> bool:
    """Whether one of these documents, experiments and systems is an answer's, at one of its places."""
    return any(
        not {at.document, at.system, classify_experiment(answer.kind, at.initialization, at.wording)}.isdisjoint(
            documents_systems_or_experiments
        )
        for at in answer.occurrences
    )


def is_in_wave_if_plan_has_one(plan: ScoringPlan, digest: str) -> bool:
    """Whether analysts are asked to score this answer: it is in the wave, or everything is asked for."""
    return plan.wave is None or digest_prefix_used_in_waves(digest) in plan.wave


def count_wanted_scores(plan: ScoringPlan, digest: str) -> int:
    """Count the analysts who are to score this answer; it depends on the plan and the answer alone."""
    if not is_in_wave_if_plan_has_one(plan, digest):
        return 0
    everyone, sample = divmod(plan.per_answer, 1)
    chance = hashlib.blake2b(f"{plan.seed}\0{digest}".encode(), digest_size=8).digest()
    return int(everyone) + (int.from_bytes(chance) < sample * 2**64)


def _value_range_by_metric_or_none_if_equal(scores: list[Values]) -> dict[str, float] | None:
    """Per metric the highest value less the lowest; None if all are the same."""
    if all(values == scores[0] for values in scores):
        return None
    by_metric = {metric: [values[metric] for values in scores] for metric in scores[0]}
    return {metric: max(values) - min(values) for metric, values in by_metric.items()}


EARLY = 30
"""Answers that two analysts score first: from this many on, agreement is worth a number."""
_CANDIDATES = 3 * EARLY
"""Answers that are spread: more than are needed, since some are skipped, or asked of a few analysts alone."""


class EarlyDoubleScoring:
    """The early answers of a pool: which ones, worked out again when answers arrive."""

    def __init__(self, pool: AnswerPool, plan: ScoringPlan) -> None:
        self._pool, self._seed = pool, plan.seed
        self._as_of = (-1, -1)
        self._spread: list[str] = []

    def walk_open_answers(self, coverage: ScoreCoverage, is_open: Callable[[str], bool]) -> Iterator[str]:
        """Yield the early answers that are open to an analyst, in the order in which they come: document by document.

        Chance has drawn them over all documents; whoever scores them reads one after the other. Of a document, those
        that another analyst has scored come first.
        """
        missing = EARLY - len(coverage.scored_twice)
        if missing <= 0 or not coverage.doubles:
            return iter(())
        candidates = self._draw_double_score_candidates(coverage.doubles)
        begun = [digest for digest in candidates if digest in coverage.scored_once]
        outside_candidates = coverage.scored_once.difference(candidates)
        new = (
            digest
            for digest in candidates
            if digest not in coverage.scored_once and digest not in coverage.scored_twice
        )
        room = max(missing - len(coverage.scored_once), 0)
        # Which of the new ones there is room for is settled in the order of the draw.
        selected = [*filter(is_open, begun), *islice(filter(is_open, new), room)]
        document_ranks = document_rank_by_answer_digest(candidates, self._pool)
        return chain(
            sorted(selected, key=document_ranks.__getitem__),
            filter(is_open, self._sort_by_document(outside_candidates)),
        )

    def _sort_by_document(self, digests: Iterable[str]) -> Iterator[str]:
        """Yield the answers document by document: of perhaps thousands of them one is wanted."""
        answers = self._pool.answers
        heap = [(answers[digest].document_digest if digest in answers else "", digest) for digest in digests]
        heapify(heap)
        while heap:
            yield heappop(heap)[1]

    def _draw_double_score_candidates(self, digests_wanting_two_scores: Iterable[str]) -> list[str]:
        as_of = (self._pool.generation, len(self._pool.arrivals))
        if as_of != self._as_of:
            answers = [answer for digest in digests_wanting_two_scores if (answer := self._pool.answers.get(digest))]
            self._spread, self._as_of = draw_spread_sample(answers, _CANDIDATES, seed=self._seed), as_of
        return self._spread


def document_rank_by_answer_digest(digests: Iterable[str], pool: AnswerPool) -> dict[str, int]:
    """Answer → the place of its document, in the order in which the answers bring documents up."""
    documents: dict[str, int] = {}
    answers = ((digest, pool.answers.get(digest)) for digest in digests)
    return {
        digest: documents.setdefault(answer.document_digest if answer else "", len(documents))
        for digest, answer in answers
    }


def draw_spread_sample(answers: Iterable[PooledAnswer], sample_size: int, *, seed: int) -> list[str]:
    """Draw answers so that systems, experiments and documents take turns, and chance decides the questions.

    The same are drawn for all of these, and answers to one question about one document come in a row: one of each
    system in each experiment, before any has a second.
    """
    strata: defaultdict[tuple[str, str, str], list[tuple[int, bytes, str]]] = defaultdict(list)
    rows: defaultdict[tuple[int, bytes], list[str]] = defaultdict(list)
    earlier = Counter[tuple[object, ...]]()
    for answer in sorted(answers, key=lambda answer: answer.digest):
        about = "\0".join((str(seed), "early", answer.document_digest, answer.question))
        question_hash = hashlib.blake2b(about.encode(), digest_size=8).digest()
        first = answer.occurrences[0]
        experiment = classify_experiment(answer.kind, first.initialization, first.wording)
        stratum = first.system, experiment, first.document
        strata[stratum].append((earlier[stratum, question_hash], question_hash, answer.digest))
        earlier[stratum, question_hash] += 1
    for digests in strata.values():
        digests.sort(reverse=True)
    counts = (Counter[str](), Counter[str](), Counter[str]())

    def turn_key(stratum: tuple[str, str, str]) -> tuple[int, int, bytes]:
        return sum(count[name] for count, name in zip(counts, stratum, strict=True)), *strata[stratum][-1][:2]

    for _ in range(sample_size):
        if not strata:
            break
        stratum = min(strata, key=turn_key)
        time, row_hash, digest = strata[stratum].pop()
        rows[time, row_hash].append(digest)
        for count, name in zip(counts, stratum, strict=True):
            count[name] += 1
        if not strata[stratum]:
            del strata[stratum]
    return [digest for row in rows.values() for digest in row]
