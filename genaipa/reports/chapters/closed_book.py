"""Closed book: answers by the company's name alone, against answers from the document (paper, section 6.3)."""

from __future__ import annotations

from functools import partial
from math import ceil
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

_WAYS = ("quality", "recall")
_ABREAST = 3
"""Systems side by side."""
_FOOT = 0.75
"""Inches of the axis and the legend."""
_LEAST = 20
"""The axis reaches at least so far on both sides, so that small differences look small."""


def gains_from_document_by_question_table(frame: pd.DataFrame) -> Table:
    """Tabulate M_all of every question with the document shown, against the company's name alone."""
    data = averages.average_pairs_by_question(averages.pair_m_all_of_experiments(frame, *_WAYS))
    return make_table(
        "memory",
        "With the document shown, and with only the company's name",
        "M_all (10 to 100) of a question over the n documents about which it was asked both ways (n is 0 where only "
        "the published mean over documents is known); the difference is what showing the document adds (paper, section "
        "6.3).",
        data.rename(columns={"quality": "document_shown", "recall": "name_only"}),
        ("system", "question", "category", "source", "document_shown", "name_only", "difference", "n"),
    )


def mean_gains_from_document_table(frame: pd.DataFrame) -> Table:
    """Return the gain in M_all from showing the document, by system."""
    columns = ["system", "n", "mean", *BOTH]
    data = averages.summarize_each_group(
        averages.pair_m_all_of_experiments(frame, *_WAYS),
        ["system"],
        lambda rows: averages.estimate_column_mean(rows, "difference"),
    ).reindex(columns=columns)
    return make_table(
        "memory-summary",
        "What showing the document adds",
        "M_all with the document shown, minus M_all with only the company's name, averaged over n questions, each a "
        "mean over documents; above 0: the document helps (paper, section 6.3). "
        f"{averages.explain_intervals_and_small_n(data)}",
        data,
        columns,
        headings={"mean": "difference"},
        formats=dict.fromkeys(("mean", *BOTH[:-1]), "+.1f"),
    )


_WORDS = {1: 44, 2: 34, 3: 22}
"""Panels side by side → letters of a question beside them."""


def gains_from_document_figure(question_gains: Table, scope: FigureScope = ALONE) -> Figure | None:
    """Draw questions down, a panel per system: M_all with the document minus by name; None without a pair."""
    data = scope.select_rows_of_shown_systems(question_gains.data.dropna(subset=["difference"]))
    if data.empty:
        return None
    systems = style.unique_labels(style.distinct_values(data["system"]))
    groups, sources = style.map_questions_to_category_and_source(
        data, scope.sort_questions(style.distinct_values(data["question"]))
    )
    names = style.unique_labels(groups, 12)
    title = "What showing the document adds, by question"
    note = (
        "M_all with the document shown, minus M_all with only the company's name: to the right of 0 the document "
        f"helps. {style.SOURCES_IN_WORDS} n is the number of documents, or 'mean' where the source gives only the mean "
        f"over its documents.{scope.note_missing_systems(data['system'], 'a question scored both ways')}"
        f"{style.note_full_names(systems)}{style.note_full_names(names)} {question_gains.note}"
    )
    figure_table = Table(
        "memory", title, note, data.reset_index(drop=True), question_gains.headings, question_gains.formats
    )
    fits = _ABREAST * max(int((style.HEIGHT - _FOOT) / _gains_panel_height_inches(names, scope.texts)), 1)
    return Figure(
        "memory",
        title,
        note,
        figure_table,
        lambda: _draw_gains_from_document(data, systems, names, groups, sources, scope.texts),
        fits=fits,
    )


def _gains_panel_height_inches(label_by_question: Mapping[Any, str], text_by_question: Mapping[str, str]) -> float:
    return (style.TALL if text_by_question else 0.165) * len(label_by_question) + 0.35


