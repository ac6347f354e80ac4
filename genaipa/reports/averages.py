"""Averages of the tables, and their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports import aggregate
from genaipa.reports.bootstrap import interval
from genaipa.reports.table import SCALE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from genaipa.reports.bootstrap import Interval

ROUGH = 10
"""Below so many questions or documents, a note says how few they are."""


def about_policies(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows that are about policies; those about regulations have a table of their own."""
    return rows[(rows["kind"] != "regulation") & (rows["experiment"] != "regulation")]


def policy_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """The cells (`aggregate.cells`) that are about policies, with their M_all in tens as `m_all10`."""
    found = about_policies(aggregate.cells(frame))
    return found.assign(m_all10=found["m_all"] * SCALE)


@aggregate.kept
def policy_questions(frame: pd.DataFrame) -> pd.DataFrame:
    """The means over documents (`aggregate.per_question`) of what is about policies, with `m_all10`."""
    found = aggregate.per_question(about_policies(aggregate.cells(frame)))
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


def mean_over(rows: pd.DataFrame, column: str, groups: Sequence[str], clusters: str) -> dict[str, object]:
    """`n`, `mean`, `low` and `high` of a column: the mean over groups of their means over the clusters.

    `rows` have at most one of each group and cluster. What is resampled is the clusters, each with all its groups.
    """
    known = rows[rows[column].notna()]
    by_group = known.groupby(list(groups), observed=True)[column]
    means = by_group.transform("mean")
    mean = by_group.mean().mean()
    # What each cluster adds to that mean. Their average is the mean itself, also where groups lack clusters.
    weights = known[clusters].nunique() / (by_group.transform("size") * by_group.ngroups)
    added = mean + (weights * (known[column] - means)).groupby(known[clusters], observed=True).sum()
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


def not_alike(frame: pd.DataFrame, found: pd.DataFrame) -> str:
    """A sentence on each system's scored questions, where these differ between systems or experiments; else empty.

    `found` are the means over documents (`policy_questions`) that have an M_all.
    """
    single = aggregate.by_document(policy_cells(frame))
    asked: set[object] = set()
    shown, even = [], True
    for system in found["system"].unique():
        own, whole = single[single["system"] == system], found[found["system"] == system]
        asked.add(frozenset(zip(own["experiment"], own["document"], own["question"], strict=True)))
        asked.add(frozenset(zip(whole["experiment"], whole["question"], strict=True)))
        numbers = whole.groupby("experiment", observed=True, sort=True)["documents"].agg(["size", "sum"])
        even &= len({frozenset(rows["question"]) for _, rows in whole.groupby("experiment", observed=True)}) == 1
        experiments = (f"{name} {row['size']} ({row['sum'] or 'means only'})" for name, row in numbers.iterrows())
        documents = own["document"].unique()
        shown.append(f"{system} {', '.join(experiments)}, {_of_documents(list(documents))}")
    # Of each system the scores by document, and those by question: two sets if all systems have the same.
    if even and len(asked) <= 2:  # noqa: PLR2004
        return ""
    return (
        " Not all systems and experiments were scored on the same questions about the same documents, so that the "
        "averages don't compare like with like. Questions, and scores of a question about a document: "
        f"{'; '.join(shown)}."
    )


def _of_documents(names: list[str]) -> str:
    return f"about {', '.join(names)}" if names else "published as means over documents"
