"""The published answers: workbooks with a sheet for each policy, as records with their cells.

The sheets look alike and differ all the same: labels are missing, columns are moved, a column has slipped some
rows down or has rows of its own, and there are notes among the answers. So rows are found by their labels and headings,
and the cells of a run are laid along them in order, with the fewest jumps.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from math import inf
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from genaipa.datasets.study import Answer
from genaipa.errors import DataError
from genaipa.files.spreadsheets import workbook
from genaipa.questions.sets import WORDINGS, Wording
from genaipa_study.findings import Finding, answer_finding
from genaipa_study.layout import (
    ANSWERS,
    POLICIES,
    POLICY_IDS,
    REPETITIONS,
    document_named,
    experiment_named,
    held,
    labelled,
    origin_of,
    system_of,
    wordings_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from genaipa.questions.sets import QuestionSet
    from genaipa.runs.experiments import StudyExperiment
    from genaipa_study.layout import Tree


Grid = list[tuple[object, ...]]

_HEADING = re.compile(r"original|[\w-]+(?: [\w-]+)? analysis", re.IGNORECASE)
_RUN = re.compile(r"answer|response|run\b", re.IGNORECASE)
_FIRST_ROWS = 5
"""Rows among which the names of the columns are."""
_FEW = 4
"""A column without a name is no run if it has fewer than one cell for this many questions."""
_LONGEST_NOTE = 12
"""Words of a cell beside the questions that is taken for a note, not for an answer that slipped."""

_JUMP, _SKIP = 1.0, 1.4
"""Costs of a change of the distance between cell and question, and of passing over one of them."""
_Way = tuple[float, tuple[int, int] | None]
"""Cost of an alignment of cells with questions, and its last pair."""
_NO_WAY: _Way = (inf, None)
_LOST = 5
"""Blank rows in a row in which a heading may have been lost."""
_PLACES = {question: place for place, question in enumerate(POLICY_IDS)}


@dataclass(frozen=True)
class Slot:
    """A row that asks a question."""

    row: int
    experiment: StudyExperiment
    question: str
    wording: Wording
    asked: str


@dataclass(frozen=True)
class SheetCell:
    """A text in the sheet; row and column from 1."""

    row: int
    column: int
    text: str

    @property
    def name(self) -> str:
        """As a spreadsheet calls it."""
        return f"{column_letter(self.column)}{self.row}"


@dataclass
class Sheet:
    """A sheet as read: the questions, for each run the cell that answers each, and the cells that answer none.

    `unknown` are rows that ask something in no experiment that is known, `notes` cells that hold a note, and `unplaced`
    (cell or column, reason).
    """

    slots: list[Slot] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
    runs: list[dict[Slot, SheetCell]] = field(default_factory=list)
    notes: list[SheetCell] = field(default_factory=list)
    unplaced: list[tuple[str, str]] = field(default_factory=list)


def read_sheet(grid: Grid, texts: Mapping[str, tuple[str, Wording]]) -> Sheet:
    """The questions and answers of a sheet, from its cells row by row.

    `texts` gives question and wording for the `simplified` text of every published question, where a label is missing.
    """
    sheet = Sheet()
    label, question = _label_columns(grid)
    rows = _Rows(sheet, texts)
    for number, row in enumerate(grid, start=1):
        rows.read(number, *(SheetCell(number, column, _text(row, column)) for column in (label, question)))
    if not sheet.slots:
        sheet.unplaced.append(("", "no row is labelled with a question of the study"))
        return sheet
    for cells in _run_columns(grid, question, sheet):
        placed, left = _lay(cells, sheet)
        sheet.runs.append(placed)
        for cell in left:
            if len(cell.text.split()) <= _LONGEST_NOTE:
                sheet.notes.append(cell)
            else:
                sheet.unplaced.append((cell.name, "the text is beside no question"))
    return sheet


def simplified(text: str) -> str:
    """A question without the number, quotation marks, capitals and spacing that the sheets add."""
    return "".join(re.findall(r"[a-z]+", text.lower()))


def column_letter(column: int) -> str:
    """1 → A, 27 → AA."""
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _text(row: Sequence[object], column: int) -> str:
    """The text of the cell in that column (from 1); empty if there is none."""
    value = row[column - 1] if 1 <= column <= len(row) else None
    return "" if value is None else str(value)


def _names(grid: Grid) -> dict[int, str]:
    """Column → its name, from the row that names the labels; empty if no row does."""
    for row in grid[:_FIRST_ROWS]:
        named = {column: _text(row, column).strip().lower() for column in range(1, len(row) + 1)}
        if "labels" in named.values():
            return {column: name for column, name in named.items() if name}
    return {}


def _label_columns(grid: Grid) -> tuple[int, int]:
    """The columns of labels and questions: by their names, else the column with most labels and the next."""
    names = _names(grid)
    labels: Counter[int] = Counter()
    for row in grid:
        labels.update(column for column in range(1, len(row) + 1) if labelled(_text(row, column)))
    called = [column for column, name in names.items() if name == "labels"]
    label = max(called or labels or [1], key=lambda column: labels[column])
    return label, next((column for column, name in names.items() if name == "questions"), label + 1)


class _Rows:
    """Goes down a sheet and tells which rows ask what.

    Within an experiment the questions come in the study's order. Where they begin again, or many rows are blank, a
    heading may have been lost: what follows belongs to no experiment that is known, up to the next heading.
    """

    def __init__(self, sheet: Sheet, texts: Mapping[str, tuple[str, Wording]]) -> None:
        self._sheet = sheet
        self._texts = texts
        self._experiment: StudyExperiment | None = None
        self._asked: list[tuple[str, Wording]] = []
        self._last = (0, "")
        self._blank = 0

    def read(self, number: int, label: SheetCell, question: SheetCell) -> None:
        """Take a row in: the cells of its label and its question."""
        said, asked = label.text.strip(), question.text.strip()
        self._blank = 0 if said or asked else self._blank + 1
        if self._blank == _LOST:
            self._experiment = None
        heading = next((cell for cell in (label, question) if _HEADING.fullmatch(cell.text.strip())), None)
        if heading:
            self._experiment, self._asked = experiment_named(heading.text), []
            if self._experiment is None:
                self._sheet.unplaced.append((heading.name, f"'{heading.text.strip()}' is no experiment known"))
            return
        found = self._question(number, said, asked)
        if found is None:
            return
        self._last = (number, found[0])
        wording = self._wording(*found, self._texts.get(simplified(asked)))
        if wording is None or self._experiment is None:
            self._experiment = None
            self._sheet.unknown.append(number)
            self._sheet.unplaced.append(
                ((label if said else question).name, f"{found[0]} is below no heading of its own")
            )
            return
        self._asked.append((found[0], wording))
        self._sheet.slots.append(Slot(number, self._experiment, found[0], wording, question.text))

    def _question(self, number: int, said: str, asked: str) -> tuple[str, int] | None:
        """Question id and number of a row: by its label, else by its text, else as the paraphrase below another."""
        if said:
            return labelled(said)
        known = self._texts.get(simplified(asked))
        if known:
            return known[0], max(1, WORDINGS.index(known[1]))
        follows = asked and self._last[0] == number - 1 and origin_of(self._last[1]) == "user"
        return (self._last[1], 0) if follows else None

    def _wording(self, question: str, number: int, known: tuple[str, Wording] | None) -> Wording | None:
        """The wording in which the row asks its question; None if it is out of place in this experiment."""
        if self._experiment is None:
            return None
        wordings = wordings_of(self._experiment, origin_of(question))
        before = [wording for earlier, wording in self._asked if earlier == question]
        if len(wordings) == 1:
            named = number if origin_of(question) == "user" else 1
            wording = wordings[0] if named <= 1 and not before else None
        else:
            wording = wordings[number - 1] if number else next((w for w in wordings if w not in before), None)
        if wording in before or (self._asked and _PLACES[self._asked[-1][0]] > _PLACES[question]):
            return None
        # Some paraphrases are published twice, so that only an original among paraphrases (or the reverse) tells.
        contradicts = known is not None and (known[1] == "original") != (wording == "original")
        return None if contradicts else wording


def _run_columns(grid: Grid, question: int, sheet: Sheet) -> Iterator[list[SheetCell]]:
    """The cells of each column that holds a run, from left to right; other columns are named as unplaced."""
    names = _names(grid)
    expected = max(REPETITIONS[origin_of(slot.question)] for slot in sheet.slots)
    first = min([*(slot.row for slot in sheet.slots), *sheet.unknown])
    runs = 0
    for column in range(question + 1, max(map(len, grid)) + 1):
        cells = [
            SheetCell(number, column, _text(row, column))
            for number, row in enumerate(grid, start=1)
            if number >= first and _text(row, column).strip()
        ]
        name = names.get(column, "")
        if not cells:
            continue
        if name and not _RUN.search(name):
            sheet.unplaced.append((column_letter(column), f"the column '{name}' is none of answers"))
        elif not name and len(cells) * _FEW < len(sheet.slots):
            sheet.unplaced.append((column_letter(column), f"a column of {len(cells)} cells is no run"))
        elif runs == expected:
            sheet.unplaced.append((column_letter(column), f"the study has {expected} runs, and this is one more"))
        else:
            runs += 1
            yield cells


def _lay(cells: list[SheetCell], sheet: Sheet) -> tuple[dict[Slot, SheetCell], list[SheetCell]]:
    """Questions with the cells that answer them, in order; and the cells that answer none.

    Where every cell is beside a question, it answers that one. Else the way with the fewest changes of the
    distance between cell and question, and the fewest of either passed over, is taken.
    """
    slots = {slot.row: slot for slot in sheet.slots}
    rows = sorted((*slots, *sheet.unknown))
    if {cell.row for cell in cells} <= set(rows):
        pairs = [(cell, cell.row) for cell in cells]
    else:
        pairs = _in_step([(cells[i], rows[j]) for i, j in _cheapest([cell.row for cell in cells], rows)])
    taken = {cell.row for cell, _ in pairs}
    return {slots[row]: cell for cell, row in pairs if row in slots}, [cell for cell in cells if cell.row not in taken]


def _in_step(pairs: list[tuple[SheetCell, int]]) -> list[tuple[SheetCell, int]]:
    """The pairs without any that is alone out of step: a text near a question that was not answered proves nothing."""
    steps = [cell.row - row for cell, row in pairs]
    return [
        pair
        for at, pair in enumerate(pairs)
        if not (0 < at < len(pairs) - 1 and steps[at - 1] == steps[at + 1] != steps[at])
    ]


def _cheapest(cells: list[int], rows: list[int]) -> list[tuple[int, int]]:
    """Pairs (index of a cell, index of a question) of the cheapest way to lay cells along questions, by their rows."""
    pair: dict[tuple[int, int], _Way] = {}
    until: dict[tuple[int, int], _Way] = {}
    # Distance → the best way so far that ends in it, less the cost of passing over all cells and questions before.
    along: dict[int, _Way] = {}
    for i, cell in enumerate(cells):
        for j, row in enumerate(rows):
            passed, distance = (i + j) * _SKIP, cell - row
            ways: list[_Way] = [(passed + (_JUMP if distance else 0.0), None)]
            if i and j:
                ways.append((until[i - 1, j - 1][0] + _JUMP, until[i - 1, j - 1][1]))
            if distance in along:
                ways.append((along[distance][0] + passed, along[distance][1]))
            pair[i, j] = min(ways, key=_cost)
            here = pair[i, j][0]
            along[distance] = min((along.get(distance, _NO_WAY), (here - passed - 2 * _SKIP, (i, j))), key=_cost)
            shorter = [
                (cost + _SKIP, at) for cost, at in (until.get((i - 1, j), _NO_WAY), until.get((i, j - 1), _NO_WAY))
            ]
            until[i, j] = min(((here, (i, j)), *shorter), key=_cost)
    at = until[len(cells) - 1, len(rows) - 1][1]
    pairs = []
    while at is not None:
        pairs.append(at)
        at = pair[at][1]
    return pairs[::-1]


def _cost(way: _Way) -> float:
    return way[0]


def read_workbook(path: Path) -> Iterator[tuple[str, Grid]]:
    """Each sheet of a workbook: its name, and its cells row by row; a DataError if it isn't one."""
    with workbook(path, "reports") as sheets:
        for sheet, rows in sheets:
            grid = [tuple(row) for row in rows]
            while grid and not any(cell is not None for cell in grid[-1]):
                grid.pop()
            yield sheet.title, grid


