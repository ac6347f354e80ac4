"""The five metrics by question and by category: the numbers behind the heat maps (paper, figures 2b, 3b, 4b, 6b)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports import certainty
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
        "and their scores. `documents` is over how many M_all is, 0 where a study published only the mean over all of "
        "its documents. The metrics are over the same documents, but where these have no metrics of their own: there "
        "they are the published means over all of the study's documents, also where an audit left out a single "
        "document's M_all. A metric that was never scored is blank (paper, figures 2b, 3b, 4b and 6b).",
        averages.policy_questions(frame),
        (*("system", "experiment", "question", "category", "source"), *METRICS, "m_all", "documents"),
    )


def by_category(frame: pd.DataFrame) -> Table:
    """The five metrics and M_all of every category, as means over its questions."""
    found = averages.policy_questions(frame)
    columns = ["system", "experiment", "category", *METRICS, "m_all", "low", "high", "questions"]
    data = averages.summed_up(found, columns[:3], _of_category).reindex(columns=columns)
    return table(
        "metrics-by-category",
        "The five metrics by category of question",
        "Each metric (-1 to 1) and M_all (1 to 10, with its interval): means over the questions of a category of their "
        f"means over documents (paper, section 6). {certainty.in_words}{averages.how_few(data['questions'])}",
        data,
        columns,
        formats=dict.fromkeys(("low", "high"), ".2f"),
    )


def _of_category(rows: pd.DataFrame) -> dict[str, object]:
    overall = averages.mean_of(rows, "m_all")
    return {
        **{metric: rows[metric].mean() for metric in METRICS},
        "m_all": overall["mean"],
        "low": overall["low"],
        "high": overall["high"],
        "questions": overall["n"],
    }
