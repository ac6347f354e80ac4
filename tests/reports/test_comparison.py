"""Two systems side by side: what is paired, what is found, and when a comparison is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from framing import CATEGORIES, QUESTIONS, answer_rows, score_rows, study, tidy_of
from hypothesis import given, settings
from hypothesis import strategies as st
from size import size

from genaipa.errors import UsageError
from genaipa.reports import significance
from genaipa.reports.comparison import OVERALL, compare_sides
from genaipa.reports.crossed import estimate_crossed_mean
from genaipa.reports.matches import (
    MatchedScores,
    compute_difference_rows,
    explain_holm_adjustment,
    m_all_differences_of_all_system_pairs,
)
from genaipa.reports.sides import ComparisonSide, note_differences_and_common_questions
from genaipa.stats.tests import adjust_p_by_holm, mann_whitney_test, wilcoxon_signed_rank_test
from rubrics import METRICS, PAPER

DOCUMENTS = ("uber", "spotify")

MEASURES = (OVERALL, *METRICS)


def side(frame, system, documents=DOCUMENTS, questions=QUESTIONS):
    """A system's side: the whole of what it was asked about these documents."""
    texts = {document: {f"text of {document}"} for document in documents}
    asked = {(document, question, "original"): {question} for document in documents for question in questions}
    return ComparisonSide(system, frame[frame["system"] == system], texts, asked)


def both(frame):
    """The two sides of a study of `framing`."""
    return side(frame, "a/one"), side(frame, "b/two")


@pytest.fixture(scope="module")
def frame():
    """A study in two experiments; not changed by a test."""
    return study(experiments=("quality", "recall"))


@pytest.fixture(scope="module")
def compared(frame):
    """The comparison of its two systems."""
    return compare_sides(*both(frame))


def row(found, measure=OVERALL, questions="all"):
    """One row of a comparison's table."""
    data = found.frame
    return data[(data["measure"] == measure) & (data["questions"] == questions)].iloc[0]


def by_hand(frame, measure="m_all"):
    """Question → the average of each system, over cells, in a study with one score per answer."""
    return frame.pivot_table(index="question", columns="system", values=measure, observed=True)


def published(system, experiment, question, document="", **values):
    """A published score, as `frame.tidy` takes it."""
    return {
        "unit": "table",
        "run": f"published-{system}",
        "key": "",
        "system": system,
        "experiment": experiment,
        "document": document,
        "kind": "policy",
        "question": question,
        "category": question.partition("_")[0],
        "source": "user" if question.endswith("u1") else "faq",
        "silent": "",
        "analyst": "published",
        "role": "published",
        "scorer": "human",
        "rubric": PAPER.digest,
        "answer": "",
        "excluded": "",
        **values,
    }


def test_a_comparison_by_hand(frame, compared):
    """Averages, differences, pairs, interval and test are those of the questions' averages."""
    found = compared
    expected = by_hand(frame)
    apart = expected["a/one"] - expected["b/two"]
    first = row(found)
    assert (first["n"], first["pairs"]) == (32, 32 * 2 * 2)
    assert (first["mean_a"], first["mean_b"]) == pytest.approx(tuple(expected.mean()))
    assert first["difference"] == pytest.approx(apart.mean())
    sure = estimate_crossed_mean(apart.to_numpy(), apart.index, [""] * len(apart))
    assert (first["low"], first["high"]) == pytest.approx((sure.low, sure.high))
    assert (first["test"], first["p"]) == ("t", pytest.approx(sure.p))
    assert first["ranks_p"] == pytest.approx(wilcoxon_signed_rank_test(apart.to_numpy()).p)
    assert first["meaning"] == "A higher for these documents"
    metric = by_hand(frame, "reference")
    users = metric[metric.index.astype("str").str.endswith("u1")]
    assert row(found, "reference", "user")["difference"] == pytest.approx((users["a/one"] - users["b/two"]).mean())
    assert found.table.name == "comparison"
    assert found.differing == []


