"""For each suite the kind of head that an encoder is fine-tuned with: from items to examples, and back to replies."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from genaipa_suites.encoders.kinds import Example, KindName
from genaipa_suites.piextract.baselines import reply as piextract_reply
from genaipa_suites.piextract.baselines import tokens_of
from genaipa_suites.piextract.data import LAYERS
from genaipa_suites.policyie import labels as policyie
from genaipa_suites.policyie.baselines import reply as policyie_reply
from genaipa_suites.spans import Span, bio, chunks

if TYPE_CHECKING:
    from genaipa_suites.material import Item, Material

Predicted = Mapping[str, list[Any]]
"""Part → the prediction for each of an item's examples."""


@dataclass(frozen=True)
class Part:
    """One model of a suite: its kind, the suite's measure that it is stopped by, and the examples of an item.

    `name` tells it from the other models of the suite; it is empty where there is one alone.
    """

    kind: KindName
    figure: str
    examples: Callable[[Item, Material], list[Example]]
    name: str = ""


@dataclass(frozen=True)
class Head:
    """An encoder for a suite: its models, and the reply to an item that is made of what they predict.

    `seen` is a sentence where the train split holds what the test split asks about.
    """

    parts: tuple[Part, ...]
    reply: Callable[[Item, Predicted], str]
    seen: str = ""


def _answer(item: Item, _material: Material) -> list[Example]:
    # The first reference, at its first place in the text.
    text, answer = item.shown["text"], item.gold[0]
    start = text.find(answer)
    return [Example(item.shown["question"], text, (start, start + len(answer)))]


def _practices(item: Item, _material: Material) -> list[Example]:
    return [Example(item.shown["text"], target=item.gold)]


def _data_named(item: Item, _material: Material) -> list[Example]:
    tokens = tokens_of(item)
    tags = [bio([Span(start, end, layer) for start, end in item.gold[layer]], len(tokens)) for layer in LAYERS]
    return [Example(tuple(tokens), target=tags)]


def _data_reply(item: Item, found: Predicted) -> str:
    tags = dict(zip(LAYERS, found[""][0], strict=True))
    spans = {layer: [span[:2] for span in chunks(tags[layer])] for layer in LAYERS}
    return piextract_reply(tokens_of(item), spans, places=True)


def _intents(item: Item, _material: Material) -> list[Example]:
    return [Example(item.shown["text"], target=row["intent"]) for row in item.gold]


def _slots(item: Item, _material: Material) -> list[Example]:
    """Each gold row of the sentence with the tags of both layers."""
    tokens = tuple(item.shown["text"].split())
    return [
        Example(tokens, target=[bio([Span(*slot) for slot in row[layer]], len(tokens)) for layer in policyie.LAYERS])
        for row in item.gold
    ]


def _intent_and_slots(item: Item, found: Predicted) -> str:
    # All rows of a sentence are the same input.
    spans = [span for tags in found["slots"][0] for span in chunks(tags)]
    return policyie_reply(found["intent"][0], spans, item.shown["text"].split(), places=True)


def _page(item: Item, _material: Material) -> list[Example]:
    return [Example(item.shown["text"], target=item.gold)]


def _question(item: Item, _material: Material) -> list[Example]:
    return [Example(item.shown["text"], target=ANSWERABILITY[item.gold["unanswerable"]])]


def _sentences(item: Item, material: Material) -> list[Example]:
    """The question with each sentence of its policy, which is relevant if any annotator says so."""
    relevant = set(item.gold["relevant"])
    return [
        Example(item.shown["text"], sentence, RELEVANCE[number in relevant])
        for number, sentence in enumerate(material.documents[item.document], start=1)
    ]


def _evidence(_item: Item, found: Predicted) -> str:
    numbers = [number for number, label in enumerate(found[""], start=1) if label == RELEVANCE[True]]
    return _json(sentences=numbers)


def _json(**fields: Any) -> str:
    return json.dumps(fields, ensure_ascii=False)


ANSWERABILITY = {False: "answerable", True: "unanswerable"}
RELEVANCE = {False: "Irrelevant", True: "Relevant"}
HEADS: dict[str, Head] = {
    "policyqa": Head((Part("span", "f1_squad", _answer),), lambda _item, found: _json(answer=found[""][0])),
    "opp115": Head(
        (Part("multi-label", "macro_f1", _practices),),
        lambda _item, found: _json(labels=found[""][0]),
        seen="The split is by segment: 108 policies have segments both in train and in test, so that it has seen the "
        "policies that it is tested on.",
    ),
    "piextract": Head((Part("token", "f1_layers", _data_named),), _data_reply),
    "policyie": Head(
        (
            Part("sequence", "intent_f1_macro", _intents, "intent"),
            Part("token", "slot_f1_macro_privacyglue", _slots, "slots"),
        ),
        _intent_and_slots,
        seen="70 of the 1,041 rows of test have a sentence that is in train or valid as well.",
    ),
    "policy-detection": Head((Part("sequence", "macro_f1", _page),), lambda _item, found: _json(label=found[""][0])),
    "privacyqa": Head((Part("pair", "any_relevant_macro_f1", _sentences),), _evidence),
    "privacyqa-answerability": Head(
        (Part("sequence", "unanswerable_f1", _question),),
        lambda _item, found: _json(answerable=found[""][0] == ANSWERABILITY[False]),
    ),
}
