"""The regression estimator: what people would have given, from their scores of a random part and a judge's of all.

Each answer of a group gets the value `z = λf + c + [drawn and scored] (y - λf - c) / π`: f is the judge's score, y the
people's, λ the slope of y on f, π the share of answers that were drawn, and c the average of `y - λf`. Whatever the
judge is worth, the average of z is right on average over the draws, and it varies the less the better the judge is
(the regression estimator of survey sampling; PPI++, https://arxiv.org/abs/2311.01453). c changes no average where each
question has a scored answer; it keeps that from hanging on how many answers of a document, or which questions, were
drawn.

π is the share that came about, not the planned one: of the answers of a cell (one question about one
document), of the cells of a question, and of the questions of a group, each weighed as the average weighs them. So the
people's part is the average that they give alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from genaipa.reports.crossed import LEVEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]
    Flags = NDArray[np.bool_]


_LEAST_FREE = 10
"""Degrees of freedom below which variances within and between questions are pooled."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """The answers that were drawn and scored, and their sampling frame; arrays with an element for each answer.

    `cell`, `question` and `group` are numbers from 0: a cell lies in one question, and a question in one group (the
    same question in another group has another number). `scored` are the answers that were drawn and scored, `eligible`
    all that could have been drawn; an answer outside those counts as itself where people scored it, and else by the
    judge.
    """

    scored: Flags
    eligible: Flags
    cell: Places
    question: Places
    group: Places

    @cached_property
    def weight(self) -> Floats:
        """The weight of each answer in its group's average: questions, their cells, and their answers count alike."""
        answers = np.bincount(self.cell)[self.cell]
        cells = _different(self.cell, self.question)[self.question]
        questions = _different(self.question, self.group)[self.group]
        found: Floats = 1.0 / (answers * cells * questions)
        return found

    @cached_property
    def inverse(self) -> Floats:
        """1/π of each answer that was drawn and scored, and 0 of the others."""
        found = self.scored.astype(np.float64)
        for level in (self.cell, self.question, self.group):
            there, whole = (np.bincount(level, self.weight * of) for of in (found, self.eligible))
            found *= np.divide(whole, there, out=np.zeros_like(whole), where=there > 0)[level]
        return found

    @cached_property
    def questions(self) -> Places:
        """The number of questions of each group that have an answer that was drawn and scored."""
        return _different(self.question, self.group, self.scored)

    @cached_property
    def known(self) -> Flags:
        """Whether an answer's question has an answer that was drawn and scored."""
        found: Flags = np.bincount(self.question, self.scored)[self.question] > 0
        return found

    def slope(self, people: Floats, judge: Floats) -> float:
        """λ: the slope of people's scores on the judge's within groups, over all that was drawn and scored; 0 or more.

        0 where the judge gave the same to all of a group, and where the slope's own interval holds 0.
        """
        group = self.group[self.scored]
        mine, theirs = (_within(values[self.scored], group) for values in (judge, people))
        squares = float((mine**2).sum())
        free = len(group) - len(np.unique(group)) - 1
        if not squares or free < 1:
            return 0.0
        slope = float((mine * theirs).sum()) / squares
        error: float = np.sqrt(((theirs - slope * mine) ** 2).sum() / free / squares)
        return slope if slope > _reach(free) * error else 0.0

    def rectified(self, people: Floats, judge: Floats, slope: float) -> Floats:
        """The z of each answer; `people` is NaN where they gave no score. Without a scored answer, a group's c is 0."""
        said = slope * judge
        apart = np.where(self.scored, people - said, 0.0)
        whole, sums = (np.bincount(self.group, self.weight * self.inverse * of) for of in (np.ones(len(said)), apart))
        average = np.divide(sums, whole, out=np.zeros_like(whole), where=whole > 0)[self.group]
        found = said + average + self._stretch[self.group] * self.inverse * np.where(self.scored, apart - average, 0.0)
        return np.where(~self.eligible & ~np.isnan(people), people, found)

    def within(self, residual: Floats, group: Flags) -> float:
        """The variance of drawn and scored answers' residuals around their question's mean, in a group.

        Where too few questions have two such answers to tell, that around the group's mean, which is rather too large.
        """
        there = self.scored & group
        values, question = residual[there], self.question[there]
        free = len(values) - len(np.unique(question))
        if free < _LEAST_FREE:
            return float(values.var(ddof=1)) if len(values) > 1 else 0.0
        _, place = np.unique(question, return_inverse=True)
        return float((_within(values, place) ** 2).sum()) / free

    def half(self, residual: Floats, group: Flags) -> float:
        """Half the interval of a group's average for these very answers, if people had scored all of them.

        Nothing but the draw is chance then: the answers' residuals vary within questions (strata) where each has a
        scored answer, and the share that was drawn is known (Cochran, 1977, Sampling Techniques, section 5.3).
        """
        there = self.scored & group
        values = residual[there]
        strata = (self.question if self.known[group & self.eligible].all() else self.group)[there]
        if len(values) - len(np.unique(strata)) < _LEAST_FREE:
            strata = self.group[there]
        free = len(values) - len(np.unique(strata))
        if free < 1:
            return float("nan")
        _, place = np.unique(strata, return_inverse=True)
        variance = float((_within(values, place) ** 2).sum()) / free
        inverse = self.inverse[there]
        parts = (self.weight[there] * inverse) ** 2 * np.maximum(1 - 1 / inverse, 0.0)
        return _reach(free) * float(np.sqrt(parts.sum() * variance))

    @cached_property
    def _stretch(self) -> Floats:
        """The factor by which scored questions are drawn out from their average where others have no score.

        With it, the variance over all questions is that over the scored ones, as if they alone were there: a few
        questions' deviations from their own average are too small by (s - 1)/s.
        """
        all_, some = _different(self.question, self.group, self.eligible), self.questions
        few = (some > 1) & (some < all_)
        found = np.ones(len(some))
        found[few] = np.sqrt(some[few] * (all_[few] - 1) / ((some[few] - 1) * all_[few]))
        return found


def _reach(free: int) -> float:
    """Standard errors from an interval's middle to its end."""
    return -float(stdtrit(free, (1 - LEVEL) / 2))


def _within(values: Floats, group: Places) -> Floats:
    """The deviations from the groups' means."""
    each = np.maximum(np.bincount(group), 1)
    found: Floats = values - (np.bincount(group, values) / each)[group]
    return found


def _different(part: Places, whole: Places, let: Flags | None = None) -> Places:
    """The number of different parts that each whole has."""
    size = int(whole.max(initial=-1)) + 1
    if let is not None:
        part, whole = part[let], whole[let]
    _, first = np.unique(part, return_index=True)
    return np.bincount(whole[first], minlength=size)
