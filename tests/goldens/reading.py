"""How goldens get frames and tables from the program: the one file to edit when it hands them out otherwise.

A golden holds the joined table that notebooks get, every column of it, and the rows of every table of the report. Of
sentences it holds the numbers alone, so that they may be worded better.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd
from framing import study_of

from genaipa.answers.gather import gather_study_with_stored_scores
from genaipa.reports.comparison import compare
from genaipa.reports.report import Report
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.workspace import find_workspace

NEW_COLUMNS: frozenset[str] = frozenset(
    {
        *("first_token_seconds", "first_text_seconds"),
        *("vendor_citations", "vendor_right", "vendor_unplaced", "vendor_sections"),
        *("partner", "author", "aids_shown", "aids_withheld"),
        *("system-differences.tests", "levels.tests", "comparison.tests"),
        *("own_citations", "own_right", "own_sections", "annotated_sections"),
    }
)
"""Columns that a golden lacks since they came later: of the frame `name`, of a table `table.name`."""
LOST_COLUMNS: frozenset[str] = frozenset()
"""Columns that only a golden has, since they went."""
NEW_TABLES: frozenset[str] = frozenset()
LOST_TABLES: frozenset[str] = frozenset()
SCALES: dict[str, float] = {}
"""Columns whose numbers are now this many times those of the goldens, named as in `NEW_COLUMNS`."""
_NUMBER = re.compile(r"\d[\d,.]*\d|\d")


if TYPE_CHECKING:
    from genaipa.answers.study import Study


@dataclass(frozen=True)
class Reading:
    """What the program makes of a study: the joined table, the tables of its report, and the numbers in sentences."""

    frame: pd.DataFrame | None
    tables: dict[str, pd.DataFrame]
    numbers: dict[str, list[str]] = field(default_factory=dict)


def read_study(*, by: str = "", **options: bool) -> Reading:
    """Read all runs and scores of the workspace in the working folder; `by` is a column of the documents' groups."""
    here = find_workspace()
    return _read(
        gather_study_with_stored_scores(
            here, select_runs_and_apply_filters(here, ()), document_group_column=by, **options
        )
    )


def read_frame(frame: pd.DataFrame) -> Reading:
    """Read the report of a joined table alone."""
    return _read(study_of(frame))


def read_comparison(first: str, second: str) -> Reading:
    """Read the comparison of two systems of the workspace in the working folder."""
    comparison = compare(first, second)
    numbers = {"finding": numbers_in(" ".join(comparison.finding)), "answered": numbers_in(str(comparison.answered))}
    return Reading(None, {"comparison": comparison.table.data}, numbers)


def _read(study: Study) -> Reading:
    report = Report.build(study)
    stated: dict[str, Any] = report.as_json()
    numbers = {name: numbers_in(" ".join(stated[name])) for name in ("notable", "absent", "problems")}
    numbers |= {f"note of {name}": numbers_in(table["note"]) for name, table in stated["tables"].items()}
    tables = {name: pd.DataFrame(table["rows"], dtype=object) for name, table in stated["tables"].items()}
    return Reading(study.make_tidy_table(), tables, numbers)


def numbers_in(sentences: str) -> list[str]:
    """Return the numbers in sentences, in their order."""
    return _NUMBER.findall(sentences)
