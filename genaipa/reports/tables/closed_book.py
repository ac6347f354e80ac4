"""What a system knows of a document by the company's name alone, against being shown it (paper, section 6.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.reports import bootstrap as certainty
from genaipa.reports.tables import averages, pairs
from genaipa.reports.tables.columns import table

if TYPE_CHECKING:
    import pandas as pd

    from genaipa.reports.table import Table

_WAYS = ("quality", "recall")


def by_question(frame: pd.DataFrame) -> Table:
    """M_all of every question with the document shown, against the company's name alone."""
    data = pairs.by_question(pairs.pairs(frame, *_WAYS))
    return table(
        "memory",
        "The document shown, and its company's name alone",
        "M_all times 10 (10 to 100) of a question over the n documents about which it was asked both ways (0 where "
        "only the published mean over documents is known); the difference is what showing the document adds (paper, "
        "section 6.3).",
        data.rename(columns={"quality": "document_shown", "recall": "name_only"}),
        ("system", "question", "category", "source", "document_shown", "name_only", "difference", "n"),
    )


def summary(frame: pd.DataFrame) -> Table:
    """What showing the document adds to M_all, by system."""
    columns = ["system", "n", "mean", "low", "high"]
    data = averages.summed_up(
        pairs.pairs(frame, *_WAYS), ["system"], lambda rows: averages.mean_of(rows, "difference")
    ).reindex(columns=columns)
    return table(
        "memory-summary",
        "What showing the document adds",
        "M_all times 10 with the document shown, minus M_all times 10 by the company's name alone, averaged over n "
        "questions, each a mean over documents; above 0: the document helps (paper, section 6.3). "
        f"{certainty.in_words}{averages.how_few(data['n'])}",
        data,
        columns,
        headings={"mean": "difference"},
        formats=dict.fromkeys(("mean", "low", "high"), "+.1f"),
    )
