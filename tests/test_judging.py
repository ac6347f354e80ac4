"""The judge's name in the store: what is written is read back, and nothing else is taken for a judge."""

from __future__ import annotations

import pytest

from genaipa.judging.name import Judge


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
