"""The published scores: a CSV for each experiment, and a workbook with the means of the metrics, as one list."""

from __future__ import annotations

import csv
import io
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from genaipa.datasets.genaipabench.layout import (
    POLICIES,
    REGULATIONS,
    RESULTS,
    document_named,
    experiment_named,
    held,
    labelled,
    origin_of,
    system_of,
)
from genaipa.datasets.genaipabench.questions import REGULATION_IDS
from genaipa.datasets.genaipabench.sheets import Grid, column_letter
from genaipa.datasets.genaipabench.transcripts import read_workbook
from genaipa.errors import DataError
from genaipa.files.formulas import parse_number
from genaipa.files.strict_yaml import read_text
from genaipa.runs.audit import Finding
from genaipa.scoring.published import PublishedScore, StudyExperiment
from genaipa.scoring.rubric import METRICS, VALUES, shipped_rubric

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from genaipa.datasets.genaipabench.files import Tree

PARAPHRASES = 3
"""How many answers a user question's score in the robustness experiment is the mean of."""
_SHEET_REGULATION = "regulation"


def read_scores(tree: Tree) -> tuple[list[PublishedScore], list[Finding]]:
    """Every published score that is here, and what could not be placed."""
    scores: list[PublishedScore] = []
    findings: list[Finding] = []
    for path in (*held(tree, RESULTS, ".csv"), *held(tree, RESULTS, ".xlsx")):
        for item in _read_file(tree, path):
            if isinstance(item, Finding):
                findings.append(item)
            else:
                scores.append(item)
    return scores, findings


def _read_file(tree: Tree, path: str) -> Iterator[PublishedScore | Finding]:
    """The scores in one file, sheet by sheet."""
    is_csv = path.lower().endswith(".csv")
    try:
        sheets = [("", _csv_grid(tree.folder / path))] if is_csv else list(read_workbook(tree.folder / path))
    except DataError as error:
        yield Finding("unplaced", path, "", "", f"The file {error.problem}", system_of(path))
        return
    for title, grid in sheets:
        table = PurePosixPath(path).stem if is_csv else title
        experiment = experiment_named(table)
        if not any(cell is not None and cell != "" for row in grid for cell in row):
            yield Finding("unplaced", path, title, "", "The table is empty.", system_of(path))
        elif _SHEET_REGULATION in table.lower():
            yield from _regulation_rows(path, title, grid)
        elif experiment is None:
            yield Finding("unplaced", path, title, "", "The table is called after no experiment.", system_of(path))
        else:
            yield from _rows(path, title, grid, experiment)


def _csv_grid(path: Path) -> Grid:
    rows = csv.reader(io.StringIO(read_text(path), newline=""))
    try:
        return [tuple(row) for row in rows]
    except csv.Error as error:
        raise DataError(path, f"is not a CSV file ({error}).", f"line {rows.line_num}") from None


def _rows(path: str, title: str, grid: Grid, experiment: StudyExperiment) -> Iterator[PublishedScore | Finding]:
    """The rows of a table by question: the columns are policies with M_all, or metrics averaged over the policies."""
    header = {column: str(name).strip() for column, name in enumerate(grid[0]) if str(name or "").strip()}
    metrics = {column: name.lower() for column, name in header.items() if name.lower() in METRICS}
    documents = {column: document_named(name) for column, name in header.items() if column not in metrics}
    for column, document in documents.items():
        if column and document is None:
            reason = f"The column '{header[column]}' is neither a policy nor a metric."
            yield Finding("unplaced", path, title, f"{column_letter(column + 1)}1", reason, system_of(path), experiment)
    seen = set()
    for line, row in enumerate(grid[1:], start=2):
        if not any(str(cell or "").strip() for cell in row):
            continue
        label = labelled(str(row[0] or ""))
        if label is None or label[0] in seen:
            reason = f"'{row[0]}' is not the id of a question." if label is None else f"'{row[0]}' stands twice."
            yield Finding("unplaced", path, title, f"A{line}", reason, system_of(path), experiment)
            continue
        seen.add(label[0])
        for column, document in documents.items():
            if document is not None:
                yield _overall(path, title, (line, column), row, (experiment, document, label[0]))
        if metrics:
            yield _means(path, title, (line, min(metrics)), row, (experiment, label[0]), metrics)


