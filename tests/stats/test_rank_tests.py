"""Tests of differences, compared with scipy's, and Holm's correction with values found by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from genaipa.stats.tests import (
    adjust_p_by_holm,
    count_discoveries,
    find_holm_factors,
    mann_whitney_test,
    wilcoxon_signed_rank_test,
)


def _all_ways():
    return scipy.stats.PermutationMethod(n_resamples=10_000)


averages = st.lists(st.sampled_from([-1.0, -0.5, -0.1, 0.0, 0.1, 0.5, 1.0]), max_size=12).map(np.array)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("size", [6, 8])
def test_pairs_with_ties_are_tested_exactly(seed, size):
    """With ties and zeros, p is that of trying every way to deal out the signs."""
    differences = np.random.default_rng(seed).choice([-1.0, -0.5, 0.0, 0.5, 0.5, 1.0], size=size)
    moved = differences[differences != 0]
    assert wilcoxon_signed_rank_test(differences).p == pytest.approx(
        scipy.stats.wilcoxon(moved, method=_all_ways()).pvalue
    )


@pytest.mark.parametrize("size", [20, 50])
def test_pairs_without_ties_are_tested_exactly(size):
    """Up to 50 differences, p is scipy's exact one."""
    differences = np.random.default_rng(size).normal(0.2, 1, size)
    assert wilcoxon_signed_rank_test(differences).p == pytest.approx(
        scipy.stats.wilcoxon(differences, method="exact").pvalue
    )


def test_many_pairs_are_tested_by_approximation():
    """Of more than 50 differences, p is that of the normal approximation."""
    differences = np.random.default_rng(1).choice([-1.0, 0.5, 1.0], size=200)
    assert wilcoxon_signed_rank_test(differences).p == pytest.approx(
        scipy.stats.wilcoxon(differences, method="approx").pvalue
    )


def test_the_effect_of_pairs_by_hand():
    """Ranks 1, 2 and 3.5, 3.5 with one of the latter and the first below zero: (2 + 3.5 - 1 - 3.5) / 10."""
    assert wilcoxon_signed_rank_test(np.array([-0.1, 0.2, 0.5, -0.5, 0.0])).effect == pytest.approx(0.1)


def test_what_only_rounding_tells_apart_is_equal():
    """Differences of 1e-17, which averaging leaves, are no differences, and no ranks."""
    assert wilcoxon_signed_rank_test(np.array([0.1 + 0.2 - 0.3] * 8)) == ("Wilcoxon", 1.0, 0.0)
    assert wilcoxon_signed_rank_test(np.array([0.1 + 0.2, -0.3] * 4)) == wilcoxon_signed_rank_test(
        np.array([0.3, -0.3] * 4)
    )


@pytest.mark.parametrize("seed", range(3))
def test_sets_with_ties_are_tested_exactly(seed):
    """With ties, p is that of trying every way to deal the values out."""
    random = np.random.default_rng(seed)
    ours, theirs = random.choice([0.0, 0.5, 1.0], size=5), random.choice([-1.0, 0.5, 1.0], size=4)
    assert mann_whitney_test(ours, theirs).p == pytest.approx(
        scipy.stats.mannwhitneyu(ours, theirs, method=_all_ways()).pvalue
    )


@pytest.mark.parametrize(("sizes", "method"), [((12, 15), "exact"), ((40, 30), "asymptotic")])
def test_sets_are_tested_as_scipy_does(sizes, method):
    """Without ties p is scipy's: exact up to 50 values, by approximation from there on."""
    random = np.random.default_rng(2)
    ours, theirs = random.normal(0.5, 1, sizes[0]), random.normal(0, 1, sizes[1])
    found = mann_whitney_test(ours, theirs)
    assert found.p == pytest.approx(scipy.stats.mannwhitneyu(ours, theirs, method=method).pvalue)
    above = np.mean([np.sign(our - their) for our in ours for their in theirs])
    assert found.effect == pytest.approx(above)


def test_too_few_for_a_test_are_not_tested():
    """Where no p could get below 0.05 there is no test, and an effect all the same."""
    assert wilcoxon_signed_rank_test(np.ones(5)).test == "none"
    assert wilcoxon_signed_rank_test(np.ones(6)).p == pytest.approx(2 / 2**6)
    assert math.isnan(mann_whitney_test(np.ones(3), np.zeros(3)).p)
    assert mann_whitney_test(np.ones(3), np.zeros(3)).effect == 1
    assert mann_whitney_test(np.ones(4), np.zeros(4)).p == pytest.approx(2 / 70)


def test_equal_values_do_not_differ():
    """Nothing but zeros, and sets of one value, give p 1 and effect 0."""
    assert wilcoxon_signed_rank_test(np.zeros(9)) == ("Wilcoxon", 1.0, 0.0)
    assert mann_whitney_test(np.ones(9), np.ones(7)) == ("Mann-Whitney", 1.0, 0.0)


@given(averages, averages)
def test_tests_turn_with_their_sides(ours, theirs):
    """The other way round, p is the same and the effect negated."""
    shared = min(len(ours), len(theirs))
    apart = ours[:shared] - theirs[:shared]
    pairs = [(wilcoxon_signed_rank_test(apart), wilcoxon_signed_rank_test(-apart))]
    if shared:
        pairs.append((mann_whitney_test(ours, theirs), mann_whitney_test(theirs, ours)))
    for found, turned in pairs:
        assert turned.effect == pytest.approx(-found.effect)
        assert turned.p == pytest.approx(found.p, nan_ok=True)
        assert -1 <= found.effect <= 1


def test_holm_is_that_of_r():
    """`p.adjust(c(0.01, 0.04, 0.03, NA, 0.005), "holm")` in R: times 4, times 3, times 2, never below one before."""
    p = [0.01, 0.04, 0.03, math.nan, 0.005]
    assert adjust_p_by_holm(p) == pytest.approx([0.03, 0.06, 0.06, math.nan, 0.02], nan_ok=True)
    assert find_holm_factors([0.01, 0.04, 0.03, 0.005]) == pytest.approx([3, 1.5, 2, 4])
    assert adjust_p_by_holm([0.6, 0.7]) == [1.0, 1.0]
    assert adjust_p_by_holm([]) == []


@pytest.mark.parametrize("seed", range(3))
def test_discoveries_are_scipy_s(seed):
    """As many as have an adjusted p of at most the rate by scipy's `false_discovery_control`."""
    p = np.random.default_rng(seed).beta(0.3, 3, 12)
    adjusted = scipy.stats.false_discovery_control(p, method="by")
    for rate in (0.01, 0.05, 0.2):
        assert count_discoveries([*p, math.nan], rate) == (adjusted <= rate).sum()
    assert count_discoveries([], 0.05) == 0


def test_nan_is_no_difference():
    """Values that lack are left out of both tests."""
    values = np.arange(1.0, 8)
    assert wilcoxon_signed_rank_test([*values, np.nan]) == wilcoxon_signed_rank_test(values)
    assert mann_whitney_test([*values, np.nan], values + 0.5) == mann_whitney_test(values, values + 0.5)
