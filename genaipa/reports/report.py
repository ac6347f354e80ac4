"""A report: the tidy table of some runs and their scores, and the chapters of tables and figures made of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genaipa.answers.gather import gather_study_with_stored_scores
from genaipa.errors import UsageError
from genaipa.files.html import format_one_line_repr, html_picture
from genaipa.kinds import find_kind_or_placeholder
from genaipa.reports import notable, provenance, writing
from genaipa.reports.chapters import MadeChapters, make_chapters, overall
from genaipa.reports.chapters.chapter import make_rule_scored_results
from genaipa.reports.chapters.cost import CostChapter
from genaipa.reports.figures.figure import FORMATS, FigureScope
from genaipa.reports.render import as_json_rows
from genaipa.runs.run import Runs, resolve_workspace_and_run_names
from genaipa.runs.selection import resolve_system_or_run_name, select_runs_and_apply_filters
from genaipa.scoring.rubric import BandBounds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from genaipa.answers.study import Study
    from genaipa.reports.chapters.chapter import Chapter, TaskKindResults
    from genaipa.reports.figures.figure import Figure, Format
    from genaipa.reports.table import Table
    from genaipa.runs.filters import Filters
    from genaipa.runs.selection import SelectedRun
    from genaipa.workspace import WorkspaceLike


@dataclass(frozen=True, repr=False)
class Report:
    """Chapters of tables and figures, none of them empty, in reading order.

    `selection` are the names of systems and full names of runs that were asked for, and the filters in words; empty
    for all runs.
    """

    study: Study
    bounds: BandBounds
    chapters: list[Chapter]
    selection: tuple[str, ...] = ()
    results: Sequence[TaskKindResults] = ()
    """Results of kinds of tasks whose answers people don't score, which are in no table of answers and scores."""

    @classmethod
    def build(
        cls,
        study: Study,
        bounds: BandBounds | None = None,
        selection: Sequence[str] = (),
        results: Sequence[TaskKindResults] = (),
    ) -> Report:
        """Make the report of a study and of results by rule; `bounds` are the bands'."""
        bounds = bounds or study.rubric.bands
        procedure = not study.table.empty or not results
        if study.table["counted"].any():
            study = study.reorder_categories("system", overall.rank_systems_unscored_last(study.table))
        chapters, problems = make_chapters(study, bounds) if procedure else MadeChapters([], [])
        if problems:
            study = replace(study, problems=[*study.problems, *problems])
        chapters += [chapter for result in results for chapter in result.chapters(study)]
        if not procedure and (spent := CostChapter().make(study, FigureScope())):
            chapters.append(spent)
        return cls(study, bounds, chapters, tuple(selection), results)

    @property
    def frame(self) -> pd.DataFrame:
        """The narrow table: a row per answer and score (columns: `genaipa.scoring.columns`)."""
        return self.study.table

    @cached_property
    def tables(self) -> dict[str, Table]:
        """Every table by its name, in reading order; `.data` is its pandas frame."""
        return {table.name: table for chapter in self.chapters for table in chapter.tables}

    @cached_property
    def figures(self) -> dict[str, Figure]:
        """Every figure by its name, in reading order; `.plot()` gives matplotlib's figure, to be edited further."""
        return {figure.name: figure for chapter in self.chapters for figure in chapter.figures}

    @property
    def main_table(self) -> Table | None:
        """The table that says the most: the leaderboard, the suites', or else the questions and their outcomes."""
        named = (self.tables.get(name) for name in ("leaderboard", "card", "answers"))
        return next(filter(None, named), next(iter(self.tables.values()), None))

    @property
    def main_tables(self) -> list[Table]:
        """The tables to read first: `main_table`, and that of each set of items of a suite that it does not show.

        A card has one set of items of each suite.
        """
        first_names = [chapter.first for chapter in self.chapters if chapter.is_key]
        names = [name for first in first_names if "card" not in self.tables or len(first) > 1 for name in first]
        named = (self.tables.get(name) for name in ("card", *names))
        return list({table.name: table for table in (self.main_table, *named) if table}.values())

    @cached_property
    def notable(self) -> list[str]:
        """Sentences that no reader may miss: on answers that failed, are missing, unscored or excluded."""
        return notable.notable_sentences(self.study, self.results)

    @cached_property
    def missing_answer_sentences(self) -> list[str]:
        """Sentences of `notable` that say which answers are not here: filtered out, failed, refused or cut off."""
        return notable.sentences_on_missing_answers(self.study)

    @cached_property
    def input_tables(self) -> list[Table]:
        """The tables of what went in: runs, systems and texts."""
        study = self.study
        every = (
            provenance.tabulate_runs(study),
            provenance.tabulate_systems(study),
            provenance.tabulate_document_texts(study),
        )
        return [table for table in every if table]

    @property
    def absent(self) -> list[str]:
        """Sentences on chapters that this report lacks, and why."""
        return [sentence for chapter in self.chapters for sentence in chapter.absent]

    @property
    def problems(self) -> list[str]:
        """Sentences on unreadable files, each once."""
        return sorted({*self.study.problems, *(problem for result in self.results for problem in result.problems)})

    def as_json(self) -> dict[str, Any]:
        """Every table as rows for machines, with the sentences that a reader has to know; an absent number is null."""
        tables = {
            name: {"title": table.title, "note": table.note, "rows": as_json_rows(table)}
            for name, table in self.tables.items()
        }
        return {"notable": self.notable, "absent": self.absent, "problems": self.problems, "tables": tables}

    def __repr__(self) -> str:
        about = ", ".join(self.selection) or "all runs"
        return format_one_line_repr("Report", about, f"{len(self.tables)} tables, {len(self.figures)} figures")

    def _repr_html_(self) -> str:
        figure = next(iter(self.figures.values()), None)
        picture = html_picture(figure._repr_png_(), figure.title) if figure else ""
        return "\n".join(filter(None, (picture, self.main_table._repr_html_() if self.main_table else "")))

    def write(
        self,
        folder: Path,
        *,
        formats: Sequence[Format] = FORMATS,
        whole: bool = False,
        tell: Callable[[str], object] = str,
    ) -> Path:
        """Write the page, and every figure and table as files, into a folder; gives the page's path.

        An earlier report in the folder is replaced. `formats` are the figures', `whole` shows answers whose
        text may not be passed on, and `tell` is called at each step. The same input gives the same bytes. A
        UsageError if the folder holds files and no report, or can't be written.
        """
        return writing.write_report_over_earlier_one(self, folder, formats=formats, whole=whole, tell=tell)


