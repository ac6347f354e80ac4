"""`genaipa compare`: two systems, or two runs, side by side."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import (
    print_caveat_unless_quiet,
    print_first_caveats_and_queue_rest,
    print_json,
    print_table,
    print_to_stderr,
    queue_explanation,
    queue_next_steps,
    show,
    show_table_and_queue_note,
)
from genaipa.cli.terminal.options import (
    ExcludedOption,
    ForceOption,
    FormatsOption,
    GateOption,
    JsonOption,
    check_no_overwrite,
    choose_figure_formats,
    current_workspace,
    open_output_file,
    option,
    split_names,
)
from genaipa.errors import DataError, UnscoredError, UsageError, format_shell_command
from genaipa.files.atomic import open_draft_folder
from genaipa.kinds import find_kind_or_placeholder
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from genaipa.reports.chapters.chapter import ResultsComparison
    from genaipa.reports.comparison import Comparison
    from genaipa.reports.figures.figure import Format
    from genaipa.reports.gate import ReleaseGate
    from genaipa.reports.table import Table
    from genaipa.runs.selection import SelectedRun
    from genaipa.workspace import Workspace

_COLUMNS = {
    "measure": "measure",
    "questions": "questions",
    "n": "n",
    "A": "mean_a",
    "B": "mean_b",
    "A \u2212 B": "difference",
    "for these documents": "interval",
    "p": "p_holm",
    "for policies like these": "policies_interval",
    "p, policies": "policies_p_holm",
    "meaning": "meaning",
}
"""Heading on the terminal → column under it; files have all columns."""
_ALWAYS = ("measure", "A", "B", "A \u2212 B", "for these documents", "p", "meaning")
"""Headings of the columns that are shown without --all."""


_ExperimentOption = Annotated[
    list[str] | None,
    option(
        "--experiment",
        "-e",
        autocompletion=completion.experiments,
        help="Only these experiments; by default, all but regulation.",
    ),
]
_MarkdownOption = Annotated[
    Path | None, option("--md", metavar="FILE", help="Write a summary in Markdown, for example for a pull request.")
]
_JudgeOption = Annotated[
    # Not from the environment, as `judge` has it: that would take people's scores away without a word.
    str,
    typer.Option(
        "--judge", metavar="NAME", help="Compare a judge's verdicts alone, without estimating people's scores."
    ),
]
_OutputOption = Annotated[
    Path | None,
    option("--output", "-o", metavar="PATH", help="A .csv, .tex or .json file, or a folder for all formats."),
]
_AnywayOption = Annotated[
    bool, option("--anyway", help="Where documents, questions, prompts or rubric differ, compare the common part.")
]
_AllRowsOption = Annotated[
    bool, option("--all", help="Also show rows with too few questions, and all measures; files always include them.")
]


def compare(
    first: Annotated[
        str,
        typer.Argument(metavar="A", autocompletion=completion.runs_and_systems, help="A system, a run, or RUN:SYSTEM."),
    ],
    second: Annotated[
        str,
        typer.Argument(
            metavar="B", autocompletion=completion.runs_and_systems, help="The system or run to compare it with."
        ),
    ],
    experiment: _ExperimentOption = None,
    include_excluded: ExcludedOption = False,
    anyway: _AnywayOption = False,
    everything: _AllRowsOption = False,
    judge: _JudgeOption = "",
    gate: GateOption = None,
    md: _MarkdownOption = None,
    output: _OutputOption = None,
    formats: FormatsOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Compare two systems or runs, with intervals.

    Differences are A minus B, question by question: over all questions, by source and by category. They come with
    effect sizes, and with intervals and tests, adjusted within families, for these documents and for policies like
    these. Suites are compared item by item, with intervals. For --gate, A is the old release and B the new one.
    """
    from genaipa.reports import check_report_packages
    from genaipa.runs.selection import find_runs_by_system_or_run_name

    workspace, only = current_workspace(), split_names(experiment)
    # Names first: what reports need takes a second to import.
    sides = [find_runs_by_system_or_run_name(workspace, side) for side in (first, second)]
    check_report_packages()
    from genaipa.reports import comparison
    from genaipa.reports.gate import LOST, ReleaseGate

    workspace.check_output_outside_data(output)
    form, wanted = _resolve_suffix_and_figure_formats(output, md, formats, force=force)
    people = all(
        any(find_kind_or_placeholder(source.manifest.spec.kind).people for source in sources) for sources in sides
    )
    alone = bool(only or judge or md or gate is not None)
    rule_scored = (
        {} if alone else _compare_rule_scored_results(workspace, first, second, sides, scored_by_people=people)
    )
    result = None
    if people or not rule_scored:
        try:
            chosen: dict[str, Any] = {"excluded": include_excluded, "anyway": anyway, "judge": judge}
            result = comparison.compare(first, second, experiments=only, workspace=workspace, **chosen)
        except UnscoredError as error:
            if not rule_scored:
                raise
            print_to_stderr(f"Answers to questions are not compared: {error}")
    if result is None:
        _write_first_and_print_rule_comparisons(
            rule_scored, output, form, formats, force=force, all_measures=everything, json=json
        )
        return
    for problem in result.problems:
        print_to_stderr(problem)
    held = ReleaseGate(result, gate) if gate is not None else None
    runs = sorted({source.folder.name for side in sides for source in side})
    if output:
        _write_comparison(result, output, form, wanted, force=force)
        print_to_stderr(f"Written to {output}.")
    if md:
        _write_comparison_markdown(workspace, result, held, md, output, runs, force=force)
    _print_comparisons(result, held, runs, rule_scored, None if alone else workspace, show_all=everything, json=json)
    if held and held.is_failing:
        raise typer.Exit(LOST)


