"""Influence of the desk: how often the interval of an aid's effect holds the truth, of analysts of our own making.

    python -m benchmarks.influence [--studies N] [--by-chance]

Analysts follow an aid in a share of the answers: they then give the value that it proposes at one metric, not their
own. Chance withholds each aid by the desk's own draw, or (`--by-chance`, which is faster) by a generator's. Answers
have a quality of their own and of their system's, analysts a leniency and a noise; a fifth of the answers has two
scores. The aids propose

- `good`: 1, always;
- `mixed`: 1 for good answers and -1 for bad ones, so that the effect on the mean nearly cancels;
- `ceiling`: as `mixed`, where nine in ten values are 1 without the aid.

The truth is the effect on the scores of the study, had each been given both ways. With `alike` analysts all follow as
often; with `unlike` ones between never and twice as often, and it is the interval for analysts like these that is held
against the share of all such analysts. A false alarm is a study in which any of four aids is said to move values though
nobody follows one.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.__main__ import print_table
from genaipa.scoring.aids import draw_withheld_aids
from genaipa.scoring.rubric import shipped_rubric
from genaipa.stats.tests import adjust_p_by_holm
from genaipa_influence.effects import AidEffect, estimate_aid_effect

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SYSTEMS, AIDS = 4, ("evidence", "nearest", "points", "suggestions")
SIZES = ((2, 150), (4, 300), (8, 300), (8, 1000), (22, 3000))
"""Analysts and answers of a study."""
FOLLOWED = (0.0, 0.1, 0.2)
KINDS = ("good", "mixed", "ceiling")
SHOWN = 0.8
"""The share of scores at which an aid is shown."""
TWICE = 0.2
"""The share of answers with two scores."""


class Study(NamedTuple):
    """Scores: who gave them, of which answer and system; own values and those that an aid proposes; who follows it."""

    answers: list[str]
    analysts: list[str]
    systems: list[str]
    own: Floats
    proposed: Floats
    follows: NDArray[np.bool_]
    rates: Floats
    """The share of answers in which each score's analyst follows."""

    def values(self, shown: NDArray[np.bool_]) -> Floats:
        """Return the values that are given where an aid is shown."""
        return np.where(shown & self.follows, self.proposed, self.own)


def draw_study(size: tuple[int, int], followed: float, kind: str, random: np.random.Generator, *, alike: bool) -> Study:
    """Draw a study of so many analysts and answers."""
    analysts, answers = size
    system = random.integers(0, SYSTEMS, answers)
    quality = random.normal(1.0, 0.9, answers) + random.normal(0, 0.4, SYSTEMS)[system]
    twice = random.random(answers) < TWICE
    answer = np.concatenate([np.arange(answers), np.flatnonzero(twice)])
    first = random.integers(0, analysts, answers)
    second = (first + random.integers(1, analysts, answers)) % analysts
    analyst = np.concatenate([first, second[twice]])
    noisy = quality[answer] + random.normal(0, 0.3, analysts)[analyst] + random.normal(0, 0.7, len(answer))
    own = np.where(noisy < -0.2, -1, np.where(noisy < 0.6, 0.5, 1.0))
    if kind == "ceiling":
        own = np.where(random.random(len(answer)) < 0.8, 1.0, own)
    proposed = np.ones(len(answer)) if kind == "good" else np.where(quality[answer] < 0.3, -1.0, 1.0)
    rates = np.full(analysts, followed) if alike else random.uniform(0, 2 * followed, analysts)
    names = ([f"{prefix}{n}" for n in codes] for prefix, codes in (("", answer), ("a", analyst), ("s", system[answer])))
    follows = random.random(len(answer)) < rates[analyst]
    return Study(*names, own, proposed, follows, rates[analyst])


def draw_shown(study: Study, aid: str, seed: int) -> NDArray[np.bool_]:
    """Draw at which scores an aid is shown, as the desk does."""
    return np.array(
        [
            not draw_withheld_aids([aid], seed=seed, answer_digest=answer, analyst=analyst)
            for answer, analyst in zip(study.answers, study.analysts, strict=True)
        ]
    )


def estimate_effect(study: Study, outcomes: Floats, shown: NDArray[np.bool_]) -> AidEffect:
    """Estimate an aid's effect on outcomes of the study's scores."""
    return estimate_aid_effect(outcomes, shown, study.answers, study.analysts, study.systems)


