"""Examples of PrivacyGLUE's tasks, as two systems are compared by: a sentence, a sentence's layer, or an item each."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from genaipa_suites.material import Outcome
    from genaipa_suites.suite import Suite

    Found = Iterator["ComparedExample"]


class ComparedExample(NamedTuple):
    """An example: the name by which a reader finds it, its key, and whether it is right in full."""

    name: str
    key: str
    right: bool


def example_key(*parts: str) -> str:
    """The key of an example: its sub-task, its question, its text, as far as it has them, blanks squeezed.

    PolicyIE-A's has the gold label in place of a sub-task: a sentence is there once for each of its labels.
    """
    return " | ".join(" ".join(part.split()) for part in parts if part)


def numbered(keys: Iterable[str]) -> list[str]:
    """The keys, made distinct by a number where they come again."""
    seen: Counter[str] = Counter()
    found = []
    for key in keys:
        seen[key] += 1
        found.append(f"{key} ({seen[key]})" if seen[key] > 1 else key)
    return found


def examples(task: str, suite: Suite, outcomes: Iterable[Outcome]) -> list[ComparedExample]:
    """The examples of one repetition; right is what has the label, all labels, or all spans of a layer."""
    found = [example for outcome in outcomes for example in _OF[task](suite, outcome)]
    keys = numbered(example.key for example in found)
    return [example._replace(key=key) for key, example in zip(keys, found, strict=True)]


def _opp_115(_suite: Suite, outcome: Outcome) -> Found:
    said = outcome.parsed.prediction
    right = said is not None and sorted(said) == sorted(outcome.item.gold)
    yield ComparedExample(outcome.item.id, example_key(outcome.item.shown["text"]), right)


def _label(_suite: Suite, outcome: Outcome) -> Found:
    right = outcome.parsed.prediction == outcome.item.gold
    yield ComparedExample(outcome.item.id, example_key(outcome.item.shown["text"]), right)


def _piextract(_suite: Suite, outcome: Outcome) -> Found:
    from genaipa_suites.piextract import LAYERS, spans_of

    for layer in LAYERS:
        predicted, gold = spans_of(outcome, layer)
        right = outcome.parsed.prediction is not None and sorted(predicted) == sorted(gold)
        yield ComparedExample(f"{outcome.item.id}, {layer}", example_key(layer, outcome.item.shown["text"]), right)


def _policy_ie_a(_suite: Suite, outcome: Outcome) -> Found:
    from genaipa_suites.policyie.score import answered

    # A sentence is there once for each of its gold rows, in no order that can be relied on.
    for intent, row in answered(outcome):
        right = intent == row["intent"]
        yield ComparedExample(outcome.item.id, example_key(row["intent"], outcome.item.shown["text"]), right)


def _policy_ie_b(_suite: Suite, outcome: Outcome) -> Found:
    from genaipa_suites.policyie.score import role_spans

    for layer in ("type-I", "type-II"):
        said, gold = role_spans(outcome, layer)
        for row in gold:
            right = outcome.parsed.prediction is not None and sorted(said) == sorted(row)
            yield ComparedExample(f"{outcome.item.id}, {layer}", example_key(layer, outcome.item.shown["text"]), right)


def _policy_qa(_suite: Suite, outcome: Outcome) -> Found:
    said = outcome.parsed.prediction
    right = said is not None and not outcome.parsed.fault and said["span"] in outcome.item.gold
    yield ComparedExample(outcome.item.id, outcome.item.id, right)


def _privacy_qa(suite: Suite, outcome: Outcome) -> Found:
    sentences = suite.material.documents[outcome.item.document]
    gold, said = {*outcome.item.gold["relevant"]}, outcome.parsed.prediction
    faulty = said is None or outcome.parsed.fault
    chosen = {*(said or ())}
    for number, sentence in enumerate(sentences, start=1):
        right = not faulty and (number in gold) == (number in chosen)
        yield ComparedExample(
            f"{outcome.item.id}, sentence {number}", example_key(outcome.item.shown["text"], sentence), right
        )


_OF: dict[str, Callable[[Suite, Outcome], Found]] = {
    "opp_115": _opp_115,
    "piextract": _piextract,
    "policy_detection": _label,
    "policy_ie_a": _policy_ie_a,
    "policy_ie_b": _policy_ie_b,
    "policy_qa": _policy_qa,
    "privacy_qa": _privacy_qa,
}
