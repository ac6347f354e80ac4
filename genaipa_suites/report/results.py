"""Results of suites' runs, boards of those on the same items, and the rows that a board's tables compare."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import msgspec

from genaipa.errors import GenaipaError
from genaipa.systems.base import Sampling, Usage
from genaipa.tasks.catalog import make_task
from genaipa.words import format_count
from genaipa_suites.baseline import PREFIX
from genaipa_suites.catalog import suites_of_task
from genaipa_suites.data import read_published_rows
from genaipa_suites.encoders import encoder
from genaipa_suites.material import FAULTS, PART, UNPARSABLE, Outcome, ParsedReply
from genaipa_suites.plan import KIND, SUITES
from genaipa_suites.report.merit import JackknifeUnits, OutcomeCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from genaipa.runs.records import Record
    from genaipa.runs.selection import SelectedRun
    from genaipa.workspace import Workspace
    from genaipa_suites.baseline import Baseline
    from genaipa_suites.data import PublishedRow
    from genaipa_suites.material import Item, Material
    from genaipa_suites.measure import Measure
    from genaipa_suites.plan import SuiteOptions
    from genaipa_suites.suite import Suite

IN_WORDS = "in words"
_MISSING = "missing"


@dataclass(frozen=True)
class SystemSuiteResult:
    """One system's outcomes on the items of one suite, as it was asked: by its plan and its sampling options.

    `planned` is how many outcomes there would be if everything had been asked; what was not is missing, and not scored.
    `cost` is in US dollars, None if no price is known; it and `usage` include tries that a later one replaced.
    """

    system: str
    name: str
    suite: Suite
    plan: SuiteOptions
    sampling: Sampling
    items: str
    """Digest of the items asked: results of equal ones fit into one table."""
    outcomes: tuple[Outcome, ...] = ()
    runs: tuple[str, ...] = ()
    planned: int = 0
    cost: float | None = None
    usage: Usage = field(default_factory=Usage)
    dates: tuple[str, ...] = ()
    """The days on which it was asked, each once, in order."""
    unfinished: int = 0
    """Outcomes of repetitions that were broken off: left out, since a repetition of a few items is no figure."""

    @property
    def missing_outcome_count(self) -> int:
        """The number of planned outcomes that are not there."""
        return max(0, self.planned - len(self.outcomes) - self.unfinished)

    @property
    def repetition_count(self) -> int:
        """The number of times that items were asked."""
        return len({outcome.repetition for outcome in self.outcomes})

    @cached_property
    def fault_and_missing_counts(self) -> Counter[str]:
        """Fault → how many outcomes have it; every kind of fault is there, and `missing`."""
        counts = Counter(outcome.parsed.fault for outcome in self.outcomes if outcome.parsed.fault)
        return Counter({**dict.fromkeys(FAULTS, 0), **counts, _MISSING: self.missing_outcome_count})

    @property
    def share_asked_for_json_without_schema(self) -> float:
        """The share of outcomes whose form was asked for in words instead of a schema; NaN if none had a form."""
        forms = [outcome.reply_form for outcome in self.outcomes if outcome.reply_form]
        return forms.count(IN_WORDS) / len(forms) if forms else float("nan")

    @property
    def share_with_json_in_prose(self) -> float:
        """The share of outcomes whose JSON was found among other words; NaN over none."""
        flags = [outcome.parsed.in_prose for outcome in self.outcomes]
        return sum(flags) / len(flags) if flags else float("nan")

    def value_counting_prose_as_unparsable(self, measure: Measure) -> float:
        """Return the figure (0 to 1) if JSON among other words were unparsable."""
        fault = ParsedReply(fault=UNPARSABLE)
        return self.mean_value_over_repetitions(
            measure,
            [replace(outcome, parsed=fault) if outcome.parsed.in_prose else outcome for outcome in self.outcomes],
        )

    def mean_value_over_repetitions(self, measure: Measure, selected: Sequence[Outcome] | None = None) -> float:
        """Return the mean over repetitions of each one's figure (0 to 1), as tables have it; a pooled one would differ.

        It is of all outcomes, or of those `selected`.
        """
        outcomes = self.outcomes if selected is None else selected
        figures = [
            measure.compute(outcome for outcome in outcomes if outcome.repetition == repetition)
            for repetition in sorted({outcome.repetition for outcome in outcomes})
        ]
        return sum(figures) / len(figures) if figures else float("nan")

    @property
    def kind_if_baseline_or_empty(self) -> str:
        """The kind of baseline that the system is; empty for a system that was asked."""
        kinds = {PREFIX + baseline.name: str(baseline.kind) for baseline in self.suite.baselines}
        return kinds.get(self.system, "")

    @property
    def asking_text(self) -> str:
        """How it was asked, in words: shots, wording, sampling options, or a training; empty for a baseline."""
        if self.kind_if_baseline_or_empty:
            return ""
        if training := encoder.training_note_or_empty(self.suite, self.system):
            return training
        shots = format_count(self.plan.shots, "shot") if self.plan.shots else "zero-shot"
        plain = Sampling()
        options = {name: getattr(self.sampling, name) for name in Sampling.__struct_fields__}
        options_text = [f"{name} {value}" for name, value in options.items() if value != getattr(plain, name)]
        return ", ".join([shots, f"wording {self.plan.wording}", *options_text])


@dataclass(frozen=True)
class SuiteBoard:
    """The results on the same items of one suite, which a table can compare; `suite` has the items."""

    results: tuple[SystemSuiteResult, ...]
    number: int = 1
    """Its number among boards of one split, as many items and one probe: other samples have others."""

    @property
    def suite(self) -> Suite:
        """The suite, with the items that were asked."""
        return self.results[0].suite

    @property
    def suite_name(self) -> str:
        """The suite's name."""
        return self.results[0].name

    @property
    def plan(self) -> SuiteOptions:
        """The plan, whose split, limit and probe all results have."""
        return self.results[0].plan

    @property
    def has_own_files(self) -> bool:
        """Whether a published split was read from files of the user's own, so that no published figure is of it."""
        return bool(self.suite.material.own)

    @property
    def title(self) -> str:
        """Title of the suite and its split, and whether the items are a sample or not the published ones."""
        items = f", a sample of {len(self.suite.material.items):,}" if self.plan.limit else ""
        own_text = ", own files" if self.has_own_files else ""
        probe = f", probe {self.plan.probe}" if self.plan.probe else ""
        number_text = f", no. {self.number}" if self.number > 1 else ""
        return f"{self.suite.title}, {self.plan.split}{own_text}{items}{probe}{number_text}"

    @property
    def table_name_prefix(self) -> str:
        """Beginning of the names of its tables."""
        limit = str(self.plan.limit) if self.plan.limit else ""
        own_part = "own" if self.has_own_files else ""
        number_part = f"items-{self.number}" if self.number > 1 else ""
        return "-".join(filter(None, (self.suite_name, self.plan.split, own_part, limit, self.plan.probe, number_part)))


