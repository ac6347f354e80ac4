"""What a difference has to show before it counts: by how much of the plan is scored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from framing import QUESTIONS, answer_rows, score_rows, tidy_of
from queues import make_run, work
from size import size
from tabling import published
from verdicts import scores_of

from genaipa.answers.gather import gather_study_with_stored_scores
from genaipa.reports import matches
from genaipa.reports.chapters.overall import leaderboard_table
from genaipa.reports.crossed import estimate_crossed_mean
from genaipa.reports.evidence import (
    EvidenceLevel,
    PlanShare,
    choose_evidence_level,
    measure_evidence_level,
    measure_plan_share,
)
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.scoring.assignment import ScoringPlan
from genaipa.stats.tests import adjust_p_by_holm, find_holm_factors
from genaipa.ui.desk import open_desk
from genaipa.ui.settings import DeskSettings
from genaipa.workspace import find_workspace
from rubrics import METRICS

ROWS = answer_rows(documents=("uber", "spotify", "tiktok", "airbnb", "twitter"))
ONE = [row for row in ROWS if row["system"] == "a/one"]


@pytest.mark.parametrize(
    ("sides", "p", "words"),
    [
        (
            [(160, 64)],
            0.001,
            "64 of 160 planned answers are scored: until all are, a difference counts only at p < 0.001",
        ),
        ([(160, 151)], 0.001, "151 of 160"),
        (
            [(160, 152)],
            0.02,
            "152 of 160 planned answers are scored: until all are, a difference counts only at p < 0.02",
        ),
        ([(160, 160)], 0.05, ""),
        ([(160, 160), (160, 159)], 0.02, "319 of 320"),
        ([(160, 160), (160, 80)], 0.001, "240 of 320"),
        (
            [(96, 96, True)],
            0.01,
            "The plan was enlarged midway to 96 answers: a difference counts only at p < 0.01",
        ),
        ([(96, 64, True)], 0.001, "64 of 96"),
        ([], 0.05, ""),
        ([(0, 0)], 0.05, ""),
    ],
)
def test_the_level_goes_by_the_share_that_is_scored(sides, p: float, words: str) -> None:
    """Before the end, shortly before it (95 % of each side), at the end, and at that of what was enlarged."""
    level = choose_evidence_level(PlanShare(*side) for side in sides)
    assert (level.p, level.confidence) == (p, 1 - p)
    assert str(level).startswith(words)
    assert bool(str(level)) is bool(words)
    assert level.least_questions == (16 if p == 0.001 else 0)


def test_planned_is_what_could_be_scored() -> None:
    """Neither what failed nor what an audit leaves out; no experiment without a score, and no published study."""
    assert measure_plan_share(tidy_of(ONE, score_rows(ONE[:64]))) == (160, 64, False)
    rows = [
        {**row, "answer": ""} if n < 10 else {**row, "excluded": "no"} if n < 20 else row for n, row in enumerate(ONE)
    ]
    assert measure_plan_share(tidy_of(rows, score_rows(rows))) == (140, 140, False)
    more = [*ONE, *answer_rows(systems=("a/one",), experiments=("recall",))]
    assert measure_plan_share(tidy_of(more, score_rows(ONE))) == (160, 160, False)
    assert measure_plan_share(tidy_of([published("a/one", "quality", "uber", "T_f1", m_all=70.0), *ONE[1:]])) == (
        0,
        0,
        False,
    )
    assert measure_evidence_level(tidy_of(ROWS, score_rows(ONE))) == EvidenceLevel(160, 160)


def test_a_wave_is_the_plan_and_a_larger_one_another() -> None:
    """Four of twelve answers at the desk, in part and whole; then eight, of which four are scored, and all."""
    make_run()
    seen = []
    for sample, answers in ((4, 2), (4, 12), (8, 0), (8, 2), (8, 12)):
        desk = open_desk(DeskSettings(Path.cwd(), sample=sample, plan=ScoringPlan(per_answer=1)))
        work(desk.queue, "Anna", answers)
        desk.store.close()
        here = find_workspace()
        found = gather_study_with_stored_scores(here, select_runs_and_apply_filters(here, ()))
        seen.append((*measure_plan_share(found.table), measure_evidence_level(found.table).p))
        assert measure_plan_share(found.replace_scores_from_events(found.log.counted).table) == seen[-1][:-1]
    assert seen == [
        (4, 2, False, 0.001),
        (4, 4, False, 0.05),
        (8, 4, True, 0.001),
        (8, 6, True, 0.001),
        (8, 8, True, 0.01),
    ]


def against(rows, scores):
    """The row of two systems in a report."""
    [row] = matches.m_all_differences_of_all_system_pairs(tidy_of(rows, scores)).to_dict("records")
    return row


def better(value: float, rows, *, seed: int = 0):
    """Scores by which a/one is better by so much on each metric, of alike noise."""
    random = np.random.default_rng(seed)
    noise = random.choice([-0.5, 0.0, 0.5], (len(rows), len(METRICS)))
    ours = np.array([row["system"] == "a/one" for row in rows])[:, None] * value
    return scores_of(rows, np.clip(noise + ours, -1, 1))


def test_a_difference_counts_by_its_level() -> None:
    """Of the same scores p = 0.01 counts where the plan is scored, and not while half of the answers wait."""
    whole = [row for row in ROWS if row["document"] in ("uber", "spotify", "tiktok")]
    scores = better(0.05, whole)
    ended, early = against(whole, scores), against(ROWS, scores)
    assert 0.001 < ended["p_holm"] == early["p_holm"] < 0.05
    assert (ended["level"], ended["meaning"]) == (0.05, "a/one higher")
    assert (early["level"], early["meaning"]) == (0.001, "may be chance")
    assert early["low"] < 0 < ended["low"] < ended["difference"] < ended["high"] < early["high"]
    large = against(ROWS, better(0.5, whole))
    assert large["p_holm"] < 0.001
    assert large["meaning"].startswith("a/one higher")
    assert large["low"] > 0


def test_nothing_counts_early_on_fewer_than_sixteen_questions() -> None:
    """Fifteen questions have no p until the plan is scored, and sixteen have one."""
    tested = {}
    several = [row for row in ROWS if row["question"] in QUESTIONS[:24]]
    for number in (15, 16):
        part = [row for row in ROWS if row["question"] in QUESTIONS[:number]]
        tested[number] = [against(rows, better(1, part))["p_holm"] < 0.001 for rows in (several, part)]
    assert tested == {15: [False, True], 16: [True, True]}


def test_tables_say_the_level() -> None:
    """The leaderboard and the differences begin with the sentence, and the leaderboard's intervals are wider by it."""
    part = [row for row in ROWS if row["document"] != "twitter"]
    scores = score_rows(part)
    early, ended = (leaderboard_table(tidy_of(rows, scores)) for rows in (ROWS, part))
    assert early.note.startswith("256 of 320 planned answers are scored: ")
    assert "in 99.9 of 100 such studies" in early.note
    assert "in 95 of 100 such studies" in ended.note
    assert (early.data["low"] < ended.data["low"]).all()
    assert early.data["m_all"].equals(ended.data["m_all"])
    apart, _ = matches.system_difference_and_rank_tables(tidy_of(ROWS, scores))
    assert apart.note.startswith("256 of 320 planned answers are scored: ")
    assert "level" in apart.main_columns
    assert "level" not in matches.system_difference_and_rank_tables(tidy_of(part, scores))[0].main_columns


