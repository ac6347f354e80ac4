"""Policy-Detection's file, written against its format: no snapshot that we know has its content."""

from __future__ import annotations

import csv
import io
import lzma
import sys
from typing import TYPE_CHECKING

from genaipa.errors import DataError
from genaipa_suites.data import DataFiles, Source
from genaipa_suites.material import Item, Material
from genaipa_suites.splits import drawn, has_split

if TYPE_CHECKING:
    from collections.abc import Iterator

TITLE = "Policy-Detection"
SPLITS = ("test", "valid", "train")
POLICY, OTHER = LABELS = ("Policy", "Not Policy")
ROWS = 1301
_PACKED, _PLAIN = "data/1301_dataset.csv.xz", "data/1301_dataset.csv"
_TEST, _VALID = 0.3, 0.15
_TEXT, _LABEL = "policy_text", "is_policy"
_TRUTH = {"true": POLICY, "false": OTHER}
SOURCE = Source(
    name="policy-detection",
    title=TITLE,
    repository="infsys-lab/policy-detection-data",
    commit="6164e00f9ce60489f6e715ca803e649e54011050",
    blobs={
        # The SHA-256 of its Git-LFS pointer.
        _PACKED: "f84cbf708ae5f0f16d86216b180a26fd693d4df37948c6ea45f78419ea7e2f16",
        # The same unpacked, as in the archive of its authors; known by no hash.
        _PLAIN: "",
    },
    terms="its repository states no license.",
    remedy=(
        "Either of the two files will do: in a clone, 'git lfs pull' fetches the packed one; the plain one is in "
        "classifier_data.tar.gz of the Princeton-Leuven Longitudinal Corpus of Privacy Policies."
    ),
)


def load(files: DataFiles, split: str) -> Material:
    """The pages of a split; `gold` is "Policy" or "Not Policy".

    PrivacyGLUE's splits: 30 % of all rows for test, then 15 % of the others for valid. The id has the row's number. A
    DataError for a missing column, a label that is neither True nor False, or other than 1,301 published rows.
    """
    own = f"data/{split}.csv"
    has_split(files, TITLE, split, SPLITS, own)
    if split not in SPLITS:
        return Material(tuple(_items(files, own)))
    path = _PLAIN if files.find(_PLAIN) and not files.find(_PACKED) else _PACKED
    items = _items(files, path)
    if path not in files.own and len(items) != ROWS:
        raise DataError(str(files.find(path)), f"has {len(items)} rows, published are {ROWS}; {_REMEDY}")
    kept, test = drawn(len(items), _TEST)
    train, valid = drawn(len(kept), _VALID)
    places = {"test": test, "valid": [kept[place] for place in valid], "train": [kept[place] for place in train]}
    return Material(tuple(items[place] for place in places[split]))


_REMEDY = f"pull it again with: genaipa get {SOURCE.name}"


def _items(files: DataFiles, path: str) -> list[Item]:
    content = files.read(path)
    found = str(files.find(path))
    try:
        text = (lzma.decompress(content) if path.endswith(".xz") else content).decode("utf-8-sig")
    except lzma.LZMAError:
        raise DataError(found, f"can't be unpacked; {_REMEDY}") from None
    except UnicodeDecodeError:
        raise DataError(found, f"is not UTF-8; {_REMEDY}") from None
    items = [_item(number, page, label) for number, (page, label) in enumerate(_rows(text, found), start=1)]
    if not items:
        raise DataError(found, f"has no rows; {_REMEDY}")
    return items


def _rows(text: str, found: str) -> Iterator[tuple[str, str]]:
    """(text, label) of each row."""
    # A page may be longer than the fields that Python's reader takes by default.
    limit = csv.field_size_limit(sys.maxsize)
    try:
        rows = csv.DictReader(io.StringIO(text, newline=""))
        missing = [column for column in (_TEXT, _LABEL) if column not in (rows.fieldnames or ())]
        if missing:
            raise DataError(found, f"has no column '{missing[0]}'; {_REMEDY}", "row 1")
        for number, row in enumerate(rows, start=1):
            label = _TRUTH.get((row[_LABEL] or "").lower())
            if label is None:
                raise DataError(found, f"its '{_LABEL}' is neither True nor False; {_REMEDY}", f"row {number}")
            yield row[_TEXT] or "", label
    except csv.Error as error:
        raise DataError(found, f"is not a CSV file ({error}); {_REMEDY}") from None
    finally:
        csv.field_size_limit(limit)


def _item(number: int, page: str, label: str) -> Item:
    return Item(
        id=f"row-{number}",
        shown={"text": page.strip()},
        gold=label,
        stratum=label,
    )
