"""`genaipa unpack`: a packed study as a workspace, its tables made again and compared with the packed ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from genaipa.errors import GenaipaError, format_shell_command


def unpack(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An archive that 'genaipa pack' wrote.")],
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIR", help="A new or empty folder; by default, one named like the archive, in the current folder."
        ),
    ] = None,
) -> None:
    """Unpack a study and rebuild its tables.

    This needs no network. Every file is first checked against its digest. The folder is then a workspace: 'genaipa
    runs' lists its runs, its report is in report/, and the rebuilt report in reports/again/.
    """
    from genaipa.cli.terminal.console import print_to_stderr, show
    from genaipa.reports import check_report_packages
    from genaipa.words import format_count

    check_report_packages()
    from genaipa.archive.contents import find_command_after_scoring
    from genaipa.archive.study_pack import unpack_and_rebuild_report as unpacked
    from genaipa.scoring.rubric import load_rubric
    from genaipa.workspace import find_workspace

    target = folder or Path(file.stem)
    done = unpacked(file, target)
    runs, tables = format_count(len(done.pack.runs), "run"), format_count(done.tables, "table file")
    show(f"{target}: {runs}, {format_count(done.scores, 'score')}; every file is unchanged.")
    for absent in done.pack.absent:
        print_to_stderr(
            f"not in the pack: the text of {absent.document} (SHA-256 {absent.digest[:12]}…); {absent.source}"
        )
    rubric = load_rubric(find_workspace(target)).digest
    if done.pack.rubric != rubric:
        print_to_stderr(
            f"the scores were given with a rubric ({done.pack.rubric}) that differs from the one used here ({rubric})."
        )
    if done.page is None:
        show(f"To score it: {format_shell_command('genaipa', 'score', '--workspace', str(target))}")
        if command := find_command_after_scoring(target, ""):
            show(f"Then: {command} {format_shell_command(target)}")
        return
    if done.different:
        raise GenaipaError(
            f"{len(done.different)} of {tables} differ from the packed ones, such as {done.different[0]}; "
            f"compare the versions in {target / 'pack.json'} with: genaipa doctor"
        )
    show(f"Rebuilt {tables}, identical to the packed ones. The report: {done.page}")
