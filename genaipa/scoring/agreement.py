"""Agreement between analysts: Krippendorff's alpha, Gwet's AC2, percent agreement, and each analyst's severity.

An answer counts here once two analysts have scored it. Scores of machines and of people are measured together only
if they are handed over together.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import compress
from operator import attrgetter
from statistics import fmean, variance
from typing import TYPE_CHECKING, TypeVar

from genaipa.scoring.current import independent_scores
from genaipa.scoring.rubric import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from genaipa.scoring.events import Event
    from genaipa.scoring.rubric import Rubric

    Floats = NDArray[np.float64]

T = TypeVar("T")

CONFIDENCE = 0.95
LEAST_ANSWERS = 10
"""Below this many answers alpha has no interval: none that was tried holds the truth as often as it says."""
_TWO = 2
"""Number of scores that can be compared."""
_FEWEST_DIFFERING = 5
"""Answers to which somebody gave another value than somebody else, below which a difference of alphas is not known."""
WIDEST = 1.75
"""An interval of alpha that is wider, of the scale's two, tells nothing."""
_TOO_FEW = "too few answers, or too few that vary, for a confidence interval"
_NOTHING_VARIES = "alpha is not defined where nothing varies"


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha for ordinal values: 1 is perfect agreement, 0 agreement by chance.

    `interval` is its confidence interval, by leaving out each answer in turn. An absent number is None, and `reason`
    says why.
    """

    value: float | None
    interval: tuple[float, float] | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AlphaDifference:
    """Alpha of a side with people less that of these people with each other, on the same answers.

    `interval` is its confidence interval, by leaving out each answer in turn; where there is none, a `reason` says why.
    """

    side: float | None
    people: float | None
    interval: tuple[float, float] | None = None
    reason: str = ""

    @property
    def value(self) -> float | None:
        """The difference; None where either is not defined."""
        return None if self.side is None or self.people is None else self.side - self.people


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """Agreement between analysts on one metric.

    `agreement` is the share of pairs of scores with equal values (0 to 1), and `difference` how far the two values of
    a pair are apart (0 to 2), both averaged over the answers. `ac2` is Gwet's AC2 with ordinal weights (1 is perfect
    agreement), which stays high where nearly all values are equal and alpha falls to 0; `commonest` is the share (0 to
    1) of the commonest value, each answer counting alike. None if no answer has two scores.
    """

    alpha: Alpha
    agreement: float | None
    difference: float | None
    ac2: float | None
    commonest: float | None


@dataclass(frozen=True, slots=True)
class AnalystPair:
    """Two analysts on the answers that both have scored; `difference` is averaged over the metrics.

    Their alphas come without an interval.
    """

    analysts: tuple[str, str]
    answers: int
    metrics: dict[str, MetricAgreement]
    difference: float


@dataclass(frozen=True, slots=True)
class Leaning:
    """An analyst's mean difference from the others' values of the same answers: above 0 is more lenient.

    `lenient` is that difference by metric, `overall` over all metrics. `drift` is the growth of the latter from the
    earlier half of these answers to the later (a middle one counts as later); None for fewer than two answers.
    """

    analyst: str
    answers: int
    lenient: dict[str, float]
    overall: float
    drift: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of all analysts, and of each pair.

    `answers` is the number with two scores or more. `pairs` begin with the most different ones, and `leanings`
    with the most lenient.
    """

    answers: int
    metrics: dict[str, MetricAgreement]
    pairs: list[AnalystPair]
    leanings: list[Leaning]


def measure(scores: Iterable[Event], rubric: Rubric) -> Agreement:
    """Agreement between the analysts of these scores in effect; events other than independent scores are left out."""
    table = _tabulate(scores, rubric)
    counts = table.counts()
    return Agreement(
        answers=len(table.answers),
        metrics={metric: within(counts[:, i], table.scale) for i, metric in enumerate(table.metrics)},
        pairs=_pairs(table),
        leanings=_leanings(table, counts),
    )


def measure_groups(
    scores: Iterable[Event], rubric: Rubric, groups: Mapping[str, str]
) -> dict[str, tuple[int, dict[str, MetricAgreement]]]:
    """Group → its answers with two scores or more, and the agreement on them by metric; as `measure` finds it for all.

    `groups` gives each answer's group; answers without one are left out.
    """
    import numpy as np

    table = _tabulate(scores, rubric)
    counts, group = table.counts(), np.array([groups.get(answer, "") for answer in table.answers], dtype=np.str_)
    return {
        str(name): (
            int((group == name).sum()),
            {metric: within(counts[group == name, i], table.scale) for i, metric in enumerate(table.metrics)},
        )
        for name in np.unique(group)
        if name
    }


