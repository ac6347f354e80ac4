"""OPP-115's files as PrivacyGLUE reads them: a row for each label of a segment, without a header."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from genaipa.errors import DataError
from genaipa_suites.data import DataFiles, Source
from genaipa_suites.material import Item, Material
from genaipa_suites.splits import has_split

if TYPE_CHECKING:
    from collections.abc import Iterator

TITLE = "OPP-115"
SPLITS = ("test", "validation", "train")
_FILE = "datasets/Majority/{}_dataset.csv"
SOURCE = Source(
    name="opp115",
    title=TITLE,
    repository="SmartDataAnalytics/Polisis_Benchmark",
    commit="4e42f557c9937ca3f0536736f435a80f476213ef",
    blobs={
        _FILE.format("train"): "4640533e5a2b59fbc537521e70b6b90cc7f523f0",
        _FILE.format("validation"): "4d76950c2ab31eb09417f53dc1752cb2190b5d79",
        # No more digits of it are known; what it holds is counted as well.
        _FILE.format("test"): "f3689a86",
    },
    terms="its repository states no license; the corpus OPP-115 is for research, teaching and scholarship only.",
)
LABELS = (
    "Data Retention",
    "Data Security",
    "Do Not Track",
    "First Party Collection/Use",
    "International and Specific Audiences",
    "Introductory/Generic",
    "Policy Change",
    "Practice not covered",
    "Privacy contact information",
    "Third Party Sharing/Collection",
    "User Access, Edit and Deletion",
    "User Choice/Control",
)
COUNTS = {"train": (2639, 2185, 2609), "validation": (648, 550, 644), "test": (833, 697, 829)}
"""Split → rows, segments, and labels of segments, of the published files."""


def load(files: DataFiles, split: str) -> Material:
    """The segments of a split, each with all labels that it has a row for; its `gold` is their list.

    One text is one item, as in PrivacyGLUE, however often it is in the file; its id has the number of its first row.
    A DataError for a row that is not a text and one of the twelve labels, or for other counts than the published ones.
    """
    path = _FILE.format(split)
    has_split(files, TITLE, split, SPLITS, path)
    text = files.text(path)
    found = str(files.find(path))
    first: dict[str, int] = {}
    labels: dict[str, set[str]] = {}
    number = 0
    for number, (segment, label) in enumerate(_rows(text, found), start=1):
        first.setdefault(segment, number)
        labels.setdefault(segment, set()).add(label)
    counts = (number, len(labels), sum(map(len, labels.values())))
    if not number:
        raise DataError(found, "has no rows; each is a text and a label.")
    if path not in files.own and counts != COUNTS[split]:
        names = "{} rows, {} texts and {} labels of texts"
        raise DataError(found, f"has {names.format(*counts)}, published are {names.format(*COUNTS[split])}; {_REMEDY}")
    return Material(tuple(_item(f"{split}-{first[one]}", one, sorted(labels[one])) for one in labels))


_REMEDY = f"pull it again with: genaipa get {SOURCE.name}"


def _rows(text: str, found: str) -> Iterator[tuple[str, str]]:
    rows = csv.reader(io.StringIO(text, newline=""))
    try:
        # Blank lines are no rows.
        for number, row in enumerate(filter(None, rows), start=1):
            if len(row) != 2 or not row[0].strip():  # noqa: PLR2004 - a text and a label
                raise DataError(found, f"is not a text and a label, but {len(row)} fields; {_REMEDY}", f"row {number}")
            segment, label = row
            if label not in LABELS:
                known = ", ".join(LABELS)
                raise DataError(found, f"the label '{label}' is none of the twelve ({known}).", f"row {number}")
            yield segment, label
    except csv.Error as error:
        raise DataError(found, f"is not a CSV file ({error}); {_REMEDY}", f"line {rows.line_num}") from None


def _item(key: str, segment: str, labels: list[str]) -> Item:
    return Item(
        id=key,
        shown={"text": segment.strip()},
        gold=labels,
        stratum="; ".join(labels),
        groups={"category": tuple(labels)},
    )
