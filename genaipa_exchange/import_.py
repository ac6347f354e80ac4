"""`genaipa import`: answers and scores back from another program, or somebody else's answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli.terminal.console import say, show, suggest_next
from genaipa.cli.terminal.options import current_workspace, option
from genaipa.errors import UsageError, clipped, command
from genaipa.words import number, some
from genaipa_exchange.entries import complete_form

if TYPE_CHECKING:
    from genaipa_exchange.incoming import ImportSummary

_REFUSED = 2
_NAMED = 3


def import_(
    form: Annotated[str, typer.Argument(help="The form; see: genaipa export", autocompletion=complete_form)],
    path: Annotated[Path, typer.Argument(help="A file, or a folder of them.")],
    documents: Annotated[
        Path | None,
        option("--documents", metavar="FOLDER", help="Texts that the file lacks, each named after its document."),
    ] = None,
    annotators: Annotated[
        str,
        option(
            "--annotators",
            metavar="1=NAME,…",
            help="The names of people whom a file of Label Studio knows by number alone.",
        ),
    ] = "",
) -> None:
    """Take answers and scores in from another program.

    What export wrote comes back as it was; what is here already is left alone. A log of somebody else's evaluation
    becomes a run, whose answers are scored, judged and reported as any other. All of a file is taken in, or nothing.
    """
    from genaipa_exchange.forms import find_form
    from genaipa_exchange.incoming import Incoming

    chosen = find_form(form, back=True)
    assert chosen.read is not None, "it comes back"
    if not path.exists():
        raise UsageError(f"{path} is not there.")
    if annotators and chosen.name != "label-studio":
        raise UsageError(f"--annotators is for label-studio; a file of {chosen.name} names its people.")
    taken = chosen.read(path, Incoming(current_workspace(), documents, _names(annotators)))
    for told in (*taken.notes, *taken.scores.problems, *taken.scores.replaced):
        say(told)
    if taken.scores.problems:
        say(f"genaipa: nothing was imported: {number(len(taken.scores.problems), 'problem')}.")
        raise typer.Exit(_REFUSED)
    _report(taken)


def _names(given: str) -> dict[str, str]:
    """Read --annotators as number → name; a UsageError for anything else."""
    names: dict[str, str] = {}
    for pair in filter(None, given.split(",")):
        key, equals, name = (piece.strip() for piece in pair.partition("="))
        if not (equals and (key.isdecimal() or not key) and name):
            raise UsageError(f"--annotators takes 1=ada@example.org,2=NAME; not '{clipped(pair.strip())}'.")
        if key in names:
            raise UsageError(f"--annotators names annotator {key} twice.")
        names[key] = name
    return names


def _report(taken: ImportSummary) -> None:
    scores, read = taken.scores, taken.answers + taken.known
    said = [f"{number(read, 'answer')} read, {taken.answers:,} new"] if read else []
    said.append(f"{number(scores.added + scores.known, 'score')} read, {scores.added:,} new")
    said += [f"{number(scores.unscored, 'task')} not scored"] if scores.unscored else []
    said += [f"{number(taken.ignored, 'score')} by other metrics left out"] if taken.ignored else []
    show("; ".join(said) + ".")
    if taken.runs:
        show(f"{'Run' if len(taken.runs) == 1 else 'Runs'}: {some(taken.runs, _NAMED)}")
        which = taken.runs if len(taken.runs) == 1 else ()
        suggest_next(f"Next: {command('genaipa', 'report' if scores.added else 'score', *which)}")
    else:
        suggest_next("Next: genaipa report latest" if scores.added else "")
