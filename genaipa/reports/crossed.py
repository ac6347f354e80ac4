"""How sure an average over questions and documents is: two confidence intervals, each for its own conclusion.

A cell is one question about one document. Cells of one question are alike, and so are cells of one document, so that
neither the cells nor the questions alone can stand for independent draws. Two things can be concluded from them:

- "for these documents": the questions are a sample of questions like them, the documents are exactly those studied.
- "for policies like these": the documents are a sample, too. Wider, because few documents say little about others.

Both are for the analysts who scored; where their part in the variance is given (`analysts.panel`), a third interval is
for analysts like these as well.

Both are closed formulas, chosen by the simulation in `docs/method/intervals.md` (`python -m benchmarks.coverage`):
Student's t for few questions or documents, one quantile for each of the two parts of the variance (Graybill and Wang,
1980, https://doi.org/10.1080/01621459.1980.10477565), and bent where questions are skewed or crowd at an end of the
scale (Willink, 2005, https://doi.org/10.1081/STA-200045794). A share has the interval of Clopper and Pearson, for the
number of answers that it is worth (Korn and Graubard, 1998, Survey Methodology 24(2), 193-201).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import cbrt, hypot, isnan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import betaincinv, ndtri, stdtr, stdtrit

from genaipa.words import number

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from genaipa.reports.analysts import Panel

    Floats = NDArray[np.float64]

    _Limits = tuple[float, float]
    """The ends of a scale."""
    _Ends = tuple[float, float, float]
    """The lower and the upper end of an interval, and the p value of 0."""

LEVEL = 0.95
SHARES = ((0.0, 1.0), (0.0, 100.0))
"""Scales of shares: each answer is one or not."""
LEAST_DOCUMENTS = 3
"""Below this many documents nothing is said about other policies."""
LEAST_KNOWN = 5
"""Below this many questions with answers that people scored, a judge's scores give no estimate."""
FEW_DOCUMENTS = 10
"""Below this many documents, what is said about other policies comes with a warning."""
_ENDLESS = (-np.inf, np.inf)
_TWO = 2
_MOST_BENT = 0.97
"""At 1 the transformation for skewness has no end on one side: a few questions would give intervals without end."""
_LEAST_LEFT = 0.5
"""The share of the documents' variance that is left to them at least."""
_ROUNDING = 1e-9
"""Standard errors below this share of the largest value are errors of rounding."""


@dataclass(frozen=True, slots=True)
class Crossed:
    """An average over questions with its intervals; NaN where there is none, and `why` says why.

    `questions` and `documents` are how many it rests on; `documents` is 0 where only means over documents are known.
    `low` and `high` hold for these documents, `policies_low` and `policies_high` for policies like these; `warning` is
    empty, or says that the latter rest on few documents, or on some that don't differ. `p` and `policies_p` are the
    two-sided p values of a mean of 0: below a level exactly where the interval of this level, before it is cut to the
    scale, excludes 0. `analysts_low` and `analysts_high` hold for policies and analysts like these.
    """

    mean: float
    questions: int
    documents: int
    low: float = np.nan
    high: float = np.nan
    policies_low: float = np.nan
    policies_high: float = np.nan
    p: float = np.nan
    policies_p: float = np.nan
    why: str = ""
    warning: str = ""
    analysts_low: float = np.nan
    analysts_high: float = np.nan


