"""PolicyIE (Ahmad et al. 2021): a sentence's intent, and the spans of both layers of its slots.

There is one question for each distinct sentence, and all of its gold rows are scored.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa_suites.baseline import (
    Baseline,
    adapt_item_function_to_baseline,
    train_single_label_predictor,
    train_tagger,
)
from genaipa_suites.encoders.kinds import EncoderExample, EncoderHead, EncoderModel
from genaipa_suites.material import Item, Material, ParsedReply
from genaipa_suites.policyie import score
from genaipa_suites.policyie.data import (
    ATTRIBUTES,
    INTENTS,
    LAYERS,
    OFFICIAL,
    OTHER,
    ROLES,
    SOURCE,
    SPLITS,
    load_sentences,
    make_slot_label_or_empty,
    role_and_attribute_of_label,
)
from genaipa_suites.policyie.score import MEASURES, PARTS
from genaipa_suites.spans import Span, bio_tags_or_raise_if_spans_overlap, locate_texts_in_tokens, spans_from_tags
from genaipa_suites.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from genaipa_suites.encoders.kinds import Predicted
    from genaipa_suites.material import Outcome


def format_intent_and_slots_reply(
    intent: str, spans: Iterable[Span], tokens: list[str], *, with_first_words: bool = False, **other_fields: Any
) -> str:
    """Return a reply with this intent and these slots, in order of appearance.

    With `with_first_words` each slot names its first word: of a text that is there twice, that is the one meant.
    """
    slots = []
    for start, end, label in sorted(spans):
        role, attribute = role_and_attribute_of_label(label)
        slot = {"text": " ".join(tokens[start:end]), "role": role, "attribute": attribute}
        slots.append({**slot, "at": start} if with_first_words else slot)
    return json.dumps({"intent": intent, "slots": slots, **other_fields}, ensure_ascii=False)


def gold_row_of_most_frequent_intent(item: Item) -> dict[str, Any]:
    """Return the gold row that answers a sentence best: the first of those with the most frequent intent."""
    intent = Counter(row["intent"] for row in item.gold).most_common(1)[0][0]
    row: dict[str, Any] = next(row for row in item.gold if row["intent"] == intent)
    return row


def reply_of_most_frequent_intent(item: Item) -> str:
    """Return the reply with the best row's intent and slots, the slots as texts."""
    row = gold_row_of_most_frequent_intent(item)
    spans = [Span(*slot) for layer in LAYERS for slot in row[layer]]
    return format_intent_and_slots_reply(row["intent"], spans, item.shown["text"].split())


def _train_intent_classifier(suite: Suite) -> Callable[[str], str]:
    rows = [(item.shown["text"], [row["intent"]]) for item in suite.training.items for row in item.gold]
    intents_of = train_single_label_predictor([text for text, _ in rows], [intents for _, intents in rows])
    return lambda text: intents_of(text)[0]


def _make_tfidf_intent_replier(suite: Suite) -> Callable[[Item], str]:
    intent = _train_intent_classifier(suite)
    return lambda item: format_intent_and_slots_reply(intent(item.shown["text"]), (), [])


def _gold_bio_tags(tokens: Sequence[str], gold_row: Mapping[str, Any], layer: str) -> list[str]:
    return bio_tags_or_raise_if_spans_overlap([Span(*slot) for slot in gold_row[layer]], len(tokens))


def _make_linear_tagger_replier(suite: Suite) -> Callable[[Item], str]:
    intent = _train_intent_classifier(suite)
    rows = [(item.shown["text"].split(), row) for item in suite.training.items for row in item.gold]
    sentences = [tokens for tokens, _ in rows]
    taggers = [
        train_tagger(sentences, [_gold_bio_tags(tokens, row, layer) for tokens, row in rows]) for layer in LAYERS
    ]

    def format_tagger_reply(item: Item) -> str:
        tokens = item.shown["text"].split()
        spans = [span for tags_of in taggers for span in spans_from_tags(tags_of(tokens))]
        return format_intent_and_slots_reply(intent(item.shown["text"]), spans, tokens, with_first_words=True)

    return format_tagger_reply


BASELINES = (
    Baseline(
        "majority",
        "floor",
        "the intent Other for every sentence, and no slots",
        adapt_item_function_to_baseline(lambda _item: format_intent_and_slots_reply(OTHER, (), [])),
    ),
    Baseline(
        "gold-intent",
        "ceiling",
        "the gold intent of every row, and no slots",
        adapt_item_function_to_baseline(
            lambda item: format_intent_and_slots_reply(
                gold_row_of_most_frequent_intent(item)["intent"], (), [], intents=[row["intent"] for row in item.gold]
            )
        ),
    ),
    Baseline(
        "ceiling",
        "ceiling",
        "the most frequent gold intent of each distinct sentence, and the slots of the first row with that intent "
        "as texts, the form every system must use: a text that occurs twice in a sentence may be placed wrongly",
        adapt_item_function_to_baseline(reply_of_most_frequent_intent),
    ),
    Baseline(
        "tfidf",
        "trained",
        "intent: TF-IDF of one and two words, linear SVM (C = 1); no slots",
        _make_tfidf_intent_replier,
    ),
    Baseline(
        "linear-tagger",
        "trained",
        "intent as tfidf; slots: an averaged perceptron for each layer, from the tokens within three positions and "
        "the previous tag",
        _make_linear_tagger_replier,
    ),
)


def _make_intent_examples(item: Item, _material: Material) -> list[EncoderExample]:
    return [EncoderExample(item.shown["text"], target=row["intent"]) for row in item.gold]


