"""CSV files with one record per row and one column per field; text is escaped against formulas."""

from __future__ import annotations

import csv
import io
import typing
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from genaipa.errors import DataError
from genaipa.files.formulas import escape_formula, unescape_formula
from genaipa.files.text import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

T = TypeVar("T", bound=msgspec.Struct)


def as_csv(kind: type[T], records: Iterable[T]) -> bytes:
    """Format records as CSV in UTF-8 with a header; None is an empty cell. The same records give the same bytes."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    names = kind.__struct_fields__
    writer.writerow(names)
    for record in records:
        values = [getattr(record, name) for name in names]
        writer.writerow([escape_formula(value, csv=True) if isinstance(value, str) else value for value in values])
    return out.getvalue().encode()


def read_csv(path: Path, kind: type[T]) -> list[T]:
    """Read records; columns may be in any order, unknown ones are ignored. A DataError names the row (header: 1)."""
    rows = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    empty = {name for name, field in fields.items() if type(None) in typing.get_args(field.type)}
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
                name: None if name in empty and cell == "" else unescape_formula(cell, csv=True)
                for name, cell in zip(header, row, strict=False)
                if name in fields
            }
            try:
                records.append(msgspec.convert(cells, kind, strict=False))
            except msgspec.ValidationError as error:
                raise DataError(path, f"{error}.", f"row {number}") from None
    except csv.Error as error:
        raise DataError(path, f"is not a CSV file ({error}).", f"line {rows.line_num}") from None
    return records
