"""Robustness: how much worse paraphrases do (paper, sections 6.2 and 7)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.reports import averages
from genaipa.reports.averages import BOTH
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, has_experiment, nonempty_tables
from genaipa.reports.figures import style
from genaipa.reports.figures.figure import ALONE, Figure, FigureScope
from genaipa.reports.table import Table, make_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from genaipa.answers.study import Study

_HOW = (
    "The mean over the answers to the paraphrases is compared with the original question about the same document; "
    "where a study published only means over its documents, these are compared by question"
)
_ENDS: dict[str, dict[str, Any]] = {
    "original": {"marker": "o", "color": style.COLOURS[0], "markersize": 3.6},
    "paraphrased": {"marker": "s", "color": style.COLOURS[1], "markerfacecolor": "none", "markersize": 6.2},
}
"""Column → its end of a line; a dot is seen inside a square."""
_FEW = 3
"""More systems than these stand two abreast."""
_FOOT = 0.6
"""Inches of the axis and the legend."""
_NAMES, _WRITTEN = 0.95, 1.45
"""Inches that the groups' names and the written drops take."""


def paraphrase_drops_by_group_table(frame: pd.DataFrame) -> Table:
    """Tabulate M_all of original questions against their paraphrases, by system and group of questions."""
    columns = ["system", "questions", "n", "original", "paraphrased", "drop", *BOTH]
    rows = [
        {"system": system, "questions": group, **_summarize_paraphrase_drop(group_rows)}
        for system, system_rows in averages.pair_m_all_of_experiments(frame, "quality", "robustness").groupby(
            "system", observed=True, sort=True
        )
        for group, group_rows in averages.iterate_overall_source_and_category_rows(system_rows, with_categories=True)
    ]
    data = pd.DataFrame(rows, columns=columns)
    return make_table(
        "robustness",
        "Original questions and their paraphrases",
        "M_all (10 to 100) averaged over n questions, each a mean over documents, and how far it drops from "
        f"the original to the paraphrases (above 0: the paraphrases do worse). {_HOW}. The intervals are for the "
        f"drop (paper, sections 6.2 and 7). {averages.explain_intervals_and_small_n(data)}",
        data,
        columns,
    )


def _summarize_paraphrase_drop(rows: pd.DataFrame) -> dict[str, object]:
    drop = averages.estimate_column_mean(rows, "difference")
    return {
        "n": drop["n"],
        "original": averages.estimate_column_mean(rows, "quality")["mean"],
        "paraphrased": averages.estimate_column_mean(rows, "robustness")["mean"],
        "drop": drop["mean"],
        **{name: drop[name] for name in BOTH},
    }


def paraphrase_drops_by_question_table(frame: pd.DataFrame) -> Table:
    """Tabulate M_all of every original question against its paraphrases."""
    data = averages.average_pairs_by_question(averages.pair_m_all_of_experiments(frame, "quality", "robustness"))
    return make_table(
        "robustness-by-question",
        "Original questions and their paraphrases, by question",
        "M_all (10 to 100) over n documents (n is 0 where only the published mean over documents is known), and how "
        f"far it drops from the original to the paraphrases. {_HOW} (paper, sections 6.2 and 7).",
        data.rename(columns={"quality": "original", "robustness": "paraphrased", "difference": "drop"}),
        ("system", "question", "original", "paraphrased", "drop", "n"),
    )


def paraphrase_drops_by_group_figure(drops_by_group: Table, scope: FigureScope = ALONE) -> Figure | None:
    """Return a panel per system: groups of questions down, a line from the original's to the paraphrases' average.

    The drop, its interval and n are written behind each line. None without a pair.
    """
    data = scope.select_rows_of_shown_systems(drops_by_group.data.dropna(subset=["original", "paraphrased"]))
    if data.empty:
        return None
    systems = style.unique_labels(style.distinct_values(data["system"]), 30)
    groups = style.distinct_values(data["questions"])
    names = {group: name for group, name in style.GROUPS.items() if group in groups}
    categories = [group for group in groups if group not in style.GROUPS]
    names |= style.unique_labels(categories, 14)
    title = "Original questions and their paraphrases"
    note = (
        "Average of M_all over the original questions and over their paraphrases, by source and by category. Beside "
        "each line: the drop, its interval in brackets, and n, the number of questions. "
        f"{style.describe_m_all_bands(scope.bounds)}{scope.note_category_names(categories)}"
        f"{scope.note_missing_systems(data['system'], 'a pair of an original and a paraphrased question')}"
        f"{scope.explain_benchmarks(systems)}{style.note_full_names(systems)} {drops_by_group.note}"
    )
    figure_table = Table(
        "robustness", title, note, data.reset_index(drop=True), drops_by_group.headings, drops_by_group.formats
    )
    rows = max(int((style.HEIGHT - _FOOT) / _drops_panel_height_inches(names)), 1)
    fits = rows if rows <= _FEW else rows * 2
    return Figure(
        "robustness",
        title,
        note,
        figure_table,
        lambda: _draw_paraphrase_drops(data, systems, names, scope),
        fits=fits,
    )