def group_results_into_boards(results: Iterable[SystemSuiteResult]) -> list[SuiteBoard]:
    """Group results by the items that they are of: suites in their order, without a probe first, whole splits first."""
    results_by_items: defaultdict[tuple[str, str, str], list[SystemSuiteResult]] = defaultdict(list)
    for result in results:
        results_by_items[result.name, result.plan.probe, result.items].append(result)
    order = list(SUITES)

    def sort_key(board: SuiteBoard) -> tuple[int, str, str, int, str]:
        suite_index = order.index(board.suite_name) if board.suite_name in order else len(order)
        return suite_index, board.suite_name, board.plan.probe, -len(board.suite.material.items), board.plan.split

    unnumbered = (
        SuiteBoard(
            tuple(sorted(board_results, key=lambda result: (bool(result.kind_if_baseline_or_empty), result.system)))
        )
        for board_results in results_by_items.values()
    )
    counts: Counter[str] = Counter()
    numbered = []
    for board in sorted(unnumbered, key=sort_key):
        counts[board.table_name_prefix] += 1
        numbered.append(replace(board, number=counts[board.table_name_prefix]))
    return numbered


def read_results_and_problems(
    workspace: Workspace, sources: Sequence[SelectedRun]
) -> tuple[list[SystemSuiteResult], list[str]]:
    """Read the results of the runs of suites among these, and sentences on what can't be read; skip other runs."""
    results_by_key: dict[tuple[object, ...], SystemSuiteResult] = {}
    problems: list[str] = []
    for source in sources:
        if source.manifest.spec.kind != KIND:
            continue
        try:
            for result in _read_results_of_run(workspace, source, problems):
                key = (result.system, result.name, result.plan, result.sampling, result.items)
                results_by_key[key] = (
                    _append_result_as_later_repetitions(results_by_key[key], result)
                    if key in results_by_key
                    else result
                )
        except GenaipaError as error:
            problems.append(f"{source.folder.name} is left out: {error}")
        except (OSError, msgspec.DecodeError):
            problems.append(f"{source.folder.name} is left out: its folder lacks the items that were asked.")
    return [_drop_unfinished_repetitions(result) for result in results_by_key.values()], problems


def _drop_unfinished_repetitions(result: SystemSuiteResult) -> SystemSuiteResult:
    """Return the result without the repetitions that were broken off, where another one was asked whole."""
    sizes = Counter(outcome.repetition for outcome in result.outcomes)
    whole = {repetition for repetition, size in sizes.items() if size >= len(result.suite.material.items)}
    if not whole or len(whole) == len(sizes):
        return result
    whole_outcomes = tuple(outcome for outcome in result.outcomes if outcome.repetition in whole)
    return replace(result, outcomes=whole_outcomes, unfinished=len(result.outcomes) - len(whole_outcomes))


