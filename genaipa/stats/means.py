"""The interval of a difference between the means of two independent samples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from genaipa.stats.arrays import as_values

LEVEL = 0.95


class MeanDifference(NamedTuple):
    """The first mean less the second, with the ends of its interval; these are NaN where nothing varies."""

    difference: float
    low: float = np.nan
    high: float = np.nan


def subtract_means(first: Any, second: Any, level: float = LEVEL) -> MeanDifference:
    """Subtract the second sample's mean from the first's, whose variances may differ (Welch, 1947, Biometrika 34).

    >>> difference, low, high = subtract_means([1, 2, 3, 4], [1, 1, 2])
    >>> round(difference, 2), round(low, 2), round(high, 2)
    (1.17, -0.79, 3.12)
    """
    sides = [as_values(side) for side in (first, second)]
    difference = float(sides[0].mean() - sides[1].mean()) if all(map(len, sides)) else np.nan
    if min(map(len, sides)) < 2:  # noqa: PLR2004 - one value says nothing of its variance
        return MeanDifference(difference)
    parts = [float(side.var(ddof=1)) / len(side) for side in sides]
    squared = sum(parts)
    if not squared:
        return MeanDifference(difference)
    degrees = squared**2 / sum(part**2 / (len(side) - 1) for part, side in zip(parts, sides, strict=True))
    reach = float(stdtrit(degrees, (1 + level) / 2)) * squared**0.5
    return MeanDifference(difference, difference - reach, difference + reach)
