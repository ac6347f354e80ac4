"""Points of annotated answers at the desk: to and from the browser, and people's ticks side by side."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from genaipa.questions.points import Ticks, points_digest, ticked

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from genaipa.questions.points import Point
    from genaipa.scoring.answers import Pool
    from genaipa.scoring.events import Event
    from genaipa.scoring.rubric import Rubric


def on_screen(points: Sequence[Point], rubric: Rubric, marks: Mapping[str, str]) -> dict[str, Any]:
    """Points as the browser draws them, with the key of the value that follows from how many are said.

    `marks` maps a section to its mark in the document, which may lack it. `values` has a row for each number
    of vital points that are said, from 0, and in it a key for each number of the others.
    """
    of = {weight: [point.id for point in points if point.weight == weight] for weight in ("vital", "okay")}

    def key(vital: int, okay: int) -> str:
        return rubric.key(rubric.by_points(points, ticked(points, [*of["vital"][:vital], *of["okay"][:okay]])))

    return {
        "metric": rubric.pointed,
        "digest": points_digest(points),
        "values": [[key(n, m) for m in range(len(of["okay"]) + 1)] for n in range(len(of["vital"]) + 1)],
        "list": [
            {
                "id": point.id,
                "text": point.text,
                "weight": point.weight,
                "harm": bool(point.if_wrong),
                "why": point.why,
                "sections": [{"label": label, "mark": marks.get(label, "")} for label in point.sections],
            }
            for point in points
        ],
    }


def sent_ticks(points: Sequence[Point], sent: Mapping[str, Any]) -> Ticks | None:
    """The ticks that the browser sent; None without points on screen, a ValueError if they make no sense."""
    if not points:
        return None
    found = msgspec.convert(sent["ticks"], Ticks)
    return ticked(points, found.said, found.contradicted)


def any_ticked(ticks: Ticks | None) -> bool:
    """Whether any point is ticked, as said or as contradicted."""
    return ticks is not None and bool(ticks.said or ticks.contradicted)


def suggested_by(ticks: Ticks | None, points: Sequence[Point], rubric: Rubric) -> dict[str, float]:
    """Metric → the value that is suggested on screen by ticks of these points; nothing before the first tick."""
    return {rubric.pointed: rubric.by_points(points, ticks)} if ticks and any_ticked(ticks) else {}


def side_by_side(points: Sequence[Point], events: Collection[Event]) -> list[list[str]]:
    """Each point's ticks by these events: said, contradicted or not said.

    A tick is empty where the event's points were not on screen, or were edited since.
    """
    return [[_how(point, event.ticks, points_digest(points)) for event in events] for point in points]


def _how(point: Point, ticks: Ticks | None, digest: str) -> str:
    return _ticked_as(point.id, ticks) if ticks and ticks.digest == digest else ""


def _ticked_as(point: str, ticks: Ticks) -> str:
    return "contradicted" if point in ticks.contradicted else "said" if point in ticks.said else "not said"


def agreed_ticks(points: Sequence[Point], scores: Collection[Event]) -> tuple[Ticks, bool]:
    """The ticks that all these scores have, and whether they agree on every point."""
    rows = zip(points, side_by_side(points, scores), strict=True)
    alike = {point.id: hows[0] for point, hows in rows if len(set(hows)) == 1}
    said, contradicted = ([name for name, how in alike.items() if how == wanted] for wanted in ("said", "contradicted"))
    return ticked(points, said, contradicted), len(alike) == len(points)


@dataclass(frozen=True)
class PointApart:
    """A point that people tick differently in `apart` of these `answers`, each ticked by two people or more."""

    point: str
    points: str
    answers: tuple[str, ...]
    apart: int


def points_apart(scores: Iterable[Event], pool: Pool) -> list[PointApart]:
    """The points that people tick differently, the most often first; `points` is the digest of all its answer's."""
    given: defaultdict[tuple[str, str], list[Ticks]] = defaultdict(list)
    for score in scores:
        if score.ticks and score.answer in pool.answers:
            given[score.answer, score.ticks.digest].append(score.ticks)
    both: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    apart = Counter[tuple[tuple[str, str, str], str]]()
    for (digest, points), ticks in given.items():
        if len(ticks) > 1:
            about = (pool.answers[digest].document_digest, pool.answers[digest].question, points)
            both[about].append(digest)
            named = {point for one in ticks for point in (*one.said, *one.contradicted)}
            apart.update((about, point) for point in named if len({_ticked_as(point, one) for one in ticks}) > 1)
    found = [PointApart(point, about[-1], tuple(both[about]), count) for (about, point), count in apart.items()]
    return sorted(found, key=lambda one: (-one.apart, len(one.answers), one.answers, one.point))
