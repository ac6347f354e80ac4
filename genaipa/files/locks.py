"""Locks on files that end with their process."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from genaipa.errors import NoRoomError, RunBusyError, RunError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)


def system_file_lock(path: Path) -> FileLock:
    """Return a lock of the operating system; where it has none, acquiring it raises OSError or NotImplementedError.

    A file in place of a lock would stay behind when its process is killed.
    """
    try:
        return FileLock(path, fallback_to_soft=False)
    except TypeError:  # an older filelock never does that
        return FileLock(path)


def take_run_lock(lock: FileLock, path_for_errors: Path, run_name: str) -> None:
    """Take the lock of the run in a folder; a RunBusyError if it is held, a RunError where none can be had."""
    try:
        _acquire_lock(lock, path_for_errors, blocking=False)
    except Timeout:
        raise RunBusyError(f"another process is using {run_name}; wait for it to end, or stop it first.") from None


@contextlib.contextmanager
def hold_lock(lock: FileLock, path_for_errors: Path, *, blocking: bool = True) -> Iterator[None]:
    """Hold the lock of a folder for a moment, after whoever holds it now; a RunError where none can be had.

    If not `blocking`, a Timeout says that somebody holds it.
    """
    _acquire_lock(lock, path_for_errors, blocking=blocking)
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def hold_flock_on_folder(path: Path) -> Iterator[None]:
    """Hold a folder itself for a moment, after whoever holds it now, without a file in it.

    Network file systems lock no folder: there nobody waits.
    """
    folder = os.open(path, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _acquire_lock(lock: FileLock, path_for_errors: Path, *, blocking: bool) -> None:
    try:
        lock.acquire(blocking=blocking)
    except Timeout:
        raise
    except (OSError, NotImplementedError) as error:
        if isinstance(error, OSError) and error.errno not in _NO_LOCKS:
            raise NoRoomError.from_os_error(path_for_errors, error) from None
        raise RunError(
            f"{path_for_errors} is on a file system without file locks; keep runs on a local disk, or on NFS "
            "version 4 or later."
        ) from None
