"""PrivacyGLUE: seven tasks on privacy policies, as one view over the suites that they are made of.

Its fourteen rows (two metrics of each task), figures over rows and repetitions, and the task that asks the suites whose
data are here, one after another in one run. Each part is the suite itself, made of a spec of its own, so that its
items, prompts and replies are as in a run of that suite alone. One run's records differ in the coordinate `suite`.

The paper's encoders are beside its rows as printed (Tables A3 and 3). Its means are over 14 rows; over fewer rows they
are another figure, named so.
"""

from __future__ import annotations

import math
import statistics
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec

from genaipa.errors import UnknownNameError, UsageError
from genaipa.files.strict_yaml import read_yaml
from genaipa.plugins import load
from genaipa.runs.records import Digests
from genaipa.tasks.base import Call, Reading, Target, Task
from genaipa.words import some
from genaipa_suites.baseline import PREFIX
from genaipa_suites.material import PART
from genaipa_suites.plan import SAMPLE, SUITES, SuitePlan
from genaipa_suites.suite import MATERIAL, Suite

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Record, Status
    from genaipa.systems.base import Reply
    from genaipa.tasks.base import Dialogue
    from genaipa_suites.baseline import Baseline
    from genaipa_suites.data import SuiteSource


class GlueRow(NamedTuple):
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
    def rows(self) -> tuple[GlueRow, GlueRow]:
        """Its rows."""
        return GlueRow(self.name, self.metrics[0]), GlueRow(self.name, self.metrics[1])


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
ROWS: tuple[GlueRow, ...] = tuple(row for task in TASKS for row in task.rows)

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

    rows: tuple[GlueRow, ...]
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


def means(values: Mapping[GlueRow, float]) -> Means:
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

    row: GlueRow
    system: str
    other: str
    p: float
    smallest: float
    meaningless: str = ""


def smallest_p(number: int, others: int) -> float:
    """The smallest p of the one-sided Mann-Whitney test with N repetitions per side: all of one side above."""
    return _p(range(others, others + number), range(others))


def beaten(row: GlueRow, system: str, samples: Sequence[float], other: str, others: Sequence[float]) -> Beaten:
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


class PublishedEncoder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
    def rows(self) -> dict[GlueRow, float]:
        """Row → mean in percent."""
        return {row: self.values[row.name] for row in ROWS}

    def over(self, rows: Collection[GlueRow]) -> Means:
        """Its means over these rows alone, so that it is compared with a system over what that system has."""
        return means({row: value for row, value in self.rows.items() if row in rows})


@cache
def encoders() -> tuple[PublishedEncoder, ...]:
    """The five encoders, in the paper's order."""
    return tuple(read_yaml(PUBLISHED, list[PublishedEncoder]))


