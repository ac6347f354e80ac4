"""`genaipa pull`: published data, fetched once, checked and kept."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli import completion
from genaipa.cli.console import err, number, print_json, say, show
from genaipa.cli.options import JsonOption, OfflineOption, current_workspace, option
from genaipa.datasets.base import DATASETS
from genaipa.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from genaipa.datasets.base import Dataset, Pulled

_LINES = 5
"""Progress lines where there is no terminal."""


def pull(
    dataset: Annotated[
        str | None,
        typer.Argument(
            help=f"Which data: {', '.join(DATASETS)}, or a suite's; left out, all are named.",
            autocompletion=completion.data_sets,
        ),
    ] = None,
    source: Annotated[
        str | None,
        option("--from", metavar="DIR|URL", help="A checkout or a mirror, instead of the published repository."),
    ] = None,
    offline: OfflineOption = False,
    json: JsonOption = False,
) -> None:
    """Download published data: documents, questions, annotated answers, recordings, files of suites.

    Each file is checked against its published hash, and fetched only once.
    """
    from genaipa.datasets.suites import SuiteData
    from genaipa.policies.document import document_names

    known = named_dataset(dataset, "pull")
    result = pull_shown(known, origin=source, offline=offline)
    documents = [name for name, (layer, _) in document_names(current_workspace()).items() if layer == "pulled"]
    if isinstance(known, SuiteData):
        documents = []
    if json:
        print_json(
            {
                "dataset": dataset,
                "folder": str(result.folder),
                "fetched": result.fetched,
                "kept": result.kept,
                "absent": result.absent,
                "documents": documents,
                "terms": known.terms,
                "notes": result.notes,
            }
        )
        return
    for note in result.notes:
        say(f"note: {note}")
    if source and not result.fetched:
        say(f"nothing was fetched from {source}: all its files were here already")
    lacking = f" {result.absent} more {'is' if result.absent == 1 else 'are'} not here." if result.absent else ""
    fetched = f"{number(result.fetched, 'file')} fetched, {result.kept} already here"
    show(f"{known.title}: {fetched}, all as published.{lacking}")
    if isinstance(known, SuiteData):
        show(f"Terms: {known.terms} ({result.folder}).")
        show(f"Next: {known.next_step(current_workspace())}")
        return
    show(f"{known.terms} ({result.folder}).")
    show(f"Documents: {', '.join(documents)}")
    show(f"Next: genaipa run --system extractive --policy {known.documents[0]}")
    if known.systems:
        show(f"The published study as runs and scores: genaipa import {known.name}")


def named_dataset(name: str | None, verb: str) -> Dataset:
    """The data set that a command names; a UsageError that lists them where none is named."""
    from genaipa.datasets.base import find, names

    if name is None:
        known = [one for one in names() if verb == "pull" or find(one).systems]
        commands = [f"genaipa {verb} {one}" for one in known]
        if verb == "import":
            commands.append("genaipa import privacyglue --from FOLDER")
        raise UsageError(f"which data set to {verb} is not said: {' or '.join(commands)}.")
    return find(name)


def pull_shown(dataset: Dataset, *, origin: str | None = None, offline: bool = False) -> Pulled:
    """Pull a data set, with its progress on stderr."""
    with progress(dataset.title) as shown:
        return dataset.pull(origin=origin, offline=offline, progress=shown)


@contextmanager
def progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show on stderr how many files of a pull are done."""
    said, console = f"pulling {title}", err()
    if console.is_terminal:
        with console.status(said) as status:
            yield lambda done, total: status.update(f"{said}: looked for {done} of {total} files")
        return

    def line(done: int, total: int) -> None:
        if done * _LINES // total > (done - 1) * _LINES // total:
            say(f"{said}: looked for {done} of {total} files")

    yield line
