"""The points of annotated answers, and what a score ticked of them: a fact about scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa.answers.fact import Column, ScoreFact
from genaipa.questions.points import points_digest
from genaipa.runs.manifest import LEFT_OUT, read_withheld_text_facts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeGuard

    import pandas as pd

    from genaipa.answers.fact import Place, Row, StudyInputs
    from genaipa.questions.annotations import AnnotatedAnswer
    from genaipa.questions.points import Point, Ticks
    from genaipa.runs.selection import SelectedRun
    from genaipa.scoring.events import Event


@dataclass(frozen=True)
class AnnotatedPoints:
    """The points of an annotated answer, and the `digest` of their words, also where a pack leaves these out."""

    digest: str
    points: tuple[Point, ...]

    def are_ticks_of_these_points(self, ticks: Ticks | None) -> TypeGuard[Ticks]:
        """Tell whether ticks are of these very points: they may have been edited since."""
        return ticks is not None and ticks.digest == self.digest

    def make_tick_count_columns(self, ticks: Ticks) -> dict[str, Any]:
        """Return the columns of a score with these ticks (`PointCounts`)."""
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
    columns: ClassVar = {
        "points": Column(
            "float64",
            "points of the annotated answer that the ticks refer to; empty, like the next six columns, for a score "
            "without ticks or with ticks of points that have since been edited",
        ),
        "points_vital": Column("float64", "vital points among these"),
        "points_said": Column("float64", "points that the answer says"),
        "points_vital_said": Column("float64", "vital points that the answer says"),
        "points_contradicted": Column("float64", "points that the answer contradicts"),
        "points_harm": Column("float64", "points whose contradiction would hurt a reader"),
        "harm": Column(
            "category",
            "yes or no: whether the answer contradicts such a point; empty if there is no such point",
            values=("yes", "no"),
        ),
    }

    def make_event_reader(self, study: StudyInputs, answers: pd.DataFrame) -> Callable[[Event], Row] | None:
        """Return what counts a score's ticks; None where no annotated answer has points."""
        pointed = match_points_to_answers(study.sources, study.annotated, answers)

        def count_ticked_points(event: Event) -> Row:
            points = pointed.get(event.answer)
            return (
                points.make_tick_count_columns(event.ticks)
                if points is not None and points.are_ticks_of_these_points(event.ticks)
                else {}
            )

        return count_ticked_points if pointed else None


def match_points_to_answers(
    sources: Sequence[SelectedRun], annotated: Mapping[Place, AnnotatedAnswer], answers: pd.DataFrame
) -> dict[str, AnnotatedPoints]:
    """Return the points of its question's annotated answer for each answer's digest that has any."""
    points_by_place = find_points_by_run_document_question(sources, annotated)
    if not points_by_place:
        return {}
    columns = (answers[name] for name in ("answer", "run", "document", "question"))
    placed = ((answer, points_by_place.get((*coordinates,))) for answer, *coordinates in zip(*columns, strict=True))
    return {answer: points for answer, points in placed if answer and points}


def find_points_by_run_document_question(
    sources: Sequence[SelectedRun], annotated: Mapping[Place, AnnotatedAnswer]
) -> dict[Place, AnnotatedPoints]:
    """Return the points of these annotated answers; of runs in a pack by the digests that it keeps."""
    folders, digests_kept = {source.folder.name: source.folder for source in sources}, {}
    points_by_place = {}
    for (run, document, question), answer in annotated.items():
        if not answer.points:
            continue
        digest = points_digest(answer.points)
        if any(point.text == LEFT_OUT for point in answer.points):
            if run not in digests_kept:
                digests_kept[run] = read_withheld_text_facts(folders[run]).points
            digest = digests_kept[run].get(document, {}).get(question, "")
        points_by_place[run, document, question] = AnnotatedPoints(digest, answer.points)
    return points_by_place
