"""Measures of a suite: each named by its definition, and made of counts that add up over items.

Since counts add up, an interval is over sums of counts by policy, and no measure is ever computed item by item again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa_suites.material import Outcome


def ratio(counts: Sequence[float]) -> float:
    """Divide the first count by the second; NaN over nothing."""
    return counts[0] / counts[1] if counts[1] else math.nan


def f1(counts: Sequence[float]) -> float:
    """Return F1 of (true positives, predicted, gold); 0 where nothing is predicted or nothing is gold."""
    total = counts[1] + counts[2]
    return 2 * counts[0] / total if total else 0.0


def precision(counts: Sequence[float]) -> float:
    """Return the share of what is predicted that is right, from the counts of `f1`; 0 where nothing is predicted."""
    return counts[0] / counts[1] if counts[1] else 0.0


def recall(counts: Sequence[float]) -> float:
    """Return the share of what is gold that is predicted, from the counts of `f1`; NaN where nothing is gold."""
    return ratio((counts[0], counts[2]))


def make_f1_precision_recall_measures(counts: Callable[[Outcome], Sequence[float]], noun: str) -> tuple[Measure, ...]:
    """Return F1, precision and recall of one part, such as a label, from its (true positives, predicted, gold)."""
    return (
        Measure("f1", "F1", f"F1 of the {noun} of one part over all items.", counts, f1),
        Measure("precision", "precision", f"Share of the {noun} given that are right.", counts, precision),
        Measure("recall", "recall", f"Share of the right {noun} that are given.", counts, recall),
    )


def macro_f1(counts: Sequence[float]) -> float:
    """Return the mean F1 of every label that is gold, from (true positives, predicted, gold) of label after label.

    A label that no item has, as a rare one in a sample, is in no mean: gold itself would get 0 for it.
    """
    label_scores = [f1(counts[index : index + 3]) for index in range(0, len(counts), 3) if counts[index + 2]]
    return sum(label_scores) / len(label_scores) if label_scores else math.nan


def micro_f1(counts: Sequence[float]) -> float:
    """Return F1 over all labels together, from the counts of `macro_f1`."""
    return f1([sum(counts[index::3]) for index in range(3)])


def mean_recall(counts: Sequence[float]) -> float:
    """Return the mean recall of every label that is gold, from the counts of `macro_f1`: balanced accuracy."""
    label_recalls = [counts[index] / counts[index + 2] for index in range(0, len(counts), 3) if counts[index + 2]]
    return sum(label_recalls) / len(label_recalls) if label_recalls else math.nan


def f1_of_means(counts: Sequence[float]) -> float:
    """Return the harmonic mean of mean precision and mean recall, from (sum of precisions, sum of recalls, items)."""
    total = counts[0] + counts[1]
    return 2 * counts[0] * counts[1] / total / counts[2] if total and counts[2] else 0.0


@dataclass(frozen=True)
class Measure:
    """A figure of a suite, from 0 to 1 (shown as a percentage).

    `name` is the definition in one word (`f1_mean`, `em`), `heading` that in a table, `definition` a
    sentence for whoever reads it. `counts` gives an outcome's counts, always as many; `value` makes the figure of their
    sums over outcomes, NaN where it is not defined. A published row may only be in a column of the same name.
    """

    name: str
    heading: str
    definition: str
    counts: Callable[[Outcome], Sequence[float]]
    value: Callable[[Sequence[float]], float] = ratio

    def compute(self, outcomes: Iterable[Outcome]) -> float:
        """Compute the figure over these outcomes; NaN over none."""
        sums: list[float] = []
        for outcome in outcomes:
            counts = self.counts(outcome)
            sums = [total + count for total, count in zip(sums, counts, strict=True)] if sums else list(counts)
        return self.value(sums) if sums else math.nan
