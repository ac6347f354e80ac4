"""Analysts as a third factor: what an average says of other analysts, and sides that other people scored."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from framing import QUESTIONS, answer_rows, score_rows, tidy_of

from genaipa.reports.analysts import panel, refused
from genaipa.reports.averages import who_scored
from genaipa.reports.chapters.documents import documents_ranked
from genaipa.reports.comparison import Side, compare_sides
from genaipa.reports.crossed import crossed
from rubrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable

    from genaipa.reports.comparison import Comparison

TRUTH = 55.0


def drawn(random: np.random.Generator, analysts: int, leniency: float, *, by: str = "") -> pd.DataFrame:
    """Scores of 32 questions about five documents, each by one analyst, with the published study's variances.

    `by` deals whole questions, or documents, to an analyst.
    """
    asked, about = np.repeat(np.arange(32), 5), np.tile(np.arange(5), 32)
    who = {"": random.integers(analysts, size=160), "question": asked, "document": about}[by] % analysts
    value = TRUTH + random.normal(0, 82**0.5, 32)[asked] + random.normal(0, 9, 5)[about]
    value += random.normal(0, 508**0.5, 160) + random.normal(0, leniency, analysts)[who]
    columns = {"question": asked, "document": about, "analyst": who, "score": value}
    return pd.DataFrame(columns).astype({"question": str, "document": str, "analyst": str}).assign(experiment="quality")


@pytest.mark.soak
def test_an_interval_holds_the_truth_for_other_analysts() -> None:
    """With three analysts and with five, of any leniency, in 95 of 100 studies; without their part in far fewer."""
    random, studies = np.random.default_rng(5), 600
    for leniency, analysts in ((9.0, 3), (4.0, 5)):
        held = np.zeros(2)
        for _ in range(studies):
            rows = drawn(random, analysts, leniency)
            found = crossed(
                rows["score"], rows["question"], rows["document"], limits=(10, 100), panel=panel(rows, "score")
            )
            assert found.analysts_low <= found.policies_low <= found.policies_high <= found.analysts_high
            ends = ((found.policies_low, found.policies_high), (found.analysts_low, found.analysts_high))
            held += [low <= TRUTH <= high for low, high in ends]
        assert held[1] / studies >= 0.93
        assert leniency < 9 or held[0] / studies < 0.92


@pytest.mark.parametrize(
    ("analysts", "by", "why"),
    [
        (1, "", "1 analyst: below 3, none for others."),
        (2, "", "2 analysts: below 3, none for others."),
        (3, "", ""),
        (5, "document", "Who scored depends on the question or the document."),
        (4, "question", "Who scored depends on the question or the document."),
    ],
)
def test_nothing_is_said_of_others_without_knowing_it(analysts: int, by: str, why: str) -> None:
    """Two analysts can't speak for others, nor can those whose work was dealt out by document or by question."""
    rows = drawn(np.random.default_rng(1), analysts, 4.0, by=by)
    found = panel(rows, "score")
    assert refused(found) == why
    assert math.isnan(found.variance) == bool(why)


def test_leniency_is_found_and_left_out_one_by_one() -> None:
    """The variance is that of who gives more; each average without one of them is that of the others' scores."""
    rows = drawn(np.random.default_rng(2), 4, 0.0)
    rows["score"] = TRUTH + rows["analyst"].map({"0": 30.0, "1": 0.0, "2": 0.0, "3": -30.0})
    found = panel(rows, "score")
    share = rows["analyst"].value_counts(normalize=True)
    assert found.variance == pytest.approx(600 * float((share**2).sum()))
    # Nobody else scored what 0 did: the others would have given what they give beside questions and documents.
    others = share.drop("0") / share.drop("0").sum()
    assert found.without["0"] == pytest.approx(TRUTH - 30 * others["3"], abs=0.01)


def both_scored(leniency: float, *, also: int, easier: float = 0.0) -> pd.DataFrame:
    """Forty answers that ada scored; to the first ones, which are `easier`, bo gives as much more."""
    random = np.random.default_rng(3)
    value = TRUTH + random.normal(0, 9, 40) + np.where(np.arange(40) < also, easier, 0.0)
    rows = [("ada", n, value[n]) for n in range(40)] + [("bo", n, value[n] + leniency) for n in range(also)]
    data = pd.DataFrame(rows, columns=["analyst", "question", "score"])
    return data.astype({"question": str}).assign(experiment="quality", document="uber")


@pytest.mark.parametrize("easier", [-25.0, 0.0, 25.0])
@pytest.mark.parametrize("leniency", [-6.0, 4.0])
def test_who_is_left_out_moves_the_average_by_their_leniency(leniency: float, easier: float) -> None:
    """Whatever kind of answers both scored: without the lenient one the average is lower, without the strict higher."""
    rows = both_scored(leniency, also=10, easier=easier)
    found = panel(rows, "score")
    alone = rows.loc[rows["analyst"] == "ada", "score"].mean()
    assert found.without["bo"] == pytest.approx(alone)
    assert found.without["ada"] == pytest.approx(alone + leniency)
    assert math.isnan(panel(rows[rows["analyst"] == "ada"], "score").without["ada"])


def test_of_people_who_share_nothing_nobody_knows() -> None:
    """Two who scored other questions about one document: their leniency is in no number, and no average is without."""
    rows = both_scored(4.0, also=0)
    parted = rows.assign(analyst=np.where(rows["question"].astype(int) < 20, "ada", "bo"))
    assert all(math.isnan(one) for one in panel(parted, "score").without.values())


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
    return compare_sides(*(Side(name, frame[frame["system"] == name], texts, asked) for name in ("a/one", "b/two")))


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
    assert found.finding[2].startswith("Verdict: none. Other people scored A (") is not told
    assert any("is higher" in said for said in found.finding) is told
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
    assert by_group.endswith("no verdict, since other people scored each side, in M_all (faq, user).")


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
        made = documents_ranked(tidy_of(rows, scores))
        assert ("other people" in made.note) is (who == "bo")
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
    data = who_scored(frame).set_index("system")
    assert data["analysts"].to_dict() == {"a/one": 3, "b/two": 2}
    one = data.loc["a/one"]
    assert one["analysts_low"] <= one["policies_low"] < one["mean"] < one["policies_high"] <= one["analysts_high"]
    assert one["least"] < one["mean"] < one["most"]
    assert data.loc["b/two", "why"] == "2 analysts: below 3, none for others."
    assert math.isnan(data.loc["b/two", "analysts_low"])
