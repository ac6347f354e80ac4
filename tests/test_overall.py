"""The overall quality of an answer, its averages and its bands."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genaipa.scoring.m_all import Bounds, average, band, m_all, m_all_negative, m_all_positive
from genaipa.scoring.rubric import METRICS, VALUES, Values

EVERY_SCORE = [Values(*values) for values in itertools.product(VALUES, repeat=5)]
a_score = st.sampled_from(EVERY_SCORE)


@pytest.mark.parametrize(
    ("typed", "overall", "positive", "negative"),
    [
        ("11111", 10.0, 5.0, 0.0),
        ("22222", 7.75, 2.5, 0.0),
        ("33333", 1.0, 0.0, -5.0),
        ("11123", 7.75, 3.5, -1.0),
        ("12333", 4.15, 1.5, -3.0),
        ("11113", 8.2, 4.0, -1.0),
    ],
)
def test_m_all_of_a_score(typed: str, overall: float, positive: float, negative: float) -> None:
    """M_all is the normalised sum of the five values, with the positive and negative points beside it."""
    values = Values.typed(typed)
    assert m_all(values) == pytest.approx(overall, abs=1e-12)
    assert m_all_positive(values) == positive
    assert m_all_negative(values) == negative


def test_m_all_is_the_papers_formula() -> None:
    """For each of the 243 possible scores M_all is (sum + 5) / 10 * 9 + 1, and the points add up to the sum."""
    for values in EVERY_SCORE:
        points = sum(values[metric] for metric in METRICS)
        assert m_all(values) == pytest.approx((points + 5) / 10 * 9 + 1, abs=1e-12)
        assert m_all_positive(values) + m_all_negative(values) == points


def test_averages_of_two_scores() -> None:
    """Each metric is averaged on its own; a -1 that another's +1 outweighs stays visible in M_all-."""
    averages = average([Values.typed("11213"), Values.typed("13221")])
    assert [averages[metric] for metric in METRICS] == [1.0, 0.0, 0.5, 0.75, 0.0]
    assert averages.m_all == pytest.approx(4.5 * 0.45 + 5.5)
    assert (averages.m_all_positive, averages.m_all_negative, averages.scores) == (3.25, -1.0, 2)


@given(st.lists(a_score, min_size=1, max_size=30))
def test_averages_agree_with_the_scores(scores: list[Values]) -> None:
    """M_all of the averages is the average of M_all, and its positive and negative points add up to the five."""
    averages = average(scores)
    assert averages.m_all == pytest.approx(sum(map(m_all, scores)) / len(scores), abs=1e-9)
    points = averages.m_all_positive + averages.m_all_negative
    assert points == pytest.approx(sum(averages[metric] for metric in METRICS), abs=1e-9)


def test_no_score_has_no_average() -> None:
    """Where nothing was scored there is no average, rather than a zero."""
    with pytest.raises(ValueError, match="no score"):
        average([])


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, "Green"), (0.5, "Green"), (0.4999, "Yellow"), (0.25, "Yellow"), (0, "Yellow"), (-0.0001, "Red"), (-1, "Red")],
)
def test_bands_of_an_average(value: float, expected: str) -> None:
    """Green begins at +0.5 and Red just below 0; M_all has the same bands at 7.75 and 5.5."""
    assert band(value, Bounds()) == expected
    assert band(4.5 * value + 5.5, Bounds().overall) == expected


def test_bounds_of_m_all() -> None:
    """The bounds of M_all follow from those of a metric, and a reader is told both."""
    assert Bounds().overall == Bounds(green=7.75, red=5.5)
    stricter = Bounds(green=0.6, red=-0.2)
    assert (stricter.overall.green, stricter.overall.red) == pytest.approx((8.2, 4.6))
    assert stricter.in_words == "Green from 0.6 (M_all 8.2) up, Red below -0.2 (M_all 4.6), Yellow between"


@given(st.lists(a_score, min_size=1, max_size=30))
def test_bands_are_exact(scores: list[Values]) -> None:
    """However many scores are averaged, rounding moves none over a bound."""
    averages, bounds = average(scores), Bounds()
    exact = {metric: Fraction(sum(values[metric] for values in scores)) / len(scores) for metric in METRICS}
    for metric in METRICS:
        assert band(averages[metric], bounds) == band(exact[metric], bounds)
    assert band(averages.m_all, bounds.overall) == band(sum(exact.values()) / 5, bounds)


@pytest.mark.parametrize(("green", "red"), [(0.0, 0.5), (float("nan"), 0.0)])
def test_bounds_that_cross_are_refused(green: float, red: float) -> None:
    """Bounds by which an average would be Green and Red at once are refused."""
    with pytest.raises(ValueError, match="where Green begins"):
        Bounds(green, red)
