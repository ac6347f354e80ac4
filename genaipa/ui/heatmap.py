"""The heat map of the Results page: rows of questions or categories, columns of metrics, a panel for each system.

Streamlit's own chart draws it. A cell is chosen by a click, or in the boxes beneath, which say what is chosen.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from genaipa.answers.tidy import metric_display_names
from genaipa.reports.figures import style
from genaipa.scoring.rubric import classify_band
from genaipa.ui.widgets import SHORT

if TYPE_CHECKING:
    from genaipa.reports.table import Table
    from genaipa.scoring.rubric import Band, BandBounds
    from genaipa.ui.charts import TableRow, VegaLiteSpec
    from genaipa.ui.results import ResultsView, RowKind

ANSWER = "results answer"
"""Session key of the chosen answer of the chosen cell."""
ANSWERS = "results answers"
"""The key of the list of answers behind a cell."""
_MAP = "results map"
_BOXES = {"row": "results cell row", "column": "results cell metric", "system": "results cell system"}
"""Session keys of the boxes that say which cell is chosen."""
_EXPERIMENT = "results cell experiment"
"""Session key of the experiment whose cells the boxes name."""
_HIGH, _WIDE, _GAP = 24, 52, 0.06
"""Pixels of a row and of a column, and the share of them between two cells."""
_BESIDE = 3
"""Systems beside each other; more are beneath."""
_IN_SIGHT = 36
"""Rows above which the map scrolls."""
_COUNT = "n"
"""The column of how many documents or questions a row's values are a mean over."""
_CHOSEN = style.COLOURS[0]
"""The frame of the chosen cell, which is seen on the light page and on the dark one."""
_CORNER = "M0,0L1,0L0,1Z"
_CORNERS = {"Red": True, "Yellow": False}
"""Band → whether the corner that marks it is filled, as in the report's figures."""


@dataclass(frozen=True)
class HeatmapCell:
    """A cell of the heat map."""

    system: str
    experiment: str
    rows: RowKind
    name: str
    column: str


def show_heatmap_and_choose_cell(
    results: ResultsView, experiment: str, question_or_category: RowKind
) -> HeatmapCell | None:
    """Draw the heat map of an experiment, and return the cell that is chosen, if any."""
    data = _metrics_table_of_row_kind(results, question_or_category).data
    data = data[data["experiment"] == experiment]
    lines = {(str(line["system"]), str(line[question_or_category])): line for line in data.to_dict("records")}
    systems = list(dict.fromkeys(system for system, _ in lines))
    columns = headings_by_heatmap_column(results)
    names = [
        name
        for name in map(str, results.frame[question_or_category].cat.categories)
        if any((s, name) in lines for s in systems)
    ]
    about = results.meaning_by_row_name(question_or_category)

    def set_select_boxes_to_clicked_cell() -> None:
        """Set the boxes to the cell that was clicked."""
        picked = st.session_state[_MAP].selection["cell"]
        if picked and (picked[0]["system"], picked[0]["row"]) in lines and picked[0]["column"] in columns:
            st.session_state.update({key: picked[0][part] for part, key in _BOXES.items()})
            forget_open_answer_and_list_page()

    chosen = {part: st.session_state.get(key) for part, key in _BOXES.items()}
    # What is behind another cell is shown, and counts as seen, only once that one is chosen.
    if chosen["system"] not in systems or st.session_state.get(_EXPERIMENT) != experiment:
        st.session_state[_BOXES["row"]] = chosen["row"] = None
    st.session_state[_EXPERIMENT] = experiment
    cells = [
        cell
        for line in lines.values()
        for cell in _make_heatmap_cells_of_table_row(line, question_or_category, results)
    ]
    for cell in cells:
        cell["about"] = about.get(cell["row"], "")
        cell["chosen"] = all(cell[part] == value for part, value in chosen.items())
    # A small window would cut the chart off.
    st.html("<style>.st-key-heatmap{overflow-x:auto}</style>")
    with st.container(height=_HIGH * _IN_SIGHT if len(names) > _IN_SIGHT else "content", border=False, key="heatmap"):
        st.vega_lite_chart(
            spec=_build_heatmap_spec(cells, names, {_COUNT: _COUNT} | columns, systems),
            key=_MAP,
            on_select=set_select_boxes_to_clicked_cell,
            alt=f"Heat map: {question_or_category} by metric, {experiment}. The boxes below choose a cell.",
        )
    st.caption(
        f"Bands: {results.bounds.description}; a filled corner marks Red, an open corner Yellow. "
        f"n is the number of {name_unit_documents_or_questions(question_or_category)}."
    )
    boxes = st.columns([3, 1, 2])
    name = boxes[0].selectbox(
        question_or_category.capitalize(),
        names,
        index=None,
        format_func=lambda name: f"{name}: {about[name]}" if about.get(name) else name,
        placeholder="Click a cell of the heat map, or choose one here",
        key=_BOXES["row"],
        on_change=forget_open_answer_and_list_page,
    )
    column = boxes[1].selectbox(
        "Metric",
        list(columns),
        format_func=columns.__getitem__,
        key=_BOXES["column"],
        on_change=forget_open_answer_and_list_page,
    )
    system = boxes[2].selectbox("System", systems, key=_BOXES["system"], on_change=forget_open_answer_and_list_page)
    return HeatmapCell(system, experiment, question_or_category, name, column) if name else None


