"""The published files: at which commit, which files with which git blob hashes, and where they are kept."""

from __future__ import annotations

import csv
import hashlib
import io
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from genaipa import workspace
from genaipa.errors import DataError, UsageError
from genaipa.files.atomic import replacing
from genaipa.files.strict_yaml import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping

REPOSITORY = "DAMSlabUMBC/GenAIPABench"
COMMIT = "0a5fffcb00b92ba5a604e6b1b5127b1199e52919"
LICENSE = "not stated; not redistributable"

PULLED = ("Privacy Documents/", "Annotated Answers/", "Questions/")
"""The folders of the repository without which nothing can be asked."""
STUDY = ("Generated Answers/", "Results/")
"""The folders with what the study's systems said and scored; a source may lack some of it."""


@dataclass(frozen=True)
class Tree:
    """The files of one commit: path in the repository → git blob hash."""

    commit: str
    blobs: Mapping[str, str]

    @property
    def folder(self) -> Path:
        """Where the files of this commit are kept, laid out as in the repository."""
        return workspace.cache() / "genaipabench" / self.commit

    @property
    def wanted(self) -> list[str]:
        """The files that a pull has to find."""
        return [path for path in self.blobs if path.startswith(PULLED)]

    @property
    def study(self) -> list[str]:
        """The files of the published study that a pull takes where the source has them."""
        return [path for path in self.blobs if path.startswith(STUDY)]

    def holds(self, path: str) -> bool:
        """Whether the file is kept here and is the published one."""
        try:
            return blob_hash((self.folder / path).read_bytes()) == self.blobs[path]
        except OSError:
            return False


@cache
def published() -> Tree:
    """The commit that the paper's figures were checked against."""
    lines = Path(__file__).with_name("genaipabench.blobs").read_text(encoding="utf-8").splitlines()
    return Tree(COMMIT, {path: blob for blob, path in (line.split("  ", 1) for line in lines)})


def blob_hash(content: bytes) -> str:
    """The hash by which git names a file of this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def source_url(path: str) -> str:
    """Where a person can see the published file."""
    return f"https://github.com/{REPOSITORY}/blob/{COMMIT}/{quote(path)}"


def write(path: Path, content: bytes) -> None:
    """Replace a file of the cache; a UsageError if it can't be written."""
    try:
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise UsageError(
            f"{path} can't be written ({error.strerror}); GENAIPA_CACHE names the folder that pulled data is kept in."
        ) from None


def read_table(path: Path, columns: Mapping[str, tuple[str, ...]], ids: Mapping[str, str]) -> dict[str, dict[str, str]]:
    r"""The rows of a published CSV by genaipa's question id; blank rows and other columns are passed over.

    `columns` names the cells that are wanted, "id" among them, each with the headers under which it is published;
    `ids` turns a published id into genaipa's. Line ends inside a cell become "\n", white space around it goes. A
    DataError names file, row (the header is row 1) and column.
    """
    rows = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    found: dict[str, dict[str, str]] = {}
    try:
        places = _places(path, next(rows, []), columns)
        for number, row in enumerate(rows, start=2):
            if not any(cell.strip() for cell in row):
                continue
            cells = {}
            for column, place in places.items():
                cells[column] = " ".join(row[place : place + 1]).replace("\r\n", "\n").replace("\r", "\n").strip()
                if not cells[column]:
                    entry = f"row {number}, column '{columns[column][0]}'"
                    raise DataError(path, "the cell is missing or empty.", entry)
            question = ids.get(cells["id"])
            if question is None or question in found:
                problem = "is not the id of a question" if question is None else "stands twice"
                raise DataError(path, f"'{cells['id']}' {problem}.", f"row {number}, column '{columns['id'][0]}'")
            found[question] = cells
    except csv.Error as error:
        raise DataError(path, f"is not a CSV file ({error}).", f"line {rows.line_num}") from None
    missing = sorted(set(ids.values()) - set(found))
    if missing:
        raise DataError(path, f"has no row for {', '.join(missing)}.")
    return found


def _places(path: Path, header: list[str], columns: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    """Where in a row each wanted column stands."""
    present = [cell.strip().lower() for cell in header]
    places = {}
    for column, names in columns.items():
        place = next((present.index(name) for name in names if name in present), None)
        if place is None:
            wanted = "' or '".join(names)
            raise DataError(path, f"has no column '{wanted}'.", "row 1")
        places[column] = place
    return places
