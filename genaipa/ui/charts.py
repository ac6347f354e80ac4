"""Box plots and chapters of reports on a page of the desk.

Box plots of M_all by document are drawn in the browser from the report's own tables.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from genaipa.reports import render
from genaipa.reports.figures import style
from genaipa.scoring.rubric import M_ALL_RANGE
from genaipa.ui.results import DPI
from genaipa.ui.widgets import (
    ListColumn,
    ListRow,
    make_note_folded_to_first_sentence,
    show_heading,
    show_table_in_pages,
    show_texts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from genaipa.reports.chapters.chapter import Chapter
    from genaipa.reports.table import Table
    from genaipa.scoring.people import User
    from genaipa.scoring.rubric import BandBounds
    from genaipa.ui.results import ResultsView

VegaLiteSpec = dict[str, Any]
"""A chart, or a part of one, in the grammar of Vega-Lite."""
TableRow = dict[Any, Any]
"""A row of a table, by its columns."""
_BOX, _AROUND = 24, 130
"""Pixels from one box to the next, and of the axis and the legends."""
_NUMBERS = ("minimum", "q1", "median", "q3", "maximum", "mean")
(_LOW, _HIGH), _ROOM = M_ALL_RANGE, 5.0
"""The ends of the axis of M_all, and the room behind it in which n is written."""


def show_box_plots(results: ResultsView, experiment: str) -> None:
    """Show a box for each system and document of an experiment, and a point for each question."""
    box_rows, points = (
        _select_experiment_document_rows(results.five_number_table_by_document.data, experiment),
        _select_experiment_document_rows(results.question_scores_table.data, experiment),
    )
    box_rows = box_rows[box_rows["questions"] == "all"]
    if box_rows.empty:
        return
    show_heading("By document")
    # Described in the words of the grammar itself: with altair that takes longer than all else on the page.
    st.vega_lite_chart(
        spec=_build_box_plot_spec(box_rows, points, results.bounds),
        key="results boxes",
        alt=f"Box plots of M_all by document: {experiment}",
    )
    st.caption(
        "Box: median and quartiles over questions; line: minimum to maximum; point: a question about a document; "
        f"n: the number of questions. {style.describe_m_all_bands(results.bounds)}"
    )


def _select_experiment_document_rows(data: pd.DataFrame, experiment: str) -> pd.DataFrame:
    return data[(data["experiment"] == experiment) & (data["document"] != "")]


def _build_box_plot_spec(box_rows: pd.DataFrame, question_rows: pd.DataFrame, bounds: BandBounds) -> VegaLiteSpec:
    marks = style.assign_system_colours_and_markers([str(name) for name in box_rows["system"].unique()])
    systems, documents = list(marks), [str(name) for name in box_rows["document"].unique()]
    about_box = _list_tooltip_fields("system", "document", "n", *_NUMBERS)
    colours = [mark["color"] for mark in marks.values()]
    position: VegaLiteSpec = {
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
        "height": _BOX * (len(box_rows) + len(documents)) + _AROUND,
        "layer": [
            _build_band_background_layer(bounds),
            {
                "data": {"values": box_rows[["system", "document", "n", *_NUMBERS]].to_dict("records")},
                "encoding": {**position, "tooltip": about_box},
                "layer": [
                    {
                        "mark": {"type": "rule"},
                        "encoding": {"x": _build_quality_axis_encoding("minimum"), "x2": {"field": "maximum"}},
                    },
                    {
                        "mark": {"type": "bar", "opacity": 0.4, "height": {"band": 0.7}},
                        "encoding": {"x": _build_quality_axis_encoding("q1"), "x2": {"field": "q3"}},
                    },
                    {
                        "mark": {"type": "tick", "thickness": 3},
                        "encoding": {"x": _build_quality_axis_encoding("median")},
                    },
                    {
                        "mark": {"type": "text", "align": "left", "dx": 6},
                        "encoding": {"x": {"datum": _HIGH}, "text": {"field": "n"}, "color": {"value": style.FAINT}},
                    },
                ],
            },
            _build_question_points_layer(question_rows, position),
        ],
    }


def _build_question_points_layer(question_rows: pd.DataFrame, position_encoding: VegaLiteSpec) -> VegaLiteSpec:
    """Describe the layer of the questions."""
    about = _list_tooltip_fields("system", "document", "question", "category", "source", "m_all", "answers", "scores")
    shape: VegaLiteSpec = {
        "field": "source",
        "type": "nominal",
        "scale": {"domain": ["faq", "user"], "range": ["circle", "diamond"]},
        "legend": {"title": "question from", "orient": "top", "symbolFillColor": style.FAINT},
    }
    return {
        "data": {"values": question_rows[[field["field"] for field in about]].to_dict("records")},
        "mark": {"type": "point", "filled": True, "size": 30, "opacity": 0.55},
        "encoding": {**position_encoding, "x": _build_quality_axis_encoding("m_all"), "shape": shape, "tooltip": about},
    }


def _build_quality_axis_encoding(field: str) -> VegaLiteSpec:
    scale = {"domain": [_LOW, _HIGH + _ROOM], "nice": False}
    axis = {"values": list(range(10, 101, 10)), "grid": False}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis, "title": style.QUALITY}


def _list_tooltip_fields(*fields: str) -> list[VegaLiteSpec]:
    tenths = {*_NUMBERS, "m_all"}
    return [
        {"field": field, "title": style.QUALITY if field == "m_all" else field}
        | ({"type": "quantitative", "format": ".1f"} if field in tenths else {"type": "nominal"})
        for field in fields
    ]


def _build_band_background_layer(bounds: BandBounds) -> VegaLiteSpec:
    """Describe the bands behind everything, in the tints of the report's figures."""
    at = bounds.m_all_bounds
    edges = (_LOW, *(min(max(edge, _LOW), _HIGH) for edge in (at.red, at.green)), _HIGH)
    spans = zip(style.BANDS, edges, edges[1:], strict=False)
    values = [{"from": low, "to": high, "tint": style.BAND_TINTS[name]} for name, low, high in spans]
    return {
        "data": {"values": values},
        "mark": {"type": "rect"},
        "encoding": {
            "x": {**_build_quality_axis_encoding("from")},
            "x2": {"field": "to"},
            "color": {"field": "tint", "type": "nominal", "scale": None},
        },
    }