def _read_results_of_run(
    workspace: Workspace, source: SelectedRun, problems_to_extend: list[str]
) -> list[SystemSuiteResult]:
    """Return the results of one run: one for each of its systems and suites."""
    spec = source.manifest.spec
    parts = suites_of_task(make_task(spec, workspace, source.folder))
    latest: dict[str, Record] = {}
    paid_records: defaultdict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in source.folder.read_records():
        if record.kind == "answer" and record.system in source.systems:
            latest[record.key] = record
            paid_records[record.system, record.coordinates.get(PART, spec.task)].append(record)
    records_by_system: defaultdict[tuple[str, str], list[Record]] = defaultdict(list)
    unknown = 0
    for record in latest.values():
        name = record.coordinates.get(PART, spec.task)
        is_known = name in parts and record.coordinates.get("item") in parts[name].items
        is_known = is_known and record.coordinates.get("repetition", "").isdigit()
        unknown += not is_known
        if is_known:
            records_by_system[record.system, name].append(record)
    if unknown:
        problems_to_extend.append(
            f"{source.folder.name}: {unknown:,} of its answers belong to unknown items and are left out."
        )
    sampling = Sampling(**{name: getattr(spec, name) for name in Sampling.__struct_fields__})
    digests = {name: _material_digest(suite.material) for name, suite in parts.items()}
    return [
        SystemSuiteResult(
            system,
            suite.name_in_files,
            suite,
            suite.plan,
            sampling,
            digests[name],
            tuple(suite.make_outcomes_of_records(records_by_system[system, name])),
            (source.folder.name,),
            len(suite.material.items) * suite.spec.repetitions,
            *_sum_cost_tokens_and_days(paid_records[system, name]),
        )
        for name, suite in parts.items()
        for system in source.systems
    ]


def _material_digest(material: Material) -> str:
    """Return the digest of what is asked: the items with their texts, however many examples are before them."""
    texts = {item.document: material.documents.get(item.document) for item in material.items if item.document}
    asked_material = msgspec.structs.replace(material, documents=texts, examples=())
    return hashlib.sha256(msgspec.json.encode(asked_material, order="deterministic")).hexdigest()


def _sum_cost_tokens_and_days(records: Sequence[Record]) -> tuple[float | None, Usage, tuple[str, ...]]:
    """Return money and tokens that these records took, and their days."""
    costs = [record.cost for record in records if record.cost is not None]
    usage = sum((record.usage for record in records if record.usage is not None), Usage())
    return sum(costs) if costs else None, usage, tuple(sorted({record.started[:10] for record in records}))


def _append_result_as_later_repetitions(first: SystemSuiteResult, second: SystemSuiteResult) -> SystemSuiteResult:
    """Join two results; the repetitions of the second come after the first's."""
    before = max((outcome.repetition for outcome in first.outcomes), default=0)
    # Both runs have the same keys; those of a result tell its outcomes apart.
    later = (
        replace(result, repetition=before + result.repetition, key=f"{second.runs[0]}|{result.key}")
        for result in second.outcomes
    )
    costs = [result.cost for result in (first, second) if result.cost is not None]
    return replace(
        first,
        outcomes=(*first.outcomes, *later),
        runs=(*first.runs, *second.runs),
        planned=first.planned + second.planned,
        cost=sum(costs) if costs else None,
        usage=first.usage + second.usage,
        dates=tuple(sorted({*first.dates, *second.dates})),
    )


RowKind = Literal["system", "baseline", "floor", "ceiling", "people", "published"]
_COMPUTED_KINDS = ("floor", "ceiling")


@dataclass(frozen=True)
class SuiteTableRow:
    """One row of a suite's table: counts of outcomes, or figures (measure → 0 to 1) that somebody else worked out."""

    system: str
    kind: RowKind
    description: str = ""
    counts: OutcomeCounts | None = None
    result: SystemSuiteResult | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    is_repeated: bool = False
    """Whether its system was asked in several ways, so that its name alone does not tell it."""

    @property
    def label(self) -> str:
        """Its name among the rows of its board."""
        return f"{self.system} ({self.description.removeprefix('zero-shot, ')})" if self.is_repeated else self.system


