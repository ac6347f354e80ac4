"""PolicyIE's baselines: nothing at all, gold intents without slots, linear models, the best answer per sentence."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from genaipa_suites.baseline import Baseline
from genaipa_suites.linear import single_label
from genaipa_suites.policyie.labels import LAYERS, OTHER, parts_of
from genaipa_suites.spans import Span, bio, chunks
from genaipa_suites.tagger import tagger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from genaipa_suites.material import Item
    from genaipa_suites.suite import Suite


def reply(intent: str, spans: Iterable[Span], tokens: list[str], *, places: bool = False, **more: Any) -> str:
    """A reply with this intent and these slots, in order of appearance.

    With `places` each slot names its first word: of a text that is there twice, that is the one meant.
    """
    slots = []
    for start, end, label in sorted(spans):
        role, attribute = parts_of(label)
        slot = {"text": " ".join(tokens[start:end]), "role": role, "attribute": attribute}
        slots.append({**slot, "at": start} if places else slot)
    return json.dumps({"intent": intent, "slots": slots, **more}, ensure_ascii=False)


def best_row(item: Item) -> dict[str, Any]:
    """The gold row that answers a sentence best: the first of those with the most frequent intent (ties: the first)."""
    intent = Counter(row["intent"] for row in item.gold).most_common(1)[0][0]
    row: dict[str, Any] = next(row for row in item.gold if row["intent"] == intent)
    return row


def best_reply(item: Item, *, places: bool) -> str:
    """The reply with that row's intent and slots."""
    row = best_row(item)
    spans = [Span(*each) for layer in LAYERS for each in row[layer]]
    return reply(row["intent"], spans, item.shown["text"].split(), places=places)


def _majority(suite: Suite) -> Callable[[Item], str]:  # noqa: ARG001 - it needs none
    return lambda item: reply(OTHER, (), [])  # noqa: ARG005 - that is the point


def _gold_intent(suite: Suite) -> Callable[[Item], str]:  # noqa: ARG001 - the gold is the item's
    return lambda item: reply(best_row(item)["intent"], (), [], intents=[row["intent"] for row in item.gold])


def _ceiling(suite: Suite) -> Callable[[Item], str]:  # noqa: ARG001 - the gold is the item's
    return lambda item: best_reply(item, places=True)


def _intents(suite: Suite) -> Callable[[str], str]:
    rows = [(item.shown["text"], [row["intent"]]) for item in suite.training.items for row in item.gold]
    intents_of = single_label([text for text, _ in rows], [intents for _, intents in rows])
    return lambda text: intents_of(text)[0]


def _tfidf(suite: Suite) -> Callable[[Item], str]:
    intent = _intents(suite)
    return lambda item: reply(intent(item.shown["text"]), (), [])


def _linear_tagger(suite: Suite) -> Callable[[Item], str]:
    intent = _intents(suite)
    rows = [(item.shown["text"].split(), row) for item in suite.training.items for row in item.gold]
    sentences = [tokens for tokens, _ in rows]
    taggers = [
        tagger(sentences, [bio([Span(*each) for each in row[layer]], len(tokens)) for tokens, row in rows])
        for layer in LAYERS
    ]

    def answer(item: Item) -> str:
        tokens = item.shown["text"].split()
        spans = [span for tagger in taggers for span in chunks(tagger(tokens))]
        return reply(intent(item.shown["text"]), spans, tokens, places=True)

    return answer


BASELINES = (
    Baseline("majority", "floor", "the intent Other everywhere, and no slots", _majority),
    Baseline("gold-intent", "ceiling", "the gold intent of every row, and no slots", _gold_intent),
    Baseline(
        "ceiling",
        "ceiling",
        "for each distinct sentence its most frequent gold intent, and the slots of the first row with it",
        _ceiling,
    ),
    Baseline("tfidf", "trained", "intent: TF-IDF of one and two words, linear SVM (C = 1); no slots", _tfidf),
    Baseline(
        "linear-tagger",
        "trained",
        "intent as tfidf; slots: an averaged perceptron for each layer, tokens within three, the tag before",
        _linear_tagger,
    ),
)
