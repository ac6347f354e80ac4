"""Published files of a suite: where they come from, and where they are found here.

Nothing of them ships. A file is looked for in `suites/NAME/` of the workspace, then in `shipped/NAME/` here (made-up
items of ours), then among the pulled data: so a user's own data in the same form is one more split, by its files'
names.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from genaipa import workspace
from genaipa.errors import DataError, UsageError
from genaipa.files.hashes import hash_like

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from genaipa.workspace import Workspace

FOLDER = "suites"
"""Of a workspace; what ships in the same form is beside this file."""
SHIPPED = Path(__file__).with_name("shipped")
_POINTER = b"version https://git-lfs.github.com/spec/"


def folders(workspace: Workspace) -> Iterator[Path]:
    """Folders with data of suites, nearest first: the workspace's, and the shipped one."""
    for layer, folder in workspace.layers:
        if layer != "pulled":
            yield SHIPPED if layer == "shipped" else folder / FOLDER


@dataclass(frozen=True)
class Source:
    """A data set of a suite: files of one commit of a public repository, each with its git blob hash.

    In place of the hash may be its first digits, the SHA-256 that a Git-LFS pointer states, or nothing: such a file its
    loader checks.
    `terms` is a sentence on its licence. A pull takes the files that its origin has, and refuses any other
    content than the published one. `remedy` says what else to do where no snapshot has the files.
    """

    name: str
    title: str
    repository: str
    commit: str
    blobs: Mapping[str, str]
    terms: str
    remedy: str = ""

    @property
    def folder(self) -> Path:
        """The folder of the pulled files, laid out as in the repository."""
        return workspace.cache() / self.name / self.commit


@dataclass
class DataFiles:
    """The files of one suite. `read` gives a file by its path in its repository, and keeps its digest."""

    suite: str
    sources: tuple[Source, ...]
    workspace: Workspace
    digests: dict[str, str] = field(default_factory=dict)
    """Path → SHA-256 of the files that were read."""
    own: dict[str, Path] = field(default_factory=dict)
    """Files that were not pulled: of the workspace, or shipped."""
    changed: list[str] = field(default_factory=list)
    """The files `own`, in the order of reading, that no hash tells to be the published files all the same."""

    def find(self, path: str) -> Path | None:
        """The file, or None if it is not here."""
        return self._own(path) or self._pulled(path)

    def read(self, path: str) -> bytes:
        """Content of a file; a UsageError with the remedy where it is not here, a DataError for a Git-LFS pointer."""
        own = self._own(path)
        found = own or self._pulled(path)
        if found is None:
            raise UsageError(self._missing(path))
        content = found.read_bytes()
        if content.startswith(_POINTER):
            raise DataError(found, "is a Git-LFS pointer, not the file itself; run 'git lfs pull' where you cloned it.")
        self.digests[path] = hashlib.sha256(content).hexdigest()
        if own:
            self.own[path] = own
            pinned = next((source.blobs[path] for source in self.sources if source.blobs.get(path)), "")
            if path not in self.changed and (not pinned or hash_like(pinned, content) != pinned):
                self.changed.append(path)
        return content

    def text(self, path: str) -> str:
        """Content of a UTF-8 file; a DataError for any other encoding."""
        content = self.read(path)
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            found = self.find(path)
            assert found is not None, "it was just read"
            raise DataError(found, "is not UTF-8; save it as UTF-8, or pull it again.") from None

    def _own(self, path: str) -> Path | None:
        parts = PurePosixPath(path).parts
        for folder in folders(self.workspace):
            for begin in range(len(parts)):
                here = folder.joinpath(self.suite, *parts[begin:])
                if here.is_file():
                    return here
        return None

    def _pulled(self, path: str) -> Path | None:
        places = (source.folder / path for source in self.sources if path in source.blobs)
        return next((place for place in places if place.is_file()), None)

    def _missing(self, path: str) -> str:
        source = next((one for one in self.sources if path in one.blobs), None)
        if source is None:
            place = self.workspace.home / FOLDER / self.suite
            return f"there is no '{PurePosixPath(path).name}' in {place}; name a split that is here, or put it there."
        pull = f"genaipa get {source.name}"
        # What is said of one file alone is no remedy for another.
        elsewhere = any(other in source.remedy for other in source.blobs) and path not in source.remedy
        remedy = "" if elsewhere else source.remedy
        return f"'{path}' of {source.title} is not here; run '{pull}', or '{pull} --from FOLDER'. {remedy}".strip()
