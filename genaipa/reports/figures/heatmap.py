"""Heat maps: questions or categories down, the metrics across (paper, figures 2b, 3b, 4b and 6b), or systems.

A cell's colour is that of its band, the stronger the farther into it; its value is written, and a corner marks Yellow
and Red for those who see no colour.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genaipa.answers.tidy import list_metrics
from genaipa.reports.figures import style
from genaipa.reports.figures.figure import Figure
from genaipa.reports.table import Table
from genaipa.scoring.rubric import M_ALL_RANGE, classify_band
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.figure import Figure as Canvas

    from genaipa.scoring.rubric import Band, BandBounds


_SHADES = {"Red": ("#d9793d", "#f9e3d5"), "Yellow": ("#f5e38f", "#f5e38f"), "Green": ("#dcf0e9", "#45b197")}
"""Band → colours of its lowest and highest value, all light enough for dark text."""
_STRONG: dict[Band, str] = {"Red": _SHADES["Red"][0], "Yellow": _SHADES["Yellow"][0], "Green": _SHADES["Green"][1]}
"""Band → the colour of its cells that are farthest from its bounds, for legends."""
_STEPS = 8
_CORNERS = {"Red": style.INK, "Yellow": "white"}
"""Band → fill of its corner."""
HATCH: dict[str, Any] = {"facecolor": "#f4f4f4", "edgecolor": "#bdbdbd", "hatch": "xxxx", "linewidth": 0}
_CELL, _ROW, _N = 0.355, 0.185, 0.34
"""Inches of a cell across, of a row, and of the n behind it."""
_CLOSE = 0.235
"""Inches of a cell where many are to leave room for texts."""
_GAP = 0.24
"""Inches between two panels, for the last heading of the first."""
_WORDS = 84
"""Letters of a line of text beside a row, at most."""
_RAGGED = 10
"""Letters by which a line is longer than half of a text, since it ends with a word."""
_ABREAST = 3
"""Systems side by side."""
_HEAD = 1.15
"""Inches above and below the rows of a panel."""
_FOOT = 0.55
"""Inches of the legend, and of the experiment's name."""
COLUMN = 0.4
"""Inches of a system's column."""
_KINDS = {"metrics": ": each metric by question", "categories": ": each metric by category"}
"""End of a map's name → end of its title."""
_ROOMY = 5
"""Columns for which the narrowest figure has room."""


@dataclass(frozen=True)
class HeatMapRows:
    """Rows of a heat map: the table's rows, the columns that identify one, and its label.

    `keys` are the columns that identify a row within a system, `count` is the column that n comes from. `labels` (in
    the order of rows), `groups` and `sources` (where a row is a question) go by the key. `texts` say in words what a
    row is about.
    """

    data: pd.DataFrame
    keys: list[str]
    count: str
    labels: Mapping[Any, str]
    groups: Mapping[Any, Any]
    sources: Mapping[Any, str] = field(default_factory=dict)
    headings: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[Any, str] = field(default_factory=dict)

    @property
    def metric_headings(self) -> dict[str, str]:
        """The columns of the metrics, and their headings."""
        return {metric: self.headings.get(metric, metric) for metric in list_metrics(self.data)}

    @property
    def panel_height_inches(self) -> float:
        """Inches of all rows."""
        return len(self.labels) * (style.TALL if self.texts else _ROW)

    @property
    def systems_per_page(self) -> int:
        """The number of systems that fit a page."""
        rows = int((style.HEIGHT - _FOOT) / (self.panel_height_inches + _HEAD))
        return _ABREAST * max(rows, 1)

    @property
    def common_count_or_empty(self) -> str:
        """The n of all rows, where they have the same; else empty."""
        numbers = set(self.data[self.count])
        return style.format_count_or_mean_for_zero(numbers.pop()) if len(numbers) == 1 and numbers != {0} else ""

    @property
    def common_n_heading_or_empty(self) -> str:
        """Words for the heading, where all have the same."""
        if not self.common_count_or_empty.isdigit():
            return f", n = {self.common_count_or_empty}" if self.common_count_or_empty else ""
        return f", n = {format_count(int(self.common_count_or_empty), self.count.removesuffix('s'))}"

    @property
    def n_explanation_or_empty(self) -> str:
        """A sentence on the n of rows or columns, where these differ; else empty."""
        return "" if self.common_count_or_empty else f" n is the number of {self.count}."


