"""Correlation in clusters, compared with scipy and numpy; the alternative annotator test, with its authors' steps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from genaipa.stats.annotators import AlternativeTestResult, run_alternative_annotator_test
from genaipa.stats.correlation import correlate_clustered_values
from genaipa.stats.reason import Reason


def test_r_is_pearsons_and_its_interval_is_clustered() -> None:
    """R is scipy's over all values; its interval leaves out clusters, and is wide where these carry it."""
    random = np.random.default_rng(0)
    values = np.repeat(random.normal(size=(2, 8)), 50, axis=1) + random.normal(0, 0.1, (2, 400))
    clusters = np.repeat(np.arange(8), 50)
    found, plain = correlate_clustered_values(*values, clusters), stats.pearsonr(*values)
    assert found.r == pytest.approx(plain.statistic)
    assert found.high - found.low > 3 * (plain.confidence_interval().high - plain.confidence_interval().low)
    without = np.array([np.arctanh(np.corrcoef(values[:, clusters != each])[0, 1]) for each in range(8)])
    reach = stats.t.ppf(0.975, 7) * (7 / 8 * ((without - without.mean()) ** 2).sum()) ** 0.5
    middle = np.arctanh(plain.statistic)
    assert (found.low, found.high) == pytest.approx((np.tanh(middle - reach), np.tanh(middle + reach)))
    gaps = np.append(values, [[np.nan], [1.0]], axis=1)
    assert correlate_clustered_values(*gaps, np.append(clusters * 2, 1)) == found


def test_what_has_no_correlation_or_no_interval_says_why() -> None:
    """What never varies has no r, few clusters and a perfect r no interval, nothing neither."""
    first, clusters = np.random.default_rng(1).normal(size=40), np.arange(40) // 10
    assert np.isnan(correlate_clustered_values(np.full(40, 9.1), first, clusters)[:3]).all()
    assert correlate_clustered_values(np.full(40, 9.1), first, clusters).reason is Reason.NOTHING_VARIES
    few = correlate_clustered_values(first, first**2, clusters)
    assert few.r == pytest.approx(stats.pearsonr(first, first**2).statistic)
    assert (np.isnan(few.low), few.reason) == (True, Reason.FEW_UNITS)
    assert correlate_clustered_values(first, 2 * first, np.arange(40)).reason is Reason.FEW_UNITS
    assert correlate_clustered_values([], [], []).reason is Reason.NO_VALUE
    with pytest.raises(ValueError, match="1 values"):
        correlate_clustered_values(first, [1.0], clusters)


def follow_authors(judge: np.ndarray, people: np.ndarray, epsilon: float) -> AlternativeTestResult:
    """Winning rate and average advantage probability as the paper defines them (section 3)."""
    p, advantages = [], []
    for person in range(len(people)):
        others = np.delete(people, person, axis=0).T
        ours, theirs = (
            [round(np.mean((value - row) ** 2) ** 0.5, 9) for value, row in zip(side, others, strict=True)]
            for side in (judge, people[person])
        )
        won = np.less_equal(ours, theirs)
        advantages.append(won.mean())
        lost = np.less_equal(theirs, ours)
        p.append(stats.ttest_1samp(lost.astype(float) - won, epsilon, alternative="less").pvalue)
    rejected = stats.false_discovery_control(p, method="by") <= 0.05
    return AlternativeTestResult(len(people), float(np.mean(rejected)), float(np.mean(advantages)))


def test_the_alternative_annotator_test_is_the_authors() -> None:
    """For judges from nearly right to nearly wrong: some win against a part of the people only."""
    random, winning = np.random.default_rng(4), set()
    for noise in (0.4, 0.6, 0.7, 0.8, 1.5):
        truth = random.normal(size=60)
        people = np.round(truth + random.normal(0, [[0.3], [0.6], [0.9]], (3, 60)))
        judge = np.round(truth + random.normal(0, noise, 60))
        found = run_alternative_annotator_test(judge, people, epsilon=0.15, false_discovery_rate=0.05)
        assert found == pytest.approx(follow_authors(judge, people, 0.15))
        winning.add(round(3 * found.winning))
    assert winning > {0, 3}


def test_people_with_too_few_units_are_not_compared() -> None:
    """Nor units that one person rated; it takes two people."""
    people = np.array([[1.0, 2, 3, 4], [1, 2, 3, np.nan], [np.nan, np.nan, np.nan, 4]])
    found = run_alternative_annotator_test(
        [1.0, 2, 3, 9], people, epsilon=0.15, false_discovery_rate=0.05, least_answers_per_person=3
    )
    assert found == (2, 0.5, 0.875)
    alone = run_alternative_annotator_test(
        [1.0, 2, 3, 9], people, epsilon=0.15, false_discovery_rate=0.05, least_answers_per_person=4
    )
    assert (alone.people, np.isnan(alone.winning)) == (1, True)
    with pytest.raises(ValueError, match="shape"):
        run_alternative_annotator_test([1.0], people, epsilon=0.15, false_discovery_rate=0.05)
