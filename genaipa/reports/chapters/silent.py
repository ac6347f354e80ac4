"""How systems do where the document is silent, and where it is not (paper, sections 6.1 and 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports import aggregate, averages
from genaipa.reports.bootstrap import INTERVALS
from genaipa.reports.chapters import outcomes
from genaipa.reports.chapters.chapter import Chapter, present
from genaipa.reports.figures.scope import Scope
from genaipa.reports.table import Table, table

if TYPE_CHECKING:
    from genaipa.reports.gather import Gathered


def silent_questions(frame: pd.DataFrame) -> Table:
    """How often a system asserts something where the document is silent, and claims silence where it is not."""
    by = ["system", "experiment"]
    once = averages.about_policies(outcomes.asked_once(frame))
    once = once[once["claims_silence"].isin(["yes", "no"]) & once["silent"].isin(["yes", "no"]) & ~once["left_out"]]
    claimed = averages.summed_up(once, by, _claims)
    scored = aggregate.by_document(averages.policy_cells(frame))
    quality = averages.summed_up(scored[scored["silent"].isin(["yes", "no"])], by, _quality)
    both = claimed.reindex(columns=[*by, *_CLAIMS]).merge(quality.reindex(columns=[*by, *_QUALITY]), on=by, how="outer")
    counts = ["silent_n", "asserts", "other_n", "claims"]
    both[counts] = both[counts].fillna(0).astype("int64")
    columns = ["silent_n", "asserts", "asserts_share", "silent_m_all10", "silent_low", "silent_high"]
    columns += ["other_n", "claims", "claims_share", "other_m_all10", "other_low", "other_high"]
    return table(
        "silent-questions",
        "Where the document is silent, and where it is not",
        "By the annotated answers, documents are silent on some questions. Of the answers to these, how many assert "
        "something instead of saying so; of the other answers, how many claim silence all the same (found by rules in "
        "the reply; an answer that an audit excluded is left out). Beside it M_all times 10 (10 to 100) of either, "
        f"averaged over questions (paper, sections 6.1 and 7). {INTERVALS}",
        both,
        [*by, *columns],
    )


_CLAIMS = ("silent_n", "asserts", "asserts_share", "other_n", "claims", "claims_share")
_QUALITY = ("silent_m_all10", "silent_low", "silent_high", "other_m_all10", "other_low", "other_high")


def _claims(rows: pd.DataFrame) -> dict[str, object]:
    silent, claims = rows["silent"] == "yes", rows["claims_silence"] == "yes"
    return {
        "silent_n": int(silent.sum()),
        "asserts": int((silent & ~claims).sum()),
        "asserts_share": (~claims[silent]).mean() if silent.any() else float("nan"),
        "other_n": int((~silent).sum()),
        "claims": int((~silent & claims).sum()),
        "claims_share": claims[~silent].mean() if not silent.all() else float("nan"),
    }


def _quality(rows: pd.DataFrame) -> dict[str, object]:
    found: dict[str, object] = {}
    for end, some in (("silent", rows[rows["silent"] == "yes"]), ("other", rows[rows["silent"] == "no"])):
        mean = averages.mean_of(some, "m_all10")
        found |= {f"{end}_m_all10": mean["mean"], f"{end}_low": mean["low"], f"{end}_high": mean["high"]}
    return found


def chapter(gathered: Gathered, _scope: Scope) -> Chapter:
    """The questions on which a document is silent, apart."""
    frame = gathered.frame
    table = silent_questions(frame)
    known = (frame["silent"] == "yes").any()
    return Chapter(
        "silent",
        "Where the document is silent",
        "Where a document does not answer a question, the right answer is to say so. How often a system asserts "
        "something all the same, and how often it claims silence where the document is not silent.",
        present(table),
        [],
        [] if table and known else ["No question that was asked is annotated as one on which its document is silent."],
    )
