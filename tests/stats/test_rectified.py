"""Estimates by people's scores of a random part and a judge's of all, and the forecast of more scores."""

from __future__ import annotations

import numpy as np
import pytest
from size import size

from genaipa.stats.forecast import Forecast, make_score_forecast
from genaipa.stats.intervals import estimate_mean
from genaipa.stats.reason import Reason
from genaipa.stats.rectified import ScoredSample, count_equivalent_people_scores, fill_missing_scores_with_group_means

QUESTIONS, DOCUMENTS = 32, 5


def population(seed=0, slips=0.3):
    """M_all of people and of a judge: questions down, documents across; questions and documents differ."""
    random = np.random.default_rng(seed)
    shape = (QUESTIONS, DOCUMENTS)
    people = (
        7 + random.normal(0, 1.5, (QUESTIONS, 1)) + random.normal(0, 0.7, (1, DOCUMENTS)) + random.normal(0, 2, shape)
    )
    return people, people + 1 + slips * random.normal(0, 3, shape)


def wave(random, each):
    """Which answers are drawn: so many of each question, at random, and one more of a part of them."""
    order = random.random((QUESTIONS, DOCUMENTS)).argsort(axis=1).argsort(axis=1)
    more = random.permutation(QUESTIONS) < (each % 1) * QUESTIONS
    return order < int(each) + more[:, None]


