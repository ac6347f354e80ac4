"""How sure an average is: intervals by resampling questions."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from genaipa.reports.bootstrap import LEVEL, interval, interval_of_difference

QUESTIONS = [f"Q{number}" for number in range(30)]
values = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=2, max_size=30)


def simulated(random, *, documents=5, spread=1.0):
    """Values of every question about some documents, alike within a question, around 0."""
    of_question = random.normal(0, spread, len(QUESTIONS))
    values = np.concatenate([of_question + random.normal(0, 0.3, len(QUESTIONS)) for _ in range(documents)])
    return values, QUESTIONS * documents


def test_the_interval_holds_the_truth_as_often_as_it_says():
    """Of intervals about values that are alike within their question, about 95 in 100 hold the true average."""
    random = np.random.default_rng(1)
    found = [interval(*simulated(random)) for _ in range(400)]
    assert 0.90 <= np.mean([one.low <= 0 <= one.high for one in found]) <= 0.98


def test_the_interval_is_scipy_s_of_the_questions():
    """It agrees with scipy's percentile bootstrap of the questions' averages, up to chance."""
    numbers, questions = simulated(np.random.default_rng(2))
    means = pd.Series(numbers).groupby(questions).mean().to_numpy()
    expected = stats.bootstrap(
        (means,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    found = interval(numbers, questions)
    assert found.mean == pytest.approx(means.mean())
    assert found.n == len(QUESTIONS)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.03)


def test_a_higher_level_is_wider():
    """An interval that is to be surer is wider."""
    numbers, questions = simulated(np.random.default_rng(4))
    usual, surer = interval(numbers, questions), interval(numbers, questions, level=0.99)
    assert LEVEL < 0.99
    assert surer.low < usual.low < usual.high < surer.high


def test_every_question_counts_alike():
    """A question with more documents has no more say than one with few."""
    assert interval([1.0, 1.0, 1.0, 0.0], ["a", "a", "a", "b"]).mean == 0.5


def test_the_same_values_give_the_same_interval():
    """Neither another order nor another type of column changes anything; another seed does."""
    numbers, questions = simulated(np.random.default_rng(5))
    found = interval(numbers, questions)
    order = np.random.default_rng(6).permutation(len(numbers))
    assert interval(numbers[order], np.array(questions)[order]) == found
    assert interval(pd.Series(numbers), pd.Series(questions, dtype="category")) == found
    assert interval(pd.Series(numbers), pd.Series(questions, dtype="str")) == found
    assert interval(numbers, questions, seed=1) != found


def test_absent_values_are_left_out():
    """NaN is no value, and a question that has nothing else is none."""
    numbers, questions = simulated(np.random.default_rng(7))
    assert interval([*numbers, math.nan, math.nan], [*questions, "Q1", "other"]) == interval(numbers, questions)


def test_one_question_has_an_average_and_no_interval():
    """What can't be had is NaN, for nothing and for a single question."""
    nothing, one = interval([], []), interval([0.5, 1.0], ["a", "a"])
    assert nothing.n == 0
    assert all(map(math.isnan, (nothing.mean, nothing.low, nothing.high)))
    assert (one.mean, one.n) == (0.75, 1)
    assert math.isnan(one.low)
    assert math.isnan(one.high)


@given(values)
def test_equal_values_leave_no_doubt(numbers):
    """Where all values are 0.1, the average and both ends are 0.1 exactly."""
    found = interval([0.1] * len(numbers), [*range(len(numbers))])
    assert (found.mean, found.low, found.high) == (0.1, 0.1, 0.1)


@given(values)
def test_the_interval_turns_with_the_values(numbers):
    """The interval of the negated values is the negated interval."""
    found, turned = interval(numbers, [*range(len(numbers))]), interval(np.negative(numbers), [*range(len(numbers))])
    assert (turned.mean, turned.low, turned.high) == pytest.approx((-found.mean, -found.high, -found.low), abs=1e-12)


@given(values, values)
def test_a_difference_turns_with_its_sides(ours, theirs):
    """The interval of A - B is the negated one of B - A, for independent sets too."""
    first, second = (ours, [*range(len(ours))]), (theirs, [*range(len(theirs))])
    found, turned = interval_of_difference(first, second), interval_of_difference(second, first)
    assert (turned.mean, turned.low, turned.high) == pytest.approx((-found.mean, -found.high, -found.low), abs=1e-12)
    assert found.n == min(len(ours), len(theirs))


def test_the_difference_of_independent_sets_is_scipy_s():
    """It agrees with scipy's bootstrap of two samples; sets of one size are not resampled alike."""
    random = np.random.default_rng(8)
    ours, theirs = random.normal(1, 1, 30), random.normal(0, 1, 30)
    expected = stats.bootstrap(
        (ours, theirs),
        lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis),
        n_resamples=20_000,
        method="percentile",
        rng=np.random.default_rng(9),
    ).confidence_interval
    found = interval_of_difference((ours, QUESTIONS), (theirs, QUESTIONS))
    assert found.mean == pytest.approx(ours.mean() - theirs.mean())
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.03)


def test_a_difference_without_a_side_is_absent():
    """Nothing minus something is NaN; one question on a side has no interval."""
    assert math.isnan(interval_of_difference(([], []), ([1.0], ["a"])).mean)
    one = interval_of_difference(([1.0, 0.0], ["a", "b"]), ([1.0], ["a"]))
    assert (one.mean, one.n) == (-0.5, 1)
    assert math.isnan(one.low)
