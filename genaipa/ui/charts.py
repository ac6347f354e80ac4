"""Charts, the heat map and chapters of reports on a page of the desk.

Box plots of M_all by document are drawn in the browser from the report's own tables, and so is the heat map of the
Results page, whose cells can be chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from genaipa.answers.tidy import names_of
from genaipa.reports import render
from genaipa.reports.figures import style
from genaipa.reports.table import SCALE
from genaipa.scoring.rubric import Band, Bounds, band
from genaipa.ui.results import DPI, ResultsView, Rows
from genaipa.ui.widgets import SHORT, Column, ListRow, component, heading, long_table, noted, texts

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from genaipa.reports.chapters.chapter import Chapter
    from genaipa.reports.table import Table
    from genaipa.scoring.people import User

Spec = dict[str, Any]
"""A chart, or a part of one, in the grammar of Vega-Lite."""
_BOX, _AROUND = 24, 130
"""Pixels from one box to the next, and of the axis and the legends."""
_NUMBERS = ("minimum", "q1", "median", "q3", "maximum", "mean")
_LOW, _HIGH, _ROOM = 10.0, 100.0, 5.0
"""The ends of the axis of M_all (10 to 100), and the room behind it in which n is written."""


def boxes(found: ResultsView, experiment: str) -> None:
    """A box for each system and document of an experiment, and a point for each question."""
    drawn, points = _of(found.boxes.data, experiment), _of(found.points.data, experiment)
    drawn = drawn[drawn["questions"] == "all"]
    if drawn.empty:
        return
    heading("By document")
    # Described in the words of the grammar itself: with altair that takes longer than all else on the page.
    st.vega_lite_chart(
        spec=_chart(drawn, points, found.bounds),
        key="results boxes",
        alt=f"Box plots of M_all by document: {experiment}",
    )
    st.caption(
        "Box: quartiles and median over questions; line: minimum to maximum; a point is a question about a document, "
        "and n how many. "
        f"{style.DOUBT_IN_WORDS if style.doubted(drawn, 'doubtful').any() else ''}"
        f"{style.bands_in_words(found.bounds)}"
    )


def _of(data: pd.DataFrame, experiment: str) -> pd.DataFrame:
    return data[(data["experiment"] == experiment) & (data["document"] != "")]


def _chart(drawn: pd.DataFrame, points: pd.DataFrame, bounds: Bounds) -> Spec:
    marks = style.system_marks([str(name) for name in drawn["system"].unique()])
    systems, documents = list(marks), [str(name) for name in drawn["document"].unique()]
    about_box = _tooltip("system", "document", "n", *_NUMBERS)
    sides = style.doubted(drawn, "doubtful").map({True: f" {style.DOUBT_SIGN}", False: ""})
    drawn = drawn.assign(counted=drawn["n"].astype(str) + sides)
    colours = [mark["color"] for mark in marks.values()]
    place: Spec = {
        "y": {"field": "document", "type": "nominal", "title": None, "sort": documents},
        "yOffset": {"field": "system", "type": "nominal", "sort": systems},
        "color": {
            "field": "system",
            "type": "nominal",
            "scale": {"domain": systems, "range": colours},
            "legend": {"title": None, "orient": "top", "labelLimit": 400},
        },
    }
    return {
        "height": _BOX * (len(drawn) + len(documents)) + _AROUND,
        "layer": [
            _bands(bounds),
            {
                "data": {"values": drawn[["system", "document", "n", "counted", *_NUMBERS]].to_dict("records")},
                "encoding": {**place, "tooltip": about_box},
                "layer": [
                    {"mark": {"type": "rule"}, "encoding": {"x": _along("minimum"), "x2": {"field": "maximum"}}},
                    {
                        "mark": {"type": "bar", "opacity": 0.4, "height": {"band": 0.7}},
                        "encoding": {"x": _along("q1"), "x2": {"field": "q3"}},
                    },
                    {"mark": {"type": "tick", "thickness": 3}, "encoding": {"x": _along("median")}},
                    {
                        "mark": {"type": "text", "align": "left", "dx": 6},
                        "encoding": {
                            "x": {"datum": _HIGH},
                            "text": {"field": "counted"},
                            "color": {"value": style.FAINT},
                        },
                    },
                ],
            },
            *_points(points, place),
        ],
    }


def _points(points: pd.DataFrame, place: Spec) -> list[Spec]:
    """The layers of the questions: what rests on a doubtful source is hollow, as in the report's figures."""
    about = _tooltip("system", "document", "question", "category", "source", "m_all10", "answers", "scores")
    shape: Spec = {
        "field": "source",
        "type": "nominal",
        "scale": {"domain": ["faq", "user"], "range": ["circle", "diamond"]},
        "legend": {"title": "question from", "orient": "top", "symbolFillColor": style.FAINT},
    }
    doubted = style.doubted(points, "doubtful")
    return [
        {
            "data": {"values": some[[each["field"] for each in about]].to_dict("records")},
            "mark": {"type": "point", "filled": filled, "size": 30, "opacity": 0.55},
            "encoding": {**place, "x": _along("m_all10"), "shape": shape, "tooltip": about},
        }
        for some, filled in ((points[~doubted], True), (points[doubted], False))
        if len(some)
    ]


