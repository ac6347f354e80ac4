"""The intervals of a mean over questions and documents, against scipy's and by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy
from size import size

from genaipa.stats import intervals
from genaipa.stats.intervals import (
    estimate_difference_of_independent_means,
    estimate_mean,
    estimate_mean_over_documents,
    estimate_median_of_cells,
    interval_of_mean_over_documents,
    join_document_and_policy_estimates,
)
from genaipa.stats.panel import AnalystPanel
from genaipa.stats.reason import Reason


def cells(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a square of values, questions down and documents across, as columns."""
    questions, documents = np.indices(values.shape)
    return values.ravel(), questions.ravel(), documents.ravel()


def _binomial(worked: float, n: int):
    return scipy.stats.binomtest(worked, n)


def study(questions: int, documents: int, seed: int = 0) -> np.ndarray:
    """Values of questions and documents that both differ."""
    rng = np.random.default_rng(seed)
    values = rng.normal(70, 22, (questions, documents)) + rng.normal(0, 9, (questions, 1))
    return values + rng.normal(0, 9, documents)


def test_for_these_documents_is_students_t_over_questions() -> None:
    """Of questions that lie symmetrically it is scipy's t interval, widened by 1/(n(n-1))."""
    means = np.array([-9.0, -4.0, -1.0, 0.0, 1.0, 4.0, 9.0]) + 60
    found = estimate_mean(*cells(np.column_stack([means - 5, means + 5])))
    low, high = scipy.stats.t.interval(0.95, 6, means.mean(), scipy.stats.sem(means))
    assert found.mean == 60
    assert (found.low - 60, found.high - 60) == pytest.approx(((low - 60) * 43 / 42, (high - 60) * 43 / 42))
    at_low = estimate_mean(*cells(np.column_stack([means - 5, means + 5]) - found.low))
    assert at_low.p == pytest.approx(0.05)
    assert found.p < 0.05
    assert np.isnan(found.policies_low)
    assert found.reason is Reason.FEW_DOCUMENTS


def test_for_policies_like_these_by_hand() -> None:
    """The width is that of a two-way analysis of variance, done here by hand."""
    values = study(8, 5)
    # Questions lie symmetrically, so that nothing is bent; documents keep their means.
    values = np.vstack([values, 2 * values.mean(axis=0) - values])
    questions, documents = values.shape
    found = estimate_mean(*cells(values))
    by_question, by_document = values.mean(axis=1, keepdims=True), values.mean(axis=0, keepdims=True)
    rest = values - by_question - by_document + values.mean()
    of_rest = (rest**2).sum() / ((questions - 1) * (documents - 1)) / values.size
    of_questions = by_question.var(ddof=1) / questions
    of_documents = by_document.var(ddof=1) / documents - of_rest * (1 - 1 / documents)
    assert of_documents > of_rest
    quantiles = [scipy.stats.t.ppf(0.975, n - 1) * (1 + 1 / (n * (n - 1))) for n in (questions, documents)]
    half = np.sqrt(quantiles[0] ** 2 * of_questions + quantiles[1] ** 2 * of_documents)
    assert (found.policies_low, found.policies_high) == pytest.approx((values.mean() - half, values.mean() + half))
    assert not found.documents_alike


def test_parts_are_those_of_an_analysis_of_variance() -> None:
    """Mean squares: anova_lm(ols("v ~ C(q) + C(d)", cells).fit()) of statsmodels 0.15.0; the last has cells missing."""
    values = np.array([[61.0, 74, 58, 80], [45, 66, 52, 60], [70, 88, 49, 91], [38, 57, 44, 63], [66, 71, 73, 79]])
    column, questions, documents = cells(values)
    grouped = intervals._average_values_into_cells(column, questions, documents, None)
    assert intervals._two_way_residual_variance(grouped) == pytest.approx(55.275)
    assert intervals._estimate_part_in_variance_of_mean(values.mean(axis=1) - values.mean()).variance == pytest.approx(
        446.375 / 20
    )
    by_document, alike = intervals._document_component_and_documents_alike(grouped)
    assert by_document.variance == pytest.approx((508.98333333 - 55.275 * 3 / 4) / 20)
    assert not alike
    column[[1, 7, 14]] = np.nan
    assert intervals._two_way_residual_variance(
        intervals._average_values_into_cells(column, questions, documents, None)
    ) == pytest.approx(64.90386002886)


