"""The chapters of a report: a file each, with its tables, its figures and its words, and their order.

A chapter is made by a class, found by an entry point of the group `genaipa.chapters`; the core's own are in `OWN`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from genaipa.answers.tidy import plain_texts
from genaipa.plugins import make_plugins_and_problems
from genaipa.reports.chapters import prompting
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker
from genaipa.reports.figures.figure import FigureScope
from genaipa.reports.part import (
    add_sparse_scores_warning_to_figure,
    add_sparse_scores_warning_to_table,
    find_sparsely_scored_experiments,
)
from genaipa.runs.authors import find_systems_with_human_replies
from genaipa.words import join_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from genaipa.answers.study import Study
    from genaipa.reports.figures.figure import Figure
    from genaipa.reports.table import Table
    from genaipa.scoring.rubric import BandBounds

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
    "agreement": "genaipa.reports.chapters.agreement:AnalystAgreementChapter",
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
def make_chapters(study: Study, bounds: BandBounds) -> MadeChapters:
    """Make the chapters that a report of this study has; `bounds` are the bands'."""
    benchmarks = find_systems_with_human_replies(source.manifest for source in study.sources)
    scope = FigureScope.from_scores_table(
        study.table, study.questions.categories, bounds, study.questions.texts, benchmarks
    )
    chapters: list[Chapter] = []
    makers, unloaded = _load_chapter_makers_and_problems()
    problems = [*unloaded]
    for name, maker in _select_applicable_chapter_makers(makers, study):
        try:
            chapter = maker.make(study, scope)
            duplicates = _find_duplicate_part_names(chapter, chapters) if chapter else []
        except Exception as error:
            if name in OWN:
                raise
            problems.append(
                f"The chapter {name} is left out: it can't be instantiated ({type(error).__name__}: {error})."
            )
            continue
        if duplicates:
            problems.append(
                f"The chapter {name} is left out because other chapters, tables or figures already have its names: "
                f"{join_some(duplicates, 3)}."
            )
        elif chapter:
            chapters.append(chapter)
    notes = collect_system_notes(study)
    if notes:
        chapters = [
            made_chapter.transform_tables_and_figures(
                lambda one: add_system_notes_to_table(one, notes), lambda one: _add_system_notes_to_figure(one, notes)
            )
            for made_chapter in chapters
        ]
    chapters, thin_counts = (
        prompting.add_prompts_to_tables_and_figures(chapters, study.table),
        find_sparsely_scored_experiments(study.table),
    )
    if thin_counts:
        chapters = [
            made_chapter.transform_tables_and_figures(
                lambda one: add_sparse_scores_warning_to_table(one, thin_counts),
                lambda one: add_sparse_scores_warning_to_figure(one, thin_counts),
            )
            for made_chapter in chapters
        ]
    return MadeChapters(chapters, problems)


def collect_system_notes(study: Study) -> dict[str, str]:
    """Collect system → the sentences that stand with its numbers; of a package's chapter that fails, none."""
    makers, _ = _load_chapter_makers_and_problems()
    notes: dict[str, str] = {}
    for name, maker in _select_applicable_chapter_makers(makers, study):
        try:
            for system, sentence in maker.system_notes(study).items():
                notes[system] = f"{notes.get(system, '')} {sentence}".strip()
        except Exception:
            if name in OWN:
                raise
    return notes


def add_system_notes_to_table(table: Table, note_by_system: Mapping[str, str]) -> Table:
    """Add the sentences on the systems that a table is about to its note."""
    sentences = _join_notes_of_systems_in_table(table, note_by_system)
    return replace(table, note=f"{table.note} {sentences}".strip()) if sentences else table


def _add_system_notes_to_figure(figure: Figure, note_by_system: Mapping[str, str]) -> Figure:
    sentences = _join_notes_of_systems_in_table(figure.table, note_by_system)
    if not sentences or sentences in figure.about:
        return figure
    return replace(figure, about=f"{figure.about} {sentences}".strip())


def _join_notes_of_systems_in_table(table: Table, note_by_system: Mapping[str, str]) -> str:
    """Return the sentences on the systems that are in any cell of a table."""
    return " ".join(note for system, note in note_by_system.items() if table.data.isin([system]).to_numpy().any())


def notable_chapter_sentences(study: Study, *, urgent: bool) -> list[str]:
    """Return the notable sentences of the chapters that are urgent, or of the others, in reading order."""
    makers, _ = _load_chapter_makers_and_problems()
    sentences: list[str] = []
    for name, maker in _select_applicable_chapter_makers(makers, study):
        if maker.is_urgent != urgent:
            continue
        try:
            sentences += [*maker.notable(study)]
        except Exception as error:
            if name in OWN:
                raise
            sentences.append(f"The notes of the chapter {name} can't be made ({type(error).__name__}: {error}).")
    return sentences


def _load_chapter_makers_and_problems() -> tuple[dict[str, ChapterMaker], tuple[str, ...]]:
    return make_plugins_and_problems("chapter", OWN, ChapterMaker)


def _select_applicable_chapter_makers(
    makers: Mapping[str, ChapterMaker], study: Study
) -> Iterator[tuple[str, ChapterMaker]]:
    """Yield the makers whose needs the study meets, in reading order."""
    scored = bool(study.table["counted"].any())
    for name in _order_chapter_names(makers):
        maker = makers[name]
        if (scored or not maker.needs_scores) and study.has_any_value_of_each_fact(*maker.needs):
            yield name, maker


def _order_chapter_names(makers: Mapping[str, ChapterMaker]) -> list[str]:
    """Return the names of chapters, each of a package behind the one that it names, else at the end."""

    def yield_chapter_and_followers(name: str) -> Iterator[str]:
        yield name
        for follower, maker in makers.items():
            if maker.after == name and follower not in OWN:
                yield from yield_chapter_and_followers(follower)

    placed = [name for core_name in OWN if core_name in makers for name in yield_chapter_and_followers(core_name)]
    return list(dict.fromkeys([*placed, *(maker_name for maker_name in makers if maker_name not in placed)]))


def _find_duplicate_part_names(chapter: Chapter, earlier_chapters: Iterable[Chapter]) -> list[str]:
    """Return the names of a chapter, its tables and figures that an earlier one has: they name anchors and files."""

    def list_part_names(subject: Chapter) -> set[tuple[str, str]]:
        parts = (("table", subject.tables), ("figure", subject.figures))
        return {("chapter", subject.name), *((of, part.name) for of, members in parts for part in members)}

    earlier_names = {name for earlier_chapter in earlier_chapters for name in list_part_names(earlier_chapter)}
    return sorted(name for _, name in list_part_names(chapter) & earlier_names)
