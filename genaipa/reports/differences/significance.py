"""Whether a difference may be chance: tests of pairs and of independent sets, each with its effect size.

What is handed over are questions, which are independent of each other, and not the scores behind them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

OVERALL = "M_all*10"
SIGNIFICANT = 0.05
"""An adjusted p below this is taken for more than chance."""
_LEAST_WRITTEN = 0.001
_LEAST_WAYS = 40
"""Below this many ways for chance to deal out signs or sides, no two-sided p gets below 0.05, which is 2 of 40."""
_EXACT = 50
"""Up to this many values, all the ways are counted; from there on, the normal approximation is as good."""
_DIGITS = 9
"""Decimals to which averages are the same: sums of halves, divided by threes and fives, are not so exactly."""


def written(p: float) -> str:
    """A p as sentences have it: to two digits, or as below the smallest one that is written."""
    return f"p < {_LEAST_WRITTEN}" if p < _LEAST_WRITTEN else f"p = {p:.2g}"


class Tested(NamedTuple):
    """A test's name, its two-sided p (NaN without a test), and the effect size, from -1 to 1: above 0 is higher."""

    test: Literal["Wilcoxon", "Mann-Whitney", "t", "none"]
    p: float
    effect: float


def paired(differences: Floats) -> Tested:
    """Wilcoxon's signed-rank test, with the matched-pairs rank-biserial correlation; zeros are left out of both.

    No test is made of fewer than six differences: none could be significant. If all of six or more are zero, p
    is 1. The effect of zeros alone is 0.
    """
    rounded = differences.round(_DIGITS)
    moved = rounded[rounded != 0]
    ranks = _ranks(np.abs(moved))
    effect = float((ranks * np.sign(moved)).sum() / ranks.sum()) if len(moved) else 0.0
    if 2 ** len(rounded) < _LEAST_WAYS:
        return Tested("none", math.nan, effect)
    if len(moved) > _EXACT:
        from scipy import stats

        return Tested("Wilcoxon", float(stats.wilcoxon(moved, method="asymptotic").pvalue), effect)
    # Ranks of ties end in .5. The ways to a sum of positive ranks: each rank is added, or it is not.
    twice = (2 * ranks).astype(int)
    ways = np.zeros(twice.sum() + 1)
    ways[0] = 1
    for rank in twice:
        ways[rank:] += ways[:-rank].copy()
    return Tested("Wilcoxon", _two_sided(ways, twice[moved > 0].sum()), effect)


def unpaired(first: Floats, second: Floats) -> Tested:
    """The Mann-Whitney U test of two independent sets, with Cliff's delta.

    No test is made of so few values that no difference could be significant. If all are equal, p is 1.
    """
    ours, theirs = first.round(_DIGITS), second.round(_DIGITS)
    effect = float(np.sign(ours[:, None] - theirs).mean())
    ways = math.comb(len(ours) + len(theirs), len(ours))
    if ways < _LEAST_WAYS:
        return Tested("none", math.nan, effect)
    if np.ptp(np.concatenate([ours, theirs])) == 0:
        return Tested("Mann-Whitney", 1.0, effect)
    if len(ours) + len(theirs) > _EXACT:
        from scipy import stats

        return Tested("Mann-Whitney", float(stats.mannwhitneyu(ours, theirs, method="asymptotic").pvalue), effect)
    # As above, by how many of the ranks are ours.
    twice = (2 * _ranks(np.concatenate([ours, theirs]))).astype(int)
    dealt = np.zeros((len(ours) + 1, twice.sum() + 1))
    dealt[0, 0] = 1
    for rank in twice:
        dealt[1:, rank:] += dealt[:-1, :-rank].copy()
    return Tested("Mann-Whitney", _two_sided(dealt[-1], twice[: len(ours)].sum()), effect)


def _ranks(values: Floats) -> Floats:
    """The rank of each value, ties at their average: as `scipy.stats` does it, which takes long to import."""
    _, place, often = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (often.cumsum() - (often - 1) / 2)[place]
    return ranks


def _two_sided(ways: Floats, at: int) -> float:
    """The chance of what was found at a place, or more extreme, in either direction."""
    return float(min(1.0, 2 * min(ways[: at + 1].sum(), ways[at:].sum()) / ways.sum()))


def holm(p: Sequence[float]) -> list[float]:
    """The p-values adjusted for their number by Holm's method; NaN is no test, and stays."""
    tests = sorted((value, place) for place, value in enumerate(p) if not math.isnan(value))
    adjusted, least = [math.nan] * len(p), 0.0
    for before, (value, place) in enumerate(tests):
        least = max(least, min(1.0, value * (len(tests) - before)))
        adjusted[place] = least
    return adjusted
