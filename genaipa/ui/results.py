"""The Results page's data: the tidy table of the desk's runs, and its rows after a user's filters.

The runs are read once for everybody at the desk, and each choice of filters is worked out once, so that going from a
cell of a heat map to its answers is a look into a table.
"""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from genaipa.answers.gather import gather_study
from genaipa.answers.tidy import list_metrics
from genaipa.errors import GenaipaError
from genaipa.reports import part
from genaipa.reports.chapters import (
    add_system_notes_to_table,
    collect_system_notes,
    documents,
    judges,
    metrics,
    overall,
)
from genaipa.reports.figures.figure import FigureScope, render_png
from genaipa.reports.judged.beside import describe_forecasts_of_scores_needed, people_judge_and_combined_means_table
from genaipa.reports.part import note_sparsely_scored_experiments
from genaipa.reports.report import Report
from genaipa.runs.selection import SelectedRun, list_run_folders_oldest_first, select_runs_and_apply_filters
from genaipa.ui.widgets import ANY

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from genaipa.answers.study import Study
    from genaipa.reports.chapters.chapter import Chapter
    from genaipa.reports.evidence import EvidenceLevel
    from genaipa.reports.figures.figure import Figure
    from genaipa.reports.table import Table
    from genaipa.scoring.answers import AnswerPool
    from genaipa.scoring.people import User
    from genaipa.scoring.rubric import BandBounds
    from genaipa.ui.desk import Desk

RowKind = Literal["question", "category"]
FEW = 5
"""Answers below which a number tells how each of them was scored."""
_ORDER = ["document", "question", "wording", "repetition", "run", "key"]
_SHOWN = [*_ORDER, "unit", "status", "answer", "analyst", "role", "scorer", "m_all", "excluded", "counted"]
DPI = 220
"""Dots per inch of a figure on the page."""
_CELL = ["system", "experiment", "document", "question"]


@dataclass(frozen=True)
class ScoreFilter:
    """The scores that count: as in the report, adjudications alone, published ones, or one analyst's."""

    role: Literal["report", "adjudication", "published", "human", "machine"] = "report"
    name: str = ""

    def __str__(self) -> str:
        named = {"human": self.name, "machine": f"{self.name} (machine)", "published": "published scores"}
        return named.get(self.role) or {"report": "as in the report", "adjudication": "adjudicated"}[self.role]


@dataclass(frozen=True)
class ResultsChoice:
    """The choice of the filters. `questions` are any, faq, user, or a category's."""

    system: str = ANY
    experiment: str = ANY
    document: str = ANY
    questions: str = ANY
    scores: ScoreFilter = ScoreFilter()
    excluded: bool = False


@dataclass(frozen=True, eq=False)
class ResultsSnapshot:
    """The desk's runs and their scores at one moment, with excluded answers.

    `seen` is the number of events that went in, `answers` the state of the pool.
    """

    study: Study
    seen: int
    answers: tuple[int, int]

    @property
    def frame(self) -> pd.DataFrame:
        """The tidy table."""
        return self.study.table

    def is_stale(self, desk: Desk) -> bool:
        """Tell whether answers or scores have come in since."""
        if self.answers != _pool_generation_and_arrival_count(desk.pool):
            return True
        desk.current.read_new_events()
        return any(event.is_score_adjudication_or_undo for event in desk.current.list_logged_events(self.seen))

    def list_column_values(self, column: str) -> list[str]:
        """List the values of a column that occur, in their order."""
        present = set(self.frame[column].unique())
        return [str(name) for name in self.frame[column].cat.categories if name and name in present]

    @cached_property
    def score_filters(self) -> list[ScoreFilter]:
        """The filters that can be chosen."""
        combinations = self.frame[["role", "scorer", "analyst"]].drop_duplicates().astype(str)
        filters = {
            ScoreFilter("machine" if scorer == "machine" else "human", str(analyst))
            for role, scorer, analyst in combinations.itertuples(index=False)
            if role == "score"
        }
        special = [ScoreFilter(role) for role in ("adjudication", "published") if (combinations["role"] == role).any()]
        return [ScoreFilter(), *special, *sorted(filters, key=lambda chosen: (chosen.role, chosen.name))]

    @cached_property
    def _distinct_answer_digests(self) -> list[str]:
        return list(self.frame["answer"].cat.categories)

    def make_hidden_byte_per_distinct_answer(self, hidden_digests: AbstractSet[str]) -> bytes:
        """Return a byte for each distinct answer: 1 where it is among `hidden_digests`."""
        return bytes(digest in hidden_digests for digest in self._distinct_answer_digests)


