"""The chapters of a report: a file each, with its tables, its figures and its words, and their order.

A chapter is made by a class, found by an entry point of the group `genaipa.chapters`; the core's own are in `OWN`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from genaipa.answers.tidy import plain_texts
from genaipa.plugins import make_each
from genaipa.reports.chapters import prompting
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker
from genaipa.reports.figures.figure import Scope
from genaipa.reports.part import add_figure_warning, add_table_warning, find_thin_experiments
from genaipa.words import some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from genaipa.answers.study import Study
    from genaipa.scoring.rubric import Bounds

OWN = {
    "outcomes": "genaipa.reports.chapters.outcomes:OutcomesChapter",
    "overall": "genaipa.reports.chapters.overall:OverallChapter",
    "documents": "genaipa.reports.chapters.documents:DocumentsChapter",
    "groups": "genaipa.reports.chapters.groups:GroupsChapter",
    "metrics": "genaipa.reports.chapters.metrics:MetricsChapter",
    "silent": "genaipa.reports.chapters.silent:SilentChapter",
    "robustness": "genaipa.reports.chapters.robustness:RobustnessChapter",
    "consistency": "genaipa.reports.chapters.consistency:ConsistencyChapter",
    "order": "genaipa.reports.chapters.order:OrderChapter",
    "prompting": "genaipa.reports.chapters.prompting:PromptingChapter",
    "closed_book": "genaipa.reports.chapters.closed_book:ClosedBookChapter",
    "regulation": "genaipa.reports.chapters.regulation:RegulationChapter",
    "cost": "genaipa.reports.chapters.cost:CostChapter",
    "agreement": "genaipa.reports.chapters.agreement:AgreementChapter",
    "judges": "genaipa.reports.chapters.judges:JudgesChapter",
    "texts": "genaipa.reports.chapters.texts:TextsChapter",
    "exclusions": "genaipa.reports.chapters.exclusions:ExclusionsChapter",
}
"""The makers of the core's own chapters, in reading order."""


class MadeChapters(NamedTuple):
    """The chapters of a report in reading order, and sentences on chapters of packages that can't be made."""

    chapters: list[Chapter]
    problems: list[str]


@plain_texts
def make_chapters(study: Study, bounds: Bounds) -> MadeChapters:
    """Make the chapters that a report of this study has; `bounds` are the bands'."""
    scope = Scope.from_frame(study.table, study.questions.categories, bounds, study.questions.texts)
    made: list[Chapter] = []
    makers, unloaded = _makers()
    problems = [*unloaded]
    for name, maker in _fitting(makers, study):
        try:
            chapter = maker.make(study, scope)
            taken = _taken_names(chapter, made) if chapter else []
        except Exception as error:
            if name in OWN:
                raise
            problems.append(f"The chapter {name} is left out: it can't be made ({type(error).__name__}: {error}).")
            continue
        if taken:
            problems.append(f"The chapter {name} is left out: there is already something called {some(taken, 3)}.")
        elif chapter:
            made.append(chapter)
    made, few = prompting.noted(made, study.table), find_thin_experiments(study.table)
    if few:
        made = [
            each.changed(lambda one: add_table_warning(one, few), lambda one: add_figure_warning(one, few))
            for each in made
        ]
    return MadeChapters(made, problems)


def chapter_sentences(study: Study, *, urgent: bool) -> list[str]:
    """Return the notable sentences of the chapters that are urgent, or of the others, in reading order."""
    makers, _ = _makers()
    sentences: list[str] = []
    for name, maker in _fitting(makers, study):
        if maker.is_urgent != urgent:
            continue
        try:
            sentences += [*maker.notable(study)]
        except Exception as error:
            if name in OWN:
                raise
            sentences.append(f"What is notable in the chapter {name} is not known ({type(error).__name__}: {error}).")
    return sentences


def _makers() -> tuple[dict[str, ChapterMaker], tuple[str, ...]]:
    return make_each("chapter", OWN, ChapterMaker)


def _fitting(makers: Mapping[str, ChapterMaker], study: Study) -> Iterator[tuple[str, ChapterMaker]]:
    """Yield the makers whose needs the study meets, in reading order."""
    scored = bool(study.table["counted"].any())
    for name in _reading_order(makers):
        maker = makers[name]
        if (scored or not maker.needs_scores) and study.has(*maker.needs):
            yield name, maker


def _reading_order(makers: Mapping[str, ChapterMaker]) -> list[str]:
    """Return the names of chapters, each of a package behind the one that it names, else at the end."""

    def with_followers(name: str) -> Iterator[str]:
        yield name
        for follower, maker in makers.items():
            if maker.after == name and follower not in OWN:
                yield from with_followers(follower)

    placed = [name for own in OWN if own in makers for name in with_followers(own)]
    return list(dict.fromkeys([*placed, *(each for each in makers if each not in placed)]))


def _taken_names(chapter: Chapter, made: Iterable[Chapter]) -> list[str]:
    """Return the names of a chapter, its tables and figures that an earlier one has: they name anchors and files."""

    def names(one: Chapter) -> set[tuple[str, str]]:
        parts = (("table", one.tables), ("figure", one.figures))
        return {("chapter", one.name), *((of, part.name) for of, those in parts for part in those)}

    known = {name for each in made for name in names(each)}
    return sorted(name for _, name in names(chapter) & known)
