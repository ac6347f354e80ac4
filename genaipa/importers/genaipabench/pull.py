"""Fetch the published files, check each against its git blob hash, and turn them into genaipa's own (`genaipa pull`).

A file that is here and right is never fetched again, so a pull that broke off goes on where it stopped.
"""

# `genaipabench.blobs` lists all 111 files of the commit. The 25 in Generated Answers and Results, which the paper's
# chatbots said and what they scored, are not pulled yet: nothing here reads them.

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from genaipa.errors import DataError, UsageError
from genaipa.importers.genaipabench.convert import convert, is_converted
from genaipa.importers.genaipabench.documents import DOCUMENTS
from genaipa.importers.genaipabench.files import Tree, blob_hash, published, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from genaipa.importers.genaipabench.origins import Origin

    Progress = Callable[[int, int], None]

CONNECTIONS = 6


@dataclass(frozen=True)
class PullResult:
    """What a pull did: files fetched, files that were here already, and sentences about the data's own defects."""

    folder: Path
    fetched: int
    kept: int
    notes: tuple[str, ...]


def available(tree: Tree | None = None) -> bool:
    """Whether the seven documents, their annotated answers and the published questions can be used now."""
    return is_converted(tree or published())


def would_provide(name: str) -> bool:
    """Whether a pull would bring the document of that name, which isn't here yet."""
    return name in DOCUMENTS and not available()


def pull(
    *,
    origin: str | None = None,
    offline: bool = False,
    progress: Progress | None = None,
    tree: Tree | None = None,
) -> PullResult:
    """Fetch what is missing, and convert it.

    `origin` is a folder with a checkout, or the URL of a mirror that serves the same tree; without it GENAIPA_MIRROR,
    else the repository. `progress` is told (files done, files to fetch) after each file. Raises UsageError
    (offline with files missing, a bad origin), DataError (a file that isn't the published one) or GenaipaError
    (network); files that were right stay.
    """
    from genaipa.importers.genaipabench.origins import COMMAND, GITHUB, is_url, open_origin

    tree = tree or published()
    wanted = tree.wanted
    missing = [path for path in wanted if not tree.holds(path)]
    if missing:
        place = origin or os.environ.get("GENAIPA_MIRROR") or GITHUB
        if offline and is_url(place):
            shown = f"'{missing[0]}'" + (f" and {len(missing) - 1} more" if len(missing) > 1 else "")
            raise UsageError(f"files of GenAIPABench are not here ({shown}); with a network, run: {COMMAND}")
        _fetch(tree, missing, open_origin(place), progress)
    return PullResult(tree.folder, len(missing), len(wanted) - len(missing), convert(tree))


def _fetch(tree: Tree, missing: list[str], origin: Origin, progress: Progress | None) -> None:
    """Fetch these files, a few at a time; the first that fails ends it."""
    from concurrent.futures import ThreadPoolExecutor, as_completed
    from contextlib import closing

    with closing(origin), ThreadPoolExecutor(CONNECTIONS) as pool:
        jobs = [pool.submit(_keep, tree, path, origin) for path in missing]
        try:
            for done, job in enumerate(as_completed(jobs), start=1):
                job.result()
                if progress:
                    progress(done, len(missing))
        except BaseException:
            origin.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _keep(tree: Tree, path: str, origin: Origin) -> None:
    """Fetch one file and put it in place if it is the published one."""
    content = origin.read(path)
    found, expected = blob_hash(content), tree.blobs[path]
    if found != expected:
        problem = f"is not the published file (its git blob hash is {found}, expected {expected}); {origin.remedy}"
        raise DataError(f"GenAIPABench's {path}", problem)
    write(tree.folder / path, content)
