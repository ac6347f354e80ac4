"""`genaipa artifact`: a study as an artifact committee wants it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from genaipa.cli.commands.pack import (
    make_pack_stem_from_first_run,
    print_packing_summary,
    select_and_announce_sources_to_pack,
)
from genaipa.cli.terminal.console import show
from genaipa.cli.terminal.options import (
    ExcludedOption,
    ForceOption,
    check_no_overwrite,
    current_workspace,
    option,
    split_names,
)
from genaipa.cli.terminal.selection import RunsArgument
from genaipa.errors import UsageError


def artifact(
    run: RunsArgument = None,
    output: Annotated[
        Path | None, option("--output", "-o", metavar="FOLDER", help="The folder to write; default: NAME-artifact.")
    ] = None,
    include_excluded: ExcludedOption = False,
    force: ForceOption = False,
) -> None:
    """Pack a study for reviewers of a paper.

    The folder contains the archive that pack writes, an appendix with the commands that check it and their output, the
    versions of all packages, digests, a machine-readable description of the tables, and the data sheet of the human
    evaluation (HEDS 3.0), as far as the records answer it. An artifact is public: texts whose license does not allow
    redistribution are left out.
    """
    from genaipa.reports import check_report_packages

    check_report_packages()
    from genaipa_artifact.artifact import APPENDIX, README, write_artifact
    from genaipa_artifact.heds import HEDS_JSON, HEDS_LATEX

    workspace, names = current_workspace(), split_names(run)
    folder = output or Path(f"{make_pack_stem_from_first_run(names)}-artifact")
    if folder.suffix == ".zip":
        raise UsageError(f"'{folder.name}' ends in .zip, but an artifact is a folder; name a folder.")
    check_no_overwrite(folder, force=force)
    workspace.check_output_outside_data(folder)
    packed, sheet = write_artifact(
        workspace,
        select_and_announce_sources_to_pack(workspace, names, "artifact"),
        folder,
        include_excluded=include_excluded,
    )
    print_packing_summary(folder, packed)
    show(f"{HEDS_JSON}: {sheet.summary_of_answered_questions}.")
    show(f"Fill in the places in [brackets]: {folder / APPENDIX}, {README}, croissant.json and {HEDS_LATEX}")
