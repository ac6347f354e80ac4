"""The alternative annotator test: whether a judge may take the place of a person.

Each person is left out in turn, and asked whether the judge comes as near to the other people as the one left out
(Calderon, Reichart and Dror, 2025, https://aclanthology.org/2025.acl-long.782). The judge wins against a person where
that is so significantly, granted an advantage for what it saves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import stdtr

from genaipa.stats.arrays import as_values
from genaipa.stats.tests import count_discoveries

if TYPE_CHECKING:
    from genaipa.stats.arrays import Floats

FEWEST_PEOPLE = 2


class AlternativeTestResult(NamedTuple):
    """The result of the test over `people`; NaN below `FEWEST_PEOPLE`.

    `winning` is the share of people against whom the judge wins (0 to 1), and `advantage` the share of units in which
    it is as near to the others as the person is, averaged over people.
    """

    people: int
    winning: float = np.nan
    advantage: float = np.nan


def run_alternative_annotator_test(
    judge_values: Any,
    values_by_person: Any,
    *,
    epsilon: float,
    false_discovery_rate: float,
    least_answers_per_person: int = 2,
) -> AlternativeTestResult:
    """Compare a judge with each person of `values_by_person` (people, units), by the values that they gave.

    NaN for none.

    Near is the root of the mean squared difference. `epsilon` is the advantage that the judge is granted in the t test,
    and `false_discovery_rate` that of false discoveries among its wins (Benjamini and Yekutieli, 2001). Units without
    the judge's value or with fewer than two people's are left out, and a person with fewer than
    `least_answers_per_person` such units is not compared.
    """
    values, ratings = as_values(judge_values), np.asarray(values_by_person, dtype=np.float64)
    if ratings.ndim != 2 or ratings.shape[1] != len(values):  # noqa: PLR2004 - people and units
        raise ValueError(f"people's values have the shape {ratings.shape}, and the judge gave {len(values)}")
    units = ~np.isnan(values) & ((~np.isnan(ratings)).sum(axis=0) >= FEWEST_PEOPLE)
    values, ratings = values[units], ratings[:, units]
    compared = np.flatnonzero((~np.isnan(ratings)).sum(axis=1) >= least_answers_per_person).tolist()
    if len(compared) < FEWEST_PEOPLE:
        return AlternativeTestResult(len(compared))
    results = [_judge_win_share_and_p_value(values, ratings, person, epsilon) for person in compared]
    winning = count_discoveries([p for _, p in results], false_discovery_rate) / len(results)
    return AlternativeTestResult(len(results), winning, float(np.mean([advantage for advantage, _ in results])))


def _judge_win_share_and_p_value(
    judge_values: Floats, values_by_person: Floats, person_index: int, epsilon: float
) -> tuple[float, float]:
    """Return in how many units the judge is as near to the other people as a person is, and p of the test."""
    rated = ~np.isnan(values_by_person[person_index])
    other_ratings = np.delete(values_by_person, person_index, axis=0)[:, rated]
    # Differences that are equal in theory may differ in their last digit.
    sides = judge_values[rated], values_by_person[person_index, rated]
    judge, human = (np.sqrt(np.nanmean((other_ratings - side) ** 2, axis=0)).round(9) for side in sides)
    wins, losses = judge <= human, human <= judge
    lost = losses.astype(np.float64) - wins
    if np.ptp(lost) == 0:
        return float(wins.mean()), float(lost[0] >= epsilon)
    # `scipy.stats` takes half a second to import.
    t = (lost.mean() - epsilon) / np.sqrt(lost.var(ddof=1) / len(lost))
    return float(wins.mean()), float(stdtr(len(lost) - 1, t))
