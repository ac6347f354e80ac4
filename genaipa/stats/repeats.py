"""How far values of the same thing are from one another: pair by pair, and band by band.

Every pair of a group's values counts alike. It takes the time of a sort, for any number of values (Gini's mean
difference: David, 1968, Biometrika 55(3), 573-575).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genaipa.stats.arrays import as_flags_or_all_true, as_labels, as_values

if TYPE_CHECKING:
    from genaipa.stats.arrays import Floats, Labels


class RepeatPairDifferences(NamedTuple):
    """The values of each group, an element each; NaN where a group has no pair.

    `pairs` is their number, `change` the mean distance between the two values of a pair, `bands` the share of pairs
    (0 to 1) whose values are in other bands, and `spread` the standard deviation of a group's values.
    """

    pairs: Labels
    change: Floats
    bands: Floats
    spread: Floats


class SidePairDifferences(NamedTuple):
    """The pairs between a group's first side and its second, an element for each group; NaN where it has no pair.

    `drop` is the first side's mean less the second's; the others are as in `RepeatPairDifferences`.
    """

    pairs: Labels
    drop: Floats
    change: Floats
    bands: Floats


def compare_repeats_within_groups(values: Any, band_of_each_value: Any, group_labels: Any) -> RepeatPairDifferences:
    """Compare the values of each group with one another; each is in one of some bands, labelled from 0.

    >>> repeats = compare_repeats_within_groups([50, 60, 90], [0, 0, 1], [0, 0, 0])
    >>> [round(float(column[0]), 2) for column in repeats]
    [3.0, 26.67, 0.67, 20.82]
    """
    value, band, group = _as_checked_columns(values, band_of_each_value, group_labels)
    number = int(group.max(initial=-1)) + 1
    sums = _sum_values_and_pair_distances(value, band, group, number)
    pairs = sums.size * (sums.size - 1) // 2
    off = value - (sums.total / np.maximum(sums.size, 1))[group]
    squares = np.bincount(group, off**2, number)
    spread = np.sqrt(_divide_or_nan(squares, sums.size - 1))
    return RepeatPairDifferences(pairs, _divide_or_nan(sums.change, pairs), _divide_or_nan(sums.bands, pairs), spread)


def compare_first_to_second_side_per_group(
    values: Any, band_of_each_value: Any, group_labels: Any, is_second_side: Any
) -> SidePairDifferences:
    """Compare each group's values with those of its second side, such as those of other words."""
    value, band, group = _as_checked_columns(values, band_of_each_value, group_labels)
    flags = as_flags_or_all_true(is_second_side, len(value))
    number = int(group.max(initial=-1)) + 1
    has_both, ours, theirs = (
        _sum_values_and_pair_distances(value[side], band[side], group[side], number)
        for side in (flags | True, ~flags, flags)
    )
    pairs = ours.size * theirs.size
    drop = _divide_or_nan(ours.total, ours.size) - _divide_or_nan(theirs.total, theirs.size)
    change, apart = has_both.change - (ours.change + theirs.change), has_both.bands - (ours.bands + theirs.bands)
    return SidePairDifferences(
        pairs, np.where(pairs > 0, drop, np.nan), _divide_or_nan(change, pairs), _divide_or_nan(apart, pairs)
    )


class _PairSums(NamedTuple):
    """Of each group: how many values, their sum, and sums over its pairs of their distance and of other bands."""

    size: Labels
    total: Floats
    change: Floats
    bands: Floats


def _as_checked_columns(values: Any, band_of_each_value: Any, group_labels: Any) -> tuple[Floats, Labels, Labels]:
    value = as_values(values)
    if np.isnan(value).any():
        raise ValueError("a value is NaN")
    return value, as_labels(band_of_each_value, len(value)), as_labels(group_labels, len(value))


def _sum_values_and_pair_distances(value: Floats, band: Labels, group: Labels, group_count: int) -> _PairSums:
    order = np.lexsort((value, group))
    value, band, group = value[order], band[order], group[order]
    size = np.bincount(group, minlength=group_count)
    below = np.arange(len(group)) - (np.cumsum(size) - size)[group]
    total: Any = np.bincount(group, value, minlength=group_count)
    change: Any = np.bincount(group, (2 * below - size[group] + 1) * value, minlength=group_count)
    kinds = int(band.max(initial=0)) + 1
    alike = np.bincount(group * kinds + band, minlength=group_count * kinds).reshape(group_count, kinds) ** 2
    return _PairSums(size, total, change, (size**2 - alike.sum(axis=1)) / 2)


def _divide_or_nan(sums: Any, divisors: Labels) -> Floats:
    quotient: Floats = np.divide(sums, divisors, out=np.full(len(sums), np.nan), where=divisors > 0)
    return quotient