def _drops_panel_height_inches(label_by_group: Mapping[Any, str]) -> float:
    return 0.165 * len(label_by_group) + 0.45


def _draw_paraphrase_drops(
    data: pd.DataFrame, label_by_system: Mapping[Any, str], label_by_group: Mapping[Any, str], scope: FigureScope
) -> Canvas:
    down, across = style.panel_rows_and_columns(len(label_by_system), 1 if len(label_by_system) <= _FEW else 2)
    drawing = style.make_canvas(style.WIDTH, down * _drops_panel_height_inches(label_by_group) + _FOOT)
    room = 94 * _WRITTEN / ((style.WIDTH - _NAMES) / across - _WRITTEN)
    panels = drawing.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    originals = data[data["questions"] == "all"].set_index("system")["original"]
    for axes, (system, label) in zip(panels.flat, label_by_system.items(), strict=False):
        style.draw_m_all_axis(axes, scope.bounds, room_beyond_100=room)
        scope.draw_benchmark_lines(axes, originals, labelled=False)
        axes.set_title(label, pad=12)
        _draw_system_drops(
            axes, data[data["system"] == system].set_index("questions").reindex(list(label_by_group)), 102 + room
        )
        style.draw_lines_between_groups(
            axes, [name in style.GROUPS for name in label_by_group], (10, 100), row_offset=-0.5
        )
        axes.tick_params(axis="y", length=0)
    for axes in panels[:, 0]:
        style.write_row_labels(axes, label_by_group, {})
    panels[0, 0].set_ylim(len(label_by_group) - 0.4, -0.6)
    for axes in style.remove_unused_and_list_lowest_axes(panels, len(label_by_system)):
        low, high = axes.get_xlim()
        # In the middle of the scale, without the room behind it.
        axes.set_xlabel(style.QUALITY, x=(55 - low) / (high - low))
        axes.tick_params(axis="x", labelbottom=True)
    ends = [style.make_marker_legend_entry(end, **look) for end, look in _ENDS.items()]
    style.draw_legend(drawing, [*ends, *scope.list_benchmark_legend_entries(originals)])
    return drawing


def _draw_system_drops(axes: Axes, rows: pd.DataFrame, n_position: float) -> None:
    """Draw one system's lines, with what is written behind them: the drop, and n where the axis ends."""
    head: dict[str, Any] = {"fontsize": style.TINY, "style": "italic", "va": "bottom", "clip_on": False}
    axes.text(103, -0.62, "drop [interval]", **head)
    axes.text(n_position, -0.62, "n", ha="right", **head)
    for index, (_, row) in enumerate(rows.iterrows()):
        if pd.isna(row["drop"]):
            axes.text(12, index, "no pair", va="center", **style.ABSENT)
            continue
        axes.plot([row["original"], row["paraphrased"]], [index, index], color=style.INK, linewidth=1.2, zorder=2)
        for end, look in _ENDS.items():
            axes.plot([row[end]], [index], **look, linestyle="none", zorder=3)
        interval = (
            ""
            if pd.isna(row["low"])
            else f" [{style.format_signed_tenths(row['low'])}, {style.format_signed_tenths(row['high'])}]"
        )
        axes.text(103, index, f"{style.format_signed_tenths(row['drop'])}{interval}", va="center", fontsize=style.TINY)
        axes.text(n_position, index, f"{row['n']:.0f}", va="center", ha="right", fontsize=style.TINY)


class RobustnessChapter(ChapterMaker):
    """Whether questions in other words are answered as well."""

    needs_scores = True

    def make(self, study: Study, scope: FigureScope) -> Chapter:
        """Make the chapter."""
        frame = study.table
        dropped = paraphrase_drops_by_group_table(frame)
        tables = nonempty_tables(dropped, paraphrase_drops_by_question_table(frame))
        why = "no question was asked in other wordings (genaipa run --experiment robustness)"
        if has_experiment(frame, "robustness"):
            why = "no pair of an original and a paraphrased question is scored"
        return Chapter(
            "robustness",
            "Robustness",
            "Whether the same question in other words is answered as well.",
            tables,
            scope.make_paged_figures([partial(paraphrase_drops_by_group_figure, dropped)]),
            [] if dropped else [f"Robustness to other wordings is not shown: {why}."],
        )
