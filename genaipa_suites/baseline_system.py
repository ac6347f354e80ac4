"""Baselines as systems (`baseline/majority`): each reply is made by the suite, and repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from genaipa.systems.provider import Provider, SystemMeanings
from genaipa_suites.baseline import PREFIX, CarriedReplySystem
from genaipa_suites.catalog import baseline_system_names, load_suite_classes

if TYPE_CHECKING:
    from genaipa.systems.base import Words


def _make_baseline_meanings() -> SystemMeanings:
    trained = "learn from the suite's train split, most of them with scikit-learn (pip install 'genaipa[baselines]')"
    return SystemMeanings(
        {
            name: [(PREFIX + baseline.name, baseline.kind, baseline.about) for baseline in suite.baselines]
            for name, suite in load_suite_classes().items()
        },
        "Baselines of the suites (run --suite SUITE --system baseline/NAME); none needs a key. Those with * "
        f"{trained}:",
        "A floor uses nothing of an item, a rule only its text, a ceiling its gold label; a trained baseline "
        f"{trained.replace('learn ', 'learns ', 1)}.",
        ("trained",),
    )


class BaselineSystem(CarriedReplySystem):
    """`baseline/NAME`, of the suites that have one of that name."""

    provider: ClassVar[Provider] = Provider(
        name="baseline",
        form="baseline/NAME",
        about="baselines of the suites (run --suite); some need scikit-learn",
        builtin=baseline_system_names,
        meanings=_make_baseline_meanings,
        only="only the items of a suite; ask it with: genaipa run --suite NAME -s baseline/NAME",
        free=True,
        words="document",
    )
    words: Words = provider.words
