"""Figures of a run as it stands: counts added up record by record, so that a large run takes little memory."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from genaipa.kinds import Closing
from genaipa.tasks.catalog import make_task
from genaipa.words import number, per_cent
from genaipa_suites.catalog import parts_of
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
class Figures:
    """The sums of one system's counts on one suite, by repetition and measure, and its faults."""

    system: str
    suite: Suite
    answers: int = 0
    in_prose: int = 0
    """Answers whose JSON was found among other words."""
    _faults: Counter[str] = field(default_factory=Counter)
    _sums: dict[int, dict[str, list[float]]] = field(default_factory=dict)

    def add(self, outcome: Outcome) -> None:
        """Count one more outcome."""
        self.answers += 1
        self.in_prose += outcome.given.in_prose
        if outcome.given.fault:
            self._faults[outcome.given.fault] += 1
        sums = self._sums.setdefault(outcome.repetition, {})
        for measure in self.suite.measures:
            counts = measure.counts(outcome)
            before = sums.get(measure.name)
            sums[measure.name] = [a + b for a, b in zip(before, counts, strict=True)] if before else list(counts)

    def of(self, measure: Measure) -> float:
        """Mean over repetitions of the figure of each (0 to 1); NaN over none."""
        each = [measure.value(sums[measure.name]) for sums in self._sums.values()]
        return sum(each) / len(each) if each else math.nan

    @property
    def faults(self) -> dict[str, int]:
        """Fault → how many replies have it; every kind of fault is there, and `missing`."""
        planned = len(self.suite.items) * self.suite.spec.repetitions
        return {**dict.fromkeys(FAULTS, 0), **self._faults, MISSING: max(0, planned - self.answers)}


def closing(workspace: Workspace, folder: RunFolder) -> Closing:
    """The first figures of a suite as lines; all of them, as percentages by the names of their measures, for JSON."""
    lines, rows = [], []
    for one in figures(workspace, folder):
        known = ((measure, one.of(measure)) for measure in one.suite.measures[:_FIRST])
        first = [
            f"{measure.heading} {per_cent(100 * value, len(one.suite.items))}"
            for measure, value in known
            if not math.isnan(value)
        ]
        counts = {**one.faults, "read in prose": one.in_prose}
        faults = [f"{count:,} {name}" for name, count in counts.items() if count]
        of = "" if one.suite.name == folder.manifest().spec.task else f" of {one.suite.name}"
        answers = f"{number(one.answers, 'answer')}{of}"
        lines.append(f"{one.system}: {'; '.join(first)} ({'; '.join(filter(None, (answers, ', '.join(faults))))})")
        values = {measure.name: 100 * one.of(measure) for measure in one.suite.measures}
        every = {name: None if math.isnan(value) else value for name, value in values.items()}
        said = {"system": one.system, "suite": one.suite.name, "figures": every, "faults": one.faults}
        rows.append({**said, "in_prose": one.in_prose})
    return Closing(lines, {"suites": rows} if rows else {})


def figures(workspace: Workspace, folder: RunFolder) -> list[Figures]:
    """The figures of every system and suite of a run that has any answers; none of a run of another task."""
    spec = folder.manifest().spec
    parts = parts_of(make_task(spec, workspace, folder))
    found = {(system, name): Figures(system, suite) for system in spec.systems for name, suite in parts.items()}
    # Of each key the latest record.
    places = sorted(folder.seen()[1].values())
    joint: defaultdict[tuple[str, str], list[Record]] = defaultdict(list)
    for begin in range(0, len(places), _AT_ONCE):
        for record in folder.records_at(places[begin : begin + _AT_ONCE]):
            name = record.coordinates.get(PART, spec.task)
            if name in parts and record.coordinates["item"] in parts[name].items:
                if parts[name].is_joint:
                    joint[record.system, name].append(record)
                    continue
                (outcome,) = parts[name].outcomes([record])
                found[record.system, name].add(outcome)
    for key, records in joint.items():
        for outcome in parts[key[1]].outcomes(records):
            found[key].add(outcome)
    return [one for one in found.values() if one.answers]