def _draw_gains_from_document(
    data: pd.DataFrame,
    label_by_system: Mapping[Any, str],
    label_by_question: Mapping[Any, str],
    category_by_question: Mapping[Any, Any],
    source_by_question: Mapping[Any, str],
    text_by_question: Mapping[str, str],
) -> Canvas:
    down, across = style.panel_rows_and_columns(len(label_by_system), _ABREAST)
    width = style.WIDTH if across > 1 or text_by_question else style.COLUMN
    drawing = style.make_canvas(width, down * _gains_panel_height_inches(label_by_question, text_by_question) + _FOOT)
    panels = drawing.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    reach = max(_LEAST, ceil(data["difference"].abs().max() / 10) * 10)
    for axes, (system, label) in zip(panels.flat, label_by_system.items(), strict=False):
        axes.axvspan(-reach, 0, facecolor="#f1f1f1", zorder=0)
        axes.axvline(0, color=style.INK, linewidth=0.8, zorder=1)
        rows = data[data["system"] == system].set_index("question").reindex(list(label_by_question))
        _draw_system_gains(axes, rows, source_by_question, reach)
        style.draw_lines_between_groups(axes, list(category_by_question.values()), (-reach, reach), row_offset=-0.5)
        axes.set_title(label, pad=9)
        axes.tick_params(axis="y", length=0)
    panels[0, 0].set_xlim(-reach * 1.05, reach * 1.3)
    panels[0, 0].set_xticks(
        [-reach, -reach / 2, 0, reach / 2, reach], style.format_tick_labels(-reach, -reach / 2, 0, reach / 2, reach)
    )
    panels[0, 0].set_ylim(len(label_by_question) - 0.4, -0.6)
    for axes in panels[:, 0]:
        style.write_row_labels(
            axes, label_by_question, source_by_question, text_by_row=text_by_question, max_letters=_WORDS[across]
        )
    for axes in style.remove_unused_and_list_lowest_axes(panels, len(label_by_system)):
        axes.set_xlabel("Document minus name alone\n(M_all)", fontsize=style.SMALL)
        axes.tick_params(axis="x", labelbottom=True)
    named = {"faq": "question from FAQs", "user": "question from users"}
    drawn_sources = [source for source in style.SOURCE_POINTS if source in source_by_question.values()]
    style.draw_legend(
        drawing,
        [style.make_marker_legend_entry(named[source], **style.SOURCE_POINTS[source]) for source in drawn_sources],
    )
    return drawing


def _draw_system_gains(
    axes: Axes, rows: pd.DataFrame, source_by_question: Mapping[Any, str], axis_limit: float
) -> None:
    axes.text(axis_limit * 1.08, -0.62, "n", fontsize=style.TINY, style="italic", va="bottom")
    for index, (question, row) in enumerate(rows.iterrows()):
        if pd.isna(row["difference"]):
            axes.text(axis_limit * 0.04, index, "no pair", va="center", **style.ABSENT)
            continue
        look = style.SOURCE_POINTS.get(source_by_question[question], {"marker": "o", "color": style.INK})
        axes.plot([0, row["difference"]], [index, index], color=look["color"], linewidth=1.2, zorder=2)
        axes.plot([row["difference"]], [index], **look, linestyle="none", markersize=3.6, zorder=3)
        axes.text(
            axis_limit * 1.08, index, style.format_count_or_mean_for_zero(row["n"]), va="center", fontsize=style.TINY
        )


class ClosedBookChapter(ChapterMaker):
    """Answers with the document shown, against answers by the company's name alone."""

    needs_scores = True

    def make(self, study: Study, scope: FigureScope) -> Chapter:
        """Make the chapter."""
        frame = study.table
        differences = gains_from_document_by_question_table(frame)
        was_asked = has_experiment(frame, "recall") and has_experiment(frame, "quality")
        why = "no question is scored both ways" if was_asked else (
            "this needs answers with the document shown and with only the company's name (genaipa run --experiment "
            "quality and --experiment recall)"
        )  # fmt: skip
        return Chapter(
            "memory",
            "Closed book",
            "A system's answers with the document shown, compared with its answers when only the company is named.",
            nonempty_tables(mean_gains_from_document_table(frame), differences),
            scope.make_paged_figures([partial(gains_from_document_figure, differences)]),
            [] if differences else [f"The closed-book comparison is not shown: {why}."],
        )
