"""Averages: of answers over scores, of cells over answers, of questions over documents."""

from __future__ import annotations

import pytest
from framing import answer_rows, score_rows, study, tidy_of
from test_frame import ONE, published, scored

from genaipa.reports import averages as cells
from rubrics import METRICS


def test_an_answer_is_averaged_before_its_cell():
    """Algorithm 2: two scores of one repetition don't outweigh the single score of another."""
    answers = answer_rows(**ONE, repetitions=2)
    first, second = (answer["answer"] for answer in answers)
    given = [scored(first, "ada", "11111"), scored(first, "bo", "11111"), scored(second, "ada", "33333")]
    found = cells.average_scores_by_question_and_document(tidy_of(answers, given))
    assert found["m_all"].tolist() == [55]
    assert found[["answers", "scores"]].to_numpy().tolist() == [[2, 3]]


def test_each_analyst_of_an_answer_weighs_the_same():
    """The average of an answer is that of its analysts, metric by metric."""
    answers = answer_rows(**ONE)
    given = [scored(answers[0]["answer"], "ada", "12311"), scored(answers[0]["answer"], "bo", "32111")]
    one = cells.average_answers(tidy_of(answers, given)).iloc[0]
    assert [one[metric] for metric in METRICS] == [0.0, 0.5, 0.0, 1.0, 1.0]
    assert one["scores"] == 2


def test_equal_texts_count_in_each_place_where_they_were_given():
    """One score of a text that two systems gave is in both systems' cells."""
    answers = answer_rows(documents=("uber",), questions=("T_f1",))
    for answer in answers:
        answer["answer"] = "same"
    found = cells.average_scores_by_question_and_document(tidy_of(answers, [scored("same", "ada", "11111")]))
    assert found["system"].tolist() == ["a/one", "b/two"]


def test_questions_are_averaged_over_documents():
    """A question's mean is over its documents, and says over how many."""
    answers = answer_rows(systems=("a/one",), documents=("uber", "spotify"), questions=("T_f1",))
    given = [scored(answers[0]["answer"], "ada", "11111"), scored(answers[1]["answer"], "ada", "33333")]
    found = cells.average_questions_over_documents(
        cells.average_scores_by_question_and_document(tidy_of(answers, given))
    )
    assert found[["m_all", "documents"]].to_numpy().tolist() == [[55, 2]]


def test_published_means_fill_what_the_documents_lack():
    """M_all comes from the documents where they have it, the metrics from the mean over documents, and only there."""
    rows = [
        published(m_all=100.0, averaged=1),
        published(document="spotify", m_all=10.0, averaged=1),
        published(document="", **dict.fromkeys(METRICS, 1.0), averaged=5),
        published("T_f2", document="", **dict.fromkeys(METRICS, -1.0), averaged=5),
    ]
    found = cells.average_questions_over_documents(
        cells.average_scores_by_question_and_document(tidy_of(rows))
    ).set_index("question")
    assert found.loc["T_f1", ["m_all", "relevance", "documents"]].tolist() == [55, 1.0, 2]
    assert found.loc["T_f2", ["m_all", "relevance", "documents"]].tolist() == [10, -1.0, 0]
    assert (
        len(cells.select_scored_rows_naming_a_document(cells.average_scores_by_question_and_document(tidy_of(rows))))
        == 2
    )


@pytest.mark.parametrize("frame", [tidy_of([]), tidy_of(answer_rows())], ids=["empty", "unscored"])
def test_nothing_scored_gives_no_cells(frame):
    """Tables without a score have the columns of cells and no rows."""
    found = cells.average_scores_by_question_and_document(frame)
    assert found.empty
    assert cells.average_questions_over_documents(found).empty
    assert cells.select_scored_rows_naming_a_document(found).empty


def test_a_study_has_a_cell_for_each_question_and_document():
    """Wordings and repetitions of an experiment fall into the same cell."""
    found = cells.average_scores_by_question_and_document(study(experiments=("quality", "robustness"), repetitions=2))
    assert len(found) == 2 * 2 * 2 * 32
    assert found.groupby("experiment", observed=True)["answers"].first().to_dict() == {"quality": 2, "robustness": 6}
    assert score_rows(answer_rows())[0]["relevance"] in (1.0, 0.5, -1.0)
