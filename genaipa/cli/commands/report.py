"""`genaipa report`: runs and their scores as figures, tables and one page to read."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from genaipa.cli.commands.leaderboard import list_caveat_on_few_documents
from genaipa.cli.terminal.console import (
    print_caveat_unless_quiet,
    print_first_caveats_and_queue_rest,
    print_json,
    print_to_stderr,
    queue_explanation,
    queue_next_steps,
    show,
    show_tables_and_queue_notes,
    stderr_console,
)
from genaipa.cli.terminal.options import (
    SELDOM,
    ExcludedOption,
    ForceOption,
    FormatsOption,
    JsonOption,
    check_no_overwrite,
    choose_figure_formats,
    current_workspace,
    option,
    split_names,
)
from genaipa.cli.terminal.selection import ByOption, RunsArgument, add_filter_options
from genaipa.errors import UsageError, format_shell_command
from genaipa.runs.filters import EVERYTHING, Filters
from genaipa.words import format_count, replace_unprintable_characters
from genaipa.workspace import workspace_option_if_needed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from genaipa.reports.report import Report
    from genaipa.scoring.rubric import BandBounds
    from genaipa.workspace import Workspace

_GreenOption = Annotated[
    float | None,
    option(
        "--green", help="Metric averages of at least this value are Green (default: the rubric's value).", panel=SELDOM
    ),
]
_RedOption = Annotated[
    float | None,
    option("--red", help="Metric averages below this value are Red (default: the rubric's value).", panel=SELDOM),
]
_CorrectedOption = Annotated[
    bool,
    option("--corrected", help="Apply known corrections of annotated answers (corrections/).", panel=SELDOM),
]
_TextsOption = Annotated[
    bool,
    option(
        "--with-texts",
        help="Include answers that may not be redistributed (no license is stated, or it forbids that).",
        panel=SELDOM,
    ),
]


@add_filter_options
def report(
    run: RunsArgument = None,
    only: Filters = EVERYTHING,
    output: Annotated[
        Path | None,
        option(
            "--output", "-o", metavar="DIR", help="Folder of the report; by default, reports/NAME in the workspace."
        ),
    ] = None,
    include_excluded: ExcludedOption = False,
    corrected: _CorrectedOption = False,
    by: ByOption = "",
    green: _GreenOption = None,
    red: _RedOption = None,
    formats: FormatsOption = None,
    with_texts: _TextsOption = False,
    frame: Annotated[
        Path | None,
        option("--frame", metavar="FILE", help="Write the tidy table to this .csv or .parquet file as well."),
    ] = None,
    force: ForceOption = False,
    open_page: Annotated[bool, option("--open", help="Open the page in the browser.")] = False,
    json: JsonOption = False,
) -> None:
    """Write figures, tables and a page.

    An earlier report on the same runs is replaced. The report counts answers that failed, are missing, unscored or
    excluded.
    """
    from genaipa.reports import check_report_packages
    from genaipa.runs.selection import select_runs_and_apply_filters

    workspace = current_workspace()
    bounds, wanted = _resolve_band_bounds(workspace, green, red), choose_figure_formats(formats, ("svg",))
    _check_tidy_table_path(frame, force=force)
    # Names first: what reports need takes a second to import.
    select_runs_and_apply_filters(workspace, split_names(run), only)
    check_report_packages()
    from genaipa.reports import report as reports
    from genaipa.reports.answers import collect_readable_answers
    from genaipa.reports.writing import choose_report_folder, read_report_selection

    workspace.check_output_outside_data(output)
    with _show_current_step("reading the runs") as tell:
        result = reports.report(
            split_names(run),
            workspace=workspace,
            excluded=include_excluded,
            corrected=corrected,
            bounds=bounds,
            by=by,
            only=only,
            tell=tell,
        )
        folder = output or choose_report_folder(workspace, result.selection)
        before = read_report_selection(folder)
        page = result.write(folder, formats=wanted, whole=with_texts, tell=tell)
    if before is not None and before != sorted(result.selection):
        print_to_stderr(f"The report on {', '.join(before) or 'everything'} in {folder} was replaced.")
    if frame is not None:
        _write_tidy_table(result, frame)
    if json:
        print_json({"folder": str(folder), **result.as_json()})
    else:
        print_report_summary(result, page)
        # As the page has collected them.
        if withheld := collect_readable_answers(result.study, with_restricted_texts=with_texts).withheld_count:
            print_caveat_unless_quiet(f"{format_count(withheld, 'answer')} withheld from the page; see --with-texts.")
    if open_page:
        _open_in_browser(page)


@contextlib.contextmanager
def _show_current_step(first_step: str) -> Iterator[Callable[[str], None]]:
    """Show the current step on the terminal: `first_step`, then each passed to the function; elsewhere one line."""
    if not stderr_console().is_terminal:
        print_to_stderr("computing tables and figures; this takes a few seconds")
    with stderr_console().status(first_step) as status:
        yield lambda now: status.update(replace_unprintable_characters(now))


def _check_tidy_table_path(path: Path | None, *, force: bool) -> None:
    if path is None:
        return
    if path.suffix not in (".csv", ".parquet"):
        raise UsageError(f"'{path.name}' must end in .csv or .parquet.")
    check_no_overwrite(path, force=force)


def _open_in_browser(page: Path) -> None:
    import webbrowser

    if not webbrowser.open(page.resolve().as_uri()):
        print_to_stderr(f"No browser could be opened; open {page} yourself.")


def print_report_summary(report: Report, page_path: Path) -> None:
    """Print the main tables or counts, what changes their reading, the page's path and what is next."""
    from genaipa.archive.contents import find_command_after_scoring
    from genaipa.reports.chapters.overall import note_unlike_scored_questions, note_unranked_systems
    from genaipa.reports.notable import urgent_sentences

    name = next((source.folder.name for source in report.study.sources), "")
    arguments = (f" {name}" if len(report.study.sources) == 1 else "") + "".join(
        f" {word}" for word in workspace_option_if_needed(current_workspace().home)
    )
    for sentence in report.study.lost:
        print_to_stderr(sentence)
    notable = [sentence for sentence in report.notable if sentence not in report.study.lost]
    if counted := _describe_unscored_report_or_empty(report):
        show(counted)
        print_first_caveats_and_queue_rest(report.missing_answer_sentences)
        queue_explanation(*(sentence for sentence in notable if sentence not in report.missing_answer_sentences))
    else:
        show_tables_and_queue_notes(report.main_tables)
        print_caveat_unless_quiet(unranked := note_unranked_systems(report.frame))
        print_first_caveats_and_queue_rest(
            [
                *list_caveat_on_few_documents(report.tables.get("leaderboard")),
                *(sentence for sentence in notable if sentence != unranked),
            ],
            urgent_sentences(report.study),
        )
    for problem in report.problems:
        show(f"- {problem}")
    if report.absent and not counted:
        print_caveat_unless_quiet(
            f"{format_count(len(report.absent), 'chapter')} {'has' if len(report.absent) == 1 else 'have'} no data yet."
        )
    queue_explanation(*report.absent)
    queue_next_steps(f"Report: {page_path}", even_if_quiet=True)
    step = ""
    if counted or "leaderboard" in report.tables:
        best = [] if counted else list(report.tables["leaderboard"].data["system"][:2])
        common = ["--anyway"] if note_unlike_scored_questions(report.frame) else []
        compare = format_shell_command("genaipa", "compare", *best, *common)
        step = f"genaipa score{arguments}" if counted or report.absent or len(best) == 1 else compare
    if not counted:
        step = find_command_after_scoring(current_workspace().home, step)
    queue_next_steps(f"Next: {step}" if step else "")


