"""Tables as files, and the spreadsheet that an analyst fills offline.

CSV and .xlsx are written so that nothing in them is live, and read as spreadsheets leave them. An analyst's sheet has
the answers of a run, with empty cells for the metrics, and says nothing of the systems that answered; the rubric and
the documents are in it, so that nothing else is needed.
"""

from __future__ import annotations

import csv
import io
import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from genaipa.errors import DataError, UsageError
from genaipa.files.spreadsheets import MOST_ROWS, escape_formula, openpyxl, rows_of, unescape_formula, workbook
from genaipa.files.text import digest, read_text
from genaipa.questions.annotations import SAID
from genaipa.scoring.rubric import Rubric

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from genaipa.policies.document import Document
    from genaipa.scoring.answers import Case, PooledAnswer


SHOWN = ("asked", "answer", "annotated answer")
"""The columns that a sheet has for the analyst to read; they are not read back."""
_READ = ("digest", "document", *SHOWN)
_WIDTHS = {"asked": 40, "answer": 80, "annotated answer": 50, "note": 40}
_PARAGRAPH = 2000
"""Characters of a document's line that are shown in one cell: a row of a spreadsheet can't be higher than a screen."""
_HOW = (
    "On the sheet 'scores', give each answer one of the values on each metric.",
    "Add a note if you like. Leave a row empty that you have not scored. Your name belongs into the column 'analyst'.",
    "A text that a spreadsheet would take for a formula has an apostrophe in front of it, which is not part of it.",
    "Then save the file and give it back: genaipa scores import FILE",
)


def blind_order(answers: Iterable[PooledAnswer], analyst: str) -> list[str]:
    """The digests of these answers, shuffled for this analyst; answers to one question about one document in a row."""

    def place(answer: PooledAnswer) -> list[str]:
        document, question = answer.document_digest, f"{answer.document_digest}\0{answer.question}"
        return [digest(f"{analyst}\0{text}") for text in (document, question, answer.digest)]

    return [answer.digest for answer in sorted(answers, key=place)]


def write_sheet(file: BinaryIO, cases: Iterable[Case], rubric: Rubric, analyst: str = "") -> int:
    """Write a spreadsheet to fill, with these answers in this order and the analyst's name; how many they are."""
    workbook = openpyxl("desk").Workbook()
    scores, explained = workbook.active, workbook.create_sheet("rubric")
    scores.title = "scores"
    columns = (*_READ, *rubric.metrics, "note", "analyst")
    _append(scores, columns, bold=True)
    documents: dict[str, Document] = {}
    for case in cases:
        documents[case.document.digest] = case.document
        _append(scores, [*_row(case), *[None] * (len(rubric.metrics) + 1), analyst])
    _append_rubric(explained, rubric)
    for document in documents.values():
        _append_document(workbook, document)
    _make_fillable(scores, columns, rubric)
    workbook.save(file)
    return int(scores.max_row) - 1


def _row(case: Case) -> list[str | None]:
    asked = f"{case.asked}\n\n(original: {case.original})" if case.original else case.asked
    annotated = ""
    if case.annotated is not None:
        rests_on = f"\n\n({', '.join(case.annotated.sections)})" if case.annotated.sections else ""
        said = SAID[case.annotated.silent]
        silent = f"\n\n({said[0].upper()}{said[1:]}.)" if said else ""
        annotated = case.annotated.answer + rests_on + silent
    shown = [asked, case.masked_reply(), annotated]
    return [case.answer.digest, case.answer.document, *map(_fitting, shown)]


def _fitting(text: str) -> str:
    """The text, cut with a mark where a cell of a spreadsheet can't hold it."""
    mark = f"\n\n[cut here: the whole text has {len(text):,} characters, and a cell can't hold them]"
    # One character of room for the apostrophe of a text that looks like a formula.
    return text if len(text) < MOST_CHARACTERS else text[: MOST_CHARACTERS - len(mark) - 1] + mark


