"""Exact tests of whether replies to the same questions changed between two days, for shares, which may be rare.

Had nothing changed, a question's replies of both days would be draws alike, and which of them came on which day would
be chance: every deal of them to the days was as likely. So the p value is counted, and not taken from a distribution
that holds for many alone. With one reply a day this is McNemar's exact test of pairs, with several Fisher's test over
the questions together. Replies to other questions are taken to be independent of each other.

Numbers in, numbers out: nothing here knows what is counted.
"""

from __future__ import annotations

from collections import defaultdict
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

STEPS = 60
"""Steps of a share from 0 to 1: halves to sixths are exact, and a sum of rounded shares is tested exactly, too."""


class PermutationDistribution(NamedTuple):
    """The change of one question in steps, from any start: the chance of each value by deals, and the value seen."""

    chances: dict[int, float]
    seen: int


def permute_reply_values(values_before: Sequence[float], values_after: Sequence[float]) -> PermutationDistribution:
    """Deal replies, each with a value from 0 to 1, to two days."""
    weight = STEPS * (1 / len(values_before) + 1 / len(values_after)) / 2
    # The second day's replies are dealt: a higher one raises the change.
    return permute_integers_between_sides(
        *([round(weight * value) for value in values] for values in (values_after, values_before))
    )


def permute_integers_between_sides(
    chosen_values: Sequence[int], other_values: Sequence[int]
) -> PermutationDistribution:
    """Deal whole numbers from 0 to two sides; the value of a deal is the sum of the `chosen` side."""
    values = [*chosen_values, *other_values]
    # The ways to a sum, by how many of the values are in it.
    ways = np.zeros((len(chosen_values) + 1, sum(values) + 1))
    ways[0, 0] = 1
    for value in values:
        ways[1:, value:] += ways[:-1, : ways.shape[1] - value].copy()
    whole, possible = comb(len(values), len(chosen_values)), np.flatnonzero(ways[-1])
    return PermutationDistribution(
        dict(zip(possible.tolist(), (ways[-1, possible] / whole).tolist(), strict=True)), sum(chosen_values)
    )


def permute_texts_to_test_likeness_loss(
    replies_before: Sequence[Any], replies_after: Sequence[Any]
) -> PermutationDistribution:
    """Deal replies, each with its words, to two days: is the second day less like the first than the first is itself.

    The likeness is the share of pairs of replies that are equal. The first day has two replies or more.
    """
    first, second = len(replies_before), len(replies_after)

    def likeness_loss_in_steps(across: int, inside: int) -> int:
        """Return the share of equal pairs across days, less that of pairs of the first day."""
        return round(STEPS * (across / (first * second) - 2 * inside / (first * (first - 1))))

    # The ways to (replies of the first day, equal pairs across, equal pairs of the first day), text by text.
    ways: dict[tuple[int, int, int], int] = {(0, 0, 0): 1}
    observed = 0, 0
    for reply in dict.fromkeys((*replies_before, *replies_after)):
        before_count, total = replies_before.count(reply), replies_before.count(reply) + replies_after.count(reply)
        observed = observed[0] + before_count * (total - before_count), observed[1] + comb(before_count, 2)
        longer: defaultdict[tuple[int, int, int], int] = defaultdict(int)
        for (dealt, across, inside), number in ways.items():
            for chosen in range(min(total, first - dealt) + 1):
                state = dealt + chosen, across + chosen * (total - chosen), inside + comb(chosen, 2)
                longer[state] += number * comb(total, chosen)
        ways = longer
    whole, chances = comb(first + second, first), defaultdict[int, float](float)
    for (dealt, across, inside), number in ways.items():
        if dealt == first:
            chances[likeness_loss_in_steps(across, inside)] += number / whole
    return PermutationDistribution(dict(chances), likeness_loss_in_steps(*observed))


def exact_p_value(distributions: Iterable[PermutationDistribution]) -> float:
    """Give the two-sided p value that nothing changed: twice the chance of the sum that was seen, or one farther out.

    >>> exact_p_value([permute_reply_values([0.0], [1.0])] * 6)
    0.03125
    """
    moving = [deals for deals in distributions if len(deals.chances) > 1]
    if not moving:
        return 1.0
    # Steps that all of them share are counted as one: most shares are halves, or whole.
    step = int(np.gcd.reduce([total - min(deals.chances) for deals in moving for total in deals.chances]))
    chances, observed = np.ones(1), 0
    for deals in moving:
        smallest = min(deals.chances)
        longer = np.zeros(len(chances) + (max(deals.chances) - smallest) // step)
        for total, chance in deals.chances.items():
            position = (total - smallest) // step
            longer[position : position + len(chances)] += chance * chances
        chances = longer
        observed += (deals.seen - smallest) // step
    return _double_smaller_tail_probability(chances, observed)


def _double_smaller_tail_probability(chances: NDArray[np.float64], observed_index: int) -> float:
    # The smaller tail is summed from its own end, since 1 less the other has lost its digits.
    return float(min(1.0, 2 * min(chances[: observed_index + 1].sum(), chances[observed_index:].sum())))
