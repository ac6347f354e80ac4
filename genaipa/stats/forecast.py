"""Forecast of how many more scores would make an estimate from people and a judge so sure.

The variance of a question's mean has two parts: how questions differ, which only more questions or documents lessen,
and what the answers leave open that people have not scored, which scores lessen. Both are known roughly, so that a
number of scores comes with a range: it holds 80 of 100 outcomes (docs/method/estimates.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from genaipa.stats.arrays import as_values
from genaipa.stats.intervals import LEVEL

if TYPE_CHECKING:
    from genaipa.stats.arrays import Floats

_DRAWS = 2000
_TAILS = (0.1, 0.9)


class MoreScores(NamedTuple):
    """The scores still needed, and the ends of their range; infinite where all answers are too few."""

    more: float
    least: float
    most: float


class Forecast(NamedTuple):
    """The variances behind a mean of `questions`, each with `each` answers; people scored `scored` in all.

    `between` is the variance of the questions' means if all answers were scored, `within` that of an answer's residual
    around its question's. `half` is half the interval for these documents as it is.
    """

    questions: int
    each: float
    scored: int
    between: float
    within: float
    half: float

    @property
    def half_interval_if_all_scored(self) -> float:
        """Return half the interval if people scored every answer: never more than now, which the scale bounds."""
        return min(self.half, self._interval_quantile() * float(np.sqrt(self.between / self.questions)))

    def forecast_further_scores_needed(self, target_half_interval: float) -> MoreScores:
        """Return the scores still needed for half the interval to be `target_half_interval`."""
        random, free = np.random.default_rng(0), (self.questions - 1, max(self.scored - 1, 1))
        between, within = (random.chisquare(n, _DRAWS) / n for n in free)
        needed = self._compute_total_scores_needed(target_half_interval, self.between * between, self.within * within)
        low, high = np.quantile(needed, _TAILS, method="nearest")
        middle = self._compute_total_scores_needed(
            target_half_interval, np.array([self.between]), np.array([self.within])
        )[0]
        return MoreScores(*(max(float(number) - self.scored, 0.0) for number in (middle, low, high)))

    def _interval_quantile(self) -> float:
        n = self.questions
        return -float(stdtrit(n - 1, (1 - LEVEL) / 2)) * (1 + 1 / (n * (n - 1)))

    def _compute_total_scores_needed(
        self, target_half_interval: float, between_variances: Floats, within_variances: Floats
    ) -> Floats:
        within_variance = self.questions * (target_half_interval / self._interval_quantile()) ** 2 - between_variances
        divisor = (
            np.divide(
                within_variance, within_variances, out=np.full_like(within_variance, np.inf), where=within_variances > 0
            )
            + 1 / self.each
        )
        needed: Floats = np.where(within_variance > 0, self.questions / divisor, np.inf)
        return needed


def make_score_forecast(
    question_means: Any, answer_count: int, scored_answer_count: int, residual_variance: float, half_interval: float
) -> Forecast:
    """Return the forecast of a group of `answer_count`, of which people `scored_answer_count` a random part.

    `question_means` are the questions' means of the estimate, whose variance is partly what was not scored; `within` is
    the variance of an answer's residual around its question's, and `half_interval` half the interval for these
    documents.
    """
    values = as_values(question_means)
    number = len(values)
    answers_per_question = answer_count / number
    noise = residual_variance * max(number / scored_answer_count - 1 / answers_per_question, 0.0)
    between = max(float(values.var(ddof=1)) - noise, 0.0)
    return Forecast(number, answers_per_question, scored_answer_count, between, residual_variance, half_interval)
