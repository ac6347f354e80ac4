"""Agreement of raters on ordinal values: Krippendorff's alpha, Gwet's AC2, their intervals, and who is lenient.

Counts are arrays (units, values) of whole numbers: how many raters gave each value to a unit. `scale` has the values in
their order. A coincidence is a pair of values that two raters gave to one unit (Krippendorff, 2011, Computing
Krippendorff's Alpha-Reliability).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from genaipa.stats.arrays import as_labels, as_table_of_counts
from genaipa.stats.reason import Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from genaipa.stats.arrays import Floats

    Counts = NDArray[np.int64]

LEVEL = 0.95
LEAST_UNITS = 10
"""Below this many units alpha has no interval: none that was tried holds the truth as often as it says."""
WIDEST = 1.75
"""An interval of alpha that is wider, of the scale's two, tells nothing."""
_FEWEST_DIFFERING = 5
"""Units to which somebody gave another value than somebody else, below which a difference of alphas is not known."""


class ScaleAgreement(NamedTuple):
    """Agreement on one scale; NaN where it is not defined, and `why` says why alpha or its interval is missing.

    `alpha` is Krippendorff's for ordinal values (1 is perfect agreement, 0 agreement by chance), `low` and `high` are
    the ends of its interval. `ac2` is Gwet's with ordinal weights, which stays high where nearly all values are equal
    and alpha falls to 0. `equal` is the share of pairs with equal values (0 to 1) and `difference` how far the two
    values of a pair are apart, both averaged over units. `commonest` is the share (0 to 1) of the commonest `value`,
    each unit counting alike.
    """

    alpha: float = np.nan
    low: float = np.nan
    high: float = np.nan
    why: Reason = Reason.NO_VALUE
    ac2: float = np.nan
    equal: float = np.nan
    difference: float = np.nan
    commonest: float = np.nan
    value: float = np.nan


class AlphaDifference(NamedTuple):
    """Alpha of a side with people, that of these people with each other, and the interval of the difference."""

    side: float
    people: float
    low: float = np.nan
    high: float = np.nan
    why: Reason = Reason.NONE


class RaterPair(NamedTuple):
    """Two raters, by their columns, on the units that both rated; their alpha comes without an interval."""

    first: int
    second: int
    units: int
    agreement: ScaleAgreement


class LeniencyAndDrift(NamedTuple):
    """A rater's mean difference from the others' mean, by metric, and its growth from the earlier half to the later.

    `drift` is over all metrics, a middle unit counts as later; NaN for fewer than two units.
    """

    by_metric: Floats
    drift: float


def measure_agreement(value_counts_by_unit: Any, scale_values: Floats, unit_of_each_row: Any = None) -> ScaleAgreement:
    """Measure the agreement of raters with each other on units that two or more of them rated.

    Where a row is a part of a unit, such as a point of an answer, `unit_of_each_row` numbers the rows' units from 0:
    the interval then leaves out whole units.

    >>> agreement = measure_agreement([[0, 0, 2], [0, 0, 2], [0, 1, 1], [2, 0, 0]], np.array([-1.0, 0.5, 1.0]))
    >>> agreement.alpha, agreement.equal, agreement.difference
    (0.75, 0.75, 0.125)
    """
    table = as_table_of_counts(value_counts_by_unit)
    if len(table) and table.sum(axis=1).min() < 2:  # noqa: PLR2004 - agreement is of two
        raise ValueError("a unit was rated by fewer than two raters")
    return _measure_agreement_by_coincidences(table, scale_values, unit_of_each_row, _count_coincidences_within_units)


def measure_agreement_between_two_sides(
    first_side_value_counts: Any, second_side_value_counts: Any, scale_values: Floats, unit_of_each_row: Any = None
) -> ScaleAgreement:
    """Measure the agreement of two sides on units that both rated; how far a side agrees with itself doesn't matter.

    Where several of a side rated a unit, each of them counts alike. With one rater on either side, it is what
    `measure_agreement` finds. `unit_of_each_row` are as there.
    """
    ours, theirs = _check_and_convert_side_counts(first_side_value_counts, second_side_value_counts)
    return _measure_agreement_by_coincidences(
        np.hstack([ours, theirs]), scale_values, unit_of_each_row, _count_coincidences_across_sides
    )


