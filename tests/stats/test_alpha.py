"""Agreement of raters, compared with the krippendorff package, irrCAC and plain loops."""

from __future__ import annotations

import itertools
from math import comb, isnan
from statistics import fmean as mean

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from size import size

from genaipa.stats.agreement import (
    LEVEL,
    ScaleAgreement,
    compare_side_alpha_with_people_alpha,
    compute_confusion_matrix,
    measure_agreement,
    measure_agreement_between_two_sides,
    measure_agreement_of_rater_pairs,
    measure_gwet_ac2,
    measure_krippendorff_alpha,
    measure_rater_leniency_and_drift,
)
from genaipa.stats.reason import Reason

SCALE = np.array([-1.0, 0.5, 1.0])
Ratings = list[list[int]]
"""A row for each unit: the place in the scale of each rater's value, -1 for none."""

some_ratings = st.lists(st.lists(st.sampled_from([-1, 0, 1, 1, 2, 2]), min_size=4, max_size=4), max_size=8)


def count(ratings: Ratings) -> np.ndarray:
    """How many gave each value, of the units that two or more rated."""
    ranks = np.array(ratings, dtype=np.int8).reshape(-1, len(ratings[0]) if ratings else 4)
    counts = (ranks[..., None] == np.arange(len(SCALE))).sum(axis=1)
    return counts[counts.sum(axis=1) > 1]


def find_alpha(counts: np.ndarray) -> float:
    """What the krippendorff package finds; NaN where it can't."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(krippendorff.alpha(value_counts=counts, value_domain=SCALE, level_of_measurement="ordinal"))


def find_ac2(counts: np.ndarray) -> float:
    """Gwet's AC2 in loops: a pair weighs the less, the more pairs of values its two enclose."""
    weight = 1 - np.array([[comb(abs(a - b) + 1, 2) / comb(len(SCALE), 2) for a in range(3)] for b in range(3)])
    observed = mean(mean(weight[pair] for pair in pairs) for pairs in list_pairs(counts))
    share = (counts / counts.sum(axis=1, keepdims=True)).mean(axis=0)
    expected = weight.sum() / (len(SCALE) * (len(SCALE) - 1)) * (share * (1 - share)).sum()
    return float((observed - expected) / (1 - expected))


def list_pairs(counts: np.ndarray) -> list[list[tuple[int, int]]]:
    """Each unit's pairs of values."""
    return [list(itertools.combinations(np.repeat(np.arange(len(SCALE)), row), 2)) for row in counts]


def expect(found: ScaleAgreement, counts: np.ndarray) -> None:
    """All measures are what the package and plain loops find."""
    pairs = list_pairs(counts)
    share = (counts / counts.sum(axis=1, keepdims=True)).mean(axis=0)
    assert found.alpha == pytest.approx(find_alpha(counts), abs=1e-9, nan_ok=True)
    assert found.equal == pytest.approx(mean(mean(a == b for a, b in unit) for unit in pairs))
    assert found.difference == pytest.approx(mean(mean(abs(SCALE[a] - SCALE[b]) for a, b in unit) for unit in pairs))
    assert found.commonest == pytest.approx(share.max())
    assert share[found.value == SCALE] == pytest.approx(share.max())
    assert found.ac2 == pytest.approx(find_ac2(counts))


@given(some_ratings)
def test_measures_equal_the_package(ratings: Ratings) -> None:
    """On any data with gaps, of all raters and of every two of them as if they were the only ones."""
    counts = count(ratings)
    if not len(counts):
        assert measure_agreement(counts, SCALE).why is Reason.NO_VALUE
        return
    expect(measure_agreement(counts, SCALE), counts)
    ranks = np.array(ratings, dtype=np.int8)
    pairs = {(pair.first, pair.second): pair for pair in measure_agreement_of_rater_pairs(ranks, SCALE)}
    for pair in itertools.combinations(range(ranks.shape[1]), 2):
        own = count(ranks[:, pair].tolist())
        assert (pair in pairs) == bool(len(own))
        if len(own):
            assert pairs[pair].units == len(own)
            expect(pairs[pair].agreement, own)


def test_alpha_by_hand() -> None:
    """A small table whose alpha is worked out on paper."""
    # Coincidences: 4 of (+1, +1), 1 of (+1, +0.5) each way, 2 of (-1, -1); so 5 of +1, 1 of +0.5, 2 of -1. Mean ranks
    # from below: -1 at 1, +0.5 at 2.5, +1 at 5.5. Disagreement: 2 * 9 = 18 observed, and
    # 2 * (5 * 1 * 9 + 5 * 2 * 20.25 + 1 * 2 * 2.25) / 7 = 72 expected.
    found = measure_agreement(count([[2, 2], [2, 2], [2, 1], [0, 0]]), SCALE)
    assert (found.alpha, found.equal, found.difference) == (pytest.approx(1 - 18 / 72), 0.75, 0.125)
    assert found.why is Reason.FEW_UNITS


