"""`genaipa validate`: every problem of a workspace's data, at once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli.terminal.console import print_json, print_table, show
from genaipa.cli.terminal.options import JsonOption, current_workspace, option
from genaipa.words import format_count

if TYPE_CHECKING:
    from genaipa.validation import FileProblem, Validation
    from genaipa.workspace import Workspace

# Kind of data → one and several of it, as the last line counts them.
_NOUNS = {
    "prompts": ("prompt", "prompts"),
    "questions": ("question set", "question sets"),
    "policies": ("document", "documents"),
    "annotations": ("file of annotated answers", "files of annotated answers"),
    "corrections": ("file of corrections", "files of corrections"),
    "rubrics": ("rubric", "rubrics"),
    "people": ("list of analysts", "lists of analysts"),
    "suites": ("file of suites", "files of suites"),
    "systems": ("catalog of systems", "catalogs of systems"),
    "waves": ("file of waves", "files of waves"),
    "runs": ("run", "runs"),
}


def validate(
    data: Annotated[
        bool,
        option("--data", help="Also check every text of the runs and every score against its digest."),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Check a workspace's data files.

    Documents, questions, annotated answers, prompts, suites, analysts, systems and runs are checked at once. The exit
    code is 1 if there is an error; warnings leave it at 0.
    """
    from genaipa.validation import validate as validated

    workspace = current_workspace()
    done = validated(workspace, with_digests=data)
    if json:
        counts = {kind: {"fine": fine, "checked": total} for kind, (fine, total) in done.counts.items()}
        print_json(
            {"workspace": str(workspace.home), "findings": done.findings, "counts": counts, "splits": done.splits}
        )
    else:
        _print_findings(workspace, done.findings)
        _print_counts(done)
    if any(finding.severity == "error" for finding in done.findings):
        raise typer.Exit(1)


def _print_findings(workspace: Workspace, findings: list[FileProblem]) -> None:
    if not findings:
        return
    rows, previous = [], ""
    for finding in findings:
        path = Path(finding.path)
        shown_path = path.relative_to(workspace.home) if path.is_relative_to(workspace.home) else path
        rows.append((shown_path if finding.path != previous else "", finding.severity, finding.entry, finding.problem))
        previous = finding.path
    print_table(("file", "severity", "entry", "problem"), rows)


def _print_counts(validation: Validation) -> None:
    checked = [f"{total} {_NOUNS[kind][total != 1]}" for kind, (_, total) in validation.counts.items() if total]
    fine, total = (sum(counts) for counts in zip(*validation.counts.values(), strict=True))
    show(f"Checked {', '.join(checked)}.")
    for suite, splits in validation.splits.items():
        sizes = ", ".join(f"{split} ({items:,} items)" for split, items in splits.items())
        show(f"Splits of {suite} from your own files: {sizes}.")
    if not validation.findings:
        show("Everything is fine.")
        return
    counted = Counter(finding.severity for finding in validation.findings)
    count_words = [format_count(n, word) for word in ("error", "warning") if (n := counted[word])]
    show(f"{' and '.join(count_words)}; {fine} of {total} files and runs are fine.")