def compare_side_alpha_with_people_alpha(side_value_counts: Any, people_value_counts: Any) -> AlphaDifference:
    """Compare a side's alpha with people with these people's alpha, on units that all of them rated.

    Each has the counts (units, values) of the same units: one or more of the side, two or more of the people. The
    interval is a jackknife over these units with Student's t, wider by 1/n for few.
    """
    ours, theirs = _check_and_convert_side_counts(side_value_counts, people_value_counts)
    n = len(ours)
    pairs = (_count_coincidences_across_sides(np.hstack([ours, theirs])), _count_coincidences_within_units(theirs))
    every = [part.sum(axis=0) for part in pairs]
    alphas = AlphaDifference(float(measure_krippendorff_alpha(every[0])), float(measure_krippendorff_alpha(every[1])))
    without = np.subtract(*(measure_krippendorff_alpha(whole - part) for whole, part in zip(every, pairs, strict=True)))
    if np.isnan([alphas.side, alphas.people]).any():
        return alphas._replace(why=Reason.NOTHING_VARIES)
    # Where hardly anything differs, leaving out a unit changes nothing, and the interval would seem sure.
    differing = np.add(*pairs)[:, ~np.eye(ours.shape[1], dtype=bool)].any(axis=-1).sum()
    if n < LEAST_UNITS or np.isnan(without).any() or differing < _FEWEST_DIFFERING:
        return alphas._replace(why=Reason.FEW_UNITS)
    error = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
    reach = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * (1 + 1 / n) * error
    difference = alphas.side - alphas.people
    return alphas._replace(low=difference - reach, high=difference + reach)


def measure_agreement_of_rater_pairs(value_indices: NDArray[np.integer], scale_values: Floats) -> list[RaterPair]:
    """Compare every two raters who rated a unit in common.

    `value_indices` (units, raters) has the place in `scale_values` of each value given, -1 where there is none.
    """
    values = len(scale_values)
    units, raters = value_indices.shape
    # 32 bits count exactly up to 16 million units, in half the time.
    ratings = (value_indices[..., None] == np.arange(values)).reshape(units, raters * values).astype(np.float32)
    crossed = (ratings.T @ ratings).astype(np.float64).reshape(raters, values, raters, values)
    first, second = np.triu_indices(raters, 1)
    tables = crossed[first, :, second]
    common = tables.sum(axis=(-2, -1))
    coincidences = tables + tables.swapaxes(-2, -1)
    alphas = measure_krippendorff_alpha(coincidences)
    return [
        RaterPair(
            int(first[pair]),
            int(second[pair]),
            int(common[pair]),
            _make_scale_agreement(
                coincidences[pair] / (2 * common[pair]),
                scale_values,
                *_alpha_with_blank_interval_and_reason(float(alphas[pair])),
            ),
        )
        for pair in np.flatnonzero(common)
    ]


def compute_confusion_matrix(first_side_value_counts: Any, second_side_value_counts: Any) -> Floats:
    """Count how often the second side gave each value (across) where the first gave each (down).

    Both have counts (units, values) of the same units. Each unit counts once, divided among the values of its raters.
    """
    shares = (
        side / side.sum(axis=1, keepdims=True)
        for side in _check_and_convert_side_counts(first_side_value_counts, second_side_value_counts)
    )
    confusion: Floats = np.einsum("ap,aj->pj", *shares)
    return confusion


