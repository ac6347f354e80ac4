"""Scores that were filled in beforehand, held against what people gave to the same answers without that."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from genaipa.scoring.current import independent_scores

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.scoring.events import Event
    from genaipa.scoring.rubric import Rubric, Values

LEAST = 30
"""Answers below which no difference is given."""


@dataclass(frozen=True, slots=True)
class Preselected:
    """The effect of values that were filled in before the analyst chose.

    `scores` is the number of independent scores that began so, `answers` of the answers among these that others scored
    without. `differences` are, by metric, the means over these answers of the value with less the value without: above
    0, filled-in values are more lenient. None below `LEAST` answers.
    """

    scores: int
    answers: int
    differences: dict[str, float | None]


def compare(events: Iterable[Event], rubric: Rubric) -> Preselected:
    """Compare the scores of a whole log, those alone that were given independently."""
    sides: defaultdict[str, tuple[list[Values], list[Values]]] = defaultdict(lambda: ([], []))
    count = 0
    for score in independent_scores(events):
        assert score.values is not None, "a score has values"
        sides[score.answer][score.preselected].append(score.values)
        count += score.preselected
    both = [(without, filled) for without, filled in sides.values() if without and filled]

    def difference(metric: str) -> float | None:
        if len(both) < LEAST:
            return None
        return fmean(fmean(v[metric] for v in filled) - fmean(v[metric] for v in without) for without, filled in both)

    return Preselected(count, len(both), {metric: difference(metric) for metric in rubric.metrics})
