"""`genaipa scores`: the scores that were given, out of the store and into it."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import print_json, print_table, print_to_stderr, queue_next_steps, show
from genaipa.cli.terminal.options import (
    ForceOption,
    JsonOption,
    check_no_overwrite,
    current_workspace,
    open_output_file,
    option,
    pass_json_to_subcommands,
    split_names,
)
from genaipa.errors import UsageError, clip, format_shell_command
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from genaipa.runs.authors import AnswerAuthors
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.selection import SelectedRun
    from genaipa.scoring.answers import AnswerPool
    from genaipa.scoring.events import Event
    from genaipa.scoring.importing import ImportOutcome
    from genaipa.scoring.people import People
    from genaipa.workspace import Workspace

FIRST_RUN = "genaipa run --system extractive --policy brindlecart"
_BROKEN = 1
_REFUSED = 2

app = typer.Typer()


@app.callback(invoke_without_command=True)
def list_analysts_unless_subcommand(context: typer.Context, json: JsonOption = False) -> None:
    """List, export or import scores.

    Without a command, the analysts and the numbers of their scores are listed.
    """
    if context.invoked_subcommand is not None:
        pass_json_to_subcommands(context, json=json)
        return

    from genaipa.runs.authors import AnswerAuthors
    from genaipa.runs.selection import list_run_folders_oldest_first
    from genaipa.scoring.people import load_desk_people_and_plan

    workspace = current_workspace()
    rows, answers = _make_analyst_rows_and_overall_counts(
        _read_scoring_events(workspace),
        load_desk_people_and_plan(workspace),
        AnswerAuthors(list_run_folders_oldest_first(workspace)),
    )
    if json:
        print_json({"analysts": rows, "answers": answers})
    elif not rows:
        show(f"No scores in {workspace.home} yet.")
        queue_next_steps(f"Start with: {'genaipa score' if list_run_folders_oldest_first(workspace) else FIRST_RUN}")
    else:
        columns = ["analyst", "scorer", "scores", "adjudicated", "seconds", "latest"]
        heads = [*columns[:4], "median time", "latest"]
        if any(row["left_out"] for row in rows):
            columns, heads = [*columns, "left_out"], [*heads, "left out of all counts"]
        cells = [
            [row[name] for name in columns]
            for row in (row | {"seconds": "" if row["seconds"] is None else f"{row['seconds']:.0f} s"} for row in rows)
        ]
        print_table(heads, cells, right_aligned_columns=(2, 3, 4))
        show(
            f"Answers scored by people: {answers['scored']:,}; by two or more people: {answers['shared']:,}; "
            f"adjudicated: {answers['adjudicated']:,}."
        )


@app.command()
def export(
    output: Annotated[
        Path | None,
        option("--output", "-o", metavar="FILE", help="A .csv, .jsonl or .xlsx file; by default, CSV is printed."),
    ] = None,
    in_effect: Annotated[
        bool, option("--in-effect", "--standing", help="In .jsonl, write only the events in effect, as in tables.")
    ] = False,
    machines: Annotated[
        bool, option("--machines", help="Include scores by machines when only the events in effect are written.")
    ] = False,
    per_run: Annotated[
        bool,
        option(
            "--per-run", help="In a table, write a row for each place where a scored answer was given, for statistics."
        ),
    ] = False,
    force: ForceOption = False,
) -> None:
    """Write the scores to a file.

    A table (.csv, .xlsx) has a row for each score and adjudication in effect, and names the answer that was scored. An
    answer that several runs, systems or repetitions gave identically was scored once; its row names all of them.
    A .jsonl file has every recorded event, for backup or transfer. In a table, text that a spreadsheet would take for a
    formula has a leading apostrophe, which 'genaipa scores import' removes.
    """
    from genaipa.runs.selection import list_run_folders_oldest_first
    from genaipa.scoring.rubric import load_rubric
    from genaipa.scoring.tables import require_scores_suffix, select_effective_scores, write_scores

    workspace = current_workspace()
    suffix = require_scores_suffix(output) if output else ".csv"
    if output is not None:
        check_no_overwrite(output, force=force)
    # The log as it is comes out of a damaged store too: nothing else brings the rest of it to safety.
    events: Sequence[Event] = _read_scoring_events(workspace, allow_damaged=suffix == ".jsonl")
    answers, rubric = dict[str, Any](), load_rubric(workspace)
    if suffix != ".jsonl" or in_effect:
        events = select_effective_scores(events, include_machines=machines)
    if suffix != ".jsonl":
        answers = _load_answer_pool_and_print_problems(workspace, list_run_folders_oldest_first(workspace)).answers
    if output is None:
        write_scores(
            sys.stdout.buffer, suffix, events, answers, rubric, row_per_occurrence=per_run, byte_order_mark=False
        )
        return
    with open_output_file(output, force=force) as file:
        write_scores(file, suffix, events, answers, rubric, row_per_occurrence=per_run)
    show(f"{output}: {format_count(len(events), 'event' if suffix == '.jsonl' else 'score')}")


@app.command("import")
def import_scores(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Exported .jsonl, .csv or .xlsx files, and filled sheets.")
    ],
    analyst: Annotated[str, option("--analyst", metavar="NAME", help="The analyst of sheet rows without a name.")] = "",
    unknown_answers: Annotated[
        bool, option("--unknown-answers", help="Also import scores of answers that are not in any run here.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Import scores from files.

    Either all rows are imported, or none. Every row is checked; if there are problems, all are listed and the exit code
    is 2. Scores that are already here are left unchanged; different values by the same analyst for the same answer are
    a correction. Rows without any value are left out.
    """
    from genaipa.runs.selection import list_run_folders_oldest_first
    from genaipa.scoring.importing import import_scores_or_return_problems
    from genaipa.scoring.people import load_desk_people_and_plan
    from genaipa.scoring.store import open_or_create_store

    workspace = current_workspace()
    pool, people = (
        _load_answer_pool_and_print_problems(workspace, list_run_folders_oldest_first(workspace)),
        load_desk_people_and_plan(workspace),
    )
    with contextlib.closing(open_or_create_store(workspace)) as store:
        imported = import_scores_or_return_problems(
            store, files, pool.answers, people, pool.authors, analyst=analyst, unknown_answers=unknown_answers
        )
    if json:
        print_json(imported)
    else:
        _print_imported_scores(imported, "event" if any(file.suffix == ".jsonl" for file in files) else "score")
    if imported.problems:
        print_to_stderr(f"genaipa: nothing was imported because of {format_count(len(imported.problems), 'problem')}.")
        raise typer.Exit(_REFUSED)


