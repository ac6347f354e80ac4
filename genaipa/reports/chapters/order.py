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
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, present
from genaipa.reports.crossed import number_documents, number_labels
from genaipa.reports.figures import forest, style
from genaipa.reports.figures.figure import ALONE, Figure, Scope
from genaipa.reports.table import Table, make_table
from genaipa.stats.trend import estimate_slope

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


def _scored(frame: pd.DataFrame) -> pd.DataFrame:
    """The answers about policies whose conversation and place are known, with their M_all as `points`."""
    rows = averages.select_policy_rows(averages.average_answers(frame))
    rows = rows[rows["m_all"].notna() & (rows["conversation"] != "") & (rows["position"] > 0)]
    return rows.assign(points=rows["m_all"].round(9))


def conversations(frame: pd.DataFrame) -> Table:
    """Questions asked in a shared conversation against the same ones asked each on its own."""
    columns = [*_BY, "n", *KINDS, "difference", *averages.BOTH]
    by = [*_ABOUT, "initialization", "wording", "prompts"]
    means = _scored(frame).groupby([*by, "conversation"], observed=True)["points"].mean().reset_index()
    sides = [means[means["conversation"] == kind].drop(columns="conversation") for kind in KINDS]
    both = sides[0].rename(columns={"points": KINDS[0]}).merge(sides[1].rename(columns={"points": KINDS[1]}), on=by)
    both["difference"] = (both[KINDS[0]] - both[KINDS[1]]).round(9)
    data = averages.summarize_groups(both, _BY, _difference).reindex(columns=columns)
    return make_table(
        "conversations",
        "Shared and independent conversations",
        "M_all (10 to 100) where questions follow each other in one growing conversation (`shared`), where "
        "each is asked on its own (`independent`), and the difference, shared minus independent: of every question "
        "about a document that the system was asked in both ways, in the same experiment and wording, with the same "
        f"prompts. `n` is the number of questions. {averages.note_intervals(data)}",
        data,
        columns,
        formats=dict.fromkeys(KINDS, ".1f"),
    )


def _difference(rows: pd.DataFrame) -> dict[str, object]:
    found = averages.estimate_column_mean(rows, "difference")
    sides = {kind: averages.estimate_column_mean(rows, kind)["mean"] for kind in KINDS}
    return {**found, **sides, "difference": found["mean"]}


def positions(frame: pd.DataFrame) -> Table:
    """Trend of the scores from the first question of a conversation to the last."""
    columns = [*_BY, "conversation", "n", *THIRDS, "slope", *averages.BOTH]
    data = averages.summarize_groups(_placed(_scored(frame)), [*_BY, "conversation"], _by_place).reindex(
        columns=columns
    )
    return make_table(
        "positions",
        "The place in the order",
        "M_all (10 to 100) of the questions that were asked in the first, the middle and the last third of a "
        "conversation, and by how much it changes from the first question to the last (`slope`; below 0: later "
        "questions are answered worse). Each answer is compared with the others to the same question, so that hard "
        "questions that happened to come late don't count; questions that were asked once only say nothing. Where "
        "each question is asked on its own (`independent`), its place can't matter: what is seen there is chance. `n` "
        f"is the number of questions. {averages.note_intervals(data)}",
        data,
        columns,
        headings={"slope": SLOPE},
        formats={**dict.fromkeys(THIRDS, ".1f"), "slope": "+.1f"},
    )


def _placed(rows: pd.DataFrame) -> pd.DataFrame:
    """The answers to questions that were asked at more than one place: `place` is 0 for the first and 1 for the last.

    `off_place` and `off_points` are what an answer is apart from the mean of the others to the same question.
    """
    # An order is that of a document and a repetition of a run, whatever the wording.
    last = rows.groupby(["run", "system", "document", "repetition"], observed=True)["position"].transform("max")
    rows = rows[last > 1].assign(place=(rows["position"] - 1) / (last - 1))
    same = rows.groupby(_ASKED, observed=True)
    rows = rows.assign(
        off_place=rows["place"] - same["place"].transform("mean"),
        off_points=rows["points"] - same["points"].transform("mean"),
    )
    return rows[same["place"].transform("nunique") > 1]


