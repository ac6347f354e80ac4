"""`genaipa import`: a published study as runs of this workspace, with an audit of its data."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli.console import print_json, show
from genaipa.cli.options import JsonOption, current_workspace
from genaipa.cli.pull import named_dataset
from genaipa.datasets.base import DATASETS

if TYPE_CHECKING:
    from genaipa.datasets.base import Imported


def import_(
    dataset: Annotated[str | None, typer.Argument(help=f"Which study: {', '.join(DATASETS)}.")] = None,
    json: JsonOption = False,
) -> None:
    """Import a published study as runs and scores, with an audit of its data.

    Pull it first. Runs imported before are left alone.
    """
    done = named_dataset(dataset, "import").import_study(current_workspace())
    if json:
        print_json(_facts(done))
    else:
        _print(done)


def _facts(done: Imported) -> dict[str, object]:
    return {
        "systems": {
            system: {"runs": done.runs[system], "answers": done.answers[system], "scores": done.scores[system]}
            for system in done.runs
        },
        "audit": {"file": str(done.audit), "findings": dict(_kinds(done))},
        "changed": done.changed,
    }


def _kinds(done: Imported) -> list[tuple[str, int]]:
    """Kind of finding → how often, the most frequent first."""
    return Counter(finding.kind for finding in done.findings).most_common()


def _print(done: Imported) -> None:
    width = max(map(len, done.runs), default=0)
    for system, runs in done.runs.items():
        show(
            f"{system:{width}}  {len(runs)} runs, {done.answers[system]:,} answers, "
            f"{done.scores[system]:,} published scores"
        )
    excluding = Counter(finding.kind for finding in done.findings if finding.excludes)
    show(f"The audit found {len(done.findings)} things in the published data:")
    for kind, count in _kinds(done):
        number = "" if excluding[kind] == count else f"{excluding[kind]} of them "
        left_out = f"  {number}left out of analyses, unless they are told to include it" if excluding[kind] else ""
        show(f"  {count:4}  {kind:22}{left_out}".rstrip())
    show(f"Each with its file, cell and reason: {done.audit}")
    if not done.changed:
        show("Everything was here already: nothing was changed.")
    show(f"Next: genaipa report {' '.join(done.runs)}")
