"""Stamps of time, and of files, by which one sees at little cost whether a file has changed."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

Stamp = tuple[int, int, int]
"""Inode, length and time; one changes with the file."""


def now() -> str:
    """Return this moment in UTC, to the millisecond, ISO 8601."""
    return format_utc_milliseconds(dt.datetime.now(dt.UTC))


def local_today() -> str:
    """Return the day of this moment where the machine is, ISO 8601."""
    return dt.datetime.now().astimezone().date().isoformat()


def format_utc_milliseconds(moment: dt.datetime) -> str:
    """Return a moment in UTC, to the millisecond, ISO 8601; one without a zone is taken for UTC."""
    moment_utc = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    return moment_utc.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_file_stamp(path: Path) -> Stamp | None:
    """Return the stamp of a file; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
