"""Consistency: how far an answer moves in other words, and when asked again (paper, sections 6.2 and 7)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genaipa.reports import averages
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, nonempty_tables
from genaipa.reports.figures import forest, style
from genaipa.reports.figures.figure import ALONE, BOUNDS, Figure, FigureScope
from genaipa.reports.table import Table, make_table
from genaipa.scoring.rubric import M_ALL_WIDTH
from genaipa.stats.repeats import compare_first_to_second_side_per_group, compare_repeats_within_groups

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure as Canvas
    from numpy.typing import NDArray

    from genaipa.answers.study import Study
    from genaipa.scoring.rubric import BandBounds

WORDS, AGAIN = "other words", "asked again"
DROP, CHANGE, BANDS = "mean drop", "mean change", "band changes (%)"
BEYOND, SPREAD, SAME = "change beyond asking again", "standard deviation", "all the same (%)"
_MEASURES: dict[str, tuple[str, tuple[float, float]]] = {
    DROP: ("drop", (-M_ALL_WIDTH, M_ALL_WIDTH)),
    CHANGE: ("change", (0.0, M_ALL_WIDTH)),
    BEYOND: ("beyond", (-M_ALL_WIDTH, M_ALL_WIDTH)),
    BANDS: ("bands", (0.0, 100.0)),
    SPREAD: ("spread", (0.0, M_ALL_WIDTH)),
    SAME: ("same", (0.0, 100.0)),
}
"""Measure → its column of the cells, and the ends of its scale."""
_QUESTION = ["system", "question", "category", "source"]
_CELL = [*_QUESTION, "document"]
_OVER = ["over", "experiment"]
_CONDITIONS = ["experiment", "initialization", "conversation", "wording", "prompts"]
"""Answers that are alike in all of these were given to the very same question, asked in the same way."""
_ROUNDING = 1e-9
_HOW = (
    "`other words` compares an answer to the original question with an answer to a paraphrase; `asked again` "
    "compares two answers to the same words. Where there are several, every pair counts equally, then every wording, "
    "every document and every question. With one answer to each wording, the change in other words includes the "
    "scatter of asking again, which only repetitions can measure. A score that a study published as a mean over "
    "wordings or analysts varies less than the answers behind it"
)
_LOOKS: dict[str, dict[str, Any]] = {
    CHANGE: {"marker": "o", "color": style.COLOURS[0]},
    DROP: {"marker": "D", "color": style.COLOURS[1], "markerfacecolor": "white"},
}


@averages.cache_per_frame
def measure_consistency_by_way_of_asking(frame: pd.DataFrame, bounds: BandBounds = BOUNDS) -> pd.DataFrame:
    """Return a row per system, way of asking (`over`), experiment, question and document scored twice or more.

    Columns: those, `category` and `source`; `drop`, `change` and `spread` in M_all; `bands` and `same` in
    percent; `beyond`, the change in other words less that of asking the same again, where both are known.
    """
    rows = averages.select_policy_rows(averages.average_answers(frame))
    rows = rows[rows["m_all"].notna() & (rows["document"] != "")]
    # Rounded, because 86.5 and 86.5 may differ in their last binary digit.
    points = rows["m_all"].round(9)
    edges = np.round([bounds.m_all_bounds.red, bounds.m_all_bounds.green], 9)
    rows = rows.assign(points=points, band=np.searchsorted(edges, points, side="right"))
    again, words = (
        _measure_consistency_when_reasked(rows[rows["unit"] == "answer"]),
        _measure_consistency_over_paraphrases(rows),
    )
    twice = again[again["experiment"].isin(("quality", "robustness"))].groupby(_CELL, observed=True)["change"]
    # What is known of one of the two only says nothing about the other's scatter.
    own_scatter = twice.mean()[twice.size() == 2].rename("own").reset_index()  # noqa: PLR2004
    words = words.merge(own_scatter, on=_CELL, how="left")
    words["beyond"] = words["change"] - words.pop("own")
    # What is empty has lost its categories, and their order.
    all_cells = pd.concat([words, again], ignore_index=True).astype({name: rows[name].dtype for name in _CELL})
    return all_cells.sort_values(_CELL, kind="stable", ignore_index=True)


def _measure_consistency_over_paraphrases(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of original questions beside their paraphrases."""
    rows = rows[rows["experiment"].isin(("quality", "robustness"))]
    group, first = _number_groups_and_find_first_rows(rows, [*_CELL, "conversation", "prompts"])
    original, wordings = (rows["experiment"] == "quality").to_numpy(), rows["wording"].cat.codes.to_numpy()
    points, band = rows["points"].to_numpy(), rows["band"].to_numpy()
    shares = []
    for wording in np.unique(wordings[~original]):
        in_sides = original | (wordings == wording)
        sides = compare_first_to_second_side_per_group(
            points[in_sides], band[in_sides], group[in_sides], ~original[in_sides]
        )
        measures = {"drop": sides.drop, "change": sides.change, "bands": 100 * sides.bands}
        shares.append(first.iloc[: len(sides.pairs)][_CELL].assign(**measures)[sides.pairs > 0])
    wording_rows = (
        pd.concat(shares) if shares else first[_CELL].iloc[:0].reindex(columns=[*_CELL, "drop", "change", "bands"])
    )
    means: pd.DataFrame = wording_rows.groupby(_CELL, observed=True).mean().round(9).reset_index()
    return means.assign(over=WORDS, experiment="robustness")


