"""Tables of M_all: small studies whose averages, quartiles and ranks are worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from framing import answer_rows, tidy_of
from tabling import FEW, published, scored

from genaipa.reports import averages
from genaipa.reports.chapters import documents, metrics, overall, regulation
from genaipa.reports.crossed import estimate_crossed_mean
from genaipa.reports.part import note_sparsely_scored_experiments

ONE = {"systems": ("a/one",), "documents": ("uber",)}


def by(**values):
    """What gives an answer its value: by question."""
    return lambda answer: values.get(answer["question"])


def test_a_point_averages_scores_within_answers_and_then_answers() -> None:
    """An answer with two analysts weighs as much as one with one: (55 + 100) / 2, not (100 + 10 + 100) / 3."""
    answers = answer_rows(**ONE, questions=("T_f1",), repetitions=2, silent=("T_f1",))
    given = scored(answers, lambda _: 1) + scored(answers[:1], lambda _: -1, analyst="bo")
    points = documents.scores_by_question_and_document_table(tidy_of(answers, given))
    assert points.data.to_dict("records") == [
        {
            "system": "a/one",
            "experiment": "quality",
            "document": "uber",
            "question": "T_f1",
            "category": "T",
            "source": "faq",
            "silent": "yes",
            "m_all": 77.5,
            "answers": 2,
            "scores": 3,
        }
    ]


def test_an_adjudication_takes_the_place_of_the_scores() -> None:
    """Where analysts disagreed and it was settled, the settled value alone is the answer's."""
    answers = answer_rows(**ONE, questions=("T_f1",))
    given = scored(answers, lambda _: 1) + scored(answers, lambda _: -1, analyst="bo")
    given += scored(answers, lambda _: 0.5, analyst="cy", role="adjudication")
    points = documents.scores_by_question_and_document_table(tidy_of(answers, given)).data
    assert points[["m_all", "answers", "scores"]].values.tolist() == [[77.5, 1, 1]]


def test_five_numbers_have_linear_quartiles() -> None:
    """Of 10, 77.5, 100 and 100 they are 10, 60.625, 88.75, 100 and 100; questions of users stand apart."""
    answers = answer_rows(**ONE, questions=("T_f1", "T_f2", "T_f3", "T_u1"))
    frame = tidy_of(answers, scored(answers, by(T_f1=1, T_f2=0.5, T_f3=-1, T_u1=1)))
    table = documents.five_number_summary_by_document_table(frame)
    numbers = table.data.set_index("questions")[["n", "minimum", "q1", "median", "q3", "maximum", "mean"]]
    assert numbers.loc["all"].tolist() == [4, 10, 60.625, 88.75, 100, 100, 71.875]
    assert numbers.loc["faq"].tolist() == [3, 10, 43.75, 77.5, 88.75, 100, 62.5]
    assert numbers.loc["user"].tolist() == [1, 100, 100, 100, 100, 100, 100]
    assert table.format_cell("median", 88.75) == "88.75"


def test_sources_are_compared_by_questions_of_equal_weight() -> None:
    """FAQs: (100 + 10) / 2 and 77.5 are 66.25: that recall has one question only doesn't let this one weigh more."""
    answers = answer_rows(**ONE, questions=FEW, experiments=("quality", "recall"))

    def value(answer):
        if answer["experiment"] == "quality":
            return {"T_f1": 1, "UC_f1": 0.5, "T_u1": 1}[answer["question"]]
        return -1 if answer["question"] == "T_f1" else None

    table = overall.scores_by_question_source_table(tidy_of(answers, scored(answers, value)))
    assert table.data[["questions", "n", "mean"]].values.tolist() == [["faq", 2, 66.25], ["user", 1, 100]]
    assert "quality, recall" in table.note
    assert "a/one quality 3 (3), recall 1 (1), about uber." in table.note


