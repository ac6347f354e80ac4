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


def ratio(numerator_and_denominator: Sequence[float]) -> float:
    """Divide the first count by the second; NaN over nothing."""
    return numerator_and_denominator[0] / numerator_and_denominator[1] if numerator_and_denominator[1] else math.nan


def f1(hit_predicted_gold_counts: Sequence[float]) -> float:
    """Return F1 of (true positives, predicted, gold); 0 where nothing is predicted or nothing is gold."""
    total = hit_predicted_gold_counts[1] + hit_predicted_gold_counts[2]
    return 2 * hit_predicted_gold_counts[0] / total if total else 0.0


def precision(hit_predicted_gold_counts: Sequence[float]) -> float:
    """Return the share of what is predicted that is right, from the counts of `f1`; 0 where nothing is predicted."""
    return hit_predicted_gold_counts[0] / hit_predicted_gold_counts[1] if hit_predicted_gold_counts[1] else 0.0


def recall(hit_predicted_gold_counts: Sequence[float]) -> float:
    """Return the share of what is gold that is predicted, from the counts of `f1`; NaN where nothing is gold."""
    return ratio((hit_predicted_gold_counts[0], hit_predicted_gold_counts[2]))


def make_f1_precision_recall_measures(
    count_hits_predicted_and_gold: Callable[[Outcome], Sequence[float]], noun: str
) -> tuple[Measure, ...]:
    """Return F1, precision and recall of one part, such as a label, from its (true positives, predicted, gold)."""
    return (
        Measure("f1", "F1", f"F1 of the {noun} of one part over all items.", count_hits_predicted_and_gold, f1),
        Measure(
            "precision",
            "precision",
            f"Share of the {noun} given that are right.",
            count_hits_predicted_and_gold,
            precision,
        ),
        Measure(
            "recall", "recall", f"Share of the right {noun} that are given.", count_hits_predicted_and_gold, recall
        ),
    )


def macro_f1(hit_predicted_gold_by_label: Sequence[float]) -> float:
    """Return the mean F1 of every label that is gold, from (true positives, predicted, gold) of label after label.

    A label that no item has, as a rare one in a sample, is in no mean: gold itself would get 0 for it.
    """
    label_scores = [
        f1(hit_predicted_gold_by_label[index : index + 3])
        for index in range(0, len(hit_predicted_gold_by_label), 3)
        if hit_predicted_gold_by_label[index + 2]
    ]
    return sum(label_scores) / len(label_scores) if label_scores else math.nan


def micro_f1(hit_predicted_gold_by_label: Sequence[float]) -> float:
    """Return F1 over all labels together, from the counts of `macro_f1`."""
    return f1([sum(hit_predicted_gold_by_label[index::3]) for index in range(3)])


def mean_recall(hit_predicted_gold_by_label: Sequence[float]) -> float:
    """Return the mean recall of every label that is gold, from the counts of `macro_f1`: balanced accuracy."""
    label_recalls = [
        hit_predicted_gold_by_label[index] / hit_predicted_gold_by_label[index + 2]
        for index in range(0, len(hit_predicted_gold_by_label), 3)
        if hit_predicted_gold_by_label[index + 2]
    ]
    return sum(label_recalls) / len(label_recalls) if label_recalls else math.nan


def f1_of_means(precision_recall_and_item_sums: Sequence[float]) -> float:
    """Return the harmonic mean of mean precision and mean recall, from (sum of precisions, sum of recalls, items)."""
    total = precision_recall_and_item_sums[0] + precision_recall_and_item_sums[1]
    return (
        2
        * precision_recall_and_item_sums[0]
        * precision_recall_and_item_sums[1]
        / total
        / precision_recall_and_item_sums[2]
        if total and precision_recall_and_item_sums[2]
        else 0.0
    )


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
