"""A chapter of a report, what the files of this folder need to make one, and what a kind brings that has its own.

A file has a subclass of `ChapterMaker`, which `OWN` lists; a package names its own by an entry point. A kind whose
answers people don't score has `TaskKindResults`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from genaipa.answers.tidy import ORDERED
from genaipa.files.html import format_one_line_repr
from genaipa.kinds import find_kind_or_placeholder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pandas as pd

    from genaipa.answers.study import Study
    from genaipa.reports.figures.figure import Figure, FigureScope
    from genaipa.reports.table import Table
    from genaipa.runs.selection import SelectedRun
    from genaipa.workspace import Workspace


@dataclass(frozen=True, repr=False)
class Chapter:
    """A part of a report: its tables and figures, with sentences on what it lacks and why.

    `name` is its anchor on the page, `lead` says in a sentence or two what a reader sees here. `method` is HTML for the
    page's section on methods, `references` (anchor → HTML) are the works that it cites. `first` are the names of tables
    that come before the figures: they have the findings; a chapter's that `is_key` are shown in a terminal, too.
    """

    name: str
    title: str
    lead: str
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    method: str = ""
    references: Mapping[str, str] = field(default_factory=dict)
    first: tuple[str, ...] = ()
    is_key: bool = False

    def __repr__(self) -> str:
        return format_one_line_repr("Chapter", self.name, f"{len(self.tables)} tables, {len(self.figures)} figures")

    def __bool__(self) -> bool:
        """Tell whether there is anything in it."""
        return bool(self.tables or self.figures or self.absent)

    def transform_tables_and_figures(
        self, transform_table: Callable[[Table], Table], transform_figure: Callable[[Figure], Figure]
    ) -> Chapter:
        """Return the chapter with its tables and figures as these two make them."""
        return replace(
            self, tables=list(map(transform_table, self.tables)), figures=list(map(transform_figure, self.figures))
        )


class ChapterMaker:
    """Base of what makes a chapter; a subclass overrides `make`, and what else it has."""

    needs: ClassVar[frozenset[str]] = frozenset()
    """The names of facts: where nothing is known of one of them, there is no chapter."""
    needs_scores: ClassVar[bool] = False
    """Whether there is no chapter where no score counts."""
    after: ClassVar[str] = ""
    """The name of the chapter after which a package's stands; without one it stands at the end."""
    is_urgent: ClassVar[bool] = False
    """Whether its notable sentences come before the core's, since they change what a reader does."""

    def make(self, study: Study, scope: FigureScope) -> Chapter | None:  # noqa: ARG002 - for subclasses
        """Make the chapter; None, or one without contents, where there is nothing to say.

        `scope` is what the figures of one report share: the order of systems and questions, the names of categories,
        the bounds of the bands.
        """
        return None

    def system_notes(self, study: Study) -> Mapping[str, str]:  # noqa: ARG002 - for subclasses
        """Return system → a sentence that stands with all of its numbers: under tables, figures and comparisons."""
        return {}

    def notable(self, study: Study) -> Iterable[str]:  # noqa: ARG002 - for subclasses
        """Return sentences that no reader may miss, for the page's head, the terminal and JSON."""
        return ()


def nonempty_tables(*tables: Table) -> list[Table]:
    """Return the tables that have a row."""
    return [table for table in tables if table]


def nonempty_figures(*figures: Figure | None) -> list[Figure]:
    """Return the figures that there are."""
    return [figure for figure in figures if figure is not None]


def has_experiment(frame: pd.DataFrame, experiment: str) -> bool:
    """Tell whether a question of this experiment was planned, or has a published score."""
    return bool((frame["experiment"] == experiment).any())


def list_experiments_in_table(table: Table) -> list[str]:
    """Return the experiments in a table: the paper's in its order, then others."""
    names = sorted({str(name) for name in table.data["experiment"]})
    known_experiments = [name for name in ORDERED["experiment"] if name in names]
    return [*known_experiments, *(name for name in names if name not in known_experiments)]


class ResultsComparison(NamedTuple):
    """The differences between two systems or runs: the whole table, its main rows, sentences on what can't be read."""

    table: Table
    main: Table
    problems: list[str]


class TaskKindResults(Protocol):
    """A kind's part of reports, made of a workspace and of the kind's own runs.

    `name` is its key in JSON; `problems` are sentences on what can't be read, `notable` the ones no reader may miss,
    `facts` rows of the report's head: what was asked, in how many items.
    """

    name: str
    problems: list[str]

    def __init__(self, workspace: Workspace, sources: Sequence[SelectedRun]) -> None: ...

    @property
    def notable(self) -> list[str]: ...  # noqa: D102 - above

    @property
    def facts(self) -> list[tuple[str, str]]: ...  # noqa: D102 - above

    def chapters(self, study: Study) -> list[Chapter]:
        """Return the chapters of a report."""
        ...

    def leaderboard(self, study: Study) -> Table | None:
        """All systems in one table; None if there is nothing to rank."""
        ...

    @classmethod
    def compare_systems(
        cls, workspace: Workspace, first_system_or_run: str, second_system_or_run: str
    ) -> ResultsComparison:
        """Compare two systems, runs, or RUN:SYSTEM, on what both were asked; an empty table where that is nothing."""
        ...


def result_classes_of_run_kinds(sources: Sequence[SelectedRun]) -> list[type[TaskKindResults]]:
    """Return the classes of the kinds of these runs that have results of their own, each once."""
    kinds = dict.fromkeys(source.manifest.spec.kind for source in sources)
    return [results for kind in kinds if (results := find_kind_or_placeholder(kind).load_results_class())]


def make_rule_scored_results(workspace: Workspace, sources: Sequence[SelectedRun]) -> list[TaskKindResults]:
    """Return the results of the runs among these that are scored by a rule."""
    return [kind(workspace, sources) for kind in result_classes_of_run_kinds(sources)]