class ResultsCache:
    """The last snapshot, shared by all sessions and threads."""

    def __init__(self) -> None:
        self._snapshot: ResultsSnapshot | None = None
        self._unscored: Study | None = None
        self._answers = (-1, -1)
        self._lock = threading.Lock()

    def get_or_read_snapshot(self, desk: Desk, *, renew_if_stale: bool = False) -> ResultsSnapshot | None:
        """Return the last snapshot; a new one if there is none, or if it is stale and `renew_if_stale`.

        None without a run.
        """
        held = self._snapshot
        if held is not None and not (renew_if_stale and held.is_stale(desk)):
            return held
        with self._lock:
            if self._snapshot is held:
                self._snapshot = self._read_snapshot_if_any_run(desk)
            return self._snapshot

    def renew_stale_snapshot(self, desk: Desk) -> None:
        """Take a new snapshot if something came in since the last one."""
        self.get_or_read_snapshot(desk, renew_if_stale=True)

    def _read_snapshot_if_any_run(self, desk: Desk) -> ResultsSnapshot | None:
        answers = _pool_generation_and_arrival_count(desk.pool)
        if self._unscored is None or answers != self._answers:
            sources = list_readable_selected_runs(desk)
            if not sources:
                return None
            self._unscored = gather_study(desk.workspace, sources, None)
            self._answers = answers
        desk.current.read_new_events()
        events = desk.current.list_logged_events()
        return ResultsSnapshot(
            self._unscored.replace_scores_from_events(events, count_excluded=True), len(events), answers
        )


@lru_cache(maxsize=1)
def results_cache(_pool: AnswerPool) -> ResultsCache:
    """Return the cache of the desk with this pool."""
    return ResultsCache()


def _pool_generation_and_arrival_count(pool: AnswerPool) -> tuple[int, int]:
    return pool.generation, len(pool.arrivals)


def list_readable_selected_runs(desk: Desk) -> list[SelectedRun]:
    """List the runs that the desk is open on, without those with a damaged manifest, which the pool reports."""
    if desk.settings.runs or desk.settings.only:
        return select_runs_and_apply_filters(desk.workspace, desk.settings.runs, desk.settings.only)
    sources = []
    for folder in list_run_folders_oldest_first(desk.workspace):
        with contextlib.suppress(GenaipaError):
            manifest = folder.manifest()
            sources.append(SelectedRun(folder, manifest, manifest.spec.systems))
    return sources


@dataclass(frozen=True)
class ScoredAnswer:
    """An answer with its scores, or one published score: the rows of the frame, at least one."""

    rows: list[dict[str, Any]]

    def __getitem__(self, column: str) -> Any:
        """Return a value that is the same in all rows."""
        return self.rows[0][column]

    @property
    def score_rows(self) -> list[dict[str, Any]]:
        """The rows that have values."""
        return [row for row in self.rows if row["m_all"] == row["m_all"]]

    @property
    def counted_rows(self) -> list[dict[str, Any]]:
        """The rows that averages take."""
        return [row for row in self.rows if row["counted"]]


