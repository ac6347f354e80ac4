"""Suites and scikit-learn, which takes a second to import: trained baselines, figures equal to its and seqeval's."""

from __future__ import annotations

import json
import random
import warnings
from typing import TYPE_CHECKING

import pytest
from size import size
from suiting import figures, keep, outcomes, suite
from test_spans import CASES, corpora, summed

from genaipa_suites.material import UNPARSABLE
from genaipa_suites.measure import f1, macro_f1
from genaipa_suites.opp115 import LABELS as TWELVE
from genaipa_suites.opp115 import SOURCE
from genaipa_suites.policy_detection import LABELS as BOTH
from genaipa_suites.spans import spans_from_tags

if TYPE_CHECKING:
    from pathlib import Path

    from commandline import Cli

OPP115 = {
    "majority": (29.31, 4.02, 28.92, 23.45),
    "tfidf": (76.76, 66.83, 71.84, 61.82),
    "tfidf-balanced": (78.57, 70.84, 76.45, 63.27),
    "tfidf-characters": (79.21, 74.04, 76.60, 63.64),
}
"""Baseline → micro, macro, samples F1 and exact on validation, in percent, as computed by a script of others."""


pytestmark = pytest.mark.usefixtures("own_workspace")


@pytest.mark.parametrize("name", size(small=("majority", "tfidf"), soak=tuple(OPP115)))
def test_baselines_reach_the_known_figures(shared: Path, name: str) -> None:
    """Each baseline reaches on validation, to two decimals, the figures that another script computed."""
    for split in ("train", "validation"):
        content = (shared / "data" / "opp115" / f"{split}_dataset.csv").read_bytes()
        keep(SOURCE, f"datasets/Majority/{split}_dataset.csv", content)
    found = figures(suite("opp115", "validation"), name)
    assert tuple(found.values()) == OPP115[name], found


def test_figures_of_label_sets_are_scikit_learns() -> None:
    """All figures, and each label's own, equal scikit-learn's on random label sets, empty replies among them."""
    from sklearn.metrics import accuracy_score, f1_score

    loaded = suite("opp115", "sample")
    draw = random.Random(7)
    for _ in range(size(small=5, soak=100)):
        sets = {item.id: draw.sample(TWELVE, draw.choice((0, 0, 1, 2, 3))) for item in loaded.material.items}
        reached = outcomes(loaded, lambda item, sets=sets: json.dumps({"labels": sets[item.id]}))
        gold = [[label in one.item.gold for label in TWELVE] for one in reached]
        given = [[label in sets[one.item.id] for label in TWELVE] for one in reached]
        ways = ("micro", "macro", "samples")
        expected = [f1_score(gold, given, average=way, zero_division=0) for way in ways]
        expected.append(accuracy_score(gold, given))
        assert [measure.compute(reached) for measure in loaded.measures] == pytest.approx(expected)
        each = f1_score(gold, given, average=None, zero_division=0)
        assert [measure.compute(reached) for measure, *_ in loaded.parts["label"].values()] == pytest.approx(list(each))


def test_figures_of_one_label_are_scikit_learns() -> None:
    """Both figures equal scikit-learn's on random replies, with each garbage reply as the wrong label."""
    from sklearn.metrics import accuracy_score, f1_score

    of, draw = suite("policy-detection", "sample"), random.Random(5)
    for _ in range(size(small=10, soak=200)):
        said = {item.id: draw.choice([*BOTH, "Perhaps"]) for item in of.material.items}
        reached = outcomes(of, lambda item, said=said: json.dumps({"label": said[item.id]}))
        wrong = dict(zip(BOTH, reversed(BOTH), strict=True))
        gold = [one.item.gold for one in reached]
        given = [one.parsed.prediction or wrong[one.item.gold] for one in reached]
        expected = [
            accuracy_score(gold, given),
            f1_score(gold, given, labels=BOTH, average="macro", zero_division=0),
        ]
        assert [measure.compute(reached) for measure in of.measures] == pytest.approx(expected)
        assert [one.parsed.fault == UNPARSABLE for one in reached] == [
            said[one.item.id] == "Perhaps" for one in reached
        ]


