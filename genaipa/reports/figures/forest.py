"""Differences between two systems: a forest plot with intervals, a panel per measure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from genaipa.reports.figures import style
from genaipa.reports.figures.figure import Figure
from genaipa.reports.significance import OVERALL, SIGNIFICANT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from genaipa.reports.table import Table

_LOOKS: dict[str, dict[str, Any]] = {
    "holds after Holm's correction": {"marker": "o", "color": style.COLOURS[0], "markerfacecolor": style.COLOURS[0]},
    "may be chance": {"marker": "o", "color": style.INK, "markerfacecolor": "white"},
    "too few questions to test": {"marker": "d", "color": style.FAINT, "markerfacecolor": "white"},
}
"""Meaning of a mark → its style; told by shape and filling as well as by colour."""
_ROW = 0.17


def forest(table: Table, first: str, second: str) -> Figure | None:
    """The forest plot of a comparison's table, the first minus the second; None if the table is empty."""
    if not table:
        return None
    names = style.labels((first, second), 30)
    title = f"{names[first]} against {names[second]}"
    note = (
        f"Differences, {first} minus {second}, for groups of questions, with their intervals; n is the number of "
        f"questions. Filled: it holds after Holm's correction; a thin diamond: too few questions to test. {table.note}"
    )
    drawn = replace(table, name="differences", note=note)
    return Figure("differences", title, note, drawn, lambda: _draw(table.data, names[first], names[second]))


def _draw(data: pd.DataFrame, first: str, second: str) -> Canvas:
    measures, groups = style.ordered(data["measure"]), style.ordered(data["questions"])
    down, across = style.panels(len(measures), 3)
    drawn = style.canvas(style.WIDTH, down * (_ROW * len(groups) + 0.75) + 0.45)
    panels = drawn.subplots(down, across, sharey=True, squeeze=False)
    for axes, measure in zip(panels.flat, measures, strict=False):
        rows = data[data["measure"] == measure]
        # The metrics have one scale.
        alike = rows if measure == OVERALL else data[data["measure"] != OVERALL]
        reach = 1.08 * max(alike[["difference", "low", "high"]].abs().max().max(), 0.1)
        axes.set_xlim(-reach, reach)
        _draw_panel(axes, rows, groups)
        axes.set_title(measure)
    panels.flat[0].set_yticks(range(len(groups)), [style.short(style.GROUPS.get(group, group), 18) for group in groups])
    panels.flat[0].set_ylim(len(groups) - 0.4, -0.6)
    for axes in style.bottom(panels, len(measures)):
        axes.set_xlabel(
            f"\u2190 {style.short(second, 12)} higher | {style.short(first, 12)} higher \u2192", fontsize=style.TINY
        )
    style.legend(drawn, [style.mark(said, linestyle="-", **look) for said, look in _LOOKS.items()])
    return drawn


def _draw_panel(axes: Axes, rows: pd.DataFrame, groups: Sequence[str]) -> None:
    """One measure: a mark with its interval for each group, and n at the edge."""
    axes.axvline(0, color=style.FAINT, linewidth=0.8, zorder=0)
    for row in rows.to_dict("records"):
        place, look = groups.index(row["questions"]), _LOOKS[_said(row)]
        axes.plot([row["low"], row["high"]], [place, place], color=look["color"], solid_capstyle="butt")
        axes.plot(row["difference"], place, linestyle="none", markersize=4.5, **look)
        axes.annotate(f"n={row['n']}", (1, place), xycoords=("axes fraction", "data"), fontsize=style.TINY, va="center")
    axes.tick_params(axis="y", length=0)


def _said(row: dict[Any, Any]) -> str:
    holds, chance, untested = _LOOKS
    if row["test"] == "none":
        return untested
    return holds if row["p_holm"] < SIGNIFICANT else chance
