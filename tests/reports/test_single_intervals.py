"""Intervals of what is no average over questions: one question, one experiment of a system, a median."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy
from framing import tidy_of
from tabling import published

from genaipa.reports import render
from genaipa.reports.chapters import metrics, overall
from genaipa.stats.intervals import interval_of_mean_over_documents

SYSTEM, DOCUMENTS = "a/one", ("uber", "spotify", "airbnb", "twitter")
M_ALL = {"T_f1": (70.0, 85.0, 90.0, 77.5), "T_u1": (100.0, 100.0, 100.0, 100.0), "UC_f1": (40.0, 70.0, 25.0, 60.0)}


def frame() -> pd.DataFrame:
    """Three questions about four documents each in two experiments, metrics too, and one only as a published mean."""
    rows = [
        published(SYSTEM, experiment, document, question, m_all=value - easier, metrics=(value - easier - 55) / 45)
        for experiment, easier in (("quality", 0.0), ("recall", 10.0))
        for question, values in M_ALL.items()
        for document, value in zip(DOCUMENTS, values, strict=True)
    ]
    return tidy_of([*rows, published(SYSTEM, "quality", "", "PD_f1", m_all=50.0, metrics=0.5)])


def test_a_question_has_the_interval_over_its_documents() -> None:
    """Metric by metric and of M_all; where all are alike there is none, and a published mean has none."""
    made = metrics.metrics_by_question_table(frame())
    found = made.data[made.data["experiment"] == "quality"].set_index("question")
    for question in ("T_f1", "UC_f1"):
        values, row = M_ALL[question], found.loc[question]
        assert (row["policies_low"], row["policies_high"]) == pytest.approx(
            interval_of_mean_over_documents(values, (10, 100))
        )
        ends = interval_of_mean_over_documents([(value - 55) / 45 for value in values], (-1, 1))
        assert (row["clarity_policies_low"], row["clarity_policies_high"]) == pytest.approx(ends)
    low, high = scipy.stats.t.interval(0.95, 3, np.mean(M_ALL["UC_f1"]), scipy.stats.sem(M_ALL["UC_f1"]))
    assert found.loc["UC_f1", "policies_low"] < low < high
    assert found.loc[["T_u1", "PD_f1"], ["policies_low", "clarity_policies_low"]].isna().all(axis=None)
    assert not any(heading.startswith("clarity_") for heading in render.visible_headings(made))
    assert "clarity_policies_low" in render.as_csv(made).partition("\n")[0].split(",")


def test_an_experiment_of_the_leaderboard_has_its_intervals_in_files() -> None:
    """They are those of the table of averages, in CSV and JSON; people see as many columns as before."""
    made, each = overall.leaderboard_table(frame()), overall.averages_of_each_metric_table(frame()).data
    each = each[(each["measure"] == "M_all") & (each["questions"] == "all")].set_index("experiment")
    (row,) = render.as_json_rows(made)
    for experiment in ("quality", "recall"):
        for end in ("low", "high", "policies_low", "policies_high"):
            assert row[f"{experiment}_{end}"] == pytest.approx(each.loc[experiment, end])
    assert row["summary_low"] is None
    assert "quality_low" in render.as_csv(made)
    assert [column for column in render.visible_headings(made) if "quality" in column] == ["quality"]
