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
    import_openpyxl,
    open_workbook,
    parse_number,
    read_csv_rows,
    unescape_formula,
)
from genaipa.files.stamps import now
from genaipa.files.text import sha256_of
from genaipa.questions.annotations import SAID
from genaipa.questions.points import Ticks
from genaipa.scoring.answers import format_question_with_earlier_exchange, pair_events_with_all_occurrences
from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.scoring.events import ORDERS, Event, Scorer, ScreenContents, new_event_id
from genaipa.scoring.rubric import Rubric, format_signed_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from genaipa.policies.document import Document
    from genaipa.scoring.answers import Occurrence, PooledAnswer, ScoringCase


IN_PART = "random part"
"""The column that says whether a row is in the random part (`waves`); it is there where a part was drawn."""
SHEET_COLUMNS = ("asked", "answer", "annotated answer", IN_PART)
"""The columns that a sheet has for the analyst to read; they are not read back."""
_READ = ("digest", "document", *SHEET_COLUMNS)
_WIDTHS = {"asked": 40, "answer": 80, "annotated answer": 50, "note": 40}
_PARAGRAPH = 2000
"""Characters of a document's line that are shown in one cell: a row of a spreadsheet can't be higher than a screen."""
_HOW = (
    "On the sheet 'scores', give each answer one of these values on each metric.",
    "Add a note if you like. Leave rows that you have not scored empty. Write your name in the column 'analyst'.",
    "Text that a spreadsheet would take for a formula begins with an apostrophe, which is not part of the text.",
    "Then save the file and return it for import: genaipa scores import FILE",
)


def shuffle_answer_digests_for_analyst(answers: Iterable[PooledAnswer], analyst: str) -> list[str]:
    """Shuffle these answers' digests for an analyst, answers to one question about one document in a row."""

    def sort_key(answer: PooledAnswer) -> list[str]:
        document, question = answer.document_digest, f"{answer.document_digest}\0{answer.question}"
        return [sha256_of(f"{analyst}\0{text}") for text in (document, question, answer.digest)]

    return [answer.digest for answer in sorted(answers, key=sort_key)]


def write_scoring_sheet(
    file: BinaryIO,
    cases: Iterable[ScoringCase],
    rubric: Rubric,
    analyst: str = "",
    *,
    is_in_random_part: Callable[[str], bool] | None = None,
) -> int:
    """Write a spreadsheet to fill, with these answers in this order and the analyst's name; return their number.

    `is_in_random_part` says whether the answer with a digest is in the random part; None where none was drawn.
    """
    workbook = import_openpyxl("desk").Workbook()
    scores, rubric_sheet = workbook.active, workbook.create_sheet("rubric")
    scores.title = "scores"
    read = _READ if is_in_random_part else tuple(name for name in _READ if name != IN_PART)
    columns = (*read, *rubric.metrics, "note", "analyst")
    _append_row(scores, columns, bold=True)
    documents: dict[str, Document] = {}
    for case in cases:
        documents[case.document.digest] = case.document
        part = [_format_yes_or_no(is_in_random_part(case.answer.digest))] if is_in_random_part else []
        _append_row(scores, [*_make_sheet_row(case), *part, *[None] * (len(rubric.metrics) + 1), analyst])
    _append_rubric_and_instructions(rubric_sheet, rubric)
    for document in documents.values():
        _add_sheet_of_document_text(workbook, document)
    _prepare_sheet_for_filling(scores, columns, rubric, len(read))
    workbook.save(file)
    return int(scores.max_row) - 1


def _make_sheet_row(case: ScoringCase) -> list[str | None]:
    question_text = f"{case.asked}\n\n(original: {case.original})" if case.original else case.asked
    question_text = format_question_with_earlier_exchange(question_text, case.earlier)
    annotated = ""
    if case.annotated is not None:
        rests_on = f"\n\n({', '.join(case.annotated.sections)})" if case.annotated.sections else ""
        silence_text = SAID[case.annotated.silent]
        silent = f"\n\n({silence_text[0].upper()}{silence_text[1:]}.)" if silence_text else ""
        doubt = f"[{case.doubt}]\n\n" if case.doubt else ""
        annotated = doubt + case.annotated.answer + rests_on + silent
    texts = [question_text, case.mask_names_in_reply(), annotated]
    return [case.answer.digest, case.answer.document, *map(_cut_text_to_cell, texts)]


