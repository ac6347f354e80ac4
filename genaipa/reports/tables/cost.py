"""What answers take: time and money, beside their quality."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports import bootstrap as certainty
from genaipa.reports.tables import averages
from genaipa.reports.tables.columns import table
from genaipa.reports.tables.outcomes import asked_once

if TYPE_CHECKING:
    from genaipa.reports.table import Table


def by_system(frame: pd.DataFrame) -> Table:
    """Seconds and money of the answers to each experiment's questions, beside their M_all."""
    asked = averages.about_policies(asked_once(frame))
    asked = asked[asked["status"] != "missing"]
    by = ["system", "experiment"]
    # Where no answer took any time, none was measured: they were imported.
    longest = asked.groupby(by, observed=True)["seconds"].transform("max")
    asked = asked.assign(seconds=asked["seconds"].where(longest > 0)).dropna(subset=["seconds", "cost"], how="all")
    spent = averages.summed_up(asked, by, _spent)
    scored = averages.policy_questions(frame).dropna(subset="m_all10")
    quality = averages.summed_up(scored, by, lambda rows: averages.mean_of(rows, "m_all10"))
    columns = [*by, "answers", "m_all10", "low", "high", "seconds", "cost", "cost_total"]
    data = pd.DataFrame(columns=columns)
    if len(spent):
        data = spent.merge(quality.reindex(columns=[*by, "mean", "low", "high"]), on=by, how="left")
        data = data.rename(columns={"mean": "m_all10"})
    return table(
        "effort",
        "Time and money",
        "The answers of an experiment (failures and refusals included), whether scored or not: the median of the "
        "seconds from a question to its whole reply, the mean cost of an answer whose price is known and the cost of "
        "all these, in US dollars: without that of summaries and of acknowledgements of the parts of a document. "
        "Beside it M_all times 10 (10 to 100) over the questions that were scored, each a mean over documents. "
        f"{certainty.in_words}",
        data,
        columns,
    )


def _spent(rows: pd.DataFrame) -> dict[str, object]:
    return {
        "answers": len(rows),
        "seconds": rows["seconds"].median(),
        "cost": rows["cost"].mean(),
        "cost_total": rows["cost"].sum(min_count=1),
    }
