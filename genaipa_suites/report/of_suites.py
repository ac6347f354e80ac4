"""The suites' part of reports."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from genaipa.reports.results import Against
from genaipa_suites.report import card, chapters, notable
from genaipa_suites.report.against import against
from genaipa_suites.report.results import boards, results
from genaipa_suites.report.scored import Scored
from genaipa_suites.report.tables import MAIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.reports.chapters.chapter import Chapter
    from genaipa.reports.gather import Gathered
    from genaipa.reports.table import Table
    from genaipa.runs.selection import Source
    from genaipa.workspace import Workspace


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
