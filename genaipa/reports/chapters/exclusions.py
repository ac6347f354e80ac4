"""What averages leave out of the runs, by kind and reason, and the averages without it and with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from genaipa.answers.tidy import flag_countable_rows_even_if_excluded
from genaipa.reports import averages
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, nonempty_tables
from genaipa.reports.table import Table, make_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.answers.study import Study
    from genaipa.reports.figures.figure import FigureScope

_EVERY = "all"
"""Name of the row over all experiments, as in the leaderboard."""
_WITHOUT, _WITH = "without_excluded", "with_excluded"


def exclusion_counts_table(frame: pd.DataFrame) -> Table:
    """Count the excluded answers and published scores, by kind and reason."""
    rows = frame[frame["excluded"] != ""].astype({"excluded": "str"})
    rows = rows[(rows["unit"] == "table") | ~rows.duplicated(["run", "key"])]
    named = rows["excluded"].str.partition(": ")
    rows = rows.assign(kind=named[0], reason=named[2], answers=rows["unit"] == "answer", scores=rows["unit"] == "table")
    by = ["kind", "system", "experiment", "reason"]
    counts = rows.groupby(by, observed=True)[["answers", "scores"]].sum().reset_index()
    return make_table(
        "excluded",
        "What averages leave out",
        "Excluded answers and published scores: the reason for each is recorded in its run.",
        counts.sort_values(by, kind="stable"),
        ["kind", "system", "experiment", "answers", "scores", "reason"],
        headings={"scores": "published scores"},
    )


def averages_with_and_without_excluded_table(frame: pd.DataFrame) -> Table:
    """Return M_all of the systems and experiments that lose something, without what is excluded and with it."""
    countable_rows, excluded = flag_countable_rows_even_if_excluded(frame), frame["excluded"] != ""
    lost = averages.select_policy_rows(frame[countable_rows & excluded])
    groups = lost[["system", "experiment", "source"]].drop_duplicates().astype("str")
    affected = {
        (system, where, group)
        for system, experiment, source in groups.itertuples(index=False)
        for where in (experiment, _EVERY)
        for group in ("all", source)
    }
    concerned = frame["system"].isin(lost["system"].unique())
    by = ["system", "experiment", "questions"]
    sides = []
    for name, counted in ((_WITHOUT, countable_rows & ~excluded), (_WITH, countable_rows)):
        rows = [
            (*key, mean, n)
            for key, mean, n in _yield_group_means_and_question_counts(frame.assign(counted=counted)[concerned])
            if key in affected
        ]
        sides.append(pd.DataFrame(rows, columns=[*by, name, f"{name}_n"]))
    return make_table(
        "with-excluded",
        "Averages with and without exclusions",
        "M_all (10 to 100): means over n questions of their means over documents; for all experiments together, each "
        "question is first averaged over the experiments. `genaipa report --include-excluded` counts everything in all "
        "tables.",
        sides[0].merge(sides[1], on=by, how="outer", sort=True),
        [*by, _WITHOUT, f"{_WITHOUT}_n", _WITH, f"{_WITH}_n"],
        headings={_WITHOUT: "without", f"{_WITHOUT}_n": "n", _WITH: "with", f"{_WITH}_n": "n"},
        formats=dict.fromkeys((_WITHOUT, _WITH), ".1f") | dict.fromkeys((f"{_WITHOUT}_n", f"{_WITH}_n"), ".0f"),
    )


def _yield_group_means_and_question_counts(frame: pd.DataFrame) -> Iterator[tuple[tuple[str, str, str], float, int]]:
    """Yield system, experiment (or all) and group of questions, with their mean and how many questions there are."""
    questions = averages.average_policy_questions(frame).dropna(subset="m_all")
    for system, system_rows in questions.groupby("system", observed=True, sort=True):
        for experiment, rows in [*system_rows.groupby("experiment", observed=True, sort=True), (_EVERY, system_rows)]:
            for group, part in averages.iterate_overall_source_and_category_rows(rows):
                means = part.groupby("question", observed=True)["m_all"].mean()
                yield (str(system), str(experiment), group), float(means.mean()), len(means)


class ExclusionsChapter(ChapterMaker):
    """What is excluded, by its reasons, and averages without and with it."""

    needs = frozenset({"exclusions"})

    def make(self, study: Study, scope: FigureScope) -> Chapter:  # noqa: ARG002 - without figures
        """Make the chapter."""
        frame = study.table
        return Chapter(
            "exclusions",
            "What is left out",
            "Answers that don't answer their question, and published scores that can't be right, are left out of all "
            "averages. This chapter gives the reasons, and shows how much the averages depend on them.",
            nonempty_tables(averages_with_and_without_excluded_table(frame), exclusion_counts_table(frame)),
        )
