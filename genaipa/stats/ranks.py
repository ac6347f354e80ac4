"""Ranks: of values, how far two orders agree, and which ranks the differences between several things leave open."""

from __future__ import annotations

from math import atanh, nan, sqrt, tanh
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from genaipa.stats.arrays import as_labels, as_values

if TYPE_CHECKING:
    from genaipa.stats.arrays import Floats, Labels

LEAST_RANKED = 3
"""Below this many pairs of values nothing is said about their orders."""
FEW_RANKED = 4
"""Below this many, nothing is known of their correlation: the interval is from -1 to 1."""


def rank_values(values: Any) -> Floats:
    """Return the rank of each value, from 1, ties at their average: `scipy.stats` takes a second to import."""
    _, positions, often = np.unique(as_values(values), return_inverse=True, return_counts=True)
    ranks: Floats = (often.cumsum() - (often - 1) / 2)[positions]
    return ranks


def correlate_ranks_with_interval(
    first_values: Any, second_values: Any, confidence_level: float = 0.95
) -> tuple[float, float, float]:
    """Return Spearman's correlation (1904) of pairs of values, and the ends of its interval (Bonett and Wright, 2000).

    From -1 to 1 of three pairs, NaN of fewer, or where all values of a side are equal.

    >>> correlate_ranks_with_interval([1, 2, 3], [1, 2, 3])
    (1.0, -1.0, 1.0)
    """
    ours, theirs = rank_values(first_values), rank_values(second_values)
    number = len(ours)
    if len(theirs) != number:
        raise ValueError(f"the sides have {number} and {len(theirs)} values")
    if number < LEAST_RANKED or not np.ptp(ours) or not np.ptp(theirs):
        return nan, nan, nan
    rho = round(float(np.corrcoef(ours, theirs)[0, 1]), 12)
    if number < FEW_RANKED:
        return rho, -1.0, 1.0
    nearest = 1 - 12 / (number * (number**2 - 1))
    inner = max(-nearest, min(nearest, rho))
    reach = float(ndtri((1 + confidence_level) / 2)) * sqrt((1 + inner**2 / 2) / (number - 3))
    low, high = tanh(atanh(inner) - reach), tanh(atanh(inner) + reach)
    return rho, min(low, rho), max(high, rho)


def find_rank_bounds(higher_labels: Any, lower_labels: Any, item_count: int) -> tuple[Labels, Labels]:
    """Return the least and the greatest rank that each of `item_count` things may have, from 1 for the highest.

    `higher_labels` and `lower_labels` are the labels of both sides of each difference that holds. The differences are
    between all pairs of things: those that are above one for certain, and those below, are counted (Goldstein and
    Spiegelhalter, 1996).

    >>> [ranks.tolist() for ranks in find_rank_bounds([0, 0], [1, 2], 3)]
    [[1, 2, 2], [1, 3, 3]]
    """
    above, below = as_labels(higher_labels, len(higher_labels)), as_labels(lower_labels, len(higher_labels))
    if max(above.max(initial=-1), below.max(initial=-1)) >= item_count:
        raise ValueError(f"a label is {item_count} or more")
    lowest = 1 + np.bincount(below, minlength=item_count)
    greatest = item_count - np.bincount(above, minlength=item_count)
    return lowest, greatest
