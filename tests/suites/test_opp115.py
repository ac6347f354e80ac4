"""OPP-115: its files, its figures against the published counts and scikit-learn, and whole runs."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from suiting import figures, keep, outcomes, suite

from genaipa.errors import DataError
from genaipa_suites.encoders.encoder import Encoder
from genaipa_suites.material import UNPARSABLE
from genaipa_suites.opp115 import COUNTS, LABELS, SOURCE

SPLITS = ("train", "validation")


pytestmark = pytest.mark.usefixtures("own_workspace")


@pytest.fixture
def published(shared: Path) -> Path:
    """The published files, as if pulled."""
    for split in SPLITS:
        content = (shared / "data" / "opp115" / f"{split}_dataset.csv").read_bytes()
        keep(SOURCE, f"datasets/Majority/{split}_dataset.csv", content)
    return SOURCE.pulled_folder / "datasets" / "Majority"


def test_published_files_have_the_published_counts(published):
    """Rows of one text become one item with all its labels, in the counts of PrivacyGLUE, under an id of its own."""
    with (published / "validation_dataset.csv").open("a") as file:
        file.write("\n")  # no row
    for split in SPLITS:
        items = suite("opp115", split).load(split).items
        assert (len(items), sum(len(item.gold) for item in items)) == (
            COUNTS[split]["texts"],
            COUNTS[split]["labels of texts"],
        )
        assert len({item.id for item in items}) == len({item.shown["text"] for item in items}) == len(items)
        assert {label for item in items for label in item.gold} == set(LABELS)
        assert all(item.groups["category"] == tuple(item.gold) and set(item.shown) == {"text"} for item in items)


def test_an_encoder_has_seen_policies_of_the_published_splits(published):
    """The published splits share policies, which is said of an encoder's figures; a user's own files may share none."""
    asked = suite("opp115", "validation")
    assert "108 policies" in Encoder(asked, "encoder/x", "x", asked.head).leakage_note
    asked.material = msgspec.structs.replace(asked.material, own=("validation_dataset.csv",))
    assert not Encoder(asked, "encoder/x", "x", asked.head).leakage_note


def test_edited_files_are_refused(published):
    """A row too few, another label, three fields, an endless quotation, nothing: each is said with its place."""
    path = published / "validation_dataset.csv"
    content = path.read_text(encoding="utf-8")
    cases = {
        content.rpartition("\n")[0].rpartition('"\n')[0]
        + '"\n': "but the published file has 648 rows, 550 texts, 644 labels",
        "We collect it.,First Party\n": "row 1: the label 'First Party' is not one of the twelve",
        'We collect it.,Data Security\nWe keep it, for a year.,"Data Retention"\n': "3 fields instead of a text",
        # One field too long, or one field too few, as this process has been told to read.
        'We keep it.,Data Retention\n"We keep' + " it" * 50_000: "pull it again",
        "": "has no rows",
        "version https://git-lfs.github.com/spec/v1\n": "is a Git-LFS pointer",
    }
    for text, said in cases.items():
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DataError) as caught:
            suite("opp115", "validation").load("validation")
        assert said in str(caught.value), text[:80]
        assert str(path) in str(caught.value)


def test_a_split_that_is_not_here_is_said(genaipa):
    """Another suite's split is answered with the splits that there are, a missing file with the pull that brings it."""
    asked = ("run", "--suite", "opp115", "--system", "baseline/majority", "--split")
    other, missing = genaipa(*asked, "dev"), genaipa(*asked, "validation")
    assert (other.code, missing.code) == (2, 2)
    assert "--split 'dev': OPP-115 has test, validation, train, sample." in other.err
    assert "genaipa get opp115" in missing.err


def test_every_wording_names_every_label_and_no_gold():
    """A prompt names the twelve labels and the form of the reply, shows the segment, and differs by the text alone."""
    loaded = suite("opp115", "sample")
    first, second = loaded.material.items[:2]
    for wording in (1, 2, 3):
        loaded = suite("opp115", "sample", wording=wording)
        (one,), (other,) = loaded.messages(first), loaded.messages(second)
        assert all(label in one.content for label in LABELS)
        assert '"labels"' in one.content
        assert one.content.replace(first.shown["text"], second.shown["text"]) == other.content


def test_right_replies_reach_100_and_garbage_0():
    """Replies by gold reach 100 in all figures; a label of a model's own is unparsable, and 0."""
    loaded = suite("opp115", "sample")
    assert set(figures(loaded, loaded.gold_reply).values()) == {100.0}
    several = sum(len(item.gold) > 1 for item in loaded.material.items)
    garbage = figures(loaded, lambda item: loaded.gold_reply(item) if len(item.gold) > 1 else '{"labels": ["Cookies"]}')
    assert garbage["exact"] == garbage["f1_samples"] == 100 * several / 20
    faults = [one.parsed.fault for one in outcomes(loaded, lambda _item: '{"labels": ["Cookies"]}')]
    assert faults == [UNPARSABLE] * 20
