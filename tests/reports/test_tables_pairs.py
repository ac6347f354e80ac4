"""Tables that set two ways of asking, or two things known of an answer, side by side: worked out by hand."""

from __future__ import annotations

import math
from itertools import combinations, product
from statistics import fmean

import numpy as np
import pytest
from framing import answer_rows, score_rows, study_of, tidy_of
from tabling import FEW, published, scored

from genaipa.policies.statistics import measure_text
from genaipa.questions.sets import WORDINGS
from genaipa.reports.chapters import agreement, closed_book, consistency, cost, outcomes, robustness, silent, texts
from genaipa.reports.notable import notable_sentences
from genaipa.scoring.events import Event
from genaipa.scoring.rubric import BandBounds, classify_band
from rubrics import METRICS, PAPER

ONE = {"systems": ("a/one",), "documents": ("uber",)}


def test_a_drop_is_paired_by_document_and_question() -> None:
    """Paraphrases at 100, 10 and 10 are 40, a drop of 60 from 100; a document without the original has no part."""
    answers = answer_rows(systems=("a/one",), questions=("T_f1",), experiments=("quality", "robustness"))

    def value(answer):
        if answer["document"] == "spotify":
            return 0.5 if answer["experiment"] == "robustness" else None
        return 1 if answer["wording"] in ("original", "paraphrase-1") else -1

    frame = tidy_of(answers, scored(answers, value))
    data = robustness.paraphrase_drops_by_group_table(frame).data
    assert data["questions"].tolist() == ["all", "faq", "T"]
    assert data[["n", "original", "paraphrased", "drop"]].values.tolist() == [pytest.approx([1, 100, 40, 60])] * 3
    by_question = robustness.paraphrase_drops_by_question_table(frame).data.values.tolist()
    assert by_question == [["a/one", "T_f1", 100, pytest.approx(40), pytest.approx(60), 1]]


def test_a_drop_counts_every_question_alike() -> None:
    """A question about two documents (drops 0 and 90) weighs as much as one about one (drop 0): 22.5, not 30."""
    answers = answer_rows(systems=("a/one",), questions=FEW[:2], experiments=("quality", "robustness"))

    def value(answer):
        if answer["question"] == "T_u1" and answer["document"] == "uber":
            return None
        lost = answer["experiment"] == "robustness" and answer["question"] == "T_f1" and answer["document"] == "uber"
        return -1 if lost else 1

    data = robustness.paraphrase_drops_by_group_table(tidy_of(answers, scored(answers, value))).data
    assert data[["questions", "n", "drop"]].values.tolist()[0] == ["all", 2, 22.5]


def test_a_drop_of_published_means_where_there_is_no_document() -> None:
    """The original as a mean only (100) is compared with the paraphrases' own mean (77.5), and n says 0 documents."""
    rows = [
        published("p/bard", "quality", "uber", "T_f1", m_all=10.0, excluded="A duplicate."),
        published("p/bard", "quality", "", "T_f1", metrics=1.0),
        published("p/bard", "robustness", "uber", "T_f1", m_all=10.0),
        published("p/bard", "robustness", "", "T_f1", metrics=0.5),
    ]
    assert robustness.paraphrase_drops_by_question_table(tidy_of(rows)).data.values.tolist() == [
        ["p/bard", "T_f1", 100, 77.5, 22.5, 0]
    ]
    without = robustness.paraphrase_drops_by_question_table(tidy_of(rows[:3])).data
    assert without["paraphrased"].tolist() == [10]
    assert robustness.paraphrase_drops_by_question_table(tidy_of(rows, excluded=True)).data[
        ["drop", "n"]
    ].values.tolist() == [[0, 1]]


def consistent(frame):
    """(over, experiment, measure) → mean, of the table of one system."""
    data = consistency.answer_consistency_by_system_table(consistency.measure_consistency_by_way_of_asking(frame)).data
    return {tuple(row[:3]): row[3] for row in data[["over", "experiment", "measure", "mean"]].values.tolist()}


