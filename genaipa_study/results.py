"""The published scores: a CSV for each experiment, and a workbook with the means of the metrics, as one list."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from genaipa.errors import DataError
from genaipa.files.spreadsheets import parse_number
from genaipa.runs.experiments import StudyExperiment
from genaipa.runs.imported import PublishedScore
from genaipa.scoring.rubric import shipped_rubric
from genaipa_study.findings import Finding
from genaipa_study.layout import (
    M_ALL_IN_TABLES,
    POLICIES,
    REGULATION_IDS,
    REGULATIONS,
    RESULTS,
    faq_or_user_origin,
    find_closest_document_name,
    find_experiment_by_title,
    list_available_files,
    parse_question_id_and_label_number,
    read_csv_rows,
    system_of_file,
)
from genaipa_study.sheets import Grid, column_letter, read_workbook

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa_study.layout import PublishedTree

PARAPHRASES = 3
"""Number of answers that a user question's score in the robustness experiment is the mean of."""


@dataclass(frozen=True)
class _ScoreTable:
    """One table of scores, and its place."""

    path: str
    title: str
    grid: Grid
    experiment: Any = ""

    def nonblank_rows(self) -> Iterator[tuple[int, tuple[object, ...]]]:
        """Yield (line, row) of each row below the header that is not blank."""
        for line, row in enumerate(self.grid[1:], start=2):
            if any(str(cell or "").strip() for cell in row):
                yield line, row

    def make_finding(self, kind: str, cell: str, reason: str, document: str = "", question: str = "") -> Finding:
        """Return a finding about one of its cells."""
        position = (self.path, self.title, cell, reason, system_of_file(self.path), self.experiment)
        return Finding(kind, *position, document, question)

    def make_score(self, cell: str, document: str, question: str, **values: Any) -> PublishedScore:
        """Return a score in one of its cells."""
        values |= {"document": document, "question": question, "file": self.path, "sheet": self.title, "cell": cell}
        return PublishedScore(system=system_of_file(self.path), experiment=self.experiment, **values)


def read_published_scores_and_findings(tree: PublishedTree) -> tuple[list[PublishedScore], list[Finding]]:
    """Read every published score that is here, and list what could not be placed."""
    scores: list[PublishedScore] = []
    findings: list[Finding] = []
    for path in (*list_available_files(tree, RESULTS, ".csv"), *list_available_files(tree, RESULTS, ".xlsx")):
        for item in _read_score_file(tree, path):
            if isinstance(item, Finding):
                findings.append(item)
            else:
                scores.append(item)
    return scores, findings


def _read_score_file(tree: PublishedTree, path: str) -> Iterator[PublishedScore | Finding]:
    """Yield the scores in one file, sheet by sheet."""
    is_csv = path.lower().endswith(".csv")
    try:
        grid: Grid = [tuple(row) for row in read_csv_rows(tree.folder / path)] if is_csv else []
        sheets = [("", grid)] if is_csv else list(read_workbook(tree.folder / path))
    except DataError as error:
        yield _ScoreTable(path, "", []).make_finding("unplaced", "", f"The file {error.problem}")
        return
    for title, cells in sheets:
        name = PurePosixPath(path).stem if is_csv else title
        table = _ScoreTable(path, title, cells)
        if not any(cell is not None and cell != "" for row in cells for cell in row):
            yield table.make_finding("unplaced", "", "The table is empty.")
        elif "regulation" in name.lower():
            yield from _read_regulation_rows(replace(table, experiment="regulation"))
        elif (experiment := find_experiment_by_title(name)) is None:
            yield table.make_finding("unplaced", "", "The table is not named after an experiment.")
        else:
            yield from _read_policy_rows(replace(table, experiment=experiment), experiment)