@dataclass(frozen=True, slots=True)
class _ValueTable:
    """The scores as one block: answers with two scores or more, down; analysts, across; the metrics, behind.

    `scale` has the values in their order. `ranks` holds each value's place in it, -1 where there is none, and `order`
    each score's place in time.
    """

    metrics: tuple[str, ...]
    scale: Floats
    answers: list[str]
    analysts: list[str]
    ranks: NDArray[np.int8]
    order: NDArray[np.int64]

    def counts(self) -> NDArray[np.int64]:
        """Number of analysts who gave each value: answers, metrics, values."""
        import numpy as np

        return np.stack([(self.ranks == rank).sum(axis=1) for rank in range(len(self.scale))], axis=-1)

    def by_metric(self, values: Floats) -> dict[str, float]:
        return dict(zip(self.metrics, values.tolist(), strict=True))


def _tabulate(scores: Iterable[Event], rubric: Rubric) -> _ValueTable:
    import numpy as np

    own = (event for event in scores if event.kind == "score" and event.values is not None and event.independent)
    given = sorted(own, key=attrgetter("time"))
    answers, down = _numbered(map(attrgetter("answer"), given))
    analysts, across = _numbered(map(attrgetter("analyst"), given))
    metrics, scale = tuple(rubric.metrics), np.array(sorted(rubric.values))
    # A few hundred different values at most, shared between scores: looked up once, then only pointed to.
    different = {id(values): values for values in map(attrgetter("values"), given)}
    _, places = _numbered(map(id, map(attrgetter("values"), given)))
    flat = np.array([values[metric] for values in different.values() for metric in metrics])
    ranks = np.full((len(answers), len(analysts), len(metrics)), -1, np.int8)
    ranks[down, across] = np.searchsorted(scale, flat).reshape(-1, len(metrics))[places]
    order = np.zeros((len(answers), len(analysts)), np.int64)
    order[down, across] = np.arange(len(given))
    comparable = (ranks[..., 0] >= 0).sum(axis=1) >= _TWO
    return _ValueTable(
        metrics, scale, list(compress(answers, comparable)), analysts, ranks[comparable], order[comparable]
    )


def _numbered(names: Iterable[T]) -> tuple[list[T], list[int]]:
    """The different names (or values) in order of appearance, and the place in it of each one given."""
    listed = list(names)
    places = {name: place for place, name in enumerate(dict.fromkeys(listed))}
    return list(places), [places[name] for name in listed]


def _apart(scale: Floats) -> Floats:
    import numpy as np

    return np.abs(np.subtract.outer(scale, scale))


# -- alpha --


def _alphas(coincidences: Floats) -> Floats:
    """Alpha of each matrix of coincidences, with ordinal distances; nan where nothing varies.

    The ordinal distance of two values is that of their mean ranks among all values given, squared.
    """
    import numpy as np

    given = coincidences.sum(axis=-1)
    mean_rank = given.cumsum(axis=-1) - given / 2
    distances = (mean_rank[..., :, None] - mean_rank[..., None, :]) ** 2
    observed = (coincidences * distances).sum(axis=(-2, -1)) * (given.sum(axis=-1) - 1)
    expected = (given[..., :, None] * given[..., None, :] * distances).sum(axis=(-2, -1))
    alphas: Floats = 1 - np.divide(observed, expected, out=np.full(expected.shape, np.nan), where=expected > 0)
    return alphas


def _alpha(coincidences: Floats, often: NDArray[np.int64], scale: Floats) -> Alpha:
    """Alpha of answers with these coincidences, each kind of answer so often, with its interval.

    The interval is a jackknife over the answers: Student's t on the logarithm of 1 - alpha (which is at most 1), wider
    by 1/n for few answers (`docs/method/intervals.md`).
    """
    import numpy as np
    from scipy.special import stdtrit

    answers = int(often.sum())
    every = np.tensordot(often, coincidences, 1)
    value = float(_alphas(every))
    if np.isnan(value):
        return _undefined(scale[every.diagonal().argmax()])
    without = _alphas(every - coincidences)
    if answers < LEAST_ANSWERS or np.isnan(without).any() or max(value, without.max()) >= 1:
        return Alpha(value, reason=_TOO_FEW)
    logarithms = np.log1p(-without)
    squares = often @ (logarithms - np.average(logarithms, weights=often)) ** 2
    error = np.sqrt(squares * (answers - 1) / answers)
    reach = stdtrit(answers - 1, (1 + CONFIDENCE) / 2) * (1 + 1 / answers) * error
    # No alpha is below -1, which the logarithm does not know.
    low, high = (max(-1.0, float(1 - (1 - value) * np.exp(sign * reach))) for sign in (1, -1))
    return Alpha(value, (low, high)) if high - low <= WIDEST else Alpha(value, reason=_TOO_FEW)


