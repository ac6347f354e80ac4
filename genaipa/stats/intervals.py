"""Intervals of a mean over questions and documents, also of few of either: each for its own conclusion.

A cell is one question about one document. Cells of one question are alike, and so are cells of one document, so that
neither the cells nor the questions alone can stand for independent draws. Two things can be concluded from them:

- for these documents: the questions are a sample of questions like them, the documents are exactly those studied.
- for policies like these: the documents are a sample, too, of the policies that others would have studied. Never
  narrower, because few documents say little about others.

Both are for the analysts who scored; where their part in the variance is given, a third interval is for analysts like
these as well.

A value is μ + question + document + rest, all independent, with the variances A, B and R. Over Q questions about each
of D documents the variance of the mean is A/Q + B/D + R/(QD). The questions' means alone estimate A/Q + R/(QD), the
documents' means B/D + R/(QD) (`_estimate_variance_component`): R/(QD) is in both, and
`_document_component_and_documents_alike` takes it out of the second. Each part v has its own Student's t, and the
half-width is √(Σ t²v) (`_interval_half_width`). Of normal values, with v as the means give them, this covers the truth
at least as often as it promises (Banerjee, 1960, Sankhyā 22, 357-358): given the v, whose expectations are V, the
chance is at least F(Σ t²v / ΣV), F being χ² with one degree of freedom. F is concave, so that this is at least the
mean, weighted by V, of F(t²v/V), whose expectation is the level for each part. What is taken out, and what is bent, has
no such proof; the simulation in `docs/method/coverage.md` shows how often intervals cover the truth (`python -m
benchmarks.coverage`).

All are closed formulas, chosen by that simulation. The interval is bent where questions are skewed or crowd at an end
of the scale (Willink, 2005, https://doi.org/10.1081/STA-200045794). A share has the interval of Clopper and Pearson,
for the number of answers that it is worth (Korn and Graubard, 1998, Survey Methodology 24(2), 193-201).
"""

from __future__ import annotations

from math import cbrt, hypot, isnan, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtri, stdtr, stdtrit

from genaipa.stats.arrays import as_flags_or_all_true, as_labels, as_values, as_weights_or_ones, renumber_labels
from genaipa.stats.bisection import find_root
from genaipa.stats.reason import Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from genaipa.stats.arrays import Floats, Labels
    from genaipa.stats.panel import AnalystPanel

    Limits = tuple[float, float]
    """The ends of a scale."""
    _Ends = tuple[float, float, float]
    """The lower and the upper end of an interval, and the p value of 0."""

LEVEL = 0.95
LEAST_DOCUMENTS = 3
"""Below this many documents nothing is said about other policies.

They may weigh unequally, as long as they tell as much as two that weigh alike (`Reason.ONE_DOCUMENT`): Student's t then
has between one and two degrees of freedom, and the interval is very wide.
"""
LEAST_SCORED = 5
"""Below this many questions with answers that people scored, a judge's scores give no estimate."""
LEAST_DRAWS = 6
"""Of this many draws the least and the largest enclose the median in 95 of 100 studies, of fewer they don't."""
ROUGH_DOCUMENTS = 10
"""Below this many documents, what is said about other policies is rough."""
_ENDLESS = (-np.inf, np.inf)
_SHARE = (0.0, 1.0)
_TWO = 2
_MOST_BENT = 0.97
"""The skewness that bends an interval is at most this over the reach of the interval of 95 %.

`_correct_quantile_for_skewness` has it so.

About there the cube root of `_transform` is of 0, where it is steepest: a little more skewness would move the end by
several standard errors (exactly at .961 for a reach of 2, at .982 for 3). Intervals of a higher confidence have the
same skewness and a larger reach, so that they may go past that; their ends are finite all the same.
"""
_LEAST_LEFT = 0.5
"""The share of the variance of the documents' means that is left to them at least.

By chance a few documents may be so much alike that the rest explains all of it. With nothing left, of several systems
some pair would often seem to differ for policies like these; half keeps that below 5 % (docs/method/coverage.md).
"""
_LEAST_UNUSUAL = 3
"""Below this many questions, or documents, that are not at the usual end of a share, its variance says nothing."""
_ROUNDING = 1e-9
"""Standard errors below this share of the largest value are errors of rounding."""


