"""`genaipa pull`: published data, fetched once, checked and kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli.options import JsonOption, OfflineOption, WorkspaceOption, option

if TYPE_CHECKING:
    from genaipa.datasets.genaipabench.pull import PullResult

DATASET = "genaipabench"
_LINES = 5
"""Progress lines where there is no terminal."""


def pull(
    dataset: Annotated[str | None, typer.Argument(help=f"Which data: {DATASET}.")] = None,
    source: Annotated[
        str | None,
        option("--from", metavar="DIR|URL", help="A checkout or a mirror, instead of the published repository."),
    ] = None,
    offline: OfflineOption = False,
    json: JsonOption = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Fetch published documents, questions and annotated answers, and what the study's systems said and scored.

    Each file is checked against its published hash, and fetched only once.
    """
    from genaipa.cli.console import print_json, say, show
    from genaipa.errors import UnknownNameError, UsageError
    from genaipa.policies.document import document_names
    from genaipa.workspace import find_workspace

    if dataset is None:
        raise UsageError(f"say which data to pull: genaipa pull {DATASET} (there is no other yet).")
    if dataset != DATASET:
        raise UnknownNameError("data to pull", dataset, [DATASET])
    result = pull_published(origin=source, offline=offline)
    documents = [name for name, (layer, _) in document_names(find_workspace(workspace)).items() if layer == "pulled"]
    if json:
        print_json(
            {
                "dataset": dataset,
                "folder": str(result.folder),
                "fetched": result.fetched,
                "kept": result.kept,
                "documents": documents,
                "notes": result.notes,
            }
        )
        return
    for note in result.notes:
        say(f"note: {note}")
    if source and not result.fetched:
        say(f"nothing was fetched from {source}: what it has was here already")
    show(f"GenAIPABench: {result.fetched} files fetched, {result.kept} already here, all as published.")
    show(f"They state no license that lets them be passed on: keep them to yourself ({result.folder}).")
    show(f"Documents: {', '.join(documents)}")
    show("Next: genaipa run --system extractive --policy uber")
    show(f"The published study as runs and scores: genaipa import {DATASET}")


def pull_published(*, origin: str | None, offline: bool) -> PullResult:
    """Pull the published GenAIPABench data, and make its systems' recordings; says how far it is on stderr."""
    from genaipa.datasets.genaipabench.files import published
    from genaipa.datasets.genaipabench.replay import convert_study

    result = _fetch(origin=origin, offline=offline)
    return replace(result, notes=(*result.notes, *convert_study(published())))


def _fetch(*, origin: str | None, offline: bool) -> PullResult:
    from genaipa.cli.console import err, say
    from genaipa.datasets.genaipabench.pull import pull as fetch

    console = err()
    if console.is_terminal:
        with console.status("pulling GenAIPABench") as status:
            return fetch(
                origin=origin,
                offline=offline,
                progress=lambda done, total: status.update(f"pulling GenAIPABench: {done} of {total} files"),
            )

    def line(done: int, total: int) -> None:
        if done * _LINES // total > (done - 1) * _LINES // total:
            say(f"pulling GenAIPABench: {done} of {total} files")

    return fetch(origin=origin, offline=offline, progress=line)
