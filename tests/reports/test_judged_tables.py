"""Estimates where people's averages stand: leaderboard, averages, comparison, and the tables beside them."""

from __future__ import annotations

import re
import shutil
from collections import defaultdict

import numpy as np
import pytest
from pages import Shown, desk_here
from stores import score
from verdicts import JUDGE, judged

from genaipa.reports import render
from genaipa.reports.chapters import metrics, overall
from genaipa.reports.comparison import compare_sides
from genaipa.reports.judged.beside import (
    _equivalent_scores_and_hours_saved,
    describe_forecasts_of_scores_needed,
    describe_scores_needed_for_target,
    forecast_scores_needed_or_none,
    people_judge_and_combined_means_table,
    scores_needed_forecast_table,
)
from genaipa.reports.judged.estimate import estimate_scores_with_judge_if_possible, estimate_sides_with_one_lambda
from genaipa.reports.matches import compute_difference_rows, match_systems_by_measure
from genaipa.reports.sides import ComparisonSide
from genaipa.reports.significance import OVERALL
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.scoring.answers import AnswerPool
from genaipa.scoring.people import User
from genaipa.scoring.waves import digest_prefix_used_in_waves, draw_and_save_waves
from genaipa.stats.forecast import Forecast
from genaipa.ui.results import ResultsChoice, make_results_view_cached, results_cache
from genaipa.workspace import find_workspace
from rubrics import typed


@pytest.fixture(scope="module")
def study():
    """A study in two experiments; one for all tests, never changed."""
    return judged(experiments=("quality", "recall"), errors=0.2, size=32)


def side(frame, name):
    """One system of a tidy table, as a comparison takes it."""
    return ComparisonSide(name, frame[frame["system"] == name], defaultdict(set), defaultdict(set))


@pytest.mark.full
def test_tables_name_the_basis_of_their_averages(study):
    """Leaderboard and averages take z and say whose scores they rest on; the heat map stays people's."""
    board, averages = overall.leaderboard_table(study.frame), overall.averages_of_each_metric_table(study.frame).data
    assert set(board.data["scored"]) == {"people 64 of 192, judge all"}
    assert set(averages["scored"]) == {"people 32 of 96, judge all"}
    assert "an estimate from both: see the table `people-and-judge`" in board.note
    found = estimate_scores_with_judge_if_possible(study.frame)
    alone = study.frame.assign(analyst=study.frame["analyst"].cat.rename_categories({str(JUDGE): "no judge"}))
    assert set(overall.leaderboard_table(alone).data["scored"]) == {"64 of 192, at random"}
    assert not np.allclose(overall.leaderboard_table(alone).data["m_all"], board.data["m_all"])
    assert metrics.metrics_by_question_table(study.frame).data.equals(metrics.metrics_by_question_table(alone).data)
    assert len(found.estimated_groups) == 24


def test_people_and_judge_stand_beside_people_alone(study):
    """Each row has both averages, what the estimate is worth in scores and hours, and the judge alone, in grey."""
    human = study.frame[study.frame["counted"]]["answer"].unique()
    events = [score("ada", answer, seconds=360.0) for answer in human]
    made = people_judge_and_combined_means_table(study.frame, events)
    assert len(made.data) == 24
    row, board = made.data.iloc[18], overall.averages_of_each_metric_table(study.frame).data
    key = ["system", "experiment", "measure"]
    assert row[key].tolist() == ["b/two", "recall", "M_all"]
    shown = board[(board[key] == row[key]).all(axis=1) & (board["questions"] == "all")].iloc[0]
    assert (row["mean"], row["low"]) == (shown["mean"], shown["low"])
    width = (row["people_high"] - row["people_low"]) / (row["high"] - row["low"])
    # About few documents the policies' widths say more than can be promised.
    assert row["n_eff"] == pytest.approx(32 * width**2)
    assert row["low"] < row["answers_low"] < row["mean"] < row["answers_high"] < row["high"]
    assert row["hours"] == pytest.approx(max(row["n_eff"] - 32, 0) * 0.1)
    html = render.as_html(made)
    assert ">judge alone: not an estimate</th>" in html
    assert f'<span style="color: #767676">{row["judge"]:.2f}</span>' in html
    assert "Judges: made-up." in made.note


