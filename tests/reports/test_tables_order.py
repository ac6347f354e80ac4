"""Order effects: the kind of conversation, and the place in the order, worked out by hand."""

from __future__ import annotations

import pytest
from framing import answer_rows, tidy_of
from tabling import FEW, scored

from genaipa.reports.chapters import order

DOCUMENTS = ("a", "b", "c")


def placed(of, *, conversation="shared", shuffle=True):
    """Three questions about three documents, each question once at every place; scored by `of` (place, document)."""
    answers = answer_rows(systems=("a/one",), documents=DOCUMENTS, questions=FEW)
    for row in answers:
        shift = DOCUMENTS.index(row["document"]) if shuffle else 0
        row["position"] = (FEW.index(row["question"]) + shift) % 3 + 1
        row["conversation"] = conversation
        row |= {name: row[name] + conversation for name in ("key", "answer")}
    return answers, scored(answers, lambda row: of(row["position"], row["document"]))


def test_a_slope_is_from_the_first_question_to_the_last() -> None:
    """100, 77.5 and 55 by place fall by 45, in whatever document; two runs of a kind are one row of the table."""
    rows, scores = placed(lambda place, _: (1, 0.5, 0)[place - 1])
    data = order.question_position_trend_table(tidy_of(rows, scores)).data
    columns = ["conversation", "first", "middle", "last", "slope", "n", "documents"]
    assert data[columns].values.tolist() == [["shared", *map(pytest.approx, (100, 77.5, 55, -45)), 3, 3]]


def test_hard_questions_that_come_late_are_no_slope() -> None:
    """Where documents differ and places don't, nothing changes; with one order for all, nothing can be said."""
    rows, scores = placed(lambda _, document: DOCUMENTS.index(document) / 2)
    assert order.question_position_trend_table(tidy_of(rows, scores)).data["slope"].tolist() == [pytest.approx(0)]
    assert not order.question_position_trend_table(tidy_of(*placed(lambda place, _: place / 3, shuffle=False)))


def test_kinds_of_conversation_are_paired_by_cell() -> None:
    """Shared 100 against independent 77.5 and 55 is 30 on average; what was asked in one way only has no part."""
    both = [placed(lambda *_: 1), placed(lambda _, document: 0.5 * (document == "a"), conversation="independent")]
    rows, scores = ([*both[0][part], *both[1][part]] for part in (0, 1))
    lonely = [row for row in rows if (row["document"], row["conversation"]) != ("c", "independent")]
    data = order.shared_and_separate_conversations_table(tidy_of(lonely, scores)).data
    columns = ["shared", "independent", "difference", "n", "documents"]
    assert data[columns].values.tolist() == [[100, pytest.approx(66.25), pytest.approx(33.75), 3, 2]]
    assert not order.shared_and_separate_conversations_table(tidy_of(*both[0]))


def test_what_is_not_known_of_an_order_is_in_no_table() -> None:
    """Published answers and recordings have neither a kind of conversation nor a place."""
    rows, scores = placed(lambda place, _: place / 3)
    unknown = [{**row, "conversation": "", "position": 0} for row in rows]
    assert not order.question_position_trend_table(tidy_of(unknown, scores))
    assert not order.shared_and_separate_conversations_table(tidy_of(unknown, scores))
