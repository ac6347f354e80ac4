"""PolicyIE's files in both of their forms, checked, as items: one for each distinct sentence, with all its gold rows.

The form of its scripts has a folder for each split with `seq.in`, `label`, `seq_type_I.out` and `seq_type_II.out`, a
line for each row, or a zip of such folders; PLUE's has three files of JSON lines for each split. Neither has the
policies of the sentences. The order of rows depends on how a form was made, so that items are known by their content.

Labels are five intents, and the slots of two layers, each a role and mostly an attribute of it.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

from genaipa.errors import DataError
from genaipa.files.text import DAMAGE, clip_error_message
from genaipa_suites.data import SuiteSource
from genaipa_suites.material import Item, Material
from genaipa_suites.spans import spans_from_tags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa_suites.data import DataFiles


OTHER = "Other"
INTENTS = (
    OTHER,
    "data-collection-usage",
    "data-sharing-disclosure",
    "data-storage-retention-deletion",
    "data-security-protection",
)

# All kinds of data, and those that are about people's data in safe keeping.
_KEPT = (
    "data-computer-device",
    "data-contact",
    "data-finance",
    "data-general",
    "data-other",
    "data-user-online-activities-profiles",
)
_RETAINED = (
    *_KEPT,
    "data-aggregated-nonidentifiable",
    "data-cookies-web-beacons-and-other-technologies",
    "data-location",
)
_DATA = (*_RETAINED, "data-demographic")
NONE = "none"
"""The attribute in a reply of a role that has none."""

TYPE_I: dict[str, tuple[str, ...]] = {
    "action": (),
    "data-provider": ("user", "third-party-entity"),
    "data-collector": ("first-party-entity",),
    "data-collected": _DATA,
    "data-sharer": ("first-party-entity",),
    "data-shared": _DATA,
    "data-receiver": ("third-party-entity",),
    "data-holder": ("first-party-entity", "third-party-entity"),
    "data-retained": _RETAINED,
    "data-protector": ("first-party-entity", "third-party-entity"),
    "data-protected": _KEPT,
    "storage-place": ("storage-place",),
    "retention-period": ("retention-period",),
    "protect-against": ("security-threat",),
}
TYPE_II: dict[str, tuple[str, ...]] = {
    "purpose-argument": (
        "advertising-marketing",
        "analytics-research",
        "basic-service-feature",
        "communications",
        "legal-requirement",
        "merge-acquisition",
        "other",
        "personalization-customization",
        "service-operation-and-security",
    ),
    "condition-argument": ("condition",),
    "polarity": ("negation",),
    "method": (
        "access-limitation",
        "encryptions",
        "general-safeguard-method",
        "protection-other",
        "user-authentication",
    ),
}
LAYERS: dict[str, dict[str, tuple[str, ...]]] = {"type-I": TYPE_I, "type-II": TYPE_II}
"""Layer → role → attributes (none of "action")."""
ROLES: dict[str, str] = {role: layer for layer, roles in LAYERS.items() for role in roles}
"""Role → its layer."""


def make_slot_label_or_empty(role: str, attribute: str) -> str:
    """Return the label of a role and an attribute as tags have it; empty for a combination that is no label."""
    attributes = LAYERS[ROLES[role]][role]
    if not attributes:
        return role if attribute == NONE else ""
    return f"{role}.{attribute}" if attribute in attributes else ""


def role_and_attribute_of_label(label: str) -> tuple[str, str]:
    """Split a label into its role and its attribute, as a reply has them."""
    role, _, attribute = label.partition(".")
    return role, attribute or NONE


LABELS: dict[str, frozenset[str]] = {
    layer: frozenset(
        make_slot_label_or_empty(role, attribute)
        for role, attributes in roles.items()
        for attribute in attributes or (NONE,)
    )
    for layer, roles in LAYERS.items()
}
"""Layer → its labels: 48 of type I, 16 of type II."""
ATTRIBUTES = (
    *dict.fromkeys(attribute for roles in LAYERS.values() for attributes in roles.values() for attribute in attributes),
    NONE,
)
"""All attributes, data's first; then "none"."""

