"""The exact tests of changed shares against known values, and how often they take chance for a change."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binomtest, fisher_exact
from size import size

from genaipa.stats.bisection import find_root
from genaipa.stats.permutation import (
    exact_p_value,
    permute_integers_between_sides,
    permute_reply_values,
    permute_texts_to_test_likeness_loss,
)


def test_one_reply_a_day_is_mcnemars_exact_test() -> None:
    """Only questions whose replies differ count, each like a coin."""
    for lost, won in ((0, 6), (2, 9), (5, 5), (30, 60)):
        pairs = (
            [permute_reply_values([1], [0])] * lost
            + [permute_reply_values([0], [1])] * won
            + [permute_reply_values([1], [1])] * 40
        )
        assert exact_p_value(pairs) == pytest.approx(binomtest(lost, lost + won).pvalue), (lost, won)
    assert exact_p_value([]) == exact_p_value([permute_reply_values([0.5], [0.5])]) == 1


def test_several_replies_a_day_are_fishers_exact_test() -> None:
    """One question asked again and again is one table of four numbers, whatever its replies' order."""
    for held, among, later, of in ((0, 5, 5, 5), (1, 8, 7, 8), (9, 10, 3, 10)):
        before, after = [1.0] * held + [0.0] * (among - held), [0.0] * (of - later) + [1.0] * later
        table = [[held, among - held], [later, of - later]]
        assert exact_p_value([permute_reply_values(before, after)]) == pytest.approx(fisher_exact(table).pvalue), table


def test_shares_of_shares_are_compared_without_loss() -> None:
    """Of 1/3 and 2/3 on the first day, 1 on the second, the three deals are alike but for their sum."""
    deals = permute_reply_values([1 / 3, 2 / 3], [1.0])
    assert deals.chances == {15: 1 / 3, 30: 1 / 3, 45: 1 / 3}
    assert deals.seen == 45


def test_words_are_held_against_how_often_the_first_day_agrees_with_itself() -> None:
    """A day that never repeats itself moves nothing; the chance of a deal is that of its replies."""
    assert permute_texts_to_test_likeness_loss(["a", "b"], ["c", "d"]).chances == {0: 1.0}
    same = permute_texts_to_test_likeness_loss(["a", "a"], ["b", "b"])
    assert (same.seen, same.chances[-60]) == (-60, pytest.approx(2 / 6))
    assert exact_p_value([same] * 10) == pytest.approx(2 * (1 / 3) ** 10)
    assert exact_p_value([permute_texts_to_test_likeness_loss(["a", "a"], ["a", "a"])] * 10) == 1


def test_small_p_values_keep_their_digits_and_many_questions_are_fast() -> None:
    """400 questions that all changed have the p of 400 coins, and fractions of all kinds are one sum."""
    assert exact_p_value([permute_reply_values([0], [1])] * 400) == pytest.approx(2 * 0.5**400, rel=1e-6)
    random = np.random.default_rng(0)
    many = [
        permute_reply_values(list(random.random(2)), list(random.random(3))) for _ in range(size(small=40, soak=400))
    ]
    assert 0 < exact_p_value(many) <= 1


def test_an_unchanged_rare_share_seldom_seems_changed() -> None:
    """P is at most .05 in 5 of 100 studies, and at most .005 in 5 of 1,000, of rates from 1 to 50 %, however asked."""
    studies = size(small=60, soak=2000)
    for rate, before, after in ((0.01, 1, 1), (0.05, 2, 1), (0.5, 3, 2)):
        random = np.random.default_rng([int(100 * rate), before, after])
        p = np.array(
            [
                exact_p_value(
                    permute_reply_values(list(one[:before]), list(one[before:]))
                    for one in (random.random((60, before + after)) < rate).astype(float)
                )
                for _ in range(studies)
            ]
        )
        for level in (0.05, 0.005):
            assert (p <= level).mean() <= level + 3 * (level / studies) ** 0.5, (rate, level)


def test_steps_are_dealt_in_all_ways() -> None:
    """The chance of each sum is that among all ways to choose as many of the values."""
    values = [0, 1, 1, 3, 4, 7]
    sums = [sum(values[place] for place in chosen) for chosen in combinations(range(6), 2)]
    chances, own = permute_integers_between_sides(values[:2], values[2:])
    assert own == 1
    assert chances == pytest.approx({each: sums.count(each) / 15 for each in sums})


def test_a_root_is_scipys() -> None:
    """Of a smooth function, and where one jumps."""
    assert find_root(lambda x: 2 - x**3, 0, 5) == pytest.approx(brentq(lambda x: 2 - x**3, 0, 5))
    assert find_root(lambda x: 1.0 if x < 0.3 else -1.0, 0, 1) == pytest.approx(0.3)
