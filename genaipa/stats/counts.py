"""Figures made of counts that add up, such as F1, with intervals over clusters, such as the documents of items.

Items of one cluster are alike, so that whole clusters are left out in turn, with all their items: a jackknife (Efron
and Stein, 1981). Since counts add up, a cluster's are taken from the sums, and nothing is scored twice. A figure whose
counts are whole, a part of a whole, is a share, and any other one lies on the logarithm of its odds (`shares` has the
intervals of both). Items that were asked again are no more items.

Counts are arrays of clusters x repetitions x counts; those of F1 are (true positives, predicted, gold), of several
labels one after another.
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genaipa.stats.arrays import as_weights_or_ones
from genaipa.stats.shares import (
    Clusters,
    bounded_statistic_interval,
    jackknife_half_width,
    share_difference_interval,
    share_interval,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from genaipa.stats.arrays import Floats

LEAST_CLUSTERS = 3
"""Below this many clusters there is no interval."""


class ShareEstimate(NamedTuple):
    """A figure from 0 to 1 with its interval; NaN where there is none.

    `spread` is the population's standard deviation over repetitions, of two or more.
    """

    value: float
    low: float = nan
    high: float = nan
    spread: float = nan


class DifferenceWithInterval(NamedTuple):
    """The difference between two figures with its interval, NaN where there is none; and the two."""

    value: float
    low: float
    high: float
    first: float
    second: float


class ShareCountIndices(NamedTuple):
    """Which counts make a figure a share of whole things: those that hold, of all; and the figure over none."""

    held: int
    all: int
    over_none: float = nan


def estimate_count_statistic(
    counts_by_cluster: Floats,
    items_per_cluster: Floats,
    statistic: Callable[[Floats], Floats],
    share_indices: ShareCountIndices | None = None,
) -> ShareEstimate:
    """Estimate a figure: the mean over repetitions, with its 95 % interval over clusters.

    `items_per_cluster` are how many each cluster has, in all repetitions together. `statistic` makes figures of sums of
    counts, a row each. A figure that is `share_indices` of a whole is a share as long as its counts are whole numbers.
    """
    number = _check_counts_and_convert_items(counts_by_cluster, items_per_cluster)
    overall = statistic(counts_by_cluster.sum(axis=0))
    value = float(np.mean(overall))
    spread = float(np.std(overall)) if len(overall) > 1 else nan
    share = _share_clusters_if_counts_are_whole(counts_by_cluster, share_indices)
    if share is not None:
        enough = (share.items > 0).sum() >= LEAST_CLUSTERS
        ends = share_interval(*share) if enough else (nan, nan)
    else:
        without = _estimate_without_each_cluster(counts_by_cluster, statistic)
        enough = (~np.isnan(without[number > 0])).sum() >= LEAST_CLUSTERS
        per_cluster = number / counts_by_cluster.shape[1]
        ends = (
            bounded_statistic_interval(value, jackknife_half_width(number, without), per_cluster)
            if enough
            else (nan, nan)
        )
    if not enough:
        return ShareEstimate(value, spread=spread)
    # Of a share it is the mean over repetitions, which may differ in how many items they have.
    return ShareEstimate(value, min(ends[0], value), max(ends[1], value), spread)


def subtract_count_statistics(
    first_counts: Floats,
    second_counts: Floats,
    items_per_cluster: Floats,
    statistic: Callable[[Floats], Floats],
    share_indices: ShareCountIndices | None = None,
) -> DifferenceWithInterval:
    """Subtract the second figure from the first, of the same items; the same clusters are left out of both."""
    number = _check_counts_and_convert_items(first_counts, items_per_cluster)
    _check_counts_and_convert_items(second_counts, items_per_cluster)
    means = float(np.mean(statistic(first_counts.sum(axis=0)))), float(np.mean(statistic(second_counts.sum(axis=0))))
    value = means[0] - means[1]
    ours, theirs = (
        _share_clusters_if_counts_are_whole(first_counts, share_indices),
        _share_clusters_if_counts_are_whole(second_counts, share_indices),
    )
    if ours is not None and theirs is not None:
        enough = ((ours.items > 0) & (theirs.items > 0)).sum() >= LEAST_CLUSTERS
        ends = share_difference_interval(ours, theirs) if enough else (nan, nan)
    else:
        without = _estimate_without_each_cluster(first_counts, statistic) - _estimate_without_each_cluster(
            second_counts, statistic
        )
        enough = (~np.isnan(without[number > 0])).sum() >= LEAST_CLUSTERS
        reach = jackknife_half_width(number, without) if enough else nan
        # What shares are of, and F1, end at 0 and 1: no difference is beyond that.
        ends = max(value - reach, -1.0), min(value + reach, 1.0)
    return DifferenceWithInterval(value, *ends, *means)


def divide_held_by_all_counts(counts: Floats, share_indices: ShareCountIndices) -> Floats:
    """Return the share of each row of counts."""
    return _divide_or_default_over_zero(
        counts[..., share_indices.held], counts[..., share_indices.all], share_indices.over_none
    )


def f1(true_predicted_gold_counts: Floats) -> Floats:
    """Return F1 of each row of (true positives, predicted, gold); 0 where nothing is predicted or nothing is gold."""
    return _divide_or_default_over_zero(
        2 * true_predicted_gold_counts[..., 0],
        true_predicted_gold_counts[..., 1] + true_predicted_gold_counts[..., 2],
        0.0,
    )


def micro_f1(true_predicted_gold_counts: Floats) -> Floats:
    """Return F1 over all labels together, of each row."""
    return f1(np.stack([true_predicted_gold_counts[..., index::3].sum(axis=-1) for index in range(3)], axis=-1))


def macro_f1(true_predicted_gold_counts: Floats) -> Floats:
    """Return the mean of the labels' F1, of each row; a label that no item has is in no mean."""
    f1_by_class = np.stack(
        [
            f1(true_predicted_gold_counts[..., index : index + 3])
            for index in range(0, true_predicted_gold_counts.shape[-1], 3)
        ]
    )
    is_gold = np.moveaxis(true_predicted_gold_counts[..., 2::3], -1, 0) > 0
    return _divide_or_default_over_zero(
        (f1_by_class * is_gold).sum(axis=0), is_gold.sum(axis=0).astype(np.float64), nan
    )


