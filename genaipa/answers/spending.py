"""What an answer took: time, also until its beginning, money and tokens; and whether its server cut the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.answers.fact import Column, Fact

if TYPE_CHECKING:
    from genaipa.answers.fact import Row, RunInputs
    from genaipa.runs.records import MeasuredRecordHead


class Spending(Fact):
    """The time, money and tokens of an answer, and of a failure."""

    name = "spending"
    columns = {
        "seconds": Column("float64", "time from the question to the complete reply", "seconds"),
        "cost": Column("float64", "cost of this answer in US dollars, where prices are known", "US dollars"),
        "tokens_in": Column("float64", "tokens sent, including cached ones", "tokens"),
        "tokens_cached": Column("float64", "tokens sent that the provider read from its cache", "tokens"),
        "tokens_out": Column("float64", "tokens of the reply, including reasoning", "tokens"),
    }
    of_failures = True

    def read_row_of_answer(self, run: RunInputs, record: MeasuredRecordHead) -> Row:  # noqa: ARG002 - of the record alone
        """Read what the record has of its call."""
        row = {"seconds": record.seconds, "cost": record.cost}
        if (usage := record.usage) is not None:
            row |= {"tokens_in": usage.input, "tokens_cached": usage.cached, "tokens_out": usage.output}
        return row


class FirstToken(Fact):
    """The time until the first piece of an answer came, where it was streamed."""

    name = "first-token"
    columns = {
        "first_token_seconds": Column(
            "float64", "from the question to the first piece of a streamed reply, thoughts included", "seconds"
        ),
        "first_text_seconds": Column(
            "float64", "from the question to the first text of a streamed reply, after any thoughts", "seconds"
        ),
    }

    def read_row_of_answer(self, run: RunInputs, record: MeasuredRecordHead) -> Row:  # noqa: ARG002 - of the record alone
        """Read both times."""
        return {"first_token_seconds": record.first_token, "first_text_seconds": record.first_text}


class PromptCut(Fact):
    """Whether the server read less of the prompt than it was sent."""

    name = "prompt-cut"
    columns = {
        "prompt_cut": Column(
            "category",
            "yes if the server counted fewer tokens than it was sent; otherwise empty",
            values=("yes",),
        )
    }
    of_failures = True

    def read_row_of_answer(self, run: RunInputs, record: MeasuredRecordHead) -> Row:  # noqa: ARG002 - of the record alone
        """Read the mark of the record."""
        return {"prompt_cut": "yes"} if record.prompt_cut else {}
