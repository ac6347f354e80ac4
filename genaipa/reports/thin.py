"""Experiments with too few scores to count in the leaderboard, and the sentences that say so elsewhere."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports import aggregate, averages, part
from genaipa.runs.experiments import EXPERIMENTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.reports.figures.figure import Figure
    from genaipa.reports.table import Table

LEAST_SCORED = 0.5
"""Share of an experiment's answers that has to be scored before a system's average in it means anything."""
_BY = ["system", "experiment"]
_MEANS = ("m_all10", "m_all", "mean")
"""Columns of averages."""
_POOLED = {
    "faq-against-user": tuple(EXPERIMENTS),
    "documents-ranked": tuple(EXPERIMENTS),
    "easiest-and-hardest": ("quality", "robustness"),
}
"""Table → the experiments that its averages are over."""
_WARNED = re.compile(rf"Less than {LEAST_SCORED:.0%} scored and no sample[^;]*(?:; [^;]*)*?\.(?= [A-Z]|$)")
Thin = dict[tuple[str, str], tuple[int, int]]
"""System and experiment → how many of its questions about a document are scored, and all, where that is too few."""


@aggregate.kept
def thin(frame: pd.DataFrame) -> Thin:
    """The experiments of a tidy table with too few scores.

    A published mean over documents scores its question about each of them.
    """
    rows = averages.about_policies(frame)
    few: Thin = {}
    for (system, experiment), own in rows.groupby(_BY, observed=True, sort=True):
        asked = own.loc[own["document"] != "", ["document", "question"]].drop_duplicates()
        scores = own[own["counted"] & own["m_all"].notna()]
        means = set(scores.loc[scores["document"] == "", "question"])
        single = set(zip(scores["document"], scores["question"], strict=True))
        cells = list(zip(asked["document"], asked["question"], strict=True))
        scored = sum(cell in single or cell[1] in means for cell in cells)
        if 0 < scored < LEAST_SCORED * len(cells) and not part.part_scored(own).speaks_for_all:
            few[str(system), str(experiment)] = (scored, len(cells))
    return few


def enough(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of the experiments with enough scores to count (`thin`)."""
    few = thin(frame)
    # The same object, where that is all, so that what is `kept` of it is found again.
    return frame.loc[~pd.MultiIndex.from_frame(frame[_BY].astype(str)).isin(list(few))] if few else frame


def too_few(frame: pd.DataFrame) -> str:
    """A sentence about the experiments that are left out because too little of them is scored; or nothing."""
    return left_out(thin(frame)).strip()


def left_out(few: Thin) -> str:
    """A sentence on the cells left blank, with how much of each is scored."""
    if not few:
        return ""
    return (
        f" Left blank and not counted here, because less than {LEAST_SCORED:.0%} of an experiment's questions about a "
        f"document are scored: {_named(few)}."
    )


def warned_table(made: Table, few: Thin) -> Table:
    """The table with a sentence on these experiments, where it has averages of any."""
    return replace(made, note=f"{made.note}{_no_sample(made.name, made, few)}")


def warned_figure(drawn: Figure, few: Thin) -> Figure:
    """The figure with a sentence on these experiments, where it has averages of any."""
    return replace(drawn, about=f"{drawn.about}{_no_sample(drawn.name, drawn.table, few)}")


def warning(note: str) -> str:
    """The sentence of these two in a note; or nothing."""
    return "".join(_WARNED.findall(note)[:1])


def _no_sample(name: str, made: Table, few: Thin) -> str:
    means = [column for column in _MEANS if column in made.data]
    data = made.data.dropna(subset=means, how="all")
    if not means or data.empty:
        return ""
    if {*_BY} <= {*data}:
        shown = set(data[_BY].astype(str).itertuples(index=False, name=None))
    else:
        # A figure of one experiment has it in its name.
        systems = set(data["system"].astype(str)) if "system" in data else {system for system, _ in few}
        pooled = _POOLED.get(name, [experiment for _, experiment in few if name.startswith(f"{experiment}-")])
        shown = {(system, experiment) for system in systems for experiment in pooled}
    there = {key: numbers for key, numbers in few.items() if key in shown}
    if not there:
        return ""
    return f" Less than {LEAST_SCORED:.0%} scored and no sample, so not in the leaderboard: {_named(there)}."


def _named(few: Mapping[tuple[str, str], tuple[int, int]]) -> str:
    return "; ".join(f"{system} {experiment} ({n} of {all_})" for (system, experiment), (n, all_) in few.items())
