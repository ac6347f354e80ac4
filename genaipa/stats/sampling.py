"""How many answers of each cell a sample takes that goes round its questions, and by what chance an answer is in it.

The order goes round: in each round every question gives one answer, from each of its documents in turn, and which one
is chance. Sums of y/π over the answers of the sample are then right on average (Horvitz and Thompson, 1952).
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class CellSample(NamedTuple):
    """How many answers of a cell are in the sample, and the chance of each answer of the cell to be in it (0 to 1)."""

    taken: int
    chance: float


def plan_cell_samples(answer_counts_by_question: Sequence[Sequence[int]], sample_size: int) -> list[list[CellSample]]:
    """Return what a sample of this size takes of the `answer_counts_by_question` of each question and document.

    The chance is over all orders of a question's documents and of their answers, given the number of answers that the
    question gives. Where the sample is smaller than the number of questions, some give none: the chance then has the
    question's own as a factor, so that a sum of y/π over all questions is right on average over the draws, though no
    single question's is.

    >>> plan_cell_samples([[2, 2], [4]], 2)
    [[CellSample(taken=1, chance=0.25), CellSample(taken=0, chance=0.25)], [CellSample(taken=1, chance=0.25)]]
    """
    totals = [sum(documents) for documents in answer_counts_by_question]
    turns, means = deal_round_robin_turns_and_expectations(totals, sample_size)
    some_without = any(total and not turn for total, turn in zip(totals, turns, strict=True))
    cells = []
    for documents, turn, mean in zip(answer_counts_by_question, turns, means, strict=True):
        turns_taken, _ = deal_round_robin_turns_and_expectations(documents, turn)
        _, mean_turns = deal_round_robin_turns_and_expectations(documents, 1 if some_without else turn)
        factor = mean if some_without else 1.0
        cells.append(
            [
                CellSample(number, mean_taken / available * factor if available else 0.0)
                for number, mean_taken, available in zip(turns_taken, mean_turns, documents, strict=True)
            ]
        )
    return cells


def deal_round_robin_turns_and_expectations(row_sizes: Sequence[int], turn_count: int) -> tuple[list[int], list[float]]:
    """Return how many each of several rows gives in that many turns, round by round, and the mean over their orders.

    >>> deal_round_robin_turns_and_expectations([3, 1, 3], 4)
    ([2, 1, 1], [1.5, 1.0, 1.5])
    """
    if turn_count < 0 or min(row_sizes, default=0) < 0:
        raise ValueError("a size or the number of turns is below 0")
    turn_count = min(turn_count, sum(row_sizes))
    after = range(max(row_sizes, default=0) + 1)
    whole = bisect_right(after, turn_count, key=lambda rounds: sum(min(row, rounds) for row in row_sizes)) - 1
    remaining = turn_count - sum(min(row, whole) for row in row_sizes)
    longer = [number for number, row in enumerate(row_sizes) if row > whole]
    turns_by_row = [min(row, whole) for row in row_sizes]
    means: list[float] = [float(number) for number in turns_by_row]
    for position, number in enumerate(longer):
        turns_by_row[number] += position < remaining
        means[number] += remaining / len(longer)
    return turns_by_row, means