def test_every_measure_and_group_has_a_row(compared):
    """M_all and each metric, for all questions, by source and by category; p is adjusted within each family."""
    data = compared.frame
    groups = ["all", "faq", "user", *CATEGORIES]
    assert list(zip(data["measure"], data["questions"], strict=True)) == [(m, g) for m in MEASURES for g in groups]
    by_family = data.groupby("family", sort=False)
    assert by_family.size().to_dict() == {
        "primary endpoint": 1, "M_all by group": 10, "single metrics": 5, "metrics by group": 50
    }  # fmt: skip
    for _, tests in by_family:
        assert tests["p_holm"].tolist() == pytest.approx(adjust_p_by_holm(tests["p"].tolist()), nan_ok=True)
        assert (tests["p_holm"].dropna() >= tests["p"].dropna()).all()
    assert set(data.loc[data["test"] == "none", "n"]) == {4}
    assert data.loc[data["n"] == 4, ["low", "effect", "p"]].isna().all().tolist() == [False, False, True]


def scored_cells(values, *, systems=("a/one", "b/two")):
    """A study with an M_all of each system for each question and document: systems x questions x documents."""
    values = np.asarray(values)
    documents = [f"policy-{number}" for number in range(values.shape[2])]
    rows = [
        published(system, "quality", question, document=document, m_all=values[s, q, d])
        for s, system in enumerate(systems)
        for q, question in enumerate(QUESTIONS[: values.shape[1]])
        for d, document in enumerate(documents)
    ]
    frame = tidy_of(rows)
    return compare_sides(*(side(frame, system, documents) for system in systems))


def of_documents(shifts, *, seed=0, questions=QUESTIONS):
    """The comparison of a system with one that differs from it by so much about each document, chance aside."""
    plain = np.full((len(questions), len(shifts)), 50.0)
    noise = np.random.default_rng(seed).normal(0, 5, plain.shape)
    return scored_cells([plain + noise + shifts, plain])


def test_the_verdict_is_about_policies_like_these():
    """A difference that is there about each document is found for both targets; one that depends on it, for one."""
    alike, by_document = of_documents([10, 11, 9, 12, 8]), of_documents([30, 30, -5, -5, -5])
    first = row(alike)
    assert first["policies_low"] < first["low"] < 10 < first["high"] < first["policies_high"]
    assert (first["documents"], first["meaning"]) == (5, "A higher")
    assert alike.finding[2].startswith("Verdict: for policies like these, a/one is higher (p < 0.001)")
    assert "For these documents alone: a/one is higher (p < 0.001)" in alike.finding[2]
    assert alike.finding[3] == "5 documents, fewer than 10: the interval for policies like these is rough."
    second = row(by_document)
    assert second["p"] < 0.001
    assert second["policies_p"] > 0.05
    assert second["policies_low"] < 0 < second["low"]
    assert second["meaning"] == "A higher for these documents only"
    assert by_document.finding[2].startswith(
        "Verdict: for policies like these, the difference may be due to chance (p = "
    )
    assert "For these documents alone: a/one is higher (p < 0.001)" in by_document.finding[2]
    assert "for these documents only, a/one is higher in M_all (faq, user)" in " ".join(by_document.finding)


def test_one_question_that_bends_the_interval_is_named():
    """Of two systems that are alike but for one question, the finding says why one side is longer; else nothing."""
    values = np.full((2, 32, 2), 50.0)
    values[0] += np.random.default_rng(1).normal(0, 1, (32, 2))
    for shift in (-40.0, 0.0):
        bent = values.copy()
        bent[0, 7] += shift
        told = [sentence for sentence in scored_cells(bent).finding if sentence.startswith(significance.LOPSIDED)]
        assert [f"since {QUESTIONS[7]} differs by -" in sentence for sentence in told] == ([True] if shift else [])


def test_two_documents_say_nothing_about_others():
    """Below three documents there is no second interval, and the verdict says why, and of what it speaks."""
    two, ten = of_documents([10, 12]), of_documents([10] * 10, questions=QUESTIONS[:6])
    assert math.isnan(row(two)["policies_low"])
    assert two.finding[2] == (
        "Verdict, for these documents only: a/one is higher (p < 0.001). 2 documents, fewer than 3: nothing can be "
        "said about policies like these."
    )
    assert row(two)["meaning"] == "A higher for these documents"
    assert not any("below 10" in said for said in ten.finding)


