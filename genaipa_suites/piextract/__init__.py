"""PI-Extract as PrivacyGLUE scores it: the data that a sentence says are collected or shared, or are not.

Its files are four layers of tags over the same tokens; its figures count spans of tokens in each, as seqeval does.
"""

from __future__ import annotations

import json
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from genaipa_suites.baseline import Baseline, adapt_item_function_to_baseline, train_tagger
from genaipa_suites.data import DataFiles, SuiteSource
from genaipa_suites.encoders.kinds import EncoderExample, EncoderHead, EncoderModel
from genaipa_suites.material import (
    NOT_IN_THE_TEXT,
    Item,
    Material,
    ParsedReply,
    split_rows_into_training_and_validation,
)
from genaipa_suites.measure import Measure, macro_f1, make_f1_precision_recall_measures, micro_f1
from genaipa_suites.spans import (
    Span,
    bio_tags_or_raise_if_spans_overlap,
    count_right_predicted_and_gold,
    locate_texts_in_tokens,
    spans_from_tags,
)
from genaipa_suites.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from genaipa_suites.encoders.kinds import Predicted
    from genaipa_suites.material import Outcome

    Spans = Mapping[str, Iterable[tuple[int, int]]]


TITLE = "PI-Extract"
SPLITS = ("test", "valid", "train")
LAYERS = {
    "COLLECT": "CollectUse_true",
    "NOT_COLLECT": "CollectUse_false",
    "NOT_SHARE": "Share_false",
    "SHARE": "Share_true",
}
"""Layer → folder of its files."""
_FILE = "dataset/{}/{}.conll03"
_OFFICIAL = {"train": "train", "valid": "train", "test": "validation"}
_VALID = 0.15
_TRAIN_BLOBS = {
    "COLLECT": "9b6a0b6fdd8227e3fcf448a859ed7229ff9aa59d",
    "NOT_COLLECT": "582e4bbae19a477e749ea9b8eb4fe4f14d8f7803",
    "NOT_SHARE": "24d9ce8915dbc57d267be6905b3b6bc5e9002be0",
    "SHARE": "91357d39b7b44863b01ecad27ae586f7255e5953",
}
_TEST_BLOBS = {
    "COLLECT": "dde2cb2b7da14c93914c6d1d0039f76507709e0b",
    "NOT_COLLECT": "cdd68a0f0d188b9fdd633434a517f2c96c2e2664",
    "NOT_SHARE": "9c64e722dced704721114009136dcd57d61daaad",
    "SHARE": "06327699b7e95d1ee9a9071fa19f3f6f5db52c4e",
}
SOURCE = SuiteSource(
    name="piextract",
    title=TITLE,
    repository="um-rtcl/piextract_dataset",
    commit="3b15d819b9ab692dbf8fe4c28e6f0ecab016596b",
    blobs={
        **{_FILE.format(LAYERS[layer], "train"): blob for layer, blob in _TRAIN_BLOBS.items()},
        **{_FILE.format(LAYERS[layer], "validation"): blob for layer, blob in _TEST_BLOBS.items()},
    },
    terms="its repository states no license; made from OPP-115, which is for research, teaching and scholarship only.",
)
COUNTS = {
    "train": {"sentences": 3035, "tokens": 70408, "COLLECT": 1311, "NOT_COLLECT": 56, "NOT_SHARE": 72, "SHARE": 552},
    "validation": {"sentences": 1029, "COLLECT": 409, "NOT_COLLECT": 22, "NOT_SHARE": 21, "SHARE": 209},
}
"""Official file → what is known of its counts: sentences, tokens, spans of a layer."""


class _Layer(NamedTuple):
    """One file: its sentences' tokens and tags, side by side."""

    path: str
    tokens: list[list[str]]
    tags: list[list[str]]


def load_sentences(files: DataFiles, split: str) -> Material:
    """Load the sentences of a split; `gold` has layer → spans (first token, last + 1), tokens being split at blanks.

    PrivacyGLUE's splits: its test is the official validation file, its valid is drawn from the official train file. The
    id has the official file and the number of the sentence in it. A DataError for layers whose tokens differ, for tags
    of another layer, or for other counts than the published ones.
    """
    file = _OFFICIAL.get(split, split)
    layers = {layer: _read_tag_layer_file(files, _FILE.format(folder, file), layer) for layer, folder in LAYERS.items()}
    first = layers["COLLECT"]
    for layer_file in layers.values():
        if layer_file.tokens != first.tokens:
            raise files.make_error_with_remedy(
                layer_file.path, f"its tokens differ from those of {files.find(first.path)}"
            )
    gold = [
        {layer: [(start, end) for start, end, _ in spans_from_tags(read.tags[index])] for layer, read in layers.items()}
        for index in range(len(first.tokens))
    ]
    _check_published_counts(files, file, layers, gold)
    items = [
        _make_item(f"{file}-{number}", tokens, spans)
        for number, (tokens, spans) in enumerate(zip(first.tokens, gold, strict=True), start=1)
    ]
    if split in ("train", "valid"):
        train_rows, valid_rows = split_rows_into_training_and_validation(len(items), _VALID)
        items = [items[index] for index in (train_rows if split == "train" else valid_rows)]
    return Material(tuple(items))