TERMS = "research only, non-commercial, share alike (PLUE says CC BY-NC-SA 4.0; the repositories say MIT)."
SOURCE = SuiteSource(
    name="policyie",
    title="PolicyIE (PLUE)",
    repository="JFChi/PLUE",
    commit="05bc22ca2951953035687c1fd655b576da0a8e94",
    blobs={
        "data/policyie/json/intent_classification_train.json": "129d5ed68bf800bbf4794f3c28e1aa579f85a9e3",
        "data/policyie/json/intent_classification_valid.json": "64b864d6155914fc9226967815101e096171e3c3",
        "data/policyie/json/intent_classification_test.json": "717978e5d767784d7d49f405fe95a83b0b4d46fb",
        "data/policyie/json/type_I_slot_filling_train.json": "d60d2219373c6d429c0bc14cb89ebb5e3082c330",
        "data/policyie/json/type_I_slot_filling_valid.json": "580c9aa642adbb64b774863623a48181dd162570",
        "data/policyie/json/type_I_slot_filling_test.json": "9ea263663b3590f3164222d4bf80064e244283bc",
        "data/policyie/json/type_II_slot_filling_train.json": "add0f97f0dc936d3f73412b063575151aa13083a",
        "data/policyie/json/type_II_slot_filling_valid.json": "f75d56697cbc66b9eab636fd1ef8dee2fa113b6d",
        "data/policyie/json/type_II_slot_filling_test.json": "c800d2f9360fa469c85c7af313ad27631492c363",
    },
    terms=TERMS,
)
SPLITS = ("test", "valid", "train")
PLUE = (
    "data/policyie/json/intent_classification_{}.json",
    "data/policyie/json/type_I_slot_filling_{}.json",
    "data/policyie/json/type_II_slot_filling_{}.json",
)
FILES = ("seq.in", "label", "seq_type_I.out", "seq_type_II.out")
"""Of the scripts' form, in each split's folder: sentences, intents, tags of each layer."""
ARCHIVES = ("data/bio_format.zip", "data/sanitized_split.zip")
OFFICIAL = SuiteSource(
    name="policyie-official",
    title="PolicyIE (format of its scripts)",
    repository="wasiahmad/PolicyIE",
    commit="57046c431b64",
    blobs={
        **{f"data/bio_format/{split}/{name}": "" for split in SPLITS for name in FILES},
        ARCHIVES[0]: "",
        ARCHIVES[1]: "cf44ae8a81cc51d5715d925f5990fff78a146b71",
    },
    terms=TERMS,
    remedy="The authors' data/prepare.sh makes the folder bio_format in a clone: "
    "git clone https://github.com/wasiahmad/PolicyIE",
)
ROWS = {"train": 4_109, "valid": 100, "test": 1_041}


_S = TypeVar("_S", bound=msgspec.Struct)


class TaggedSentence(NamedTuple):
    """A row of the files: the sentence's tokens, its intent, its tags in both layers."""

    tokens: Sequence[str]
    intent: str
    type_i: Sequence[str]
    type_ii: Sequence[str]


class _Sentence(msgspec.Struct):
    sentence: str
    label: str


class _Tagged(msgspec.Struct):
    tokens: list[str]
    labels: list[str]