@dataclass(frozen=True)
class ScoredBoard:
    """The rows of a board; what could not be worked out is in `problems`."""

    board: SuiteBoard
    problems: list[str] = field(default_factory=list)

    @cached_property
    def units(self) -> JackknifeUnits:
        """Its policies, or other clusters, which intervals resample."""
        return JackknifeUnits(self.board.suite.material.items, self.board.suite.clusters)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The suite's measures, the main one first."""
        return self.board.suite.measures

    @cached_property
    def system_rows(self) -> list[SuiteTableRow]:
        """The systems and baselines that runs asked, systems first, the best first among each."""
        rows = [self._make_system_row(result) for result in self.board.results]
        main = self.measures[0]

        def sort_key(row: SuiteTableRow) -> tuple[bool, float, str]:
            value = row.counts.estimate_measure(main).value if row.counts and row.counts.outcomes else 0.0
            return row.kind != "system", -value if value == value else 0.0, row.system  # noqa: PLR0124 - NaN

        return sorted(rows, key=sort_key)

    def _make_system_row(self, result: SystemSuiteResult) -> SuiteTableRow:
        kind: RowKind = "system"
        if result.kind_if_baseline_or_empty:
            kind = (
                "floor"
                if result.kind_if_baseline_or_empty == "floor"
                else "ceiling"
                if result.kind_if_baseline_or_empty == "ceiling"
                else "baseline"
            )
        abouts = {PREFIX + baseline.name: baseline.about for baseline in self.board.suite.baselines}
        description = result.asking_text or abouts.get(result.system, "")
        is_repeated = sum(baseline.system == result.system for baseline in self.board.results) > 1
        return SuiteTableRow(
            result.system,
            kind,
            description,
            OutcomeCounts(result.outcomes, self.units),
            result,
            is_repeated=is_repeated,
        )

    @cached_property
    def computed_floor_and_ceiling_rows(self) -> list[SuiteTableRow]:
        """The suite's floors and ceilings on the same items, computed now unless a run asked them."""
        complete = {result.system for result in self.board.results if not result.missing_outcome_count}
        missing = [
            baseline
            for baseline in self.board.suite.baselines
            if baseline.kind in _COMPUTED_KINDS and PREFIX + baseline.name not in complete
        ]
        return [row for baseline in missing if (row := self._make_baseline_row(baseline)) is not None]

    def _make_baseline_row(self, baseline: Baseline) -> SuiteTableRow | None:
        suite = self.board.suite
        try:
            reply: Callable[[Item], str] = baseline.make(suite)
            outcomes = suite.add_facts_of_related_outcomes(
                [Outcome(item, suite.parse_reply(item, reply(item))) for item in suite.material.items]
            )
        except GenaipaError as error:
            self.problems.append(f"{self.board.title}: {PREFIX}{baseline.name} is left out: {error}")
            return None
        kind: RowKind = "floor" if baseline.kind == "floor" else "ceiling"
        return SuiteTableRow(PREFIX + baseline.name, kind, baseline.about, OutcomeCounts(outcomes, self.units))

    @property
    def ceiling(self) -> SuiteTableRow | None:
        """The ceiling for a system that is shown what every system is shown, of several."""
        ceilings = [
            row
            for row in (*self.system_rows, *self.computed_floor_and_ceiling_rows)
            if row.kind == "ceiling" and row.counts
        ]
        return next((row for row in ceilings if row.system == f"{PREFIX}ceiling"), ceilings[0] if ceilings else None)

    @cached_property
    def human_rows(self) -> list[SuiteTableRow]:
        """The row of people on the same items, if the suite has several references."""
        suite = self.board.suite
        outcomes = [Outcome(item, ParsedReply()) for item in suite.material.items]
        figures = {} if self.board.plan.probe else suite.human_scores_by_measure(outcomes)
        return (
            [SuiteTableRow("people", "people", suite.human_scores_note(outcomes), figures=figures)] if figures else []
        )

    @cached_property
    def _published_rows_of_split(self) -> list[PublishedRow]:
        """The rows that papers print for this split under exactly the same measures."""
        try:
            rows = [] if self.board.plan.probe or self.board.has_own_files else read_published_rows(self.board.suite)
        except GenaipaError as error:
            self.problems.append(str(error))
            return []
        return [row for row in rows if row.split == self.board.plan.split]

    @property
    def published_rows_of_whole_split(self) -> list[SuiteTableRow]:
        """The published rows about the whole split; beside a sample they say so."""
        whole = "of the whole split" if self.board.plan.limit else ""
        return [
            SuiteTableRow(
                row.system,
                "published",
                "; ".join(filter(None, (whole, row.kind, row.note, row.source))),
                figures={name: value / 100 for name, value in row.values.items()},
            )
            for row in self._published_rows_of_split
            if not row.breakdown
        ]

    @property
    def published_rows_of_groups(self) -> list[PublishedRow]:
        """The published rows about one group of a breakdown."""
        return [row for row in self._published_rows_of_split if row.breakdown]

    @property
    def rows(self) -> list[SuiteTableRow]:
        """Every row, in the order in which tables have them."""
        return [
            *self.system_rows,
            *self.computed_floor_and_ceiling_rows,
            *self.human_rows,
            *self.published_rows_of_whole_split,
        ]
