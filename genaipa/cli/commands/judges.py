"""`genaipa judges`: how good the judges are, measured against people's scores of the same answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from genaipa.cli.terminal.console import (
    is_explanation_wanted,
    print_caveat_unless_quiet,
    print_json,
    print_table,
    queue_explanation,
    queue_next_steps,
    show,
)
from genaipa.cli.terminal.options import (
    ExcludedOption,
    ForceOption,
    JsonOption,
    check_no_overwrite,
    current_workspace,
    option,
    split_names,
)
from genaipa.cli.terminal.selection import ByOption, RunsArgument, add_filter_options
from genaipa.errors import DataError
from genaipa.files.atomic import open_draft_folder
from genaipa.runs.filters import EVERYTHING, Filters
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from genaipa.reports.chapters.chapter import Chapter
    from genaipa.reports.table import Table

_NONE = (
    "No judge has scored these answers. To ask a judge: genaipa judge RUN --judge SYSTEM. People must score "
    "some of the "
    "answers, too."
)
_AGREEMENT = (
    "measure",
    "answers",
    "with people",
    "people with each other",
    "with itself",
    "other judges",
    "AC2",
    "r",
)
_WHY = "why blank"
_LENIENCY = ("group", "n", "leniency", "for these documents", "for policies like these", _WHY)


@add_filter_options
def judges(
    run: RunsArgument = None,
    only: Filters = EVERYTHING,
    by: ByOption = "",
    output: Annotated[
        Path | None,
        option("--output", "-o", metavar="DIR", help="Write every table and figure into this folder instead."),
    ] = None,
    force: ForceOption = False,
    include_excluded: ExcludedOption = False,
    json: JsonOption = False,
) -> None:
    """Measure how well judges agree with people.

    The tables show the agreement of each judge with people, with itself and with other judges, beside the agreement of
    people with each other; and the judge's leniency by system, document, category and where documents are silent.
    Measures need at least 30 answers that both people and the judge scored.
    """
    from genaipa.reports import check_report_packages
    from genaipa.runs.selection import select_runs_and_apply_filters

    workspace = current_workspace()
    workspace.check_output_outside_data(output)
    # Names first: what reports need takes a second to import.
    sources = select_runs_and_apply_filters(workspace, split_names(run), only)
    check_report_packages()
    from genaipa.answers.gather import gather_study_with_stored_scores
    from genaipa.reports.chapters.judges import JudgesChapter
    from genaipa.reports.figures.figure import FigureScope
    from genaipa.reports.part import is_scored_throughout
    from genaipa.reports.render import as_json_rows

    study = gather_study_with_stored_scores(
        workspace, sources, count_excluded=include_excluded, document_group_column=by
    )
    chapter = JudgesChapter().make(study, FigureScope.from_scores_table(study.table, study.questions.categories))
    tables = {item.name: item for item in chapter.tables}
    if output is not None and tables:
        _write_judges_chapter(chapter, output, force=force)
        show(f"{output}: tables and figures on {format_count(len(tables['judges'].data), 'judge')}")
        return
    if json:
        rows = {
            name: {"title": item.title, "note": item.note, "rows": as_json_rows(item)} for name, item in tables.items()
        }
        print_json({"absent": chapter.absent, "tables": rows})
    elif tables:
        _print_judges_tables(tables, by)
        _suggest_judging_next_step(
            tables["judges"],
            is_sample_drawn=bool(study.waves),
            is_too_small_to_sample=_are_answers_too_few_to_sample(study.table),
            is_all_scored=is_scored_throughout(study.table),
        )
    else:
        show(_NONE)
    for sentence in () if json else (*study.lost, *chapter.absent, *sorted(set(study.problems))):
        print_caveat_unless_quiet(sentence)


def _print_judges_tables(tables_by_name: dict[str, Table], group_column: str) -> None:
    """Print a sentence on each judge, then its agreement, in groups too if `group_column` one.

    The rest is for --explain.
    """
    names = ("judges", "judges-agreement", "judges-agreement-apart", "judges-leniency")
    summary, agreed, apart, lenient = map(tables_by_name.get, names)
    assert summary is not None
    for row in summary.data.to_dict("records"):
        short = agreed is not None and lenient is not None and _summarize_judge_or_empty(row["judge"], agreed, lenient)
        show(f"{row['judge']}: {short or row['finding']}")
        judged = f"{format_count(row['passes'], 'pass', 'passes')}, {format_count(row['judged'], 'answer')} judged"
        queue_explanation(f"{row['judge']} ({judged}, {row['answers']:,} of them scored by people). {row['finding']}")
    queue_explanation(summary.note, hint_if_hidden="What the numbers mean: --explain")
    if agreed is not None and lenient is not None:
        show("Agreement with people, and of people with each other: Krippendorff's alpha, and Gwet's AC2 with people")
        _print_table_without_empty_columns(_AGREEMENT, list(_judge_headings_and_measure_agreements(agreed)))
        if apart is not None and (group_column or is_explanation_wanted()):
            show(apart.title if is_explanation_wanted() else f"By {group_column}")
            lines = list(_judge_headings_and_group_agreements(apart, "" if is_explanation_wanted() else group_column))
            _print_table_without_empty_columns(("group", "n", "alpha", "AC2", "most common value"), lines)
        if is_explanation_wanted():
            show(f"{lenient.title}: judge's M_all minus people's, on a scale from 10 to 100")
            _print_table_without_empty_columns(_LENIENCY, list(_leniency_headings_and_rows(lenient)))
        queue_explanation(agreed.note, _sentence_on_left_out_groups_or_empty(lenient), lenient.note)
        queue_explanation("The other tables, and figures: genaipa judges -o FOLDER, or --json.")


def _summarize_judge_or_empty(judge_name: str, agreement_table: Table, leniency_table: Table) -> str:
    """Describe a judge in a sentence: agreement on M_all and on its weakest metric, leniency; empty without any."""
    from genaipa.reports.judged.quality import PEOPLE

    rows = agreement_table.data[
        (agreement_table.data["judge"] == judge_name) & (agreement_table.data["with"] == PEOPLE)
    ].dropna(subset=["alpha"])
    of = {row["measure"]: row for row in rows.to_dict("records")}
    if not (whole := of.pop("M_all", None)):
        return ""
    text = f"agrees with people at alpha {agreement_table.format_cell('alpha', whole['alpha'])} on M_all"
    if of:
        weakest = min(of.values(), key=lambda row: row["alpha"])
        text += f", weakest on {weakest['measure']} ({agreement_table.format_cell('alpha', weakest['alpha'])})"
    data = leniency_table.data
    all_ = data[(data["judge"] == judge_name) & (data["measure"] == "M_all") & (data["group"] == "")]
    for row in all_.dropna(subset=["mean"]).to_dict("records")[:1]:
        text += f"; {abs(row['mean']):.1f} points {'more lenient' if row['mean'] > 0 else 'stricter'}"
    return f"{text}; {format_count(whole['answers'], 'answer')}."


def _are_answers_too_few_to_sample(score_frame: pd.DataFrame) -> bool:
    """Tell whether no system has enough answers in an experiment for people to score only a part of them."""
    from genaipa.scoring.waves import SIZE

    answers = score_frame[score_frame["answer"] != ""].drop_duplicates(["system", "experiment", "answer"])
    return bool(answers.groupby(["system", "experiment"], observed=True).size().max() <= SIZE)


def _suggest_judging_next_step(
    judges_table: Table, *, is_sample_drawn: bool, is_too_small_to_sample: bool, is_all_scored: bool
) -> None:
    """Print the next step: more scores by people, all of them of few answers, or averages that rest on both.

    Where people scored `is_all_scored`, nothing is left to score.
    """
    from genaipa.reports.judged.verdicts import LEAST

    draw = "" if is_sample_drawn or is_too_small_to_sample else "genaipa sample, then "
    below = bool((judges_table.data["answers"] < LEAST).any())
    if below:
        print_caveat_unless_quiet(f"A judge counts once people have scored {LEAST} of the answers it judged.")
    if is_all_scored:
        print_caveat_unless_quiet("People scored all of the answers; no estimate is needed.")
        queue_next_steps("Next: genaipa report")
    elif below:
        queue_next_steps(f"Next: {draw}genaipa score")
    elif is_too_small_to_sample:
        print_caveat_unless_quiet("With so few answers, score them all; no estimate is needed.")
        queue_next_steps("Next: genaipa score")
    else:
        queue_next_steps(
            "Averages from people and judges: genaipa report", f"Next: {draw}genaipa score" if draw else ""
        )


def _print_table_without_empty_columns(headers: Sequence[str], rows_and_headings: list[list[str] | str]) -> None:
    cells = [line for line in rows_and_headings if isinstance(line, list)]
    columns = [index for index in range(len(headers)) if any(line[index] for line in cells)]
    rows = [line if isinstance(line, str) else [line[index] for index in columns] for line in rows_and_headings]
    right = [index for index, column in enumerate(columns) if column and headers[column] != _WHY]
    print_table([headers[index] for index in columns], rows, right_aligned_columns=right)


def _judge_headings_and_measure_agreements(agreements: Table) -> Iterator[list[str] | str]:
    """Yield a line for each measure under each judge: with people, people's own, with itself, with other judges."""
    from genaipa.reports.judged.quality import EACH_OTHER, ITSELF, OTHERS, PEOPLE

    cells = {(row["judge"], row["measure"], row["with"]): row for row in agreements.data.to_dict("records")}
    for judge in dict.fromkeys(agreements.data["judge"]):
        if judge == PEOPLE:
            continue
        yield judge
        for measure in dict.fromkeys(agreements.data["measure"]):
            with_people = cells[judge, measure, PEOPLE]
            places = ((judge, PEOPLE), (PEOPLE, EACH_OTHER), (judge, ITSELF), (judge, OTHERS))
            alphas = (
                _format_value_interval_or_why_missing(agreements, cells.get((who, measure, whom), {}), "alpha")
                for who, whom in places
            )
            ac2 = agreements.format_cell("ac2", with_people["ac2"])
            yield [
                measure,
                f"{with_people['answers']:,}",
                *alphas,
                ac2,
                _format_value_interval_or_why_missing(agreements, with_people, "r", "r_low", "r_high"),
            ]


