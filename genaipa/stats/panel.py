"""Analysts as a third factor: how far a mean depends on who scored.

One analyst gives more than another to the very same answers. How much more is found beside questions and documents, by
least squares, and adds a part of its own to the variance of a mean: for analysts like these as well (generalisability
theory: Cronbach and others, 1972; Brennan, 2001). Below `LEAST_ANALYSTS` nothing is said about others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genaipa.stats.arrays import as_labels, as_values, renumber_labels
from genaipa.stats.reason import Reason

if TYPE_CHECKING:
    from genaipa.stats.arrays import Floats, Labels

LEAST_ANALYSTS = 3
"""Below this many analysts nothing is said about others; it doesn't matter how they share the scores."""
_ROUNDS = 50
_SETTLED = 1e-9
_TOLD = 0.1
"""Share of an analyst's scores that questions and documents must leave over for their leniency to be found."""


class AnalystPanel(NamedTuple):
    """The analysts behind a mean: how many they are, and their part of its variance (NaN where it is unknown).

    `without` has the mean of the same answers with each of them left out, in the order of their labels; NaN where
    nobody knows what others would have given. `reason` tells why the variance is unknown.
    """

    number: int
    variance: float
    without: Floats = np.array([])
    reason: Reason = Reason.NONE


def estimate_analyst_panel(
    values: Any,
    analyst_labels: Any,
    question_labels: Any,
    document_labels: Any,
    experiment_labels: Any = None,
    answer_labels: Any = None,
) -> AnalystPanel:
    """Estimate the part of the analysts in the variance of a mean over questions of means over experiments, documents.

    A value is an analyst's score of an answer to a question about a document; all labels are whole numbers from 0.
    Without `experiment_labels` there is one, and without `answer_labels` one for each question about a document in each
    of them.

    >>> analysts, questions = [0, 1, 2, 0, 1, 2, 0, 1], [0, 0, 1, 1, 2, 2, 3, 3]
    >>> panel = estimate_analyst_panel([5, 5, 7, 9, 6, 4, 8, 6], analysts, questions, [0] * 8)
    >>> panel.number, round(panel.variance, 3), panel.reason
    (3, 0.403, <Reason.NONE: ''>)
    """
    value, size = as_values(values), len(values)
    none = np.zeros(size, np.int64) if experiment_labels is None else experiment_labels
    analyst, question, document, experiment = (
        as_labels(labels, size) for labels in (analyst_labels, question_labels, document_labels, none)
    )
    answer = None if answer_labels is None else as_labels(answer_labels, size)
    present = ~np.isnan(value)
    if not present.any():
        return AnalystPanel(0, np.nan, reason=Reason.FEW_ANALYSTS)
    value, analyst = value[present], renumber_labels(analyst[present])
    question, document, experiment = question[present], document[present], experiment[present]
    question_cells, about = _combine_label_pairs(experiment, question), _combine_label_pairs(experiment, document)
    cell = _combine_label_pairs(question_cells, document)
    answer = cell if answer is None else answer[present]
    weight = _weight_of_each_score_in_mean(cell, question_cells, document, experiment, renumber_labels(question))
    number = int(analyst.max()) + 1
    leniencies = _fit_analyst_leniencies(value, analyst, question_cells, about) if number > 1 else None
    effects = leniencies.effects if leniencies else np.full(number, np.nan)
    extra = _weigh_excess_of_each_score_over_others(value, weight, analyst, renumber_labels(answer), effects)
    without = np.asarray(float(weight @ value) - np.bincount(analyst, extra, number), np.float64)
    if number < LEAST_ANALYSTS:
        return AnalystPanel(number, np.nan, without, Reason.FEW_ANALYSTS)
    if leniencies is None:
        return AnalystPanel(number, np.nan, without, Reason.CONFOUNDED)
    share = np.bincount(analyst, weight, minlength=number)
    return AnalystPanel(number, leniencies.variance * float((share**2).sum()), without)


def _combine_label_pairs(first_labels: Labels, second_labels: Labels) -> Labels:
    """Return a label for each pair of labels that is there."""
    return renumber_labels(first_labels * (int(second_labels.max()) + 1) + second_labels)


