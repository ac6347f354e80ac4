"""PrivacyGLUE as a view over the results of suites: each system's rows by repetition, and its examples.

A suite that was asked by itself counts as well, where it was asked in the same way.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from genaipa_suites.privacyglue import (
    BY_NAME,
    TASKS,
    GlueRow,
    GlueTask,
    MeanAndDeviations,
    RowMeans,
    compute_mean_and_deviations,
    compute_means,
)
from genaipa_suites.privacyglue.examples import make_examples_with_correctness

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from genaipa.runs.selection import SelectedRun
    from genaipa_suites.material import Outcome
    from genaipa_suites.report.results import ScoredBoard, SystemSuiteResult

GLUE = "privacyglue"
TEST = "test"
_REFERENCES = {"floor": "floors", "ceiling": "ceilings"}


@dataclass(frozen=True)
class ExampleCorrectnessByRepetition:
    """Examples of a task by their keys, with their names, and for each repetition whether each is right."""

    keys: tuple[str, ...]
    names: tuple[str, ...]
    right: tuple[tuple[bool, ...], ...]

    @cached_property
    def _positions_by_key(self) -> dict[str, int]:
        return {key: index for index, key in enumerate(self.keys)}

    def right_by_repetition(self, keys: Sequence[str]) -> list[list[bool]]:
        """Return whether each of these examples is right, by repetition, in this order."""
        chosen = [self._positions_by_key[key] for key in keys]
        return [[repetition[index] for index in chosen] for repetition in self.right]

    def name_of_example(self, key: str) -> str:
        """Return the name of an example."""
        return self.names[self._positions_by_key[key]]


@dataclass(frozen=True)
class GlueSystemScores:
    """A system in PrivacyGLUE: its figures (0 to 1) of each row that it has, one for each repetition.

    `kind` is that of a row of a suite's table.
    """

    system: str
    kind: str
    description: str
    samples: Mapping[GlueRow, tuple[float, ...]]
    results: Mapping[str, SystemSuiteResult] = field(default_factory=dict)
    """Task → the result that its rows are of; none for what was not asked here."""

    @cached_property
    def spread_by_row_in_percent(self) -> dict[GlueRow, MeanAndDeviations]:
        """Row → mean and spread in percent."""
        return {
            row: compute_mean_and_deviations([100 * figure for figure in figures])
            for row, figures in self.samples.items()
        }

    @property
    def means_without_tagging_tasks(self) -> RowMeans:
        """The means over its rows that are the paper's measures, in percent.

        A tagger's are not: words are scored here, and the word pieces of encoders there.
        """
        return compute_means(
            {
                row: row_spread.mean
                for row, row_spread in self.spread_by_row_in_percent.items()
                if not BY_NAME[row.task].layers
            }
        )

    @property
    def tasks_with_examples(self) -> list[GlueTask]:
        """Its tasks whose examples are known one by one."""
        return [task for task in TASKS if task.name in self.results]

    @cached_property
    def _example_cache(self) -> dict[str, ExampleCorrectnessByRepetition]:
        return {}

    def examples(self, task_name: str) -> ExampleCorrectnessByRepetition:
        """Return the examples of a task."""
        if task_name not in self._example_cache:
            self._example_cache[task_name] = _collect_examples(task_name, self.results[task_name])
        return self._example_cache[task_name]


@dataclass(frozen=True)
class GlueView:
    """PrivacyGLUE on one split, or on a sample of it of N items of each suite."""

    split: str
    limit: int | None
    has_own_files: bool
    """Whether a suite's items are of files of the user's own."""
    standings: tuple[GlueSystemScores, ...]
    references: tuple[GlueSystemScores, ...]
    """Floors and ceilings of the suites, each joined to one."""

    @property
    def is_whole_published_test_split(self) -> bool:
        """Whether the printed figures are of the same items."""
        return self.split == TEST and self.limit is None and not self.has_own_files

    @property
    def title(self) -> str:
        """PrivacyGLUE, and the items it is of."""
        sample = f", {self.limit:,} items of each suite" if self.limit else ""
        own_text = ", own files" if self.has_own_files else ""
        return f"PrivacyGLUE, {self.split}{own_text}{sample}"

    @property
    def table_name_prefix(self) -> str:
        """Beginning of the names of its tables."""
        own_part = "own" if self.has_own_files else ""
        return "-".join(filter(None, (GLUE, self.split, own_part, str(self.limit or ""))))


def collect_glue_views(sources: Sequence[SelectedRun], scored_boards: Sequence[ScoredBoard]) -> list[GlueView]:
    """Return the views that are asked for by a run of all tasks, the whole test split first."""
    view_keys: dict[tuple[str, int | None, bool], None] = {}
    boards = [scored.board for scored in scored_boards if not scored.board.plan.probe]
    for run in dict.fromkeys(source.folder.name for source in sources if source.manifest.spec.task == GLUE):
        run_boards = [board for board in boards if any(run in result.runs for result in board.results)]
        if run_boards:
            plan = run_boards[0].plan
            view_keys[plan.split, plan.limit, any(board.has_own_files for board in run_boards)] = None
    views_found = []
    for split, limit, has_own in sorted(
        view_keys, key=lambda scored: (scored[0] != TEST, scored[1] or -math.inf, scored[2])
    ):
        view_boards = _choose_boards_of_glue_suites(scored_boards, split, limit, has_own_files=has_own)
        views_found.append(
            GlueView(
                split,
                limit,
                has_own,
                tuple(_make_sorted_system_scores(view_boards)),
                tuple(_make_floors_and_ceilings(view_boards)),
            )
        )
    return views_found


def _choose_boards_of_glue_suites(
    scored_boards: Sequence[ScoredBoard], split: str, item_limit: int | None, *, has_own_files: bool
) -> list[ScoredBoard]:
    """Choose the board of each suite that a view is made of: of several that of most results, to have equal items."""
    chosen: dict[str, ScoredBoard] = {}
    suites = {task.suite for task in TASKS}
    fitting = [
        scored for scored in scored_boards if (scored.board.plan.split, scored.board.plan.limit) == (split, item_limit)
    ]
    fitting = [scored for scored in fitting if scored.board.suite_name in suites and not scored.board.plan.probe]
    for scored in sorted(
        fitting, key=lambda scored: (has_own_files and not scored.board.has_own_files, -len(scored.board.results))
    ):
        if has_own_files or not scored.board.has_own_files:
            choice = chosen.setdefault(scored.board.suite_name, scored)
            if choice is not scored and choice.board.has_own_files == scored.board.has_own_files:
                scored.problems.append(
                    f"{scored.board.title}: this sample is not in PrivacyGLUE's tables, which use another sample."
                )
    return list(chosen.values())


def _make_sorted_system_scores(scored_boards: Sequence[ScoredBoard]) -> list[GlueSystemScores]:
    """Return the systems that were asked, each in one way: the best first, then baselines that several suites have."""
    results_by_way: defaultdict[tuple[object, ...], list[SystemSuiteResult]] = defaultdict(list)
    for scored in scored_boards:
        for result in scored.board.results:
            if result.outcomes:
                results_by_way[result.system, result.plan, result.sampling].append(result)
    repeated = {
        key: results
        for key, results in results_by_way.items()
        if not results[0].kind_if_baseline_or_empty or len(results) > 1
    }
    standings = [_make_scores_of_system(results) for results in (repeated or results_by_way).values()]
    names = [standing.system for standing in standings]
    named = [
        GlueSystemScores(
            f"{standing.system} ({standing.description})",
            standing.kind,
            standing.description,
            standing.samples,
            standing.results,
        )
        if names.count(standing.system) > 1
        else standing
        for standing in standings
    ]
    return sorted(
        named,
        key=lambda standing: (
            standing.kind != "system",
            -len(standing.samples),
            -standing.means_without_tagging_tasks.arithmetic,
            standing.system,
        ),
    )


def _make_scores_of_system(system_results: Sequence[SystemSuiteResult]) -> GlueSystemScores:
    samples: dict[GlueRow, tuple[float, ...]] = {}
    results: dict[str, SystemSuiteResult] = {}
    for task in TASKS:
        result = next((candidate for candidate in system_results if candidate.name == task.suite), None)
        if result is None:
            continue
        measures = {measure.name: measure for measure in result.suite.measures}
        for row, name in zip(task.rows, task.measures, strict=True):
            if name in measures:
                samples[row] = tuple(
                    measures[name].compute(outcomes) for outcomes in _group_outcomes_by_repetition(result)
                )
                results[task.name] = result
    kind = "baseline" if system_results[0].kind_if_baseline_or_empty else "system"
    return GlueSystemScores(system_results[0].system, kind, system_results[0].asking_text, samples, results)


def _group_outcomes_by_repetition(result: SystemSuiteResult) -> list[list[Outcome]]:
    outcomes_by_repetition: defaultdict[int, list[Outcome]] = defaultdict(list)
    for outcome in result.outcomes:
        outcomes_by_repetition[outcome.repetition].append(outcome)
    return [outcomes_by_repetition[repetition] for repetition in sorted(outcomes_by_repetition)]


def _collect_examples(task_name: str, result: SystemSuiteResult) -> ExampleCorrectnessByRepetition:
    examples_by_repetition = [
        make_examples_with_correctness(task_name, result.suite, outcomes)
        for outcomes in _group_outcomes_by_repetition(result)
    ]
    right = [{example.key: example.right for example in right_by_key} for right_by_key in examples_by_repetition]
    # A repetition that lacks examples is compared on those that all have.
    common = [
        example for example in examples_by_repetition[0] if all(example.key in right_by_key for right_by_key in right)
    ]
    sides = tuple(tuple(right_by_key[example.key] for example in common) for right_by_key in right)
    return ExampleCorrectnessByRepetition(
        tuple(example.key for example in common), tuple(example.name for example in common), sides
    )


def _make_floors_and_ceilings(scored_boards: Sequence[ScoredBoard]) -> list[GlueSystemScores]:
    """Return the best floor of each suite as one, and its ceiling: worked out on the same items."""
    references = []
    for kind, name in _REFERENCES.items():
        samples: dict[GlueRow, tuple[float, ...]] = {}
        for scored in scored_boards:
            measures = {measure.name: measure for measure in scored.measures}
            counted = [row for row in scored.rows if row.kind == kind and row.counts is not None]
            # Of several ceilings that one which any system could reach: not PolicyIE's gold intents of every row.
            rows = [row for row in counted if kind != "ceiling" or row is scored.ceiling]
            for task in (scored_row for scored_row in TASKS if scored_row.suite == scored.board.suite_name):
                for row, measure in zip(task.rows, task.measures, strict=True):
                    if rows and measure in measures:
                        values = [
                            measures[measure].compute(scored_row.counts.outcomes)
                            for scored_row in rows
                            if scored_row.counts is not None
                        ]
                        samples[row] = (max(values),)
        if samples:
            references.append(GlueSystemScores(name, kind, f"the best {kind} of each suite", samples))
    return references
