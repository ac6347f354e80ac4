"""The differences between two systems as rows: how far apart they are, for whom, and whether that may be chance."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genaipa.reports.crossed import apart, crossed
from genaipa.reports.differences import words
from genaipa.reports.differences.significance import OVERALL, Tested, holm, paired, unpaired

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.reports.crossed import Crossed
    from genaipa.reports.differences.matches import Match

HEADINGS = {
    "measure": "measure",
    "questions": "questions",
    "family": "family",
    "n": "n",
    "documents": "documents",
    "pairs": "pairs",
    "mean_a": "A",
    "mean_b": "B",
    "difference": "A \u2212 B",
    "low": "for these documents",
    "high": "to",
    "test": "test",
    "p": "p",
    "p_holm": "p (Holm)",
    "ranks_p": "p of ranks",
    "policies_low": "for policies like these",
    "policies_high": "to",
    "policies_p": "policies p",
    "policies_p_holm": "policies p (Holm)",
    "effect": "effect",
    "meaning": "meaning",
}
"""The columns of the table of differences, and what people read above them."""
PRINTED = (
    *("measure", "questions", "family", "n", "difference", "low", "high", "p_holm"),
    *("policies_low", "policies_high", "policies_p_holm", "effect", "meaning"),
)
"""The columns for which a printed page is wide enough."""
_LIMITS = ((-2.0, 2.0), (-90.0, 90.0))
"""The largest differences there are, in a metric and in M_all."""
_NO_PAIR = "The two have no pair, so that nothing can be said for policies like these."


def rows(matched: Mapping[str, Match], groups: Mapping[str, set[str]], *, judged: bool = False) -> pd.DataFrame:
    """A row for each measure and group of questions that both sides have.

    The columns are `HEADINGS`, and `why` and `warning`: why nothing is said for policies like these, or that it rests
    on few documents. `judged` values are estimates from people and judge. A group that comes down to the same questions
    as one before it says nothing new, and would only cost certainty.
    """
    found = []
    for measure, match in matched.items():
        seen = set()
        for group, questions in groups.items():
            here = match.within(questions)
            compared = tuple(tuple(values.index) for values in (here.ours, here.theirs))
            if all(compared) and compared not in seen:
                seen.add(compared)
                family = words.FAMILIES[2 * (group != "all") + (measure != OVERALL)]
                row = _row(here, _LIMITS[measure == OVERALL], judged=judged)
                found.append({"measure": measure, "questions": group, "family": family, **row})
    data = pd.DataFrame(found, columns=[*HEADINGS, "why", "warning"])
    for p in ("p", "policies_p"):
        data[f"{p}_holm"] = data.groupby("family")[p].transform(lambda tests: holm(tests.tolist()))
    data["meaning"] = [words.meaning(row) for row in data.to_dict("records")]
    return data


def _row(here: Match, limits: tuple[float, float], *, judged: bool) -> dict[str, Any]:
    """The comparison of one measure on one group of questions; differences are within these limits."""
    ours, theirs = np.asarray(here.ours), np.asarray(here.theirs)
    row = {"n": min(len(ours), len(theirs)), "mean_a": float(ours.mean()), "mean_b": float(theirs.mean())}
    if not len(here.pairs):
        far = apart((here.ours, here.ours.index), (here.theirs, here.theirs.index), limits=limits)
        known = {"difference": far.mean, "low": far.low, "high": far.high, **_tests(unpaired(ours, theirs), far)}
        return {**row, "pairs": 0, "documents": 0, **known, "why": _NO_PAIR, "warning": ""}
    tested, pairs = paired(ours - theirs), here.apart
    scored = pairs["known"] if judged else None
    sure = _sure(pairs, limits, judged=judged)
    # An experiment that is known by means only says nothing of how documents differ, nor where their average is.
    named = pairs[pairs["document"] != ""]
    wider = sure if len(named) in (0, len(pairs)) else _sure(named, limits, judged=judged)
    # Where these differ the other way, nothing holds for policies like these.
    agree = sure.mean * wider.mean > 0
    policies_p = float(np.maximum(sure.p, wider.policies_p if agree else np.minimum(wider.policies_p + 1, 1)))
    if judged and tested.test != "none":  # questions without a score have a part in common: no signs to rank
        tested = Tested("none" if math.isnan(sure.p) else "t", math.nan, tested.effect)
    return {
        **row,
        "pairs": int(here.pairs["pairs"].sum()),
        "documents": sure.documents,
        "difference": float((ours - theirs).mean()) if scored is None else sure.mean,
        "low": sure.low,
        "high": sure.high,
        **_tests(tested, replace(sure, policies_p=policies_p)),
        "policies_low": wider.policies_low,
        "policies_high": wider.policies_high,
        "why": wider.why,
        "warning": wider.warning,
    }


def _sure(pairs: pd.DataFrame, limits: tuple[float, float], *, judged: bool) -> Crossed:
    """The average difference of these pairs, and how sure it is."""
    known = pairs["known"] if judged else None
    return crossed(
        pairs["apart"], pairs["question"], pairs["document"], weights=pairs["weight"], limits=limits, known=known
    )


def _tests(ranks: Tested, sure: Crossed) -> dict[str, Any]:
    """The p values, which belong to the intervals, beside that of ranks; of too few questions for these there is none.

    Where all questions differ alike there is no interval, and p is the ranks'.
    """
    if ranks.test == "none":
        alone = {"test": "none", "p": math.nan, "policies_p": math.nan}
    elif math.isnan(sure.p):
        alone = {"test": ranks.test, "p": ranks.p, "policies_p": math.nan}
    else:
        alone = {"test": "t", "p": sure.p, "policies_p": sure.policies_p}
    return {**alone, "ranks_p": ranks.p, "effect": ranks.effect}