def _along(field: str) -> Spec:
    scale = {"domain": [_LOW, _HIGH + _ROOM], "nice": False}
    axis = {"values": list(range(10, 101, 10)), "grid": False}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis, "title": style.QUALITY}


def _tooltip(*fields: str) -> list[Spec]:
    tenths = {*_NUMBERS, "m_all10"}
    return [
        {"field": field, "title": style.QUALITY if field == "m_all10" else field}
        | ({"type": "quantitative", "format": ".1f"} if field in tenths else {"type": "nominal"})
        for field in fields
    ]


def _bands(bounds: Bounds) -> Spec:
    """The bands behind everything, in the tints of the report's figures."""
    at = style.tenfold(bounds)
    edges = (_LOW, *(min(max(edge, _LOW), _HIGH) for edge in (at.red, at.green)), _HIGH)
    spans = zip(style.BANDS, edges, edges[1:], strict=False)
    values = [{"from": low, "to": high, "tint": style.BAND_TINTS[name]} for name, low, high in spans]
    return {
        "data": {"values": values},
        "mark": {"type": "rect"},
        "encoding": {
            "x": {**_along("from")},
            "x2": {"field": "to"},
            "color": {"field": "tint", "type": "nominal", "scale": None},
        },
    }


_SCALE = 150 / DPI
"""Pixels on the page for one of a figure's PNG file: letters are then as large as the page's, whatever its width."""


def readable(chapters: Iterable[Chapter], user: User) -> list[Chapter]:
    """The chapters that a user may read: how good the judges are is for those who lead the study."""
    return [chapter for chapter in chapters if chapter.name != "judges" or user.adjudicates]


def show_chapter(key: str, chapter: Chapter, found: ResultsView) -> None:
    """The chapter's lead, what it lacks, its figures and its tables; `key` begins the keys of what is mounted."""
    texts(f"{key} chapter lead", [noted("", sentence) for sentence in (chapter.lead, *chapter.absent)])
    for figure in chapter.figures:
        texts(f"{key} figure {figure.name}", [noted(figure.title, figure.note)])
        png = found.picture(figure)
        st.image(png, alt=figure.title, width=round(int.from_bytes(png[16:20]) * _SCALE))
    for each in chapter.tables:
        show_table(key, each)


def show_table(key: str, each: Table) -> None:
    """A table of a report with its title and note; one page of rows is on screen."""
    texts(f"{key} title {each.name}", [noted(each.title, each.note)])
    right = set(render.numeric(each))
    columns = [Column(name, right=place in right) for place, name in enumerate(render.headings(each))]

    def row(place: int) -> ListRow:
        return ListRow(replace(each, data=each.data.iloc[place : place + 1]).cells[0])

    long_table(f"{key} table {each.name}", each.title, columns, range(len(each.data)), row)


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


def heatmap(found: ResultsView, experiment: str, rows: Rows) -> None:
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
            "columns": [{"id": column, "name": name} for column, name in heatmap_columns(found).items()],
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
        return {"n": "", "cells": [None] * len(heatmap_columns(found))}
    cells = []
    for column in heatmap_columns(found):
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


def heatmap_columns(found: ResultsView) -> dict[str, str]:
    """Return the columns of the heat map, and their headings; first that by which systems are compared."""
    names = {"m_all": "M_all"} | names_of(found.frame)
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
    return lines[0] if lines and place.column in heatmap_columns(found) else None


def written(column: str, value: float) -> str:
    """A number of the heat map, M_all from 10 to 100; empty for none."""
    if value != value:  # noqa: PLR0124 - only NaN differs from itself
        return ""
    return f"{value * SCALE:.1f}" if column == "m_all" else f"{value:+z.2f}"


def band_of(column: str, value: float, bounds: Bounds) -> Band:
    """The band of a value in a column of a metric or of M_all."""
    return band(value, bounds.overall if column == "m_all" else bounds)