def _judge_headings_and_group_agreements(agreements: Table, group_column: str) -> Iterator[list[str] | str]:
    """Yield, under each judge, a line with its agreement on M_all for each group of answers, or for all of them."""
    of = agreements.data[(agreements.data["by"] == group_column) | (not group_column)]
    for judge, rows in of[of["measure"] == "M_all"].groupby("judge", sort=False):
        yield str(judge)
        for row in rows.to_dict("records"):
            alpha = _format_value_interval_or_why_missing(agreements, row, "alpha")
            measures = (agreements.format_cell(name, row[name]) for name in ("ac2", "commonest"))
            yield [f"{row['by']}: {row['group']}", f"{row['answers']:,}", alpha, *measures]


def _leniency_headings_and_rows(leniencies: Table) -> Iterator[list[str] | str]:
    """Yield a line for each group of answers under each judge, of M_all; groups of too few answers are left out."""
    data = leniencies.data[(leniencies.data["measure"] == "M_all") & leniencies.data["mean"].notna()]
    for judge, rows in data.groupby("judge", sort=False):
        yield str(judge)
        for row in rows.to_dict("records"):
            blank = "" if leniencies.format_cell("low", row["low"]) else row["reason"]
            ends = (
                _format_interval_ends(leniencies, row, low, high)
                for low, high in (("low", "high"), ("policies_low", "policies_high"))
            )
            yield [
                _answer_group_label(row),
                f"{row['answers']:,}",
                leniencies.format_cell("mean", row["mean"]),
                *ends,
                blank,
            ]


