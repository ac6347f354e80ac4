"""Figures of a run as it stands: counts added up record by record, so that a large run takes little memory."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from genaipa.kinds import RunClosing
from genaipa.tasks.catalog import make_task
from genaipa.words import format_count, format_percent_by_item_count
from genaipa_suites.catalog import suites_of_task
from genaipa_suites.material import FAULTS, PART

if TYPE_CHECKING:
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Record
    from genaipa.workspace import Workspace
    from genaipa_suites.material import Outcome
    from genaipa_suites.measure import Measure
    from genaipa_suites.suite import Suite

MISSING = "missing"
_FIRST = 4
"""Figures that a run ends with; its report has all."""
_AT_ONCE = 500
"""Records that are in memory at a time."""


@dataclass
class MeasureTotals:
    """The sums of one system's counts on one suite, by repetition and measure, and its faults."""

    system: str
    suite: Suite
    answers: int = 0
    in_prose: int = 0
    """Answers whose JSON was found among other words."""
    _faults: Counter[str] = field(default_factory=Counter)
    _sums: dict[int, dict[str, list[float]]] = field(default_factory=dict)

    def add_outcome(self, outcome: Outcome) -> None:
        """Count one more outcome."""
        self.answers += 1
        self.in_prose += outcome.parsed.in_prose
        if outcome.parsed.fault:
            self._faults[outcome.parsed.fault] += 1
        sums = self._sums.setdefault(outcome.repetition, {})
        for measure in self.suite.measures:
            counts = measure.counts(outcome)
            before = sums.get(measure.name)
            sums[measure.name] = [a + b for a, b in zip(before, counts, strict=True)] if before else list(counts)

    def mean_over_repetitions(self, measure: Measure) -> float:
        """Return the mean over repetitions of a measure's figure (0 to 1); NaN over none."""
        values = [measure.value(sums[measure.name]) for sums in self._sums.values()]
        return sum(values) / len(values) if values else math.nan

    @property
    def counts_of_faulty_and_missing_replies(self) -> dict[str, int]:
        """Fault → how many replies have it; every kind of fault is there, and `missing`."""
        planned = len(self.suite.items) * self.suite.spec.repetitions
        return {**dict.fromkeys(FAULTS, 0), **self._faults, MISSING: max(0, planned - self.answers)}


def closing_lines_and_measure_values(workspace: Workspace, folder: RunFolder) -> RunClosing:
    """Return the first figures of a suite as lines, and all of them as percentages by measure for JSON."""
    lines, rows = [], []
    for result in collect_measure_totals(workspace, folder):
        pairs = ((measure, result.mean_over_repetitions(measure)) for measure in result.suite.measures[:_FIRST])
        headings = [
            f"{measure.heading} {format_percent_by_item_count(100 * value, len(result.suite.items))}"
            for measure, value in pairs
            if not math.isnan(value)
        ]
        counts = {**result.counts_of_faulty_and_missing_replies, "read in prose": result.in_prose}
        faults = [f"{count:,} {name}" for name, count in counts.items() if count]
        of = "" if result.suite.name == folder.manifest().spec.task else f" of {result.suite.name}"
        answers = f"{format_count(result.answers, 'answer')}{of}"
        lines.append(
            f"{result.system}: {'; '.join(headings)} ({'; '.join(filter(None, (answers, ', '.join(faults))))})"
        )
        values = {measure.name: 100 * result.mean_over_repetitions(measure) for measure in result.suite.measures}
        percentages = {name: None if math.isnan(value) else value for name, value in values.items()}
        row = {
            "system": result.system,
            "suite": result.suite.name,
            "figures": percentages,
            "faults": result.counts_of_faulty_and_missing_replies,
        }
        rows.append({**row, "in_prose": result.in_prose})
    return RunClosing(lines, {"suites": rows} if rows else {})


def collect_measure_totals(workspace: Workspace, folder: RunFolder) -> list[MeasureTotals]:
    """Collect the figures of every system and suite of a run that has any answers; none of a run of another task."""
    spec = folder.manifest().spec
    parts = suites_of_task(make_task(spec, workspace, folder))
    results = {(system, name): MeasureTotals(system, suite) for system in spec.systems for name, suite in parts.items()}
    # Of each key the latest record.
    positions = sorted(folder.tally_records_and_map_offsets()[1].values())
    joint: defaultdict[tuple[str, str], list[Record]] = defaultdict(list)
    for begin in range(0, len(positions), _AT_ONCE):
        for record in folder.read_records_at(positions[begin : begin + _AT_ONCE]):
            name = record.coordinates.get(PART, spec.task)
            if name in parts and record.coordinates["item"] in parts[name].items:
                if parts[name].is_joint:
                    joint[record.system, name].append(record)
                    continue
                (outcome,) = parts[name].make_outcomes_of_records([record])
                results[record.system, name].add_outcome(outcome)
    for key, records in joint.items():
        for outcome in parts[key[1]].make_outcomes_of_records(records):
            results[key].add_outcome(outcome)
    return [result for result in results.values() if result.answers]
