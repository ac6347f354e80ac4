"""`genaipa pack`: a study in one archive, for whoever wants to check it."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli import completion
from genaipa.cli.options import WorkspaceOption, option, several
from genaipa.cli.output import ForceOption, check_new
from genaipa.errors import UsageError, command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.runs.selection import Source


def pack(
    run: Annotated[
        list[str] | None,
        typer.Argument(
            autocompletion=completion.runs_and_systems,
            help="Runs, or systems for all of their runs; by default, every run of the workspace.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        option("--output", "-o", metavar="FILE", help="The archive, a .zip file; by default NAME.zip here."),
    ] = None,
    include_excluded: Annotated[
        bool, option("--include-excluded", help="Count what an audit left out as well.")
    ] = False,
    force: ForceOption = False,
    with_texts: Annotated[
        bool,
        option("--with-texts", help="Put texts in that may not be passed on: for somebody who has them anyway."),
    ] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Pack runs, their scores and their report into one archive.

    Texts whose license does not let them be passed on are left out, with their digest and source in their place; the
    tables can be made again without them. What models said, and the names and notes of the analysts, go along.
    """
    from genaipa import __version__
    from genaipa.cli.console import number, say, show
    from genaipa.cli.findings import check_extra
    from genaipa.workspace import find_workspace

    check_extra()
    from genaipa.archive import pack as packing
    from genaipa.reports.gather import gather
    from genaipa.reports.provenance import versions
    from genaipa.reports.writing import write_report
    from genaipa.runs.selection import everything, select
    from genaipa.scoring.rubric import RUBRIC_DIGEST
    from genaipa.scoring.store import existing_store

    here, names = find_workspace(workspace), several(run)
    file = output or Path(re.sub(r"[^\w.-]+", "-", names[0] if names else "study").strip(".-") + ".zip")
    if file.suffix != ".zip":
        raise UsageError(f"'{file.name}' does not end in .zip, which a pack is.")
    check_new(file, force=force)
    sources = select(here, names) if names else everything(here)
    with tempfile.TemporaryDirectory() as made, existing_store(here) as store:
        events = gather(here, sources, store).events
        absent = packing.stage(Path(made), sources, events, whole=with_texts)
        # The report is made from what is packed, so that it holds no text that is left out.
        staged = find_workspace(Path(made))
        asked = _names(sources)
        found = gather(staged, select(staged, asked), store, excluded=include_excluded)
        write_report(found, Path(made) / packing.REPORT, whole=with_texts)
        pack = packing.Pack(
            format=packing.FORMAT,
            genaipa=__version__,
            names=tuple(asked),
            runs=tuple(source.folder.name for source in sources),
            excluded=include_excluded,
            rubric=RUBRIC_DIGEST,
            absent=tuple(absent),
            versions=versions(),
        )
        packing.seal(file, Path(made), pack)
    show(f"{file}: {number(len(sources), 'run')}, {number(len(events), 'event')} of scoring, the report.")
    for one in absent:
        say(f"left out: the text of {one.document} ({one.license or 'no license is stated'}); {one.source}")
    for sentence in () if with_texts else _unsaid(sources):
        say(sentence)
    show(f"Whoever gets it: {command('genaipa', 'unpack', file.name, 'FOLDER')}")


def _unsaid(sources: Sequence[Source]) -> list[str]:
    """A sentence on each system whose replies stay behind because nothing says whose words they are."""
    from genaipa.runs.permission import Permission, whose_words

    found: dict[str, dict[str, None]] = {}
    for source in sources:
        for system, document in Permission(source.folder, source.manifest).held_back():
            if system in source.systems and not whose_words(source.manifest, system):
                found.setdefault(system, {})[document] = None
    return [
        f"left out: the replies of {system} about {', '.join(documents)}, which may quote them; if they are its own "
        'words, its class can say so (words = "own") before a run, or use --with-texts'
        for system, documents in found.items()
    ]


def _names(sources: Sequence[Source]) -> list[str]:
    """What to ask a report of, to get the same again: runs, and systems of runs of which only some were meant."""
    found: dict[str, None] = {}
    for source in sources:
        whole = set(source.systems) == set(source.manifest.spec.systems)
        found.update(dict.fromkeys([source.folder.name] if whole else source.systems))
    return list(found)
