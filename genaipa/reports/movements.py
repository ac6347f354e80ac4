"""What moved between two systems' answers, question by question, without people or a judge."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports.moved import MEASURED, AnswerPairReader, latest_answers_by_system, people_and_judge_means_by_answer
from genaipa.reports.table import Table, make_table
from genaipa.systems.provider import shorten_system_names

if TYPE_CHECKING:
    from genaipa.answers.study import Study
    from genaipa.reports.figures.figure import FigureScope
    from genaipa.reports.moved import AnswerPairsByMovement
    from genaipa.workspace import Workspace

_SYSTEMS = 4
"""Systems whose pairs are looked at."""
_MOST = 5_000
"""Answers that are read once more."""
_LISTED = 10
"""Rows of each pair of systems, where there are several; `genaipa view` has the others."""


def tabulate_moved_answers(movements: list[AnswerPairsByMovement]) -> Table:
    """Return the questions whose answers moved most between two systems."""
    several = len(movements) > 1
    max_rows = _LISTED if several else 3 * _LISTED
    rows = [
        {
            "first": moved.names[0],
            "second": moved.names[1],
            "document": pair.document,
            "question": pair.question,
            "asked": pair.asked,
            "first_side": pair.first.side_label,
            "second_side": pair.second.side_label,
            "difference": float("nan") if pair.score_gain_or_none is None else pair.score_gain_or_none,
            "by": pair.scorer_kind_of_both_or_empty,
            "gained": len(pair.citations_gained),
            "lost": len(pair.citations_lost),
        }
        for moved in movements
        for pair in [pair for pair in moved.pairs if pair.has_moved][:max_rows]
    ]
    names = ("first says", "second says") if several else movements[0].names
    columns = ["question", "asked", "first_side", "second_side", "difference"]
    return make_table(
        "moved-answers",
        "Questions that moved most",
        f"{' '.join(moved.changed_sides_headline for moved in movements)} An answer takes a side: it says "
        "yes, says no, says that "
        "the document is silent, does not know the document, or says nothing (refused or empty). An answer with "
        "neither yes nor no may mean either, so it counts as no change against them. The pairs furthest apart come "
        "first: by the second system's M_all (10 to 100) minus the first's, where people, else a "
        "judge, scored both; then by side; then by the sections that only one of the two cites. Sides do not say "
        f"which of the two is right. {MEASURED}",
        pd.DataFrame(rows, columns=[*_ASIDE, "first", "second", *columns]),
        [*(["first", "second"] if several else []), *columns],
        headings={
            "asked": "asked",
            "first_side": names[0],
            "second_side": names[1],
            "difference": "M_all, second minus first",
        },
        formats={"difference": "+.0f"},
        aside=_ASIDE,
    )


_ASIDE = ("document", "by", "gained", "lost")


def _rank_moved_answers_of_system_pairs(
    study: Study, workspace: Workspace, system_names: list[str], left_out_rows: pd.DataFrame
) -> list[AnswerPairsByMovement]:
    """Return what moved between each two of these systems, where they were asked the same."""
    reader = AnswerPairReader(workspace, people_and_judge_means_by_answer(study.log.counted, study.rubric))
    answers, short = latest_answers_by_system(study.sources), shorten_system_names(system_names)
    gone = set(left_out_rows[["run", "key"]].astype("str").itertuples(index=False, name=None))
    remaining = {
        name: {
            key: (source, record)
            for key, (source, record) in answers.get(name, {}).items()
            if (source.folder.name, record.key) not in gone
        }
        for name in system_names
    }
    pairs = (
        reader.pair_answers(remaining[first], remaining[second], (short[first], short[second]))
        for first, second in combinations(system_names, 2)
    )
    return [moved for moved in pairs if moved.pairs]


def make_moved_answers_tables(study: Study, scope: FigureScope, planned_questions: pd.DataFrame) -> list[Table]:
    """Return the table of what moved between systems; none where fewer than two were asked the same, or too many.

    `planned_questions` has each question that was planned.
    """
    answered = planned_questions[planned_questions["answer"] != ""]
    names = [name for name in scope.systems if name in set(answered["system"].astype("str"))]
    workspace = study.workspace
    if workspace is None or len(names) > _SYSTEMS or len(answered) > _MOST:
        return []
    movements = _rank_moved_answers_of_system_pairs(
        study, workspace, names, planned_questions[planned_questions["left_out"]]
    )
    return [tabulate_moved_answers(movements)] if movements else []