def _read_policy_rows(table: _ScoreTable, experiment: StudyExperiment) -> Iterator[PublishedScore | Finding]:
    """Yield the scores of a table by question; its columns are policies with M_all, or metrics averaged over them."""
    header = {column: str(name).strip() for column, name in enumerate(table.grid[0]) if str(name or "").strip()}
    metrics = {column: name.lower() for column, name in header.items() if name.lower() in shipped_rubric().metrics}
    documents = {column: find_closest_document_name(name) for column, name in header.items() if column not in metrics}
    for column, document in documents.items():
        if column and document is None:
            reason = f"The column '{header[column]}' is neither a policy nor a metric."
            yield table.make_finding("unplaced", f"{column_letter(column + 1)}1", reason)
    questions = set()
    for line, row in table.nonblank_rows():
        label = parse_question_id_and_label_number(str(row[0] or ""))
        if label is None or label[0] in questions:
            reason = f"'{row[0]}' is not the id of a question." if label is None else f"'{row[0]}' appears twice."
            yield table.make_finding("unplaced", f"A{line}", reason)
            continue
        question, times = label[0], count_averaged_scores_or_zero_if_unknown(experiment, label[0])
        questions.add(question)
        for column, document in documents.items():
            value, cell = _read_cell_number(row, column), f"{column_letter(column + 1)}{line}"
            if document is not None and value is None:
                yield table.make_finding("missing-score", cell, "The cell does not hold a number.", document, question)
            elif document is not None and value is not None:
                yield table.make_score(
                    cell, document, question, m_all=round(M_ALL_IN_TABLES * value, 9), averaged=times
                )
        if metrics:
            values = {name: _read_cell_number(row, column) for column, name in metrics.items()}
            cell = f"{column_letter(min(metrics) + 1)}{line}"
            if len(values) < len(shipped_rubric().metrics) or None in values.values():
                reason = "The row doesn't hold a number for each of the five metrics."
                yield table.make_finding("missing-score", cell, reason, question=question)
            else:
                yield table.make_score(cell, "", question, m_all=None, averaged=len(POLICIES) * times, **values)


def count_averaged_scores_or_zero_if_unknown(experiment: StudyExperiment, question: str) -> int:
    """Count the scores that one cell is the mean of; 0 where the study doesn't say."""
    if faq_or_user_origin(question) == "faq":
        return 1
    # User questions were asked three times, and which of the answers were scored is not published.
    return PARAPHRASES if experiment == "robustness" else 0


def _read_regulation_rows(table: _ScoreTable) -> Iterator[PublishedScore | Finding]:
    """Yield the five values of each question about a regulation; M_all follows from them."""
    names = {str(name or "").strip().lower(): column for column, name in enumerate(table.grid[0])}
    about, columns = names.get("regulation"), [names[metric] for metric in shipped_rubric().metrics if metric in names]
    if about is None or len(columns) < len(shipped_rubric().metrics):
        yield table.make_finding("unplaced", "A1", "The table lacks the column 'Regulation' or the column of a metric.")
        return
    for line, row in table.nonblank_rows():
        question = REGULATION_IDS.get(str(row[0] or "").strip())
        document = find_closest_document_name(str(row[about] or ""), REGULATIONS) if about < len(row) else None
        values = [value for column in columns if (value := _read_cell_number(row, column)) in shipped_rubric().values]
        if question is None or document is None or len(values) < len(shipped_rubric().metrics):
            reason = "The row lacks the id of a question, a regulation, or five values that a metric can have."
            yield table.make_finding("unplaced", f"A{line}", reason)
            continue
        values_by_metric = dict(zip(shipped_rubric().metrics, values, strict=True))
        cell = f"{column_letter(columns[0] + 1)}{line}"
        yield table.make_score(
            cell, document, question, m_all=shipped_rubric().m_all(values_by_metric), averaged=1, **values_by_metric
        )


def _read_cell_number(row: tuple[object, ...], column: int) -> float | None:
    """Return the number in the cell, None if it holds none."""
    value = row[column] if column < len(row) else None
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    try:
        return parse_number(str(value))
    except ValueError:
        return None
