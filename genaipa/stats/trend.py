"""The slope of values on their place in an order, within those that can be compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from genaipa.stats.arrays import as_values
from genaipa.stats.intervals import CrossedMean, estimate_mean


def estimate_slope_on_places(
    value_deviations: Any, place_deviations: Any, question_labels: Any, document_labels: Any
) -> CrossedMean:
    """Estimate the slope of values on their places, over questions of means over documents, with its intervals.

    Both are deviations from the means of those that they are compared with, such as the answers to the same question:
    regression within groups (Wooldridge, 2010, Econometric Analysis of Cross Section and Panel Data, section 10.5).
    The labels are as in `estimate_mean`. What each value adds to the slope is what varies.

    >>> slope = estimate_slope_on_places([-1, 1, -3, 3, -2, 2], [-1, 1] * 3, [0, 0, 1, 1, 2, 2], [0, 1] * 3)
    >>> slope.mean, round(slope.low, 2), round(slope.high, 2)
    (2.0, -0.9, 4.9)
    """
    value, positions = as_values(value_deviations), as_values(place_deviations)
    if len(value) != len(positions):
        raise ValueError(f"there are {len(value)} values and {len(positions)} places")
    moved = estimate_mean(positions**2, question_labels, document_labels).mean
    slope = estimate_mean(positions * value, question_labels, document_labels).mean / moved if moved else np.nan
    residual = value - slope * positions
    return (
        estimate_mean(slope + positions * residual / moved, question_labels, document_labels)
        if moved
        else estimate_mean([], [], [])
    )
