"""What a run's analyses leave out by default, each with its reason: `exclusions.csv`.

Whoever knows that an answer is none to its question, or that a published score or an annotated answer is wrong, says so
there; all of them stay as they are. An import writes it, and so may anybody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from genaipa.files.spreadsheets import format_csv_records, read_csv_records

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.runs.folder import RunFolder

EXCLUSIONS = "exclusions.csv"


What = Literal["answer", "score", "annotation"]


class Exclusion(msgspec.Struct, frozen=True):
    """An answer, a published score or an annotated answer that is left out, and why.

    The key of an answer is its record's, of the others `DOCUMENT|QUESTION`, without a document for a score that is a
    mean over documents. No evidence rests on an annotated answer that is left out. `kind` is a word with hyphens
    (`other-company`), `reason` a sentence for a person.
    """

    what: What
    key: str
    kind: str
    reason: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}"


def format_exclusions_csv(exclusions: Iterable[Exclusion]) -> bytes:
    """Return the exclusions as the content of a CSV file, one row each."""
    return format_csv_records(Exclusion, exclusions)


def read_exclusions(folder: RunFolder, excluded_kind: What) -> dict[str, Exclusion]:
    """Return what a run excludes of one sort, by its key; a DataError names a row that can't be read.

    Where something is excluded twice, the first row counts.
    """
    path = folder.path / EXCLUSIONS
    rows = read_csv_records(path, Exclusion) if path.is_file() else []
    return {row.key: row for row in reversed(rows) if row.what == excluded_kind}
