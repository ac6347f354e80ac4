"""OPP-115: its files, its figures against the published counts and scikit-learn, and whole runs."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from servers import reply
from size import size
from suiting import figures, keep, outcomes, suite

from genaipa.errors import DataError
from genaipa.suites.material import UNPARSABLE
from genaipa.suites.opp115.data import COUNTS, LABELS, SOURCE
from genaipa.suites.opp115.score import MEASURES, PARTS

SPLITS = ("train", "validation")
EXPECTED = {
    "majority": (29.31, 4.02, 28.92, 23.45),
    "tfidf": (76.76, 66.83, 71.84, 61.82),
    "tfidf-balanced": (78.57, 70.84, 76.45, 63.27),
    "tfidf-characters": (79.21, 74.04, 76.60, 63.64),
}
"""Baseline → micro, macro, samples F1 and exact on validation, in percent, as computed by a script of others."""


pytestmark = pytest.mark.usefixtures("own_workspace")


@pytest.fixture
def published(shared: Path) -> Path:
    """The published files, as if pulled."""
    for split in SPLITS:
        content = (shared / "data" / "opp115" / f"{split}_dataset.csv").read_bytes()
        keep(SOURCE, f"datasets/Majority/{split}_dataset.csv", content)
    return SOURCE.folder / "datasets" / "Majority"


def test_published_files_have_the_published_counts(published):
    """Rows of one text become one item with all its labels, in the counts of PrivacyGLUE, under an id of its own."""
    with (published / "validation_dataset.csv").open("a") as file:
        file.write("\n")  # no row
    for split in SPLITS:
        items = suite("opp115", split).load(split).items
        assert (len(items), sum(len(item.gold) for item in items)) == COUNTS[split][1:]
        assert len({item.id for item in items}) == len({item.shown["text"] for item in items}) == len(items)
        assert {label for item in items for label in item.gold} == set(LABELS)
        assert all(item.groups["category"] == tuple(item.gold) and set(item.shown) == {"text"} for item in items)


@pytest.mark.parametrize("name", size(small=("majority", "tfidf"), full=tuple(EXPECTED)))
def test_baselines_reach_the_known_figures(published, name):
    """Each baseline reaches on validation, to two decimals, the figures that another script computed."""
    found = figures(suite("opp115", "validation"), name)
    assert tuple(found.values()) == EXPECTED[name], found


def test_edited_files_are_refused(published):
    """A row too few, another label, three fields, an endless quotation, nothing: each is said with its place."""
    path = published / "validation_dataset.csv"
    content = path.read_text(encoding="utf-8")
    cases = {
        content.rpartition("\n")[0].rpartition('"\n')[0] + '"\n': "published are 648 rows, 550 texts and 644 labels",
        "We collect it.,First Party\n": "row 1: the label 'First Party' is none of the twelve",
        'We collect it.,Data Security\nWe keep it, for a year.,"Data Retention"\n': "row 2: is not a text and a label",
        'We keep it.,Data Retention\n"We keep' + " it" * 50_000: "line 2: is not a CSV file",
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
    assert "no split of OPP-115 'dev'; known: sample, test, train, validation." in other.err
    assert "genaipa pull opp115" in missing.err


def test_figures_are_scikit_learns():
    """All figures, and each label's own, equal scikit-learn's on random label sets, empty replies among them."""
    from sklearn.metrics import accuracy_score, f1_score

    loaded = suite("opp115", "sample")
    draw = random.Random(7)
    for _ in range(size(small=5, full=100)):
        sets = {item.id: draw.sample(LABELS, draw.choice((0, 0, 1, 2, 3))) for item in loaded.material.items}
        reached = outcomes(loaded, lambda item, sets=sets: json.dumps({"labels": sets[item.id]}))
        gold = [[label in one.item.gold for label in LABELS] for one in reached]
        given = [[label in sets[one.item.id] for label in LABELS] for one in reached]
        ways = ("micro", "macro", "samples")
        expected = [f1_score(gold, given, average=way, zero_division=0) for way in ways]
        expected.append(accuracy_score(gold, given))
        assert [measure.of(reached) for measure in MEASURES] == pytest.approx(expected)
        each = f1_score(gold, given, average=None, zero_division=0)
        assert [measure.of(reached) for measure, *_ in PARTS["label"].values()] == pytest.approx(list(each))


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


def test_right_replies_reach_100_and_garbage_0(genaipa, server):
    """Asked through an SDK, replies by gold reach 100 in all figures; a label of a model's own is unparsable, and 0."""
    loaded = suite("opp115", "sample")
    by_text = {item.shown["text"]: loaded.gold_reply(item) for item in loaded.material.items}
    assert set(figures(loaded, loaded.gold_reply).values()) == {100.0}

    def answered(_number: int, body: dict) -> object:
        (right,) = (gold for text, gold in by_text.items() if text in str(body["messages"][-1]["content"]))
        return reply(right if len(json.loads(right)["labels"]) > 1 else '{"labels": ["Cookies"]}')

    server.script = answered
    done = genaipa("run", "--suite", "opp115", "--split", "sample", "--system", "openai-api/loop/m")
    assert done.code == 0, done.err
    several = sum(len(item.gold) > 1 for item in loaded.material.items)
    garbage = figures(loaded, lambda item: loaded.gold_reply(item) if len(item.gold) > 1 else '{"labels": ["Cookies"]}')
    assert garbage["exact"] == garbage["f1_samples"] == 100 * several / 20
    faults = [one.given.fault for one in outcomes(loaded, lambda _item: '{"labels": ["Cookies"]}')]
    assert faults == [UNPARSABLE] * 20
    assert f"exact {100 * several / 20:.2f} (20 answers; {20 - several} unparsable)" in done.out


def test_the_sample_needs_nothing(genaipa):
    """On the twenty made-up segments, of all twelve labels, every baseline runs without any data."""
    done = genaipa("run", "--suite", "opp115", "--split", "sample", *(f"--system=baseline/{name}" for name in EXPECTED))
    assert done.code == 0, done.err
    assert done.out.count("(20 answers)") == len(EXPECTED)
    assert {label for item in suite("opp115", "sample").material.items for label in item.gold} == set(LABELS)
