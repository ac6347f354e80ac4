"""Retrieval: whether the passages that a system gave show the right section, and whether it then answered right."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.reports import averages
from genaipa.reports.averages import BOTH
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, nonempty_tables
from genaipa.reports.crossed import SHARES, estimate_crossed_mean
from genaipa.reports.figures import forest, style
from genaipa.reports.figures.figure import ALONE, Figure, FigureScope
from genaipa.reports.table import Table, make_table
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from genaipa.answers.study import Study

NAME = "retrieval"
ACCURACY = "accuracy"
"""The metric by which an answer is right."""
_BY = ["system", "experiment"]
_FIRST = (1, 2, 3, 5, 10, 20, 50)
"""Numbers of passages among which the right section is looked for."""
_PARTS: dict[str, tuple[str, dict[str, Any]]] = {
    "shown_right": ("shown, right", {"facecolor": "#0072B2"}),
    "shown_wrong": ("shown, wrong", {"facecolor": "#9cc9e6", "hatch": "////"}),
    "quoted_right": ("not shown, right by quoting other text", {"facecolor": "#cfe8d8", "hatch": "...."}),
    "hidden_right": ("not shown, right", {"facecolor": "#E69F00"}),
    "hidden_wrong": ("not shown, wrong", {"facecolor": "#f6dca6", "hatch": "\\\\\\\\"}),
}
"""Part of the scored answers → its name, and its look, which differs by its pattern as well as by its colour."""
_FOOT = 1.45
"""Inches of the axes and of a legend in three lines."""
_WRITTEN = 0.08
"""Least share in whose area there is room for its number."""
_HOW = (
    "A right section counts as shown if the passages include a sentence that supports the annotated answer or one "
    "of its points: the sentence of the section that shares the most words with the point or clause. If no "
    "sentence of a section has a quarter of these words, the passages must include half of the section's "
    "sentences. Questions without such a section and experiments without retrieved passages are left out. A rule "
    "locates the passages in the document: word for word, ignoring typography, or approximately."
)


class RetrievalChapter(ChapterMaker):
    """Whether systems that retrieve were shown the right section."""

    needs = frozenset({"passages"})
    after = "silent"

    def make(self, study: Study, scope: FigureScope) -> Chapter:
        """Make the chapter."""
        table = tabulate_shown_right_sections(study)
        return Chapter(
            NAME,
            "Retrieval",
            "Whether the passages that a system retrieved show the section that supports the right answer.",
            nonempty_tables(
                table, tabulate_hit_rate_among_first_passages(study), tabulate_retrieved_passages_by_system(study)
            ),
            scope.make_paged_figures([partial(draw_shown_right_sections, table)]),
            []
            if table
            else ["No question with passages has an annotated answer that is based on a section of the document."],
        )

    def notable(self, study: Study) -> Iterable[str]:
        """Return a sentence on each system some of whose passages are not in the document."""
        return describe_passages_not_in_document(study)


def select_passage_answers_and_mark_right(study: Study) -> pd.DataFrame:
    """Return the answers of systems that gave passages, with `right`: 1, 0, or NaN where no person scored it.

    An answer is right if the average of its accuracy is above 0: entirely or in part.
    """
    once = study.rows_once_per_answer("passages")
    retrieved = once[once["passages"].notna() & ~once["left_out"]]
    if retrieved.empty or ACCURACY not in study.table:
        return retrieved.assign(right=float("nan"))
    scored = averages.average_answers(study.table)
    accuracies = dict(zip(zip(scored["run"], scored["key"], strict=True), scored[ACCURACY], strict=True))
    accuracy = pd.Series(
        [accuracies.get(answer_key) for answer_key in zip(retrieved["run"], retrieved["key"], strict=True)],
        retrieved.index,
    )
    accuracy = accuracy.astype("float64")
    return retrieved.assign(right=(accuracy > 0).astype("float64").where(accuracy.notna()))


def tabulate_shown_right_sections(study: Study) -> Table:
    """Tabulate how often a right section was shown, and how often each went with a right answer, where scored."""
    data = averages.summarize_each_group(
        _select_answers_with_right_sections(select_passage_answers_and_mark_right(study)),
        _BY,
        _estimate_shown_share_and_outcome_shares,
    )
    columns = [*_BY, "n", "mean", *BOTH, *_PARTS, "scored"]
    data = data.reindex(columns=columns)
    if not data["scored"].astype("float64").any():
        columns = [name for name in columns if name not in _PARTS and name != "scored"]
    return make_table(
        NAME,
        "Right section shown and right answer",
        "Share of the questions for which a system's passages show a right section, and shares of the answers that "
        f"people scored. An answer counts as right if its accuracy is above 0. {_HOW} An answer that takes at least "
        "half of its words from its passages, and is right although no right section was shown, counts as right by "
        "quoting other text of the document. Each question has the same weight, regardless of how many documents "
        "and answers it has. "
        f"{averages.explain_intervals_and_small_n(data)}{averages.note_corrected_annotations(study.table)}",
        data,
        columns,
        headings={
            "n": "questions",
            "mean": "right section shown",
            "shown_right": "shown, answered right",
            **{part: name for part, (name, _) in _PARTS.items() if part != "shown_right"},
        },
        formats=dict.fromkeys(("mean", *BOTH[:-1], *_PARTS), ".0%"),
    )


def _select_answers_with_right_sections(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the answers that there were right sections for, of experiments in which the system retrieved."""
    retrieved = rows.groupby(_BY, observed=True)["passages"].transform("max") > 0
    return rows[retrieved & (rows["sections"] > 0)]


