"""Figures of counts against scikit-learn, and their intervals against Student's t and a simulation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from size import size

from genaipa.stats.counts import (
    ShareCountIndices,
    divide_held_by_all_counts,
    estimate_count_statistic,
    f1,
    macro_f1,
    micro_f1,
    subtract_count_statistics,
)
from genaipa.stats.shares import share_difference_interval, share_interval

RATIO = ShareCountIndices(0, 1)


def ratio(rows: np.ndarray) -> np.ndarray:
    """Return the first count of each row over the second."""
    return divide_held_by_all_counts(rows, RATIO)


def test_f1_is_that_of_scikit_learn() -> None:
    """Of `f1_score([0, 0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 0, 1, 2, 1, 1, 0, 2, 2, 1], average=…)` in version 1.9.1.

    Each label's, over all together, and their mean; of rows at once as of one.
    """
    counts = np.array([[2.0, 3, 4], [2, 4, 3], [2, 3, 3]])
    assert f1(counts) == pytest.approx([0.5714285714, 0.5714285714, 0.6666666667])
    rows = np.vstack([counts.ravel()] * 2)
    assert micro_f1(rows) == pytest.approx([0.6, 0.6])
    assert macro_f1(rows) == pytest.approx([0.6031746032, 0.6031746032])


def test_nothing_has_the_figure_of_nothing() -> None:
    """F1 of nothing is 0, a share of nothing what it is said to be, and a label that no item has is in no mean."""
    none = np.zeros((1, 3))
    assert f1(none) == [0.0]
    assert np.isnan(ratio(none))
    assert divide_held_by_all_counts(none, ShareCountIndices(0, 1, 0.0)) == [0.0]
    assert macro_f1(np.array([[2.0, 4, 4, 0, 1, 0]])) == [0.5]
    assert np.isnan(macro_f1(none))


def test_whole_counts_are_a_share() -> None:
    """A share of whole items has the interval of a share, and so has a difference of two; repetitions add nothing."""
    counts = np.array([[[9.0, 12]], [[11, 12]], [[12, 12]], [[6, 12]], [[12, 12]]])
    items, hits = np.full(5, 12.0), [9, 11, 12, 6, 12]
    made = estimate_count_statistic(counts, items, ratio, RATIO)
    assert (made.value, made.low, made.high) == (50 / 60, *share_interval(hits, items))
    assert np.isnan(made.spread)
    again = estimate_count_statistic(np.repeat(counts, 3, axis=1), 3 * items, ratio, RATIO)
    assert again == made._replace(spread=0.0)
    apart = subtract_count_statistics(counts, counts[::-1], items, ratio, RATIO)
    assert apart[1:3] == share_difference_interval((hits, items), (hits[::-1], items))
    assert (apart.value, apart.first, apart.second) == (0, 50 / 60, 50 / 60)


def test_a_figure_that_never_varies_is_as_sure_as_a_share() -> None:
    """F1 of 1 in all clusters has the interval of as many items that all hold, however often they were asked."""
    counts = np.repeat(np.full((5, 1, 3), 12.0), 4, axis=1)
    made = estimate_count_statistic(counts, np.full(5, 48.0), f1)
    assert (made.value, made.low, made.high) == (1, *share_interval([12] * 5, [12] * 5))


def test_the_jackknife_of_a_mean_is_students_t() -> None:
    """Of clusters alike in size a mean has scipy's t interval, laid off on the log odds; a difference as it is."""
    values = np.array([0.3, 0.45, 0.5, 0.62, 0.71])
    counts = np.stack([values, np.ones(5)], axis=-1)[:, None]
    made = estimate_count_statistic(counts, np.ones(5), ratio, RATIO)
    low, high = scipy.stats.t.interval(0.95, 4, values.mean(), scipy.stats.sem(values))
    spread = made.value * (1 - made.value)
    ends = scipy.special.logit(made.value) + np.array([low - made.value, high - made.value]) / spread
    assert (made.low, made.high) == pytest.approx(tuple(scipy.special.expit(ends)))
    none = counts * [0, 1]
    assert subtract_count_statistics(counts, none, np.ones(5), ratio)[:3] == pytest.approx((made.value, low, high))


def test_too_few_clusters_have_no_interval() -> None:
    """Two clusters, or two of three with items, say nothing of others; the figure is there."""
    counts = np.array([[[1.0, 2]], [[0.5, 2]], [[0, 0]]])
    for part in (RATIO, None):
        made = estimate_count_statistic(2 * counts, np.array([2, 2, 0]), ratio, part)
        assert made.value == 0.375
        assert np.isnan([made.low, made.high]).all()
        assert np.isnan(subtract_count_statistics(counts, counts, np.array([2, 2, 0]), ratio, part).low)


def test_wrong_arrays_are_refused() -> None:
    """Counts without repetitions, and items of other clusters."""
    for counts, items in ((np.ones((3, 2)), [1, 1, 1]), (np.ones((3, 0, 2)), [1, 1, 1]), (np.ones((3, 1, 2)), [1, 1])):
        with pytest.raises(ValueError, match=r"."):
            estimate_count_statistic(counts, np.array(items, dtype=float), ratio)


def test_f1_of_documents_that_differ_is_held() -> None:
    """In about 95 of 100 studies of 12 documents the interval holds the F1 of all documents."""
    random, studies, held = np.random.default_rng(2), size(small=150, soak=3000), 0
    truth = 2 * 0.7 / (1 + 1.0)
    for _ in range(studies):
        right = random.binomial(20, random.beta(7, 3, 12))
        counts = np.stack([right, np.full(12, 20), np.full(12, 20)], axis=-1)[:, None].astype(float)
        made = estimate_count_statistic(counts, np.full(12, 20.0), f1)
        held += made.low <= truth <= made.high
    assert size(small=0.89, soak=0.935) <= held / studies <= size(small=1, soak=0.97)


def test_no_difference_of_figures_is_beyond_one() -> None:
    """However much few clusters vary, the difference between two figures from 0 to 1 has an interval within -1 to 1."""
    first = np.array([[[21.0, 21, 28]], [[0, 0, 0]], [[0, 12, 7]], [[0, 5, 7]], [[6, 6, 10]]])
    nothing_right = first * 0 + [0, 1, 1]
    apart = subtract_count_statistics(first, nothing_right, np.ones(5), f1)
    assert (apart.low > -1, apart.high) == (True, 1.0)
    assert subtract_count_statistics(nothing_right, first, np.ones(5), f1)[1] == -1.0
