"""The alternative annotator test: whether a judge may take the place of a person (Calderon, Reichart and Dror, 2025).

Each person is left out in turn, and asked whether the judge comes as near to the other people as the one left out. The
judge wins against a person where that is so significantly, with an advantage of `EPSILON` for what it saves; it passes
where it wins against half of them or more (https://aclanthology.org/2025.acl-long.782).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import stdtr

from genaipa.reports.judged.verdicts import LEAST
from genaipa.reports.table import Table, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from genaipa.reports.judged.verdicts import Floats, Verdicts

EPSILON = 0.15
"""Advantage of a judge over people who are trained for the task, as the authors advise (0.2 for experts)."""
PASSES = 0.5
"""Winning rate from which a judge passes."""
_Q = 0.05
"""Rate of false discoveries among the wins against people."""
_ADVISED = 3
"""People that the authors advise; with two, it only shows whom of them the judge is nearer to."""
_TWO = 2


def alternative(given: Verdicts) -> Table:
    """The test of each judge on M_all and each metric, or why it can't be done."""
    columns = ["judge", "measure", "people", "answers", "winning", "advantage", "passes", "reason"]
    rows = [
        {"judge": judge, "measure": name, **_tested(given, judge, measure)}
        for judge in given.judges
        for measure, name in enumerate(given.measures.values())
    ]
    return table(
        "judges-alternative",
        "The alternative annotator test",
        "Whether a judge may take a person's place. Each person is left out in turn: is the judge as near to the "
        "others' values (root of the mean squared difference), answer by answer, as that person? Advantage: in how "
        "many answers, averaged over people. Winning rate: of how many people it is shown, by a t test with an "
        f"advantage of {EPSILON:g} for the judge (trained people), at a false discovery rate of {_Q:g} over them "
        f"(Benjamini and Yekutieli). A judge passes from {PASSES:g} on. It takes two people who scored {LEAST} answers "
        "or more that another person and the judge scored as well; the authors advise three, since of two it only "
        "shows whom the judge is nearer to. Of people, the scores that they gave before they saw any other's.",
        pd.DataFrame(rows, columns=columns).astype({"winning": "float64", "advantage": "float64"}),
        columns,
        headings={"winning": "winning rate", "reason": "note"},
        formats=dict.fromkeys(("winning", "advantage"), ".2f"),
    )


def _tested(given: Verdicts, judge: str, measure: int) -> dict[str, object]:
    both = given.both[judge] & (given.people.often >= _TWO)
    values = {person: given.people.of(person, measure)[both] for person in given.people.scorers}
    own = given.judges[judge].means[both, measure]
    enough = [person for person, scores in values.items() if (~np.isnan(scores)).sum() >= LEAST]
    about: dict[str, object] = {"people": len(enough), "answers": int(both.sum())}
    if len(enough) < _TWO:
        return {**about, "reason": f"It takes two people with {LEAST} answers that another person scored, too."}
    found = [_against(values, person, own) for person in enough]
    winning = _discovered([p for _, p in found]) / len(found)
    return {
        **about,
        "winning": winning,
        "advantage": float(np.mean([advantage for advantage, _ in found])),
        "passes": "yes" if winning >= PASSES else "no",
        "reason": "" if len(enough) >= _ADVISED else "Two people only: three are advised.",
    }


def _against(values: Mapping[str, Floats], person: str, own: Floats) -> tuple[float, float]:
    """In how many answers a judge (`own`) is as near to the other people as a person is; and p of the test."""
    there = ~np.isnan(values[person])
    others = np.array([scores[there] for name, scores in values.items() if name != person])
    # Differences that are equal in theory may differ in their last digit.
    judge, human = (np.sqrt(np.nanmean((others - side[there]) ** 2, axis=0)).round(9) for side in (own, values[person]))
    ours, theirs = judge <= human, human <= judge
    lost = theirs.astype(np.float64) - ours
    if np.ptp(lost) == 0:
        return float(ours.mean()), float(lost[0] >= EPSILON)
    # `scipy.stats` takes half a second to import.
    t = (lost.mean() - EPSILON) / np.sqrt(lost.var(ddof=1) / len(lost))
    return float(ours.mean()), float(stdtr(len(lost) - 1, t))


def _discovered(p: Sequence[float]) -> int:
    """Count the p-values that are significant at the rate `_Q` (Benjamini and Yekutieli, 2001)."""
    places = np.arange(1, len(p) + 1)
    below = np.sort(p) * (len(p) / places) * (1 / places).sum() <= _Q
    return int(places[below].max(initial=0))