def test_steps_up_and_down_cancel_in_the_drop_alone() -> None:
    """One question falls from 100 to 10, another rises from 10 to 100: no drop, a change of 90, all in another band."""
    answers = answer_rows(**ONE, questions=FEW[:2], experiments=("quality", "robustness"))
    up = {"T_f1": "quality", "T_u1": "robustness"}
    frame = tidy_of(answers, scored(answers, lambda row: 1 if up[row["question"]] == row["experiment"] else -1))
    words = ("other words", "robustness")
    assert consistent(frame) == {
        (*words, "mean drop"): 0,
        (*words, "mean change"): 90,
        (*words, "band changes (%)"): 100,
    }


def test_consistency_of_repetitions() -> None:
    """100 and 10 are 90 apart and deviate by 63.6, 77.5 twice by 0: 45 and 31.8 on average, half of them the same."""
    answers = answer_rows(**ONE, questions=FEW, repetitions=2)
    values = {"T_f1": (1, -1), "T_u1": (0.5, 0.5), "UC_f1": (1, None)}
    frame = tidy_of(answers, scored(answers, lambda row: values[row["question"]][row["repetition"] - 1]))
    again = ("asked again", "quality")
    assert consistent(frame) == {
        (*again, "mean change"): 45,
        (*again, "band changes (%)"): 50,
        (*again, "standard deviation"): pytest.approx(90 / math.sqrt(2) / 2),
        (*again, "all the same (%)"): 50,
    }


def test_consistency_counts_every_pair_of_answers() -> None:
    """Changes in other words, when asked again, and beyond that are those of all pairs, one by one."""
    answers = answer_rows(systems=("b/two",), questions=FEW, experiments=("quality", "robustness"), repetitions=3)
    frame = tidy_of(answers, score_rows(answers))
    said = {(a.document, a.question, a.wording): [] for a in frame.itertuples()}
    for a in frame.itertuples():
        said[a.document, a.question, a.wording].append(a.m_all)
    cells = {cell[:2] for cell in said}
    again = {cell: fmean(abs(a - b) for a, b in combinations(values, 2)) for cell, values in said.items()}
    of = {"quality": WORDINGS[:1], "robustness": WORDINGS[1:]}
    own = {kind: fmean(again[*cell, w] for cell in cells for w in some) for kind, some in of.items()}
    pairs = [pair for cell in cells for w in WORDINGS[1:] for pair in product(said[*cell, "original"], said[*cell, w])]
    found = consistent(frame)
    change = found["other words", "robustness", "mean change"]
    assert change == pytest.approx(fmean(abs(a - b) for a, b in pairs))
    assert found["other words", "robustness", "mean drop"] == pytest.approx(fmean(a - b for a, b in pairs))
    bands = [{classify_band(one, BandBounds().m_all_bounds) for one in pair} for pair in pairs]
    assert found["other words", "robustness", "band changes (%)"] == pytest.approx(
        100 * fmean(len(b) > 1 for b in bands)
    )
    assert {kind: found["asked again", kind, "mean change"] for kind in of} == pytest.approx(own)
    assert found["other words", "robustness", "change beyond asking again"] == pytest.approx(
        change - fmean(own.values())
    )


def test_consistency_by_question_has_an_interval_over_documents() -> None:
    """A question about three documents has one, one about two has not."""
    answers = answer_rows(systems=("b/two",), documents=("uber", "spotify", "x"), questions=FEW, repetitions=2)
    answers = [row for row in answers if (row["question"], row["document"]) != ("T_u1", "x")]
    data = consistency.answer_consistency_by_question_table(
        consistency.measure_consistency_by_way_of_asking(tidy_of(answers, score_rows(answers)))
    ).data
    assert data[["question", "documents"]].values.tolist() == [["T_f1", 3], ["T_u1", 2], ["UC_f1", 3]]
    assert data["policies_low"].notna().tolist() == [True, False, True]