class ResultsView:
    """The filtered results: the report's tables, and the answers behind them.

    `hidden` answers are never listed, and those with scores are in none of the tables (`hidden_answers`), or
    without them: a wave, or a study without one, that a user does not see whole is not finished for them.
    """

    def __init__(self, snapshot: ResultsSnapshot, choice: ResultsChoice, hidden: bytes) -> None:
        frame, hidden_mask = snapshot.frame, np.frombuffer(hidden, bool)
        places = frame["answer"].cat.codes.to_numpy()
        scored = np.zeros(len(hidden_mask), bool)
        scored[places[frame["m_all"].notna() & (frame["unit"] == "answer")]] = True
        self.hidden_answers = [str(answer) for answer in frame["answer"].cat.categories[hidden_mask & scored]]
        chosen, is_hidden = _flag_rows_of_chosen_answers(frame, choice), (hidden_mask & scored)[places]
        unscored_rows = _make_one_unscored_row_per_answer(
            frame[chosen & is_hidden & _flag_rows_planned_for_people(frame)]
        )
        self.frame = pd.concat([frame[chosen & ~is_hidden], unscored_rows])
        # Averages of many give no verdict of one away: estimates need those on answers that nobody is asked to score.
        self._outside_wave = frame[chosen & is_hidden & (frame["in_wave"] == "no")].assign(counted=False)
        self._unlisted = np.append(hidden_mask[places][chosen & ~is_hidden], np.ones(len(unscored_rows), bool))
        self.frame["counted"] = _flag_rows_counting_in_averages(self.frame, choice)
        self._snapshot = snapshot
        self._pictures: dict[str, bytes] = {}
        self._lines: dict[tuple[str, ...], list[ScoredAnswer]] = {}

    @property
    def bounds(self) -> BandBounds:
        """The bands' limits, as in a report with its defaults."""
        return self._snapshot.study.rubric.bands

    @cached_property
    def leaderboard(self) -> Table:
        """The systems, the best first."""
        return add_system_notes_to_table(overall.leaderboard_table(self.frame), self._system_notes)

    @cached_property
    def people_leaderboard(self) -> Table:
        """The same by people's scores alone."""
        people_frame = self.frame[self.frame["scorer"] != "machine"]
        return add_system_notes_to_table(overall.leaderboard_table(people_frame), self._system_notes)

    @cached_property
    def _system_notes(self) -> dict[str, str]:
        return collect_system_notes(self._snapshot.study)

    @cached_property
    def evidence_required_in_leaderboard(self) -> EvidenceLevel:
        """Return what a difference has to show before it counts, by how much of what was planned is scored."""
        return part.leaderboard_evidence_level(self.frame)

    @property
    def no_leaderboard_reason(self) -> str:
        """The reason that there is no ranking."""
        return (
            note_sparsely_scored_experiments(self.frame) or "The selection has no score for a question about a policy."
        )

    @cached_property
    def people_and_judge_table_and_forecasts(self) -> tuple[Table, list[str]]:
        """The estimates beside people alone, and what more scores would do; without a judge, nothing."""
        frame = pd.concat([self.frame, self._outside_wave])
        return people_judge_and_combined_means_table(
            frame, self._snapshot.study.log.counted
        ), describe_forecasts_of_scores_needed(frame)

    @property
    def hidden_answer_count_in_estimates(self) -> int:
        """The number of answers that only the estimates rest on, since this user can still be asked to score them."""
        return int(self._outside_wave["answer"].nunique())

    @cached_property
    def question_metrics_table(self) -> Table:
        """The metrics by question."""
        return metrics.metrics_by_question_table(self.frame)

    @cached_property
    def category_metrics_table(self) -> Table:
        """The metrics by category."""
        return metrics.metrics_by_category_table(self.frame)

    @cached_property
    def question_scores_table(self) -> Table:
        """M_all of every question about every document."""
        return documents.scores_by_question_and_document_table(self.frame)

    @cached_property
    def five_number_table_by_document(self) -> Table:
        """M_all by document in five numbers."""
        return documents.five_number_summary_by_document_table(self.frame)

    def meaning_by_row_name(self, question_or_category: RowKind) -> Mapping[str, str]:
        """Return the names of a heat map's rows → their meaning."""
        return (
            self._snapshot.study.questions.texts
            if question_or_category == "question"
            else self._snapshot.study.questions.categories
        )

    @cached_property
    def report(self) -> Report:
        """Everything that a report of this has."""
        return Report.build(self._visible_study)

    @cached_property
    def judges_chapter(self) -> Chapter:
        """The report's chapter on judges alone."""
        scope = FigureScope.from_scores_table(self.frame, self._snapshot.study.questions.categories, self.bounds)
        return judges.JudgesChapter().make(self._visible_study, scope)

    @cached_property
    def _visible_study(self) -> Study:
        """The snapshot's data, of the answers in this view, without what is known of those that are left out."""
        visible = {*self.frame["answer"].unique()}.difference(self.hidden_answers)
        events = [event for event in self._snapshot.study.log.counted if event.answer in visible]
        study = self._snapshot.study.replace_table_and_drop_other_answers(self.frame)
        return replace(study, log=study.log._replace(counted=events))

    def draw_figure_as_png(self, figure: Figure) -> bytes:
        """Draw a figure of the report as a PNG file, once."""
        if figure.name not in self._pictures:
            self._pictures[figure.name] = render_png(figure, DPI)
        return self._pictures[figure.name]

    def list_heatmap_row_answers(
        self, system: str, experiment: str, question_or_category: RowKind, row_name: str
    ) -> list[ScoredAnswer]:
        """List the answers of a line of a heat map, counting ones first, then in the order of their documents."""
        line = (system, experiment, question_or_category, row_name)
        if line not in self._lines:
            frame = self.frame
            in_line = (
                (frame["system"] == system)
                & (frame["experiment"] == experiment)
                & (frame[question_or_category] == row_name)
            )
            self._lines[line] = _group_rows_by_record_counted_first(frame[in_line & ~self._unlisted])
        return self._lines[line]

    def list_answers_exposed_by_small_cells(self, experiment: str = ANY) -> list[str]:
        """List the answers whose scores the numbers give away: each one of few behind a number."""
        return (
            self._answers_of_small_cells_by_experiment.get(experiment, [])
            if experiment != ANY
            else [a for answers in self._answers_of_small_cells_by_experiment.values() for a in answers]
        )

    @cached_property
    def _answers_of_small_cells_by_experiment(self) -> dict[str, list[str]]:
        counted = self.frame[self.frame["counted"] & (self.frame["unit"] == "answer")]
        single = counted.drop_duplicates(["run", "key"])[[*_CELL, "answer"]]
        few_answers = single[single.groupby(_CELL, observed=True)["answer"].transform("size") < FEW]
        return {
            str(name): list(rows)
            for name, rows in few_answers.groupby("experiment", observed=True)["answer"].unique().items()
        }


