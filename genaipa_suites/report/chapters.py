"""The suites' part of reports: chapters, sentences, and the comparison of two systems or runs on common items."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.errors import GenaipaError, UsageError
from genaipa.reports.chapters.chapter import Chapter, ResultsComparison, nonempty_figures, nonempty_tables
from genaipa.reports.figures import style
from genaipa.reports.table import Table, make_table
from genaipa.runs.selection import find_runs_by_system_or_run_name
from genaipa.words import join_some
from genaipa_suites.encoders import encoder
from genaipa_suites.material import FAULTS
from genaipa_suites.plan import SAMPLE
from genaipa_suites.report import card, drawings, glue, tables
from genaipa_suites.report.merit import JackknifeUnits, OutcomeCounts
from genaipa_suites.report.results import ScoredBoard, group_results_into_boards, read_results_and_problems
from genaipa_suites.report.tables import MAIN, number_formats

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from genaipa.answers.study import Study
    from genaipa.reports.figures.figure import Figure
    from genaipa.runs.selection import SelectedRun
    from genaipa.workspace import Workspace
    from genaipa_suites.report.results import SuiteBoard, SystemSuiteResult


def _list_data_and_fault_warnings(results: Iterable[SystemSuiteResult]) -> list[str]:
    """Return sentences on the suites' runs; none if everything was asked and could be read."""
    sentences, asked_boards = [], group_results_into_boards(results)
    if samples := dict.fromkeys(board.suite.title for board in asked_boards if board.plan.split == SAMPLE):
        sentences.append(
            f"The items of a sample are made up, so scores on them say nothing about a system: {', '.join(samples)}."
        )
    for board in asked_boards:
        if names := board.suite.material.own:
            sentences.append(
                f"{board.title}: the items are from your own files ({join_some(names, 1)}), so there "
                f"are no published rows. To get them: genaipa get {board.suite.data[0].name}"
            )
        sentences += [
            f"{board.title}: {why}"
            for result in board.results
            if (why := encoder.leakage_warning_or_empty(result.suite, result.system))
        ]
        if faulty := list(_faulty_reply_phrases_of_systems(board)):
            sentences.append(f"{board.title}: faulty replies are scored 0: {'; '.join(faulty)}.")
        if unfinished := [f"{result.system} {result.unfinished:,}" for result in board.results if result.unfinished]:
            sentences.append(f"{board.title}: answers of incomplete repetitions are left out: {', '.join(unfinished)}.")
        if missing := sum(result.missing_outcome_count for result in board.results):
            wanted = sum(result.planned for result in board.results)
            sentences.append(f"{board.title}: {missing:,} of {wanted:,} answers are missing and not scored.")
    return sentences


def _faulty_reply_phrases_of_systems(board: SuiteBoard) -> Iterator[str]:
    """Yield the number of faulty replies of each system that has any, with their kinds, the most frequent first."""
    for result in board.results:
        counted = Counter(
            {
                fault: result.fault_and_missing_counts[fault]
                for fault in FAULTS
                if result.fault_and_missing_counts[fault]
            }
        )
        if counted:
            kinds = ", ".join(f"{fault} {number:,}" for fault, number in counted.most_common())
            yield f"{result.system} {counted.total():,} of {len(result.outcomes):,} ({kinds})"


_METHOD = (
    "Suites are scored by a rule: each reply is parsed and compared with the gold label. The intervals of a suite "
    "leave out each of its policies in turn (a jackknife, widened by Student's t). A share has Clopper and "
    "Pearson's interval for the effective number of items that the jackknife gives (Korn and Graubard, 1998), by "
    "edit where there are edits. The intervals of other figures are computed on the logit scale, so that they stay "
    "between 0 and 100 %. A difference of shares in few policies, or of edits, has Newcombe's interval."
)


