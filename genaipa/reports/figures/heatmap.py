"""Heat maps: questions or categories down, the five metrics across (paper, figures 2b, 3b, 4b and 6b).

A cell's colour is that of its band, the stronger the farther into it; its value is written, and a corner marks Yellow
and Red for those who see no colour.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.colors import BoundaryNorm, LinearSegmentedColormap, ListedColormap
from matplotlib.patches import Polygon, Rectangle

from genaipa.reports.figures import style
from genaipa.reports.figures.figure import Figure
from genaipa.reports.table import Table
from genaipa.scoring.overall import Bounds, band
from genaipa.scoring.rubric import METRICS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_SHADES = {"Red": ("#d9793d", "#f9e3d5"), "Yellow": ("#fcf8d4", "#fcf8d4"), "Green": ("#dcf0e9", "#45b197")}
"""Band → colours of its lowest and highest value, all light enough for dark text."""
_STEPS = 8
_CORNERS = {"Red": style.INK, "Yellow": "white"}
"""Band → what its corner is filled with."""
_HATCH: dict[str, Any] = {"facecolor": "#f4f4f4", "edgecolor": "#bdbdbd", "hatch": "xxxx", "linewidth": 0}
_CELL, _ROW, _N = 0.355, 0.185, 0.34
"""Inches of a cell across, of a row, and of the n behind it."""


@dataclass(frozen=True)
class Grid:
    """What a heat map shows: the table's rows, what identifies one, and how it is labelled.

    `keys` are the columns that identify a row within a system, `count` is the column that n comes from. `labels` (in
    the order of rows), `groups` and `sources` (where a row is a question) go by the key.
    """

    data: pd.DataFrame
    keys: list[str]
    count: str
    labels: Mapping[Any, str]
    groups: Mapping[Any, Any]
    sources: Mapping[Any, str] = field(default_factory=dict)


def by_question(table: Table, experiment: str, bounds: Bounds | None = None) -> Figure | None:
    """Questions down, metrics across, a panel per system, for one experiment; None without a value."""
    bounds, data = bounds or Bounds(), _of(table, experiment)
    if data.empty:
        return None
    groups, sources = style.questions(data)
    grid = Grid(data, ["question"], "documents", style.labels(groups, 12), groups, sources)
    note = (
        f"Averages of the five metrics by question, grouped by category. {style.SOURCES_IN_WORDS} n is the number of "
        "documents that the metrics are averaged over, the fewest where they differ; 'mean' stands where the source "
        f"gives only the mean over its documents.{style.in_full(grid.labels)}"
    )
    return figure(style.stem(experiment, "metrics"), style.headline(experiment), note, table, grid, bounds)


def by_category(table: Table, experiment: str, bounds: Bounds | None = None) -> Figure | None:
    """Categories down, metrics across, a panel per system, for one experiment; None without a value."""
    bounds, data = bounds or Bounds(), _of(table, experiment)
    if data.empty:
        return None
    order = style.ordered(data["category"])
    grid = Grid(data, ["category"], "questions", style.labels(order, 18), dict.fromkeys(order, ""))
    note = (
        "Averages of the five metrics by category of questions. n is the number of questions that have these metrics, "
        "the fewest where they differ."
        f"{style.in_full(grid.labels)}"
    )
    return figure(style.stem(experiment, "categories"), style.headline(experiment), note, table, grid, bounds)


def figure(name: str, title: str, note: str, table: Table, grid: Grid, bounds: Bounds) -> Figure:
    """The figure of a grid; `note` is the beginning of its caption."""
    systems = style.labels(style.ordered(grid.data["system"]), 26)
    note = (
        f"{note} Bands: {bounds.in_words}; a filled corner marks Red, an open one Yellow; a hatched cell has no value; "
        "the darker a Green or Red, the farther it is from its bound."
        f"{style.in_full(systems)} {table.note}"
    )
    drawn = Table(name, title, note, grid.data.reset_index(drop=True), table.headings, table.formats)
    return Figure(name, title, note, drawn, lambda: _draw(grid, systems, bounds))


def _of(table: Table, experiment: str) -> pd.DataFrame:
    """The rows of one experiment that have a metric."""
    if not table:
        return table.data
    return table.data[table.data["experiment"] == experiment].dropna(subset=list(METRICS), how="all")


def _draw(grid: Grid, systems: Mapping[Any, str], bounds: Bounds) -> Canvas:
    down, across = style.panels(len(systems), 3)
    aside = 0.25 + 0.075 * max(map(len, grid.labels.values()))
    wide = min(max(across * (_CELL * len(METRICS) + _N) + aside, style.COLUMN), style.WIDTH)
    drawn = style.canvas(wide, down * (len(grid.labels) * _ROW + 1.15) + 0.35)
    panels = drawn.subplots(down, across, sharey=True, squeeze=False)
    shades = _shades(bounds)
    for axes, (system, label) in zip(panels.flat, systems.items(), strict=False):
        rows = grid.data[grid.data["system"] == system].set_index(grid.keys if len(grid.keys) > 1 else grid.keys[0])
        _draw_panel(axes, rows.reindex(list(grid.labels)), grid, shades, bounds)
        axes.set_title(label)
        style.part_groups(axes, list(grid.groups.values()), (0, len(METRICS)))
    style.bottom(panels, len(systems))
    for axes in panels[:, 0]:
        style.name_rows(axes, grid.labels, grid.sources, at=0.5)
    entries = [
        style.patch(name, facecolor=style.BAND_TINTS[name], edgecolor=style.FAINT, linewidth=0.5)
        for name in reversed(style.BANDS)
    ]
    absent = grid.data[list(METRICS)].isna().any(axis=None) or len(grid.data) < len(grid.labels) * len(systems)
    style.legend(drawn, _with_corners(entries) + [style.patch("no value", **_HATCH)] * bool(absent))
    return drawn


def _draw_panel(
    axes: Axes, rows: pd.DataFrame, grid: Grid, shades: tuple[ListedColormap, BoundaryNorm], bounds: Bounds
) -> None:
    """The cells of one system, the band's corner in each, and n behind each row."""
    import seaborn as sns

    # An average that is exactly on a bound can come out of floating point a hair beside it.
    values = rows[list(METRICS)].astype("float64").round(9)
    written = values.map(lambda value: "" if np.isnan(value) else _number(value))
    cmap, norm = shades
    sns.heatmap(
        values.to_numpy(),
        ax=axes,
        cmap=cmap,
        norm=norm,
        annot=written.to_numpy(),
        fmt="",
        annot_kws={"fontsize": 7.5, "color": style.INK},
        cbar=False,
        xticklabels=False,
        yticklabels=False,
        linewidths=0.6,
        linecolor="white",
    )
    for (row, column), value in np.ndenumerate(values.to_numpy()):
        if np.isnan(value):
            axes.add_patch(Rectangle((column + 0.03, row + 0.04), 0.94, 0.92, **_HATCH))
        elif (found := band(value, bounds)) in _CORNERS:
            axes.add_patch(_corner(column, row, _CORNERS[found]))
    for row, count in enumerate(rows[grid.count]):
        axes.text(len(METRICS) + 0.12, row + 0.5, style.count(count), fontsize=style.TINY, va="center")
    axes.text(len(METRICS) + 0.12, -0.25, "n", fontsize=style.TINY, style="italic", va="bottom")
    for artist in (*axes.texts, *axes.patches):
        artist.set_in_layout(False)  # all inside the axes: to measure each is what takes the time
    axes.set_xlim(0, len(METRICS) + _N / _CELL)
    axes.xaxis.tick_top()
    axes.set_xticks(np.arange(len(METRICS)) + 0.5, list(METRICS), rotation=45, ha="left", rotation_mode="anchor")
    axes.tick_params(length=0, pad=1)
    axes.set(xlabel="", ylabel="")
    axes.spines[:].set_visible(False)