def test_the_worth_is_told_in_hours():
    """What people did not have to score, at an hour each."""
    ends = (
        {"low": -half, "high": half, "policies_low": -wide, "policies_high": wide} for half, wide in ((2, 3), (1, 2))
    )
    assert _equivalent_scores_and_hours_saved(64, *ends, 3600) == {"n_eff": 64 * 2.25, "hours": 64 * 1.25}


def test_a_study_without_a_judge_has_none_of_it():
    """No table beside, no forecast, no sentence: what is written is what was before."""
    frame = judged(judge=None).frame
    assert not people_judge_and_combined_means_table(frame)
    assert not scores_needed_forecast_table(frame)
    assert describe_forecasts_of_scores_needed(frame) == []
    assert set(overall.leaderboard_table(frame).data["scored"]) == {"48 of 96, at random"}
    assert "judge" not in overall.leaderboard_table(frame).note
    assert "color" not in render.as_html(overall.leaderboard_table(frame))


def test_without_peoples_scores_there_are_the_judges_numbers_alone():
    """No estimate, no place on the leaderboard: the judge alone is never ranked."""
    study = judged(experiments=("quality",))
    frame = study.frame[study.frame["scorer"] == "machine"].reset_index(drop=True)
    assert not overall.leaderboard_table(frame)
    assert not overall.averages_of_each_metric_table(frame)
    data = people_judge_and_combined_means_table(frame).data
    assert data["mean"].isna().all()
    assert data["people"].isna().all()
    assert data["judge"].notna().all()
    assert data["why"].str.startswith("0 answers in random parts are scored").all()


def test_a_comparison_takes_estimates_pair_by_pair(study):
    """The difference is the mean of z of A minus z of B on the same cells; its p belongs to its interval."""
    both = compare_sides(side(study.frame, "a/one"), side(study.frame, "b/two"))
    row = both.frame.iloc[0]
    cells = {
        name: own["m_all"].mean() for name, own in _questions(estimate_scores_with_judge_if_possible(study.frame).frame)
    }
    assert row["difference"] == pytest.approx(cells["a/one"] - cells["b/two"])
    assert (row["test"], row["pairs"], row["n"]) == ("t", 192, 32)
    assert (row["p"] < 0.05) == (row["low"] > 0 or row["high"] < 0)
    said = " ".join(both.finding)
    assert "for a/one, people 64 of 192, judge all; for b/two, people 64 of 192, judge all" in said
    assert "People alone: difference in M_all" in said
    assert row["high"] - row["low"] < _alone(both)


def _alone(both):
    """The width that a comparison says people alone would have."""
    (said,) = (sentence for sentence in both.finding if sentence.startswith("People alone"))
    low, high = re.findall(r"[+-][0-9.]+", said)[1:3]
    return float(high.rstrip(".")) - float(low)


def _questions(frame):
    from genaipa.reports.averages import average_policy_questions

    return average_policy_questions(frame).groupby("system", observed=True)


def test_few_scored_questions_widen_a_comparison():
    """Where a wave leaves questions without a score, the interval is that of the scored ones' number."""
    found = estimate_sides_with_one_lambda([judged(size=20).frame])[0].frame
    match = match_systems_by_measure(*(side(found, name).frame for name in ("a/one", "b/two")))[OVERALL]
    questions = set(match.pairs.index)
    honest, naive = (
        compute_difference_rows({OVERALL: match}, {"all": questions}, has_estimates=known).iloc[0]
        for known in (True, False)
    )
    assert match.apart.groupby("question")["known"].any().sum() == 20
    assert honest["n"] == naive["n"] == 32
    assert honest["high"] - honest["low"] > naive["high"] - naive["low"]
    few = set(match.apart.loc[~match.apart["known"], "question"])
    assert np.isnan(compute_difference_rows({OVERALL: match}, {"few": few}, has_estimates=True).iloc[0]["low"])


