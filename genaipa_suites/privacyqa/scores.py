"""Precision, recall and F1 of chosen sentences against those that annotators marked, one by one and together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


class Scores(NamedTuple):
    """Precision, recall and F1, from 0 to 1."""

    precision: float
    recall: float
    f1: float


NOTHING = Scores(0.0, 0.0, 0.0)


def overlap_scores(predicted: Collection[int], reference: Collection[int]) -> Scores:
    """Score a set of sentences against one reference.

    >>> overlap_scores([1, 2, 3, 4], [1, 9])
    Scores(precision=0.25, recall=0.5, f1=0.3333333333333333)
    >>> overlap_scores([], [])
    Scores(precision=1.0, recall=1.0, f1=1.0)
    """
    if not predicted and not reference:
        return Scores(1.0, 1.0, 1.0)
    common = len(set(predicted) & set(reference))
    if not common:
        return NOTHING
    precision, recall = common / len(set(predicted)), common / len(set(reference))
    return Scores(precision, recall, 2 * precision * recall / (precision + recall))


def best_score_per_metric(predicted: Collection[int], references: Sequence[Collection[int]]) -> Scores:
    """Return the best precision, the best recall and the best F1, each over all references, maybe different ones."""
    scores = [overlap_scores(predicted, reference) for reference in references]
    return Scores(*map(max, zip(*scores, strict=True)))


def scores_with_best_f1(predicted: Collection[int], references: Sequence[Collection[int]]) -> Scores:
    """Return the scores against the reference with the best F1, as PLUE has them; of equals the first."""
    return max((overlap_scores(predicted, reference) for reference in references), key=lambda scores: scores.f1)


def mean_scores_leaving_one_out(predicted: Collection[int], references: Sequence[Collection[int]]) -> Scores:
    """Return the mean of `best_score_per_metric` over all ways to leave out one of several references: the paper's."""
    reference_sets = _references_without_each(references)
    return _mean_scores([best_score_per_metric(predicted, other_references) for other_references in reference_sets])


def mean_scores_between_annotators(references: Sequence[Collection[int]]) -> Scores:
    """Return the mean over two or more annotators of each one's scores against the others, the paper's human row."""
    return _mean_scores(
        [
            best_score_per_metric(reference, other_references)
            for reference, other_references in zip(references, _references_without_each(references), strict=True)
        ]
    )


def reference_agreeing_best_with_all(references: Sequence[Collection[int]]) -> Collection[int]:
    """Return the reference that agrees best with all: highest mean F1; of equals the first."""
    return max(
        references, key=lambda candidate: sum(overlap_scores(candidate, reference).f1 for reference in references)
    )


def _references_without_each(references: Sequence[Collection[int]]) -> list[list[Collection[int]]]:
    return [[*references[:index], *references[index + 1 :]] for index in range(len(references))]


def _mean_scores(scores: Sequence[Scores]) -> Scores:
    return Scores(*(sum(values) / len(scores) for values in zip(*scores, strict=True)))
