"""The difference between two shares of the same questions, where few questions tell them apart."""

from __future__ import annotations

import math

import numpy as np
import pytest
from size import size

from genaipa.stats.intervals import estimate_mean
from genaipa.stats.paired_shares import FEW, subtract_paired_shares


def pairs(both: int, first: int, second: int, neither: int) -> tuple[list[int], ...]:
    """So many questions that hold of both systems, of one, of none; about one document."""
    kinds = [(1, 1)] * both + [(1, 0)] * first + [(0, 1)] * second + [(0, 0)] * neither
    ours, theirs = ([kind[side] for kind in kinds] for side in (0, 1))
    return ours, theirs, [*range(len(kinds))], [0] * len(kinds)


@pytest.mark.parametrize("counts", [(0, 6, 1, 1), (1, 5, 0, 2), (0, 7, 1, 0), (2, 3, 0, 1), (0, 1, 0, 5), (4, 0, 4, 0)])
def test_a_few_questions_tell_something(counts: tuple[int, int, int, int]) -> None:
    """The interval leaves out a good part of the scale, holds the difference, and p belongs to it."""
    found = subtract_paired_shares(*pairs(*counts))
    assert -1 <= found.low < found.mean < found.high <= 1
    assert found.high - found.low < 1.6
    assert (found.p < 0.05) == (found.low > 0 or found.high < 0)


def test_equal_shares_have_an_interval_and_no_difference() -> None:
    """That neither erred in twenty questions does not say that neither ever will."""
    found = subtract_paired_shares(*pairs(0, 0, 0, 20))
    assert (found.mean, found.p) == (0.0, pytest.approx(1.0))
    assert found.low == pytest.approx(-found.high)
    assert 0 < found.high < 0.25


def test_the_other_way_round_it_is_the_same() -> None:
    """One system less the other is minus the other less the one."""
    ours, theirs, *places = pairs(1, 6, 1, 4)
    one, other = subtract_paired_shares(ours, theirs, *places), subtract_paired_shares(theirs, ours, *places)
    assert (one.low, one.high, one.p) == pytest.approx((-other.high, -other.low, other.p))


def test_where_many_questions_tell_it_is_as_of_any_other_average() -> None:
    """From ten on Student's t holds what it says, for these documents and for policies."""
    ours, theirs, questions, documents = pairs(5, FEW - 2, 2, 5)
    apart = np.subtract(ours, theirs)
    assert subtract_paired_shares(ours, theirs, questions, documents) == estimate_mean(
        apart, questions, documents, limits=(-1, 1)
    )


def test_one_question_says_nothing() -> None:
    """It has no interval, as everywhere."""
    assert math.isnan(subtract_paired_shares([1], [0], [0], [0]).low)


def test_for_policies_it_is_never_the_surer_one() -> None:
    """With three documents its interval holds that for these documents."""
    random = np.random.default_rng(1)
    questions, documents = np.repeat(np.arange(8), 3), np.tile(np.arange(3), 8)
    ours, theirs = (random.random((2, 24)) < [[0.4], [0.35]]).astype(float)
    found = subtract_paired_shares(ours, theirs, questions, documents)
    if not math.isnan(found.policies_low):
        assert found.policies_low <= found.low < found.high <= found.policies_high
        assert found.policies_p >= found.p


@pytest.mark.parametrize(("number", "first", "second"), [(8, 0.75, 0.12), (8, 0.5, 0.5), (23, 0.1, 0.02)])
def test_the_interval_holds_the_truth(number: int, first: float, second: float) -> None:
    """Of small studies nine in ten at least, and 95 of 100 in many; alike systems differ in 5 of 100 at most."""
    random, studies = np.random.default_rng(7), size(small=40, soak=1000)
    places = np.arange(number), np.zeros(number, int)
    held = false = 0
    for _ in range(studies):
        draws = random.random((2, number)) < [[first], [second]]
        found = subtract_paired_shares(*draws.astype(float), *places)
        held += found.low <= first - second <= found.high
        false += first == second and found.p < 0.05
    assert held >= size(small=0.9, soak=0.945) * studies
    assert false <= size(small=0.1, soak=0.05) * studies
