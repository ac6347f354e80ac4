"""Policy-Detection's figures. A reply without a label counts as the wrong one of the two."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from genaipa_suites.measure import Measure, by_part, macro_f1
from genaipa_suites.policy_detection.data import LABELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa_suites.material import Outcome


def _right(outcome: Outcome) -> tuple[float, float]:
    return float(outcome.given.prediction == outcome.item.gold), 1.0


def _by_label(outcome: Outcome, labels: Sequence[str] = LABELS) -> Sequence[float]:
    gold = outcome.item.gold
    (other,) = (label for label in LABELS if label != gold)
    given = gold if outcome.given.prediction == gold else other
    return [float(count) for label in labels for count in (label == given == gold, label == given, label == gold)]


MEASURES = (
    # The first, since of one page alone it is right or wrong.
    Measure("micro_f1", "micro F1", "Share of pages with the right label, which is micro F1 over both labels.", _right),
    Measure(
        "macro_f1",
        "macro F1",
        "Mean of the two labels' F1; a faulty reply counts as the wrong label.",
        _by_label,
        macro_f1,
    ),
)
PARTS = {"label": {label: by_part(partial(_by_label, labels=(label,)), "labels") for label in LABELS}}
