"""PI-Extract as PrivacyGLUE scores it: the data that a sentence says are collected or shared, or are not.

Its files are four layers of tags over the same tokens; its figures count spans of tokens in each, as seqeval does.
"""

from __future__ import annotations

import json
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from genaipa_suites.baseline import Baseline, learn_tagger, make_item_baseline
from genaipa_suites.data import DataFiles, SuiteSource
from genaipa_suites.encoders.kinds import EncoderHead, EncoderModel, Example
from genaipa_suites.material import NOT_IN_THE_TEXT, Item, Material, ParsedReply, split_validation
from genaipa_suites.measure import Measure, macro_f1, micro_f1, part_measures
from genaipa_suites.spans import Span, bio_tags, count_matches, place_texts, spans_from_tags
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


def load(files: DataFiles, split: str) -> Material:
    """The sentences of a split; `gold` has layer → spans (first token, last + 1), tokens being parted by blanks.

    PrivacyGLUE's splits: its test is the official validation file, its valid is drawn from the official train file. The
    id has the official file and the number of the sentence in it. A DataError for layers whose tokens differ, for tags
    of another layer, or for other counts than the published ones.
    """
    file = _OFFICIAL.get(split, split)
    layers = {layer: _read(files, _FILE.format(folder, file), layer) for layer, folder in LAYERS.items()}
    first = layers["COLLECT"]
    for other in layers.values():
        if other.tokens != first.tokens:
            raise files.fault(other.path, f"its tokens are not those of {files.find(first.path)}")
    gold = [
        {layer: [(start, end) for start, end, _ in spans_from_tags(read.tags[place])] for layer, read in layers.items()}
        for place in range(len(first.tokens))
    ]
    _check(files, file, layers, gold)
    items = [
        _item(f"{file}-{number}", tokens, spans)
        for number, (tokens, spans) in enumerate(zip(first.tokens, gold, strict=True), start=1)
    ]
    if split in ("train", "valid"):
        kept, aside = split_validation(len(items), _VALID)
        items = [items[place] for place in (kept if split == "train" else aside)]
    return Material(tuple(items))


def _read(files: DataFiles, path: str, layer: str) -> _Layer:
    text = files.text(path)
    known = ("O", f"B-{layer}", f"I-{layer}")
    tokens: list[list[str]] = [[]]
    tags: list[list[str]] = [[]]
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            if tokens[-1]:
                tokens.append([])
                tags.append([])
        elif not line.startswith("-DOCSTART-"):
            token, _, tag = line.rstrip().partition(" _ _ ")
            if not token or " " in token or tag not in known:
                expected = f"'token _ _ tag' with a tag out of {', '.join(known)}"
                raise files.fault(path, f"is not {expected}", f"line {number}")
            tokens[-1].append(token)
            tags[-1].append(tag)
    full = len(tokens) if tokens[-1] else len(tokens) - 1
    if not full:
        raise files.fault(path, "has no sentences")
    return _Layer(path, tokens[:full], tags[:full])


def _check(
    files: DataFiles, file: str, layers: Mapping[str, _Layer], gold: Sequence[dict[str, list[tuple[int, int]]]]
) -> None:
    """Refuse published files with other counts; one of the user's own may have any."""
    if any(_FILE.format(folder, file) in files.own_files for folder in LAYERS.values()):
        return
    tokens = layers["COLLECT"].tokens
    counts = {"sentences": len(tokens), "tokens": sum(map(len, tokens))}
    counts |= {layer: sum(len(spans[layer]) for spans in gold) for layer in LAYERS}
    # A stray I- opens a span for seqeval; nobody says whether the spans that were counted elsewhere have such.
    begun = {layer: sum(tag.startswith("B-") for tags in read.tags for tag in tags) for layer, read in layers.items()}
    for name, known in COUNTS[file].items():
        if known in (counts[name], begun.get(name)):
            continue
        path = layers.get(name, layers["COLLECT"]).path
        things = name if name in ("sentences", "tokens") else f"spans of {name}"
        raise files.fault(path, f"has {counts[name]} {things}, published are {known}")


def _item(key: str, tokens: list[str], spans: dict[str, list[tuple[int, int]]]) -> Item:
    practices = tuple(layer for layer in LAYERS if spans[layer])
    return Item(
        id=key,
        shown={"text": " ".join(tokens)},
        gold=spans,
        stratum=" ".join(practices) or "none",
        groups={"practice": practices},
    )


