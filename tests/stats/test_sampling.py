"""A sample that goes round, against all the orders that chance may have taken."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from genaipa.stats.sampling import deal_round_robin_turns_and_expectations, plan_cell_samples


def take_round(rows: list[list[str]], turns: int) -> list[str]:
    """Take one of each row in turn."""
    columns = itertools.zip_longest(*rows)
    return [thing for column in columns for thing in column if thing is not None][:turns]


@pytest.mark.parametrize("turns", range(9))
def test_turns_are_those_of_all_orders(turns: int) -> None:
    """Of rows of 3, 1, 0 and 3 in their order, and on average over all orders."""
    sizes = [3, 1, 0, 3]
    rows = [[f"{row}{place}" for place in range(size)] for row, size in enumerate(sizes)]
    given, means = deal_round_robin_turns_and_expectations(sizes, turns)
    taken = Counter(thing[0] for thing in take_round(rows, turns))
    assert given == [taken[str(row)] for row in range(4)]
    orders = [Counter(thing[0] for thing in take_round(list(order), turns)) for order in itertools.permutations(rows)]
    assert means == pytest.approx([sum(order[str(row)] for order in orders) / len(orders) for row in range(4)])


@pytest.mark.parametrize("size", [2, 5, 7])
def test_sums_over_chances_are_right_on_average(size: int) -> None:
    """Of three questions about two documents, over all orders of questions and documents, where all answers weigh."""
    answers = [[2, 1], [1, 2], [3, 0]]
    sums = []
    for order in itertools.permutations(range(3)):
        for turned in itertools.product([False, True], repeat=3):
            rows = [answers[place][:: -1 if turned[place] else 1] for place in order]
            cells = plan_cell_samples(rows, size)
            sums.append(sum(cell.taken / cell.chance for row in cells for cell in row if cell.taken))
    assert np.mean(sums) == pytest.approx(9)


def test_even_cells_have_one_chance() -> None:
    """Of 32 questions with five answers each, 64 are 0.4 of all; a cell without an answer has none."""
    cells = plan_cell_samples([[1] * 5] * 32, 64)
    assert {cell.chance for row in cells for cell in row} == {0.4}
    assert sum(cell.taken for row in cells for cell in row) == 64
    assert plan_cell_samples([[0, 1]], 4) == [[(0, 0.0), (1, 1.0)]]
    with pytest.raises(ValueError, match="below 0"):
        deal_round_robin_turns_and_expectations([1, -1], 1)