def test_more_documents_than_questions_are_as_by_least_squares() -> None:
    """With cells missing, p for policies is that of the variance left by both factors, whichever of them is larger."""
    for shape in ((4, 9), (9, 4)):
        values = study(*shape, seed=3)
        values[0, 1:3] = values[2, 0] = np.nan
        column, questions, documents = cells(values)
        design = np.hstack([np.eye(shape[0])[questions], np.eye(shape[1])[documents]])
        known = ~np.isnan(column)
        _, _, rank, _ = np.linalg.lstsq(design[known], column[known], rcond=None)
        left = ((column[known] - design[known] @ np.linalg.pinv(design[known]) @ column[known]) ** 2).sum()
        assert rank == sum(shape) - 1
        grouped = intervals._average_values_into_cells(column, questions, documents, None)
        assert intervals._two_way_residual_variance(grouped) == pytest.approx(left / (known.sum() - rank))


def test_documents_keep_half_of_how_they_vary() -> None:
    """Three documents that chance made nearly alike: half of their means' variance is left to them, not none."""
    values = study(8, 3)
    values += np.array([2.0, 0.0, -2.0]) - values.mean(axis=0) + values.mean()
    values = np.vstack([values, 2 * values.mean(axis=0) - values])
    found = estimate_mean(*cells(values))
    parts = values.mean(axis=1).var(ddof=1) / len(values), values.mean(axis=0).var(ddof=1) / 3 / 2
    assert values.mean(axis=0) - values.mean() == pytest.approx([2, 0, -2])
    quantiles = [scipy.stats.t.ppf(0.975, n - 1) * (1 + 1 / (n * (n - 1))) for n in (len(values), 3)]
    half = np.hypot(*(quantile * np.sqrt(part) for quantile, part in zip(quantiles, parts, strict=True)))
    assert found.policies_high - found.mean == pytest.approx(half)
    assert found.documents_alike
    assert estimate_mean(*cells(values - found.policies_low)).policies_p == pytest.approx(0.05)
    apart = estimate_mean(*cells(values + np.array([40, 0, -40])))
    assert not apart.documents_alike


@pytest.mark.soak
@pytest.mark.parametrize("documents", [3, 4, 5])
def test_alike_systems_rarely_differ_for_policies(documents: int) -> None:
    """Of eight alike systems Holm finds a difference in at most 6 of 100 studies, and not in one of four."""
    random, studies = np.random.default_rng(documents), size(small=10, soak=300)
    false = 0
    for _ in range(studies):
        values = 60 + random.normal(0, 9, (32, documents, 1)) + random.normal(0, 21, (32, documents, 8))
        values += random.normal(0, 11, (32, 1, 8)) + random.normal(0, 9, (documents, 8))
        p = [
            estimate_mean(*cells(values[:, :, first] - values[:, :, second])).policies_p
            for first, second in itertools.combinations(range(8), 2)
        ]
        false += min(p) < 0.05 / len(p)
    assert false / studies < 0.06


@pytest.mark.parametrize("documents", [3, 5])
def test_few_documents_cover_the_truth(documents: int) -> None:
    """Of 200 seeded studies of 32 questions, with the published variances, 94 to 99.5 % cover the mean of policies.

    That of the very documents is covered in 91 to 98.5 %. Truly alike documents are called alike in about half.
    """
    random, studies = np.random.default_rng(documents), 200
    about = random.normal(0, np.sqrt(46), (studies, 1, documents))
    noise = random.normal(0, np.sqrt(82), (studies, 32, 1)) + random.normal(0, np.sqrt(508), (studies, 32, documents))
    made = [estimate_mean(*cells(values)) for values in 60 + about + noise]
    truths = 60 + about.mean(axis=(1, 2))
    policies = np.mean([one.policies_low <= 60 <= one.policies_high for one in made])
    these = np.mean([one.low <= truth <= one.high for one, truth in zip(made, truths, strict=True)])
    assert 0.94 <= policies <= 0.995
    assert 0.91 <= these <= 0.985
    alike = np.mean([estimate_mean(*cells(values)).documents_alike for values in noise])
    assert 0.3 <= alike <= 0.6


def test_p_values_agree_with_the_intervals() -> None:
    """Shifted so that an end lies on 0, p is 0.05."""
    values = 100 - np.random.default_rng(3).exponential(8, (12, 6)) - np.arange(6) * 3
    found = estimate_mean(*cells(values))
    assert found.policies_low < found.low < found.mean < found.high < found.policies_high
    turned = estimate_mean(*cells(-values))
    assert (turned.policies_low, turned.policies_high) == pytest.approx((-found.policies_high, -found.policies_low))
    for end, name in (("low", "p"), ("high", "p"), ("policies_low", "policies_p"), ("policies_high", "policies_p")):
        assert getattr(estimate_mean(*cells(values - getattr(found, end))), name) == pytest.approx(0.05), end


