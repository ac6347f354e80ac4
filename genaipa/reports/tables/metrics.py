"""The five metrics by question and by category: the numbers behind the heat maps (paper, figures 2b, 3b, 4b, 6b)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports import bootstrap as certainty
from genaipa.reports.tables import averages
from genaipa.reports.tables.columns import table
from genaipa.scoring.rubric import METRICS

if TYPE_CHECKING:
    from genaipa.reports.table import Table


def by_question(frame: pd.DataFrame) -> Table:
    """The five metrics and M_all of every question, as means over documents."""
    return table(
        "metrics-by-question",
        "The five metrics by question",
        "Each metric (-1 to 1) and M_all (1 to 10) of a question: means over documents of the means over its answers "
        "and their scores. n is over how many documents, of the metrics (the fewest where they differ) and of M_all; "
        "0 stands where a study published only the mean over all of its documents: such a mean includes documents "
        "whose M_all an audit left out. A metric that was never scored is blank (paper, figures 2b, 3b, 4b and 6b).",
        averages.policy_questions(frame).rename(
            columns={"metric_documents": "documents", "documents": "m_all_documents"}
        ),
        (
            *("system", "experiment", "question", "category", "source"),
            *METRICS,
            *("m_all", "documents", "m_all_documents"),
        ),
        headings={"documents": "n of the metrics", "m_all_documents": "n of M_all"},
    )


def by_category(frame: pd.DataFrame) -> Table:
    """The five metrics and M_all of every category, as means over its questions."""
    found = averages.policy_questions(frame)
    columns = ["system", "experiment", "category", *METRICS, "m_all", "low", "high", "questions", "m_all_questions"]
    data = averages.summed_up(found, columns[:3], _of_category).reindex(columns=columns)
    return table(
        "metrics-by-category",
        "The five metrics by category of question",
        "Each metric (-1 to 1) and M_all (1 to 10, with its interval): means over the questions of a category of their "
        "means over documents. n is over how many questions, of the metrics (the fewest where they differ) and of "
        "M_all: a question can have the one without the other (paper, section 6). "
        f"{certainty.in_words}{averages.how_few(pd.concat([data['questions'], data['m_all_questions']]))}",
        data,
        columns,
        headings={"questions": "n of the metrics", "m_all_questions": "n of M_all"},
        formats=dict.fromkeys(("low", "high"), ".2f"),
    )


def _of_category(rows: pd.DataFrame) -> dict[str, object]:
    overall = averages.mean_of(rows, "m_all")
    return {
        **{metric: rows[metric].mean() for metric in METRICS},
        "questions": min((n for n in map(int, rows[list(METRICS)].count()) if n), default=0),
        "m_all": overall["mean"],
        "low": overall["low"],
        "high": overall["high"],
        "m_all_questions": overall["n"],
    }