def metrics_heat_map_figure(
    figure_name: str, experiment: str, caption_start: str, source_table: Table, grid: HeatMapRows, bounds: BandBounds
) -> Figure:
    """Return the figure of a grid; `caption_start` is the beginning of its caption."""
    systems = (style.last_part_labels if grid.texts else style.unique_labels)(
        style.distinct_values(grid.data["system"]), 26
    )
    title = f"{style.experiment_heading(experiment)}{_KINDS.get(figure_name.rpartition('-')[2], '')}"
    data = grid.data.reset_index(drop=True)
    figure_table = Table(
        figure_name, title, caption_start, data, source_table.headings, source_table.formats, source_table.aside
    )
    return Figure(
        figure_name,
        title,
        f"{caption_start}{style.note_full_names(systems)}",
        figure_table,
        lambda: _draw_metrics_heat_map(grid, systems, bounds, experiment),
        f"Bands: {bounds.description}; {SIGNS} {source_table.note}",
        grid.systems_per_page,
        f"Each metric, from -1 to 1, to one decimal.{grid.n_explanation_or_empty}",
        figure_name.rpartition("-")[2],
    )


SIGNS = (
    "a filled corner marks Red, an open one Yellow; a hatched cell has no value; a darker Green or Red is farther from "
    "its bound."
)


def _draw_metrics_heat_map(
    grid: HeatMapRows, label_by_system: Mapping[Any, str], bounds: BandBounds, experiment: str
) -> Canvas:
    down, across = style.panel_rows_and_columns(len(label_by_system), _ABREAST)
    aside, behind = style.row_labels_width_inches(grid.labels), 0.0 if grid.common_count_or_empty else _N
    panel = _CELL * len(grid.metric_headings) + behind
    wide = min(max(across * panel + aside, style.COLUMN), style.WIDTH)
    if grid.texts:
        # One system and its texts take more than a column.
        wide = style.WIDTH
        panel = min(panel, _CLOSE * len(grid.metric_headings) + behind) if across == _ABREAST else panel
    words = int((wide - across * (panel + _GAP) - aside) / style.LETTER)
    drawing = style.make_canvas(wide, down * (grid.panel_height_inches + _HEAD) + _FOOT)
    style.write_figure_heading(drawing, experiment, grid.common_n_heading_or_empty)
    panels = drawing.subplots(down, across, sharey=True, squeeze=False)
    shades = _make_band_shades(-1.0, bounds.red, bounds.green, 1.0)
    size = 6.5 if grid.texts and across == _ABREAST else 7.5
    for axes, (system, label) in zip(panels.flat, label_by_system.items(), strict=False):
        rows = grid.data[grid.data["system"] == system].set_index(grid.keys if len(grid.keys) > 1 else grid.keys[0])
        _draw_system_cells(axes, rows.reindex(list(grid.labels)), grid, shades, bounds, size)
        axes.set_title(label)
        style.draw_lines_between_groups(axes, list(grid.groups.values()), (0, len(grid.metric_headings)))
    style.remove_unused_and_list_lowest_axes(panels, len(label_by_system))
    for axes in panels[:, 0]:
        style.write_row_labels(
            axes, grid.labels, grid.sources, middle_offset=0.5, text_by_row=grid.texts, max_letters=min(words, _WORDS)
        )
    absent = grid.data[list(grid.metric_headings)].isna().any(axis=None) or len(grid.data) < len(grid.labels) * len(
        label_by_system
    )
    _draw_band_legend(drawing, has_absent_values=bool(absent))
    return drawing


