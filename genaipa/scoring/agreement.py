"""How far analysts agree: Krippendorff's alpha, percent agreement, and who scores more kindly than the others.

An answer counts here once two analysts have scored it. Scores of machines and of people are measured together only
if they are handed over together.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, compress
from operator import attrgetter
from typing import TYPE_CHECKING

from genaipa.scoring.rubric import METRICS, VALUES, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from genaipa.scoring.events import Event

    Floats = NDArray[np.float64]

CONFIDENCE = 0.95
RESAMPLES = 1000
_SCALE = sorted(VALUES)
"""Values in their order; a value's place here is its rank."""
_TWO = 2
"""How many scores can be compared."""


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha for ordinal values: 1 is perfect agreement, 0 what chance alone would give.

    `interval` is its confidence interval, by resampling the answers. What can't be had is None, and `reason` says why.
    """

    value: float | None
    interval: tuple[float, float] | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """How far analysts agree on one metric.

    `agreement` is the share of pairs of scores with equal values (0 to 1), and `difference` how far the two values of
    a pair are apart (0 to 2), both averaged over the answers; None where no answer has two scores.
    """

    alpha: Alpha
    agreement: float | None
    difference: float | None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two analysts on the answers that both have scored; `difference` is averaged over the five metrics.

    Their alphas come without an interval.
    """

    analysts: tuple[str, str]
    answers: int
    metrics: dict[str, MetricAgreement]
    difference: float


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An answer whose scores differ: how far the highest and the lowest value of each metric are apart (0 to 2)."""

    answer: str
    spread: dict[str, float]


@dataclass(frozen=True, slots=True)
class Leaning:
    """How an analyst's values differ from the mean of the others' on the same answers: above 0 is more lenient.

    `lenient` is that difference by metric, `overall` over all five. `drift` is how much it grew from the earlier half
    of these answers to the later (a middle one counts as later), and `overall_drift` the same over all five; None
    where there are fewer than two answers.
    """

    analyst: str
    answers: int
    lenient: dict[str, float]
    overall: float
    drift: dict[str, float] | None
    overall_drift: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Everything about how far analysts agree.

    `answers` is how many have two scores or more. `pairs` and `disagreements` begin with those that differ most, and
    `leanings` with the most lenient.
    """

    answers: int
    metrics: dict[str, MetricAgreement]
    pairs: list[Pair]
    disagreements: list[Disagreement]
    leanings: list[Leaning]


def measure(scores: Iterable[Event], *, seed: int = 0, most: int = 20) -> Agreement:
    """How far the analysts of these standing scores agree; events other than independent scores are left out.

    `seed` decides the resampling, and `most` is how many of the answers that differ are listed.
    """
    table = _tabulate(scores)
    counts = _counts(table.ranks)
    return Agreement(
        answers=len(table.answers),
        metrics={metric: _on_metric(counts[:, i], [seed, i]) for i, metric in enumerate(METRICS)},
        pairs=_pairs(table),
        disagreements=_disagreements(table, counts, most),
        leanings=_leanings(table, counts),
    )


@dataclass(frozen=True, slots=True)
class _Table:
    """The scores as one block: answers with two scores or more, down; analysts, across; the metrics, behind.

    `ranks` holds each value's place in _SCALE, -1 where there is none, and `order` each score's place in time.
    """

    answers: list[str]
    analysts: list[str]
    ranks: NDArray[np.int8]
    order: NDArray[np.int64]


def _tabulate(scores: Iterable[Event]) -> _Table:
    import numpy as np

    own = (event for event in scores if event.kind == "score" and event.values is not None and event.independent)
    given = sorted(own, key=attrgetter("time"))
    answers, down = _numbered(map(attrgetter("answer"), given))
    analysts, across = _numbered(map(attrgetter("analyst"), given))
    values = map(attrgetter(*METRICS), map(attrgetter("values"), given))
    flat = np.fromiter(chain.from_iterable(values), np.float64, len(given) * len(METRICS))
    ranks = np.full((len(answers), len(analysts), len(METRICS)), -1, np.int8)
    ranks[down, across] = np.searchsorted(_SCALE, flat).reshape(-1, len(METRICS))
    order = np.zeros((len(answers), len(analysts)), np.int64)
    order[down, across] = np.arange(len(given))
    comparable = (ranks[..., 0] >= 0).sum(axis=1) >= _TWO
    return _Table(list(compress(answers, comparable)), analysts, ranks[comparable], order[comparable])


