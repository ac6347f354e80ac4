"""How many of the questions that a system was asked came back: M_all is over these, and knows nothing of the others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from genaipa.answers.tidy import asked_once
from genaipa.reports import averages
from genaipa.reports.part import enough

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from genaipa.reports.table import Table


class Answered(NamedTuple):
    """The number of questions that a system was asked, and of those that came back."""

    answers: int
    planned: int

    @property
    def is_whole(self) -> bool:
        """Whether all came back."""
        return self.answers == self.planned

    def __str__(self) -> str:
        return f"all {self.planned:,}" if self.is_whole else f"{self.answers:,} of {self.planned:,}"


@averages.kept
def answered(frame: pd.DataFrame) -> dict[str, Answered]:
    """System → how many of its questions about policies came back, in the experiments that have scores.

    What failed, and what is missing, did not; a refusal, and what was cut off, did.
    """
    rows = averages.about_policies(enough(frame))
    scored = rows.loc[rows["counted"], ["system", "experiment"]].drop_duplicates()
    once = asked_once(rows)
    once = once[once["status"] != ""].astype({"system": "str", "experiment": "str"})
    once = once.merge(scored.astype("str"), on=["system", "experiment"])
    came = ~once["status"].isin(["failed", "missing"])
    each = came.groupby(once["system"]).agg(["sum", "size"])
    return {str(system): Answered(int(row["sum"]), int(row["size"])) for system, row in each.iterrows()}


def lacking_answers(known: Mapping[str, Answered]) -> str:
    """Name, in a sentence, the systems of which not all came back; empty where all did."""
    said = [f"{system} answered {part} questions" for system, part in known.items() if not part.is_whole]
    return f"{'; '.join(said)}: M_all is over what came back." if said else ""


def add_answered(made: Table, frame: pd.DataFrame) -> Table:
    """Put beside each system's average how much of what it was asked came back, where not all did."""
    known = answered(frame)
    said = lacking_answers(known)
    if not said or made.data.empty:
        return made
    data = made.data.copy()
    parts = [str(known[system]) if system in known else "" for system in data["system"].astype(str)]
    mean = next(name for name in ("m_all", "mean") if name in data)
    data.insert(list(data.columns).index(mean) + 1, "answered", parts)
    return replace(made, data=data, note=f"{made.note} {said}".strip())
