"""Figures of two measures beside each other, such as what is followed and what stays: by system, and by group."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.reports.figures import style
from genaipa.reports.figures.figure import Figure
from genaipa.reports.table import Table, table
from genaipa_suites.report.merit import LEVEL
from genaipa_suites.report.tables import headed, percent, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from genaipa_suites.measure import Measure
    from genaipa_suites.report.drawings import Marks
    from genaipa_suites.report.scored import Scored

_ROW, _CLOSE = 0.26, 0.15
"""Inches of a system's row, and of a system within a group."""
_AROUND = 1.15
"""Inches of title, axis and legend."""
_MOST = 12
"""Systems of a figure by group."""


def by_system(scored: Scored, marks: Marks) -> Figure | None:
    """Both measures of every system that was asked, with their intervals; None if the suite lacks them."""
    measures = _measures(scored)
    rows = [
        {"system": row.label, "kind": row.kind}
        | {name: value for one in measures for name, value in percent(row.counts.merit(one), one.name).items()}
        for row in scored.asked
        if row.counts is not None
    ]
    if not measures or not rows:
        return None
    names = [measure.name for measure in measures]
    numbers = table(
        f"{scored.board.stem}-beside",
        f"{scored.board.title}: {' and '.join(one.heading for one in measures)}",
        f"Percentages. {scored.units.population}",
        pd.DataFrame(rows),
        ["system", "kind", *(f"{name}{end}" for name in names for end in ("", "_low", "_high"))],
        headings=headed(measures),
        formats=written(names),
    )
    about = (
        f"{measures[0].heading.capitalize()} (left) and {measures[1].heading} (right) in per cent, with {LEVEL} % "
        f"intervals. {' '.join(f'{one.heading.capitalize()}: {one.definition}' for one in measures)} "
        f"{scored.units.population}"
    )
    title = _finding(numbers.data, measures, scored.units.clusters)
    return Figure(numbers.name, title, about, numbers, lambda: _draw_systems(numbers.data, measures, marks))


def by_group(scored: Scored, grouping: str, made: Table, marks: Marks) -> Figure | None:
    """Both measures in each group of items, of the table of a break-down; None if the suite lacks them."""
    measures = _measures(scored)
    shown = [row.label for row in scored.asked if row.kind == "system"] or [row.label for row in scored.asked]
    data = made.data[made.data["system"].isin(shown[:_MOST])]
    if not measures or data.empty:
        return None
    left = f" Of {len(shown)} systems the first {_MOST}." if len(shown) > _MOST else ""
    about = (
        f"{measures[0].heading.capitalize()} (left) and {measures[1].heading} (right) in per cent by {grouping}, with "
        f"{LEVEL} % intervals; n is how many {scored.units.clusters} a group has.{left} {scored.units.population}"
    )
    title = _worst_group(data, measures[1], grouping, scored.board.title)
    return Figure(made.name, title, about, made, lambda: _draw_groups(data, measures, marks))


def _measures(scored: Scored) -> list[Measure]:
    names = scored.board.suite.beside
    return [one for name in names for one in scored.measures if one.name == name]


def _finding(data: pd.DataFrame, measures: Sequence[Measure], clusters: str) -> str:
    """The systems that are highest and lowest in the second measure; one system alone in both."""
    first, second = measures
    asked = data[data["kind"] == "system"] if (data["kind"] == "system").any() else data
    known = asked.dropna(subset=second.name).sort_values(second.name, ascending=False)
    if known.empty:
        return f"{first.heading.capitalize()} and {second.heading}: of no {clusters}"
    most, least = known.iloc[0], known.iloc[-1]
    if len(known) == 1:
        other = f"{first.heading} {_percent(most[first.name])}, " if not isnan(most[first.name]) else ""
        return f"{most['system']}: {other}{second.heading} {_percent(most[second.name])}"
    if most[second.name] == least[second.name]:
        return f"Every system {second.heading} alike: {_percent(most[second.name])}"
    return (
        f"{most['system']} {second.heading} most ({_percent(most[second.name])}), {least['system']} least "
        f"({_percent(least[second.name])})"
    )


def _worst_group(data: pd.DataFrame, measure: Measure, grouping: str, board: str) -> str:
    known = data.dropna(subset=measure.name)
    if known.empty or not known[measure.name].max():
        return f"{board}: in no {grouping} a system {measure.heading}"
    worst = known.sort_values(measure.name, ascending=False, kind="stable").iloc[0]
    return f"{worst['system']} {measure.heading} most in {worst['group']} ({_percent(worst[measure.name])})"


def _percent(value: float) -> str:
    return f"{value:.0f} %"


def _draw_systems(data: pd.DataFrame, measures: Sequence[Measure], marks: Marks) -> Canvas:
    drawn = style.canvas(style.WIDTH, _AROUND - 0.4 + _ROW * len(data))
    panels = drawn.subplots(1, 2, sharey=True)
    labels = style.labels(data["system"], 26)
    for axes, measure in zip(panels, measures, strict=True):
        for place, row in enumerate(data.to_dict("records")):
            _point(axes, row, measure.name, place, marks[row["system"]])
            _write(axes, row[measure.name], place)
        _across(axes, measure)
    panels[0].set_yticks(range(len(data)), list(labels.values()))
    panels[0].set_ylim(len(data) - 0.5, -0.5)
    return drawn


def _draw_groups(data: pd.DataFrame, measures: Sequence[Measure], marks: Marks) -> Canvas:
    groups, systems = list(dict.fromkeys(data["group"])), list(dict.fromkeys(data["system"]))
    tall = max(_ROW, _CLOSE * len(systems) + 0.08)
    drawn = style.canvas(style.WIDTH, _AROUND + tall * len(groups))
    panels = drawn.subplots(1, 2, sharey=True)
    for axes, measure in zip(panels, measures, strict=True):
        for number, system in enumerate(systems):
            for row in data[data["system"] == system].to_dict("records"):
                apart = (number - (len(systems) - 1) / 2) * _CLOSE / tall
                _point(axes, row, measure.name, groups.index(row["group"]) + apart, marks[system])
        for place in range(1, len(groups)):
            axes.axhline(place - 0.5, color=style.FAINT, linewidth=0.3, zorder=0)
        _across(axes, measure)
    sizes = {group: int(data.loc[data["group"] == group, "policies"].max()) for group in groups}
    panels[0].set_yticks(range(len(groups)), [f"{style.short(group, 22)}  n={sizes[group]}" for group in groups])
    panels[0].set_ylim(len(groups) - 0.5, -0.5)
    names = style.labels(systems)
    style.legend(drawn, [style.mark(names[system], **marks[system]) for system in systems])
    return drawn


def _point(axes: Axes, row: dict[Any, Any], name: str, place: float, look: dict[str, Any]) -> None:
    """A system's figure with its interval; nothing where there is none."""
    if isnan(row[name]):
        return
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if not isnan(low):
        axes.plot([low, high], [place, place], color=look["color"], linewidth=1.2, zorder=2)
    axes.plot([row[name]], [place], **look, linestyle="none", markersize=5, markeredgecolor="white", zorder=3)


def _write(axes: Axes, value: float, place: float) -> None:
    said = "-" if isnan(value) else f"{value:.0f}"
    axes.annotate(said, (1.02, place), xycoords=("axes fraction", "data"), fontsize=style.TINY, va="center")


def _across(axes: Axes, measure: Measure) -> None:
    axes.set_title(style.short(measure.heading, 40))
    axes.set_xlim(-2, 102)
    axes.set_xlabel("per cent", fontsize=style.SMALL)
    axes.tick_params(axis="y", length=0)