def test_the_interval_over_experiments_is_that_of_the_questions() -> None:
    """Where every experiment has every question, it is the interval of the questions' means over experiments."""
    answers = answer_rows(systems=("a/one",), experiments=("quality", "recall"))
    values = {answer["key"]: (1, 0.5, -1)[place % 3] for place, answer in enumerate(answers)}
    frame = tidy_of(answers, scored(answers, lambda answer: values[answer["key"]]))
    rows = averages.average_policy_questions(frame)
    means = rows.groupby("question", observed=True)["m_all"].mean()
    expected = estimate_crossed_mean(means, means.index.to_series(), [""] * len(means))
    found = overall.leaderboard_table(frame).data.iloc[0]
    assert found[["m_all", "low", "high"]].tolist() == pytest.approx([expected.mean, expected.low, expected.high])
    assert found["documents"] == 2
    assert math.isnan(found["policies_low"])
    assert found["m_all"] == pytest.approx(rows.groupby("experiment", observed=True)["m_all"].mean().mean())
    assert found["low"] < found["m_all"] < found["high"]


def test_experiments_with_other_questions_do_not_weigh_more() -> None:
    """Quality of one question at 10 beside recall of three at 100: (55 + 100 + 100) / 3, and not (10 + 100) / 2."""
    answers = answer_rows(**ONE, questions=FEW, experiments=("quality", "recall"))
    answers = [row for row in answers if row["experiment"] == "recall" or row["question"] == "T_f1"]

    def value(answer):
        return 1 if answer["experiment"] == "recall" else -1

    table = overall.leaderboard_table(tidy_of(answers, scored(answers, value)))
    assert table.data[["m_all", "quality", "recall"]].values.tolist() == [[85, 10, 100]]
    assert "experiments that it is scored in" in table.note


def test_easiest_and_hardest_over_systems_and_wordings() -> None:
    """T_f1: 100 twice from one system and a published mean of 55 for every document are 85; recall has no part."""
    answers = answer_rows(
        systems=("a/one",), questions=FEW, experiments=("quality", "robustness", "recall"), silent=("UC_f1",)
    )
    for answer in answers:
        answer["silent"] = "yes" if answer["question"] == "T_f1" and answer["document"] == "uber" else answer["silent"]
    values = by(T_f1=1, T_u1=0.5, UC_f1=-1)
    given = scored(answers, lambda answer: -1 if answer["experiment"] == "recall" else values(answer))
    bard = [published("p/bard", "quality", "", question, metrics=0.0) for question in FEW]
    table = metrics.easiest_and_hardest_questions_table(tidy_of([*answers, *bard], given))
    data = table.data
    assert "Left out" not in table.note
    assert data[["end", "rank", "question", "mean", "n", "silent"]].values.tolist() == [
        ["easiest", 1, "T_f1", 85, 2, "uber"],
        ["easiest", 2, "T_u1", 70, 2, "none"],
        ["hardest", 1, "UC_f1", 25, 2, "all"],
    ]
    assert data["policies_low"].isna().all()
    most = metrics.easiest_and_hardest_questions_table(tidy_of([*answers, *bard], given), max_per_end=1)
    assert most.data["question"].tolist() == ["T_f1", "UC_f1"]


def test_a_question_that_lacks_a_system_is_not_ranked() -> None:
    """Only T_f1 has both systems: the others are left out, and counted; where none has both, all are ranked."""
    answers = answer_rows(questions=FEW)
    given = scored(answers, lambda row: 1 if row["system"] == "a/one" or row["question"] == "T_f1" else None)
    table = metrics.easiest_and_hardest_questions_table(tidy_of(answers, given))
    assert table.data["question"].tolist() == ["T_f1"]
    assert "Left out: 2 of 3 questions" in table.note
    apart = scored(answers, lambda row: 1 if (row["system"] == "a/one") == (row["question"] == "T_f1") else None)
    table = metrics.easiest_and_hardest_questions_table(tidy_of(answers, apart))
    assert len(table.data) == 3
    assert "No question has scores of every system" in table.note


def test_a_system_with_more_documents_weighs_no_more_in_a_question() -> None:
    """One system at 100 about two documents, another at 10 about one of them: 55 and not (55 + 100) / 2."""
    answers = answer_rows(questions=("T_f1",))
    given = scored(answers, lambda row: 1 if row["system"] == "a/one" else -1 if row["document"] == "uber" else None)
    data = metrics.easiest_and_hardest_questions_table(tidy_of(answers, given)).data
    assert data[["mean", "n"]].values.tolist() == [[55, 2]]


