"""`genaipa unpack`: a packed study as a workspace, its tables made again and held against those that it came with."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from genaipa.errors import GenaipaError


def unpack(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What 'genaipa pack' wrote.")],
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="A new or empty folder; by default the archive's name, here.")
    ] = None,
) -> None:
    """Unpack a study, make its tables anew and compare them, byte for byte.

    Needs no network. Every file is checked against its digest first. The folder is a workspace then: see its runs with
    'genaipa runs', its report in report/, and what was made here in reports/again/.
    """
    from genaipa.archive.pack import REPORT, bring_scores, differing
    from genaipa.archive.pack import unpack as unpacked
    from genaipa.cli.console import number, say, show
    from genaipa.cli.findings import check_extra
    from genaipa.workspace import find_workspace

    check_extra()
    place = folder or Path(file.stem)
    made = unpacked(file, place)
    here = find_workspace(place)
    from genaipa.reports.gather import gather
    from genaipa.reports.writing import write_report
    from genaipa.runs.selection import select
    from genaipa.scoring.rubric import RUBRIC_DIGEST
    from genaipa.scoring.store import Store

    with contextlib.closing(Store.open(f"sqlite:///{here.home / 'scores.db'}")) as store:
        events = bring_scores(place, store)
        found = gather(here, select(here, made.names), store, excluded=made.excluded)
    show(
        f"{place}: {number(len(made.runs), 'run')}, {number(events, 'event')} of scoring; every file as it was packed."
    )
    for absent in made.absent:
        say(f"not in the pack: the text of {absent.document} (SHA-256 {absent.digest[:12]}…); {absent.source}")
    if made.rubric != RUBRIC_DIGEST:
        say(f"the scores were given by another rubric ({made.rubric}) than this genaipa's ({RUBRIC_DIGEST}).")
    again = write_report(found, here.home / "reports" / "again", formats=("svg",))
    different, compared = differing(again.folder, place / REPORT)
    if different:
        raise GenaipaError(
            f"{len(different)} of {number(compared, 'table file')} came out differently than packed, "
            f"such as {different[0]}; compare the versions in {place / 'pack.json'} with: genaipa doctor"
        )
    show(f"Made again: {number(compared, 'table file')}, each the same as packed. The report: {again.page}")
