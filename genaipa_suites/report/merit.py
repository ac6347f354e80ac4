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
from genaipa.stats.counts import LEAST_CLUSTERS, Part, estimate_figure, subtract_figures
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
_PARTS: dict[Callable[[Sequence[float]], float], Part] = {
    ratio: Part(0, 1),
    precision: Part(0, 1, 0.0),
    recall: Part(0, 2),
}
"""Function of a measure → the counts that it is a share of."""
_ROWS: dict[Callable[[Sequence[float]], float], Callable[[Floats], Floats]] = {
    f1: row_figures.f1,
    micro_f1: row_figures.micro_f1,
    macro_f1: row_figures.macro_f1,
}
"""Function of a measure → the same of all rows of counts at once."""


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
        if self.number < LEAST_CLUSTERS:
            few = f"fewer than {LEAST_CLUSTERS} {self.clusters}"
            return f"No interval: the items are of {few}, which say nothing of others."
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
        figure = estimate_figure(
            self._sums(measure, chosen), self._sizes(chosen), _find_figures(measure), _PARTS.get(measure.value)
        )
        return Merit(*figure, *self._basis(chosen))

    def minus(self, other: Counts, measure: Measure) -> Merit:
        """This figure minus the other's on the items that both have; the same policies are left out of both."""
        shared = {*self.ids} & {*other.ids}
        ours, theirs = (np.array([one in shared for one in each.ids], bool) for each in (self, other))
        if not ours.any():
            return Merit()
        apart = subtract_figures(
            self._sums(measure, ours),
            other._sums(measure, theirs),
            self._sizes(ours),
            _find_figures(measure),
            _PARTS.get(measure.value),
        )
        return Merit(*apart[:3], nan, *self._basis(ours), apart[3:])

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


def _find_figures(measure: Measure) -> Callable[[Floats], Floats]:
    """Return what makes figures of rows of counts; the functions that most measures have take all rows at once."""
    if measure.value in _PARTS:
        return partial(row_figures.divide, part=_PARTS[measure.value])
    if measure.value in _ROWS:
        return _ROWS[measure.value]
    return lambda rows: np.array([measure.value(row) for row in rows.tolist()])
