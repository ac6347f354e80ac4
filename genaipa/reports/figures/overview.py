"""The first picture of a report: each system's average with its intervals, and beside it categories of questions.

It is read with the table of differences: two intervals that overlap don't say that two systems are alike.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genaipa.reports import averages
from genaipa.reports.averages import BOTH
from genaipa.reports.figures import forest, heatmap, style
from genaipa.reports.figures.figure import Figure
from genaipa.reports.table import Table, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from genaipa.reports.figures.figure import Scope
    from genaipa.scoring.rubric import Bounds

NAME = "overview"
_MOST = 8
"""Systems that are drawn, the best first."""
_ROW, _HEAD = 0.235, 0.62
"""Inches of a row, and of what is above and below the rows."""
_WRAPPED = 27
"""Characters of a category's name in a line."""
_ROOM = 12.0
"""Behind 100, for the number beside each interval."""


def numbers(board: Table, cells: pd.DataFrame) -> Table:
    """Averages of the systems of a leaderboard over all questions (category `all`), and over each category.

    `cells` are the weighted cells (`averages.weighted`) that the leaderboard averages.
    """
    systems = list(board.data["system"])[:_MOST]
    columns = ["system", "category", "mean", *BOTH]
    whole = board.data.head(_MOST).rename(columns={"m_all10": "mean"}).assign(category="all")
    rows = averages.summed_up(cells, ["system", "category"], lambda some: averages.mean_of(some, "m_all10"))
    rows = rows[rows["system"].isin(systems) & (rows["category"].astype(str) != "")]
    found = pd.concat([whole, rows.astype({"system": str, "category": str})])[columns]
    # One category says what the average says.
    found = found if len(set(rows["category"])) > 1 else found[found["category"] == "all"]
    left = len(board.data) - len(systems)
    return table(
        NAME,
        "Systems, and where they are strong",
        "M_all (10 to 100) of each system over all questions, and over each category of questions."
        f"{f' The best {_MOST} systems; {left:,} more are in the leaderboard.' if left > 0 else ''}",
        found,
        columns,
    )


def figure(found: Table, scope: Scope) -> Figure | None:
    """Systems down with both intervals, and categories down with systems across; None without a system."""
    if not found:
        return None
    systems = style.brief(dict.fromkeys(found.data["system"]), 20)
    note = f"{found.note} {forest.READING} {style.bands_in_words(scope.bounds)}{style.in_full(systems)}"
    data = found.data
    return Figure(NAME, found.title, note, found, lambda: _draw(data, systems, scope), caption=found.note)


def _draw(data: pd.DataFrame, systems: Mapping[Any, str], scope: Scope) -> Canvas:
    categories = [name for name in dict.fromkeys(data["category"]) if name != "all"]
    rows = max(len(systems) * 1.3, len(categories))
    drawn = style.canvas(style.WIDTH, _ROW * rows + _HEAD + 0.25)
    if not categories:
        _draw_systems(drawn.subplots(), data, systems, scope)
        return drawn
    # The names of the categories take about as much as five columns.
    across = (3.1, 0.55 * len(systems))
    left, right = drawn.subplots(1, 2, width_ratios=across)
    _draw_systems(left, data[data["category"] == "all"], systems, scope)
    _draw_categories(
        right, data, systems, {name: scope.categories.get(name, name) for name in categories}, scope.bounds
    )
    return drawn


def _draw_systems(axes: Axes, data: pd.DataFrame, systems: Mapping[Any, str], scope: Scope) -> None:
    style.quality_axis(axes, scope.bounds, room=_ROOM)
    marks = scope.marks(list(systems))
    for place, row in enumerate(data.to_dict("records")):
        forest.draw(axes, row, place, marks[row["system"]])
        axes.text(103, place, f"{row['mean']:.0f}", va="center", weight="bold", fontsize=style.TEXT)
    axes.set_yticks(range(len(systems)), list(systems.values()))
    axes.set_ylim(len(systems) - 0.45, -0.55)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("M_all, with its 95 % intervals")


def _draw_categories(
    axes: Axes, data: pd.DataFrame, systems: Mapping[Any, str], categories: Mapping[str, str], bounds: Bounds
) -> None:
    values = data.pivot_table(index="category", columns="system", values="mean", sort=False)
    values = values.reindex(index=list(categories), columns=list(systems)).astype("float64").round(9)
    heatmap.draw_overall_cells(axes, values, bounds)
    names = ["\n".join(textwrap.wrap(style.short(name, 2 * _WRAPPED), _WRAPPED)) for name in categories.values()]
    small = style.TINY if any("\n" in name for name in names) else style.SMALL
    axes.set_yticks(np.arange(len(names)) + 0.5, names, fontsize=small, linespacing=0.95)
    _name_columns(axes, list(systems.values()))
    axes.set_ylim(len(names), 0)
    axes.set_xlim(0, len(systems))
    axes.tick_params(length=0, pad=2)
    axes.spines[:].set_visible(False)


def _name_columns(axes: Axes, names: Sequence[str]) -> None:
    """Write the systems above their columns: level where they are short, else slanted."""
    level = max(map(len, names)) <= 11 and len(names) <= 4  # noqa: PLR2004 - what fits
    look: dict[str, Any] = {} if level else {"rotation": 30, "ha": "left", "rotation_mode": "anchor"}
    axes.xaxis.tick_top()
    axes.set_xticks(np.arange(len(names)) + (0.5 if level else 0.3), list(names), **look)