def test_other_words_are_no_repetitions() -> None:
    """Three wordings of a question, each answered once, say nothing about asking again, nor do two kinds of chat."""
    answers = answer_rows(**ONE, questions=FEW, experiments=("robustness",))
    assert consistency.measure_consistency_by_way_of_asking(tidy_of(answers, scored(answers, lambda _: 1))).empty
    twice = answers + [{**row, "conversation": "independent", "key": row["key"] + "i"} for row in answers]
    assert consistency.measure_consistency_by_way_of_asking(tidy_of(twice, scored(answers, lambda _: 1))).empty


def test_published_scores_are_no_repetitions() -> None:
    """The same question published by two runs is not an answer that was given twice."""
    score = published("p/bard", "quality", "uber", "T_f1", m_all=73.0)
    assert consistency.measure_consistency_by_way_of_asking(
        tidy_of([score, {**score, "run": "another", "m_all": 10.0}])
    ).empty


def test_memory_is_what_showing_the_document_adds() -> None:
    """100 shown and 77.5 by name is 22.5; with 10 and 100 for another question, -33.75 on average."""
    answers = answer_rows(**ONE, questions=FEW[:2], experiments=("quality", "recall"))
    values = {("T_f1", "quality"): 1, ("T_f1", "recall"): 0.5, ("T_u1", "quality"): -1, ("T_u1", "recall"): 1}
    frame = tidy_of(answers, scored(answers, lambda row: values[row["question"], row["experiment"]]))
    assert closed_book.gains_from_document_by_question_table(frame).data.values.tolist() == [
        ["a/one", "T_f1", "T", "faq", 100, 77.5, 22.5, 1],
        ["a/one", "T_u1", "T", "user", 10, 100, -90, 1],
    ]
    summary = closed_book.mean_gains_from_document_table(frame)
    assert summary.data[["n", "mean", "low", "high"]].values.tolist() == [[2, -33.75, -90, 90]]
    assert summary.format_cell("mean", -33.75) == "-33.8"
    assert "only n = 2 questions" in summary.note


def test_effort_counts_answers_and_not_their_analysts() -> None:
    """Seconds 1, 3 and 100 have the median 3; $0.01 and $0.02 the mean 0.015; two analysts change nothing."""
    answers = answer_rows(**ONE, questions=FEW)
    for answer, seconds, price in zip(answers, (1.0, 3.0, 100.0), (0.01, 0.02, None), strict=True):
        answer |= {"seconds": seconds, "cost": price}
    given = scored(answers[:1], lambda _: 1) + scored(answers[:1], lambda _: 0.5, analyst="bo")
    data = cost.time_and_cost_table(study_of(tidy_of(answers, given))).data
    assert data[["answers", "m_all", "seconds"]].values.tolist() == [[3, 88.75, 3]]
    assert data[["cost", "cost_total"]].values.tolist() == [pytest.approx([0.015, 0.03])]


def test_what_was_imported_took_no_effort_of_ours() -> None:
    """Answers without a price, in no time, are in no average of time and money; a question not asked costs nothing."""
    answers = answer_rows(**ONE, questions=FEW)
    imported = [{**row, "seconds": 0.0, "cost": None} for row in answers]
    assert not cost.time_and_cost_table(study_of(tidy_of(imported)))
    missing = {**answers[0], "status": "missing", "answer": "", "seconds": None, "cost": None}
    data = cost.time_and_cost_table(study_of(tidy_of([missing, *answers[1:]]))).data
    assert data[["answers", "cost_total"]].values.tolist() == [[2, 0.02]]


def test_an_answer_that_came_at_once_is_an_answer() -> None:
    """Where some answers took time, one that took none counts: 0, 0 and 2 seconds have the median 0."""
    answers = answer_rows(**ONE, questions=FEW)
    for answer, seconds in zip(answers, (0.0, 0.0, 2.0), strict=True):
        answer |= {"seconds": seconds, "cost": None}
    assert cost.time_and_cost_table(study_of(tidy_of(answers))).data[["answers", "seconds"]].values.tolist() == [[3, 0]]


