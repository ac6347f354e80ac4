"""All systems of a report against each other: paired differences, one correction, and ranks that are open."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from framing import QUESTIONS, answer_rows, score_rows, tidy_of
from verdicts import JUDGE, judged

from genaipa.reports.chapters.groups import leaderboard_by_document_group_table
from genaipa.reports.chapters.overall import leaderboard_table
from genaipa.reports.comparison import compare_sides
from genaipa.reports.matches import (
    PAIRS,
    _describe_pair_meaning,
    m_all_differences_of_all_system_pairs,
    possible_rank_ranges,
    system_difference_and_rank_tables,
)
from genaipa.reports.sides import ComparisonSide
from genaipa.runs.selection import DocumentGrouping
from genaipa.stats.tests import adjust_p_by_holm
from rubrics import METRICS

DOCUMENTS = ("uber", "spotify", "airbnb", "ebay")
SYSTEMS = ("a/one", "b/two", "c/three", "d/four")


@functools.cache
def study(last: str = "ada"):
    """Four systems: the first is far better, the last, which this analyst scored, far worse, and two are alike."""
    rows = answer_rows(systems=SYSTEMS, documents=DOCUMENTS)
    random, scores = np.random.default_rng(3), []
    good = {"a/one": 0.97, "b/two": 0.6, "c/three": 0.6, "d/four": 0.1}
    for score in score_rows(rows):
        system = next(name for name in SYSTEMS if name in score["answer"])
        values = np.where(random.random(len(METRICS)) < good[system], 1.0, -1.0)
        analyst = last if system == SYSTEMS[-1] else "ada"
        scores.append({**score, **dict(zip(METRICS, values.tolist(), strict=True)), "analyst": analyst})
    return tidy_of(rows, scores)


@functools.cache
def found():
    """The differences of its pairs."""
    return m_all_differences_of_all_system_pairs(study())


@pytest.mark.full
def test_pairs_are_those_of_compare() -> None:
    """Each pair has the difference of a comparison of the two; p is adjusted for all pairs, and intervals follow it."""
    frame = study()
    made = found().set_index(["first", "second"])
    assert len(made) == 6
    texts = {document: {f"text of {document}"} for document in DOCUMENTS}
    asked = {(document, question, "original"): {question} for document in DOCUMENTS for question in QUESTIONS}
    single = []
    for first, second in made.index:
        sides = (ComparisonSide(name, frame[frame["system"] == name], texts, asked) for name in (first, second))
        one = compare_sides(*sides).frame.iloc[0]
        single.append(one["policies_p"])
        pair = made.loc[(first, second)]
        assert pair[["difference", "n"]].tolist() == pytest.approx(one[["difference", "n"]].tolist())
        for about in ("", "policies_"):
            low, high = pair[f"{about}low"], pair[f"{about}high"]
            assert low <= one[f"{about}low"] + 1e-9
            assert one[f"{about}high"] <= high + 1e-9
            assert (low > 0 or high < 0) == (pair[f"{about}p_holm"] < one["level"])
    assert made["policies_p_holm"].tolist() == pytest.approx(adjust_p_by_holm(single))
    alike = made[[{*pair} == {"b/two", "c/three"} for pair in made.index]]
    assert alike["meaning"].tolist() == ["may be chance"]
    assert made.loc[("a/one", "d/four"), "meaning"] == "a/one higher"


def test_ranks_say_how_sure_they_are() -> None:
    """Systems that can't be told apart share their ranks."""
    ranked = possible_rank_ranges(found()).set_index("system")
    assert ranked[["rank", "to"]].to_numpy().tolist() == [[1, 1], [2, 3], [2, 3], [4, 4]]
    assert set(ranked["of"]) == {4}


def test_ranks_of_one_document_are_those_for_it() -> None:
    """Where nothing can be said of other policies, ranks go by what holds for these documents."""
    frame = study()
    one = next(
        table
        for table in system_difference_and_rank_tables(frame[frame["document"] == "uber"])
        if table.name == "system-ranks"
    )
    assert one.data["rank"].tolist() != [1] * 4
    assert "hold for these documents" in one.note
    wide = next(table for table in system_difference_and_rank_tables(frame) if table.name == "system-ranks")
    assert "hold for policies like these" in wide.note


def test_what_other_people_scored_ranks_nobody() -> None:
    """A system that another analyst scored has no rank against the others."""
    made = m_all_differences_of_all_system_pairs(study("bo"))
    told = made[made["second"] == "d/four"]
    assert set(told["meaning"]) == {"other analysts"}
    assert possible_rank_ranges(made).set_index("system").loc["d/four", ["rank", "to"]].tolist() == [1, 4]


def test_one_system_has_no_matrix() -> None:
    """There is no table of one system, nor of two without a common question."""
    frame = study()
    assert system_difference_and_rank_tables(frame[frame["system"] == "a/one"]) == []
    apart = frame[(frame["system"] == "a/one") == frame["question"].isin(QUESTIONS[:16])]
    made = m_all_differences_of_all_system_pairs(apart[apart["system"].isin(("a/one", "b/two"))])
    assert list(made.columns) == PAIRS
    assert math.isnan(made["difference"].mean())


def test_pairs_are_what_the_leaderboard_counts():
    """Where a judge scored, differences are those of estimates, in the leaderboard's order."""
    frame = judged(size=64).frame
    means = leaderboard_table(frame).data.set_index("system")["m_all"]
    (row,) = m_all_differences_of_all_system_pairs(frame).to_dict("records")
    assert [row["first"], row["second"]] == list(means.index)
    assert row["difference"] == pytest.approx(means[row["first"]] - means[row["second"]])
    alone = frame.assign(analyst=frame["analyst"].cat.rename_categories({str(JUDGE): "no judge"}))
    assert m_all_differences_of_all_system_pairs(alone)["difference"].tolist() != [row["difference"]]


def test_a_handful_compares_nothing():
    """An experiment of which a tenth is scored, out of order, is in no difference, as it is on no leaderboard."""
    rows = answer_rows(systems=SYSTEMS[:2], documents=DOCUMENTS)
    scored = [row for n, row in enumerate(rows) if row["system"] == "a/one" or n % 10 == 0]
    assert m_all_differences_of_all_system_pairs(tidy_of(rows, score_rows(scored))).empty


def test_places_by_unlike_scores_say_so():
    """Within a group of documents, systems that were scored on different questions have places with a caution."""
    rows = answer_rows(systems=SYSTEMS[:2], documents=DOCUMENTS)
    scored = [row for row in rows if (row["system"], row["document"]) != ("b/two", "uber") or row["source"] == "faq"]
    groups = DocumentGrouping("sector", {name: "rides" if name == "uber" else "other" for name in DOCUMENTS})
    assert (
        "Within rides, systems were scored on different"
        in leaderboard_by_document_group_table(tidy_of(rows, score_rows(scored)), groups).note
    )


def test_what_only_the_number_of_pairs_makes_chance_says_so():
    """An interval without 0 whose p is not below 0.05 among all pairs is called neither higher nor nothing."""
    told = (
        found()
        .assign(p=0.02, policies_p=0.02, p_holm=0.06, policies_p_holm=0.06, tests=3, meaning="")
        .iloc[0]
        .to_dict()
    )
    assert _describe_pair_meaning(told) == "may be chance, as one of 3 pairs"
    assert _describe_pair_meaning({**told, "p": 0.2}) == "may be chance"
    assert _describe_pair_meaning({**told, "p_holm": float("nan")}) == "", "nothing was tested"
