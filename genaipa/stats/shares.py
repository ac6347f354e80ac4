"""Confidence intervals of shares of items that come in clusters, such as a policy's, also for shares near 0 and 1.

A share's interval is that of Clopper and Pearson (1934, https://doi.org/10.1093/biomet/26.4.404), for as many
independent items as its variance says that the items are worth (Korn and Graubard, 1998, Survey Methodology 24(2),
193-201). The variance is a jackknife over clusters. It says too little where nearly all clusters are wholly at one end,
since a cluster that differs was hardly drawn then: there, items of a cluster are taken to be alike by `ALIKE` at least.
`docs/method/coverage.md` has how often the intervals hold the truth (`python -m benchmarks.coverage_shares`).
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import betaincinv, expit, logit, ndtri, stdtrit

from genaipa.stats.arrays import as_values, as_weights_or_ones

if TYPE_CHECKING:
    from genaipa.stats.arrays import Floats

    Ends = tuple[float, float]
    """The ends of an interval."""

LEVEL = 0.95
ALIKE = 0.2
"""Correlation between items of a cluster, at least, where fewer than `FEW_DIFFER` clusters differ from the others."""
FEW_DIFFER = 5
LEAST_APART = 3
"""Below this many clusters in which two shares differ, Student's t says nothing of their difference."""
_ROUNDING = 1e-9
"""Standard errors of a share below this are errors of rounding."""


class Clusters(NamedTuple):
    """The items of each cluster, and how many of them hold: a fraction where some hold in part."""

    hits: Floats
    items: Floats

    @property
    def share(self) -> float:
        """Return the share of all items that hold; NaN of none."""
        return float(self.hits.sum() / self.items.sum()) if self.items.any() else np.nan

    def share_without_each_cluster(self) -> Floats:
        """Return the shares without each cluster; NaN for one without items, or with all of them."""
        remaining = self.items.sum() - self.items
        present = (self.items > 0) & (remaining > 0)
        return np.where(present, (self.hits.sum() - self.hits) / np.where(present, remaining, 1), np.nan)


def share_interval(hits_per_cluster: Any, items_per_cluster: Any, confidence_level: float = LEVEL) -> Ends:
    """Return the ends of the interval of a share (0 to 1); NaN of fewer than two clusters.

    `items_per_cluster` are how many each cluster has, and `hits_per_cluster` how many of these hold, or in part.

    >>> low, high = share_interval([12, 11, 12, 12, 10], [12, 12, 12, 12, 12])
    >>> round(low, 3), round(high, 3)
    (0.741, 0.999)
    """
    return _clopper_pearson_interval(_check_and_make_clusters(hits_per_cluster, items_per_cluster), confidence_level)


def share_difference_interval(
    first_hits_and_items: tuple[Any, Any], second_hits_and_items: tuple[Any, Any], confidence_level: float = LEVEL
) -> Ends:
    """Return the ends of the interval of one share less another: (hits, items) each, of the same clusters in one order.

    It is Student's t over clusters. Where these are single items, or fewer than `LEAST_APART` of them tell the two
    apart, that would be too sure: Newcombe's then (1998, Statistics in Medicine 17, 2635-2650, method 10).
    """
    ours, theirs = _check_and_make_clusters(*first_hits_and_items), _check_and_make_clusters(*second_hits_and_items)
    if len(ours.items) != len(theirs.items):
        raise ValueError(f"the sides have {len(ours.items)} and {len(theirs.items)} clusters")
    sizes = ours.items + theirs.items
    single = float(max(ours.items.max(initial=0), theirs.items.max(initial=0))) <= 1
    telling = int((~np.isclose(ours.hits * theirs.items, theirs.hits * ours.items)).sum())
    if single or telling < LEAST_APART:
        return _newcombe_interval_of_clusters(ours, theirs, confidence_level)
    reach = jackknife_half_width(
        sizes, ours.share_without_each_cluster() - theirs.share_without_each_cluster(), confidence_level
    )
    difference = ours.share - theirs.share
    return difference - reach, difference + reach


def jackknife_half_width(items_per_cluster: Any, estimates_without_each: Any, confidence_level: float = LEVEL) -> float:
    """Return half the width of the interval of a figure: its standard error by the jackknife times Student's t.

    `estimates_without_each` are the figures without each cluster, NaN where there is none; `items_per_cluster` how many
    items each has (Efron and Stein, 1981, Annals of Statistics 9(3), 586-596; degrees of freedom by Kish, 1965). NaN of
    fewer than two clusters.
    """
    figures = as_values(estimates_without_each)
    number = as_weights_or_ones(items_per_cluster, len(figures))
    present = figures[~np.isnan(figures)]
    if len(present) < 2:  # noqa: PLR2004 - one cluster says nothing of others
        return float("nan")
    variance = (len(present) - 1) / len(present) * float(np.square(present - present.mean()).sum())
    return float(np.sqrt(variance) * stdtrit(_degrees_of_freedom(number), (1 + confidence_level) / 2))