def test_a_group_without_a_pair_is_empty():
    """Where two systems have pairs, a category that they share no question of has no row, not even of other sets."""
    rows = answer_rows()
    scores = [
        s for s in score_rows(rows) if "|T_" not in s["answer"] or ("T_u1" in s["answer"]) == ("b/" in s["answer"])
    ]
    found = compare_sides(*both(tidy_of(rows, scores))).frame
    assert set(found["questions"]) == {"all", "faq", "user", *CATEGORIES} - {"T"}
    assert (found["pairs"] > 0).all()


def test_systems_alike_in_general_are_seldom_told_apart():
    """Of studies of two systems that differ from document to document only, at most 6 % find one to be higher.

    The variances are the published study's: questions 82 and the rest 508 of each, and 162 of system and document.
    """
    random, questions, documents = np.random.default_rng(2), len(QUESTIONS), 5
    index = pd.MultiIndex.from_product([QUESTIONS, map(str, range(documents))], names=["question", "document"])
    found, alone, studies = 0, 0, size(small=20, soak=2000)
    for _ in range(studies):
        apart = random.normal(0, math.sqrt(2 * 82), (questions, 1)) + random.normal(0, math.sqrt(162), documents)
        apart = apart + random.normal(0, math.sqrt(2 * 508), (questions, documents))
        pairs = pd.DataFrame({"ours": apart.mean(axis=1), "theirs": 0.0, "pairs": documents}, index=list(QUESTIONS))
        cells = index.to_frame(index=False).assign(apart=apart.ravel(), weight=1 / documents)
        match = MatchedScores(pairs, cells, pairs["ours"], pairs["theirs"], ["quality"], [])
        first = compute_difference_rows({OVERALL: match}, {"all": set(QUESTIONS)}).iloc[0]
        found += first["policies_p"] < 0.05
        alone += first["p"] < 0.05
    assert found <= size(small=0.1, soak=0.06) * studies
    assert alone >= 0.2 * studies


