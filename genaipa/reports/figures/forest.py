"""Intervals drawn in rows: averages under the name of their system, and the forest plot of two systems' differences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from genaipa.reports.figures import style
from genaipa.reports.figures.figure import Figure
from genaipa.reports.significance import OTHER_PEOPLE, OVERALL, holds_widely

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from genaipa.reports.table import Table


ROW, HEAD, FOOT = 0.2, 0.24, 0.95
"""Inches of a row, of a system's name, and of the axes with the legend."""
_APART = 1.3
"""Rows that the single row of a system takes."""
READING = (
    "Thick lines: intervals for these documents; thin lines: for policies like these, where there are enough documents."
)


@dataclass(frozen=True)
class Rows:
    """Layout of the rows: (system, key) → its place down the axes, with the name beside it."""

    heads: Mapping[float, str]
    places: Mapping[tuple[Hashable, Hashable], float]
    names: Mapping[float, str]
    end: float

    @classmethod
    def of(
        cls, systems: Mapping[Any, str], rows: Iterable[tuple[Hashable, Hashable, str]], *, heads: bool = True
    ) -> Rows:
        """Lay out rows (system, key, name) under `systems` (name → what is drawn for it).

        Without `heads`, and where all systems have the same single row, it has the system's name, and no other.
        """
        named, places, names, at = {}, {}, {}, 0.0
        every = list(rows)
        if not heads and len(every) == len(systems) and len({key for _, key, _ in every}) == 1:
            alone = {(system, every[0][1]): number * _APART for number, system in enumerate(systems)}
            return cls({}, alone, dict(zip(alone.values(), systems.values(), strict=True)), len(systems) * _APART)
        for system, label in systems.items():
            named[at] = label
            for _, key, name in (row for row in every if row[0] == system):
                at += 1.0
                places[system, key] = at
                names[at] = name
            at += HEAD / ROW
        return cls(named, places, names, at)

    def canvas(self, across: Sequence[float], *, foot: float = FOOT) -> tuple[Canvas, list[Axes]]:
        """A canvas with panels of these widths beside each other, the rows named; `foot` is for what is below them."""
        drawn = style.canvas(style.WIDTH, ROW * self.end + foot)
        panels = list(drawn.subplots(1, len(across), sharey=True, width_ratios=list(across), squeeze=False)[0])
        for axes in panels:
            axes.tick_params(axis="y", length=0)
        for place, label in self.heads.items():
            text = panels[0].annotate(
                label, (0, place), (3, 0), xycoords=("axes fraction", "data"), textcoords="offset points"
            )
            # No line of the panel goes through a name.
            text.set(weight="bold", va="center", bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
        panels[0].set_yticks(list(self.names), list(self.names.values()))
        panels[0].set_ylim(self.end - 0.5, -0.7)
        return drawn, panels

    def line(self, axes: Axes, **look: Any) -> None:
        """Draw zero beside each system's rows, and through no name."""
        for system in dict.fromkeys(system for system, _ in self.places):
            places = [place for (of, _), place in self.places.items() if of == system]
            axes.vlines(0, min(places) - 0.5, max(places) + 0.5, **look)


def fits(rows: int) -> int:
    """Number of systems with this many rows that fit a page."""
    return max(int((style.HEIGHT - FOOT) / (ROW * rows + HEAD)), 1)


def draw(axes: Axes, row: Mapping[Any, Any], place: float, look: Mapping[str, Any]) -> None:
    """Draw a mean with both of its intervals, where it has them."""
    for ends, width in ((("policies_low", "policies_high"), 0.7), (("low", "high"), 2.0)):
        axes.plot([row[end] for end in ends], [place] * 2, color=look["color"], linewidth=width, zorder=2)
    axes.plot([row["mean"]], [place], **look, markersize=4.5, linestyle="none", zorder=3)


_LOOKS: dict[str, dict[str, Any]] = {
    "holds for policies like these": {"marker": "o", "color": style.COLOURS[0], "markerfacecolor": style.COLOURS[0]},
    "holds for these documents": {"marker": "s", "color": style.COLOURS[1], "markerfacecolor": "white"},
    "may be chance": {"marker": "o", "color": style.INK, "markerfacecolor": "white"},
    "too few questions to test": {"marker": "d", "color": style.FAINT, "markerfacecolor": "white"},
}
"""Meaning of a mark → its style; distinct in shape and filling as well as in colour."""
_INTERVALS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "for these documents": ("low", "high", {"linewidth": 2.6, "solid_capstyle": "butt"}),
    "for policies like these": ("policies_low", "policies_high", {"linewidth": 0.8, "marker": "|", "markersize": 5.0}),
}
"""Target of an interval → its columns, and its line: thick, or thin with caps."""
_ROW = 0.17