def crossed(
    values: Any,
    questions: Any,
    documents: Any,
    *,
    weights: Any = None,
    limits: _Limits | None = None,
    known: Any = None,
    panel: Panel | None = None,
    confidence: float = LEVEL,
) -> Crossed:
    """The average of cells (one question about one document each), and how sure it is.

    All are arrays or columns of one length. A question's mean is over its documents, and the average is over the
    questions, so that every question counts alike. Several values of one cell are averaged before; NaN are left out,
    and cells may lack. An empty document is a value that is known as a mean over documents only, and is left out where
    its question has documents. With `weights` (positive), a question's mean is the weighted one of all its values.
    `limits` are the ends of the scale, which no interval leaves; the ends `SHARES` make it a share, which has intervals
    also where all questions are alike, and no p values. Where some values are a judge's estimates, `known` says of each
    value whether people scored an answer to its question: only those questions say how far the judge is off, there is
    no result below `LEAST_KNOWN` of them, and none is taken for a share. `panel` are the analysts who gave the values.
    `confidence` is that of the intervals; p values don't depend on it. The same cells give the same result, in whatever
    order they come.

    >>> found = crossed([60, 80, 70, 90, 50, 85], list("aabbcc"), list("xyxyxy"))
    >>> found.mean, found.questions, found.documents, found.why
    (72.5, 3, 2, '2 documents: below 3, nothing can be said for policies like these.')
    """
    cells = _cells(values, questions, documents, weights)
    if not cells.means.size:
        return Crossed(np.nan, 0, 0, why="No value.")
    scored = len(cells.means) if known is None else _known(values, questions, known)
    if scored < min(len(cells.means), LEAST_KNOWN):
        why = f"People scored answers to {scored} of {len(cells.means)} questions: below {LEAST_KNOWN}, no estimate."
        return Crossed(np.nan, len(cells.means), cells.documents, why=why)
    # Around one of them, so that values that are all equal give that value, exactly.
    centre = float(cells.means[0])
    around = cells.means - centre
    mean = centre + float(around.mean())
    if len(around) < _TWO:
        return Crossed(mean, 1, cells.documents, why="One question: too few for an interval.")
    by_question = replace(_part(around - around.mean()), n=min(scored, len(around)))
    limits = limits or _ENDLESS
    # Estimates lie beyond the ends of a share, too.
    share = limits in SHARES and (known is None or bool(np.all(known)))
    if not share and _all_same(by_question.variance, cells.means):
        why = f"All {len(around)} questions have the same value, which says nothing about how others differ."
        return Crossed(mean, len(around), cells.documents, why=why)
    these = _ends(mean, [by_question], limits, confidence, cells.means if share else None)
    why, also, warning, theirs = _refused(cells, share=share), (np.nan, np.nan, np.nan), "", (np.nan, np.nan, np.nan)
    if not why:
        of_documents, alike = _of_documents(cells)
        parts = [by_question, of_documents]
        wider = _ends(mean, parts, limits, confidence, cells if share else None)
        # What holds for other policies holds for these: never the narrower of the two.
        also = (min(these[0], wider[0]), max(these[1], wider[1]), max(these[2], wider[2]))
        if panel is not None and not share and not isnan(panel.variance):
            theirs = _interval(mean, [*parts, _Part(panel.number, panel.variance, 0.0)], limits, confidence)
            theirs = (min(also[0], theirs[0]), max(also[1], theirs[1]), np.nan)
        if alike:
            warning = " Documents differ no more than chance makes them."
        if cells.documents < FEW_DOCUMENTS:
            few = f"{cells.documents} documents: below {FEW_DOCUMENTS}, the interval for policies like these is rough."
            warning = few + warning
        warning = warning.strip()
    if known is not None:  # an estimate may lie a little beyond the scale, as its interval may
        mean = min(max(mean, limits[0]), limits[1])
    ends = (*these[:2], *also[:2], these[2], also[2])
    return Crossed(mean, len(around), cells.documents, *ends, why, warning, *theirs[:2])


def sampled(values: Any, limits: _Limits | None = None) -> tuple[float, float]:
    """The interval of the mean of values that are independent draws, such as one of each document.

    NaN below `LEAST_DOCUMENTS`, and where all are equal between the ends of the scale.
    """
    value = np.sort(np.asarray(values, dtype=np.float64))
    if len(value) < LEAST_DOCUMENTS:
        return np.nan, np.nan
    mean = float(value[0] + (value - value[0]).mean())
    part = _part(value - mean)
    limits = limits or _ENDLESS
    share = limits in SHARES
    if not share and _all_same(part.variance, value):
        return np.nan, np.nan
    return _ends(mean, [part], limits, LEVEL, value if share else None)[:2]