@app.command()
def sheet(
    output: Annotated[Path, option("--output", "-o", metavar="FILE.xlsx", help="The file to write.")],
    run: Annotated[
        list[str] | None,
        typer.Argument(
            autocompletion=completion.runs_and_systems,
            help="Runs, or systems for all of their runs; by default, every run of the workspace.",
        ),
    ] = None,
    analyst: Annotated[
        str,
        option(
            "--analyst",
            metavar="NAME",
            help="The analyst's name: it is written into each row, and decides the order of the rows.",
        ),
    ] = "",
    include_excluded: Annotated[
        bool,
        option("--include-excluded", help="Include excluded answers, which are not part of any count or average."),
    ] = False,
    every: Annotated[bool, option("--all", help="Include answers outside the random part, after those in it.")] = False,
    force: ForceOption = False,
) -> None:
    """Write a spreadsheet to score answers offline.

    The spreadsheet has one row for each answer, without its system's name and in an order specific to the analyst; it
    also has the rubric and the documents. If a random part was drawn (genaipa sample), only its answers are included.
    'genaipa scores import' imports the filled sheet, as .xlsx or saved as .csv.
    """
    from genaipa.runs.selection import select_runs_and_apply_filters
    from genaipa.scoring.rubric import load_rubric
    from genaipa.scoring.tables import shuffle_answer_digests_for_analyst, write_scoring_sheet

    workspace = current_workspace()
    if output.suffix.lower() != ".xlsx":
        raise UsageError(f"{output}: a sheet is written as .xlsx; once filled in, it can be imported as .xlsx or .csv.")
    check_no_overwrite(output, force=force)
    sources = select_runs_and_apply_filters(workspace, split_names(run))
    pool = _load_answer_pool_and_print_problems(
        workspace,
        [source.folder for source in sources],
        sources=sources,
        excluded=include_excluded,
    )
    written = pool.authors.answer_digests_of_author(analyst) & pool.answers.keys()
    answers = [
        digest for digest in shuffle_answer_digests_for_analyst(pool.answers.values(), analyst) if digest not in written
    ]
    if pool.sentence_on_exclusions_or_empty:
        show(pool.sentence_on_exclusions_or_empty)
    if not sources:
        raise UsageError(f"there is no run in {workspace.runs} yet; create one with: {FIRST_RUN}")
    if not answers:
        raise UsageError(
            _explain_nothing_to_score(split_names(run) or ("this workspace",), sources, analyst if pool.answers else "")
        )
    order, is_in_sample = _choose_sheet_answers_and_sample_test(workspace, answers, include_unsampled=every)
    with open_output_file(output, force=force) as file:
        write_scoring_sheet(
            file,
            map(pool.load_case, order),
            load_rubric(workspace),
            analyst,
            is_in_random_part=is_in_sample,
        )
    outside = (
        f" Outside the random part: {format_count(len(answers) - len(order), 'more answer')}."
        if len(order) < len(answers)
        else ""
    )
    show(f"{output}: {format_count(len(order), 'answer')} to score.{outside}")
    if written := {digest for digest in written if every or is_in_sample is None or is_in_sample(digest)}:
        show(
            f"{format_count(len(written), 'answer')} left out: {analyst} wrote {'it' if len(written) == 1 else 'them'}."
        )
    named = () if analyst else ("--analyst", "NAME")
    queue_next_steps(
        f"To import the filled sheet: {format_shell_command('genaipa', 'scores', 'import', str(output), *named)}"
    )


