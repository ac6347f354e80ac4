"""Count a run: answers, refusals, failures, tokens and money, per system and initialization."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from genaipa.runs.records import PROCEDURE, MeasuredHead, RunSpec, Status, Totals
from genaipa.systems.base import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sized

    from genaipa.runs.records import Record


@dataclass
class Count:
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

    @property
    def kept(self) -> int:
        """Answers that need not be asked again."""
        return self.status["answered"] + self.status["refused"] + self.status["truncated"]

    @property
    def missing(self) -> int:
        """Answers still to be had."""
        return max(0, self.planned - self.kept)

    def spend(self, record: MeasuredHead | Record) -> None:
        """Add a record's tokens, money and time."""
        self.seconds += record.seconds
        if record.usage is not None:
            self.usage = self.usage + record.usage
        if record.cost is not None:
            self.cost += record.cost
            self.priced = True


@dataclass
class Tally:
    """All counts of a run, kept up to date as records arrive."""

    rows: dict[tuple[str, str], Count] = field(default_factory=dict)
    statuses: dict[str, Status] = field(default_factory=dict)
    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    """System → key → the score that the task read by itself, for those that it could."""

    def row(self, system: str, initialization: str) -> Count:
        """The count of one system and initialization."""
        row = self.rows.get((system, initialization))
        if row is None:
            row = self.rows[system, initialization] = Count()
        return row

    def include(self, other: Tally) -> None:
        """Add the counts of a shard, but for what it planned and its keys."""
        for place, count in other.rows.items():
            row = self.row(*place)
            for status, number in count.status.items():
                row.status[status] += number
            row.usage = row.usage + count.usage
            row.cost, row.priced = row.cost + count.cost, row.priced or count.priced
            row.seconds += count.seconds
            row.failed_steps += count.failed_steps

    def plan(self, spec: RunSpec, orders: Mapping[str, Sized], planned: int = 0) -> None:
        """Set how many answers are wanted in each row, by the orders of questions or, without them, `planned`."""
        each = len(spec.prompts) * len(spec.wordings) * sum(len(order) for order in orders.values())
        for system in spec.systems:
            if spec.task != PROCEDURE:
                self.row(system, spec.task).planned = planned
            for initialization in spec.initializations:
                self.row(system, initialization).planned = each

    def add(self, record: MeasuredHead | Record) -> None:
        """Take a record into account; it replaces an earlier one of its key."""
        row = self.row(record.system, record.initialization or record.task)
        row.spend(record)
        previous = self.statuses.get(record.key)
        if record.kind == "answer":
            if previous is not None:
                row.status[previous] -= 1
            row.status[record.status] += 1
        else:
            row.failed_steps += (record.status == "failed") - (previous == "failed")
        self.statuses[record.key] = record.status
        if record.score is not None:
            self.scores.setdefault(record.system, {})[record.key] = record.score

    def kept(self, key: str) -> bool:
        """Whether this answer or step need not be asked again."""
        return self.statuses.get(key, "failed") != "failed"

    @property
    def cost(self) -> float:
        """Money spent so far."""
        return sum(row.cost for row in self.rows.values())

    def totals(self) -> Totals:
        """The whole run in one row."""
        rows = self.rows.values()
        usage = Usage()
        for row in rows:
            usage = usage + row.usage
        counted = {status: sum(row.status[status] for row in rows) for status in Count().status}
        return Totals(
            planned=sum(row.planned for row in rows),
            usage=usage if usage != Usage() else None,
            cost=round(self.cost, 6) if any(row.priced for row in rows) else None,
            seconds=round(sum(row.seconds for row in rows), 3),
            **counted,
        )
