"""Policy-Detection as PrivacyGLUE asks it: whether the text of a web page is a privacy policy."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from genaipa_suites.baseline import Baseline
from genaipa_suites.linear import label_sets
from genaipa_suites.material import Given
from genaipa_suites.policy_detection.data import LABELS, OTHER, POLICY, SOURCE, SPLITS, TITLE, load
from genaipa_suites.policy_detection.score import MEASURES, PARTS
from genaipa_suites.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Callable

    from genaipa_suites.material import Item, Material

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"label": {"type": "string", "enum": list(LABELS)}},
    "required": ["label"],
    "additionalProperties": False,
}


def _reply(label: str) -> str:
    return json.dumps({"label": label})


def _majority(suite: Suite) -> Callable[[Item], str]:
    ((label, _),) = Counter(item.gold for item in suite.training.items).most_common(1)
    return lambda _item: _reply(label)


def _tfidf(suite: Suite) -> Callable[[Item], str]:
    items = suite.training.items
    gold = [[POLICY] if item.gold == POLICY else [] for item in items]
    labels_of = label_sets([item.shown["text"] for item in items], gold)
    return lambda item: _reply(POLICY if labels_of(item.shown["text"]) else OTHER)


class PolicyDetection(Suite):
    """Texts of web pages that were taken for privacy policies; most are."""

    title = TITLE
    about = "Tell whether the text of a web page is a privacy policy. Scored is the label."
    citation = (
        "Amos et al. 2021, Privacy Policies over Time: Curation and Analysis of a Million-Document Dataset (WWW); as "
        "split in PrivacyGLUE: Shankar et al. 2023, Applied Sciences 13(6), 3701."
    )
    data = (SOURCE,)
    splits = SPLITS
    measures = MEASURES
    parts = PARTS
    baselines = (
        Baseline("majority", "floor", "the more frequent label of the train split, everywhere", _majority),
        Baseline("tfidf", "trained", "TF-IDF of words and pairs of words, a linear SVM", _tfidf),
    )
    schema = SCHEMA

    def load(self, split: str) -> Material:
        """The pages of a split."""
        return load(self.files, split)

    def parse(self, item: Item, found: Any) -> Given:  # noqa: ARG002 - of the seam
        """The label."""
        return Given(found["label"])

    def gold_reply(self, item: Item) -> str:
        """The right label."""
        return _reply(item.gold)