class PrivacyGLUE(Task):
    """Seven tasks of six suites on their test splits, or on the made-up samples of all.

    Asked are the suites whose data are here; a run goes on with the ones it began with.
    """

    title: ClassVar[str] = "PrivacyGLUE"
    about: ClassVar[str] = "Seven tasks of six suites, on their test splits; two figures of each task, and their means."
    citation: ClassVar[str] = "Shankar et al. 2023, PrivacyGLUE (Applied Sciences 13(6), 3701)."
    splits: ClassVar[tuple[str, ...]] = ("test",)
    joins: ClassVar[tuple[str, ...]] = tuple(dict.fromkeys(task.suite for task in TASKS))
    """The names of the suites."""
    # Data and baselines are the parts' own.
    data: ClassVar[tuple[SuiteSource, ...]] = ()
    baselines: ClassVar[tuple[Baseline, ...]] = ()

    @cached_property
    def plan(self) -> SuitePlan:
        """The part of the spec that all parts share; a limit is of each of them."""
        assert isinstance(self.spec.plan, SuitePlan), "it is a suite's run"
        return self.spec.plan

    @cached_property
    def parts(self) -> dict[str, Suite]:
        """Name → suite of every part that is asked; a UsageError where none can be."""
        if not self._found[0]:
            why = " ".join(f"{reason.rstrip('.')}." for reason in self._found[1].values())
            raise UsageError(
                f"no suite of PrivacyGLUE can be asked. {why} Made-up items of all are in the split sample."
            )
        return self._found[0]

    @property
    def missing(self) -> dict[str, str]:
        """Name → what to do, of every suite that is left out for want of its data, or since it has no such probe."""
        return self._found[1]

    @cached_property
    def _found(self) -> tuple[dict[str, Suite], dict[str, str]]:
        if self.plan.split not in (*self.splits, SAMPLE):
            raise UnknownNameError("split of privacyglue", self.plan.split, (*self.splits, SAMPLE))
        parts: dict[str, Suite] = {}
        missing: dict[str, str] = {}
        for name, kind in self._kinds().items():
            spec = msgspec.structs.replace(self.spec, task=name)
            if self.folder is not None:
                # As the run was begun, whatever data came since.
                if (self.folder.path / "suites" / name / MATERIAL).is_file():
                    parts[name] = kind(spec, self.workspace)
                    parts[name].folder = self.folder
                continue
            part = kind(spec, self.workspace)
            part.is_part = True
            try:
                _ = part.material
            except UsageError as error:
                if not self.plan.probe and _has_data(part):
                    raise
                missing[name] = str(error)
            else:
                parts[name] = part
        return parts, missing

    def _kinds(self) -> dict[str, type[Suite]]:
        """The suites whose baselines are asked; all, where other systems are."""
        kinds: dict[str, type[Suite]] = {name: load(SUITES[name]) for name in self.joins if name in SUITES}
        asked = {}
        for system in self.spec.systems:
            own = system.removeprefix(PREFIX) if system.startswith(PREFIX) else ""
            has = tuple(name for name, kind in kinds.items() if not own or own in [one.name for one in kind.baselines])
            if not has:
                known = dict.fromkeys(PREFIX + one.name for kind in kinds.values() for one in kind.baselines)
                raise UnknownNameError("baseline of privacyglue", system, known)
            asked[system] = has
        if len(set(asked.values())) > 1:
            system = min(asked, key=lambda name: len(asked[name]))
            raise UsageError(f"{system} is of {', '.join(asked[system])} alone; ask it in a run of its own.")
        return {name: kinds[name] for names in asked.values() for name in names}

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of all parts, and which are missing."""
        said = [note for part in self.parts.values() for note in part.notes]
        if self.plan.limit:
            said.append(f"PrivacyGLUE: {self.plan.limit} items of each of its {len(self.parts)} suites")
        said += [f"PrivacyGLUE: without {name}: {remedy}" for name, remedy in self.missing.items()]
        return tuple(said)

    @property
    def digests(self) -> Digests:
        """Digests of all parts."""
        return Digests({}, {}, {}, {}, task=_united(part.digests.task for part in self.parts.values()))

    @property
    def sources(self) -> dict[str, str]:
        """Sources of all parts."""
        return _united(dict(part.sources) for part in self.parts.values())

    @property
    def texts(self) -> dict[str, str]:
        """Long texts of all parts."""
        return _united(dict(part.texts) for part in self.parts.values())

    def planned(self) -> int:
        """The answers wanted of each system, over all parts."""
        return sum(part.planned() for part in self.parts.values())

    def dialogues(self, target: Target) -> Iterator[Dialogue]:
        """The dialogues of one part after another."""
        return chain.from_iterable(
            (_of_part(name, dialogue) for dialogue in part.dialogues(target)) for name, part in self.parts.items()
        )

    def sample(self, target: Target) -> tuple[Iterator[Dialogue], int]:
        """The samples of all parts, where each is the whole of it; else everything."""
        samples = {name: part.sample(target) for name, part in self.parts.items()}
        if any(times != 1 for _, times in samples.values()):
            return super().sample(target)
        return chain.from_iterable(
            (_of_part(name, dialogue) for dialogue in dialogues) for name, (dialogues, _) in samples.items()
        ), 1

    @contextmanager
    def keeping(self, folder: RunFolder) -> Iterator[Callable[[Record], None]]:
        """All parts are asked."""
        with ExitStack() as asked:
            for part in self.parts.values():
                asked.enter_context(part.keeping(folder))
            yield lambda _record: None

    def read_status(self, call: Call, reply: str, status: Status) -> Reading:
        """The reading of the call's part."""
        return self.parts[call.coordinates[PART]].read_status(call, reply, status)

    def flaw(self, call: Call, reply: Reply) -> str:
        """The flaw by the call's part."""
        return self.parts[call.coordinates[PART]].flaw(call, reply)


def _has_data(part: Suite) -> bool:
    """Whether the items of a part are here, so that it is something else that it lacks."""
    try:
        part.load(part.plan.split)
    except UsageError:
        return False
    return True


def _united(some: Any) -> dict[str, str]:
    return {name: text for one in some for name, text in one.items()}


def _of_part(name: str, dialogue: Dialogue) -> Dialogue:
    """A part's dialogue, its calls under the part's name."""
    try:
        step = next(dialogue)
        while True:
            if isinstance(step, tuple):
                said = yield tuple(_of_part(name, branch) for branch in step)
            else:
                said = yield replace(step, coordinates={PART: name, **step.coordinates})
            step = dialogue.send(said)
    except StopIteration:
        return
    finally:
        dialogue.close()
