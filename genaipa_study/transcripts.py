"""The published answers: workbooks with a sheet for each policy, as records with their cells."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from genaipa.datasets.study import Answer
from genaipa.errors import DataError
from genaipa.files.spreadsheets import rows_of, workbook
from genaipa.questions.sets import WORDINGS
from genaipa.runs.audit import Finding
from genaipa_study.layout import (
    ANSWERS,
    POLICIES,
    REPETITIONS,
    document_named,
    held,
    origin_of,
    system_of,
)
from genaipa_study.sheets import Grid, Sheet, column_letter, read_sheet, simplified

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from genaipa.questions.sets import QuestionSet, Wording
    from genaipa_study.files import Tree


def read_workbook(path: Path) -> Iterator[tuple[str, Grid]]:
    """Each sheet of a workbook: its name, and its cells row by row; a DataError if it isn't one."""
    with workbook(path, "reports") as found:
        for sheet in found.worksheets:
            grid = [tuple(row) for row in rows_of(sheet, path)]
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
        findings += [answer.finding("missing-answer", "The cell is empty.") for answer in read if answer.text is None]
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
