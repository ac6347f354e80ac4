"""Points of annotated answers: how many vital ones a system says or misses, how often it denies one that hurts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, list_experiments_in_table, nonempty_tables
from genaipa.reports.figures import style
from genaipa.reports.figures.figure import ALONE, Figure, FigureScope
from genaipa.reports.figures.heatmap import COLUMN, HATCH, hatch_cell, make_corner_legend_entry, mark_cell_corners
from genaipa.reports.table import Table
from genaipa.words import format_count
from genaipa_points.tables import (
    compute_said_and_contradicted_shares,
    describe_harm_rates_in_a_sentence_if_any,
    sort_points_most_missed_first,
    tabulate_harmful_contradictions,
    tabulate_missed_points,
    tabulate_point_recall_and_harm_rates,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd
    from matplotlib.figure import Figure as Canvas

    from genaipa.answers.study import Study


_METHOD = """Points are the statements of a complete answer, taken from the annotated one; analysts tick each as said or
contradicted."""


class PointsChapter(ChapterMaker):
    """Recall of vital points, the harm rate, and the points missed most, by people's ticks."""

    needs = frozenset({"points"})
    needs_scores = True
    after = "metrics"
    is_urgent = True

    def make(self, study: Study, scope: FigureScope) -> Chapter | None:
        """Make the chapter; None where no person ticked any point."""
        table = tabulate_point_recall_and_harm_rates(study.table)
        if not table:
            return None
        points = compute_said_and_contradicted_shares(study)
        of_points = tabulate_missed_points(points)
        return Chapter(
            "points",
            "Points said, and harm",
            "How much of a complete answer a system gives, and how often it contradicts a point in a way that "
            "would hurt a reader.",
            nonempty_tables(table, tabulate_harmful_contradictions(points), of_points),
            scope.make_paged_figures(
                [
                    partial(draw_heatmap_of_most_missed_points, points, experiment)
                    for experiment in list_experiments_in_table(of_points)
                ]
            ),
            method=_METHOD,
            first=(table.name,),
        )

    def notable(self, study: Study) -> Iterable[str]:
        """Return a sentence on systems that contradict what would hurt a reader."""
        return describe_harm_rates_in_a_sentence_if_any(study.table)


MOST = 24
"""Points that are drawn at most."""
HURTS = "\u25b2"
"""The mark of a point whose contradiction would hurt a reader."""
_ROW, _LETTERS = 0.185, 60
"""Inches of a row without words; letters of a line of a point's words, at most."""
_MISSED, _SAID = "#d9793d", "#fdf6f1"
_POINT = ["document", "question", "number"]


def draw_heatmap_of_most_missed_points(
    point_shares: pd.DataFrame, experiment: str, scope: FigureScope = ALONE
) -> Figure | None:
    """Draw the points of an experiment (rows of `compute_said_and_contradicted_shares`) that are missed most.

    None without one.
    """
    points_of_experiment = point_shares[point_shares["experiment"] == experiment]
    # The same points on each page, whatever systems it shows.
    means = {"said": ("said", "mean"), "contradicted": ("contradicted", "mean"), "weight": ("weight", "first")}
    shares = sort_points_most_missed_first(points_of_experiment.groupby(_POINT, observed=True).agg(**means))["said"]
    worst = shares[shares < 1].head(MOST).index
    data = scope.select_rows_of_shown_systems(
        points_of_experiment.set_index(_POINT).loc[lambda rows: rows.index.isin(worst)].reset_index()
    )
    if data.empty:
        return None
    systems = style.last_part_labels(style.distinct_values(data["system"]), 26)
    rows = data.drop_duplicates(_POINT).set_index(_POINT)
    rows = rows.loc[[point for point in worst if point in rows.index]]
    several = len({document for document, _, _ in rows.index}) > 1
    names = {
        point: _label_point(point[0], point[1], row, name_document=several)
        for point, row in zip(rows.index, rows.to_dict("records"), strict=True)
    }
    texts = {point: text for point, text in zip(rows.index, rows["text"], strict=True) if text}
    name, title = (
        style.make_figure_name(experiment, "points"),
        f"{style.experiment_heading(experiment)}: points missed most",
    )
    omission_note = (
        f" At least one system misses {format_count(len(shares[shares < 1]), 'point')}; the figure shows {MOST}."
        if len(worst) == MOST
        else ""
    )
    about = (
        "Share of a system's answers that say each point of the annotated answer, in per cent, according to "
        "people's ticks. The points missed most, averaged over systems, come "
        f"first.{omission_note}{style.note_full_names(systems)}"
    )
    columns = ["system", "experiment", "document", "question", "point", "weight", "harm", "said", "contradicted"]
    table = Table(name, title, about, data[[*columns, "answers", "text"]].reset_index(drop=True))
    return Figure(
        name,
        title,
        about,
        table,
        lambda: _draw_point_share_heatmap(data, names, texts, systems, experiment),
        f"A filled corner: an answer contradicts the point. {HURTS}: a contradiction would hurt a reader.",
        int((style.WIDTH - 3.0) / COLUMN),
        f"Answers that say a point, in per cent. A filled corner: an answer contradicts the point; {HURTS}: a "
        "contradiction would hurt a reader.",
        "points",
    )


