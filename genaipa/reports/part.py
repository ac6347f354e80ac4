"""The part of their answers that averages of people's scores rest on, and whether chance chose it.

Answers scored in the order of documents are whole documents, and say little of the others; a finished wave
(`scoring.waves`) is a random part, which speaks for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from genaipa.reports import aggregate
from genaipa.scoring.waves import UNFINISHED

if TYPE_CHECKING:
    from collections.abc import Iterable

LATE = 0.05
"""The share of a group's answers that may have come after the draw."""
EVEN = 2 / 3
"""The chance of one document's answers to a question over another's, below which documents are not drawn alike."""
_BY = ["system", "experiment"]


class Part(NamedTuple):
    """The number of `answers` of a system in an experiment, of those scored, and of these that a finished wave `drew`.

    `why` says in words why they are no sample; it is empty where all are scored, or what the wave drew. Of the wave,
    `lacking` have no score.
    """

    answers: int
    scored: int
    drew: int
    why: str
    lacking: int = 0

    @property
    def speaks_for_all(self) -> bool:
        """Whether all are scored, or a random part."""
        return self.scored == self.answers or (self.drew > 0 and not self.why)

    def __str__(self) -> str:
        if self.answers == self.scored:
            return f"all {self.answers:,}"
        how = self.why or (", at random" if self.drew == self.scored else f", {self.drew:,} of them at random")
        lacking = f"; {self.lacking:,} of the wave lacking" if self.lacking and not self.why else ""
        return f"{self.scored:,} of {self.answers:,}{how}{lacking}"


def part_scored(rows: pd.DataFrame) -> Part:
    """The scored part of the answers of one system in one experiment; these are its rows."""
    rows = _scorable(rows)
    each = rows.groupby(["run", "key"], observed=True, sort=False)
    scored, wave = each["counted"].any(), each["in_wave"].first().astype(str)
    asked, drew = int((wave == "yes").sum()), int(((wave == "yes") & scored).sum())
    late = int(((wave == "") & ~scored).sum())
    why = ""
    if not asked:
        why = _unplanned(rows)
    elif asked - drew > UNFINISHED * asked:
        why = f", the wave of {asked:,} not finished: not a sample"
    elif late > LATE * len(scored):
        why = f", but {late:,} came after the draw: not a sample"
    elif _is_uneven(rows):
        why = ", some documents more often than others: not a sample"
    return Part(len(scored), int(scored.sum()), drew, why, asked - drew)


def _is_uneven(rows: pd.DataFrame) -> bool:
    """Whether chance favours documents, as where a draw of one run took all of its answers, and later ones a part."""
    each = rows.drop_duplicates(["run", "key"]).dropna(subset="pi")
    cells = each.groupby(["question", "document"], observed=True)["pi"].sum().clip(upper=1).groupby(level=0)
    return bool((cells.min() < cells.max() * EVEN).mean() > UNFINISHED)


def _scorable(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of answers that could be scored, and that no audit leaves out."""
    return frame[(frame["unit"] == "answer") & (frame["answer"] != "") & (frame["counted"] | (frame["excluded"] == ""))]


def _unplanned(rows: pd.DataFrame) -> str:
    """How answers were chosen that no wave asked for."""
    orders = set(rows.loc[rows["counted"], "desk_order"].astype(str))
    if orders == {"random"}:
        return ", in random order"
    return ", in the order of documents: not a sample" if orders & {"question", "document"} else ": not a sample"


@aggregate.kept
def parts(frame: pd.DataFrame) -> pd.DataFrame:
    """Each system and experiment with answers that people scored, and the `part` (`Part`) of them that they scored.

    Studies' published scores are no part of their answers, and are left out.
    """
    published = {*_keys(frame[(frame["unit"] == "table") & frame["counted"]])}
    found = [
        {**dict(zip(_BY, key, strict=True)), "part": part_scored(own)}
        for key, own in _scorable(frame).groupby(_BY, observed=True, sort=True)
        if key not in published and own["counted"].any()
    ]
    return pd.DataFrame(found, columns=[*_BY, "part"])


def _keys(rows: pd.DataFrame) -> Iterable[tuple[object, ...]]:
    return rows[_BY].drop_duplicates().itertuples(index=False, name=None)


def is_partial(frame: pd.DataFrame) -> bool:
    """Whether an average rests on a part of its answers."""
    return any(part.scored < part.answers for part in parts(frame)["part"])


def of_systems(frame: pd.DataFrame) -> dict[str, str]:
    """System → the part of its answers that is scored, over all experiments that have scores."""
    found = {}
    for system, own in parts(frame).groupby("system", observed=True, sort=True):
        some = list(own["part"])
        answers, scored = sum(part.answers for part in some), sum(part.scored for part in some)
        drew = sum(part.scored if part.scored == part.answers else part.drew for part in some)
        whys = {part.why for part in some if not part.speaks_for_all}
        why = whys.pop() if len(whys) == 1 else ": not a sample" * bool(whys)
        found[str(system)] = str(Part(answers, scored, drew, why, sum(part.lacking for part in some)))
    return found


def in_words(frame: pd.DataFrame) -> str:
    """A sentence on the parts of answers that averages rest on; empty where all answers are scored."""
    if not is_partial(frame):
        return ""
    groups: dict[str, list[str]] = {}
    for row in parts(frame).itertuples():
        groups.setdefault(str(row.part), []).append(f"{row.system} {row.experiment}")
    said = "; ".join(f"{part} ({', '.join(named)})" for part, named in groups.items())
    return f" Averages of people's scores rest on: {said}."
