"""A board with everything that its tables compare: systems, baselines, floors and ceilings, people, published rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from genaipa.errors import GenaipaError
from genaipa_suites.baseline import PREFIX
from genaipa_suites.data import published_rows
from genaipa_suites.material import Given, Outcome
from genaipa_suites.report.merit import Counts, Units

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from genaipa_suites.baseline import Baseline
    from genaipa_suites.data import PublishedRow
    from genaipa_suites.material import Item
    from genaipa_suites.measure import Measure
    from genaipa_suites.report.results import Board, Result

RowKind = Literal["system", "baseline", "floor", "ceiling", "people", "published", "imported"]
_COMPUTED = ("floor", "ceiling")


@dataclass(frozen=True)
class Row:
    """One row of a suite's table: counts of outcomes, or figures (measure → 0 to 1) that somebody else worked out."""

    system: str
    kind: RowKind
    how: str = ""
    counts: Counts | None = None
    result: Result | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    several: bool = False
    """Whether its system was asked in several ways, so that its name alone does not tell it."""

    @property
    def label(self) -> str:
        """Its name among the rows of its board."""
        return f"{self.system} ({self.how.removeprefix('zero-shot, ')})" if self.several else self.system


@dataclass(frozen=True)
class Scored:
    """The rows of a board; what could not be worked out is in `problems`."""

    board: Board
    problems: list[str] = field(default_factory=list)
    imported: tuple[Row, ...] = ()
    """Encoders whose predictions for these items were imported."""

    @cached_property
    def units(self) -> Units:
        """Its policies, or other clusters, which intervals are drawn by."""
        return Units(self.board.suite.material.items, self.board.suite.clusters)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The suite's measures, the main one first."""
        return self.board.suite.measures

    @cached_property
    def asked(self) -> list[Row]:
        """The systems and baselines that runs asked, systems first, the best first among each."""
        rows = [self._asked(result) for result in self.board.results]
        main = self.measures[0]

        def place(row: Row) -> tuple[bool, float, str]:
            value = row.counts.merit(main).value if row.counts and row.counts.outcomes else 0.0
            return row.kind != "system", -value if value == value else 0.0, row.system  # noqa: PLR0124 - NaN

        return sorted(rows, key=place)

    def _asked(self, result: Result) -> Row:
        kind: RowKind = "system"
        if result.baseline:
            kind = "floor" if result.baseline == "floor" else "ceiling" if result.baseline == "ceiling" else "baseline"
        how = result.asked or self._about(result.system)
        several = sum(one.system == result.system for one in self.board.results) > 1
        return Row(result.system, kind, how, Counts(result.outcomes, self.units), result, several=several)

    def _about(self, system: str) -> str:
        return next((one.about for one in self.board.suite.baselines if PREFIX + one.name == system), "")

    @cached_property
    def references(self) -> list[Row]:
        """The suite's floors and ceilings on the same items, worked out now, but for any that a run asked."""
        there = {result.system for result in self.board.results if not result.missing}
        wanted = [one for one in self.board.suite.baselines if one.kind in _COMPUTED and PREFIX + one.name not in there]
        return [row for baseline in wanted if (row := self._computed(baseline)) is not None]

    def _computed(self, baseline: Baseline) -> Row | None:
        suite = self.board.suite
        try:
            reply: Callable[[Item], str] = baseline.make(suite)
            outcomes = suite.together([Outcome(item, suite.given(item, reply(item))) for item in suite.material.items])
        except GenaipaError as error:
            self.problems.append(f"{self.board.title}: {PREFIX}{baseline.name} is left out: {error}")
            return None
        kind: RowKind = "floor" if baseline.kind == "floor" else "ceiling"
        return Row(PREFIX + baseline.name, kind, baseline.about, Counts(outcomes, self.units))

    @property
    def ceiling(self) -> Row | None:
        """The ceiling that counts, of several: that of a system which is shown what every system is."""
        own = [row for row in (*self.asked, *self.references) if row.kind == "ceiling" and row.counts]
        return next((row for row in own if row.system == f"{PREFIX}ceiling"), own[0] if own else None)

    @cached_property
    def people(self) -> list[Row]:
        """The row of people on the same items, where the suite has several references."""
        suite = self.board.suite
        outcomes = [Outcome(item, Given()) for item in suite.material.items]
        figures = {} if self.board.plan.probe else suite.people(outcomes)
        return [Row("people", "people", suite.people_about(outcomes), figures=figures)] if figures else []

    @cached_property
    def _printed(self) -> list[PublishedRow]:
        """The rows that papers print for this split, under the measures of the very same definition."""
        try:
            rows = [] if self.board.plan.probe or self.board.own else published_rows(self.board.suite)
        except GenaipaError as error:
            self.problems.append(str(error))
            return []
        return [row for row in rows if row.split == self.board.plan.split]

    @property
    def published(self) -> list[Row]:
        """The published rows about the whole split, which is said beside a sample of it."""
        whole = "of the whole split" if self.board.plan.limit else ""
        return [
            Row(
                row.system,
                "published",
                "; ".join(filter(None, (whole, row.kind, row.note, row.source))),
                figures={name: value / 100 for name, value in row.values.items()},
            )
            for row in self._printed
            if not row.breakdown
        ]

    @property
    def published_parts(self) -> list[PublishedRow]:
        """The published rows about one group of a break-down."""
        return [row for row in self._printed if row.breakdown]

    @property
    def rows(self) -> list[Row]:
        """Every row, in the order in which tables have them."""
        return [*self.asked, *self.references, *self.people, *self.published, *self.imported]