class CrossedMean(NamedTuple):
    """A mean over questions with its intervals; NaN where there is none, and `reason` tells what the data lack.

    `questions` and `documents` are how many it rests on, and `scored` how many of the questions have an answer that
    people scored; `documents` is 0 where only means over documents are known. `low` and `high` are for these
    documents, `policies_low` and `policies_high` for policies like these, `analysts_low` and `analysts_high` for
    policies and analysts like these. `p` and `policies_p` are the two-sided p values of a mean of 0: below a level
    exactly where the interval of this level, before it is cut to the scale, excludes 0. `documents_alike` tells
    whether the documents differ less than chance alone would make them differ on average: their mean square is at most
    1 - 1/D of the rest's. So it is in about half of the studies whose documents don't truly differ; half of their
    variance (`_LEAST_LEFT`) counts more often, up to twice that mean square.
    """

    mean: float
    questions: int
    documents: int
    scored: int
    low: float = np.nan
    high: float = np.nan
    policies_low: float = np.nan
    policies_high: float = np.nan
    p: float = np.nan
    policies_p: float = np.nan
    analysts_low: float = np.nan
    analysts_high: float = np.nan
    reason: Reason = Reason.NONE
    documents_alike: bool = False


class MeanOverDocuments(NamedTuple):
    """A mean over documents with its interval for policies like these; NaN where there is none."""

    mean: float
    documents: int
    policies_low: float = np.nan
    policies_high: float = np.nan


class CrossedMedian(NamedTuple):
    """A median with its intervals, for these documents and for policies like these; NaN where there is none."""

    median: float
    low: float = np.nan
    high: float = np.nan
    policies_low: float = np.nan
    policies_high: float = np.nan


def estimate_mean(
    values: Any,
    question_labels: Any,
    document_labels: Any,
    *,
    weights: Any = None,
    limits: Limits | None = None,
    is_share: bool = False,
    question_has_people_scores: Any = None,
    panel: AnalystPanel | None = None,
    confidence: float = LEVEL,
) -> CrossedMean:
    """Estimate the mean of cells (one question about one document each), with its intervals.

    `values`, `question_labels`, `document_labels`, `weights` and `question_has_people_scores` have one length; the
    labels of questions and documents are whole numbers from 0. A question's mean is over its documents, and the mean is
    over the questions, so that every question counts alike. Several values of one cell are averaged before; NaN are
    left out, and cells may be missing. The document -1 is a value that is known as a mean over documents only, and is
    left out where its question has documents. With `weights`, a question's mean is the weighted one of all its values.
    `limits` are the ends of the scale, which no interval leaves, in the unit of the values. Values that are a `share`,
    from 0 to the upper limit (1 if none is given), have intervals also where all questions are alike, and no p values.
    Where some values are a judge's estimates, `question_has_people_scores` tells of each value whether people scored an
    answer to its question: only those questions say how far the judge is off, there is no result below `LEAST_SCORED`
    of them, and none is taken for a share. `panel` are the analysts who gave the values. `confidence` is that of the
    intervals; p values don't depend on it. The same cells give the same result, in whatever order they come.

    >>> made = estimate_mean([60, 80, 70, 90, 50, 85], [0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1])
    >>> made.mean, made.questions, made.documents, made.reason
    (72.5, 3, 2, <Reason.FEW_DOCUMENTS: 'too few documents'>)
    """
    value, size = as_values(values), len(values)
    question, document = as_labels(question_labels, size), as_labels(document_labels, size, least_label=-1)
    scored_by_people = as_flags_or_all_true(question_has_people_scores, size)
    cells = _average_values_into_cells(
        value, question, document, None if weights is None else as_weights_or_ones(weights, size)
    )
    number = len(cells.means)
    if not number:
        return CrossedMean(np.nan, 0, 0, 0, reason=Reason.NO_VALUE)
    scored = int(np.count_nonzero(np.bincount(question[scored_by_people & ~np.isnan(value)])))
    if scored < min(number, LEAST_SCORED):
        return CrossedMean(np.nan, number, cells.documents, scored, reason=Reason.FEW_SCORED)
    is_share = is_share and bool(scored_by_people.all())  # Estimates lie beyond the ends of a share, too.
    limits = limits or (_SHARE if is_share else _ENDLESS)
    estimate = _estimate_mean_of_cells(cells, scored, limits, confidence, panel, is_share=is_share)
    if question_has_people_scores is None or isnan(estimate.low):
        return estimate
    # An estimate may lie a little beyond the scale, as its interval may.
    return estimate._replace(mean=min(max(estimate.mean, limits[0]), limits[1]))


