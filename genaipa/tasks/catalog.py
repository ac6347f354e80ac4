"""From a spec to its task: made by its kind."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from genaipa.errors import UnknownNameError, UsageError
from genaipa.files.html import make_data_frame
from genaipa.kinds import DEFAULT, PLAIN, find_kind_or_placeholder, list_registered_kind_names, load_kinds
from genaipa.plugins import entry_point_targets, ships_with_genaipa
from genaipa.systems.plugins import find_class_source_file, make_user_class_instance
from genaipa.tasks.base import Task

if TYPE_CHECKING:
    import pandas as pd

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import RunSpec
    from genaipa.workspace import Workspace

ENTRY_POINTS = "genaipa.tasks"


def task_names() -> list[str]:
    """Return the tasks that can be asked for by name: kinds that are one task, and the named ones of the others."""
    named = {name: kind.task_names() for name, kind in load_kinds().items()}
    alone = [name for name, tasks in named.items() if tasks is None]
    return [*alone, *(task for tasks in named.values() for task in tasks or ())]


def find_task_kind_or_plain(task: str) -> str:
    """Return the kind of a task by its name: the kind of that name, else the one with the task, else a plain task's."""
    if task == DEFAULT or task in list_registered_kind_names():
        return task
    having = (name for name, kind in load_kinds().items() if task in (kind.task_names() or ()))
    return next(having, PLAIN)


def list_suites() -> pd.DataFrame:
    """List the suites, a row each: what each asks, its splits, its measures, and the `data` to pull for it.

    Every suite has the split `sample` as well, of made-up items, which needs no data. `genaipa.run(systems, task=NAME,
    split=SPLIT)` asks one.

    >>> suites = genaipa.list_suites().set_index("suite")
    >>> suites.loc["policy-detection", ["splits", "measures"]].to_list()
    ['test, valid, train', 'micro F1, macro F1']
    """
    rows = [row for kind in load_kinds().values() for row in kind.list_task_rows()]
    return make_data_frame(rows, list(rows[0]) if rows else [])


def make_task(spec: RunSpec, workspace: Workspace, resumed_run_folder: RunFolder | None = None) -> Task:
    """Make the task of a spec, or of a run that goes on; a UsageError for an unknown name, or any error of its data."""
    task = find_kind_or_placeholder(spec.kind).make_task_for_spec(spec, workspace)
    task.folder = resumed_run_folder
    return task


def make_entry_point_or_user_task(spec: RunSpec, workspace: Workspace) -> Task:
    """Return the task of a package or of a class of the user's own; a UsageError where there is none."""
    return make_task_of_class(entry_point_targets(ENTRY_POINTS).get(spec.task, spec.task), spec, workspace)


def make_task_of_class(class_path: str, spec: RunSpec, workspace: Workspace) -> Task:
    """Return the task by a class that may be anybody's, as `module:Class`."""
    if ":" not in class_path:
        raise UnknownNameError("task", spec.task, task_names())
    task: object = make_user_class_instance(class_path, spec, workspace)
    if not isinstance(task, Task):
        raise UsageError(f"{class_path} is not a Task; genaipa/tasks/base.py explains how to write a task.")
    return task


def list_entry_point_task_names() -> list[str]:
    """Return the tasks that packages bring."""
    return list(entry_point_targets(ENTRY_POINTS))


def digest_task_file_if_not_shipped(task: Task) -> dict[str, str]:
    """Return name → SHA-256 of the file of a task that is not shipped: a run of it goes on only with the same."""
    module = type(task).__module__
    path = None if ships_with_genaipa(module) else find_class_source_file(module)
    return {} if path is None else {task.name: hashlib.sha256(path.read_bytes()).hexdigest()}
