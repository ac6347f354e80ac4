"""Baselines of a suite: systems of the catalog that need no model, no key and no network (`baseline/NAME`).

A baseline knows more than a message says (all items, a train split, for a ceiling the gold labels), so that its suite
puts its reply into the message that asks for it. No other system is ever sent such a message.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from genaipa.errors import PermanentError
from genaipa.systems.base import BuiltinSystem, Reply
from genaipa.systems.provider import Meanings, Provider

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.suites.material import Item
    from genaipa.suites.suite import Suite
    from genaipa.systems.base import Message, Settings, Words

Kind = Literal["floor", "ceiling", "rule", "trained"]
PREFIX = "baseline/"


@dataclass(frozen=True)
class Baseline:
    """A baseline: `make` is given the suite, and gives the function from an item to the text of a reply.

    A floor uses nothing of the item, a ceiling its gold label, a rule the text alone; a trained one learns from the
    suite's own train split (`Suite.training`). Floors and ceilings are computed beside the systems in every report.
    """

    name: str
    kind: Kind
    about: str
    make: Callable[[Suite], Callable[[Item], str]]


def _names() -> tuple[str, ...]:
    from genaipa.suites.catalog import baseline_names

    return baseline_names()


def _meanings() -> Meanings:
    from genaipa.suites.catalog import suites

    trained = "learn from the suite's train split, most of them by scikit-learn (pip install 'genaipa[baselines]')"
    return Meanings(
        {
            name: [(PREFIX + one.name, one.kind, one.about) for one in suite.baselines]
            for name, suite in suites().items()
        },
        "Baselines of the suites (run --suite SUITE --system baseline/NAME); none needs a key. Those with * "
        f"{trained}:",
        "A floor uses nothing of an item, a rule its text alone, a ceiling its gold label; a trained one "
        f"{trained.replace('learn ', 'learns ', 1)}.",
        ("trained",),
    )


class BaselineSystem(BuiltinSystem):
    """`baseline/NAME`, of the suites that have one of that name."""

    provider: ClassVar[Provider] = Provider(
        name="baseline",
        form="baseline/NAME",
        about="baselines of the suites (run --suite); need nothing, or scikit-learn",
        builtin=_names,
        meanings=_meanings,
        only="the items of a suite; ask it with: genaipa run --suite NAME -s baseline/NAME",
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
