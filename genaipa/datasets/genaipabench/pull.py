"""Fetch the published files, check each against its git blob hash, and turn them into genaipa's own (`genaipa pull`).

A file that is here and right is never fetched again, so a pull that broke off goes on where it stopped.
"""

# `genaipabench.blobs` lists all 111 files of the commit. The 25 in Generated Answers and Results, which hold what the
# paper's chatbots said and how it was scored, are taken where the source has them: nothing but the study needs them.

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from genaipa.datasets.base import Pulled
from genaipa.datasets.genaipabench.convert import convert, is_converted
from genaipa.datasets.genaipabench.files import Tree, blob_hash, published, write
from genaipa.errors import DataError, GenaipaError, UsageError

if TYPE_CHECKING:
    from genaipa.datasets.base import Progress
    from genaipa.datasets.genaipabench.origins import Origin

CONNECTIONS = 6


def available(tree: Tree | None = None) -> bool:
    """Whether the seven documents, their annotated answers and the published questions can be used now."""
    return is_converted(tree or published())


def pull(
    *,
    origin: str | None = None,
    offline: bool = False,
    progress: Progress | None = None,
    tree: Tree | None = None,
) -> Pulled:
    """Fetch what is missing, and convert it.

    `origin` is a folder with a checkout, or the URL of a mirror that serves the same tree; without it GENAIPA_MIRROR,
    else the repository. `progress` is told (files done, files to fetch) after each file. Raises UsageError
    (offline with files missing, a bad origin), DataError (a file that isn't the published one) or GenaipaError
    (network); files that were right stay. What is lacking of the study's own answers and scores is no error: a note
    names it, and the next pull looks for it again.
    """
    from genaipa.datasets.genaipabench.origins import COMMAND, GITHUB, is_url, open_origin

    tree = tree or published()
    wanted, study = tree.wanted, tree.study
    missing = [path for path in wanted if not tree.holds(path)]
    lacking = [path for path in study if not tree.holds(path)]
    place = origin or os.environ.get("GENAIPA_MIRROR") or GITHUB
    if offline and is_url(place):
        if missing:
            shown = f"'{missing[0]}'" + (f" and {len(missing) - 1} more" if len(missing) > 1 else "")
            raise UsageError(f"files of GenAIPABench are not here ({shown}); with a network, run: {COMMAND}")
        fetched = 0
    else:
        fetched = _fetch(tree, missing, lacking, open_origin(place), progress) if missing or lacking else 0
    absent = [path for path in lacking if not (tree.folder / path).is_file()]
    kept = len(wanted) + len(study) - len(absent) - fetched
    return Pulled(tree.folder, fetched, kept, (*convert(tree), *_absence(absent, study)))


def _absence(absent: list[str], study: list[str]) -> tuple[str, ...]:
    """A sentence about the files of the study that could not be had, if there are any."""
    if not absent:
        return ()
    folders = Counter(path.rpartition("/")[0] for path in absent)
    named = ", ".join(f"{folder} ({count})" for folder, count in sorted(folders.items()))
    said = f"{len(absent)} of the {len(study)} files with the study's own answers and scores are not here"
    return (f"{said}, because the source did not give them: {named}. Pull again from a source that has them.",)


def _fetch(tree: Tree, missing: list[str], lacking: list[str], origin: Origin, progress: Progress | None) -> int:
    """Fetch these files, a few at a time; the first of those `missing` that fails ends it. How many were fetched."""
    from concurrent.futures import ThreadPoolExecutor, as_completed
    from contextlib import closing

    fetched = 0
    with closing(origin), ThreadPoolExecutor(CONNECTIONS) as pool:
        jobs = [
            *(pool.submit(_keep, tree, path, origin) for path in missing),
            *(pool.submit(_keep_if_there, tree, path, origin) for path in lacking),
        ]
        try:
            for done, job in enumerate(as_completed(jobs), start=1):
                fetched += job.result()
                if progress:
                    progress(done, len(jobs))
        except BaseException:
            origin.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return fetched


def _keep_if_there(tree: Tree, path: str, origin: Origin) -> bool:
    """Fetch one file if the origin gives it; whether it did. A DataError if it is not the published one."""
    try:
        content = origin.read(path)
    except GenaipaError:
        return False
    return _put(tree, path, content, origin)


def _keep(tree: Tree, path: str, origin: Origin) -> bool:
    """Fetch one file and put it in place if it is the published one."""
    return _put(tree, path, origin.read(path), origin)


def _put(tree: Tree, path: str, content: bytes, origin: Origin) -> bool:
    """Put the content in place; a DataError if it is not that of the published file."""
    found, expected = blob_hash(content), tree.blobs[path]
    if found != expected:
        problem = f"is not the published file (its git blob hash is {found}, expected {expected}); {origin.remedy}"
        raise DataError(f"GenAIPABench's {path}", problem)
    write(tree.folder / path, content)
    return True