def _cut_text_to_cell(text: str) -> str:
    """Cut the text, with a mark, where a cell of a spreadsheet can't hold it."""
    mark = f"\n\n[cut here: the whole text has {len(text):,} characters, more than a cell can hold]"
    # One character of room for the apostrophe of a text that looks like a formula.
    return text if len(text) < MOST_CHARACTERS else text[: MOST_CHARACTERS - len(mark) - 1] + mark


def _append_row(sheet: Any, values: Sequence[str | float | None], *, bold: bool = False) -> None:
    from openpyxl.cell import Cell

    styles = import_openpyxl("desk").styles
    alignment, font = styles.Alignment(wrap_text=True, vertical="top"), styles.Font(bold=bold)
    # Made before they are appended: to find a sheet's last row, openpyxl looks at all of its cells.
    cells = [Cell(sheet, 1, 1, make_text_safe_for_cell(value) if isinstance(value, str) else value) for value in values]
    for cell in cells:
        cell.alignment, cell.font = alignment, font
    sheet.append(cells)


def _append_rubric_and_instructions(sheet: Any, rubric: Rubric) -> None:
    _append_row(sheet, ["metric", *rubric.values], bold=True)
    for name, metric in rubric.metrics.items():
        _append_row(sheet, [name, *metric.words])
    wide = 1 + len(rubric.values)
    for line in ("", rubric.silent_rule, *_HOW):
        _append_row(sheet, [line])
        sheet.merge_cells(start_row=sheet.max_row, end_row=sheet.max_row, start_column=1, end_column=wide)
        sheet.row_dimensions[sheet.max_row].height = 32
    for column in "ABCDEFGHIJ"[:wide]:
        sheet.column_dimensions[column].width = 32


def _add_sheet_of_document_text(workbook: Any, document: Document) -> None:
    # A sheet's title has at most 31 characters, and openpyxl may have to number it.
    title = re.sub(r"[^\w.-]", "-", document.name)[:20]
    sheet = workbook.create_sheet(f"text {title}")
    sheet.column_dimensions["A"].width = 120
    for line in document.text.split("\n"):
        for piece in textwrap.wrap(line, _PARAGRAPH) or [""]:
            _append_row(sheet, [piece])