def test_ac2_is_irrcacs() -> None:
    """Of twelve units that four raters rated with gaps: CAC(ratings, weights="ordinal").gwet() of irrCAC 0.4.4."""
    rows = ["000-", "1121", "2222", "2222", "1111", "0122", "2222", "0010", "1111", "-220", "--00", "20-2"]
    ratings = [[-1 if digit == "-" else int(digit) for digit in row] for row in rows]
    assert measure_agreement(count(ratings), SCALE).ac2 == pytest.approx(0.527942, abs=1e-6)


def test_two_raters_are_two_sides() -> None:
    """With one rater on either side it is their agreement; a side's own agreement doesn't matter."""
    first, second = np.random.default_rng(4).integers(3, size=(2, 50))
    one = np.eye(3, dtype=np.int64)
    found = measure_agreement_between_two_sides(one[first], one[second], SCALE)
    assert found == measure_agreement(one[first] + one[second], SCALE)
    assert measure_agreement_between_two_sides(7 * one[first], one[second], SCALE) == found


def draw_counts(units: int, seed: int = 3) -> np.ndarray:
    """Draw the ratings of three raters, of whom the third left out some."""
    random = np.random.default_rng(seed)
    first = random.choice(3, units, p=(0.2, 0.3, 0.5))
    second = np.where(random.random(units) < 0.7, first, random.choice(3, units))
    third = np.where(random.random(units) < 0.6, second, -1)
    return count(np.column_stack([first, second, third]).tolist())


def test_the_interval_is_a_jackknife_over_units() -> None:
    """The interval is the one found with the package, leaving out units one by one; their order changes nothing."""
    counts = draw_counts(60)

    def logarithm(of: np.ndarray) -> float:
        return float(np.log(1 - krippendorff.alpha(value_counts=of, level_of_measurement="ordinal")))

    whole, without = logarithm(counts), [logarithm(np.delete(counts, row, 0)) for row in range(60)]
    half = stats.t.ppf((1 + LEVEL) / 2, 59) * 61 / 60 * np.std(without) * np.sqrt(59)
    found = measure_agreement(counts, SCALE)
    assert (found.low, found.high) == pytest.approx((1 - np.exp(whole + half), 1 - np.exp(whole - half)))
    again = measure_agreement(counts[::-1], SCALE)
    assert (again.low, again.high) == pytest.approx((found.low, found.high))
    assert found.why is Reason.NONE


def test_parts_of_a_unit_are_left_out_together() -> None:
    """The same rows in 20 units of three: alpha stays, and its interval leaves out three rows at a time."""
    counts, clusters = draw_counts(60), np.arange(60) // 3
    whole = np.log(1 - find_alpha(counts))
    without = [np.log(1 - find_alpha(counts[clusters != unit])) for unit in range(20)]
    half = stats.t.ppf((1 + LEVEL) / 2, 19) * 21 / 20 * np.std(without) * np.sqrt(19)
    found = measure_agreement(counts, SCALE, clusters)
    assert found.alpha == measure_agreement(counts, SCALE).alpha
    assert (found.low, found.high) == pytest.approx((1 - np.exp(whole + half), 1 - np.exp(whole - half)))


def test_the_interval_of_alpha_holds_the_truth() -> None:
    """At ten units of three raters, where a bootstrap held it in 85 of 100 studies, it does in 90 or more."""
    random = np.random.default_rng(7)

    def study(units: int) -> ScaleAgreement:
        values = random.normal(0, 1, (units, 1)) + random.normal(0, 0.9, (units, 3))
        return measure_agreement(count(np.searchsorted((-0.4, 0.4), values).tolist()), SCALE)

    truth = study(size(small=3000, soak=20_000)).alpha
    found = [study(10) for _ in range(size(small=100, soak=1000))]
    held = [one.low <= truth <= one.high for one in found if not isnan(one.low)]
    assert len(held) > 0.9 * len(found)
    assert np.mean(held) >= 0.9