def _estimate_shown_share_and_outcome_shares(rows: pd.DataFrame) -> dict[str, object]:
    is_shown, right, quotes = rows["shown_at"] > 0, rows["right"] > 0, rows["quotes"] > 0
    mean = estimate_crossed_mean(is_shown.astype("float64"), rows["question"], rows["document"], limits=SHARES[0])
    scored = rows["right"].notna()
    hidden = ~is_shown & right
    part_masks = (is_shown & right, is_shown & ~right, hidden & quotes, hidden & ~quotes, ~is_shown & ~right)
    parts = dict(zip(_PARTS, part_masks, strict=True))
    return {
        **averages.mean_and_interval_columns(mean),
        **{
            name: estimate_crossed_mean(
                part[scored].astype("float64"), rows["question"][scored], rows["document"][scored]
            ).mean
            for name, part in parts.items()
        },
        "scored": int(scored.sum()),
    }


def tabulate_hit_rate_among_first_passages(study: Study) -> Table:
    """Tabulate how often a right section was shown by the first passages, for several numbers of them."""
    rows = _select_answers_with_right_sections(select_passage_answers_and_mark_right(study))
    passage_counts = rows.groupby(_BY, observed=True)["passages"].transform("max")
    parts = [
        averages.summarize_each_group(
            rows[(passage_counts >= first) | (first == 1)],
            _BY,
            partial(_compute_hit_rate_in_first_passages, passage_limit=first),
        )
        for first in _FIRST
    ]
    data = averages.stack_frames(parts)
    columns = [*_BY, "first", "n", "mean", *BOTH]
    return make_table(
        "retrieval-by-number",
        "The right section among the first passages",
        f"Share of the questions for which the first passages, in the system's order, show a right section. {_HOW} "
        f"{averages.explain_intervals_and_small_n(data.reindex(columns=columns))}",
        data.reindex(columns=columns).sort_values([*_BY, "first"], kind="stable"),
        columns,
        headings={"first": "first passages", "n": "questions", "mean": "right section shown"},
        formats=dict.fromkeys(("mean", *BOTH[:-1]), ".0%"),
    )


def _compute_hit_rate_in_first_passages(rows: pd.DataFrame, passage_limit: int) -> dict[str, object]:
    is_shown = ((rows["shown_at"] > 0) & (rows["shown_at"] <= passage_limit)).astype("float64")
    mean = estimate_crossed_mean(is_shown, rows["question"], rows["document"], limits=SHARES[0])
    return {"first": passage_limit, **averages.mean_and_interval_columns(mean)}


def tabulate_retrieved_passages_by_system(study: Study) -> Table:
    """Count the passages: how many are annotated, how many of another text, and how many silent questions got."""
    data = averages.summarize_each_group(
        select_passage_answers_and_mark_right(study), _BY, _summarize_retrieved_passages
    )
    shares = ("sections_shown", "annotated", "elsewhere", "other")
    columns = [*_BY, "answers", "each", *shares, "on_silent", "silent_each"]
    return make_table(
        "retrieval-passages",
        "The passages",
        "Passages per answer, and three shares: the annotated sections that were shown, the passages that contain "
        "a sentence of these sections (both only where the annotated answer is based on sections), and the "
        "passages that are not in this document. A summary or translation does not count as text of the document; "
        "`in another document` means another document of the run. If the document is silent on a question, there "
        "is nothing to find; where no answer is annotated, nobody knows on how many.",
        data.reindex(columns=columns),
        columns,
        headings={
            "each": "passages per answer",
            "sections_shown": "annotated sections shown",
            "annotated": "annotated passages",
            "elsewhere": "not in this document",
            "other": "in another document",
            "on_silent": "answers where silent",
            "silent_each": "passages per answer where silent",
        },
        formats={**dict.fromkeys(shares, ".0%"), "each": ".1f", "on_silent": ".0f", "silent_each": ".1f"},
    )