def _prepare_sheet_for_filling(sheet: Any, columns: Sequence[str], rubric: Rubric, locked_column_count: int) -> None:
    """Freeze the names of columns, give each metric a drop-down, and lock the first columns, which are `read`."""
    from openpyxl.utils import get_column_letter as letter
    from openpyxl.worksheet.datavalidation import DataValidation

    column_letters = {name: letter(column_letter) for column_letter, name in enumerate(columns, start=1)}
    sheet.freeze_panes = "A2"
    for name, column_letter in column_letters.items():
        sheet.column_dimensions[column_letter].width = _WIDTHS.get(name, 14)
    # The values are cells and not a list in words, so that they are numbers where 0.5 is written 0,5.
    cells = f"rubric!$B$1:${letter(1 + len(rubric.values))}$1"
    allowed = DataValidation(
        type="list",
        formula1=cells,
        allow_blank=True,
        showErrorMessage=True,
    )
    allowed.error = f"Enter one of these values: {', '.join(f'{value:+g}' for value in rubric.values)}."
    first, last = 1 + locked_column_count, locked_column_count + len(rubric.metrics)
    allowed.add(f"{letter(first)}2:{letter(last)}{max(sheet.max_row, 2)}")
    sheet.add_data_validation(allowed)
    unlocked = import_openpyxl("desk").styles.Protection(locked=False)
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
    file: BinaryIO, column_names: Sequence[str], rows: Iterable[Sequence[TableCell]], *, byte_order_mark: bool = True
) -> None:
    """Write rows as CSV in UTF-8, behind a mark unless it goes on to a pipe. Numbers stay numbers; text is harmless."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    text.write(MARK * byte_order_mark)
    writer = csv.writer(text)
    writer.writerow(column_names)
    writer.writerows(
        [escape_formula(cell, in_csv=True) if isinstance(cell, str) else cell for cell in row] for row in rows
    )
    text.detach()


def write_xlsx(
    file: BinaryIO, sheet_title: str, column_names: Sequence[str], rows: Iterable[Sequence[TableCell]]
) -> None:
    """Write rows as the only sheet of a spreadsheet, the names of the columns always in sight."""
    library = import_openpyxl("desk")
    # All of them before the first is written: a workbook that is left half-written can't be closed.
    checked = [[make_text_safe_for_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    if len(checked) >= MOST_ROWS:
        raise UsageError(f"a spreadsheet holds at most {MOST_ROWS:,} rows; write a .csv or .jsonl file.")
    book = library.Workbook(write_only=True)
    sheet = book.create_sheet(sheet_title)
    sheet.freeze_panes = "A2"
    for row in (column_names, *checked):
        sheet.append(row)
    book.save(file)


def make_text_safe_for_cell(text: str) -> str:
    """Return a text as a cell can hold it: harmless, and without the control characters that the format forbids.

    A UsageError where it is more than fits.
    """
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    cell_text = escape_formula(ILLEGAL_CHARACTERS_RE.sub("�", text), in_csv=False)
    if len(cell_text) > MOST_CHARACTERS:
        raise UsageError(
            f"a cell of a spreadsheet holds at most {MOST_CHARACTERS:,} characters, but the text that begins with "
            f"'{text[:40]}' has {len(text):,}; write a .csv or .jsonl file."
        )
    return cell_text


# -- reading --


def read_table(path: Path, required_column: str) -> ReadTable:
    """Read the table in a .csv or .xlsx file; a DataError if there is none that has `required_column`.

    A spreadsheet may have several sheets, under any name: the first with that column is taken.
    """
    sheets: Iterable[Iterable[tuple[str, ...]]]
    if path.suffix.lower() == ".csv":
        sheets = [[tuple(unescape_formula(cell, in_csv=True) for cell in row) for row in read_csv_rows(path, ",;\t")]]
    else:
        sheets = _read_xlsx_sheets(path)
    has_names = False
    for sheet in sheets:
        rows = ((number, row) for number, row in enumerate(sheet, start=1) if any(map(str.strip, row)))
        _, names = next(rows, (0, ()))
        has_names = has_names or bool(names)
        if required_column in map(simplify_column_name, names):
            return ReadTable(path, names, list(rows))
    raise DataError(path, f"has no column '{required_column}' in its first row." if has_names else "is empty.")


def simplify_column_name(name: str) -> str:
    """Drop capitals, blanks and underscores from a column's name, which people change."""
    return " ".join(name.casefold().replace("_", " ").split())


def _read_xlsx_sheets(path: Path) -> Iterator[Iterable[tuple[str, ...]]]:
    with open_workbook(path, "desk") as sheets:
        for sheet, rows in sheets:
            # What a file says of a sheet's size may be wrong where another program wrote it.
            sheet.reset_dimensions()
            yield [
                tuple("" if value is None else unescape_formula(str(value), in_csv=False) for value in row)
                for row in rows
            ]


SUFFIXES = (".csv", ".jsonl", ".xlsx")


def require_scores_suffix(path: Path) -> str:
    """Return the format that a file's name asks for; a UsageError for one that scores can't be written in."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"{path}: scores can be written only as {', '.join(SUFFIXES)}.")
    return suffix


def select_effective_scores(events: Iterable[Event], *, include_machines: bool) -> list[Event]:
    """Return the scores and adjudications in effect; machines' only where they are wanted."""
    return [
        event for event in effective_scores_and_adjudications(events) if include_machines or event.scorer == "human"
    ]


