"""A problem of a data file, and errors as such."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from genaipa.errors import DataError, GenaipaError

if TYPE_CHECKING:
    from collections.abc import Iterable

Severity = Literal["error", "warning"]


class Finding(msgspec.Struct, frozen=True):
    """A problem of an entry of a file (of the file itself if `entry` is empty).

    An `error` makes the file unusable; a `warning` is a likely oversight of its author.
    """

    path: str
    entry: str
    problem: str
    severity: Severity = "error"


class Checked(msgspec.Struct, frozen=True):
    """Outcome of the check of a kind of task: its folder in a workspace, the files there, and findings on them.

    `splits` are the readable ones: task → split → number of items.
    """

    folder: str
    files: list[Path]
    findings: list[Finding]
    splits: dict[str, dict[str, int]]


def as_findings(errors: Iterable[GenaipaError], path: Path | str = "") -> list[Finding]:
    """Errors as findings; `path` is the file for one that names none."""
    return [
        Finding(error.path, error.entry, error.problem)
        if isinstance(error, DataError)
        else Finding(str(path), "", str(error))
        for error in errors
    ]
