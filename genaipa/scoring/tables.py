"""Scores as files: the log of events, a table of those in effect, and the spreadsheet that an analyst fills offline.

CSV and .xlsx are written so that nothing in them is live, and read as spreadsheets leave them. An analyst's sheet has
the answers of a run, with empty cells for the metrics, and says nothing of the systems that answered; the rubric and
the documents are in it, so that nothing else is needed.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
import textwrap
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, get_args

import msgspec

from genaipa.errors import DataError, UsageError
from genaipa.files.spreadsheets import (
    MARK,
    MOST_ROWS,
    escape_formula,
    openpyxl,
    parse_number,
    read_csv_rows,
    unescape_formula,
    workbook,
)
from genaipa.files.stamps import now
from genaipa.files.text import digest
from genaipa.questions.annotations import SAID
from genaipa.questions.points import Ticks
from genaipa.scoring.answers import pair_with_occurrences
from genaipa.scoring.current import select_effective_events
from genaipa.scoring.events import ORDERS, Event, Scorer, ScreenContents, new_id
from genaipa.scoring.rubric import Rubric, format_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from genaipa.policies.document import Document
    from genaipa.scoring.answers import Case, Occurrence, PooledAnswer


IN_PART = "random part"
"""The column that says whether a row is in the random part (`waves`); it is there where a part was drawn."""
SHOWN = ("asked", "answer", "annotated answer", IN_PART)
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


def write_sheet(
    file: BinaryIO,
    cases: Iterable[Case],
    rubric: Rubric,
    analyst: str = "",
    *,
    in_part: Callable[[str], bool] | None = None,
) -> int:
    """Write a spreadsheet to fill, with these answers in this order and the analyst's name; how many they are.

    `in_part` says whether the answer with a digest is in the random part; None where none was drawn.
    """
    workbook = openpyxl("desk").Workbook()
    scores, explained = workbook.active, workbook.create_sheet("rubric")
    scores.title = "scores"
    read = _READ if in_part else tuple(name for name in _READ if name != IN_PART)
    columns = (*read, *rubric.metrics, "note", "analyst")
    _append(scores, columns, bold=True)
    documents: dict[str, Document] = {}
    for case in cases:
        documents[case.document.digest] = case.document
        part = [_word(in_part(case.answer.digest))] if in_part else []
        _append(scores, [*_row(case), *part, *[None] * (len(rubric.metrics) + 1), analyst])
    _append_rubric(explained, rubric)
    for document in documents.values():
        _append_document(workbook, document)
    _make_fillable(scores, columns, rubric, len(read))
    workbook.save(file)
    return int(scores.max_row) - 1


def _row(case: Case) -> list[str | None]:
    asked = f"{case.asked}\n\n(original: {case.original})" if case.original else case.asked
    annotated = ""
    if case.annotated is not None:
        rests_on = f"\n\n({', '.join(case.annotated.sections)})" if case.annotated.sections else ""
        said = SAID[case.annotated.silent]
        silent = f"\n\n({said[0].upper()}{said[1:]}.)" if said else ""
        doubt = f"[{case.doubt}]\n\n" if case.doubt else ""
        annotated = doubt + case.annotated.answer + rests_on + silent
    shown = [asked, case.mask_reply(), annotated]
    return [case.answer.digest, case.answer.document, *map(_fitting, shown)]


def _fitting(text: str) -> str:
    """Return the text, cut with a mark where a cell of a spreadsheet can't hold it."""
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


def _make_fillable(sheet: Any, columns: Sequence[str], rubric: Rubric, read: int) -> None:
    """Freeze the names of columns, give each metric a drop-down, and lock the first columns, which are `read`."""
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
    first, last = 1 + read, read + len(rubric.metrics)
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


