"""What moved between two systems' answers, question by question, without people or a judge."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports.chapters.chapter import Chapter, present
from genaipa.reports.chapters.outcomes import asked_once
from genaipa.reports.moved import MEASURED, AnswerReader, latest_answers, read_scores
from genaipa.reports.table import Table, table
from genaipa.systems.provider import short_names

if TYPE_CHECKING:
    from genaipa.reports.figures.figure import Scope
    from genaipa.reports.gather import Gathered
    from genaipa.reports.moved import Movement
    from genaipa.workspace import Workspace

_SYSTEMS = 4
"""Systems whose pairs are looked at."""
_MOST = 5_000
"""Answers that are read once more."""
_LISTED = 10
"""Rows of each pair of systems; `genaipa view` has the others."""


def sides(movements: list[Movement]) -> Table:
    """How many answers changed sides between two systems, and how many cite other sections."""
    rows = [
        {
            "first": moved.names[0],
            "second": moved.names[1],
            "answers": len(moved.pairs),
            "sides": len(moved.flips),
            "citations": sum(bool(pair.gained or pair.lost) for pair in moved.pairs),
            "what": moved.headline,
        }
        for moved in movements
    ]
    columns = ["first", "second", "answers", "sides", "citations"]
    return table(
        "moved-sides",
        "Answers that changed sides",
        "Of the answers that two systems gave to the very same words, how many take another side (yes, no, or that the "
        "document is silent; refused or empty; the document is not known), and how many cite other sections. An answer "
        f"by neither yes nor no may mean either, and changes no side against them. {MEASURED}",
        pd.DataFrame(rows),
        columns,
        headings={"sides": "changed sides", "citations": "other sections"},
        aside=["what"],
    )


def moved_most(movements: list[Movement]) -> Table:
    """The questions whose answers moved most between two systems."""
    several = len(movements) > 1
    most = _LISTED if several else 3 * _LISTED
    rows = [
        {
            "first": moved.names[0],
            "second": moved.names[1],
            "document": pair.document,
            "question": pair.question,
            "asked": pair.asked,
            "first_side": pair.first.in_words,
            "second_side": pair.second.in_words,
            "difference": float("nan") if pair.difference is None else pair.difference,
            "by": pair.scored_by,
            "gained": len(pair.gained),
            "lost": len(pair.lost),
        }
        for moved in movements
        for pair in [pair for pair in moved.pairs if pair.moved][:most]
    ]
    names = ("first", "second") if several else movements[0].names
    shown = ["question", "asked", "first_side", "second_side", "difference"]
    return table(
        "moved-answers",
        "Questions whose answers moved most",
        "Those furthest apart stand first: by M_all (10 to 100), the second system's less the first's, where people, "
        "else a judge, scored both; then by side; then by the sections that only one of the two cites. Sides do not "
        "say which of the two is right.",
        pd.DataFrame(rows, columns=[*_ASIDE, "first", "second", *shown]),
        [*(["first", "second"] if several else []), *shown],
        headings={"asked": "asked", "first_side": names[0], "second_side": names[1], "difference": "M_all"},
        formats={"difference": "+.0f"},
        aside=_ASIDE,
    )


_ASIDE = ("document", "by", "gained", "lost")


def _find_movements(gathered: Gathered, workspace: Workspace, names: list[str]) -> list[Movement]:
    """What moved between each two of these systems, where they were asked the same."""
    reader = AnswerReader(workspace, read_scores(gathered.events, gathered.rubric))
    answers, short = latest_answers(gathered.sources), short_names(names)
    left_out = asked_once(gathered.frame)
    left_out = left_out[left_out["left_out"]]
    gone = set(left_out[["run", "key"]].astype("str").itertuples(index=False, name=None))
    there = {
        name: {
            key: (source, record)
            for key, (source, record) in answers.get(name, {}).items()
            if (source.folder.name, record.key) not in gone
        }
        for name in names
    }
    pairs = (
        reader.pair(there[first], there[second], (short[first], short[second]))
        for first, second in combinations(names, 2)
    )
    return [moved for moved in pairs if moved.pairs]


def chapter(gathered: Gathered, scope: Scope) -> Chapter:
    """The chapter on what moved between systems; empty where fewer than two were asked the same."""
    once = asked_once(gathered.frame)
    answered = once[once["answer"] != ""]
    names = [name for name in scope.systems if name in set(answered["system"].astype("str"))]
    many = len(names) > _SYSTEMS or len(answered) > _MOST
    workspace = gathered.workspace
    movements = [] if many or workspace is None else _find_movements(gathered, workspace, names)
    return Chapter(
        "moved",
        "What moved between two systems",
        "Where the answers of two systems to the same question are furthest apart. The answers, side by side in this "
        "order: genaipa view A B.",
        present(sides(movements), moved_most(movements)) if movements else [],
    )
