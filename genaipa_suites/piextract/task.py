"""PI-Extract as PrivacyGLUE scores it: which data a sentence says are collected or shared, or are not."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from genaipa_suites.baseline import Baseline, of_item
from genaipa_suites.encoders.kinds import Example, Head, Part
from genaipa_suites.linear import tagger
from genaipa_suites.piextract.data import LAYERS, SOURCE, SPLITS, TITLE, load
from genaipa_suites.piextract.score import EXACT, MEASURES, PARTS, difference, found
from genaipa_suites.spans import Span, bio, chunks
from genaipa_suites.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from genaipa_suites.material import Item

    Spans = Mapping[str, Iterable[tuple[int, int]]]
    from genaipa_suites.encoders.kinds import Predicted
    from genaipa_suites.material import Given, Material, Outcome
    from genaipa_suites.measure import Measure


def tokens_of(item: Item) -> list[str]:
    """The tokens of a sentence, which blanks part."""
    return str(item.shown["text"]).split(" ")


def reply(tokens: Sequence[str], spans: Spans, *, places: bool = False) -> str:
    """The reply that names these spans, in order of appearance; with `places` their first tokens as well."""
    each = {layer: sorted(spans[layer]) for layer in LAYERS}
    texts = {layer: [" ".join(tokens[start:end]) for start, end in own] for layer, own in each.items()}
    at = {"at": {layer: [start for start, _ in own] for layer, own in each.items()}} if places else {}
    return json.dumps({**texts, **at}, ensure_ascii=False)


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


def _gold_tags(item: Item, layer: str) -> list[str]:
    return bio([Span(start, end, layer) for start, end in item.gold[layer]], len(tokens_of(item)))


def _linear_tagger(suite: Suite) -> Callable[[Item], str]:
    items = suite.training.items
    sentences = [tokens_of(item) for item in items]
    taggers = {layer: tagger(sentences, [_gold_tags(item, layer) for item in items]) for layer in LAYERS}

    def answer(item: Item) -> str:
        tokens = tokens_of(item)
        spans = {layer: [(start, end) for start, end, _ in chunks(tags(tokens))] for layer, tags in taggers.items()}
        return reply(tokens, spans, places=True)

    return answer


BASELINES = (
    Baseline("no-spans", "floor", "no span in any layer", of_item(lambda _item: reply([], dict.fromkeys(LAYERS, ())))),
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
        of_item(lambda item: reply(tokens_of(item), item.gold)),
    ),
)


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {layer: {"type": "array", "items": {"type": "string"}} for layer in LAYERS},
    "required": list(LAYERS),
    "additionalProperties": False,
}


def _tagged(item: Item, _material: Material) -> list[Example]:
    return [Example(tuple(tokens_of(item)), target=[_gold_tags(item, layer) for layer in LAYERS])]


def _named(item: Item, found: Predicted) -> str:
    tags = dict(zip(LAYERS, found[""][0], strict=True))
    return reply(tokens_of(item), {layer: [span[:2] for span in chunks(tags[layer])] for layer in LAYERS}, places=True)


class PiExtract(Suite):
    """Sentences of privacy policies; one call asks for all four kinds of spans."""

    title = TITLE
    about = (
        "Name the data that a sentence says are collected, not collected, shared or not shared, word for word. Scored "
        "are spans of tokens, in a layer of their own for each of the four."
    )
    citation = (
        "Bui et al. 2021, Automated Extraction and Presentation of Data Practices in Privacy Policies (PoPETs); as "
        "split in PrivacyGLUE: Shankar et al. 2023, Applied Sciences 13(6), 3701."
    )
    data = (SOURCE,)
    splits = SPLITS
    measures = MEASURES
    parts = PARTS
    dependent = "its files don't name the policy of a sentence, so that intervals are by sentence and too narrow"
    baselines = BASELINES
    head = Head((Part("token", "f1_layers", _tagged),), _named)
    schema = SCHEMA

    def load(self, split: str) -> Material:
        """The sentences of a split."""
        return load(self.files, split)

    def parse(self, item: Item, found_json: Any) -> Given:
        """The spans of the texts named; a text that is not in the sentence is a wrong span, and a fault."""
        return found(tokens_of(item), found_json)

    def gold_reply(self, item: Item) -> str:
        """The annotated spans as texts."""
        return reply(tokens_of(item), item.gold)

    @property
    def single(self) -> Measure:
        """Whether all of a sentence is right: most have no span, so that F1 says nothing of one alone."""
        return EXACT if EXACT in self.measures else super().single

    @property
    def grouped(self) -> tuple[Measure, ...]:
        """F1 of all spans and exact: sentences with one kind of spans lack the other layers."""
        return tuple(measure for measure in self.measures if measure.name != "f1_layers")

    def why(self, outcome: Outcome) -> str:
        """The fault, and the spans missed or given wrongly."""
        return ": ".join(filter(None, (outcome.given.fault, difference(outcome))))
