"""Agreement between analysts by metric, and each analyst's severity.

An answer counts here once two analysts have scored it. Scores of machines and of people are measured together only
if they are handed over together. The measures themselves are in `stats.agreement`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from math import isnan, nan
from operator import attrgetter
from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from genaipa.scoring.rubric import format_signed_value
from genaipa.stats.agreement import (
    ScaleAgreement,
    measure_agreement,
    measure_agreement_of_rater_pairs,
    measure_rater_leniency_and_drift,
)
from genaipa.stats.reason import Reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from genaipa.scoring.events import Event
    from genaipa.scoring.rubric import Rubric

    Floats = NDArray[np.float64]

T = TypeVar("T")

_TWO = 2
"""Number of scores that can be compared."""


def explain_missing_alpha_or_empty(reason: Reason, commonest_value: float = nan) -> str:
    """Return why alpha, or its interval, is missing; `commonest_value` is the commonest one. Empty where nothing is."""
    undefined = "alpha is undefined when the values do not vary"
    words = {
        Reason.NONE: "",
        Reason.NO_VALUE: "no answer has scores from two analysts",
        Reason.NOTHING_VARIES: undefined
        if isnan(commonest_value)
        else f"every value is {format_signed_value(commonest_value)}, and {undefined}",
        Reason.FEW_UNITS: "too few answers, or too few with differing values, for a confidence interval",
    }
    return words[reason]


def alpha_ac2_and_reason_columns(agreement: ScaleAgreement) -> dict[str, object]:
    """Return the columns of tables of agreement."""
    return {
        **{name: getattr(agreement, name) for name in ("alpha", "low", "high", "ac2", "commonest")},
        "agreement": agreement.equal,
        "reason": explain_missing_alpha_or_empty(agreement.why, agreement.value),
    }


@dataclass(frozen=True, slots=True)
class AnalystPair:
    """Two analysts on the answers that both have scored; `difference` is averaged over the metrics.

    Their alphas come without an interval.
    """

    analysts: tuple[str, str]
    answers: int
    metrics: dict[str, ScaleAgreement]
    difference: float


@dataclass(frozen=True, slots=True)
class AnalystLeniency:
    """An analyst's mean difference from the others' values of the same answers: above 0 is more lenient.

    `lenient` is that difference by metric, `overall` over all metrics. `drift` is the growth of the latter from the
    earlier half of these answers to the later (a middle one counts as later); None for fewer than two answers.
    """

    analyst: str
    answers: int
    lenient: dict[str, float]
    overall: float
    drift: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of all analysts, and of each pair.

    `answers` is the number with two scores or more. `pairs` begin with the most different ones, and `leanings`
    with the most lenient.
    """

    answers: int
    metrics: dict[str, ScaleAgreement]
    pairs: list[AnalystPair]
    leanings: list[AnalystLeniency]


def measure_analyst_agreement(scores: Iterable[Event], rubric: Rubric) -> Agreement:
    """Measure the agreement between the analysts of these scores, leaving out all but independent scores."""
    table = _tabulate_comparable_independent_scores(scores, rubric)
    counts = table.count_analysts_by_answer_metric_value()
    return Agreement(
        answers=len(table.answers),
        metrics=_measure_agreement_by_metric(table, counts),
        pairs=_compare_analyst_pairs(table),
        leanings=_measure_analyst_leniency(table, counts),
    )


def measure_agreement_by_group(
    scores: Iterable[Event], rubric: Rubric, group_by_answer: Mapping[str, str]
) -> dict[str, tuple[int, dict[str, ScaleAgreement]]]:
    """Group → its answers with two scores or more, and the agreement on them by metric; as of all scores.

    `group_by_answer` gives each answer's group; answers without one are left out.
    """
    table = _tabulate_comparable_independent_scores(scores, rubric)
    counts, group = (
        table.count_analysts_by_answer_metric_value(),
        np.array([group_by_answer.get(answer, "") for answer in table.answers], dtype=np.str_),
    )
    by_group = {str(name): counts[group == name] for name in np.unique(group) if name}
    return {name: (len(rows), _measure_agreement_by_metric(table, rows)) for name, rows in by_group.items()}


def _measure_agreement_by_metric(table: _ValueTable, value_counts: NDArray[np.int64]) -> dict[str, ScaleAgreement]:
    return {metric: measure_agreement(value_counts[:, i], table.scale) for i, metric in enumerate(table.metrics)}


