"""Estimates: what people would have given to all answers, by a judge's scores of all and theirs of a random part."""

from __future__ import annotations

import shutil

import msgspec
import numpy as np
import pandas as pd
import pytest
from stores import opened, score
from verdicts import JUDGE, judged, with_waves

from genaipa.answers.gather import gather_study
from genaipa.reports import averages
from genaipa.reports.chapters import overall
from genaipa.reports.comparison import compare_sides
from genaipa.reports.judged.estimate import estimate_scores_with_judge_if_possible, estimate_sides_with_one_lambda
from genaipa.reports.sides import ComparisonSide
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.scoring.answers import AnswerPool
from genaipa.scoring.waves import Waves, digest_prefix_used_in_waves, draw_and_save_waves
from genaipa.workspace import find_workspace
from rubrics import METRICS, typed


def mean_of(frame, measure="m_all"):
    """The average of a measure over the questions of the first system, by the functions of the report."""
    cells = averages.select_and_weigh_averaged_cells(frame, measure)
    return averages.estimate_column_mean(cells[cells["system"] == "a/one"], measure)


def test_it_is_nearer_to_the_whole_study_than_people_alone():
    """A good judge's estimate of a third of the answers is nearer to what people would say of all, and surer."""
    study = judged(errors=0.05, size=32)
    (found,) = estimate_sides_with_one_lambda([study.frame])
    assert set(found.estimated_groups["scored"]) == {32}
    frames = {"both": found.frame, "alone": study.frame, "whole": study.whole()}
    rows = {name: averages.average_policy_questions(of) for name, of in frames.items()}
    means = {name: some.groupby("system", observed=True)[list(METRICS)].mean() for name, some in rows.items()}
    off = {name: (means[name] - means["whole"]).abs().to_numpy().mean() for name in ("both", "alone")}
    assert off["both"] < 0.8 * off["alone"]
    sure = {name: mean_of(of) for name, of in frames.items()}
    widths = {name: mean["high"] - mean["low"] for name, mean in sure.items()}
    assert widths["both"] < 0.9 * widths["alone"]


def test_scores_outside_the_wave_count_as_themselves_alone():
    """Wrong as they may be, they move the estimate by their own share, and the judge is not corrected by them."""
    study = judged(outside=(3, 50, 90))
    changed = study.frame.copy()
    early = [study.rows[place]["answer"] for place in (3, 50, 90)]
    mine = changed["answer"].isin(early) & (changed["scorer"] == "human")
    assert mine.sum() == 3
    changed.loc[mine, "m_all"] += 2
    before, after = (estimate_sides_with_one_lambda([frame])[0] for frame in (study.frame, changed))
    assert mean_of(after.frame)["mean"] - mean_of(before.frame)["mean"] == pytest.approx(3 * 2 / 96)
    assert before.groups["slope"].tolist() == after.groups["slope"].tolist()


def test_a_score_out_of_curiosity_counts_nowhere():
    """An answer that could have been drawn, was not, and got a score all the same moves no average."""
    study = judged()
    here = study.frame
    place = here.index[(here["system"] == "a/one") & (here["in_wave"] == "no")][7]
    frames = [here.copy(), here.copy()]
    for frame, counted in zip(frames, (True, False), strict=True):
        frame.loc[place, ["scorer", "counted"]] = ["human", counted]
    found, before = (estimate_sides_with_one_lambda([one])[0] for one in frames)
    assert found.groups["slope"].tolist() == before.groups["slope"].tolist()
    assert mean_of(found.frame)["mean"] == pytest.approx(mean_of(before.frame)["mean"])
    assert set(found.estimated_groups["scored"]) == {48}
    assert mean_of(found.people)["mean"] == pytest.approx(mean_of(before.people)["mean"])