def _read_tag_layer_file(files: DataFiles, path: str, layer: str) -> _Layer:
    text = files.text(path)
    allowed_tags = ("O", f"B-{layer}", f"I-{layer}")
    tokens: list[list[str]] = [[]]
    tags: list[list[str]] = [[]]
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            if tokens[-1]:
                tokens.append([])
                tags.append([])
        elif not line.startswith("-DOCSTART-"):
            token, _, tag = line.rstrip().partition(" _ _ ")
            if not token or " " in token or tag not in allowed_tags:
                expected = f"'token _ _ tag' with one of the tags {', '.join(allowed_tags)}"
                raise files.make_error_with_remedy(path, f"is not {expected}", f"line {number}")
            tokens[-1].append(token)
            tags[-1].append(tag)
    full = len(tokens) if tokens[-1] else len(tokens) - 1
    if not full:
        raise files.make_error_with_remedy(path, "has no sentences")
    return _Layer(path, tokens[:full], tags[:full])


def _check_published_counts(
    files: DataFiles,
    official_split: str,
    layers: Mapping[str, _Layer],
    gold: Sequence[dict[str, list[tuple[int, int]]]],
) -> None:
    """Refuse published files with other counts; one of the user's own may have any."""
    if any(_FILE.format(folder, official_split) in files.own_files for folder in LAYERS.values()):
        return
    tokens = layers["COLLECT"].tokens
    counts = {"sentences": len(tokens), "tokens": sum(map(len, tokens))}
    counts |= {layer: sum(len(spans[layer]) for spans in gold) for layer in LAYERS}
    # A stray I- opens a span for seqeval; nobody says whether the spans that were counted elsewhere have such.
    begin_tags = {
        layer: sum(tag.startswith("B-") for tags in read.tags for tag in tags) for layer, read in layers.items()
    }
    for name, count in COUNTS[official_split].items():
        if count in (counts[name], begin_tags.get(name)):
            continue
        path = layers.get(name, layers["COLLECT"]).path
        noun = name if name in ("sentences", "tokens") else f"spans of {name}"
        raise files.make_error_with_remedy(path, f"has {counts[name]} {noun}, but the published file has {count}")


def _make_item(item_id: str, tokens: list[str], spans_by_layer: dict[str, list[tuple[int, int]]]) -> Item:
    practices = tuple(layer for layer in LAYERS if spans_by_layer[layer])
    return Item(
        id=item_id,
        shown={"text": " ".join(tokens)},
        gold=spans_by_layer,
        stratum=" ".join(practices) or "none",
        groups={"practice": practices},
    )


def parse_layer_texts_into_spans(tokens: Sequence[str], texts_by_layer: Mapping[str, Any]) -> ParsedReply:
    """Return the spans of the texts named for each layer, as (first token, last + 1).

    A text that has no place (left) becomes (-1, -1): a span that is predicted and wrong. One that the sentence does not
    have at all is a fault as well. Texts may come with their first tokens (`at`, by layer), as the baselines' do:
    that counts where a text is there.
    """
    at = texts_by_layer.get("at")
    spans: dict[str, list[tuple[int, int]]] = {}
    absent = False
    for layer in LAYERS:
        layer_firsts = at.get(layer) if isinstance(at, dict) else None
        firsts = (
            layer_firsts if isinstance(layer_firsts, list) and len(layer_firsts) == len(texts_by_layer[layer]) else []
        )
        placements = locate_texts_in_tokens(tokens, texts_by_layer[layer], firsts)
        absent |= any(
            placement is None and locate_texts_in_tokens(tokens, [text]) == [None]
            for text, placement in zip(texts_by_layer[layer], placements, strict=True)
        )
        spans[layer] = [placement or (-1, -1) for placement in placements]
    return ParsedReply(spans, NOT_IN_THE_TEXT if absent else "")


