"""Changes over time: systems that were asked the same plan on several days."""

from __future__ import annotations

from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from genaipa.reports.chapters.chapter import Chapter, present
from genaipa.reports.figures import style
from genaipa.reports.figures.figure import ALONE, Figure, Scope
from genaipa.reports.occasions import MEASURES, changes, judged_again
from genaipa.runs.selection import occasions

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from matplotlib.figure import Figure as Canvas

    from genaipa.reports.gather import Gathered
    from genaipa.reports.table import Table

_ACROSS = 2
_TICKS = 4
"""Days that an axis names at most."""
_SERVED = {"color": style.FAINT, "linewidth": 0.8, "linestyle": ":"}


def chapter(gathered: Gathered, scope: Scope) -> Chapter:
    """Changes between the days on which a system was asked the same."""
    found = occasions(gathered.sources)
    made = changes(gathered.frame, found, judged_again(gathered)) if found else None
    days = ", ".join(f"{system} on {len(each)} days" for system, each in found.items())
    return Chapter(
        "over-time",
        "Over time",
        f"Asked the same on several days: {days}. Averages of the other chapters take these days for repetitions."
        if found
        else "",
        present(made) if made is not None else [],
        scope.pages([partial(over_time_figure, made)]) if made is not None else [],
    )


def over_time_figure(found: Table, scope: Scope = ALONE) -> Figure | None:
    """Draw each measure's difference from the first occasion, day by day, with intervals; None without any."""
    every = scope.only(found.data).reset_index(drop=True)
    moved = set(every.loc[every["difference"].abs() > 0, "measure"])
    data = every[every["measure"].isin(moved)]
    if data.empty:
        return None
    still = [measure for measure in MEASURES if measure in set(every["measure"]) - moved]
    return Figure(
        "over-time",
        "Changes over time",
        "Difference from the first occasion, with its 95 % interval over questions, for these questions and documents; "
        "a filled mark is more than chance by Holm's method. A dotted line: the provider served another model."
        + (f" The same on every day: {', '.join(still)}." if still else ""),
        found,
        lambda: _draw(data, scope),
    )


def _draw(data: pd.DataFrame, scope: Scope) -> Canvas:
    measures = [measure for measure in MEASURES if measure in set(data["measure"])]
    down, across = style.panels(len(measures), _ACROSS)
    drawn = style.canvas(style.WIDTH, 0.5 + 1.55 * down)
    panels = drawn.subplots(down, across, squeeze=False, sharex=True)
    marks, days = scope.marks(list(data["system"])), sorted(set(data["occasion"]))
    for axes, measure in zip(panels.flat, measures, strict=False):
        axes.axhline(0, color=style.INK, linewidth=0.8, zorder=1)
        axes.set_title(measure, fontsize=style.SMALL)
        for system, rows in data[data["measure"] == measure].groupby("system", observed=True, sort=False):
            _draw_line(axes, rows, marks[system])
        ticks = days[:: -(-len(days) // _TICKS)]
        axes.set_xticks(_dates(ticks), ticks)
    style.bottom(panels, len(measures))
    names = style.brief(dict.fromkeys(data["system"]))
    style.legend(drawn, [style.mark(label, **marks[system]) for system, label in names.items()])
    return drawn


def _dates(days: Iterable[str]) -> list[int]:
    """Days as numbers, so that months without an occasion are as long as others."""
    return [date.fromisoformat(day).toordinal() for day in days]


def _draw_line(axes: Any, rows: pd.DataFrame, look: dict[str, Any]) -> None:
    """One system's differences, day by day."""
    days = _dates(rows["occasion"])
    values = rows["difference"].to_numpy(dtype=float)
    ends = rows[["low", "high"]].to_numpy(dtype=float)
    reach = np.abs(np.where(np.isnan(ends), values[:, None], ends) - values[:, None]).T
    colour = look["color"]
    axes.errorbar(days, values, yerr=reach, color=colour, linewidth=0.9, elinewidth=0.7, capsize=1.5)
    sure = rows["meaning"].isin(["higher", "lower"]).to_numpy()
    marker = {"marker": look.get("marker", "o"), "linestyle": "none", "color": colour, "markersize": 4}
    for filled, face in ((sure, colour), (~sure, "white")):
        axes.plot(np.array(days)[filled], values[filled], **marker, markerfacecolor=face)
    served = rows["served"].tolist()
    for place in range(1, len(served)):
        if served[place] != served[place - 1]:
            axes.axvline(days[place], **_SERVED)
