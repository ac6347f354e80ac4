"""All systems of a report against each other: paired differences of M_all, and the ranks that they leave open.

Every pair is compared over what both have (`matches`), as the leaderboard counts it: estimates where there are any, and
no experiment with too few scores. p is adjusted by Holm's method for the number of pairs. A system's rank is
known as far as others are higher or lower than it for policies like these, as rankings of chat models give it: 2 to 4
of 5 if one is higher and one is lower (Chiang and others, 2024, arXiv:2403.04132; Miller, 2024, arXiv:2411.00640, on
paired differences).
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.reports.analysts import other_people
from genaipa.reports.averages import about_policies, policy_questions
from genaipa.reports.differences.matches import in_common, matches, rows
from genaipa.reports.differences.significance import OTHER_PEOPLE, OVERALL, SIGNIFICANT, holm
from genaipa.reports.judged.estimate import estimates
from genaipa.reports.part import enough
from genaipa.reports.table import Table, table

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 30
"""Systems that are compared; of more, the matrix is too large to be read."""
PAIRS = [
    *("first", "second", "n", "documents", "difference", "low", "high", "policies_low", "policies_high"),
    *("p_holm", "policies_p_holm", "meaning"),
]
"""The columns of the table of pairs, as of a comparison: the first system minus the second."""
_MAY_BE_CHANCE = "may be chance, among so many pairs"


def differences(frame: pd.DataFrame) -> pd.DataFrame:
    """A row for each pair of systems with questions in common (columns: `PAIRS`), the higher average first.

    `meaning` names the higher system, with whom it holds for. It is empty where the difference may be chance, and says
    so where only the number of pairs makes it that: intervals are each pair's by itself.
    """
    frame = enough(frame)
    (found,) = estimates([frame], alike=True)
    shown = about_policies(frame if found is None else found.frame)
    means = policy_questions(shown).groupby(["system", "question"], observed=True)["m_all"].mean()
    means = means.groupby("system", observed=True).mean().dropna()
    ordered = sorted(map(str, means.index), key=lambda name: (-means[name], name))
    people = about_policies(frame)
    sides = {name: (shown[shown["system"] == name], people[people["system"] == name]) for name in ordered}
    judged = found is not None and found.is_z
    pairs = list(_pairs(sides, judged=judged)) if len(ordered) <= _MOST else []
    data = pd.DataFrame(pairs, columns=[*PAIRS, "p", "policies_p"])
    for p in ("p", "policies_p"):
        data[f"{p}_holm"] = holm(data[p].tolist())
    data["meaning"] = [_meaning(row) for row in data.to_dict("records")]
    return data[PAIRS]


def _pairs(sides: dict[str, tuple[pd.DataFrame, pd.DataFrame]], *, judged: bool) -> Iterator[dict[str, Any]]:
    """Compare each two of the systems, over what averages take and what people scored."""
    for first, second in combinations(sides, 2):
        match = matches(sides[first][0], sides[second][0], (OVERALL,))[OVERALL]
        if len(match.pairs):
            row: dict[Any, Any] = (
                rows({OVERALL: match}, {"all": set(match.pairs.index)}, judged=judged).iloc[0].to_dict()
            )
            others = other_people(*(in_common(sides[name][1], match) for name in (first, second)))
            yield {**row, "first": first, "second": second, "meaning": OTHER_PEOPLE if others else ""}


def _meaning(row: dict[Any, Any]) -> str:
    if row["meaning"]:
        return str(row["meaning"])
    if not row["p_holm"] < SIGNIFICANT:
        return _MAY_BE_CHANCE if row["p"] < SIGNIFICANT else ""
    higher = row["first"] if row["difference"] > 0 else row["second"]
    return f"{higher} higher" + ("" if row["policies_p_holm"] < SIGNIFICANT else " for these documents")


def ranks(pairs: pd.DataFrame) -> pd.DataFrame:
    """The least and the greatest rank of each system for policies like these: `system`, `rank`, `to`, `of`."""
    systems = list(dict.fromkeys([*pairs["first"], *pairs["second"]]))
    higher, lower = dict.fromkeys(systems, 0), dict.fromkeys(systems, 0)
    for row in pairs.to_dict("records"):
        if row["p_holm"] < SIGNIFICANT and row["policies_p_holm"] < SIGNIFICANT and row["meaning"] != OTHER_PEOPLE:
            up = row["difference"] > 0
            lower[row["first" if up else "second"]] += 1
            higher[row["second" if up else "first"]] += 1
    known = [(name, 1 + higher[name], len(systems) - lower[name], len(systems)) for name in systems]
    return pd.DataFrame(known, columns=["system", "rank", "to", "of"])


def tables(frame: pd.DataFrame) -> list[Table]:
    """The differences between all pairs of systems, and their ranks; none of fewer than two systems."""
    pairs = differences(frame)
    if pairs.empty:
        return []
    return [
        table(
            "system-differences",
            "Systems against each other",
            "M_all (10 to 100), the first minus the second, over the questions about documents that people scored of "
            "both. Each interval is that of a pair by itself; p is adjusted by Holm's method for the number of pairs, "
            "and what a row means goes by it.",
            pairs,
            PAIRS,
            headings={
                "low": "for these documents",
                "policies_low": "for policies like these",
                "p_holm": "p (Holm)",
                "policies_p_holm": "policies p (Holm)",
            },
            formats={
                **dict.fromkeys(("difference", "low", "high", "policies_low", "policies_high"), "+.1f"),
                **dict.fromkeys(("p_holm", "policies_p_holm"), ".2g"),
            },
        ),
        table(
            "system-ranks",
            "Ranks, as far as they are known",
            "The least and the greatest rank of a system for policies like these, by the differences that hold.",
            ranks(pairs),
            ["system", "rank", "to", "of"],
        ),
    ]
