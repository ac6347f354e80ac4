"""Figures of merit: each measure over all repetitions, with an interval over policies.

Measures are made of counts that add up, of which `genaipa.stats.counts` makes figures and intervals. Whole policies
are left out in turn, with all their items; where no policy is known, single items are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from genaipa.stats import counts as row_figures
from genaipa.stats.counts import LEAST_CLUSTERS, ShareCountIndices, estimate_count_statistic, subtract_count_statistics
from genaipa_suites.measure import f1, macro_f1, micro_f1, precision, ratio, recall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from genaipa_suites.material import Item, Outcome
    from genaipa_suites.measure import Measure

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

LEVEL = 95
"""Per cent of an interval."""
_PARTS: dict[Callable[[Sequence[float]], float], ShareCountIndices] = {
    ratio: ShareCountIndices(0, 1),
    precision: ShareCountIndices(0, 1, 0.0),
    recall: ShareCountIndices(0, 2),
}
"""Function of a measure → the counts that it is a share of."""
_ROWS: dict[Callable[[Sequence[float]], float], Callable[[Floats], Floats]] = {
    f1: row_figures.f1,
    micro_f1: row_figures.micro_f1,
    macro_f1: row_figures.macro_f1,
}
"""Function of a measure → the same of all rows of counts at once."""


@dataclass(frozen=True)
class MeasureEstimate:
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


class JackknifeUnits:
    """The units that are left out: policies with all their items; an item of an unknown policy is one by itself."""

    def __init__(self, items: Iterable[Item], clusters: str = "policies") -> None:
        self.clusters = clusters
        numbers: dict[tuple[str, str], int] = {}
        self.number_by_item = {
            item.id: numbers.setdefault((item.cluster, "" if item.cluster else item.id), len(numbers)) for item in items
        }
        """Item → the number of its unit."""
        self.number = len(numbers)
        self.policies = sum(bool(cluster) for cluster, _ in numbers)

    @property
    def population_note(self) -> str:
        """A sentence on the population that intervals speak for."""
        alone = self.number - self.policies
        if self.number < LEAST_CLUSTERS:
            fewness = f"fewer than {LEAST_CLUSTERS} {self.clusters}"
            return f"No intervals: the items are from {fewness}, which say nothing about other {self.clusters}."
        if not self.policies:
            return (
                f"Intervals ({LEVEL} %) are over {alone:,} single items, because their policies are unknown. They "
                "hold for other items of the same policies, and would be wider for other policies."
            )
        alone_note = f" ({alone:,} items of unknown policies count as one each)" if alone else ""
        units = f"{self.policies:,} {self.clusters}{alone_note}"
        return f"Intervals ({LEVEL} %) are over {units}, and hold for {self.clusters} like these."


class OutcomeCounts:
    """The counts of one system's outcomes: a measure's are worked out once, and added up in many ways."""

    def __init__(self, outcomes: Sequence[Outcome], units: JackknifeUnits) -> None:
        self.outcomes = outcomes
        self.ids = np.array([outcome.item.id for outcome in outcomes], object)
        self._units = units
        self._unit = np.array([units.number_by_item[outcome.item.id] for outcome in outcomes], int)
        numbers = sorted({outcome.repetition for outcome in outcomes})
        self._repetitions = len(numbers)
        index_by_number = {number: index for index, number in enumerate(numbers)}
        self._repetition = np.array([index_by_number[outcome.repetition] for outcome in outcomes], int)
        self._counts: dict[Measure, Floats] = {}
        self._whole: dict[Measure, MeasureEstimate] = {}

    def counts_by_outcome(self, measure: Measure) -> Floats:
        """Return a row of counts for each outcome."""
        # Not by its name: measures of parts of items share one.
        if measure not in self._counts:
            rows = [measure.counts(outcome) for outcome in self.outcomes]
            self._counts[measure] = np.array(rows, float).reshape(len(rows), -1)
        return self._counts[measure]

    def estimate_measure(self, measure: Measure, selection: Mask | None = None) -> MeasureEstimate:
        """Return the figure over these outcomes; over all of them by default."""
        if selection is None:
            if measure not in self._whole:
                self._whole[measure] = self._compute_estimate(measure, np.ones(len(self.outcomes), bool))
            return self._whole[measure]
        return self._compute_estimate(measure, selection)

    def _compute_estimate(self, measure: Measure, chosen: Mask) -> MeasureEstimate:
        if not chosen.any():
            return MeasureEstimate()
        figure = estimate_count_statistic(
            self._sum_counts_by_unit_and_repetition(measure, chosen),
            self._count_outcomes_by_unit(chosen),
            _vectorize_measure_function(measure),
            _PARTS.get(measure.value),
        )
        return MeasureEstimate(*figure, *self._count_items_and_clusters(chosen))

    def estimate_excess_over(self, other: OutcomeCounts, measure: Measure) -> MeasureEstimate:
        """Return this figure minus the other's on the items that both have; the same policies are left out of both."""
        shared = {*self.ids} & {*other.ids}
        own_shared, other_shared = (
            np.array([item_id in shared for item_id in counts.ids], bool) for counts in (self, other)
        )
        if not own_shared.any():
            return MeasureEstimate()
        difference = subtract_count_statistics(
            self._sum_counts_by_unit_and_repetition(measure, own_shared),
            other._sum_counts_by_unit_and_repetition(measure, other_shared),
            self._count_outcomes_by_unit(own_shared),
            _vectorize_measure_function(measure),
            _PARTS.get(measure.value),
        )
        return MeasureEstimate(*difference[:3], nan, *self._count_items_and_clusters(own_shared), difference[3:])

    def _count_outcomes_by_unit(self, chosen: Mask) -> Floats:
        return np.bincount(self._unit[chosen], minlength=self._units.number).astype(float)

    def _count_items_and_clusters(self, chosen: Mask) -> tuple[int, int]:
        """Count the items and policies that these outcomes are of."""
        clusters = {
            outcome.item.cluster for outcome, is_chosen in zip(self.outcomes, chosen, strict=True) if is_chosen
        } - {""}
        return len(set(self.ids[chosen])), len(clusters)

    def _sum_counts_by_unit_and_repetition(self, measure: Measure, chosen: Mask) -> Floats:
        """Sum counts by unit and repetition; a repetition without any of these outcomes is left out."""
        counts = self.counts_by_outcome(measure)
        sums = np.zeros((self._units.number, self._repetitions, counts.shape[1]))
        np.add.at(sums, (self._unit[chosen], self._repetition[chosen]), counts[chosen])
        return sums[:, np.unique(self._repetition[chosen])]


def _vectorize_measure_function(measure: Measure) -> Callable[[Floats], Floats]:
    """Return what makes figures of rows of counts; the functions that most measures have take all rows at once."""
    if measure.value in _PARTS:
        return partial(row_figures.divide_held_by_all_counts, share_indices=_PARTS[measure.value])
    if measure.value in _ROWS:
        return _ROWS[measure.value]
    return lambda rows: np.array([measure.value(row) for row in rows.tolist()])
