"""The shipped example study: the demo's answers, scored by the reference analyst, a made-up one and a made-up judge."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from size import size

from genaipa.cli.commands.demo import SCORES, SYSTEMS
from genaipa.runs.selection import find_run
from genaipa.scoring.answers import AnswerPool
from genaipa.scoring.rubric import format_signed_value
from genaipa.scoring.store import ScoreStore, database_url
from genaipa.workspace import find_workspace
from rubrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished


def test_demo_brings_everything_that_a_report_can_show(
    genaipa: Callable[..., Finished], demo: tuple[Path, Finished]
) -> None:
    """Six systems ranked, each text scored with a reason for each value below +1, two analysts, a judge; once."""
    folder, first = demo
    shutil.copytree(folder, Path.cwd(), dirs_exist_ok=True)
    for done in (first, *(genaipa("demo", "--workspace", ".") for _ in size(small=(), soak=(2,)))):
        assert done.code == 0, done.err
        ranked = ["pensive@high", "careful", "pensive@low", "pensive@none", "extractive", "breezy"]
        assert re.findall(r"(?m)^ +[1-6] +(\S+)", done.out) == ranked
        beside = [line for line in done.out.splitlines() if not re.match(r" +(rank|\d)|\W*$", line)]
        assert len(beside) <= 5
        assert len(" ".join(beside).split()) <= 70
        assert "Made up: company and policy, the assistants careful, breezy and pensive with its cost" in done.out
        assert "genaipa score demo" in done.out.splitlines()[-1]
    workspace = find_workspace(Path.cwd())
    pool = AnswerPool(workspace, [find_run(workspace, "demo")])
    with contextlib.closing(ScoreStore.open_or_create(database_url(workspace))) as store:
        events = [event for _, event in store.read_numbered_events()]
    assert Counter(event.analyst.partition("@")[0] for event in events) == {
        "reference": 160,
        "made-up": 70,
        "judge:made-up-judge": 160,
    }
    assert {event.answer for event in events} == pool.answers.keys()
    for event in events:
        if event.analyst == "reference":
            assert event.values is not None
            for value in {event.values[metric] for metric in METRICS} - {1.0}:
                assert format_signed_value(value) in event.note, (event.note, value)


@pytest.mark.full
def test_demo_explains_its_numbers(genaipa: Callable[..., Finished], demo: tuple[Path, Finished]) -> None:
    """What left the screen is behind --explain: the commands, what is real, and what the numbers mean."""
    shutil.copytree(demo[0], Path.cwd(), dirs_exist_ok=True)
    said = genaipa("demo", "--explain").out
    assert f"genaipa run --system {','.join(SYSTEMS)} --policy brindlecart --experiment quality" in said
    assert "are real" in said
    assert "each question's mean over the experiments" in said


def test_silent_questions_keep_the_papers_rule() -> None:
    """Where the document is silent, the reference analyst gave -1 for every answer that cites a section."""
    # The rule is the paper's; the example must not teach another.
    from genaipa.questions.annotations import load_annotations
    from genaipa.scoring.events import make_event_decoder

    lines = SCORES[0].read_text(encoding="utf-8").splitlines()
    scores = list(map(make_event_decoder().decode, lines))
    silent = load_annotations(find_workspace(), "brindlecart").silent_questions
    assert len(silent) == 8
    by_rule = [score for score in scores if "silent" in score.note]
    assert len(by_rule) == 24 + 16
    for score in by_rule:
        assert score.values is not None
        rightly = "names no section" in score.note
        assert score.values["reference"] == (1.0 if rightly else -1.0), score.note