def load_sentences(files: DataFiles, split: str) -> Material:
    """Load the distinct sentences of a split, in the files' order; each item's gold are the rows that have it.

    A gold row is {"intent", "type-I": [[first token, last + 1, label], …], "type-II": …}. A DataError names the file
    and the line of the first mistake, and pulled files of another size.
    """
    path, rows, is_published = _read_path_rows_and_is_published(files, split)
    if is_published and len(rows) != ROWS[split]:
        problem = f"has {len(rows):,} rows, but the published file has {ROWS[split]:,}; run: genaipa get {SOURCE.name}"
        raise DataError(path, problem)
    if not rows:
        raise DataError(path, "has no sentences; use the published files.")
    gold_rows: dict[str, list[dict[str, object]]] = {}
    for number, row in enumerate(rows, 1):
        if problem := _row_problem_or_empty(row):
            raise DataError(path, f"{problem}; use the published files, or correct it.", f"line {number}")
        gold: dict[str, object] = {
            "intent": row.intent,
            "type-I": spans_from_tags(row.type_i),
            "type-II": spans_from_tags(row.type_ii),
        }
        gold_rows.setdefault(" ".join(row.tokens), []).append(gold)
    return Material(tuple(_make_item(sentence, gold) for sentence, gold in gold_rows.items()))


def _make_item(sentence: str, gold_rows: list[dict[str, object]]) -> Item:
    group = "several gold rows" if len(gold_rows) > 1 else "one gold row"
    intents = tuple(str(row["intent"]) for row in gold_rows)
    key = hashlib.sha256(sentence.encode()).hexdigest()[:12]
    return Item(key, {"text": sentence}, gold_rows, stratum=intents[0], groups={"gold rows": (group,)})


def _read_path_rows_and_is_published(files: DataFiles, split: str) -> tuple[Path, list[TaggedSentence], bool]:
    """Return the file to name in messages, the rows, and whether they are published and not the user's own."""
    paths = [f"data/bio_format/{split}/{name}" for name in FILES]
    if (first_path := files.find(paths[0])) is not None and first_path.parent.name == split:
        texts = [(files.find(path) or Path(path), files.text(path)) for path in paths]
        for path, _ in texts:
            if path.parent != first_path.parent:
                raise DataError(
                    path, f"is not in the folder of {first_path}; put the four files of a split into one folder."
                )
        return first_path, _read_rows_of_four_files(texts), not files.own_files.keys() & {*paths}
    archive = next((path for path in ARCHIVES if files.find(path)), None)
    if archive and files.find(PLUE[0].format(split)) is None:
        content = files.read_and_digest(archive)
        path = files.find(archive) or Path(archive)
        return path, _read_archive_rows(path, content, split), archive not in files.own_files
    return _read_plue_path_rows_and_is_published(files, [path.format(split) for path in PLUE])


def _read_plue_path_rows_and_is_published(
    files: DataFiles, paths: Sequence[str]
) -> tuple[Path, list[TaggedSentence], bool]:
    """Read the rows in PLUE's form."""
    texts = [files.text(path) for path in paths]
    file_paths = [files.find(path) or Path(path) for path in paths]
    sentences = _decode_json_lines(file_paths[0], texts[0], _Sentence)
    layers = [_decode_json_lines(path, text, _Tagged) for path, text in zip(file_paths[1:], texts[1:], strict=True)]
    for path, layer in zip(file_paths[1:], layers, strict=True):
        _check_equal_line_counts(path, len(layer), file_paths[0], len(sentences))
        for number, (tagged, sentence) in enumerate(zip(layer, sentences, strict=True), 1):
            if (
                " ".join(tagged.tokens).split() != sentence.sentence.split()
                or tagged.tokens != layers[0][number - 1].tokens
            ):
                problem = (
                    f"its tokens differ from those of the sentence in {file_paths[0].name}; use files "
                    f"from the same split."
                )
                raise DataError(path, problem, f"line {number}")
    row_parts = zip(sentences, *layers, strict=True)
    rows = [
        TaggedSentence(
            # Some tokens have blanks in them; without, the sentence made of them is parted as they are.
            ["".join(token.split()) or "_" for token in first.tokens],
            sentence.label,
            first.labels,
            second.labels,
        )
        for sentence, first, second in row_parts
    ]
    return file_paths[0], rows, not files.own_files.keys() & {*paths}


