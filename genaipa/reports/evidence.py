"""What a difference has to show before it counts, by how much of what was planned is scored, and in words.

`genaipa.stats.looks` has the levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from genaipa.reports.averages import cache_per_frame
from genaipa.stats.looks import EARLY, ENLARGED, LEAST_QUESTIONS, NEARLY, SIGNIFICANT, interim_significance_level

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd


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
    p: float = SIGNIFICANT
    """An adjusted p below this is taken for more than chance."""

    @property
    def confidence(self) -> float:
        """Return the confidence of the intervals that belong to it."""
        return 1 - self.p

    @property
    def least_questions(self) -> int:
        """Return the number of questions below which nothing counts, whatever its p."""
        return LEAST_QUESTIONS if self.p == EARLY else 0

    def __str__(self) -> str:
        """Say it in a sentence; empty for a plan that was scored as it was made."""
        if self.p in (EARLY, NEARLY):
            enough = f" and on {LEAST_QUESTIONS} questions or more" if self.least_questions else ""
            return (
                f"{self.scored:,} of {self.planned:,} planned answers are scored: until all are, a difference counts "
                f"only at p < {self.p:g}{enough}, so that looking as often as you like adds at most about one false "
                "alarm in 100 studies."
            )
        if self.p == ENLARGED:
            return (
                f"The plan was enlarged midway to {self.planned:,} answers: a difference counts only at p < "
                f"{ENLARGED:g}, since differences already counted at the end of the smaller plan."
            )
        return ""

    @property
    def prefix_or_empty(self) -> str:
        """Return the sentence as it stands before others."""
        return f"{self} ".lstrip()


ENDED = EvidenceLevel()
"""That of a study that is complete, such as a published one."""


def choose_evidence_level(plan_shares: Iterable[PlanShare]) -> EvidenceLevel:
    """Return the level for what is compared: the planned end is there when each side's is."""
    parts = list(plan_shares)
    planned, scored = [part.planned for part in parts], [part.scored for part in parts]
    level = interim_significance_level(planned, scored, [part.enlarged for part in parts])
    return EvidenceLevel(sum(planned), sum(scored), level)


@cache_per_frame
def measure_evidence_level(frame: pd.DataFrame) -> EvidenceLevel:
    """Return the level for the systems of a tidy table that have scores."""
    return choose_evidence_level(measure_plan_share(rows) for _, rows in frame.groupby("system", observed=True))


@cache_per_frame
def measure_plan_share(rows: pd.DataFrame) -> PlanShare:
    """Return the planned and the scored answers of one side, which are rows of a tidy table.

    Planned are a wave's answers, and where none was drawn all that could be scored, in each experiment that has a
    score. What failed or is excluded can't be scored, and a study's published scores are complete.
    """
    planned = scored = 0
    enlarged = False
    for _, group in rows.groupby("experiment", observed=True):
        counted = group["counted"]
        if not counted.any() or (counted & (group["unit"] == "table")).any():
            continue
        answers = group[(group["unit"] == "answer") & (group["answer"] != "") & (counted | (group["excluded"] == ""))]
        answers_by_key = answers.groupby(["run", "key"], observed=True, sort=False)
        has_score, plan = answers_by_key["counted"].any(), answers_by_key["planned"].first().astype(str)
        is_drawn = plan.isin(["first", "later"]) | (answers_by_key["in_wave"].first().astype(str) == "yes")
        in_plan = is_drawn if is_drawn.any() else is_drawn | True
        planned += int(in_plan.sum())
        scored += int((in_plan & has_score).sum())
        enlarged |= bool((plan == "later").any())
    return PlanShare(planned, scored, enlarged)
