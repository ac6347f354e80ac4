"""Bounds for answers of a wave that nobody scored."""

from __future__ import annotations

import pytest
from verdicts import judged

from genaipa.reports import averages
from genaipa.reports.part import tabulate_average_bounds_with_unscored


def test_what_a_wave_lacks_bounds_its_average() -> None:
    """Three of a wave of 64 lack scores: the average lies between those with these at the least and at the most."""
    made = tabulate_average_bounds_with_unscored(judged(size=64, left=3, judge=None, experiments=("quality",)).frame)
    assert made.data["lacking"].tolist() == [3]
    row = made.data.iloc[0]
    # Each question has one or two answers in the wave, and counts alike.
    assert row["least"] < row["mean"] < row["most"]
    assert 3 / 64 * 90 * 0.5 < row["most"] - row["least"] < 3 / 64 * 90 * 1.5
    assert row["judge_lacking"] is None


def test_a_judge_says_where_it_may_lie() -> None:
    """The judge's averages of what is lacking and of the rest stand beside the bounds, which are the estimate's."""
    study = judged(size=64, left=3, experiments=("quality",))
    row = tabulate_average_bounds_with_unscored(study.frame).data.iloc[0]
    assert 10 <= row["judge_lacking"] <= 100
    found = averages.average_policy_questions(study.whole()).groupby("system", observed=True)["m_all"].mean()
    assert row["least"] - 8 < found[row["system"]] < row["most"] + 8


@pytest.mark.parametrize("left", [0, 6])
def test_a_whole_wave_and_an_unfinished_one_have_none(left: int) -> None:
    """Nothing is lacking, or so much that it is no sample."""
    assert not tabulate_average_bounds_with_unscored(
        judged(size=64, left=left, judge=None, experiments=("quality",)).frame
    )