_SCALE = 150 / DPI
"""Pixels on the page for one of a figure's PNG file: letters are then as large as the page's, whatever its width."""


def drop_judges_chapter_unless_adjudicator(chapters: Iterable[Chapter], user: User) -> list[Chapter]:
    """Select the chapters that a user may read: how good the judges are is for those who lead the study."""
    return [chapter for chapter in chapters if chapter.name != "judges" or user.adjudicates]


def show_chapter(key_prefix: str, chapter: Chapter, results: ResultsView) -> None:
    """Show a chapter's lead, what it lacks, its figures and tables; `key_prefix` begins the keys of what is mounted."""
    show_texts(
        f"{key_prefix} chapter lead",
        [make_note_folded_to_first_sentence("", sentence) for sentence in (chapter.lead, *chapter.absent)],
    )
    for figure in chapter.figures:
        show_texts(
            f"{key_prefix} figure {figure.name}", [make_note_folded_to_first_sentence(figure.title, figure.note)]
        )
        png = results.draw_figure_as_png(figure)
        st.image(png, alt=figure.title, width=round(int.from_bytes(png[16:20]) * _SCALE))
    for table in chapter.tables:
        show_report_table(key_prefix, table)


def show_report_table(key_prefix: str, table: Table) -> None:
    """Show a table of a report with its title and note; one page of rows is on screen."""
    show_texts(f"{key_prefix} title {table.name}", [make_note_folded_to_first_sentence(table.title, table.note)])
    right = set(render.numeric_column_indices(table))
    columns = [ListColumn(name, right=index in right) for index, name in enumerate(render.visible_headings(table))]

    def make_list_row_of_table_row(row_number: int) -> ListRow:
        return ListRow(replace(table, data=table.data.iloc[row_number : row_number + 1]).cells[0])

    show_table_in_pages(
        f"{key_prefix} table {table.name}", table.title, columns, range(len(table.data)), make_list_row_of_table_row
    )
