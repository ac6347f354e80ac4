"""The judge's name in the store, and the example of a judge that the docs try."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from genaipa.judging import verdict
from genaipa.judging.name import Judge
from genaipa.scoring.rubric import shipped_rubric


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


def test_the_example_judges_by_the_shipped_rubric() -> None:
    """Every reply of the file that the docs and the README try is a verdict."""
    example = yaml.safe_load((Path(__file__).parents[2] / "docs" / "example-judge.yaml").read_text())
    replies = [*(rule["reply"] for rule in example["rules"]), example["default"]]
    assert len({str(verdict.read(shipped_rubric(), reply, annotated=True).values) for reply in replies}) == len(replies)