def join_document_and_policy_estimates(these_documents: CrossedMean, policies: CrossedMean) -> CrossedMean:
    """Join the estimate for these documents, of all cells, with that for policies, of those cells that have a document.

    The interval for policies is made to contain that for these documents, and its p is at least as large; where the two
    means have unlike signs, it is 1.
    """
    agree = these_documents.mean * policies.mean > 0
    p = policies.policies_p if agree else np.minimum(policies.policies_p + 1, 1)
    return these_documents._replace(
        policies_low=float(np.minimum(these_documents.low, policies.policies_low)),
        policies_high=float(np.maximum(these_documents.high, policies.policies_high)),
        policies_p=float(np.maximum(these_documents.p, p)),
    )


def interval_of_mean_over_documents(
    values: Any, limits: Limits | None = None, *, is_share: bool = False
) -> tuple[float, float]:
    """Return the interval of the mean of values that are independent draws, one of each document, for other documents.

    It is NaN below `LEAST_DOCUMENTS` values, and where all are equal and are no `share`.
    """
    value = as_values(values)
    value = np.sort(value[~np.isnan(value)])
    if len(value) < LEAST_DOCUMENTS:
        return np.nan, np.nan
    mean = float(value[0] + (value - value[0]).mean())
    component = _estimate_part_in_variance_of_mean(value - mean)
    if not is_share and _is_variance_rounding_error(component.variance, value):
        return np.nan, np.nan
    limits = limits or (_SHARE if is_share else _ENDLESS)
    return _find_interval_and_p_of_mean_or_share(mean, [component], limits, LEVEL, value if is_share else None)[:2]


def estimate_mean_over_documents(
    values: Any, group_labels: Any, document_labels: Any, *, limits: Limits | None = None, is_share: bool = False
) -> MeanOverDocuments:
    """Estimate the mean over groups of their means over documents, with its interval for other documents.

    For one and the same question, of which each group, such as a system, has one value of a document or none.
    """
    value = as_values(values)
    group, document = as_labels(group_labels, len(value)), as_labels(document_labels, len(value))
    present = ~np.isnan(value)
    value, group, document = value[present], renumber_labels(group[present]), renumber_labels(document[present])
    if not len(value):
        return MeanOverDocuments(np.nan, 0)
    # Around one of them, so that values that are all equal give that value, exactly.
    around = value - value[0]
    size, number = np.bincount(group), int(document.max()) + 1
    means = np.bincount(group, around) / size
    # What each document adds to that mean. Their average is the mean itself, also where groups lack documents.
    weight = number / (size[group] * len(size))
    added = means.mean() + np.bincount(document, weight * (around - means[group]), minlength=number)
    # Documents are what could have been others: they are to this mean what questions are to the other ones.
    interval = interval_of_mean_over_documents(value[0] + added, limits, is_share=is_share)
    return MeanOverDocuments(float(value[0] + added.mean()), number, *interval)


def estimate_median_of_cells(values: Any, question_labels: Any, document_labels: Any) -> CrossedMedian:
    """Estimate the median of cells, with ends that are order statistics (Woodruff, 1952).

    How sure the median is follows from how sure the share of values below it is (`estimate_mean`). Below `LEAST_DRAWS`
    questions, or documents, no two values enclose it in 95 of 100 studies.
    """
    value = as_values(values)
    question, document = as_labels(question_labels, len(value)), as_labels(document_labels, len(value), least_label=-1)
    present = ~np.isnan(value)
    value, question, document = value[present], question[present], document[present]
    if not len(value):
        return CrossedMedian(np.nan)
    median = float(np.median(value))
    below = (value < median) + (value == median) / 2
    share = estimate_mean(below, question, document, is_share=True)

    def find_quantile_values(low: float, high: float, draws: int) -> tuple[float, float]:
        low, high = low - share.mean + 0.5, high - share.mean + 0.5
        if draws < LEAST_DRAWS or not 0 < low < high < 1:
            return np.nan, np.nan
        return float(np.quantile(value, low)), float(np.quantile(value, high))

    return CrossedMedian(
        median,
        *find_quantile_values(share.low, share.high, share.questions),
        *find_quantile_values(share.policies_low, share.policies_high, share.documents),
    )


