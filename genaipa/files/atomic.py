"""Atomic writes: a file has its old content or the whole new one, never a part."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator


def fsync_folder(folder: Path) -> None:
    """Wait until the names of a folder's files are on disk, where the system can say so."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def open_for_atomic_write(path: Path, *, durable: bool = False) -> Iterator[BinaryIO]:
    """Open a new file for writing that replaces `path` when the block ends; after an error `path` is as it was.

    Its folder is made if missing. Several processes and threads may replace the same file: the last one wins.
    `durable` waits until the content is on disk, so that it outlives a power failure too. An OSError is the caller's.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Cut, as the file system limits names.
    temporary = path.with_name(f".{path.name[:40]}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        temporary.replace(path)
        if durable:
            fsync_folder(path.parent)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def open_draft_folder(folder: Path) -> Iterator[Path]:
    """Make an empty folder whose files move into `folder` when the block ends; after an error `folder` is as it was.

    Files of the same names are replaced, others stay. An OSError is the caller's.
    """
    is_new = not folder.exists()
    if not is_new and not folder.is_dir():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))
    missing_parents = [parent for parent in folder.parents if not parent.exists()]
    scratch_parent = folder.parent if is_new else folder
    try:
        scratch_parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{folder.name[:40]}-", dir=scratch_parent) as scratch:
            # A folder of its own, as others may read what is written, but not a temporary folder.
            draft = Path(scratch) / "draft"
            draft.mkdir()
            yield draft
            if is_new:
                draft.rename(folder)
            else:
                for path in sorted(path for path in draft.rglob("*") if not path.is_dir()):
                    target = folder / path.relative_to(draft)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    path.replace(target)
    finally:
        for parent in missing_parents:
            with contextlib.suppress(OSError):  # not empty: it has the folder
                parent.rmdir()