def test_lacking_cells_weights_and_order() -> None:
    """Each question counts alike; several values of a cell are one; neither order nor absent cells' rows matter."""
    values = study(6, 12)
    values[0, 1:] = np.nan
    column, questions, documents = cells(values)
    found = estimate_mean(column, questions, documents)
    assert found.mean == pytest.approx(np.nanmean(values, axis=1).mean())
    there = np.random.default_rng(1).permutation(np.flatnonzero(~np.isnan(column)))
    mixed = estimate_mean(column[there], questions[there], documents[there])
    assert repr(mixed) == repr(found)
    twice = estimate_mean(np.concatenate([column - 3, column + 3]), np.tile(questions, 2), np.tile(documents, 2))
    assert twice.policies_low == pytest.approx(found.policies_low)
    weights = np.where(documents == 0, 5.0, 1.0)
    heavier = estimate_mean(column, questions, documents, weights=weights)
    own = [np.average(row[~np.isnan(row)], weights=[5, *[1] * 11][: (~np.isnan(row)).sum()]) for row in values]
    assert heavier.mean == pytest.approx(np.mean(own))
    assert found.documents_alike
    assert found.reason is Reason.NONE


def test_a_mean_over_documents_is_no_further_document() -> None:
    """Beside documents of its question it is left out; with weights it has its own."""
    values, questions, documents = [10.0, 20, 90, 40, 60], [0, 0, 0, 1, 1], [0, 1, -1, 0, 1]
    assert estimate_mean(values, questions, documents).mean == 32.5
    assert estimate_mean(values, questions, documents, weights=[1, 1, 2, 1, 1]).mean == 51.25


def test_other_documents_never_make_it_surer() -> None:
    """The second interval contains the first, also where skewed questions bend the first one more."""
    for seed in range(size(small=15, soak=60)):
        random = np.random.default_rng(seed)
        values = random.exponential(10, (5, 1)) + random.exponential(6, (5, 4))
        for found in (estimate_mean(*cells(values)), estimate_mean(*cells(-values))):
            assert found.policies_low <= found.low < found.high <= found.policies_high
            assert found.policies_p >= found.p


def test_a_document_that_was_scored_more_makes_it_less_sure() -> None:
    """One whole and a third of the others: it holds the truth for policies; where one is nearly all, there is none."""
    random, held, given, studies = np.random.default_rng(2), 0, 0, size(small=40, soak=1500)
    for _ in range(studies):
        values = random.normal(55, 22, (32, 5)) + random.normal(0, 9, (32, 1)) + random.normal(0, 13, 5)
        values[:, 1:][random.random((32, 4)) > 1 / 3] = np.nan
        found = estimate_mean(*cells(values))
        given += not np.isnan(found.policies_low)
        held += found.policies_low <= 55 <= found.policies_high
    assert given == studies
    assert size(small=0.85, soak=0.92) <= held / studies <= size(small=1, soak=0.98)
    alone = study(32, 5)
    alone[10:, 1:] = np.nan
    found = estimate_mean(*cells(alone))
    assert np.isnan(found.policies_low)
    assert found.reason is Reason.ONE_DOCUMENT


def test_refusals() -> None:
    """What can't be said is NaN, with the reason."""
    assert estimate_mean([], [], []).reason is Reason.NO_VALUE
    alone = estimate_mean([3.0, 4.0], [0, 0], [0, 1])
    assert (alone.mean, alone.reason) == (3.5, Reason.ONE_QUESTION)
    same = estimate_mean(np.full(12, 0.1), [0, 1, 2, 3] * 3, np.repeat(range(3), 4))
    assert same.mean == 0.1
    assert np.isnan([same.low, same.policies_low]).all()
    assert same.reason is Reason.ALL_EQUAL
    free = estimate_mean([0, 0, 0], [0, 1, 2], [0, 1, 2], limits=(0, np.inf))
    assert free.reason is Reason.ALL_EQUAL
    means = estimate_mean([50, 60, 80], [0, 1, 2], [-1, -1, -1])
    assert not np.isnan(means.low)
    assert means.reason is Reason.NO_DOCUMENT
    assert estimate_mean([99, 100, 91], [0, 1, 2], [-1, -1, -1], limits=(10, 100)).high == 100


