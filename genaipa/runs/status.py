"""The status of a run, decided in one place, and its counts.

The status is decided when a run is left, and when it is read. Counted are answers, refusals,
failures, tokens and money, per system and initialization.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from genaipa.kinds import DEFAULT
from genaipa.runs.procedure import get_plan_if_procedure_run, initialization_or_task_name
from genaipa.runs.records import RecordKind, RunSpec, RunTotals, Status
from genaipa.systems.base import Usage
from genaipa.systems.thoughts import begins_with_thought_marks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sized
    from collections.abc import Set as AbstractSet

    from genaipa.runs.records import Manifest, Record, RunStatus


_WORST: tuple[RunStatus, ...] = ("running", "capped", "interrupted", "waiting", "partial", "complete")
"""Statuses of slices in the order in which one decides about the study."""


def status_once_asking_ended(
    incomplete_systems: AbstractSet[str],
    manual_systems: AbstractSet[str],
    *,
    clean_exit: bool = True,
    capped: bool = False,
    batches_pending: bool = False,
) -> RunStatus:
    """Return the status of a folder that nobody asks any more.

    Answers of the `incomplete_systems` are missing; replies of the `manual_systems` come by hand. Asking ended by a
    `clean_exit` or was broken off, was stopped by the cap (`capped`), or left batches pending (`batches_pending`), for
    which the next one to ask waits.
    """
    if clean_exit and not incomplete_systems:
        return "complete"
    if batches_pending or (clean_exit and not capped and incomplete_systems <= manual_systems):
        return "waiting"
    if not clean_exit:
        return "interrupted"
    return "capped" if capped else "partial"


def current_run_status(
    noted_status: RunStatus, *, abandoned: bool, batches_pending: bool, answers_missing: bool
) -> RunStatus:
    """Return the status of a folder now: as noted in its manifest, unless its writer was killed or answers are gone.

    `abandoned`: its process has ended; `batches_pending`: a provider still has batches of it; `answers_missing`: there
    are fewer answers than planned.
    """
    if abandoned:
        return "waiting" if batches_pending else "interrupted"
    return "partial" if noted_status == "complete" and answers_missing else noted_status


def worst_status(slice_statuses: AbstractSet[RunStatus]) -> RunStatus:
    """Return the status of a study by those of its slices."""
    return next(status for status in _WORST if status in slice_statuses)


class CountedRecord(msgspec.Struct):
    """As much of a record as is counted; a line's sum, which covers these fields, is check enough."""

    key: str
    status: Status
    kind: RecordKind
    system: str
    coordinates: dict[str, str]
    seconds: float
    usage: Usage | None = None
    cost: float | None = None
    prompt_cut: bool = False
    task: str = DEFAULT
    score: float | None = None
    thoughts: str = ""


@dataclass
class AnswerCounts:
    """One row of the closing table. Tokens, money and seconds include steps, and tries that a later one replaced."""

    planned: int = 0
    status: dict[Status, int] = field(
        default_factory=lambda: {"answered": 0, "refused": 0, "truncated": 0, "failed": 0}
    )
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    priced: bool = False
    seconds: float = 0.0
    failed_steps: int = 0
    """Summaries and acknowledgements that could not be had, without which nothing is asked."""
    prompt_cut: int = 0
    """Replies whose prompt the server must have cut."""
    thoughts_in_text: int = 0
    """Replies whose text began with the model's thoughts."""

    @property
    def answer_count(self) -> int:
        """Answers that need not be asked again."""
        return self.status["answered"] + self.status["refused"] + self.status["truncated"]

    @property
    def missing_count(self) -> int:
        """Answers still to be had."""
        return max(0, self.planned - self.answer_count)

    def add_counts(self, addend: AnswerCounts) -> None:
        """Add another's counts."""
        self.planned += addend.planned
        for status, number in addend.status.items():
            self.status[status] += number
        self.usage += addend.usage
        self.cost, self.priced = self.cost + addend.cost, self.priced or addend.priced
        self.seconds += addend.seconds
        self.failed_steps += addend.failed_steps
        self.prompt_cut += addend.prompt_cut
        self.thoughts_in_text += addend.thoughts_in_text

    def add_spending(self, record: CountedRecord | Record) -> None:
        """Add a record's tokens, money and time."""
        self.seconds += record.seconds
        if record.usage is not None:
            self.usage = self.usage + record.usage
        if record.cost is not None:
            self.cost += record.cost
            self.priced = True