def estimate_difference_of_independent_means(
    first: tuple[Any, Any], second: tuple[Any, Any], *, limits: Limits | None = None, confidence: float = LEVEL
) -> CrossedMean:
    """Estimate the difference between the means of two independent sets of (values, questions): first minus second.

    For sets that share their questions, give the differences to `estimate_mean`. `questions` is the smaller number of
    them. Each side's questions vary by themselves; nothing is said for policies like these.
    """
    ours, theirs = (_average_by_question(*side) for side in (first, second))
    smaller_size = min(len(ours), len(theirs))
    if not smaller_size:
        return CrossedMean(np.nan, 0, 0, 0, reason=Reason.NO_VALUE)
    estimate = CrossedMean(float(ours.mean() - theirs.mean()), smaller_size, 0, smaller_size)
    if smaller_size < _TWO:
        return estimate._replace(reason=Reason.ONE_QUESTION)
    components = [
        _estimate_part_in_variance_of_mean(ours - ours.mean()),
        _estimate_part_in_variance_of_mean(theirs.mean() - theirs),
    ]
    if _is_variance_rounding_error(sum(component.variance for component in components), np.append(ours, theirs)):
        return estimate._replace(reason=Reason.ALL_EQUAL)
    low, high, p = _find_mean_interval_and_p(estimate.mean, components, limits or _ENDLESS, confidence)
    return estimate._replace(low=low, high=high, p=p, reason=Reason.NO_PAIRS)


# -- cells --


class _Cells(NamedTuple):
    """The cells that have a document: value, weight, place of question and of document; and the questions' means.

    All weights of a question add up to 1; of all cells with a document, to `known`.
    """

    value: Floats
    weight: Floats
    question: Labels
    document: Labels
    means: Floats
    known: float
    documents: int


def _average_values_into_cells(value: Floats, question: Labels, document: Labels, weights: Floats | None) -> _Cells:
    present = ~np.isnan(value)
    weight = np.ones(len(value)) if weights is None else weights
    value, weight, document = value[present], weight[present], document[present]
    row, column = renumber_labels(question[present]), renumber_labels(document + 1)
    # In one order, because sums of floating-point numbers depend on it.
    order = np.lexsort((weight, value, column, row))
    value, weight = value[order], weight[order]
    document, row, column = document[order], row[order], column[order]
    first = np.flatnonzero(np.diff(row * (len(column) + 1) + column, prepend=-1))
    value, weight = _average_groups_and_sum_weights(value, weight, first)
    row, column, single = row[first], column[first], document[first] >= 0
    if weights is None:
        # A mean over documents is no further document.
        used = single | (np.bincount(row, single) == 0)[row]
        value, weight, row, column, single = value[used], np.ones(used.sum()), row[used], column[used], single[used]
    means, total = _average_groups_and_sum_weights(value, weight, np.flatnonzero(np.diff(row, prepend=-1)))
    weight = (weight / total[row])[single]
    cell_numbers = renumber_labels(column[single])
    number = int(cell_numbers.max(initial=-1)) + 1
    return _Cells(value[single], weight, row[single], cell_numbers, means, float(weight.sum()), number)