def _numbered(names: Iterable[str]) -> tuple[list[str], list[int]]:
    """The different names in order of appearance, and the place in it of each name given."""
    listed = list(names)
    places = {name: place for place, name in enumerate(dict.fromkeys(listed))}
    return list(places), [places[name] for name in listed]


def _counts(ranks: NDArray[np.int8]) -> NDArray[np.int64]:
    """How many analysts gave each value: answers, metrics, values."""
    import numpy as np

    return np.stack([(ranks == rank).sum(axis=1) for rank in range(len(_SCALE))], axis=-1)


def _apart() -> Floats:
    """How far any two values are apart."""
    import numpy as np

    return np.abs(np.subtract.outer(_SCALE, _SCALE))


# -- alpha --


def _coincidences(counts: NDArray[np.int64]) -> Floats:
    """Each answer's pairs of values given by different analysts, weighted so that each value counts once."""
    import numpy as np

    pairs = counts[..., :, None] * counts[..., None, :] - counts[..., None] * np.eye(len(_SCALE), dtype=np.int64)
    others = counts.sum(axis=-1) - 1
    weighted: Floats = pairs / others[..., None, None]
    return weighted


def _alphas(coincidences: Floats) -> Floats:
    """Alpha of each matrix of coincidences, with ordinal distances; nan where nothing varies.

    The ordinal distance of two values is that of their mean ranks among all values given, squared.
    """
    import numpy as np

    given = coincidences.sum(axis=-1)
    mean_rank = given.cumsum(axis=-1) - given / 2
    distances = (mean_rank[..., :, None] - mean_rank[..., None, :]) ** 2
    observed = (coincidences * distances).sum(axis=(-2, -1)) * (given.sum(axis=-1) - 1)
    expected = (given[..., :, None] * given[..., None, :] * distances).sum(axis=(-2, -1))
    alphas: Floats = 1 - np.divide(observed, expected, out=np.full(expected.shape, np.nan), where=expected > 0)
    return alphas


