"""Changes between two days, put together from tests and intervals that have tests of their own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from genaipa.stats.changes import estimate_reply_change
from genaipa.stats.intervals import estimate_mean
from genaipa.stats.permutation import exact_p_value, permute_texts_to_test_likeness_loss
from genaipa.stats.shares import share_difference_interval


def test_a_changed_share_has_mcnemars_p() -> None:
    """With one reply a day, p is the exact test of the pairs that differ, and the interval that of two shares."""
    first, later = np.array([0] * 9 + [1] + [1, 0] * 4), np.array([1] * 9 + [0] + [1, 0] * 4)
    cells = np.tile(np.arange(18), 2)
    change = estimate_reply_change(np.append(first, later), cells, np.arange(36) >= 18, cells, cells * 0, is_share=True)
    assert change.p == pytest.approx(stats.binomtest(1, 10).pvalue)
    assert (change.questions, change.first, change.later) == (18, pytest.approx(5 / 18), pytest.approx(13 / 18))
    assert (change.low, change.high) == share_difference_interval((later, np.ones(18)), (first, np.ones(18)))


def test_several_replies_have_fishers_p() -> None:
    """Of one question with four replies a day, it is the exact test of the table of two by two."""
    values, later = [1, 1, 1, 0, 0, 0, 0, 0], np.arange(8) >= 4
    change = estimate_reply_change(values, [0] * 8, later, [0] * 8, [0] * 8, is_share=True)
    assert change.p == pytest.approx(stats.fisher_exact([[3, 1], [0, 4]]).pvalue)
    words = [5, 5, 6, 1, 1, 1, 5, 1]
    likeness = estimate_reply_change(values, [0] * 8, later, [0] * 8, [0] * 8, is_share=True, text_labels=words)
    assert likeness.p == exact_p_value([permute_texts_to_test_likeness_loss(words[:4], words[4:])]) != change.p


def test_any_other_mean_is_over_questions() -> None:
    """Of the cells asked on both days; where all moved alike the ranks decide, and without a cell nothing does."""
    random = np.random.default_rng(2)
    cell, later = np.tile(np.arange(12), 2), np.arange(24) >= 12
    question, document = cell // 2, cell % 2
    values = random.normal(size=24) + later
    change = estimate_reply_change(values, cell, later, question, document)
    expected = estimate_mean(values[12:] - values[:12], question[:12], document[:12])
    assert change[3:] == pytest.approx((expected.mean, expected.low, expected.high, expected.p))
    more = [
        np.append(column, last)
        for column, last in zip((values, cell, later, question, document), (9, 12, 1, 6, 0), strict=True)
    ]
    assert estimate_reply_change(*more) == change
    alike = estimate_reply_change(question + 1.0 * later, cell, later, question, document)
    assert (alike.difference, alike.p) == (1.0, pytest.approx(stats.wilcoxon(np.ones(6)).pvalue))
    bounded = estimate_reply_change(values, cell, later, question, document, largest_change=0.5)
    assert (max(change.low, -0.5), min(change.high, 0.5)) == (bounded.low, bounded.high) != (change.low, change.high)
    assert estimate_reply_change([1.0, 2.0], [0, 1], [0, 1], [0, 1], [0, 0]).questions == 0