def write_scores(
    file: BinaryIO,
    suffix: str,
    events: Iterable[Event],
    answer_by_digest: Mapping[str, PooledAnswer],
    rubric: Rubric,
    *,
    row_per_occurrence: bool = False,
    byte_order_mark: bool = True,
) -> None:
    """Write events in the format of a suffix; a table takes scores and adjudications only.

    `answer_by_digest` (by digest) are the ones on which a table can say more than the digest. With
    `row_per_occurrence`, a table has a row for each place where an answer was given, and not one that names them all.
    """
    if suffix == ".jsonl":
        file.writelines(msgspec.json.encode(event) + b"\n" for event in events)
        return
    events = list(events)
    ticked = any(event.ticks for event in events)
    if row_per_occurrence:
        events_with_occurrences = (
            (event, [occurrence] if occurrence else [])
            for occurrence, event in pair_events_with_all_occurrences(events, answer_by_digest)
        )
    else:
        events_with_occurrences = (
            (event, answer_by_digest[event.answer].occurrences if event.answer in answer_by_digest else [])
            for event in events
        )
    rows = (make_score_row(event, places, rubric, with_ticks=ticked) for event, places in events_with_occurrences)
    if suffix == ".csv":
        write_csv(file, score_column_names(rubric, with_ticks=ticked), rows, byte_order_mark=byte_order_mark)
    else:
        write_xlsx(file, "scores", score_column_names(rubric, with_ticks=ticked), rows)


DIGEST = "digest"
"""The column with the answer's digest: a table without it is none of ours."""
ANSWER_COLUMNS = ("run", "system", "document", "question", "wording", "initialization", "repetition", "m_all")
"""The columns that say which answer it was, for people and statistics; they are not read back."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


# -- out --


def score_column_names(rubric: Rubric, *, with_ticks: bool = False) -> tuple[str, ...]:
    """Return the columns of a table of scores: those read back, and `ANSWER_COLUMNS`; `with_ticks` adds the ticks'."""
    return (
        *(DIGEST, "analyst", "time", *rubric.metrics, "note"),
        *("seconds", "kind", "scorer", "blind", "independent", "calibration", "suggested", "preselected", "pinned"),
        "shown",
        *("order", "rubric", "id", *(["ticks"] if with_ticks else [])),
        *ANSWER_COLUMNS,
    )


def make_score_row(
    event: Event, occurrences: Sequence[Occurrence], rubric: Rubric, *, with_ticks: bool
) -> tuple[TableCell, ...]:
    """Make a row of `score_column_names` of a score or adjudication.

    Without `occurrences` if the answer's run is not here.

    Of an answer that was given in several places, each run, system, … is named once.
    """
    values = event.values
    assert values is not None, "scores and adjudications have values"
    suggested = " ".join(f"{metric}={format_signed_value(value)}" for metric, value in event.suggested.items())
    ordered = (values[metric] for metric in rubric.metrics)
    metrics: list[TableCell] = [int(value) if value.is_integer() else value for value in ordered]
    return (
        *(event.answer, event.analyst, event.time, *metrics, event.note),
        *(
            event.seconds,
            event.kind,
            event.scorer,
            _format_yes_or_no(event.blind),
            _format_yes_or_no(event.independent),
        ),
        *(
            _format_yes_or_no(event.calibration),
            suggested,
            _format_yes_or_no(event.preselected),
            _format_yes_or_no(event.pinned),
        ),
        _format_screen_contents(event.shown),
        *(event.order, event.rubric, event.id, *([_format_ticks(event.ticks)] if with_ticks else [])),
        *_list_occurrence_cells(occurrences),
        round(rubric.m_all(values), 2),
    )


