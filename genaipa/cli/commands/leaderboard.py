"""`genaipa leaderboard`: all systems of the workspace, the best first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from genaipa.cli.terminal.console import (
    print_caveat_unless_quiet,
    print_first_caveats_and_queue_rest,
    print_json,
    queue_explanation,
    queue_next_steps,
    show,
    show_table_and_queue_note,
)
from genaipa.cli.terminal.options import (
    ExcludedOption,
    ForceOption,
    JsonOption,
    check_no_overwrite,
    current_workspace,
    open_output_file,
    option,
    split_names,
)
from genaipa.cli.terminal.selection import ByOption, RunsArgument, add_filter_options, check_run_and_system_names
from genaipa.errors import UsageError, format_shell_command
from genaipa.runs.filters import EVERYTHING, Filters
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.answers.study import Study
    from genaipa.reports.chapters.chapter import TaskKindResults
    from genaipa.reports.table import Table
    from genaipa.workspace import Workspace


@add_filter_options
def leaderboard(
    run: RunsArgument = None,
    only: Filters = EVERYTHING,
    by: ByOption = "",
    output: Annotated[
        Path | None,
        option("--output", "-o", metavar="FILE", help="Write the leaderboard to a .csv or .tex file instead."),
    ] = None,
    force: ForceOption = False,
    include_excluded: ExcludedOption = False,
    json: JsonOption = False,
) -> None:
    """Rank all systems by overall quality.

    The ranking covers all runs, including imported published studies, unless filters exclude them. Notes say where
    systems did not answer the same questions. An experiment that is less than half scored stays blank. Suites have
    their own table.
    """
    if output is not None:
        _check_output_suffix(output)
        check_no_overwrite(output, force=force)

    workspace = current_workspace()
    check_run_and_system_names(workspace, *split_names(run))
    study, results = _gather_study_and_rule_scored_results(
        workspace, split_names(run), only, by, include_excluded=include_excluded
    )
    from genaipa.reports import render
    from genaipa.reports.chapters import add_system_notes_to_table, collect_system_notes
    from genaipa.reports.chapters.groups import leaderboard_by_document_group_table
    from genaipa.reports.chapters.overall import leaderboard_table, note_unlike_scored_questions, note_unranked_systems
    from genaipa.reports.notable import has_answers_but_no_people_scores, notable_sentences, urgent_sentences
    from genaipa.reports.part import note_sparsely_scored_experiments

    problems = sorted({*study.problems, *(problem for item in results for problem in item.problems)})
    table = add_system_notes_to_table(leaderboard_table(study.table), collect_system_notes(study))
    rule_rankings = {item.name: ranking for item in results if (ranking := item.leaderboard(study))}
    grouped = (leaderboard_by_document_group_table(study.table, study.groups) or None) if study.groups else None
    apart = [note_unlike_scored_questions(study.table)] if table and len(table.data) > 1 else []
    sentences = [*filter(None, apart), *notable_sentences(study, results), *problems]
    if run:
        sentences.insert(0, f"Filtered by: {', '.join(split_names(run))}.")
    if json:
        facts = {"title": table.title, "note": table.note, "notable": sentences, "rows": render.as_json_rows(table)}
        ranked = {
            name: {"title": item.title, "note": item.note, "rows": render.as_json_rows(item)}
            for name, item in rule_rankings.items()
        }
        groups = {"title": grouped.title, "note": grouped.note, "rows": render.as_json_rows(grouped)} if grouped else {}
        print_json(facts | ranked | ({"groups": groups} if groups else {}))
        return
    tables = [item for item in (table, grouped, *rule_rankings.values()) if item]
    if not tables and output is None and has_answers_but_no_people_scores(study.table):
        show("No ranking yet: nobody has scored an answer.")
        print_first_caveats_and_queue_rest(problems)
        queue_explanation(*sentences)
        queue_next_steps(f"Next: {format_shell_command('genaipa', 'score', *split_names(run))}")
        return
    if output is not None:
        _write_leaderboard(grouped or (tables[0] if tables else table), output, force=force)
    else:
        nothing = "No run in this workspace has answers to rank."
        _print_blank_reason_and_tables(
            tables,
            ""
            if table
            else note_sparsely_scored_experiments(study.table) or ("" if tables or not results else nothing),
        )
    print_caveat_unless_quiet(unranked := note_unranked_systems(study.table))
    print_first_caveats_and_queue_rest(
        [*list_caveat_on_few_documents(table), *(sentence for sentence in sentences if sentence != unranked)],
        urgent_sentences(study),
    )
    if output is not None:
        show(f"{output}: the leaderboard")
    elif table and len(table.data) > 1:
        common = ["--anyway"] if any(apart) else []
        queue_next_steps(f"Next: {format_shell_command('genaipa', 'compare', *table.data['system'][:2], *common)}")


def list_caveat_on_few_documents(ranking_table: Table | None) -> list[str]:
    """Return a sentence where a leaderboard rests on so few documents that it says nothing of others."""
    from genaipa.stats.intervals import LEAST_DOCUMENTS

    documents = 0 if ranking_table is None or not ranking_table else ranking_table.data["documents"].fillna(0).max()
    if not 0 < documents < LEAST_DOCUMENTS:
        return []
    return [
        "One document says nothing about other policies."
        if documents == 1
        else f"{format_count(int(documents), 'document')} say nothing about other policies."
    ]


def _print_blank_reason_and_tables(tables: Sequence[Table], blank_reason: str) -> None:
    """Print the tables, after the sentence on what would be in a leaderboard that is blank."""
    if blank_reason:
        show(blank_reason)
    for table in tables:
        show_table_and_queue_note(table)


def _gather_study_and_rule_scored_results(
    workspace: Workspace,
    run_and_system_names: tuple[str, ...],
    filters: Filters,
    group_column: str,
    *,
    include_excluded: bool,
) -> tuple[Study, list[TaskKindResults]]:
    """Gather the selected runs and systems, limited to the selected documents and experiments, and results by rule."""
    from genaipa.reports import check_report_packages
    from genaipa.runs.selection import select_runs_and_apply_filters

    # Names first: what reports need takes a second to import.
    sources = select_runs_and_apply_filters(workspace, run_and_system_names, filters)
    check_report_packages()
    from genaipa.answers.gather import gather_study_with_stored_scores
    from genaipa.reports.chapters.chapter import make_rule_scored_results

    study = gather_study_with_stored_scores(
        workspace,
        sources,
        count_excluded=include_excluded,
        without_reading_texts=True,
        document_group_column=group_column,
    )
    return study, [] if filters.documents or filters.experiments else make_rule_scored_results(workspace, sources)


def _check_output_suffix(path: Path) -> None:
    from genaipa.reports import check_report_packages

    check_report_packages()
    from genaipa.reports.render import FORMS

    if path.suffix not in FORMS:
        raise UsageError(f"'{path.name}' must end in {' or '.join(FORMS)}.")


def _write_leaderboard(table: Table, path: Path, *, force: bool) -> None:
    from genaipa.reports.render import FORMS

    with open_output_file(path, force=force) as file:
        file.write(FORMS[path.suffix](table).encode())
