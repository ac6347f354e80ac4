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

from genaipa.stats.bisection import find_root
from genaipa.stats.intervals import estimate_mean

if TYPE_CHECKING:
    from genaipa.stats.arrays import Floats

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

    By a two-way analysis of variance without interaction (Searle, Casella and McCulloch, 1992, chapter 5); with one
    document or one question `rest` is 0, for it can't be separated from the other. An estimate may be below 0, where
    there is less variance than chance makes.
    """
    row, column = np.nonzero(~np.isnan(question_document_differences))
    value, shape = question_document_differences[row, column], question_document_differences.shape
    design = np.hstack([np.eye(shape[0])[row], np.eye(shape[1])[column]])
    effects, _, rank, _ = np.linalg.lstsq(design, value, rcond=None)
    free = len(value) - int(rank)
    residual = float(((value - design @ effects) ** 2).sum()) / free if free else 0.0
    components = []
    for places, level_effects in ((row, effects[: shape[0]]), (column, effects[shape[0] :])):
        level_counts = np.bincount(places, minlength=len(level_effects))
        has_values = level_counts > 0
        components.append(
            float(level_effects[has_values].var(ddof=1) - residual * (1 / level_counts[has_values]).mean())
            if has_values.sum() > 1
            else 0.0
        )
    return VarianceComponents(components[0], components[1], residual)


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
    if question_count < 2 or not document_count or max(variance_components) <= 0:  # noqa: PLR2004 - one question does not vary
        return DetectableDifferences(nan, nan)
    of_questions, of_documents, residual = (max(component, 0.0) for component in variance_components)
    random = np.random.default_rng(0)
    question_numbers, about = (
        np.repeat(np.arange(question_count), document_count),
        np.tile(np.arange(document_count), question_count),
    )
    reaches = []
    cells = len(question_numbers)
    wanted_study_count = simulated_study_count or max(STUDIES, _FEWEST // cells)
    for _ in range(max(10, min(wanted_study_count, _LARGEST // cells))):
        draws = random.normal(0, sqrt(of_questions), question_count)[question_numbers] + random.normal(
            0, sqrt(residual), len(question_numbers)
        )
        values = draws + random.normal(0, sqrt(of_documents), document_count)[about]
        estimate = estimate_mean(values, question_numbers, about, confidence=1 - significance_level)
        reaches.append((estimate.mean - estimate.low, estimate.mean - estimate.policies_low))
    fixed = of_questions / question_count + residual / len(question_numbers)
    errors = sqrt(fixed), sqrt(fixed + of_documents / document_count)
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
