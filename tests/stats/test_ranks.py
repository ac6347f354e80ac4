"""Ranks and their correlation against scipy's, and the ranks that differences leave open."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy
from size import size

from genaipa.stats.ranks import correlate_ranks_with_interval, find_rank_bounds, rank_values


def test_ranks_are_scipy_s() -> None:
    """Ties at their average, also of one value and of none."""
    for values in ([3.0, 1, 3, 2, 3], [7.0], []):
        assert rank_values(values).tolist() == scipy.stats.rankdata(values).tolist()


def test_the_correlation_of_ranks_is_scipy_s() -> None:
    """With ties, too; of three pairs the interval is from -1 to 1, of many that agree it is short."""
    first, second = np.random.default_rng(1).integers(0, 6, (2, 12))
    assert correlate_ranks_with_interval(first, second)[0] == pytest.approx(
        scipy.stats.spearmanr(first, second).statistic
    )
    rho, low, high = correlate_ranks_with_interval(first, second)
    reach = 1.959963985 * np.sqrt((1 + rho**2 / 2) / 9)
    assert (low, high) == pytest.approx((np.tanh(np.arctanh(rho) - reach), np.tanh(np.arctanh(rho) + reach)))
    assert correlate_ranks_with_interval([1, 2, 3], [2, 3, 9]) == (1.0, -1.0, 1.0)
    assert np.isnan(
        [correlate_ranks_with_interval([1, 2], [1, 2]), correlate_ranks_with_interval([1, 2, 3, 4], [5, 5, 5, 5])]
    ).all()
    rho, low, high = correlate_ranks_with_interval(range(20), range(20))
    assert (rho, high) == (1.0, 1.0)
    assert 0.9 < low < 1
    with pytest.raises(ValueError, match="3 and 2 values"):
        correlate_ranks_with_interval([1, 2, 3], [1, 2])


def test_the_interval_holds_a_correlation_of_ranks() -> None:
    """In about 95 of 100 samples of 20 pairs: of normal values with r = 0.6 Spearman's is 6 asin(r / 2) / pi."""
    random, studies = np.random.default_rng(2), size(small=300, soak=5000)
    truth = 6 * np.arcsin(0.3) / np.pi
    first = random.standard_normal((studies, 20))
    second = 0.6 * first + 0.8 * random.standard_normal((studies, 20))
    ends = [correlate_ranks_with_interval(*pair)[1:] for pair in zip(first, second, strict=True)]
    held = np.mean([low <= truth <= high for low, high in ends])
    assert size(small=0.91, soak=0.94) <= held <= size(small=0.99, soak=0.97)


def test_differences_that_hold_leave_ranks() -> None:
    """Of four things the first is above all, the last below the first two, and the middle is open."""
    least, greatest = find_rank_bounds([0, 0, 0, 1], [1, 2, 3, 3], 4)
    assert [*zip(least.tolist(), greatest.tolist(), strict=True)] == [(1, 1), (2, 3), (2, 4), (3, 4)]
    assert [ranks.tolist() for ranks in find_rank_bounds([], [], 2)] == [[1, 1], [2, 2]]
    above, below = zip(*itertools.combinations(range(5), 2), strict=True)
    assert [ranks.tolist() for ranks in find_rank_bounds(above, below, 5)] == [[1, 2, 3, 4, 5]] * 2
    for wrong in (([0], [2], 2), ([0], [1, 1], 2), ([-1], [0], 2)):
        with pytest.raises(ValueError, match=r"."):
            find_rank_bounds(*wrong)