def _estimate_mean_of_cells(
    cells: _Cells, scored: int, limits: Limits, confidence: float, panel: AnalystPanel | None, *, is_share: bool
) -> CrossedMean:
    # Around one of them, so that values that are all equal give that value, exactly.
    around = cells.means - cells.means[0]
    mean = float(cells.means[0]) + float(around.mean())
    estimate = CrossedMean(mean, len(around), cells.documents, scored)
    if len(around) < _TWO:
        return estimate._replace(reason=Reason.ONE_QUESTION)
    by_question = _estimate_part_in_variance_of_mean(around - around.mean())._replace(n=scored)
    if not is_share and _is_variance_rounding_error(by_question.variance, cells.means):
        return estimate._replace(reason=Reason.ALL_EQUAL)
    low, high, p = _find_interval_and_p_of_mean_or_share(
        mean, [by_question], limits, confidence, cells.means if is_share else None
    )
    reason = _reason_for_no_policy_interval(cells, is_share=is_share)
    estimate = estimate._replace(low=low, high=high, p=p, reason=reason)
    if estimate.reason is not Reason.NONE:
        return estimate
    by_document, alike = _document_component_and_documents_alike(cells)
    components = [by_question, by_document]
    wider = _find_interval_and_p_of_mean_or_share(mean, components, limits, confidence, cells if is_share else None)
    # The wider conclusion contains the other one: never the narrower of the two.
    low, high, p = min(low, wider[0]), max(high, wider[1]), max(p, wider[2])
    estimate = estimate._replace(policies_low=low, policies_high=high, policies_p=p, documents_alike=alike)
    if panel is None or is_share or isnan(panel.variance):
        return estimate
    components.append(_VarianceComponent(panel.number, panel.variance, 0.0))
    widest = _find_mean_interval_and_p(mean, components, limits, confidence)
    return estimate._replace(analysts_low=min(low, widest[0]), analysts_high=max(high, widest[1]))


def _average_by_question(values: Any, question_labels: Any) -> Floats:
    value = as_values(values)
    nowhere = np.full(len(value), -1)
    return _average_values_into_cells(value, as_labels(question_labels, len(value)), nowhere, None).means


