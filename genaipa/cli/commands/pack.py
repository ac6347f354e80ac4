"""`genaipa pack`: a study in one archive, for whoever wants to check it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from genaipa.cli.terminal.console import print_to_stderr, show
from genaipa.cli.terminal.options import (
    ExcludedOption,
    ForceOption,
    check_no_overwrite,
    current_workspace,
    option,
    split_names,
)
from genaipa.cli.terminal.selection import RunsArgument, print_study_slice_problems
from genaipa.errors import UsageError, format_shell_command
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.archive.study_pack import WrittenPack
    from genaipa.runs.selection import SelectedRun
    from genaipa.workspace import Workspace


def pack(
    run: RunsArgument = None,
    output: Annotated[
        Path | None,
        option(
            "--output",
            "-o",
            metavar="FILE",
            help="The archive, a .zip file; by default, NAME.zip in the current folder.",
        ),
    ] = None,
    include_excluded: ExcludedOption = False,
    force: ForceOption = False,
    with_texts: Annotated[
        bool,
        option("--with-texts", help="Include texts that may not be redistributed, for somebody who already has them."),
    ] = False,
) -> None:
    """Pack runs, scores and report into an archive.

    Texts whose license forbids redistribution are replaced by their digest and source; the tables can be rebuilt
    without them. The archive includes the models' replies and the analysts' names and notes.
    """
    from genaipa.reports import check_report_packages

    check_report_packages()
    from genaipa.archive.study_pack import pack_study as write_pack

    workspace, names = current_workspace(), split_names(run)
    file = output or Path(f"{make_pack_stem_from_first_run(names)}.zip")
    if file.suffix != ".zip":
        raise UsageError(f"'{file.name}' must end in .zip.")
    check_no_overwrite(file, force=force)
    workspace.check_output_outside_data(file)
    sources = select_and_announce_sources_to_pack(workspace, names, "pack")
    packed = write_pack(
        workspace, sources, file, count_excluded_in_report=include_excluded, include_withheld_texts=with_texts
    )
    print_packing_summary(file, packed)
    show(f"To open it: {format_shell_command('genaipa', 'unpack', file, 'FOLDER')}")


def make_pack_stem_from_first_run(run_names: Sequence[str]) -> str:
    """Return a name for what the runs are packed into: that of the first, as a file can have it."""
    return re.sub(r"[^\w.-]+", "-", run_names[0] if run_names else "study").strip(".-")


def select_and_announce_sources_to_pack(
    workspace: Workspace, run_and_system_names: Sequence[str], command_name: str
) -> list[SelectedRun]:
    """Select the named runs, or say that it is all of them, and with which command it is one."""
    from genaipa.runs.selection import select_runs_and_apply_filters

    sources = select_runs_and_apply_filters(workspace, run_and_system_names)
    print_study_slice_problems(workspace, [source.folder for source in sources])
    if not run_and_system_names:
        print_to_stderr(
            f"packing all {format_count(len(sources), 'run')} of the workspace; to pack one: genaipa {command_name} RUN"
        )
    return sources


def print_packing_summary(file: Path, packed: WrittenPack) -> None:
    """Print what was packed into a file or folder, and what was left out."""
    show(
        f"{file}: {format_count(len(packed.pack.runs), 'run')}, {format_count(packed.scores, 'score')} and the report."
    )
    for text in packed.pack.absent:
        print_to_stderr(f"left out: the text of {text.document} ({text.license or 'no license stated'}); {text.source}")
    for system, documents in packed.unclear.items():
        print_to_stderr(
            f"left out: the replies of {system} about {', '.join(documents)}, because they may quote the texts; if the "
            'system writes its own words, set words = "own" in its class before a run, or use --with-texts'
        )