def _answer_group_label(leniency_row: dict[Any, Any]) -> str:
    suffix = " (own family)" if leniency_row["family"] else ""
    return f"{leniency_row['by']}: {leniency_row['group']}{suffix}" if leniency_row["group"] else "all answers"


def _sentence_on_left_out_groups_or_empty(leniencies: Table) -> str:
    """Name the groups that are left out, with their numbers of answers."""
    rows = leniencies.data[leniencies.data["mean"].isna()].to_dict("records")
    named = dict.fromkeys(f"{_answer_group_label(row)} ({row['answers']})" for row in rows)
    return (
        f"Left out because fewer than 30 answers have scores by both people and the judge: {', '.join(named)}."
        if named
        else ""
    )


def _format_value_interval_or_why_missing(
    table: Table, row: dict[Any, Any], value_column: str, low_column: str = "low", high_column: str = "high"
) -> str:
    """Format a value with its interval; say why where it is absent."""
    from genaipa.reports.judged.verdicts import explain_too_few_answers_or_empty

    if not row:
        return ""
    value, ends = (
        table.format_cell(value_column, row[value_column]),
        _format_interval_ends(table, row, low_column, high_column),
    )
    if value or value_column == "r":
        return f"{value} ({ends})" if ends else f"{value} (too few to tell)" if value_column == "alpha" else value
    return f"n={row['answers']}: too few" if explain_too_few_answers_or_empty(row["answers"]) else "not defined"


def _format_interval_ends(table: Table, row: dict[Any, Any], low_column: str, high_column: str) -> str:
    written = table.format_cell(low_column, row[low_column])
    return f"{written} to {table.format_cell(high_column, row[high_column])}" if written else ""


def _write_judges_chapter(chapter: Chapter, output: Path, *, force: bool) -> None:
    """Write every form of the tables and figures into a folder."""
    from genaipa.reports.figures.figure import save_figure_and_data
    from genaipa.reports.writing import write_table_files

    for name in (*(item.name for item in chapter.tables), *(item.name for item in chapter.figures)):
        check_no_overwrite(output / f"{name}.csv", force=force)
    try:
        with open_draft_folder(output) as draft_folder:
            for part in chapter.tables:
                write_table_files(part, draft_folder)
            for figure in chapter.figures:
                save_figure_and_data(figure, draft_folder)
    except OSError as error:
        raise DataError(output, f"can't be written ({error.strerror}).") from None