def read_answers(tree: Tree, questions: QuestionSet) -> tuple[list[Answer], list[Finding]]:
    """All published answers that are here, and findings on how they were read.

    Of files with the same answers the one named after its folder is taken.
    """
    texts = {
        simplified(question.wording(wording)): (question.id, wording)
        for question in questions.questions
        for wording in WORDINGS[: len(question.paraphrases) + 1]
    }
    answers: dict[str, Answer] = {}
    findings: list[Finding] = []

    def order(path: str) -> tuple[str, bool, str]:
        name, folder = PurePosixPath(path.lower()).name, PurePosixPath(path.lower()).parent.name
        return system_of(path), not name.startswith(folder), path

    for path in sorted(held(tree, ANSWERS, ".xlsx"), key=order):
        found, said = _read_file(tree, path, texts)
        known = [answer for answer in found if answer.key in answers]
        if known:
            findings.append(_again(path, found, answers))
            found = [answer for answer in found if answer.key not in answers]
            kept = {answer.cell + answer.sheet for answer in found}
            said = [finding for finding in said if not finding.key or finding.cell + finding.sheet in kept]
        findings += said
        answers.update({answer.key: answer for answer in found})
    return list(answers.values()), findings


def _again(path: str, found: list[Answer], answers: dict[str, Answer]) -> Finding:
    """The finding about a file whose answers another file has given already."""
    others = [answers[answer.key] for answer in found if answer.key in answers]
    differ = sum(answers[a.key].text != a.text for a in found if a.key in answers)
    names = ", ".join(sorted({PurePosixPath(other.file).name for other in others}))
    reason = f"It holds the same {len(others)} answers as {names}, which were taken."
    if differ:
        reason = f"{differ} of its {len(others)} answers differ from those of {names}, which were taken."
    return Finding("duplicate-file", path, "", "", reason, system_of(path))