def _print_comparisons(
    comparison: Comparison,
    gate: ReleaseGate | None,
    run_names: Sequence[str],
    rule_comparisons: Mapping[str, ResultsComparison],
    workspace_with_report: Workspace | None,
    *,
    show_all: bool,
    json: bool,
) -> None:
    """Print a comparison by people's scores, with the gate, and then the differences in what is scored by a rule.

    With a workspace, the verdict of its report is told where that is another.
    """
    from genaipa.reports.report_verdict import describe_report_verdict_if_different

    if json:
        print_json(
            comparison.as_json()
            | (gate.as_json() if gate else {})
            | _rule_comparison_json_rows_by_name(rule_comparisons)
        )
    else:
        unclear = (
            describe_report_verdict_if_different(workspace_with_report, comparison) if workspace_with_report else ""
        )
        _print_comparison(comparison, gate, run_names, unclear, all_rows_and_columns=show_all)
        _print_rule_comparisons(rule_comparisons, all_measures=show_all, json=False)


def _rule_comparison_json_rows_by_name(rule_comparisons: Mapping[str, ResultsComparison]) -> dict[str, object]:
    """Return the differences in what is scored by a rule, for machines."""
    from genaipa.reports.render import as_json_rows

    return {name: as_json_rows(comparison.table) for name, comparison in rule_comparisons.items()}


def _write_first_and_print_rule_comparisons(
    rule_comparisons: Mapping[str, ResultsComparison],
    output: Path | None,
    single_file_suffix: str,
    figure_formats: list[str] | None,
    *,
    force: bool,
    all_measures: bool,
    json: bool,
) -> None:
    """Write and print the differences in what is scored by a rule, where no answer is compared by people's scores."""
    if output:
        _write_rule_comparison_without_figures(
            next(iter(rule_comparisons.values())).table, output, single_file_suffix, figure_formats, force=force
        )
        print_to_stderr(f"Written to {output}.")
    _print_rule_comparisons(rule_comparisons, all_measures=all_measures, json=json)


def _write_comparison_markdown(
    workspace: Workspace,
    comparison: Comparison,
    gate: ReleaseGate | None,
    markdown_path: Path,
    linked_output: Path | None,
    run_names: Sequence[str],
    *,
    force: bool,
) -> None:
    """Write the summary for a pull request, with the way to what was written beside it, or to a report."""
    from genaipa.reports.pull_request import (
        find_most_changed_answers,
        render_comparison_markdown,
        render_markdown_link_to_report,
        render_markdown_of_report_command,
    )

    report_link = (
        render_markdown_link_to_report(linked_output, markdown_path)
        if linked_output
        else render_markdown_of_report_command(run_names)
    )
    with open_output_file(markdown_path, force=force) as file:
        file.write(
            render_comparison_markdown(
                comparison, find_most_changed_answers(comparison, workspace), gate=gate, report_reference=report_link
            ).encode()
        )
    print_to_stderr(f"Written to {markdown_path}.")