def _overall(
    path: str, title: str, at: tuple[int, int], row: tuple[object, ...], about: tuple[StudyExperiment, str, str]
) -> PublishedScore | Finding:
    """M_all of one question about one policy."""
    (line, column), (experiment, document, question) = at, about
    cell = f"{column_letter(column + 1)}{line}"
    value = _number(row, column)
    if value is None:
        reason = "The cell holds no number."
        return Finding("missing-score", path, title, cell, reason, system_of(path), experiment, document, question)
    return PublishedScore(
        system=system_of(path),
        experiment=experiment,
        document=document,
        question=question,
        m_all=value,
        averaged=averaged(experiment, question),
        file=path,
        sheet=title,
        cell=cell,
    )


def averaged(experiment: StudyExperiment, question: str) -> int:
    """How many scores one cell is the mean of; 0 where the study doesn't say."""
    if origin_of(question) == "faq":
        return 1
    # User questions were asked three times, and which of the answers were scored is not published.
    return PARAPHRASES if experiment == "robustness" else 0


def _means(
    path: str,
    title: str,
    at: tuple[int, int],
    row: tuple[object, ...],
    about: tuple[StudyExperiment, str],
    metrics: dict[int, str],
) -> PublishedScore | Finding:
    """The metrics of one question, each the mean over the study's policies."""
    (line, column), (experiment, question) = at, about
    values = {name: _number(row, place) for place, name in metrics.items()}
    cell = f"{column_letter(column + 1)}{line}"
    if len(values) < len(METRICS) or None in values.values():
        reason = "The row doesn't hold a number for each of the five metrics."
        return Finding("missing-score", path, title, cell, reason, system_of(path), experiment, question=question)
    return PublishedScore(
        system=system_of(path),
        experiment=experiment,
        document="",
        question=question,
        m_all=None,
        relevance=values["relevance"],
        accuracy=values["accuracy"],
        clarity=values["clarity"],
        completeness=values["completeness"],
        reference=values["reference"],
        averaged=len(POLICIES) * averaged(experiment, question),
        file=path,
        sheet=title,
        cell=cell,
    )


def _regulation_rows(path: str, title: str, grid: Grid) -> Iterator[PublishedScore | Finding]:
    """The five values of each question about a regulation; M_all follows from them."""
    names = {str(name or "").strip().lower(): column for column, name in enumerate(grid[0])}
    places = [names.get(metric) for metric in METRICS]
    about = names.get("regulation")
    if about is None or None in places:
        reason = "The table lacks the column 'Regulation' or that of a metric."
        yield Finding("unplaced", path, title, "A1", reason, system_of(path), "regulation")
        return
    for line, row in enumerate(grid[1:], start=2):
        if not any(str(cell or "").strip() for cell in row):
            continue
        question = REGULATION_IDS.get(str(row[0] or "").strip())
        document = document_named(str(row[about] or ""), REGULATIONS) if about < len(row) else None
        values = [_number(row, place) for place in places if place is not None]
        if question is None or document is None or any(value not in VALUES for value in values):
            reason = "The row lacks the id of a question, a regulation, or five values that a metric can have."
            yield Finding("unplaced", path, title, f"A{line}", reason, system_of(path), "regulation")
            continue
        given = {metric: value or 0.0 for metric, value in zip(METRICS, values, strict=True)}
        yield PublishedScore(
            system=system_of(path),
            experiment="regulation",
            document=document,
            question=question,
            m_all=shipped_rubric().m_all(given),
            relevance=given["relevance"],
            accuracy=given["accuracy"],
            clarity=given["clarity"],
            completeness=given["completeness"],
            reference=given["reference"],
            averaged=1,
            file=path,
            sheet=title,
            cell=f"{column_letter((places[0] or 0) + 1)}{line}",
        )


def _number(row: tuple[object, ...], column: int) -> float | None:
    """The number in the cell, None if it holds none."""
    value = row[column] if column < len(row) else None
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    try:
        return parse_number(str(value))
    except ValueError:
        return None
