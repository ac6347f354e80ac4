"""CSV files of which each row is one record: the columns are the record's fields.

Text that a spreadsheet would take for a formula is made harmless when it is written, and is as it was when it is read.
"""

from __future__ import annotations

import csv
import io
import typing
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from genaipa.errors import DataError
from genaipa.files.formulas import harmless, plain
from genaipa.files.strict_yaml import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

T = TypeVar("T", bound=msgspec.Struct)


def as_csv(kind: type[T], records: Iterable[T]) -> bytes:
    """The records as a CSV file in UTF-8 with a header; None is an empty cell. The same records give the same bytes."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    names = kind.__struct_fields__
    writer.writerow(names)
    writer.writerows([_cell(getattr(record, name)) for name in names] for record in records)
    return out.getvalue().encode()


def read_csv(path: Path, kind: type[T]) -> list[T]:
    """The records of such a file; columns may stand in any order, others are passed over.

    A DataError names the file, the row (the header is row 1) and what is wrong there.
    """
    rows = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    empty = {name: None for name, field in fields.items() if type(None) in typing.get_args(field.type)}
    records = []
    try:
        header = next(rows, [])
        missing = [name for name, field in fields.items() if field.required and name not in header]
        if missing:
            raise DataError(path, f"has no column '{missing[0]}'.", "row 1")
        for number, row in enumerate(rows, start=2):
            if not any(row):
                continue
            cells: dict[str, Any] = {
                name: plain(cell, csv=True) for name, cell in zip(header, row, strict=False) if name in fields
            }
            cells.update({name: None for name in empty if cells.get(name) == ""})
            try:
                records.append(msgspec.convert(cells, kind, strict=False))
            except msgspec.ValidationError as error:
                raise DataError(path, f"{error}.", f"row {number}") from None
    except csv.Error as error:
        raise DataError(path, f"is not a CSV file ({error}).", f"line {rows.line_num}") from None
    return records


def _cell(value: Any) -> Any:
    """What stands in the cell; numbers are written as they are."""
    return harmless(value, csv=True) if isinstance(value, str) else value