def test_wrong_arrays_are_refused() -> None:
    """Lengths that differ, a negative weight, a label below 0 or in words, and a table of values."""
    values, labels = [1.0, 2, 3], [0, 1, 2]
    for wrong in (
        lambda: estimate_mean(values, labels[:2], labels),
        lambda: estimate_mean(values, labels, [0, -2, 1]),
        lambda: estimate_mean(values, [0, -1, 1], labels),
        lambda: estimate_mean(values, list("abc"), labels),
        lambda: estimate_mean(values, labels, labels, weights=[1, -1, 1]),
        lambda: estimate_mean(values, labels, labels, question_has_people_scores=[True]),
        lambda: estimate_mean([values], labels, labels),
    ):
        with pytest.raises(ValueError, match=r"."):
            wrong()


def test_estimates_need_questions_that_people_scored() -> None:
    """Of 4 such questions there is no estimate, and 5 are the degrees of freedom of all 8."""
    values, questions, documents = cells(study(8, 2))
    made = estimate_mean(values, questions, documents, question_has_people_scores=questions < 4)
    assert (made.reason, made.scored, made.questions) == (Reason.FEW_SCORED, 4, 8)
    made = estimate_mean(values, questions, documents, question_has_people_scores=questions < 5)
    assert (made.scored, made.questions, made.reason) == (5, 8, Reason.FEW_DOCUMENTS)
    assert made.low < estimate_mean(values, questions, documents).low

    values[questions < 5] += 100 - values[questions < 5].mean()
    beyond = estimate_mean(
        values + 60, questions, documents, question_has_people_scores=questions < 5, limits=(10, 100)
    )
    assert (beyond.mean, beyond.high) == (100, 100)


def test_analysts_are_a_part_of_the_variance() -> None:
    """Four analysts add the square of Student's quantile times their variance; an unknown one adds no interval."""
    values = study(8, 6)
    values = np.vstack([values, 2 * values.mean(axis=0) - values])
    plain = estimate_mean(*cells(values))
    assert np.isnan(plain.analysts_low)
    made = estimate_mean(*cells(values), panel=AnalystPanel(4, 7.0))
    quantile = scipy.stats.t.ppf(0.975, 3) * (1 + 1 / 12)
    half = np.hypot(plain.policies_high - plain.mean, quantile * np.sqrt(7))
    assert (made.analysts_low, made.analysts_high) == pytest.approx((plain.mean - half, plain.mean + half))
    assert made[:10] == plain[:10]
    assert np.isnan(estimate_mean(*cells(values), panel=AnalystPanel(2, np.nan)).analysts_low)
    share = estimate_mean(*cells(values > 70), is_share=True, panel=AnalystPanel(4, 7.0))
    assert np.isnan(share.analysts_low)


def test_independent_draws() -> None:
    """One value of each document has Student's t, widened by 1/(n(n - 1)); below 3, and all alike, there is none."""
    values = np.array([1.0, 2, 3, 4, 5])
    low, high = scipy.stats.t.interval(0.95, 4, 3, scipy.stats.sem(values))
    assert interval_of_mean_over_documents([*values, np.nan]) == pytest.approx(
        (3 - (3 - low) * 21 / 20, 3 + (high - 3) * 21 / 20)
    )
    assert np.isnan([interval_of_mean_over_documents([1, 2]), interval_of_mean_over_documents([2, 2, 2])]).all()
    exact = _binomial(0, 4).proportion_ci(0.95)
    assert interval_of_mean_over_documents([0, 0, 0, 0], is_share=True) == pytest.approx((exact.low, exact.high))