def _read_file(tree: Tree, path: str, texts: dict[str, tuple[str, Wording]]) -> tuple[list[Answer], list[Finding]]:
    """The answers of one workbook, and findings on its sheets."""
    answers: list[Answer] = []
    findings: list[Finding] = []
    sheets: dict[str, str] = {}
    try:
        grids = list(read_workbook(tree.folder / path))
    except DataError as error:
        return [], [Finding("unplaced", path, "", "", f"The file {error.problem}", system_of(path))]
    exact = {title.strip().lower() for title, _ in grids}
    for title, grid in grids:
        document = document_named(title)
        # A sheet that is called nearly like a policy is that policy's only if no other is.
        if document is None or document in sheets or (document != title.strip().lower() and document in exact):
            findings.append(Finding("unplaced", path, title, "", "The sheet is called after no policy of the study."))
            continue
        sheets[document] = title
        sheet = read_sheet(grid, texts)
        read = list(_answers(path, title, document, sheet))
        answers += read
        findings += [
            answer_finding(answer, "missing-answer", "The cell is empty.") for answer in read if answer.text is None
        ]
        odd = [
            *(("note-not-answer", cell.name, "It holds a note of the study, not an answer.") for cell in sheet.notes),
            *(("unplaced", cell, f"{reason[0].upper()}{reason[1:]}.") for cell, reason in sheet.unplaced),
        ]
        findings += [
            Finding(kind, path, title, cell, reason, system_of(path), document=document) for kind, cell, reason in odd
        ]
    findings += [
        Finding("missing-answer", path, "", "", f"No sheet is about {name}.", system_of(path), document=name)
        for name in POLICIES
        if name not in sheets
    ]
    return answers, findings


def _answers(path: str, title: str, document: str, sheet: Sheet) -> Iterator[Answer]:
    """An answer, or the lack of one, for each run of each question."""
    columns = [max((cell.column for cell in placed.values()), default=0) for placed in sheet.runs]
    for slot in sheet.slots:
        for run in range(REPETITIONS[origin_of(slot.question)]):
            cell = sheet.runs[run].get(slot) if run < len(sheet.runs) else None
            column = columns[run] if run < len(columns) else 0
            empty = f"{column_letter(column)}{slot.row}" if column else f"row {slot.row}"
            yield Answer(
                system=system_of(path),
                experiment=slot.experiment,
                document=document,
                question=slot.question,
                wording=slot.wording,
                repetition=run + 1,
                asked=slot.asked,
                text=cell.text if cell else None,
                file=path,
                sheet=title,
                cell=cell.name if cell else empty,
            )