def test_an_experiment_in_no_time_has_a_row_where_the_run_was_timed() -> None:
    """Such as a quick system's follow-ups, all of which took 0.0 seconds: they were not imported."""
    answers = answer_rows(**ONE, questions=FEW, experiments=("quality", "recall"))
    timed = [row | {"seconds": 0.1 if row["experiment"] == "quality" else 0.0, "cost": None} for row in answers]
    data = cost.time_and_cost_table(study_of(tidy_of(timed))).data
    assert data[["experiment", "answers", "seconds"]].values.tolist() == [["quality", 3, 0.1], ["recall", 3, 0.0]]


def test_every_planned_question_is_counted_once() -> None:
    """Failures, refusals and questions not asked are counted and have no score; an excluded answer is not unscored."""
    answers = answer_rows(**ONE, questions=(*FEW, "UC_u1", "DM_f1", "DM_u1"), repetitions=1)
    statuses = ("answered", "answered", "truncated", "refused", "failed", "missing")
    for answer, status in zip(answers, statuses, strict=True):
        answer["status"] = status
        if status in ("failed", "missing"):
            answer["answer"] = ""
    answers[1]["excluded"] = "It is about another company."
    given = scored(answers[:1], lambda _: 1) + scored(answers[:2], lambda _: 1, analyst="bo")
    row = outcomes.outcome_counts_by_system_table(study_of(tidy_of(answers, given))).data.iloc[0]
    assert row.drop(["system", "experiment"]).to_dict() == {
        "planned": 6,
        "answered": 2,
        "truncated": 1,
        "refused": 1,
        "failed": 1,
        "missing": 1,
        "excluded": 1,
        "scored": 1,
        "unscored": 2,
        "score_left_out": 0,
        "published": 0,
    }
    included = outcomes.outcome_counts_by_system_table(study_of(tidy_of(answers, given, excluded=True))).data.iloc[0]
    assert included[["excluded", "scored", "unscored"]].tolist() == [1, 2, 2]


def test_answers_under_a_published_score_are_not_called_unscored() -> None:
    """A published score of the question stands for its answers; it is counted as what it is."""
    answers = answer_rows(**ONE, questions=FEW)
    rows = [
        published("a/one", "quality", "uber", "T_f1", m_all=73.0),
        published("a/one", "quality", "", "T_u1", metrics=1.0),
    ]
    data = outcomes.outcome_counts_by_system_table(
        study_of(tidy_of([*answers, *rows, published("a/one", "recall", "uber", "T_f1", m_all=73.0)]))
    ).data
    assert data[["experiment", "planned", "scored", "unscored", "published"]].values.tolist() == [
        ["quality", 3, 0, 1, 2],
        ["recall", 0, 0, 0, 1],
    ]


def test_answers_whose_published_score_is_left_out_are_counted_apart() -> None:
    """Somebody did score them: they are neither unscored nor scored, and a report says so."""
    answers = answer_rows(**ONE, questions=FEW)
    rows = [published("a/one", "quality", "uber", "T_f1", m_all=73.0, excluded="duplicate-table: A copy.")]
    frame = tidy_of([*answers, *rows])
    data = outcomes.outcome_counts_by_system_table(study_of(frame)).data
    assert data[["scored", "unscored", "score_left_out", "published"]].values.tolist() == [[0, 2, 1, 0]]
    said = notable_sentences(study_of(frame))
    assert "Answers that nobody has scored: 2 of 3." in said
    assert "Answers whose published score is excluded: 1 of 3." in said
    included = outcomes.outcome_counts_by_system_table(study_of(tidy_of([*answers, *rows], excluded=True))).data
    assert included[["unscored", "score_left_out", "published"]].values.tolist() == [[2, 0, 1]]