def _describe_unscored_report_or_empty(report: Report) -> str:
    """Return the sentence in place of tables where people have scored nothing; empty where they have."""
    if "leaderboard" in report.tables or "card" in report.tables or "answers" not in report.tables:
        return ""
    counts = report.tables["answers"].data
    if counts["scored"].sum() or counts["published"].sum():
        return ""
    from genaipa.reports.judged.alone import describe_averages_by_judge

    if alone := describe_averages_by_judge(report.study):
        return f"{alone}."
    planned, answered = int(counts["planned"].sum()), int(counts["answered"].sum())
    text = f"{answered:,} of {planned:,} answers received, none scored: no averages yet."
    return f"{text} Answers, times and costs are in the report."


def _resolve_band_bounds(workspace: Workspace, green: float | None, red: float | None) -> BandBounds:
    """Read the bounds of the rubric's bands; the given ones replace them."""
    from genaipa.scoring.rubric import BandBounds, load_rubric

    bands = load_rubric(workspace).bands
    try:
        return BandBounds(bands.green if green is None else green, bands.red if red is None else red)
    except ValueError as error:
        raise UsageError(f"{error}.") from None


def _write_tidy_table(report: Report, path: Path) -> None:
    from genaipa.answers import tidy

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        tidy.write_filled_columns_as_csv_or_parquet(report.study.make_tidy_table(), path)
    except OSError as error:
        raise UsageError(f"{path} can't be written ({error.strerror}).") from None