def test_a_share_of_none_or_all_is_exact() -> None:
    """A rate of 0 or 100 % has the limits of Clopper and Pearson, over questions, and over cells that share nothing."""
    questions, documents = np.repeat(range(12), 5), np.tile([0, 1, 2, 3, 4], 12)
    for value, limits in ((0.0, (0, 1)), (1.0, (0, 1)), (100.0, (0, 100))):
        found = estimate_mean(np.full(60, value), questions, documents, limits=limits, is_share=True)
        share = int(value > 0)
        for ends, n in (((found.low, found.high), 12), ((found.policies_low, found.policies_high), 5)):
            exact = _binomial(share * n, n).proportion_ci(0.95, method="exact")
            assert ends == pytest.approx([limits[1] * exact.low, limits[1] * exact.high])
        assert found.reason is Reason.NONE
    # Three documents about which only one and the same question was asked are one draw, and so is each other document.
    chained = estimate_mean(np.zeros(6), [0, 0, 0, 1, 1, 2], [0, 1, 2, 0, 3, 4], is_share=True)
    assert (chained.high, chained.policies_high) == pytest.approx([_binomial(0, 3).proportion_ci(0.95).high] * 2)
    apart = estimate_mean(np.zeros(5), [0, 0, 0, 1, 2], [0, 1, 2, 0, 0], is_share=True)
    assert apart.policies_high == pytest.approx(_binomial(0, 2).proportion_ci(0.95).high)
    assert np.isnan(estimate_mean(np.zeros(4), [0, 0, 1, 1], [0, 1, 0, 1], is_share=True).policies_high)


def test_a_share_is_worth_as_many_answers_as_its_variance_says() -> None:
    """About one document it is a little wider than the binomial one; one error tells no more than none does."""
    for errors, n in ((3, 8), (5, 20), (16, 32)):
        found = estimate_mean(np.arange(n) < errors, range(n), [0] * n, is_share=True)
        exact = _binomial(errors, n).proportion_ci(0.95)
        assert exact.low - 0.1 < found.low < exact.low
        assert exact.high < found.high < exact.high + 0.1
        assert np.isnan(found.p)
    none = np.zeros((24, 5))
    one = none.copy()
    one[0, 0] = 1
    ends = [estimate_mean(*cells(values), is_share=True) for values in (none, one)]
    assert ends[0].high < ends[1].high < 0.2
    assert ends[0].policies_high < ends[1].policies_high < 0.6
    # Every document answers a third of the questions: alike, and still a sample.
    even = np.tile([1.0, 0.0, 0.0], (6, 1))
    assert estimate_mean(*cells(even), is_share=True).high == pytest.approx(_binomial(2, 6).proportion_ci(0.95).high)


def test_a_mean_over_documents_goes_by_what_each_adds() -> None:
    """Whole, it is the interval of the documents' means; where groups lack documents, each still counts alike."""
    values = study(4, 6)
    groups, documents = np.indices(values.shape)
    made = estimate_mean_over_documents(values.ravel(), groups.ravel(), documents.ravel())
    assert (made.mean, made.documents) == (pytest.approx(values.mean()), 6)
    assert made[2:] == pytest.approx(interval_of_mean_over_documents(values.mean(axis=0)))
    values[0, :4] = np.nan
    lacking = estimate_mean_over_documents(values.ravel(), groups.ravel(), documents.ravel())
    assert lacking.mean == pytest.approx(np.nanmean(values, axis=1).mean())
    assert lacking.policies_low < lacking.mean < lacking.policies_high
    assert np.isnan(estimate_mean_over_documents([0.1] * 6, [0, 0, 0, 1, 1, 1], [0, 1, 2] * 2)[2:]).all()
    assert estimate_mean_over_documents([0.1] * 6, [0, 0, 0, 1, 1, 1], [0, 1, 2] * 2).mean == 0.1
    assert np.isnan(estimate_mean_over_documents([np.nan], [0], [0]).mean)


def test_a_mean_over_documents_holds_the_truth() -> None:
    """In about 95 of 100 studies of 3 systems and 8 documents, of which a third of the cells lack."""
    random, studies, held = np.random.default_rng(6), size(small=150, soak=3000), 0
    groups, documents = np.indices((3, 8))
    for _ in range(studies):
        values = random.normal(60, 9, 8) + random.normal(0, 12, (3, 8))
        values[random.random((3, 8)) < 1 / 3] = np.nan
        made = estimate_mean_over_documents(values.ravel(), groups.ravel(), documents.ravel())
        held += made.policies_low <= 60 <= made.policies_high
    assert size(small=0.89, soak=0.93) <= held / studies <= size(small=1, soak=0.98)


