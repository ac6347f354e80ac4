"""Two experiments side by side: the same questions about the same documents, asked in two ways."""

from __future__ import annotations

import pandas as pd

from genaipa.reports.aggregate import kept
from genaipa.reports.averages import policy_cells

_SAME = ["system", "question", "category", "source", "document"]


@kept
def pairs(frame: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """One row per system, question and document that has an M_all in both experiments.

    Columns: `system`, `question`, `category`, `source`, `document`, the two experiments by their names (M_all times
    10), and `difference`, the first minus the second. Where a question has no such document, but a published mean
    over documents, it has one row with an empty document: that mean, or the mean over its documents where only the
    other experiment is published so.
    """
    found = policy_cells(frame).dropna(subset="m_all10")
    if not {first, second} <= set(found["experiment"]):
        return found.loc[[], _SAME].assign(**dict.fromkeys((first, second, "difference"), pd.Series(dtype="float64")))
    sides = {name: found.loc[found["experiment"] == name, [*_SAME, "m_all10"]] for name in (first, second)}
    by_document = _joined({name: rows[rows["document"] != ""] for name, rows in sides.items()})
    published = {name: rows[rows["document"] == ""] for name, rows in sides.items()}
    whole = _joined({name: pd.concat([published[name], _means(rows, published[name])]) for name, rows in sides.items()})
    given = pd.concat(published.values())
    only_whole = _among(whole, given) & ~_among(whole, by_document)
    both = pd.concat([by_document, whole[only_whole]], ignore_index=True)
    # Rounded, because 86.5 and 86.5 may differ in their last binary digit.
    both["difference"] = (both[first] - both[second]).round(9)
    return both.sort_values(_SAME, kind="stable", ignore_index=True)


def by_question(both: pd.DataFrame) -> pd.DataFrame:
    """Pairs averaged over documents: one row per system and question; `n` is how many have a document."""
    groups = both.assign(n=both["document"] != "").groupby(_SAME[:-1], observed=True, sort=True)
    means = groups[[column for column in both.columns if column not in _SAME]].mean()
    return means.join(groups["n"].sum()).reset_index()


def _joined(sides: dict[str, pd.DataFrame]) -> pd.DataFrame:
    (first, ours), (second, theirs) = sides.items()
    ours, theirs = ours.rename(columns={"m_all10": first}), theirs.rename(columns={"m_all10": second})
    return ours.merge(theirs, on=_SAME)


def _means(rows: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """The means over documents of the questions that have no published one, with an empty document."""
    own = rows[~_among(rows, published)]
    means = own.groupby(_SAME[:-1], observed=True)["m_all10"].mean().reset_index()
    return means.assign(document="")


def _among(rows: pd.DataFrame, others: pd.DataFrame) -> pd.Series:
    """True for rows about a system and question that the others have as well."""
    names = pd.MultiIndex.from_frame(rows[["system", "question"]].astype("str"))
    there = names.isin(pd.MultiIndex.from_frame(others[["system", "question"]].astype("str")))
    return pd.Series(there, index=rows.index)
