"""Tables as files: CSV and .xlsx, written so that nothing in them is live, and read as spreadsheets leave them."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from genaipa.errors import DataError, UsageError
from genaipa.files.formulas import escape_formula, unescape_formula
from genaipa.files.spreadsheets import MOST_ROWS, openpyxl, rows_of, workbook
from genaipa.files.strict_yaml import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

Cell = str | float | None

MOST_CHARACTERS = 32_767
"""That a cell of a spreadsheet can hold."""


@dataclass(frozen=True)
class Table:
    """A table in a file: the names of its columns, and each row that is not blank with its number.

    Rows are counted from 1 as a spreadsheet counts them, the names of the columns included. Cells are text.
    """

    path: Path
    names: tuple[str, ...]
    rows: list[tuple[int, tuple[str, ...]]]


# -- writing --


def write_csv(file: BinaryIO, names: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    """The rows as CSV in UTF-8. Numbers stay numbers; text is made harmless."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text)
    writer.writerow(names)
    writer.writerows(
        [escape_formula(cell, csv=True) if isinstance(cell, str) else cell for cell in row] for row in rows
    )
    text.detach()


def write_xlsx(file: BinaryIO, title: str, names: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    """The rows as the only sheet of a spreadsheet, the names of the columns always in sight."""
    library = openpyxl("desk")
    # All of them before the first is written: a workbook that is left half-written can't be closed.
    checked = [[spreadsheet_text(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    if len(checked) >= MOST_ROWS:
        raise UsageError(f"a spreadsheet holds {MOST_ROWS:,} rows, and these are more; write .csv or .jsonl.")
    made = library.Workbook(write_only=True)
    sheet = made.create_sheet(title)
    sheet.freeze_panes = "A2"
    for row in (names, *checked):
        sheet.append(row)
    made.save(file)


def spreadsheet_text(text: str) -> str:
    """A text as a cell can hold it: harmless, and without the control characters that the format forbids.

    A UsageError where it is more than fits.
    """
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    shown = escape_formula(ILLEGAL_CHARACTERS_RE.sub("�", text), csv=False)
    if len(shown) > MOST_CHARACTERS:
        raise UsageError(
            f"a cell of a spreadsheet holds {MOST_CHARACTERS:,} characters, and the text that begins "
            f"'{text[:40]}' has {len(text):,}; write .csv or .jsonl."
        )
    return shown


# -- reading --


def read_table(path: Path, wanted: str) -> Table:
    """The table in a .csv or .xlsx file; a DataError if there is none that has the column `wanted`.

    A spreadsheet may have several sheets, under any name: the first with that column is taken.
    """
    sheets = _csv_rows(path) if path.suffix.lower() == ".csv" else _xlsx_sheets(path)
    found = False
    for sheet in sheets:
        rows = ((number, row) for number, row in enumerate(sheet, start=1) if any(map(str.strip, row)))
        _, names = next(rows, (0, ()))
        found = found or bool(names)
        if wanted in map(simplified, names):
            return Table(path, names, list(rows))
    raise DataError(path, f"has no column '{wanted}' in its first row." if found else "is empty.")


def simplified(name: str) -> str:
    """The name of a column without capitals, blanks and underscores, which people change."""
    return " ".join(name.casefold().replace("_", " ").split())


def _csv_rows(path: Path) -> Iterator[Iterable[tuple[str, ...]]]:
    text = read_text(path)
    first = text.lstrip().partition("\n")[0]
    separator = max(",;\t", key=first.count)
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        yield [tuple(unescape_formula(cell, csv=True) for cell in row) for row in rows]
    except csv.Error as error:
        raise DataError(path, f"is not CSV ({error}).", f"line {rows.line_num}") from None


def _xlsx_sheets(path: Path) -> Iterator[Iterable[tuple[str, ...]]]:
    with workbook(path, "desk") as found:
        for sheet in found.worksheets:
            # What a file says of a sheet's size may be wrong where another program wrote it.
            sheet.reset_dimensions()
            yield [tuple(map(_text, row)) for row in rows_of(sheet, path)]


def _text(value: object) -> str:
    return "" if value is None else unescape_formula(str(value), csv=False)
