"""The difference of two samples' means, compared with scipy's test of unequal variances."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from scipy import stats

from genaipa.stats.means import subtract_means


def test_the_difference_of_means_is_welchs() -> None:
    """Its ends are those of `scipy.stats.ttest_ind` without equal variances, at any level."""
    random = np.random.default_rng(1)
    first, second = random.normal(1, 2, 14), random.normal(0, 0.5, 11)
    for level in (0.8, 0.95):
        expected = stats.ttest_ind(first, second, equal_var=False).confidence_interval(level)
        found = subtract_means(first, second, level)
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
        assert found.difference == pytest.approx(first.mean() - second.mean())


@pytest.mark.parametrize(("first", "second"), [([1, 1], [0, 0]), ([1], [0, 2]), ([], [0, 2])])
def test_no_interval_where_nothing_varies_or_is_known(first: list[int], second: list[int]) -> None:
    """Values that are all equal, and one alone, say nothing of others."""
    found = subtract_means(first, second)
    assert isnan(found.low)
    assert isnan(found.difference) == (not first)
