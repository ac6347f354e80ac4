"""The chapters of a report: a file each, with its tables, its figures and its words, and their order."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Literal

from genaipa.reports.chapters import prompting
from genaipa.reports.figures.figure import Scope
from genaipa.reports.part import thin, warned_figure, warned_table
from genaipa.reports.tidy import plain_texts

if TYPE_CHECKING:
    from genaipa.reports.chapters.chapter import Chapter
    from genaipa.reports.gather import Gathered
    from genaipa.scoring.rubric import Bounds

CHAPTERS: dict[str, Literal["answers", "scores"]] = {
    "outcomes": "answers",
    "overall": "scores",
    "documents": "scores",
    "groups": "answers",
    "metrics": "scores",
    "points": "scores",
    "silent": "scores",
    "retrieval": "answers",
    "robustness": "scores",
    "consistency": "scores",
    "over_time": "answers",
    "order": "scores",
    "prompting": "scores",
    "closed_book": "scores",
    "regulation": "scores",
    "cost": "answers",
    "agreement": "answers",
    "judges": "answers",
    "texts": "answers",
    "exclusions": "answers",
}
"""File in this folder → the data that its chapter needs; in reading order."""


@plain_texts
def chapters(gathered: Gathered, bounds: Bounds) -> list[Chapter]:
    """The chapters that a report has, in reading order; `bounds` are the bands'."""
    scope = Scope.of(gathered.frame, gathered.categories, bounds, gathered.questions)
    scored = bool(gathered.frame["counted"].any())
    wanted = (name for name, needed in CHAPTERS.items() if scored or needed == "answers")
    made = [import_module(f"{__name__}.{name}").chapter(gathered, scope) for name in wanted]
    there, few = prompting.noted([each for each in made if each], gathered.frame), thin(gathered.frame)
    if not few:
        return there
    return [each.changed(lambda one: warned_table(one, few), lambda one: warned_figure(one, few)) for each in there]
