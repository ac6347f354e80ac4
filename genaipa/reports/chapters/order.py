"""Order effects: one growing conversation against a fresh one for each question, and the place in the shuffled order.

The paper (Appendix A, Algorithm 1) shuffles the questions of a conversation so that their order favours none of them;
whether answers depend on what was asked before them it leaves open.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genaipa.reports import averages
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, nonempty_tables
from genaipa.reports.crossed import document_numbers_or_minus_one, number_labels_and_list_distinct
from genaipa.reports.figures import forest, style
from genaipa.reports.figures.figure import ALONE, Figure, FigureScope
from genaipa.reports.table import Table, make_table
from genaipa.stats.trend import estimate_slope_on_places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure as Canvas

    from genaipa.answers.study import Study

KINDS = ("shared", "independent")
THIRDS = ("first", "middle", "last")
"""Columns of the thirds of an order."""
_BY = ["system", "experiment"]
_ABOUT = [*_BY, "document", "question"]
_ASKED = [*_BY, "question", "initialization", "wording", "prompts", "conversation"]
"""Answers that differ in none of these differ by document, repetition and place."""
APART, SLOPE = "shared minus independent", "last question minus first"
_BOTH: dict[str, Any] = {"marker": "o", "color": style.INK}
_LOOKS: dict[str, dict[str, Any]] = {
    "shared": {"marker": "o", "color": style.COLOURS[0]},
    "independent": {"marker": "D", "color": style.COLOURS[1], "markerfacecolor": "white"},
}
_BESIDE = {"shared": -0.14, "independent": 0.14}


def _select_scored_answers_with_position(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the answers about policies whose conversation and place are known, with their M_all as `points`."""
    rows = averages.select_policy_rows(averages.average_answers(frame))
    rows = rows[rows["m_all"].notna() & (rows["conversation"] != "") & (rows["position"] > 0)]
    return rows.assign(points=rows["m_all"].round(9))


def shared_and_separate_conversations_table(frame: pd.DataFrame) -> Table:
    """Compare questions asked in a shared conversation against the same ones asked each on its own."""
    columns = [*_BY, "n", *KINDS, "difference", *averages.BOTH]
    by = [*_ABOUT, "initialization", "wording", "prompts"]
    means = (
        _select_scored_answers_with_position(frame)
        .groupby([*by, "conversation"], observed=True)["points"]
        .mean()
        .reset_index()
    )
    sides = [means[means["conversation"] == kind].drop(columns="conversation") for kind in KINDS]
    paired = sides[0].rename(columns={"points": KINDS[0]}).merge(sides[1].rename(columns={"points": KINDS[1]}), on=by)
    paired["difference"] = (paired[KINDS[0]] - paired[KINDS[1]]).round(9)
    data = averages.summarize_each_group(paired, _BY, _estimate_shared_conversation_effect).reindex(columns=columns)
    return make_table(
        "conversations",
        "Shared and independent conversations",
        "M_all (10 to 100) where questions follow each other in one growing conversation (`shared`) and where each is "
        "asked on its own (`independent`), and the difference, shared minus independent. It covers every question "
        "about a document that the system was asked both ways, in the same experiment and wording and with the same "
        f"prompts. `n` is the number of questions. {averages.explain_intervals_and_small_n(data)}",
        data,
        columns,
        formats=dict.fromkeys(KINDS, ".1f"),
    )


def _estimate_shared_conversation_effect(rows: pd.DataFrame) -> dict[str, object]:
    estimate = averages.estimate_column_mean(rows, "difference")
    sides = {kind: averages.estimate_column_mean(rows, kind)["mean"] for kind in KINDS}
    return {**estimate, **sides, "difference": estimate["mean"]}


def question_position_trend_table(frame: pd.DataFrame) -> Table:
    """Tabulate the trend of the scores from the first question of a conversation to the last."""
    columns = [*_BY, "conversation", "n", *THIRDS, "slope", *averages.BOTH]
    data = averages.summarize_each_group(
        _center_position_and_score_by_question(_select_scored_answers_with_position(frame)),
        [*_BY, "conversation"],
        _estimate_trend_and_means_of_thirds,
    ).reindex(columns=columns)
    return make_table(
        "positions",
        "Position in the conversation",
        "M_all (10 to 100) of the questions that were asked in the first, the middle and the last third of a "
        "conversation, and by how much it changes from the first question to the last (`slope`; below 0: later "
        "questions are answered worse). Each answer is compared with the others to the same question, so hard "
        "questions that happened to come late don't distort the result; questions that were asked only once don't "
        "count. Where each question is asked on its own (`independent`), its position can't matter: any difference "
        f"there is chance. `n` is the number of questions. {averages.explain_intervals_and_small_n(data)}",
        data,
        columns,
        headings={"slope": SLOPE},
        formats={**dict.fromkeys(THIRDS, ".1f"), "slope": "+.1f"},
    )


