"""A heat map of the questions about regulations: the five metrics of each (paper, section 6.4 and figure 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.reports.figures import heatmap, style
from genaipa.scoring.overall import Bounds
from genaipa.scoring.rubric import METRICS

if TYPE_CHECKING:
    from genaipa.reports.figures.figure import Figure
    from genaipa.reports.table import Table


def scores(table: Table, bounds: Bounds | None = None) -> Figure | None:
    """Regulations and their questions down, metrics across, a panel per system; None without a value."""
    data = table.data.dropna(subset=list(METRICS), how="all")
    if data.empty:
        return None
    regulations = style.labels(style.ordered(data["document"]), 10)
    questions = style.labels(style.ordered(data["question"]), 10)
    asked = set(zip(data["document"], data["question"], strict=True))
    keys = [(regulation, question) for regulation in regulations for question in questions]
    names = {key: f"{regulations[key[0]]}  {questions[key[1]]}" for key in keys if key in asked}
    grid = heatmap.Grid(data, ["document", "question"], "answers", names, {key: key[0] for key in names})
    note = (
        "The five metrics of each question about a regulation. n is the number of answers."
        f"{style.in_full(regulations)}{style.in_full(questions)}"
    )
    return heatmap.figure("regulation", style.headline("regulation"), note, table, grid, bounds or Bounds())
