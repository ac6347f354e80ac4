"""The suites' part of reports, and the comparison of two systems, or two runs, on the items that both were asked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.errors import UsageError
from genaipa.reports.results import Against
from genaipa.reports.table import Table, table
from genaipa.runs.selection import sources_of
from genaipa_suites.report import card, chapters, notable
from genaipa_suites.report.merit import LEVEL, Counts, Units
from genaipa_suites.report.results import boards, results
from genaipa_suites.report.scored import Scored
from genaipa_suites.report.tables import MAIN, meaning, percent, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.reports.chapters.chapter import Chapter
    from genaipa.reports.gather import Gathered
    from genaipa.reports.table import Table
    from genaipa.runs.selection import Source
    from genaipa.workspace import Workspace
    from genaipa_suites.report.results import Result


class OfSuites:
    """The suites that were asked in some runs, and predictions that were imported."""

    name = "suites"

    def __init__(self, workspace: Workspace, sources: Sequence[Source]) -> None:
        self.sources = sources
        self.results, self.problems = results(workspace, sources)

    @property
    def notable(self) -> list[str]:
        """Sentences that no reader may miss."""
        return notable.of_suites(self.results)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The suites with their numbers of items; nothing where none was asked."""
        asked = {board.title: len(board.suite.material.items) for board in boards(self.results)}
        said = "; ".join(f"{title} ({number:,} items)" for title, number in asked.items())
        return [("Suites", said)] if asked else []

    def chapters(self, gathered: Gathered) -> list[Chapter]:
        """A chapter for each suite, and chapters that join several."""
        return chapters.chapters(gathered, self.results)

    def leaderboard(self, gathered: Gathered) -> Table | None:
        """The card of the suites; None if none was asked."""
        every = [Scored(one) for one in boards(self.results)]
        chosen = card.shown(every)
        return card.card(gathered, chosen, every) if chosen else None

    @classmethod
    def against(cls, workspace: Workspace, first: str, second: str) -> Against:
        """Compare two sides on the items that both were asked; of each suite the main measures first."""
        table, problems = against(first, second, workspace)
        main = replace(table, data=table.data.groupby("suite", sort=False).head(MAIN)) if table else table
        return Against(table, main, problems)


def against(first: str, second: str, workspace: Workspace) -> tuple[Table, list[str]]:
    """Compare two systems or runs, each named as a system, a run, or RUN:SYSTEM, on the items that both were asked.

    The table is empty where no suite was asked of both alike; beside it are sentences on what can't be read.
    """
    sides = [sources_of(workspace, name) for name in (first, second)]
    read = [results(workspace, sources) for sources in sides]
    ours, theirs = (_by_suite(name, found) for name, (found, _) in zip((first, second), read, strict=True))
    rows: list[dict[str, Any]] = []
    said, drawn = dict[str, None](), dict[str, None]()
    for key in ours:
        if key in theirs and ours[key] is not theirs[key]:
            some, units = _rows(ours[key], theirs[key])
            rows += some
            drawn[units.clusters] = None
            said |= {f"{ours[key].suite.title}: {units.population}": None} if some else {}
    clusters = " or ".join(drawn) or "policies"
    note = (
        f"A is {first}, B {second}; A minus B in percentage points, on the items that both were asked, with the same "
        f"{clusters} drawn for both. {' '.join(said)} Each row is a test of its own: of many, some are apart by chance."
    )
    columns = ["suite", "measure", "items", "policies", "a", "b", "difference", "difference_low", "difference_high"]
    made = table(
        "comparison-suites",
        f"{first} against {second}: suites",
        note,
        pd.DataFrame(rows),
        [*columns, "meaning"],
        headings={
            "policies": clusters,
            "a": "A",
            "b": "B",
            "difference": "A \u2212 B",
            "difference_low": f"{LEVEL} % interval",
        },
        formats={**written(["difference"], "+"), "a": ".2f", "b": ".2f"},
        aside=["name", "how_a", "how_b"],
    )
    return made, sorted({problem for _, problems in read for problem in problems})


def _by_suite(name: str, found: Sequence[Result]) -> dict[tuple[str, str, str, bool], Result]:
    """Suite, split, probe, and whether of files of one's own → the result asked most plainly, on the most items."""
    systems = sorted({result.system for result in found})
    if len(systems) > 1:
        one = ", ".join(f"{name}:{system}" for system in systems)
        raise UsageError(f"'{name}' has {len(systems)} systems; write which one is meant: {one}")
    chosen: dict[tuple[str, str, str, bool], Result] = {}
    for result in sorted(found, key=lambda one: (one.plan.shots, one.plan.wording, -len(one.suite.material.items))):
        own = bool(result.suite.material.own)
        chosen.setdefault((result.name, result.plan.split, result.plan.probe, own), result)
    return chosen


def _rows(first: Result, second: Result) -> tuple[list[dict[str, Any]], Units]:
    """A row for each measure that both have; none without a common item."""
    asked = {outcome.item.id: outcome.item for outcome in first.outcomes}
    both_asked = asked.keys() & {outcome.item.id for outcome in second.outcomes}
    # Of the common items alone: a policy of none of them would be drawn in vain, and be counted in the note.
    units = Units((item for name, item in asked.items() if name in both_asked), first.suite.clusters)
    ours, theirs = (
        Counts([outcome for outcome in result.outcomes if outcome.item.id in both_asked], units)
        for result in (first, second)
    )
    rows = []
    for measure in first.suite.measures:
        both = ours.minus(theirs, measure)
        if both.items:
            ends = percent(both, "difference")
            del ends["difference_sd"]
            means = {"a": 100 * both.means[0], "b": 100 * both.means[1]}
            about = {"suite": _title(first), "measure": measure.heading, "name": measure.name, "items": both.items}
            ways = {"how_a": first.asked, "how_b": second.asked, "policies": both.policies}
            rows.append({**about, **ways, **means, **ends, "meaning": meaning(both)})
    return rows, units


def _title(result: Result) -> str:
    probe = f", probe {result.plan.probe}" if result.plan.probe else ""
    return f"{result.suite.title}, {result.plan.split}{probe}"
