"""Figures of a comparison: a row for each measure, with who is better in words; and its groups of questions.

Measures have different scales, M_all one from 10 to 100 and a metric one from -1 to 1. In one panel each row is drawn
in parts of its own scale, and its numbers are written beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from genaipa.reports.figures import style
from genaipa.reports.figures.figure import ALONE, Figure, FigureScope
from genaipa.reports.figures.fonts import list_installed_figure_fonts
from genaipa.reports.significance import OTHER_PEOPLE, OVERALL, format_confidence, holds_for_policies_like_these
from genaipa.scoring.rubric import M_ALL_WIDTH
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from genaipa.reports.table import Table

    Row = Mapping[Any, Any]


CHANCE, UNTESTED, OTHERS = "may be chance", "too few questions", "other scorers"
_GREY = "#5f5f5f"
_LOOKS: dict[str, dict[str, Any]] = {
    CHANCE: {"marker": "o", "color": _GREY, "markerfacecolor": "white"},
    OTHERS: {"marker": "o", "color": _GREY, "markerfacecolor": "white"},
    UNTESTED: {"marker": "d", "color": style.FAINT, "markerfacecolor": "white"},
}
"""Meaning of a row in which nobody is better → its mark, which is hollow."""
_TARGETS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "for these documents": ("low", "high", {"linewidth": 2.6, "solid_capstyle": "butt"}),
    "for policies like these": ("policies_low", "policies_high", {"linewidth": 0.8, "marker": "|", "markersize": 5.0}),
}
"""Target of an interval → its columns, and its line: thick, or thin with caps."""
_SCALES = {OVERALL: M_ALL_WIDTH}
"""Measure → the length of its scale; a metric's is `_METRIC`."""
_METRIC = 2.0


@dataclass(frozen=True)
class ComparedSides:
    """The two that are compared: names, their systems, and what the differences rest on.

    `scope` is that of the report on the same runs, where the systems have the same colours. A `judge` is named where
    its verdicts alone are compared: then all is grey.
    """

    names: tuple[str, str]
    systems: tuple[str, str] = ("A", "B")
    documents: tuple[str, ...] = ()
    scope: FigureScope = field(default=ALONE)
    judge: str = ""
    favoured: str = ""
    """A sentence where a side is of the judge's own family."""

    def shorten_names(self, max_chars: int) -> tuple[str, str]:
        """Return both names in at most this many signs."""
        labels = style.unique_labels(dict.fromkeys(self.names), max_chars)
        return labels[self.names[0]], labels[self.names[1]]

    @property
    def marker_styles(self) -> list[dict[str, Any]]:
        """Return the colour and marker of each side."""
        marks = self.scope.system_colours_and_markers(self.systems)
        grey = {"color": _GREY} if self.judge else {}
        return [{**marks[system], **grey} for system in self.systems]

    @property
    def judge_prefix_or_empty(self) -> str:
        """Return who judges, as the beginning of a sentence; empty where people scored."""
        return f"According to the judge {style.replace_undrawable_characters(self.judge)} alone, " if self.judge else ""


def find_better_side_index(row: Row) -> int | None:
    """Return which side a row finds better: 0 or 1; None where it finds neither."""
    if row["test"] == "none" or row["meaning"] == OTHER_PEOPLE or not row["p_holm"] < row["level"]:
        return None
    return 0 if row["difference"] > 0 else 1


def describe_winner_or_why_none(row: Row, win_phrases: Sequence[str], judge: str = "") -> str:
    """Return what a row finds, in the words for a win of each side, or why it finds nothing; a judge's says so."""
    side = find_better_side_index(row)
    no_win = UNTESTED if row["test"] == "none" else OTHERS if row["meaning"] == OTHER_PEOPLE else CHANCE
    return f"{'judge: ' if judge else ''}{no_win if side is None else win_phrases[side]}"