def test_a_published_score_beside_scores_of_analysts_is_told() -> None:
    """Where both are averaged in one cell, a sentence names the systems and in how many."""
    answers = answer_rows(questions=FEW)
    rows = [published("a/one", "quality", "uber", question, m_all=73.0) for question in FEW[:2]]
    given = scored(answers, lambda _: 1)
    (said,) = (
        text for text in notable_sentences(study_of(tidy_of([*answers, *rows], given))) if "one more answer" in text
    )
    assert said.endswith("Number of such questions by system: a/one 2.")
    apart = tidy_of([*answers, *rows], given[2:])
    assert not any("one more answer" in text for text in notable_sentences(study_of(apart)))


def test_silent_questions_apart() -> None:
    """One of two answers where the document is silent asserts something; one of four others claims silence.

    An answer that knows nothing of the document counts, and is neither.
    """
    answers = answer_rows(
        **ONE, questions=("T_f1", "T_f2", "T_f3", "T_u1", "UC_f1", "UC_f2", "DM_f1", "UC_f3"), silent=("T_f1", "T_f2")
    )
    for answer, claims in zip(answers, ("abstains", "no", "yes", "no", "abstains", "no", "yes", "yes"), strict=True):
        answer["claims_silence"] = claims
    answers[-2]["silent"] = "partly"
    answers[-1]["excluded"] = "It is about another company."
    values = {"T_f1": 1, "T_f2": -1, "T_f3": 0.5}
    frame = tidy_of(answers, scored(answers, lambda row: values.get(row["question"])))
    rates = silent.silence_error_rates_table(study_of(frame)).data
    assert rates[["answers", "wrong", "rate", "questions", "documents", "partly"]].values.tolist() == [
        [2, 1, 0.5, 2, 1, 1],
        [4, 1, 0.25, 4, 1, 1],
    ]
    assert (rates["low"] < 1e-6).all()
    assert rates["policies_low"].isna().all()
    quality = silent.quality_by_silence_table(frame).data
    assert quality[["silent", "m_all"]].values.tolist() == [["silent", 55], ["answers", 77.5]]


def test_silence_is_compared_in_pairs() -> None:
    """One system asserts on all silent questions, another on none: the difference is said, with one correction."""
    names = tuple(f"T_f{n}" for n in range(12))
    answers = answer_rows(systems=("a/one", "b/two", "c/three"), questions=names, silent=names[:8])
    random = np.random.default_rng(1)
    for answer in answers:
        asserts = {"a/one": 0.95, "b/two": 0.1, "c/three": 0.1}[answer["system"]]
        answer["claims_silence"] = "yes" if answer["silent"] == "yes" and random.random() > asserts else "no"
    data = silent.silence_error_differences_table(study_of(tidy_of(answers))).data
    asserted = data[data["error"] == "asserts though silent"].set_index(["first", "second"])
    assert len(asserted) == 3
    one = asserted.loc[("a/one", "b/two")]
    assert one["difference"] > 0.6
    assert one["low"] > 0
    assert one["p_holm"] < 0.05
    assert asserted.loc[("b/two", "c/three"), "p_holm"] > 0.05
    assert one["questions"] == 8


def test_each_question_weighs_the_same_in_the_rates() -> None:
    """A question that was asked nine times as often counts as one, and documents are told from questions."""
    answers = answer_rows(systems=("a/one",), documents=("x", "y", "z"), questions=("T_f1", "T_f2"), silent=("T_f1",))
    again = answer_rows(
        systems=("a/one",), documents=("x", "y", "z"), questions=("T_u1",), repetitions=9, silent=("T_u1",)
    )
    for answer in answers:
        answer["claims_silence"] = "yes" if answer["question"] == "T_f1" and answer["document"] != "z" else "no"
    row = silent.silence_error_rates_table(study_of(tidy_of([*answers, *again]))).data.iloc[0]
    assert row[["error", "answers", "wrong"]].tolist() == ["asserts though silent", 30, 28]
    assert row["rate"] == pytest.approx((1 / 3 + 1) / 2)
    assert 0 <= row["policies_low"] <= row["low"] < row["rate"] < row["high"] <= row["policies_high"] <= 1