def test_a_median_is_as_sure_as_the_share_below_it() -> None:
    """About one document, the order statistics are those of the sign test, or the next ones; few have none."""
    random = np.random.default_rng(4)
    for n in (8, 20, 60):
        seconds = np.sort(random.lognormal(1, 0.6, n))
        made = estimate_median_of_cells(seconds, range(n), [0] * n)
        assert made.median == np.median(seconds)
        exact = scipy.stats.quantile_test(seconds, p=0.5).confidence_interval(0.95)
        for ours, theirs in ((made.low, exact.low), (made.high, exact.high)):
            assert abs(np.searchsorted(seconds, ours) - np.searchsorted(seconds, theirs)) <= 1
        assert np.isnan(made.policies_low)
    assert np.isnan(estimate_median_of_cells(seconds[:5], range(5), [0] * 5).low)
    ties = np.concatenate([np.linspace(0, 1, 10), np.full(10, 2.0), np.linspace(3, 4, 10)])
    share = estimate_mean(np.repeat([0, 0.5, 1], 10), range(30), [0] * 30, is_share=True)
    assert estimate_median_of_cells(ties, range(30), [0] * 30).low == np.quantile(ties, share.low)
    assert np.isnan(estimate_median_of_cells([np.nan], [0], [0]).median)


def test_a_median_over_documents_that_differ_is_less_sure() -> None:
    """Whole documents that are slow leave it open for other policies, not for these; below six it is refused."""
    random = np.random.default_rng(5)
    questions, documents = np.repeat(np.arange(20), 8), np.tile(np.arange(8), 20)
    seconds = np.exp(random.normal(0, 1, 8)[documents] + random.normal(0, 0.3, 160))
    made = estimate_median_of_cells(seconds, questions, documents)
    assert made.policies_low < made.low < made.median < made.high < made.policies_high
    share = estimate_mean(seconds < np.median(seconds), questions, documents, is_share=True)
    assert made.policies_low == pytest.approx(np.quantile(seconds, share.policies_low))
    some = documents < 5
    few = estimate_median_of_cells(seconds[some], questions[some], documents[some])
    assert np.isnan(few.policies_low)
    assert few.low > 0


def test_two_independent_sets() -> None:
    """The interval of A - B is that of a t for each side's variance; B - A turns it round, and p agrees with it."""
    ours, theirs = np.array([50.0, 60, 70, 80, 90]), np.array([20.0, 30, 40, 41, 50, 60, 62])
    theirs = np.append(theirs, 2 * theirs.mean() - theirs)
    found = estimate_difference_of_independent_means((ours, [0, 1, 2, 3, 4]), (theirs, [*range(14)]))
    halves = [
        scipy.stats.t.ppf(0.975, len(one) - 1) * (1 + 1 / (len(one) * (len(one) - 1))) * scipy.stats.sem(one)
        for one in (ours, theirs)
    ]
    mean, half = ours.mean() - theirs.mean(), np.hypot(*halves)
    assert (found.low, found.high) == pytest.approx((mean - half, mean + half))
    skewed = np.array([20.0, 60, 61, 62])
    found_skewed, turned = (
        estimate_difference_of_independent_means(*sides)
        for sides in (((ours, [*range(5)]), (skewed, [*range(4)])), ((skewed, [*range(4)]), (ours, [*range(5)])))
    )
    assert (turned.low, turned.high) == pytest.approx((-found_skewed.high, -found_skewed.low))
    assert estimate_difference_of_independent_means(
        (ours - found.low, [0, 1, 2, 3, 4]), (theirs, [*range(14)])
    ).p == pytest.approx(0.05)
    assert np.isnan(estimate_difference_of_independent_means(([], []), ([1.0], [0])).mean)
    alone = estimate_difference_of_independent_means(([1.0, 0.0], [0, 1]), ([1.0], [0]))
    assert (alone.mean, alone.questions) == (-0.5, 1)
    assert np.isnan([alone.low, found.policies_low]).all()


def test_what_holds_for_policies_holds_for_these_documents() -> None:
    """Joined, the interval for policies contains the other; means of unlike signs have a p of 1."""
    wide, narrow = (estimate_mean(*cells(study(12, 5, seed) * spread - 40)) for seed, spread in ((1, 1.0), (2, 0.5)))
    made = join_document_and_policy_estimates(wide, narrow)
    assert made[:6] == wide[:6]
    assert made.policies_low == min(wide.low, narrow.policies_low)
    assert made.policies_high == max(wide.high, narrow.policies_high)
    assert (wide.mean > 0) != (narrow.mean > 0)
    assert made.policies_p == 1
    turned = narrow._replace(mean=-narrow.mean)
    assert join_document_and_policy_estimates(wide, turned).policies_p == max(wide.p, narrow.policies_p)
    lacking = join_document_and_policy_estimates(wide, estimate_mean(*cells(study(12, 2))))
    assert np.isnan([lacking.policies_low, lacking.policies_high, lacking.policies_p]).all()
