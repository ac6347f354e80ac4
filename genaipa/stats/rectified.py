"""Means of what people would have given to all answers, from a judge's scores of all and theirs of a random part.

Each answer of a group gets the value `z = λf + c + [drawn and scored] (y - λf - c) / π`: f is the judge's score, y the
people's, λ the slope of y on f, π the share of answers that were drawn, and c the mean of `y - λf`. Whatever the judge
is worth, the mean of z is right on average over the draws, and it varies the less the better the judge is (the
regression estimator of survey sampling; Angelopoulos and others, 2023, PPI++, https://arxiv.org/abs/2311.01453). c
changes no mean where each question has a scored answer; it keeps that from hanging on how many answers of a document,
or which questions, were drawn.

π is the share that came about, not the planned one: of the answers of a cell (one question about one document), of the
cells of a question, and of the questions of a group, each weighed as the mean weighs them. So the people's part is the
mean that they give alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from genaipa.stats.arrays import as_flags_or_all_true, as_labels, as_values
from genaipa.stats.intervals import LEVEL
from genaipa.stats.reason import Reason

if TYPE_CHECKING:
    from genaipa.stats.arrays import Flags, Floats, Labels

_LEAST_FREE = 10
"""Degrees of freedom below which variances within and between questions are pooled."""
_ROUNDING = 1e-9
"""Differences of differences up to this are errors of rounding."""


@dataclass(frozen=True, eq=False)
class ScoredSample:
    """The answers that were drawn and scored, and their sampling frame; arrays with an element for each answer.

    `cell`, `question` and `group` are numbers from 0: a cell lies in one question, and a question in one group (the
    same question in another group has another number). `scored` are the answers that were drawn and scored, `eligible`
    all that could have been drawn; an answer outside those counts as itself where people scored it, and else by the
    judge.
    """

    scored: Flags
    eligible: Flags
    cell: Labels
    question: Labels
    group: Labels

    def __post_init__(self) -> None:
        """Check the lengths and labels."""
        size = len(self.cell)
        for flags in (self.scored, self.eligible):
            as_flags_or_all_true(flags, size)
        for labels in (self.cell, self.question, self.group):
            as_labels(labels, size)
        if (self.scored & ~self.eligible).any():
            raise ValueError("an answer counts as drawn and scored, but is not eligible")

    @cached_property
    def answer_weights(self) -> Floats:
        """Return the weight of each answer in its group's mean: questions, their cells and answers count alike."""
        answers = np.bincount(self.cell)[self.cell]
        cells = _count_distinct_parts_by_whole(self.cell, self.question)[self.question]
        questions = _count_distinct_parts_by_whole(self.question, self.group)[self.group]
        weight: Floats = 1.0 / (answers * cells * questions)
        return weight

    @cached_property
    def inverse_drawn_shares(self) -> Floats:
        """Return 1/π of each answer that was drawn and scored, and 0 of the others."""
        inverse = self.scored.astype(np.float64)
        for level in (self.cell, self.question, self.group):
            part, whole = (np.bincount(level, self.answer_weights * shares) for shares in (inverse, self.eligible))
            inverse *= np.divide(whole, part, out=np.zeros_like(whole), where=part > 0)[level]
        return inverse

    @cached_property
    def scored_question_count_by_group(self) -> Labels:
        """Return the number of questions of each group that have an answer that was drawn and scored."""
        return _count_distinct_parts_by_whole(self.question, self.group, self.scored)

    @cached_property
    def has_scored_question(self) -> Flags:
        """Return whether an answer's question has an answer that was drawn and scored."""
        scored: Flags = np.bincount(self.question, self.scored)[self.question] > 0
        return scored

    def fit_slope_or_zero_if_insignificant(self, people_scores: Floats, judge_scores: Floats) -> float:
        """Fit λ, people's scores on the judge's within groups, over all that was drawn and scored; 0 or more.

        0 where the judge gave the same to all of a group, and where the slope's own interval holds 0.
        """
        group = self.group[self.scored]
        mine, theirs = (
            _subtract_group_means(as_values(values)[self.scored], group) for values in (judge_scores, people_scores)
        )
        squares = float((mine**2).sum())
        free = len(group) - len(np.unique(group)) - 1
        if not squares or free < 1:
            return 0.0
        slope = float((mine * theirs).sum()) / squares
        error: float = np.sqrt(((theirs - slope * mine) ** 2).sum() / free / squares)
        return slope if slope > _interval_quantile(free) * error else 0.0

    def rectify_scores(self, people_scores: Floats, judge_scores: Floats, slope: float) -> Floats:
        """Return the z of each answer; `people_scores` is NaN where they gave no score.

        Without a scored answer, a group's c is 0.
        """
        predicted = slope * judge_scores
        differences = np.where(self.scored, people_scores - predicted, 0.0)
        weight = self.answer_weights * self.inverse_drawn_shares
        whole, sums = np.bincount(self.group, weight), np.bincount(self.group, weight * differences)
        average = np.divide(sums, whole, out=np.zeros_like(whole), where=whole > 0)[self.group]
        correction = (
            self._deviation_inflation_factor_by_group[self.group]
            * self.inverse_drawn_shares
            * np.where(self.scored, differences - average, 0.0)
        )
        return np.where(~self.eligible & ~np.isnan(people_scores), people_scores, predicted + average + correction)

    def reason_for_no_estimate(
        self, people_scores: Floats, judge_scores: Floats, slope: float, in_group: Flags
    ) -> Reason:
        """Return why a judge's scores give a group no estimate though people scored enough of it; or `NONE`.

        A group without a scored answer in a sample gets `NONE`.
        """
        if not slope:
            return Reason.NO_SLOPE
        people_scores, judge_scores = people_scores[self.scored & in_group], judge_scores[self.scored & in_group]
        if not people_scores.size:
            return Reason.NONE
        spread = min(np.ptp(people_scores - judge_scores), np.ptp(people_scores - slope * judge_scores))
        return Reason.EQUAL_DIFFERENCES if spread < _ROUNDING else Reason.NONE

    def residual_variance_within_questions(self, residuals: Floats, in_group: Flags) -> float:
        """Return the variance of drawn and scored answers' residuals around their question's mean, in a group.

        Where too few questions have two such answers to tell, that around the group's mean, which is rather too large.
        """
        in_sample = self.scored & in_group
        values, question = residuals[in_sample], self.question[in_sample]
        free = len(values) - len(np.unique(question))
        if free < _LEAST_FREE:
            return float(values.var(ddof=1)) if len(values) > 1 else 0.0
        _, question_numbers = np.unique(question, return_inverse=True)
        return float((_subtract_group_means(values, question_numbers) ** 2).sum()) / free

    def group_mean_half_width(self, residuals: Floats, in_group: Flags) -> float:
        """Return half the interval of a group's mean for these very answers, if people had scored all of them.

        Nothing but the draw is chance then: the answers' residuals vary within questions (strata) where each has a
        scored answer, and the share that was drawn is known (Cochran, 1977, Sampling Techniques, section 5.3).
        """
        in_sample = self.scored & in_group
        values = residuals[in_sample]
        strata = (self.question if self.has_scored_question[in_group & self.eligible].all() else self.group)[in_sample]
        if len(values) - len(np.unique(strata)) < _LEAST_FREE:
            strata = self.group[in_sample]
        free = len(values) - len(np.unique(strata))
        if free < 1:
            return float("nan")
        _, stratum_numbers = np.unique(strata, return_inverse=True)
        variance = float((_subtract_group_means(values, stratum_numbers) ** 2).sum()) / free
        inverse = self.inverse_drawn_shares[in_sample]
        parts = (self.answer_weights[in_sample] * inverse) ** 2 * np.maximum(1 - 1 / inverse, 0.0)
        return _interval_quantile(free) * float(np.sqrt(parts.sum() * variance))

    @cached_property
    def _deviation_inflation_factor_by_group(self) -> Floats:
        """Return the factor by which scored questions are drawn out from their mean where others have no score.

        With it, the variance over all questions is that over the scored ones, as if they alone were there: a few
        questions' deviations from their own mean are too small by (s - 1)/s.
        """
        every, scored = (
            _count_distinct_parts_by_whole(self.question, self.group, self.eligible),
            self.scored_question_count_by_group,
        )
        is_partial = (scored > 1) & (scored < every)
        factor = np.ones(len(scored))
        factor[is_partial] = np.sqrt(
            scored[is_partial] * (every[is_partial] - 1) / ((scored[is_partial] - 1) * every[is_partial])
        )
        return factor