def _append(sheet: Any, values: Sequence[str | float | None], *, bold: bool = False) -> None:
    from openpyxl.cell import Cell

    styles = openpyxl("desk").styles
    alignment, font = styles.Alignment(wrap_text=True, vertical="top"), styles.Font(bold=bold)
    # Made before they are appended: to find a sheet's last row, openpyxl looks at all of its cells.
    cells = [Cell(sheet, 1, 1, spreadsheet_text(value) if isinstance(value, str) else value) for value in values]
    for cell in cells:
        cell.alignment, cell.font = alignment, font
    sheet.append(cells)


def _append_rubric(sheet: Any, rubric: Rubric) -> None:
    _append(sheet, ["metric", *rubric.values], bold=True)
    for name, metric in rubric.metrics.items():
        _append(sheet, [name, *metric.words])
    wide = 1 + len(rubric.values)
    for line in ("", rubric.silent_rule, *_HOW):
        _append(sheet, [line])
        sheet.merge_cells(start_row=sheet.max_row, end_row=sheet.max_row, start_column=1, end_column=wide)
        sheet.row_dimensions[sheet.max_row].height = 32
    for column in "ABCDEFGHIJ"[:wide]:
        sheet.column_dimensions[column].width = 32


def _append_document(workbook: Any, document: Document) -> None:
    # A sheet's title has at most 31 characters, and openpyxl may have to number it.
    title = re.sub(r"[^\w.-]", "-", document.name)[:20]
    sheet = workbook.create_sheet(f"text {title}")
    sheet.column_dimensions["A"].width = 120
    for line in document.text.split("\n"):
        for piece in textwrap.wrap(line, _PARAGRAPH) or [""]:
            _append(sheet, [piece])


def _make_fillable(sheet: Any, columns: Sequence[str], rubric: Rubric) -> None:
    """Frozen names of columns, a drop-down for each metric, and everything locked but the analyst's cells."""
    from openpyxl.utils import get_column_letter as letter
    from openpyxl.worksheet.datavalidation import DataValidation

    places = {name: letter(place) for place, name in enumerate(columns, start=1)}
    sheet.freeze_panes = "A2"
    for name, place in places.items():
        sheet.column_dimensions[place].width = _WIDTHS.get(name, 14)
    # The values are cells and not a list in words, so that they are numbers where 0.5 is written 0,5.
    cells = f"rubric!$B$1:${letter(1 + len(rubric.values))}$1"
    allowed = DataValidation(
        type="list",
        formula1=cells,
        allow_blank=True,
        showErrorMessage=True,
    )
    allowed.error = f"One of {', '.join(f'{value:+g}' for value in rubric.values)}, please."
    first, last = 1 + len(_READ), len(_READ) + len(rubric.metrics)
    allowed.add(f"{letter(first)}2:{letter(last)}{max(sheet.max_row, 2)}")
    sheet.add_data_validation(allowed)
    unlocked = openpyxl("desk").styles.Protection(locked=False)
    for row in sheet.iter_rows(min_row=2, min_col=first):
        for cell in row:
            cell.protection = unlocked
    sheet.protection.sheet = True
    # The other way round from how it reads: these stay allowed.
    sheet.protection.formatColumns = sheet.protection.formatRows = False


TableCell = str | float | None

MOST_CHARACTERS = 32_767
"""That a cell of a spreadsheet can hold."""


@dataclass(frozen=True)
class ReadTable:
    """A table in a file: the names of its columns, and each row that is not blank with its number.

    Rows are counted from 1 as a spreadsheet counts them, the names of the columns included. Cells are text.
    """

    path: Path
    names: tuple[str, ...]
    rows: list[tuple[int, tuple[str, ...]]]


# -- writing --


def write_csv(file: BinaryIO, names: Sequence[str], rows: Iterable[Sequence[TableCell]]) -> None:
    """The rows as CSV in UTF-8. Numbers stay numbers; text is made harmless."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text)
    writer.writerow(names)
    writer.writerows(
        [escape_formula(cell, csv=True) if isinstance(cell, str) else cell for cell in row] for row in rows
    )
    text.detach()


def write_xlsx(file: BinaryIO, title: str, names: Sequence[str], rows: Iterable[Sequence[TableCell]]) -> None:
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


def read_table(path: Path, wanted: str) -> ReadTable:
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
            return ReadTable(path, names, list(rows))
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