def test_experiments_come_in_the_papers_order() -> None:
    """Quality, robustness, recall, summary: not the order of the alphabet."""
    answers = answer_rows(**ONE, questions=FEW, experiments=("summary", "recall", "robustness", "quality"))
    frame = tidy_of(answers, scored(answers, lambda _: 1))
    for table in (
        silent.quality_by_silence_table(frame),
        outcomes.outcome_counts_by_system_table(study_of(frame)),
        cost.time_and_cost_table(study_of(frame)),
    ):
        assert table.data["experiment"].tolist() == ["quality", "robustness", "recall", "summary"]


def test_statistics_of_documents() -> None:
    """Table 1: the measures of the text, and on how many of the questions asked about it the document is silent."""
    text = "We keep data. We keep data and share data."
    answers = answer_rows(systems=("a/one", "b/two"), documents=("uber",), questions=FEW, silent=("T_f1",))
    unknown = [{**row, "document": "blank", "silent": "", "answer": "", "key": row["key"] + "blank"} for row in answers]
    table = texts.document_statistics_table(
        dict.fromkeys(("uber", "blank", "unasked"), measure_text(text)), tidy_of([*answers, *unknown])
    )
    data = table.data.set_index("document")
    assert data.index.tolist() == ["blank", "uber", "unasked"]
    assert data.loc["uber", ["words", "reading_minutes", "questions", "silent"]].tolist() == [9, 1, 3, 1]
    assert data.loc["uber", ["unique_words", "connective_words"]].tolist() == pytest.approx([5 / 9, 1 / 9])
    assert [table.format_cell("silent", value) for value in table.data["silent"]] == ["", "1", ""]
    assert data["questions"].tolist() == [3, 3, 0]
    unsaid = [{**row, "silent": ""} for row in answers]
    either = texts.document_statistics_table({"uber": measure_text(text)}, tidy_of([*unsaid, *answers])).data
    assert either[["questions", "silent"]].values.tolist() == [[3, 1]]


def _event(number, analyst, answer, value, **also):
    values = PAPER.make_values(dict.fromkeys(METRICS, value))
    return Event(f"{number}", f"2024-01-01T00:00:{number:02}Z", "score", analyst, answer, values=values, **also)


def test_agreement_of_independent_people() -> None:
    """Two people who always agree have an alpha of 1; who saw the other's score, and a machine, have no part in it."""
    pairs = [("ada", 1.0), ("ada", -1.0), ("ada", 0.5), ("bo", 1.0), ("bo", -1.0), ("bo", 0.5)]
    events = [_event(place, who, f"answer {place % 3}", value) for place, (who, value) in enumerate(pairs)]
    events += [
        _event(10, "cy", "answer 0", -1.0, independent=False),
        _event(11, "bot", "answer 0", -1.0, scorer="machine"),
    ]
    table = agreement.analyst_alpha_table(events, PAPER)
    assert table.data["metric"].tolist() == list(METRICS)
    columns = ["alpha", "agreement", "apart", "answers", "analysts"]
    assert table.data[columns].values.tolist() == [[1, 1, 0, 3, 2]] * 5


def test_agreement_that_is_not_defined_says_why() -> None:
    """Where every value is the same alpha is blank with its reason; one analyst alone gives no table."""
    events = [_event(place, who, "one", 1.0) for place, who in enumerate(("ada", "bo"))]
    table = agreement.analyst_alpha_table(events, PAPER)
    assert table.data["alpha"].isna().all()
    assert table.data["reason"].str.contains("do not vary").all()
    assert not agreement.analyst_alpha_table(events[:1], PAPER)
