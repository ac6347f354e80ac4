"""Examples of PrivacyGLUE's tasks, as two systems are compared by: a sentence, a sentence's layer, or an item each."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from genaipa_suites.material import Outcome
    from genaipa_suites.suite import Suite


class ExampleCorrectness(NamedTuple):
    """An example: the name by which a reader finds it, its key, and whether it is right in full."""

    name: str
    key: str
    right: bool


def join_example_key(*parts: str) -> str:
    """Join the key of an example: its sub-task, its question, its text, as far as it has them, blanks squeezed.

    PolicyIE-A's has the gold label in place of a sub-task: a sentence is there once for each of its labels.
    """
    return " | ".join(" ".join(part.split()) for part in parts if part)


def number_repeated_keys(keys: Iterable[str]) -> list[str]:
    """Return the keys, made distinct by a number where they come again."""
    counts: Counter[str] = Counter()
    numbered_keys = []
    for key in keys:
        counts[key] += 1
        numbered_keys.append(f"{key} ({counts[key]})" if counts[key] > 1 else key)
    return numbered_keys


def make_examples_with_correctness(
    task_name: str, suite: Suite, outcomes: Iterable[Outcome]
) -> list[ExampleCorrectness]:
    """Return the examples of one repetition; right is what has the label, all labels, or all spans of a layer."""
    examples = [example for outcome in outcomes for example in _EXAMPLE_MAKERS[task_name](suite, outcome)]
    keys = number_repeated_keys(example.key for example in examples)
    return [example._replace(key=key) for key, example in zip(keys, examples, strict=True)]


def _opp115_examples(_suite: Suite, outcome: Outcome) -> Iterator[ExampleCorrectness]:
    prediction = outcome.parsed.prediction
    right = prediction is not None and sorted(prediction) == sorted(outcome.item.gold)
    yield ExampleCorrectness(outcome.item.id, join_example_key(outcome.item.shown["text"]), right)


def _label_examples(_suite: Suite, outcome: Outcome) -> Iterator[ExampleCorrectness]:
    right = outcome.parsed.prediction == outcome.item.gold
    yield ExampleCorrectness(outcome.item.id, join_example_key(outcome.item.shown["text"]), right)


def _piextract_examples(_suite: Suite, outcome: Outcome) -> Iterator[ExampleCorrectness]:
    from genaipa_suites.piextract import LAYERS, predicted_and_gold_spans

    for layer in LAYERS:
        predicted, gold = predicted_and_gold_spans(outcome, layer)
        right = outcome.parsed.prediction is not None and sorted(predicted) == sorted(gold)
        yield ExampleCorrectness(
            f"{outcome.item.id}, {layer}", join_example_key(layer, outcome.item.shown["text"]), right
        )


def _policyie_a_examples(_suite: Suite, outcome: Outcome) -> Iterator[ExampleCorrectness]:
    from genaipa_suites.policyie.score import pair_predicted_intents_with_gold_rows

    # A sentence is there once for each of its gold rows, in no order that can be relied on.
    for intent, row in pair_predicted_intents_with_gold_rows(outcome):
        right = intent == row["intent"]
        yield ExampleCorrectness(outcome.item.id, join_example_key(row["intent"], outcome.item.shown["text"]), right)


def _policyie_b_examples(_suite: Suite, outcome: Outcome) -> Iterator[ExampleCorrectness]:
    from genaipa_suites.policyie.score import predicted_and_gold_role_spans

    for layer in ("type-I", "type-II"):
        predicted, gold = predicted_and_gold_role_spans(outcome, layer)
        for row in gold:
            right = outcome.parsed.prediction is not None and sorted(predicted) == sorted(row)
            yield ExampleCorrectness(
                f"{outcome.item.id}, {layer}", join_example_key(layer, outcome.item.shown["text"]), right
            )


def _policyqa_examples(_suite: Suite, outcome: Outcome) -> Iterator[ExampleCorrectness]:
    prediction = outcome.parsed.prediction
    right = prediction is not None and not outcome.parsed.fault and prediction["span"] in outcome.item.gold
    yield ExampleCorrectness(outcome.item.id, outcome.item.id, right)


def _privacyqa_examples(suite: Suite, outcome: Outcome) -> Iterator[ExampleCorrectness]:
    sentences = suite.material.documents[outcome.item.document]
    gold, prediction = {*outcome.item.gold["relevant"]}, outcome.parsed.prediction
    faulty = prediction is None or outcome.parsed.fault
    chosen = {*(prediction or ())}
    for number, sentence in enumerate(sentences, start=1):
        right = not faulty and (number in gold) == (number in chosen)
        yield ExampleCorrectness(
            f"{outcome.item.id}, sentence {number}", join_example_key(outcome.item.shown["text"], sentence), right
        )


_EXAMPLE_MAKERS: dict[str, Callable[[Suite, Outcome], Iterator[ExampleCorrectness]]] = {
    "opp_115": _opp115_examples,
    "piextract": _piextract_examples,
    "policy_detection": _label_examples,
    "policy_ie_a": _policyie_a_examples,
    "policy_ie_b": _policyie_b_examples,
    "policy_qa": _policyqa_examples,
    "privacy_qa": _privacyqa_examples,
}
