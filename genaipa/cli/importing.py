"""`genaipa import`: a published study as runs of this workspace, with an audit of its data."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli.console import print_json, show
from genaipa.cli.options import JsonOption, current_workspace, option
from genaipa.cli.pull import named_dataset
from genaipa.datasets.base import DATASETS
from genaipa.errors import UsageError

if TYPE_CHECKING:
    from genaipa.datasets.base import Imported


PREDICTIONS = "privacyglue"
"""The study that is imported from a folder of the user's own; every other one is pulled first."""


def import_(
    dataset: Annotated[
        str | None, typer.Argument(help=f"Which study: {', '.join(DATASETS)}, or {PREDICTIONS} for its encoders.")
    ] = None,
    source: Annotated[
        str | None, option("--from", metavar="DIR", help=f"The folder that has the runs of {PREDICTIONS}.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Import a published study as runs and scores, with an audit of its data.

    Pull it first. Predictions of PrivacyGLUE's encoders are imported from a folder. Runs imported before are left
    alone.
    """
    done = _imported(dataset, source)
    if json:
        print_json(_facts(done))
    else:
        _print(done)


def _imported(dataset: str | None, source: str | None) -> Imported:
    if dataset != PREDICTIONS:
        if source is not None:
            raise UsageError(f"--from is for {PREDICTIONS} alone; any other study is pulled first, then imported.")
        return named_dataset(dataset, "import").import_study(current_workspace())
    if source is None:
        raise UsageError(f"where the predictions are is not said: genaipa import {PREDICTIONS} --from FOLDER")
    from genaipa.datasets.privacyglue import import_predictions

    return import_predictions(current_workspace(), Path(source))


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
    if done.findings:
        show(f"The audit found {len(done.findings)} things in the published data:")
    for kind, count in _kinds(done):
        number = "" if excluding[kind] == count else f"{excluding[kind]} of them "
        left_out = f"  {number}left out of analyses, unless they are told to include it" if excluding[kind] else ""
        show(f"  {count:4}  {kind:22}{left_out}".rstrip())
    if done.findings:
        show(f"Each with its file, cell and reason: {done.audit}")
    else:
        show("The audit found nothing wrong in the published data.")
    if not done.changed:
        show("Everything was here already: nothing was changed.")
    show(f"Next: genaipa report {' '.join(done.runs)}")
