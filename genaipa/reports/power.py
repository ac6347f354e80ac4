"""How large a difference between two systems must be for a study to find it: its power.

"Found" is what the verdict of `genaipa compare` on M_all finds, for these documents or for policies like these. That a
difference is found in 80 % of studies is known by making them: normal differences of known variance, each with the
intervals of `reports.crossed`, whose lower ends lie so far below the mean that a larger one would be found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import stdtrit

from genaipa.reports.crossed import LEAST_DOCUMENTS, LEVEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

POWER = 0.8
STUDIES = 1000
_LARGEST = 2_000_000
"""Cells that are made at most; where a study has many, fewer studies tell as much."""
_TWO = 2


class Components(NamedTuple):
    """The variance, in squared points of M_all*10, of the difference between two systems in one cell.

    A cell is one question about one document, asked once of both. `questions` is what other questions change in the
    difference, `documents` what other documents change, and `rest` what neither explains.
    """

    questions: float
    documents: float
    rest: float


PUBLISHED = Components(questions=262.0, documents=49.0, rest=886.0)
"""Those of ChatGPT-4 and Bard in the GenAIPABench study: the means over its complete tables of M_all by document for
robustness, recall and summary, as `components` finds them (`tests/test_power.py`)."""


def components(values: Floats) -> Components:
    """Estimate the components from differences, questions x documents, NaN where there is none.

    By a two-way analysis of variance without interaction; with one document or one question `rest` is 0, for it can't
    be told from the other. An estimate may be below 0, where there is less variance than chance makes.
    """
    row, column = np.nonzero(~np.isnan(values))
    value, shape = values[row, column], values.shape
    design = np.hstack([np.eye(shape[0])[row], np.eye(shape[1])[column]])
    effects, _, rank, _ = np.linalg.lstsq(design, value, rcond=None)
    free = len(value) - int(rank)
    rest = float(((value - design @ effects) ** 2).sum()) / free if free else 0.0
    found = []
    for places, own in ((row, effects[: shape[0]]), (column, effects[shape[0] :])):
        each = np.bincount(places, minlength=len(own))
        known = each > 0
        found.append(float(own[known].var(ddof=1) - rest * (1 / each[known]).mean()) if known.sum() > 1 else 0.0)
    return Components(found[0], found[1], rest)


class Detectable(NamedTuple):
    """The smallest difference, in points of M_all*10, that 80 % of studies find, for each target; NaN for none."""

    these_documents: float
    policies: float


def detectable(questions: int, documents: int, variance: Components = PUBLISHED) -> Detectable:
    """The smallest differences that studies of this size find: each question about each document, once for both."""
    if questions < _TWO or not documents or max(variance) <= 0:
        return Detectable(np.nan, np.nan)
    many = max(100, min(STUDIES, _LARGEST // (questions * documents)))
    random, spread = np.random.default_rng(0), np.sqrt(np.maximum(variance, 0.0))
    fixed = random.normal(0, spread[0], (many, questions, 1))
    fixed = fixed + random.normal(0, spread[2], (many, questions, documents))
    drawn = fixed + random.normal(0, spread[1], (many, 1, documents))
    # The documents' own differences are part of what is found for these documents.
    lowest = lower_ends(fixed)[0], lower_ends(drawn)[1]
    return Detectable(*(float(np.quantile(-low, POWER)) for low in lowest))


def lower_ends(cells: Floats) -> tuple[Floats, Floats]:
    """The lower ends of both intervals of `reports.crossed`, of many whole studies: studies x questions x documents."""
    many, _, documents = cells.shape
    mean = cells.mean(axis=(1, 2))
    by_question, by_document = (cells.mean(axis=axis) - mean[:, None] for axis in (2, 1))
    rest = cells - mean[:, None, None] - by_question[:, :, None] - by_document[:, None, :]
    free = (by_question.shape[1] - 1) * max(documents - 1, 1)
    parts = [_part(by_question)]
    low = mean - _reach(parts)
    if documents < LEAST_DOCUMENTS:
        return low, np.full(many, np.nan)
    number, variance, third = _part(by_document)
    left = np.maximum(variance - (rest**2).sum(axis=(1, 2)) / free / rest[0].size * (1 - 1 / documents), 0.0)
    parts.append((number, left, third * (left / variance) ** 1.5))
    return low, np.minimum(low, mean - _reach(parts))


Part = tuple[int, "Floats", "Floats"]


def _part(deviations: Floats) -> Part:
    """The number of deviations, and what they add to the variance and the third cumulant of their mean."""
    n = deviations.shape[1]
    third = (deviations**3).sum(axis=1) / (n * (n - 1) * (n - _TWO)) if n > _TWO else np.zeros(len(deviations))
    return n, (deviations**2).sum(axis=1) / (n * (n - 1)), third


def _reach(parts: list[Part]) -> Floats:
    """The distances from the means to the lower ends of their intervals."""
    error = np.sqrt(sum(variance for _, variance, _ in parts))
    skew = sum(third for *_, third in parts) / (6 * error**3)
    skew = np.where(np.abs(skew) < 1e-9, 1e-9, skew)  # noqa: PLR2004 - for the limit, which is no bend at all
    quantiles = [stdtrit(n - 1, (1 + LEVEL) / 2) * (1 + 1 / (n * (n - 1))) for n, *_ in parts]
    half = np.sqrt(sum(q**2 * variance for q, (_, variance, _) in zip(quantiles, parts, strict=True))) / error
    reach: Floats = error * (np.cbrt(1 + 6 * skew * (half - skew)) - 1) / (2 * skew)
    return reach
