"""Heat maps of judges' own values, in grey: something to look at before people have scored, and no estimate."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genaipa.reports.figures import heatmap, style
from genaipa.reports.figures.figure import Figure
from genaipa.reports.figures.scope import ALONE, Scope
from genaipa.reports.judged.verdicts import LEAST
from genaipa.reports.table import SCALE, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure as Canvas

    from genaipa.reports.judged.verdicts import Verdicts

NAME = "judge-alone"
SAID = "judge alone: no estimate"
"""The words that are written over such a figure."""
_ROW, _LIGHTEST, _DARKEST = 0.185, 0.97, 0.55
"""Inches of a row; the greys of the lowest and the highest value."""
_ROOMY, _FLAT = 5, 9
"""Columns for which the narrowest figure has room; rows up to which the words over it lie flat."""


def alone_figures(given: Verdicts, frame: pd.DataFrame, scope: Scope = ALONE) -> list[Figure]:
    """A grey map for each judge that people can't be compared with yet: questions down, systems by name across."""
    columns = ["system", "answer", "question", "category", "source"]
    asked = frame.loc[(frame["unit"] == "answer") & (frame["answer"] != ""), ["run", "key", *columns]]
    places = asked.drop_duplicates(["run", "key"])[columns].astype("str")
    found = []
    judges = {name: side for name, side in given.judges.items() if given.both[name].sum() < LEAST}
    for number, (judge, side) in enumerate(judges.items(), 1):
        values = pd.Series(side.means[:, 0] * SCALE, given.answers, name="m_all10")
        rows = places.join(values, "answer").dropna(subset="m_all10")
        by = ["system", "question", "category", "source"]
        data = rows.groupby(by, as_index=False).agg(m_all10=("m_all10", "mean"), answers=("answer", "size"))
        if not data.empty:
            name = NAME if len(judges) == 1 else f"{NAME}-{number}"
            found += scope.pages([partial(_map, name, judge, data)])
    return found


def _map(name: str, judge: str, data: pd.DataFrame, scope: Scope) -> Figure:
    data = scope.only(data).sort_values(["system", "question"], kind="stable").reset_index(drop=True)
    groups, _ = style.questions(data, scope.in_order(dict.fromkeys(data["question"])))
    labels, systems = style.labels(groups, 12), style.labels(sorted(dict.fromkeys(data["system"])), 26)
    title = f"{style.one_line(judge)}: {SAID}"
    about = (
        "M_all (10 to 100) that the judge alone gave, averaged over documents and passes. Nobody knows how far it is "
        f"off before people score; systems are in the order of their names.{style.in_full(systems)}"
    )
    table = Table(
        name,
        title,
        about,
        data,
        {"m_all10": SAID},
        {"m_all10": ".1f"},
        faint=frozenset({"m_all10"}),
    )
    fits = int((style.WIDTH - 1.0) / heatmap.COLUMN)
    return Figure(name, title, about, table, lambda: _draw(data, groups, labels, systems), fits=fits)


def _draw(
    data: pd.DataFrame, groups: Mapping[Any, Any], labels: Mapping[Any, str], systems: Mapping[Any, str]
) -> Canvas:
    aside, tall = 0.35 + 0.075 * max(map(len, labels.values())), 0.06 * max(map(len, systems.values()))
    wide = max(heatmap.COLUMN * len(systems) + aside + 0.6 * tall, style.COLUMN)
    drawn = style.canvas(wide, len(labels) * _ROW + tall + 0.6)
    axes = drawn.subplots()
    values = data.pivot_table(index="question", columns="system", values="m_all10")
    values = values.reindex(index=list(labels), columns=list(systems))
    shades = np.ma.masked_invalid(_LIGHTEST - (values.to_numpy() - 10) / 90 * (_LIGHTEST - _DARKEST))
    axes.pcolormesh(shades, cmap="gray", vmin=0, vmax=1, edgecolors="white", linewidth=0.6)
    for (row, column), value in np.ndenumerate(values.to_numpy()):
        if not np.isnan(value):
            axes.text(column + 0.5, row + 0.5, f"{value:.0f}", fontsize=7.5, color=style.INK, ha="center", va="center")
    axes.xaxis.tick_top()
    names = list(systems.values())
    axes.set_xticks(np.arange(len(names)) + 0.5, names, rotation=45, ha="left", rotation_mode="anchor")
    axes.tick_params(length=0, pad=1)
    axes.set_xlim(0, max(len(names), _ROOMY))
    axes.set_ylim(len(labels), 0)
    axes.spines[:].set_visible(False)
    style.part_groups(axes, list(groups.values()), (0, len(names)))
    style.name_rows(axes, labels, {}, at=0.5)
    middle = len(names) / 2, len(labels) / 2
    axes.text(*middle, SAID, fontsize=16, color="white", alpha=0.55, rotation=90 if len(labels) > _FLAT else 0,
              ha="center", va="center", zorder=5).set_in_layout(False)  # fmt: skip
    return drawn
