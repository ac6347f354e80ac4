"""The seam of reports to kinds of tasks whose answers people don't score."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from genaipa.kinds import kind_of
from genaipa.plugins import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.reports.chapters.chapter import Chapter
    from genaipa.reports.gather import Gathered
    from genaipa.reports.table import Table
    from genaipa.runs.selection import Source
    from genaipa.workspace import Workspace


class Against(NamedTuple):
    """The differences between two systems or runs: the whole table, its main rows, sentences on what can't be read."""

    table: Table
    main: Table
    problems: list[str]


class Results(Protocol):
    """A kind's part of reports, made of a workspace and of the kind's own runs.

    `name` is its key in JSON; `problems` are sentences on what can't be read, `notable` the ones no reader may miss,
    `facts` rows of the report's head: what was asked, in how many items.
    """

    name: str
    problems: list[str]

    def __init__(self, workspace: Workspace, sources: Sequence[Source]) -> None: ...

    @property
    def notable(self) -> list[str]: ...  # noqa: D102 - above

    @property
    def facts(self) -> list[tuple[str, str]]: ...  # noqa: D102 - above

    def chapters(self, gathered: Gathered) -> list[Chapter]:
        """The chapters of a report."""
        ...

    def leaderboard(self, gathered: Gathered) -> Table | None:
        """All systems in one table; None if there is nothing to rank."""
        ...

    @classmethod
    def against(cls, workspace: Workspace, first: str, second: str) -> Against:
        """Compare two systems, runs, or RUN:SYSTEM, on what both were asked; an empty table where that is nothing."""
        ...


def by_rule(sources: Sequence[Source]) -> list[type[Results]]:
    """The classes of the kinds of these runs that have results of their own, each once."""
    targets = dict.fromkeys(kind_of(source.manifest.spec.kind).results for source in sources)
    return [load(target) for target in targets if target]


def add_results(workspace: Workspace, gathered: Gathered) -> Gathered:
    """Add the results of the runs among those gathered that are scored by a rule."""
    gathered.by_rule = [one(workspace, gathered.sources) for one in by_rule(gathered.sources)]
    gathered.problems += [problem for one in gathered.by_rule for problem in one.problems]
    return gathered
