"""PI-Extract's figures: spans of tokens in each of four layers, as seqeval counts them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from genaipa_suites.material import NOT_IN_THE_TEXT, Given
from genaipa_suites.measure import Measure, by_part, macro_f1, micro_f1
from genaipa_suites.piextract.data import LAYERS
from genaipa_suites.spans import counted, placed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from genaipa_suites.material import Outcome


def found(tokens: Sequence[str], texts: Mapping[str, Any]) -> Given:
    """The spans of the texts named for each layer, as (first token, last + 1).

    A text that has no place (left) becomes (-1, -1): a span that is predicted and wrong. One that the sentence does not
    have at all is a fault as well. Texts may come with their first tokens (`at`, by layer), as the baselines' do:
    that counts where a text is there.
    """
    at = texts.get("at")
    spans: dict[str, list[tuple[int, int]]] = {}
    absent = False
    for layer in LAYERS:
        own = at.get(layer) if isinstance(at, dict) else None
        firsts = own if isinstance(own, list) and len(own) == len(texts[layer]) else []
        each = placed(tokens, texts[layer], firsts)
        absent |= any(
            place is None and placed(tokens, [text]) == [None] for text, place in zip(texts[layer], each, strict=True)
        )
        spans[layer] = [place or (-1, -1) for place in each]
    return Given(spans, NOT_IN_THE_TEXT if absent else "")


def spans_of(outcome: Outcome, layer: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """(predicted, gold) spans of a layer; a reply without a prediction has none."""
    predicted: Any = outcome.given.prediction or {}
    both = predicted.get(layer, []), outcome.item.gold[layer]
    given, right = ([(start, end) for start, end in each] for each in both)
    return given, right


def _counts(outcome: Outcome, layers: Sequence[str] = tuple(LAYERS)) -> list[float]:
    return [float(count) for layer in layers for count in counted(*spans_of(outcome, layer))]


def _exact(outcome: Outcome) -> tuple[float, float]:
    pairs = (spans_of(outcome, layer) for layer in LAYERS)
    right = outcome.given.prediction is not None and all(sorted(given) == sorted(gold) for given, gold in pairs)
    return float(right), 1.0


MEASURES = (
    Measure(
        "f1_layers",
        "F1, mean of layers",
        "Mean of the F1 of the layers that have a span, as seqeval counts spans; layers weigh alike.",
        _counts,
        macro_f1,
    ),
    Measure("f1_spans", "F1 of all spans", "F1 of the spans of all layers together.", _counts, micro_f1),
    Measure(
        "exact",
        "exact",
        "Share of sentences of which all four layers are right; one without spans is right where none is given.",
        _exact,
    ),
)
EXACT = MEASURES[2]
PARTS = {"layer": {layer: by_part(partial(_counts, layers=(layer,)), "spans") for layer in LAYERS}}


def difference(outcome: Outcome) -> str:
    """The spans missed and those given wrongly, over all layers, in words; empty where all are right."""
    counts = [counted(*spans_of(outcome, layer)) for layer in LAYERS]
    right, given, gold = (sum(each) for each in zip(*counts, strict=True))
    said = ((gold - right, "missed"), (given - right, "wrong"))
    return ", ".join(f"{number} {what}" for number, what in said if number)
