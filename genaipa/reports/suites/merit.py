"""Figures of merit: each measure over all repetitions, with an interval that resamples policies.

Items of one policy are alike, so that whole policies are drawn again, with all their items (a cluster bootstrap);
where no policy is known, single items are. Measures are made of counts that add up: the sums of counts of each policy
are drawn, and no answer is ever scored twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from genaipa.suites.measure import f1, macro_f1, micro_f1, precision, ratio, recall

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from genaipa.suites.material import Item, Outcome
    from genaipa.suites.measure import Measure

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

LEVEL = 95
"""Per cent of an interval."""
DRAWS = 2000
_SEED = 20260101
"""Fixed, so that the same results give the same intervals."""
_POLICIES = 500
"""Units up to which draws are added up in double precision."""
_SHARES = {ratio: (1, nan), precision: (1, 0.0), recall: (2, nan)}
"""Function of a measure → the place of the count that its first one is a share of, and the figure over none."""
_FEW = 10
"""Policies below which an interval of this kind is rather too narrow."""


@dataclass(frozen=True)
class Merit:
    """A figure (0 to 1), the ends of its interval, and its spread over repetitions; NaN where there is none.

    `spread` is the population's standard deviation, of two repetitions or more; `items` and `policies` are how many
    the figure rests on, `policies` 0 where they are unknown.
    """

    value: float = nan
    low: float = nan
    high: float = nan
    spread: float = nan
    items: int = 0
    policies: int = 0
    means: tuple[float, float] = (nan, nan)
    """Of a difference, the two figures that it is between."""


class Units:
    """The units that are drawn again: policies with all their items; an item of an unknown policy is one by itself."""

    def __init__(self, items: Iterable[Item]) -> None:
        drawn: dict[tuple[str, str], int] = {}
        self.of = {one.id: drawn.setdefault((one.cluster, "" if one.cluster else one.id), len(drawn)) for one in items}
        """Item → the number of its unit."""
        self.number = len(drawn)
        self.policies = sum(bool(cluster) for cluster, _ in drawn)

    @property
    def population(self) -> str:
        """A sentence on the population that intervals speak for."""
        alone = self.number - self.policies
        if self.number <= 1:
            return "All items are of one policy, so that there is no interval: nothing is known of other policies."
        if not self.policies:
            return (
                f"Intervals ({LEVEL} %) draw {alone:,} single items again, since their policies are not known: they "
                "speak for other items of the same policies, and would be wider for other policies."
            )
        own = f" ({alone:,} items of unknown policies are drawn by themselves)" if alone else ""
        few = f" Of fewer than {_FEW} policies they are rather too narrow." if self.policies < _FEW else ""
        return (
            f"Intervals ({LEVEL} %) draw {self.policies:,} policies again, each with all its items{own}: they speak "
            f"for policies like these.{few}"
        )


class Counts:
    """The counts of one system's outcomes: those of a measure are worked out once, and added up in many ways."""

    def __init__(self, outcomes: Sequence[Outcome], units: Units) -> None:
        self.outcomes = outcomes
        self.ids = np.array([outcome.item.id for outcome in outcomes], object)
        self._units = units
        self._unit = np.array([units.of[outcome.item.id] for outcome in outcomes], int)
        numbers = sorted({outcome.repetition for outcome in outcomes})
        self._repetitions = len(numbers)
        place = {number: at for at, number in enumerate(numbers)}
        self._repetition = np.array([place[outcome.repetition] for outcome in outcomes], int)
        self._counts: dict[Measure, Floats] = {}
        self._whole: dict[Measure, Merit] = {}

    def of(self, measure: Measure) -> Floats:
        """A row of counts for each outcome."""
        # Not by its name: measures of parts of items share one.
        if measure not in self._counts:
            rows = [measure.counts(outcome) for outcome in self.outcomes]
            self._counts[measure] = np.array(rows, float).reshape(len(rows), -1)
        return self._counts[measure]

    def merit(self, measure: Measure, some: Mask | None = None) -> Merit:
        """The figure over these outcomes; over all of them by default."""
        if some is None:
            if measure not in self._whole:
                self._whole[measure] = self._merit(measure, np.ones(len(self.outcomes), bool))
            return self._whole[measure]
        return self._merit(measure, some)

    def _merit(self, measure: Measure, chosen: Mask) -> Merit:
        if not chosen.any():
            return Merit()
        sums = self._sums(measure, chosen)
        each = _values(measure, sums.sum(axis=0))
        items, units, policies = self._basis(chosen)
        low, high = _interval(_drawn(measure, sums)) if units > 1 else (nan, nan)
        spread = float(np.std(each)) if len(each) > 1 else nan
        return Merit(float(np.mean(each)), low, high, spread, items, policies)

    def minus(self, other: Counts, measure: Measure) -> Merit:
        """This figure minus the other's on the items that both have; the same policies are drawn for both."""
        shared = {*self.ids} & {*other.ids}
        ours, theirs = (np.array([one in shared for one in each.ids], bool) for each in (self, other))
        if not ours.any():
            return Merit()
        sums = self._sums(measure, ours), other._sums(measure, theirs)
        means = [float(np.mean(_values(measure, each.sum(axis=0)))) for each in sums]
        items, units, policies = self._basis(ours)
        apart = _drawn(measure, sums[0]) - _drawn(measure, sums[1])
        low, high = _interval(apart) if units > 1 else (nan, nan)
        return Merit(means[0] - means[1], low, high, nan, items, policies, (means[0], means[1]))

    def _basis(self, chosen: Mask) -> tuple[int, int, int]:
        """Numbers of the items, units and policies that these outcomes are of."""
        units = len(np.unique(self._unit[chosen]))
        named = {one.item.cluster for one, wanted in zip(self.outcomes, chosen, strict=True) if wanted} - {""}
        return len(set(self.ids[chosen])), units, len(named)

    def _sums(self, measure: Measure, chosen: Mask) -> Floats:
        """Sums of counts, by unit and repetition; a repetition without any of these outcomes is left out."""
        counts = self.of(measure)
        sums = np.zeros((self._units.number, self._repetitions, counts.shape[1]))
        np.add.at(sums, (self._unit[chosen], self._repetition[chosen]), counts[chosen])
        return sums[:, np.unique(self._repetition[chosen])]


