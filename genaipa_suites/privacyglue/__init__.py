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
from genaipa.plugins import load_object
from genaipa.runs.records import Digests
from genaipa.tasks.base import Call, PredictionAndScore, Target, Task
from genaipa.words import join_some
from genaipa_suites.baseline import PREFIX
from genaipa_suites.material import PART
from genaipa_suites.plan import SAMPLE, SUITES, SuiteOptions
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
_MAX_ARRANGEMENTS = 20_000
"""Ways to deal the values out that are tried one by one: all of eight against eight, and some more."""
_NAMED = 3
"""Rows that a note names."""


@dataclass(frozen=True)
class RowMeans:
    """Arithmetic, geometric and harmonic mean over these rows, in the unit of the values; NaN where not defined.

    `note` says in a sentence why one is not defined; empty where all are.
    """

    rows: tuple[GlueRow, ...]
    arithmetic: float
    geometric: float
    harmonic: float
    note: str = ""

    @property
    def covers_all_rows(self) -> bool:
        """Whether they are over all 14 rows, as the paper's."""
        return set(self.rows) == set(ROWS)

    @property
    def name(self) -> str:
        """The figure's name; only a mean over all rows is PrivacyGLUE's."""
        return "PrivacyGLUE (14 rows)" if self.covers_all_rows else f"mean of {len(self.rows)} of the 14 rows"


def compute_means(values_by_row: Mapping[GlueRow, float]) -> RowMeans:
    """Return the means of a system's rows, all of them or those available (paper, Table 3).

    A zero leaves no geometric and no harmonic mean: both would be 0, whatever the other rows are. NaN is no value.
    """
    available = {row: values_by_row[row] for row in ROWS if row in values_by_row and not math.isnan(values_by_row[row])}
    figures = list(available.values())
    if not figures:
        return RowMeans((), math.nan, math.nan, math.nan, "There are no rows.")
    arithmetic = math.fsum(figures) / len(figures)
    zeros = [row.heading for row, value in available.items() if value <= 0]
    if zeros:
        are = "is" if len(zeros) == 1 else "are"
        note = f"The geometric and harmonic means are not defined: {join_some(zeros, _NAMED)} {are} 0."
        return RowMeans(tuple(available), arithmetic, math.nan, math.nan, note)
    return RowMeans(tuple(available), arithmetic, statistics.geometric_mean(figures), statistics.harmonic_mean(figures))


@dataclass(frozen=True)
class MeanAndDeviations:
    """Mean and standard deviation over `number` repetitions: the population's, as in the paper, and the sample's.

    The sample's is NaN for a single repetition.
    """

    mean: float
    population: float
    sample: float
    number: int


def compute_mean_and_deviations(repetition_values: Sequence[float]) -> MeanAndDeviations:
    """Return mean and spread of one row over repetitions; NaN over none, or where one is undefined (F1 of nothing)."""
    if not repetition_values or any(map(math.isnan, repetition_values)):
        return MeanAndDeviations(math.nan, math.nan, math.nan, len(repetition_values))
    sample = statistics.stdev(repetition_values) if len(repetition_values) > 1 else math.nan
    return MeanAndDeviations(
        statistics.fmean(repetition_values), statistics.pstdev(repetition_values), sample, len(repetition_values)
    )


@dataclass(frozen=True)
class OneSidedRowTest:
    """The one-sided Mann-Whitney test of one row: whether `system` is better than `rival`, over repetitions.

    `smallest` is the smallest p that these repetitions can give at all. `meaningless` says why p says nothing.
    """

    row: GlueRow
    system: str
    rival: str
    p: float
    smallest: float
    meaningless: str = ""


def smallest_one_sided_mann_whitney_p(repetitions: int, rival_repetitions: int) -> float:
    """Return the smallest p of the one-sided Mann-Whitney test with N repetitions per side: all of one side above."""
    return _one_sided_mann_whitney_p(
        range(rival_repetitions, rival_repetitions + repetitions), range(rival_repetitions)
    )