# In small, test_significance turns the tests that this rests on.
@pytest.mark.soak
@settings(max_examples=8)
@given(st.integers(0, 1000), st.integers(2, len(QUESTIONS)), st.booleans())
def test_the_other_way_round_is_the_same_finding(seed, many, apart):
    """B against A has the negated differences and effects, and the same p; with pairs and without."""
    rows = answer_rows(questions=QUESTIONS[:many])
    scores = score_rows(rows, seed=seed)
    if apart:
        ours, theirs = set(QUESTIONS[: many // 2]), set(QUESTIONS[many // 2 :])
        scores = [s for s in scores if s["answer"].rpartition("|")[2] in (ours if "a/one" in s["answer"] else theirs)]
    first, second = both(tidy_of(rows, scores))
    found, turned = compare_sides(first, second).frame, compare_sides(second, first).frame
    for name, other, sign in (
        ("difference", "difference", -1),
        ("low", "high", -1),
        ("mean_a", "mean_b", 1),
        ("effect", "effect", -1),
        ("p", "p", 1),
        ("p_holm", "p_holm", 1),
        ("pairs", "pairs", 1),
    ):
        assert turned[name].tolist() == pytest.approx((sign * found[other]).tolist(), nan_ok=True, abs=1e-9)
    swapped = found["meaning"].str.translate(str.maketrans("AB", "BA"))
    assert turned["meaning"].tolist() == swapped.tolist()


def test_a_mean_over_documents_is_paired_by_question():
    """Where one side has published means only, the other's documents are averaged for each question, and it is said."""
    rows = answer_rows(systems=("a/one",), experiments=("quality",))
    means = [
        published("b/two", "quality", question, m_all=40.0, **dict.fromkeys(METRICS, 0.25)) for question in QUESTIONS
    ]
    frame = tidy_of([*rows, *means], score_rows(rows))
    found = compare_sides(*both(frame))
    first = row(found)
    assert (first["n"], first["pairs"], first["mean_b"]) == (32, 32, 40)
    assert first["mean_a"] == pytest.approx(by_hand(frame)["a/one"].mean())
    said = " ".join(found.finding)
    assert "a pair is a question, and the documents may differ" in said
    assert "about the same document" not in said


@pytest.mark.full
def test_means_alone_make_nothing_surer_for_policies():
    """They move the interval for these documents; the one for policies is that without them, and contains the other."""
    documents = ("uber", "spotify", "airbnb", "ebay")
    rows = answer_rows(documents=documents)
    scores = score_rows(rows)
    means = [
        published(system, "recall", question, m_all=value, **dict.fromkeys(METRICS, 0.25))
        for question in QUESTIONS
        for system, value in (("a/one", 90.0), ("b/two", 20.0))
    ]
    alone, mixed = (
        row(compare_sides(*(side(frame, system, documents) for system in ("a/one", "b/two"))))
        for frame in (tidy_of(rows, scores), tidy_of([*rows, *means], scores))
    )
    assert mixed["policies_low"] == pytest.approx(alone["policies_low"])
    assert mixed["policies_high"] == pytest.approx(max(alone["policies_high"], mixed["high"]))
    assert mixed["low"] > alone["low"]
    assert mixed["difference"] > alone["difference"]


def test_cells_are_paired_where_both_have_them():
    """What the two share by document is compared by document, and a document that only one has scored is left out."""
    rows = answer_rows()
    scores = [s for s in score_rows(rows) if "b/two|spotify" not in s["answer"]]
    frame = tidy_of(rows, scores)
    shared = by_hand(frame[frame["document"] == "uber"])
    first = row(compare_sides(*both(frame)))
    assert first["pairs"] == 32
    assert first["difference"] == pytest.approx((shared["a/one"] - shared["b/two"]).mean())


def test_without_a_pair_two_sets_are_compared():
    """Systems that were scored on different questions are compared as two sets, by means and ranks, and it is said."""
    rows = answer_rows(documents=("uber",))
    ours = set(QUESTIONS[::2])
    scores = [s for s in score_rows(rows) if (s["answer"].rpartition("|")[2] in ours) == ("a/one" in s["answer"])]
    frame = tidy_of(rows, scores)
    found = compare_sides(*both(frame))
    first, means = row(found), by_hand(frame)
    sets = means["a/one"].dropna().to_numpy(), means["b/two"].dropna().to_numpy()
    assert (first["test"], first["n"], first["pairs"]) == ("t", 16, 0)
    assert (first["ranks_p"], first["effect"]) == pytest.approx(mann_whitney_test(*sets)[1:])
    assert first["low"] < first["difference"] < first["high"]
    assert "no scored cell in common: 16 questions of A against 16 of B" in found.finding[0]


def test_no_difference_is_a_finding():
    """Where both always score the same, p is 1, the interval 0 to 0, and the words say so."""
    rows = answer_rows(questions=QUESTIONS[:12])
    scores = [{**s, **dict.fromkeys(METRICS, 1.0)} for s in score_rows(rows)]
    found = compare_sides(*both(tidy_of(rows, scores)))
    first = row(found)
    assert (first["p"], first["effect"], first["difference"]) == (1, 0, 0)
    assert first["meaning"] == "no difference"
    assert any(said.endswith("no difference holds.") for said in found.finding)
    assert not any(said.startswith("Power") for said in found.finding)


def of_pairs(values):
    """The comparison of two systems by a pair of M_all for each question, about one document."""
    rows = [
        published(system, "quality", question, document="uber", m_all=pair[side_])
        for question, pair in zip(QUESTIONS, values, strict=True)
        for side_, system in enumerate(("a/one", "b/two"))
    ]
    return compare_sides(*both(tidy_of(rows)))


def test_the_verdict_follows_the_interval_and_ranks_are_beside_it():
    """A side that is a little higher in many questions, and far lower in few, is not the higher one."""
    found = of_pairs([(82.5, 80.0)] * 29 + [(10.0, 100.0)] * 3)
    first = row(found)
    assert first["low"] < 0 < first["high"]
    assert first["p"] > 0.05 > first["ranks_p"]
    assert first["meaning"] == "may be chance"
    assert "is higher in M_all" not in found.table.note
    # Equally many are a little higher and lower; one side has the few that are far apart.
    found = of_pairs([(80.0, 82.5)] * 12 + [(82.5, 80.0)] * 12 + [(100.0, 40.0)] * 6 + [(80.0, 82.5)] * 2)
    first = row(found)
    assert first["p"] < 0.05 < first["ranks_p"]
    assert first["low"] > 0
    assert first["meaning"] == "A higher for these documents; the rank test disagrees"
    assert "By the rank test, it may be due to chance" in found.finding[2]


@pytest.mark.soak
@settings(max_examples=80)
@given(st.integers(0, 2**32 - 1))
def test_no_verdict_contradicts_an_interval(seed):
    """Where a side is called the higher one, its interval is on its side, and the wider claim is the rarer."""
    random = np.random.default_rng(seed)
    shift, spread = random.normal(0, 0.6), random.gamma(2, 0.4)
    values = random.normal(5.5, 1.5, (2, 32, 5))
    values[0] += shift + random.normal(0, spread, 5)
    for _, one in scored_cells(10 * values.clip(1, 10)).frame.iterrows():
        for low, high, p in (("low", "high", "p_holm"), ("policies_low", "policies_high", "policies_p_holm")):
            if not math.isnan(one[low]) and not math.isnan(one[p]):
                assert (one[low] > 0 or one[high] < 0) == (one[p] < 0.05), one
        assert not one["policies_p"] < one["p"]
        if one["meaning"].startswith(("A higher", "B higher")):
            assert (one["low"] > 0) if one["meaning"][0] == "A" else (one["high"] < 0)


def test_one_question_is_told_to_be_too_few():
    """A single scored question gives its difference, without an interval or a test, and says why."""
    frame = study(questions=QUESTIONS[:1])
    found = compare_sides(side(frame, "a/one"), side(frame, "b/two"))
    first = row(found)
    assert len(found.frame) == len(MEASURES)
    assert (first["n"], first["test"], first["meaning"]) == (1, "none", "too few questions to test")
    assert math.isnan(first["low"])
    assert math.isnan(first["p_holm"])
    assert any(said.startswith("Small n: 6 of 6") for said in found.finding)
    assert found.figure.plot()


def test_rows_without_a_test_are_counted_apart_from_those_on_few_questions():
    """Where a test needs more than ten questions, more rows lack one than rest on fewer than ten."""
    data = pd.DataFrame({"n": [12, 12, 4], "test": ["none", "none", "none"]})
    (said,) = significance.yield_warning_if_few_questions(data)
    assert "1 of 3 comparisons rest on fewer than 10 questions, 3 on too few for any test;" in said
    (said,) = significance.yield_warning_if_few_questions(data[:2])
    assert said.startswith("Small n: 2 of 2 comparisons rest on too few questions for any test;")
    assert not [*significance.yield_warning_if_few_questions(data.assign(n=12, test="t"))]


def test_a_group_that_repeats_another_is_left_out():
    """If all questions are from FAQs and of one category, they are compared once, and Holm counts them once."""
    faq = tuple(question for question in QUESTIONS[:3])
    assert set(compare_sides(*both(study(questions=faq))).frame["questions"]) == {"all"}


def test_a_metric_that_nobody_scored_has_no_row():
    """Published values of M_all alone are compared in M_all alone."""
    scores = [
        published(system, "quality", question, document="uber", m_all=value)
        for system, value in (("a/one", 90.0), ("b/two", 70.0))
        for question in QUESTIONS
    ]
    data = compare_sides(*both(tidy_of(scores))).frame
    assert set(data["measure"]) == {OVERALL}
    assert set(data["difference"]) == {20}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda s: replace(s, texts={**s.texts, "uber": {"another"}}), "the text of document uber is not the same"),
        (lambda s: side(s.frame, s.name, ("uber",)), "only a/one has the document spotify"),
        (lambda s: side(s.frame, s.name, questions=QUESTIONS[1:]), "only a/one has the question T_f1"),
        (
            lambda s: replace(s, asked={key: of for key, of in s.asked.items() if key[:2] != ("uber", "T_f1")}),
            "only a/one has the question T_f1 about uber",
        ),
        (
            lambda s: replace(s, asked={**s.asked, ("uber", "T_f1", "original"): {"What?"}}),
            "the text of question T_f1 about uber is not the same",
        ),
        (lambda s: replace(s, frame=s.frame.assign(rubric="other")), "the rubric is not the same"),
    ],
)
def test_what_differs_is_named(change, named):
    """A comparison is refused with what differs; with `anyway` the common part is compared, and the note says so."""
    first, second = both(study(questions=QUESTIONS[:8]))
    second = change(second)
    with pytest.raises(UsageError, match=named) as refused:
        compare_sides(first, second)
    assert "`anyway`" in str(refused.value)
    found = compare_sides(first, second, anyway=True)
    assert any(named in said for said in found.differing)
    assert named in found.table.note