@pytest.mark.parametrize(
    ("ratings", "why"),
    [
        ([[2, 0]], Reason.FEW_UNITS),
        ([[2, 2]] * 11 + [[2, 0]], Reason.FEW_UNITS),
        ([[1, 1]] * 20, Reason.NOTHING_VARIES),
    ],
)
def test_no_interval_where_too_little_varies(ratings: Ratings, why: Reason) -> None:
    """One unit, or one that differs among many equal ones, gives an alpha but no interval; and none gives neither."""
    found = measure_agreement(count(ratings), SCALE)
    assert (isnan(found.alpha), isnan(found.low), found.why) == (why is Reason.NOTHING_VARIES, True, why)
    assert found.value in SCALE[np.ravel(ratings)]


def test_a_difference_of_alphas_needs_some_that_differ() -> None:
    """Two hundred units, all alike but four: nobody knows how often the next ones would differ."""
    counts = np.zeros((200, 3), dtype=np.int64)
    counts[:, 2] = 1
    counts[:10] = [1, 0, 0]
    people = 2 * counts
    people[10:14] = [0, 1, 1]
    found = compare_side_alpha_with_people_alpha(counts, people)
    assert (isnan(found.low), found.why) == (True, Reason.FEW_UNITS)
    people[14] = [0, 1, 1]
    found = compare_side_alpha_with_people_alpha(counts, people)
    assert found.people == pytest.approx(find_alpha(people))
    assert found.low < found.side - found.people < found.high
    assert compare_side_alpha_with_people_alpha(counts[30:], 2 * counts[30:]).why is Reason.NOTHING_VARIES


@given(some_ratings)
def test_leniency_equals_plain_loops(ratings: Ratings) -> None:
    """It is the mean of own value less the others' mean; its drift is the later half's less the earlier's."""
    rows = [row for row in ratings if row[0] >= 0 and sum(value >= 0 for value in row) > 1]
    if not rows:
        return
    apart = [SCALE[row[0]] - mean(SCALE[value] for value in row[1:] if value >= 0) for row in rows]
    half = len(apart) // 2
    found = measure_rater_leniency_and_drift(np.array(rows)[:, :1], count(rows)[:, None], SCALE)
    assert found.by_metric == pytest.approx([mean(apart)])
    assert isnan(found.drift) == (not half)
    assert not half or found.drift == pytest.approx(mean(apart[half:]) - mean(apart[:half]))


def test_counts_that_are_none_are_refused() -> None:
    """Negative numbers, units of one rater, sides of unlike lengths, and labels below 0."""
    for counts in ([[-1, 3, 0]], [[1, 0, 0]], [[0.5, 1.5, 0]], [2, 0, 0]):
        with pytest.raises(ValueError, match=r"below 0|fewer than two|whole numbers|dimensions"):
            measure_agreement(counts, SCALE)
    with pytest.raises(ValueError, match="below 0"):
        measure_agreement_between_two_sides([[-1, 3, 0]], [[1, 0, 0]], SCALE)
    with pytest.raises(ValueError, match="shapes"):
        measure_agreement_between_two_sides([[1, 0, 0]], [[1, 0, 0]] * 2, SCALE)
    with pytest.raises(ValueError, match="below 0"):
        measure_agreement([[2, 0, 0]], SCALE, [-1])


def test_alpha_of_coincidences_is_the_packages() -> None:
    """Of two raters, coincidences are the pairs of each unit both ways round; several matrices at once are one each."""
    pairs = np.array([[20, 3, 1], [2, 15, 4], [0, 5, 30]])
    ratings = [(row, column) for row, column in np.ndindex(3, 3) for _ in range(pairs[row, column])]
    both = pairs + pairs.T
    alphas = measure_krippendorff_alpha(np.array([both, 2 * np.eye(3)], dtype=float))
    assert alphas == pytest.approx([find_alpha(count([list(each) for each in ratings])), 1])
    assert isnan(measure_krippendorff_alpha(np.diag([4.0, 0, 0])))


def test_ac2_of_two_values_is_gwets_ac1() -> None:
    """Between two values no weight is left: (observed - chance) / (1 - chance), chance by the shares of both."""
    pairs = np.array([[0.55, 0.10], [0.05, 0.30]])
    chance = (share := pairs.sum(axis=0)) @ (1 - share)
    assert measure_gwet_ac2(pairs) == pytest.approx((0.85 - chance) / (1 - chance))
    assert measure_gwet_ac2(np.ones((1, 1))) == 1


def test_a_unit_counts_once_in_a_confusion() -> None:
    """Whatever the number of its raters: two who differ share it."""
    first, second = np.array([[1, 0, 0], [0, 2, 0]]), np.array([[1, 1, 0], [0, 0, 3]])
    assert compute_confusion_matrix(first, second).tolist() == [[0.5, 0.5, 0], [0, 0, 1], [0, 0, 0]]
    with pytest.raises(ValueError, match="shapes"):
        compute_confusion_matrix(first, second[:1])
