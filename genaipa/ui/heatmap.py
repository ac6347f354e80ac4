"""The heat map of the Results page: its cells, and which of them is chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from genaipa.reports.figures import style
from genaipa.reports.tidy import names_of
from genaipa.scoring.rubric import Band, Bounds, band
from genaipa.ui.components import component
from genaipa.ui.results import ResultsView, Rows
from genaipa.ui.widgets import SHORT

if TYPE_CHECKING:
    import pandas as pd

    from genaipa.reports.table import Table

CELL = "results cell"
"""Session key of the chosen cell of the heat map."""
ANSWER = "results answer"
"""Session key of the chosen answer of that cell."""
ANSWERS = "results answers"
"""The key of the list of answers behind a cell."""


Line = dict[Any, Any]
"""A row of a table, by its columns."""


@dataclass(frozen=True)
class HeatmapCell:
    """A cell of the heat map."""

    system: str
    experiment: str
    rows: Rows
    name: str
    column: str


def show(found: ResultsView, experiment: str, rows: Rows) -> None:
    """The cells of all systems, each system's metrics side by side."""
    data = _table_of(found, rows).data
    data = data[data["experiment"] == experiment]
    systems = [str(name) for name in data["system"].unique()]
    lines = {(str(line["system"]), str(line[rows])): line for line in data.to_dict("records")}
    order = map(str, found.frame[rows].cat.categories)
    names = [name for name in order if any((system, name) in lines for system in systems)]
    place: HeatmapCell | None = st.session_state.get(CELL)
    here = place is not None and (place.experiment, place.rows) == (experiment, rows)
    about = found.about(rows)

    def choose() -> None:
        sent = st.session_state["results map"].get("chosen")
        if sent:
            st.session_state[CELL] = HeatmapCell(sent["group"], experiment, rows, sent["row"], sent["column"])
            for key in (ANSWER, f"{ANSWERS} page"):
                st.session_state.pop(key, None)

    component("heatmap")(
        key="results map",
        data={
            "label": f"Heat map: {rows} by metric",
            "head": rows,
            "groups": systems,
            "columns": [{"id": column, "name": name} for column, name in columns(found).items()],
            "rows": [
                {
                    "name": name,
                    "about": about.get(name, ""),
                    "groups": [_cells(lines.get((system, name)), rows, found) for system in systems],
                }
                for name in names
            ],
            "tints": style.BAND_TINTS,
            "chosen": {"group": place.system, "row": place.name, "column": place.column} if place and here else None,
            "legend": f"Bands: {found.bounds.in_words}; a filled corner marks Red, an open one Yellow. "
            f"n is the number of {basis(rows)}.{_in_doubt(data)}",
        },
        on_chosen_change=choose,
    )


def _in_doubt(data: pd.DataFrame) -> str:
    """A sentence on the mark of doubt, where a cell has it."""
    marked = any(style.doubted(data, column).any() for column in ("doubtful", "metric_doubtful"))
    return f" {style.DOUBT_IN_A_CELL}" if marked else ""


def _cells(line: Line | None, rows: Rows, found: ResultsView) -> dict[str, Any]:
    """A system's cells in one row, and how many documents or questions they are a mean over."""
    if line is None:
        return {"n": "", "cells": [None] * len(columns(found))}
    cells = []
    for column in columns(found):
        value = line[column]
        text = written(column, value)
        known = {"text": text, "band": band_of(column, value, found.bounds), "doubt": doubt(line, column)}
        cells.append(known if text else None)
    # A study may have published nothing but the mean over its documents.
    return {"n": f"{line[basis(rows)]:,}" if line[basis(rows)] else "mean", "cells": cells}


def doubt(line: Line, column: str) -> str:
    """The mark's name where a value rests on a doubtful source; else empty."""
    doubtful = style.is_doubtful(line.get("doubtful" if column == "m_all" else "metric_doubtful", 0))
    return style.DOUBT if doubtful else ""


def columns(found: ResultsView) -> dict[str, str]:
    """The columns of the heat map, and their headings."""
    names = names_of(found.frame) | {"m_all": "M_all"}
    return {column: SHORT.get(column, name) for column, name in names.items()}


def basis(rows: Rows) -> str:
    """The unit that the n of a row counts."""
    return "documents" if rows == "question" else "questions"


def _table_of(found: ResultsView, rows: Rows) -> Table:
    return found.questions if rows == "question" else found.categories


def line_of(found: ResultsView, place: HeatmapCell) -> Line | None:
    """The line of the report's table with this cell; None if the filters leave nothing of it."""
    data = _table_of(found, place.rows).data
    at = (data["system"] == place.system) & (data["experiment"] == place.experiment) & (data[place.rows] == place.name)
    lines = data[at].to_dict("records")
    return lines[0] if lines and place.column in columns(found) else None


def written(column: str, value: float) -> str:
    """A number of the heat map; empty for none."""
    if value != value:  # noqa: PLR0124 - only NaN differs from itself
        return ""
    return f"{value:.1f}" if column == "m_all" else f"{value:+z.2f}"


def band_of(column: str, value: float, bounds: Bounds) -> Band:
    """The band of a value in a column of a metric or of M_all."""
    return band(value, bounds.overall if column == "m_all" else bounds)
