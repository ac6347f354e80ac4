"""A run as a notebook has it: its state, and its answers as records or as a data frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from genaipa.errors import UsageError
from genaipa.files.html import figure_frame, html_table, short_repr
from genaipa.runs.procedure import find_procedure_plan
from genaipa.runs.selection import find_run, run_folders
from genaipa.workspace import find_workspace, names_of

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Manifest, Record, RunStatus
    from genaipa.workspace import Workspace, WorkspaceLike

_USAGE = {"tokens_in": "input", "tokens_cached": "cached", "tokens_out": "output"}
_COLUMNS = (
    *("run", "key", "system", "model", "document", "initialization", "wording", "prompts", "repetition"),
    *("question", "status"),
    *("asked", "reply", "digest", "seconds", "cost", *_USAGE, "error"),
)


class Run:
    """A run: its spec, every answer, and its status.

    Everything is read from its folder when it is asked for, so that a run that goes on elsewhere shows how far it is.

    >>> run = genaipa.load_run("demo")
    >>> run
    <Run ...-demo: complete, 96 of 96 answers>
    >>> run.manifest.spec.systems
    ('extractive', 'careful', 'breezy')
    """

    def __init__(self, workspace: Workspace, folder: RunFolder) -> None:
        self.workspace = workspace
        """The workspace in whose store the scores of its answers are."""
        self.folder = folder
        """The folder on disk, with every message and record."""

    @property
    def name(self) -> str:
        """The folder's name, by which commands call the run."""
        return self.folder.name

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self.folder.path

    @property
    def manifest(self) -> Manifest:
        """The plan, and everything that went in."""
        return self.folder.manifest()

    @property
    def status(self) -> RunStatus:
        """The run's status: complete, partial, capped, interrupted, waiting (for replies by hand), or running."""
        return self.folder.state()[0].status

    def answers(self) -> list[Record]:
        """The latest answer to each question, in the order in which they came; without failures."""
        return [record for record in self._latest() if record.status != "failed"]

    def failures(self) -> list[Record]:
        """The questions to which no reply came, each with its `error`."""
        return [record for record in self._latest() if record.status == "failed"]

    def _latest(self) -> list[Record]:
        records = {record.key: record for record in self.folder.records() if record.kind == "answer"}
        return list(records.values())

    def to_frame(self) -> pd.DataFrame:
        """A row per question that was asked: the answer, or the failure (`status`, `error`), with its time and cost.

        `run` and `key` are as in the frame of scores. The records of another task than the procedure have their
        coordinates as columns as well, and the prediction and score (0 to 1) that were read in each.
        Needs pandas: a MissingPackageError where it isn't installed.
        """
        plan, records = find_procedure_plan(self.manifest.spec), self._latest()
        sets, columns = ", ".join(plan.prompts) if plan else "", dict.fromkeys(_COLUMNS)
        if plan is None:
            columns |= dict.fromkeys((*(name for one in records for name in one.coordinates), "prediction", "score"))
        return figure_frame((self._row(record, sets) for record in records), list(columns))

    def _row(self, record: Record, prompts: str) -> dict[str, object]:
        row = {name: getattr(record, name, record.coordinates.get(name)) for name in _COLUMNS}
        row["prompts"] = row["prompts"] or prompts
        usage = {column: getattr(record.usage, field, None) for column, field in _USAGE.items()}
        own = {**record.coordinates, "prediction": record.prediction, "score": record.score}
        return {**own, **row, **usage, "run": self.name, "error": record.error.message if record.error else None}

    def __repr__(self) -> str:
        manifest, tally = self.folder.state()
        totals = tally.totals()
        return short_repr("Run", self.name, f"{manifest.status}, {totals.kept:,} of {totals.planned:,} answers")

    def _repr_html_(self) -> str:
        manifest, tally = self.folder.state()
        head = ("system", "asked with", "planned", "answered", "refused", "cut off", "failed", "cost ($)")
        rows = (
            (system, way, f"{row.planned:,}", *row.status.values(), f"{row.cost:.4f}" if row.priced else "")
            for (system, way), row in tally.rows.items()
        )
        return html_table(f"{self.name}: {manifest.status}", rows, head)


Runs = str | Run | Iterable[str | Run]
"""Runs, or systems for all of their runs, as a function takes them: one or several, by name or as they are."""


def load_run(name: str = "latest", workspace: WorkspaceLike = None) -> Run:
    """Load a run by its name or path, an unambiguous part of its name, or `latest`.

    An UnknownNameError where no run has that name, a UsageError where several have.

    >>> answers = genaipa.load_run("demo").answers()
    >>> answers[0].document, answers[0].status
    ('brindlecart', 'answered')
    """
    here = find_workspace(workspace)
    return Run(here, find_run(here, name))


def list_runs(workspace: WorkspaceLike = None) -> list[Run]:
    """List the runs of the workspace, oldest first; a published study's before all others.

    >>> genaipa.list_runs()
    [<Run ...-demo: complete, 96 of 96 answers>]
    """
    here = find_workspace(workspace)
    return [Run(here, folder) for folder in run_folders(here)]


def chosen(runs: Runs, workspace: WorkspaceLike = None) -> tuple[Workspace, tuple[str, ...]]:
    """The workspace of these runs, and their names; a UsageError for runs of several workspaces."""
    given = (runs,) if isinstance(runs, str | Run) else tuple(runs)
    homes = {run.workspace.home: run.workspace for run in given if isinstance(run, Run)}
    if len(homes) > 1:
        raise UsageError("the runs are of several workspaces; name runs of one.")
    return find_workspace(workspace or next(iter(homes.values()), None)), names_of(given)
