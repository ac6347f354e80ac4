"""Names of folders, made of what people call things."""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from typing import TYPE_CHECKING

from genaipa.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LONGEST_NAME = 200
"""Bytes; file systems take 255, and the time precedes it."""


def free_names(runs: Path, name: str) -> Iterator[Path]:
    """Paths for a new run of that name, begun now, in the folder of runs, which is made if missing."""
    stamp = dt.datetime.now(dt.UTC).strftime("%Y%m%d-%H%M%S")
    slug = folder_words(name) or "run"
    try:
        runs.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{runs} can't be made ({error.strerror}).") from None
    return (runs / f"{stamp}-{slug}{suffix}" for suffix in ("", *(f"-{n}" for n in range(2, 1000))))


def folder_words(name: str, most: int = 60) -> str:
    """A run's name as its folder has it: the letters and digits of any script; empty if there are none.

    Cut to `most` characters, and to what a file system takes of the scripts that need several bytes for each.
    """
    kept = re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFC", name)).strip("-._")[:most]
    return kept.encode()[:_LONGEST_NAME].decode(errors="ignore").strip("-._")
