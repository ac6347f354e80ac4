"""What a split would tell of a harsh partner, before anybody has scored: from who has which answers alone."""

from __future__ import annotations

from collections import Counter
from math import pi
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import nctdtr, ndtr, stdtrit

from genaipa.words import format_count
from genaipa_partners.dealing import deal_threads
from genaipa_partners.severity import LEAST_ANSWERS, SEVERITY_LEVEL

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from genaipa_partners.dealing import AnswerThread, KeyedRandomness

HARSH = 10.0
"""Points of M_all by which a partner is harsh."""
ANSWER_DEVIATION, SCORE_DEVIATION = 10.0, 15.0
"""Assumed standard deviations of M_all: of a system's answers, and of different partners' scores of one answer."""
WANTED = 0.95
"""The share of studies in which a harsh partner should be found."""
_PERCENT = 100
_THREE = 3


class DetectionPower(NamedTuple):
    """In what share of studies (0 to 1) a harsh partner is found, by so many answers, of which so many are shared."""

    power: float
    compared: int
    shared: int
    partner: str


def estimate_lowest_detection_power(
    answers_by_partner: Mapping[str, Collection[str]], threads: Sequence[AnswerThread]
) -> DetectionPower:
    """Estimate how often a harsh partner is found, for the partner who is found least often.

    As `measure_partner_severities` compares them, with the assumed deviations.
    """
    cells = {answer: (thread.system, thread.language) for thread in threads for answer in thread.answers}
    holders = Counter(answer for answers in answers_by_partner.values() for answer in answers)
    own_by_partner = {
        name: Counter(cells[answer] for answer in answers if holders[answer] == 1)
        for name, answers in answers_by_partner.items()
    }
    own_in_all = sum(own_by_partner.values(), Counter[tuple[str, str]]())
    blocks_by_partner: dict[str, set[str | tuple[str, str]]] = {
        name: {answer if holders[answer] > 1 else cells[answer] for answer in answers}
        for name, answers in answers_by_partner.items()
    }
    powers = []
    for name, answers in answers_by_partner.items():
        # Of each comparison: what it tells, and how that is spread over answers, which decides the degrees of freedom.
        shared = [(1 - 1 / holders[answer]) / SCORE_DEVIATION**2 for answer in answers if holders[answer] > 1]
        information, squares = sum(shared), sum(part**2 for part in shared)
        compared = len(shared)
        for cell, count in own_by_partner[name].items():
            other_count = own_in_all[cell] - count
            part = count * other_count / own_in_all[cell] / (ANSWER_DEVIATION**2 + SCORE_DEVIATION**2)
            information += part
            if other_count:
                spread = (count**3 + other_count**3) / (count * other_count * own_in_all[cell] ** 2)
                squares += part**2 * spread
                compared += count
        power = 0.0
        if compared >= LEAST_ANSWERS:
            degrees = max(information**2 / squares - 1, 1.0)
            bound = stdtrit(degrees, 1 - (1 - SEVERITY_LEVEL) / len(answers_by_partner) / 2)
            # The wider of two intervals counts: the expected value of the larger of 1 and a deviation around it.
            wider = 1 + 1 / (4 * pi * degrees) ** 0.5
            power = 1 - float(nctdtr(degrees, HARSH * information**0.5, bound * wider))
            # They are compared with each other alone; who meets only by others is not counted.
            if sum(not blocks.isdisjoint(blocks_by_partner[name]) for blocks in blocks_by_partner.values()) == _THREE:
                power = max(power - _share_of_studies_blaming_another(HARSH * information**0.5, bound * wider), 0.0)
        powers.append(DetectionPower(power, compared, len(shared), name))
    return min(powers)


def _share_of_studies_blaming_another(distance: float, reach: float) -> float:
    """Return in what share of studies a harsh one of three partners is missed, since another is taken to stand out.

    Of three the one in the middle is the median, and whoever is farther from it is left out first. By chance that is
    another than the harsh one where the mean of these two is above the third, who seems harsh as well: normal, and
    correlated by -1/2 with how harsh the harsh one seems. `distance` and `reach`, of the interval, are in standard
    errors.
    """
    step = 0.02
    above = distance / 2 + np.arange(step / 2, 8, step)
    blamed_share = ndtr((distance - reach - above / 2) / 0.75**0.5)
    return float(2 * step * (np.exp(-(above**2) / 2) * blamed_share).sum() / (2 * pi) ** 0.5)


def describe_split_if_too_weak(
    answers_by_partner: Mapping[str, Collection[str]],
    threads: Sequence[AnswerThread],
    language_by_partner: Mapping[str, str],
    randomness: KeyedRandomness,
) -> str:
    """Return a sentence if a split would often miss a harsh partner, with the share that would not; else nothing."""
    weakest = estimate_lowest_detection_power(answers_by_partner, threads)
    if weakest.power >= WANTED:
        return ""

    def estimate_power_with_shared_percent(percent: int) -> DetectionPower:
        deal = deal_threads(threads, language_by_partner, percent / _PERCENT, randomness)
        return estimate_lowest_detection_power(deal.by_partner, threads)

    low, high = 0, _PERCENT
    best = estimate_power_with_shared_percent(high)
    while best.power >= WANTED and high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if estimate_power_with_shared_percent(middle).power >= WANTED else (middle, high)
    if not best.compared:
        return f"Nobody else scores the answers of {best.partner}, so nothing tells how harsh {best.partner} is."
    shared = f"With {format_count(weakest.shared, 'shared answer')}" if weakest.shared else "Without shared answers"
    wanted = f"with --shared {high}%" if best.power >= WANTED else "even with --shared 100%"
    return (
        f"{shared}, a partner {HARSH:.0f} points harsh is found in about {weakest.power * _PERCENT:.0f} of {_PERCENT} "
        f"studies; {wanted}, in {min(best.power, WANTED) * _PERCENT:.0f}. (Assumed: M_all varies by "
        f"{SCORE_DEVIATION:.0f} points between partners' scores of an answer, {ANSWER_DEVIATION:.0f} between answers.)"
    )
