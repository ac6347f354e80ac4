"""`genaipa collect`: take back the replies of web chats driven by hand."""

from __future__ import annotations

import sys
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import print_to_stderr, show
from genaipa.cli.terminal.options import JsonOption, current_workspace, option
from genaipa.errors import UsageError
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.execution.manual import ManualRun, ReplyCollectionOutcome

END = "."
PARTIAL = 3


def collect(
    run: Annotated[
        str, typer.Argument(autocompletion=completion.runs, help="Name of the run, a part of it, or latest.")
    ],
    files: Annotated[
        list[Path] | None, typer.Argument(help="Filled-in files; by default, all in the run's sheets folder.")
    ] = None,
    terminal: Annotated[
        bool, option("--terminal", "-t", help="Show the missing messages one by one and read each reply.")
    ] = False,
    replace: Annotated[bool, option("--force", help="Replace stored replies with changed ones.")] = False,
    author: Annotated[
        str,
        option("--author", metavar="NAME", help="Who wrote the replies, for a system whose replies people write."),
    ] = "",
    json: JsonOption = False,
) -> None:
    """Record replies from people or web chats.

    You can give any number of replies, in any order. The exit code is 0 once all are recorded, and 3 while some are
    missing.
    """
    import asyncio

    from genaipa.cli.commands.run_summary import print_run_outcome
    from genaipa.cli.terminal.progress import TerminalObserver
    from genaipa.execution.prepare import prepare_resumed_run
    from genaipa.execution.run import open_manual_run_without_lock, save_manual_progress
    from genaipa.scoring.people import load_desk_people_and_plan

    if terminal and (files or replace):
        raise UsageError("--terminal reads replies from the terminal; leave out the files and --force.")
    workspace = current_workspace()
    prepared = prepare_resumed_run(workspace, run, TerminalObserver())
    folder = prepared.open_or_create_folder()
    with folder.hold_for_writing_and_list_repairs():
        manual = asyncio.run(open_manual_run_without_lock(prepared))
        name = load_desk_people_and_plan(workspace).resolve_name(author) if author.strip() else ""
        if terminal:
            collected = _collect_replies_from_terminal(manual, name)
        else:
            paths = files or sorted((folder.path / "sheets").glob("*.replies.txt"))
            replies = {key: text for path in paths for key, text in manual.read_replies_by_record_key(path).items()}
            collected = asyncio.run(manual.record_replies(replies, replace=replace, author=name))
        written = manual.write_new_sheets()
        outcome = save_manual_progress(manual)
    if not json:
        _print_collected_replies(collected, written)
    print_run_outcome(prepared, outcome, json=json)
    raise typer.Exit(0 if outcome.status == "complete" else PARTIAL)


def _collect_replies_from_terminal(manual: ManualRun, author: str) -> ReplyCollectionOutcome:
    """Show each message whose reply is missing and read the reply, until an empty one or the end of input."""
    import asyncio

    from genaipa.execution.manual import ReplyCollectionOutcome

    total = ReplyCollectionOutcome()
    current_sheet = ""
    print_to_stderr(
        f"End each reply with a line that contains only '{END}'. An empty reply stops; all earlier replies are kept."
    )
    while (wanted := next(manual.sheets_and_keys_missing_replies(), None)) is not None:
        sheet, key = wanted
        before = manual.last_answered_call(sheet)
        # Before anybody types what would then be refused.
        manual.check_author_is_named(author, [sheet.system])
        is_written = sheet.system in manual.systems_whose_replies_people_write
        if before is None or sheet.needs_chat_per_question:
            print_to_stderr(f"\n===== {'' if is_written else 'open a new chat: '}{sheet.name}")
            for message in sheet.introduction:
                act = "read this" if is_written else "paste, and wait for the reply"
                print_to_stderr(f"\n--- {act}\n{message.content}", no_wrap=True)
        elif is_written:
            pass
        elif current_sheet != sheet.name:
            print_to_stderr(f"\n===== continue in the chat in which you asked {before.label}: {sheet.name}")
        current_sheet = sheet.name
        acts = ("the question", "your answer") if is_written else ("paste", "the reply")
        print_to_stderr(f"\n--- {acts[0]}\n{sheet.calls[key].messages[-1].content}\n--- {acts[1]}:", no_wrap=True)
        lines = (line.rstrip("\r\n") for line in sys.stdin)
        text = "\n".join(takewhile(lambda line: line != END, lines)).strip()
        if not text:
            break
        total.taken += asyncio.run(manual.record_replies({key: text}, author=author)).taken
    return total


def _print_collected_replies(collected: ReplyCollectionOutcome, new_sheet_paths: Sequence[Path]) -> None:
    known_note = f"; already recorded: {collected.known}" if collected.known else ""
    show(f"{format_count(collected.taken, 'reply', 'replies')} recorded{known_note}.")
    for key in collected.conflicts:
        show(f"{key}: a different reply is already stored; --force replaces it.")
    for key in collected.final:
        show(f"{key}: a different summary is already stored and can't be replaced; start a new run with --new.")
    for path in new_sheet_paths:
        show(f"new: {path}")