def drawn_of(scored):
    """A group whose cells have an answer each, and could all have been drawn."""
    cell = np.arange(scored.size)
    return ScoredSample(scored.ravel(), np.ones(scored.size, bool), cell, cell // scored.shape[1], cell * 0)


def intervals(values, known=None):
    """The average of cells, questions down and documents across, and how sure it is."""
    questions, documents = np.indices(np.shape(values))
    return estimate_mean(values.ravel(), questions.ravel(), documents.ravel(), question_has_people_scores=known)


def of_cells(z, scored):
    """The average of z, with the questions that people scored."""
    return intervals(z.reshape(scored.shape), np.repeat(scored.any(axis=1), scored.shape[1]))


@pytest.mark.parametrize("each", [1, 1.5, 3, 0.5])
def test_without_a_slope_it_is_what_people_say_alone(each):
    """At λ = 0 mean and interval for these documents are those of the scored cells, also where questions have none."""
    people, judge = population()
    scored = wave(np.random.default_rng(1), each)
    alone = intervals(np.where(scored, people, np.nan))
    found = of_cells(
        drawn_of(scored).rectify_scores(np.where(scored, people, np.nan).ravel(), judge.ravel(), 0.0), scored
    )
    assert found.mean == pytest.approx(alone.mean, abs=1e-12)
    if each < 1:  # the skewness, by which it is bent, is that of all questions
        assert found.high - found.low == pytest.approx(alone.high - alone.low, rel=0.02)
    else:
        assert (found.low, found.high, found.p) == pytest.approx((alone.low, alone.high, alone.p), abs=1e-12)


def test_with_a_perfect_judge_it_is_what_people_would_say_of_all():
    """A judge equal to people gives the mean and both intervals of a study that people scored whole."""
    people, _ = population()
    scored = wave(np.random.default_rng(1), 1)
    drawn = drawn_of(scored)
    given = np.where(scored, people, np.nan).ravel()
    assert drawn.fit_slope_or_zero_if_insignificant(given, people.ravel()) == pytest.approx(1, abs=1e-12)
    found, whole = of_cells(drawn.rectify_scores(given, people.ravel(), 1.0), scored), intervals(people)
    for name in ("mean", "low", "high", "policies_low", "policies_high", "p", "policies_p"):
        assert getattr(found, name) == pytest.approx(getattr(whole, name), abs=1e-9), name


@pytest.mark.parametrize("each", [2, 0.5])
def test_it_is_right_on_average_whatever_the_judge_is_worth(each):
    """Over the draws of one study it has no bias, with a lenient judge, a wrong slope and unscored questions."""
    people, judge = population(slips=1)
    random, found = np.random.default_rng(2), []
    for _ in range(500):
        scored = wave(random, each)
        found.append(
            drawn_of(scored).rectify_scores(np.where(scored, people, np.nan).ravel(), judge.ravel(), 0.7).mean()
        )
    assert abs(np.mean(found) - people.mean()) < 4 * np.std(found) / len(found) ** 0.5
    assert np.std(found) > 0.05


def ppi_plus_plus(people, judge, scored, *, whole):
    """Mean and standard error by the closed form of PPI++ for a mean (arXiv 2311.01453, with the λ of its section 6).

    The variance of f in λ is over what people scored, or over the `whole`, as in ppi_py.
    """
    y, f, others = people[scored], judge[scored], judge[~scored]
    spread = (judge if whole else f).var(ddof=1)
    slope = np.cov(y, f)[0, 1] / ((1 + len(f) / len(others)) * spread)
    error = np.sqrt((slope * others).var(ddof=1) / len(others) + (y - slope * f).var(ddof=1) / len(f))
    return slope * others.mean() + (y - slope * f).mean(), error


@pytest.mark.parametrize("whole", [False, True])
def test_on_independent_answers_it_is_ppi_plus_plus(whole):
    """Mean and standard error are the paper's, to the last digit with the one λ, typically within 0.1 with the other.

    A question has one answer here, so that answers are independent. The packages that have the estimator need a newer
    Python, or numba; so its formula is written out.
    """
    random, apart, widths = np.random.default_rng(3), [], []
    answers, labelled = 1000, 100
    place = np.arange(answers)
    for _ in range(size(small=100, soak=1000)):
        people = random.normal(7, 2.5, answers)
        judge = 0.8 * people + random.normal(2, 2.5, answers)
        scored = np.zeros(answers, bool)
        scored[random.permutation(answers)[:labelled]] = True
        mean, error = ppi_plus_plus(people, judge, scored, whole=whole)
        drawn = ScoredSample(scored, np.ones(answers, bool), place, place, place * 0)
        given = np.where(scored, people, np.nan)
        z = drawn.rectify_scores(given, judge, drawn.fit_slope_or_zero_if_insignificant(given, judge))
        apart.append((z.mean() - mean) / error)
        widths.append(z.std(ddof=1) / answers**0.5 / error)
    assert (np.abs(np.mean(apart)) if whole else np.abs(apart).max()) < (0.1 if whole else 1e-9)
    assert np.median(np.abs(apart)) < 0.1
    assert np.mean(widths) == pytest.approx(1, abs=0.02 if whole else 1e-5)


def test_the_slope_is_that_within_groups():
    """A judge that is lenient to one system does not tilt the slope; where it always says the same there is none."""
    random = np.random.default_rng(0)
    people = random.normal(7, 2, 200)
    place, group = np.arange(200), np.repeat([0, 1], 100)
    drawn = ScoredSample(np.ones(200, bool), np.ones(200, bool), place, place, group)
    assert drawn.fit_slope_or_zero_if_insignificant(people, 0.5 * people + 30 * group) == pytest.approx(2)
    assert drawn.fit_slope_or_zero_if_insignificant(people, -people) == 0
    assert drawn.fit_slope_or_zero_if_insignificant(people, np.full(200, 3.0)) == 0


def test_a_slope_within_its_own_error_is_none():
    """Where chance alone explains the slope, people's average stands alone; a judge that follows them has one."""
    random = np.random.default_rng(5)
    place, slopes = np.arange(64), []
    drawn = ScoredSample(np.ones(64, bool), np.ones(64, bool), place, place, place * 0)
    for _ in range(400):
        people = random.normal(7, 2, 64)
        slopes.append(
            (
                drawn.fit_slope_or_zero_if_insignificant(people, random.normal(7, 2, 64)),
                drawn.fit_slope_or_zero_if_insignificant(people, people + random.normal(0, 2, 64)),
            )
        )
    kept = (np.array(slopes) > 0).mean(axis=0)
    assert kept[0] < 0.06
    assert kept[1] == 1.0


def test_the_interval_for_these_very_answers():
    """It holds what people would have said of all 160 in 95 of 100 waves, at half the width of that for questions."""
    random, studies = np.random.default_rng(1), size(small=200, soak=2000)
    cell, held, widths = np.arange(160), 0, []
    question, group = cell // 5, cell * 0
    every = np.ones(160, bool)
    for _ in range(studies):
        people = random.normal(7, 1, 32)[question] + random.normal(0, 1, 160)
        judge = people + random.normal(0, 1, 160)
        scored = random.random((32, 5)).argsort(axis=1).ravel() < 2
        drawn, given = ScoredSample(scored, every, cell, question, group), np.where(scored, people, np.nan)
        slope = drawn.fit_slope_or_zero_if_insignificant(given, judge)
        z, half = drawn.rectify_scores(given, judge, slope), drawn.group_mean_half_width(given - slope * judge, every)
        held += abs(z.mean() - people.mean()) <= half
        wide = estimate_mean(z, question, cell % 5)
        widths.append(2 * half / (wide.high - wide.low))
    assert 0.92 <= held / studies <= 0.98
    assert np.mean(widths) < 0.5
    # Nothing is open where people scored all of them.
    whole = ScoredSample(every, every, cell, question, group)
    assert whole.group_mean_half_width(people - judge, every) == 0


def test_a_judge_that_tells_nothing_says_why():
    """One without a slope, and one that differs from people equally everywhere; a third group has neither fault."""
    people, place = np.arange(8.0), np.arange(8)
    judge = np.where(place < 4, people + 1, people**2)
    sample = ScoredSample(np.ones(8, bool), np.ones(8, bool), place, place, place // 4)
    first, second = place < 4, place >= 4
    assert sample.reason_for_no_estimate(people, judge, 0.0, first) is Reason.NO_SLOPE
    assert sample.reason_for_no_estimate(people, judge, 0.9, first) is Reason.EQUAL_DIFFERENCES
    assert sample.reason_for_no_estimate(people, judge, 0.9, second) is Reason.NONE
    assert sample.reason_for_no_estimate(people, judge, 0.9, place > 7) is Reason.NONE, "nothing of it was drawn"


def test_a_missing_verdict_is_its_groups_mean():
    """Or 0, where the judge gave none in the group."""
    assert fill_missing_scores_with_group_means([1, np.nan, 4, np.nan], [0, 0, 0, 1]).tolist() == [1, 2.5, 4, 0]


def test_scores_are_worth_what_the_target_that_gains_least_says():
    """A judge that narrows one interval more than the other is worth the lesser, and never less than nothing."""
    assert count_equivalent_people_scores(64, [4, 6], [2, 4]) == 64 * 2.25
    assert count_equivalent_people_scores(64, [4, 6], [2, 8]) == 64
    assert count_equivalent_people_scores(64, [4, np.nan], [2, np.nan]) == 256
    assert np.isnan(count_equivalent_people_scores(64, [np.nan], [np.nan]))


def test_a_sample_that_is_none_is_refused():
    """Lengths that differ, labels below 0, and an answer that was drawn though it could not be."""
    every, place = np.ones(3, bool), np.arange(3)
    for flags, labels in ((every[:2], place), (every, place - 1)):
        with pytest.raises(ValueError, match=r"shape|below 0"):
            ScoredSample(flags, every, place, labels, place * 0)
    with pytest.raises(ValueError, match="drawn"):
        ScoredSample(every, ~every, place, place, place * 0)


def test_a_forecast_is_of_both_variances():
    """By hand: 32 questions of 5 answers, of which people scored 64."""
    made = Forecast(questions=32, each=5, scored=64, between=1.5, within=4.0, half=0.62)
    reach = 2.0395134463964077 * (1 + 1 / (32 * 31))
    assert made.half_interval_if_all_scored == pytest.approx(reach * (1.5 / 32) ** 0.5)
    middle, low, high = made.forecast_further_scores_needed(0.5)
    needed = 64 + middle
    assert reach * ((1.5 + 4.0 * (32 / needed - 1 / 5)) / 32) ** 0.5 == pytest.approx(0.5)
    assert 0 <= low < middle < high
    assert np.isinf(made.forecast_further_scores_needed(0.2)).all()
    assert made._replace(between=9999.0).half_interval_if_all_scored == made.half


def test_a_forecast_takes_what_was_not_scored_out_of_the_questions_variance():
    """Where people scored all, questions vary as their means do; of a part, by less."""
    means = [3.0, 5.0, 8.0, 4.0]
    whole, part = (
        make_score_forecast(means, 20, scored, residual_variance=2.0, half_interval=1.0) for scored in (20, 10)
    )
    assert (whole.questions, whole.each, whole.between) == (4, 5.0, np.var(means, ddof=1))
    assert part.between == pytest.approx(whole.between - 2.0 * (4 / 10 - 1 / 5))
