"""Agreement of raters on ordinal values: Krippendorff's alpha, Gwet's AC2, their intervals, and who is lenient.

Counts are arrays (units, values) of whole numbers: how many raters gave each value to a unit. `scale` has the values in
their order. A coincidence is a pair of values that two raters gave to one unit (Krippendorff, 2011, Computing
Krippendorff's Alpha-Reliability).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from genaipa.stats.arrays import as_counts, as_labels
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


class Leniency(NamedTuple):
    """A rater's mean difference from the others' mean, by metric, and its growth from the earlier half to the later.

    `drift` is over all metrics, a middle unit counts as later; NaN for fewer than two units.
    """

    by_metric: Floats
    drift: float


def measure_agreement(counts: Any, scale: Floats, clusters: Any = None) -> ScaleAgreement:
    """Measure the agreement of raters with each other on units that two or more of them rated.

    Where a row is a part of a unit, such as a point of an answer, `clusters` numbers the rows' units from 0: the
    interval then leaves out whole units.

    >>> agreement = measure_agreement([[0, 0, 2], [0, 0, 2], [0, 1, 1], [2, 0, 0]], np.array([-1.0, 0.5, 1.0]))
    >>> agreement.alpha, agreement.equal, agreement.difference
    (0.75, 0.75, 0.125)
    """
    table = as_counts(counts)
    if len(table) and table.sum(axis=1).min() < 2:  # noqa: PLR2004 - agreement is of two
        raise ValueError("a unit was rated by fewer than two raters")
    return _measure_agreement_by_pairs(table, scale, clusters, _count_coincidences_within_units)


def measure_side_agreement(
    first_counts: Any, second_counts: Any, scale: Floats, clusters: Any = None
) -> ScaleAgreement:
    """Measure the agreement of two sides on units that both rated; how far a side agrees with itself doesn't matter.

    Where several of a side rated a unit, each of them counts alike. With one rater on either side, it is what
    `measure_agreement` finds. `clusters` are as there.
    """
    ours, theirs = _check_and_convert_side_counts(first_counts, second_counts)
    return _measure_agreement_by_pairs(np.hstack([ours, theirs]), scale, clusters, _count_coincidences_across_sides)


def compare_alphas(side_counts: Any, people_counts: Any) -> AlphaDifference:
    """Compare a side's alpha with people with these people's alpha, on units that all of them rated.

    Each has the counts (units, values) of the same units: one or more of the side, two or more of the people. The
    interval is a jackknife over these units with Student's t, wider by 1/n for few.
    """
    ours, theirs = _check_and_convert_side_counts(side_counts, people_counts)
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


def compare_raters(ranks: NDArray[np.integer], scale: Floats) -> list[RaterPair]:
    """Compare every two raters who rated a unit in common.

    `ranks` (units, raters) has the place in `scale` of each value given, -1 where there is none.
    """
    values = len(scale)
    units, raters = ranks.shape
    # 32 bits count exactly up to 16 million units, in half the time.
    ratings = (ranks[..., None] == np.arange(values)).reshape(units, raters * values).astype(np.float32)
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
                scale,
                *_alpha_with_blank_interval_and_reason(float(alphas[pair])),
            ),
        )
        for pair in np.flatnonzero(common)
    ]


def count_confusion(first_counts: Any, second_counts: Any) -> Floats:
    """Count how often the second side gave each value (across) where the first gave each (down).

    Both have counts (units, values) of the same units. Each unit counts once, divided among the values of its raters.
    """
    shares = (
        side / side.sum(axis=1, keepdims=True) for side in _check_and_convert_side_counts(first_counts, second_counts)
    )
    confusion: Floats = np.einsum("ap,aj->pj", *shares)
    return confusion


def measure_rater_leniency_and_drift(
    own_ranks: NDArray[np.integer], counts_of_all_raters: Counts, scale: Floats
) -> Leniency:
    """Measure by how much a rater's values are above the mean of the others', and how that grew.

    `own_ranks` (units, metrics) has the place in `scale` of the rater's values, in the order of time, and `counts`
    (units, metrics, values) those of all raters, this one among them and two or more a unit.
    """
    values = scale[own_ranks]
    sums, numbers = counts_of_all_raters @ scale, counts_of_all_raters.sum(axis=-1)
    differences = values - (sums - values) / (numbers - 1)
    half = len(differences) // 2
    drift = float(differences[half:].mean() - differences[:half].mean()) if half else np.nan
    return Leniency(differences.mean(axis=0), drift)


def measure_krippendorff_alpha(coincidences: Floats) -> Floats:
    """Measure Krippendorff's alpha of each matrix of coincidences (..., values, values); NaN where nothing varies.

    The ordinal distance of two values is that of their mean ranks among all values given, squared.
    """
    totals = coincidences.sum(axis=-1)
    mean_rank = totals.cumsum(axis=-1) - totals / 2
    distances = (mean_rank[..., :, None] - mean_rank[..., None, :]) ** 2
    observed = (coincidences * distances).sum(axis=(-2, -1)) * (totals.sum(axis=-1) - 1)
    expected = (totals[..., :, None] * totals[..., None, :] * distances).sum(axis=(-2, -1))
    alphas: Floats = 1 - np.divide(observed, expected, out=np.full(expected.shape, np.nan), where=expected > 0)
    return alphas


def measure_gwet_ac2(pair_shares: Floats) -> float:
    """Measure Gwet's AC2 of shares of pairs (values, values; 1 in sum), with his ordinal weights.

    A weight is by how many pairs of values a pair of values encloses (Gwet, 2008, British Journal of Mathematical and
    Statistical Psychology 61; weights and several raters as in his Handbook, 2014).
    """
    if (values := len(pair_shares)) == 1:
        return 1.0
    steps = np.abs(np.subtract.outer(np.arange(values), np.arange(values)))
    weights = 1 - (steps + 1) * steps / (values * (values - 1))
    shares = pair_shares.sum(axis=0)
    expected = weights.sum() / (values * (values - 1)) * (shares * (1 - shares)).sum()
    return float(((pair_shares * weights).sum() - expected) / (1 - expected))


def _check_and_convert_side_counts(first_counts: Any, second_counts: Any) -> list[Counts]:
    sides = [as_counts(side) for side in (first_counts, second_counts)]
    if sides[0].shape != sides[1].shape:
        raise ValueError(f"the sides' counts have the shapes {sides[0].shape} and {sides[1].shape}")
    if len(sides[0]) and not all(side.any(axis=1).all() for side in sides):
        raise ValueError("a unit was not rated by both sides")
    return sides


def _measure_agreement_by_pairs(
    counts: Counts, scale: Floats, clusters: Any, count_coincidences: Callable[[Counts], Floats]
) -> ScaleAgreement:
    """Measure the agreement of units by the coincidences that `count_coincidences` makes of their counts."""
    if not len(counts):
        return ScaleAgreement()
    patterns, often = (
        _find_distinct_rows_and_counts(counts) if clusters is None else (counts, np.ones(len(counts), np.int64))
    )
    coincidences = count_coincidences(patterns)
    shares = coincidences / coincidences.sum(axis=(1, 2), keepdims=True)
    pairs = np.average(shares, axis=0, weights=often)
    if clusters is not None:
        units = as_labels(clusters, len(counts))
        whole = np.zeros((int(units.max()) + 1, *coincidences.shape[1:]))
        np.add.at(whole, units, coincidences)
        coincidences, often = whole, np.ones(len(whole), np.int64)
    return _make_scale_agreement(pairs, scale, *_estimate_alpha_interval_and_reason(coincidences, often))


def _find_distinct_rows_and_counts(counts: Counts) -> tuple[Counts, Counts]:
    """Return the different rows, and how often there is each: many units share few."""
    # As one piece each, they are found quickly.
    rows = np.ascontiguousarray(counts.astype(np.uint16))
    pieces = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    _, where, often = np.unique(pieces, return_index=True, return_counts=True)
    return counts[where], often


def _count_coincidences_within_units(counts: Counts) -> Floats:
    """Count the coincidences of each unit's ratings with one another."""
    own_pairs = counts[:, :, None] * np.eye(counts.shape[1], dtype=np.int64)
    coincidences: Floats = (counts[:, :, None] * counts[:, None, :] - own_pairs) / (counts.sum(axis=1) - 1)[
        :, None, None
    ]
    return coincidences


