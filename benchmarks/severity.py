"""How often a partner 10 points harsh is found, by the number of shared answers, and how often chance is blamed.

    python -m benchmarks.severity [--studies N]

Answers of ten systems 3 points apart vary by 10 points, and languages are 10 apart or alike; scores of one answer vary
by about 15. Each study is dealt by the draw of `genaipa study split`. `metrics` are five values of -1, 0.5 and 1;
`tens` are rounded to tens, and three in ten are 100; `noisy` have normal errors of 25 points. Where loads are unequal,
partners have scored from a tenth of their answers up to all. *Expected* is what a split says of its weakest partner.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.__main__ import print_table
from benchmarks.partners import compare_rankings, draw_values, measure_study
from genaipa_partners.dealing import AnswerThread, KeyedRandomness, deal_threads
from genaipa_partners.power import estimate_lowest_detection_power
from genaipa_partners.severity import measure_partner_severities

if TYPE_CHECKING:
    from genaipa.stats.arrays import Floats, Labels

SYSTEMS, GAP, SPREAD, SEVERITY = 10, 3.0, 10.0, -10.0
NOISE = {"normal": 15.0, "noisy": 25.0, "tens": 15.0}
DEALS = 10
"""Studies that are dealt anew; the others have the same answers, scored anew."""


@dataclass(frozen=True)
class Setting:
    """A study: partners (without a language the first `mixed`), answers, languages, the shared share, how all score."""

    partners: int = 22
    answers: int = 3000
    languages: int = 3
    share: float = 0.1
    scores: str = "metrics"
    language_gap: float = 0.0
    mixed: int = 0
    unequal: bool = False


SETTINGS = [
    *(replace(Setting(), share=share) for share in (0.1, 0.05, 0.03, 0.02, 0.01, 0.0)),
    *(replace(Setting(), share=share, scores="noisy") for share in (0.1, 0.05)),
    *(Setting(share=0.03, scores=scores) for scores in ("normal", "tens")),
    Setting(share=0.03, language_gap=10.0),
    Setting(languages=1, share=0.02, scores="tens"),
    *(Setting(share=0.03, scores=scores, unequal=True) for scores in ("metrics", "tens")),
    *(Setting(5, 300, 1, share, scores) for share in (0.1, 0.3) for scores in ("metrics", "tens")),
    Setting(5, 600, 3, 0.2, mixed=2),
    *(Setting(3, 120, 1, share, scores) for share in (0.1, 0.5) for scores in ("metrics", "tens")),
    Setting(3, 600, 3, 0.2, mixed=3),
]


class MadeDeal(NamedTuple):
    """Who scores which answer, in which system and language; -1 is the cell of what several have."""

    partners: Labels
    answers: Labels
    cells: Labels
    system: Labels
    language: Labels
    expected: float


def make_deal(setting: Setting, number: int) -> MadeDeal:
    """Deal the answers of a study."""
    each = setting.answers // SYSTEMS // setting.languages
    places = [(s, language, n) for s in range(SYSTEMS) for language in range(setting.languages) for n in range(each)]
    threads = [AnswerThread((f"{place}",), f"{s}", f"{language}") for place, (s, language, _) in enumerate(places)]
    spoken = {
        f"p{n}": "" if n < setting.mixed or setting.languages == 1 else f"{n % setting.languages}"
        for n in range(setting.partners)
    }
    deal = deal_threads(threads, spoken, setting.share, KeyedRandomness(f"{number}".encode()))
    pairs = [(turn, int(answer)) for turn, name in enumerate(spoken) for answer in deal.by_partner[name]]
    partners, answers = np.array(pairs).T
    system, language, _ = np.array(places).T
    is_shared = np.isin(answers, [int(answer) for answer in deal.shared])
    cells = np.where(is_shared, -1, system[answers] * setting.languages + language[answers])
    expected = estimate_lowest_detection_power(deal.by_partner, threads).power
    return MadeDeal(partners, answers, cells, system, language, expected)


def draw_scores(setting: Setting, wanted: Floats, random: np.random.Generator) -> Floats:
    """Draw a score for each that is wanted on average."""
    if setting.scores == "metrics":
        values: Floats = 55 + 9 * draw_values(wanted, random).sum(axis=1)
        return values
    values = wanted + random.normal(0, NOISE[setting.scores], len(wanted))
    return np.clip(np.round((values + 30) / 10) * 10, 10, 100) if setting.scores == "tens" else values


class Rates(NamedTuple):
    """The shares of studies, and what a split expects to be found; NaN where not all is scored."""

    found_by_shared: float
    found: float
    blamed_beside: float
    blamed: float
    within: float
    kept: float
    expected: float


def measure_setting(setting: Setting, studies: int) -> Rates:
    """Draw studies of a setting, each with a harsh partner and without, and count."""
    random = np.random.default_rng(21)
    counts = dict.fromkeys(Rates._fields[:-1], 0)
    expected = 0.0
    for number in range(studies):
        if number % max(studies // DEALS, 1) == 0:
            deal = make_deal(setting, number)
            expected = deal.expected
        chosen = np.ones(len(deal.partners), dtype=bool)
        if setting.unequal:
            chosen = random.random(len(chosen)) < np.linspace(0.1, 1, setting.partners)[deal.partners]
        partners, answers, cells = deal.partners[chosen], deal.answers[chosen], deal.cells[chosen]
        quality = 50 + GAP * (deal.system - SYSTEMS / 2) + setting.language_gap * (deal.language - 1)
        quality = quality + random.normal(0, SPREAD, len(quality))
        harsh, state = number % setting.partners, random.bit_generator.state
        sides = []
        for off in (SEVERITY, 0.0):
            random.bit_generator.state = state
            values = draw_scores(setting, quality[answers] + off * (partners == harsh), random)
            severities, means = measure_study(values, partners, answers, cells, deal.system)
            sides.append(means)
            blamed = {place for place, severity in enumerate(severities) if severity.stands_out}
            if off:
                counts["found_by_shared"] += measure_partner_severities(values, partners, answers)[harsh].stands_out
                counts["found"] += harsh in blamed and severities[harsh].difference < 0
                counts["blamed_beside"] += bool(blamed - {harsh})
            else:
                counts["blamed"] += bool(blamed)
        change = compare_rankings(*sides)
        counts["within"] += change.within
        counts["kept"] += change.kept
    rates = {name: count / studies for name, count in counts.items()}
    return Rates(**rates, expected=np.nan if setting.unequal else expected)


def main() -> None:
    """Print what was counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1000)
    studies = parser.parse_args().studies
    rows = []
    for setting in SETTINGS:
        shared = round(setting.share * setting.answers / setting.languages)
        kinds = [setting.scores, *(["unequal loads"] if setting.unequal else [])]
        kinds += ["any language"] if setting.mixed else []
        kinds += ["languages apart"] if setting.language_gap else []
        about = (setting.partners, setting.answers, setting.languages, shared, ", ".join(kinds))
        rates = measure_setting(setting, studies)
        rows.append((*about, *(f"{rate:.3f}" for rate in rates[:-1]), f"{rates.expected:.2f}"))
    print_table(
        (
            "partners", "answers", "languages", "shared in each", "scores", "found by shared answers alone", "found",
            "another blamed beside", "blamed where nobody is harsh", "means within intervals", "order kept", "expected",
        ),
        rows,
    )  # fmt: skip


if __name__ == "__main__":
    main()
