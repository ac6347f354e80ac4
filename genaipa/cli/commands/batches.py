"""`genaipa runs batches`: what runs have handed in to providers and not collected yet."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import (
    print_error_to_stderr,
    print_json,
    print_table,
    print_to_stderr,
    queue_next_steps,
    show,
)
from genaipa.cli.terminal.options import JsonOption, current_workspace, option, split_names
from genaipa.errors import GenaipaError, UsageError, format_shell_command
from genaipa.words import format_count

if TYPE_CHECKING:
    from genaipa.runs.batches import Batch
    from genaipa.runs.folder import RunFolder

app = typer.Typer(help="List or cancel a run's batches.")

_Run = Annotated[str, typer.Argument(autocompletion=completion.runs, help="The run's name, a part of it, or latest.")]


@app.command("list")
def list_batches(
    run: Annotated[
        list[str] | None,
        typer.Argument(autocompletion=completion.runs, help="Only runs with these names, or parts of names."),
    ] = None,
    all_: Annotated[bool, option("--all", "-a", help="Include collected and abandoned batches.")] = False,
    json: JsonOption = False,
) -> None:
    """List pending batches.

    The states are those of the last check; no provider is called.
    """
    from genaipa.runs.batches import read_batches_by_mark
    from genaipa.runs.selection import find_run_or_study, list_run_folders_oldest_first
    from genaipa.runs.slices import map_slices_to_studies

    workspace = current_workspace()
    named = [folder for name in split_names(run) for folder in find_run_or_study(workspace, name).as_folders]
    listed: list[tuple[RunFolder, Batch]] = []
    problems: list[str] = []
    for folder in named if run else list_run_folders_oldest_first(workspace):
        try:
            batches = read_batches_by_mark(folder.path).values()
        except GenaipaError as error:
            problems.append(str(error))
            continue
        listed += [(folder, batch) for batch in batches if all_ or batch.is_pending]
    for problem in problems:
        print_error_to_stderr(problem)
    if json:
        print_json([_batch_row(*pair) for pair in listed])
    elif listed:
        rows = [tuple(_batch_row(*pair).values()) for pair in listed]
        print_table(
            ("run", "system", "batch", "questions", "done", "state", "since"), rows, right_aligned_columns=(3, 4)
        )
        studies = map_slices_to_studies(list_run_folders_oldest_first(workspace))
        for name in dict.fromkeys(
            studies.get(folder.name, folder).name for folder, batch in listed if batch.is_pending
        ):
            queue_next_steps(f"Collect with: {format_shell_command('genaipa', 'run', '--resume', name)}")
    else:
        show("No batches are pending." if not all_ else "There are no batches.")
    if problems:
        raise typer.Exit(1)


def _batch_row(folder: RunFolder, batch: Batch) -> dict[str, object]:
    since = dt.datetime.fromtimestamp(batch.intended.at, dt.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return {
        "run": folder.name,
        "system": batch.intended.system,
        "batch": batch.id or batch.mark,
        "questions": len(batch.intended.lines),
        "done": batch.done,
        "state": batch.step if batch.step != "submitted" else batch.state or batch.step,
        "since": since,
    }


@app.command("cancel")
def cancel_batches(run: _Run) -> None:
    """Cancel a run's batches.

    Requests that are already done are charged, and are collected when the run is resumed.
    """
    import asyncio

    from genaipa.cli.terminal.env_file import print_which_keys_came_from_env_file
    from genaipa.execution.batches.batched import cancel_pending_batches
    from genaipa.runs.selection import find_run_or_study
    from genaipa.systems.catalog import resolve_system

    target = find_run_or_study(workspace := current_workspace(), run)
    print_which_keys_came_from_env_file(
        resolve_system(name, workspace).name for name in target.as_folders[0].read_manifest_head().spec.systems
    )
    called = sum(
        asyncio.run(cancel_pending_batches(folder, workspace, print_to_stderr)) for folder in target.as_folders
    )
    if not called:
        show(f"{target.name} has no pending batch; nothing was cancelled.")
        return
    show(f"{format_count(called, 'batch', 'batches')} cancelled.")
    go_on = format_shell_command("genaipa", "run", "--resume", target.name)
    queue_next_steps(f"To collect finished results and ask the other questions: {go_on}")


@app.command("forget")
def give_up_batches(run: _Run, yes: Annotated[bool, option("--yes", "-y", help="Don't ask.")] = False) -> None:
    """Give up a run's batches.

    Use this, for example, if the account no longer exists. The batches are still charged, and their questions are asked
    again when the run is resumed.
    """
    import asyncio
    import sys

    from genaipa.execution.batches.ledger import give_up_pending_or_unreadable_batches
    from genaipa.runs.batches import find_pending_batches
    from genaipa.runs.selection import find_run_or_study

    folders = find_run_or_study(current_workspace(), run).as_folders
    out = [batch for folder in folders for batch in find_pending_batches(folder.path)]
    if out and not yes:
        if not sys.stdin.isatty():
            raise UsageError("no batch was abandoned, because there is no terminal to confirm it on; add --yes.")
        typer.confirm(
            f"{format_count(len(out), 'batch', 'batches')} will still be charged. Abandon?", abort=True, err=True
        )
    given_up = sum(asyncio.run(give_up_pending_or_unreadable_batches(folder)) for folder in folders)
    show(f"{format_count(given_up, 'batch', 'batches')} given up.")
