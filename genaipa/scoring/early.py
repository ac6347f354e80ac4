"""Answers that two analysts score before all others, so that their agreement is known early.

Of the answers that want two scores or more, `EARLY` come first, for all analysts the same ones, spread over systems,
experiments and documents; answers that one analyst has scored come before new ones. Once this many have two scores, the
others wait for their place in each analyst's order, so that agreement is measured throughout a study.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from heapq import heapify, heappop
from itertools import chain, islice
from typing import TYPE_CHECKING

from genaipa.runs.experiments import experiment_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from genaipa.scoring.answers import Answer, Pool
    from genaipa.scoring.assignment import Coverage, Plan

EARLY = 30
"""Answers that two analysts score first: from this many on, agreement is worth a number."""
_CANDIDATES = 3 * EARLY
"""Answers that are spread: more than are needed, since some are skipped, or asked of a few analysts alone."""


class Early:
    """The early answers of a pool: which ones, worked out again when answers arrive."""

    def __init__(self, pool: Pool, plan: Plan) -> None:
        self._pool, self._seed = pool, plan.seed
        self._as_of = (-1, -1)
        self._spread: list[str] = []

    def of(self, coverage: Coverage, is_open: Callable[[str], bool]) -> Iterator[str]:
        """The early answers that are open to an analyst, in the order in which they come.

        Which ones they are is settled before this returns; whether they are open, as each is asked for.
        """
        left = EARLY - len(coverage.twice)
        if left <= 0 or not coverage.doubles:
            return iter(())
        candidates = self._candidates(coverage.doubles)
        begun = [digest for digest in candidates if digest in coverage.once]
        others = [*coverage.once.difference(candidates)]
        new = [digest for digest in candidates if digest not in coverage.once and digest not in coverage.twice]
        few = max(left - len(coverage.once), 0)
        return chain(filter(is_open, chain(begun, _ascending(others))), islice(filter(is_open, new), few))

    def _candidates(self, doubles: Iterable[str]) -> list[str]:
        as_of = (self._pool.generation, len(self._pool.arrived))
        if as_of != self._as_of:
            answers = [answer for digest in doubles if (answer := self._pool.answers.get(digest))]
            self._spread, self._as_of = spread(answers, _CANDIDATES, seed=self._seed), as_of
        return self._spread


def _ascending(digests: list[str]) -> Iterator[str]:
    """The digests in their order: of perhaps thousands of them one is wanted."""
    heapify(digests)
    while digests:
        yield heappop(digests)


def spread(answers: Iterable[Answer], number: int, *, seed: int) -> list[str]:
    """The digests of N answers: systems, experiments and documents take turns, and chance draws the questions.

    The same are drawn for all of these, and answers to one question about one document come in a row: one of each
    system in each experiment, before any has a second.
    """
    strata: defaultdict[tuple[str, str, str], list[tuple[int, bytes, str]]] = defaultdict(list)
    rows: defaultdict[tuple[int, bytes], list[str]] = defaultdict(list)
    before = Counter[tuple[object, ...]]()
    for answer in sorted(answers, key=lambda answer: answer.digest):
        about = "\0".join((str(seed), "early", answer.document_digest, answer.question))
        drawn = hashlib.blake2b(about.encode(), digest_size=8).digest()
        first = answer.occurrences[0]
        experiment = experiment_of(answer.kind, first.initialization, first.wording)
        stratum = first.system, experiment, first.document
        strata[stratum].append((before[stratum, drawn], drawn, answer.digest))
        before[stratum, drawn] += 1
    for digests in strata.values():
        digests.sort(reverse=True)
    counts = (Counter[str](), Counter[str](), Counter[str]())

    def due(stratum: tuple[str, str, str]) -> tuple[int, int, bytes]:
        return sum(count[name] for count, name in zip(counts, stratum, strict=True)), *strata[stratum][-1][:2]

    for _ in range(number):
        if not strata:
            break
        stratum = min(strata, key=due)
        time, asked, digest = strata[stratum].pop()
        rows[time, asked].append(digest)
        for count, name in zip(counts, stratum, strict=True):
            count[name] += 1
        if not strata[stratum]:
            del strata[stratum]
    return [digest for row in rows.values() for digest in row]
