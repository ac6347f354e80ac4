"""Origins of published files: a folder with a checkout, or a server."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from genaipa import __version__
from genaipa.errors import DataError, GenaipaError, UsageError, clipped

if TYPE_CHECKING:
    from genaipa.datasets.snapshot import Snapshot

ATTEMPTS = 3
FIRST_PAUSE = 0.5
"""Seconds before the second attempt; doubled before each further one."""
TIMEOUT = 20.0
"""Seconds without a byte after which an attempt has failed."""
_WORTH_ANOTHER_TRY = (408, 429, 500, 502, 503, 504)


class Origin(ABC):
    """Reads files by their path in the repository, from several threads at once.

    `remedy` is what to do when they are not the published ones.
    """

    remedy: str

    @abstractmethod
    def read(self, path: str) -> bytes:
        """The content; a UsageError if the file isn't there, a GenaipaError if it can't be had now."""

    def stop(self) -> None:  # noqa: B027 - a folder has no attempts under way
        """Make attempts under way the last."""

    def close(self) -> None:  # noqa: B027 - nor connections
        """Close connections."""


def open_origin(origin: str, files: Snapshot) -> Origin:
    """The origin behind a URL or the path of a folder; a UsageError if it is neither."""
    if is_url(origin):
        return _Server(origin, files)
    folder = Path(origin).expanduser()
    if not folder.is_dir():
        raise UsageError(f"{origin} is neither a folder nor an http(s) URL to pull {files.title} from.")
    return _Folder(folder, files)


def is_url(origin: str) -> bool:
    """Whether fetching from this origin needs the network."""
    return origin.lower().startswith(("http://", "https://"))


class _Folder(Origin):
    """A checkout of the repository, or of scattered files whatever folder has them."""

    def __init__(self, folder: Path, files: Snapshot) -> None:
        self._folder, self._files = folder, files
        self.remedy = f"check {files.repository} out at commit {files.commit[:10]} with core.autocrlf=false."

    def read(self, path: str) -> bytes:
        if self._files.scattered:
            return self._found(path)
        try:
            return (self._folder / path).read_bytes()
        except OSError as error:
            raise DataError(self._folder / path, f"can't be read ({error.strerror}); {self.remedy}") from None

    def _found(self, path: str) -> bytes:
        """The published content, from its path, a shorter end of it, or anywhere; else what is at the first two."""
        others: list[bytes] = []
        ends = self._ends(path)
        places = [self._folder / end for end in ends]
        named = self._named.get(PurePosixPath(path).name, [])
        if not self._files.blobs[path]:
            # Nothing but its place tells it from another file of its name.
            named = [place for place in named if place.parts[-len(ends[-1].parts) :] == ends[-1].parts]
        for place in (*places, *named):
            try:
                content: bytes = place.read_bytes()
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                raise DataError(place, f"can't be read ({error.strerror}).") from None
            if self._files.is_published(path, content):
                return content
            if place in places:
                others.append(content)
        if others:
            return others[0]
        names = ", ".join(dict.fromkeys(PurePosixPath(one).name for one in self._files.blobs))
        raise UsageError(f"{self._folder} has no file of {self._files.title} ({clipped(names, 200)}); {self.remedy}")

    def _ends(self, path: str) -> list[PurePosixPath]:
        """A path and its shorter ends, without ends that other files of the repository share."""
        parts = PurePosixPath(path).parts
        others = [PurePosixPath(other).parts for other in self._files.blobs if other != path]
        ends = [parts[begin:] for begin in range(len(parts))]
        return [PurePosixPath(*end) for end in ends if not any(other[-len(end) :] == end for other in others)]

    @cached_property
    def _named(self) -> dict[str, list[Path]]:
        """Name of a wanted file → the files in the folder that are called so."""
        wanted = {PurePosixPath(path).name for path in self._files.blobs}
        found: dict[str, list[Path]] = {}
        for folder, inner, names in os.walk(self._folder):
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            for name in wanted.intersection(names):
                found.setdefault(name, []).append(Path(folder, name))
        return found


class _Server(Origin):
    """A server that has the repository's tree under a URL."""

    def __init__(self, url: str, files: Snapshot) -> None:
        import httpx2

        self._files = files
        # Without the user and password that a private mirror's URL may carry: this is what messages show.
        self._host = urlsplit(url).hostname
        if not self._host:
            raise UsageError(f"the URL '{url}' to pull {files.title} from names no server.")
        self._base = url.rstrip("/")
        self._stopped = threading.Event()
        self._client = httpx2.Client(
            timeout=TIMEOUT, follow_redirects=True, headers={"User-Agent": f"genaipa/{__version__}"}
        )
        self.remedy = f"{self._host} serves something else: give another origin, or try again later."
        self._elsewhere = f"take it from a checkout ({files.command} --from FOLDER), or try what ships: {files.shipped}"

    def read(self, path: str) -> bytes:
        pause = FIRST_PAUSE
        for attempt in range(1, ATTEMPTS + 1):
            content, problem = self._try(path)
            if content is not None:
                return content
            if attempt < ATTEMPTS and self._stopped.wait(pause):
                break
            pause *= 2
        raise GenaipaError(
            f"{self._files.title} can't be fetched: {self._host} did not give '{path}' ({problem}). "
            f"Fetched files are kept: run {self._files.command} again to go on from there, {self._elsewhere}"
        )

    def _try(self, path: str) -> tuple[bytes | None, str]:
        """The content, or why there is none now."""
        import httpx2

        try:
            response = self._client.get(f"{self._base}/{quote(path)}")
        except httpx2.TransportError as error:
            return None, str(error) or type(error).__name__
        if response.status_code in _WORTH_ANOTHER_TRY:
            return None, f"status {response.status_code}"
        if response.status_code != httpx2.codes.OK:
            raise UsageError(
                f"{self._files.title} can't be fetched: {self._host} refuses '{path}' (status {response.status_code}). "
                f"Name another mirror with --from URL, {self._elsewhere}"
            )
        return response.content, ""

    def stop(self) -> None:
        self._stopped.set()

    def close(self) -> None:
        self._client.close()
