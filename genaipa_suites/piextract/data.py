"""PI-Extract's files: four layers of tags over the same tokens, split as in PrivacyGLUE."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from genaipa_suites.data import DataFiles, Source
from genaipa_suites.material import Item, Material
from genaipa_suites.sampling import split_off
from genaipa_suites.spans import chunks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
SOURCE = Source(
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
        {layer: [(start, end) for start, end, _ in chunks(read.tags[place])] for layer, read in layers.items()}
        for place in range(len(first.tokens))
    ]
    _check(files, file, layers, gold)
    items = [
        _item(f"{file}-{number}", tokens, spans)
        for number, (tokens, spans) in enumerate(zip(first.tokens, gold, strict=True), start=1)
    ]
    if split in ("train", "valid"):
        kept, aside = split_off(len(items), _VALID)
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
    if any(_FILE.format(folder, file) in files.own for folder in LAYERS.values()):
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
