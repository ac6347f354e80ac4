"""Atomic writes: a file has its old content or the whole new one, never a part."""

from __future__ import annotations

import contextlib
import os
import uuid
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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
