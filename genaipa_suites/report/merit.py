"""Figures of merit: each measure over all repetitions, with an interval over policies.

Items of one policy are alike, so that whole policies are left out in turn, with all their items (a jackknife); where
no policy is known, single items are. A measure whose counts are whole, a part of a whole, is a share, and any other a
figure from 0 to 1 (`genaipa.stats.shares` has the intervals of both); repetitions make no item more. Measures are
made of counts that add up: a policy's counts are taken from the sums, and no answer is ever scored twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from genaipa.stats.shares import Clusters, bounded_interval, difference_interval, find_reach, share_interval
from genaipa_suites.measure import f1, macro_f1, micro_f1, precision, ratio, recall

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from genaipa_suites.material import Item, Outcome
    from genaipa_suites.measure import Measure

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

LEVEL = 95
"""Per cent of an interval."""
LEAST = 3
"""Policies below which there is no interval."""
_SHARES = {ratio: (1, nan), precision: (1, 0.0), recall: (2, nan)}
"""Function of a measure → the place of the count that its first one is a share of, and the figure over none."""


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
    """The units that are left out: policies with all their items; an item of an unknown policy is one by itself."""

    def __init__(self, items: Iterable[Item], clusters: str = "policies") -> None:
        self.clusters = clusters
        drawn: dict[tuple[str, str], int] = {}
        self.of = {one.id: drawn.setdefault((one.cluster, "" if one.cluster else one.id), len(drawn)) for one in items}
        """Item → the number of its unit."""
        self.number = len(drawn)
        self.policies = sum(bool(cluster) for cluster, _ in drawn)

    @property
    def population(self) -> str:
        """A sentence on the population that intervals speak for."""
        alone = self.number - self.policies
        if self.number < LEAST:
            return f"No interval: the items are of fewer than {LEAST} {self.clusters}, which say nothing of others."
        if not self.policies:
            return (
                f"Intervals ({LEVEL} %) are over {alone:,} single items, since their policies are not known: they "
                "speak for other items of the same policies, and would be wider for other policies."
            )
        own = f" ({alone:,} items of unknown policies count as one each)" if alone else ""
        which = f"{self.policies:,} {self.clusters}{own}"
        return f"Intervals ({LEVEL} %) are over {which}, and speak for {self.clusters} like these."


class Counts:
    """The counts of one system's outcomes: a measure's are worked out once, and added up in many ways."""

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
        value, units = float(np.mean(each)), self._sizes(chosen)
        share = _share(measure, sums)
        if share is not None:
            enough = (share.items > 0).sum() >= LEAST
            ends = share_interval(*share) if enough else (nan, nan)
        else:
            without = _without(measure, sums)
            enough = (~np.isnan(without[units > 0])).sum() >= LEAST
            asked = units / sums.shape[1]
            ends = bounded_interval(value, find_reach(units, without), asked) if enough else (nan, nan)
        # Of a share it is the mean over repetitions, which may differ in how many items they have.
        ends = (min(ends[0], value), max(ends[1], value)) if enough else ends
        spread = float(np.std(each)) if len(each) > 1 else nan
        items, policies = self._basis(chosen)
        return Merit(value, *ends, spread, items, policies)

    def minus(self, other: Counts, measure: Measure) -> Merit:
        """This figure minus the other's on the items that both have; the same policies are left out of both."""
        shared = {*self.ids} & {*other.ids}
        ours, theirs = (np.array([one in shared for one in each.ids], bool) for each in (self, other))
        if not ours.any():
            return Merit()
        sums = self._sums(measure, ours), other._sums(measure, theirs)
        means = [float(np.mean(_values(measure, each.sum(axis=0)))) for each in sums]
        items, policies = self._basis(ours)
        units, apart = self._sizes(ours), means[0] - means[1]
        first, second = (_share(measure, each) for each in sums)
        ends = nan, nan
        if first is not None and second is not None:
            if ((first.items > 0) & (second.items > 0)).sum() >= LEAST:
                ends = difference_interval(first, second)
        else:
            without = _without(measure, sums[0]) - _without(measure, sums[1])
            if (~np.isnan(without[units > 0])).sum() >= LEAST:
                reach = find_reach(units, without)
                ends = apart - reach, apart + reach
        return Merit(apart, *ends, nan, items, policies, (means[0], means[1]))

    def _sizes(self, chosen: Mask) -> Floats:
        """Number of these outcomes of each unit."""
        return np.bincount(self._unit[chosen], minlength=self._units.number).astype(float)

    def _basis(self, chosen: Mask) -> tuple[int, int]:
        """Numbers of the items and policies that these outcomes are of."""
        named = {one.item.cluster for one, wanted in zip(self.outcomes, chosen, strict=True) if wanted} - {""}
        return len(set(self.ids[chosen])), len(named)

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
            each = np.stack([_f1(sums[:, place : place + 3]) for place in range(0, sums.shape[1], 3)])
            there = sums[:, 2::3].T > 0
            return np.asarray((each * there).sum(axis=0) / there.sum(axis=0))
    return np.array([measure.value(row) for row in sums.tolist()])


def _f1(counts: Floats) -> Floats:
    both = counts[:, 1] + counts[:, 2]
    return np.where(both != 0, 2 * counts[:, 0] / both, 0.0)


def _without(measure: Measure, sums: Floats) -> Floats:
    """The figure without each unit in turn: the mean over repetitions."""
    rest = sums.sum(axis=0) - sums
    return np.asarray(np.mean([_values(measure, rest[:, place]) for place in range(sums.shape[1])], axis=0))


def _share(measure: Measure, sums: Floats) -> Clusters | None:
    """Each unit's items that hold, and all, over repetitions; None for a measure that is no share of whole things."""
    if measure.value not in _SHARES or (sums != np.round(sums)).any():
        return None
    held, every = sums[:, :, 0].mean(axis=1), sums[:, :, _SHARES[measure.value][0]].mean(axis=1)
    return Clusters(held, every) if (held <= every).all() else None
