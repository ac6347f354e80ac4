"""The judge's name in the store, and the example of a judge that the docs try."""

from __future__ import annotations

import asyncio
import importlib
from pathlib import Path

import pytest

from genaipa.judging import verdict_parsing
from genaipa.judging.name import Judge
from genaipa.judging.task import TEMPLATES, load_judge_templates, make_enclosing_lines
from genaipa.questions.points import Point
from genaipa.scoring.rubric import shipped_rubric
from genaipa.systems.base import Message, Settings
from genaipa.workspace import find_workspace


@pytest.mark.parametrize("model", ["claude-sonnet-4-6", "vllm/a@b#c", "scripted/kind judge"])
def test_a_judge_is_read_from_its_name(model: str) -> None:
    """Whatever the model is called."""
    judge = Judge(model, "0123456789ab", 12)
    assert Judge.parse(str(judge)) == judge


@pytest.mark.parametrize(
    "name",
    ["anna", "judge:", "judge:m@0123456789ab#0", "judge:m@0123456789AB#1", "judge:m#1", " judge:m@0123456789ab#1"],
)
def test_nobody_else_is_a_judge(name: str) -> None:
    """People, other machine scores, and names that are nearly one."""
    assert Judge.parse(name) is None


def test_the_example_judges_every_kind_of_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every reply of the docs' judge is a verdict: with points, on silence, and where nobody annotated."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "docs")
    judge = importlib.import_module("example_judge").RulesOfThumb()
    templates, rubric = load_judge_templates(find_workspace()), shipped_rubric()
    points = (Point("kept", "Orders remain stored for years.", ("1",)), Point("cost", "Nothing costs.", ("2",)))
    begin, end = make_enclosing_lines("0123456789abcdef")
    given = set()
    kinds = (("Yes.", "", points), ("Yes.", "", ()), ("No.", rubric.silent_rule, ()), ("", "", ()))
    for annotated, silent, points_of in kinds:
        for answer in ("Orders remain stored (Section 1).", "The document does not say.", "Perhaps."):
            names = verdict_parsing.metrics_to_judge(rubric, has_points=bool(points_of))
            metrics = [
                {"id": name, "name": name, "question": "", "options": rubric.metrics[name].words} for name in names
            ]
            asked = templates.render(
                "answer",
                **dict.fromkeys(TEMPLATES["answer"], "")
                | {"annotated": annotated, "silent_rule": silent, "points": points_of, "metrics": metrics}
                | {"begin": begin, "end": end, "answer": answer},
            )
            said = asyncio.run(judge.reply([Message("user", asked)], Settings())).text
            found = verdict_parsing.read_verdict(rubric, said, has_annotated_answer=bool(annotated), points=points_of)
            given.add((found.ticks and found.ticks.said, *found.values.values()))
    assert ("kept",) in {said for said, *_ in given}
    assert len(given) > 5
