"""OPP-115 as PrivacyGLUE asks it: all labels of a segment of a privacy policy, of twelve."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from genaipa_suites.baseline import Baseline
from genaipa_suites.linear import label_sets, words, words_and_characters
from genaipa_suites.material import Given
from genaipa_suites.opp115.data import LABELS, SOURCE, SPLITS, TITLE, load
from genaipa_suites.opp115.score import MEASURES, PARTS
from genaipa_suites.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from genaipa_suites.material import Item, Material
    from genaipa_suites.measure import Measure


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"labels": {"type": "array", "items": {"type": "string", "enum": list(LABELS)}}},
    "required": ["labels"],
    "additionalProperties": False,
}


def _reply(labels: Iterable[str]) -> str:
    return json.dumps({"labels": list(labels)})


def _majority(suite: Suite) -> Callable[[Item], str]:
    counts = Counter(label for item in suite.training.items for label in item.gold)
    reply = _reply([counts.most_common(1)[0][0]])
    return lambda _item: reply


def _trained(features: Callable[[], Any], *, balanced: bool) -> Callable[[Suite], Callable[[Item], str]]:
    def make(suite: Suite) -> Callable[[Item], str]:
        items = suite.training.items
        labels_of = label_sets(
            [item.shown["text"] for item in items], [item.gold for item in items], features, balanced=balanced
        )
        return lambda item: _reply(labels_of(item.shown["text"]))

    return make


class Opp115(Suite):
    """Segments of 115 policies, each with its practices: the Majority edition, split by segment."""

    title = TITLE
    about = (
        "Name all practices that a segment of a privacy policy is about, out of twelve labels. Scored are the labels."
    )
    citation = (
        "Wilson et al. 2016, The Creation and Analysis of a Website Privacy Policy Corpus (ACL); as split in "
        "PrivacyGLUE: Shankar et al. 2023, Applied Sciences 13(6), 3701."
    )
    data = (SOURCE,)
    splits = SPLITS
    measures = MEASURES
    parts = PARTS
    dependent = (
        "its files don't name the policy of a segment, so that intervals are by segment and too narrow; 108 of the "
        "policies have segments in both train and test"
    )
    baselines = (
        Baseline("majority", "floor", "the most frequent label of the train split, everywhere", _majority),
        Baseline(
            "tfidf",
            "trained",
            "TF-IDF of words and pairs of words, a linear SVM for each label",
            _trained(words, balanced=False),
        ),
        Baseline(
            "tfidf-balanced",
            "trained",
            "as tfidf, each label's segments and all others weighed alike",
            _trained(words, balanced=True),
        ),
        Baseline(
            "tfidf-characters",
            "trained",
            "as tfidf-balanced, with two to five characters within words beside the words",
            _trained(words_and_characters, balanced=True),
        ),
    )
    schema = SCHEMA

    def load(self, split: str) -> Material:
        """The segments of a split."""
        return load(self.files, split)

    def parse(self, item: Item, found: Any) -> Given:  # noqa: ARG002 - of the seam
        """The labels named, each once, in order of name."""
        return Given(sorted(set(found["labels"])))

    def gold_reply(self, item: Item) -> str:
        """The labels of the annotators' majority."""
        return _reply(item.gold)

    @property
    def grouped(self) -> tuple[Measure, ...]:
        """Micro F1 and exact: segments with one label lack the others."""
        return tuple(measure for measure in self.measures if measure.name not in ("macro_f1", "f1_samples"))
