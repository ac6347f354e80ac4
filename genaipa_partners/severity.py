"""How harsh partners are, and averages from which that is taken out: arrays in, numbers out.

Partners differ by what they give to the same answers. These are a random part of all, so that Student's t over them is
for all answers. Whoever is found to differ is left out of what the others are compared with, since one harsh partner
makes all others look lenient. Severities that are taken out of averages are fitted by least squares beside the
answers, in each set of partners that share answers with each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import stdtrit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genaipa.stats.arrays import Floats, Labels

LEVEL = 0.95
SEVERITY_LEVEL = 0.975
"""Of the intervals of severities, for all partners together: nobody should be called harsh by chance.

At 0.95, somebody was blamed in 5 of 100 simulated studies of equally severe partners.
"""
LEAST_SHARED = 10
"""Below this many shared answers nothing is said of a partner."""
LEAST_PARTNERS = 3
"""Below this many partners nothing is said about others like them."""


class PartnerSeverity(NamedTuple):
    """A partner's mean difference from the others on the same answers: below 0 is harsher.

    The interval holds for all partners together. `stands_out` tells whether it leaves out 0; where it does, the others
    are compared with the rest alone.
    """

    answers: int
    difference: float = np.nan
    low: float = np.nan
    high: float = np.nan
    stands_out: bool = False


def measure_severities(
    values: Floats, partners: Labels, answers: Labels, level: float = SEVERITY_LEVEL
) -> list[PartnerSeverity]:
    """Measure each partner's severity; a value is what a partner gave to an answer, each pair once, labels from 0.

    >>> values = np.array([[60.0 + 7 * a % 11, 60.0 + 5 * a % 11, 50.0 + 3 * a % 11] for a in range(22)])
    >>> labels = np.indices((22, 3)).reshape(2, -1)
    >>> [partner.stands_out for partner in measure_severities(values.ravel(), labels[1], labels[0])]
    [False, False, True]
    """
    number = int(partners.max()) + 1 if len(partners) else 0
    size = int(answers.max()) + 1 if len(answers) else 0
    dealt = np.zeros((size, number))
    dealt[answers, partners] = 1.0
    meets = (dealt.T @ dealt > 0) & ~np.eye(number, dtype=bool)
    standing_out: list[int] = []
    severities = _compare_with_others(values, partners, answers, standing_out, level)
    while True:
        compared = ~np.isin(np.arange(number), standing_out)
        # Of two, nobody knows which one differs: both stay.
        candidates = [
            n for n in range(number) if severities[n].stands_out and compared[n] and (meets[n] & compared).sum() > 1
        ]
        if not candidates:
            return severities
        standing_out.append(max(candidates, key=lambda n: abs(severities[n].difference)))
        severities = _compare_with_others(values, partners, answers, standing_out, level)


def _compare_with_others(
    values: Floats, partners: Labels, answers: Labels, left_out: list[int], level: float
) -> list[PartnerSeverity]:
    """Compare each partner with the others who are not left out."""
    number, size = int(partners.max()) + 1 if len(partners) else 0, int(answers.max()) + 1 if len(answers) else 0
    usable = ~np.isin(partners, left_out)
    counts = np.bincount(answers[usable], minlength=size)
    sums = np.bincount(answers[usable], values[usable], minlength=size)
    severities = []
    for partner in range(number):
        mask = partners == partner
        partner_values, partner_answers = values[mask], answers[mask]
        other_counts, other_sums = counts[partner_answers], sums[partner_answers]
        if partner not in left_out:
            other_counts, other_sums = other_counts - 1, other_sums - partner_values
        shared = other_counts > 0
        differences = partner_values[shared] - other_sums[shared] / other_counts[shared]
        n = len(differences)
        if n < LEAST_SHARED:
            severities.append(PartnerSeverity(n))
            continue
        mean = float(differences.mean())
        error = float(differences.std(ddof=1)) / n**0.5
        reach = float(stdtrit(n - 1, 1 - (1 - level) / number / 2)) * error
        severities.append(PartnerSeverity(n, mean, mean - reach, mean + reach, abs(mean) > reach))
    return severities


class SeverityFit(NamedTuple):
    """Least-squares severities by partner, and what each answer adds to their errors (answers, partners).

    `effects` are beside the partners of reference, `from_all` beside all who share answers.
    """

    effects: Floats
    influences: Floats
    from_all: Floats


def fit_severities(values: Floats, partners: Labels, answers: Labels, reference: NDArray[np.bool_]) -> SeverityFit:
    """Fit severities beside the answers; in each set of partners who share answers, those in `reference` average 0.

    A partner who shares no answer has the severity 0.
    """
    number, size = len(reference), int(answers.max()) + 1
    counts = np.bincount(answers, minlength=size)
    means = np.bincount(answers, values, minlength=size) / np.maximum(counts, 1)
    dealt = np.zeros((size, number))
    dealt[answers, partners] = 1.0
    together = dealt[counts > 1]
    inner = np.diag(together.sum(axis=0)) - (together / counts[counts > 1][:, None]).T @ together
    deviations = np.zeros((size, number))
    deviations[answers, partners] = np.where(counts[answers] > 1, values - means[answers], 0.0)
    inverse = np.linalg.pinv(inner, hermitian=True)
    centre, from_all = np.eye(number), np.eye(number)
    for members in _find_connected(inner):
        base = members & reference if (members & reference).any() else members
        centre -= np.outer(members, base / base.sum())
        from_all -= np.outer(members, members / members.sum())
    fitted = inverse @ deviations.sum(axis=0)
    effects = centre @ fitted
    expected = dealt * effects
    expected -= dealt * (expected.sum(axis=1) / np.maximum(counts, 1))[:, None]
    residuals = np.where(counts[:, None] > 1, deviations - expected, 0.0)
    return SeverityFit(effects, residuals @ (centre @ inverse).T, from_all @ fitted)


def _find_connected(inner: Floats) -> list[NDArray[np.bool_]]:
    """Return the sets of partners who share answers, directly or by others."""
    linked = np.linalg.matrix_power((np.abs(inner) > 0) | np.eye(len(inner), dtype=bool), len(inner)) > 0
    return [linked[first] for first in range(len(inner)) if first == int(np.argmax(linked[first]))]


class AdjustedMean(NamedTuple):
    """A mean without its partners' severities: for these partners, and for partners like these (NaN below three)."""

    answers: int
    partners: int
    mean: float
    adjusted: float
    low: float
    high: float
    partners_low: float = np.nan
    partners_high: float = np.nan


