"""Reading .xlsx files that somebody sent: anything may be in them, and a small file may unpack to a large one."""

from __future__ import annotations

import contextlib
import lzma
import struct
import warnings
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from genaipa.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_ROWS = 1_048_576
"""That a sheet of a spreadsheet can hold, with the names of the columns."""
_MOST_CELLS = 20_000_000
"""Of a sheet, blank ones included."""
_MOST_FILES = 1_000
"""In a workbook: its sheets, and what belongs to each."""
_LARGEST = 512 * 2**20
"""Bytes that a workbook may unpack to."""
_DEEPEST = 1_000
"""Elements of XML within each other; a sheet needs seven."""
_CHUNK = 2**20

# What reading a file that is no spreadsheet, or a damaged one, ends in; a SyntaxError is about its XML.
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, SyntaxError, MemoryError),
    *(LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RuntimeError),
)


@contextlib.contextmanager
def workbook(path: Path, library: Any) -> Iterator[Any]:
    """The workbook in a file, opened by openpyxl, the `library`, for reading its values.

    A DataError, also for what is raised while it is read, if it is no spreadsheet or larger than any is.
    """
    try:
        _check(path)
        with warnings.catch_warnings():
            # They are about decorations, which are of no use here.
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
    """The values of a sheet row by row; a DataError where they are more than a sheet can hold, or a study needs."""
    cells = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        cells += len(row)
        if number > MOST_ROWS or cells > _MOST_CELLS:
            raise DataError(path, f"has more than {MOST_ROWS:,} rows or {_MOST_CELLS:,} cells.", sheet.title)
        yield row


def _check(path: Path) -> None:
    """A DataError for what a library would choke on."""
    with zipfile.ZipFile(path) as archive:
        files = archive.infolist()
        if len(files) > _MOST_FILES:
            raise DataError(path, f"holds {len(files):,} sheets and other files; a spreadsheet has a few.")
        if sum(file.file_size for file in files) > _LARGEST:
            raise DataError(path, f"unpacks to more than {_LARGEST // 2**20} MiB, which no spreadsheet does.")
        if any(file.flag_bits & 1 for file in files):
            raise DataError(path, "is encrypted; save it without a password.")
        for file in files:
            if not file.filename.lower().endswith((".xml", ".rels", ".vml")):
                continue
            with archive.open(file) as content:
                if _is_deep(content):
                    raise DataError(path, "is nested too deep for a spreadsheet.", file.filename)


def _is_deep(content: Any) -> bool:
    """Whether elements of XML stand too deep within each other; counted in pieces, so it is right to a few."""
    depth = 0
    while piece := content.read(_CHUNK):
        # Of what begins with <, everything but an end, a comment and an instruction opens an element.
        opened = piece.count(b"<") - piece.count(b"</") - piece.count(b"<?") - piece.count(b"<!")
        depth += opened - piece.count(b"</") - piece.count(b"/>")
        if depth > _DEEPEST:
            return True
    return False
