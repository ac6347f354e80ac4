"""The power of a study: how large a difference between two systems must be for the study to find it.

To find a difference means that the verdict of `genaipa compare` on M_all tells the two apart, for these documents or
for policies like these. The share of studies that find one is that of made-up studies: normal differences of known
variance, each with the intervals of `reports.crossed`.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr

from genaipa.reports.crossed import crossed, root
from genaipa.words import number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

POWER = 0.8
STUDIES = 100
"""Studies that are made up; with them, `POWER` is met to about 0.03."""
_LARGEST = 200_000
"""Cells that are made up at most."""


class Components(NamedTuple):
    """The variance, in squared points of M_all*10, of the difference between two systems in one cell.

    A cell is one question about one document, asked once of both. `questions` is what other questions change in the
    difference, `documents` what other documents change, and `rest` what neither explains.
    """

    questions: float
    documents: float
    rest: float


PUBLISHED = Components(questions=262.0, documents=49.0, rest=886.0)
"""ChatGPT-4 and Bard in the GenAIPABench study: the means over its tables of M_all by document for robustness,
recall and summary, as `components` finds them."""


def components(values: Floats) -> Components:
    """Estimate the components from differences, questions x documents, NaN where there is none.

    By a two-way analysis of variance without interaction; with one document or one question `rest` is 0, for it can't
    be separated from the other. An estimate may be below 0, where there is less variance than chance makes.
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

    def in_words(self, questions: int, documents: int = 0) -> str:
        """The beginning of a sentence, with these numbers (0 for documents that are not known); empty for no size."""
        sizes = [
            f"of {size:.1f} {target}"
            for size, target in (
                (self.policies, "for policies like these"),
                (self.these_documents, "for these documents"),
            )
            if size == size  # noqa: PLR0124 - only NaN differs from itself
        ]
        if not sizes:
            return ""
        about = f" and {number(documents, 'document')}" if documents else ""
        return (
            f"Power: with these {questions} questions{about} a difference in M_all*10 {' and one '.join(sizes)} "
            f"would be found in {POWER:.0%} of studies"
        )


def detectable(
    questions: int, documents: int, variance: Components = PUBLISHED, *, studies: int = STUDIES
) -> Detectable:
    """The smallest differences that studies of this size find: each question about each document, once for both."""
    if questions < 2 or not documents or max(variance) <= 0:  # noqa: PLR2004 - one question does not vary
        return Detectable(np.nan, np.nan)
    of_questions, of_documents, rest = (max(component, 0.0) for component in variance)
    random = np.random.default_rng(0)
    asked, about = np.repeat(np.arange(questions), documents), np.tile(np.arange(documents), questions)
    reaches = []
    for _ in range(max(10, min(studies, _LARGEST // len(asked)))):
        drawn = random.normal(0, sqrt(of_questions), questions)[asked] + random.normal(0, sqrt(rest), len(asked))
        found = crossed(drawn + random.normal(0, sqrt(of_documents), documents)[about], asked, about)
        reaches.append((found.mean - found.low, found.mean - found.policies_low))
    here = of_questions / questions + rest / len(asked)
    errors = sqrt(here), sqrt(here + of_documents / documents)
    return Detectable(*(_found(reach, error) for reach, error in zip(np.array(reaches).T, errors, strict=True)))


def _found(reach: Floats, error: float) -> float:
    """The difference found with probability `POWER`: its mean, of this standard error, lies beyond half an interval.

    The mean of a normal sample does not depend on how its values vary, nor then on the interval's half.
    """
    if np.isnan(reach).any():
        return float("nan")
    return root(lambda size: POWER - ndtr((size - reach) / error).mean(), 0.0, reach.max() + 5 * error)
