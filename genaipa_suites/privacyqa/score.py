"""PrivacyQA's scores of a set of sentences against the sets of several annotators (Ravichander et al. 2019, 4.2).

Precision, recall and F1 of two sets: all 1 where both are empty, all 0 where one is or they share nothing.
"""

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


def overlap(predicted: Collection[int], reference: Collection[int]) -> Scores:
    """Scores of a set of sentences against one reference.

    >>> overlap([1, 2, 3, 4], [1, 9])
    Scores(precision=0.25, recall=0.5, f1=0.3333333333333333)
    >>> overlap([], [])
    Scores(precision=1.0, recall=1.0, f1=1.0)
    """
    if not predicted and not reference:
        return Scores(1.0, 1.0, 1.0)
    common = len(set(predicted) & set(reference))
    if not common:
        return NOTHING
    precision, recall = common / len(set(predicted)), common / len(set(reference))
    return Scores(precision, recall, 2 * precision * recall / (precision + recall))


def each_best(predicted: Collection[int], references: Sequence[Collection[int]]) -> Scores:
    """The best precision, the best recall and the best F1, each over all references, which may be different ones."""
    every = [overlap(predicted, reference) for reference in references]
    return Scores(*map(max, zip(*every, strict=True)))


def best(predicted: Collection[int], references: Sequence[Collection[int]]) -> Scores:
    """The scores against the reference with the best F1, as PLUE has them; of equals the first."""
    return max((overlap(predicted, reference) for reference in references), key=lambda scores: scores.f1)


def leave_one_out(predicted: Collection[int], references: Sequence[Collection[int]]) -> Scores:
    """The mean of `each_best` over all ways to leave out one of the references: the paper's, of two or more."""
    return _mean([each_best(predicted, others) for others in _others(references)])


def between_people(references: Sequence[Collection[int]]) -> Scores:
    """The mean over annotators of each one's scores against the others, the paper's human row; of two or more."""
    return _mean([each_best(own, others) for own, others in zip(references, _others(references), strict=True)])


def agreed(references: Sequence[Collection[int]]) -> Collection[int]:
    """The reference that agrees best with all: highest mean F1; of equals the first."""
    return max(references, key=lambda own: sum(overlap(own, other).f1 for other in references))


def _others(references: Sequence[Collection[int]]) -> list[list[Collection[int]]]:
    return [[*references[:place], *references[place + 1 :]] for place in range(len(references))]


def _mean(every: Sequence[Scores]) -> Scores:
    return Scores(*(sum(values) / len(every) for values in zip(*every, strict=True)))