def _average_groups_and_sum_weights(
    value: Floats, weight: Floats, group_starts: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Return the weighted mean of each group, and its weight; `group_starts` are the places where the groups begin."""
    if not len(group_starts):
        return value, weight
    total = np.add.reduceat(weight, group_starts)
    # Around the first of them, so that values that are all equal have that mean, exactly.
    centre = np.repeat(value[group_starts], np.diff(np.append(group_starts, len(value))))
    return value[group_starts] + np.add.reduceat(weight * (value - centre), group_starts) / total, total


def _reason_for_no_policy_interval(cells: _Cells, *, is_share: bool) -> Reason:
    """Tell why nothing is said for policies like these."""
    if not cells.documents:
        return Reason.NO_DOCUMENT
    if cells.documents < LEAST_DOCUMENTS:
        return Reason.FEW_DOCUMENTS
    if not is_share and _effective_document_count(cells) < _TWO:  # a share counts those that are sure to be independent
        return Reason.ONE_DOCUMENT
    return Reason.FEW_NAMED if cells.known * _TWO < len(cells.means) else Reason.NONE


def _effective_document_count(cells: _Cells) -> float:
    """Return the number of documents, all alike in weight, that would tell as much of others as these (Kish, 1965)."""
    shares = np.bincount(cells.document, cells.weight, minlength=cells.documents) / cells.known
    return 1 / float((shares**2).sum())


# -- intervals --


def _is_variance_rounding_error(variance: float, values: Floats) -> bool:
    """Tell whether the variance of the mean of these is an error of rounding."""
    return sqrt(variance) <= _ROUNDING * max(float(np.abs(values).max()), 1e-300)


class _VarianceComponent(NamedTuple):
    """The part of questions, documents or analysts in the mean's variance and third cumulant.

    `n` is their number, or, where documents weigh unequally, that of as many alike (Kish, 1965).
    """

    n: float
    variance: float
    third: float

    def widened_t_quantile(self, probability: float) -> float:
        """Return Student's quantile, widened for the few that a skewed sample misleads.

        The factor 1 + 1/(n(n - 1)) is ours, and ad hoc: 1.5 for n = 2, 1.17 for 3, 1.08 for 4, 1.001 for 32. It is
        judged by the coverage of skewed values over 4 and 8 questions (`python -m benchmarks.coverage`).
        """
        return float(stdtrit(self.n - 1, probability)) * (1 + 1 / (self.n * (self.n - 1)))


def _estimate_part_in_variance_of_mean(deviations: Floats) -> _VarianceComponent:
    """Return the part of n independent draws, of their deviations from their mean."""
    n = len(deviations)
    variance = float((deviations**2).sum()) / (n * (n - 1))
    third = float((deviations**3).sum()) / (n * (n - 1) * (n - 2)) if n > _TWO else 0.0
    return _VarianceComponent(n, variance, third)


def _document_component_and_documents_alike(cells: _Cells) -> tuple[_VarianceComponent, bool]:
    """Return the documents' part in the variance of the mean, beyond the questions' part, and `documents_alike`.

    A document d has the share w of the mean, and its own mean m. Its D (w (m - mean)), of all documents, are taken for
    independent draws: their component c is Σ(w (m - mean))² D/(D - 1), which is MS/(QD) where all weights are alike, MS
    being the documents' mean square of the two-way analysis of variance.

    1. The rest, R/(QD) there and R Σ(weight of a cell)² in general, is in the questions' part already. It is taken out
       of c but for a D-th of it: to leave that is ad hoc, on the safe side for few documents. c keeps `_LEAST_LEFT` of
       itself. Where weights are unlike, what is taken out is approximate.
    2. The mean has B Σw² = B/n of the variance B between documents, by which n = 1/Σw² is Kish's number. Of each
       document E(m - mean)² = B (1 - 2w + 1/n), hence E(c) = B f with f = D/(D - 1) Σw²(1 - 2w + 1/n). So B/n is
       c/(n f). Where all weights are alike, n f is 1.
    """
    share = cells.weight / cells.known
    deviation = cells.value - float((share * cells.value).sum())
    sums = np.bincount(cells.document, share * deviation, minlength=cells.documents).astype(np.float64)
    component = _estimate_part_in_variance_of_mean(sums * cells.documents)
    residual = float((share**2).sum()) * _two_way_residual_variance(cells) * (1 - 1 / cells.documents)
    weight_by_document = np.bincount(cells.document, share, minlength=cells.documents)
    n = _effective_document_count(cells)
    factor = (
        float((weight_by_document**2 * (1 - 2 * weight_by_document + 1 / n)).sum())
        * cells.documents
        / (cells.documents - 1)
    )
    variance = max(component.variance - residual, component.variance * _LEAST_LEFT) / n / factor
    # Of few documents skewness can't be told from chance; of 30 intervals cover skewed values without it.
    return _VarianceComponent(n, variance, 0.0), component.variance <= residual


def _two_way_residual_variance(cells: _Cells) -> float:
    """Return the mean square of what questions and documents don't explain together (two-way analysis of variance)."""
    question = renumber_labels(cells.question)
    wide, narrow = (question, cells.document) if cells.documents <= question.max() + 1 else (cells.document, question)
    # The means of the larger factor are taken out, and the effects of the smaller one found in what is left.
    row_sizes, size = np.bincount(wide), int(narrow.max()) + 1
    centred = cells.value - (np.bincount(wide, cells.value) / row_sizes)[wide]
    filled = np.zeros((len(row_sizes), size))
    filled[wide, narrow] = 1.0
    within = np.diag(filled.sum(axis=0)) - filled.T @ (filled / row_sizes[:, None])
    sums = np.bincount(narrow, centred, minlength=size)
    effects, _, rank, _ = np.linalg.lstsq(within, sums, rcond=1e-9)
    free = len(centred) - len(row_sizes) - int(rank)
    return max(float((centred**2).sum() - effects @ sums), 0.0) / free if free > 0 else 0.0


def _interval_half_width(components: list[_VarianceComponent], tail_probability: float) -> float:
    """Return half the interval of a symmetric mean; `tail_probability` is that of an end."""
    # Not as a sum of squares: the quantile of two questions may be as large as a number can be.
    varying = (component for component in components if component.variance)
    return hypot(*(component.widened_t_quantile(tail_probability) * sqrt(component.variance) for component in varying))


def _find_interval_and_p_of_mean_or_share(
    mean: float, components: list[_VarianceComponent], limits: Limits, confidence: float, draws: Floats | _Cells | None
) -> _Ends:
    """Return the interval of a share, of which these are the `draws`; without them that of any other mean."""
    if draws is None:
        return _find_mean_interval_and_p(mean, components, limits, confidence)
    return _find_share_interval_with_nan_p(mean, components, limits, confidence, draws)


def _find_mean_interval_and_p(
    mean: float, components: list[_VarianceComponent], limits: Limits, confidence: float
) -> _Ends:
    components = [component for component in components if component.variance]
    error = sqrt(sum(component.variance for component in components))

    def half_width_in_standard_errors(probability: float) -> float:
        """Return `_interval_half_width` in standard errors."""
        return _interval_half_width(components, probability) / error

    # Alike at every confidence, so that p belongs to the intervals of all of them.
    largest_bend = _MOST_BENT / (6 * half_width_in_standard_errors((1 - LEVEL) / 2))
    reach = half_width_in_standard_errors((1 - confidence) / 2)
    skew = min(max(sum(component.third for component in components) / (6 * error**3), -largest_bend), largest_bend)
    low, high = (
        mean - _correct_quantile_for_skewness(reach, skew) * error,
        mean - _correct_quantile_for_skewness(-reach, skew) * error,
    )
    low, high = (min(max(end, limits[0]), limits[1]) for end in (low, high))
    return (
        low,
        high,
        _compute_p_value(
            abs(_undo_skewness_correction(mean / error, skew)),
            half_width_in_standard_errors,
            components[0] if len(components) == 1 else None,
        ),
    )


def _find_share_interval_with_nan_p(
    mean: float, components: list[_VarianceComponent], limits: Limits, confidence: float, draws: Floats | _Cells
) -> _Ends:
    """Return the interval of Clopper and Pearson of a share, for as many single answers as would be as sure as these.

    How many follows from the variance (Korn and Graubard, 1998), if it is known. As long as fewer than
    `_LEAST_UNUSUAL` of the questions, or documents, are not at the same end as the others, nothing shows how they
    differ, and they are also no more than the independent `draws`.
    """
    n, unusual = _count_independent_and_unusual_draws(draws, limits)
    # Rounded, because what is at an end may be a hair beside it.
    share, tail = round(mean / limits[1], 12), (1 - confidence) / 2
    half = _interval_half_width(components, tail) / limits[1]
    if half > _ROUNDING:
        effective_size = share * (1 - share) * (float(ndtri(tail)) / half) ** 2
        n = effective_size if unusual >= _LEAST_UNUSUAL else min(n, effective_size)
    low = float(betaincinv(share * n, n - share * n + 1, tail)) if share > 0 else 0.0
    high = float(betaincinv(share * n + 1, n - share * n, 1 - tail)) if share < 1 else 1.0
    return low * limits[1], high * limits[1], np.nan


def _count_independent_and_unusual_draws(draws: Floats | _Cells, limits: Limits) -> tuple[float, int]:
    """Return the number of independent draws, and of questions (or documents) that are not wholly at the usual end."""
    if isinstance(draws, _Cells):
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_bipartite_matching

        # Only cells that share neither a question nor a document are independent of each other.
        places = draws.question.astype(np.int32), draws.document.astype(np.int32)  # all that SciPy before 1.15 matches
        pairs = csr_array((np.ones(len(draws.value)), places))
        n = int((maximum_bipartite_matching(pairs) >= 0).sum())
        unusual = [len(np.unique(draws.document[~np.isclose(draws.value, end)])) for end in limits]
    else:
        n, unusual = len(draws), [int((~np.isclose(draws, end)).sum()) for end in limits]
    return n, min(unusual)


def _correct_quantile_for_skewness(quantile: float, skew: float) -> float:
    """Transform a t quantile as Willink does, finite for each `quantile`; `skew` is a sixth of the mean's skewness."""
    if abs(skew) < _ROUNDING:
        return quantile
    return (cbrt(1 + 6 * skew * (quantile - skew)) - 1) / (2 * skew)


def _undo_skewness_correction(quantile: float, skew: float) -> float:
    """Invert `_correct_quantile_for_skewness`."""
    return quantile + skew + 2 * skew * quantile**2 + 4 / 3 * skew**2 * quantile**3


def _compute_p_value(
    distance: float, half_width: Callable[[float], float], only_component: _VarianceComponent | None
) -> float:
    """Return twice the probability of an end whose interval reaches so far."""
    if only_component is not None:
        return 2 * float(stdtr(only_component.n - 1, -distance / (1 + 1 / (only_component.n * (only_component.n - 1)))))
    smallest_p = 1e-100  # Below it, the quantile is not to be had for all degrees of freedom.
    if half_width(smallest_p) <= distance:
        return 0.0
    if distance == 0:
        return 1.0
    return 2 * float(10.0 ** find_root(lambda power: half_width(10.0**power) - distance, -100.0, np.log10(0.5)))