@pytest.mark.full
def test_the_worst_answers_beside_a_wave_move_no_average():
    """Without a judge as well, people's average is the wave's, in the leaderboard and in a comparison."""
    study = judged(judge=None)
    whole = with_waves(study.whole(), study.waves)
    out = (whole["in_wave"] == "no") & (whole["system"] == "a/one")
    worst = whole[out].nsmallest(16, "m_all").index
    none = {**dict.fromkeys([*METRICS, "m_all"], np.nan), "counted": False}
    frame = whole.assign(**{name: whole[name].mask(whole["in_wave"] == "no", of) for name, of in none.items()})
    more = frame.copy()
    more.loc[worst, list(none)] = whole.loc[worst, list(none)]
    assert estimate_sides_with_one_lambda([frame])[0].frame is frame
    assert mean_of(more)["mean"] < mean_of(frame)["mean"] - 0.05
    boards = [overall.leaderboard_table(one).data.set_index("system") for one in (frame, more)]
    assert boards[1].loc["a/one", "m_all"] == pytest.approx(boards[0].loc["a/one", "m_all"])
    assert boards[1].loc["a/one", "scored"] == "64 of 96, 48 of them at random"
    assert boards[1].loc["b/two"].equals(boards[0].loc["b/two"])
    before, after = (
        compare_sides(
            *(ComparisonSide(name, one[one["system"] == name], {}, {}) for name in ("a/one", "b/two")), anyway=True
        )
        for one in (frame, more)
    )
    assert after.frame.loc[0, "mean_a"] == pytest.approx(boards[0].loc["a/one", "m_all"])
    assert after.frame.loc[0, "difference"] == pytest.approx(before.frame.loc[0, "difference"])


def test_several_judges_and_passes_are_averaged():
    """Passes are averaged first: a judge that was asked three times counts no more than one that was asked once."""
    study = judged()
    rows = study.frame[study.frame["scorer"] == "machine"].drop_duplicates("key")

    def with_judges(*given):
        """The study judged by these: a name, and what it adds to M_all."""
        extra = [rows.assign(analyst=str(name), m_all=rows["m_all"] + more) for name, more in given]
        frame = pd.concat([study.frame[study.frame["scorer"] == "human"].astype({"analyst": str}), *extra])
        return estimate_sides_with_one_lambda([frame.astype({"analyst": "category"}).reset_index(drop=True)])[0]

    other = JUDGE._replace(model="other")
    found = with_judges((JUDGE, 0), (JUDGE._replace(passed=2), 3), (other, 0.5))
    assert found.judges == ("made-up", "other")
    alone = with_judges((JUDGE, 0))
    assert mean_of(found.judge)["mean"] - mean_of(alone.judge)["mean"] == pytest.approx((1.5 + 0.5) / 2)
    assert mean_of(found.frame)["mean"] == pytest.approx(mean_of(alone.frame)["mean"])


def test_a_judge_of_the_systems_own_family_is_marked():
    """Wherever an estimate is named, it says whose family the judge is of."""
    study = judged(systems=("openai/gpt-4", "claude-sonnet"), judge=JUDGE._replace(model="gpt-4.1"))
    (found,) = estimate_sides_with_one_lambda([study.frame])
    assert found.describe_scored_answers("openai/gpt-4") == "people 48 of 96, judge all (own family)"
    assert found.describe_scored_answers("claude-sonnet", "quality") == "people 48 of 96, judge all"
    assert found.describe_scored_answers("claude-sonnet", "recall") == ""


def test_a_machine_score_that_is_no_judge_is_none():
    """An imported machine score, and a workspace without a judge, give no estimate at all."""
    study = judged(judge=None)
    assert estimate_sides_with_one_lambda([study.frame])[0].frame is study.frame
    imported = judged(judge="gpt-scores")
    assert estimate_sides_with_one_lambda([imported.frame])[0].frame is imported.frame


def test_a_judge_that_says_nothing_of_people_leaves_them_alone():
    """With a slope of 0 every table is people's, to the last digit."""
    study = judged()
    frame = study.frame.copy()
    machine = frame["scorer"] == "machine"
    frame.loc[machine, [*METRICS]] *= -1
    frame.loc[machine, "m_all"] = 110 - frame.loc[machine, "m_all"]
    (found,) = estimate_sides_with_one_lambda([frame])
    assert set(found.groups["slope"]) == {0.0}
    assert found.groups["why"].str.contains("no better than chance").all()
    people = frame.assign(analyst=frame["analyst"].cat.rename_categories({str(JUDGE): "no judge"}))
    pd.testing.assert_frame_equal(overall.leaderboard_table(frame).data, overall.leaderboard_table(people).data)
    pd.testing.assert_frame_equal(
        averages.average_scores_by_question_and_document(found.frame),
        averages.average_scores_by_question_and_document(people),
    )


