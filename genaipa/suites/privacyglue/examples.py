"""Examples of PrivacyGLUE in outcomes of the suites: each told by its content, and right or not.

An imported prediction has the same key for the same example, so that any two systems can be laid side by side.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from genaipa.suites.material import Outcome
    from genaipa.suites.suite import Suite

    Found = Iterator[tuple[str, bool]]


def key_of(*parts: str) -> str:
    """The key of an example: its sub-task, its question, its text, as far as it has them, blanks squeezed.

    PolicyIE-A's has the gold label in place of a sub-task: a sentence is there once for each of its labels.
    """
    return " | ".join(" ".join(part.split()) for part in parts if part)


def numbered(keys: Iterable[str]) -> list[str]:
    """The keys, those that come again told apart by a number."""
    seen: Counter[str] = Counter()
    found = []
    for key in keys:
        seen[key] += 1
        found.append(f"{key} ({seen[key]})" if seen[key] > 1 else key)
    return found


def examples(task: str, suite: Suite, outcomes: Iterable[Outcome]) -> dict[str, bool]:
    """Example → whether it is right in full, of one repetition: the label, all labels, the spans of a layer."""
    found = [pair for outcome in outcomes for pair in _OF[task](suite, outcome)]
    return dict(zip(numbered(key for key, _ in found), (right for _, right in found), strict=True))


def _opp_115(_suite: Suite, outcome: Outcome) -> Found:
    said = outcome.given.prediction
    yield key_of(outcome.item.shown["text"]), said is not None and sorted(said) == sorted(outcome.item.gold)


def _label(_suite: Suite, outcome: Outcome) -> Found:
    yield key_of(outcome.item.shown["text"]), outcome.given.prediction == outcome.item.gold


def _piextract(_suite: Suite, outcome: Outcome) -> Found:
    from genaipa.suites.piextract.data import LAYERS
    from genaipa.suites.piextract.score import spans_of

    for layer in LAYERS:
        predicted, gold = spans_of(outcome, layer)
        right = outcome.given.prediction is not None and sorted(predicted) == sorted(gold)
        yield key_of(layer, outcome.item.shown["text"]), right


def _policy_ie_a(_suite: Suite, outcome: Outcome) -> Found:
    from genaipa.suites.policyie.score import answered

    # A sentence is there once for each of its gold rows, in no order that can be relied on.
    for intent, row in answered(outcome):
        yield key_of(row["intent"], outcome.item.shown["text"]), intent == row["intent"]


def _policy_ie_b(_suite: Suite, outcome: Outcome) -> Found:
    from genaipa.suites.policyie.score import role_spans

    for layer in ("type-I", "type-II"):
        said, gold = role_spans(outcome, layer)
        for row in gold:
            right = outcome.given.prediction is not None and sorted(said) == sorted(row)
            yield key_of(layer, outcome.item.shown["text"]), right


def _policy_qa(_suite: Suite, outcome: Outcome) -> Found:
    said = outcome.given.prediction
    yield outcome.item.id, said is not None and not outcome.given.fault and said["span"] in outcome.item.gold


def _privacy_qa(suite: Suite, outcome: Outcome) -> Found:
    sentences = suite.material.documents[outcome.item.document]
    gold, said = {*outcome.item.gold["relevant"]}, outcome.given.prediction
    faulty = said is None or outcome.given.fault
    chosen = {*(said or ())}
    for number, sentence in enumerate(sentences, start=1):
        yield key_of(outcome.item.shown["text"], sentence), not faulty and (number in gold) == (number in chosen)


_OF: dict[str, Callable[[Suite, Outcome], Found]] = {
    "opp_115": _opp_115,
    "piextract": _piextract,
    "policy_detection": _label,
    "policy_ie_a": _policy_ie_a,
    "policy_ie_b": _policy_ie_b,
    "policy_qa": _policy_qa,
    "privacy_qa": _privacy_qa,
}