@lru_cache(maxsize=8)
def make_results_view_cached(snapshot: ResultsSnapshot, choice: ResultsChoice, hidden_mask: bytes) -> ResultsView:
    """Make the view of a choice; the last few are kept, and shared by all who see the same."""
    return ResultsView(snapshot, choice, hidden_mask)


def make_results_view_user_may_see(desk: Desk, user: User) -> ResultsView | None:
    """Make the view of all answers, except any that this user can still be asked to score; None without a run."""
    snapshot = results_cache(desk.pool).get_or_read_snapshot(desk, renew_if_stale=True)
    ahead = desk.queue.answers_analyst_may_still_score(user.name) if user.scores else frozenset[str]()
    return (
        make_results_view_cached(snapshot, ResultsChoice(), snapshot.make_hidden_byte_per_distinct_answer(ahead))
        if snapshot
        else None
    )


def _flag_rows_planned_for_people(frame: pd.DataFrame) -> pd.Series[bool]:
    """Tell whether people are to score a row's answer: by a wave or, where none was drawn of its group, in any case."""
    planned = frame["planned"]
    has_wave = (planned != "").groupby([frame["system"], frame["experiment"]], observed=True).transform("any")
    return planned.isin(["first", "later"]) | ~has_wave


def _make_one_unscored_row_per_answer(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each of the answers, as if nobody had scored it."""
    values = [*list_metrics(rows), "m_all", "m_all_positive", "m_all_negative"]
    return rows.drop_duplicates(["run", "key"]).assign(**dict.fromkeys(values, np.nan), averaged=0, counted=False)


def _group_rows_by_record_counted_first(score_rows: pd.DataFrame) -> list[ScoredAnswer]:
    """Group the rows by answer."""
    answers: dict[tuple[Any, ...], ScoredAnswer] = {}
    for row in score_rows[[*_SHOWN, *list_metrics(score_rows)]].sort_values(_ORDER, kind="stable").to_dict("records"):
        identity = (row["run"], row["key"]) if row["unit"] == "answer" else (len(answers),)
        answers.setdefault(identity, ScoredAnswer([])).rows.append({str(name): value for name, value in row.items()})
    return sorted(answers.values(), key=lambda behind: not behind.counted_rows)


def _flag_rows_of_chosen_answers(frame: pd.DataFrame, choice: ResultsChoice) -> Any:
    """Select the rows of the system, the experiment, the document and the questions that are chosen."""
    mask = np.ones(len(frame), bool)
    for column in ("system", "experiment", "document"):
        wanted = getattr(choice, column)
        if wanted != ANY:
            mask &= (frame[column] == wanted).to_numpy()
    if choice.questions != ANY:
        column = "source" if choice.questions in ("faq", "user") else "category"
        mask &= (frame[column] == choice.questions).to_numpy()
    return mask


def _flag_rows_counting_in_averages(frame: pd.DataFrame, choice: ResultsChoice) -> pd.Series[bool]:
    """Mark the rows that the averages take; `frame` counts excluded answers."""
    score_filter = choice.scores
    if score_filter.role in ("human", "machine"):
        counted = frame["m_all"].notna() & (frame["role"] == "score") & (frame["analyst"] == score_filter.name)
        counted &= (frame["scorer"] == "machine") == (score_filter.role == "machine")
    else:
        counted = (
            frame["counted"]
            if score_filter.role == "report"
            else frame["counted"] & (frame["role"] == score_filter.role)
        )
    return counted if choice.excluded else counted & (frame["excluded"] == "")
