"""Names of folders, made of what people call things."""

from __future__ import annotations

import datetime as dt
import errno
import re
import unicodedata
from typing import TYPE_CHECKING

from genaipa.errors import NOT_ALLOWED, RunError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LONGEST_NAME = 200
"""Bytes; file systems take 255, and the time precedes it."""


def make_runs_folder_and_propose_paths(runs_path: Path, run_name: str) -> Iterator[Path]:
    """Paths for a new run of that name, begun now, in the folder of runs, which is made if missing."""
    stamp = dt.datetime.now(dt.UTC).strftime("%Y%m%d-%H%M%S")
    slug = clean_folder_name(run_name) or "run"
    make_run_folder(runs_path)
    return (runs_path / f"{stamp}-{slug}{suffix}" for suffix in ("", *(f"-{n}" for n in range(2, 1000))))


def make_run_folder(path: Path, *, must_be_new: bool = False) -> None:
    """Make the folder of runs where it is missing, or that of a `must_be_new` run; a RunError if it can't be made.

    A FileExistsError where a new run's is there.
    """
    try:
        path.mkdir(parents=not must_be_new, exist_ok=not must_be_new)
    except OSError as error:
        if must_be_new and error.errno == errno.EEXIST:
            raise
        remedy = "; choose a workspace that you may write to" if error.errno in NOT_ALLOWED else ""
        raise RunError(f"{path} can't be created ({error.strerror}){remedy}.") from None


def clean_folder_name(name: str, max_characters: int = 60) -> str:
    """Return a run's name as its folder has it: the letters and digits of any script; empty if there are none.

    Cut to `max_characters`, and to what a file system takes of the scripts that need several bytes for each.
    """
    words = re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFC", name)).strip("-._")[:max_characters]
    return words.encode()[:_LONGEST_NAME].decode(errors="ignore").strip("-._")
