"""Spreadsheets: .xlsx files from untrusted sources, CSV files with a record a row, and cells that no program runs.

Both are read within their limits (`files.limits`). A cell that would be read as a formula gets an
apostrophe in front, which is removed when the cell is read back. In CSV files so does each part behind a semicolon, tab
or line break, where some spreadsheets begin a new cell. Numbers are read as people write them.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
import typing
import warnings
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from genaipa.errors import DataError, MissingPackageError
from genaipa.files.limits import (
    CSV,
    MOST_ATTRIBUTES,
    WORKBOOK,
    ReadingAllowance,
    count_xml_attributes,
    count_xml_elements,
    limit_reading,
    read_xml_chunks_with_depth,
)
from genaipa.files.text import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


T = TypeVar("T", bound=msgspec.Struct)

MARK = "\ufeff"
"""Begins a CSV file for people, so that Excel takes it for UTF-8; what is read here loses it."""


def format_csv_records(record_type: type[T], records: Iterable[T]) -> bytes:
    """Format records as CSV in UTF-8 with a header; None is an empty cell. The same records give the same bytes."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    names = record_type.__struct_fields__
    writer.writerow(names)
    for record in records:
        values = [getattr(record, name) for name in names]
        writer.writerow([escape_formula(value, in_csv=True) if isinstance(value, str) else value for value in values])
    return out.getvalue().encode()


def read_csv_records(path: Path, record_type: type[T]) -> list[T]:
    """Read records; columns may be in any order, unknown ones are ignored. A DataError names the row (header: 1)."""
    rows = read_csv_rows(path)
    fields = {field.name: field for field in msgspec.structs.fields(record_type)}
    empty = {name for name, field in fields.items() if type(None) in typing.get_args(field.type)}
    records = []
    header = next(rows, [])
    missing = [name for name, field in fields.items() if field.required and name not in header]
    if missing:
        raise DataError(path, f"has no column '{missing[0]}'.", "row 1")
    for number, row in enumerate(rows, start=2):
        if not any(row):
            continue
        cells: dict[str, Any] = {
            name: None if name in empty and cell == "" else unescape_formula(cell, in_csv=True)
            for name, cell in zip(header, row, strict=False)
            if name in fields
        }
        try:
            records.append(msgspec.convert(cells, record_type, strict=False))
        except msgspec.ValidationError as error:
            raise DataError(path, f"{error}.", f"row {number}") from None
    return records


def read_csv_rows(path: Path, separators: str = ",") -> Iterator[list[str]]:
    """Yield the rows of a CSV file, separated by whichever of the separators its first line has most."""
    with limit_reading(CSV, path) as allowance:
        text = read_text(path, CSV)
        separator = max(separators, key=text.lstrip().partition("\n")[0].count)
        csv.field_size_limit(max(csv.field_size_limit(), len(text)))
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        try:
            for row in rows:
                allowance.add_elements_within_limit(max(1, len(row)))
                yield row
        except csv.Error as error:
            raise DataError(path, f"is not CSV ({error}).", f"line {rows.line_num}") from None


# The first character of a formula (full-width forms too), behind blanks, which some spreadsheets drop, and the text's
# own apostrophes. Separators are not among the blanks, so that each stretch of a text is scanned once.
_FORMULA = r"(?=(?:'|[^\S\t\r\n])*[=+\-@\uff1d\uff0b\uff0d\uff20]|'*[\t\r])"
_BEGINNINGS = {True: r"(?:\A|(?<=[;\t\r\n]))", False: r"\A"}
_LIVE = {csv: re.compile(beginning + _FORMULA) for csv, beginning in _BEGINNINGS.items()}
_GUARDED = {csv: re.compile(f"{beginning}'{_FORMULA}") for csv, beginning in _BEGINNINGS.items()}
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")
_MINUS = str.maketrans(dict.fromkeys("\u2212\u2013\u2012\ufe63\uff0d", "-") | {",": "."})


def escape_formula(text: str, *, in_csv: bool) -> str:
    """Escape a text for a cell; `unescape_formula` gives the text back."""
    return _LIVE[in_csv].sub("'", text)


def unescape_formula(cell: str, *, in_csv: bool) -> str:
    """Undo `escape_formula`; any other cell stays as it is."""
    return _GUARDED[in_csv].sub("", cell)


def parse_number(cell: str) -> float:
    """Read a number, also "+1", "0,5" or one with a typographic minus; a ValueError for anything else."""
    text = "".join(cell.split()).translate(_MINUS)
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"'{cell}' is not a number")
    return float(text)


MOST_ROWS = 1_048_576
"""Rows of a sheet at most, with the names of the columns: the format's own limit."""
_OTHER = 200_000
"""Elements of a workbook beside its rows, cells and their texts: styles, of which its library makes large objects."""
_CELLS = re.compile(rb"<(?:x:)?(?:row|c|v|f|is|si|r|t)[\s/>]")


def import_openpyxl(extra_for_errors: str) -> Any:
    """Import the library for spreadsheets; a MissingPackageError names the extra of genaipa that brings it."""
    try:
        import openpyxl as library
    except ImportError:
        raise MissingPackageError(
            f"spreadsheets need the package 'openpyxl': pip install 'genaipa[{extra_for_errors}]'"
        ) from None
    return library


@contextlib.contextmanager
def open_workbook(path: Path, extra_for_errors: str) -> Iterator[Iterator[tuple[Any, Iterator[tuple[Any, ...]]]]]:
    """Open a workbook to read its values: (`openpyxl`'s sheet, its rows) of each sheet.

    A DataError, also while reading, if it can't be read within the limits of a spreadsheet.
    """
    library = import_openpyxl(extra_for_errors)
    with limit_reading(WORKBOOK, path) as allowance:
        _check_workbook_limits(path, allowance)
        with path.open("rb") as file, warnings.catch_warnings():
            # About formatting, which is not read.
            warnings.simplefilter("ignore")
            with contextlib.closing(library.load_workbook(file, read_only=True, data_only=True)) as book:
                yield ((sheet, _read_rows_within_allowance(sheet, allowance)) for sheet in book.worksheets)


def _read_rows_within_allowance(sheet: Any, allowance: ReadingAllowance) -> Iterator[tuple[Any, ...]]:
    for row in sheet.iter_rows(values_only=True):
        allowance.add_elements_within_limit(max(1, len(row)), sheet.title)
        yield row


def _check_workbook_limits(path: Path, allowance: ReadingAllowance) -> None:
    allowance.check_size(path.stat().st_size)
    cells = other_tags = 0
    with allowance.open_zip_archive(path) as archive:
        for file in archive.infolist():
            if not file.filename.lower().endswith((".xml", ".rels", ".vml")):
                continue
            with archive.open(file) as content:
                for depth, chunk in read_xml_chunks_with_depth(content):
                    allowance.check_depth(depth, file.filename)
                    tags, cell_tags = count_xml_elements(chunk), len(_CELLS.findall(chunk))
                    cells, other_tags = cells + cell_tags, other_tags + tags - cell_tags
                    # A cell is an element with another for its value.
                    if cells > 2.2 * allowance.limits.elements or other_tags > _OTHER:
                        raise allowance.refusal_error(
                            f"has more than {allowance.limits.elements:,} cells, or too many styles"
                        )
                    if count_xml_attributes(chunk) > MOST_ATTRIBUTES * (1 + tags):
                        raise allowance.refusal_error("has more attributes than a spreadsheet needs", file.filename)
