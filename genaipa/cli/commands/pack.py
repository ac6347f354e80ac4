"""`genaipa pack`: a study in one archive, for whoever wants to check it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from genaipa.cli.terminal.console import say, show
from genaipa.cli.terminal.options import ExcludedOption, ForceOption, check_new, current_workspace, option, several
from genaipa.cli.terminal.selection import RunsArgument
from genaipa.errors import UsageError, command
from genaipa.words import number


def pack(
    run: RunsArgument = None,
    output: Annotated[
        Path | None,
        option("--output", "-o", metavar="FILE", help="The archive, a .zip file; by default NAME.zip here."),
    ] = None,
    artifact: Annotated[
        bool,
        option("--artifact", help="A folder for reviewers of a paper: the archive, and how to check it (-o names it)."),
    ] = False,
    include_excluded: ExcludedOption = False,
    force: ForceOption = False,
    with_texts: Annotated[
        bool,
        option("--with-texts", help="Put texts in that may not be passed on: for somebody who has them anyway."),
    ] = False,
) -> None:
    """Pack runs, scores and report into an archive.

    Texts whose license does not let them be passed on are left out, with their digest and source in their place; the
    tables can be made again without them. What models said, and the names and notes of the analysts, go along.
    """
    from genaipa.reports import check_packages

    check_packages()
    from genaipa.archive import pack as write_pack
    from genaipa.runs.selection import select

    here, names = current_workspace(), several(run)
    stem = re.sub(r"[^\w.-]+", "-", names[0] if names else "study").strip(".-")
    file = output or Path(f"{stem}-artifact" if artifact else f"{stem}.zip")
    if artifact and with_texts:
        raise UsageError("an artifact is for everybody, so that --with-texts does not go with it.")
    if artifact == (file.suffix == ".zip"):
        raise UsageError(f"'{file.name}' {'ends' if artifact else 'does not end'} in .zip, which a pack is.")
    check_new(file, force=force)
    here.check_output(file)
    sources = select(here, names)
    if not names:
        say(f"packing all {number(len(sources), 'run')} of the workspace; for one: genaipa pack RUN")
    if artifact:
        from genaipa.archive.artifact import APPENDIX, README, write

        packed = write(here, sources, file, excluded=include_excluded)
    else:
        packed = write_pack(here, sources, file, excluded=include_excluded, whole=with_texts)
    show(f"{file}: {number(len(packed.pack.runs), 'run')}, {number(packed.events, 'score')}, the report.")
    for text in packed.pack.absent:
        say(f"left out: the text of {text.document} ({text.license or 'no license is stated'}); {text.source}")
    for system, documents in packed.unclear.items():
        say(
            f"left out: the replies of {system} about {', '.join(documents)}, which may quote them; if they are its "
            'own words, its class can say so (words = "own") before a run, or use --with-texts'
        )
    if artifact:
        show(f"Fill in what is in [brackets]: {file / APPENDIX}, {README} and croissant.json")
    else:
        show(f"To open it: {command('genaipa', 'unpack', file.name, 'FOLDER')}")
