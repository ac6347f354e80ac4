"""Spreadsheets: .xlsx files from untrusted sources, CSV files with a record a row, and cells that no program runs.

An .xlsx file is read with limits on size, nesting and number of cells. A cell that would be read as a formula gets an
apostrophe in front, which is removed when the cell is read back. In CSV files so does each part behind a semicolon, tab
or line break, where some spreadsheets begin a new cell. Numbers are read as people write them.
"""

from __future__ import annotations

import contextlib
import csv
import io
import lzma
import re
import struct
import typing
import warnings
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from genaipa.errors import DataError, MissingPackageError
from genaipa.files.text import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


T = TypeVar("T", bound=msgspec.Struct)

MARK = "\ufeff"
"""Begins a CSV file for people, so that Excel takes it for UTF-8; what is read here loses it."""


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


# The first character of a formula (full-width forms too), behind blanks, which some spreadsheets drop, and the text's
# own apostrophes. Separators are not among the blanks, so that each stretch of a text is scanned once.
_FORMULA = r"(?=(?:'|[^\S\t\r\n])*[=+\-@\uff1d\uff0b\uff0d\uff20]|'*[\t\r])"
_BEGINNINGS = {True: r"(?:\A|(?<=[;\t\r\n]))", False: r"\A"}
_LIVE = {csv: re.compile(beginning + _FORMULA) for csv, beginning in _BEGINNINGS.items()}
_GUARDED = {csv: re.compile(f"{beginning}'{_FORMULA}") for csv, beginning in _BEGINNINGS.items()}
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")
_MINUS = str.maketrans(dict.fromkeys("\u2212\u2013\u2012\ufe63\uff0d", "-") | {",": "."})


def escape_formula(text: str, *, csv: bool) -> str:
    """Escape a text for a cell; `unescape_formula` gives the text back."""
    return _LIVE[csv].sub("'", text)


def unescape_formula(cell: str, *, csv: bool) -> str:
    """Undo `escape_formula`; any other cell stays as it is."""
    return _GUARDED[csv].sub("", cell)


def parse_number(cell: str) -> float:
    """Read a number, also "+1", "0,5" or one with a typographic minus; a ValueError for anything else."""
    text = "".join(cell.split()).translate(_MINUS)
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"'{cell}' is not a number")
    return float(text)


MOST_ROWS = 1_048_576
"""Rows of a sheet at most, with the names of the columns: the format's own limit."""
_MOST_CELLS = 20_000_000  # of a sheet, blank ones included
_MOST_FILES = 1_000  # in a workbook: its sheets, and what belongs to each
_LARGEST = 512 * 2**20  # bytes of an unpacked workbook
_DEEPEST = 1_000  # nested XML elements; a sheet needs seven
_CHUNK = 2**20

# Raised for a damaged file, or one that is no spreadsheet; a SyntaxError is about its XML.
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, SyntaxError, MemoryError),
    *(LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RuntimeError),
)


def openpyxl(extra: str) -> Any:
    """The library for spreadsheets; a MissingPackageError that names the extra of genaipa where it is missing."""
    try:
        import openpyxl as library
    except ImportError:
        raise MissingPackageError(f"spreadsheets need the package 'openpyxl': pip install 'genaipa[{extra}]'") from None
    return library


@contextlib.contextmanager
def workbook(path: Path, extra: str) -> Iterator[Any]:
    """Open a workbook to read its values (`openpyxl`); a DataError, also while reading, if it can't be."""
    library = openpyxl(extra)
    try:
        _check(path)
        with warnings.catch_warnings():
            # About formatting, which is not read.
            warnings.simplefilter("ignore")
            with contextlib.closing(library.load_workbook(path, read_only=True, data_only=True)) as found:
                yield found
    except DataError:
        raise
    except OSError as error:
        raise DataError(path, f"can't be read ({error.strerror or error}).") from None
    except _DAMAGE:
        raise DataError(path, "is not a spreadsheet; save it as .xlsx or .csv.") from None


def rows_of(sheet: Any, path: Path) -> Iterator[tuple[Any, ...]]:
    """Yield a sheet's values row by row; a DataError beyond `MOST_ROWS` rows or 20 million cells."""
    cells = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        cells += len(row)
        if number > MOST_ROWS or cells > _MOST_CELLS:
            raise DataError(path, f"has more than {MOST_ROWS:,} rows or {_MOST_CELLS:,} cells.", sheet.title)
        yield row


def _check(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        files = archive.infolist()
        if len(files) > _MOST_FILES:
            raise DataError(path, f"holds {len(files):,} sheets and other files; a spreadsheet has a few.")
        if sum(file.file_size for file in files) > _LARGEST:
            raise DataError(path, f"unpacks to more than {_LARGEST // 2**20} MiB, which no spreadsheet does.")
        if any(file.flag_bits & 1 for file in files):
            raise DataError(path, "is encrypted; save it without a password.")
        for file in files:
            if file.filename.lower().endswith((".xml", ".rels", ".vml")):
                with archive.open(file) as content:
                    if _is_deep(content):
                        raise DataError(path, "is nested too deep for a spreadsheet.", file.filename)


def _is_deep(content: Any) -> bool:
    """Whether XML elements are nested too deep; counted in chunks, so exact to a few."""
    depth = 0
    while piece := content.read(_CHUNK):
        # Every < opens an element, but those of end tags, comments and instructions.
        opened = piece.count(b"<") - piece.count(b"</") - piece.count(b"<?") - piece.count(b"<!")
        depth += opened - piece.count(b"</") - piece.count(b"/>")
        if depth > _DEEPEST:
            return True
    return False