def _undefined(value: float) -> Alpha:
    return Alpha(None, reason=f"every value is {shown(value)}, and {_NOTHING_VARIES}")


def within(counts: NDArray[np.int64], scale: Floats, parts: NDArray[np.int64] | None = None) -> MetricAgreement:
    """The agreement of scorers with each other on answers that two or more of them scored.

    `counts` has how many gave each value (answers, values), `scale` the values in their order. Where a row is a part of
    an answer, such as a point, `parts` numbers each row's answer from 0: the interval then leaves out whole answers.
    """
    import numpy as np

    if not len(counts):
        return _without("no answer has been scored by two analysts")
    patterns, often = _patterns(counts) if parts is None else (counts, np.ones(len(counts), np.int64))
    return _measured(_pairs_within(patterns), often, scale, parts)


def _pairs_within(counts: NDArray[np.int64]) -> Floats:
    """Count the coincidences of each answer's scores with one another."""
    import numpy as np

    same = counts[:, :, None] * np.eye(counts.shape[1], dtype=np.int64)
    found: Floats = (counts[:, :, None] * counts[:, None, :] - same) / (counts.sum(axis=1) - 1)[:, None, None]
    return found


def between(
    first: NDArray[np.int64], second: NDArray[np.int64], scale: Floats, parts: NDArray[np.int64] | None = None
) -> MetricAgreement:
    """The agreement of two sides on answers that both scored; how far a side agrees with itself doesn't matter.

    Each side's counts (answers, values) and the `parts` are as in `within`; where several of a side scored an answer,
    each of them counts alike. With one scorer on either side, it is what `within` finds.
    """
    import numpy as np

    if not len(first):
        return _without("no answer has been scored by both")
    both = np.hstack([first, second])
    patterns, often = _patterns(both) if parts is None else (both, np.ones(len(both), np.int64))
    return _measured(_pairs_between(patterns[:, : len(scale)], patterns[:, len(scale) :]), often, scale, parts)