def test_a_mean_over_documents_alone_does_not_say_over_how_many() -> None:
    """With nothing but published means there is a rank and a score, and neither n nor interval."""
    rows = [published("p/bard", "quality", "", question, metrics=0.5) for question in FEW]
    data = metrics.easiest_and_hardest_questions_table(tidy_of(rows)).data
    assert data["n"].tolist() == [0, 0, 0]
    assert data["mean"].tolist() == [77.5] * 3
    assert data["policies_low"].isna().all()


def test_documents_are_ranked_and_equals_share_a_place() -> None:
    """100, 100 and 10 are the first, the first and the third; a note says where documents were not asked alike."""
    answers = answer_rows(systems=("a/one",), documents=("ant", "bee", "cat"), questions=FEW)
    frame = tidy_of(answers, scored(answers, lambda answer: -1 if answer["document"] == "cat" else 1))
    table = documents.document_ranks_over_all_systems_table(frame)
    assert table.data[["rank", "document", "n", "mean"]].values.tolist() == [
        [1, "ant", 3, 100],
        [1, "bee", 3, 100],
        [3, "cat", 3, 10],
    ]
    # Three questions that all differ alike tell nothing of others.
    assert table.data[["from", "to"]].to_numpy().tolist() == [[1, 3]] * 3
    assert "may affect their ranks" not in table.note
    fewer = tidy_of(answers, scored(answers[1:], lambda _: 1))
    assert "may affect their ranks" in documents.document_ranks_over_all_systems_table(fewer).note


def test_a_documents_rank_is_known_as_far_as_questions_tell() -> None:
    """Of two documents alike and one far worse, the first two share their ranks."""
    answers = answer_rows(systems=("a/one",), documents=("ant", "bee", "cat"))
    random = np.random.default_rng(0)
    given = {
        answer["answer"]: random.choice([1.0, -1.0], p=[0.1, 0.9] if answer["document"] == "cat" else [0.7, 0.3])
        for answer in answers
    }
    found = documents.document_ranks_over_all_systems_table(
        tidy_of(answers, scored(answers, lambda answer: given[answer["answer"]]))
    )
    ranks = found.data.set_index("document")[["from", "to"]]
    assert ranks.loc["ant"].tolist() == ranks.loc["bee"].tolist() == [1, 2]
    assert ranks.loc["cat"].tolist() == [3, 3]


def test_metrics_of_a_question_are_means_over_documents() -> None:
    """A document at 1 and one at -1 are 0 in each metric and 55 in M_all."""
    answers = answer_rows(systems=("a/one",), questions=("T_f1",))
    frame = tidy_of(answers, scored(answers, lambda answer: 1 if answer["document"] == "uber" else -1, clarity=0.5))
    data = metrics.metrics_by_question_table(frame).data
    assert data[["relevance", "clarity", "m_all", "documents"]].values.tolist() == [[0, 0.5, 59.5, 2]]


def test_published_metrics_stand_where_documents_have_only_m_all() -> None:
    """M_all comes from the documents' own scores, the metrics from the published mean over documents."""
    rows = [
        published("p/bard", "quality", "uber", "T_f1", m_all=73.0),
        published("p/bard", "quality", "", "T_f1", metrics=1),
    ]
    data = metrics.metrics_by_question_table(tidy_of(rows)).data
    assert data[["relevance", "m_all", "m_all_documents"]].values.tolist() == [[1, 73, 1]]


def test_metrics_of_one_document_do_not_stand_beside_m_all_of_two() -> None:
    """Where not every document with an M_all has metrics of its own, they are the published means, or what there is."""
    answers = answer_rows(systems=("p/bard",), documents=("spotify",), questions=("T_f1", "T_u1"))
    rows = [
        *(published("p/bard", "quality", "uber", question, m_all=10.0) for question in ("T_f1", "T_u1")),
        published("p/bard", "quality", "", "T_f1", metrics=0.0),
    ]
    data = metrics.metrics_by_question_table(tidy_of([*answers, *rows], scored(answers, lambda _: 1))).data
    assert data[["question", "relevance", "m_all", "m_all_documents"]].values.tolist() == [
        ["T_f1", 0, 55, 2],
        ["T_u1", 1, 55, 2],
    ]


