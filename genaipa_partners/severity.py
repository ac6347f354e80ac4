"""How harsh partners are, and averages from which that is taken out: arrays in, numbers out.

Partners differ by what they give to the same answers, and by what they give to their own, which chance dealt them
within each cell (a system and a language). Scores are compared within blocks: a shared answer is one, a cell's own
answers another, and each weighs as much as it tells. So nothing is taken from a language that a partner does not
score. Whoever is found to differ is left out of what the others are compared with, since one harsh partner makes all
others look lenient. Severities that are taken out of averages are fitted by weighted least squares beside the blocks,
in each set of partners that meet.
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
LEAST_ANSWERS = 10
"""Below this many answers by which to compare a partner, nothing is said of them."""
LEAST_PARTNERS = 3
"""Below this many partners nothing is said about others like them."""
_LEAST_DEGREES = 20
"""Degrees of freedom below which a variance is not known: own answers are then left out, shared ones weigh alike."""
_FIRST_RATIO, _LOWEST_RATIO = 0.7, 0.05
"""Of the variance of scores of one answer to that of scores of a cell's answers: to begin with, and at least."""
_LEAST_VARIANCE = 1e-9
_HIGHEST_LEVERAGE = 0.9


class PartnerSeverity(NamedTuple):
    """A partner's mean difference from the others: below 0 is harsher. `answers` are shared ones, `own` their own.

    The interval holds for all partners together. `stands_out` tells whether it leaves out 0; where it does, the others
    are compared with the rest alone.
    """

    answers: int
    difference: float = np.nan
    low: float = np.nan
    high: float = np.nan
    stands_out: bool = False
    own: int = 0


class _ScoreBlocks(NamedTuple):
    """The block of each score; by block, whether it is of own answers, and how much a score in it weighs.

    A weight is one over the variance of a block's scores, known with so many degrees of freedom.
    """

    labels: Labels
    are_own: NDArray[np.bool_]
    weights: Floats
    degrees: float = 1.0

    def count_scores_by_block(self, chosen_scores: NDArray[np.bool_]) -> Floats:
        """Count the scores in the mask by block."""
        return np.bincount(self.labels[chosen_scores], minlength=len(self.weights)).astype(float)

    def average_by_block(self, values: Floats) -> Floats:
        """Average values of the scores by block."""
        counts = np.bincount(self.labels, minlength=len(self.weights))
        return np.bincount(self.labels, values, minlength=len(self.weights)) / np.maximum(counts, 1)

    def select_scores(self, chosen_scores: NDArray[np.bool_]) -> _ScoreBlocks:
        """Return the blocks of the scores in the mask."""
        return self._replace(labels=self.labels[chosen_scores])


class _BlockFit(NamedTuple):
    """Severities beside the blocks: their information, its inverse, effects, residuals of scores, scores dealt.

    `dealt` counts the scores by block and partner.
    """

    information: Floats
    inverse: Floats
    effects: Floats
    residuals: Floats
    dealt: Floats


def measure_partner_severities(
    values: Floats,
    partners: Labels,
    answers: Labels,
    system_language_labels: Labels | None = None,
    confidence_level: float = SEVERITY_LEVEL,
) -> list[PartnerSeverity]:
    """Measure each partner's severity; a value is what a partner gave to an answer, each pair once, labels from 0.

    `system_language_labels` are the system and language of each score's answer, within which own answers were dealt by
    chance; below 0 where they were not. Without them shared answers alone are compared.

    >>> values = np.array([[60.0 + 7 * a % 11, 60.0 + 5 * a % 11, 50.0 + 3 * a % 11] for a in range(22)])
    >>> labels = np.indices((22, 3)).reshape(2, -1)
    >>> [partner.stands_out for partner in measure_partner_severities(values.ravel(), labels[1], labels[0])]
    [False, False, True]
    """
    number = int(partners.max()) + 1 if len(partners) else 0
    blocks = _form_and_weigh_blocks(values, partners, answers, system_language_labels, number)
    fit = _fit_severities_beside_blocks(values, partners, blocks, number)
    standing_out = np.zeros(number, dtype=bool)
    while True:
        severities = _compare_each_partner(values, partners, blocks, standing_out, confidence_level)
        distances = _measure_distances_from_median(fit, standing_out)
        candidates = [n for n in range(number) if severities[n].stands_out and np.isfinite(distances[n])]
        if not candidates:
            return severities
        standing_out[max(candidates, key=distances.__getitem__)] = True