def write_csv(
    file: BinaryIO, names: Sequence[str], rows: Iterable[Sequence[TableCell]], *, marked: bool = True
) -> None:
    """Write rows as CSV in UTF-8, behind a mark unless it goes on to a pipe. Numbers stay numbers; text is harmless."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    text.write(MARK * marked)
    writer = csv.writer(text)
    writer.writerow(names)
    writer.writerows(
        [escape_formula(cell, csv=True) if isinstance(cell, str) else cell for cell in row] for row in rows
    )
    text.detach()


def write_xlsx(file: BinaryIO, title: str, names: Sequence[str], rows: Iterable[Sequence[TableCell]]) -> None:
    """Return the rows as the only sheet of a spreadsheet, the names of the columns always in sight."""
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
    """Return a text as a cell can hold it: harmless, and without the control characters that the format forbids.

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
    """Return the table in a .csv or .xlsx file; a DataError if there is none that has the column `wanted`.

    A spreadsheet may have several sheets, under any name: the first with that column is taken.
    """
    sheets: Iterable[Iterable[tuple[str, ...]]]
    if path.suffix.lower() == ".csv":
        sheets = [[tuple(unescape_formula(cell, csv=True) for cell in row) for row in read_csv_rows(path, ",;\t")]]
    else:
        sheets = _xlsx_sheets(path)
    found = False
    for sheet in sheets:
        rows = ((number, row) for number, row in enumerate(sheet, start=1) if any(map(str.strip, row)))
        _, names = next(rows, (0, ()))
        found = found or bool(names)
        if wanted in map(simplified, names):
            return ReadTable(path, names, list(rows))
    raise DataError(path, f"has no column '{wanted}' in its first row." if found else "is empty.")


def simplified(name: str) -> str:
    """Return the name of a column without capitals, blanks and underscores, which people change."""
    return " ".join(name.casefold().replace("_", " ").split())


def _xlsx_sheets(path: Path) -> Iterator[Iterable[tuple[str, ...]]]:
    with workbook(path, "desk") as sheets:
        for sheet, rows in sheets:
            # What a file says of a sheet's size may be wrong where another program wrote it.
            sheet.reset_dimensions()
            yield [
                tuple("" if value is None else unescape_formula(str(value), csv=False) for value in row) for row in rows
            ]


SUFFIXES = (".csv", ".jsonl", ".xlsx")


def suffix_of(path: Path) -> str:
    """Return the format that a file's name asks for; a UsageError for one that scores can't be written in."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"{path}: scores can be written as {', '.join(SUFFIXES)}.")
    return suffix


def given(events: Iterable[Event], *, machines: bool) -> list[Event]:
    """Return the scores and adjudications in effect; machines' only where they are wanted."""
    return [event for event in select_effective_events(events) if machines or event.scorer == "human"]


def write_scores(
    file: BinaryIO,
    suffix: str,
    events: Iterable[Event],
    answers: Mapping[str, PooledAnswer],
    rubric: Rubric,
    *,
    per_run: bool = False,
    marked: bool = True,
) -> None:
    """Write events in the format of a suffix; a table takes scores and adjudications only.

    `answers` (by digest) are the ones on which a table can say more than the digest. With `per_run`, a table has a row
    for each place where an answer was given, and not one that names them all.
    """
    if suffix == ".jsonl":
        file.writelines(msgspec.json.encode(event) + b"\n" for event in events)
        return
    events = list(events)
    ticked = any(event.ticks for event in events)
    if per_run:
        placed = ((event, [place] if place else []) for place, event in pair_with_occurrences(events, answers))
    else:
        placed = ((event, answers[event.answer].occurrences if event.answer in answers else []) for event in events)
    rows = (row_of(event, places, rubric, ticked=ticked) for event, places in placed)
    if suffix == ".csv":
        write_csv(file, columns(rubric, ticked=ticked), rows, marked=marked)
    else:
        write_xlsx(file, "scores", columns(rubric, ticked=ticked), rows)


