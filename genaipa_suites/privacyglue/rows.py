"""The seven tasks of PrivacyGLUE, their fourteen rows (two metrics of each), and figures over rows and repetitions.

The paper's encoders are beside them as printed (Tables A3 and 3). Its means are over 14 rows; over fewer rows they are
another figure, named so.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from genaipa.files.strict_yaml import read_yaml
from genaipa.words import some

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


class Row(NamedTuple):
    """A row of Table A3: a task by its name in the official repository, and one of its two metrics."""

    task: str
    metric: str

    @property
    def name(self) -> str:
        """`task/metric`, as data files have it."""
        return f"{self.task}/{self.metric}"

    @property
    def heading(self) -> str:
        """The row's words in a table."""
        return f"{BY_NAME[self.task].title} {METRICS[self.metric]}"


@dataclass(frozen=True)
class GlueTask:
    """A task: the suite that it is of, and the two measures of that suite which are its metrics, in their order.

    `scale` is what the official files multiply its figures by: 100 for the task on questions, 1 for all others.
    `layers` are the sub-tasks of a tagger, whose figures are averaged with equal weights.
    """

    name: str
    title: str
    suite: str
    metrics: tuple[str, str]
    measures: tuple[str, str]
    scale: int = 1
    layers: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[Row, Row]:
        """Its rows."""
        return Row(self.name, self.metrics[0]), Row(self.name, self.metrics[1])


_F1S = ("macro_f1", "micro_f1")
METRICS = {"macro_f1": "macro F1", "micro_f1": "micro F1", "sample_f1": "F1", "exact_match": "EM"}
TASKS = (
    GlueTask("opp_115", "OPP-115", "opp115", _F1S, _F1S),
    # One class in each layer: macro and micro are the same figure.
    GlueTask(
        *("piextract", "PI-Extract", "piextract", _F1S, ("f1_layers", "f1_layers")),
        layers=("COLLECT", "NOT_COLLECT", "NOT_SHARE", "SHARE"),
    ),
    GlueTask("policy_detection", "Policy-Detection", "policy-detection", _F1S, _F1S),
    GlueTask("policy_ie_a", "PolicyIE-A", "policyie", _F1S, ("intent_f1_macro", "intent_accuracy")),
    GlueTask(
        "policy_ie_b",
        "PolicyIE-B",
        "policyie",
        _F1S,
        ("slot_f1_macro_privacyglue", "slot_f1_micro_privacyglue"),
        layers=("type-I", "type-II"),
    ),
    GlueTask("policy_qa", "PolicyQA", "policyqa", ("sample_f1", "exact_match"), ("f1_squad", "em"), scale=100),
    GlueTask("privacy_qa", "PrivacyQA", "privacyqa", _F1S, ("any_relevant_macro_f1", "any_relevant_micro_f1")),
)
"""In the order of Table A3."""
BY_NAME = {task.name: task for task in TASKS}
ROWS: tuple[Row, ...] = tuple(row for task in TASKS for row in task.rows)

LEVELS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
"""Levels of significance and their stars (paper, Figure 3)."""
_MOST_WAYS = 20_000
"""Ways to deal the values out that are tried one by one: all of eight against eight, and some more."""
_NAMED = 3
"""Rows that a note names."""


@dataclass(frozen=True)
class Means:
    """Arithmetic, geometric and harmonic mean over these rows, in the unit of the values; NaN where not defined.

    `note` says in a sentence why one is not defined; empty where all are.
    """

    rows: tuple[Row, ...]
    arithmetic: float
    geometric: float
    harmonic: float
    note: str = ""

    @property
    def whole(self) -> bool:
        """Whether these are the paper's: over all 14 rows."""
        return set(self.rows) == set(ROWS)

    @property
    def name(self) -> str:
        """The figure's name: only that over all rows is PrivacyGLUE's."""
        return "PrivacyGLUE (14 rows)" if self.whole else f"mean of {len(self.rows)} of the 14 rows"


