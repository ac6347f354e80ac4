"""Points of annotated answers: how many vital ones a system says, how often it denies one that hurts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from genaipa.reports.chapters.chapter import Chapter, experiments_of, present
from genaipa.reports.figures.points import missed_map
from genaipa.reports.points import agreement, by_point, contradicted, missed, rates

if TYPE_CHECKING:
    from genaipa.reports.figures.figure import Scope
    from genaipa.reports.gather import Gathered

_METHOD = """Points are the statements of a complete answer, by the annotated one; analysts tick each as said or
contradicted."""


def chapter(gathered: Gathered, scope: Scope) -> Chapter:
    """Recall of vital points, the harm rate, and the points missed most; nothing where no person ticked any."""
    found = rates(gathered.frame)
    if not found:
        return Chapter("points", "Points said, and harm", "")
    each = by_point(gathered)
    of_points = missed(each)
    return Chapter(
        "points",
        "Points said, and harm",
        "How much of what a complete answer says a system says, and how often it contradicts what would hurt a reader.",
        present(found, contradicted(each), of_points, agreement(gathered)),
        scope.pages([partial(missed_map, each, experiment) for experiment in experiments_of(of_points)]),
        method=_METHOD,
        first=(found.name,),
    )
