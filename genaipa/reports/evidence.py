"""The p below which a difference counts, by how much of what was planned is scored (Haybittle, 1971; Peto, 1976).

Whoever looks at a study as often as they like, and stops when something shows, finds that alike systems differ: at
p < .05 after ten looks in 17 of 100 studies. So a difference counts at p < .001 until the planned answers are scored,
and at p < .05 then; where the plan was enlarged, its smaller size had an end of its own, and the last one is at .01.
No look needs to be written down, and nothing is lost at the end. Ten looks add less than one false alarm in 100
studies, one after every answer up to 2.4, most of them while the last 5 % of answers come in
(`docs/method/intervals.md`). Intervals of differences are those of the level, so that they agree with what is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from genaipa.reports.averages import kept
from genaipa.reports.significance import SIGNIFICANT
from genaipa.scoring.waves import UNFINISHED

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd


EARLY = 0.001
"""Before the planned end, an adjusted p below this is taken for more than chance."""
ENLARGED = 0.01
"""The same at the end of a plan that was enlarged."""
LEAST_QUESTIONS = 16
"""Before the end, nothing counts on fewer questions."""


class PlanShare(NamedTuple):
    """How many answers of one side are planned to be scored, and are; whether the plan was enlarged."""

    planned: int
    scored: int
    enlarged: bool = False


@dataclass(frozen=True, slots=True)
class EvidenceLevel:
    """What a difference has to show before it counts. `planned` and `scored` are all sides' answers."""

    planned: int = 0
    scored: int = 0
    ended: bool = True
    enlarged: bool = False

    @property
    def p(self) -> float:
        """Return the p below which a difference counts."""
        if not self.ended:
            return EARLY
        return ENLARGED if self.enlarged else SIGNIFICANT

    @property
    def confidence(self) -> float:
        """Return the confidence of the intervals that belong to it."""
        return 1 - self.p

    @property
    def least_questions(self) -> int:
        """Return the number of questions below which nothing counts, whatever its p."""
        return 0 if self.ended else LEAST_QUESTIONS

    def __str__(self) -> str:
        """Say it in a sentence; empty for a plan that was scored as it was made."""
        if not self.ended:
            return (
                f"{self.scored:,} of {self.planned:,} planned answers are scored: until all are, a difference counts "
                f"only at p < {EARLY:g} and on {LEAST_QUESTIONS} questions or more, so that looking as often as you "
                "like adds two or three false alarms in 100 studies at most."
            )
        if self.enlarged:
            return (
                f"The plan was enlarged on the way, to {self.planned:,} answers: a difference counts only at p < "
                f"{ENLARGED:g}, since the smaller plan had an end of its own."
            )
        return ""

    @property
    def prefix(self) -> str:
        """Return the sentence as it stands before others."""
        return f"{self} ".lstrip()


ENDED = EvidenceLevel()
"""That of a study that is complete, such as a published one."""


def evidence_level(sides: Iterable[PlanShare]) -> EvidenceLevel:
    """Return the level for what is compared: the planned end is there when each side's is."""
    parts = list(sides)
    return EvidenceLevel(
        sum(part.planned for part in parts),
        sum(part.scored for part in parts),
        all(part.planned - part.scored <= UNFINISHED * part.planned for part in parts),
        any(part.enlarged for part in parts),
    )


@kept
def evidence(frame: pd.DataFrame) -> EvidenceLevel:
    """Return the level for the systems of a tidy table that have scores."""
    return evidence_level(plan_share(rows) for _, rows in frame.groupby("system", observed=True))


def plan_share(rows: pd.DataFrame) -> PlanShare:
    """Return the planned and the scored answers of one side, which are rows of a tidy table.

    Planned are a wave's answers, and where none was drawn all that could be scored, in each experiment that has a
    score. What failed or an audit leaves out can't be scored, and a study's published scores are complete.
    """
    planned = scored = 0
    enlarged = False
    for _, own in rows.groupby("experiment", observed=True):
        counted = own["counted"]
        if not counted.any() or (counted & (own["unit"] == "table")).any():
            continue
        answers = own[(own["unit"] == "answer") & (own["answer"] != "") & (counted | (own["excluded"] == ""))]
        each = answers.groupby(["run", "key"], observed=True, sort=False)
        has_score, plan = each["counted"].any(), each["planned"].first().astype(str)
        drawn = plan.isin(["first", "later"]) | (each["in_wave"].first().astype(str) == "yes")
        in_plan = drawn if drawn.any() else drawn | True
        planned += int(in_plan.sum())
        scored += int((in_plan & has_score).sum())
        enlarged |= bool((plan == "later").any())
    return PlanShare(planned, scored, enlarged)