def _make_suite_chapters(
    study: Study, results: Sequence[SystemSuiteResult], problems_to_extend: list[str]
) -> list[Chapter]:
    """Return the suites' chapters, the joint one first; what can't be worked out is added to the problems."""
    scored_boards = [ScoredBoard(board) for board in group_results_into_boards(results)]
    if not scored_boards:
        return []
    glue_chapter = glue.make_glue_chapter(study.sources, scored_boards)
    marks = style.assign_system_colours_and_markers(_list_systems_drawn_in_figures(scored_boards, study))
    suites_boards = [
        list(suite_boards) for _, suite_boards in groupby(scored_boards, key=lambda scored: scored.board.suite_name)
    ]
    joint = _make_chapter_across_suites(study, scored_boards, marks)
    chapters = [
        *filter(None, [joint, glue_chapter]),
        *(
            _make_suite_chapter(suite_boards, marks, without_joint_chapter=joint is None)
            for suite_boards in suites_boards
        ),
    ]
    for scored in scored_boards:
        problems_to_extend += [problem for problem in scored.problems if problem not in problems_to_extend]
    return [replace(chapters[0], method=" ".join(filter(None, (_METHOD, chapters[0].method)))), *chapters[1:]]


def _make_chapter_across_suites(
    study: Study, scored_boards: Sequence[ScoredBoard], marks: drawings.Marks
) -> Chapter | None:
    """Return the chapter that joins the suites with each other, and with people's scores; None for one suite alone."""
    side_by_side = card.choose_card_boards(scored_boards)
    has_scores = bool(study.table["counted"].any()) if len(study.table) else False
    if not side_by_side or (len(side_by_side) < 2 and not has_scores):  # noqa: PLR2004
        return None
    card_table, absent = card.make_card_table(study, side_by_side, scored_boards), []
    try:
        categories = [card.scores_by_question_category_table(study, side_by_side)]
    except GenaipaError as error:
        categories, absent = [], [f"There is no breakdown by category: {error}"]
    return Chapter(
        "suites",
        "All suites",
        "The scores of all suites side by side, together with people's scores of answers if there are any.",
        nonempty_tables(card_table, card.rank_correlations_with_m_all_table(card_table, side_by_side), *categories),
        nonempty_figures(
            drawings.score_figure(side_by_side, "suites-scores", "Scores by suite", marks),
            *(card.question_category_figure(categories_table, marks) for categories_table in categories),
        ),
        absent,
        first=(card_table.name,),
    )


def _list_systems_drawn_in_figures(scored_boards: Sequence[ScoredBoard], study: Study) -> list[str]:
    """List every system of a figure: the procedure's as its figures have them, then the suites'."""
    ordered_systems = list(map(str, style.distinct_values(study.table["system"]))) if len(study.table) else []
    asked_systems = [name for scored in scored_boards for row in scored.system_rows for name in (row.system, row.label)]
    references = [row.system for scored in scored_boards for row in scored.computed_floor_and_ceiling_rows]
    return list(dict.fromkeys([*ordered_systems, *asked_systems, *references]))


def _make_suite_chapter(
    suite_boards: Sequence[ScoredBoard], marks: drawings.Marks, *, without_joint_chapter: bool
) -> Chapter:
    """Return the chapter of one suite: its boards, one after another.

    Its scores are drawn where it is `without_joint_chapter`.
    """
    suite, name = suite_boards[0].board.suite, suite_boards[0].board.suite_name
    suite_tables: list[Table] = []
    figures = [drawings.paired_measures_by_system_figure(scored, marks) for scored in suite_boards]
    if without_joint_chapter and not any(figures):
        figures = [drawings.score_figure(suite_boards, f"{name}-scores", f"{suite.title}: scores", marks)]
    for scored in suite_boards:
        suite_tables += [tables.main_scores_table(scored), tables.further_measures_table(scored)]
        suite_tables += [tables.measure_definitions_table(suite_boards)] if scored is suite_boards[0] else []
        suite_tables.append(
            tables.differences_table(scored, tables.choose_pairs_of_systems(scored.system_rows), scored.measures[:MAIN])
        )
        suite_tables.append(tables.scores_by_wording_table(scored))
        if not scored.board.plan.probe:
            breakdown_tables, breakdown_figures = _make_breakdown_tables_and_figures(scored, marks)
            suite_tables, figures = [*suite_tables, *breakdown_tables], [*figures, *breakdown_figures]
    suite_tables += [tables.memorized_and_other_clusters_table(suite_boards), tables.probe_gaps_table(suite_boards)]
    return Chapter(
        f"suite-{name}",
        suite.title,
        f"{suite.about[:1].upper()}{suite.about[1:].rstrip('.')}.",
        nonempty_tables(*suite_tables),
        nonempty_figures(*figures),
        references={f"reference-{name}": escape(suite.citation)} if suite.citation else {},
        first=()
        if any(figures) and suite.paired_measures
        else tuple(scored.board.table_name_prefix for scored in suite_boards),
        is_key=True,
    )