def _decode_json_lines(path_for_errors: Path, text: str, line_type: type[_S]) -> list[_S]:
    decoder = msgspec.json.Decoder(line_type)
    objects = []
    for number, line in enumerate(_split_lines(text), 1):
        try:
            objects.append(decoder.decode(line))
        except DAMAGE as error:
            fields = " and ".join(line_type.__struct_fields__)
            problem = f"is not an object with {fields} ({clip_error_message(error)}); use the published file."
            raise DataError(path_for_errors, problem, f"line {number}") from None
    return objects


def _read_rows_of_four_files(paths_and_texts: Sequence[tuple[Path, str]]) -> list[TaggedSentence]:
    """Read the rows in the scripts' form, from the four files' places and texts."""
    (first, sentences), *tag_files = [(path, _split_lines(text)) for path, text in paths_and_texts]
    for path, lines in tag_files:
        _check_equal_line_counts(path, len(lines), first, len(sentences))
    row_lines = zip(sentences, *(lines for _, lines in tag_files), strict=True)
    return [
        TaggedSentence(tokens.split(), intent.strip(), type_i.split(), type_ii.split())
        for tokens, intent, type_i, type_ii in row_lines
    ]


def _read_archive_rows(path_for_errors: Path, content: bytes, split: str) -> list[TaggedSentence]:
    """Read the rows of a split in a zip of the scripts' form."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = [name for name in archive.namelist() if f"/{name}".endswith(f"/{split}/{FILES[0]}")]
            if len(names) != 1:
                problem = (
                    f"has no {split}/{FILES[0]}, which the authors' data/prepare.sh makes from the annotated "
                    "policies; pull from its output folder bio_format."
                )
                raise DataError(path_for_errors, problem)
            folder = names[0].removesuffix(FILES[0])
            return _read_rows_of_four_files(
                [(path_for_errors / folder / name, archive.read(folder + name).decode()) for name in FILES]
            )
    except (zipfile.BadZipFile, KeyError, UnicodeDecodeError) as error:
        raise DataError(
            path_for_errors, f"is not a zip of PolicyIE's files ({error}); use the published file."
        ) from None


def _split_lines(text: str) -> list[str]:
    """Split a text into lines, without blank ones at the end."""
    text = text.rstrip()
    return text.split("\n") if text else []


def _check_equal_line_counts(path: Path, line_count: int, other_path: Path, expected_line_count: int) -> None:
    if line_count != expected_line_count:
        problem = (
            f"has {line_count:,} lines, but {other_path.name} has {expected_line_count:,}; use files from the "
            "same split in the same "
            "format."
        )
        raise DataError(path, problem)


def _row_problem_or_empty(row: TaggedSentence) -> str:
    """Describe the first mistake in a row; empty for none."""
    if not row.tokens:
        return "it has no words"
    if row.intent not in INTENTS:
        return f"its intent is '{row.intent}', which is not an intent of PolicyIE"
    layers = (("type-I", row.type_i), ("type-II", row.type_ii))
    if row.intent == OTHER and any(tag != "O" for _, tags in layers for tag in tags):
        return f"its intent is {OTHER}, but it has slots"
    return next(filter(None, (_tag_problem_or_empty(layer, tags, len(row.tokens)) for layer, tags in layers)), "")


def _tag_problem_or_empty(layer: str, tags: Sequence[str], word_count: int) -> str:
    if len(tags) != word_count:
        return f"it has {word_count} words but {len(tags)} tags of {layer}"
    for before, tag in pairwise(["O", *tags]):
        form, _, label = tag.partition("-")
        if tag != "O" and (form not in ("B", "I") or label not in LABELS[layer]):
            return f"'{tag}' is not a tag of {layer}"
        if form == "I" and before[1:] != tag[1:]:
            return f"its tag '{tag}' of {layer} does not continue a slot"
    return ""
