"""A run as a notebook has it: its state, and its answers as records or as a data frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from genaipa.errors import UsageError
from genaipa.files.html import format_one_line_repr, html_table, make_data_frame
from genaipa.runs.procedure import get_plan_if_procedure_run
from genaipa.runs.selection import find_run, find_run_or_study, list_run_folders_oldest_first
from genaipa.runs.slices import SlicedStudy, map_slices_to_studies, read_study_status_and_tally
from genaipa.workspace import find_workspace, list_names

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Manifest, Record, RunStatus
    from genaipa.runs.status import AnswerTally
    from genaipa.workspace import Workspace, WorkspaceLike

_USAGE = {"tokens_in": "input", "tokens_cached": "cached", "tokens_out": "output"}
_COLUMNS = (
    *("run", "key", "system", "model", "document", "initialization", "wording", "prompts", "repetition"),
    *("question", "status"),
    *("asked", "reply", "digest", "seconds", "cost", *_USAGE, "error"),
)


class Run:
    """A run: its spec, every answer, and its status. A study in slices is read as one run.

    Everything is read from its folder when it is asked for, so that a run that goes on elsewhere shows how far it is.

    >>> run = genaipa.load_run("demo")
    >>> run
    <Run ...-demo: complete, 192 of 192 answers>
    >>> run.manifest.spec.systems
    ('extractive', 'careful', 'breezy', 'pensive@none', 'pensive@low', 'pensive@high')
    """

    def __init__(self, workspace: Workspace, source: RunFolder | SlicedStudy) -> None:
        self.workspace = workspace
        """The workspace in whose store the scores of its answers are."""
        self._source = source

    @property
    def name(self) -> str:
        """The name of the folder or the study, by which commands call it."""
        return self._source.name

    @property
    def folder(self) -> RunFolder:
        """The folder on disk, with every message and record; a UsageError for a study, which has one for each slice."""
        return find_run(self.workspace, self.name)

    @property
    def slices(self) -> list[Run]:
        """The slices of a study that are here, each a run; none of any other run."""
        return [Run(self.workspace, folder) for folder in self._source.as_folders if folder is not self._source]

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self.folder.path

    @property
    def manifest(self) -> Manifest:
        """The plan, and everything that went in; of a study that of its first slice, with all documents."""
        first, *other_manifests = (folder.manifest() for folder in self._source.as_folders)
        for manifest in other_manifests:
            first.documents |= manifest.documents
        return first

    @property
    def status(self) -> RunStatus:
        """The run's status: complete, partial, capped, interrupted, waiting (for replies by hand), or running."""
        return self._read_status_and_tally()[0]

    def _read_status_and_tally(self) -> tuple[RunStatus, AnswerTally]:
        if isinstance(self._source, SlicedStudy):
            return read_study_status_and_tally(self._source)
        manifest, tally = self._source.read_manifest_and_tally()
        return manifest.status, tally

    def answers(self) -> list[Record]:
        """Return the latest answer to each question, in the order in which they came; without failures."""
        return [record for record in self._latest_records() if record.status != "failed"]

    def failures(self) -> list[Record]:
        """Return the questions to which no reply came, each with its `error`."""
        return [record for record in self._latest_records() if record.status == "failed"]

    def _latest_records(self) -> list[Record]:
        return [record for _, record in self._latest_records_with_folder_names()]

    def _latest_records_with_folder_names(self) -> list[tuple[str, Record]]:
        """Return the latest record of each key, behind the name of the folder that keeps it."""
        latest: dict[str, tuple[str, Record]] = {}
        for folder in self._source.as_folders:
            latest |= {record.key: (folder.name, record) for record in folder.read_records() if record.kind == "answer"}
        return list(latest.values())

    def to_frame(self) -> pd.DataFrame:
        """Return a row per question: the answer, or the failure (`status`, `error`), with its time and cost.

        `run` and `key` are as in the frame of scores. The records of another task than the procedure have their
        coordinates as columns as well, and the prediction and score (0 to 1) that were read in each.
        Needs pandas: a MissingPackageError where it isn't installed.
        """
        plan, records = (
            get_plan_if_procedure_run(self._source.as_folders[0].manifest().spec),
            self._latest_records_with_folder_names(),
        )
        sets, columns = ", ".join(plan.prompts) if plan else "", dict.fromkeys(_COLUMNS)
        if plan is None:
            columns |= dict.fromkeys(
                (*(name for _, record in records for name in record.coordinates), "prediction", "score")
            )
        return make_data_frame((self._frame_row(run, record, sets) for run, record in records), list(columns))

    def _frame_row(self, run_name: str, record: Record, prompt_sets: str) -> dict[str, object]:
        row = {name: getattr(record, name, record.coordinates.get(name)) for name in _COLUMNS}
        row["prompts"] = row["prompts"] or prompt_sets
        usage = {column: getattr(record.usage, field, None) for column, field in _USAGE.items()}
        task_columns = {**record.coordinates, "prediction": record.prediction, "score": record.score}
        return {
            **task_columns,
            **row,
            **usage,
            "run": run_name,
            "error": record.error.message if record.error else None,
        }

    def __repr__(self) -> str:
        status, tally = self._read_status_and_tally()
        totals = tally.totals()
        return format_one_line_repr(
            "Run", self.name, f"{status}, {totals.answer_count:,} of {totals.planned:,} answers"
        )

    def _repr_html_(self) -> str:
        status, tally = self._read_status_and_tally()
        head = ("system", "asked with", "planned", "answered", "refused", "cut off", "failed", "cost ($)")
        rows = (
            (system, way, f"{row.planned:,}", *row.status.values(), f"{row.cost:.4f}" if row.priced else "")
            for (system, way), row in tally.rows.items()
        )
        return html_table(f"{self.name}: {status}", rows, head)


Runs = str | Run | Iterable[str | Run]
"""Runs, or systems for all of their runs, as a function takes them: one or several, by name or as they are."""


def load_run(name: str = "latest", workspace: WorkspaceLike = None) -> Run:
    """Load a run by its name or path, an unambiguous part of its name, or `latest`.

    An UnknownNameError where no run has that name, a UsageError where several have.

    >>> answers = genaipa.load_run("demo").answers()
    >>> answers[0].document, answers[0].status
    ('brindlecart', 'answered')
    """
    run_workspace = find_workspace(workspace)
    return Run(run_workspace, find_run_or_study(run_workspace, name))


def list_runs(workspace: WorkspaceLike = None) -> list[Run]:
    """List the runs of the workspace, oldest first; a published study's before all others, and one in slices once.

    >>> genaipa.list_runs()
    [<Run ...-demo: complete, 192 of 192 answers>]
    """
    run_workspace = find_workspace(workspace)
    folders = list_run_folders_oldest_first(run_workspace)
    studies = map_slices_to_studies(folders)
    sources = (studies.get(folder.name, folder) for folder in folders)
    return [Run(run_workspace, source) for source in {source.name: source for source in sources}.values()]


def resolve_workspace_and_run_names(runs: Runs, workspace: WorkspaceLike = None) -> tuple[Workspace, tuple[str, ...]]:
    """Return the workspace of these runs, and their names; a UsageError for runs of several workspaces."""
    selected = (runs,) if isinstance(runs, str | Run) else tuple(runs)
    homes = {run.workspace.home: run.workspace for run in selected if isinstance(run, Run)}
    if len(homes) > 1:
        raise UsageError("the runs belong to several workspaces; name runs of one workspace.")
    return find_workspace(workspace or next(iter(homes.values()), None)), list_names(selected)
