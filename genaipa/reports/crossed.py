"""Means of a table's columns by `genaipa.stats.intervals`, and in words why they have no interval, or a rough one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genaipa.stats.intervals import (
    LEAST_DOCUMENTS,
    LEAST_SCORED,
    LEVEL,
    ROUGH_DOCUMENTS,
    estimate_mean,
)
from genaipa.stats.reason import Reason
from genaipa.words import format_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from genaipa.stats.intervals import CrossedMean, Limits
    from genaipa.stats.panel import AnalystPanel

SHARES = ((0.0, 1.0), (0.0, 100.0))
"""Scales of shares: each answer is one or not."""


def estimate_crossed_mean(
    values: Any,
    questions: Any,
    documents: Any,
    *,
    weights: Any = None,
    limits: Limits | None = None,
    has_scores: Any = None,
    panel: AnalystPanel | None = None,
    confidence: float = LEVEL,
) -> CrossedMean:
    """Estimate a mean, as `estimate_mean` does, of columns whose labels are of any kind.

    An empty document is a mean over documents; the scales `SHARES` are those of shares.

    >>> made = estimate_crossed_mean([60, 80, 70, 90, 50, 85], list("aabbcc"), list("xyxyxy"))
    >>> made.mean, made.questions, made.documents, explain_missing_interval_or_empty(made)
    (72.5, 3, 2, '2 documents, fewer than 3: nothing can be said about policies like these.')
    """
    return estimate_mean(
        values,
        number_labels_and_list_distinct(questions)[0],
        document_numbers_or_minus_one(documents),
        weights=weights,
        limits=limits,
        is_share=limits in SHARES,
        question_has_people_scores=has_scores,
        panel=panel,
        confidence=confidence,
    )


def number_labels_and_list_distinct(labels: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return each label's place among the different ones, and these as texts, in their order."""
    column = labels if isinstance(labels, pd.Series | pd.Index) else pd.Index(list(labels), dtype=object)
    array: Any = column.array
    # Categories are numbered already.
    codes, different = (array.codes, array.categories) if isinstance(array, pd.Categorical) else array.factorize()
    names = np.array([str(name) for name in different], dtype=object)
    order = np.argsort(names, kind="stable")
    return np.argsort(order)[codes], names[order]


def document_numbers_or_minus_one(documents: Any) -> NDArray[np.int64]:
    """Return each document's place among the different ones, and -1 for an empty one."""
    places, names = number_labels_and_list_distinct(documents)
    return places - 1 if len(names) and not names[0] else places


def explain_missing_interval_or_empty(estimate: CrossedMean) -> str:
    """Tell why a mean has no interval, or none for policies like these; or nothing."""
    no_policies = "nothing can be said about policies like these."
    return {
        Reason.NO_VALUE: "No value.",
        Reason.FEW_SCORED: (
            f"People scored answers to {estimate.scored} of {estimate.questions} questions; an estimate needs "
            f"{LEAST_SCORED}."
        ),
        Reason.ONE_QUESTION: "One question is too few for an interval.",
        Reason.ALL_EQUAL: (
            f"All {estimate.questions} questions have the same value, which says nothing about how other questions "
            "differ."
        ),
        Reason.NO_DOCUMENT: f"Only means over documents are known: {no_policies}",
        Reason.FEW_DOCUMENTS: (
            f"{format_count(estimate.documents, 'document')}, fewer than {LEAST_DOCUMENTS}: {no_policies}"
        ),
        Reason.ONE_DOCUMENT: f"{estimate.documents} documents, but one makes up most of the average: {no_policies}",
        Reason.FEW_NAMED: (
            f"Most of the {estimate.questions} questions are known only as means over documents: {no_policies}"
        ),
    }.get(estimate.reason, "")


def rough_policy_interval_warning_or_empty(estimate: CrossedMean) -> str:
    """Tell that the interval for policies like these rests on few documents, or on some that don't differ."""
    if estimate.reason is not Reason.NONE:
        return ""
    rough_note = (
        f"{estimate.documents} documents, fewer than {ROUGH_DOCUMENTS}: the interval for policies like these is rough."
    )
    alike_note = "The documents differ less than chance alone would make them differ on average."
    rough, is_alike = estimate.documents < ROUGH_DOCUMENTS, estimate.documents_alike
    return " ".join([*([rough_note] if rough else []), *([alike_note] if is_alike else [])])