def _summarize_retrieved_passages(rows: pd.DataFrame) -> dict[str, object]:
    about, silent = rows[rows["sections"] > 0], rows[rows["silent"] == "yes"]
    recall = about["sections_shown"] / about["sections"]
    return {
        "answers": len(rows),
        "each": rows["passages"].mean(),
        "sections_shown": estimate_crossed_mean(recall, about["question"], about["document"]).mean,
        "annotated": about["passages_annotated"].sum() / (about["passages"].sum() or float("nan")),
        "elsewhere": rows["passages_elsewhere"].sum() / (rows["passages"].sum() or float("nan")),
        "other": rows["passages_other"].sum() / (rows["passages"].sum() or float("nan")),
        "on_silent": len(silent) if (rows["silent"].astype("str") != "").any() else float("nan"),
        "silent_each": silent["passages"].mean(),
    }


def describe_passages_not_in_document(study: Study) -> list[str]:
    """Say of each system how many of its passages are not in the document that was asked about, if any."""
    counts = select_passage_answers_and_mark_right(study).groupby("system", observed=True, sort=True)[
        ["passages", "passages_elsewhere", "passages_other"]
    ]
    return [
        f"{system}: {row.passages_elsewhere:,.0f} of its {format_count(int(row.passages), 'passage')} "
        f"{'is' if row.passages_elsewhere == 1 else 'are'} not in the document that was asked about, "
        f"{row.passages_other:,.0f} of these in another document of the run."
        for system, row in counts.sum().iterrows()
        if row.passages_elsewhere
    ]


def draw_shown_right_sections(table: Table, scope: FigureScope = ALONE) -> Figure | None:
    """Draw systems and experiments down: the share with its intervals, and the parts of the scored answers."""
    data = scope.select_rows_of_shown_systems(table.data.dropna(subset=["mean"]))
    if data.empty:
        return None
    systems = style.unique_labels(style.distinct_values(data["system"]), 30)
    note = (
        "How often a system's passages show a right section, and how often the answers that people scored were "
        f"right with and without it (n: scored answers). {forest.READING}{style.note_full_names(systems)} "
        f"{table.note}"
    )
    numbers = Table(NAME, table.title, note, data.reset_index(drop=True), table.headings, table.formats)
    fits = forest.count_systems_per_page(int(data.groupby("system").size().max()))
    also = ", and how often its scored answers were right with and without it" if "scored" in data else ""
    caption = f"How often a system's passages show a right section{also}."
    return Figure(
        NAME,
        table.title,
        note,
        numbers,
        lambda: _draw_shown_and_right_shares(data, systems, scope),
        fits=fits,
        caption=caption,
    )


def _draw_shown_and_right_shares(data: pd.DataFrame, systems: Mapping[Any, str], scope: FigureScope) -> Canvas:
    named = (
        (system, of, style.shorten_experiment_name(of)) for system, of in data[_BY].itertuples(index=False, name=None)
    )
    rows, marks = (
        forest.ForestRows.lay_out_rows(systems, named, with_system_headings=False),
        scope.system_colours_and_markers(list(systems)),
    )
    parts = "scored" in data
    canvas, panels = rows.make_canvas_with_panels((1, 1.1) if parts else (1,), foot_inches=_FOOT)
    for row in data.to_dict("records"):
        position = rows.places[row["system"], row["experiment"]]
        forest.draw_mean_with_intervals(panels[0], row, position, marks[row["system"]])
        panels[0].text(1.03, position, f"{row['mean']:.0%}", va="center", fontsize=style.SMALL)
        if parts:
            _draw_outcome_bar_of_scored_answers(panels[1], row, position)
    panels[0].set_xlim(0, 1.16)
    panels[0].set_xlabel("Right section shown,\nwith its 95 % intervals")
    for axes in panels:
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100 %"])
    if parts:
        panels[1].set_xlim(0, 1.16)
        panels[1].set_xlabel("Section and answer,\nshare of scored answers")
        style.draw_legend(
            canvas, [style.make_patch_legend_entry(name, edgecolor="white", **look) for name, look in _PARTS.values()]
        )
    return canvas


def _draw_outcome_bar_of_scored_answers(axes: Axes, row: Mapping[Any, Any], position: float) -> None:
    """Draw the four parts of the scored answers in one bar."""
    if not row["scored"]:
        axes.text(0.02, position, "none scored", va="center", **style.ABSENT)
        return
    axes.text(1.03, position, f"n={row['scored']:.0f}", va="center", fontsize=style.TINY)
    at = 0.0
    for part, (_, look) in _PARTS.items():
        share = row[part]
        axes.barh(position, share, left=at, height=0.7, edgecolor="white", linewidth=0.5, **look)
        if share >= _WRITTEN:
            text = axes.text(at + share / 2, position, f"{share:.0%}", ha="center", va="center", fontsize=style.TINY)
            text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.8})
        at += share