def _divide_or_default_over_zero(numerator: Floats, denominator: Floats, default: float) -> Floats:
    none = denominator == 0
    return np.where(none, default, numerator / np.where(none, 1.0, denominator))


def _check_counts_and_convert_items(counts: Floats, items_per_cluster: Floats) -> Floats:
    if counts.ndim != 3:  # noqa: PLR2004 - clusters, repetitions, counts
        raise ValueError(f"counts have {counts.ndim} dimensions, not clusters, repetitions and counts")
    if not counts.shape[1]:
        raise ValueError("counts have no repetition")
    return as_weights_or_ones(items_per_cluster, len(counts))


def _estimate_without_each_cluster(counts: Floats, statistic: Callable[[Floats], Floats]) -> Floats:
    """Return the figure without each cluster in turn: the mean over repetitions."""
    other_counts = counts.sum(axis=0) - counts
    return np.asarray(np.mean([statistic(other_counts[:, index]) for index in range(counts.shape[1])], axis=0))


def _share_clusters_if_counts_are_whole(counts: Floats, share_indices: ShareCountIndices | None) -> Clusters | None:
    """Return each cluster's items that hold, and all, over repetitions; None for no share of whole things."""
    if share_indices is None or (counts != np.round(counts)).any():
        return None
    held, every = counts[:, :, share_indices.held].mean(axis=1), counts[:, :, share_indices.all].mean(axis=1)
    return Clusters(held, every) if (held <= every).all() else None