def m_all_per_value() -> float:
    """Return the points of M_all that a step of 1 at one metric makes."""
    rubric = shipped_rubric()
    best, worst = (rubric.make_values(dict.fromkeys(rubric.metrics, value)) for value in (1.0, -1.0))
    return (rubric.m_all(best) - rubric.m_all(worst)) / 2 / len(rubric.metrics)


class Row(NamedTuple):
    """How often the intervals of a setting hold the truth, and how wide they are (points of M_all)."""

    estimated: int
    points: float
    same: float
    others: float
    truth: float
    width: float
    said: float


def measure(
    size: tuple[int, int], followed: float, kind: str, studies: int, *, alike: bool, by_chance: bool = False
) -> Row:
    """Draw studies of a setting, and count."""
    random, scale = np.random.default_rng(11), m_all_per_value()
    held: dict[str, list[bool]] = {name: [] for name in ("points", "same", "others", "said")}
    truths, widths = [], []
    for number in range(studies):
        study = draw_study(size, followed, kind, random, alike=alike)
        shown = random.random(len(study.answers)) < SHOWN if by_chance else draw_shown(study, "suggestions", number)
        values = study.values(shown)
        points = estimate_effect(study, values * scale, shown)
        same = estimate_effect(study, (values == study.proposed).astype(float), shown)
        change = study.proposed - study.own
        truth = float((study.follows * change).mean()) * scale
        if not np.isnan(points.low):
            held["points"].append(points.low <= truth <= points.high)
            widths.append(points.high - points.low)
            truths.append(truth)
        if not np.isnan(same.low):
            true_share = float((study.follows & (change != 0)).mean())
            held["same"].append(same.low <= true_share <= same.high)
        if not np.isnan(points.others_low):
            every = float((followed * change).mean()) * scale
            held["others"].append(points.others_low <= every <= points.others_high)
        held["said"].append(min(adjust_p_by_holm([points.p, same.p]), default=1.0) < 0.05)
    means = {name: float(np.mean(answers)) if answers else np.nan for name, answers in held.items()}
    return Row(
        len(widths), means["points"], means["same"], means["others"], float(np.mean(truths)), float(np.mean(widths)),
        means["said"],
    )  # fmt: skip


def count_false_alarms(size: tuple[int, int], studies: int) -> float:
    """Return the share of studies in which an aid that nobody follows is said to move values."""
    random, alarms = np.random.default_rng(12), 0
    for number in range(studies):
        study = draw_study(size, 0.0, "mixed", random, alike=True)
        p = [
            effect.p
            for aid in AIDS
            for shown in [draw_shown(study, aid, number)]
            for outcomes in (study.own, *([(study.own == study.proposed).astype(float)] if aid == AIDS[-1] else []))
            for effect in [estimate_effect(study, outcomes, shown)]
        ]
        alarms += any(adjusted < 0.05 for adjusted in adjust_p_by_holm(p))
    return alarms / studies


def main() -> None:
    """Print what was counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--by-chance", action="store_true")
    options = parser.parse_args()
    studies = options.studies
    rows = []
    for size in SIZES:
        for alike in (True, False):
            for followed in FOLLOWED if alike else FOLLOWED[-1:]:
                for kind in KINDS:
                    row = measure(size, followed, kind, studies, alike=alike, by_chance=options.by_chance)
                    shares = (f"{share:.3f}" if share == share else "" for share in row[1:4])  # noqa: PLR0124 - NaN
                    setting = (*size, f"{followed:.0%}", "alike" if alike else "unlike", kind)
                    rows.append((*setting, *shares, f"{row.truth:+.2f}", f"{row.width:.1f}", f"{row.said:.2f}"))
    heads = ("analysts", "answers", "followed", "", "", "M_all", "as suggested", "others like these", "truth", "width")
    print_table((*heads, "said to move"), rows)
    alarms = [(*size, f"{count_false_alarms(size, studies):.3f}") for size in SIZES]
    print_table(("analysts", "answers", "false alarms, four aids"), alarms)
    of_shares = [float(row[column]) for row in rows for column in (5, 6) if row[column]]
    print(f"\n{studies} studies a row; the intervals for these analysts held {np.mean(of_shares):.3f} on average, "
          f"{min(of_shares):.3f} at worst.")  # fmt: skip


if __name__ == "__main__":
    main()
