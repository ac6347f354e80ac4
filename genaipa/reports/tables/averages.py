"""What the tables average over, and the intervals of these averages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports import cells
from genaipa.reports.certainty import interval
from genaipa.reports.tables.columns import SCALE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from genaipa.reports.certainty import Interval

ROUGH = 10
"""Below so many questions or documents, a note says how few they are."""


def about_policies(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows that are about policies; those about regulations have a table of their own."""
    return rows[(rows["kind"] != "regulation") & (rows["experiment"] != "regulation")]


def policy_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """The cells (`cells.cells`) that are about policies, with their M_all in tens as `m_all10`."""
    found = about_policies(cells.cells(frame))
    return found.assign(m_all10=found["m_all"] * SCALE)


def policy_questions(frame: pd.DataFrame) -> pd.DataFrame:
    """The means over documents (`cells.per_question`) of what is about policies, with `m_all10`."""
    found = cells.per_question(about_policies(cells.cells(frame)))
    return found.assign(m_all10=found["m_all"] * SCALE)


def groups_of_questions(rows: pd.DataFrame, *, categories: bool = False) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of all questions, of those from FAQs, of those of users, and of each category if asked: what there is.

    Where all questions come from one source, or one category, its rows are given as well as all.
    """
    yield "all", rows
    for column in ("source", "category") if categories else ("source",):
        for value, some in rows.groupby(column, observed=True, sort=True):
            if value:
                yield str(value), some


def summed_up(
    rows: pd.DataFrame, by: Sequence[str], summary: Callable[[pd.DataFrame], dict[str, object]]
) -> pd.DataFrame:
    """One row for each group of rows: what it is grouped by, in the same categories, and its summary."""
    found = [
        {**dict(zip(by, key, strict=True)), **summary(some)}
        for key, some in rows.groupby(list(by), observed=True, sort=True)
    ]
    types = {column: rows[column].dtype for column in by}
    return pd.DataFrame(found, columns=None if found else list(by)).astype(types)


def mean_of(rows: pd.DataFrame, column: str, clusters: str = "question") -> dict[str, object]:
    """`n`, `mean`, `low` and `high` of a column over its clusters."""
    return _as_columns(interval(rows[column], rows[clusters]))


def over_experiments(rows: pd.DataFrame) -> dict[str, object]:
    """`n`, `mean`, `low` and `high` of `m_all10`: the mean over experiments of the means over questions.

    `rows` are of one system, one per experiment and question. What is resampled is the questions, each with all its
    experiments.
    """
    known = rows[rows["m_all10"].notna()]
    by_experiment = known.groupby("experiment", observed=True)["m_all10"]
    means = by_experiment.transform("mean")
    mean = by_experiment.mean().mean()
    # What each question adds to that mean. Their average is the mean itself, also where experiments lack questions.
    weights = known["question"].nunique() / (by_experiment.transform("size") * by_experiment.ngroups)
    added = mean + (weights * (known["m_all10"] - means)).groupby(known["question"], observed=True).sum()
    return _as_columns(interval(added, added.index.to_series()))


def _as_columns(found: Interval) -> dict[str, object]:
    return {"n": found.n, "mean": found.mean, "low": found.low, "high": found.high}


def places(means: pd.Series) -> pd.Series:
    """The place of each, from the highest; equals share theirs."""
    return means.round(9).rank(method="min", ascending=False).astype("int64")


def how_few(numbers: pd.Series, what: str = "questions") -> str:
    """A sentence where some of these averages rest on few; empty where none does. A 0 stands for a number not known."""
    least = min((int(number) for number in numbers if number), default=ROUGH)
    if least >= ROUGH:
        return ""
    if least == 1:
        return f" Some rest on n = 1 of the {what}: too few for an interval, and no base for a conclusion."
    return f" Some rest on n = {least} {what} only: their intervals are rough."