def measure_severities_on_shared_answers(
    values: Floats, partners: Labels, answers: Labels, is_partner_left_out: NDArray[np.bool_]
) -> list[PartnerSeverity]:
    """Measure each partner's severity on shared answers alone, beside the others that are not left out."""
    blocks = _form_and_weigh_blocks(values, partners, answers, None, len(is_partner_left_out))
    return _compare_each_partner(values, partners, blocks, is_partner_left_out, SEVERITY_LEVEL)


def _compare_each_partner(
    values: Floats,
    partners: Labels,
    blocks: _ScoreBlocks,
    is_partner_left_out: NDArray[np.bool_],
    confidence_level: float,
) -> list[PartnerSeverity]:
    """Compare each partner with the others that are not left out."""
    number = len(is_partner_left_out)
    severities = []
    for partner in range(number):
        usable = (partners == partner) | ~is_partner_left_out[partners]
        mine = partners[usable] == partner
        severities.append(
            _compare_partner_with_others_in_blocks(
                values[usable], mine, blocks.select_scores(usable), confidence_level, number
            )
        )
    return severities


def _measure_distances_from_median(fit: _BlockFit, is_partner_left_out: NDArray[np.bool_]) -> Floats:
    """Return how far each partner's fitted severity is from the median of those whom they meet, directly or by others.

    NaN for those left out, and where two alone meet: nobody knows which of them differs.
    """
    distances = np.full(len(is_partner_left_out), np.nan)
    compared = ~is_partner_left_out
    for members in _find_connected_partner_masks(fit.information * np.outer(compared, compared)):
        if members.sum() > 2:  # noqa: PLR2004 - of two
            distances[members] = np.abs(fit.effects[members] - np.median(fit.effects[members]))
    return distances


def _form_and_weigh_blocks(
    values: Floats, partners: Labels, answers: Labels, system_language_labels: Labels | None, partner_count: int
) -> _ScoreBlocks:
    """Form the blocks, and weigh each by one over the variance of its scores, which all partners tell together."""
    size = int(answers.max()) + 1 if len(answers) else 0
    labels = answers
    if system_language_labels is not None:
        labels = np.where(
            (np.bincount(answers, minlength=size)[answers] == 1) & (system_language_labels >= 0),
            size + system_language_labels,
            answers,
        )
    different, labels = np.unique(labels, return_inverse=True)
    are_own = different >= size
    blocks = _ScoreBlocks(labels, are_own, np.where(are_own, _FIRST_RATIO, 1.0))
    # What blocks weigh hardly changes their residuals: the second round is as good as a tenth.
    for _ in range(2):
        fit = _fit_severities_beside_blocks(values, partners, blocks, partner_count)
        free, variance = _measure_degrees_and_variance(fit, blocks, ~are_own)
        own_free, own_variance = _measure_degrees_and_variance(fit, blocks, are_own)
        if own_free < _LEAST_DEGREES:
            return blocks._replace(weights=np.where(are_own, 0.0, 1 / variance), degrees=max(free, 1.0))
        ratio = variance / own_variance if free >= _LEAST_DEGREES else 1.0
        variance = own_variance * min(max(ratio, _LOWEST_RATIO), 1.0)
        blocks = blocks._replace(weights=np.where(are_own, 1 / own_variance, 1 / variance), degrees=own_free)
    return blocks


def _measure_degrees_and_variance(
    fit: _BlockFit, blocks: _ScoreBlocks, chosen_blocks: NDArray[np.bool_]
) -> tuple[float, float]:
    """Return the degrees of freedom and the variance of scores in the chosen blocks beside severities."""
    information = _severity_information_matrix(fit.dealt[chosen_blocks], blocks.weights[chosen_blocks])
    degrees = float(np.maximum(fit.dealt[chosen_blocks].sum(axis=1) - 1, 0).sum() - (fit.inverse * information).sum())
    squares = float((fit.residuals[chosen_blocks[blocks.labels]] ** 2).sum())
    return degrees, max(squares / max(degrees, 1.0), _LEAST_VARIANCE)


