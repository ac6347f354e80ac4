"""What became of the questions, and how systems do where the document is silent (paper, sections 6 and 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from genaipa.reports import aggregate as cells
from genaipa.reports import bootstrap as certainty
from genaipa.reports.tables import averages
from genaipa.reports.tables.columns import table

if TYPE_CHECKING:
    from genaipa.reports.table import Table

_STATUSES = ("answered", "truncated", "refused", "failed", "missing")


def asked_once(frame: pd.DataFrame) -> pd.DataFrame:
    """One row for each question that was planned, however many analysts scored its answer.

    Its `counted` says whether any of its scores counts, and `left_out` whether an audit keeps it out.
    """
    planned = frame[frame["unit"] == "answer"]
    places = planned.groupby(["run", "key"], observed=True, sort=False).ngroup()
    once = planned[~places.duplicated()]
    once = once.assign(counted=np.bincount(places, planned["counted"], len(once)) > 0)
    # Where anything that an audit found is counted, all of it is meant to be.
    included = bool((frame["counted"] & (frame["excluded"] != "")).any())
    return once.assign(left_out=(once["excluded"] != "") & (not included))


def statuses(frame: pd.DataFrame) -> Table:
    """How many questions were planned, what became of them, and how many of the answers count."""
    by = ["system", "experiment"]
    columns = [*by, "planned", *_STATUSES, "excluded", "scored", "unscored", "score_left_out", "published"]
    once = asked_once(frame)
    published = frame[frame["counted"] & (frame["unit"] == "table")]
    unscored = (once["answer"] != "") & ~once["counted"] & ~once["left_out"] & ~_published(once, published)
    left_out = _published(once, frame[(frame["excluded"] != "") & (frame["unit"] == "table")])
    numbers = {
        "planned": once["status"] != "",
        **{status: once["status"] == status for status in _STATUSES},
        "excluded": once["excluded"] != "",
        "scored": once["counted"],
        "unscored": unscored & ~left_out,
        "score_left_out": unscored & left_out,
    }
    found = once[by].assign(**numbers).groupby(by, observed=True, sort=True).sum().astype("int64")
    tables = published.groupby(by, observed=True, sort=True).size().rename("published")
    data = found.join(tables, how="outer").fillna(0).astype("int64").reset_index().sort_values(by, kind="stable")
    return table(
        "answers",
        "What became of the questions",
        "Every question that was planned, once, with its last status: a failure, a refusal or a question not asked yet "
        "is counted here and has no score of its own making; only what an analyst scored is in any average. `excluded` "
        "is what an audit found to be no answer to its question; it is left out of averages unless they were asked to "
        "include it. `scored` are the answers whose scores count, `unscored` the others that have a text. `published` "
        "are scores that a study gives by question, without saying which answer they belong to: the answers to these "
        "questions are neither. Where an audit leaves out such a score, its answers are under `score left out`.",
        data,
        columns,
    )


def _published(once: pd.DataFrame, tables: pd.DataFrame) -> pd.Series:
    """Which answers are to a question for which a published score stands, about its document or over documents."""
    by = ["system", "experiment", "question", "document"]
    scored = pd.MultiIndex.from_frame(tables[by].drop_duplicates().astype("str"))
    about, whole = once[by].astype("str"), once[by].astype("str").assign(document="")
    known = [pd.MultiIndex.from_frame(asked).isin(scored) for asked in (about, whole)]
    return pd.Series(known[0] | known[1], index=once.index)


def silent_questions(frame: pd.DataFrame) -> Table:
    """How often a system asserts something where the document is silent, and claims silence where it is not."""
    by = ["system", "experiment"]
    once = averages.about_policies(asked_once(frame))
    once = once[once["claims_silence"].isin(["yes", "no"]) & once["silent"].isin(["yes", "no"]) & ~once["left_out"]]
    claimed = averages.summed_up(once, by, _claims)
    scored = cells.by_document(averages.policy_cells(frame))
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
        f"averaged over questions (paper, sections 6.1 and 7). {certainty.in_words}",
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