def forget_open_answer_and_list_page() -> None:
    """Forget which answer behind the cell is read, and which page of them is on screen."""
    for key in (ANSWER, f"{ANSWERS} page"):
        st.session_state.pop(key, None)


def _make_heatmap_cells_of_table_row(
    table_row: TableRow, question_or_category: RowKind, results: ResultsView
) -> list[TableRow]:
    """Return a line's cells as the chart takes them, with how many documents or questions they are a mean over."""
    coordinates = {"system": str(table_row["system"]), "row": str(table_row[question_or_category])}
    # A study may have published nothing but the mean over its documents.
    cells = [
        coordinates
        | {
            "column": _COUNT,
            "text": f"{table_row[name_unit_documents_or_questions(question_or_category)]:,}"
            if table_row[name_unit_documents_or_questions(question_or_category)]
            else "mean",
            "band": "",
        }
    ]
    for column, name in headings_by_heatmap_column(results).items():
        if text := format_heatmap_value(column, table_row[column]):
            tint = classify_band_of_heatmap_value(column, table_row[column], results.bounds)
            heard = f"{coordinates['row']}, {name}, {coordinates['system']}: {text}, {tint}"
            cells.append(
                coordinates
                | {"column": column, "band": tint, "tint": style.BAND_TINTS[tint], "text": text, "heard": heard}
            )
    return cells