def _choose_sheet_answers_and_sample_test(
    workspace: Workspace, answer_digests: Sequence[str], *, include_unsampled: bool
) -> tuple[list[str], Callable[[str], bool] | None]:
    """Return the answers of a sheet, those of the random part first, and the test for being in it; None without one."""
    from genaipa.scoring.people import load_desk_people_and_plan
    from genaipa.scoring.waves import digest_prefix_used_in_waves, load_waves

    is_whole = load_desk_people_and_plan(workspace).plan.sample_size == "all"
    sampled = frozenset[str]() if is_whole else load_waves(workspace).all_wave_digest_prefixes
    if not sampled:
        return list(answer_digests), None

    def is_in_sample(digest: str) -> bool:
        return digest_prefix_used_in_waves(digest) in sampled

    order, unsampled = (
        [digest for digest in answer_digests if is_in_sample(digest) == inside] for inside in (True, False)
    )
    if not order and not include_unsampled:
        raise UsageError(
            "no answer of these runs is in the random part; draw from them with genaipa sample, or add --all."
        )
    return [*order, *(unsampled if include_unsampled else ())], is_in_sample


def _explain_nothing_to_score(run_names: Sequence[str], sources: Sequence[SelectedRun], author_of_all: str) -> str:
    """Say why these runs have nothing to score, and what to do; an `author_of_all` wrote all that they have."""
    if author_of_all:
        return f"{author_of_all} wrote all answers of {', '.join(run_names)}, and nobody scores what they wrote."
    from genaipa.runs.authors import find_systems_with_human_replies

    run = next((source for source in sources if source.manifest.status != "complete"), sources[0])
    are_written = find_systems_with_human_replies([run.manifest]).issuperset(run.systems)
    go_on = ("genaipa", "score", run.folder.name) if are_written else ("genaipa", "run", "--resume", run.folder.name)
    remedy = "have them written at the desk, on the page By hand" if are_written else "ask for them"
    return f"{', '.join(run_names)}: no answer to score yet; {remedy}: {format_shell_command(*go_on)}"


def _print_nothing_to_verify(workspace: Workspace, *, json: bool) -> None:
    from genaipa.scoring.events import VerifiedLog

    if json:
        print_json(VerifiedLog(0, "", []))
    else:
        show(f"No scores in {workspace.home} yet, so there is nothing to verify.")