def test_what_an_audit_left_out_leaves_the_published_mean() -> None:
    """With its score by document excluded a question has the published mean over documents, of 0 documents."""
    rows = [
        published("p/bard", "quality", "uber", "T_f1", m_all=73.0, excluded="A duplicate."),
        published("p/bard", "quality", "", "T_f1", metrics=1.0),
    ]
    data = metrics.metrics_by_question_table(tidy_of(rows)).data
    assert data[["m_all", "documents"]].values.tolist() == [[100, 0]]
    assert not documents.five_number_summary_by_document_table(tidy_of(rows))
    assert documents.five_number_summary_by_document_table(tidy_of(rows, excluded=True)).data["median"].tolist() == [
        73,
        73,
    ]


def test_metrics_of_a_category_are_means_over_its_questions() -> None:
    """T has two questions at 1 and 0.5, UC one: each category by its own."""
    answers = answer_rows(**ONE, questions=FEW)
    data = metrics.metrics_by_category_table(tidy_of(answers, scored(answers, by(T_f1=1, T_u1=0.5, UC_f1=-1)))).data
    assert data[["category", "relevance", "m_all", "questions"]].values.tolist() == [
        ["T", 0.75, 88.75, 2],
        ["UC", -1, 10, 1],
    ]


def test_regulations_stand_apart() -> None:
    """Questions about regulations are in their own table, and in no other average."""
    answers = answer_rows(**ONE, questions=("T_f1",))
    law = {**answers[0], "key": "law", "answer": "law", "document": "gdpr", "kind": "regulation"}
    law |= {"experiment": "regulation", "question": "PR_1"}
    rows = [*answers, law, published("p/bard", "regulation", "ccpa", "PR_1", metrics=0.5, kind="regulation")]
    frame = tidy_of(rows, scored([*answers, law], lambda answer: -1 if answer is law else 1))
    table = regulation.regulation_scores_table(frame)
    assert table.data[["system", "document", "question", "accuracy", "m_all", "answers"]].values.tolist() == [
        ["a/one", "gdpr", "PR_1", -1, 10, 1],
        ["p/bard", "ccpa", "PR_1", 0.5, 77.5, 1],
    ]
    assert documents.scores_by_question_and_document_table(frame).data["document"].tolist() == ["uber"]
    assert overall.leaderboard_table(frame).data[["system", "m_all"]].values.tolist() == [["a/one", 100]]


def test_the_leaderboard_averages_experiments_and_ranks_systems() -> None:
    """Quality 100 and recall 10 are 55; a system with 77.5 in both is before it; experiments not tried are blank."""
    answers = answer_rows(questions=FEW, documents=("uber",), experiments=("quality", "recall"))
    values = {"quality": 1, "recall": -1}
    given = scored(answers, lambda row: values[row["experiment"]] if row["system"] == "a/one" else 0.5)
    given += scored(answers[:2], lambda _: 1, analyst="bo")
    table = overall.leaderboard_table(tidy_of(answers, given))
    assert table.data[["rank", "system", "m_all", "quality", "recall", "answers", "scored_by"]].values.tolist() == [
        [1, "b/two", 77.5, 77.5, 77.5, 6, "1 analyst"],
        [2, "a/one", 55, 100, 10, 6, "2 analysts"],
    ]
    assert table.data[["robustness", "summary"]].isna().all(axis=None)
    assert "like with like" not in table.note