def _by_place(rows: pd.DataFrame) -> dict[str, object]:
    places = number_labels(rows["question"])[0], number_documents(rows["document"])
    slope = estimate_slope(rows["off_points"], rows["off_place"], *places)
    third = np.minimum((rows["place"] * len(THIRDS)).astype(int), len(THIRDS) - 1)
    means = (rows["off_points"].groupby(third).mean() + rows["points"].mean()).reindex(range(len(THIRDS)))
    return {**dict(zip(THIRDS, means, strict=True)), **averages.as_columns(slope), "slope": slope.mean}


def order_figure(asked: Table, placed: Table, scope: Scope = ALONE) -> Figure | None:
    """Draw the effects of the kind of conversation and of the place in it: a row per system and experiment.

    None if neither is known.
    """
    both = pd.concat(
        [
            scope.select_shown(asked.data).assign(effect=APART).rename(columns={"difference": "mean"}),
            scope.select_shown(placed.data).assign(effect=SLOPE).rename(columns={"slope": "mean"}),
        ]
    )
    columns = [*_BY, "effect", "conversation", "n", "mean", *averages.BOTH]
    data = both.reindex(columns=columns).reset_index(drop=True)
    if data.empty:
        return None
    order = [system for system in scope.systems if system in set(data["system"])]
    systems = style.unique_labels(dict.fromkeys((*order, *data["system"])), 40)
    title = "Order effects"
    note = (
        f"In points of M_all. {APART}: above 0, questions in a growing conversation are answered better. {SLOPE}: "
        f"above 0, later questions are answered better. {forest.READING}"
        f"{scope.note_missing_systems(data['system'], 'such a contrast')}{style.note_full_names(systems)} "
        f"{' '.join(one.note for one in (asked, placed) if one)}"
    )
    shown = Table("order", title, note, data, placed.headings, {**placed.formats, "mean": "+.1f"})
    fits = forest.systems_per_page(data[_BY].drop_duplicates().groupby("system").size().max())
    return Figure("order", title, note, shown, lambda: _draw(data, systems), fits=fits)


def _draw(data: pd.DataFrame, systems: Mapping[Any, str]) -> Canvas:
    keys = data[_BY].drop_duplicates().itertuples(index=False)
    rows = forest.Rows.arrange(systems, ((system, by, style.shorten(by, 18)) for system, by in keys))
    effects = [effect for effect in (APART, SLOPE) if effect in set(data["effect"])]
    drawn, panels = rows.canvas([1] * len(effects))
    for axes, effect in zip(panels, effects, strict=True):
        axes.axvline(0, color=style.INK, linewidth=0.8, zorder=1)
        axes.set_xlabel(f"{effect} (points)", fontsize=style.SMALL)
    for row in data.to_dict("records"):
        look = _LOOKS.get(row["conversation"], _BOTH)
        # Of the two kinds of conversation, one is above the other, so that both are seen.
        place = rows.places[row["system"], row["experiment"]] + _BESIDE.get(row["conversation"], 0.0)
        forest.draw_interval(panels[effects.index(row["effect"])], row, place, look)
    if SLOPE in effects:
        found = [kind for kind in KINDS if kind in set(data["conversation"])]
        style.draw_legend(drawn, [style.legend_mark(f"{kind} conversation", **_LOOKS[kind]) for kind in found])
    return drawn


class OrderChapter(ChapterMaker):
    """Dependence of answers on the questions before them."""

    needs_scores = True

    def make(self, study: Study, scope: Scope) -> Chapter:
        """Make the chapter."""
        asked, placed = conversations(study.table), positions(study.table)
        absent = [
            f"{what} not shown: {why}."
            for table, what, why in (
                (
                    asked,
                    "Shared against independent conversations are",
                    "no system's answers to the same questions are scored in both (genaipa run --conversation)",
                ),
                (
                    placed,
                    "Effects of the place in a conversation are",
                    "no question is scored at two places of an order (it takes several documents, or repetitions)",
                ),
            )
            if not table
        ]
        return Chapter(
            "order",
            "Order effects",
            "Whether an answer depends on what was asked before it: in one growing conversation or each on its own, "
            "and early or late in the shuffled order.",
            present(asked, placed),
            scope.draw_pages([partial(order_figure, asked, placed)]),
            absent,
        )
