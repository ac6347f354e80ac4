"""PI-Extract as PrivacyGLUE scores it: which data a sentence says are collected or shared, or are not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genaipa_suites.encoders.kinds import Example, Head, Part
from genaipa_suites.piextract.baselines import BASELINES, reply, tokens_of
from genaipa_suites.piextract.data import LAYERS, SOURCE, SPLITS, TITLE, load
from genaipa_suites.piextract.score import EXACT, MEASURES, PARTS, difference, found
from genaipa_suites.spans import Span, bio, chunks
from genaipa_suites.suite import Suite

if TYPE_CHECKING:
    from genaipa_suites.encoders.kinds import Predicted
    from genaipa_suites.material import Given, Item, Material, Outcome
    from genaipa_suites.measure import Measure

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {layer: {"type": "array", "items": {"type": "string"}} for layer in LAYERS},
    "required": list(LAYERS),
    "additionalProperties": False,
}


def _tagged(item: Item, _material: Material) -> list[Example]:
    tokens = tokens_of(item)
    tags = [bio([Span(start, end, layer) for start, end in item.gold[layer]], len(tokens)) for layer in LAYERS]
    return [Example(tuple(tokens), target=tags)]


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
