"""PolicyQA: SQuAD's metric, spans and their rungs, the published files and their checks, and baselines as runs."""

from __future__ import annotations

import json
import random
import re
import string
from typing import TYPE_CHECKING

import pytest

from genaipa.suites.policyqa.score import squad

if TYPE_CHECKING:
    from commandline import Cli


def stated(answer: str, reference: str) -> tuple[float, float]:
    """SQuAD v1.1's metric, stated once more: other tools, the same words."""

    def tokens(text: str) -> list[str]:
        kept = "".join(letter for letter in text.lower() if letter not in string.punctuation)
        return [word for word in re.split(r"\s+", re.sub(r"\b(the|an|a)\b", " ", kept)) if word]

    one, other = tokens(answer), tokens(reference)
    rest = list(other)
    hits = sum(1 for word in one if word in rest and not rest.remove(word))
    if not hits:
        return 0.0, 0.0
    precision, recall = hits / len(one), hits / len(other)
    return float(" ".join(one) == " ".join(other)), 2 * precision * recall / (precision + recall)


def test_the_metric_is_squads() -> None:
    """Exact match and F1 are those of a second statement of the metric, on random texts full of its traps."""
    draw = random.Random(13)
    words = [
        "the",
        "a",
        "An",
        "data",
        "Data",
        "opt-out",
        "optout",
        "your",
        "your,",
        "“we”",
        "we",
        "-",
        "e.g.",
        " ",
        "\n",
    ]

    def text() -> str:
        return " ".join(draw.choices(words, k=draw.randrange(9)))

    for _ in range(3_000):
        one, other = text(), text()
        assert squad(one, other) == pytest.approx(stated(one, other)), (one, other)


def test_a_baseline_runs_on_the_sample(genaipa: Cli) -> None:
    """A baseline answers the made-up items as any system answers, and they are scored without a person: a ceiling 1."""
    for name, score in (("empty", 0.0), ("ceiling", 1.0)):
        done = genaipa("run", "--suite", "policyqa", "--split", "sample", "-s", f"baseline/{name}", "--json")
        assert done.code == 0, done.err
        assert json.loads(done.out)["scores"] == {f"baseline/{name}": score}
