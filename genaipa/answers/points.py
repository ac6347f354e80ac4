"""The points of an annotated answer, and what a score ticked of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from genaipa.answers.fact import Column, ScoreFact

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeGuard

    import pandas as pd

    from genaipa.answers.fact import Row, StudyInputs
    from genaipa.questions.points import Point, Ticks
    from genaipa.scoring.events import Event


@dataclass(frozen=True)
class PointsOf:
    """The points of an annotated answer, and their `digest`; `has_words` says whether these may be shown."""

    digest: str
    points: tuple[Point, ...]
    has_words: bool = True

    def are_in(self, ticks: Ticks | None) -> TypeGuard[Ticks]:
        """Whether ticks are of these very points: they may have been edited since."""
        return ticks is not None and ticks.digest == self.digest

    def counts(self, ticks: Ticks) -> dict[str, Any]:
        """The columns of a score with these ticks (`PointCounts`)."""
        vital = {point.id for point in self.points if point.weight == "vital"}
        harm = {point.id for point in self.points if point.if_wrong}
        numbers = (
            *(len(self.points), len(vital), len(ticks.said), len(vital.intersection(ticks.said))),
            *(len(ticks.contradicted), len(harm)),
        )
        hurts = ("no" if harm.isdisjoint(ticks.contradicted) else "yes") if harm else ""
        return dict(zip(PointCounts.columns, (*numbers, hurts), strict=True))


class PointCounts(ScoreFact):
    """The points that a score ticked, of those of its question's annotated answer."""

    name = "points"
    columns = {
        "points": Column(
            "float64",
            "points of the annotated answer that the score ticked; empty, as the next six, for a score without ticks, "
            "or with ticks of points that were edited since",
        ),
        "points_vital": Column("float64", "points of these that are vital"),
        "points_said": Column("float64", "points that the answer says"),
        "points_vital_said": Column("float64", "points of these that are vital"),
        "points_contradicted": Column("float64", "points that the answer contradicts"),
        "points_harm": Column("float64", "points whose contradiction would hurt a reader"),
        "harm": Column(
            "category",
            "yes or no: whether the answer contradicts one of these; empty where there is none",
            values=("yes", "no"),
        ),
    }

    def reader(self, study: StudyInputs, answers: pd.DataFrame) -> Callable[[Event], Row] | None:
        """Return what counts a score's ticks; None where no annotated answer has points."""
        pointed = points_of(study, answers)

        def count(event: Event) -> Row:
            points = pointed.get(event.answer)
            return points.counts(event.ticks) if points is not None and points.are_in(event.ticks) else {}

        return count if pointed else None


def points_of(study: StudyInputs, answers: pd.DataFrame) -> dict[str, PointsOf]:
    """Return the points of its question's annotated answer for each answer's digest that has any."""
    if not study.points:
        return {}
    columns = (answers[name] for name in ("answer", "run", "document", "question"))
    placed = ((answer, study.points.get((*place,))) for answer, *place in zip(*columns, strict=True))
    return {answer: points for answer, points in placed if answer and points}
