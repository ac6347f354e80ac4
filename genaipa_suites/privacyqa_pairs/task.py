"""PrivacyQA's pairs as a suite: LegalBench's task privacy_policy_qa (Guha et al. 2023)."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa_suites.baseline import Baseline
from genaipa_suites.material import Given, Item, Material
from genaipa_suites.measure import Measure, macro_f1
from genaipa_suites.privacyqa.baselines import STOP_WORDS, words
from genaipa_suites.privacyqa_pairs.data import IRRELEVANT, RELEVANT, SOURCE, load
from genaipa_suites.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from genaipa_suites.material import Outcome

COMMON = 2
"""Words in common, stop words left out, by which the rule tells a pair to be relevant."""


def reply(*, relevant: bool) -> str:
    """A reply that says so."""
    return json.dumps({"relevant": relevant})


def _said(outcome: Outcome) -> bool | None:
    return None if outcome.given.fault else outcome.given.prediction


def _counts(outcome: Outcome) -> tuple[float, ...]:
    """(right, predicted, gold) of relevant and of irrelevant; without a prediction gold alone."""
    gold, said = bool(outcome.item.gold), _said(outcome)
    yes = (float(gold and said is True), float(said is True), float(gold))
    no = (float(not gold and said is False), float(said is False), float(not gold))
    return (*yes, *no)


def _right(outcome: Outcome) -> tuple[float, float]:
    return float(_said(outcome) is bool(outcome.item.gold)), 1.0


def _balanced(counts: Sequence[float]) -> float:
    shares = [counts[place] / counts[place + 2] for place in (0, 3) if counts[place + 2]]
    return sum(shares) / len(shares) if shares else math.nan


def _never(_suite: Suite) -> Callable[[Item], str]:
    return lambda _item: reply(relevant=False)


def _common_words(_suite: Suite) -> Callable[[Item], str]:
    def answer(item: Item) -> str:
        common = (words(item.shown["text"]) & words(item.shown["question"])) - STOP_WORDS
        return reply(relevant=len(common) >= COMMON)

    return answer


class Pairs(Suite):
    """Say of one sentence of a policy whether it is relevant to a question."""

    title = "PrivacyQA pairs"
    about = "a question and one sentence of a policy, relevant to it or not; balanced accuracy"
    citation = (
        "Guha et al.: LegalBench. NeurIPS 2023, task privacy_policy_qa; its data: Ravichander et al., EMNLP 2019."
    )
    data = (SOURCE,)
    splits = ("test",)
    measures = (
        Measure(
            "balanced_accuracy",
            "Balanced accuracy",
            "Mean of the shares of relevant and of irrelevant pairs that are labelled so, as LegalBench has it.",
            _counts,
            _balanced,
        ),
        Measure("accuracy", "Accuracy", "Share of pairs rightly told.", _right),
        Measure("macro_f1", "Macro F1", "Mean of both labels' F1.", _counts, macro_f1),
    )
    baselines = (
        Baseline("majority", "floor", "every pair is irrelevant, the label of half of them", _never),
        Baseline("common-words", "rule", "relevant with two words of the question, stop words left out", _common_words),
    )
    error_kinds = ("called relevant", "called irrelevant")
    schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {"relevant": {"type": "boolean"}},
        "required": ["relevant"],
        "additionalProperties": False,
    }

    @property
    def single(self) -> Measure:
        """Right or wrong."""
        return next((one for one in self.measures if one.name == "accuracy"), self.measures[0])

    def load(self, split: str) -> Material:
        """The pairs of a split."""
        return load(self.files, split)

    def parse(self, item: Item, found: Any) -> Given:  # noqa: ARG002 - the same for all
        """Whether the reply says relevant."""
        return Given(found["relevant"])

    def gold_reply(self, item: Item) -> str:
        """Whether it is."""
        return reply(relevant=bool(item.gold))

    def gold_shown(self, item: Item) -> Any:
        """The label."""
        return {True: RELEVANT, False: IRRELEVANT}.get(item.gold, item.gold)

    def errors(self, outcome: Outcome) -> Mapping[str, int]:
        """The one of both errors that it is."""
        why = self.why(outcome)
        return {why: 1} if why in self.error_kinds else {}

    def why(self, outcome: Outcome) -> str:
        """A fault, or the label that it was given wrongly."""
        said = _said(outcome)
        if said is None:
            return outcome.given.fault
        return "" if said is bool(outcome.item.gold) else f"called {RELEVANT if said else IRRELEVANT}"
