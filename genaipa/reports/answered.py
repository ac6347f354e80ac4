"""How many of the questions that a system was asked came back: M_all is over these, and knows nothing of the others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from genaipa.answers.tidy import keep_first_row_per_planned_answer
from genaipa.reports import averages
from genaipa.reports.part import drop_sparsely_scored_experiments

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from genaipa.reports.table import Table


class AnsweredCount(NamedTuple):
    """The number of questions that a system was asked, and of those that came back."""

    answers: int
    planned: int

    @property
    def has_answered_all(self) -> bool:
        """Whether all came back."""
        return self.answers == self.planned

    def __str__(self) -> str:
        return f"all {self.planned:,}" if self.has_answered_all else f"{self.answers:,} of {self.planned:,}"


@averages.cache_per_frame
def count_answered_by_system(frame: pd.DataFrame) -> dict[str, AnsweredCount]:
    """System → how many of its questions about policies came back, in the experiments that have scores.

    What failed, and what is missing, did not; a refusal, and what was cut off, did.
    """
    rows = averages.select_policy_rows(drop_sparsely_scored_experiments(frame))
    scored = rows.loc[rows["counted"], ["system", "experiment"]].drop_duplicates()
    once = keep_first_row_per_planned_answer(rows)
    once = once[once["status"] != ""].astype({"system": "str", "experiment": "str"})
    once = once.merge(scored.astype("str"), on=["system", "experiment"])
    came = ~once["status"].isin(["failed", "missing"])
    counts = came.groupby(once["system"]).agg(["sum", "size"])
    return {str(system): AnsweredCount(int(row["sum"]), int(row["size"])) for system, row in counts.iterrows()}


def note_systems_with_unanswered_questions(answered_count_by_system: Mapping[str, AnsweredCount]) -> str:
    """Name, in a sentence, the systems of which not all came back; empty where all did."""
    sentences = [
        f"{system} answered {part} questions"
        for system, part in answered_count_by_system.items()
        if not part.has_answered_all
    ]
    return f"{'; '.join(sentences)}: M_all covers only these answers." if sentences else ""


def add_answered_column_if_any_unanswered(leaderboard: Table, frame: pd.DataFrame) -> Table:
    """Put beside each system's average how much of what it was asked came back, where not all did."""
    answered_by_system = count_answered_by_system(frame)
    sentence = note_systems_with_unanswered_questions(answered_by_system)
    if not sentence or leaderboard.data.empty:
        return leaderboard
    data = leaderboard.data.copy()
    parts = [
        str(answered_by_system[system]) if system in answered_by_system else "" for system in data["system"].astype(str)
    ]
    mean = next(name for name in ("m_all", "mean") if name in data)
    data.insert(list(data.columns).index(mean) + 1, "answered", parts)
    return replace(leaderboard, data=data, note=f"{leaderboard.note} {sentence}".strip())