def measure_rater_leniency_and_drift(
    own_value_indices: NDArray[np.integer], value_counts_of_all_raters: Counts, scale_values: Floats
) -> LeniencyAndDrift:
    """Measure by how much a rater's values are above the mean of the others', and how that grew.

    `own_value_indices` (units, metrics) has the place in `scale_values` of the rater's values, in the order of time,
    and `value_counts_of_all_raters` (units, metrics, values) those of all raters, this one among them and two or more a
    unit.
    """
    values = scale_values[own_value_indices]
    sums, numbers = value_counts_of_all_raters @ scale_values, value_counts_of_all_raters.sum(axis=-1)
    differences = values - (sums - values) / (numbers - 1)
    half = len(differences) // 2
    drift = float(differences[half:].mean() - differences[:half].mean()) if half else np.nan
    return LeniencyAndDrift(differences.mean(axis=0), drift)


def measure_krippendorff_alpha(coincidence_matrices: Floats) -> Floats:
    """Measure Krippendorff's alpha of each matrix of coincidences (..., values, values); NaN where nothing varies.

    The ordinal distance of two values is that of their mean ranks among all values given, squared.
    """
    totals = coincidence_matrices.sum(axis=-1)
    mean_rank = totals.cumsum(axis=-1) - totals / 2
    distances = (mean_rank[..., :, None] - mean_rank[..., None, :]) ** 2
    observed = (coincidence_matrices * distances).sum(axis=(-2, -1)) * (totals.sum(axis=-1) - 1)
    expected = (totals[..., :, None] * totals[..., None, :] * distances).sum(axis=(-2, -1))
    alphas: Floats = 1 - np.divide(observed, expected, out=np.full(expected.shape, np.nan), where=expected > 0)
    return alphas


def measure_gwet_ac2(value_pair_shares: Floats) -> float:
    """Measure Gwet's AC2 of shares of pairs (values, values; 1 in sum), with his ordinal weights.

    A weight is by how many pairs of values a pair of values encloses (Gwet, 2008, British Journal of Mathematical and
    Statistical Psychology 61; weights and several raters as in his Handbook, 2014).
    """
    if (values := len(value_pair_shares)) == 1:
        return 1.0
    steps = np.abs(np.subtract.outer(np.arange(values), np.arange(values)))
    weights = 1 - (steps + 1) * steps / (values * (values - 1))
    shares = value_pair_shares.sum(axis=0)
    expected = weights.sum() / (values * (values - 1)) * (shares * (1 - shares)).sum()
    return float(((value_pair_shares * weights).sum() - expected) / (1 - expected))


def _check_and_convert_side_counts(first_side_value_counts: Any, second_side_value_counts: Any) -> list[Counts]:
    sides = [as_table_of_counts(side) for side in (first_side_value_counts, second_side_value_counts)]
    if sides[0].shape != sides[1].shape:
        raise ValueError(f"the sides' counts have the shapes {sides[0].shape} and {sides[1].shape}")
    if len(sides[0]) and not all(side.any(axis=1).all() for side in sides):
        raise ValueError("a unit was not rated by both sides")
    return sides


def _measure_agreement_by_coincidences(
    value_counts_by_unit: Counts,
    scale_values: Floats,
    unit_of_each_row: Any,
    count_coincidences: Callable[[Counts], Floats],
) -> ScaleAgreement:
    """Measure the agreement of units by the coincidences that `count_coincidences` makes of their counts."""
    if not len(value_counts_by_unit):
        return ScaleAgreement()
    patterns, often = (
        _find_distinct_rows_and_frequencies(value_counts_by_unit)
        if unit_of_each_row is None
        else (value_counts_by_unit, np.ones(len(value_counts_by_unit), np.int64))
    )
    coincidences = count_coincidences(patterns)
    shares = coincidences / coincidences.sum(axis=(1, 2), keepdims=True)
    pairs = np.average(shares, axis=0, weights=often)
    if unit_of_each_row is not None:
        units = as_labels(unit_of_each_row, len(value_counts_by_unit))
        whole = np.zeros((int(units.max()) + 1, *coincidences.shape[1:]))
        np.add.at(whole, units, coincidences)
        coincidences, often = whole, np.ones(len(whole), np.int64)
    return _make_scale_agreement(pairs, scale_values, *_estimate_alpha_interval_and_reason(coincidences, often))