def _degrees_of_freedom(items_per_cluster: Floats) -> float:
    """Count as many clusters, all alike in size, as tell the same (Kish, 1965, section 8.2), less one."""
    return max(1.0, float(items_per_cluster.sum() ** 2 / np.square(items_per_cluster).sum()) - 1)


def _newcombe_interval_of_clusters(clusters_a: Clusters, clusters_b: Clusters, confidence_level: float) -> Ends:
    """Put both shares' intervals together by their correlation: nothing is sure because all agree."""
    first, second = (
        (side.share, *_clopper_pearson_interval(side, confidence_level)) for side in (clusters_a, clusters_b)
    )
    return newcombe_interval(first, second, _correlate_shares(clusters_a, clusters_b))


def newcombe_interval(
    first_share_and_interval: tuple[float, float, float],
    second_share_and_interval: tuple[float, float, float],
    correlation: float,
) -> Ends:
    """Return the ends of the interval of one share less another, of both (share, low, high) and their correlation."""
    (ours, low, high), (theirs, other_low, other_high) = first_share_and_interval, second_share_and_interval
    down, up = (
        sqrt(max(reach**2 - 2 * correlation * reach * opposite_reach + opposite_reach**2, 0.0))
        for reach, opposite_reach in ((ours - low, other_high - theirs), (high - ours, theirs - other_low))
    )
    return ours - theirs - down, ours - theirs + up


def bounded_statistic_interval(
    statistic: float, half_width: float, items_per_cluster: Any, confidence_level: float = LEVEL
) -> Ends:
    """Return the ends of the interval of a figure from 0 to 1 that is no share of items, such as F1.

    `half_width` is its standard error times a quantile. It is laid off on the logarithm of the odds, where no end is
    beyond the scale. A figure of 0 or 1, or one that is the same in all clusters, has the interval of a share of as
    many items that is as large: that nothing varied is not sure.
    """
    number = as_values(items_per_cluster)
    spread = statistic * (1 - statistic)
    if spread < _ROUNDING or half_width < _ROUNDING:
        return _clopper_pearson_interval(Clusters(number * statistic, number), confidence_level)
    middle = float(logit(statistic))
    return float(expit(middle - half_width / spread)), float(expit(middle + half_width / spread))


def _check_and_make_clusters(hits_per_cluster: Any, items_per_cluster: Any) -> Clusters:
    held = as_values(hits_per_cluster)
    number = as_weights_or_ones(items_per_cluster, len(held))
    if (held < 0).any() or (held > number + _ROUNDING).any():
        raise ValueError("a cluster's hits are below 0 or above the number of its items")
    present = ~np.isnan(held + number)
    return Clusters(np.where(present, held, 0.0), np.where(present, number, 0.0))


def _clopper_pearson_interval(clusters: Clusters, confidence_level: float) -> Ends:
    if (clusters.items > 0).sum() < 2:  # noqa: PLR2004 - one cluster says nothing of others
        return np.nan, np.nan
    # Rounded, because sums of fractions may miss an end by a hair.
    share, worth, tail = (
        round(clusters.share, 12),
        _effective_item_count(clusters, confidence_level),
        (1 - confidence_level) / 2,
    )
    low = float(betaincinv(share * worth, worth - share * worth + 1, tail)) if share > 0 else 0.0
    high = float(betaincinv(share * worth + 1, worth - share * worth, 1 - tail)) if share < 1 else 1.0
    return low, high


def _effective_item_count(clusters: Clusters, confidence_level: float) -> float:
    """Return the number of independent items that are as sure as these."""
    number, share = float(clusters.items.sum()), clusters.share
    worth, reach = number, jackknife_half_width(clusters.items, clusters.share_without_each_cluster(), confidence_level)
    if reach > _ROUNDING:
        worth = min(number, share * (1 - share) * (float(ndtri((1 + confidence_level) / 2)) / reach) ** 2)
    holding, missing = clusters.hits > 0, clusters.hits < clusters.items
    if min(int(holding.sum()), int(missing.sum())) < FEW_DIFFER:
        size = float(np.square(clusters.items).sum()) / number
        worth = min(worth, number / (1 + ALIKE * (size - 1)))
    return worth


def _correlate_shares(clusters_a: Clusters, clusters_b: Clusters) -> float:
    """Correlate two shares over clusters, by the jackknife: less Newcombe's correction where it is positive.

    It is 0 if a share does not vary.
    """
    without = [side.share_without_each_cluster() for side in (clusters_a, clusters_b)]
    defined = ~np.isnan(without).any(axis=0)
    first, second = (shares[defined] - shares[defined].mean() if defined.any() else [] for shares in without)
    spread = float(np.sqrt(np.square(first).sum() * np.square(second).sum()))
    if spread < _ROUNDING**2:
        return 0.0
    alike = float(np.dot(first, second)) / spread
    if alike <= 0:
        return alike
    units = min(int((side.items > 0).sum()) for side in (clusters_a, clusters_b))
    vary = float(np.sqrt(np.prod([side.share * (1 - side.share) for side in (clusters_a, clusters_b)])))
    return max(0.0, alike - 1 / (2 * units * vary)) if vary > 0 else 0.0
