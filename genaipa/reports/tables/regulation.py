"""The answers about data-protection regulations (paper, section 6.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.reports import aggregate as cells
from genaipa.reports.tables.columns import table
from genaipa.scoring.rubric import METRICS

if TYPE_CHECKING:
    import pandas as pd

    from genaipa.reports.table import Table


def scores(frame: pd.DataFrame) -> Table:
    """The five metrics and M_all of every question about every regulation."""
    found = cells.cells(frame)
    found = found[(found["kind"] == "regulation") | (found["experiment"] == "regulation")]
    return table(
        "regulation",
        "Questions about regulations",
        "Each metric (-1 to 1) and M_all (1 to 10) of a question about a regulation, averaged over its answers (a "
        "published score counts as one) and their scores (paper, section 6.4, figure 5).",
        found,
        ("system", "document", "question", *METRICS, "m_all", "answers"),
    )
