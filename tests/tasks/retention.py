"""Retention: for how many months are data kept? Twenty invented sentences, each with its answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from genaipa.systems.base import Message
from genaipa.tasks.base import Call, PredictionAndScore, Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.tasks.base import Dialogue, Target

WHAT = ("orders", "names", "call logs", "photos", "invoices", "visits", "reviews", "receipts", "letters", "backups")
ITEMS = {f"{split}-{n}": (split, what, n + 1) for split in ("dev", "test") for n, what in enumerate(WHAT)}


class Retention(Task):
    """Ask each item in a conversation of its own, and score the first number of the reply."""

    def dialogues(self, target: Target) -> Iterator[Dialogue]:
        """One dialogue for each item."""
        return (self._ask(item) for item in ITEMS)

    def _ask(self, item: str) -> Dialogue:
        split, what, months = ITEMS[item]
        text = f"We keep {what} for {months} months.\n\nFor how many months are {what} kept? Reply with the number."
        yield Call({"split": split, "item": item}, [Message("user", text)], settings={"max_tokens": 10})

    def read_reply(self, call: Call, reply: str) -> PredictionAndScore:
        """The number that the reply begins with, right or wrong."""
        found = re.search(r"\d+", reply)
        said = found[0] if found else ""
        return PredictionAndScore(said, float(said == str(ITEMS[call.coordinates["item"]][2])))