def _values(measure: Measure, sums: Floats) -> Floats:
    """The figure of each row of sums; the functions that most measures have are worked out for all rows at once."""
    with np.errstate(invalid="ignore", divide="ignore"):
        if measure.value in _SHARES:
            of, nothing = _SHARES[measure.value]
            return np.where(sums[:, of] != 0, sums[:, 0] / sums[:, of], nothing)
        if measure.value is f1:
            return _f1(sums)
        if measure.value is micro_f1:
            return _f1(np.stack([sums[:, place::3].sum(axis=1) for place in range(3)], axis=1))
        if measure.value is macro_f1:
            each = [_f1(sums[:, place : place + 3]) for place in range(0, sums.shape[1], 3)]
            return np.asarray(np.mean(each, axis=0))
    return np.array([measure.value(row) for row in sums.tolist()])


def _f1(counts: Floats) -> Floats:
    both = counts[:, 1] + counts[:, 2]
    return np.where(both != 0, 2 * counts[:, 0] / both, 0.0)


def _drawn(measure: Measure, sums: Floats) -> Floats:
    """The figure in each draw: the mean over repetitions, of the same units in each."""
    some = sums.any(axis=(1, 2))
    units, repetitions, width = sums.shape
    weights = _weights(units)[:, some]
    flat = sums[some].reshape(-1, repetitions * width).astype(weights.dtype)
    drawn = (weights @ flat).astype(float).reshape(-1, repetitions, width)
    return np.asarray(np.mean([_values(measure, drawn[:, repetition]) for repetition in range(repetitions)], axis=0))


@lru_cache(maxsize=4)
def _weights(units: int) -> NDArray[np.floating[Any]]:
    """A row for each draw: how often each of so many units is in it."""
    drawing = np.random.default_rng(_SEED)
    # Policies are few; of thousands of single items, half the memory will do.
    precision = np.float64 if units <= _POLICIES else np.float32
    return drawing.multinomial(units, np.full(units, 1 / units), size=DRAWS).astype(precision)


def _interval(drawn: Floats) -> tuple[float, float]:
    """The middle of the draws; none where the figure is not defined in most of them."""
    known = drawn[~np.isnan(drawn)]
    if len(known) < len(drawn) / 2:
        return nan, nan
    tail = (100 - LEVEL) / 2
    low, high = np.percentile(known, [tail, 100 - tail])
    return float(low), float(high)
