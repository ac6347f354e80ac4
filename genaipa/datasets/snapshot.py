"""A data set's published files at one commit of a public repository: fetched, checked against git's hashes, kept."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa import workspace
from genaipa.datasets.base import Pulled
from genaipa.errors import DataError, GenaipaError, UsageError
from genaipa.files.atomic import replacing
from genaipa.files.text import SHA256, hash_like
from genaipa.words import some

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from genaipa.datasets.base import Progress
    from genaipa.datasets.origins import Origin

CONNECTIONS = 6
POINTER = b"version https://git-lfs.github.com/spec/"
"""The first line of a Git-LFS pointer begins so."""


@dataclass(frozen=True)
class Snapshot:
    """The files of one commit: path in the repository → git blob hash; subclasses say of which data set.

    A source may lack files in the folders `optional`, which hold the answers and scores of a study's systems; where all
    files are in these, it has to have one. In place of a blob hash may be the first digits of it, the SHA-256 that a
    Git-LFS pointer states, or nothing: such a file is checked by its reader.
    """

    commit: str
    blobs: Mapping[str, str]

    dataset: ClassVar[str]
    """Its name in commands and in the cache."""
    title: ClassVar[str]
    repository: ClassVar[str]
    """OWNER/NAME on GitHub."""
    optional: ClassVar[tuple[str, ...]] = ()
    scattered: ClassVar[bool] = False
    """Whether a folder may have the files under shorter paths, or elsewhere in it."""
    shipped: ClassVar[str] = "genaipa run --system extractive --policy brindlecart"
    """The command that needs none of them."""
    otherwise: ClassVar[str] = ""
    """Behind the remedy for a file that is not the published one."""

    @property
    def folder(self) -> Path:
        """The folder of the files, laid out as in the repository."""
        return workspace.cache() / self.dataset / self.commit

    @property
    def command(self) -> str:
        """The command that fetches them."""
        return f"genaipa get {self.dataset}"

    @property
    def wanted(self) -> list[str]:
        """The files that a pull has to find."""
        return [path for path in self.blobs if not path.startswith(self.optional)]

    @property
    def study(self) -> list[str]:
        """The files that a pull takes where the source has them."""
        return [path for path in self.blobs if path.startswith(self.optional)]

    def holds(self, path: str) -> bool:
        """Whether the file is kept here and is the published one."""
        try:
            return self.is_published(path, (self.folder / path).read_bytes())
        except OSError:
            return False

    def is_published(self, path: str, content: bytes) -> bool:
        """Whether this is the published content of a file."""
        pinned = self.blobs[path]
        return hash_like(pinned, content) == pinned and not content.startswith(POINTER)

    def fetch(self, *, origin: str | None = None, offline: bool = False, progress: Progress | None = None) -> Pulled:
        """Fetch missing files from `origin`, else from GENAIPA_MIRROR, else from the repository.

        A file that is here and right is never fetched again, so a fetch that broke off goes on where it stopped. Raises
        UsageError (offline with files missing, a bad origin), DataError (a file that isn't the published one) or
        GenaipaError (network). Missing optional files are no error: a note names them.
        """
        from genaipa.datasets.origins import is_url, open_origin

        wanted, study = self.wanted, self.study
        missing = [path for path in wanted if not self.holds(path)]
        # Another origin may have another content of what is pinned by nothing.
        lacking = [path for path in study if not self.holds(path) or (origin and not self.blobs[path])]
        published = f"https://raw.githubusercontent.com/{self.repository}/{self.commit}"
        place, fetched = origin or os.environ.get("GENAIPA_MIRROR") or published, 0
        reasons: list[GenaipaError] = []
        if offline and is_url(place):
            if needed := missing or (not wanted and not any(map(self.holds, study)) and study):
                shown = some((f"'{name}'" for name in needed), 1)
                raise UsageError(f"files of {self.title} are not here ({shown}); with a network, run: {self.command}")
        elif missing or lacking:
            fetched = self._fetch(missing, lacking, open_origin(place, self), reasons, progress)
        absent = [path for path in lacking if not (self.folder / path).is_file()]
        if len(absent) == len(wanted) + len(study) and reasons:
            raise reasons[0]
        notes = (self.absence(absent),) if absent else ()
        return Pulled(self.folder, fetched, len(wanted) + len(study) - len(absent) - fetched, notes, len(absent))

    def absence(self, absent: list[str]) -> str:
        """A sentence about optional files that could not be had."""
        folders = Counter(path.rpartition("/")[0] for path in absent)
        named = ", ".join(f"{folder} ({count})" for folder, count in sorted(folders.items()))
        said = f"{len(absent)} of the {len(self.study)} files with the study's own answers and scores are not here"
        return f"{said}, because the source did not give them: {named}. Pull again from a source that has them."

    def _fetch(
        self,
        missing: list[str],
        lacking: list[str],
        origin: Origin,
        reasons: list[GenaipaError],
        progress: Progress | None,
    ) -> int:
        """Fetch files, a few at a time, and count them; the first of those `missing` that fails ends it."""
        from concurrent.futures import ThreadPoolExecutor, as_completed
        from contextlib import closing

        fetched = 0
        with closing(origin), ThreadPoolExecutor(CONNECTIONS) as pool:
            jobs = [pool.submit(self._keep, path, origin) for path in missing]
            jobs += [pool.submit(self._keep, path, origin, reasons) for path in lacking]
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

    def _keep(self, path: str, origin: Origin, reasons: list[GenaipaError] | None = None) -> bool:
        """Fetch one file; a DataError if it is not the published one. False if it can't be had, and may be lacking."""
        try:
            content = origin.read(path)
        except GenaipaError as error:
            if reasons is None:
                raise
            reasons.append(error)
            return False
        if not self.is_published(path, content):
            raise DataError(f"{self.title}'s {path}", self._other(path, content, origin.remedy))
        write(self.folder / path, content)
        return True

    def _other(self, path: str, content: bytes, remedy: str) -> str:
        """Why a content is not that of a file, and what to do."""
        if content.startswith(POINTER):
            return (
                "is a Git-LFS pointer, not the file itself; run 'git lfs pull' in a clone, and pull from that folder."
            )
        found, expected = hash_like(self.blobs[path], content), self.blobs[path]
        kind = "SHA-256" if len(expected) == SHA256 else "git blob hash"
        said = f"is not the published file (its {kind} is {found}, expected {expected})"
        return f"{said}; {remedy.rstrip('.')}{self.otherwise}."

    def mark(self, step: str, key: str, **made: object) -> None:
        """Record that a step of the conversion was done with inputs of this key, and its results."""
        path = workspace.cache() / self.dataset / f"{step}.json"
        write(path, json.dumps({"key": key, **made}, indent=1).encode())

    def marked(self, step: str, key: str) -> dict[str, Any] | None:
        """The results recorded for a step; None unless it was last done with inputs of this key."""
        try:
            made = json.loads((workspace.cache() / self.dataset / f"{step}.json").read_bytes())
        except (OSError, ValueError):
            return None
        return made if isinstance(made, dict) and made.get("key") == key else None


def key_of(*inputs: object) -> str:
    """A digest of inputs that can be written as JSON."""
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def write(path: Path, content: bytes) -> None:
    """Replace a file of the cache; a UsageError if it can't be written."""
    try:
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise UsageError(
            f"{path} can't be written ({error.strerror}); GENAIPA_CACHE names the folder that pulled data is kept in."
        ) from None