def _find_distinct_rows_and_frequencies(value_counts_by_unit: Counts) -> tuple[Counts, Counts]:
    """Return the different rows, and how often there is each: many units share few."""
    # As one piece each, they are found quickly.
    rows = np.ascontiguousarray(value_counts_by_unit.astype(np.uint16))
    pieces = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    _, where, often = np.unique(pieces, return_index=True, return_counts=True)
    return value_counts_by_unit[where], often


def _count_coincidences_within_units(value_counts_by_unit: Counts) -> Floats:
    """Count the coincidences of each unit's ratings with one another."""
    own_pairs = value_counts_by_unit[:, :, None] * np.eye(value_counts_by_unit.shape[1], dtype=np.int64)
    coincidences: Floats = (value_counts_by_unit[:, :, None] * value_counts_by_unit[:, None, :] - own_pairs) / (
        value_counts_by_unit.sum(axis=1) - 1
    )[:, None, None]
    return coincidences


def _count_coincidences_across_sides(value_counts_of_both_sides: Counts) -> Floats:
    """Count the coincidences of each unit's ratings of one side (the former half of the columns) with the other's."""
    ours, theirs = (side / side.sum(axis=1, keepdims=True) for side in np.hsplit(value_counts_of_both_sides, 2))
    crossed = ours[:, :, None] * theirs[:, None, :]
    coincidences: Floats = crossed + crossed.swapaxes(-2, -1)
    return coincidences


def _estimate_alpha_interval_and_reason(
    coincidence_matrices: Floats, units_per_matrix: Counts
) -> tuple[float, float, float, Reason]:
    """Measure alpha of units with these coincidences, each kind of unit so often, with its interval.

    The interval is a jackknife over the units: Student's t on the logarithm of 1 - alpha (which is at most 1), wider by
    1/n for few units (`docs/method/intervals.md`).
    """
    units = int(units_per_matrix.sum())
    every = np.tensordot(units_per_matrix, coincidence_matrices, 1)
    alpha = float(measure_krippendorff_alpha(every))
    if np.isnan(alpha):
        return _alpha_with_blank_interval_and_reason(alpha)
    without = measure_krippendorff_alpha(every - coincidence_matrices)
    missing = (alpha, np.nan, np.nan, Reason.FEW_UNITS)
    if units < LEAST_UNITS or np.isnan(without).any() or max(alpha, without.max()) >= 1:
        return missing
    logarithms = np.log1p(-without)
    squares = units_per_matrix @ (logarithms - np.average(logarithms, weights=units_per_matrix)) ** 2
    error = np.sqrt(squares * (units - 1) / units)
    reach = stdtrit(units - 1, (1 + LEVEL) / 2) * (1 + 1 / units) * error
    # No alpha is below -1, which the logarithm does not know.
    low, high = (max(-1.0, float(1 - (1 - alpha) * np.exp(sign * reach))) for sign in (1, -1))
    return (alpha, low, high, Reason.NONE) if high - low <= WIDEST else missing


def _alpha_with_blank_interval_and_reason(alpha: float) -> tuple[float, float, float, Reason]:
    return alpha, np.nan, np.nan, Reason.NOTHING_VARIES if np.isnan(alpha) else Reason.NONE


def _make_scale_agreement(
    value_pair_shares: Floats, scale_values: Floats, alpha: float, low: float, high: float, reason: Reason
) -> ScaleAgreement:
    """Return all measures of the shares (values, values; 1 in sum) of the pairs of values, each unit counting alike."""
    shares = value_pair_shares.sum(axis=0)
    return ScaleAgreement(
        alpha,
        low,
        high,
        reason,
        measure_gwet_ac2(value_pair_shares),
        float(value_pair_shares.trace()),
        float((value_pair_shares * np.abs(np.subtract.outer(scale_values, scale_values))).sum()),
        float(shares.max()),
        float(scale_values[shares.argmax()]),
    )