def _count_parts_in_whole_of_each_row(part_of_each_row: Labels, whole_of_each_row: Labels) -> Labels:
    """Return how many different parts the whole of each score has."""
    _, first = np.unique(_combine_label_pairs(whole_of_each_row, part_of_each_row), return_index=True)
    return np.bincount(whole_of_each_row[first])[whole_of_each_row]


def _weight_of_each_score_in_mean(
    cell: Labels, question_cells: Labels, document: Labels, experiment: Labels, question: Labels
) -> Floats:
    """Return each score's weight in the mean; they add up to 1."""
    weight: Floats = 1 / np.bincount(cell)[cell]
    weight /= _count_parts_in_whole_of_each_row(document, question_cells)
    weight /= _count_parts_in_whole_of_each_row(experiment, question)
    weight /= int(question.max()) + 1
    return weight


def _weigh_excess_of_each_score_over_others(
    value: Floats, weight: Floats, analyst: Labels, answer: Labels, analyst_effects: Floats
) -> Floats:
    """Return what each score adds to the mean beyond what others gave, or would have given, to the same answer.

    Where others scored the answer too, that is known. Where they did not, it is what its analyst gave beyond others on
    the answers that they share, and else their leniency beside questions and documents (`analyst_effects`).
    """
    pair = _combine_label_pairs(answer, analyst)
    number, total = np.bincount(answer)[answer], np.bincount(answer, value)[answer]
    repeats, own_total = np.bincount(pair)[pair], np.bincount(pair, value)[pair]
    shared = number > repeats
    beyond = np.where(shared, value - (total - own_total) / np.maximum(number - repeats, 1), np.nan)
    share = np.bincount(analyst, weight)
    for n in range(len(share)):
        mine = analyst == n
        if (mine & shared).any():
            alone = np.average(beyond[mine & shared], weights=weight[mine & shared])
        else:
            is_other = np.arange(len(share)) != n
            alone = (
                analyst_effects[n] - np.average(analyst_effects[is_other], weights=share[is_other])
                if is_other.any()
                else np.nan
            )
        beyond[mine & ~shared] = alone
    return weight * beyond


class _Leniencies(NamedTuple):
    """How much each analyst gives beside questions and documents, and the variance of that without its noise."""

    effects: Floats
    variance: float


def _fit_analyst_leniencies(
    value: Floats, analyst: Labels, question_cells: Labels, document_cells: Labels
) -> _Leniencies | None:
    """Fit the analysts' leniencies; None where documents or questions tell who scored, or little is known."""
    number = int(analyst.max()) + 1
    dealt = np.zeros((len(analyst), number))
    dealt[np.arange(len(analyst)), analyst] = 1.0
    free = _remove_question_and_document_effects(np.column_stack([value, dealt]), question_cells, document_cells)
    predictors, gram = free[:, 1:], free[:, 1:].T @ free[:, 1:]
    counts = dealt.sum(axis=0)
    # All leniencies together are the mean's level: one direction is never known.
    if np.sort(np.linalg.eigvalsh(gram / np.sqrt(np.outer(counts, counts))))[1] < _TOLD:
        return None
    solved, _, rank, _ = np.linalg.lstsq(gram, predictors.T @ free[:, 0], rcond=1e-9)
    effects: Floats = np.asarray(solved, dtype=np.float64)
    residual = float(((free[:, 0] - predictors @ effects) ** 2).sum())
    degrees = len(value) - len(np.unique(question_cells)) - len(np.unique(document_cells)) + 1 - int(rank)
    if degrees <= 0:
        return None
    deviations = effects - effects.mean()
    centred = np.eye(number) - 1 / number
    noise = residual / degrees * float(np.trace(centred @ np.linalg.pinv(gram) @ centred))
    return _Leniencies(effects, max(float((deviations**2).sum()) - noise, 0.0) / (number - 1))


def _remove_question_and_document_effects(columns: Floats, question_cells: Labels, document_cells: Labels) -> Floats:
    """Take questions and documents out of each column, by turns until it no longer changes."""
    residuals: Floats = columns - columns.mean(axis=0)
    for _ in range(_ROUNDS):
        before = residuals.copy()
        for groups in (question_cells, document_cells):
            size = np.bincount(groups)
            sums = np.column_stack([np.bincount(groups, column) for column in residuals.T])
            residuals -= (sums / size[:, None])[groups]
        if np.abs(residuals - before).max() < _SETTLED:
            break
    return residuals