def test_only_what_is_common_is_compared_anyway():
    """With another text of one document, only the others' scores count; with another question, only the same ones."""
    frame = study()
    first, second = both(frame)
    changed = replace(second, texts={**second.texts, "uber": {"another"}})
    common = by_hand(frame[frame["document"] == "spotify"])
    found = row(compare_sides(first, changed, anyway=True))
    assert (found["n"], found["pairs"]) == (32, 32)
    assert found["mean_b"] == pytest.approx(common["b/two"].mean())
    fewer = side(frame, "b/two", questions=QUESTIONS[8:])
    assert row(compare_sides(first, fewer, anyway=True))["n"] == 24


def test_a_mean_over_other_documents_is_not_compared():
    """A published mean over documents counts only if the other side was asked about all of them."""
    rows = answer_rows(systems=("a/one",), documents=("uber",))
    means = [published("b/two", "quality", question, m_all=40.0) for question in QUESTIONS]
    frame = tidy_of([*rows, *means], score_rows(rows))
    ours = side(frame, "a/one", ("uber",))
    assert row(compare_sides(ours, side(frame, "b/two", ("uber",))))["n"] == 32
    with pytest.raises(UsageError, match="no scored question in common"):
        compare_sides(ours, side(frame, "b/two"), anyway=True)