def _make_breakdown_tables_and_figures(
    scored: ScoredBoard, marks: drawings.Marks
) -> tuple[list[Table], list[Figure | None]]:
    """Return the tables and figures of a board by groups, parts and types of errors."""
    names = tables.list_groupings(scored)
    groups = [tables.measures_by_item_group_table(scored, grouping) for grouping in names]
    figures = [
        drawings.ordered_groups_figure(scored, grouping, breakdown, marks)
        if drawings.has_numbered_groups(breakdown)
        else drawings.paired_measures_by_group_figure(scored, grouping, breakdown, marks)
        for grouping, breakdown in zip(names, groups, strict=True)
    ]
    parts = [tables.measures_by_item_part_table(scored, breakdown) for breakdown in scored.board.suite.parts]
    errors = tables.error_kinds_table(scored)
    return [*groups, *parts, errors], [*figures, drawings.error_kinds_figure(errors, scored)]


class SuiteResults:
    """The suites that were asked in some runs."""

    name = "suites"

    def __init__(self, workspace: Workspace, sources: Sequence[SelectedRun]) -> None:
        self.sources = sources
        self.results, self.problems = read_results_and_problems(workspace, sources)

    @property
    def notable(self) -> list[str]:
        """Sentences that no reader may miss."""
        return _list_data_and_fault_warnings(self.results)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The suites with their numbers of items; empty if none was asked."""
        sizes = {board.title: len(board.suite.material.items) for board in group_results_into_boards(self.results)}
        suite_texts = "; ".join(f"{title} ({number:,} items)" for title, number in sizes.items())
        return [("Suites", suite_texts)] if sizes else []

    def chapters(self, study: Study) -> list[Chapter]:
        """Return a chapter for each suite, and chapters that join several."""
        return _make_suite_chapters(study, self.results, self.problems)

    def leaderboard(self, study: Study) -> Table | None:
        """Return the card of the suites; None if none was asked."""
        scored_boards = [ScoredBoard(board) for board in group_results_into_boards(self.results)]
        chosen = card.choose_card_boards(scored_boards)
        return card.make_card_table(study, chosen, scored_boards) if chosen else None

    @classmethod
    def compare_systems(
        cls, workspace: Workspace, first_system_or_run: str, second_system_or_run: str
    ) -> ResultsComparison:
        """Compare two sides on the items that both were asked; of each suite the main measures first."""
        table, problems = tabulate_first_minus_second_and_problems(first_system_or_run, second_system_or_run, workspace)
        main = replace(table, data=table.data.groupby("suite", sort=False).head(MAIN)) if table else table
        return ResultsComparison(table, main, problems)


def tabulate_first_minus_second_and_problems(
    first_system_or_run: str, second_system_or_run: str, workspace: Workspace
) -> tuple[Table, list[str]]:
    """Compare two systems or runs, each named as a system, a run, or RUN:SYSTEM, on the items that both were asked.

    The table is empty where no suite was asked of both alike; beside it are sentences on what can't be read.
    """
    sides = [find_runs_by_system_or_run_name(workspace, name) for name in (first_system_or_run, second_system_or_run)]
    readings = [read_results_and_problems(workspace, sources) for sources in sides]
    first_results, second_results = (
        _plainest_result_by_suite_and_split(name, side_results)
        for name, (side_results, _) in zip((first_system_or_run, second_system_or_run), readings, strict=True)
    )
    rows: list[dict[str, Any]] = []
    populations, units_drawn = dict[str, None](), dict[str, None]()
    for key in first_results:
        if key in second_results and first_results[key] is not second_results[key]:
            difference_rows, units = _difference_rows_and_units(first_results[key], second_results[key])
            rows += difference_rows
            units_drawn[units.clusters] = None
            populations |= (
                {f"{first_results[key].suite.title}: {units.population_note}": None} if difference_rows else {}
            )
    clusters = " or ".join(units_drawn) or "policies"
    note = (
        f"A is {first_system_or_run}, B is {second_system_or_run}. Differences are A minus B in percentage "
        "points, on the items that both were "
        f"asked, with the same {clusters} drawn for both. {' '.join(populations)} Each row is a separate test: "
        "among many rows, some differ by chance."
    )
    columns = ["suite", "measure", "items", "policies", "a", "b", "difference", "difference_low", "difference_high"]
    comparison = make_table(
        "comparison-suites",
        f"{first_system_or_run} against {second_system_or_run}: suites",
        note,
        pd.DataFrame(rows),
        [*columns, "meaning"],
        headings=tables.difference_headings(clusters),
        formats={**number_formats(["difference"], "+"), "a": ".2f", "b": ".2f"},
        aside=["name", "how_a", "how_b"],
    )
    return comparison, sorted({problem for _, problems in readings for problem in problems})


def _plainest_result_by_suite_and_split(
    side_name: str, results: Sequence[SystemSuiteResult]
) -> dict[tuple[str, str, str, bool], SystemSuiteResult]:
    """Return suite, split, probe, and whether of own files → the result asked most plainly, on the most items."""
    systems = sorted({result.system for result in results})
    if len(systems) > 1:
        choices = ", ".join(f"{side_name}:{system}" for system in systems)
        raise UsageError(f"'{side_name}' has {len(systems)} systems; name one of these: {choices}")
    chosen: dict[tuple[str, str, str, bool], SystemSuiteResult] = {}
    for result in sorted(
        results, key=lambda choices: (choices.plan.shots, choices.plan.wording, -len(choices.suite.material.items))
    ):
        has_own_files = bool(result.suite.material.own)
        chosen.setdefault((result.name, result.plan.split, result.plan.probe, has_own_files), result)
    return chosen


def _difference_rows_and_units(
    first: SystemSuiteResult, second: SystemSuiteResult
) -> tuple[list[dict[str, Any]], JackknifeUnits]:
    """Return a row for each measure that both have; none without a common item."""
    items = {outcome.item.id: outcome.item for outcome in first.outcomes}
    common = items.keys() & {outcome.item.id for outcome in second.outcomes}
    # Of the common items alone: a policy of none of them would be drawn in vain, and be counted in the note.
    units = JackknifeUnits((item for name, item in items.items() if name in common), first.suite.clusters)
    first_counts, second_counts = (
        OutcomeCounts([outcome for outcome in result.outcomes if outcome.item.id in common], units)
        for result in (first, second)
    )
    rows = []
    for measure in first.suite.measures:
        difference = first_counts.estimate_excess_over(second_counts, measure)
        if difference.items:
            means = {"a": 100 * difference.means[0], "b": 100 * difference.means[1]}
            asking_texts = {"how_a": first.asking_text, "how_b": second.asking_text}
            probe = f", probe {first.plan.probe}" if first.plan.probe else ""
            suite = f"{first.suite.title}, {first.plan.split}{probe}"
            rows.append({"suite": suite, **asking_texts, **means, **tables.difference_columns(difference, measure)})
    return rows, units
