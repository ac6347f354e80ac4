"""A mean over groups of their means over documents, where the documents are what was drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genaipa.stats.arrays import as_labels, as_values, rank_labels
from genaipa.stats.intervals import find_interval

if TYPE_CHECKING:
    from genaipa.stats.intervals import Limits


class DocumentMean(NamedTuple):
    """A mean with the interval for other documents; NaN where there is none, and `documents` is how many there are."""

    documents: int
    mean: float
    low: float = np.nan
    high: float = np.nan


def estimate_document_mean(
    values: Any, groups: Any, documents: Any, limits: Limits | None = None, *, share: bool = False
) -> DocumentMean:
    """Estimate the mean over groups of their means over documents; a group has at most one value of each document.

    What each document adds to that mean is what varies. `limits` and `share` are as in `estimate_mean`.

    >>> mean = estimate_document_mean([1, 2, 3, 3, 4, 8], [0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2])
    >>> mean.documents, mean.mean, round(mean.low, 1), round(mean.high, 1)
    (3, 3.5, -0.6, 15.0)
    """
    value = as_values(values)
    known = ~np.isnan(value)
    group, document = (rank_labels(as_labels(labels, len(value))[known]) for labels in (groups, documents))
    value = value[known]
    if not len(value):
        return DocumentMean(0, np.nan)
    size, number = np.bincount(group), int(document.max()) + 1
    means = np.bincount(group, value) / size
    mean = float(means.mean())
    # The average of what they add is the mean itself, also where groups lack documents.
    weight = number / (size[group] * len(size))
    added = mean + np.bincount(document, weight * (value - means[group]))
    return DocumentMean(number, float(added.mean()), *find_interval(added, limits, share=share))
