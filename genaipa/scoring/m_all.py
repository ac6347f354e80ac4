"""The overall quality of an answer, the averages of Algorithm 2, and the bands (paper, section 5 and Appendix A)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from genaipa.scoring.rubric import METRICS, VALUES, Metric, Values

if TYPE_CHECKING:
    from collections.abc import Sequence

Band = Literal["Green", "Yellow", "Red"]

_MOST = len(METRICS) * max(VALUES)
_LEAST = len(METRICS) * min(VALUES)


@dataclass(frozen=True, slots=True)
class Averages:
    """What the scores of one answer come to: each metric averaged over them, from -1 to 1, and M_all with its points.

    M_all+ and M_all- are averaged over the scores as well, so that a -1 which another analyst's +1 outweighs still
    shows in M_all-. `scores` is how many there are.
    """

    relevance: float
    accuracy: float
    clarity: float
    completeness: float
    reference: float
    m_all: float
    m_all_positive: float
    m_all_negative: float
    scores: int

    def __getitem__(self, metric: Metric) -> float:
        value: float = getattr(self, metric)
        return value


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where the bands begin: Green from `green` up, Red below `red`, Yellow between; a ValueError if they cross.

    The bounds are on the scale of a metric, from -1 to 1. Whatever uses a band says by which bounds (`in_words`).
    """

    green: float = 0.5
    red: float = 0.0

    def __post_init__(self) -> None:
        if not self.red <= self.green:
            raise ValueError(f"Red ends at {self.red:g}, which must not be above {self.green:g}, where Green begins")

    @property
    def overall(self) -> Bounds:
        """The same bounds on the scale of M_all: what it is where every metric stands at the bound."""
        return Bounds(from_points(len(METRICS) * self.green), from_points(len(METRICS) * self.red))

    @property
    def in_words(self) -> str:
        """What a reader of a band has to know."""
        m_all = self.overall
        return (
            f"Green from {self.green:g} (M_all {m_all.green:g}) up, "
            f"Red below {self.red:g} (M_all {m_all.red:g}), Yellow between"
        )


def m_all(values: Values) -> float:
    """The overall quality of one answer by one score, from 1 to 10."""
    points: float = from_points(sum(values[metric] for metric in METRICS))
    return points


def m_all_positive(values: Values) -> float:
    """M_all+: the sum of the positive values, from 0 to 5."""
    return sum(max(values[metric], 0.0) for metric in METRICS)


def m_all_negative(values: Values) -> float:
    """M_all-: the sum of the negative values, from -5 to 0."""
    return sum(min(values[metric], 0.0) for metric in METRICS)


def average(scores: Sequence[Values]) -> Averages:
    """The averages of one answer over its scores: of several repetitions or analysts; a ValueError for no score."""
    if not scores:
        raise ValueError("no score, so nothing to average")
    # Values are halves, so that sums are exact and an average that is on a bound is found there.
    sums = {metric: sum(values[metric] for values in scores) for metric in METRICS}
    count = len(scores)
    return Averages(
        **{metric: total / count for metric, total in sums.items()},
        m_all=from_points(sum(sums.values()) / count),
        m_all_positive=sum(map(m_all_positive, scores)) / count,
        m_all_negative=sum(map(m_all_negative, scores)) / count,
        scores=count,
    )


def band(value: float, bounds: Bounds) -> Band:
    """The band of a metric's average by `bounds`, and that of M_all by `bounds.overall`."""
    # The mean of means may miss a bound by its last binary digit.
    value = round(value, 9)
    if value >= bounds.green:
        return "Green"
    return "Red" if value < bounds.red else "Yellow"


def from_points(points: Any) -> Any:
    """M_all of what the five values add up to: a number, or an array of them."""
    return (points - _LEAST) / (_MOST - _LEAST) * 9 + 1