def test_intervals_agree_with_the_adjusted_p() -> None:
    """Of four systems each pair's interval leaves out 0 exactly where its adjusted p counts, for both targets."""
    rows = answer_rows(systems=("a/one", "b/two", "c/three", "d/four"), documents=("uber", "spotify", "tiktok"))
    differ = set()
    for seed in range(size(small=2, soak=12)):
        random = np.random.default_rng(seed)
        of = dict(zip(("a/one", "b/two", "c/three", "d/four"), random.normal(0, 0.12, 4), strict=True))
        values = np.clip(
            random.normal(0, 0.7, (len(rows), len(METRICS))) + [[of[row["system"]]] for row in rows], -1, 1
        )
        for row in matches.m_all_differences_of_all_system_pairs(tidy_of(rows, scores_of(rows, values))).to_dict(
            "records"
        ):
            for target in ("", "policies_"):
                outside = row[f"{target}low"] > 0 or row[f"{target}high"] < 0
                assert outside == (row[f"{target}p_holm"] < 0.05)
                differ.add(outside)
            assert row["policies_low"] <= row["low"] < row["high"] <= row["policies_high"]
    assert differ == {True, False}


def test_factors_are_what_holm_multiplies_by() -> None:
    """The largest p alone is not adjusted, unless one before it holds it back."""
    assert find_holm_factors([0.01, 0.04, 0.02]) == pytest.approx([3, 1, 2])
    assert find_holm_factors([0.03, 0.031, float("nan")]) == pytest.approx([2, 0.06 / 0.031, 1], nan_ok=True)
    assert adjust_p_by_holm([0.03, 0.031, 0.9]) == pytest.approx([0.09, 0.09, 0.9])


@pytest.mark.soak
def test_ten_looks_add_about_one_false_alarm_in_a_hundred() -> None:
    """Alike systems, looked at after each tenth of 160 answers in the order of a wave: at most 7 of 100 differ."""
    random, studies = np.random.default_rng(1), size(small=10, soak=400)
    asked, about = (place.ravel().astype(str) for place in np.indices((32, 5)))
    false = 0
    for _ in range(studies):
        value = random.normal(0, 16, 32)[:, None] + random.normal(0, 30, (32, 5))
        order = np.tile(random.permutation(32), 5)
        documents = np.argsort(random.random((32, 5)), axis=1)
        place = np.array([question * 5 + documents[question, n // 32] for n, question in enumerate(order)])
        looks = ((place[:count], 0.001 if count < 160 else 0.05) for count in range(16, 161, 16))
        false += any(
            estimate_crossed_mean(value.ravel()[some], asked[some], about[some]).p < level for some, level in looks
        )
    assert false / studies < 0.07
