"""A data set's published files at one commit of a public repository: fetched, checked against git's hashes, kept.

They come from a folder with a checkout, or from a server.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

from genaipa import workspace
from genaipa.datasets.base import Pulled
from genaipa.errors import DataError, GenaipaError, UsageError, clip
from genaipa.files.atomic import open_for_atomic_write
from genaipa.files.certificates import explain_refused_certificate_or_empty
from genaipa.files.text import SHA256, hash_like_pinned_hash, split_url_or_empty
from genaipa.words import join_some

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.datasets.base import Progress

ATTEMPTS = 3
FIRST_PAUSE = 0.5
"""Seconds before the second attempt; doubled before each further one."""
TIMEOUT = 300.0
"""Seconds after which an attempt has failed."""
LARGEST = 500_000_000
"""Bytes of a published file."""
_WORTH_ANOTHER_TRY = (408, 429, 500, 502, 503, 504)


class Origin(ABC):
    """Reads files by their path in the repository, from several threads at once.

    `remedy` is what to do when they are not the published ones.
    """

    remedy: str

    @abstractmethod
    def read_file(self, repository_path: str) -> bytes:
        """Return the content; a UsageError if the file isn't there, a GenaipaError if it can't be had now."""

    def stop_retrying(self) -> None:  # noqa: B027 - a folder has no attempts under way
        """Make attempts under way the last."""

    def close(self) -> None:  # noqa: B027 - nor connections
        """Close connections."""


def make_folder_or_server_origin(folder_or_url: str, snapshot: Snapshot) -> Origin:
    """Return the origin behind a URL or the path of a folder; a UsageError if it is neither."""
    if is_url(folder_or_url):
        return _ServerOrigin(folder_or_url, snapshot)
    folder = Path(folder_or_url).expanduser()
    if not folder.is_dir():
        raise UsageError(
            f"{folder_or_url} is neither a folder nor an http(s) URL; {snapshot.title} can't be pulled from it."
        )
    return _FolderOrigin(folder, snapshot)


def is_url(origin: str) -> bool:
    """Tell whether fetching from this origin needs the network."""
    return origin.lower().startswith(("http://", "https://"))


class _FolderOrigin(Origin):
    """A checkout of the repository, or of scattered files whatever folder has them."""

    def __init__(self, folder: Path, files: Snapshot) -> None:
        self._folder, self._files = folder, files
        self.remedy = f"check {files.repository} out at commit {files.commit[:10]} with core.autocrlf=false."

    def read_file(self, repository_path: str) -> bytes:
        if self._files.scattered:
            return self._find_scattered_file_content(repository_path)
        try:
            return (self._folder / repository_path).read_bytes()
        except OSError as error:
            if inner := next(
                (subfolder for subfolder in sorted(self._folder.glob("*/")) if (subfolder / repository_path).is_file()),
                None,
            ):
                raise UsageError(
                    f"{self._folder} has {self._files.title} in a subfolder; give that folder instead: {inner}"
                ) from None
            raise DataError(
                self._folder / repository_path, f"can't be read ({error.strerror}); {self.remedy}"
            ) from None

    def _find_scattered_file_content(self, path: str) -> bytes:
        """Find the published content at its path, at a shorter end of it, or anywhere in the folder."""
        other_contents: list[bytes] = []
        ends = self._list_unique_path_ends(path)
        locations = [self._folder / end for end in ends]
        namesakes = self._paths_by_name.get(PurePosixPath(path).name, [])
        if not self._files.blobs[path]:
            # Nothing but its place tells it from another file of its name.
            namesakes = [location for location in namesakes if location.parts[-len(ends[-1].parts) :] == ends[-1].parts]
        for location in (*locations, *namesakes):
            try:
                content: bytes = location.read_bytes()
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                raise DataError(location, f"can't be read ({error.strerror}).") from None
            if self._files.is_published_content(path, content):
                return content
            if location in locations:
                other_contents.append(content)
        if other_contents:
            return other_contents[0]
        names = ", ".join(dict.fromkeys(PurePosixPath(path_published).name for path_published in self._files.blobs))
        raise UsageError(
            f"{self._folder} has none of the files of {self._files.title} ({clip(names, 200)}); {self.remedy}"
        )

    def _list_unique_path_ends(self, path: str) -> list[PurePosixPath]:
        """Return a path and its shorter ends, without ends that other files of the repository share."""
        parts = PurePosixPath(path).parts
        other_parts = [PurePosixPath(other_path).parts for other_path in self._files.blobs if other_path != path]
        ends = [parts[begin:] for begin in range(len(parts))]
        return [
            PurePosixPath(*end) for end in ends if not any(other_path[-len(end) :] == end for other_path in other_parts)
        ]

    @cached_property
    def _paths_by_name(self) -> dict[str, list[Path]]:
        """Name of a wanted file → the files in the folder that are called so."""
        wanted = {PurePosixPath(path).name for path in self._files.blobs}
        paths: dict[str, list[Path]] = {}
        for folder, inner, names in os.walk(self._folder):
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            for name in wanted.intersection(names):
                paths.setdefault(name, []).append(Path(folder, name))
        return paths


class _ServerOrigin(Origin):
    """A server that has the repository's tree under a URL."""

    def __init__(self, url: str, files: Snapshot) -> None:
        from genaipa.files.download import Downloads

        self._files = files
        # Without the user and password that a private mirror's URL may carry: this is what messages show.
        self._host = split_url_or_empty(url).hostname
        if not self._host:
            raise UsageError(f"the URL '{url}' does not name a server; {files.title} can't be pulled from it.")
        self._base = url.rstrip("/")
        self._stopped = threading.Event()
        self._downloads = Downloads()
        self.remedy = f"{self._host} serves a different file, so use another source, or try again later."
        self._other_source = (
            f"use a checkout ({files.pull_command} --from FOLDER), or use what ships with genaipa: {files.shipped}"
        )

    def read_file(self, repository_path: str) -> bytes:
        pause = FIRST_PAUSE
        for attempt in range(1, ATTEMPTS + 1):
            content, problem = self._download_or_give_reason(repository_path)
            if content is not None:
                return content
            if attempt < ATTEMPTS and self._stopped.wait(pause):
                break
            pause *= 2
        raise GenaipaError(
            f"{self._files.title} can't be fetched: {self._host} did not serve '{repository_path}' ({problem}). "
            f"Fetched files are kept; to continue, run {self._files.pull_command} again, {self._other_source}"
        )

    def _download_or_give_reason(self, path: str) -> tuple[bytes | None, str]:
        """Return the content, or why there is none now."""
        import httpx2

        try:
            answer = self._downloads.get(f"{self._base}/{quote(path)}", seconds=TIMEOUT, max_bytes=LARGEST)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            return None, explain_refused_certificate_or_empty(error, self._host or "") or str(error) or type(
                error
            ).__name__
        if answer.status in _WORTH_ANOTHER_TRY:
            return None, f"status {answer.status}"
        if answer.status != httpx2.codes.OK:
            raise UsageError(
                f"{self._files.title} can't be fetched: {self._host} refuses '{path}' (status {answer.status}). "
                f"Name another mirror with --from URL, {self._other_source}"
            )
        return answer.content, ""

    def stop_retrying(self) -> None:
        self._stopped.set()

    def close(self) -> None:
        self._downloads.close()


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
    further_remedy: ClassVar[str] = ""
    """Behind the remedy for a file that is not the published one."""

    @property
    def folder(self) -> Path:
        """The folder of the files, laid out as in the repository."""
        return workspace.cache_folder() / self.dataset / self.commit

    @property
    def pull_command(self) -> str:
        """The command that fetches them."""
        return f"genaipa get {self.dataset}"

    @property
    def required_files(self) -> list[str]:
        """The files that a pull has to find."""
        return [path for path in self.blobs if not path.startswith(self.optional)]

    @property
    def optional_files(self) -> list[str]:
        """The files that a pull takes where the source has them."""
        return [path for path in self.blobs if path.startswith(self.optional)]

    def is_published_file_cached(self, path: str) -> bool:
        """Tell whether the file is kept here and is the published one."""
        try:
            return self.is_published_content(path, (self.folder / path).read_bytes())
        except OSError:
            return False

    def is_published_content(self, path: str, content: bytes) -> bool:
        """Tell whether this is the published content of a file."""
        pinned = self.blobs[path]
        return hash_like_pinned_hash(pinned, content) == pinned and not content.startswith(POINTER)

    def fetch(self, *, origin: str | None = None, offline: bool = False, progress: Progress | None = None) -> Pulled:
        """Fetch missing files from `origin`, else from GENAIPA_MIRROR, else from the repository.

        A file that is here and right is never fetched again, so a fetch that broke off goes on where it stopped. Raises
        UsageError (offline with files missing, a bad origin), DataError (a file that isn't the published one) or
        GenaipaError (network). Missing optional files are no error: a note names them.
        """
        from genaipa.datasets.snapshot import is_url, make_folder_or_server_origin

        wanted, study = self.required_files, self.optional_files
        missing = [path for path in wanted if not self.is_published_file_cached(path)]
        # Another origin may have another content of what is pinned by nothing.
        lacking = [
            path for path in study if not self.is_published_file_cached(path) or (origin and not self.blobs[path])
        ]
        published = f"https://raw.githubusercontent.com/{self.repository}/{self.commit}"
        origin_used, fetched = origin or os.environ.get("GENAIPA_MIRROR") or published, 0
        reasons: list[GenaipaError] = []
        if offline and is_url(origin_used):
            if needed := missing or (not wanted and not any(map(self.is_published_file_cached, study)) and study):
                examples = join_some((f"'{name}'" for name in needed), 1)
                raise UsageError(
                    f"files of {self.title} are missing ({examples}); to fetch them, run: {self.pull_command}"
                )
        elif missing or lacking:
            fetched = self._fetch_and_count_files(
                missing, lacking, make_folder_or_server_origin(origin_used, self), reasons, progress
            )
        absent = [path for path in lacking if not (self.folder / path).is_file()]
        if len(absent) == len(wanted) + len(study) and reasons:
            raise reasons[0]
        notes = (self.describe_missing_optional_files(absent),) if absent else ()
        return Pulled(self.folder, fetched, len(wanted) + len(study) - len(absent) - fetched, notes, len(absent))

    def describe_missing_optional_files(self, absent: list[str]) -> str:
        """Return a sentence about optional files that could not be had."""
        folders = Counter(path.rpartition("/")[0] for path in absent)
        named = ", ".join(f"{folder} ({count})" for folder, count in sorted(folders.items()))
        missing = f"{len(absent)} of the {len(self.optional_files)} files with the study's own answers and scores"
        return f"{missing} are missing because the source lacks them: {named}. Pull again from a source that has them."

    def _fetch_and_count_files(
        self,
        required: list[str],
        optional: list[str],
        origin: Origin,
        errors_to_extend: list[GenaipaError],
        progress: Progress | None,
    ) -> int:
        """Fetch files, a few at a time, and count them; the first of those `required` that fails ends it."""
        from concurrent.futures import ThreadPoolExecutor, as_completed
        from contextlib import closing

        fetched = 0
        with closing(origin), ThreadPoolExecutor(CONNECTIONS) as pool:
            jobs = [pool.submit(self._fetch_file_or_note_error, path, origin) for path in required]
            jobs += [pool.submit(self._fetch_file_or_note_error, path, origin, errors_to_extend) for path in optional]
            try:
                for done, job in enumerate(as_completed(jobs), start=1):
                    fetched += job.result()
                    if progress:
                        progress(done, len(jobs))
            except BaseException:
                origin.stop_retrying()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return fetched

    def _fetch_file_or_note_error(
        self, path: str, origin: Origin, errors_to_extend: list[GenaipaError] | None = None
    ) -> bool:
        """Fetch one file; a DataError if it is not the published one. False if it can't be had, and may be lacking."""
        try:
            content = origin.read_file(path)
        except GenaipaError as error:
            if errors_to_extend is None:
                raise
            errors_to_extend.append(error)
            return False
        if not self.is_published_content(path, content):
            raise DataError(f"{self.title}'s {path}", self._explain_mismatch(path, content, origin.remedy))
        write_cache_file(self.folder / path, content)
        return True

    def _explain_mismatch(self, path: str, content: bytes, remedy: str) -> str:
        """Explain why a content is not that of a file, and what to do."""
        if content.startswith(POINTER):
            return (
                "is a Git-LFS pointer, not the file itself; run 'git lfs pull' in a clone, and pull from that folder."
            )
        actual, expected = hash_like_pinned_hash(self.blobs[path], content), self.blobs[path]
        kind = "SHA-256" if len(expected) == SHA256 else "git blob hash"
        problem = f"is not the published file (its {kind} is {actual}, expected {expected})"
        return f"{problem}; {remedy.rstrip('.')}{self.further_remedy}."

    def record_conversion_step(self, step: str, inputs_digest: str, **made: object) -> None:
        """Record that a step of the conversion was done with inputs of this key, and its results."""
        path = workspace.cache_folder() / self.dataset / f"{step}.json"
        write_cache_file(path, json.dumps({"key": inputs_digest, **made}, indent=1).encode())

    def load_conversion_step_results(self, step: str, inputs_digest: str) -> dict[str, Any] | None:
        """Return the results recorded for a step; None unless it was last done with inputs of this key."""
        try:
            results = json.loads((workspace.cache_folder() / self.dataset / f"{step}.json").read_bytes())
        except (OSError, ValueError):
            return None
        return results if isinstance(results, dict) and results.get("key") == inputs_digest else None


def digest_inputs(*inputs: object) -> str:
    """Return a digest of inputs that can be written as JSON."""
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def write_cache_file(path: Path, content: bytes) -> None:
    """Replace a file of the cache; a UsageError if it can't be written."""
    try:
        with open_for_atomic_write(path) as file:
            file.write(content)
    except OSError as error:
        raise UsageError(
            f"{path} can't be written ({error.strerror}); set GENAIPA_CACHE to another folder for pulled data."
        ) from None
