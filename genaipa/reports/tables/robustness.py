"""How much worse paraphrased questions do, and how alike repeated answers are (paper, sections 6.2 and 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports import aggregate as cells
from genaipa.reports import bootstrap as certainty
from genaipa.reports.tables import averages, pairs
from genaipa.reports.tables.columns import SCALE, table

if TYPE_CHECKING:
    from genaipa.reports.table import Table

_HOW = (
    "The mean over the answers to the paraphrases stands beside the original question about the same document; where "
    "a study published only means over its documents, these are compared, by question"
)


def drops(frame: pd.DataFrame) -> Table:
    """M_all of original questions against their paraphrases, by system and group of questions."""
    columns = ["system", "questions", "n", "original", "paraphrased", "drop", "low", "high"]
    rows = [
        {"system": system, "questions": group, **_drop(some)}
        for system, those in pairs.pairs(frame, "quality", "robustness").groupby("system", observed=True, sort=True)
        for group, some in averages.groups_of_questions(those, categories=True)
    ]
    data = pd.DataFrame(rows, columns=columns)
    return table(
        "robustness",
        "Original questions and their paraphrases",
        "M_all times 10 (10 to 100) averaged over n questions, each a mean over documents, and how far it drops from "
        f"the original to the paraphrases (above 0: the paraphrases do worse). {_HOW}. The interval is that of the "
        f"drop (paper, sections 6.2 and 7). {certainty.in_words}{averages.how_few(data['n'])}",
        data,
        columns,
    )


def _drop(rows: pd.DataFrame) -> dict[str, object]:
    drop = averages.mean_of(rows, "difference")
    return {
        "n": drop["n"],
        "original": averages.mean_of(rows, "quality")["mean"],
        "paraphrased": averages.mean_of(rows, "robustness")["mean"],
        "drop": drop["mean"],
        "low": drop["low"],
        "high": drop["high"],
    }


def by_question(frame: pd.DataFrame) -> Table:
    """M_all of every original question against its paraphrases."""
    data = pairs.by_question(pairs.pairs(frame, "quality", "robustness"))
    return table(
        "robustness-by-question",
        "Original questions and their paraphrases, by question",
        "M_all times 10 (10 to 100) over n documents, 0 where only the published mean over documents is known, and how "
        f"far it drops from the original to the paraphrases. {_HOW} (paper, sections 6.2 and 7).",
        data.rename(columns={"quality": "original", "robustness": "paraphrased", "difference": "drop"}),
        ("system", "question", "original", "paraphrased", "drop", "n"),
    )


def consistency(frame: pd.DataFrame) -> Table:
    """How alike the answers to a question are when it is asked again."""
    each = averages.about_policies(cells.answers(frame[frame["unit"] == "answer"]))
    by = ["system", "experiment", "document", "question", "initialization", "wording"]
    again = each.groupby(by, observed=True, sort=True)["m_all"].agg(["size", "std", "min", "max"]).reset_index()
    again = again[again["size"] > 1]
    again = again.assign(spread=again["std"] * SCALE, same=again["min"] == again["max"])
    columns = ["system", "experiment", "repeated", "spread", "low", "high", "same"]
    data = averages.summed_up(again, columns[:2], _consistency).reindex(columns=columns)
    return table(
        "consistency",
        "The same question asked again",
        "Of the wordings of a question about a document that were answered and scored more than once (`repeated`): the "
        "standard deviation of M_all times 10 over the repetitions, averaged over questions, and the share of those "
        "whose repetitions have all the same M_all (paper, section 6.2). Published scores are means over repetitions, "
        f"and say nothing here. {certainty.in_words}{averages.how_few(data['repeated'], 'repeated questions')}",
        data,
        columns,
    )


def _consistency(rows: pd.DataFrame) -> dict[str, object]:
    spread = averages.mean_of(rows, "spread")
    return {
        "repeated": len(rows),
        "spread": spread["mean"],
        "low": spread["low"],
        "high": spread["high"],
        "same": float(rows["same"].mean()),
    }