def compare_systems_in_row(
    row: GlueRow, system: str, repetition_values: Sequence[float], rival: str, rival_repetition_values: Sequence[float]
) -> OneSidedRowTest:
    """Test whether the system's repetitions are greater than the other's, with no correction for many tests."""
    smallest = smallest_one_sided_mann_whitney_p(len(repetition_values), len(rival_repetition_values))
    single = min(len(repetition_values), len(rival_repetition_values)) < 2  # noqa: PLR2004 - a pair
    tied = len(set(repetition_values)) == 1 or len(set(rival_repetition_values)) == 1
    reason = ""
    if single:
        reason = "a single repetition has no spread"
    elif tied:
        reason = "all repetitions are equal, as at temperature 0: they are one observation counted several times"
    return OneSidedRowTest(
        row,
        system,
        rival,
        max(smallest, _one_sided_mann_whitney_p(repetition_values, rival_repetition_values)),
        smallest,
        reason,
    )


def stars_for_beating_every_rival_or_empty(tests: Sequence[OneSidedRowTest]) -> str:
    """Return a system's stars in one row: the level at which every rival is beaten; none if a test is meaningless."""
    if not tests or any(test.meaningless for test in tests):
        return ""
    worst = max(test.p for test in tests)
    return next((mark for level, mark in LEVELS if worst <= level), "")


def _one_sided_mann_whitney_p(repetition_values: Sequence[float], rival_repetition_values: Sequence[float]) -> float:
    """Return the p by scipy's choice of method; by all arrangements for few values with ties, where it is not exact."""
    from scipy.stats import PermutationMethod, mannwhitneyu

    arrangements = math.comb(len(repetition_values) + len(rival_repetition_values), len(repetition_values))
    tied = len({*repetition_values, *rival_repetition_values}) < len(repetition_values) + len(rival_repetition_values)
    method = PermutationMethod(n_resamples=arrangements) if tied and arrangements <= _MAX_ARRANGEMENTS else "auto"
    return float(mannwhitneyu(repetition_values, rival_repetition_values, alternative="greater", method=method).pvalue)


class PairCategory(IntEnum):
    """Category of an example: which of two systems are right; B, P, O and N in the paper."""

    BOTH = 0
    FIRST = 1
    SECOND = 2
    NEITHER = 3


def most_frequent_agreement_of_each_example(
    first_right_by_repetition: Any, second_right_by_repetition: Any
) -> list[PairCategory]:
    """Return the category of each example: the most frequent over all pairs of repetitions, ties to the one seen first.

    Each side says which examples are right, repetitions by examples (booleans); pairs are seen with the first
    system's repetitions in the outer loop (paper, section 6.2).
    """
    import numpy as np

    first_right, second_right = (
        np.atleast_2d(np.asarray(first_right_by_repetition, dtype=bool)),
        np.atleast_2d(np.asarray(second_right_by_repetition, dtype=bool)),
    )
    if first_right.shape[1] != second_right.shape[1]:
        msg = f"the systems have {first_right.shape[1]} and {second_right.shape[1]} examples"
        raise ValueError(msg)
    if not first_right.shape[1]:
        return []
    pairs = len(first_right) * len(second_right)
    rank = []
    for first_side, second_side in (
        (first_right, second_right),
        (first_right, ~second_right),
        (~first_right, second_right),
        (~first_right, ~second_right),
    ):
        first_seen = first_side.argmax(axis=0) * len(second_right) + second_side.argmax(axis=0)
        rank.append(first_side.sum(axis=0) * second_side.sum(axis=0) * (pairs + 1) - first_seen)
    return [PairCategory(int(category)) for category in np.stack(rank).argmax(axis=0)]


def pair_category_shares(categories: Sequence[PairCategory]) -> dict[PairCategory, float]:
    """Return the share of examples of each category, from 0 to 1; NaN over none."""
    return {pair: categories.count(pair) / len(categories) if categories else math.nan for pair in PairCategory}