def test_other_paraphrases_matter_only_to_who_was_asked_them(frame):
    """A wording that only one was asked makes no difference between them."""
    first, second = both(frame)
    more = {**second.asked, **{(d, q, "paraphrase-1"): {"Else?"} for d, q, _ in second.asked}}
    assert note_differences_and_common_questions(first, replace(second, asked=more))[0] == []


def test_the_figures_show_every_row(compared):
    """All questions are in one panel, groups in a panel per measure, each with the numbers of the table."""
    main, groups = compared.figures
    data = compared.frame
    assert main.table.data.equals(data[data["questions"] == "all"])
    assert groups.table.data.equals(data[data["questions"] != "all"])
    scales = np.array([90.0, *[2.0] * len(METRICS)])
    marks = [line.get_xdata()[0] for line in main.plot().axes[0].lines if line.get_marker() in ("o", "s", "d")]
    assert marks == pytest.approx((main.table.data["difference"] / scales).tolist())
    drawn = groups.plot()
    assert [axes.get_title() for axes in drawn.axes] == ["M_all", *METRICS]
    marks = [line.get_xdata()[0] for line in drawn.axes[0].lines if line.get_marker() in ("o", "s", "d")]
    assert marks == data.loc[(data["measure"] == OVERALL) & (data["questions"] != "all"), "difference"].tolist()
    assert replace(compared, table=replace(compared.table, data=pd.DataFrame())).figures == []


def test_each_row_says_for_how_many_tests_it_is_adjusted(compared):
    """M_all for one, whatever else is compared; a row of a family for all tests of the family."""
    data = compared.frame
    for family, rows in data.groupby("family"):
        assert set(rows["tests"]) == {rows["p"].count()}, family
    assert row(compared)["tests"] == 1
    pairs = m_all_differences_of_all_system_pairs(study(systems=("a/one", "b/two", "c/three")))
    assert pairs["tests"].tolist() == [3, 3, 3]
    assert "for the 3 pairs that this table tests" in explain_holm_adjustment(pairs)
    assert "for one pair alone" in explain_holm_adjustment(pairs.assign(tests=1))
