"""The shipped example study: the demo's answers from the document, scored by the reference analyst."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from genaipa.runs.finding import find_run
from genaipa.scoring.answers import Pool
from genaipa.scoring.current import CurrentScores
from genaipa.scoring.rubric import shown
from genaipa.scoring.store import Store, database_url
from genaipa.workspace import find_workspace
from rubrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Finished


def test_demo_brings_the_reference_scores(genaipa: Callable[..., Finished], demo: tuple[Path, Finished]) -> None:
    """After the demo its 32 answers from the document are scored, each note saying why a value is not +1; only once."""
    folder, first = demo
    shutil.copytree(folder, Path.cwd(), dirs_exist_ok=True)
    for done in (first, genaipa("demo", "--workspace", ".")):
        assert done.code == 0, done.err
        assert "The reference analyst's 32 scores" in done.err
        assert "genaipa score demo" in done.err
    workspace = find_workspace(Path.cwd())
    pool = Pool(workspace, [find_run(workspace, "demo")])
    store = Store.open(database_url(workspace))
    current = CurrentScores(store.events)
    current.refresh()
    scores = current.all_scores()
    assert len(list(store.events())) == len(scores) == 32
    scored = [pool.answers[score.answer] for score in scores]
    assert len({answer.question for answer in scored}) == 32
    assert all(any(where.initialization == "document" for where in answer.occurrences) for answer in scored)
    for score in scores:
        assert score.values is not None
        for value in {score.values[metric] for metric in METRICS} - {1.0}:
            assert shown(value) in score.note, (score.note, value)
    store.close()


def test_silent_questions_keep_the_papers_rule() -> None:
    """Where the document is silent, the reference analyst gave -1 for every answer that cites a section."""
    # The rule is the paper's; the example must not teach another.
    from genaipa.questions.annotations import load_annotations
    from genaipa.scoring.events import event_decoder
    from genaipa.workspace import shipped

    lines = (shipped() / "scores" / "brindlecart.jsonl").read_text(encoding="utf-8").splitlines()
    scores = list(map(event_decoder().decode, lines))
    silent = load_annotations(find_workspace(), "brindlecart").silent
    assert len(silent) == 8
    by_rule = [score for score in scores if "silent" in score.note]
    assert len(by_rule) == 8
    for score in by_rule:
        assert score.values is not None
        rightly = "the reply says so" in score.note
        assert score.values["reference"] == (1.0 if rightly else -1.0), score.note