def _list_occurrence_cells(occurrences: Sequence[Occurrence]) -> Iterator[TableCell]:
    for column in ANSWER_COLUMNS[:-1]:  # all but M_all
        distinct = list(dict.fromkeys(getattr(occurrence, column) for occurrence in occurrences))
        yield distinct[0] if len(distinct) == 1 else "; ".join(map(str, distinct)) or None


def _format_ticks(ticks: Ticks | None) -> str:
    """Format ticks as `points=DIGEST said=ID,ID contradicted=ID`; empty without any."""
    if ticks is None:
        return ""
    lists = {"said": ticks.said, "contradicted": ticks.contradicted}
    return " ".join([f"points={ticks.digest}", *(f"{name}={','.join(ids)}" for name, ids in lists.items() if ids)])


_AID_STATES = {True: "shown", False: "withheld"}
"""Whether an aid was on screen → the word for it in a table."""


def _format_screen_contents(on_screen: ScreenContents | None) -> str:
    """Describe what was on screen, and what chance withheld, in words such as `nearest evidence=METRIC,METRIC`.

    `suggestion=METRIC,…` and `withheld=METRIC:VALUE,…` are values suggested, and not; `aids=AID:shown,AID:withheld` is
    what chance drew.
    """
    if on_screen is None:
        return ""
    lists = {
        "evidence": on_screen.evidence,
        "suggestion": on_screen.suggestion,
        "withheld": [f"{metric}:{format_signed_value(value)}" for metric, value in on_screen.withheld.items()],
        "aids": [f"{name}:{_AID_STATES[is_shown]}" for name, is_shown in on_screen.aids.items()],
    }
    flags = [name for name in ("nearest", "grey") if getattr(on_screen, name)]
    return (
        " ".join([*flags, *(f"{name}={','.join(entries)}" for name, entries in lists.items() if entries)]) or "nothing"
    )


def _format_yes_or_no(flag: bool) -> str:
    # Not TRUE and FALSE, which spreadsheets translate.
    return "yes" if flag else "no"


# -- in --


def parse_score_event_and_problems(
    cells: Mapping[str, str], analyst: str, rubric: Rubric
) -> tuple[Event | None, list[tuple[str, str]]]:
    """Parse the event in a row (column → text), given by `analyst`; return it and its problems (column, problem).

    A row without an id or a time is a new event of this moment, by this rubric. There is no event where anything is
    wrong.
    """
    problems: list[tuple[str, str]] = []
    fields: dict[str, Any] = {"id": new_event_id(), "time": now(), "kind": "score"}
    if not cells.get("id", "").strip():
        fields["rubric"] = rubric.digest
    named: dict[str, Callable[[str], Any]] = {
        "suggested": partial(_parse_suggestions, rubric=rubric),
        "shown": partial(_parse_screen_contents, rubric=rubric),
    }
    for column, read in (_READERS | named).items():
        text = cells.get(column, "").strip()
        if text:
            try:
                fields[column] = read(text)
            except ValueError as error:
                problems.append((column, f"{error}."))
    if not cells.get("id", "").strip():
        # The row it was copied from was perhaps given at the desk; this one was not.
        fields.pop("order", None)
    digest = cells[DIGEST].strip()
    if not digest:
        problems.append((DIGEST, "is empty, so the answer is unknown."))
    values = {}
    for metric in rubric.metrics:
        try:
            values[metric] = _parse_metric_value(cells[metric].strip(), rubric)
        except ValueError as error:
            problems.append((metric, f"{error}."))
    if problems:
        return None, problems
    checked = rubric.make_values(values)
    return Event(**fields, analyst=analyst, answer=digest, values=checked, note=cells.get("note", "")), []


def has_any_metric_value(cells: Mapping[str, str], rubric: Rubric) -> bool:
    """Whether any of the values is there."""
    return any(cells[metric].strip() for metric in rubric.metrics)