def _build_heatmap_spec(
    cells: list[TableRow], row_names: list[str], heading_by_column: dict[str, str], systems: list[str]
) -> VegaLiteSpec:
    """Describe the heat map in the grammar of Vega-Lite."""
    heads = " : ".join(f"datum.value == '{column}' ? {json.dumps(name)}" for column, name in heading_by_column.items())
    gap, plain = (
        {"paddingInner": _GAP, "paddingOuter": 0},
        {"ticks": False, "domain": False, "title": None, "labelFlush": False},
    )
    above = plain | {"orient": "top", "labelAngle": 0, "labelLimit": _WIDE, "labelExpr": f"{heads} : datum.value"}
    position: VegaLiteSpec = {
        "x": {"field": "column", "type": "nominal", "sort": list(heading_by_column), "scale": gap, "axis": above},
        "y": {"field": "row", "type": "nominal", "sort": row_names, "scale": gap, "axis": plain},
    }
    about = [{"field": field, "title": field} for field in ("system", "row", "about", "text", "band")]
    valued = {"filter": f"datum.column != '{_COUNT}'"}
    chosen = {"condition": {"test": "datum.chosen", "value": 3}, "value": 0}
    tiles: VegaLiteSpec = {
        # A tuple of these fields alone, whichever mark of the cell is hit.
        "params": [{"name": "cell", "select": {"type": "point", "fields": [*_BOXES], "toggle": False}}],
        "transform": [valued],
        "mark": {"type": "rect", "cornerRadius": 3, "stroke": _CHOSEN, "cursor": "pointer"},
        "encoding": {
            "color": {"field": "tint", "type": "nominal", "scale": None},
            "strokeWidth": chosen,
            "description": {"field": "heard", "type": "nominal"},
            "tooltip": about,
        },
    }
    values: VegaLiteSpec = {
        "transform": [valued],
        "mark": {"type": "text", "color": style.INK, "cursor": "pointer", "aria": False},
        "encoding": {"text": {"field": "text"}, "tooltip": about},
    }
    counts: VegaLiteSpec = {
        "transform": [{"filter": f"datum.column == '{_COUNT}'"}],
        "mark": {"type": "text", "color": style.FAINT},
        "encoding": {"text": {"field": "text"}},
    }
    return {
        "data": {"values": cells},
        "facet": {"field": "system", "type": "nominal", "title": None, "sort": systems},
        "columns": _BESIDE,
        "resolve": {"axis": {"x": "independent"}},
        "spec": {
            "width": {"step": _WIDE},
            "height": {"step": _HIGH},
            "encoding": position,
            "layer": [
                tiles,
                *(_build_band_corner_layer(name, filled=filled) for name, filled in _CORNERS.items()),
                values,
                counts,
            ],
        },
        # As elements that a screen reader finds, and not as a picture.
        "usermeta": {"embedOptions": {"renderer": "svg"}},
    }


def _build_band_corner_layer(band_name: str, *, filled: bool) -> VegaLiteSpec:
    """Describe the corners of the cells of a band, so that colour alone tells nothing."""
    return {
        "transform": [{"filter": f"datum.band == '{band_name}'"}],
        "mark": {
            "type": "point",
            "shape": _CORNER,
            "filled": filled,
            "color": style.INK,
            "strokeWidth": 1,
            "size": 36,
            "xOffset": 3 - _WIDE * (1 - _GAP) / 2,
            "yOffset": 3 - _HIGH * (1 - _GAP) / 2,
            "aria": False,
        },
    }


def headings_by_heatmap_column(results: ResultsView) -> dict[str, str]:
    """Return the columns of the heat map, and their headings; first that by which systems are compared."""
    names = {"m_all": "M_all"} | metric_display_names(results.frame)
    return {column: SHORT.get(column, name) for column, name in names.items()}


def name_unit_documents_or_questions(question_or_category: RowKind) -> str:
    """Return the unit that the n of a row counts."""
    return "documents" if question_or_category == "question" else "questions"


def _metrics_table_of_row_kind(results: ResultsView, question_or_category: RowKind) -> Table:
    return results.question_metrics_table if question_or_category == "question" else results.category_metrics_table


def find_table_row_of_heatmap_cell(results: ResultsView, cell: HeatmapCell) -> TableRow | None:
    """Return the line of the report's table with this cell; None if the filters leave nothing of it."""
    data = _metrics_table_of_row_kind(results, cell.rows).data
    chosen = (data["system"] == cell.system) & (data["experiment"] == cell.experiment) & (data[cell.rows] == cell.name)
    lines: list[dict[Any, Any]] = data[chosen].to_dict("records")
    return lines[0] if lines and cell.column in headings_by_heatmap_column(results) else None


def format_heatmap_value(column: str, value: float) -> str:
    """Write a number of the heat map, M_all from 10 to 100; empty for none."""
    if value != value:  # noqa: PLR0124 - only NaN differs from itself
        return ""
    return f"{value:.1f}" if column == "m_all" else f"{value:+z.2f}"


def classify_band_of_heatmap_value(column: str, value: float, bounds: BandBounds) -> Band:
    """Return the band of a value in a column of a metric or of M_all."""
    return classify_band(value, bounds.m_all_bounds if column == "m_all" else bounds)