def test_a_forecast_says_how_many_more_or_that_scoring_is_not_enough():
    """Of 32 questions of 5 answers, of which people scored 64."""
    made = Forecast(questions=32, each=5, scored=64, between=1.5, within=4.0, half=0.62)
    assert describe_scores_needed_for_target(made, 0.2) == "not by scoring"
    assert describe_scores_needed_for_target(made, 0.42).endswith(" more, and perhaps not by scoring alone")
    assert describe_scores_needed_for_target(made, 0.65) == "reached"
    assert describe_scores_needed_for_target(made, 0.55).startswith("about ")


def test_forecasts_are_rows_and_sentences(study):
    """The table and the sentences come from the same estimate as the leaderboard."""
    one = forecast_scores_needed_or_none(study.frame, "a/one", "quality")
    row = people_judge_and_combined_means_table(study.frame).data.iloc[0]
    assert one.half == pytest.approx((row["high"] - row["low"]) / 2)
    assert one.half_interval_if_all_scored < one.half
    data = scores_needed_forecast_table(study.frame).data
    assert list(data.columns) == ["system", "experiment", "scored", "half", "to5", "to3", "floor"]
    assert len(describe_forecasts_of_scores_needed(study.frame)) == len(data) == 4
    assert describe_forecasts_of_scores_needed(study.frame)[0].startswith("a/one, quality: ±")
    assert "these 32 questions allow ±" in describe_forecasts_of_scores_needed(study.frame)[0]


@pytest.mark.full
def test_the_lead_sees_the_estimate_at_the_desk_once_the_wave_is_scored(demo, tmp_path, monkeypatch):
    """Results has it beside people alone, with a forecast; for whom a wave still has answers to score, it waits."""
    shutil.copytree(demo[0] / "runs", tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    here = find_workspace(tmp_path)
    pool = AnswerPool(here, [source.folder for source in select_runs_and_apply_filters(here, ["demo"])])
    waves = draw_and_save_waves(here, pool.answers.values(), (), size_of_each_group=24, seed=0)
    random = np.random.default_rng(0)
    keys = {digest: "".join(random.choice(list("123"), 5)) for digest in pool.answers}
    wave = [digest for digest in keys if digest_prefix_used_in_waves(digest) in waves.all_wave_digest_prefixes]
    machine = [score(str(JUDGE), digest, typed("1" + own[1:4] + "1"), scorer="machine") for digest, own in keys.items()]
    desk = desk_here()
    desk.store.append_new_events(
        [*machine, *(score("ada", digest, typed(keys[digest]), seconds=300.0) for digest in wave[:-20])]
    )
    snapshot = results_cache(desk.pool).get_or_read_snapshot(desk)
    before = (
        make_results_view_cached(snapshot, ResultsChoice(), snapshot.make_hidden_byte_per_distinct_answer(frozenset()))
        .people_and_judge_table_and_forecasts[0]
        .data
    )
    assert before["why"].str.contains("lack a score; an estimate allows 5%").any()
    desk.store.append_new_events([score("ada", digest, typed(keys[digest]), seconds=300.0) for digest in wave[-20:]])
    page = Shown("results", desk, User("ruth", scores=False, adjudicates=True))
    after = page.rows("results people and judge")
    known = next(row for row in after if row[1] == "quality")
    assert known[2].startswith("people ")
    assert re.fullmatch(r"[0-9.]+ \[[0-9.]+, [0-9.]+\]", known[4])
    assert float(known[5]) > 0
    assert "±3: " in page.text()
    snapshot = results_cache(desk.pool).get_or_read_snapshot(desk, renew_if_stale=True)
    for hidden in (desk.queue.answers_analyst_may_still_score("edsger"), frozenset(wave[::4])):
        assert (
            not make_results_view_cached(
                snapshot, ResultsChoice(), snapshot.make_hidden_byte_per_distinct_answer(hidden)
            )
            .people_and_judge_table_and_forecasts[0]
            .data["mean"]
            .notna()
            .any()
        )
    # Whoever has scored the wave may be asked for a larger one: that hides no estimate, and those answers all the same.
    beyond = make_results_view_cached(
        snapshot, ResultsChoice(), snapshot.make_hidden_byte_per_distinct_answer(frozenset(keys) - frozenset(wave))
    )
    assert beyond.people_and_judge_table_and_forecasts[0].data["mean"].notna().any()
    assert not set(beyond.frame["answer"]) - {*wave, ""}
