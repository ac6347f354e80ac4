"""Baselines of a suite: systems of the catalog that need no model, no key and no network (`baseline/NAME`).

A baseline knows more than a message says (all items, a train split, for a ceiling the gold labels), so that its suite
puts its reply into the message that asks for it. No other system is ever sent such a message.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from genaipa.errors import PermanentError
from genaipa.systems.base import BuiltinSystem, Reply

if TYPE_CHECKING:
    from genaipa.systems.base import Message, Settings
    from genaipa_suites.material import Item
    from genaipa_suites.suite import Suite

BaselineKind = Literal["floor", "ceiling", "rule", "trained"]
PREFIX = "baseline/"


@dataclass(frozen=True)
class Baseline:
    """A baseline: `make` is given the suite, and gives the function from an item to the text of a reply.

    A floor uses nothing of the item, a ceiling its gold label, a rule the text alone; a trained one learns from the
    suite's own train split (`Suite.training`). Floors and ceilings are computed beside the systems in every report.
    """

    name: str
    kind: BaselineKind
    about: str
    make: Callable[[Suite], Callable[[Item], str]]


def of_item(answer: Callable[[Item], str]) -> Callable[[Suite], Callable[[Item], str]]:
    """Make a baseline of the function itself: it needs nothing but the item."""
    return lambda _suite: answer


class Replay(BuiltinSystem):
    """A system that repeats what a message carries: its suite works the reply out."""

    def __init__(self, *, name: str) -> None:
        super().__init__(name=name)
        self.model = name

    async def answer(self, messages: Sequence[Message], settings: Settings) -> Reply:  # noqa: ARG002 - it has none
        """Repeat the reply; a PermanentError where no suite has put one into the message."""
        if messages[-1].purpose != "answer":
            problem = f"{self.name} is for the items of a suite; ask it with: genaipa run --suite"
            raise PermanentError(problem, fatal=True)
        return Reply(messages[-1].carries, model=self.model)