def heat_map_width_and_letters_per_line(
    label_by_row: Mapping[Any, str], label_by_system: Mapping[Any, str], text_by_row: Mapping[Any, str]
) -> tuple[float, int]:
    """Return the inches of a map with a column for each system, and the letters of a line of text beside its rows."""
    aside, slanted = style.row_labels_width_inches(label_by_row) + 0.1, 0.06 * max(map(len, label_by_system.values()))
    wide = max(COLUMN * len(label_by_system) + aside + 0.6 * slanted, style.COLUMN)
    if not text_by_row:
        return wide, 0
    # As broad as the texts in two lines need, where a page is.
    needed = min(max(map(len, text_by_row.values())) // 2 + _RAGGED, _WORDS)
    cells = COLUMN * len(label_by_system) + aside + 0.3 * slanted
    wide = min(max(cells + needed * style.LETTER, style.COLUMN), style.WIDTH)
    return wide, min(int((wide - cells) / style.LETTER), _WORDS)


def draw_overall_score_map(
    grid: HeatMapRows, label_by_system: Mapping[Any, str], bounds: BandBounds, experiment: str
) -> Canvas:
    """Draw one panel: a column for each system, with its n below where these differ."""
    tall = 0.06 * max(map(len, label_by_system.values()))
    wide, words = heat_map_width_and_letters_per_line(grid.labels, label_by_system, grid.texts)
    drawing = style.make_canvas(wide, grid.panel_height_inches + tall + _FOOT + 0.45)
    style.write_figure_heading(drawing, experiment, grid.common_n_heading_or_empty)
    axes = drawing.subplots()
    values = grid.data.pivot_table(index="question", columns="system", values="m_all", sort=False)
    values = values.reindex(index=list(grid.labels), columns=list(label_by_system)).astype("float64").round(9)
    at = bounds.m_all_bounds
    written = values.map(lambda value: "" if np.isnan(value) else f"{value:.0f}" if value == 100 else f"{value:.1f}")  # noqa: PLR2004 - the highest there is
    _draw_cells(
        axes,
        values.to_numpy(),
        written.to_numpy(),
        _make_band_shades(M_ALL_RANGE[0], at.red, at.green, M_ALL_RANGE[1]),
        lambda value: classify_band(value, at),
    )
    if not grid.common_count_or_empty:
        for column, system in enumerate(label_by_system):
            numbers = grid.data.loc[grid.data["system"] == system, grid.count]
            axes.text(
                column + 0.5,
                len(values) + 0.5,
                _format_count_range(numbers),
                fontsize=style.TINY,
                ha="center",
                va="center",
            )
        axes.text(-0.12, len(values) + 0.5, "n", fontsize=style.TINY, style="italic", ha="right", va="center")
    axes.xaxis.tick_top()
    axes.set_xticks(
        np.arange(len(label_by_system)) + 0.5,
        list(label_by_system.values()),
        rotation=45,
        ha="left",
        rotation_mode="anchor",
    )
    axes.tick_params(length=0, pad=1)
    axes.set_ylim(len(values) + (0 if grid.common_count_or_empty else 1), 0)
    # Few systems leave room beside them rather than stretch.
    axes.set_xlim(0, len(label_by_system) if grid.texts else max(len(label_by_system), _ROOMY))
    axes.spines[:].set_visible(False)
    style.draw_lines_between_groups(axes, list(grid.groups.values()), (0, len(label_by_system)))
    # What is narrow comes first: on a phone the cells are seen before the rest of a question.
    style.write_row_labels(
        axes,
        grid.labels,
        grid.sources,
        middle_offset=0.5,
        text_by_row=grid.texts,
        max_letters=words,
        text_after_axes=True,
    )
    _draw_band_legend(drawing, has_absent_values=bool(values.isna().any(axis=None)))
    return drawing


def draw_overall_score_cells(axes: Axes, values: pd.DataFrame, bounds: BandBounds) -> None:
    """Draw a cell for each M_all (10 to 100) of a frame, as a whole number in the colour of its band."""
    at = bounds.m_all_bounds
    written = values.map(lambda value: "" if np.isnan(value) else f"{value:.0f}").to_numpy()
    shades = _make_band_shades(M_ALL_RANGE[0], at.red, at.green, M_ALL_RANGE[1])
    _draw_cells(axes, values.to_numpy(), written, shades, lambda value: classify_band(value, at))


def _format_count_range(numbers: pd.Series[Any]) -> str:
    """Return the n of a column: one number, from which to which, or `mean`."""
    lowest, highest = int(numbers.min()), int(numbers.max())
    return (
        style.format_count_or_mean_for_zero(highest)
        if lowest == highest
        else f"{style.format_count_or_mean_for_zero(lowest)}\u2013{highest}"
    )


def _draw_band_legend(drawing: Canvas, *, has_absent_values: bool) -> None:
    entries = [
        style.make_patch_legend_entry(name, facecolor=_STRONG[name], edgecolor=style.FAINT, linewidth=0.5)
        for name in reversed(style.BANDS)
    ]
    style.draw_legend(
        drawing,
        _add_band_corners_to_legend_entries(entries)
        + [style.make_patch_legend_entry("no value", **HATCH)] * has_absent_values,
    )


def _draw_system_cells(
    axes: Axes,
    rows: pd.DataFrame,
    grid: HeatMapRows,
    shades: tuple[ListedColormap, BoundaryNorm],
    bounds: BandBounds,
    font_size: float,
) -> None:
    """Draw the cells of one system, the band's corner in each, and n behind each row, where these differ."""
    from genaipa.reports.figures.words import DrawnTexts

    # An average that is exactly on a bound can come out of floating point a hair beside it.
    values = rows[list(grid.metric_headings)].astype("float64").round(9)
    written = values.map(lambda value: "" if np.isnan(value) else _format_metric_average(value))
    _draw_cells(
        axes, values.to_numpy(), written.to_numpy(), shades, lambda value: classify_band(value, bounds), font_size
    )
    if not grid.common_count_or_empty:
        behind = len(grid.metric_headings) + 0.12
        places = [(behind, row + 0.5) for row in range(len(rows))]
        numbers = [style.format_count_or_mean_for_zero(count) for count in rows[grid.count]]
        DrawnTexts(axes, numbers, places, style.INK, size=style.TINY, side="left").set_in_layout(False)
        axes.text(behind, -0.25, "n", fontsize=style.TINY, style="italic", va="bottom").set_in_layout(False)
    axes.set_xlim(0, len(grid.metric_headings) + (0 if grid.common_count_or_empty else _N / _CELL))
    axes.set_ylim(len(rows), 0)
    axes.xaxis.tick_top()
    axes.set_xticks(
        np.arange(len(grid.metric_headings)) + 0.5,
        list(grid.metric_headings.values()),
        rotation=60,
        ha="left",
        rotation_mode="anchor",
    )
    axes.tick_params(length=0, pad=1)
    axes.spines[:].set_visible(False)


def _draw_cells(
    axes: Axes,
    values: Any,
    cell_texts: Any,
    shades: tuple[ListedColormap, BoundaryNorm],
    band_of: Callable[[float], Band],
    font_size: float = 7.5,
) -> None:
    """Draw a coloured cell for each value, with its text and its band's corner; a hatched one for none."""
    from genaipa.reports.figures.words import DrawnTexts

    cmap, norm = shades
    mesh = axes.pcolormesh(values, cmap=cmap, norm=norm, edgecolors="white", linewidth=0.6)
    mesh.update_scalarmappable()  # its colours are there before it is drawn
    cells = {(column + 0.5, row + 0.5): text for (row, column), text in np.ndenumerate(cell_texts) if text}
    # All inside the axes: to measure them for the layout takes time for nothing.
    DrawnTexts(axes, list(cells.values()), list(cells), style.INK, size=font_size).set_in_layout(False)
    corners: dict[str, list[tuple[int, int]]] = {fill: [] for fill in _CORNERS.values()}
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            hatch_cell(axes, row, column)
        elif fill := _CORNERS.get(band_of(value)):
            corners[fill].append((row, column))
    for fill, cells_of in corners.items():
        mark_cell_corners(axes, cells_of, fill)


def hatch_cell(axes: Axes, row: int, column: int) -> None:
    """Hatch a cell that has no value."""
    from matplotlib.patches import Rectangle

    axes.add_artist(Rectangle((column + 0.03, row + 0.04), 0.94, 0.92, **HATCH)).set_in_layout(False)


def mark_cell_corners(axes: Axes, cells: Iterable[Sequence[int]], fill_colour: str) -> None:
    """Mark cells (row, column) by their upper left corners."""
    from matplotlib.collections import PolyCollection

    corners = [
        [(column + 0.04, row + 0.06), (column + 0.18, row + 0.06), (column + 0.04, row + 0.34)] for row, column in cells
    ]
    look: dict[str, Any] = {"facecolor": fill_colour, "edgecolor": style.INK, "linewidth": 0.4, "zorder": 1}
    axes.add_collection(PolyCollection(corners, **look), autolim=False).set_in_layout(False)


def _format_metric_average(value: float) -> str:
    """Return a metric's average as it is written in its cell, to one decimal; the ends of the scale and 0 have none."""
    return f"{round(value, 1) + 0.0:g}".replace("-", "\u2212")


def _make_band_shades(low: float, red: float, green: float, high: float) -> tuple[ListedColormap, BoundaryNorm]:
    """Colours that change their hue exactly at the bounds, and the values that each begins at."""
    from matplotlib.colors import BoundaryNorm, LinearSegmentedColormap, ListedColormap

    edges, colours = [low], []
    for name, end in zip(style.BANDS, (red, green, high), strict=True):
        if end > edges[-1]:
            between = LinearSegmentedColormap.from_list(name, [*_SHADES[name]], _STEPS)
            edges += np.linspace(edges[-1], end, _STEPS + 1)[1:].tolist()
            colours += [between(step) for step in range(_STEPS)]
    return ListedColormap(colours), BoundaryNorm(edges, len(colours))


def make_corner_legend_entry(label: str, fill_colour: str) -> tuple[Artist, str]:
    """Return an entry of a legend for a cell's corner."""
    looks = {"markersize": 5, "markeredgewidth": 0.4, "markeredgecolor": style.INK}
    return style.make_marker_legend_entry(
        label, marker=[(-1, 1), (1, 1), (-1, -1)], **looks, markerfacecolor=fill_colour
    )


def _add_band_corners_to_legend_entries(entries: Sequence[Any]) -> list[Any]:
    return [
        ((area, make_corner_legend_entry(name, _CORNERS[name])[0]), name) if name in _CORNERS else (area, name)
        for area, name in entries
    ]
