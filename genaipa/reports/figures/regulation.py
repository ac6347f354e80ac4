"""A heat map of the questions about regulations: the five metrics of each (paper, section 6.4 and figure 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.reports.figures import heatmap, style
from genaipa.reports.figures.scope import ALONE, Scope
from genaipa.scoring.m_all import Bounds
from genaipa.scoring.rubric import METRICS

if TYPE_CHECKING:
    from genaipa.reports.figures.figure import Figure
    from genaipa.reports.table import Table


def scores(table: Table, bounds: Bounds | None = None, scope: Scope = ALONE) -> Figure | None:
    """Regulations and their questions down, metrics across, a panel per system; None without a value."""
    data = scope.only(table.data.dropna(subset=list(METRICS), how="all"))
    if data.empty:
        return None
    regulations = style.labels(style.ordered(data["document"]), 10)
    questions = style.labels(scope.in_order(style.ordered(data["question"])), 10)
    asked = set(zip(data["document"], data["question"], strict=True))
    keys = [(regulation, question) for regulation in regulations for question in questions]
    names = {key: f"{regulations[key[0]]}  {questions[key[1]]}" for key in keys if key in asked}
    grid = heatmap.Grid(data, ["document", "question"], "answers", names, {key: key[0] for key in names})
    about = (
        "The five metrics of each question about a regulation. n is the number of answers."
        f"{scope.without(data['system'], 'a score of the five metrics on a regulation')}"
        f"{style.in_full(regulations)}{style.in_full(questions)}"
    )
    return heatmap.figure("regulation", "regulation", about, table, grid, bounds or Bounds())