def _severity_information_matrix(score_counts: Floats, block_weights: Floats) -> Floats:
    """Return what blocks tell of severities; off the diagonal, below 0 for two partners who meet in a block."""
    shares = score_counts * (block_weights / np.maximum(score_counts.sum(axis=1), 1))[:, None]
    information: Floats = np.diag(block_weights @ score_counts) - shares.T @ score_counts
    return information


def _fit_severities_beside_blocks(
    values: Floats, partners: Labels, blocks: _ScoreBlocks, partner_count: int
) -> _BlockFit:
    """Fit severities by weighted least squares beside the mean of each block."""
    counts = np.bincount(blocks.labels * partner_count + partners, minlength=len(blocks.weights) * partner_count)
    dealt = counts.reshape(len(blocks.weights), partner_count).astype(float)
    information = _severity_information_matrix(dealt, blocks.weights)
    inverse = np.linalg.pinv(information, hermitian=True).astype(np.float64) if partner_count else information
    deviations = values - blocks.average_by_block(values)[blocks.labels]
    effects = inverse @ np.bincount(partners, blocks.weights[blocks.labels] * deviations, minlength=partner_count)
    expected = effects[partners]
    residuals = deviations - expected + blocks.average_by_block(expected)[blocks.labels]
    return _BlockFit(information, inverse, effects, residuals, dealt)


def _compare_partner_with_others_in_blocks(
    values: Floats, is_by_partner: NDArray[np.bool_], blocks: _ScoreBlocks, confidence_level: float, partner_count: int
) -> PartnerSeverity:
    """Compare a partner's scores, those in `is_by_partner`, with the others' in the same blocks.

    The interval reaches as far as the scores' spread around block and difference says, by answer and corrected for
    leverage, and no less far than all partners' spread: a few scores that are alike know too little of theirs.
    """
    counts, other_counts = blocks.count_scores_by_block(is_by_partner), blocks.count_scores_by_block(~is_by_partner)
    totals = np.maximum(counts + other_counts, 1)
    information = blocks.weights * counts * other_counts / totals
    total, meets = float(information.sum()), information > 0
    shared_count, own_count = int((meets & ~blocks.are_own).sum()), int(counts[meets & blocks.are_own].sum())
    if shared_count + own_count < LEAST_ANSWERS:
        return PartnerSeverity(shared_count, own=own_count)
    labels = blocks.labels
    treatment = is_by_partner - (counts / totals)[labels]
    weights = blocks.weights[labels] * treatment / total
    difference = float(weights @ values)
    adjusted = values - difference * is_by_partner
    is_own = blocks.are_own[labels]
    leverage = np.where(is_own, 1 / totals[labels] + weights * treatment, information[labels] / total)
    parts = (
        weights
        * (adjusted - blocks.average_by_block(adjusted)[labels])
        / np.sqrt(1 - np.minimum(leverage, _HIGHEST_LEVERAGE))
    )
    by_block = np.bincount(labels[~is_own], parts[~is_own], minlength=len(totals))
    variance = float(by_block @ by_block + parts[is_own] @ parts[is_own])
    expected = np.concatenate([information[~blocks.are_own] / total, (weights * treatment)[is_own]])
    degrees = max(float(expected.sum() ** 2 / (expected @ expected)) - 1, 1.0)
    share = 1 - (1 - confidence_level) / partner_count / 2
    reach = max(float(stdtrit(degrees, share)) * variance**0.5, float(stdtrit(blocks.degrees, share)) * total**-0.5)
    return PartnerSeverity(
        shared_count, difference, difference - reach, difference + reach, abs(difference) > reach, own_count
    )


class SeverityFit(NamedTuple):
    """Least-squares severities by partner, and what each answer adds to their errors (answers, partners).

    `effects` are beside the partners of reference, `from_all` beside all who meet.
    """

    effects: Floats
    influences: Floats
    from_all: Floats


