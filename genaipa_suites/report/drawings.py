"""Figures of suites: scores with their intervals between floor and ceiling, and along groups that have an order.

Of two measures beside each other, such as what is followed and what stays, there is one by system and one by group.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.reports.figures import style
from genaipa.reports.figures.figure import Figure
from genaipa.reports.table import Table, make_table
from genaipa_suites.report.merit import LEVEL
from genaipa_suites.report.tables import measure_headings, number_formats, percent_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from genaipa_suites.report.results import ScoredBoard

    Marks = Mapping[str, dict[str, Any]]
    """System → its colour and marker."""

    from genaipa_suites.measure import Measure

_ROW = 0.2
_LINES: dict[str, dict[str, Any]] = {
    "floor": {"linestyle": (0, (1, 2)), "color": style.INK},
    "ceiling": {"linestyle": "-", "color": style.FAINT},
    "people": {"linestyle": (0, (5, 2)), "color": style.COLOURS[2]},
}
"""Kind of a reference → its line down a panel."""
_ACROSS = 2
_HATCHES = ("", "///", "...")
_DARK = (0, 1, 2, 6)
"""Colours on which a number is written in white."""


def score_figure(boards: Sequence[ScoredBoard], figure_name: str, title: str, marks: Marks) -> Figure | None:
    """Draw the main measure of each system, a panel for each suite, with the best floor, the ceiling and people."""
    panels = [data for scored in boards if (data := _score_panel_rows(scored)) is not None]
    if not panels:
        return None
    data = pd.concat(panels, ignore_index=True)
    about = (
        "Points: each suite's main measure in per cent, with its interval. The panels have different measures, so "
        "only systems within a panel are comparable. Dotted line: the best floor (an answer that needs no "
        "reading). Solid line: the ceiling (gold labels). Dashed line: people, scored against several references. "
        f"All are on the same items. Suites: {'; '.join(_describe_items_of_board(scored) for scored in boards)}."
    )
    columns = ["board", "measure", "system", "kind", "value", "low", "high"]
    numbers = make_table(
        figure_name,
        title,
        about,
        data,
        columns,
        headings={"board": "suite", "low": f"{LEVEL} % interval"},
        formats=dict.fromkeys(("value", "low", "high"), ".1f"),
    )
    return Figure(figure_name, title, about, numbers, lambda: _draw_scores(numbers.data, marks))


def _describe_items_of_board(scored: ScoredBoard) -> str:
    number, policies = len(scored.board.suite.material.items), scored.units.policies
    return f"{scored.board.title}: {number:,} items" + (f" of {policies:,} {scored.units.clusters}" if policies else "")


def _score_panel_rows(scored: ScoredBoard) -> pd.DataFrame | None:
    """Return the rows of a panel: the systems, and of the references the best floor, the ceiling and people."""
    main = scored.measures[0]
    rows = []
    for row in (*scored.system_rows, *scored.computed_floor_and_ceiling_rows, *scored.human_rows):
        if row.kind == "ceiling" and row is not scored.ceiling:
            continue
        if row.counts is not None:
            columns = percent_columns(row.counts.estimate_measure(main), "value")
            sure = {"value": columns["value"], "low": columns["value_low"], "high": columns["value_high"]}
        else:
            sure = {"value": 100 * row.figures.get(main.name, float("nan"))}
        rows.append({"system": row.label, "kind": row.kind, **sure})
    data = pd.DataFrame(rows).dropna(subset="value")
    if not data["kind"].isin(["system", "baseline"]).any():
        data["kind"] = data["kind"].where(~data["system"].isin([row.label for row in scored.system_rows]), "baseline")
    floors = data[data["kind"] == "floor"].sort_values("value").iloc[:-1]
    data = data.drop(floors.index)
    if not data["kind"].isin(["system", "baseline"]).any():
        return None
    return data.assign(board=scored.board.title, measure=main.heading)


def _draw_scores(data: pd.DataFrame, marks: Marks) -> Canvas:
    boards = list(dict.fromkeys(data["board"]))
    down, across = style.panel_rows_and_columns(len(boards), _ACROSS)
    systems = [list(rows["system"]) for rows in (_select_system_and_baseline_rows(data, board) for board in boards)]
    max_systems = max(map(len, systems))
    canvas = style.make_canvas(style.WIDTH, down * (_ROW * max_systems + 0.75) + 0.35)
    panels = canvas.subplots(down, across, sharex=True, squeeze=False)
    for axes, board in zip(panels.flat, boards, strict=False):
        rows = _select_system_and_baseline_rows(data, board)
        axes.set_title(style.shorten_drawn_name(board, 42 if across > 1 else 80), fontsize=style.SMALL)
        for row in data[(data["board"] == board) & data["kind"].isin(list(_LINES))].to_dict("records"):
            axes.axvline(row["value"], linewidth=0.9, zorder=1, **_LINES[str(row["kind"])])
        for index, row in enumerate(rows.to_dict("records")):
            look = marks[row["system"]]
            axes.plot([row["low"], row["high"]], [index, index], color=look["color"], linewidth=1.4, zorder=2)
            axes.plot(
                [row["value"]], [index], **look, linestyle="none", markersize=5, markeredgecolor="white", zorder=3
            )
            label = f"{row['value']:.1f}"
            axes.annotate(label, (1.01, index), xycoords=("axes fraction", "data"), fontsize=style.TINY, va="center")
        axes.set_yticks(range(len(rows)), [style.shorten_drawn_name(name, 26) for name in rows["system"]])
        axes.set_ylim(max(len(rows), max_systems) - 0.4, -0.6)
        axes.set_xlim(-2, 102)
        axes.tick_params(axis="y", length=0)
    for axes, board in zip(panels.flat, boards, strict=False):
        measure = data.loc[data["board"] == board, "measure"].iloc[0]
        axes.set_xlabel(f"{style.shorten_drawn_name(measure, 40)} (%)", fontsize=style.SMALL)
        axes.tick_params(axis="x", labelbottom=True)
    style.remove_unused_and_list_lowest_axes(panels, len(boards))
    kinds = {str(kind) for kind in data["kind"]}
    names = {"floor": "best floor", "ceiling": "ceiling", "people": "people"}
    lines = [
        style.make_marker_legend_entry(names[kind], **{**look, "marker": ""})
        for kind, look in _LINES.items()
        if kind in kinds
    ]
    style.draw_legend(canvas, lines)
    return canvas


def _select_system_and_baseline_rows(data: pd.DataFrame, board_title: str) -> pd.DataFrame:
    return data[(data["board"] == board_title) & data["kind"].isin(["system", "baseline"])]


def has_numbered_groups(breakdown: Table) -> bool:
    """Tell whether the groups of a breakdown have an order: there is a number in the name of each."""
    return all(any(sign.isdigit() for sign in group) for group in breakdown.data["group"])


def ordered_groups_figure(scored: ScoredBoard, grouping: str, breakdown: Table, marks: Marks) -> Figure:
    """Draw the main measures along groups that have an order, of the table of a breakdown."""
    measures = {measure.name: measure.heading for measure in scored.measures if measure.name in breakdown.data}
    title = f"{scored.board.title}: by {grouping}"
    about = (
        f"{' and '.join(measures.values())} in per cent by {grouping}, with intervals; n is the number of items in "
        f"a group. Dotted lines: floors, computed on the same items. {scored.units.population_note}"
    )
    return Figure(
        breakdown.name, title, about, breakdown, lambda: _draw_ordered_groups(breakdown.data, measures, grouping, marks)
    )


def _draw_ordered_groups(
    data: pd.DataFrame, heading_by_measure: Mapping[str, str], grouping: str, marks: Marks
) -> Canvas:
    groups = list(dict.fromkeys(data["group"]))
    sizes = {group: int(data.loc[data["group"] == group, "items"].max()) for group in groups}
    systems = list(dict.fromkeys(data["system"]))
    canvas = style.make_canvas(style.WIDTH, 2.7 + 0.12 * len(systems))
    panels = canvas.subplots(1, len(heading_by_measure), sharey=True, squeeze=False)[0]
    for axes, (name, heading) in zip(panels, heading_by_measure.items(), strict=True):
        axes.set_title(heading)
        for number, system in enumerate(systems):
            rows = data[data["system"] == system]
            look, floor = marks[system], bool((rows["kind"] == "floor").any())
            at = [groups.index(group) + (number - (len(systems) - 1) / 2) * 0.07 for group in rows["group"]]
            line = {"linestyle": (0, (1, 2)) if floor else "-", "linewidth": 0.9}
            axes.plot(at, rows[name], **look, **line, markersize=4, markeredgecolor="white", zorder=3)
            for position, low, high in zip(at, rows[f"{name}_low"], rows[f"{name}_high"], strict=True):
                if not isnan(low) and not floor:
                    axes.plot([position, position], [low, high], color=look["color"], linewidth=0.8, zorder=2)
        axes.set_xticks(range(len(groups)), [f"{_wrap_group_name(group)}\nn={sizes[group]:,}" for group in groups])
        axes.tick_params(axis="x", labelsize=style.TINY)
        axes.set_ylim(-2, 102)
        axes.set_xlabel(style.replace_undrawable_characters(grouping))
    panels[0].set_ylabel("per cent")
    labels = style.unique_labels(systems)
    style.draw_legend(canvas, [style.make_marker_legend_entry(labels[system], **marks[system]) for system in systems])
    return canvas


def _wrap_group_name(name: str) -> str:
    """Wrap a group's name onto two lines: where there are several, one is too long."""
    words = style.shorten_drawn_name(name, 22).split()
    return " ".join(words[:-1]) + "\n" + words[-1] if len(words) > 1 else " ".join(words)