def comparison_title(differences: Table, sides: ComparedSides) -> str:
    """Return the title of a comparison: who is better, and by how much."""
    row, (first, second) = differences.data.iloc[0].to_dict(), sides.shorten_names(24)
    by, side = style.format_signed_tenths(abs(row["difference"])).lstrip("+"), find_better_side_index(row)
    if row["test"] == "none":
        return f"{sides.judge_prefix_or_empty}{first} and {second} have too few questions for a verdict"
    if side is None:
        return f"{sides.judge_prefix_or_empty}{first} and {second} do not clearly differ: {by} points of M_all apart"
    winner, loser = (first, second) if side == 0 else (second, first)
    return f"{sides.judge_prefix_or_empty}{winner} is better than {loser}, by {by} points of M_all"


def list_comparison_facts_as_phrases(differences: Table, sides: ComparedSides) -> list[str]:
    """Return what a comparison rests on, and what it doesn't tell, to be joined into a sentence."""
    row, (first, second) = differences.data.iloc[0].to_dict(), sides.shorten_names(24)
    ours, theirs = _format_both_means(row)
    documents = [style.shorten_drawn_name(name, 24) for name in sides.documents]
    about = (
        f" about {documents[0] if len(documents) == 1 else format_count(len(documents), 'document')}"
        if documents
        else ""
    )
    parts = [f"M_all (10 to 100): {first} {ours}, {second} {theirs}", f"{format_count(row['n'], 'question')}{about}"]
    if row["test"] == "none":
        return parts
    if math.isnan(row["policies_low"]):
        parts.append("nothing is known about other policies")
    elif find_better_side_index(row) is not None:
        parts.append(
            f"{'it also holds' if holds_for_policies_like_these(row) else 'it may be due to chance'} for "
            f"policies like these"
        )
    return [*parts, *(["not an estimate of what people would say"] if sides.judge else [])]


def _explain_interval_lines(row: Row) -> str:
    """Return what the lines and the axis of a panel are."""
    wide = not math.isnan(row["policies_low"])
    lines = ", thick for these documents, thin for policies like these" if wide else ""
    return f"Lines: {format_confidence(row['level'])} intervals{lines}. Axis: % of each row's scale."


def measure_differences_figure(differences: Table, sides: ComparedSides) -> Figure | None:
    """Return one panel with a row for each measure, over all questions, the first minus the second; None without one.

    It has a layout of its own for a slide, and for one column of a paper.
    """
    data = differences.data[differences.data["questions"] == "all"] if differences else differences.data
    if data.empty:
        return None
    title = comparison_title(differences, sides)
    note = (
        f"{title}. Differences, {sides.names[0]} minus {sides.names[1]}, over all questions. Each row is drawn in "
        "percent of its own scale, from 10 to 100 of M_all and from -1 to 1 of a metric. A hollow mark has no verdict. "
        f"{'; '.join(list_comparison_facts_as_phrases(differences, sides))}. {differences.note}"
    )

    def make_panel_drawer(wide: float, *, titled: bool = True) -> Callable[[], Canvas]:
        footer = [
            f"{'; '.join(list_comparison_facts_as_phrases(differences, sides))}.",
            sides.favoured,
            _explain_interval_lines(data.iloc[0].to_dict()),
        ]
        return lambda: _DifferencesPanel(data, sides, wide).draw_on_new_canvas([title] if titled else [], footer)

    figure_table = replace(differences, name="differences", title=title, note=note, data=data)
    layouts: dict[str, Callable[[], Canvas]] = {
        "slide": make_panel_drawer(_SLIDE, titled=False),
        "column": make_panel_drawer(style.COLUMN),
    }
    return Figure("differences", title, note, figure_table, make_panel_drawer(style.WIDTH), layouts=layouts)


_SLIDE = 6.0
"""Inches across a panel that fills a slide: its letters are twice as large there."""
_GAP = 9.0
"""Points between two columns."""
_AXIS = 92.0
"""Points of an axis, at least, and seven tenths of it without columns of means: names are shortened for it."""
_TICK = 30.0
"""Points from tick to tick, at least."""