def _pairs_between(first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
    """Count the coincidences of each answer's scores of one side with those of the other."""
    ours, theirs = (side / side.sum(axis=1, keepdims=True) for side in (first, second))
    crossed = ours[:, :, None] * theirs[:, None, :]
    found: Floats = crossed + crossed.swapaxes(-2, -1)
    return found


def compare_alphas(side: NDArray[np.int64], people: NDArray[np.int64], scale: Floats) -> AlphaDifference:
    """Compare a side's agreement with people with these people's agreement, on answers that all of them scored.

    Each has the counts (answers, values) of the same answers: one or more of the side, two or more of the people. The
    interval is a jackknife over these answers with Student's t, wider by 1/n for few.
    """
    import numpy as np
    from scipy.special import stdtrit

    pairs = (_pairs_between(side, people), _pairs_within(people))
    every = [part.sum(axis=0) for part in pairs]
    ours, theirs = (float(_alphas(whole)) for whole in every)
    without = np.subtract(*(_alphas(whole - part) for whole, part in zip(every, pairs, strict=True)))
    n = len(without)
    if np.isnan(ours) or np.isnan(theirs):
        known = [None if np.isnan(one) else one for one in (ours, theirs)]
        return AlphaDifference(known[0], known[1], reason=_NOTHING_VARIES)
    # Where hardly anything differs, leaving out an answer changes nothing, and the interval would seem sure.
    differing = np.add(*pairs)[:, ~np.eye(len(scale), dtype=bool)].any(axis=-1).sum()
    if n < LEAST_ANSWERS or np.isnan(without).any() or differing < _FEWEST_DIFFERING:
        return AlphaDifference(ours, theirs, reason=_TOO_FEW)
    error = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
    reach = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * (1 + 1 / n) * error
    return AlphaDifference(ours, theirs, (ours - theirs - reach, ours - theirs + reach))


def _patterns(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different rows, and how often there is each: many answers share few."""
    import numpy as np

    # As one piece each, they are found quickly.
    rows = np.ascontiguousarray(counts.astype(np.uint16))
    pieces = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    _, where, often = np.unique(pieces, return_index=True, return_counts=True)
    return counts[where], often


def _measured(
    coincidences: Floats, often: NDArray[np.int64], scale: Floats, parts: NDArray[np.int64] | None
) -> MetricAgreement:
    """The agreement of answers, or of `parts` of answers, with these coincidences, each kind of answer so often."""
    import numpy as np

    shares = coincidences / coincidences.sum(axis=(1, 2), keepdims=True)
    pairs = np.average(shares, axis=0, weights=often)
    if parts is not None:
        whole = np.zeros((int(parts.max()) + 1, *coincidences.shape[1:]))
        np.add.at(whole, parts, coincidences)
        coincidences, often = whole, np.ones(len(whole), np.int64)
    return _agreed(_alpha(coincidences, often, scale), pairs, scale)


def _agreed(alpha: Alpha, pairs: Floats, scale: Floats) -> MetricAgreement:
    """All measures, from the shares (values, values; 1 in sum) of the pairs of values, each answer counting alike."""
    given = pairs.sum(axis=0)
    return MetricAgreement(
        alpha, float(pairs.trace()), float((pairs * _apart(scale)).sum()), _ac2(pairs), float(given.max())
    )


def _without(reason: str) -> MetricAgreement:
    return MetricAgreement(Alpha(None, reason=reason), None, None, None, None)


def _ac2(pairs: Floats) -> float:
    """Gwet's AC2 of such shares, with his ordinal weights: how many pairs of values a pair of values encloses.

    K. L. Gwet: Computing inter-rater reliability and its variance in the presence of high agreement. British Journal
    of Mathematical and Statistical Psychology 61 (2008); weights and several raters as in his Handbook (2014).
    """
    import numpy as np

    if (values := len(pairs)) == 1:
        return 1.0
    apart = np.abs(np.subtract.outer(np.arange(values), np.arange(values)))
    weights = 1 - (apart + 1) * apart / (values * (values - 1))
    given = pairs.sum(axis=0)
    expected = weights.sum() / (values * (values - 1)) * (given * (1 - given)).sum()
    return float(((pairs * weights).sum() - expected) / (1 - expected))


# -- analysts --


def _pairs(table: _ValueTable) -> list[AnalystPair]:
    """Every two analysts who have an answer in common, those who differ most first."""
    import numpy as np

    scale = table.scale
    first, second = np.triu_indices(len(table.analysts), 1)
    by_metric = np.moveaxis(table.ranks, -1, 0)
    crossed = np.stack([_crossed(ranks, len(scale))[first, :, second] for ranks in by_metric], axis=1)
    answers = crossed[:, 0].sum(axis=(-2, -1))
    met = np.flatnonzero(answers)
    crossed, answers = crossed[met], answers[met]
    alphas = _alphas(crossed + crossed.swapaxes(-2, -1))
    shares = (crossed + crossed.swapaxes(-2, -1)) / (2 * answers[:, None, None, None])
    difference = (crossed * _apart(scale)).sum(axis=(-2, -1)) / answers[:, None]
    found = []
    for row, pair in enumerate(met):
        metrics = {}
        for i, metric in enumerate(table.metrics):
            value = float(alphas[row, i])
            alpha = _undefined(scale[crossed[row, i].argmax() // len(scale)]) if np.isnan(value) else Alpha(value)
            metrics[metric] = _agreed(alpha, shares[row, i], scale)
        names = sorted((table.analysts[first[pair]], table.analysts[second[pair]]))
        found.append(AnalystPair((names[0], names[1]), int(answers[row]), metrics, float(difference[row].mean())))
    return sorted(found, key=lambda pair: (-pair.difference, pair.analysts))


def _crossed(ranks: NDArray[np.int8], values: int) -> Floats:
    """On how many answers one analyst gave one value and another another: analysts, values, analysts, values."""
    import numpy as np

    answers, analysts = ranks.shape
    # 32 bits count exactly up to 16 million answers, in half the time.
    given = (ranks[..., None] == np.arange(values)).reshape(answers, analysts * values).astype(np.float32)
    crossed: NDArray[np.float32] = given.T @ given
    return crossed.astype(np.float64).reshape(analysts, values, analysts, values)


def _leanings(table: _ValueTable, counts: NDArray[np.int64]) -> list[Leaning]:
    """Every analyst who has an answer in common with another, the most lenient first."""
    import numpy as np

    scale = table.scale
    sums, numbers = counts @ scale, counts.sum(axis=-1)
    found = []
    for column, analyst in enumerate(table.analysts):
        rows = np.flatnonzero(table.ranks[:, column, 0] >= 0)
        if len(rows):
            rows = rows[table.order[rows, column].argsort()]
            own = scale[table.ranks[rows, column]]
            others = (sums[rows] - own) / (numbers[rows] - 1)
            found.append(_leaning(table, analyst, own - others))
    return sorted(found, key=lambda leaning: (-leaning.overall, leaning.analyst))


def _leaning(table: _ValueTable, analyst: str, differences: Floats) -> Leaning:
    """From an analyst's differences (answers, metrics) in the order of time."""
    half = len(differences) // 2
    lenient = differences.mean(axis=0)
    return Leaning(
        analyst=analyst,
        answers=len(differences),
        lenient=table.by_metric(lenient),
        overall=float(lenient.mean()),
        drift=float(differences[half:].mean() - differences[:half].mean()) if half else None,
    )


@dataclass(frozen=True, slots=True)
class Suggested:
    """The effect of a suggestion on screen for one metric, by the answers at which it is held back.

    `shown` and `withheld` are the numbers of answers, `with_it` and `without` the mean values of their scores, and
    `as_suggested` and `as_withheld` the shares (0 to 1) of scores that are what was suggested, or would have been.
    `difference` is `with_it` less `without`, in an `interval` for other answers of this kind; None where either has
    fewer than `LEAST_ANSWERS`, or nothing varies.
    """

    shown: int
    withheld: int
    with_it: float | None
    without: float | None
    as_suggested: float | None
    as_withheld: float | None
    difference: float | None = None
    interval: tuple[float, float] | None = None


def compare_suggested(events: Iterable[Event], rubric: Rubric) -> dict[str, Suggested]:
    """Compare, by metric, independent scores beside a suggestion with those for which it was held back.

    Which answers these are follows from their digests alone, so that nothing else tells them apart. Only metrics for
    which there were any; scores of before it was kept what was on screen are left out.
    """
    values: defaultdict[str, tuple[_Given, _Given]] = defaultdict(lambda: (defaultdict(list), defaultdict(list)))
    for score in independent_scores(events):
        if score.shown is None or score.values is None:
            continue
        beside = {metric: score.suggested[metric] for metric in score.shown.suggestion if metric in score.suggested}
        for side, some in enumerate((beside, score.shown.withheld)):
            for metric, value in some.items():
                if metric in rubric.metrics:
                    given = score.values[metric]
                    values[metric][side][score.answer].append((given, given == value))
    return {metric: _measure_suggested(*values[metric]) for metric in rubric.metrics if metric in values}


_Given = defaultdict[str, list[tuple[float, bool]]]
"""Answer → each value given, and whether it is the suggested one."""


def _measure_suggested(beside: _Given, withheld: _Given) -> Suggested:
    sides = [[fmean(value for value, _ in given) for given in side.values()] for side in (beside, withheld)]
    same = [[fmean(taken for _, taken in given) for given in side.values()] for side in (beside, withheld)]
    with_it, without, as_suggested, as_withheld = (fmean(side) if side else None for side in (*sides, *same))
    enough = min(map(len, sides)) >= LEAST_ANSWERS
    difference = with_it - without if enough and with_it is not None and without is not None else None
    interval = _compute_welch_interval(*sides) if enough else None
    return Suggested(len(beside), len(withheld), with_it, without, as_suggested, as_withheld, difference, interval)


def _compute_welch_interval(one: list[float], other: list[float]) -> tuple[float, float] | None:
    """Compute the interval of the difference of two means (Welch's t); None where nothing varies."""
    from scipy.special import stdtrit

    parts = [variance(side) / len(side) for side in (one, other)]
    squared = sum(parts)
    if not squared:
        return None
    degrees = squared**2 / sum(part**2 / (len(side) - 1) for part, side in zip(parts, (one, other), strict=True))
    reach = float(stdtrit(degrees, (1 + CONFIDENCE) / 2)) * math.sqrt(squared)
    difference = fmean(one) - fmean(other)
    return difference - reach, difference + reach