def error_kinds_figure(error_counts: Table, scored: ScoredBoard) -> Figure | None:
    """Draw the types of errors of each system, stacked, of their table; None if there is none."""
    kinds = [
        kind for kind in scored.board.suite.error_kinds if len(error_counts.data) and error_counts.data[kind].any()
    ]
    if not kinds:
        return None
    about = f"Numbers of errors by type, over all items and repetitions: {', '.join(kinds)}. An item may have several."
    about = f"{about} {scored.board.suite.about_errors}".strip()
    colours = {kind: index for index, kind in enumerate(scored.board.suite.error_kinds) if kind in kinds}
    return Figure(
        error_counts.name,
        error_counts.title,
        about,
        error_counts,
        lambda: _draw_error_kinds(error_counts.data, colours),
    )


def _draw_error_kinds(data: pd.DataFrame, colour_index_by_kind: Mapping[str, int]) -> Canvas:
    """Draw a bar for each system.

    `colour_index_by_kind` are the present ones, with their places among all of the suite's.
    """
    canvas = style.make_canvas(style.WIDTH, 1.1 + 0.28 * len(data))
    axes = canvas.subplots()
    starts = [0.0] * len(data)
    entries = []
    for kind, number in colour_index_by_kind.items():
        colour = style.COLOURS[number % len(style.COLOURS)]
        look: dict[str, Any] = {"facecolor": colour, "edgecolor": "white", "linewidth": 0.5}
        look["hatch"] = _HATCHES[number // len(style.COLOURS) % len(_HATCHES)]
        bars = axes.barh(range(len(data)), data[kind], left=starts, height=0.66, **look)
        widest = float(data["all"].max())
        dark = number % len(style.COLOURS) in _DARK
        for bar, count in zip(bars, data[kind], strict=True):
            if count > widest * 0.03:
                middle = bar.get_x() + bar.get_width() / 2
                ink = "white" if dark else style.INK
                text = axes.text(middle, bar.get_y() + 0.33, f"{count:,}", fontsize=style.TINY, color=ink)
                text.set(ha="center", va="center")
        starts = [before + count for before, count in zip(starts, data[kind], strict=True)]
        entries.append(style.make_patch_legend_entry(kind, **look))
    axes.set_yticks(range(len(data)), list(style.unique_labels(data["system"], 30).values()))
    axes.set_ylim(len(data) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("errors")
    style.draw_legend(canvas, entries)
    return canvas


_WIDE_ROW, _CLOSE = 0.26, 0.15
"""Inches of a system's row, and of a system within a group."""
_AROUND = 1.15
"""Inches of title, axis and legend."""
_MAX_SYSTEMS = 12
"""Systems of a figure by group."""


def paired_measures_by_system_figure(scored: ScoredBoard, marks: Marks) -> Figure | None:
    """Draw both measures of every system that was asked, with their intervals; None if the suite lacks them."""
    measures = _paired_measures(scored)
    rows = [
        {"system": row.label, "kind": row.kind}
        | {
            name: value
            for measure in measures
            for name, value in percent_columns(row.counts.estimate_measure(measure), measure.name).items()
        }
        for row in scored.system_rows
        if row.counts is not None
    ]
    if not measures or not rows:
        return None
    names = [measure.name for measure in measures]
    numbers = make_table(
        f"{scored.board.table_name_prefix}-beside",
        f"{scored.board.title}: {' and '.join(measure.heading for measure in measures)}",
        f"Percentages. {scored.units.population_note}",
        pd.DataFrame(rows),
        ["system", "kind", *(f"{name}{end}" for name in names for end in ("", "_low", "_high"))],
        headings=measure_headings(measures),
        formats=number_formats(names),
    )
    about = (
        f"{measures[0].heading.capitalize()} (left) and {measures[1].heading} (right) in per cent, with {LEVEL} % "
        f"intervals. {' '.join(f'{measure.heading.capitalize()}: {measure.definition}' for measure in measures)} "
        f"{scored.units.population_note}"
    )
    title = _title_on_highest_and_lowest_system(numbers.data, measures, scored.units.clusters)
    return Figure(
        numbers.name, title, about, numbers, lambda: _draw_paired_measures_by_system(numbers.data, measures, marks)
    )


def paired_measures_by_group_figure(
    scored: ScoredBoard, grouping: str, breakdown: Table, marks: Marks
) -> Figure | None:
    """Draw both measures in each group of items, of the table of a breakdown; None if the suite lacks them."""
    measures = _paired_measures(scored)
    names = [row.label for row in scored.system_rows if row.kind == "system"] or [
        row.label for row in scored.system_rows
    ]
    data = breakdown.data[breakdown.data["system"].isin(names[:_MAX_SYSTEMS])]
    if not measures or data.empty:
        return None
    omission = (
        f" The figure shows the first {_MAX_SYSTEMS} of {len(names)} systems." if len(names) > _MAX_SYSTEMS else ""
    )
    about = (
        f"{measures[0].heading.capitalize()} (left) and {measures[1].heading} (right) in per cent by {grouping}, "
        f"with {LEVEL} % intervals; n is the number of {scored.units.clusters} in a group.{omission} "
        f"{scored.units.population_note}"
    )
    title = _title_on_worst_group(data, measures[1], grouping, scored.board.title)
    return Figure(
        breakdown.name, title, about, breakdown, lambda: _draw_paired_measures_by_group(data, measures, marks)
    )


def _paired_measures(scored: ScoredBoard) -> list[Measure]:
    names = scored.board.suite.paired_measures
    return [measure for name in names for measure in scored.measures if measure.name == name]


def _title_on_highest_and_lowest_system(data: pd.DataFrame, measures: Sequence[Measure], clusters: str) -> str:
    """Name the systems that are highest and lowest in the second measure; one system alone in both."""
    first, second = measures
    rows = data[data["kind"] == "system"] if (data["kind"] == "system").any() else data
    ranked = rows.dropna(subset=second.name).sort_values(second.name, ascending=False)
    if ranked.empty:
        return f"{first.heading.capitalize()} and {second.heading}: no {clusters}"
    highest, lowest = ranked.iloc[0], ranked.iloc[-1]
    if len(ranked) == 1:
        first_text = (
            f"{first.heading} {_format_percent(highest[first.name])}, " if not isnan(highest[first.name]) else ""
        )
        return f"{highest['system']}: {first_text}{second.heading} {_format_percent(highest[second.name])}"
    if highest[second.name] == lowest[second.name]:
        if not highest[second.name]:
            return f"No system {second.heading}"
        return f"Every system {second.heading} equally often: {_format_percent(highest[second.name])}"
    return (
        f"{highest['system']} {second.heading} most ({_format_percent(highest[second.name])}), {lowest['system']} "
        f"least ({_format_percent(lowest[second.name])})"
    )


def _title_on_worst_group(data: pd.DataFrame, measure: Measure, grouping: str, board_title: str) -> str:
    rows = data.dropna(subset=measure.name)
    if rows.empty or not rows[measure.name].max():
        return f"{board_title}: no system {measure.heading} in any {grouping}"
    worst = rows.sort_values(measure.name, ascending=False, kind="stable").iloc[0]
    return f"{worst['system']} {measure.heading} most in {worst['group']} ({_format_percent(worst[measure.name])})"


def _format_percent(percentage: float) -> str:
    return f"{percentage:.0f} %"


def _draw_paired_measures_by_system(data: pd.DataFrame, measures: Sequence[Measure], marks: Marks) -> Canvas:
    canvas = style.make_canvas(style.WIDTH, _AROUND - 0.4 + _WIDE_ROW * len(data))
    panels = canvas.subplots(1, 2, sharey=True)
    labels = style.unique_labels(data["system"], 26)
    for axes, measure in zip(panels, measures, strict=True):
        for index, row in enumerate(data.to_dict("records")):
            _draw_measure_with_interval(axes, row, measure.name, index, marks[row["system"]])
            value = "-" if isnan(row[measure.name]) else f"{row[measure.name]:.0f}"
            axes.annotate(value, (1.02, index), xycoords=("axes fraction", "data"), fontsize=style.TINY, va="center")
        _set_up_percent_axes(axes, measure)
    panels[0].set_yticks(range(len(data)), list(labels.values()))
    panels[0].set_ylim(len(data) - 0.5, -0.5)
    return canvas


def _draw_paired_measures_by_group(data: pd.DataFrame, measures: Sequence[Measure], marks: Marks) -> Canvas:
    groups, systems = list(dict.fromkeys(data["group"])), list(dict.fromkeys(data["system"]))
    tall = max(_WIDE_ROW, _CLOSE * len(systems) + 0.08)
    canvas = style.make_canvas(style.WIDTH, _AROUND + tall * len(groups))
    panels = canvas.subplots(1, 2, sharey=True)
    for axes, measure in zip(panels, measures, strict=True):
        for number, system in enumerate(systems):
            for row in data[data["system"] == system].to_dict("records"):
                offset = (number - (len(systems) - 1) / 2) * _CLOSE / tall
                _draw_measure_with_interval(axes, row, measure.name, groups.index(row["group"]) + offset, marks[system])
        for index in range(1, len(groups)):
            axes.axhline(index - 0.5, color=style.FAINT, linewidth=0.3, zorder=0)
        _set_up_percent_axes(axes, measure)
    sizes = {group: int(data.loc[data["group"] == group, "policies"].max()) for group in groups}
    panels[0].set_yticks(
        range(len(groups)), [f"{style.shorten_drawn_name(group, 22)}  n={sizes[group]}" for group in groups]
    )
    panels[0].set_ylim(len(groups) - 0.5, -0.5)
    names = style.unique_labels(systems)
    style.draw_legend(canvas, [style.make_marker_legend_entry(names[system], **marks[system]) for system in systems])
    return canvas


def _draw_measure_with_interval(
    axes: Axes, row: dict[Any, Any], measure_name: str, position: float, look: dict[str, Any]
) -> None:
    """Draw a system's figure with its interval; nothing where there is none."""
    if isnan(row[measure_name]):
        return
    low, high = row[f"{measure_name}_low"], row[f"{measure_name}_high"]
    if not isnan(low):
        axes.plot([low, high], [position, position], color=look["color"], linewidth=1.2, zorder=2)
    axes.plot(
        [row[measure_name]], [position], **look, linestyle="none", markersize=5, markeredgecolor="white", zorder=3
    )


def _set_up_percent_axes(axes: Axes, measure: Measure) -> None:
    axes.set_title(style.shorten_drawn_name(measure.heading, 40))
    axes.set_xlim(-2, 102)
    axes.set_xlabel("per cent", fontsize=style.SMALL)
    axes.tick_params(axis="y", length=0)