def _make_slot_examples(item: Item, _material: Material) -> list[EncoderExample]:
    """Return each gold row of the sentence with the tags of both layers."""
    tokens = tuple(item.shown["text"].split())
    return [
        EncoderExample(tokens, target=[_gold_bio_tags(tokens, row, layer) for layer in LAYERS]) for row in item.gold
    ]


def _format_encoder_reply(item: Item, predictions: Predicted) -> str:
    # All rows of a sentence are the same input.
    spans = [span for tags in predictions["slots"][0] for span in spans_from_tags(tags)]
    return format_intent_and_slots_reply(
        predictions["intent"][0], spans, item.shown["text"].split(), with_first_words=True
    )


class PolicyIE(Suite):
    """Tell each sentence's intent, and mark the spans of its slots.

    The files say nothing about which sentence is of which policy, so that intervals are by sentence, and too narrow.
    """

    title: ClassVar[str] = "PolicyIE"
    about: ClassVar[str] = (
        "Tell which of five intents a sentence of a privacy policy has, and which of its words are slots in two "
        "layers. The scores are those of the paper's two scripts and of PrivacyGLUE"
    )
    citation: ClassVar[str] = (
        "Ahmad, W. U., Chi, J., Le, T., Norton, T., Tian, Y., Chang, K.-W.: Intent Classification and Slot Filling for "
        "Privacy Policies. ACL-IJCNLP 2021."
    )
    data = (SOURCE, OFFICIAL)
    splits = SPLITS
    measures = MEASURES
    parts = PARTS
    error_kinds = score.KINDS
    about_errors = score.ABOUT
    baselines = BASELINES
    head = EncoderHead(
        (
            EncoderModel("sequence", "intent_f1_macro", _make_intent_examples, "intent"),
            EncoderModel("token", "slot_f1_macro_privacyglue", _make_slot_examples, "slots"),
        ),
        _format_encoder_reply,
    )
    leakage_note = "70 of the 1,041 rows of the test split have a sentence that is also in the train or valid split."
    schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "intent": {"type": "string", "enum": list(INTENTS)},
            "slots": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "text": {"type": "string"},
                        "role": {"type": "string", "enum": list(ROLES)},
                        "attribute": {"type": "string", "enum": list(ATTRIBUTES)},
                    },
                    "required": ["text", "role", "attribute"],
                    "additionalProperties": False,
                },
            },
        },
        "required": ["intent", "slots"],
        "additionalProperties": False,
    }

    def load(self, split: str) -> Material:
        """Load the distinct sentences of a split; DataError and UsageError as `load_sentences`."""
        return load_sentences(self.files, split)

    def parse(self, item: Item, answer: Any) -> ParsedReply:
        """Read the intent, and each slot with its label and its tokens; empty or -1 for a slot that is never right.

        A slot may name its first word (`at`, from 0), as baselines do; that counts where the text begins with it.
        """
        tokens = item.shown["text"].split()
        slots = [{key: slot[key] for key in ("text", "role", "attribute")} for slot in answer["slots"]]
        for layer in LAYERS:
            layer_slots = [index for index, slot in enumerate(slots) if ROLES[slot["role"]] == layer]
            firsts = [answer["slots"][index].get("at") for index in layer_slots]
            texts = [slots[index]["text"] for index in layer_slots]
            for index, span in zip(layer_slots, locate_texts_in_tokens(tokens, texts, firsts), strict=True):
                slot = slots[index]
                start, end = span or (-1, -1)
                slots[index] = {
                    **slot,
                    "label": make_slot_label_or_empty(slot["role"], slot["attribute"]),
                    "start": start,
                    "end": end,
                }
        prediction = {"intent": answer["intent"], "slots": slots}
        if answer.get("intents") == [row["intent"] for row in item.gold]:
            # Of the baseline that knows the gold intent of every row. Nobody else gains by it: all of them are right.
            prediction["intents"] = answer["intents"]
        return ParsedReply(prediction)

    def gold_reply(self, item: Item) -> str:
        """Return the most frequent gold intent, and the slots of the first row that has it."""
        return reply_of_most_frequent_intent(item)

    def count_errors_by_kind(self, outcome: Outcome) -> Mapping[str, int]:
        """Count the paper's seven types over the gold rows that are not Other (`score` says what comes first)."""
        tokens = outcome.item.shown["text"].split()
        predicted = [span for layer in LAYERS for span in score.list_predicted_spans_with_unlocated(outcome, layer)]
        errors: Counter[str] = Counter()
        for intent, row in score.pair_predicted_intents_with_gold_rows(outcome):
            if row["intent"] != OTHER:
                gold = [span for layer in LAYERS for span in score.gold_spans(row, layer)]
                errors += score.count_slot_errors(predicted, gold, tokens)
                errors[score.WI] += intent != row["intent"]
        return +errors

    def summarize_fault_or_error(self, outcome: Outcome) -> str:
        """Return the fault; else the types of errors; else slots on Other; empty if all is right."""
        if outcome.parsed.fault:
            return outcome.parsed.fault
        errors = self.count_errors_by_kind(outcome)
        kinds = [f"{kind} ({errors[kind]})" if errors[kind] > 1 else kind for kind in score.KINDS if errors.get(kind)]
        right, rows = score.count_right_and_all_rows_of_intent_other(outcome)
        return ", ".join([*kinds, *(["another intent or slots for Other"] if right < rows else [])])
