"""Every table of every frame at the edges: there or empty, never an exception, a warning or a number from nowhere."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from framing import study_of
from size import size
from tabling import at_the_edges

from genaipa.reports.chapters import (
    agreement,
    closed_book,
    consistency,
    cost,
    documents,
    metrics,
    order,
    outcomes,
    overall,
    regulation,
    robustness,
    silent,
    texts,
)
from genaipa.reports.report import Report
from genaipa_points.tables import tabulate_point_recall_and_harm_rates
from rubrics import PAPER

if TYPE_CHECKING:
    from genaipa.reports.table import Table

TABLES = {
    "scores-by-question": documents.scores_by_question_and_document_table,
    "five-numbers": documents.five_number_summary_by_document_table,
    "faq-against-user": overall.scores_by_question_source_table,
    "easiest-and-hardest": metrics.easiest_and_hardest_questions_table,
    "documents-ranked": documents.document_ranks_over_all_systems_table,
    "documents": lambda frame: texts.document_statistics_table({}, frame),
    "metrics-by-question": metrics.metrics_by_question_table,
    "metrics-by-category": metrics.metrics_by_category_table,
    "regulation": regulation.regulation_scores_table,
    "robustness": robustness.paraphrase_drops_by_group_table,
    "robustness-by-question": robustness.paraphrase_drops_by_question_table,
    "consistency": lambda frame: consistency.answer_consistency_by_system_table(
        consistency.measure_consistency_by_way_of_asking(frame)
    ),
    "consistency-by-question": lambda frame: consistency.answer_consistency_by_question_table(
        consistency.measure_consistency_by_way_of_asking(frame)
    ),
    "conversations": order.shared_and_separate_conversations_table,
    "positions": order.question_position_trend_table,
    "memory": closed_book.gains_from_document_by_question_table,
    "memory-summary": closed_book.mean_gains_from_document_table,
    "effort": lambda frame: cost.time_and_cost_table(study_of(frame)),
    "answers": lambda frame: outcomes.outcome_counts_by_system_table(study_of(frame)),
    "points": tabulate_point_recall_and_harm_rates,
    "silent-questions": lambda frame: silent.silence_error_rates_table(study_of(frame)),
    "silent-differences": lambda frame: silent.silence_error_differences_table(study_of(frame)),
    "silent-quality": silent.quality_by_silence_table,
    "agreement": lambda _: agreement.analyst_alpha_table([], PAPER),
    "leaderboard": overall.leaderboard_table,
    "averages": overall.averages_of_each_metric_table,
}
NO_SCORE = ("empty", "one answer unscored", "unscored", "failed and missing", "refused", "machine", "all excluded")


@functools.cache
def frames() -> dict[str, pd.DataFrame]:
    """The frames by their names, made once for all tests."""
    return at_the_edges()


@functools.cache
def made(name: str, frame: str) -> Table:
    """A table of a frame, made once for all tests."""
    return TABLES[name](frames()[frame])


@pytest.mark.parametrize("name", size(small=list(TABLES)[::2], soak=list(TABLES)))
def test_a_table_is_right_whatever_it_is_made_of(name: str) -> None:
    """Each has its name, its columns in their order, no categories, and a text for every cell.

    Averages lie within 10 to 100 or -1 to 1, shares within 0 to 1, and an interval is about its average.
    """
    # In small every eighth frame: the other tables take the others.
    step = size(small=8, soak=1)
    for frame in [*frames()][list(TABLES).index(name) // 2 % step :: step]:
        check_form(name, frame)
        check_scales(name, frame)


def check_form(name: str, frame: str) -> None:
    """One table is as its readers expect it; pytest shows which."""
    table = made(name, frame)
    assert table.name == name
    assert table.title
    assert table.note.endswith(".")
    assert "  " not in table.note
    assert table.data.columns.tolist()[: len(_COLUMNS[name])] == _COLUMNS[name]
    assert table.data.index.equals(pd.RangeIndex(len(table.data)))
    assert not any(isinstance(kind, pd.CategoricalDtype) for kind in table.data.dtypes)
    assert set(table.headings) | set(table.formats) <= set(table.data.columns)
    for column in table.data.columns:
        for value in table.data[column]:
            written = table.format_cell(column, value)
            assert "nan" not in written.lower()
            assert written not in ("-0.0", "-0.00", "+-0.0")


_COLUMNS = {
    "scores-by-question": "system experiment document question category source silent m_all answers scores",
    "five-numbers": "system experiment document questions n minimum q1 median q3 maximum mean low high",
    "faq-against-user": "system questions n mean low high policies_low policies_high documents",
    "easiest-and-hardest": "end rank question mean policies_low policies_high n silent",
    "documents-ranked": "rank document n mean low high from to",
    "documents": "document words unique_words reading_minutes grade connective_words questions silent",
    "metrics-by-question": "system experiment question category source relevance accuracy clarity completeness "
    "reference m_all documents",
    "metrics-by-category": "system experiment category relevance accuracy clarity completeness reference m_all",
    "regulation": "system document question relevance accuracy clarity completeness reference m_all answers",
    "robustness": "system questions n original paraphrased drop low high policies_low policies_high documents",
    "robustness-by-question": "system question original paraphrased drop n",
    "consistency": "system over experiment measure n mean low high policies_low policies_high documents",
    "consistency-by-question": "system over experiment question category source change policies_low policies_high",
    "conversations": "system experiment n shared independent difference low high policies_low policies_high documents",
    "positions": "system experiment conversation n first middle last slope low high policies_low policies_high",
    "memory": "system question category source document_shown name_only difference n",
    "memory-summary": "system n mean low high policies_low policies_high documents",
    "effort": "system experiment answers m_all low high policies_low policies_high documents seconds cost "
    "cost_low cost_high cost_policies_low cost_policies_high cost_total",
    "answers": "system experiment planned answered truncated refused failed missing excluded scored unscored",
    "points": "system experiment measure answers rate low high policies_low policies_high questions documents",
    "silent-questions": "system experiment error answers wrong rate low high policies_low policies_high questions "
    "documents partly",
    "silent-differences": "first second error questions documents difference low high policies_low policies_high "
    "p_holm policies_p_holm",
    "silent-quality": "system experiment silent m_all low high policies_low policies_high questions documents",
    "agreement": "metric alpha low high",
    "leaderboard": "rank system m_all low high policies_low policies_high documents quality robustness recall summary",
    "averages": "system experiment measure questions n mean low high policies_low policies_high documents",
}
_COLUMNS = {name: columns.split() for name, columns in _COLUMNS.items()}


def check_scales(name: str, frame: str) -> None:
    """Every number of one table is where it can be; pytest shows of which."""
    data = made(name, frame).data
    of_m_all = name not in ("averages", "memory-summary", "consistency")
    for column in (
        "m_all",
        "minimum",
        "q1",
        "median",
        "q3",
        "maximum",
        "original",
        "paraphrased",
        "shared",
        "independent",
    ):
        assert _values(data, column).between(10, 100).all()
    if of_m_all:
        assert _values(data, "mean").between(10, 100).all()
    for column in ("relevance", "accuracy", "clarity", "completeness", "reference"):
        assert _values(data, column).between(-1, 1).all()
    for column in ("rate", "same"):
        assert _values(data, column).between(0, 1).all()
    for column in ("mean", "m_all", "drop", "spread", "rate"):
        if {column, "low"} <= set(data):
            known = data.dropna(subset="low")
            assert (known["low"] <= known[column] + 1e-9).all()
            assert (known[column] <= known["high"] + 1e-9).all()
        if {column, "low", "policies_low"} <= set(data):
            known = data.dropna(subset="policies_low")
            assert (known["policies_low"] <= known["low"]).all()
            assert (known["high"] <= known["policies_high"]).all()


def _values(data: pd.DataFrame, column: str) -> pd.Series:
    return data[column].dropna().astype("float64") if column in data else pd.Series(dtype="float64")


def test_without_a_score_that_counts_there_is_no_average() -> None:
    """Nothing is averaged from answers that nobody scored, that only a machine scored, or that an audit left out."""
    averages = [name for name in TABLES if name not in ("answers", "effort", "silent-questions", "silent-differences")]
    # In small each is made of one of these frames, and together they take all.
    pairs = size(small=zip(averages, itertools.cycle(NO_SCORE)), soak=itertools.product(averages, NO_SCORE))
    assert [pair for pair in pairs if made(*pair)] == []


def test_effort_and_silence_are_told_without_scores_but_no_quality() -> None:
    """What answers took and claimed is known before anybody scores them; their quality is blank."""
    for frame in NO_SCORE:
        assert made("effort", frame).data["m_all"].isna().all(), frame
        assert not made("silent-quality", frame), frame


def test_one_answer_has_a_score_and_no_interval() -> None:
    """Of one answer there is its score, its one question is easy rather than hard, and the note says how few it is."""
    frame = frames()["one answer"]
    five = documents.five_number_summary_by_document_table(frame)
    assert five.data["n"].tolist() == [1, 1]
    assert five.data["median"].tolist() == [100, 100]
    assert five.data["low"].isna().all()
    assert "n = 1 of the questions, too few for an interval" in five.note
    assert metrics.easiest_and_hardest_questions_table(frame).data["end"].tolist() == ["easiest"]
    assert overall.leaderboard_table(frame).data[["rank", "m_all", "scored_by"]].values.tolist() == [
        [1, 100, "1 analyst"]
    ]
    assert Report.build(study_of(frame)).main_table.name == "leaderboard", (
        "the smallest study there is has a whole report"
    )


def test_equal_values_have_no_interval() -> None:
    """Where every score is the same, it is the average; how others would differ, nobody can say."""
    frame = frames()["all equal"]
    board = overall.leaderboard_table(frame).data
    assert board[["rank", "m_all"]].values.tolist() == [[1, 77.5]] * 2
    assert board[["low", "high", "policies_low", "policies_high"]].isna().all(axis=None)
    drops = robustness.paraphrase_drops_by_group_table(frame).data
    assert drops["drop"].eq(0).all()
    assert drops["low"].isna().all()
    assert metrics.metrics_by_category_table(frame).data["m_all"].tolist() == [77.5] * 16


def test_a_metric_that_was_never_scored_is_blank() -> None:
    """A study that published M_all only has no metrics, and its M_all all the same."""
    data = metrics.metrics_by_question_table(frames()["M_all only"]).data
    assert data["m_all"].tolist() == [73] * 3
    assert np.isnan(data[["relevance", "reference"]]).all(axis=None)
    assert np.isnan(metrics.metrics_by_category_table(frames()["M_all only"]).data["clarity"]).all()


@pytest.mark.full
def test_the_same_frame_gives_the_same_table() -> None:
    """Nothing is left to chance: intervals, order and notes come out the same from an equal frame."""
    equal = frames()["two systems"].copy()
    for name, make in TABLES.items():
        again = make(equal)
        pd.testing.assert_frame_equal(again.data, made(name, "two systems").data, obj=name)
        assert again.note == made(name, "two systems").note, name
