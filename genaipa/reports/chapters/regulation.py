"""The answers about data-protection regulations: the metrics of each (paper, section 6.4 and figure 5)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from genaipa.answers.tidy import list_metrics, metric_display_names
from genaipa.reports import averages
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, has_experiment, nonempty_tables
from genaipa.reports.figures import heatmap, style
from genaipa.reports.figures.figure import ALONE, Figure, FigureScope
from genaipa.reports.table import Table, make_table, metric_formats

if TYPE_CHECKING:
    from genaipa.answers.study import Study


def regulation_scores_table(frame: pd.DataFrame) -> Table:
    """Return the metrics and M_all of every question about every regulation."""
    cells = averages.average_scores_by_question_and_document(frame)
    cells = cells[(cells["kind"] == "regulation") | (cells["experiment"] == "regulation")]
    return make_table(
        "regulation",
        "Questions about regulations",
        "Each metric (-1 to 1) and M_all (10 to 100) of a question about a regulation, averaged over its answers (a "
        "published score counts as one) and their scores (paper, section 6.4, figure 5).",
        cells,
        ("system", "document", "question", *list_metrics(frame), "m_all", "answers"),
        headings=metric_display_names(frame),
        formats=metric_formats(frame),
    )


def regulation_metrics_map(regulation_scores: Table, scope: FigureScope = ALONE) -> Figure | None:
    """Draw regulations and their questions down, metrics across, a panel per system; None without a value."""
    data = scope.select_rows_of_shown_systems(
        regulation_scores.data.dropna(subset=list_metrics(regulation_scores.data), how="all")
    )
    if data.empty:
        return None
    regulations = style.unique_labels(style.distinct_values(data["document"]), 10)
    questions = style.unique_labels(scope.sort_questions(style.distinct_values(data["question"])), 10)
    asked_pairs = set(zip(data["document"], data["question"], strict=True))
    keys = [(regulation, question) for regulation in regulations for question in questions]
    names = {key: f"{regulations[key[0]]}  {questions[key[1]]}" for key in keys if key in asked_pairs}
    groups = {key: key[0] for key in names}
    texts = {key: scope.texts[key[1]] for key in names if key[1] in scope.texts}
    grid = heatmap.HeatMapRows(
        *(data, ["document", "question"], "answers", names, groups),
        headings=regulation_scores.headings,
        texts=texts,
    )
    about = (
        "The metrics of each question about a regulation. n is the number of answers."
        f"{scope.note_missing_systems(data['system'], 'a score of the metrics on a regulation')}"
        f"{style.note_full_names(regulations)}{style.note_full_names(questions)}"
    )
    return heatmap.metrics_heat_map_figure("regulation", "regulation", about, regulation_scores, grid, scope.bounds)


class RegulationChapter(ChapterMaker):
    """Questions about regulations, put by their names."""

    needs_scores = True

    def make(self, study: Study, scope: FigureScope) -> Chapter:
        """Make the chapter."""
        frame = study.table
        scores = regulation_scores_table(frame)
        why = "no answer about a regulation is scored" if has_experiment(frame, "regulation") else (
            "no question about a regulation was asked (genaipa run --experiment regulation)"
        )  # fmt: skip
        return Chapter(
            "regulation",
            "Regulations",
            "Questions about data-protection laws; each question gives only the name of the law.",
            nonempty_tables(scores),
            scope.make_paged_figures([partial(regulation_metrics_map, scores)]),
            [] if scores else [f"Regulations are not shown: {why}."],
        )
