"""What a study of so many questions and documents would find: variance components, and the detectable difference.

To find a difference means that its interval by `intervals.estimate_mean` excludes 0, for these documents or for
policies like these. The share of studies that find one is that of made-up studies: normal differences of known
variance.
"""

from __future__ import annotations

from math import inf, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr

from genaipa.stats.arrays import renumber_labels
from genaipa.stats.bisection import find_root
from genaipa.stats.intervals import estimate_mean

if TYPE_CHECKING:
    from genaipa.stats.arrays import Floats, Labels

POWER = 0.8
"""The share of studies that find the detectable difference."""
STUDIES = 100
"""Studies that are made up; with them, and more of fewer than 80 cells, `POWER` is met to about 0.03."""
_FEWEST = 8_000
"""Cells that are made up unless studies are counted: the intervals of few cells vary most, and cost least."""
_LARGEST = 200_000
"""Cells that are made up at most."""


class VarianceComponents(NamedTuple):
    """The variance of the difference between two systems in one cell, in the square of its unit.

    A cell is one question about one document, asked once of both. `questions` is what other questions change in the
    difference, `documents` what other documents change, and `rest` what neither explains.
    """

    questions: float
    documents: float
    rest: float


class DetectableDifferences(NamedTuple):
    """The smallest difference that a share `POWER` of studies finds, for each target.

    NaN where nothing is known, infinite where no difference on the scale is found so often.
    """

    these_documents: float
    policies: float


def estimate_variance_components(question_document_differences: Floats) -> VarianceComponents:
    """Estimate the components from differences, questions x documents, NaN where there is none.

    By Henderson's method 1 (Searle, Casella and McCulloch, 1992, chapter 5), which is the two-way analysis of variance
    without interaction where no cell is missing, and has no bias where some are. Where each question is about one
    document alone `rest` is 0, for it can't be separated from the questions; where each document has one question
    alone, the documents' part is in it. An estimate may be below 0, where there is less variance than chance makes.
    """
    question, document = np.nonzero(~np.isnan(question_document_differences))
    value = question_document_differences[question, document]
    value, number = value - value.mean(), len(value)
    # Sums of squares of the cells, of the questions' means and of the documents': what each expects of each component.
    (question_count, questions_alike, question_squares), (document_count, documents_alike, document_squares) = (
        (len(sizes), float(sizes @ sizes) / number, float((sums**2 / sizes).sum()))
        for sizes, sums in (
            (np.bincount(renumbered), np.bincount(renumbered, value))
            for renumbered in (renumber_labels(question), renumber_labels(document))
        )
    )
    expected = [
        [number - questions_alike, number - documents_alike, number - 1],
        [number - questions_alike, question_count - documents_alike, question_count - 1],
        [document_count - questions_alike, number - documents_alike, document_count - 1],
    ]
    of_questions, of_documents, residual = map(
        float, np.linalg.lstsq(np.array(expected), [value @ value, question_squares, document_squares], rcond=1e-9)[0]
    )
    if document_count == number:
        of_documents, residual = 0.0, of_documents + residual
    if question_count == number:
        of_questions, residual = of_questions + residual, 0.0
    return VarianceComponents(of_questions, of_documents, residual)


def find_detectable_differences(
    question_count: int,
    document_count: int,
    variance_components: VarianceComponents,
    *,
    simulated_study_count: int | None = None,
    significance_level: float = 0.05,
    largest_difference: float = inf,
) -> DetectableDifferences:
    """Return the smallest differences that studies of this size find: each question about each document, once for both.

    They are found at p below the `significance_level`. `largest_difference` is the largest difference on the scale.
    """
    return find_detectable_differences_of_cells(
        np.repeat(np.arange(question_count), document_count),
        np.tile(np.arange(document_count), question_count),
        variance_components,
        simulated_study_count=simulated_study_count,
        significance_level=significance_level,
        largest_difference=largest_difference,
    )


def find_detectable_differences_of_cells(
    question_labels: Labels,
    document_labels: Labels,
    variance_components: VarianceComponents,
    *,
    weights: Floats | None = None,
    simulated_study_count: int | None = None,
    significance_level: float = 0.05,
    largest_difference: float = inf,
) -> DetectableDifferences:
    """Return the smallest differences that studies of these very cells find, each cell once for both systems.

    Labels are places from 0, one of a question and one of a document for each cell. `weights` are those of the cells in
    their question's mean, by default alike.
    """
    question_count, document_count = len(np.unique(question_labels)), len(np.unique(document_labels))
    if question_count < 2 or not document_count or max(variance_components) <= 0:  # noqa: PLR2004 - one question does not vary
        return DetectableDifferences(nan, nan)
    of_questions, of_documents, residual = (max(component, 0.0) for component in variance_components)
    random, cell_count = np.random.default_rng(0), len(question_labels)
    reaches = []
    wanted_study_count = simulated_study_count or max(STUDIES, _FEWEST // cell_count)
    for _ in range(max(10, min(wanted_study_count, _LARGEST // cell_count))):
        draws = random.normal(0, sqrt(of_questions), question_count)[question_labels] + random.normal(
            0, sqrt(residual), cell_count
        )
        values = draws + random.normal(0, sqrt(of_documents), document_count)[document_labels]
        estimate = estimate_mean(
            values, question_labels, document_labels, weights=weights, confidence=1 - significance_level
        )
        reaches.append((estimate.mean - estimate.low, estimate.mean - estimate.policies_low))
    weight = np.ones(cell_count) if weights is None else weights
    shares = weight / np.bincount(question_labels, weight)[question_labels] / question_count
    fixed = of_questions / question_count + residual * float(shares @ shares)
    document_shares = np.bincount(document_labels, shares)
    errors = sqrt(fixed), sqrt(fixed + of_documents * float(document_shares @ document_shares))
    sizes = (_find_detectable_size(reach, error) for reach, error in zip(np.array(reaches).T, errors, strict=True))
    return DetectableDifferences(*(inf if size > largest_difference else size for size in sizes))


def _find_detectable_size(half_widths: Floats, standard_error: float) -> float:
    """Find the size found with probability `POWER`: its mean, of this standard error, lies beyond half an interval.

    The mean of a normal sample does not depend on how its values vary, nor then on the interval's half.
    """
    if np.isnan(half_widths).any():
        return nan
    return find_root(
        lambda size: POWER - float(ndtr((size - half_widths) / standard_error).mean()),
        0.0,
        half_widths.max() + 5 * standard_error,
    )
