"""`genaipa validate`: every problem of a workspace's data, at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli.options import JsonOption, WorkspaceOption, option

if TYPE_CHECKING:
    from genaipa.validation.data_files import Finding
    from genaipa.workspace import Workspace

# Kind of data → one and several of it, as the last line counts them.
_NOUNS = {
    "prompts": ("prompt", "prompts"),
    "questions": ("question set", "question sets"),
    "policies": ("document", "documents"),
    "annotations": ("file of annotated answers", "files of annotated answers"),
    "rubrics": ("rubric", "rubrics"),
    "people": ("list of analysts", "lists of analysts"),
    "systems": ("catalog of systems", "catalogs of systems"),
    "runs": ("run", "runs"),
}


def validate(
    data: Annotated[
        bool,
        option("--data", help="Read every text of the runs and every score as well, and hold it against its digest."),
    ] = False,
    json: JsonOption = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Check all data of a workspace, and list every problem.

    Documents, questions, annotated answers, prompts, analysts, systems and runs are checked at once. The exit code is 1
    if there is an error; warnings leave it at 0.
    """
    from genaipa.cli.console import print_json
    from genaipa.validation.data_files import check_workspace, data_files, fine_files
    from genaipa.workspace import find_workspace

    here = find_workspace(workspace)
    findings = check_workspace(here, data=data)
    fine = {kind: (len(fine_files(files, findings)), len(files)) for kind, files in data_files(here).items()}
    if json:
        counts = {kind: {"fine": good, "checked": all_of_it} for kind, (good, all_of_it) in fine.items()}
        print_json({"workspace": str(here.home), "findings": findings, "counts": counts})
    else:
        _print_findings(here, findings)
        _print_counts(findings, fine)
    if any(finding.severity == "error" for finding in findings):
        raise typer.Exit(1)


def _print_findings(workspace: Workspace, findings: list[Finding]) -> None:
    from genaipa.cli.console import table

    if not findings:
        return
    rows, previous = [], ""
    for finding in findings:
        path = Path(finding.path)
        shown = path.relative_to(workspace.home) if path.is_relative_to(workspace.home) else path
        rows.append((shown if finding.path != previous else "", finding.severity, finding.entry, finding.problem))
        previous = finding.path
    table(("file", "severity", "entry", "problem"), rows, flexible=3)


def _print_counts(findings: list[Finding], fine: dict[str, tuple[int, int]]) -> None:
    from genaipa.cli.console import show

    checked = [f"{total} {_NOUNS[kind][total != 1]}" for kind, (_, total) in fine.items() if total]
    good, total = (sum(counts) for counts in zip(*fine.values(), strict=True))
    show(f"Checked {', '.join(checked)}.")
    if not findings:
        show("Everything is fine.")
        return
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = len(findings) - errors
    told = [f"{n} {word}{'s' if n != 1 else ''}" for n, word in ((errors, "error"), (warnings, "warning")) if n]
    show(f"{' and '.join(told)}; {good} of {total} are fine.")
