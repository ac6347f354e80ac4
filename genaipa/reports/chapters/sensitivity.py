"""Averages that rest on a choice between published tables, by the choice, by the other one, and with everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from genaipa.answers.tidy import countable, metrics_of
from genaipa.reports import averages
from genaipa.reports.chapters.chapter import Chapter, present
from genaipa.reports.table import Table, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.answers.study import Study
    from genaipa.reports.figures.figure import Scope

_EVERY = "all"
"""Name of the row over all experiments, as in the leaderboard."""


def variants(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The tidy table with what counts in each variant.

    `chosen` is what a report counts without further options. In `other` the scores about documents that were chosen
    by a rule alone give way to what was not chosen: a column that the chosen one repeats, or the M_all that the means
    of the metrics come to. In `everything` no score is left out.
    """
    could, out, doubt = countable(frame), frame["excluded"] != "", frame["doubt"] != ""
    kept = ~out & ~(doubt & (frame["document"] != ""))
    counted = {"chosen": could & ~out, "other": could & (kept | (out & doubt)), "everything": could}
    return {name: frame.assign(counted=rows) for name, rows in counted.items()}


def sensitivity(frame: pd.DataFrame) -> Table:
    """M_all, and the metrics aside, of the systems and experiments that rest on a choice, in each variant."""
    systems = frame.loc[frame["doubt"] != "", "system"].unique()
    frame = frame[frame["system"].isin(systems)]
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for name, rows in variants(frame).items():
        for key, n, means in _means(rows):
            own = {f"{metric}_{name}": mean for metric, mean in means.items()}
            found.setdefault(key, {}).update({**own, name: means["m_all10"], f"{name}_n": n})
    affected = _affected(frame)
    by = ["system", "experiment", "questions"]
    columns = [*by, *(column for name in ("chosen", "other", "everything") for column in (name, f"{name}_n"))]
    data = pd.DataFrame([dict(zip(by, key, strict=True)) | row for key, row in found.items() if key in affected])
    return table(
        "sensitivity",
        "Averages by the source that was chosen, and by the other one",
        "M_all (10 to 100): means over n questions of their means over documents; over all experiments, each "
        "question's mean over them comes first. Chosen: as everywhere in a report, by the rule that the audit gives "
        "with each finding. Other: by the source that was not chosen: what the metrics come to where M_all by document "
        "was chosen, and of two equal columns the other one, so that the first gives way without a replacement. "
        "Everything: with all that an audit leaves out, too "
        "(`genaipa report --include-excluded`). Only averages that rest on a choice are here; averages of the metrics "
        "(-1 to 1), over the questions among these that have them, are in CSV and JSON.",
        data,
        columns,
        headings={
            "chosen": "chosen source",
            "other": "other source",
            **{f"{name}_n": "n" for name in ("chosen", "other", "everything")},
        },
        formats=dict.fromkeys(("chosen", "other", "everything"), ".1f")
        | dict.fromkeys(("chosen_n", "other_n", "everything_n"), ".0f"),
        aside=[f"{metric}_{name}" for metric in metrics_of(frame) for name in ("chosen", "other", "everything")],
    )


def _means(frame: pd.DataFrame) -> Iterator[tuple[tuple[str, str, str], int, dict[str, float]]]:
    """System, experiment (or all) and group of questions, with how many questions there are, and their means."""
    found, measures = averages.policy_questions(frame).dropna(subset="m_all10"), [*metrics_of(frame), "m_all10"]
    for system, own in found.groupby("system", observed=True, sort=True):
        for experiment, rows in [*own.groupby("experiment", observed=True, sort=True), (_EVERY, own)]:
            for group, some in averages.groups_of_questions(rows):
                each = some.groupby("question", observed=True)[measures].mean()
                means = {name: float(each[name].mean()) for name in measures}
                yield (str(system), str(experiment), group), len(each), means


def _affected(frame: pd.DataFrame) -> set[tuple[str, str, str]]:
    """The averages in which a score in doubt is, counted or not."""
    rows = averages.about_policies(frame[frame["doubt"] != ""])
    keys = rows[["system", "experiment", "source"]].drop_duplicates().astype(str)
    return {
        (system, where, group)
        for system, experiment, source in keys.itertuples(index=False)
        for where in (experiment, _EVERY)
        for group in ("all", source)
    }


def chapter(study: Study, _scope: Scope) -> Chapter:
    """The averages as they would be by the other source; nothing where nothing rests on a choice."""
    return Chapter(
        "sensitivity",
        "What rests on a choice",
        "Some published tables contradict or repeat each other, and nothing shows which of them is wrong. One was "
        "chosen by a rule; here is what the other one would have given. Figures mark what rests on such a choice "
        "with a dot.",
        present(sensitivity(study.table)) if (study.table["doubt"] != "").any() else [],
    )