def _label_point(document: str, question: str, point_row: Mapping[Any, Any], *, name_document: bool) -> str:
    """Name a point by its place, beside its words."""
    parts = (
        *([document] if name_document else []),
        question,
        point_row["point"],
        *([HURTS] if point_row["harm"] else []),
    )
    return " ".join(style.shorten_drawn_name(part, 16) for part in parts)


def _draw_point_share_heatmap(
    data: pd.DataFrame,
    point_labels: Mapping[Any, str],
    point_texts: Mapping[Any, str],
    system_labels: Mapping[Any, str],
    experiment: str,
) -> Canvas:
    from matplotlib.colors import LinearSegmentedColormap

    from genaipa.reports.figures.words import DrawnTexts

    tall = 0.06 * max(map(len, system_labels.values()))
    canvas = style.make_canvas(style.WIDTH, len(point_labels) * (style.TALL if point_texts else _ROW) + tall + 1.0)
    style.write_figure_heading(canvas, experiment)
    axes = canvas.subplots()
    shares_said, shares_denied = (
        data.pivot_table(index=_POINT, columns="system", values=column, observed=True)
        .reindex(index=list(point_labels), columns=list(system_labels))
        .to_numpy(dtype=float)
        for column in ("said", "contradicted")
    )
    shades = LinearSegmentedColormap.from_list("said", [_MISSED, _SAID])
    axes.pcolormesh(np.ma.masked_invalid(shares_said), cmap=shades, vmin=0, vmax=1, edgecolors="white", linewidth=0.6)
    cells = {
        (column + 0.5, row + 0.5): f"{share * 100:.0f}"
        for (row, column), share in np.ndenumerate(shares_said)
        if share >= 0
    }
    DrawnTexts(axes, list(cells.values()), list(cells), style.INK, size=7.5).set_in_layout(False)
    for row, column in np.argwhere(np.isnan(shares_said)).tolist():
        hatch_cell(axes, row, column)
    mark_cell_corners(axes, np.argwhere(shares_denied > 0).tolist(), style.INK)
    axes.xaxis.tick_top()
    axes.set_xticks(
        np.arange(len(system_labels)) + 0.5,
        list(system_labels.values()),
        rotation=45,
        ha="left",
        rotation_mode="anchor",
    )
    axes.tick_params(length=0, pad=1)
    axes.set_xlim(0, len(system_labels))
    axes.set_ylim(len(point_labels), 0)
    axes.spines[:].set_visible(False)
    room = style.WIDTH - COLUMN * len(system_labels) - style.row_labels_width_inches(point_labels) - 0.1 - 0.3 * tall
    style.write_row_labels(
        axes,
        point_labels,
        {},
        middle_offset=0.5,
        text_by_row=point_texts,
        max_letters=min(int(room / style.LETTER), _LETTERS),
    )
    entries = [make_corner_legend_entry("contradicted by an answer", style.INK)] if (shares_denied > 0).any() else []
    style.draw_legend(
        canvas, entries + [style.make_patch_legend_entry("nothing ticked", **HATCH)] * bool(np.isnan(shares_said).any())
    )
    return canvas
