"""How sure an average is: its confidence interval, by resampling the questions.

Scores of one question, about several documents or by several analysts, are alike. So what is resampled is the
questions, each with all that belongs to it, and not the scores: the interval says how the average could have been with
other questions of the same kind. For differences between two systems on the same questions it is the paired bootstrap.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEVEL = 0.95
RESAMPLES = 2000
INTERVALS = (
    f"Intervals: {LEVEL:.0%} confidence by bootstrap over the questions ({RESAMPLES:,} resamples, percentiles); "
    "blank where there is one question only."
)
"""A sentence on intervals for the notes of tables."""

_TWO = 2
"""Number of questions that can vary."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An average with its confidence interval; `n` is how many clusters (questions) it rests on.

    `mean` is NaN where there is no value, `low` and `high` where there are fewer than two clusters.
    """

    mean: float
    low: float
    high: float
    n: int


def interval(
    values: Any, clusters: Any, *, seed: int = 0, level: float = LEVEL, resamples: int = RESAMPLES
) -> Interval:
    """The average of values that belong to clusters (questions), both arrays or columns of the same length.

    Values are averaged within their cluster, and these averages over the clusters, so that every question counts
    alike. Absent values (NaN) are left out. The same values give the same interval, in whatever order they come.
    """
    means = _cluster_means(values, clusters)
    if not len(means):
        return Interval(np.nan, np.nan, np.nan, 0)
    # Around one of them, so that values that are all equal give that value, exactly.
    centre, around = means[0], means - means[0]
    mean = float(centre + around.mean())
    if len(means) < _TWO:
        return Interval(mean, np.nan, np.nan, len(means))
    return Interval(mean, *_bounds(centre + _shares(len(means), resamples, seed) @ around, level), len(means))


def interval_of_difference(
    first: tuple[Any, Any],
    second: tuple[Any, Any],
    *,
    seed: int = 0,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Interval:
    """Difference between the averages of two independent sets of (values, clusters), the first minus the second.

    For sets that share their clusters, give the differences to `interval`. `n` is the smaller number of clusters.
    """
    ours, theirs = _cluster_means(*first), _cluster_means(*second)
    least = min(len(ours), len(theirs))
    if not least:
        return Interval(np.nan, np.nan, np.nan, 0)
    mean = float(ours.mean() - theirs.mean())
    if least < _TWO:
        return Interval(mean, np.nan, np.nan, least)
    # Each set is resampled in two ways, because sets of one size must not be resampled alike, and the differences are
    # taken both ways round, so that neither set is the first.
    some, others = ([_shares(len(means), resamples, s) @ means for s in (seed, seed + 1)] for means in (ours, theirs))
    drawn = np.concatenate([some[0] - others[1], some[1] - others[0]])
    return Interval(mean, *_bounds(drawn, level), least)


def _cluster_means(values: Any, clusters: Any) -> Floats:
    """The average of each cluster, in the order of their names."""
    given = np.asarray(values, dtype=np.float64)
    there = ~np.isnan(given)
    labels: Any = clusters.array if isinstance(clusters, pd.Series) else np.asarray(clusters, dtype=object)
    codes, names = pd.factorize(labels[there], sort=True)
    given = given[there]
    # In one order, because sums of floating-point numbers depend on it.
    order = np.lexsort((given, codes))
    sums = np.bincount(codes[order], given[order], minlength=len(names))
    means: Floats = sums / np.bincount(codes, minlength=len(names))
    return means


@lru_cache(maxsize=64)
def _shares(n: int, resamples: int, seed: int) -> Floats:
    """The share of each of n clusters in each resample: resamples down, clusters across."""
    drawn = np.random.default_rng([seed, n]).multinomial(n, np.full(n, 1 / n), size=resamples)
    shares: Floats = drawn / n
    shares.flags.writeable = False
    return shares


def _bounds(drawn: Floats, level: float) -> tuple[float, float]:
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