def _compare_rule_scored_results(
    workspace: Workspace,
    first_name: str,
    second_name: str,
    sources_by_side: Sequence[Sequence[SelectedRun]],
    *,
    scored_by_people: bool,
) -> dict[str, ResultsComparison]:
    """Compare two systems or runs where a rule scores; a UsageError for nothing at all in common."""
    from genaipa.reports.chapters.chapter import result_classes_of_run_kinds

    classes = result_classes_of_run_kinds([source for sources in sources_by_side for source in sources])
    comparisons = {
        comparison.name: comparison.compare_systems(workspace, first_name, second_name) for comparison in classes
    }
    shared = {name: comparison for name, comparison in comparisons.items() if comparison.table}
    if not shared and not scored_by_people:
        raise UsageError(
            f"{first_name} and {second_name} share no questions and no suite items; ask both the same questions first."
        )
    for comparison in comparisons.values():
        for problem in comparison.problems:
            print_to_stderr(problem)
    return shared


def _print_rule_comparisons(
    rule_comparisons: Mapping[str, ResultsComparison], *, all_measures: bool, json: bool
) -> None:
    """Print the differences in what is scored by a rule: in the main measures, or in all."""
    for comparison in rule_comparisons.values():
        if json:
            print_json(_table_to_dict(comparison.table))
            continue
        table = comparison.table if all_measures else comparison.main
        show_table_and_queue_note(table)
        if len(table.data) < len(comparison.table.data):
            hidden = len(comparison.table.data) - len(table.data)
            show(f"{format_count(hidden, 'more row')} for other measures: --all")


def _table_to_dict(table: Table) -> dict[str, object]:
    from genaipa.reports.render import as_json_rows

    return {"title": table.title, "method": table.note, "rows": as_json_rows(table)}


def _write_rule_comparison_without_figures(
    table: Table, output: Path, single_file_suffix: str, figure_formats: list[str] | None, *, force: bool
) -> None:
    """Write the differences in what is scored by a rule into a file, or a folder without `single_file_suffix`.

    A UsageError where formats of figures are asked for, of which there are none.
    """
    if figure_formats:
        raise UsageError("Comparisons of suite items have no figures: leave out --formats.")
    import msgspec

    from genaipa.reports.render import FORMS
    from genaipa.reports.writing import write_table_files

    if single_file_suffix:
        as_json = msgspec.json.format(msgspec.json.encode(_table_to_dict(table)), indent=2).decode() + "\n"
        text = as_json if single_file_suffix == ".json" else FORMS[single_file_suffix](table)
        with open_output_file(output, force=force) as file:
            file.write(text.encode())
        return
    try:
        with open_draft_folder(output) as draft_folder:
            write_table_files(table, draft_folder)
    except OSError as error:
        raise DataError(output, f"can't be written ({error.strerror}).") from None


def _resolve_figure_formats(format_names: list[str] | None, *, into_folder: bool) -> tuple[Format, ...]:
    """Return the formats of the figures; a UsageError for an unknown one, and where no folder is to be written."""
    wanted = choose_figure_formats(format_names, ("png", "svg", "pdf"))
    if format_names and not into_folder:
        raise UsageError("--formats is for the figures in a folder: add -o FOLDER.")
    return wanted


def _resolve_suffix_and_figure_formats(
    output: Path | None, markdown_path: Path | None, formats: list[str] | None, *, force: bool
) -> tuple[str, tuple[Format, ...]]:
    """Return the suffix of the output, empty for a folder, and the formats of its figures.

    A UsageError for a file that may not be written, and for formats without a folder.
    """
    if markdown_path:
        check_no_overwrite(markdown_path, force=force)
    form = "" if output is None or output.is_dir() else output.suffix
    if output is not None and form:
        from genaipa.reports.comparison import FORMS

        if form not in FORMS:
            raise UsageError(
                f"{output}: a comparison is written as {', '.join(FORMS)}, or into a folder in all these formats."
            )
        check_no_overwrite(output, force=force)
    return form, _resolve_figure_formats(formats, into_folder=output is not None and not form)