Rows = dict[tuple[str, str], AnswerCounts]
"""(system, initialization) → its count."""


@dataclass
class AnswerTally:
    """All counts of a run, kept up to date as records arrive."""

    rows: Rows = field(default_factory=dict)
    statuses: dict[str, Status] = field(default_factory=dict)
    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    """System → key → the score that the task read by itself, where it could."""

    def get_or_add_row(self, system: str, initialization_or_task: str) -> AnswerCounts:
        """Return the count of one system and initialization."""
        row = self.rows.get((system, initialization_or_task))
        if row is None:
            row = self.rows[system, initialization_or_task] = AnswerCounts()
        return row

    def add_tally(self, tally: AnswerTally) -> None:
        """Add the counts of another run, whose keys stay its own."""
        for row_key, count in tally.rows.items():
            self.get_or_add_row(*row_key).add_counts(count)

    def set_planned_answers(
        self, spec: RunSpec, question_orders: Mapping[str, Sized], planned_without_orders: int = 0
    ) -> None:
        """Set how many answers are wanted in each row: by the orders of questions, else `planned_without_orders`."""
        rows, plan = {spec.task: planned_without_orders}, get_plan_if_procedure_run(spec)
        if plan is not None:
            answers_per_row = plan.prompt_and_wording_pair_count * sum(map(len, question_orders.values()))
            rows = dict.fromkeys(plan.initializations, answers_per_row)
        for system in spec.systems:
            for row, number in rows.items():
                self.get_or_add_row(system, row).planned = number

    def add_record(self, record: CountedRecord | Record) -> None:
        """Take a record into account; it replaces an earlier one of its key."""
        row = self.get_or_add_row(record.system, initialization_or_task_name(record.task, record.coordinates))
        row.add_spending(record)
        previous = self.statuses.get(record.key)
        if record.kind == "answer":
            if previous is not None:
                row.status[previous] -= 1
            row.status[record.status] += 1
        else:
            row.failed_steps += (record.status == "failed") - (previous == "failed")
        row.prompt_cut += record.prompt_cut
        row.thoughts_in_text += bool(record.thoughts) and begins_with_thought_marks(record.thoughts)
        self.statuses[record.key] = record.status
        if record.score is not None:
            self.scores.setdefault(record.system, {})[record.key] = record.score

    def incomplete_systems(self) -> set[str]:
        """Return the systems whose answers are missing."""
        return {system for (system, _), row in self.rows.items() if row.missing_count}

    def has_reply(self, record_key: str) -> bool:
        """Tell whether this answer or step need not be asked again."""
        return self.statuses.get(record_key, "failed") != "failed"

    @property
    def cost(self) -> float:
        """Money spent so far."""
        return sum(row.cost for row in self.rows.values())

    def totals(self) -> RunTotals:
        """Return the whole run in one row."""
        rows = self.rows.values()
        usage = Usage()
        for row in rows:
            usage = usage + row.usage
        by_status = {status: sum(row.status[status] for row in rows) for status in AnswerCounts().status}
        return RunTotals(
            planned=sum(row.planned for row in rows),
            usage=usage if usage != Usage() else None,
            cost=round(self.cost, 6) if any(row.priced for row in rows) else None,
            seconds=round(sum(row.seconds for row in rows), 3),
            **by_status,
        )


def tally_records_and_map_offsets(
    manifest: Manifest, offsets_and_records: Iterable[tuple[int, CountedRecord]]
) -> tuple[AnswerTally, dict[str, int]]:
    """Return the counts of these records beside what their manifest plans, and the place of each key's latest one."""
    tally, offsets = AnswerTally(), dict[str, int]()
    tally.set_planned_answers(manifest.spec, manifest.orders, manifest.planned)
    for offset, record in offsets_and_records:
        tally.add_record(record)
        offsets[record.key] = offset
    return tally, offsets