DIGEST = "digest"
"""The column with the answer's digest: a table without it is none of ours."""
ABOUT = ("run", "system", "document", "question", "wording", "initialization", "repetition", "m_all")
"""The columns that say which answer it was, for people and statistics; they are not read back."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


# -- out --


def columns(rubric: Rubric, *, ticked: bool = False) -> tuple[str, ...]:
    """The columns of a table of scores: the ones read back, and `ABOUT`; `ticked` is whether points were ticked."""
    return (
        *(DIGEST, "analyst", "time", *rubric.metrics, "note"),
        *("seconds", "kind", "scorer", "blind", "independent", "calibration", "suggested", "preselected", "pinned"),
        "shown",
        *("order", "rubric", "id", *(["ticks"] if ticked else [])),
        *ABOUT,
    )


def row_of(event: Event, places: Sequence[Occurrence], rubric: Rubric, *, ticked: bool) -> tuple[TableCell, ...]:
    """Return a score or adjudication as a row of `columns`; there are no `places` where the answer's run is not here.

    Of an answer that was given in several places, each run, system, … is named once.
    """
    values = event.values
    assert values is not None, "scores and adjudications have values"
    suggested = " ".join(f"{metric}={format_value(value)}" for metric, value in event.suggested.items())
    given = (values[metric] for metric in rubric.metrics)
    metrics: list[TableCell] = [int(value) if value.is_integer() else value for value in given]
    return (
        *(event.answer, event.analyst, event.time, *metrics, event.note),
        *(event.seconds, event.kind, event.scorer, _word(event.blind), _word(event.independent)),
        *(_word(event.calibration), suggested, _word(event.preselected), _word(event.pinned)),
        _describe_shown(event.shown),
        *(event.order, event.rubric, event.id, *([_ticks(event.ticks)] if ticked else [])),
        *_about(places),
        round(rubric.m_all(values), 2),
    )


def _about(places: Sequence[Occurrence]) -> Iterator[TableCell]:
    for column in ABOUT[:-1]:  # all but M_all
        named = list(dict.fromkeys(getattr(place, column) for place in places))
        yield named[0] if len(named) == 1 else "; ".join(map(str, named)) or None


def _ticks(ticks: Ticks | None) -> str:
    """Ticks as `points=DIGEST said=ID,ID contradicted=ID`; empty without any."""
    if ticks is None:
        return ""
    lists = {"said": ticks.said, "contradicted": ticks.contradicted}
    return " ".join([f"points={ticks.digest}", *(f"{name}={','.join(ids)}" for name, ids in lists.items() if ids)])


def _describe_shown(on_screen: ScreenContents | None) -> str:
    """Describe what was on screen as `nearest grey evidence=METRIC,… suggestion=METRIC,… withheld=METRIC:VALUE,…`."""
    if on_screen is None:
        return ""
    lists = {
        "evidence": on_screen.evidence,
        "suggestion": on_screen.suggestion,
        "withheld": [f"{metric}:{format_value(value)}" for metric, value in on_screen.withheld.items()],
    }
    flags = [name for name in ("nearest", "grey") if getattr(on_screen, name)]
    return " ".join([*flags, *(f"{name}={','.join(some)}" for name, some in lists.items() if some)]) or "nothing"


def _word(flag: bool) -> str:
    # Not TRUE and FALSE, which spreadsheets translate.
    return "yes" if flag else "no"


# -- in --


def event_of(cells: Mapping[str, str], analyst: str, rubric: Rubric) -> tuple[Event | None, list[tuple[str, str]]]:
    """Return the event in a row (column → text), given by `analyst`, and its problems (column, problem).

    A row without an id or a time is a new event of this moment, by this rubric. There is no event where anything is
    wrong.
    """
    problems: list[tuple[str, str]] = []
    fields: dict[str, Any] = {"id": new_id(), "time": now(), "kind": "score"}
    if not cells.get("id", "").strip():
        fields["rubric"] = rubric.digest
    named: dict[str, Callable[[str], Any]] = {
        "suggested": partial(_suggested, rubric=rubric),
        "shown": partial(_read_shown, rubric=rubric),
    }
    for column, read in (_READERS | named).items():
        text = cells.get(column, "").strip()
        if text:
            try:
                fields[column] = read(text)
            except ValueError as error:
                problems.append((column, f"{error}."))
    digest = cells[DIGEST].strip()
    if not digest:
        problems.append((DIGEST, "is empty, so that nobody can say which answer this is."))
    values = {}
    for metric in rubric.metrics:
        try:
            values[metric] = _value(cells[metric].strip(), rubric)
        except ValueError as error:
            problems.append((metric, f"{error}."))
    if problems:
        return None, problems
    given = rubric.given(values)
    return Event(**fields, analyst=analyst, answer=digest, values=given, note=cells.get("note", "")), []


def is_scored(cells: Mapping[str, str], rubric: Rubric) -> bool:
    """Whether any of the values is there."""
    return any(cells[metric].strip() for metric in rubric.metrics)


def _value(text: str, rubric: Rubric) -> float:
    if not text:
        raise ValueError("has no value, and other metrics of the row have")
    with contextlib.suppress(ValueError):
        if (value := parse_number(text)) in rubric.values:
            return value
    raise ValueError(f"'{text}' is not one of {', '.join(map(format_value, rubric.values))}")


def time_of(text: str) -> str:
    """Return the text if it is a time in UTC as events have it; a ValueError otherwise."""
    if not _TIME.fullmatch(text):
        raise ValueError(f"'{text}' is not a time in UTC such as 2026-05-04T12:30:00.000Z")
    return text


def _seconds(text: str) -> float:
    seconds = parse_number(text)
    if seconds < 0:
        raise ValueError(f"'{text}' is less than no time")
    return seconds


def _flag(text: str) -> bool:
    return _choice("yes", "no")(text) == "yes"


def _choice(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text.casefold() not in words:
            raise ValueError(f"'{text}' is not one of {', '.join(words)}")
        return text.casefold()

    return read


def _suggested(text: str, rubric: Rubric) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in text.split():
        metric, _, value = part.partition("=")
        if metric not in rubric.metrics or parse_number(value) not in rubric.values:
            raise ValueError(f"'{part}' is not a metric and its value, such as reference=-1")
        found[metric] = parse_number(value)
    return found


def _read_shown(text: str, rubric: Rubric) -> ScreenContents:
    fields: dict[str, Any] = {}
    for part in text.split() if text != "nothing" else ():
        name, _, listed = part.partition("=")
        if name in ("nearest", "grey") and not listed:
            fields[name] = True
        elif name in ("evidence", "suggestion") and listed and set(listed.split(",")) <= set(rubric.metrics):
            fields[name] = tuple(listed.split(","))
        elif name == "withheld" and listed:
            fields[name] = _suggested(listed.replace(",", " ").replace(":", "="), rubric)
        else:
            raise ValueError(f"'{part}' is none of nearest, grey, evidence=, suggestion= and withheld=")
    return ScreenContents(**fields)


def _read_ticks(text: str) -> Ticks:
    found = dict(part.partition("=")[::2] for part in text.split())
    if not found.get("points") or not found.keys() <= {"points", "said", "contradicted"}:
        raise ValueError(f"'{text}' is not of the form points=DIGEST said=ID,ID contradicted=ID")
    said, contradicted = (tuple(filter(None, found.get(name, "").split(","))) for name in ("said", "contradicted"))
    if both := set(said).intersection(contradicted):
        raise ValueError(f"the point '{min(both)}' can't be both said and contradicted")
    return Ticks(found["points"], said, contradicted)


_READERS: dict[str, Callable[[str], Any]] = {
    "id": str,
    "time": time_of,
    "seconds": _seconds,
    "kind": _choice("score", "adjudication"),
    "scorer": _choice(*get_args(Scorer)),
    "blind": _flag,
    "independent": _flag,
    "calibration": _flag,
    "preselected": _flag,
    "pinned": _flag,
    "order": _choice(*ORDERS),
    "rubric": str,
    "ticks": _read_ticks,
}
