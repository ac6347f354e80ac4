"""The published files: their commit, their git blob hashes, and the rows of their tables."""

from __future__ import annotations

import csv
import io
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from genaipa.datasets.snapshot import Snapshot
from genaipa.errors import DataError
from genaipa.files.text import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMIT = "0a5fffcb00b92ba5a604e6b1b5127b1199e52919"
LICENSE = "not stated; not redistributable"


class Tree(Snapshot):
    """The 111 files of the published repository; the 25 of the study itself are needed for nothing else."""

    dataset = "genaipabench"
    title = "GenAIPABench"
    repository = "DAMSlabUMBC/GenAIPABench"
    optional = ("Generated Answers/", "Results/")


@cache
def published() -> Tree:
    """The commit that the paper's figures were checked against."""
    lines = Path(__file__).with_name("genaipabench.blobs").read_text(encoding="utf-8").splitlines()
    return Tree(COMMIT, {path: blob for blob, path in (line.split("  ", 1) for line in lines)})


def source_url(path: str) -> str:
    """The page of a published file."""
    return f"https://github.com/{Tree.repository}/blob/{COMMIT}/{quote(path)}"


def csv_rows(path: Path, *, strict: bool = False) -> list[list[str]]:
    """The rows of a CSV file; a DataError names the line that is none. `strict` allows no quotes inside a cell."""
    rows = csv.reader(io.StringIO(read_text(path), newline=""), strict=strict)
    try:
        return list(rows)
    except csv.Error as error:
        raise DataError(path, f"is not a CSV file ({error}).", f"line {rows.line_num}") from None


def read_table(path: Path, columns: Mapping[str, tuple[str, ...]], ids: Mapping[str, str]) -> dict[str, dict[str, str]]:
    r"""The rows of a published CSV by genaipa's question id; blank rows and other columns are passed over.

    `columns` maps each wanted cell, "id" among them, to the headers under which it is published; `ids` a published id
    to genaipa's. Line ends inside a cell become "\n", white space around it goes. A DataError names file, row (the
    header is row 1) and column.
    """
    header, *rows = csv_rows(path, strict=True) or [[]]
    present = [cell.strip().lower() for cell in header]
    places: dict[str, int] = {}
    for column, names in columns.items():
        known = [present.index(name) for name in names if name in present]
        if not known:
            wanted = "' or '".join(names)
            raise DataError(path, f"has no column '{wanted}'.", "row 1")
        places[column] = known[0]
    read: dict[str, dict[str, str]] = {}
    for number, row in enumerate(rows, start=2):
        if not any(cell.strip() for cell in row):
            continue
        cells = {column: "".join(row[place : place + 1]) for column, place in places.items()}
        cells = {column: re.sub(r"\r\n?", "\n", cell).strip() for column, cell in cells.items()}
        for column, cell in cells.items():
            if not cell:
                raise DataError(path, "the cell is missing or empty.", f"row {number}, column '{columns[column][0]}'")
        question = ids.get(cells["id"])
        if question is None or question in read:
            problem = "is not the id of a question" if question is None else "appears twice"
            raise DataError(path, f"'{cells['id']}' {problem}.", f"row {number}, column '{columns['id'][0]}'")
        read[question] = cells
    missing = sorted(set(ids.values()) - set(read))
    if missing:
        raise DataError(path, f"has no row for {', '.join(missing)}.")
    return read
