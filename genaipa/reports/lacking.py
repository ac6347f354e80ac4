"""Bounds for what a wave lacks: a finished wave may lack a few scores, and these may be the hardest to give.

Whoever skips an answer may do so because it is hard, so that the average of the others may be too good. How far is
bounded by giving what is lacking the lowest value, and the highest; a judge's scores say where they may lie.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports import averages, part
from genaipa.reports.judged.estimate import with_estimates
from genaipa.reports.table import SCALE, Table, table

if TYPE_CHECKING:
    from collections.abc import Hashable

_BY = ["system", "experiment"]
_ENDS = {"least": 1.0, "most": 10.0}
"""Column → the M_all that it gives to what is lacking."""


def lacking(frame: pd.DataFrame) -> Table:
    """A row for each system and experiment whose finished wave lacks scores: its average, and between which it lies."""
    policies = averages.about_policies(frame)
    short = part.parts(policies)
    short = short[[one.speaks_for_all and one.lacking > 0 for one in short["part"]]]
    columns = [*_BY, "lacking", "mean", *_ENDS, "judge_lacking", "judge_others"]
    rows = []
    if len(short):
        known = {name: _means(with_estimates(_filled(policies, value))[0]) for name, value in _ENDS.items()}
        plain, said = _means(with_estimates(policies)[0]), _said(policies)
        for row in short.to_dict("records"):
            group = (str(row["system"]), str(row["experiment"]))
            ends = {name: means.get(group) for name, means in known.items()}
            judge = {f"judge_{name}": said.get((*group, name == "lacking")) for name in ("lacking", "others")}
            about = {"system": row["system"], "experiment": row["experiment"], "lacking": row["part"].lacking}
            rows.append({**about, "mean": plain.get(group), **ends, **judge})
    return table(
        "waves-lacking",
        "What waves lack",
        "M_all times 10 (10 to 100): the average without the answers of a wave that nobody scored, and what it would "
        "be if all of these had the least, or the most, that there is. The last two are a judge's averages of them and "
        "of the wave's others.",
        pd.DataFrame(rows, columns=columns),
        columns,
        headings={
            "least": "at the least",
            "most": "at the most",
            "judge_lacking": "judge: lacking",
            "judge_others": "judge: others",
        },
        formats=dict.fromkeys((*_ENDS, "judge_lacking", "judge_others"), ".1f"),
    )


def _lacks(frame: pd.DataFrame) -> pd.Series[bool]:
    """Whether a row is of an answer of a wave that people did not score, though they could."""
    answers = frame[(frame["unit"] == "answer") & (frame["answer"] != "")]
    scored = answers.groupby(["run", "key"], observed=True, sort=False)["counted"].transform("any")
    asked = answers[~scored & (answers["in_wave"] == "yes") & (answers["excluded"] == "")]
    return pd.Series(frame.index.isin(asked.index), index=frame.index)


def _filled(frame: pd.DataFrame, value: float) -> pd.DataFrame:
    """The table as if people had scored what waves lack so."""
    given = frame[_lacks(frame)].drop_duplicates(["run", "key"])
    given = given.assign(m_all=value, averaged=1, counted=True)
    rubric = frame.loc[frame["counted"] & (frame["unit"] == "answer"), "rubric"].iloc[0]
    for name, text in {"role": "score", "scorer": "human", "rubric": rubric}.items():
        kinds = frame[name].cat.categories.union([text], sort=False)
        frame = frame.assign(**{name: frame[name].cat.set_categories(kinds)})
        given[name] = pd.Categorical([text] * len(given), categories=kinds)
    return pd.concat([frame, given], ignore_index=True)


def _means(frame: pd.DataFrame) -> dict[Hashable, float]:
    """The average of each system and experiment."""
    found = averages.policy_questions(frame).dropna(subset="m_all10").astype(dict.fromkeys(_BY, "str"))
    return dict(found.groupby(_BY)["m_all10"].mean())


def _said(frame: pd.DataFrame) -> dict[Hashable, float]:
    """The judges' averages over a wave's answers, by system, experiment, and whether people did not score them."""
    rows = frame.assign(lacks=_lacks(frame))
    rows = rows[(rows["scorer"] == "machine") & (rows["in_wave"] == "yes")].astype(dict.fromkeys(_BY, "str"))
    return dict(rows.groupby([*_BY, "lacks"])["m_all"].mean() * SCALE)