def apart(
    first: tuple[Any, Any], second: tuple[Any, Any], *, limits: _Limits | None = None, confidence: float = LEVEL
) -> Crossed:
    """The difference between the averages of two independent sets of (values, questions), the first minus the second.

    For sets that share their questions, give the differences to `crossed`. `questions` is the smaller number of them.
    Each side's questions vary by themselves; nothing is said for policies like these.
    """
    ours, theirs = (
        _cells(values, questions, [""] * len(questions), None).means for values, questions in (first, second)
    )
    least, why = min(len(ours), len(theirs)), "Without pairs nothing can be said for policies like these."
    if not least:
        return Crossed(np.nan, 0, 0, why="No value on one side.")
    mean = float(ours.mean() - theirs.mean())
    if least < _TWO:
        return Crossed(mean, least, 0, why="One question: too few for an interval.")
    parts = [_part(ours - ours.mean()), _part(theirs.mean() - theirs)]
    if _all_same(sum(part.variance for part in parts), np.append(ours, theirs)):
        return Crossed(mean, least, 0, why="All questions of a side have the same value.")
    low, high, p = _interval(mean, parts, limits or _ENDLESS, confidence)
    return Crossed(mean, least, 0, low, high, p=p, why=why)


# -- cells --


@dataclass(frozen=True, slots=True)
class _Cells:
    """The cells that have a document: value, weight, place of question and of document; and the questions' means.

    All weights of a question add up to 1; of all cells with a document, to `known`.
    """

    value: Floats
    weight: Floats
    question: NDArray[np.int64]
    document: NDArray[np.int64]
    means: Floats
    known: float
    documents: int


def _cells(values: Any, questions: Any, documents: Any, weights: Any) -> _Cells:
    value = np.asarray(values, dtype=np.float64)
    weight = np.ones(len(value)) if weights is None else np.asarray(weights, dtype=np.float64)
    there = ~np.isnan(value)
    (row, names), (column, about) = _places(questions, there), _places(documents, there)
    # In one order, because sums of floating-point numbers depend on it.
    order = np.lexsort((weight[there], value[there], column, row))
    value, weight, row, column = value[there][order], weight[there][order], row[order], column[order]
    first = np.flatnonzero(np.diff(row * (len(about) + 1) + column, prepend=-1))
    value, weight = _averaged(value, weight, first)
    row, column = row[first], column[first]
    single = about[column] != ""
    if weights is None:
        # A mean over documents is no further document.
        used = single | (np.bincount(row, single, minlength=len(names)) == 0)[row]
        value, weight, row, column, single = value[used], np.ones(used.sum()), row[used], column[used], single[used]
    means, total = _averaged(value, weight, np.flatnonzero(np.diff(row, prepend=-1)))
    weight = (weight / total[row])[single]
    found, at = np.unique(column[single], return_inverse=True)
    return _Cells(value[single], weight, row[single], at, means, float(weight.sum()), len(found))


def _known(values: Any, questions: Any, known: Any) -> int:
    """The number of questions that people scored an answer to."""
    here = np.asarray(known, dtype=bool) & ~np.isnan(np.asarray(values, dtype=np.float64))
    return len(pd.unique(np.asarray(questions, dtype=object)[here]))