def _parse_metric_value(text: str, rubric: Rubric) -> float:
    if not text:
        raise ValueError("has no value, although other metrics in the row do")
    with contextlib.suppress(ValueError):
        if (value := parse_number(text)) in rubric.values:
            return value
    raise ValueError(f"'{text}' is not one of {', '.join(map(format_signed_value, rubric.values))}")


def require_utc_time(text: str) -> str:
    """Return the text if it is a time in UTC as events have it; a ValueError otherwise."""
    if not _TIME.fullmatch(text):
        raise ValueError(f"'{text}' is not a time in UTC such as 2026-05-04T12:30:00.000Z")
    return text


def _parse_seconds(text: str) -> float:
    seconds = parse_number(text)
    if seconds < 0:
        raise ValueError(f"'{text}' is a negative time")
    return seconds


def _parse_yes_or_no(text: str) -> bool:
    return _make_choice_parser("yes", "no")(text) == "yes"


def _make_choice_parser(*words: str) -> Callable[[str], str]:
    def parse_choice(text: str) -> str:
        if text.casefold() not in words:
            raise ValueError(f"'{text}' is not one of {', '.join(words)}")
        return text.casefold()

    return parse_choice


def _parse_suggestions(text: str, rubric: Rubric) -> dict[str, float]:
    suggestions: dict[str, float] = {}
    for part in text.split():
        metric, _, value = part.partition("=")
        if metric not in rubric.metrics or parse_number(value) not in rubric.values:
            raise ValueError(f"'{part}' is not a metric and its value, such as reference=-1")
        suggestions[metric] = parse_number(value)
    return suggestions


def _parse_screen_contents(text: str, rubric: Rubric) -> ScreenContents:
    fields: dict[str, Any] = {}
    for part in text.split() if text != "nothing" else ():
        name, _, listed = part.partition("=")
        if name in ("nearest", "grey") and not listed:
            fields[name] = True
        elif name in ("evidence", "suggestion") and listed and set(listed.split(",")) <= set(rubric.metrics):
            fields[name] = tuple(listed.split(","))
        elif name == "withheld" and listed:
            fields[name] = _parse_suggestions(listed.replace(",", " ").replace(":", "="), rubric)
        elif name == "aids" and listed:
            fields[name] = dict(map(_parse_aid_name_and_whether_shown, listed.split(",")))
        else:
            raise ValueError(f"'{part}' is not one of nearest, grey, evidence=, suggestion=, withheld= and aids=")
    return ScreenContents(**fields)


def _parse_aid_name_and_whether_shown(text: str) -> tuple[str, bool]:
    name, _, state = text.partition(":")
    if not name or state not in _AID_STATES.values():
        raise ValueError(f"'{text}' is not an aid with {' or '.join(_AID_STATES.values())}, such as evidence:shown")
    return name, state == _AID_STATES[True]


def _parse_ticks(text: str) -> Ticks:
    fields = dict(part.partition("=")[::2] for part in text.split())
    if not fields.get("points") or not fields.keys() <= {"points", "said", "contradicted"}:
        raise ValueError(f"'{text}' is not in the form points=DIGEST said=ID,ID contradicted=ID")
    stated, contradicted = (tuple(filter(None, fields.get(name, "").split(","))) for name in ("said", "contradicted"))
    if in_both := set(stated).intersection(contradicted):
        raise ValueError(f"the point '{min(in_both)}' can't be both said and contradicted")
    return Ticks(fields["points"], stated, contradicted)


_READERS: dict[str, Callable[[str], Any]] = {
    "id": str,
    "time": require_utc_time,
    "seconds": _parse_seconds,
    "kind": _make_choice_parser("score", "adjudication"),
    "scorer": _make_choice_parser(*get_args(Scorer)),
    "blind": _parse_yes_or_no,
    "independent": _parse_yes_or_no,
    "calibration": _parse_yes_or_no,
    "preselected": _parse_yes_or_no,
    "pinned": _parse_yes_or_no,
    "order": _make_choice_parser(*ORDERS),
    "rubric": str,
    "ticks": _parse_ticks,
}