def forest(table: Table, first: str, second: str) -> Figure | None:
    """The forest plot of a comparison's table, the first minus the second; None if the table is empty."""
    if not table:
        return None
    names = style.labels((first, second), 30)
    title = f"{names[first]} against {names[second]}"
    note = (
        f"Differences, {first} minus {second}, for groups of questions, with both intervals; n is the number of "
        "questions. Thick: for these documents; thin, with caps: for policies like these. A filled circle holds for "
        "policies like these, an open square for these documents, after Holm's correction within the family, to which "
        "the intervals belong; a thin diamond: too few questions to test. An arrowhead is where an interval goes on "
        "beyond the panel. "
        f"{table.note}"
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
        reach = _reach(rows if measure == OVERALL else data[data["measure"] != OVERALL])
        axes.set_xlim(-reach, reach)
        _draw_panel(axes, rows, groups)
        axes.set_title(measure)
    panels.flat[0].set_yticks(range(len(groups)), [style.short(style.GROUPS.get(group, group), 18) for group in groups])
    panels.flat[0].set_ylim(len(groups) - 0.4, -0.6)
    for axes in style.bottom(panels, len(measures)):
        axes.set_xlabel(
            f"\u2190 {style.short(second, 12)} higher | {style.short(first, 12)} higher \u2192", fontsize=style.TINY
        )
    lines = [style.mark(target, linestyle="-", color=style.INK, **look) for target, (*_, look) in _INTERVALS.items()]
    style.legend(drawn, [*(style.mark(said, **look) for said, look in _LOOKS.items()), *lines])
    return drawn


def _reach(rows: pd.DataFrame) -> float:
    """The end of a panel's axis: all of the tested rows is to be seen, and the differences of the others."""
    tested = rows[rows["test"] != "none"]
    shown = rows if tested.empty else tested
    furthest = shown[["low", "high", "policies_low", "policies_high"]].abs().max().max()
    return float(1.08 * np.nanmax([furthest, rows["difference"].abs().max(), 0.1]))


def _draw_panel(axes: Axes, rows: pd.DataFrame, groups: Sequence[str]) -> None:
    """One measure: a mark with its intervals for each group, and n at the edge."""
    axes.axvline(0, color=style.FAINT, linewidth=0.8, zorder=0)
    for row in rows.to_dict("records"):
        place, look = groups.index(row["questions"]), _LOOKS[_said(row)]
        for low, high, line in _INTERVALS.values():
            axes.plot([row[low], row[high]], [place, place], color=look["color"], **line)
            edge = axes.get_xlim()[1]
            for end, sign in ((row[low], "<"), (row[high], ">")):
                if abs(end) > edge:
                    axes.plot(np.copysign(0.98 * edge, end), place, sign, color=look["color"], markersize=4)
        axes.plot(row["difference"], place, linestyle="none", markersize=4.5, **look)
        axes.annotate(
            f"n={row['n']}", (1.02, place), xycoords=("axes fraction", "data"), fontsize=style.TINY, va="center"
        )
    axes.tick_params(axis="y", length=0)


def _said(row: dict[Any, Any]) -> str:
    general, here, chance, untested = _LOOKS
    if row["test"] == "none":
        return untested
    if row["meaning"] == OTHER_PEOPLE:
        return chance
    if holds_widely(row):
        return general
    return here if row["p_holm"] < row["level"] else chance