def fill_missing_scores_with_group_means(judge_scores: Any, group_labels: Any) -> Floats:
    """Return the judge's scores; one that is missing is its group's mean, or 0 without any.

    That estimates as rightly, and less surely.
    """
    values = as_values(judge_scores)
    groups = as_labels(group_labels, len(values))
    present = ~np.isnan(values)
    number, sums = np.bincount(groups, present), np.bincount(groups, np.where(present, values, 0.0))
    means = np.divide(sums, number, out=np.zeros_like(sums), where=number > 0)
    return np.where(present, values, means[groups])


def count_equivalent_people_scores(people_score_count: int, widths_without_judge: Any, widths_with_judge: Any) -> float:
    """Count how many scores of people alone would be as sure as those that they gave and a judge's.

    The widths are of the same intervals. It is as many as for the
    target that gains least, and no less than what people `people_score_count`; NaN without a width.
    """
    people, judged = as_values(widths_without_judge), as_values(widths_with_judge)
    present = (judged > 0) & ~np.isnan(people)
    ratios = (people[present] / judged[present]) ** 2
    return people_score_count * max(float(ratios.min()), 1.0) if len(ratios) else np.nan


def _interval_quantile(degrees_of_freedom: int) -> float:
    """Return the standard errors from an interval's middle to its end."""
    return -float(stdtrit(degrees_of_freedom, (1 - LEVEL) / 2))


def _subtract_group_means(values: Floats, group_labels: Labels) -> Floats:
    group_sizes = np.maximum(np.bincount(group_labels), 1)
    deviations: Floats = values - (np.bincount(group_labels, values) / group_sizes)[group_labels]
    return deviations


def _count_distinct_parts_by_whole(part: Labels, whole: Labels, present: Flags | None = None) -> Labels:
    """Return the number of different parts that each whole has, of those that are present."""
    size = int(whole.max(initial=-1)) + 1
    if present is not None:
        part, whole = part[present], whole[present]
    _, first = np.unique(part, return_index=True)
    return np.bincount(whole[first], minlength=size)