def _number(value: float) -> str:
    """A metric's average as it is written in its cell; what rounds to nothing has no sign."""
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "\u2212")


def _shades(bounds: Bounds) -> tuple[ListedColormap, BoundaryNorm]:
    """Colours that change their hue exactly at the bounds, and the values that each begins at."""
    edges, colours = [-1.0], []
    for name, high in zip(style.BANDS, (bounds.red, bounds.green, 1.0), strict=True):
        if high > edges[-1]:
            between = LinearSegmentedColormap.from_list(name, _SHADES[name], _STEPS)
            edges += np.linspace(edges[-1], high, _STEPS + 1)[1:].tolist()
            colours += [between(step) for step in range(_STEPS)]
    return ListedColormap(colours), BoundaryNorm(edges, len(colours))


def _corner(column: float, row: float, fill: str) -> Polygon:
    """The mark of a band in the upper left corner of a cell."""
    points = [(column + 0.04, row + 0.06), (column + 0.18, row + 0.06), (column + 0.04, row + 0.34)]
    return Polygon(points, closed=True, facecolor=fill, edgecolor=style.INK, linewidth=0.4)


def _with_corners(entries: Sequence[Any]) -> list[Any]:
    """The bands' entries of the legend, each with its corner."""
    corner = [(-1, 1), (1, 1), (-1, -1)]
    looks = {"marker": corner, "markersize": 5, "markeredgewidth": 0.4, "markeredgecolor": style.INK}
    return [
        ((area, style.mark(name, **looks, markerfacecolor=_CORNERS[name])[0]), name)
        if name in _CORNERS
        else (area, name)
        for area, name in entries
    ]
