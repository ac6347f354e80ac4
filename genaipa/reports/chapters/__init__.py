"""The chapters of a report: a file each, with its tables, its figures and its words, and their order."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Literal

from genaipa.answers.tidy import plain_texts
from genaipa.plugins import load, plugins
from genaipa.reports.chapters import prompting
from genaipa.reports.chapters.chapter import GROUP, ChapterMaker
from genaipa.reports.figures.figure import Scope
from genaipa.reports.part import thin, warned_figure, warned_table

if TYPE_CHECKING:
    from genaipa.answers.study import Study
    from genaipa.reports.chapters.chapter import Chapter
    from genaipa.scoring.rubric import Bounds

CHAPTERS: dict[str, Literal["answers", "scores"]] = {
    "outcomes": "answers",
    "overall": "scores",
    "documents": "scores",
    "groups": "answers",
    "metrics": "scores",
    "silent": "scores",
    "robustness": "scores",
    "consistency": "scores",
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


def makers() -> list[ChapterMaker]:
    """Return the chapters that installed packages bring."""
    return [load(target)() for target in plugins(GROUP).values()]


@plain_texts
def chapters(study: Study, bounds: Bounds) -> list[Chapter]:
    """The chapters that a report has, in reading order; `bounds` are the bands'."""
    scope = Scope.of(study.table, study.questions.categories, bounds, study.questions.texts)
    scored = bool(study.table["counted"].any())
    made = []
    for name, needed in CHAPTERS.items():
        if scored or needed == "answers":
            made.append(import_module(f"{__name__}.{name}").chapter(study, scope))
        made += [
            maker.make(study, scope)
            for maker in makers()
            if maker.after == name and (scored or not maker.needs_scores) and study.has(*maker.needs)
        ]
    there, few = prompting.noted([each for each in made if each], study.table), thin(study.table)
    if not few:
        return there
    return [each.changed(lambda one: warned_table(one, few), lambda one: warned_figure(one, few)) for each in there]