def report(
    runs: Runs = (),
    folder: Path | str | None = None,
    *,
    workspace: WorkspaceLike = None,
    excluded: bool = False,
    corrected: bool = False,
    bounds: BandBounds | None = None,
    by: str = "",
    only: Filters | None = None,
    tell: Callable[[str], object] = str,
) -> Report:
    """Report on these runs, and on all runs of these systems; without a name, on every run of the workspace.

    It is written into `folder` if one is given (see `Report.write`). `excluded` counts excluded answers;
    `corrected` applies the known corrections of annotated answers; `bounds` are the bands'; `by` is a
    column of the documents' groups that are looked at apart; `only` filters the answers. A UsageError where there is no
    run, or a name fits none.

    >>> report = genaipa.report("demo")
    >>> list(report.figures)[:2]
    ['overview', 'quality-by-document']
    >>> figure = report.figures["quality-overall"].plot()
    >>> _ = figure.suptitle("Six systems, question by question")
    >>> figure.savefig("overall.png")
    """
    resolved_workspace, names = resolve_workspace_and_run_names(runs, workspace)
    resolved_workspace.check_output_outside_data(Path(folder) if folder is not None else None)
    sources = select_runs_and_apply_filters(resolved_workspace, names, only)
    left_out = _note_unreportable_task_kinds_or_raise(sources)
    study = gather_study_with_stored_scores(
        resolved_workspace, sources, count_excluded=excluded, apply_corrections=corrected, document_group_column=by
    )
    study = replace(study, problems=[*study.problems, *left_out])
    results: list[TaskKindResults] = []
    if not only or not (only.documents or only.experiments):
        tell("scoring by rule")
        results = make_rule_scored_results(resolved_workspace, sources)
    full = [resolve_system_or_run_name(resolved_workspace, name).name for name in names]
    tell("computing tables")
    built_report = Report.build(
        study, bounds, tuple(dict.fromkeys((*full, *(only.describe_each_filter() if only else ())))), results
    )
    if results and not built_report.chapters:
        raise UsageError(f"there is nothing to report on. {' '.join(built_report.problems)}")
    if folder is not None:
        built_report.write(Path(folder), tell=tell)
    return built_report