def _alpha(patterns: NDArray[np.int64], often: NDArray[np.int64], seed: list[int]) -> Alpha:
    """Alpha of answers with these counts of values, each pattern of counts so often, with its interval."""
    import numpy as np

    answers = int(often.sum())
    coincidences = _coincidences(patterns).reshape(len(patterns), -1)
    square = (-1, len(_SCALE), len(_SCALE))
    value = float(_alphas((often @ coincidences).reshape(square))[0])
    if np.isnan(value):
        return _undefined(int(patterns[0].argmax()))
    # A resample of the answers is one draw of how often each pattern occurs.
    resampled = np.random.default_rng(seed).multinomial(answers, often / answers, RESAMPLES)
    alphas = _alphas((resampled @ coincidences).reshape(square))
    defined = alphas[~np.isnan(alphas)]
    if answers < _TWO or len(defined) < CONFIDENCE * RESAMPLES:
        return Alpha(value, reason="too few answers, or too few that vary, for a confidence interval")
    low, high = np.quantile(defined, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Alpha(value, (float(low), float(high)))


def _undefined(rank: int) -> Alpha:
    return Alpha(None, reason=f"every value is {shown(_SCALE[rank])}, and alpha is not defined where nothing varies")


def _on_metric(counts: NDArray[np.int64], seed: list[int]) -> MetricAgreement:
    """All analysts together on one metric."""
    import numpy as np

    if not len(counts):
        return MetricAgreement(Alpha(None, reason="no answer has been scored by two analysts"), None, None)
    # Few patterns of counts stand for many answers. As one number each, they are found quickly.
    places = (counts.max() + 1) ** np.arange(len(_SCALE))
    _, where, often = np.unique(counts @ places, return_index=True, return_counts=True)
    patterns = counts[where]
    scores = patterns.sum(axis=1)
    shares = patterns[:, :, None] * patterns[:, None, :] / (scores * (scores - 1))[:, None, None]
    unequal = (shares * ~np.eye(len(_SCALE), dtype=bool)).sum(axis=(1, 2))
    difference = (shares * _apart()).sum(axis=(1, 2))
    return MetricAgreement(
        _alpha(patterns, often, seed),
        float(1 - np.average(unequal, weights=often)),
        float(np.average(difference, weights=often)),
    )


# -- analysts --


def _pairs(table: _Table) -> list[Pair]:
    """Every two analysts who have an answer in common, those who differ most first."""
    import numpy as np

    first, second = np.triu_indices(len(table.analysts), 1)
    crossed = np.stack([_crossed(table.ranks[..., i])[first, :, second] for i in range(len(METRICS))], axis=1)
    answers = crossed[:, 0].sum(axis=(-2, -1))
    met = np.flatnonzero(answers)
    crossed, answers = crossed[met], answers[met]
    alphas = _alphas(crossed + crossed.swapaxes(-2, -1))
    agreement = crossed.trace(axis1=-2, axis2=-1) / answers[:, None]
    difference = (crossed * _apart()).sum(axis=(-2, -1)) / answers[:, None]
    found = []
    for row, pair in enumerate(met):
        metrics = {}
        for i, metric in enumerate(METRICS):
            value = float(alphas[row, i])
            alpha = _undefined(int(crossed[row, i].argmax()) // len(_SCALE)) if np.isnan(value) else Alpha(value)
            metrics[metric] = MetricAgreement(alpha, float(agreement[row, i]), float(difference[row, i]))
        names = sorted((table.analysts[first[pair]], table.analysts[second[pair]]))
        found.append(Pair((names[0], names[1]), int(answers[row]), metrics, float(difference[row].mean())))
    return sorted(found, key=lambda pair: (-pair.difference, pair.analysts))


def _crossed(ranks: NDArray[np.int8]) -> Floats:
    """On how many answers one analyst gave one value and another another: analysts, values, analysts, values."""
    import numpy as np

    answers, analysts = ranks.shape
    # 32 bits count exactly up to 16 million answers, in half the time.
    given = (ranks[..., None] == np.arange(len(_SCALE))).reshape(answers, analysts * len(_SCALE)).astype(np.float32)
    crossed: NDArray[np.float32] = given.T @ given
    return crossed.astype(np.float64).reshape(analysts, len(_SCALE), analysts, len(_SCALE))


def _leanings(table: _Table, counts: NDArray[np.int64]) -> list[Leaning]:
    """Every analyst who has an answer in common with another, the most lenient first."""
    import numpy as np

    scale = np.array(_SCALE)
    sums, numbers = counts @ scale, counts.sum(axis=-1)
    found = []
    for column, analyst in enumerate(table.analysts):
        rows = np.flatnonzero(table.ranks[:, column, 0] >= 0)
        if len(rows):
            rows = rows[table.order[rows, column].argsort()]
            own = scale[table.ranks[rows, column]]
            others = (sums[rows] - own) / (numbers[rows] - 1)
            found.append(_leaning(analyst, own - others))
    return sorted(found, key=lambda leaning: (-leaning.overall, leaning.analyst))


def _leaning(analyst: str, differences: Floats) -> Leaning:
    """From an analyst's differences (answers, metrics) in the order of time."""
    half = len(differences) // 2
    drift = differences[half:].mean(axis=0) - differences[:half].mean(axis=0) if half else None
    lenient = differences.mean(axis=0)
    return Leaning(
        analyst=analyst,
        answers=len(differences),
        lenient=_by_metric(lenient),
        overall=float(lenient.mean()),
        drift=None if drift is None else _by_metric(drift),
        overall_drift=None if drift is None else float(drift.mean()),
    )


def _by_metric(values: Floats) -> dict[str, float]:
    return dict(zip(METRICS, values.tolist(), strict=True))


# -- answers --


def _disagreements(table: _Table, counts: NDArray[np.int64], most: int) -> list[Disagreement]:
    """The answers whose scores differ most, over all metrics; of equals, the one that was scored first."""
    import numpy as np

    given = counts > 0
    scale = np.array(_SCALE)
    spread = scale[len(_SCALE) - 1 - given[..., ::-1].argmax(axis=-1)] - scale[given.argmax(axis=-1)]
    total = spread.sum(axis=1)
    worst = np.argsort(-total, kind="stable")[:most]
    return [Disagreement(table.answers[row], _by_metric(spread[row])) for row in worst if total[row]]
