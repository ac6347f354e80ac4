"""Where published files are fetched from: a folder with a checkout, or a server."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, urlsplit

from genaipa import __version__
from genaipa.datasets.genaipabench.files import COMMIT, REPOSITORY
from genaipa.errors import DataError, GenaipaError, UsageError

COMMAND = "genaipa pull genaipabench"
ELSEWHERE = (
    f"take it from a checkout ({COMMAND} --from FOLDER), "
    "or try the document that ships: genaipa run --system extractive --policy brindlecart"
)
"""What helps where the network doesn't."""
GITHUB = f"https://raw.githubusercontent.com/{REPOSITORY}/{COMMIT}"

ATTEMPTS = 3
FIRST_PAUSE = 0.5
"""Seconds before the second attempt; doubled before each further one."""
TIMEOUT = 20.0
"""Seconds without a byte after which an attempt has failed."""
_WORTH_ANOTHER_TRY = (408, 429, 500, 502, 503, 504)


class Origin(Protocol):
    """Gives the content of a file by its path in the repository, from several threads at once."""

    remedy: str
    """What to do when its files are not the published ones."""

    def read(self, path: str) -> bytes:
        """The content; a UsageError if the file isn't there, a GenaipaError if it can't be had now."""
        ...

    def stop(self) -> None:
        """End reads that wait for another attempt."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


def open_origin(origin: str) -> Origin:
    """The origin behind a URL or the path of a folder; a UsageError if it is neither."""
    if is_url(origin):
        return Server(origin)
    folder = Path(origin).expanduser()
    if not folder.is_dir():
        raise UsageError(f"{origin} is neither a folder nor an http(s) URL to pull GenAIPABench from.")
    return Folder(folder)


def is_url(origin: str) -> bool:
    """Whether fetching from this origin needs the network."""
    return origin.lower().startswith(("http://", "https://"))


class Folder:
    """A checkout of the repository."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.remedy = f"check {REPOSITORY} out at commit {COMMIT[:10]} with core.autocrlf=false."

    def read(self, path: str) -> bytes:
        """The content of the file in the checkout."""
        try:
            return (self._folder / path).read_bytes()
        except OSError as error:
            raise DataError(self._folder / path, f"can't be read ({error.strerror}); {self.remedy}") from None

    def stop(self) -> None:
        """Reads of files don't wait."""

    def close(self) -> None:
        """Nothing is held open."""


class Server:
    """A server that has the repository's tree under a URL."""

    def __init__(self, url: str) -> None:
        import httpx2

        parts = urlsplit(url)
        if not parts.hostname:
            raise UsageError(f"the URL '{url}' to pull GenAIPABench from names no server.")
        # Without the user and password that a private mirror's URL may carry: this is what messages show.
        self._host = parts.hostname
        self._base = url.rstrip("/")
        self._stopped = threading.Event()
        self._client = httpx2.Client(
            timeout=TIMEOUT, follow_redirects=True, headers={"User-Agent": f"genaipa/{__version__}"}
        )
        self.remedy = f"{self._host} serves something else: give another origin, or try again later."

    def read(self, path: str) -> bytes:
        """The content of the file, after a few attempts at most."""
        pause = FIRST_PAUSE
        for attempt in range(1, ATTEMPTS + 1):
            content, problem = self._try(path)
            if content is not None:
                return content
            if attempt < ATTEMPTS and self._stopped.wait(pause):
                break
            pause *= 2
        raise GenaipaError(
            f"GenAIPABench can't be fetched: {self._host} did not give '{path}' ({problem}). "
            f"What was fetched is kept: run {COMMAND} again to go on from there, {ELSEWHERE}"
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
                f"GenAIPABench can't be fetched: {self._host} refuses '{path}' (status {response.status_code}). "
                f"Name another mirror with --from URL, {ELSEWHERE}"
            )
        return response.content, ""

    def stop(self) -> None:
        """Make the attempts that are under way the last."""
        self._stopped.set()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
