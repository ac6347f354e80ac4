"""Intervals of clustered shares: known values, what widens them, and how often they hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from size import size

from benchmarks.coverage_shares import beta_binomial
from genaipa.stats.shares import (
    bounded_statistic_interval,
    jackknife_half_width,
    newcombe_interval,
    share_difference_interval,
    share_interval,
)


def _clopper_pearson(held: float, number: float, level: float = 0.95) -> tuple[float, float]:
    tail = (1 - level) / 2
    low = stats.beta.ppf(tail, held, number - held + 1) if held else 0.0
    high = stats.beta.ppf(1 - tail, held + 1, number - held) if held < number else 1.0
    return float(low), float(high)


def test_an_item_a_cluster_without_a_miss_or_a_hit_is_clopper_and_pearsons() -> None:
    """10 of 10 is 69 to 100 %, as the exact test of one proportion has it, at any level."""
    for level in (0.9, 0.95, 0.99):
        for held in (0, 10):
            exact = stats.binomtest(held, 10).proportion_ci(level, method="exact")
            assert share_interval([held / 10] * 10, [1] * 10, level) == pytest.approx((exact.low, exact.high))


def test_a_known_variance_says_how_many_items_the_clusters_are_worth() -> None:
    """Ten clusters of 20, five with 5 hits and five with 15: worth p(1-p)/v, narrowed by Student's t of nine."""
    hits, items = [5, 15] * 5, [20] * 10
    without = [(100 - one) / 180 for one in hits]
    variance = 9 / 10 * sum((one - 0.5) ** 2 for one in without)
    worth = 0.25 / variance * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 9)) ** 2
    assert share_interval(hits, items) == pytest.approx(_clopper_pearson(worth / 2, worth))
    assert worth < 40, "clusters that differ so much are worth far fewer than 200 items"


def test_where_few_clusters_differ_items_are_taken_to_be_alike() -> None:
    """Five policies of 12 items without a miss are worth 60 / (1 + .2 x 11) items, and not 60."""
    worth = 60 / (1 + 0.2 * 11)
    assert share_interval([12] * 5, [12] * 5) == pytest.approx(_clopper_pearson(worth, worth))
    assert share_interval([0] * 5, [12] * 5) == pytest.approx(_clopper_pearson(0, worth))
    # Unlike sizes are alike in more items.
    assert share_interval([52, 2, 2, 2, 2], [52, 2, 2, 2, 2])[0] < share_interval([12] * 5, [12] * 5)[0]


def test_a_share_has_both_its_sides_its_order_and_its_fractions_alike() -> None:
    """Misses are hits seen from the other side; the order of clusters and one without items change nothing."""
    hits, items = [3, 9, 12.5, 7], [10, 10, 13, 7]
    low, high = share_interval(hits, items)
    misses = share_interval([n - one for one, n in zip(hits, items, strict=True)], items)
    assert misses == pytest.approx((1 - high, 1 - low))
    assert share_interval([0, *hits[::-1]], [0, *items[::-1]]) == pytest.approx((low, high))
    assert low < sum(hits) / sum(items) < high
    assert np.isnan(share_interval([3], [4])).all()
    assert np.isnan(share_interval([], [])).all()


def test_a_difference_is_never_sure_because_all_agree() -> None:
    """Two that agree everywhere have an interval around 0; what goes together is known better than what does not."""
    low, high = share_difference_interval(([12] * 5, [12] * 5), ([12] * 5, [12] * 5))
    assert low < -0.1
    assert high == pytest.approx(-low)
    items, hits = np.full(20, 10), np.arange(20) % 5 + 5
    together = share_difference_interval((hits, items), (hits - 1, items))
    apart = share_difference_interval((hits, items), ((hits - 1)[::-1], items))
    assert np.diff(together) < np.diff(apart)
    back = share_difference_interval((hits - 1, items), (hits, items))
    assert back == pytest.approx((-together[1], -together[0]))


def test_intervals_of_shares_near_an_end_hold_the_truth() -> None:
    """Of 3 to 20 policies with 12 or 30 items each and shares of .5 to .99, in 93 of 100 studies or more."""
    studies = size(small=40, soak=2000)
    for share in (0.5, 0.9, 0.97, 0.99):
        for policies in (3, 5, 8, 20):
            for alike, number in ((0.05, 30), (0.2, 12)):
                items = np.full(policies, number)
                random = np.random.default_rng([int(100 * share), policies, number])
                held = sum(
                    low <= share <= high
                    for low, high in (
                        share_interval(beta_binomial(random, share, alike, items), items) for _ in range(studies)
                    )
                )
                assert held >= studies * (0.93 - 2.5 * (0.05 / studies) ** 0.5), (share, policies, alike)


def test_independent_shares_are_joined_as_newcombe_does() -> None:
    """56 of 70 less 48 of 80: confint_proportions_2indep(56, 70, 48, 80, method="newcomb") of statsmodels 0.15.0."""
    wilson = [stats.binomtest(hits, items).proportion_ci(method="wilson") for hits, items in ((56, 70), (48, 80))]
    first, second = ((share, ci.low, ci.high) for share, ci in zip((0.8, 0.6), wilson, strict=True))
    assert newcombe_interval(first, second, 0.0) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    # The more the two go together, the surer is their difference.
    assert np.diff(newcombe_interval(first, second, 0.5)) < np.diff(newcombe_interval(first, second, 0.0))


def test_clusters_that_are_none_are_refused() -> None:
    """Unequal lengths, fewer items than none, and more that hold than there are; NaN is left out."""
    for hits, items in (([1, 2], [3]), ([1, 2], [3, -3]), ([1, 4], [3, 3])):
        with pytest.raises(ValueError, match=r"shape|below 0|more than"):
            share_interval(hits, items)
    with pytest.raises(ValueError, match="clusters"):
        share_difference_interval(([1, 2], [3, 3]), ([1], [3]))
    assert share_interval([1, 2, np.nan], [3, 3, 3]) == share_interval([1, 2], [3, 3])


def test_a_reach_of_means_is_students() -> None:
    """The jackknife's standard error of a mean is that of its values, so that the interval is Student's."""
    values = np.array([0.2, 0.5, 0.4, 0.9])
    without = (values.sum() - values) / 3
    low, high = stats.t.interval(0.9, 3, values.mean(), stats.sem(values))
    assert jackknife_half_width([5] * 4, without, 0.9) == pytest.approx((high - low) / 2)
    assert np.isnan(jackknife_half_width([5], [0.5]))


def test_a_bounded_figure_has_an_interval_on_the_odds() -> None:
    """It ends within the scale; one that never varied has that of a share of as many items."""
    low, high = bounded_statistic_interval(0.9, 0.2, [10, 10])
    slope = 0.2 / (0.9 * 0.1)
    assert (low, high) == pytest.approx(stats.logistic.cdf(stats.logistic.ppf(0.9) + np.array([-slope, slope])))
    assert bounded_statistic_interval(1.0, 0.0, [5, 5]) == pytest.approx(share_interval([5, 5], [5, 5]))
