"""Partners are compared on shared answers, and on their own within a system and language, where chance dealt these."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from benchmarks.severity import SETTINGS, Setting, make_deal, measure_setting
from genaipa_partners.dealing import AnswerThread, KeyedRandomness, deal_threads
from genaipa_partners.power import (
    ANSWER_DEVIATION,
    HARSH,
    SCORE_DEVIATION,
    describe_split_if_too_weak,
    estimate_lowest_detection_power,
)
from genaipa_partners.severity import LEAST_ANSWERS, SEVERITY_LEVEL, fit_partner_severities, measure_partner_severities


def test_own_answers_alone_are_a_comparison_of_means() -> None:
    """Between two partners without a shared answer the difference is that of means, its error at least Welch's."""
    random = np.random.default_rng(2)
    values, partners = random.normal(60, 10, 90), (np.arange(90) < 30).astype(int)
    values[partners == 1] -= 10
    severities = measure_partner_severities(values, partners, np.arange(90), np.zeros(90, dtype=int))
    first, second = values[partners == 0], values[partners == 1]
    assert [partner.own for partner in severities] == [60, 30]
    assert severities[1].difference == pytest.approx(second.mean() - first.mean())
    assert severities[0].difference == pytest.approx(-severities[1].difference)
    share = 1 - (1 - SEVERITY_LEVEL) / 4
    welch = stats.ttest_ind(second, first, equal_var=False)
    reach = severities[1].difference - severities[1].low
    error = severities[1].difference / welch.statistic
    assert reach == pytest.approx(stats.t.ppf(share, welch.df) * error, rel=0.1)
    fit = fit_partner_severities(
        values, partners, np.arange(90), np.zeros(90, dtype=int), is_reference_partner=np.array([True, False])
    )
    assert fit.effects.tolist() == pytest.approx([0, severities[1].difference])


def test_partners_are_compared_within_languages_and_systems() -> None:
    """Hard languages and systems are nobody's harshness, nor are shared answers that nobody else has scored yet."""
    random = np.random.default_rng(3)
    # Partners 0 and 1 score an easy language, 2 and 3 a hard one; 0 has scored mostly a weak system.
    partners = np.repeat(np.arange(4), 60)
    system = np.where(partners == 0, np.arange(240) % 10 > 0, np.arange(240) % 2)
    language = (partners > 1).astype(int)
    values = 80 - 30 * language - 20 * system + random.normal(0, 5, 240)
    cells = 2 * language + system
    severities = measure_partner_severities(values, partners, np.arange(240), cells)
    assert not any(partner.stands_out for partner in severities)
    assert max(abs(partner.difference) for partner in severities) < 4
    confounded = measure_partner_severities(values, partners, np.arange(240), 0 * cells)
    assert any(partner.stands_out for partner in confounded)
    # Bad ones among them, which two began with.
    waiting = (partners % 2 == 1) & (np.arange(240) % 60 < 20)
    values[waiting] -= 40
    severities = measure_partner_severities(values, partners, np.arange(240), np.where(waiting, -1, cells))
    assert not any(partner.stands_out for partner in severities)
    assert max(abs(partner.difference) for partner in severities) < 4
    assert severities[1].own == 40
    # One who meets nobody.
    alone = measure_partner_severities(values, partners, np.arange(240), partners)
    assert all(np.isnan(partner.difference) and not partner.own for partner in alone)


def test_shared_and_own_answers_tell_more_than_either() -> None:
    """The interval is narrower than by shared answers alone; few answers that are alike call nobody harsh."""
    deal = make_deal(Setting(4, 240, 1, 0.2), 1)
    random = np.random.default_rng(4)
    values = random.normal(60, 10, 240)[deal.answers] + random.normal(0, 15, len(deal.answers))
    widths = []
    for cells in (None, deal.cells):
        severity = measure_partner_severities(values, deal.partners, deal.answers, cells)[0]
        widths.append(severity.high - severity.low)
    assert widths[1] < 0.8 * widths[0]
    assert severity.answers == 48
    # All that one scored are 100; of the others' scores four in five are.
    partners = np.repeat([0, 1, 2], [LEAST_ANSWERS, 60, 60])
    values = np.where((np.arange(130) % 5 == 0) & (partners > 0), 60.0, 100.0)
    severities = measure_partner_severities(values, partners, np.arange(130), 0 * partners)
    assert severities[0].difference > 0
    assert not any(partner.stands_out for partner in severities)


def test_of_two_pairs_that_meet_the_odd_partner_is_found() -> None:
    """Whom several partners meet is not blamed for another of them, whom nobody else meets."""
    random = np.random.default_rng(5)
    partners = np.repeat([0, 1, 2, 0, 3], 60)
    cells = np.repeat([0, 1], [180, 120])
    values = 60.0 - 15 * (partners == 3) + random.normal(0, 8, 300)
    severities = measure_partner_severities(values, partners, np.arange(300), cells)
    assert [partner.stands_out for partner in severities] == [False, False, False, True]
    # And the other way round: whom a harsh partner alone meets is not lenient.
    values += 15.0 * (partners == 3) - 15 * (partners == 0) + 6 * (partners == 3)
    severities = measure_partner_severities(values, partners, np.arange(300), cells)
    assert [partner.stands_out for partner in severities] == [True, False, False, False]
    assert severities[0].own == 120, "nobody was left out before"


