"""The published files: their commit, their git blob hashes, and the rows of their tables."""

from __future__ import annotations

import csv
import io
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from genaipa.datasets.snapshot import Snapshot
from genaipa.errors import DataError
from genaipa.files.strict_yaml import read_text

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