def found(tokens: Sequence[str], texts: Mapping[str, Any]) -> ParsedReply:
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
        each = place_texts(tokens, texts[layer], firsts)
        absent |= any(
            place is None and place_texts(tokens, [text]) == [None]
            for text, place in zip(texts[layer], each, strict=True)
        )
        spans[layer] = [place or (-1, -1) for place in each]
    return ParsedReply(spans, NOT_IN_THE_TEXT if absent else "")


def spans_of(outcome: Outcome, layer: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """(predicted, gold) spans of a layer; a reply without a prediction has none."""
    predicted: Any = outcome.parsed.prediction or {}
    both = predicted.get(layer, []), outcome.item.gold[layer]
    given, right = ([(start, end) for start, end in each] for each in both)
    return given, right


def _counts(outcome: Outcome, layers: Sequence[str] = tuple(LAYERS)) -> list[float]:
    return [float(count) for layer in layers for count in count_matches(*spans_of(outcome, layer))]


def _exact(outcome: Outcome) -> tuple[float, float]:
    pairs = (spans_of(outcome, layer) for layer in LAYERS)
    right = outcome.parsed.prediction is not None and all(sorted(given) == sorted(gold) for given, gold in pairs)
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
PARTS = {"layer": {layer: part_measures(partial(_counts, layers=(layer,)), "spans") for layer in LAYERS}}


def difference(outcome: Outcome) -> str:
    """The spans missed and those given wrongly, over all layers, in words; empty where all are right."""
    counts = [count_matches(*spans_of(outcome, layer)) for layer in LAYERS]
    right, given, gold = (sum(each) for each in zip(*counts, strict=True))
    said = ((gold - right, "missed"), (given - right, "wrong"))
    return ", ".join(f"{number} {what}" for number, what in said if number)


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
    return bio_tags([Span(start, end, layer) for start, end in item.gold[layer]], len(tokens_of(item)))


def _linear_tagger(suite: Suite) -> Callable[[Item], str]:
    items = suite.training.items
    sentences = [tokens_of(item) for item in items]
    taggers = {layer: learn_tagger(sentences, [_gold_tags(item, layer) for item in items]) for layer in LAYERS}

    def answer(item: Item) -> str:
        tokens = tokens_of(item)
        spans = {
            layer: [(start, end) for start, end, _ in spans_from_tags(tags(tokens))] for layer, tags in taggers.items()
        }
        return reply(tokens, spans, places=True)

    return answer


BASELINES = (
    Baseline(
        "no-spans",
        "floor",
        "no span in any layer",
        make_item_baseline(lambda _item: reply([], dict.fromkeys(LAYERS, ()))),
    ),
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
        make_item_baseline(lambda item: reply(tokens_of(item), item.gold)),
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
    return reply(
        tokens_of(item), {layer: [span[:2] for span in spans_from_tags(tags[layer])] for layer in LAYERS}, places=True
    )


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
    dependence_note = "its files don't name the policy of a sentence, so that intervals are by sentence and too narrow"
    baselines = BASELINES
    head = EncoderHead((EncoderModel("token", "f1_layers", _tagged),), _named)
    schema = SCHEMA

    def load(self, split: str) -> Material:
        """The sentences of a split."""
        return load(self.files, split)

    def parse(self, item: Item, found_json: Any) -> ParsedReply:
        """The spans of the texts named; a text that is not in the sentence is a wrong span, and a fault."""
        return found(tokens_of(item), found_json)

    def gold_reply(self, item: Item) -> str:
        """The annotated spans as texts."""
        return reply(tokens_of(item), item.gold)

    @property
    def item_measure(self) -> Measure:
        """Whether all of a sentence is right: most have no span, so that F1 says nothing of one alone."""
        return EXACT if EXACT in self.measures else super().item_measure

    @property
    def group_measures(self) -> tuple[Measure, ...]:
        """F1 of all spans and exact: sentences with one kind of spans lack the other layers."""
        return tuple(measure for measure in self.measures if measure.name != "f1_layers")

    def failure_reason(self, outcome: Outcome) -> str:
        """The fault, and the spans missed or given wrongly."""
        return ": ".join(filter(None, (outcome.parsed.fault, difference(outcome))))