def _measure_consistency_when_reasked(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the cells whose very question was asked more than once."""
    group, first = _number_groups_and_find_first_rows(rows, [*_CELL, *_CONDITIONS])
    repeats = compare_repeats_within_groups(rows["points"], rows["band"], group)
    measures = {"change": repeats.change, "bands": 100 * repeats.bands, "spread": repeats.spread}
    repeated = first[[*_CELL, "experiment"]].assign(**measures, same=100.0 * (repeats.change < _ROUNDING))[
        repeats.pairs > 0
    ]
    means = repeated.groupby([*_CELL, "experiment"], observed=True).mean().round(9).reset_index()
    return means.assign(over=AGAIN, experiment=means["experiment"].astype("str"))


def _number_groups_and_find_first_rows(
    rows: pd.DataFrame, group_columns: list[str]
) -> tuple[NDArray[np.int64], pd.DataFrame]:
    """Return the number of each row's group, and the first row of each group."""
    group: Any = rows.groupby(group_columns, observed=True, sort=False).ngroup().to_numpy()
    return group, rows[~pd.Series(group).duplicated().to_numpy()]


def answer_consistency_by_system_table(consistency_cells: pd.DataFrame) -> Table:
    """Summarize the distance between answers, the `consistency_cells`, by system."""
    columns = ["system", *_OVER, "measure", "n", "mean", *averages.BOTH]
    rows = [
        {"system": system, "over": over, "experiment": experiment, "measure": measure}
        | averages.estimate_column_mean(group, column, limits)
        for (system, over, experiment), group in consistency_cells.groupby(
            ["system", *_OVER], observed=True, sort=False
        )
        for measure, (column, limits) in _MEASURES.items()
        if group[column].notna().any()
    ]
    data = pd.DataFrame(rows, columns=columns)
    data["system"] = data["system"].astype(consistency_cells["system"].dtype)
    data = data.sort_values(["system", "over"], key=lambda key: key != WORDS if key.name == "over" else key.cat.codes)
    return make_table(
        "consistency",
        "The same question in other words, and asked again",
        f"How far apart two answers to a question about a document are, in points of M_all (10 to 100): the `{CHANGE}` "
        f"counts steps up and steps down alike, which cancel out in the `{DROP}` from the original to the paraphrases; "
        f"`band changes` is how often the two are in different bands. {_HOW}; `{BEYOND}` subtracts that scatter where "
        "the original and its paraphrases were both asked again. In a shared conversation, asking again reshuffles the "
        "order. `n` is the number of questions (paper, sections 6.2 and 7). "
        f"{averages.explain_intervals_and_small_n(data)}",
        data,
        columns,
    )


def answer_consistency_by_question_table(consistency_cells: pd.DataFrame) -> Table:
    """Summarize the `consistency_cells` by system and question."""
    groups = consistency_cells.groupby([*_OVER, *_QUESTION], observed=True, sort=True)
    rows = [
        {**dict(zip([*_OVER, *_QUESTION], key, strict=True)), **_summarize_question_consistency(group)}
        for key, group in groups
    ]
    columns = ["system", *_OVER, *_QUESTION[1:], "change", "policies_low", "policies_high"]
    columns += ["bands", "bands_policies_low", "bands_policies_high", "documents"]
    return make_table(
        "consistency-by-question",
        "The same question in other words, and asked again, by question",
        "How far apart two answers to the question about the same document are: the mean change in points of "
        f"M_all, and how often the band changes, in percent. {_HOW} (paper, sections 6.2 and 7). "
        f"{averages.LIKE_THESE}",
        pd.DataFrame(rows, columns=columns),
        columns,
        headings={
            "bands": BANDS,
            "bands_policies_low": "for policies like these, from",
            "bands_policies_high": "to",
        },
        formats=dict.fromkeys(("change", "bands", "bands_policies_low", "bands_policies_high"), ".1f"),
    )


def _summarize_question_consistency(rows: pd.DataFrame) -> dict[str, object]:
    values: dict[str, object] = {"documents": rows["document"].nunique()}
    for measure, before in ((CHANGE, ""), (BANDS, "bands_")):
        column, limits = _MEASURES[measure]
        estimate = averages.estimate_column_mean_over_documents(rows, column, ["over"], limits)
        values |= {
            column: estimate["mean"],
            **{f"{before}{end}": estimate[end] for end in ("policies_low", "policies_high")},
        }
    return values


def answer_consistency_figure(consistency_by_system: Table, scope: FigureScope = ALONE) -> Figure | None:
    """Draw the distance between answers beside the mean drop, and band changes: a group of rows per system.

    None without an answer in other words or asked again.
    """
    data = scope.select_rows_of_shown_systems(
        consistency_by_system.data[consistency_by_system.data["measure"].isin([*_LOOKS, BANDS])]
    ).reset_index(drop=True)
    if data.empty:
        return None
    systems = style.unique_labels(style.distinct_values(data["system"]), 40)
    title = consistency_by_system.title
    note = (
        "Left: the mean change between two answers (dot) and, for other words, the mean drop (diamond), in points of "
        f"M_all. Right: how often the band changes. {forest.READING} {style.describe_m_all_bands(scope.bounds)}"
        f"{scope.note_missing_systems(data['system'], 'an answer in other words or asked again')}"
        f"{style.note_full_names(systems)} {consistency_by_system.note}"
    )
    figure_table = Table(
        "consistency", title, note, data, consistency_by_system.headings, consistency_by_system.formats
    )
    drawn_rows = data[["system", *_OVER]].drop_duplicates()
    fits = forest.count_systems_per_page(drawn_rows.groupby("system").size().max())
    return Figure("consistency", title, note, figure_table, lambda: _draw_answer_consistency(data, systems), fits=fits)


def _draw_answer_consistency(data: pd.DataFrame, label_by_system: Mapping[Any, str]) -> Canvas:
    keys = data[["system", *_OVER]].drop_duplicates().itertuples(index=False)
    rows = forest.ForestRows.lay_out_rows(
        label_by_system, ((system, (over, by), _label_way_of_asking(over, by)) for system, over, by in keys)
    )
    drawing, (points_axes, bands_axes) = rows.make_canvas_with_panels((3, 2))
    for row in data.to_dict("records"):
        height = rows.places[row["system"], (row["over"], row["experiment"])]
        # The drop is above the change, so that both are seen.
        height -= 0.16 if row["measure"] == DROP else 0.0
        axes = bands_axes if row["measure"] == BANDS else points_axes
        forest.draw_mean_with_intervals(axes, row, height, _LOOKS.get(row["measure"], _LOOKS[CHANGE]))
    points_axes.axvline(0, color=style.FAINT, linewidth=0.6, zorder=0)
    points_axes.set_xlabel("points of M_all")
    bands_axes.set_xlim(left=0)
    bands_axes.set_xlabel(BANDS)
    style.draw_legend(drawing, [style.make_marker_legend_entry(measure, **look) for measure, look in _LOOKS.items()])
    return drawing


def _label_way_of_asking(way_of_asking: str, experiment: str) -> str:
    return way_of_asking if way_of_asking == WORDS else f"{way_of_asking}: {style.shorten_drawn_name(experiment, 18)}"


class ConsistencyChapter(ChapterMaker):
    """Distance between answers that ought to be alike."""

    needs_scores = True

    def make(self, study: Study, scope: FigureScope) -> Chapter:
        """Make the chapter."""
        repeats = measure_consistency_by_way_of_asking(study.table, scope.bounds)
        summary = answer_consistency_by_system_table(repeats)
        absent = [
            f"How far answers move {condition} is not shown: {why}."
            for over, condition, why in (
                (
                    WORDS,
                    "when a question is reworded",
                    "no original question about a document is scored together with a paraphrase",
                ),
                (
                    AGAIN,
                    "when a question is asked again",
                    "no question was answered and scored more than once (genaipa run --repetitions)",
                ),
            )
            if over not in set(summary.data["over"])
        ]
        return Chapter(
            "consistency",
            "Consistency",
            "How far the answer moves when a question is put in other words or asked again.",
            nonempty_tables(summary, answer_consistency_by_question_table(repeats)),
            scope.make_paged_figures([partial(answer_consistency_figure, summary)]),
            absent,
        )
