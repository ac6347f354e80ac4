"""Systems ranked by their M_all (paper, sections 6 and 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports import cells, certainty
from genaipa.reports.tables import averages
from genaipa.reports.tables.columns import table

if TYPE_CHECKING:
    from genaipa.reports.table import Table

_EXPERIMENTS = ("quality", "robustness", "recall", "summary")


def board(frame: pd.DataFrame) -> Table:
    """Systems by the mean over their experiments of the means over questions, the best first."""
    found = averages.policy_questions(frame).dropna(subset="m_all10")
    data = averages.summed_up(found, ["system"], averages.over_experiments)
    others = [name for name in found["experiment"].cat.categories if name in set(found["experiment"])]
    columns = ["rank", "system", "m_all10", "low", "high", *dict.fromkeys((*_EXPERIMENTS, *others))]
    columns += ["answers", "scored_by"]
    if len(data):
        means = found.pivot_table(index="system", columns="experiment", values="m_all10", observed=True)
        data = data.rename(columns={"mean": "m_all10"}).merge(means.reset_index(), on="system")
        data = data.merge(_basis(frame), on="system")
        data = data.sort_values("m_all10", ascending=False, kind="stable")
        data["rank"] = averages.places(data["m_all10"])
    return table(
        "leaderboard",
        "Leaderboard",
        "Systems by M_all times 10 (10 to 100): the mean over experiments of the means over questions, each a mean "
        "over documents. `answers` is how many answers, or published scores, this rests on. The interval is that of "
        f"one system; whether two differ is what `genaipa compare` says (paper, sections 6 and 7). {certainty.in_words}"
        f"{_unequal(frame, found)}",
        data,
        columns,
        formats=dict.fromkeys((*_EXPERIMENTS, *others), ".1f"),
    )


def _basis(frame: pd.DataFrame) -> pd.DataFrame:
    """For each system, how many answers or published scores its averages rest on, and who gave the scores."""
    rows = averages.about_policies(frame[frame["counted"]])
    return averages.summed_up(rows, ["system"], lambda own: {"answers": _answers(own), "scored_by": _scored_by(own)})


def _answers(rows: pd.DataFrame) -> int:
    """A published mean over documents counts only where its question has nothing of its own."""
    single = rows[rows["document"] != ""]
    keys = ["experiment", "question"]
    whole = rows.loc[rows["document"] == "", keys].drop_duplicates()
    alone = whole.merge(single[keys].drop_duplicates(), on=keys, how="left", indicator=True)["_merge"] == "left_only"
    published = int((single["unit"] == "table").sum())
    return len(single.loc[single["unit"] == "answer"].drop_duplicates(["run", "key"])) + published + int(alone.sum())


def _scored_by(rows: pd.DataFrame) -> str:
    analysts = rows.loc[rows["unit"] == "answer", "analyst"].nunique()
    people = f"{analysts} analyst{'' if analysts == 1 else 's'}"
    if (rows["unit"] == "table").any():
        return f"published, {people}" if analysts else "published"
    return people


def _unequal(frame: pd.DataFrame, found: pd.DataFrame) -> str:
    """What each system was scored on, where that is not the same for all and in all experiments; or nothing."""
    single = cells.by_document(averages.policy_cells(frame))
    asked: set[object] = set()
    shown, even = [], True
    for system in found["system"].unique():
        own, whole = single[single["system"] == system], found[found["system"] == system]
        asked.add(frozenset(zip(own["experiment"], own["document"], own["question"], strict=True)))
        asked.add(frozenset(zip(whole["experiment"], whole["question"], strict=True)))
        numbers = whole.groupby("experiment", observed=True, sort=True)["documents"].agg(["size", "sum"])
        even &= len({frozenset(rows["question"]) for _, rows in whole.groupby("experiment", observed=True)}) == 1
        experiments = (f"{name} {row['size']} ({row['sum']})" for name, row in numbers.iterrows())
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
