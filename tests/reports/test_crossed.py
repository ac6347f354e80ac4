"""Means of columns with labels of any kind, and why they have no interval, in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from genaipa.reports.crossed import (
    document_numbers_or_minus_one,
    estimate_crossed_mean,
    explain_missing_interval_or_empty,
    number_labels_and_list_distinct,
    rough_policy_interval_warning_or_empty,
)

VALUES = np.random.default_rng(1).normal(60, 9, 40)


def test_labels_of_any_kind_are_one_order() -> None:
    """Texts, numbers and categories are numbered by their texts, and the empty document is -1."""
    names = ["b", "a", "", "b"]
    for labels in (names, pd.Series(names), pd.Series(names).astype("category"), pd.Index(names)):
        assert number_labels_and_list_distinct(labels)[0].tolist() == [2, 1, 0, 2]
        assert document_numbers_or_minus_one(labels).tolist() == [1, 0, -1, 1]
    assert number_labels_and_list_distinct([10, 9])[0].tolist() == [0, 1]
    assert document_numbers_or_minus_one(["y", "x"]).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("rows", "known", "sentence"),
    [
        ([], None, "No value."),
        ([("a", "x")], None, "One question is too few for an interval."),
        ([("a", "x"), ("b", "x"), ("c", "x")], [True, False, False], "People scored answers to 1 of 3 questions; "),
        ([("a", ""), ("b", "")], None, "Only means over documents are known: nothing can be said"),
        ([("a", "x"), ("b", "x")], None, "1 document, fewer than 3: nothing can be said about policies like these."),
        ([*zip("abcdefgh", "xxxxxxyz", strict=True)], None, "3 documents, but one makes up most of the average: "),
        (
            [*zip("abcdefgh", ["x", "y", "z", *[""] * 5], strict=True)],
            None,
            "Most of the 8 questions are known only as means over documents: ",
        ),
    ],
)
def test_what_lacks_is_said(rows: list[tuple[str, str]], known: list[bool] | None, sentence: str) -> None:
    """Each reason has its sentence, and no warning beside it."""
    made = estimate_crossed_mean(
        VALUES[: len(rows)], [row[0] for row in rows], [row[1] for row in rows], has_scores=known
    )
    assert explain_missing_interval_or_empty(made).startswith(sentence)
    assert not rough_policy_interval_warning_or_empty(made)


def test_equal_questions_are_said() -> None:
    """All alike, they say nothing about others, unless they are a share."""
    made = [
        estimate_crossed_mean(np.ones(6), list("aabbcc"), list("xyzxyz"), limits=limits) for limits in (None, (0, 1))
    ]
    assert [explain_missing_interval_or_empty(one) for one in made] == [
        "All 3 questions have the same value, which says nothing about how other questions differ.",
        "",
    ]


def test_few_documents_are_warned_of() -> None:
    """Below ten, and where they are alike by chance."""
    questions = list("abcdefgh") * 5
    made = estimate_crossed_mean(VALUES, questions, np.repeat(list("vwxyz"), 8))
    assert rough_policy_interval_warning_or_empty(made).startswith(
        "5 documents, fewer than 10: the interval for policies like these is rough."
    )
    assert rough_policy_interval_warning_or_empty(made._replace(documents=10, documents_alike=True)) == (
        "The documents differ less than chance alone would make them differ on average."
    )
    assert not rough_policy_interval_warning_or_empty(made._replace(documents=10, documents_alike=False))
