"""Read .xlsx files from untrusted sources, with limits on size, nesting and number of cells."""

from __future__ import annotations

import contextlib
import lzma
import struct
import warnings
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from genaipa.errors import DataError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
