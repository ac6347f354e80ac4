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

from genaipa.datasets.study import PublishedAnswer
from genaipa.errors import DataError
from genaipa.files.spreadsheets import open_workbook
from genaipa.questions.sets import WORDINGS, Wording
from genaipa_study.findings import Finding, make_finding_about_answer
from genaipa_study.layout import (
    ANSWERS,
    POLICIES,
    POLICY_IDS,
    REPETITIONS,
    faq_or_user_origin,
    find_closest_document_name,
    find_experiment_by_title,
    list_available_files,
    list_wordings,
    parse_question_id_and_label_number,
    system_of_file,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from genaipa.questions.sets import QuestionSet
    from genaipa.runs.experiments import StudyExperiment
    from genaipa_study.layout import PublishedTree


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
_Alignment = tuple[float, tuple[int, int] | None]
"""Cost of an alignment of cells with questions, and its last pair."""
_NO_ALIGNMENT: _Alignment = (inf, None)
_LOST = 5
"""Blank rows in a row in which a heading may have been lost."""
_QUESTION_ORDER = {question: index for index, question in enumerate(POLICY_IDS)}


@dataclass(frozen=True)
class QuestionRow:
    """A row that asks a question."""

    row: int
    experiment: StudyExperiment
    question: str
    wording: Wording
    question_text: str


@dataclass(frozen=True)
class SheetCell:
    """A text in the sheet; row and column from 1."""

    row: int
    column: int
    text: str

    @property
    def spreadsheet_reference(self) -> str:
        """The cell's name in a spreadsheet, such as B2."""
        return f"{column_letter(self.column)}{self.row}"


@dataclass
class AnswerSheet:
    """A sheet as read: the questions, for each run the cell that answers each, and the cells that answer none.

    `unknown` are rows that ask something in no experiment that is known, `notes` cells that hold a note, and `unplaced`
    (cell or column, reason).
    """

    slots: list[QuestionRow] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
    runs: list[dict[QuestionRow, SheetCell]] = field(default_factory=list)
    notes: list[SheetCell] = field(default_factory=list)
    unplaced: list[tuple[str, str]] = field(default_factory=list)


def read_answer_sheet(grid: Grid, id_and_wording_by_letters: Mapping[str, tuple[str, Wording]]) -> AnswerSheet:
    """Read the questions and answers of a sheet, from its cells row by row.

    `id_and_wording_by_letters` gives question and wording for the simplified text of every published question, where a
    label is missing.
    """
    sheet = AnswerSheet()
    label, question = _find_label_and_question_columns(grid)
    rows = _RowReader(sheet, id_and_wording_by_letters)
    for number, row in enumerate(grid, start=1):
        rows.add_question_row_or_note_unplaced(
            number, *(SheetCell(number, column, _unstripped_cell_text(row, column)) for column in (label, question))
        )
    if not sheet.slots:
        sheet.unplaced.append(("", "no row is labelled with a question of the study"))
        return sheet
    for cells in _iterate_run_columns_noting_unplaced(grid, question, sheet):
        cells_by_slot, unplaced_cells = _align_cells_and_list_unaligned(cells, sheet)
        sheet.runs.append(cells_by_slot)
        for cell in unplaced_cells:
            if len(cell.text.split()) <= _LONGEST_NOTE:
                sheet.notes.append(cell)
            else:
                sheet.unplaced.append((cell.spreadsheet_reference, "there is no question next to the text"))
    return sheet


def reduce_question_to_letters(text: str) -> str:
    """Strip a question of the number, quotation marks, capitals and spacing that the sheets add."""
    return "".join(re.findall(r"[a-z]+", text.lower()))


def column_letter(column_number: int) -> str:
    """Return the letters of a column: 1 → A, 27 → AA."""
    letters = ""
    while column_number:
        column_number, letter_index = divmod(column_number - 1, 26)
        letters = chr(ord("A") + letter_index) + letters
    return letters


def _unstripped_cell_text(row: Sequence[object], column_from_1: int) -> str:
    """Return the text of the cell in that column (from 1); empty if there is none."""
    value = row[column_from_1 - 1] if 1 <= column_from_1 <= len(row) else None
    return "" if value is None else str(value)


def _column_names(grid: Grid) -> dict[int, str]:
    """Return column → its name, from the row that names the labels; empty if no row does."""
    for row in grid[:_FIRST_ROWS]:
        row_names = {column: _unstripped_cell_text(row, column).strip().lower() for column in range(1, len(row) + 1)}
        if "labels" in row_names.values():
            return {column: name for column, name in row_names.items() if name}
    return {}


def _find_label_and_question_columns(grid: Grid) -> tuple[int, int]:
    """Find the columns of labels and questions: by their names, else the column with most labels and the next."""
    names = _column_names(grid)
    labels: Counter[int] = Counter()
    for row in grid:
        labels.update(
            column
            for column in range(1, len(row) + 1)
            if parse_question_id_and_label_number(_unstripped_cell_text(row, column))
        )
    label_columns = [column for column, name in names.items() if name == "labels"]
    label = max(label_columns or labels or [1], key=lambda column: labels[column])
    return label, next((column for column, name in names.items() if name == "questions"), label + 1)


class _RowReader:
    """Goes down a sheet and tells which rows ask what.

    Within an experiment the questions come in the study's order. Where they begin again, or many rows are blank, a
    heading may have been lost: what follows belongs to no experiment that is known, up to the next heading.
    """

    def __init__(self, sheet: AnswerSheet, texts: Mapping[str, tuple[str, Wording]]) -> None:
        self._sheet = sheet
        self._texts = texts
        self._experiment: StudyExperiment | None = None
        self._questions_read: list[tuple[str, Wording]] = []
        self._last = (0, "")
        self._blank = 0

    def add_question_row_or_note_unplaced(self, row_number: int, label: SheetCell, question: SheetCell) -> None:
        """Take a row in: the cells of its label and its question."""
        label_text, question_text = label.text.strip(), question.text.strip()
        self._blank = 0 if label_text or question_text else self._blank + 1
        if self._blank == _LOST:
            self._experiment = None
        heading = next((cell for cell in (label, question) if _HEADING.fullmatch(cell.text.strip())), None)
        if heading:
            self._experiment, self._questions_read = find_experiment_by_title(heading.text), []
            if self._experiment is None:
                self._sheet.unplaced.append(
                    (heading.spreadsheet_reference, f"'{heading.text.strip()}' is not a known experiment")
                )
            return
        parsed = self._question_of_label_text_or_row_above(row_number, label_text, question_text)
        if parsed is None:
            return
        self._last = (row_number, parsed[0])
        wording = self._choose_wording(*parsed, self._texts.get(reduce_question_to_letters(question_text)))
        if wording is None or self._experiment is None:
            self._experiment = None
            self._sheet.unknown.append(row_number)
            self._sheet.unplaced.append(
                (
                    (label if label_text else question).spreadsheet_reference,
                    f"{parsed[0]} has no experiment heading above it",
                )
            )
            return
        self._questions_read.append((parsed[0], wording))
        self._sheet.slots.append(QuestionRow(row_number, self._experiment, parsed[0], wording, question.text))

    def _question_of_label_text_or_row_above(
        self, row_number: int, label_text: str, question_text: str
    ) -> tuple[str, int] | None:
        """Return question id and number of a row by its label, else by its text, else as the paraphrase of the last."""
        if label_text:
            return parse_question_id_and_label_number(label_text)
        question_wording = self._texts.get(reduce_question_to_letters(question_text))
        if question_wording:
            return question_wording[0], max(1, WORDINGS.index(question_wording[1]))
        is_paraphrase = (
            question_text and self._last[0] == row_number - 1 and faq_or_user_origin(self._last[1]) == "user"
        )
        return (self._last[1], 0) if is_paraphrase else None

    def _choose_wording(
        self, question: str, label_number: int, id_and_wording_of_text: tuple[str, Wording] | None
    ) -> Wording | None:
        """Return the wording in which the row asks its question; None if it is out of place in this experiment."""
        if self._experiment is None:
            return None
        wordings = list_wordings(self._experiment, faq_or_user_origin(question))
        earlier_wordings = [wording for earlier, wording in self._questions_read if earlier == question]
        if len(wordings) == 1:
            number_in_label = label_number if faq_or_user_origin(question) == "user" else 1
            wording = wordings[0] if number_in_label <= 1 and not earlier_wordings else None
        else:
            wording = (
                wordings[label_number - 1]
                if label_number
                else next((w for w in wordings if w not in earlier_wordings), None)
            )
        if wording in earlier_wordings or (
            self._questions_read and _QUESTION_ORDER[self._questions_read[-1][0]] > _QUESTION_ORDER[question]
        ):
            return None
        # Some paraphrases are published twice, so that only an original among paraphrases (or the reverse) tells.
        contradicts = id_and_wording_of_text is not None and (id_and_wording_of_text[1] == "original") != (
            wording == "original"
        )
        return None if contradicts else wording


def _iterate_run_columns_noting_unplaced(
    grid: Grid, question_column: int, sheet: AnswerSheet
) -> Iterator[list[SheetCell]]:
    """Yield the cells of each column that holds a run, from left to right; other columns are named as unplaced."""
    names = _column_names(grid)
    expected = max(REPETITIONS[faq_or_user_origin(slot.question)] for slot in sheet.slots)
    first = min([*(slot.row for slot in sheet.slots), *sheet.unknown])
    runs = 0
    for column in range(question_column + 1, max(map(len, grid)) + 1):
        cells = [
            SheetCell(number, column, _unstripped_cell_text(row, column))
            for number, row in enumerate(grid, start=1)
            if number >= first and _unstripped_cell_text(row, column).strip()
        ]
        name = names.get(column, "")
        if not cells:
            continue
        if name and not _RUN.search(name):
            sheet.unplaced.append((column_letter(column), f"the column '{name}' does not hold answers"))
        elif not name and len(cells) * _FEW < len(sheet.slots):
            sheet.unplaced.append((column_letter(column), f"a column with only {len(cells)} cells is not a run"))
        elif runs == expected:
            sheet.unplaced.append(
                (column_letter(column), f"the column would be run {expected + 1}, but the study has only {expected}")
            )
        else:
            runs += 1
            yield cells


def _align_cells_and_list_unaligned(
    cells: list[SheetCell], sheet: AnswerSheet
) -> tuple[dict[QuestionRow, SheetCell], list[SheetCell]]:
    """Align questions with the cells that answer them, in order; return these, and the cells that answer none.

    Where every cell is beside a question, it answers that one. Else the way with the fewest changes of the
    distance between cell and question, and the fewest of either passed over, is taken.
    """
    slots = {slot.row: slot for slot in sheet.slots}
    rows = sorted((*slots, *sheet.unknown))
    if {cell.row for cell in cells} <= set(rows):
        pairs = [(cell, cell.row) for cell in cells]
    else:
        pairs = _drop_pairs_with_isolated_offset(
            [(cells[i], rows[j]) for i, j in _cheapest_alignment([cell.row for cell in cells], rows)]
        )
    used_rows = {cell.row for cell, _ in pairs}
    return {slots[row]: cell for cell, row in pairs if row in slots}, [
        cell for cell in cells if cell.row not in used_rows
    ]


def _drop_pairs_with_isolated_offset(pairs: list[tuple[SheetCell, int]]) -> list[tuple[SheetCell, int]]:
    """Drop each pair that alone is out of step: a text near a question that was not answered proves nothing."""
    steps = [cell.row - row for cell, row in pairs]
    return [
        pair
        for index, pair in enumerate(pairs)
        if not (0 < index < len(pairs) - 1 and steps[index - 1] == steps[index + 1] != steps[index])
    ]


def _cheapest_alignment(cell_rows: list[int], question_rows: list[int]) -> list[tuple[int, int]]:
    """Return pairs (index of a cell, index of a question) of the cheapest alignment of cells with questions."""
    best_with_pair: dict[tuple[int, int], _Alignment] = {}
    best_until: dict[tuple[int, int], _Alignment] = {}
    # Distance → the best way so far that ends in it, less the cost of passing over all cells and questions before.
    best_by_distance: dict[int, _Alignment] = {}
    for i, cell in enumerate(cell_rows):
        for j, row in enumerate(question_rows):
            skipping_cost, distance = (i + j) * _SKIP, cell - row
            alignments: list[_Alignment] = [(skipping_cost + (_JUMP if distance else 0.0), None)]
            if i and j:
                alignments.append((best_until[i - 1, j - 1][0] + _JUMP, best_until[i - 1, j - 1][1]))
            if distance in best_by_distance:
                alignments.append((best_by_distance[distance][0] + skipping_cost, best_by_distance[distance][1]))
            best_with_pair[i, j] = min(alignments, key=_alignment_cost)
            cost_to_here = best_with_pair[i, j][0]
            best_by_distance[distance] = min(
                (best_by_distance.get(distance, _NO_ALIGNMENT), (cost_to_here - skipping_cost - 2 * _SKIP, (i, j))),
                key=_alignment_cost,
            )
            shorter = [
                (cost + _SKIP, at)
                for cost, at in (best_until.get((i - 1, j), _NO_ALIGNMENT), best_until.get((i, j - 1), _NO_ALIGNMENT))
            ]
            best_until[i, j] = min(((cost_to_here, (i, j)), *shorter), key=_alignment_cost)
    at = best_until[len(cell_rows) - 1, len(question_rows) - 1][1]
    pairs = []
    while at is not None:
        pairs.append(at)
        at = best_with_pair[at][1]
    return pairs[::-1]


def _alignment_cost(alignment: _Alignment) -> float:
    return alignment[0]


def read_workbook(path: Path) -> Iterator[tuple[str, Grid]]:
    """Yield each sheet of a workbook: its name, and its cells row by row; a DataError if it isn't one."""
    with open_workbook(path, "reports") as sheets:
        for sheet, rows in sheets:
            grid = [tuple(row) for row in rows]
            while grid and not any(cell is not None for cell in grid[-1]):
                grid.pop()
            yield sheet.title, grid


def read_published_answers_and_findings(
    tree: PublishedTree, questions: QuestionSet
) -> tuple[list[PublishedAnswer], list[Finding]]:
    """Read all published answers that are here, and list findings on how they were read.

    Of files with the same answers the one named after its folder is taken.
    """
    texts = {
        reduce_question_to_letters(question.text_in_wording(wording)): (question.id, wording)
        for question in questions.questions
        for wording in WORDINGS[: len(question.paraphrases) + 1]
    }
    answers: dict[str, PublishedAnswer] = {}
    findings: list[Finding] = []

    def file_sort_key(path: str) -> tuple[str, bool, str]:
        name, folder = PurePosixPath(path.lower()).name, PurePosixPath(path.lower()).parent.name
        return system_of_file(path), not name.startswith(folder), path

    for path in sorted(list_available_files(tree, ANSWERS, ".xlsx"), key=file_sort_key):
        file_answers, file_findings = _read_answers_and_findings_of_file(tree, path, texts)
        duplicates = [answer for answer in file_answers if answer.key in answers]
        if duplicates:
            findings.append(_make_duplicate_file_finding(path, file_answers, answers))
            file_answers = [answer for answer in file_answers if answer.key not in answers]
            new_cells = {answer.cell + answer.sheet for answer in file_answers}
            file_findings = [
                finding for finding in file_findings if not finding.key or finding.cell + finding.sheet in new_cells
            ]
        findings += file_findings
        answers.update({answer.key: answer for answer in file_answers})
    return list(answers.values()), findings


def _make_duplicate_file_finding(
    path: str, file_answers: list[PublishedAnswer], earlier_answers_by_key: dict[str, PublishedAnswer]
) -> Finding:
    """Return the finding about a file whose answers another file has given already."""
    duplicates = [earlier_answers_by_key[answer.key] for answer in file_answers if answer.key in earlier_answers_by_key]
    differ = sum(earlier_answers_by_key[a.key].text != a.text for a in file_answers if a.key in earlier_answers_by_key)
    names = ", ".join(sorted({PurePosixPath(duplicate.file).name for duplicate in duplicates}))
    reason = f"It has the same {len(duplicates)} answers as {names}, which are used instead."
    if differ:
        reason = f"{differ} of its {len(duplicates)} answers differ from those of {names}, which are used instead."
    return Finding("duplicate-file", path, "", "", reason, system_of_file(path))


def _read_answers_and_findings_of_file(
    tree: PublishedTree, path: str, id_and_wording_by_letters: dict[str, tuple[str, Wording]]
) -> tuple[list[PublishedAnswer], list[Finding]]:
    """Read the answers of one workbook, and list findings on its sheets."""
    answers: list[PublishedAnswer] = []
    findings: list[Finding] = []
    sheets: dict[str, str] = {}
    try:
        grids = list(read_workbook(tree.folder / path))
    except DataError as error:
        return [], [Finding("unplaced", path, "", "", f"The file {error.problem}", system_of_file(path))]
    exact = {title.strip().lower() for title, _ in grids}
    for title, grid in grids:
        document = find_closest_document_name(title)
        # A sheet that is called nearly like a policy is that policy's only if no other is.
        if document is None or document in sheets or (document != title.strip().lower() and document in exact):
            findings.append(Finding("unplaced", path, title, "", "The sheet is not named after a policy of the study."))
            continue
        sheets[document] = title
        sheet = read_answer_sheet(grid, id_and_wording_by_letters)
        sheet_answers = list(_make_answers_even_if_missing(path, title, document, sheet))
        answers += sheet_answers
        findings += [
            make_finding_about_answer(answer, "missing-answer", "The cell is empty.")
            for answer in sheet_answers
            if answer.text is None
        ]
        oddities = [
            *(
                ("note-not-answer", cell.spreadsheet_reference, "It holds a note of the study, not an answer.")
                for cell in sheet.notes
            ),
            *(("unplaced", cell, f"{reason[0].upper()}{reason[1:]}.") for cell, reason in sheet.unplaced),
        ]
        findings += [
            Finding(kind, path, title, cell, reason, system_of_file(path), document=document)
            for kind, cell, reason in oddities
        ]
    findings += [
        Finding("missing-answer", path, "", "", f"No sheet is about {name}.", system_of_file(path), document=name)
        for name in POLICIES
        if name not in sheets
    ]
    return answers, findings


def _make_answers_even_if_missing(
    path: str, sheet_title: str, document: str, sheet: AnswerSheet
) -> Iterator[PublishedAnswer]:
    """Yield an answer, or the lack of one, for each run of each question."""
    columns = [max((cell.column for cell in cells_by_slot.values()), default=0) for cells_by_slot in sheet.runs]
    for slot in sheet.slots:
        for run in range(REPETITIONS[faq_or_user_origin(slot.question)]):
            cell = sheet.runs[run].get(slot) if run < len(sheet.runs) else None
            column = columns[run] if run < len(columns) else 0
            empty = f"{column_letter(column)}{slot.row}" if column else f"row {slot.row}"
            yield PublishedAnswer(
                system=system_of_file(path),
                experiment=slot.experiment,
                document=document,
                question=slot.question,
                wording=slot.wording,
                repetition=run + 1,
                asked=slot.question_text,
                text=cell.text if cell else None,
                file=path,
                sheet=sheet_title,
                cell=cell.spreadsheet_reference if cell else empty,
            )
