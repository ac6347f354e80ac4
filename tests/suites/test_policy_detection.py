"""Policy-Detection: made-up rows in the form of its file, PrivacyGLUE's splits, its figures, and whole runs."""

from __future__ import annotations

import csv
import io
import lzma
from pathlib import Path

import pytest
from suiting import keep, suite

from genaipa.errors import DataError
from genaipa_suites.policy_detection import LABELS, SOURCE

PACKED, PLAIN = SOURCE.blobs


pytestmark = pytest.mark.usefixtures("own_workspace")


def table(rows: int, columns: tuple[str, ...] = ("", "url", "policy_text", "is_policy")) -> bytes:
    """A file of so many rows; each fifth is no policy, and the first is longer than a reader's usual field."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(columns)
    for number in range(1, rows + 1):
        policy = number % 5 != 0
        text = f'Page {number}: "we collect\nyour data"' if policy else f"Page {number}, a shop"
        values = {"": number - 1, "url": f"https://{number}.example", "policy_text": text, "is_policy": policy}
        values["policy_text"] += " and more" * (20_000 if number == 1 else 1)
        writer.writerow([values.get(column, "") for column in columns])
    return out.getvalue().encode()


@pytest.mark.parametrize("path", [PACKED, PLAIN])
def test_the_published_splits_come_out(path):
    """Of 1,301 rows, packed or plain, 391 are test, 137 valid and 773 train, each row in one of them."""
    content = table(1301)
    keep(SOURCE, path, lzma.compress(content, preset=0) if path == PACKED else content)
    sizes, ids = {}, []
    for split in ("test", "valid", "train"):
        items = suite("policy-detection", split).load(split).items
        sizes[split] = len(items)
        ids += [item.id for item in items]
    assert sizes == {"test": 391, "valid": 137, "train": 773}
    assert sorted(ids) == sorted(f"row-{number}" for number in range(1, 1302))
    for item in items:
        number = int(item.id.removeprefix("row-"))
        assert item.shown["text"].startswith(f"Page {number}")
        assert item.gold == LABELS[number % 5 == 0]


def test_wrong_files_are_refused(genaipa):
    """A pointer, a row too few, no such column, another label, no archive: each is said in a sentence."""
    cases = [
        (PACKED, b"version https://git-lfs.github.com/spec/v1\noid sha256:f8\n", "run 'git lfs pull'"),
        (PACKED, lzma.compress(table(1300), preset=0), "has 1,300 rows, but the published file has 1,301"),
        (PACKED, b"no archive", "can't be unpacked"),
        (PLAIN, table(3, ("", "policy_text")), "row 1: has no column 'is_policy'"),
        (PLAIN, table(3).replace(b"False", b"perhaps").replace(b"True", b"perhaps"), "row 1: its 'is_policy'"),
        (PLAIN, b"\xff\xfe", "is not UTF-8"),
        (PLAIN, b",policy_text,is_policy\n", "has no rows"),
    ]
    for path, content, said in cases:
        place = keep(SOURCE, path, content)
        with pytest.raises(DataError) as caught:
            suite("policy-detection", "test").load("test")
        assert said in str(caught.value)
        place.unlink()
    done = genaipa("run", "--suite", "policy-detection", "--system", "baseline/majority")
    assert done.code == 2
    assert "genaipa get policy-detection" in done.err
    assert "git lfs pull" in done.err
    other = genaipa("run", "--suite", "policy-detection", "--split", "dev", "--system", "baseline/majority")
    assert "--split 'dev': Policy-Detection has test, valid, train, sample." in other.err


def test_a_split_of_ones_own():
    """A file of one's own in the same form is a split by its name, of any size."""
    place = Path("suites/policy-detection/mine.csv")
    place.parent.mkdir(parents=True)
    place.write_bytes(table(7))
    assert [item.gold for item in suite("policy-detection", "mine").material.items].count("Not Policy") == 1


def test_every_wording_names_both_labels():
    """Each wording names both labels, and shows the page and nothing else of the item."""
    for wording in (1, 2, 3):
        of = suite("policy-detection", "sample", wording=wording)
        first, second = of.material.items[:2]
        (one,), (other,) = of.messages(first), of.messages(second)
        assert '"Policy"' in one.content
        assert '"Not Policy"' in one.content
        assert one.content.replace(first.shown["text"], second.shown["text"]) == other.content