def test_the_sentences_as_pairs_are_scikit_learns() -> None:
    """Macro F1 and micro F1 over all sentences of all questions equal scikit-learn's."""
    from sklearn.metrics import f1_score

    loaded = suite("privacyqa", "sample")
    draw = random.Random(3)
    sets = {
        item.id: draw.sample(range(1, item.gold["sentences"] + 1), draw.randrange(4)) for item in loaded.material.items
    }
    found = figures(loaded, lambda item: json.dumps({"sentences": sets[item.id]}))
    pairs = [(item, number) for item in loaded.material.items for number in range(1, item.gold["sentences"] + 1)]
    gold = [number in item.gold["relevant"] for item, number in pairs]
    given = [number in sets[item.id] for item, number in pairs]
    for way in ("macro", "micro"):
        assert found[f"any_relevant_{way}_f1"] == round(100 * f1_score(gold, given, average=way), 2)


def test_opp_115s_sample_needs_nothing(genaipa: Cli) -> None:
    """On the twenty made-up segments, of all twelve labels, every baseline runs without any data."""
    done = genaipa("run", "--suite", "opp115", "--split", "sample", *(f"--system=baseline/{name}" for name in OPP115))
    assert done.code == 0, done.err
    assert done.out.count("(20 answers)") == len(OPP115)
    assert {label for item in suite("opp115", "sample").material.items for label in item.gold} == set(TWELVE)


def test_policy_detections_sample_needs_nothing(genaipa: Cli) -> None:
    """The made-up pages are asked of both baselines; replies by gold reach 100, garbage 0."""
    asked = ("run", "--suite", "policy-detection", "--split", "sample")
    done = genaipa(*asked, "--system=baseline/majority", "--system=baseline/tfidf")
    assert done.code == 0, done.err
    of = suite("policy-detection", "sample")
    assert set(figures(of, of.gold_reply).values()) == {100.0}
    assert set(figures(of, lambda _item: "Policy").values()) == {0.0}
    assert figures(of, "majority") == {"micro_f1": 50.0, "macro_f1": 33.33}


def test_linear_models_learn_policyies_sample() -> None:
    """Intents by TF-IDF, without slots, and slots by the tagger, are those that they were trained on."""
    of = suite("policyie", "sample")
    alone, tagged = figures(of, "tfidf"), figures(of, "linear-tagger")
    assert alone["intent_accuracy"] == tagged["intent_accuracy"] > 90
    assert (alone["slot_f1_tagger_type_i"], tagged["slot_f1_tagger_type_i"] > 80) == (0, True)


def test_counts_are_those_of_seqeval() -> None:
    """Chunks, micro F1 and macro F1 are those of seqeval's default mode, on random tags with stray I-."""
    metrics = pytest.importorskip("seqeval.metrics", reason="needs seqeval")
    entities = pytest.importorskip("seqeval.metrics.sequence_labeling", reason="needs seqeval").get_entities
    for predicted, gold in corpora(CASES):
        whole, labels = summed(zip(predicted, gold, strict=True))
        for tags in (*predicted, *gold):
            assert {(label, start, end - 1) for start, end, label in spans_from_tags(tags)} == set(entities(tags)), tags
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns where a label is never predicted
            theirs = {average: metrics.f1_score(gold, predicted, average=average) for average in ("micro", "macro")}
        assert f1(whole) == pytest.approx(theirs["micro"]), (predicted, gold)
        if labels:
            # Where gold has no span of a label, seqeval counts 0 for it; here it is in no mean.
            counts = [count for label in sorted(labels) for count in labels[label]]
            gold_labels = sum(label[2] > 0 for label in labels.values())
            ours = macro_f1(counts) * gold_labels / len(labels) if gold_labels else 0.0
            assert ours == pytest.approx(theirs["macro"]), (predicted, gold)