def test_of_three_partners_another_than_the_harsh_one_may_be_blamed() -> None:
    """Such studies miss the harsh one: as many as where three estimates are drawn and the farthest is left out."""
    threads = [AnswerThread((f"{n}",), "s", "en") for n in range(30)]
    all_of_them = {name: [f"{n}" for n in range(30)] for name in ("bbc", "rai", "ard")}
    error = SCORE_DEVIATION * (1.5 / 30) ** 0.5
    bound = stats.t.ppf(1 - (1 - SEVERITY_LEVEL) / 6, 29) * (1 + (4 * np.pi * 29) ** -0.5)
    alone = 1 - stats.nct.cdf(bound, 29, HARSH / error)
    drawn = np.random.default_rng(1).normal((-HARSH, 0, 0), SCORE_DEVIATION / 30**0.5, (200_000, 3))
    apart = drawn * 1.5 - drawn.sum(axis=1)[:, None] / 2
    stand_out = np.abs(apart) > bound * error
    distances = np.where(stand_out, np.abs(drawn - np.median(drawn, axis=1)[:, None]), 0)
    lost = (stand_out[:, 0] & (distances.argmax(axis=1) > 0)).mean()
    assert lost > 0.015
    assert estimate_lowest_detection_power(all_of_them, threads).power == pytest.approx(alone - lost, abs=0.002)


def test_a_split_says_how_often_a_harsh_partner_is_found() -> None:
    """As Student's t would by the assumed deviations; a share that it names does, and one too many is no sentence."""
    threads = [AnswerThread((f"{n}",), f"s{n % 2}", "en") for n in range(400)]
    speakers, draw = {"bbc": "", "rai": ""}, KeyedRandomness(b"k")
    halves = {"bbc": [f"{n}" for n in range(80)], "rai": [f"{n}" for n in range(80)]}
    error = SCORE_DEVIATION * (2 / 80) ** 0.5
    bound = stats.t.ppf(1 - (1 - SEVERITY_LEVEL) / 4, 79)
    expected = 1 - stats.nct.cdf(bound * (1 + (4 * np.pi * 79) ** -0.5), 79, HARSH / error)
    least = estimate_lowest_detection_power(halves, threads)
    assert (least.power, least.shared) == (pytest.approx(expected), 80)
    halves = {"bbc": [f"{n}" for n in range(80)], "rai": [f"{n}" for n in range(80, 160)]}
    error = (ANSWER_DEVIATION**2 + SCORE_DEVIATION**2) ** 0.5 * (2 / 80) ** 0.5
    degrees = 160 - 1
    bound = stats.t.ppf(1 - (1 - SEVERITY_LEVEL) / 4, degrees) * (1 + (4 * np.pi * degrees) ** -0.5)
    least = estimate_lowest_detection_power(halves, threads)
    assert least.power == pytest.approx(1 - stats.nct.cdf(bound, degrees, HARSH / error))
    few = threads[:120]
    deal = deal_threads(few, speakers, 0.1, draw)
    sentence = describe_split_if_too_weak(deal.by_partner, few, speakers, draw)
    assert sentence.startswith("With 12 shared answers, a partner 10 points harsh is found in about ")
    share = int(sentence.partition("with --shared ")[2].partition("%")[0])
    for percent, is_enough in ((share, True), (share - 1, False)):
        deal = deal_threads(few, speakers, percent / 100, draw)
        assert (describe_split_if_too_weak(deal.by_partner, few, speakers, draw) == "") is is_enough
    deal = deal_threads(threads[:16], speakers, 0.1, draw)
    assert "even with --shared 100%" in describe_split_if_too_weak(deal.by_partner, threads[:16], speakers, draw)
    # So large that nobody harsh is missed, within what a number can tell from 1.
    many = {f"p{number}": "" for number in range(22)}
    large = [AnswerThread((f"{n}",), f"s{n % 10}", "en") for n in range(600)]
    deal = deal_threads(large, many, 0.01, draw)
    assert "; with --shared " in describe_split_if_too_weak(deal.by_partner, large, many, draw)
    assert estimate_lowest_detection_power(deal_threads(large, many, 1.0, draw).by_partner, large).compared == 600
    both = [*threads, *(AnswerThread((f"de{n}",), "s0", "de") for n in range(40))]
    speakers = {"bbc": "en", "rai": "en", "ard": "de"}
    deal = deal_threads(both, speakers, 0.1, draw)
    sentence = describe_split_if_too_weak(deal.by_partner, both, speakers, draw)
    assert sentence.startswith("Nobody else scores the answers of ard,")


@pytest.mark.soak
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_chance_is_blamed_in_no_more_than_one_study_in_twenty(setting: Setting) -> None:
    """A harsh partner is found as often as the split said, and moves no mean out of its interval, and no ranking."""
    studies = 200
    rates = measure_setting(setting, studies)
    few, many = stats.binom.ppf([0.001, 0.999], studies, [0.95, 0.05]) / studies
    assert rates.blamed <= many
    assert rates.within >= few
    assert rates.kept >= few
    assert rates.found >= rates.found_by_shared
    if rates.expected >= 0.95 and setting.scores != "noisy":
        assert rates.found >= few
