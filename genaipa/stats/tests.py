"""Tests of whether a difference may be chance, by ranks, and what many tests together make of each p value.

Values are independent of each other, such as questions. The tests by ranks are exact for few values, also with ties,
for which `scipy.stats` has no exact test; of many it has the normal approximation.
"""

from __future__ import annotations

from math import comb, isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genaipa.stats.arrays import as_values
from genaipa.stats.permutation import PermutationDistribution, exact_p_value, permute_integers_between_sides
from genaipa.stats.ranks import rank_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.stats.arrays import Floats

_LEAST_WAYS = 40
"""Below this many ways for chance to deal out signs or sides, no two-sided p gets below 0.05, which is 2 of 40."""
_EXACT = 50
"""Up to this many values, all the ways are counted; from there on, the normal approximation is as good."""
_DIGITS = 9
"""Decimals to which values are the same: sums of halves, divided by threes and fives, are not so exactly."""


class RankTest(NamedTuple):
    """A test's name (`none` without a test), its two-sided p (then NaN), and the effect size from -1 to 1.

    Above 0, the first of the two sides is higher.
    """

    test: str
    p: float
    effect: float


def wilcoxon_signed_rank_test(differences: Any) -> RankTest:
    """Test paired differences by their signed ranks (Wilcoxon, 1945); zeros are left out.

    The effect is the matched-pairs rank-biserial correlation (Kerby, 2014); that of zeros alone is 0. No test is made
    of fewer than six differences: none could be significant. If all of six or more are zero, p is 1.

    >>> wilcoxon_signed_rank_test([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    RankTest(test='Wilcoxon', p=0.03125, effect=1.0)
    """
    rounded = _drop_nan_values(differences).round(_DIGITS)
    moved = rounded[rounded != 0]
    ranks = rank_values(np.abs(moved))
    effect = float((ranks * np.sign(moved)).sum() / ranks.sum()) if len(moved) else 0.0
    if 2 ** len(rounded) < _LEAST_WAYS:
        return RankTest("none", nan, effect)
    if len(moved) > _EXACT:
        from scipy import stats

        # "asymptotic" by its name before SciPy 1.15, which later ones know, too.
        return RankTest("Wilcoxon", float(stats.wilcoxon(moved, method="approx").pvalue), effect)
    # Each rank is positive or it is not. Ranks of ties end in .5.
    deals = (
        PermutationDistribution({0: 0.5, rank: 0.5}, rank if positive else 0)
        for rank, positive in zip((2 * ranks).astype(int).tolist(), moved > 0, strict=True)
    )
    return RankTest("Wilcoxon", exact_p_value(deals), effect)


def mann_whitney_test(first_values: Any, second_values: Any) -> RankTest:
    """Test two independent sets by their ranks (Mann and Whitney, 1947), with Cliff's delta (1993) as effect.

    No test is made of so few values that no difference could be significant. If all are equal, p is 1.

    >>> mann_whitney_test([5.0, 6.0, 7.0], [1.0, 2.0, 3.0, 4.0])
    RankTest(test='none', p=nan, effect=1.0)
    """
    ours, theirs = (_drop_nan_values(side).round(_DIGITS) for side in (first_values, second_values))
    effect = float(np.sign(ours[:, None] - theirs).mean()) if len(ours) and len(theirs) else nan
    pooled = np.concatenate([ours, theirs])
    if comb(len(pooled), len(ours)) < _LEAST_WAYS:
        return RankTest("none", nan, effect)
    if np.ptp(pooled) == 0:
        return RankTest("Mann-Whitney", 1.0, effect)
    if len(pooled) > _EXACT:
        from scipy import stats

        return RankTest("Mann-Whitney", float(stats.mannwhitneyu(ours, theirs, method="asymptotic").pvalue), effect)
    twice = (2 * rank_values(pooled)).astype(int).tolist()
    return RankTest(
        "Mann-Whitney", exact_p_value([permute_integers_between_sides(twice[: len(ours)], twice[len(ours) :])]), effect
    )


def adjust_p_by_holm(p_values: Sequence[float]) -> list[float]:
    """Return the p values adjusted for their number (Holm, 1979); NaN is no test, and stays."""
    return [value if isnan(value) else min(1.0, value) for value in _adjust_p_by_holm_without_cap(p_values)]


def find_holm_factors(p_values: Sequence[float]) -> list[float]:
    """Return by how much Holm's method multiplies each p; 1 for no test.

    The interval that belongs to an adjusted p is that of 1 - level / factor: it excludes 0 exactly where the adjusted p
    is below the level. By itself it holds the truth at least as often as that of 1 - level.
    """
    return [
        adjusted / value if value > 0 else 1.0
        for value, adjusted in zip(p_values, _adjust_p_by_holm_without_cap(p_values), strict=True)
    ]


def count_discoveries(p_values: Any, false_discovery_rate: float) -> int:
    """Count the p values that hold where at most this rate of them may be false (Benjamini and Yekutieli, 2001)."""
    tests = np.sort(_drop_nan_values(p_values))
    places = np.arange(1, len(tests) + 1)
    below = tests * (len(tests) / places) * (1 / places).sum() <= false_discovery_rate
    return int(places[below].max(initial=0))


def _adjust_p_by_holm_without_cap(p_values: Sequence[float]) -> list[float]:
    """Multiply each p by the number of those that are not below it, and at least as one before it."""
    tests = sorted((value, index) for index, value in enumerate(p_values) if not isnan(value))
    adjusted, running_maximum = [nan] * len(p_values), 0.0
    for before, (value, index) in enumerate(tests):
        running_maximum = max(running_maximum, value * (len(tests) - before))
        adjusted[index] = running_maximum
    return adjusted


def _drop_nan_values(values: Any) -> Floats:
    array = as_values(values)
    return array[~np.isnan(array)]