def _print_comparison(
    comparison: Comparison,
    gate: ReleaseGate | None,
    run_names: Sequence[str],
    report_verdict: str,
    *,
    all_rows_and_columns: bool,
) -> None:
    """Print the finding on these runs, the gate's and a report's, then their rows by family: on all, or every one."""
    table, tested = comparison.table, comparison.frame["test"] != "none"
    main = table.data["questions"] == "all"
    if not all_rows_and_columns and main.any():
        table = replace(table, data=table.data[tested & main if (tested & main).any() else main])
    show(comparison.verdict)
    if gate:
        show(str(gate))
    print_caveat_unless_quiet(report_verdict)
    print_caveat_unless_quiet(
        f"{_describe_generalization_and_power(comparison)} A is {comparison.first}, B {comparison.second}."
    )
    print_first_caveats_and_queue_rest(
        [sentence for sentence in (comparison.favoured, comparison.answered, *comparison.system_notes) if sentence]
    )
    short = [] if all_rows_and_columns else [name for name in _COLUMNS if name not in _ALWAYS]
    columns = {head: column for head, column in _COLUMNS.items() if head not in short}
    print_table(
        list(columns),
        _iterate_family_headings_and_rows(table, columns),
        right_aligned_columns=range(2, len(columns) - 1),
    )
    if len(table.data) < len(comparison.frame):
        queue_next_steps(f"{format_count(len(comparison.frame) - len(table.data), 'more row')}: --all")
    if comparison.judge and comparison.scored_throughout:
        again = format_shell_command("genaipa", "compare", comparison.first, comparison.second)
        queue_next_steps(f"Next: {again} (people scored all of the answers)")
    elif comparison.judge:
        queue_next_steps(f"Next: {format_shell_command('genaipa', 'sample', *run_names)} (people score a random part)")
    queue_explanation(
        f"{table.title}: differences are A \u2212 B.",
        *comparison.finding,
        comparison.method,
        hint_if_hidden="Method: --explain",
    )


def _describe_generalization_and_power(comparison: Comparison) -> str:
    """Say what the result is worth for other documents, and the size of a difference that would be found."""
    from genaipa.reports.significance import LOPSIDED

    row = comparison.frame.iloc[0].to_dict()
    read = {
        name: comparison.table.format_cell(name, row[name])
        for name in ("policies_low", "policies_high", "policies_p_holm")
    }
    text, early = "Nothing can be said about other policies.", str(comparison.evidence)
    if read["policies_low"]:
        text = (
            f"For policies like these: {read['policies_low']} to {read['policies_high']}, p {read['policies_p_holm']}."
        )
    power = next((sentence for sentence in comparison.finding if sentence.startswith("Power")), "")
    if size := re.search(r"difference in \S+ of ([\d.]+)", power):
        text += f" A study of this size detects a difference of {size[1]} points with 80 % probability."
    elif power:
        text += " A study of this size detects no difference with 80 % probability, however large."
    text += "".join(f" {sentence}" for sentence in comparison.finding if sentence.startswith(LOPSIDED))
    text += " M_all is adjusted for no other pair."
    return f"{text} {early}" if early else text


def _iterate_family_headings_and_rows(table: Table, columns_by_heading: Mapping[str, str]) -> Iterator[list[str] | str]:
    """Yield the rows of each family under its name; p is the adjusted one."""
    for family, data in table.data.groupby("family", sort=False):
        yield f"{str(family)[0].upper()}{str(family)[1:]}"
        for row in data.to_dict("records"):
            written = {str(name): table.format_cell(str(name), value) for name, value in row.items()}
            for target in ("", "policies_"):
                low, high = written[f"{target}low"], written[f"{target}high"]
                written[f"{target}interval"] = f"{low} to {high}" if low else ""
            if "higher" in written["meaning"] and row["low"] <= 0 <= row["high"]:
                written["meaning"] = "by the rank test alone"
            yield [written[name] for name in columns_by_heading.values()]


def _write_comparison(
    comparison: Comparison, output: Path, single_file_suffix: str, figure_formats: Sequence[Format], *, force: bool
) -> None:
    """Write one file, or a folder with every form of the table, and the figures."""
    from genaipa.reports.comparison import FORMS
    from genaipa.reports.figures.figure import figure_file_paths, save_figure_and_data
    from genaipa.reports.render import as_latex

    if single_file_suffix:
        with open_output_file(output, force=force) as file:
            file.write(comparison.as_file_text(single_file_suffix).encode())
        return
    texts = {output / f"{comparison.table.name}{suffix}": comparison.as_file_text(suffix) for suffix in FORMS}
    if comparison.groups_table:
        texts[output / f"{comparison.groups_table.name}.tex"] = as_latex(comparison.groups_table)
    figures = comparison.figures
    for path in (*texts, *(path for figure in figures for path in figure_file_paths(figure, output, figure_formats))):
        check_no_overwrite(path, force=force)
    try:
        with open_draft_folder(output) as draft_folder:
            for path, text in texts.items():
                (draft_folder / path.name).write_text(text, encoding="utf-8", newline="")
            for figure in figures:
                save_figure_and_data(figure, draft_folder, figure_formats)
    except OSError as error:
        raise DataError(output, f"can't be written ({error.strerror}).") from None