def _averaged(value: Floats, weight: Floats, first: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """The weighted mean of each group, and its weight; `first` are the places where the groups begin."""
    if not len(first):
        return value, weight
    total = np.add.reduceat(weight, first)
    # Around the first of them, so that values that are all equal have that mean, exactly.
    centre = np.repeat(value[first], np.diff(np.append(first, len(value))))
    return value[first] + np.add.reduceat(weight * (value - centre), first) / total, total


def _places(given: Any, there: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Each label's place among the different ones, and these as texts, sorted whatever the type of the column."""
    column = given if isinstance(given, pd.Series | pd.Index) else pd.Index(list(given), dtype=object)
    labels: Any = column.array
    if isinstance(labels, pd.Categorical):  # numbered already
        present, codes = np.unique(labels.codes[there], return_inverse=True)
        different = labels.categories.take(present)
    else:
        codes, different = labels[there].factorize()
    names = np.array([str(name) for name in different], dtype=object)
    order = np.argsort(names, kind="stable")
    return np.argsort(order)[codes], names[order]


def _refused(cells: _Cells, *, share: bool) -> str:
    """Why nothing is said for policies like these; or nothing."""
    if not cells.documents:
        return "Only means over documents are known: nothing can be said for policies like these."
    if cells.documents < LEAST_DOCUMENTS:
        known = number(cells.documents, "document")
        return f"{known}: below {LEAST_DOCUMENTS}, nothing can be said for policies like these."
    if not share and _alike(cells) < _TWO:  # a share counts those that are sure to be independent
        return (
            f"{cells.documents} documents, but one makes up most of the average: nothing can be said for policies "
            "like these."
        )
    if cells.known * _TWO < len(cells.means):
        return (
            f"Of {len(cells.means)} questions most is known by means over documents only: nothing can be said for "
            "policies like these."
        )
    return ""


def _alike(cells: _Cells) -> float:
    """The number of documents, all alike in weight, that would tell as much of others as these."""
    shares = np.bincount(cells.document, cells.weight, minlength=cells.documents) / cells.known
    return 1 / float((shares**2).sum())


# -- intervals --


def _all_same(variance: float, values: Floats) -> bool:
    """Whether the variance of the mean of these is an error of rounding."""
    return sqrt(variance) <= _ROUNDING * max(float(np.abs(values).max()), 1e-300)


@dataclass(frozen=True, slots=True)
class _Part:
    """The part of questions, or documents, in the mean's variance and third cumulant.

    `n` is their number, or, where they weigh unequally, that of as many alike (Kish, 1965).
    """

    n: float
    variance: float
    third: float

    def quantile(self, probability: float) -> float:
        """Student's, a little wider for the few that a skewed sample misleads."""
        return float(stdtrit(self.n - 1, probability)) * (1 + 1 / (self.n * (self.n - 1)))


def _part(deviations: Floats) -> _Part:
    """Of n independent deviations from their mean."""
    n = len(deviations)
    variance = float((deviations**2).sum()) / (n * (n - 1))
    third = float((deviations**3).sum()) / (n * (n - 1) * (n - 2)) if n > _TWO else 0.0
    return _Part(n, variance, third)


def _of_documents(cells: _Cells) -> tuple[_Part, bool]:
    """Return the documents' part in the variance of the mean, beyond the questions' part.

    Beside it, whether the documents differ no more than chance makes them.
    """
    share = cells.weight / cells.known
    apart = cells.value - float((share * cells.value).sum())
    sums = np.bincount(cells.document, share * apart, minlength=cells.documents).astype(np.float64)
    part = _part(sums * cells.documents)
    # What is left of cells once questions and documents are taken out is in both parts. It is taken out of one, but
    # for a document's share, and never more than half of what documents vary: by chance a few documents may be so much
    # alike that nothing was left, and of several systems one pair would seem to differ (docs/method/intervals.md).
    both = float((share**2).sum()) * _residual(cells) * (1 - 1 / cells.documents)
    # Documents of which more was scored say less of others than so many alike would, and vary more than it seems.
    each = np.bincount(cells.document, share, minlength=cells.documents)
    n = _alike(cells)
    seen = float((each**2 * (1 - 2 * each + 1 / n)).sum()) * cells.documents / (cells.documents - 1)
    variance = max(part.variance - both, part.variance * _LEAST_LEFT) / n / seen
    # So few have no skewness that could be told from chance.
    return _Part(n, variance, 0.0), part.variance <= both


def _residual(cells: _Cells) -> float:
    """The mean square of what questions and documents don't explain together (two-way analysis of variance)."""
    _, row = np.unique(cells.question, return_inverse=True)
    each = np.bincount(row)
    own = cells.value - (np.bincount(row, cells.value) / each)[row]
    asked = np.zeros((len(each), cells.documents))
    asked[row, cells.document] = 1.0
    within = np.diag(asked.sum(axis=0)) - asked.T @ (asked / each[:, None])
    sums = np.bincount(cells.document, own, minlength=cells.documents)
    effects, _, rank, _ = np.linalg.lstsq(within, sums, rcond=1e-9)
    free = len(own) - len(each) - int(rank)
    return max(float((own**2).sum() - effects @ sums), 0.0) / free if free > 0 else 0.0


def _half(parts: list[_Part], probability: float) -> float:
    """Half the interval of a symmetric mean; `probability` is that of an end."""
    # Not as a sum of squares: the quantile of two questions may be as large as a number can be.
    return hypot(*(part.quantile(probability) * sqrt(part.variance) for part in parts if part.variance))


def _ends(mean: float, parts: list[_Part], limits: _Limits, confidence: float, drawn: Floats | _Cells | None) -> _Ends:
    """Return the interval of a share, of which these were `drawn`; without them that of any other mean."""
    if drawn is None:
        return _interval(mean, parts, limits, confidence)
    return _of_share(mean, parts, limits, confidence, drawn)


def _interval(mean: float, parts: list[_Part], limits: _Limits, confidence: float) -> _Ends:
    parts = [part for part in parts if part.variance]
    error = sqrt(sum(part.variance for part in parts))

    def half(probability: float) -> float:
        """`_half` in standard errors."""
        return _half(parts, probability) / error

    # Alike at every confidence, so that p belongs to the intervals of all of them.
    most = _MOST_BENT / (6 * half((1 - LEVEL) / 2))
    reach = half((1 - confidence) / 2)
    skew = min(max(sum(part.third for part in parts) / (6 * error**3), -most), most)
    low, high = mean - _bent(reach, skew) * error, mean - _bent(-reach, skew) * error
    low, high = (min(max(end, limits[0]), limits[1]) for end in (low, high))
    return low, high, _p(abs(_unbent(mean / error, skew)), half, parts[0] if len(parts) == 1 else None)


def _of_share(mean: float, parts: list[_Part], limits: _Limits, confidence: float, drawn: Floats | _Cells) -> _Ends:
    """The interval of a share: that of Clopper and Pearson for as many single answers as would be as sure as these.

    How many follows from the variance (Korn and Graubard, 1998), if it is known. As long as fewer than
    `LEAST_DOCUMENTS` of the questions, or documents, are not at the same end as the others, nothing shows how they
    differ, and they are no more than were `drawn` independently.
    """
    n, others = _drawn(drawn, limits)
    # Rounded, because what is at an end may be a hair beside it.
    share, tail = round(mean / limits[1], 12), (1 - confidence) / 2
    half = _half(parts, tail) / limits[1]
    if half > _ROUNDING:
        known = share * (1 - share) * (float(ndtri(tail)) / half) ** 2
        n = known if others >= LEAST_DOCUMENTS else min(n, known)
    low = float(betaincinv(share * n, n - share * n + 1, tail)) if share > 0 else 0.0
    high = float(betaincinv(share * n + 1, n - share * n, 1 - tail)) if share < 1 else 1.0
    return low * limits[1], high * limits[1], np.nan


def _drawn(drawn: Floats | _Cells, limits: _Limits) -> tuple[float, int]:
    """The number of independent draws, and of questions (or documents) that are not wholly at the usual end."""
    if isinstance(drawn, _Cells):
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_bipartite_matching

        # Only cells that share neither a question nor a document are independent of each other.
        places = drawn.question.astype(np.int32), drawn.document.astype(np.int32)  # all that SciPy before 1.15 matches
        pairs = csr_array((np.ones(len(drawn.value)), places))
        n = int((maximum_bipartite_matching(pairs) >= 0).sum())
        apart = [len(np.unique(drawn.document[~np.isclose(drawn.value, end)])) for end in limits]
    else:
        n, apart = len(drawn), [int((~np.isclose(drawn, end)).sum()) for end in limits]
    return n, min(apart)


def _bent(reach: float, skew: float) -> float:
    """Willink's transformation of a t quantile; `skew` is a sixth of the mean's skewness."""
    if abs(skew) < _ROUNDING:
        return reach
    return (cbrt(1 + 6 * skew * (reach - skew)) - 1) / (2 * skew)


def _unbent(reach: float, skew: float) -> float:
    """The inverse of `_bent`."""
    return reach + skew + 2 * skew * reach**2 + 4 / 3 * skew**2 * reach**3


def _p(reach: float, half: Any, only: _Part | None) -> float:
    """Twice the probability of an end whose interval reaches so far."""
    if only is not None:
        return 2 * float(stdtr(only.n - 1, -reach / (1 + 1 / (only.n * (only.n - 1)))))
    least = 1e-100  # Below it, the quantile is not to be had for all degrees of freedom.
    if half(least) <= reach:
        return 0.0
    if reach == 0:
        return 1.0
    return 2 * float(10.0 ** root(lambda power: half(10.0**power) - reach, -100.0, np.log10(0.5)))


def root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Find where a function that falls from `low` to `high` is 0, to the last digit, by halving.

    `scipy.optimize` is faster at it, and takes a second to import.
    """
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return float(middle)