def _center_position_and_score_by_question(rows: pd.DataFrame) -> pd.DataFrame:
    """Return answers to questions asked at more than one place: `place` is 0 for the first and 1 for the last.

    `off_place` and `off_points` are what an answer is apart from the mean of the others to the same question.
    """
    # An order is that of a document and a repetition of a run, whatever the wording.
    last = rows.groupby(["run", "system", "document", "repetition"], observed=True)["position"].transform("max")
    rows = rows[last > 1].assign(place=(rows["position"] - 1) / (last - 1))
    same_question = rows.groupby(_ASKED, observed=True)
    rows = rows.assign(
        off_place=rows["place"] - same_question["place"].transform("mean"),
        off_points=rows["points"] - same_question["points"].transform("mean"),
    )
    return rows[same_question["place"].transform("nunique") > 1]


def _estimate_trend_and_means_of_thirds(rows: pd.DataFrame) -> dict[str, object]:
    places = number_labels_and_list_distinct(rows["question"])[0], document_numbers_or_minus_one(rows["document"])
    slope = estimate_slope_on_places(rows["off_points"], rows["off_place"], *places)
    third = np.minimum((rows["place"] * len(THIRDS)).astype(int), len(THIRDS) - 1)
    means = (rows["off_points"].groupby(third).mean() + rows["points"].mean()).reindex(range(len(THIRDS)))
    return {**dict(zip(THIRDS, means, strict=True)), **averages.mean_and_interval_columns(slope), "slope": slope.mean}


def question_order_effects_figure(conversations: Table, positions: Table, scope: FigureScope = ALONE) -> Figure | None:
    """Draw the effects of the kind of conversation and of the place in it: a row per system and experiment.

    None if neither is known.
    """
    rows = pd.concat(
        [
            scope.select_rows_of_shown_systems(conversations.data)
            .assign(effect=APART)
            .rename(columns={"difference": "mean"}),
            scope.select_rows_of_shown_systems(positions.data).assign(effect=SLOPE).rename(columns={"slope": "mean"}),
        ]
    )
    columns = [*_BY, "effect", "conversation", "n", "mean", *averages.BOTH]
    data = rows.reindex(columns=columns).reset_index(drop=True)
    if data.empty:
        return None
    order = [system for system in scope.systems if system in set(data["system"])]
    systems = style.unique_labels(dict.fromkeys((*order, *data["system"])), 40)
    title = "Order effects"
    note = (
        f"In points of M_all. Where `{APART}` is above 0, questions in a growing conversation are answered better; "
        f"where `{SLOPE}` is above 0, later questions are answered better. {forest.READING}"
        f"{scope.note_missing_systems(data['system'], 'such a comparison')}{style.note_full_names(systems)} "
        f"{' '.join(table.note for table in (conversations, positions) if table)}"
    )
    figure_table = Table("order", title, note, data, positions.headings, {**positions.formats, "mean": "+.1f"})
    fits = forest.count_systems_per_page(data[_BY].drop_duplicates().groupby("system").size().max())
    return Figure("order", title, note, figure_table, lambda: _draw_question_order_effects(data, systems), fits=fits)


def _draw_question_order_effects(data: pd.DataFrame, label_by_system: Mapping[Any, str]) -> Canvas:
    keys = data[_BY].drop_duplicates().itertuples(index=False)
    rows = forest.ForestRows.lay_out_rows(
        label_by_system, ((system, by, style.shorten_drawn_name(by, 18)) for system, by in keys)
    )
    effects = [effect for effect in (APART, SLOPE) if effect in set(data["effect"])]
    drawing, panels = rows.make_canvas_with_panels([1] * len(effects))
    for axes, effect in zip(panels, effects, strict=True):
        axes.axvline(0, color=style.INK, linewidth=0.8, zorder=1)
        axes.set_xlabel(f"{effect} (points)", fontsize=style.SMALL)
    for row in data.to_dict("records"):
        look = _LOOKS.get(row["conversation"], _BOTH)
        # Of the two kinds of conversation, one is above the other, so that both are seen.
        height = rows.places[row["system"], row["experiment"]] + _BESIDE.get(row["conversation"], 0.0)
        forest.draw_mean_with_intervals(panels[effects.index(row["effect"])], row, height, look)
    if SLOPE in effects:
        kinds = [kind for kind in KINDS if kind in set(data["conversation"])]
        style.draw_legend(
            drawing, [style.make_marker_legend_entry(f"{kind} conversation", **_LOOKS[kind]) for kind in kinds]
        )
    return drawing


class OrderChapter(ChapterMaker):
    """Dependence of answers on the questions before them."""

    needs_scores = True

    def make(self, study: Study, scope: FigureScope) -> Chapter:
        """Make the chapter."""
        conversations, positions = (
            shared_and_separate_conversations_table(study.table),
            question_position_trend_table(study.table),
        )
        absent = [
            f"{effect} not shown: {why}."
            for table, effect, why in (
                (
                    conversations,
                    "The comparison of shared and independent conversations is",
                    "no system's answers to the same questions are scored in both kinds (genaipa run --conversation)",
                ),
                (
                    positions,
                    "Effects of the position in a conversation are",
                    "no question is scored at two positions (this needs several documents or repetitions)",
                ),
            )
            if not table
        ]
        return Chapter(
            "order",
            "Order effects",
            "Whether an answer depends on what was asked before it: in one growing conversation or each on its own, "
            "and early or late in the shuffled order.",
            nonempty_tables(conversations, positions),
            scope.make_paged_figures([partial(question_order_effects_figure, conversations, positions)]),
            absent,
        )
