"""How often intervals of clustered shares, of F1 and of their differences hold the truth, near 0 and 1 as well.

    python -m benchmarks.coverage_shares [--quick] [--studies N]

The chance of a hit is of a beta distribution over policies, so that two items of a policy are alike by a correlation of
.02 to .3; a policy has 12, 30 or 60 items, or the k-th has 60 over the root of k. A cell is the worst coverage over
these 20 kinds of studies, the mean, and the mean width in points.
"""

from __future__ import annotations

import itertools
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from benchmarks.__main__ import print_table
from benchmarks.coverage import print_section, simulation
from genaipa.stats.shares import bounded_statistic_interval, share_difference_interval, share_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ends = tuple[float, float]

SHARES = (0.5, 0.9, 0.97, 0.99)
POLICIES = (3, 5, 8, 20)
ALIKE = (0.02, 0.05, 0.1, 0.2, 0.3)
_ITEMS: tuple[Callable[[int], Floats], ...] = (
    lambda n: np.full(n, 12.0),
    lambda n: np.full(n, 30.0),
    lambda n: np.full(n, 60.0),
    lambda n: np.round(60 / np.arange(1, n + 1) ** 0.5),
)


def chances(random: np.random.Generator, share: float, alike: float, policies: int) -> Floats:
    """Return the chance of a hit in each policy, of this mean; items of a policy correlate by `alike`."""
    worth = 1 / alike - 1
    return random.beta(share * worth, (1 - share) * worth, policies)


def beta_binomial(random: np.random.Generator, share: float, alike: float, items: Any) -> Floats:
    """Return the hits of each policy, of so many items."""
    drawn = random.binomial(np.asarray(items, dtype=int), chances(random, share, alike, len(items)))
    return drawn.astype(np.float64)


def _jackknife(without: Floats, items: Floats) -> float:
    """Return the standard error over policies, times Student's t."""
    number = len(without)
    error = np.sqrt((number - 1) / number * np.square(without - without.mean()).sum())
    return float(error * stats.t.ppf(0.975, max(1.0, items.sum() ** 2 / np.square(items).sum() - 1)))


def _plain(value: float, without: Floats, items: Floats) -> Ends:
    half = _jackknife(without, items)
    return max(0.0, value - half), min(1.0, value + half)


def _share_by_jackknife(hits: Floats, items: Floats) -> Ends:
    """Return the jackknife with Student's t, cut to the scale."""
    return _plain(hits.sum() / items.sum(), _without(hits, items), items)


def _without(hits: Floats, items: Floats) -> Floats:
    return (hits.sum() - hits) / (items.sum() - items)


def _f1(random: np.random.Generator, share: float, alike: float, items: Floats) -> tuple[float, Floats]:
    """F1, and F1 without each policy: as many spans are false as are missed, on average."""
    chance, gold = chances(random, share, alike, len(items)), items.astype(int)
    hits, false = random.binomial(gold, chance), random.binomial(gold, 1 - chance)
    both = gold + hits + false
    return float(2 * hits.sum() / both.sum()), 2 * (hits.sum() - hits) / (both.sum() - both)


def _kinds(policies: int) -> Iterator[tuple[float, Floats]]:
    yield from ((alike, sizes(policies)) for alike, sizes in itertools.product(ALIKE, _ITEMS))


def rows(
    studies: int, draw: Callable[[np.random.Generator, float, float, Floats], dict[str, tuple[Ends, float]]]
) -> Iterator[tuple[str, ...]]:
    """For each rule and share, a cell for each number of policies."""
    for share in SHARES:
        found: dict[str, list[str]] = {}
        for policies in POLICIES:
            each: dict[str, list[tuple[float, float]]] = {}
            for place, (alike, items) in enumerate(_kinds(policies)):
                random, held = np.random.default_rng([5, int(100 * share), policies, place]), {}
                for _ in range(studies):
                    for rule, ((low, high), truth) in draw(random, share, alike, items).items():
                        held.setdefault(rule, []).append((low <= truth <= high, high - low))
                for rule, known in held.items():
                    each.setdefault(rule, []).append(tuple(np.mean(known, axis=0)))
            for rule, known in each.items():
                coverage, width = np.array(known).T
                cell = f"{coverage.min():.0%}/{coverage.mean():.0%} ({100 * width.mean():.0f})"
                found.setdefault(rule, []).append(cell)
        yield from ((f"{share:g}", rule, *cells) for rule, cells in found.items())


def shares(random: np.random.Generator, share: float, alike: float, items: Floats) -> dict[str, tuple[Ends, float]]:
    """Intervals of one study's share."""
    hits = beta_binomial(random, share, alike, items)
    return {
        "jackknife, t": (_share_by_jackknife(hits, items), share),
        "Korn-Graubard, floor": (share_interval(hits, items), share),
    }


def f1s(random: np.random.Generator, share: float, alike: float, items: Floats) -> dict[str, tuple[Ends, float]]:
    """Intervals of one study's F1."""
    value, without = _f1(random, share, alike, items)
    return {
        "jackknife, t": (_plain(value, without, items), share),
        "logit, t": (bounded_statistic_interval(value, _jackknife(without, items), items), share),
    }


def differences(
    random: np.random.Generator, share: float, alike: float, items: Floats, lower: float = 0.0
) -> dict[str, tuple[Ends, float]]:
    """Intervals of the difference of systems that find the same policies hard, the other one `lower` by this part."""
    chance, number = chances(random, share, alike, len(items)), items.astype(int)
    one, other = (random.binomial(number, chance * less).astype(np.float64) for less in (1, 1 - lower))
    half = _jackknife(_without(one, items) - _without(other, items), items)
    apart = float((one - other).sum() / items.sum())
    return {
        "jackknife, t": ((apart - half, apart + half), share * lower),
        "Newcombe of both": (share_difference_interval((one, items), (other, items)), share * lower),
    }


def main() -> None:
    """Print the tables."""
    studies, _ = simulation("coverage_shares", __doc__)
    begun = time.process_time()
    print_section(
        "Shares near 0 and 100",
        "Worst and mean coverage over 20 kinds of studies, and mean width in points. Items of a policy correlate by "
        ".02 to .3, and it has 12 to 60 of them.",
    )
    for figure, draw in (
        ("share", shares),
        ("F1", f1s),
        ("difference of alike shares", differences),
        ("difference of a tenth", partial(differences, lower=0.1)),
    ):
        print_table((figure, "rule", *(f"{n} policies" for n in POLICIES)), list(rows(studies, draw)))
    print(f"\n{studies} studies of each kind, {(time.process_time() - begun) / 60:.1f} minutes of processor")


if __name__ == "__main__":
    main()
