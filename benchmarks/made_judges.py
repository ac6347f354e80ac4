"""Populations of scored answers and judges of our own making, for the simulation of estimates.

Answers have five metrics, each 1, 0.5 or -1, and M_all. A judge sees a fault (a value below 1) with its sensitivity
and leaves what has none with its specificity. Both spread over questions (a standard deviation of 0.7 on the logit),
so that a question is easy or hard; slips are half shared by the metrics of an answer.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr

from genaipa.runs.imported import PublishedScore
from genaipa.scoring.rubric import scale_to_m_all_from_10_to_100

Floats = NDArray[np.float64]
Study = tuple[Floats, Floats, Floats]
"""Metrics (questions, documents, metrics), and their true means for these documents and for policies like these."""

METRICS = ("relevance", "accuracy", "clarity", "completeness", "reference")
_SPREAD = 0.7
_LEVEL = 0.2
"""The share of the faults seen that get the wrong one of the two values for a fault."""
_BASE = 64
"""Above the distance between the largest and the smallest sum of a metric over a question's documents, in halves."""


@dataclass(frozen=True)
class Made:
    """A judge: how surely it sees faults and their absence, and how far its slips are shared.

    `shared` is the share of a slip's variance that an answer's metrics have in common. `own` is the sensitivity for
    the answers of its own family, where it has one.
    """

    sensitivity: float
    specificity: float
    shared: float = 0.5
    own: float | None = None

    def judged(
        self, random: np.random.Generator, people: Floats, *, own: bool = False, slips: Floats | None = None
    ) -> Floats:
        """Its values of answers (questions, documents, metrics); `slips` may be given (`Made.slips`)."""
        seen = self.own if own and self.own is not None else self.sensitivity
        hard = random.normal(0, _SPREAD, (len(people), 1, 1))
        drawn = ndtr(self.slips(random, people.shape) if slips is None else slips)
        fault = people < 1
        slipped = np.where(fault, drawn > expit(logit(seen) + hard), drawn > expit(logit(self.specificity) + hard))
        of_fault = np.where(random.random(people.shape) < _LEVEL, -0.5 - people, people)
        invented = np.where(random.random(people.shape) < 0.5, 0.5, -1.0)
        return np.where(fault, np.where(slipped, 1.0, of_fault), np.where(slipped, invented, 1.0))

    def slips(self, random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Draw standard normal numbers; the larger, the sooner the judge slips."""
        both, each = random.normal(size=(*shape[:2], 1)), random.normal(size=shape)
        found: Floats = np.sqrt(self.shared) * both + np.sqrt(1 - self.shared) * each
        return found


JUDGES = {
    "noise": Made(0.25, 0.75),
    "weak": Made(0.45, 0.85),
    "fair": Made(0.60, 0.90),
    "lenient": Made(0.40, 0.99),
    "harsh": Made(0.95, 0.60),
    "own family": Made(0.75, 0.93, own=0.29),
    "good": Made(0.75, 0.93),
    "strong": Made(0.85, 0.96),
    "excellent": Made(0.93, 0.98),
    "near-perfect": Made(0.97, 0.99),
}
"""Those of the survey that the design rests on, by sensitivity and specificity."""


def two_that_share(random: np.random.Generator, people: Floats, share: float) -> Floats:
    """Return the mean of two judges as good as `good`, whose slips have this share of their variance in common."""
    judge = JUDGES["good"]
    common = judge.slips(random, people.shape)
    own = [judge.slips(random, people.shape) for _ in range(2)]
    given = [judge.judged(random, people, slips=np.sqrt(share) * common + np.sqrt(1 - share) * one) for one in own]
    return np.mean(given, axis=0)


def overall(values: Floats) -> Floats:
    """M_all of metrics."""
    found: Floats = scale_to_m_all_from_10_to_100(values.sum(axis=-1), values.shape[-1])
    return found


# -- populations --


@dataclass(frozen=True)
class Synthetic:
    """Answers made up: questions, documents and answers that differ, each metric cut into its three values.

    The parts of a metric's variance before it is cut: `question`, `document`, `answer` (shared by its metrics), and 1
    for the rest.
    """

    question: float = 0.45
    document: float = 0.12
    answer: float = 1.1
    cuts: tuple[float, float] = (-1.15, -0.55)

    def drawn(
        self, random: np.random.Generator, questions: int, documents: int, shifts: tuple[float, ...] = (0.0,)
    ) -> list[Study]:
        """Return a study of each system: alike in what they are asked, and each the better the larger its shift."""
        about = np.sqrt(self.document) * random.normal(size=(1, documents, 1))
        asked = np.sqrt(self.question) * random.normal(size=(questions, 1, 1))
        rest, found = self.question + self.answer + 1, []
        for shift in shifts:
            own = np.sqrt(self.answer) * random.normal(size=(questions, documents, 1))
            values = about + asked + own + shift + random.normal(size=(questions, documents, len(METRICS)))
            here, everywhere = (
                np.full(len(METRICS), self._expected(mean + shift, np.sqrt(spread)))
                for mean, spread in ((about, rest), (np.zeros(1), rest + self.document))
            )
            found.append((np.array([-1.0, 0.5, 1.0])[np.digitize(values, self.cuts)], here, everywhere))
        return found

    def _expected(self, mean: Floats, deviation: float) -> float:
        worst, faulty = (ndtr((cut - mean) / deviation) for cut in self.cuts)
        return float((-worst + 0.5 * (faulty - worst) + (1 - faulty)).mean())


@dataclass(frozen=True)
class Published:
    """The published scores: for each system and experiment, questions with all their documents (…, metrics)."""

    groups: dict[tuple[str, str], Floats]

    @classmethod
    def of(cls, scores: list[PublishedScore], seed: int = 0) -> Published:
        """Metrics drawn uniformly from all that fit the published M_all, and the published means where they fit."""
        random, found = np.random.default_rng(seed), defaultdict(list)
        of_cells: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
        means = {}
        for score in scores:
            key = (score.system, score.experiment, score.question)
            if score.experiment != "regulation":
                if score.document and score.m_all is not None:
                    of_cells[key][score.document] = score.m_all
                elif not score.document:
                    means[key] = [score[metric] for metric in METRICS]
        whole = max(map(len, of_cells.values()))
        for key, cells in of_cells.items():
            if len(cells) == whole:
                halves = [_reachable(round((value - 10) / 4.5) - 10) for _, value in sorted(cells.items())]
                wanted = None if key not in means else [round(2 * whole * (value or 0.0)) for value in means[key]]
                found[key[:2]].append(_assigned(random, halves, wanted))
        return cls({key: np.array(rows) / 2 for key, rows in found.items() if len(rows) > _BASE // 4})

    def drawn(self, random: np.random.Generator, number: int, questions: int) -> Study:
        """Return a study of questions drawn from one group, in turn; about other documents nothing is known."""
        group = list(self.groups.values())[number % len(self.groups)]
        return (
            group[random.integers(len(group), size=questions)],
            group.mean(axis=(0, 1)),
            np.full(len(METRICS), np.nan),
        )


_VALUES = np.array(list(itertools.product((2, 1, -2), repeat=len(METRICS))))
_SUMS = _VALUES.sum(axis=1)
_CODES = _VALUES @ _BASE ** np.arange(len(METRICS))


def _reachable(halves: int) -> int:
    """Round to the nearest possible sum of metrics, in halves: a mean of several scores may lie between."""
    return int(min(set(_SUMS.tolist()), key=lambda known: (abs(known - halves), known)))


def _assigned(random: np.random.Generator, halves: list[int], wanted: list[int] | None) -> NDArray[np.int64]:
    """One of all assignments of metrics, in halves, to a question's answers with these sums and metrics' sums."""
    choices = [np.flatnonzero(each == _SUMS) for each in halves]
    layers = [(np.zeros(1, np.int64), np.ones(1))]
    for some in choices if wanted is not None else ():
        codes, ways = layers[-1]
        reached, place = np.unique(np.add.outer(codes, _CODES[some]).ravel(), return_inverse=True)
        layers.append((reached, np.bincount(place, np.repeat(ways, len(some)))))
    code = int(np.dot(wanted, _BASE ** np.arange(len(METRICS)))) if wanted is not None else 0
    if wanted is None or code not in layers[-1][0]:
        return np.array([_VALUES[random.choice(some)] for some in choices])
    taken = []
    for some, (codes, ways) in zip(choices[::-1], layers[-2::-1], strict=True):
        before = code - _CODES[some]
        place = np.minimum(np.searchsorted(codes, before), len(codes) - 1)
        chances = np.where(codes[place] == before, ways[place], 0.0)
        number = int(random.choice(some, p=chances / chances.sum()))
        taken.append(_VALUES[number])
        code -= int(_CODES[number])
    return np.array(taken[::-1])
