"""What reports say of how people scored: blind or not, and in haste."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from genaipa.answers.gather import gather_study_with_stored_scores
from genaipa.policies.search import count_words
from genaipa.reports.answers import read_answer_records
from genaipa.reports.conduct import FAST_WORDS_A_MINUTE, describe_scores_not_blind, scoring_conduct_sentences
from genaipa.reports.notable import urgent_sentences
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.scoring.events import Event
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from pathlib import Path

    from commandline import Finished


def score(answer: str, analyst: str, seconds: float | None = None, *, blind: bool = True, number: int = 0) -> Event:
    """A person's score of an answer."""
    return Event(
        f"{analyst} {answer} {number}",
        "2026-11-02T10:00:00Z",
        "score",
        analyst,
        answer,
        {},
        seconds=seconds,
        blind=blind,
    )


def test_scores_in_sight_of_the_system_are_counted_with_their_analysts() -> None:
    """Those in effect alone: what was corrected later counts as it is now, and what was undone not at all."""
    assert describe_scores_not_blind([score("1", "Ada"), score("2", "Bo")]) == ""
    mixed = [score("1", "Ada"), score("1", "Bo", blind=False), score("2", "Ada", blind=False), score("3", "Cy")]
    assert describe_scores_not_blind(mixed) == "2 of 4 scores were not blind (Ada, Bo)."
    corrected = [*mixed, score("2", "Ada", number=1)]
    assert describe_scores_not_blind(corrected) == "1 of 4 scores was not blind (Bo)."
    undone = [*corrected, Event("u", "2026-11-02T11:00:00Z", "undo", "Bo", "1", undoes=mixed[1].id)]
    assert describe_scores_not_blind(undone) == ""


def test_who_is_faster_than_anybody_reads_is_named(demo: tuple[Path, Finished]) -> None:
    """Seconds are held against the words of each answer; a quick correction is no haste, nor are sheets."""
    workspace = find_workspace(demo[0])
    study = gather_study_with_stored_scores(
        workspace, select_runs_and_apply_filters(workspace, ()), without_reading_texts=True
    )
    rows = study.answers[study.answers["answer"] != ""].drop_duplicates("answer")
    records = read_answer_records(study, rows)
    words = {row.answer: count_words(records[row.run, row.key].reply or "") for row in rows.itertuples()}
    events = []
    for answer, number in words.items():
        reading = number * 60 / FAST_WORDS_A_MINUTE
        events += [
            score(answer, "Hasty", reading / 2),
            score(answer, "Sound", reading * 1.1 + 1),
            score(answer, "Sound", 0.5, number=1),
            score(answer, "Sheet"),
        ]
    events += [score(answer, "Few", 0.1) for answer in [*words][:5]]
    judged = [msgspec.structs.replace(event, analyst="Judge", scorer="machine", seconds=0.1) for event in events]
    told = scoring_conduct_sentences(replace(study, log=study.log._replace(counted=[*events, *judged])))
    assert [sentence.partition(" scored too fast")[0] for sentence in told] == ["Hasty"]
    assert told == urgent_sentences(replace(study, log=study.log._replace(counted=[*events, *judged])))
    assert not scoring_conduct_sentences(study), "nobody in the demo is told off"