def means(values: Mapping[Row, float]) -> Means:
    """The means of a system's rows, all of them or the part that is there (paper, Table 3).

    A zero leaves no geometric and no harmonic mean: both would be 0, whatever the other rows are. NaN is no value.
    """
    there = {row: values[row] for row in ROWS if row in values and not math.isnan(values[row])}
    figures = list(there.values())
    if not figures:
        return Means((), math.nan, math.nan, math.nan, "No row is there.")
    arithmetic = math.fsum(figures) / len(figures)
    zeros = [row.heading for row, value in there.items() if value <= 0]
    if zeros:
        are = "is" if len(zeros) == 1 else "are"
        note = f"Geometric and harmonic mean are not defined: {some(zeros, _NAMED)} {are} 0."
        return Means(tuple(there), arithmetic, math.nan, math.nan, note)
    return Means(tuple(there), arithmetic, statistics.geometric_mean(figures), statistics.harmonic_mean(figures))


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over `number` repetitions: the population's, as in the paper, and the sample's.

    The sample's is NaN for a single repetition.
    """

    mean: float
    population: float
    sample: float
    number: int


def spread(samples: Sequence[float]) -> Spread:
    """Mean and spread of one row over repetitions; NaN over none, or where one is not defined (F1 of nothing)."""
    if not samples or any(map(math.isnan, samples)):
        return Spread(math.nan, math.nan, math.nan, len(samples))
    sample = statistics.stdev(samples) if len(samples) > 1 else math.nan
    return Spread(statistics.fmean(samples), statistics.pstdev(samples), sample, len(samples))


@dataclass(frozen=True)
class Beaten:
    """The one-sided Mann-Whitney test of one row: whether `system` is better than `other`, over repetitions.

    `smallest` is the smallest p that these repetitions can give at all. `meaningless` says why p says nothing.
    """

    row: Row
    system: str
    other: str
    p: float
    smallest: float
    meaningless: str = ""


def smallest_p(number: int, others: int) -> float:
    """The smallest p of the one-sided Mann-Whitney test with N repetitions per side: all of one side above."""
    return _p(range(others, others + number), range(others))


def beaten(row: Row, system: str, samples: Sequence[float], other: str, others: Sequence[float]) -> Beaten:
    """Test whether the system's repetitions are greater than the other's, with no correction for many tests."""
    smallest = smallest_p(len(samples), len(others))
    single = min(len(samples), len(others)) < 2  # noqa: PLR2004 - a pair
    tied = len(set(samples)) == 1 or len(set(others)) == 1
    why = ""
    if single:
        why = "a single repetition has no spread"
    elif tied:
        why = "repetitions are all equal, as at temperature 0: they are one observation, counted several times"
    return Beaten(row, system, other, max(smallest, _p(samples, others)), smallest, why)


def stars(tests: Sequence[Beaten]) -> str:
    """Stars of a system in one row: the level at which every other is beaten; none if a test is meaningless."""
    if not tests or any(test.meaningless for test in tests):
        return ""
    worst = max(test.p for test in tests)
    return next((mark for level, mark in LEVELS if worst <= level), "")


def _p(samples: Sequence[float], others: Sequence[float]) -> float:
    """The p by scipy's choice of method; by all ways for few values with ties, where it is not exact."""
    from scipy.stats import PermutationMethod, mannwhitneyu

    ways = math.comb(len(samples) + len(others), len(samples))
    tied = len({*samples, *others}) < len(samples) + len(others)
    method = PermutationMethod(n_resamples=ways) if tied and ways <= _MOST_WAYS else "auto"
    return float(mannwhitneyu(samples, others, alternative="greater", method=method).pvalue)


class Pair(IntEnum):
    """Category of an example: which of two systems are right; B, P, O and N in the paper."""

    BOTH = 0
    FIRST = 1
    SECOND = 2
    NEITHER = 3


def agreement(first: Any, second: Any) -> list[Pair]:
    """The category of each example: the most frequent over all pairs of repetitions, ties to the one seen first.

    `first` and `second` say which examples are right, repetitions by examples (booleans); pairs are seen with the first
    system's repetitions in the outer loop (paper, section 6.2).
    """
    import numpy as np

    one, two = np.atleast_2d(np.asarray(first, dtype=bool)), np.atleast_2d(np.asarray(second, dtype=bool))
    if one.shape[1] != two.shape[1]:
        msg = f"the systems have {one.shape[1]} and {two.shape[1]} examples"
        raise ValueError(msg)
    if not one.shape[1]:
        return []
    pairs = len(one) * len(two)
    rank = []
    for mine, theirs in ((one, two), (one, ~two), (~one, two), (~one, ~two)):
        seen = mine.argmax(axis=0) * len(two) + theirs.argmax(axis=0)
        rank.append(mine.sum(axis=0) * theirs.sum(axis=0) * (pairs + 1) - seen)
    return [Pair(int(place)) for place in np.stack(rank).argmax(axis=0)]


def shares(categories: Sequence[Pair]) -> dict[Pair, float]:
    """Share of examples of each category, from 0 to 1; NaN over none."""
    return {pair: categories.count(pair) / len(categories) if categories else math.nan for pair in Pair}


PUBLISHED = Path(__file__).with_name("published.yaml")


class Averages(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The three means over all 14 rows, as printed."""

    arithmetic: float
    geometric: float
    harmonic: float


class Encoder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An encoder's rows in percent: `task/metric` → mean and population SD over seeds, and their printed means.

    `model` is its name on the model hub, `kind` how it came to its figures.
    """

    system: str
    model: str
    source: str
    split: str
    kind: str
    values: dict[str, float]
    deviations: dict[str, float]
    means: Averages
    means_of_deviations: Averages

    @property
    def rows(self) -> dict[Row, float]:
        """Row → mean in percent."""
        return {row: self.values[row.name] for row in ROWS}

    def over(self, rows: Collection[Row]) -> Means:
        """Its means over these rows alone, so that it is compared with a system over what that system has."""
        return means({row: value for row, value in self.rows.items() if row in rows})


@cache
def encoders() -> tuple[Encoder, ...]:
    """The five encoders, in the paper's order."""
    return tuple(read_yaml(PUBLISHED, list[Encoder]))