def test_the_leaderboard_says_where_systems_were_scored_on_different_things() -> None:
    """A published system with means only stands beside one that was scored by document, and the note says so."""
    answers = answer_rows(**ONE, questions=FEW)
    rows = [*answers, *(published("p/bard", "quality", "", question, metrics=0.5) for question in FEW)]
    frame = tidy_of(rows, scored(answers, lambda _: 1))
    table = overall.leaderboard_table(frame)
    assert overall.note_unlike_scored_questions(frame).startswith(
        "Systems were scored on different questions and documents: compare them"
    )
    assert table.data[["system", "answers", "scored_by"]].values.tolist() == [
        ["a/one", 3, "1 analyst"],
        ["p/bard", 3, "published"],
    ]
    assert (
        "a/one quality 3 (3), about uber; p/bard quality 3 (means only), published as means over documents."
        in table.note
    )


def test_who_was_scored_in_other_experiments_is_told_on_the_first_screen() -> None:
    """An average that holds an experiment more, such as recall or follow-ups, is said to, with the systems' names."""
    answers = [*answer_rows(questions=FEW), *answer_rows(questions=FEW, systems=("b/two",), experiments=("recall",))]
    frame = tidy_of(answers, scored(answers, lambda _: 1))
    told = "quality: a/one; quality and recall: b/two"
    assert overall.note_unlike_scored_questions(frame) == (
        f"Systems were scored in different experiments ({told}): compare them by their differences over what both "
        "have, not by their averages."
    )
    cells = averages.select_and_weigh_averaged_cells(frame, "m_all")
    assert f"({told})" in overall.tabulate_systems_by_category(overall.leaderboard_table(frame), cells).note


def test_the_leaderboard_says_where_an_experiment_is_scored_in_part() -> None:
    """An average over all questions of one experiment and a single one of another is told as what it is."""
    answers = answer_rows(**ONE, questions=FEW, experiments=("quality", "recall"))
    frame = tidy_of(answers, scored(answers[:5], lambda _: 1))
    table = overall.leaderboard_table(frame)
    assert overall.note_unlike_scored_questions(frame) == "", (
        "of one system, or of several alike, nothing is ranked that was not asked alike"
    )
    assert "like with like" in table.note
    assert "a/one quality 3 (3), recall 2 (2), about uber." in table.note


def test_the_leaderboard_leaves_blank_what_rests_on_a_handful() -> None:
    """Less than half of an experiment's questions scored is no average: neither shown nor counted, and told with n."""
    answers = answer_rows(**ONE, questions=FEW, experiments=("quality", "recall"))
    few = scored(answers, lambda row: {"quality": 0.5}.get(row["experiment"], 1 if row["question"] == "T_f1" else None))
    table = overall.leaderboard_table(tidy_of(answers, few))
    assert table.data[["m_all", "quality", "answers"]].values.tolist() == [[77.5, 77.5, 3]]
    assert table.data["recall"].isna().all()
    assert (
        "less than 50% of an experiment's questions about a document are scored: a/one recall (1 of 3)." in table.note
    )
    nothing = tidy_of(answers, scored(answers[:1], lambda _: 1))
    assert not overall.leaderboard_table(nothing)
    assert "a/one quality (1 of 3)" in note_sparsely_scored_experiments(nothing)


def test_questions_of_one_mean_share_their_rank() -> None:
    """Two easiest questions at 10 are both the first, and two hardest at 1 as well."""
    answers = answer_rows(**ONE, questions=("T_f1", "T_f2", "T_f3", "T_u1"))
    frame = tidy_of(answers, scored(answers, by(T_f1=1, T_f2=-1, T_f3=1, T_u1=-1)))
    data = metrics.easiest_and_hardest_questions_table(frame).data
    assert data[["rank", "question"]].values.tolist() == [[1, "T_f1"], [1, "T_f3"], [1, "T_f2"], [1, "T_u1"]]


def test_other_experiments_have_their_own_column_on_the_leaderboard() -> None:
    """What a study tried beyond the paper's four counts, and can be seen."""
    answers = [{**row, "experiment": "summary-by-name"} for row in answer_rows(**ONE, questions=FEW)]
    data = overall.leaderboard_table(tidy_of(answers, scored(answers, lambda _: 0.5))).data
    assert data[["m_all", "summary-by-name"]].values.tolist() == [[77.5, 77.5]]
