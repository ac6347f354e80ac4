"""The name under which a judge's verdicts are kept in the store of scores."""

from __future__ import annotations

import re
from typing import NamedTuple, Self

_NAME = re.compile(r"judge:(?P<model>.+)@(?P<prompt>[0-9a-f]{12})#(?P<passed>[1-9][0-9]*)")


class Judge(NamedTuple):
    """One judge, as an event's `analyst` names it: another model, prompt or pass is another judge.

    `model` is the one the provider says it served, `prompt` the first 12 digits of the SHA-256 of everything that
    decides the request's words, and `passed` the number of the pass, from 1.

    >>> str(Judge("claude-sonnet-4-6", "0123456789ab", 1))
    'judge:claude-sonnet-4-6@0123456789ab#1'
    """

    model: str
    prompt: str
    passed: int

    def __str__(self) -> str:
        """The name as the store keeps it."""
        return f"judge:{self.model}@{self.prompt}#{self.passed}"

    @classmethod
    def parse(cls, analyst: str) -> Self | None:
        """The judge that an event's analyst names; None for people, and for machine scores from elsewhere."""
        found = _NAME.fullmatch(analyst)
        return cls(found["model"], found["prompt"], int(found["passed"])) if found else None