def predicted_and_gold_spans(outcome: Outcome, layer: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return (predicted, gold) spans of a layer; a reply without a prediction has none."""
    predicted: Any = outcome.parsed.prediction or {}
    span_lists = predicted.get(layer, []), outcome.item.gold[layer]
    predicted_spans, gold_spans = ([(start, end) for start, end in spans] for spans in span_lists)
    return predicted_spans, gold_spans


def _count_right_predicted_gold_per_layer(outcome: Outcome, layers: Sequence[str] = tuple(LAYERS)) -> list[float]:
    return [
        float(count)
        for layer in layers
        for count in count_right_predicted_and_gold(*predicted_and_gold_spans(outcome, layer))
    ]


def _exactly_right_and_one(outcome: Outcome) -> tuple[float, float]:
    pairs = (predicted_and_gold_spans(outcome, layer) for layer in LAYERS)
    right = outcome.parsed.prediction is not None and all(
        sorted(predicted) == sorted(gold) for predicted, gold in pairs
    )
    return float(right), 1.0


MEASURES = (
    Measure(
        "f1_layers",
        "F1, mean of layers",
        "Mean of the F1 of the layers that have a span, as seqeval counts spans; each layer has the same weight.",
        _count_right_predicted_gold_per_layer,
        macro_f1,
    ),
    Measure(
        "f1_spans",
        "F1 of all spans",
        "F1 of the spans of all layers, pooled.",
        _count_right_predicted_gold_per_layer,
        micro_f1,
    ),
    Measure(
        "exact",
        "exact",
        "Share of sentences with all four layers right; a sentence without spans is right if the reply gives none.",
        _exactly_right_and_one,
    ),
)
EXACT = MEASURES[2]
PARTS = {
    "layer": {
        layer: make_f1_precision_recall_measures(
            partial(_count_right_predicted_gold_per_layer, layers=(layer,)), "spans"
        )
        for layer in LAYERS
    }
}


def count_missed_and_wrong_spans_or_empty(outcome: Outcome) -> str:
    """Describe the spans missed and those given wrongly, over all layers; empty where all are right."""
    counts = [count_right_predicted_and_gold(*predicted_and_gold_spans(outcome, layer)) for layer in LAYERS]
    right, predicted, gold = (sum(column) for column in zip(*counts, strict=True))
    error_counts = ((gold - right, "missed"), (predicted - right, "wrong"))
    return ", ".join(f"{number} {noun}" for number, noun in error_counts if number)


def sentence_tokens(item: Item) -> list[str]:
    """Return the tokens of a sentence, split at blanks."""
    return str(item.shown["text"]).split(" ")


def format_spans_reply(tokens: Sequence[str], spans: Spans, *, with_first_tokens: bool = False) -> str:
    """Return the reply that names these spans, in order of appearance.

    With `with_first_tokens` their first tokens as well.
    """
    sorted_spans = {layer: sorted(spans[layer]) for layer in LAYERS}
    texts = {
        layer: [" ".join(tokens[start:end]) for start, end in layer_spans_sorted]
        for layer, layer_spans_sorted in sorted_spans.items()
    }
    at = (
        {
            "at": {
                layer: [start for start, _ in layer_spans_sorted] for layer, layer_spans_sorted in sorted_spans.items()
            }
        }
        if with_first_tokens
        else {}
    )
    return json.dumps({**texts, **at}, ensure_ascii=False)


def _make_dictionary_replier(suite: Suite) -> Callable[[Item], str]:
    phrases: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    for item in suite.training.items:
        words = [token.lower() for token in sentence_tokens(item)]
        for layer in LAYERS:
            phrases[layer].update(tuple(words[start:end]) for start, end in item.gold[layer])
    longest = {layer: max(map(len, layer_phrases), default=0) for layer, layer_phrases in phrases.items()}

    def find_phrase_spans(words: Sequence[str], layer: str) -> list[tuple[int, int]]:
        spans, start = [], 0
        while start < len(words):
            ends = range(min(start + longest[layer], len(words)), start, -1)
            end = next((end for end in ends if tuple(words[start:end]) in phrases[layer]), None)
            if end:
                spans.append((start, end))
            start = end or start + 1
        return spans

    def format_dictionary_reply(item: Item) -> str:
        words = [token.lower() for token in sentence_tokens(item)]
        return format_spans_reply(
            sentence_tokens(item), {layer: find_phrase_spans(words, layer) for layer in LAYERS}, with_first_tokens=True
        )

    return format_dictionary_reply


def _gold_bio_tags(item: Item, layer: str) -> list[str]:
    return bio_tags_or_raise_if_spans_overlap(
        [Span(start, end, layer) for start, end in item.gold[layer]], len(sentence_tokens(item))
    )


def _make_linear_tagger_replier(suite: Suite) -> Callable[[Item], str]:
    items = suite.training.items
    sentences = [sentence_tokens(item) for item in items]
    taggers = {layer: train_tagger(sentences, [_gold_bio_tags(item, layer) for item in items]) for layer in LAYERS}

    def format_tagger_reply(item: Item) -> str:
        tokens = sentence_tokens(item)
        spans = {
            layer: [(start, end) for start, end, _ in spans_from_tags(tags(tokens))] for layer, tags in taggers.items()
        }
        return format_spans_reply(tokens, spans, with_first_tokens=True)

    return format_tagger_reply


BASELINES = (
    Baseline(
        "no-spans",
        "floor",
        "no span in any layer",
        adapt_item_function_to_baseline(lambda _item: format_spans_reply([], dict.fromkeys(LAYERS, ()))),
    ),
    Baseline(
        "dictionary",
        "trained",
        "every text that is a span in the train split, the longest first",
        _make_dictionary_replier,
    ),
    Baseline(
        "linear-tagger",
        "trained",
        "an averaged perceptron for each layer, from the tokens within three positions and the previous tag",
        _make_linear_tagger_replier,
    ),
    Baseline(
        "ceiling",
        "ceiling",
        "the gold spans as texts, the form every system must use: a text that occurs twice in a sentence "
        "may be placed wrongly",
        adapt_item_function_to_baseline(lambda item: format_spans_reply(sentence_tokens(item), item.gold)),
    ),
)


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {layer: {"type": "array", "items": {"type": "string"}} for layer in LAYERS},
    "required": list(LAYERS),
    "additionalProperties": False,
}


def _make_encoder_examples(item: Item, _material: Material) -> list[EncoderExample]:
    return [EncoderExample(tuple(sentence_tokens(item)), target=[_gold_bio_tags(item, layer) for layer in LAYERS])]


def _format_encoder_reply(item: Item, predictions: Predicted) -> str:
    tags = dict(zip(LAYERS, predictions[""][0], strict=True))
    return format_spans_reply(
        sentence_tokens(item),
        {layer: [span[:2] for span in spans_from_tags(tags[layer])] for layer in LAYERS},
        with_first_tokens=True,
    )


class PiExtract(Suite):
    """Sentences of privacy policies; one call asks for all four kinds of spans."""

    title = TITLE
    about = (
        "Quote the words for data that a sentence says is collected, not collected, shared or not shared. Spans "
        "of tokens are scored in four layers, one for each kind."
    )
    citation = (
        "Bui et al. 2021, Automated Extraction and Presentation of Data Practices in Privacy Policies (PoPETs); as "
        "split in PrivacyGLUE: Shankar et al. 2023, Applied Sciences 13(6), 3701."
    )
    data = (SOURCE,)
    splits = SPLITS
    measures = MEASURES
    parts = PARTS
    dependence_note = "its files don't name the policy of a sentence, so intervals are by sentence and too narrow"
    baselines = BASELINES
    head = EncoderHead((EncoderModel("token", "f1_layers", _make_encoder_examples),), _format_encoder_reply)
    schema = SCHEMA

    def load(self, split: str) -> Material:
        """Load the sentences of a split."""
        return load_sentences(self.files, split)

    def parse(self, item: Item, answer: Any) -> ParsedReply:
        """Read the spans of the texts named; a text that is not in the sentence is a wrong span, and a fault."""
        return parse_layer_texts_into_spans(sentence_tokens(item), answer)

    def gold_reply(self, item: Item) -> str:
        """Return the annotated spans as texts."""
        return format_spans_reply(sentence_tokens(item), item.gold)

    @property
    def item_measure(self) -> Measure:
        """The measure of whether a whole sentence is right: most have no span, so that F1 says nothing of one alone."""
        return EXACT if EXACT in self.measures else super().item_measure

    @property
    def measures_for_item_groups(self) -> tuple[Measure, ...]:
        """F1 of all spans and exact: sentences with one kind of spans lack the other layers."""
        return tuple(measure for measure in self.measures if measure.name != "f1_layers")

    def summarize_fault_or_error(self, outcome: Outcome) -> str:
        """Return the fault, and the spans missed or given wrongly."""
        return ": ".join(filter(None, (outcome.parsed.fault, count_missed_and_wrong_spans_or_empty(outcome))))