def _note_unreportable_task_kinds_or_raise(sources: Sequence[SelectedRun]) -> list[str]:
    """Sentences on the runs of kinds that have nothing in a report; a UsageError if all are."""
    tasks_by_run = {
        source.folder.name: source.manifest.spec.task
        for source in sources
        if not (kind := find_kind_or_placeholder(source.manifest.spec.kind)).people and not kind.has_results_class
    }
    if tasks_by_run and len(tasks_by_run) == len({source.folder.name for source in sources}):
        raise UsageError(
            f"a report covers the paper's questions and the suites, but {', '.join(tasks_by_run)} asked the task "
            f"'{', '.join(dict.fromkeys(tasks_by_run.values()))}'. To see its answers: genaipa show "
            f"{next(iter(tasks_by_run))}"
        )
    return [
        f"{name} is left out: it asked the task '{task}', neither the paper's questions nor a suite."
        for name, task in tasks_by_run.items()
    ]


def scores(
    runs: Runs = (),
    *,
    workspace: WorkspaceLike = None,
    excluded: bool = False,
    everything: bool = False,
    facts: bool = False,
) -> pd.DataFrame:
    """Gather people's scores of these runs' answers that averages count: a row per answer and analyst.

    `everything` adds the rows that no average counts, whose `counted` is false: judges' scores, further scores by the
    reference analyst, excluded answers, and answers that nobody scored. `facts` adds what is known of the answers
    beside their scores, such as seconds and cost; an average of that is one of `load_answers`, since an answer has
    as many rows here as scores. The columns are listed in the documentation (Reports). Other arguments and errors as
    of `report`. A report's average counts each question once, however many people scored it, as here:

    >>> scores = genaipa.scores("demo")
    >>> questions = scores.groupby(["system", "question"], observed=True)["m_all"].mean()
    >>> questions.groupby("system", observed=True).mean().round(2)
    system
    breezy          62.10
    careful         94.45
    extractive      67.02
    pensive@high    96.62
    pensive@low     86.57
    pensive@none    78.91
    Name: m_all, dtype: float64
    """
    resolved_workspace, names = resolve_workspace_and_run_names(runs, workspace)
    study = gather_study_with_stored_scores(
        resolved_workspace,
        select_runs_and_apply_filters(resolved_workspace, names),
        count_excluded=excluded,
        without_reading_texts=not facts,
    )
    table = study.make_tidy_table() if facts else study.table
    return table if everything else table[table["counted"]].reset_index(drop=True)


def load_answers(runs: Runs = (), *, workspace: WorkspaceLike = None, corrected: bool = False) -> pd.DataFrame:
    """Gather these runs' answers with what is known of each beside its scores: a row per question that was planned.

    `counted` says whether a score of it counts, `left_out` whether it is excluded. The columns of a fact of
    which nothing is known are left out. `corrected` applies the known corrections of annotated answers. Other
    arguments and errors as of `report`.

    >>> answers = genaipa.load_answers("demo")
    >>> answers.groupby("system", observed=True)["claims_silence"].value_counts().unstack()["yes"]
    system
    breezy          2
    careful         7
    extractive      7
    pensive@high    6
    pensive@low     7
    pensive@none    4
    Name: yes, dtype: int64
    """
    resolved_workspace, names = resolve_workspace_and_run_names(runs, workspace)
    return gather_study_with_stored_scores(
        resolved_workspace, select_runs_and_apply_filters(resolved_workspace, names), apply_corrections=corrected
    ).rows_once_per_answer()