BLANK = {
    "too few": (judged, {"size": 14}, "28 answers in random parts are scored; an estimate needs 30"),
    "few in a group": (
        judged,
        {"size": 10, "systems": tuple("abcd")},
        "10 answers in its random part are scored; an estimate needs 12",
    ),
    "unfinished": (judged, {"left": 6}, "answers in its random part lack a score; an estimate allows 5%"),
    "residuals all equal": (judged, {"errors": 0}, "would have no width and mislead"),
    "all scored": (judged, {"size": 96}, "People scored all of its answers."),
}


@pytest.mark.parametrize("name", BLANK)
def test_it_is_blank_with_the_reason(name):
    """Where an estimate would promise too much there is none, the table says why, and people's averages stand."""
    make, given, said = BLANK[name]
    study = make(**given)
    (found,) = estimate_sides_with_one_lambda([study.frame])
    assert found.groups["why"].str.contains(said, regex=False).any()
    refused = found.groups[found.groups["why"] != ""]["system"].unique()
    ours, theirs = (
        averages.average_scores_by_question_and_document(frame).set_index("system")
        for frame in (found.frame, study.frame)
    )
    pd.testing.assert_frame_equal(ours.loc[refused], theirs.loc[refused])


def test_a_wave_of_5_percent_unfinished_still_counts():
    """Two of 48 answers may lack a score."""
    (found,) = estimate_sides_with_one_lambda([judged(left=2).frame])
    assert set(found.groups["why"]) == {""}
    assert set(found.groups["scored"]) == {46, 48}


def test_two_rubrics_are_not_averaged():
    """Scores by two rubrics give no estimate; verdicts by another rubric than people's are not taken."""
    study = judged()
    frame = study.frame.astype({"rubric": str})
    mine = frame["scorer"] == "human"
    other = frame.assign(rubric=frame["rubric"].where(~mine | (frame.index % 2 == 0), "another")).astype(
        {"rubric": "category"}
    )
    (found,) = estimate_sides_with_one_lambda([other])
    assert found.groups["why"].str.contains("2 rubrics").all()
    other = frame.assign(rubric=frame["rubric"].where(mine, "another")).astype({"rubric": "category"})
    (found,) = estimate_sides_with_one_lambda([other])
    assert found.groups["why"].str.contains("No judge scored its answers by the people's rubric").all()


def test_published_means_over_documents_stand_alone():
    """A metric of which a study published only such means has no estimate; M_all, published by document, has one."""
    study = judged()
    kinds = study.frame.dtypes
    plain = study.frame.astype(dict.fromkeys(kinds.index[kinds == "category"], "object"))
    first = plain[plain["system"] == "a/one"].iloc[:1]
    table = {"unit": "table", "key": "", "answer": "", "role": "published", "scorer": "human", "counted": True}
    single = first.assign(**table, m_all=70.0, **dict.fromkeys(METRICS, np.nan))
    whole = first.assign(**table, document="", m_all=70.0, **dict.fromkeys(METRICS, 0.3))
    frame = pd.concat([plain, single, whole], ignore_index=True)
    (found,) = estimate_sides_with_one_lambda(
        [frame.astype(dict.fromkeys(kinds.index[kinds == "category"], "category"))]
    )
    why = found.groups[found.groups["system"] == "a/one"].set_index("measure")["why"]
    assert why["m_all"] == ""
    assert why[list(METRICS)].str.contains("published only its means over documents").all()


def test_answers_that_came_after_the_draw_wait_for_another():
    """Where more than 5 % of a group's answers were not drawn from, its wave is no sample of them."""
    study = judged()
    draws = (without(draw, "T_f1", "T_f2", "T_f3") for draw in study.waves.draws)
    (found,) = estimate_sides_with_one_lambda([with_waves(study.frame, Waves(tuple(draws)))])
    assert found.groups["why"].str.contains("of its 96 answers came after the draw; draw again").all()


