"""Analysts as a third factor: what an average says of other analysts, and sides that other people scored."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from framing import QUESTIONS, answer_rows, score_rows, tidy_of

from genaipa.reports.averages import summarize_dependence_on_analysts
from genaipa.reports.chapters.documents import document_ranks_over_all_systems_table
from genaipa.reports.comparison import compare_sides
from genaipa.reports.sides import ComparisonSide
from rubrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable

    from genaipa.reports.comparison import Comparison


def compared(by: Callable[[int, str, str], str]) -> Comparison:
    """The comparison of two systems, each answer scored by whom a function names.

    It gets the answer's number, its system and its question, and names nobody for an answer that is not scored.
    """
    documents = ("uber", "spotify", "airbnb")
    rows = answer_rows(documents=documents)
    scores = []
    for number, score in enumerate(score_rows(rows, seed=4)):
        system, *_, question = score["answer"].removeprefix("digest of ").split("|")
        if analyst := by(number % (len(rows) // 2), system, question):
            scores.append({**score, "analyst": analyst})
    frame = tidy_of(rows, scores)
    texts = {document: {f"text of {document}"} for document in documents}
    asked = {(document, question, "original"): {question} for document in documents for question in QUESTIONS}
    return compare_sides(
        *(ComparisonSide(name, frame[frame["system"] == name], texts, asked) for name in ("a/one", "b/two"))
    )


@pytest.mark.full
@pytest.mark.parametrize(
    ("theirs", "told"),
    [(("ada", "bo"), True), (("bo", "ada"), True), (("cy", "dee"), False), (("ada",), False)],
)
def test_other_people_give_no_verdict(theirs: tuple[str, ...], told: bool) -> None:
    """Where other analysts scored the one system than the other, nothing says which of them differs."""
    ours = ("ada", "bo")
    found = compared(lambda number, system, _: ours[number % 2] if system == "a/one" else theirs[number % len(theirs)])
    first = found.frame.iloc[0]
    assert (first["p"] < 0.05) is np.True_
    assert (first["meaning"] == "other analysts") is not told
    assert found.finding[2].startswith("No verdict. Different people scored A (") is not told
    assert any("is higher" in said for said in found.finding) is told
    assert any(said.startswith("Power: ") for said in found.finding) is told
    assert found.figure is not None
    assert found.figure.plot()


def test_people_who_part_a_group_between_them_give_no_verdict_on_it() -> None:
    """They scored as much of the one system as of the other, but none of the same users' questions."""
    parted = {("a/one", "u"): "aaa", ("a/one", "f"): "abb", ("b/two", "u"): "bbb", ("b/two", "f"): "aab"}
    found = compared(lambda number, system, question: parted[system, question.partition("_")[2][0]][number % 3])
    rows = found.frame[found.frame["test"] != "none"].set_index(["measure", "questions"])
    assert rows.loc[("M_all", "all"), "meaning"] == "A higher"
    assert set(rows.loc[rows.index.get_level_values("questions") != "all", "meaning"]) == {"other analysts"}
    by_group = next(said for said in found.finding if said.startswith("M_all by group"))
    assert by_group.endswith("no verdict, since different people scored each side, in M_all (faq, user).")


def test_only_the_pairs_say_who_scored_both_sides() -> None:
    """That another analyst scored what the other side lacks is no reason against a verdict."""
    found = compared(
        lambda number, system, _: "ada" if not number % 3 else "bo" if system == "a/one" else "",
    )
    assert found.frame["meaning"][0] == "may be chance"  # a third is scored of the one side
    assert not any("Other people" in said for said in found.finding)


def test_a_document_that_other_people_scored_has_no_rank() -> None:
    """Its rank is open, and the table says why; where the same analyst scored all, it is the first."""
    documents = ("uber", "spotify", "airbnb")
    rows = answer_rows(systems=("a/one",), documents=documents)
    best, worst = (dict.fromkeys(METRICS, value) for value in (1.0, -1.0))
    for who, to in (("ada", 1), ("bo", 3)):
        scores = []
        for number, score in enumerate(score_rows(rows)):
            document = documents[number // len(QUESTIONS)]
            values = best if document == "uber" or number % 4 else worst
            scores.append({**score, **values, "analyst": who if document == "uber" else "ada"})
        made = document_ranks_over_all_systems_table(tidy_of(rows, scores))
        assert ("different people" in made.note) is (who == "bo")
        assert made.data.set_index("document").loc["uber", ["from", "to"]].tolist() == [1, to]


def test_a_table_says_who_scored() -> None:
    """Each system has a row with its analysts, and of three or more an interval for others."""
    rows = answer_rows(documents=("uber", "spotify", "airbnb", "ebay"))
    scores = [
        {**score, "analyst": f"analyst {number}"}
        for n, score in enumerate(score_rows(rows, seed=1))
        for number in ([n * 7 % 5 % 3] if "a/one" in score["answer"] else [0, 1])
    ]
    frame = tidy_of(rows, scores)
    data = summarize_dependence_on_analysts(frame).set_index("system")
    assert data["analysts"].to_dict() == {"a/one": 3, "b/two": 2}
    one = data.loc["a/one"]
    assert one["analysts_low"] <= one["policies_low"] < one["mean"] < one["policies_high"] <= one["analysts_high"]
    assert one["least"] < one["mean"] < one["most"]
    assert data.loc["b/two", "why"] == "2 analysts scored; an interval for other analysts needs 3."
    assert math.isnan(data.loc["b/two", "analysts_low"])
