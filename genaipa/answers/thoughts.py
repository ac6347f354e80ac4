"""How much a model thought before a reply, where its provider tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.answers.fact import Column, Fact

if TYPE_CHECKING:
    from genaipa.answers.fact import Row, RunInputs
    from genaipa.runs.records import MeasuredRecordHead


class Thoughts(Fact):
    """The thoughts of an answer, which are no part of its reply."""

    name = "thoughts"
    columns = {
        "thought_tokens": Column(
            "float64", "tokens of the reply that were spent on thinking, if the provider reports any", "tokens"
        ),
        "thought_length": Column(
            "float64", "characters of the thoughts, if the provider or the model returns them", "characters"
        ),
    }
    texts = frozenset({"reply"})

    def read_row_of_answer(self, run: RunInputs, record: MeasuredRecordHead) -> Row:  # noqa: ARG002 - of the record alone
        """Read the length of the thoughts, and what was spent on them: 0 tokens may be unknown ones."""
        row: dict[str, float] = {}
        if record.usage is not None and record.usage.reasoning:
            row["thought_tokens"] = record.usage.reasoning
        if record.thoughts:
            row["thought_length"] = len(record.thoughts)
        return row
