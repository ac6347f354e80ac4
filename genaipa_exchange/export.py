"""`genaipa export`: answers and scores in the form of another program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli.terminal.console import print_caveat_unless_quiet, print_table, print_to_stderr, queue_next_steps, show
from genaipa.cli.terminal.options import current_workspace, option, split_names
from genaipa.cli.terminal.selection import RunsArgument, print_study_slice_problems
from genaipa.errors import UsageError, format_shell_command
from genaipa.words import format_count, join_names
from genaipa_exchange.entries import complete_form

if TYPE_CHECKING:
    from genaipa_exchange.outgoing import Outgoing


def export(
    form: Annotated[
        str | None,
        typer.Argument(help="The format; without one, all formats are listed.", autocompletion=complete_form),
    ] = None,
    run: RunsArgument = None,
    output: Annotated[
        Path | None, option("--output", "-o", metavar="FOLDER", help="A new folder for the files.")
    ] = None,
    with_judge: Annotated[bool, option("--with-judge", help="Include the verdicts of judges.")] = False,
    with_texts: Annotated[
        bool,
        option("--with-texts", help="Include texts that may not be passed on, for somebody who already has them."),
    ] = False,
) -> None:
    """Write answers and scores for another program.

    An export leaves out what a pack leaves out, and counts it: documents whose license does not permit redistribution,
    their annotated answers, and replies that may quote them. It includes all other replies, and the names and notes of
    the analysts.
    """
    from genaipa.runs.selection import select_runs_and_apply_filters
    from genaipa_exchange.forms import FORMS, find_exchange_format, write_in_exchange_format
    from genaipa_exchange.outgoing import Outgoing

    if form is None:
        print_table(("format", "for"), [(known_form.name, known_form.what) for known_form in FORMS])
        return
    chosen = find_exchange_format(form)
    if output is None:
        raise UsageError(f"Name the folder to write to: genaipa export {form} -o FOLDER")
    workspace = current_workspace()
    workspace.check_output_outside_data(output)
    sources = select_runs_and_apply_filters(workspace, split_names(run))
    print_study_slice_problems(workspace, [source.folder for source in sources])
    outgoing = Outgoing(workspace, sources, judges=with_judge, whole=with_texts)
    written = write_in_exchange_format(chosen, outgoing, output)
    counts = (format_count(written.answers, "answer"), format_count(written.scores, "score"))
    show(f"{output}: {format_count(written.files, 'file')}, {counts[0]}, {counts[1]}.")
    print_caveat_unless_quiet(written.caveat)
    for note in _list_omission_notes(outgoing):
        print_to_stderr(f"left out: {note}")
    queue_next_steps(f"Next: {written.follow.format(format_shell_command(output))}" if written.follow else "")


def _list_omission_notes(outgoing: Outgoing) -> list[str]:
    notes = []
    if outgoing.omission_counts:
        of = f" of {join_names(sorted(outgoing.silenced))}" if outgoing.silenced else ""
        held = join_names(
            [
                format_count(count, noun) + of * (noun == "answer")
                for noun, count in sorted(outgoing.omission_counts.items())
            ]
        )
        notes.append(
            f"{held} that may not be passed on; --with-texts includes them. An export includes them if the policy's "
            "license permits redistribution; declare that before a run: genaipa policies add FILE --license LICENSE"
        )
    if outgoing.verdicts:
        notes.append(f"{format_count(outgoing.verdicts, 'verdict')} of judges; --with-judge includes them")
    if outgoing.failures:
        notes.append(format_count(outgoing.failures, "failed answer"))
    return notes
