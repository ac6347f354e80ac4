"""`genaipa import`: answers and scores back from another program, or somebody else's answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli.terminal.console import print_table, print_to_stderr, queue_next_steps, show
from genaipa.cli.terminal.options import current_workspace, option
from genaipa.errors import UsageError, clip, format_shell_command
from genaipa.words import format_count, join_some
from genaipa_exchange.entries import complete_form

if TYPE_CHECKING:
    from genaipa_exchange.incoming import ImportSummary

_REFUSED = 2
_NAMED = 3


def import_(
    form: Annotated[str, typer.Argument(help="The format; for a list: genaipa export", autocompletion=complete_form)],
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files, or folders of files.")],
    documents: Annotated[
        Path | None,
        option(
            "--documents",
            metavar="FOLDER",
            help="Folder with the texts that the import lacks, each named after its document.",
        ),
    ] = None,
    annotators: Annotated[
        str,
        option(
            "--annotators",
            metavar="1=NAME,…",
            help="Names of annotators whom a Label Studio file identifies only by number.",
        ),
    ] = "",
    policy: Annotated[
        str, option("--policy", "-p", metavar="NAME", help="The document that chats are about, if they don't show it.")
    ] = "",
    questions: Annotated[
        str, option("--questions", "-q", metavar="SET", help="The question set of chats, if not the document's own.")
    ] = "",
    system: Annotated[
        str, option("--system", "-s", metavar="NAME", help="The name of the system in chats, instead of the file's.")
    ] = "",
    accept: Annotated[
        int | None,
        option(
            "--accept",
            metavar="PERCENT",
            min=1,
            max=100,
            help="Accept messages of chats that are at least this similar to a question.",
        ),
    ] = None,
) -> None:
    """Import answers and scores from another program.

    Answers and scores that `genaipa export` wrote come back unchanged; those that are already here are left alone. A
    log of another evaluation, or chats that ask the questions of a set, become runs, whose answers are scored, judged
    and reported like any others. All files are imported completely, or none.
    """
    from genaipa_exchange.chat_options import ChatOptions
    from genaipa_exchange.forms import FORMS, find_exchange_format
    from genaipa_exchange.incoming import Incoming

    chosen = find_exchange_format(form, importable=True)
    assert chosen.read is not None, "it comes back"
    for path in paths:
        if not path.exists():
            raise UsageError(f"There is no file or folder {path}.")
    options = {"annotators": annotators, "policy": policy, "questions": questions, "system": system, "accept": accept}
    for name in (name for name, value in options.items() if value not in ("", None)):
        if name not in chosen.options:
            owner = next(known_form.name for known_form in FORMS if name in known_form.options)
            raise UsageError(f"--{name} is only for {owner}, not for {chosen.name}.")
    chats = ChatOptions(policy, questions, system, accept)
    summary = chosen.read(paths, Incoming(current_workspace(), documents, _parse_annotator_names(annotators), chats))
    if summary.matches:
        print_table(("asked", "matched to", "how", "times"), summary.matches, right_aligned_columns=(3,))
    for note in (*summary.notes, *summary.scores.problems, *summary.scores.replaced):
        print_to_stderr(note)
    if summary.scores.problems:
        print_to_stderr(
            f"genaipa: nothing was imported because of {format_count(len(summary.scores.problems), 'problem')}."
        )
        raise typer.Exit(_REFUSED)
    if summary.matches and not summary.answers + summary.known:
        print_to_stderr("genaipa: nothing was imported: no message asks a question of the set word for word.")
        raise typer.Exit(_REFUSED)
    _print_import_summary_and_next_step(summary)


def _parse_annotator_names(option_text: str) -> dict[str, str]:
    """Read --annotators as number → name; a UsageError for anything else."""
    names: dict[str, str] = {}
    for pair in filter(None, option_text.split(",")):
        key, equals, name = (piece.strip() for piece in pair.partition("="))
        if not (equals and (key.isdecimal() or not key) and name):
            raise UsageError(f"--annotators must have the form 1=ada@example.org,2=NAME, not '{clip(pair.strip())}'.")
        if key in names:
            raise UsageError(f"--annotators names annotator {key} twice.")
        names[key] = name
    return names


def _print_import_summary_and_next_step(summary: ImportSummary) -> None:
    scores, read = summary.scores, summary.answers + summary.known
    counts = [f"{format_count(read, 'answer')} read, {summary.answers:,} new"] if read else []
    if not summary.matches:
        counts.append(f"{format_count(scores.added + scores.known, 'score')} read, {scores.added:,} new")
    counts += [f"{format_count(scores.unscored, 'task')} not scored"] if scores.unscored else []
    counts += [f"{format_count(summary.ignored, 'score')} with other metrics left out"] if summary.ignored else []
    show("; ".join(counts) + ".")
    if summary.runs:
        show(f"{'Run' if len(summary.runs) == 1 else 'Runs'}: {join_some(summary.runs, _NAMED)}")
        run_names = summary.runs if len(summary.runs) == 1 else ()
        queue_next_steps(f"Next: {format_shell_command('genaipa', 'report' if scores.added else 'score', *run_names)}")
    elif scores.added:
        from genaipa.archive.contents import find_command_after_scoring

        queue_next_steps(f"Next: {find_command_after_scoring(current_workspace().home, 'genaipa report latest')}")