def without(draw, *names):
    """A draw that knows nothing of these questions."""
    questions = {name: documents for name, documents in draw.questions.items() if name not in names}
    return msgspec.structs.replace(draw, questions=questions)


def test_a_verdict_that_is_missing_is_no_bias():
    """Answers that the judge could not read take its mean: the estimate stays people's, and only less sure."""
    study = judged(size=64)
    machine = (study.frame["scorer"] == "machine") & (study.frame["question"].cat.codes % 3 == 0)
    # An answer stays, without a verdict.
    frame = study.frame.assign(
        scorer=study.frame["scorer"].mask(machine, "human"), counted=study.frame["counted"] & ~machine
    )
    (found,) = estimate_sides_with_one_lambda([frame])
    assert (found.estimated_groups["judged"] == 3 * 21).all()
    assert mean_of(found.frame)["mean"] == pytest.approx(mean_of(study.whole())["mean"], abs=3)


def test_a_few_questions_without_a_score_are_left_to_the_judge():
    """Below five questions that people scored, a group of questions has no estimate; the whole has one."""
    (found,) = estimate_sides_with_one_lambda([judged(size=20, errors=0.1).frame])
    cells = averages.select_and_weigh_averaged_cells(found.frame, "m_all")
    unknown = cells[(cells["system"] == "a/one") & (cells["scores"] == 0)]
    assert unknown["question"].nunique() == 12
    assert np.isnan(averages.estimate_column_mean(unknown, "m_all")["mean"])
    assert not np.isnan(mean_of(found.frame)["high"])


SYSTEMS = ("extractive", "careful", "breezy")


def test_of_a_real_store(demo, tmp_path):
    """Answers of the demo, some scored by a person at random, all by a judge, through files, store and gatherer."""
    shutil.copytree(demo[0] / "runs", tmp_path / "runs")
    here = find_workspace(tmp_path)
    answers = AnswerPool(here, [source.folder for source in select_runs_and_apply_filters(here, SYSTEMS)]).answers
    waves = draw_and_save_waves(here, answers.values(), (), size_of_each_group=16, seed=0)
    random = np.random.default_rng(0)
    keys = {digest: "".join(random.choice(list("123"), 5)) for digest in answers}
    events = [score(str(JUDGE), digest, typed("1" + own[1:]), scorer="machine") for digest, own in keys.items()]
    events += [
        score("ada", digest, typed(own))
        for digest, own in keys.items()
        if digest_prefix_used_in_waves(digest) in waves.all_wave_digest_prefixes
    ]
    with opened(f"sqlite:///{tmp_path / 'scores.db'}") as store:
        store.append_new_events(events)
        gathered = gather_study(here, select_runs_and_apply_filters(here, SYSTEMS), store)
    found = estimate_scores_with_judge_if_possible(gathered.table)
    assert found.judges == ("made-up",)
    assert set(found.estimated_groups["system"]) == {*SYSTEMS}
    assert set(found.estimated_groups["judged"]) == set(found.estimated_groups["answers"]) == {32}
    assert found.estimated_groups["scored"].between(16, 31).all()
    assert "accuracy" not in set(found.estimated_groups["measure"])  # the judge gave what the person gave: no width
    both, alone = (
        averages.estimate_column_mean(averages.select_and_weigh_averaged_cells(frame, "m_all"), "m_all")
        for frame in (found.frame, gathered.table)
    )
    assert both["high"] - both["low"] < 0.95 * (alone["high"] - alone["low"])


def test_a_damaged_file_of_waves_is_said(demo, tmp_path):
    """The report goes on without waves, and says which file is damaged."""
    shutil.copytree(demo[0] / "runs", tmp_path / "runs")
    (tmp_path / "waves.jsonl").write_text("{}\n")
    here = find_workspace(tmp_path)
    gathered = gather_study(here, select_runs_and_apply_filters(here, ["demo"]), None)
    assert not gathered.waves
    assert any("waves.jsonl" in problem for problem in gathered.problems)
