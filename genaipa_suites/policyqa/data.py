"""PolicyQA's files (SQuAD v1), checked, as items."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError
from genaipa.files.text import DAMAGE, why
from genaipa_suites.data import Source
from genaipa_suites.material import Item, Material

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa_suites.data import DataFiles

SOURCE = Source(
    name="policyqa",
    title="PolicyQA",
    repository="wasiahmad/PolicyQA",
    commit="775538bc6d932e9d0dd16975d4373659cf8964fe",
    blobs={
        "data/dev.json": "5de6a619efb80f0a5c78278612b2431b53d716d3",
        "data/test.json": "3633b5cd518c8234e5ca853d65443ee81a94accf",
        "data/train.json": "aec731244ecf09b3fe42dc82197952e9d11a199e",
    },
    terms="its texts and spans are OPP-115's: research, teaching and scholarship only (its repository says MIT).",
    remedy="Its data/train.json may be in a clone alone: git clone https://github.com/wasiahmad/PolicyQA",
)
EXAMPLES = {"data/train.json": 17_056, "data/dev.json": 3_809, "data/test.json": 4_152}
CATEGORIES = (
    "First Party Collection/Use",
    "Third Party Sharing/Collection",
    "User Choice/Control",
    "User Access, Edit and Deletion",
    "Data Retention",
    "Data Security",
    "Policy Change",
    "Do Not Track",
    "International and Specific Audiences",
)
"""OPP-115's categories of practices without "Other", which PolicyQA does not ask about."""
LENGTHS = {3: "1 to 3 words", 8: "4 to 8 words", 15: "9 to 15 words", 30: "16 to 30 words"}
LONGEST = "over 30 words"
"""PrivacyGLUE's encoders give no answer of more than 30 tokens."""


class _Reference(msgspec.Struct):
    text: str
    answer_start: int


class _Example(msgspec.Struct):
    id: str
    question: str
    type: str
    answers: list[_Reference]


class _Paragraph(msgspec.Struct):
    # The published `summary` holds labels of the segment, and is not even read.
    context: str
    qas: list[_Example]


class _Policy(msgspec.Struct):
    title: str
    paragraphs: list[_Paragraph]


class _File(msgspec.Struct):
    data: list[_Policy]


def load(files: DataFiles, split: str) -> Material:
    """The examples of a split, in the file's order: shown `text` and `question`, gold the list of references.

    A DataError names the first example whose offsets, category or id are wrong, and a pulled file of another size.
    """
    path = f"data/{split}.json"
    content = files.text(path)
    place = files.find(path) or Path(path)
    try:
        found = msgspec.json.decode(content, type=_File)
    except DAMAGE as error:
        problem = f"is no file of PolicyQA ({why(error)}); take the published one, or keep to SQuAD's form."
        raise DataError(place, problem) from None
    items = tuple(_items(found.data, place))
    twice = [one for one, times in Counter(item.id for item in items).items() if times > 1]
    if twice:
        raise DataError(place, "this id is there twice; take the published file, or give each its own.", twice[0])
    files.check(path, {"examples": len(items)}, {"examples": EXAMPLES.get(path, 0)})
    if not items:
        raise DataError(place, "has no examples; take the published file.")
    return Material(items)


def _items(policies: Sequence[_Policy], place: Path) -> Iterator[Item]:
    for policy in policies:
        for paragraph in policy.paragraphs:
            for example in paragraph.qas:
                if problem := _problem(example, paragraph.context):
                    raise DataError(place, f"{problem}; take the published file, or correct it.", example.id)
                category = example.type.partition("|||")[0]
                references = [reference.text for reference in example.answers]
                yield Item(
                    example.id,
                    {"text": paragraph.context, "question": example.question},
                    references,
                    cluster=policy.title,
                    stratum=category,
                    groups={"category": (category,), "answer length": (_length(references),)},
                )


def _problem(example: _Example, context: str) -> str:
    """The first mistake in an example, in words; empty for none."""
    if (category := example.type.partition("|||")[0]) not in CATEGORIES:
        return f"its type begins with '{category}', which is no category of PolicyQA"
    if not example.answers:
        return "it has no answer"
    for reference in example.answers:
        start = reference.answer_start
        if start < 0 or not reference.text.strip() or not context.startswith(reference.text, start):
            return f"the text has no '{reference.text[:40]}' at {start}"
    return ""


def _length(references: Sequence[str]) -> str:
    """The group of an example by the words of its shortest reference."""
    shortest = min(len(reference.split()) for reference in references)
    return next((name for longest, name in LENGTHS.items() if shortest <= longest), LONGEST)