@dataclass(frozen=True, slots=True)
class _ValueTable:
    """The scores as one block: answers with two scores or more, down; analysts, across; the metrics, behind.

    `scale` has the values in their order. `ranks` holds each value's place in it, -1 where there is none, and `order`
    each score's place in time.
    """

    metrics: tuple[str, ...]
    scale: Floats
    answers: list[str]
    analysts: list[str]
    ranks: NDArray[np.int8]
    order: NDArray[np.int64]

    def count_analysts_by_answer_metric_value(self) -> NDArray[np.int64]:
        """Return the number of analysts who gave each value: answers, metrics, values."""
        return np.stack([(self.ranks == rank).sum(axis=1) for rank in range(len(self.scale))], axis=-1)


def _tabulate_comparable_independent_scores(scores: Iterable[Event], rubric: Rubric) -> _ValueTable:
    independent = (
        event for event in scores if event.kind == "score" and event.values is not None and event.independent
    )
    ordered_scores = sorted(independent, key=attrgetter("time"))
    answers, down = _list_distinct_items_and_indices(map(attrgetter("answer"), ordered_scores))
    analysts, across = _list_distinct_items_and_indices(map(attrgetter("analyst"), ordered_scores))
    metrics, scale = tuple(rubric.metrics), np.array(sorted(rubric.values))
    # A few hundred different values at most, shared between scores: looked up once, then only pointed to.
    different = {id(values): values for values in map(attrgetter("values"), ordered_scores)}
    _, places = _list_distinct_items_and_indices(map(id, map(attrgetter("values"), ordered_scores)))
    flat = np.array([values[metric] for values in different.values() for metric in metrics])
    ranks = np.full((len(answers), len(analysts), len(metrics)), -1, np.int8)
    ranks[down, across] = np.searchsorted(scale, flat).reshape(-1, len(metrics))[places]
    order = np.zeros((len(answers), len(analysts)), np.int64)
    order[down, across] = np.arange(len(ordered_scores))
    comparable = (ranks[..., 0] >= 0).sum(axis=1) >= _TWO
    return _ValueTable(
        metrics, scale, list(compress(answers, comparable)), analysts, ranks[comparable], order[comparable]
    )


def _list_distinct_items_and_indices(items: Iterable[T]) -> tuple[list[T], list[int]]:
    """Return the different items in order of appearance, and each item's index among them."""
    listed = list(items)
    indices = {name: index for index, name in enumerate(dict.fromkeys(listed))}
    return list(indices), [indices[name] for name in listed]


def _compare_analyst_pairs(table: _ValueTable) -> list[AnalystPair]:
    """Compare every two analysts who have an answer in common, those who differ most first."""
    by_metric = [measure_agreement_of_rater_pairs(ranks, table.scale) for ranks in np.moveaxis(table.ranks, -1, 0)]
    compared = []
    for pairs in zip(*by_metric, strict=True):
        names = sorted(table.analysts[rater] for rater in (pairs[0].first, pairs[0].second))
        agreements = dict(zip(table.metrics, (pair.agreement for pair in pairs), strict=True))
        difference = fmean(agreement.difference for agreement in agreements.values())
        compared.append(AnalystPair((names[0], names[1]), pairs[0].units, agreements, difference))
    return sorted(compared, key=lambda pair: (-pair.difference, pair.analysts))


def _measure_analyst_leniency(table: _ValueTable, value_counts: NDArray[np.int64]) -> list[AnalystLeniency]:
    """Measure the leniency of every analyst who has an answer in common with another, the most lenient first."""
    leanings = []
    for column, analyst in enumerate(table.analysts):
        rows = np.flatnonzero(table.ranks[:, column, 0] >= 0)
        if len(rows):
            rows = rows[table.order[rows, column].argsort()]
            leniency = measure_rater_leniency_and_drift(table.ranks[rows, column], value_counts[rows], table.scale)
            lenient = dict(zip(table.metrics, leniency.by_metric.tolist(), strict=True))
            drift = None if isnan(leniency.drift) else leniency.drift
            leanings.append(AnalystLeniency(analyst, len(rows), lenient, float(leniency.by_metric.mean()), drift))
    return sorted(leanings, key=lambda leaning: (-leaning.overall, leaning.analyst))