def fit_partner_severities(
    values: Floats,
    partners: Labels,
    answers: Labels,
    system_language_labels: Labels | None = None,
    *,
    is_reference_partner: NDArray[np.bool_],
) -> SeverityFit:
    """Fit severities beside the blocks; in each set of partners who meet, those in `is_reference_partner` average 0.

    A partner who meets nobody has the severity 0. Labels are those of `measure_partner_severities`.
    """
    number, size = len(is_reference_partner), int(answers.max()) + 1
    blocks = _form_and_weigh_blocks(values, partners, answers, system_language_labels, number)
    fit = _fit_severities_beside_blocks(values, partners, blocks, number)
    centre, from_all = np.eye(number), np.eye(number)
    for members in _find_connected_partner_masks(fit.information):
        base = members & is_reference_partner if (members & is_reference_partner).any() else members
        centre -= np.outer(members, base / base.sum())
        from_all -= np.outer(members, members / members.sum())
    shares = fit.dealt / np.maximum(fit.dealt.sum(axis=1), 1)[:, None]
    treatments = np.eye(number)[partners] - shares[blocks.labels]
    parts = np.zeros((size, number))
    np.add.at(parts, answers, (blocks.weights[blocks.labels] * fit.residuals)[:, None] * treatments)
    return SeverityFit(centre @ fit.effects, parts @ (centre @ fit.inverse).T, from_all @ fit.effects)


def _find_connected_partner_masks(information: Floats) -> list[NDArray[np.bool_]]:
    """Return the sets of partners who meet, directly or by others."""
    linked = (
        np.linalg.matrix_power((np.abs(information) > 0) | np.eye(len(information), dtype=bool), len(information)) > 0
    )
    return [linked[first] for first in range(len(information)) if first == int(np.argmax(linked[first]))]


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


def average_without_partner_severity(
    values: Floats,
    partners: Labels,
    answers: Labels,
    fit: SeverityFit,
    chosen_scores: NDArray[np.bool_],
    answer_weights: Floats | None = None,
) -> AdjustedMean:
    """Average the answers of the scores in `chosen_scores`, such as a system's, each answer by all who scored it.

    `answer_weights` are the weights of all scores' answers in the mean, by default alike.

    For these partners chance is in the answers, also in those by which severities are fitted. Partners like these are
    others of whom these are a sample, harsh ones among them: the variance between their means, of which severity is a
    part, is in it.
    """
    value, partner, answer = values[chosen_scores], partners[chosen_scores], answers[chosen_scores]
    places, inverse = np.unique(answer, return_inverse=True)
    counts = np.bincount(inverse)
    score_weights = np.ones(len(answer)) if answer_weights is None else answer_weights[chosen_scores]
    answer_weight = np.bincount(inverse, score_weights / counts[inverse])
    answer_shares = answer_weight / answer_weight.sum()
    weight = answer_shares[inverse] / counts[inverse]
    by_answer = np.bincount(inverse, (value - fit.effects[partner]) / counts[inverse])
    adjusted, n = float(answer_shares @ by_answer), len(places)
    shares = np.bincount(partner, weight, minlength=len(fit.effects))
    influence = -fit.influences @ shares
    influence[places] += answer_shares * (by_answer - adjusted)
    variance = float((influence**2).sum()) * n / max(n - 1, 1)
    reach = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * variance**0.5 if n > 1 else np.nan
    raw = float(weight @ value)
    scorers = np.flatnonzero(shares)
    result = AdjustedMean(n, len(scorers), raw, adjusted, adjusted - reach, adjusted + reach)
    if len(scorers) < LEAST_PARTNERS:
        return result
    partner_means = np.bincount(partner, weight * value, minlength=len(shares))[scorers] / shares[scorers]
    between = float((shares[scorers] ** 2 * (partner_means - raw) ** 2).sum()) * len(scorers) / (len(scorers) - 1)
    wide = max(float(stdtrit(len(scorers) - 1, (1 + LEVEL) / 2)) * between**0.5, reach)
    like = float(weight @ (value - fit.from_all[partner]))
    return result._replace(partners_low=like - wide, partners_high=like + wide)
