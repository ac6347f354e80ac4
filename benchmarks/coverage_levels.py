"""False claims among several systems, and by looking early: tables that `benchmarks.coverage` prints.

Studies of alike systems go by the hundred through a copy of the formulas of `reports.crossed` that works on arrays
(`tests/house/test_benchmarks.py` holds the two against each other), once with all of a document's variance taken out
that chance explains (nothing left), and once with half of it left.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from genaipa.reports.evidence import ENDED, PlanShare, choose_evidence_level
from genaipa.reports.significance import PUBLISHED
from genaipa.stats.intervals import LEAST_DOCUMENTS, LEVEL
from genaipa.stats.looks import EARLY, ENLARGED, LEAST_QUESTIONS, SIGNIFICANT

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]

DOCUMENTS = (3, 4, 5, 6, 8, 10, 20)
SYSTEMS = (2, 3, 5, 8)
LOOKED_AT = (3, 5, 10)
"""Documents of studies that are looked at ten times."""
APART = 162.0
"""Variance between documents of the difference of two systems (the published study's `recall`)."""
QUESTIONS = 32
NOTHING_LEFT, HALF_LEFT = "nothing left", "half left"
_LATE, _EARLY = f"{NOTHING_LEFT}, always .05", f"{HALF_LEFT}, early .001"
LEFT = {NOTHING_LEFT: 0.0, HALF_LEFT: 0.5}
"""Rule → the share of the documents' variance that is left to them at least."""
_MOST_BENT = 0.97
_LEAST_ALIKE = 2
_LEAST_TESTED = 6
"""Below this many questions there never was a p."""
_AT_ONCE = 100
"""Studies that are worked on at once."""


@dataclass(frozen=True)
class Spread:
    """Of each study and each pair of systems: the mean difference, and what it takes to tell it from 0.

    `n` are the questions, and documents all alike in weight, of each study.
    """

    mean: Floats
    of_questions: Floats
    third: Floats
    of_documents: Floats
    questions: Floats
    documents: Floats

    def counts(self, level: float) -> tuple[Truths, Truths]:
        """Whether the interval of 1 - level leaves out 0, for these documents and for policies like these."""
        here = self._leaves_out(level, np.zeros_like(self.mean))
        return here, here & (self.documents >= _LEAST_ALIKE) & self._leaves_out(level, self.of_documents)

    def _leaves_out(self, level: float, of_documents: Floats) -> Truths:
        error = np.sqrt(self.of_questions + of_documents)

        def half(probability: float) -> Floats:
            wide = _quantile(self.questions, probability) ** 2 * self.of_questions
            wide = wide + _quantile(np.maximum(self.documents, _LEAST_ALIKE), probability) ** 2 * of_documents
            return np.asarray(np.sqrt(wide) / error)

        most = _MOST_BENT / (6 * half((1 - LEVEL) / 2))
        skew = np.clip(self.third / (6 * error**3), -most, most)
        reach = self.mean / error
        reach = reach + skew + 2 * skew * reach**2 + 4 / 3 * skew**2 * reach**3
        return np.asarray(np.abs(reach) > half(level / 2))


def _quantile(n: Floats, probability: float) -> Floats:
    return np.asarray(stdtrit(n - 1, probability) * (1 + 1 / (n * (n - 1))))


def spread(values: Floats, asked: Truths, left: float) -> Spread:
    """Return the spread of differences (studies x pairs x questions x documents) of which some cells were `asked`.

    `asked` are studies x questions x documents; `left` is the share of the documents' variance that is left to them.
    """
    there = asked.astype(float)
    each = there.sum(axis=2)
    known = each > 0
    n, present = known.sum(axis=1), asked.any(axis=1).sum(axis=1)
    values = values * there[:, None]
    means = values.sum(axis=3) / np.maximum(each, 1)[:, None]
    mean = means.sum(axis=2) / n[:, None]
    apart = (means - mean[..., None]) * known[:, None]
    of_questions = (apart**2).sum(axis=2) / (n * (n - 1))[:, None]
    third = (apart**3).sum(axis=2) / (n * (n - 1) * (n - 2))[:, None]
    share = there / np.maximum(each, 1)[..., None] / n[:, None, None]
    sums = ((values - mean[..., None, None]) * share[:, None]).sum(axis=2)
    variance = (sums**2).sum(axis=2) * (present / np.maximum(present - 1, 1))[:, None]
    both = (share**2).sum(axis=(1, 2))[:, None] * _residual(values, means, there, each) * (1 - 1 / present)[:, None]
    of_each = share.sum(axis=1)
    alike = 1 / (of_each**2).sum(axis=1)
    seen = (of_each**2 * (1 - 2 * of_each + 1 / alike[:, None])).sum(axis=1) * present / np.maximum(present - 1, 1)
    of_documents = np.maximum(variance - both, variance * left) / (alike * np.where(seen > 0, seen, 1))[:, None]
    alike = np.where(present < LEAST_DOCUMENTS, 0, alike)[:, None]
    return Spread(mean, of_questions, third, of_documents, n[:, None].astype(float), alike)


def _residual(values: Floats, means: Floats, there: Floats, each: Floats) -> Floats:
    """Return the mean square of what questions and documents don't explain together."""
    own = (values - means[..., None]) * there[:, None]
    within = np.einsum("sqd,sqe->sde", there / np.maximum(each, 1)[..., None], there)
    within = np.einsum("sd,de->sde", there.sum(axis=1), np.eye(there.shape[2])) - within
    sums = own.sum(axis=2)
    effects = np.einsum("sde,spe->spd", np.linalg.pinv(within, hermitian=True, rcond=1e-9), sums)
    rank = np.linalg.matrix_rank(within, hermitian=True)
    free = there.sum(axis=(1, 2)) - (each > 0).sum(axis=1) - rank
    rest = (own**2).sum(axis=(2, 3)) - (effects * sums).sum(axis=2)
    return np.asarray(np.maximum(rest, 0) / np.maximum(free, 1)[:, None] * (free > 0)[:, None])


def drawn(
    random: np.random.Generator, systems: int, documents: int, apart: float, studies: int, *, here: bool = False
) -> Floats:
    """Differences of all pairs of systems: half of each variance of a difference is a system's own.

    The systems are alike in general; where it is to be true `here`, on average over the documents drawn.
    """
    size = (studies, systems, QUESTIONS, documents)
    values = random.normal(0, np.sqrt(PUBLISHED.questions / 2), (*size[:3], 1))
    of_documents = random.normal(0, np.sqrt(apart / 2), (*size[:2], 1, documents))
    values = values + of_documents - here * of_documents.mean(axis=3, keepdims=True)
    values = values + random.normal(0, np.sqrt(PUBLISHED.rest / 2), size)
    # Pairs of the first two, then those with the third, and so on: of fewer systems they are the first ones.
    pairs = [(first, second) for second in range(systems) for first in range(second)]
    return values[:, [first for first, _ in pairs]] - values[:, [second for _, second in pairs]]


def waves(random: np.random.Generator, documents: int, studies: int) -> NDArray[np.int64]:
    """Return the turn of each cell in a draw: questions in random order, round by round, their documents in turn."""
    order = np.argsort(random.random((studies, QUESTIONS)), axis=1)
    turn = np.argsort(random.random((studies, QUESTIONS, documents)), axis=2)
    return np.asarray(turn * QUESTIONS + order[..., None])


def _chunks(studies: int) -> Iterator[int]:
    for begun in range(0, studies, _AT_ONCE):
        yield min(_AT_ONCE, studies - begun)


def several_systems(studies: int) -> Iterator[tuple[str, ...]]:
    """Documents, rule, and in how many studies of so many alike systems Holm finds a difference, for policies.

    Behind it, how often a difference of 10 points between two is found.
    """
    for documents, apart in itertools.product(DOCUMENTS, (PUBLISHED.documents, APART)):
        random = np.random.default_rng([documents, int(apart)])
        false, power = np.zeros((2, len(SYSTEMS))), np.zeros(2)
        for some in _chunks(studies):
            values = drawn(random, max(SYSTEMS), documents, apart, some)
            asked = np.ones((some, QUESTIONS, documents), bool)
            for row, left in enumerate(LEFT.values()):
                known = spread(values, asked, left)
                for column, systems in enumerate(SYSTEMS):
                    pairs = systems * (systems - 1) // 2
                    false[row, column] += known.counts(SIGNIFICANT / pairs)[1][:, :pairs].any(axis=1).sum()
                power[row] += spread(values[:, :1] + 10, asked, left).counts(SIGNIFICANT)[1].sum()
        for row, rule in enumerate(LEFT):
            shown = (f"{100 * one / studies:.1f}" for one in false[row])
            yield str(documents), f"{apart:.0f}", rule, *shown, f"{100 * power[row] / studies:.0f}"


def looks(studies: int) -> Iterator[tuple[str, ...]]:
    """Count how often two alike systems ever differ, by looks at 160 answers to 32 questions about 5 documents.

    For these documents where they are alike on those, and for policies like these where they are alike in general.
    """
    whole = QUESTIONS * 5
    every = tuple(range(_LEAST_TESTED, whole + 1))
    for apart, at in itertools.product(
        (PUBLISHED.documents, APART), ((whole,), tuple(range(whole // 10, whole + 1, whole // 10)), every)
    ):
        false = {rule: [0, 0] for rule in (_LATE, _EARLY)}
        for target, here in enumerate((True, False)):
            random = np.random.default_rng([int(apart), here])
            for some in _chunks(studies):
                values, turn = drawn(random, 2, 5, apart, some, here=here), waves(random, 5, some)
                for rule, total in false.items():
                    total[target] += _ever(values, turn, at, target, early=rule == _EARLY)
        for rule, total in false.items():
            yield f"{len(at)}", f"{apart:.0f}", rule, *(f"{100 * one / studies:.1f}" for one in total)


def _ever(values: Floats, turn: NDArray[np.int64], at: Sequence[int], target: int, *, early: bool) -> int:
    """Return the number of studies in which the one pair differs at any look."""
    ever = np.zeros(len(values), bool)
    for count in at:
        needed = choose_evidence_level([PlanShare(turn[0].size, count)]) if early else ENDED
        if count >= needed.least_questions:
            known = spread(values, turn < count, LEFT[HALF_LEFT if early else NOTHING_LEFT])
            ever |= known.counts(needed.p)[target][:, 0]
    return int(ever.sum())


def looks_at_systems(studies: int) -> Iterator[tuple[str, ...]]:
    """Documents, rule, and in how many studies of so many alike systems ten looks find a difference, for policies."""
    for documents in LOOKED_AT:
        random, whole = np.random.default_rng(documents), QUESTIONS * documents
        rules = {_LATE: (0.0, SIGNIFICANT), f"{HALF_LEFT}, always .05": (0.5, SIGNIFICANT), _EARLY: (0.5, EARLY)}
        false = np.zeros((len(rules), len(SYSTEMS)))
        for some in _chunks(studies):
            values, turn = drawn(random, max(SYSTEMS), documents, APART, some), waves(random, documents, some)
            ever = np.zeros((len(rules), len(SYSTEMS), some), bool)
            for look in range(1, 11):
                asked = turn < whole * look // 10
                known = {left: spread(values, asked, left) for left in (0.0, 0.5)}
                for (row, (left, early)), (column, systems) in itertools.product(
                    enumerate(rules.values()), enumerate(SYSTEMS)
                ):
                    pairs = systems * (systems - 1) // 2
                    level = SIGNIFICANT if look == 10 else early
                    if asked[0].any(axis=1).sum() >= (LEAST_QUESTIONS if level == EARLY else 0):
                        ever[row, column] |= known[left].counts(level / pairs)[1][:, :pairs].any(axis=1)
            false += ever.sum(axis=2)
        for row, rule in enumerate(rules):
            yield str(documents), rule, *(f"{100 * one / studies:.1f}" for one in false[row])


def enlarged(studies: int) -> Iterator[tuple[str, ...]]:
    """Variance, level of all ends but the first, and how often alike systems differ where a wave of 64 grows.

    It grows by 32 to 160 as long as they don't.
    """
    first, *others = (64, 96, 128, 160)
    for apart, last in itertools.product((PUBLISHED.documents, APART), (SIGNIFICANT, ENLARGED)):
        false = []
        for target, here in enumerate((True, False)):
            random, ever = np.random.default_rng([int(apart), here]), 0
            for some in _chunks(studies):
                values, turn = drawn(random, 2, 5, apart, some, here=here), waves(random, 5, some)
                at = [spread(values, turn < count, LEFT[HALF_LEFT]).counts(last)[target] for count in others]
                at.append(spread(values, turn < first, LEFT[HALF_LEFT]).counts(SIGNIFICANT)[target])
                ever += int(np.any(at, axis=0).sum())
            false.append(ever)
        yield f"{apart:.0f}", f"{last:g}", *(f"{100 * one / studies:.1f}" for one in false)