def average_without_severity(
    values: Floats, partners: Labels, answers: Labels, fit: SeverityFit, mask: NDArray[np.bool_], level: float = LEVEL
) -> AdjustedMean:
    """Average the answers of the scores in `mask`, such as a system's, each answer by all who scored it.

    For these partners chance is in the answers, also in those by which severities are fitted. Partners like these are
    others of whom these are a sample, harsh ones among them: the variance between their means, of which severity is a
    part, is in it.
    """
    value, partner, answer = values[mask], partners[mask], answers[mask]
    places, inverse = np.unique(answer, return_inverse=True)
    counts = np.bincount(inverse)
    weight = 1 / counts[inverse] / len(places)
    by_answer = np.bincount(inverse, (value - fit.effects[partner]) / counts[inverse])
    adjusted, n = float(by_answer.mean()), len(places)
    shares = np.bincount(partner, weight, minlength=len(fit.effects))
    influence = -fit.influences @ shares
    influence[places] += (by_answer - adjusted) / n
    variance = float((influence**2).sum()) * n / max(n - 1, 1)
    reach = float(stdtrit(n - 1, (1 + level) / 2)) * variance**0.5 if n > 1 else np.nan
    raw = float(weight @ value)
    scorers = np.flatnonzero(shares)
    result = AdjustedMean(n, len(scorers), raw, adjusted, adjusted - reach, adjusted + reach)
    if len(scorers) < LEAST_PARTNERS:
        return result
    partner_means = np.bincount(partner, weight * value, minlength=len(shares))[scorers] / shares[scorers]
    between = float((shares[scorers] ** 2 * (partner_means - raw) ** 2).sum()) * len(scorers) / (len(scorers) - 1)
    wide = max(float(stdtrit(len(scorers) - 1, (1 + level) / 2)) * between**0.5, reach)
    like = float(weight @ (value - fit.from_all[partner]))
    return result._replace(partners_low=like - wide, partners_high=like + wide)
