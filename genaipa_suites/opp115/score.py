"""OPP-115's figures: sets of labels against sets of labels."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from genaipa_suites.measure import Measure, by_part, f1, macro_f1, micro_f1
from genaipa_suites.opp115.data import LABELS
from genaipa_suites.spans import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa_suites.material import Outcome


def _predicted(outcome: Outcome) -> list[str]:
    return outcome.given.prediction or []


def _by_label(outcome: Outcome, labels: Sequence[str] = LABELS) -> list[float]:
    """(true positives, predicted, gold) of one label after another."""
    given, gold = _predicted(outcome), outcome.item.gold
    return [float(count) for one in labels for count in (one in given and one in gold, one in given, one in gold)]


def _overlap(outcome: Outcome) -> tuple[float, float]:
    """(F1 of a segment's labels, 1)."""
    return f1(counted(_predicted(outcome), outcome.item.gold)), 1.0


def _exact(outcome: Outcome) -> tuple[float, float]:
    return float(outcome.given.prediction == outcome.item.gold), 1.0


MEASURES = (
    # The first, since of one segment alone it is the F1 of its labels.
    Measure("micro_f1", "micro F1", "F1 over all labels of all segments together.", _by_label, micro_f1),
    Measure(
        "macro_f1",
        "macro F1",
        "Mean of the labels' F1, each over all segments, of those that a segment has: all twelve in a published split.",
        _by_label,
        macro_f1,
    ),
    Measure("f1_samples", "F1 by segment", "Mean over segments of the F1 of a segment's labels.", _overlap),
    Measure("exact", "exact", "Share of segments with all labels right, and no other label.", _exact),
)
PARTS = {"label": {label: by_part(partial(_by_label, labels=(label,)), "labels") for label in LABELS}}
"""Each label's F1, whose mean is macro F1."""