class _DifferencesPanel:
    """One panel of a row for each measure; in a narrow one the numbers stand over the verdicts. Lengths are points."""

    def __init__(self, data: pd.DataFrame, sides: ComparedSides, inches: float) -> None:
        self.rows = data.to_dict("records")
        self.sides, self.wide, self.narrow = sides, inches * 72, inches <= style.COLUMN
        self.size = style.TINY if self.narrow else style.TEXT
        self.high = 25.0 if self.narrow else 21.0
        """A row's height."""
        self.head = "difference" if self.narrow else "difference and interval"
        self.measures = ["M_all" if row["measure"] == OVERALL else str(row["measure"]) for row in self.rows]
        self.left = max(_measure_text_width_in_points(text, self.size, bold=True) for text in self.measures) + 4
        page = inches >= style.WIDTH
        for max_chars, means in [(max_chars, True) for max_chars in range(14, 10, -1) if page] + [
            (max_chars, False) for max_chars in range(14, 7, -1)
        ]:
            self._set_names_and_widths(max_chars, means=means)
            begin, end = self._axis_ends_in_points()
            if end - begin >= _AXIS * (1.0 if means else 0.7):
                break

    def _set_names_and_widths(self, max_chars: int, *, means: bool) -> None:
        """Write both names in so many signs, and measure what stands beside the axis, both means or none among it."""
        self.names = self.sides.shorten_names(max_chars)
        self.means = (
            [max(30.0, _measure_text_width_in_points(name, self.size, bold=True)) for name in self.names]
            if means
            else []
        )
        wins = [f"{name} is better" for name in self.names]
        verdicts = [describe_winner_or_why_none(row, wins, self.sides.judge) for row in self.rows]
        self.right = [[_format_difference_and_interval(row) for row in self.rows], verdicts]
        self.widths = [
            max(_measure_text_width_in_points(text, self.size, bold=True) for text in (head, *texts))
            for head, texts in zip((self.head, ""), self.right, strict=True)
        ]

    def draw_on_new_canvas(self, title_parts: Sequence[str], footer_sentences: Sequence[str]) -> Canvas:
        """Draw it under its title, with what it rests on below."""
        small = style.TINY if self.narrow else style.SMALL
        heads = _wrap_to_width(" ".join(title_parts), self.wide - 8, size := 9.0 if self.narrow else 11.0, bold=True)
        feet = _wrap_to_width(" ".join(footer_sentences), self.wide - 8, small)
        above, under = len(heads) * size * 1.3 + 22, len(feet) * small * 1.35 + 32
        tall = above + under + self.high * len(self.rows)
        picture = style.make_canvas(self.wide / 72, tall / 72)
        picture.set_layout_engine(None)
        for index, line in enumerate(heads):
            picture.text(
                4 / self.wide, 1 - (4 + index * size * 1.3) / tall, line, va="top", fontsize=size, weight="bold"
            )
        for index, line in enumerate(feet):
            high = under - 32 - index * small * 1.35
            picture.text(4 / self.wide, high / tall, line, va="top", fontsize=small, color="#444444")
        begin, end = self._axis_ends_in_points()
        axes = picture.add_axes(
            (begin / self.wide, under / tall, (end - begin) / self.wide, 1 - (above + under) / tall)
        )
        self._draw_rows(axes)
        self._write_row_texts_and_headings(axes, begin, end)
        return picture

    def _axis_ends_in_points(self) -> tuple[float, float]:
        """Return where the axis begins and ends."""
        sides = sum(wide + _GAP for wide in self.means)
        texts = max(self.widths) if self.narrow else sum(self.widths) + _GAP
        return 4 + self.left + sides, self.wide - 4 - texts - _GAP

    def _draw_rows(self, axes: Axes) -> None:
        """Draw a mark with its intervals in each row, in parts of its scale."""
        scaled = [_divide_row_by_scale(row) for row in self.rows]
        ends = [value for row in scaled for value in row.values() if not math.isnan(value)]
        reach = 1.06 * max(0.05, *map(abs, ends))
        # The side on which nothing lies is there, too, though narrow: its name says whose it is.
        axes.set_xlim(max(-reach, min(*ends, -0.4 * reach) * 1.06), min(reach, max(*ends, 0.4 * reach) * 1.06))
        axes.set_ylim(len(scaled) - 0.5, -0.5)
        axes.axvline(0, color=_GREY, linewidth=0.9, zorder=0)
        for index, (row, at) in enumerate(zip(self.rows, scaled, strict=True)):
            if index == 1:
                axes.axhline(0.5, color=style.FAINT, linewidth=0.4)
            look = _choose_row_marker(row, self.sides)
            for low, high, line in _TARGETS.values():
                axes.plot([at[low], at[high]], [index, index], color=look["color"], **line)
            axes.plot(at["difference"], index, linestyle="none", markersize=5.5, **look)
        x_min, x_max = axes.get_xlim()
        begin, end = self._axis_ends_in_points()
        # Labels keep apart.
        least_step = _TICK * (x_max - x_min) / (end - begin)
        step = next((step for step in (0.05, 0.1, 0.25, 0.5) if step > least_step), 1.0)
        ticks = [tick for tick in (-step, 0.0, step) if x_min <= tick <= x_max]
        axes.set_xticks(ticks, [_format_scale_percent(tick) for tick in ticks], fontsize=style.TINY)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)

    def _write_row_texts_and_headings(self, axes: Axes, axis_begin_points: float, axis_end_points: float) -> None:
        """Write beside each row what it is and what it says, and above whose side is whose."""
        for index, (row, measure) in enumerate(zip(self.rows, self.measures, strict=True)):
            bold, look = "bold" if index == 0 else "normal", _choose_row_marker(row, self.sides)
            colour = look["color"] if find_better_side_index(row) is not None else _GREY
            self._write_text_from_axis(axes, 4 - axis_begin_points, index, measure, weight=bold)
            if self.narrow:
                self._write_text_from_axis(
                    axes, axis_end_points - axis_begin_points + _GAP, index - 0.2, self.right[0][index], weight=bold
                )
                self._write_text_from_axis(
                    axes,
                    axis_end_points - axis_begin_points + _GAP,
                    index + 0.2,
                    self.right[1][index],
                    weight=bold,
                    color=colour,
                )
                continue
            at = 4 + self.left - axis_begin_points
            for mean, wide in zip(_format_both_means(row), self.means, strict=False):
                self._write_text_from_axis(axes, at + wide, index, mean, weight=bold, ha="right")
                at += wide + _GAP
            self._write_text_from_axis(
                axes,
                axis_end_points - axis_begin_points + _GAP + self.widths[0],
                index,
                self.right[0][index],
                weight=bold,
                ha="right",
            )
            at = axis_end_points - axis_begin_points + 2 * _GAP + self.widths[0]
            self._write_text_from_axis(axes, at, index, self.right[1][index], weight=bold, color=colour)
        self._write_column_and_axis_headings(axes, axis_begin_points, axis_end_points)

    def _write_column_and_axis_headings(self, axes: Axes, axis_begin_points: float, axis_end_points: float) -> None:
        """Write the heads of the columns, and below the axis on which side of zero who is better."""
        above, colours = -0.5 - 7 / self.high, [look["color"] for look in self.sides.marker_styles]
        look: dict[str, Any] = {"fontsize": self.size - 1, "weight": "bold"}
        below, (x_min, x_max) = len(self.rows) - 0.5 + 20 / self.high, axes.get_xlim()
        zero = -x_min / (x_max - x_min) * (axis_end_points - axis_begin_points)
        (first, second), rooms = self.names, (self.wide - axis_begin_points - zero - 9, axis_begin_points + zero - 9)
        ours = f"{first} better \u2192", f"{first} \u2192", "\u2192"
        theirs = f"\u2190 {second} better", f"\u2190 {second}", "\u2190"
        for side, texts in enumerate((ours, theirs)):
            text = next(
                (text for text in texts if _measure_text_width_in_points(text, style.TINY, bold=True) <= rooms[side]),
                texts[-1],
            )
            aside: dict[str, Any] = {"ha": ("left", "right")[side], "color": colours[side], "fontsize": style.TINY}
            self._write_text_from_axis(axes, zero + (5, -5)[side], below, text, **{**look, **aside})
        at = 4 + self.left - axis_begin_points
        for name, colour, wide in zip(self.names, colours, self.means, strict=False):
            self._write_text_from_axis(axes, at + wide, above, name, ha="right", color=colour, **look)
            at += wide + _GAP
        at = axis_end_points - axis_begin_points + _GAP + (0.0 if self.narrow else self.widths[0])
        self._write_text_from_axis(axes, at, above, self.head, ha="left" if self.narrow else "right", **look)

    def _write_text_from_axis(
        self, axes: Axes, points_from_axis: float, row_position: float, text: str, **look: Any
    ) -> None:
        """Write a text at so many points from the beginning of the axis."""
        axes.annotate(
            text,
            (0, row_position),
            (points_from_axis, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            annotation_clip=False,
            va="center",
            **{"fontsize": self.size, **look},
        )


def _choose_row_marker(row: Row, sides: ComparedSides) -> dict[str, Any]:
    """Return the mark of a row: of who is better, or a hollow one."""
    side = find_better_side_index(row)
    if side is not None:
        return sides.marker_styles[side]
    return _LOOKS[describe_winner_or_why_none(row, ("", ""))]


def _divide_row_by_scale(row: Row) -> dict[str, float]:
    """Return a row's difference and the ends of its intervals in parts of its scale."""
    names = ("difference", *(end for low, high, _ in _TARGETS.values() for end in (low, high)))
    return {name: float(row[name]) / _SCALES.get(row["measure"], _METRIC) for name in names}


def _format_difference(value: float, measure: str) -> str:
    """Return a difference as it is written: one decimal of M_all, two of a metric."""
    if measure == OVERALL:
        return style.format_signed_tenths(value)
    written = f"{value:+.2f}"
    return "0.00" if written in {"+0.00", "-0.00"} else written.replace("-", "\u2212")


def _format_difference_and_interval(row: Row) -> str:
    """Return the difference of a row with its interval for these documents."""
    low, high = (_format_difference(row[end], row["measure"]) for end in ("low", "high"))
    difference = _format_difference(row["difference"], row["measure"])
    return difference if math.isnan(row["low"]) else f"{difference} ({low} to {high})"


def _format_both_means(row: Row) -> list[str]:
    """Return both means of a row."""
    digits = 1 if row["measure"] == OVERALL else 2
    return [f"{row[mean]:.{digits}f}".replace("-", "\u2212") for mean in ("mean_a", "mean_b")]


def _format_scale_percent(share_of_scale: float) -> str:
    """Return a part of a scale in percent."""
    return f"{100 * share_of_scale:+.0f} %".replace("-", "\u2212") if share_of_scale else "0"


def _measure_text_width_in_points(text: str, font_size: float, *, bold: bool = False) -> float:
    """Return the points that a line of text takes."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(
        family=list(list_installed_figure_fonts()), size=font_size, weight="bold" if bold else "normal"
    )
    across, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return 1.04 * float(across)  # letters of few pixels are a little wider


def _wrap_to_width(text: str, width_in_points: float, font_size: float, *, bold: bool = False) -> list[str]:
    """Return a text in lines of at most so many points."""
    lines: list[str] = []
    for word in text.split():
        if lines and _measure_text_width_in_points(f"{lines[-1]} {word}", font_size, bold=bold) <= width_in_points:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


# Groups of questions

_ROW = 0.205


def question_group_differences_figure(differences: Table, sides: ComparedSides) -> Figure | None:
    """Return the differences in groups of questions, a panel for each measure; None where there is no group."""
    data = differences.data[differences.data["questions"] != "all"] if differences else differences.data
    if data.empty:
        return None
    first, second = sides.shorten_names(24)
    title = f"{sides.judge_prefix_or_empty}{first} and {second} by kind of question"
    note = (
        f"Differences, {sides.names[0]} minus {sides.names[1]}, for groups of questions; n is the number of questions. "
        f"Hollow marks may be due to chance, or rest on too few questions to test. An arrowhead marks an interval that "
        f"continues beyond the panel. {differences.note}"
    )
    figure_table = replace(differences, name="differences-groups", title=title, note=note, data=data)

    def make_panel_drawer(*, titled: bool) -> Callable[[], Canvas]:
        return lambda: _draw_group_differences(data, sides, title if titled else "")

    layouts = {"slide": make_panel_drawer(titled=False)}
    return Figure("differences-groups", title, note, figure_table, make_panel_drawer(titled=True), layouts=layouts)


def label_question_groups_in_full(groups: Sequence[str], category_names: Mapping[str, str]) -> dict[str, str]:
    """Return group of questions → its name in full, with the category's key."""
    return {
        group: style.GROUPS.get(group)
        or (f"{group}: {category_names[group]}" if category_names.get(group, group) != group else group)
        for group in groups
    }


def _draw_group_differences(data: pd.DataFrame, sides: ComparedSides, title: str) -> Canvas:
    measures, groups = style.distinct_values(data["measure"]), style.distinct_values(data["questions"])
    names = label_question_groups_in_full(groups, sides.scope.categories)
    down, across = style.panel_rows_and_columns(len(measures), 3)
    picture = style.make_canvas(style.WIDTH, down * (_ROW * len(groups) + 0.75) + 0.45 + 0.25 * bool(title))
    if title:
        picture.suptitle(title, x=0.01, ha="left", fontsize=11, weight="bold")
    panels = picture.subplots(down, across, sharey=True, squeeze=False)
    for axes, measure in zip(panels.flat, measures, strict=False):
        rows = data[data["measure"] == measure]
        # The metrics have one scale.
        reach = _find_symmetric_axis_limit(rows if measure == OVERALL else data[data["measure"] != OVERALL])
        axes.set_xlim(-reach, reach)
        _draw_measure_panel(axes, rows, groups, sides)
        axes.set_title("M_all" if measure == OVERALL else measure)
    panels.flat[0].set_yticks(
        range(len(groups)), [style.wrap_and_cut_to_two_lines(names[group], 26) for group in groups]
    )
    for axes in panels[:, 0]:
        axes.tick_params(axis="y", labelsize=6.5)
    panels.flat[0].set_ylim(len(groups) - 0.4, -0.6)
    first, second = sides.shorten_names(10)
    for axes in style.remove_unused_and_list_lowest_axes(panels, len(measures)):
        axes.set_xlabel(f"\u2190 {second} | {first} \u2192", fontsize=style.TINY)
    rows = data.to_dict("records")
    wins = f"{first} is better", f"{second} is better"
    marks = {describe_winner_or_why_none(row, wins, sides.judge): _choose_row_marker(row, sides) for row in rows}
    lines = {
        target: {"linestyle": "-", "color": style.INK, **look}
        for target, (low, _, look) in _TARGETS.items()
        if data["policies_low"].notna().any() and data[low].notna().any()
    }
    style.draw_legend(
        picture, [style.make_marker_legend_entry(label, **look) for label, look in {**marks, **lines}.items()]
    )
    return picture


def _find_symmetric_axis_limit(rows: pd.DataFrame) -> float:
    """Return the end of a panel's axis: all of the tested rows is to be seen, and the differences of the others."""
    tested = rows[rows["test"] != "none"]
    visible = rows if tested.empty else tested
    furthest = visible[["low", "high", "policies_low", "policies_high"]].abs().max().max()
    return float(1.08 * np.nanmax([furthest, rows["difference"].abs().max(), 0.1]))


def _draw_measure_panel(axes: Axes, rows: pd.DataFrame, groups: Sequence[str], sides: ComparedSides) -> None:
    """Draw one measure: a mark with its intervals for each group, and n at the edge."""
    axes.axvline(0, color=style.FAINT, linewidth=0.8, zorder=0)
    for row in rows.to_dict("records"):
        index, look = groups.index(row["questions"]), _choose_row_marker(row, sides)
        for low, high, line in _TARGETS.values():
            axes.plot([row[low], row[high]], [index, index], color=look["color"], **line)
            edge = axes.get_xlim()[1]
            for end, sign in ((row[low], "<"), (row[high], ">")):
                if abs(end) > edge:
                    axes.plot(np.copysign(0.98 * edge, end), index, sign, color=look["color"], markersize=4)
        axes.plot(row["difference"], index, linestyle="none", markersize=4.5, **look)
        axes.annotate(
            f"n={row['n']}", (1.02, index), xycoords=("axes fraction", "data"), fontsize=style.TINY, va="center"
        )
    axes.tick_params(axis="y", length=0)
