"""Baselines as systems (`baseline/majority`): each reply is worked out by the suite, and repeated here."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from genaipa.errors import PermanentError
from genaipa.systems.base import BuiltinSystem, Reply
from genaipa.systems.provider import Meanings, Provider
from genaipa_suites.baseline import PREFIX
from genaipa_suites.catalog import baseline_names, suites

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.systems.base import Message, Settings, Words


def _meanings() -> Meanings:
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
        builtin=baseline_names,
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
