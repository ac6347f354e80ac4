"""PI-Extract's baselines: no spans, the train split's spans, a linear tagger, and the gold spans as texts."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

from genaipa_suites.baseline import Baseline
from genaipa_suites.piextract.data import LAYERS
from genaipa_suites.spans import Span, bio, chunks
from genaipa_suites.tagger import tagger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from genaipa_suites.material import Item
    from genaipa_suites.suite import Suite

    Spans = Mapping[str, Iterable[tuple[int, int]]]


def tokens_of(item: Item) -> list[str]:
    """The tokens of a sentence, which blanks part."""
    return str(item.shown["text"]).split(" ")


def reply(tokens: Sequence[str], spans: Spans, *, places: bool = False) -> str:
    """The reply that names these spans, in order of appearance; with `places` their first tokens as well."""
    each = {layer: sorted(spans[layer]) for layer in LAYERS}
    texts = {layer: [" ".join(tokens[start:end]) for start, end in own] for layer, own in each.items()}
    at = {"at": {layer: [start for start, _ in own] for layer, own in each.items()}} if places else {}
    return json.dumps({**texts, **at}, ensure_ascii=False)


def _no_spans(_suite: Suite) -> Callable[[Item], str]:
    nothing = reply([], dict.fromkeys(LAYERS, ()))
    return lambda _item: nothing


def _gold_texts(_suite: Suite) -> Callable[[Item], str]:
    return lambda item: reply(tokens_of(item), item.gold)


def _dictionary(suite: Suite) -> Callable[[Item], str]:
    phrases: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    for item in suite.training.items:
        words = [token.lower() for token in tokens_of(item)]
        for layer in LAYERS:
            phrases[layer].update(tuple(words[start:end]) for start, end in item.gold[layer])
    longest = {layer: max(map(len, known), default=0) for layer, known in phrases.items()}

    def spans(words: Sequence[str], layer: str) -> list[tuple[int, int]]:
        found, start = [], 0
        while start < len(words):
            ends = range(min(start + longest[layer], len(words)), start, -1)
            end = next((end for end in ends if tuple(words[start:end]) in phrases[layer]), None)
            if end:
                found.append((start, end))
            start = end or start + 1
        return found

    def answer(item: Item) -> str:
        words = [token.lower() for token in tokens_of(item)]
        return reply(tokens_of(item), {layer: spans(words, layer) for layer in LAYERS}, places=True)

    return answer


def _linear_tagger(suite: Suite) -> Callable[[Item], str]:
    items = suite.training.items
    sentences = [tokens_of(item) for item in items]
    taggers = {
        layer: tagger(
            sentences,
            [
                bio([Span(start, end, layer) for start, end in item.gold[layer]], len(tokens))
                for item, tokens in zip(items, sentences, strict=True)
            ],
        )
        for layer in LAYERS
    }

    def answer(item: Item) -> str:
        tokens = tokens_of(item)
        spans = {layer: [(start, end) for start, end, _ in chunks(tags(tokens))] for layer, tags in taggers.items()}
        return reply(tokens, spans, places=True)

    return answer


BASELINES = (
    Baseline("no-spans", "floor", "no span in any layer", _no_spans),
    Baseline("dictionary", "trained", "every text that is a span in the train split, the longest first", _dictionary),
    Baseline(
        "linear-tagger",
        "trained",
        "an averaged perceptron for each layer, from the tokens within three and the tag before",
        _linear_tagger,
    ),
    Baseline(
        "ceiling",
        "ceiling",
        "the gold spans, said as texts as every system has to: a text said twice in a sentence may be placed wrongly",
        _gold_texts,
    ),
)
