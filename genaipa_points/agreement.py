"""Ticks of points as ratings, on which people and judges agree or don't."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from genaipa.reports.ratings import AnswerPartRatings
from genaipa_points.counts import match_points_to_answers
from genaipa_points.tables import tabulate_point_recall_and_harm_by_judge

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from genaipa.answers.study import Study
    from genaipa.questions.points import Ticks
    from genaipa.reports.judged.verdicts import Verdicts
    from genaipa.reports.ratings import Counts, Part
    from genaipa.reports.table import Table
    from genaipa.scoring.events import Event


class PointRatings(AnswerPartRatings):
    """What people and judges ticked of the points of annotated answers; a part is a point by its number."""

    noun = "points"
    values = {"contradicted": -1.0, "not said": 0.0, "said": 1.0}  # noqa: RUF012 - stated once

    def count_ratings(self, study: Study, events: Iterable[Event]) -> Counts:
        """Count the ticks of each point; those of points that were edited since count nowhere."""
        points = match_points_to_answers(study.sources, study.annotated.answers, study.answers)
        counts: defaultdict[Part, NDArray[np.int64]] = defaultdict(lambda: np.zeros(len(self.values), np.int64))
        for event in events:
            known_points, ticks = points.get(event.answer), event.ticks
            if known_points is not None and known_points.are_ticks_of_these_points(ticks):
                for number, point in enumerate(known_points.points):
                    counts[event.answer, number][_tick_value_code(ticks, point.id)] += 1
        return dict(counts)

    def tabulate_judge_ratings_by_system(self, study: Study, judge_verdicts: Verdicts) -> Table:
        """Tabulate recall of vital points and the harm rate by judges' ticks alone."""
        return tabulate_point_recall_and_harm_by_judge(study, judge_verdicts)


def _tick_value_code(ticks: Ticks, point_id: str) -> int:
    """Return the number of the value that was ticked of a point."""
    return 2 if point_id in ticks.said else 0 if point_id in ticks.contradicted else 1
