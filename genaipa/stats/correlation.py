"""Correlation of values that come in clusters, such as those of one question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from genaipa.stats.arrays import as_labels, as_values, renumber_labels
from genaipa.stats.reason import Reason

if TYPE_CHECKING:
    from genaipa.stats.arrays import Floats

LEVEL = 0.95
_FEWEST = 5
"""Clusters below which a correlation has no interval."""
_ROUNDING = 1e-9
"""Sums of squares up to this are errors of rounding."""


class Correlation(NamedTuple):
    """Pearson's r with the ends of its interval; NaN where there is none, and `reason` tells what the data lack."""

    r: float
    low: float = np.nan
    high: float = np.nan
    reason: Reason = Reason.NONE


def correlate_clustered_values(first_values: Any, second_values: Any, cluster_labels: Any) -> Correlation:
    """Correlate two columns of values (Pearson), with an interval for other clusters, such as questions.

    The interval is a jackknife over clusters on Fisher's scale (1921, Metron 1, 3-32), with Student's t.

    >>> found = correlate_clustered_values([1, 2, 3, 4, 5, 6], [1, 2, 4, 3, 6, 5], [0, 1, 2, 3, 4, 5])
    >>> round(found.r, 3), round(found.low, 3), round(found.high, 3)
    (0.886, 0.392, 0.983)
    """
    x, y = as_values(first_values), as_values(second_values)
    if len(x) != len(y):
        raise ValueError(f"the columns have {len(x)} and {len(y)} values")
    cluster_numbers = as_labels(cluster_labels, len(x))
    present = ~np.isnan(x + y)
    x, y, cluster_numbers = x[present], y[present], renumber_labels(cluster_numbers[present])
    if not len(x):
        return Correlation(np.nan, reason=Reason.NO_VALUE)
    x, y = x - x.mean(), y - y.mean()
    parts = (np.ones_like(x), x, y, x**2, y**2, x * y)
    sums = np.array([np.bincount(cluster_numbers, part) for part in parts])
    every = sums.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = float(_pearson_correlation_from_sums(every)[0])
        n = sums.shape[1]
        z = np.arctanh(np.clip(_pearson_correlation_from_sums(every - sums), -1, 1))
    if np.isnan(r):
        return Correlation(r, reason=Reason.NOTHING_VARIES)
    if n < _FEWEST or not np.isfinite(z).all() or abs(r) >= 1:
        return Correlation(r, reason=Reason.FEW_UNITS)
    error = np.sqrt((n - 1) / n * ((z - z.mean()) ** 2).sum())
    reach = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * error
    middle = np.arctanh(r)
    return Correlation(r, float(np.tanh(middle - reach)), float(np.tanh(middle + reach)))


def _pearson_correlation_from_sums(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = sums
    # What is left of values that are all equal is an error of rounding.
    first, second = (np.where(part > _ROUNDING, part, np.nan) for part in (n * xx - x * x, n * yy - y * y))
    r: Floats = (n * xy - x * y) / np.sqrt(first * second)
    return r