PUBLISHED = Path(__file__).with_name("published.yaml")


class PrintedMeans(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
    means: PrintedMeans
    means_of_deviations: PrintedMeans

    @property
    def values_by_row(self) -> dict[GlueRow, float]:
        """Row → mean in percent."""
        return {row: self.values[row.name] for row in ROWS}

    def compute_means(self, rows: Collection[GlueRow]) -> RowMeans:
        """Return its means over these rows alone, to compare it with a system over what that system has."""
        return compute_means({row: value for row, value in self.values_by_row.items() if row in rows})


@cache
def published_encoders() -> tuple[PublishedEncoder, ...]:
    """Return the five encoders, in the paper's order."""
    return tuple(read_yaml(PUBLISHED, list[PublishedEncoder]))


class PrivacyGLUE(Task):
    """Seven tasks of six suites on their test splits, or on the made-up samples of all.

    Asked are the suites whose data are here; a run goes on with the ones it began with.
    """

    title: ClassVar[str] = "PrivacyGLUE"
    about: ClassVar[str] = (
        "Seven tasks of six suites, on their test splits; two figures for each task, and their means."
    )
    citation: ClassVar[str] = "Shankar et al. 2023, PrivacyGLUE (Applied Sciences 13(6), 3701)."
    splits: ClassVar[tuple[str, ...]] = ("test",)
    joins: ClassVar[tuple[str, ...]] = tuple(dict.fromkeys(task.suite for task in TASKS))
    """The names of the suites."""
    # Data and baselines are the parts' own.
    data: ClassVar[tuple[SuiteSource, ...]] = ()
    baselines: ClassVar[tuple[Baseline, ...]] = ()

    @cached_property
    def plan(self) -> SuiteOptions:
        """The part of the spec that all parts share; a limit holds for each of them."""
        assert isinstance(self.spec.plan, SuiteOptions), "it is a suite's run"
        return self.spec.plan

    @cached_property
    def parts(self) -> dict[str, Suite]:
        """Name → suite of every part that is asked; a UsageError if none can be asked."""
        if not self._part_suites_and_missing_reasons[0]:
            reasons = " ".join(f"{reason.rstrip('.')}." for reason in self._part_suites_and_missing_reasons[1].values())
            raise UsageError(
                f"no suite of PrivacyGLUE can be asked. {reasons} The split sample has made-up items of all suites."
            )
        return self._part_suites_and_missing_reasons[0]

    @property
    def missing_suite_reasons(self) -> dict[str, str]:
        """Name → remedy, of every suite that is left out because it lacks data or the probe."""
        return self._part_suites_and_missing_reasons[1]

    @cached_property
    def _part_suites_and_missing_reasons(self) -> tuple[dict[str, Suite], dict[str, str]]:
        if self.plan.split not in (*self.splits, SAMPLE):
            raise UnknownNameError("split of privacyglue", self.plan.split, (*self.splits, SAMPLE))
        parts: dict[str, Suite] = {}
        missing: dict[str, str] = {}
        for name, kind in self._suites_with_asked_baselines().items():
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

    def _suites_with_asked_baselines(self) -> dict[str, type[Suite]]:
        """Return the suites whose baselines are asked; all, where other systems are."""
        kinds: dict[str, type[Suite]] = {name: load_object(SUITES[name]) for name in self.joins if name in SUITES}
        suites_by_system = {}
        for system in self.spec.systems:
            baseline_name = system.removeprefix(PREFIX) if system.startswith(PREFIX) else ""
            names_with_baseline = tuple(
                name
                for name, kind in kinds.items()
                if not baseline_name or baseline_name in [baseline.name for baseline in kind.baselines]
            )
            if not names_with_baseline:
                baseline_names = dict.fromkeys(
                    PREFIX + baseline.name for kind in kinds.values() for baseline in kind.baselines
                )
                raise UnknownNameError("baseline of privacyglue", system, baseline_names)
            suites_by_system[system] = names_with_baseline
        if len(set(suites_by_system.values())) > 1:
            system = min(suites_by_system, key=lambda name: len(suites_by_system[name]))
            raise UsageError(
                f"{system} belongs only to {', '.join(suites_by_system[system])}; ask it in a separate run."
            )
        return {name: kinds[name] for names in suites_by_system.values() for name in names}

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of all parts, and sentences on the missing ones."""
        notes = [note for part in self.parts.values() for note in part.notes]
        if self.plan.limit:
            notes.append(f"PrivacyGLUE: {self.plan.limit} items of each of its {len(self.parts)} suites")
        notes += [f"PrivacyGLUE leaves out {name}: {remedy}" for name, remedy in self.missing_suite_reasons.items()]
        return tuple(notes)

    @property
    def digests(self) -> Digests:
        """Digests of all parts."""
        return Digests({}, {}, {}, {}, task=_merge_dicts(part.digests.task for part in self.parts.values()))

    @property
    def texts_for_run_folder(self) -> dict[str, str]:
        """Sources of all parts."""
        return _merge_dicts(dict(part.texts_for_run_folder) for part in self.parts.values())

    @property
    def long_request_texts_by_name(self) -> dict[str, str]:
        """Long texts of all parts."""
        return _merge_dicts(dict(part.long_request_texts_by_name) for part in self.parts.values())

    def count_planned_answers(self) -> int:
        """Return the number of answers wanted of each system, over all parts."""
        return sum(part.count_planned_answers() for part in self.parts.values())

    def dialogues(self, target: Target) -> Iterator[Dialogue]:
        """Yield the dialogues of one part after another."""
        return chain.from_iterable(
            (_add_part_to_calls(name, dialogue) for dialogue in part.dialogues(target))
            for name, part in self.parts.items()
        )

    def estimation_dialogues_and_scale_to_run(self, target: Target) -> tuple[Iterator[Dialogue], int]:
        """Return the samples of all parts, if each is the whole of its part; else everything."""
        samples = {name: part.estimation_dialogues_and_scale_to_run(target) for name, part in self.parts.items()}
        if any(times != 1 for _, times in samples.values()):
            return super().estimation_dialogues_and_scale_to_run(target)
        return chain.from_iterable(
            (_add_part_to_calls(name, dialogue) for dialogue in dialogues) for name, (dialogues, _) in samples.items()
        ), 1

    @contextmanager
    def open_record_listener(self, folder: RunFolder) -> Iterator[Callable[[Record], None]]:
        """Keep what every part keeps while a run is asked."""
        with ExitStack() as stack:
            for part in self.parts.values():
                stack.enter_context(part.open_record_listener(folder))
            yield lambda _record: None

    def read_reply_by_status(self, call: Call, reply: str, status: Status) -> PredictionAndScore:
        """Read a reply as the call's part does."""
        return self.parts[call.coordinates[PART]].read_reply_by_status(call, reply, status)

    def find_reply_flaw_or_empty(self, call: Call, reply: Reply) -> str:
        """Return the flaw that the call's part finds."""
        return self.parts[call.coordinates[PART]].find_reply_flaw_or_empty(call, reply)


def _has_data(part: Suite) -> bool:
    """Tell whether the items of a part are here, so that it is something else that it lacks."""
    try:
        part.load(part.plan.split)
    except UsageError:
        return False
    return True


def _merge_dicts(dicts: Any) -> dict[str, str]:
    return {name: text for mapping in dicts for name, text in mapping.items()}


def _add_part_to_calls(part_name: str, dialogue: Dialogue) -> Dialogue:
    """Yield a part's dialogue, its calls under the part's name."""
    try:
        step = next(dialogue)
        while True:
            if isinstance(step, tuple):
                answer = yield tuple(_add_part_to_calls(part_name, branch) for branch in step)
            else:
                answer = yield replace(step, coordinates={PART: part_name, **step.coordinates})
            step = dialogue.send(answer)
    except StopIteration:
        return
    finally:
        dialogue.close()
