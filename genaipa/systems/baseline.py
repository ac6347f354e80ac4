"""Baselines of the suites (`baseline/majority`): each reply is worked out by the suite, and repeated here.

A baseline knows more than a message says (all items, a train split, for a ceiling the gold labels), so that its suite
puts its reply into the message that asks for it. No other system is ever sent such a message.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, ClassVar

from genaipa.errors import PermanentError
from genaipa.systems.base import BuiltinSystem, Reply
from genaipa.systems.provider import Provider

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.systems.base import Message, Settings, Words


def _names() -> tuple[str, ...]:
    # By name, as the catalog finds adapters: the suites' room is above.
    names: tuple[str, ...] = importlib.import_module("genaipa.suites.catalog").baseline_names()
    return names


class BaselineSystem(BuiltinSystem):
    """`baseline/NAME`, of the suites that have one of that name."""

    provider: ClassVar[Provider] = Provider(
        name="baseline",
        form="baseline/NAME",
        about="baselines of the suites (run --suite); need nothing, or scikit-learn",
        builtin=_names,
        free=True,
        words="document",
    )
    words: Words = provider.words

    async def answer(self, messages: Sequence[Message], settings: Settings) -> Reply:  # noqa: ARG002 - it has none
        """The reply that the message carries; a PermanentError where no suite has put one there."""
        last = messages[-1]
        if last.purpose != "answer":
            raise PermanentError(f"{self.name} answers the items of a suite alone; ask it with: genaipa run --suite")
        return Reply(last.carries, model=self.name)
