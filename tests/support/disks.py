"""A disk that is really full: a file system of a few hundred kilobytes in memory."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

may_mount = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs the right to mount")


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of this size at `folder`/small, the working folder meanwhile; the test skips without one."""
    small = folder / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("may not mount")
    try:
        with contextlib.chdir(small):
            yield small
    finally:
        subprocess.run(["umount", small], check=False)


def fill(disk: Path, room: int) -> Path:
    """A file that leaves so many bytes of a disk free."""
    filler, found = disk / "filler", os.statvfs(disk)
    filler.write_bytes(b"x" * (found.f_bavail * found.f_bsize - room))
    return filler
