"""The points of an annotated answer, and the columns on what a score ticked of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from genaipa.answers.tidy import POINTS

if TYPE_CHECKING:
    from typing import TypeGuard

    from genaipa.questions.points import Point, Ticks


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
        """The columns of a score with these ticks (`tidy.POINTS`)."""
        vital = {point.id for point in self.points if point.weight == "vital"}
        harm = {point.id for point in self.points if point.if_wrong}
        numbers = (
            *(len(self.points), len(vital), len(ticks.said), len(vital.intersection(ticks.said))),
            *(len(ticks.contradicted), len(harm)),
        )
        hurts = ("no" if harm.isdisjoint(ticks.contradicted) else "yes") if harm else ""
        return dict(zip(POINTS, (*numbers, hurts), strict=True))