def _count_coincidences_across_sides(counts: Counts) -> Floats:
    """Count the coincidences of each unit's ratings of one side (the former half of the columns) with the other's."""
    ours, theirs = (side / side.sum(axis=1, keepdims=True) for side in np.hsplit(counts, 2))
    crossed = ours[:, :, None] * theirs[:, None, :]
    coincidences: Floats = crossed + crossed.swapaxes(-2, -1)
    return coincidences


def _estimate_alpha_interval_and_reason(
    coincidences: Floats, frequencies: Counts
) -> tuple[float, float, float, Reason]:
    """Measure alpha of units with these coincidences, each kind of unit so often, with its interval.

    The interval is a jackknife over the units: Student's t on the logarithm of 1 - alpha (which is at most 1), wider by
    1/n for few units (`docs/method/intervals.md`).
    """
    units = int(frequencies.sum())
    every = np.tensordot(frequencies, coincidences, 1)
    alpha = float(measure_krippendorff_alpha(every))
    if np.isnan(alpha):
        return _alpha_with_blank_interval_and_reason(alpha)
    without = measure_krippendorff_alpha(every - coincidences)
    missing = (alpha, np.nan, np.nan, Reason.FEW_UNITS)
    if units < LEAST_UNITS or np.isnan(without).any() or max(alpha, without.max()) >= 1:
        return missing
    logarithms = np.log1p(-without)
    squares = frequencies @ (logarithms - np.average(logarithms, weights=frequencies)) ** 2
    error = np.sqrt(squares * (units - 1) / units)
    reach = stdtrit(units - 1, (1 + LEVEL) / 2) * (1 + 1 / units) * error
    # No alpha is below -1, which the logarithm does not know.
    low, high = (max(-1.0, float(1 - (1 - alpha) * np.exp(sign * reach))) for sign in (1, -1))
    return (alpha, low, high, Reason.NONE) if high - low <= WIDEST else missing


def _alpha_with_blank_interval_and_reason(alpha: float) -> tuple[float, float, float, Reason]:
    return alpha, np.nan, np.nan, Reason.NOTHING_VARIES if np.isnan(alpha) else Reason.NONE


def _make_scale_agreement(
    pair_shares: Floats, scale: Floats, alpha: float, low: float, high: float, reason: Reason
) -> ScaleAgreement:
    """Return all measures of the shares (values, values; 1 in sum) of the pairs of values, each unit counting alike."""
    shares = pair_shares.sum(axis=0)
    return ScaleAgreement(
        alpha,
        low,
        high,
        reason,
        measure_gwet_ac2(pair_shares),
        float(pair_shares.trace()),
        float((pair_shares * np.abs(np.subtract.outer(scale, scale))).sum()),
        float(shares.max()),
        float(scale[shares.argmax()]),
    )
