"""The effect of an aid of the desk, estimated from the scores with it and those from which chance withheld it.

Chance withholds an aid from one score in five, whoever gives it and whatever it is about. So the mean outcome with the
aid less that without is its effect; it is adjusted for the analyst and the system, which takes out what these differ
by. The variance is robust and clustered by answer, corrected for leverage, with degrees of freedom by Satterthwaite
(Bell and McCaffrey, 2002), and never below that of both sides pooled. That speaks for these analysts. For others like
them the scores are also clustered by analyst (two ways: Cameron, Gelbach and Miller, 2011), where there are enough of
them to see how they differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import qr
from scipy.special import stdtr, stdtrit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEVEL = 0.95
LEAST_SCORES = 20
"""Scores with an aid, and scores without, below which nothing is said of its effect."""
LEAST_ANALYSTS = 5
"""Analysts below which nothing is said of others like them."""
_ROUNDING = 1e-9
_HIGHEST_LEVERAGE = 1 - 1e-6


class AidEffect(NamedTuple):
    """The mean outcome with an aid less that without, with the ends of its interval for these analysts, and its p.

    `others_low` and `others_high` are for analysts like these. What can't be estimated is NaN.
    """

    shown: int
    withheld: int
    difference: float = np.nan
    low: float = np.nan
    high: float = np.nan
    others_low: float = np.nan
    others_high: float = np.nan
    p: float = np.nan

    @property
    def has_too_few_scores(self) -> bool:
        """Whether there are too few scores on a side to say anything."""
        return min(self.shown, self.withheld) < LEAST_SCORES


def estimate_aid_effect(
    outcomes: Sequence[float] | Floats,
    is_shown: Sequence[bool] | NDArray[np.bool_],
    answers: Sequence[str],
    analysts: Sequence[str],
    systems: Sequence[str],
) -> AidEffect:
    """Estimate the effect of an aid on these outcomes of scores, of which each has its answer, analyst and system."""
    values, treated = np.asarray(outcomes, dtype=float), np.asarray(is_shown, dtype=float)
    counts = int(treated.sum()), int(len(treated) - treated.sum())
    if min(counts) < LEAST_SCORES:
        return AidEffect(*counts)
    groups, leverage = _make_orthonormal_basis_and_leverages(analysts, systems)
    treatment, deviations = treated - groups @ (groups.T @ treated), values - groups @ (groups.T @ values)
    squares = treatment @ treatment
    if squares < _ROUNDING:
        return AidEffect(*counts)
    difference = float(treatment @ deviations / squares)
    leverage = np.minimum(leverage + treatment**2 / squares, _HIGHEST_LEVERAGE)
    residuals = deviations - difference * treatment
    parts = treatment * residuals / np.sqrt(1 - leverage)
    by_answer, answer_count = _sum_by_cluster_and_count_clusters(answers, parts, treatment**2)
    # Where nearly all values are equal, the smaller side has too few others to know its own variance.
    pooled = _sum_squares(residuals) / (len(values) - groups.shape[1] - 1) / squares
    variance = max(_sum_squares(by_answer[0]) / squares**2, pooled)
    degrees = _satterthwaite_degrees_of_freedom(by_answer[1])
    if variance < _ROUNDING**2 or answer_count < 2:  # noqa: PLR2004 - one answer says nothing of others
        return AidEffect(*counts, difference)
    error = variance**0.5
    reach = stdtrit(degrees, (1 + LEVEL) / 2) * error
    p = float(2 * stdtr(degrees, -abs(difference) / error))
    reach_for_others = _interval_half_width_for_other_analysts(
        analysts, parts, treatment**2, squares, variance, degrees
    )
    return AidEffect(
        *counts,
        difference,
        low=difference - float(reach),
        high=difference + float(reach),
        others_low=difference - float(reach_for_others),
        others_high=difference + float(reach_for_others),
        p=p,
    )


def _make_orthonormal_basis_and_leverages(analysts: Sequence[str], systems: Sequence[str]) -> tuple[Floats, Floats]:
    """Return an orthonormal basis of what analysts and systems differ by, and each score's leverage in it."""
    indicators = []
    for names in (analysts, systems):
        codes = np.unique(np.asarray(names, dtype=str), return_inverse=True)[1]
        indicators.append(np.eye(codes.max() + 1)[codes])
    basis, triangle, _ = qr(np.hstack(indicators), mode="economic", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    basis = basis[:, sizes > _ROUNDING * sizes[0]]
    return basis, (basis**2).sum(axis=1)


def _sum_by_cluster_and_count_clusters(cluster_names: Sequence[str], *columns: Floats) -> tuple[list[Any], int]:
    distinct, codes = np.unique(np.asarray(cluster_names, dtype=str), return_inverse=True)
    return [np.bincount(codes, column) for column in columns], len(distinct)


def _sum_squares(values: Floats) -> float:
    return float(values @ values)


def _satterthwaite_degrees_of_freedom(weights: Floats) -> float:
    return max(float(weights.sum() ** 2 / (weights @ weights)) - 1, 1.0)


def _interval_half_width_for_other_analysts(
    analysts: Sequence[str],
    score_contributions: Floats,
    weights: Floats,
    treatment_sum_of_squares: float,
    variance_for_these_analysts: float,
    degrees_of_freedom: float,
) -> Any:
    """Return half of the interval for analysts like these; NaN where there are too few of them."""
    sums, count = _sum_by_cluster_and_count_clusters(analysts, score_contributions, weights)
    if count < LEAST_ANALYSTS:
        return np.nan
    between = _sum_squares(sums[0]) * count / (count - 1) - _sum_squares(score_contributions)
    wider = variance_for_these_analysts + max(between, 0.0) / treatment_sum_of_squares**2
    return stdtrit(min(degrees_of_freedom, _satterthwaite_degrees_of_freedom(sums[1])), (1 + LEVEL) / 2) * wider**0.5