@app.command()
def verify(
    head: Annotated[str, option("--head", metavar="DIGEST", help="A digest that you noted earlier.")] = "",
    json: JsonOption = False,
) -> None:
    """Check that nobody tampered with the scores.

    Each event has a digest of its content and of the previous digest. Every event that something other than genaipa
    changed, removed or added is listed, and the exit code is then 1. Keep the last digest somewhere else: with --head,
    even a log that was rewritten as a whole is detected.
    """
    from genaipa.scoring.events import verify_log_and_list_breaks as verified
    from genaipa.scoring.store import open_existing_store

    workspace = current_workspace()
    with open_existing_store(workspace, allow_changed_events=True) as store:
        if store is None and head:
            raise UsageError(f"{workspace.home} has no scores, so none of them has the digest {clip(head)}.")
        if store is None:
            _print_nothing_to_verify(workspace, json=json)
            return
        check, name = verified(store, head), store.name
    if json:
        print_json(check)
    else:
        for problem in check.breaks:
            print_to_stderr(f"{name}: {problem}")
        if not check.breaks:
            show(f"{name}: {format_count(check.events, 'event')}, unchanged since they were written.")
            show(f"The last digest: {check.head or 'none yet'}")
    if check.breaks:
        print_to_stderr("genaipa: export the scores as they are with: genaipa scores export -o FILE.jsonl")
        raise typer.Exit(_BROKEN)


def _read_scoring_events(workspace: Workspace, *, allow_damaged: bool = False) -> list[Event]:
    """Read all events of the store; none, and no store is made, where there is none yet."""
    from genaipa.scoring.store import open_existing_store

    with open_existing_store(workspace, allow_changed_events=allow_damaged) as store:
        return [event for _, event in store.read_numbered_events()] if store else []


def _load_answer_pool_and_print_problems(
    workspace: Workspace, folders: Sequence[RunFolder], **pool_filters: Any
) -> AnswerPool:
    """Load the answers of these runs, narrowed as `AnswerPool` narrows them, and print problems of a run."""
    from genaipa.scoring.answers import AnswerPool

    pool = AnswerPool(workspace, folders, **pool_filters)
    for problem in pool.problems:
        print_to_stderr(problem)
    return pool


def _make_analyst_rows_and_overall_counts(
    events: Sequence[Event], study_people: People, authors: AnswerAuthors
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Return a row for each analyst, people before machines, and how many answers people have scored and adjudicated.

    Whoever the study leaves out has a row with the reason, and is in no count of answers.
    """
    from collections import Counter
    from statistics import median

    from genaipa.scoring.current import effective_scores_and_adjudications

    by: dict[tuple[str, str], list[Event]] = {}
    for event in effective_scores_and_adjudications(events):
        by.setdefault((event.scorer, event.analyst), []).append(event)
    rows = []
    for (scorer, analyst), theirs in sorted(by.items()):
        times = [event.seconds for event in theirs if event.kind == "score" and event.seconds is not None]
        rows.append(
            {
                "analyst": analyst,
                "scorer": scorer,
                "scores": sum(event.kind == "score" for event in theirs),
                "adjudicated": sum(event.kind == "adjudication" for event in theirs),
                "seconds": median(times) if times else None,
                "latest": max(event.time for event in theirs),
                "left_out": study_people.exclusion_reason_or_empty(analyst) if scorer == "human" else "",
            }
        )
    people = [
        event
        for (scorer, _), theirs in by.items()
        if scorer == "human"
        for event in study_people.drop_scores_of_excluded_and_authors(theirs, authors)
    ]
    scored = Counter(event.answer for event in people if event.kind == "score")
    answers = {
        "scored": len(scored),
        "shared": sum(count > 1 for count in scored.values()),
        "adjudicated": len({event.answer for event in people if event.kind == "adjudication"}),
    }
    return rows, answers


def _print_imported_scores(imported: ImportOutcome, counted_noun: str) -> None:
    for sentence in (*imported.problems, *imported.replaced):
        print_to_stderr(sentence)
    if imported.problems:
        return
    read_count = imported.added + imported.known
    parts = [f"{format_count(read_count, counted_noun)} read, {imported.added:,} new"]
    parts += [f"{format_count(len(imported.replaced), 'earlier score')} replaced"] if imported.replaced else []
    parts += [f"{format_count(imported.unscored, 'row')} without values left out"] if imported.unscored else []
    show("; ".join(parts) + ".")
    if imported.added:
        from genaipa.archive.contents import find_command_after_scoring

        queue_next_steps(f"Next: {find_command_after_scoring(current_workspace().home, 'genaipa report latest')}")
