"""Completion with Tab of systems, documents, runs, questions and other names.

Called by the shell at each Tab: only what a kind of name needs is read, and nothing is ever said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from genaipa.cli.terminal.options import current_workspace
from genaipa.errors import GenaipaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from genaipa.workspace import Workspace


def _completing(names: Callable[[Workspace, dict[str, Any]], Iterable[str]]) -> Any:
    """A callback for Typer from a function that gives all names; after a comma the next name begins."""

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        before, comma, begun = incomplete.rpartition(",")
        try:
            here = current_workspace()
            return [f"{before}{comma}{name}" for name in names(here, context.params) if name.startswith(begun)]
        except (GenaipaError, OSError):
            return []

    return complete


def of(names: Callable[[], Iterable[str] | None]) -> Any:
    """A callback for Typer from a function that gives all names, wherever it is called."""
    return _completing(lambda _here, _given: names() or ())


def _systems(here: Workspace, _given: dict[str, Any]) -> list[str]:
    from genaipa.systems.catalog import load_catalog
    from genaipa.systems.provider import list_builtin_systems

    return [*list_builtin_systems(), *load_catalog(here)]


def _documents(here: Workspace, _given: dict[str, Any]) -> list[str]:
    from genaipa.datasets.base import load_datasets

    return sorted({*here.names("policies"), *(name for known in load_datasets() for name in known.documents)})


def _data_sets(_here: Workspace, _given: dict[str, Any]) -> list[str]:
    from genaipa.datasets.base import dataset_names

    return dataset_names()


def _experiments(_here: Workspace, _given: dict[str, Any]) -> Iterable[str]:
    from genaipa.runs.experiments import EXPERIMENTS

    return EXPERIMENTS


def _initializations(_here: Workspace, _given: dict[str, Any]) -> Iterable[str]:
    from genaipa.runs.procedure import INITIALIZATIONS

    return INITIALIZATIONS


def _wordings(_here: Workspace, _given: dict[str, Any]) -> list[str]:
    from genaipa.questions.sets import WORDINGS

    return [*WORDINGS, "all"]


def _sets(here: Workspace, _given: dict[str, Any]) -> list[str]:
    from genaipa.tasks.prompts import set_names

    return set_names(here)


def _templates(here: Workspace, given: dict[str, Any]) -> Iterable[str]:
    """The templates of the set that is named before, or of the usual one."""
    from genaipa.runs.procedure import NEUTRAL
    from genaipa.tasks.prompts import found_prompts

    return found_prompts(here, str(given.get("prompts") or NEUTRAL)).files


def _runs(here: Workspace, _given: dict[str, Any]) -> list[str]:
    from genaipa.runs.selection import run_folders
    from genaipa.runs.slices import group_slices

    folders = run_folders(here)
    return ["latest", *group_slices(folders), *(folder.name for folder in reversed(folders))]


def _runs_and_systems(here: Workspace, given: dict[str, Any]) -> list[str]:
    """The runs, after the systems that were asked in them, by their full and their short names."""
    from genaipa.runs.selection import run_folders
    from genaipa.systems.provider import shorten_names

    asked = {name for folder in run_folders(here) for name in folder.head().spec.systems}
    return [*sorted({*asked, *shorten_names(asked).values()}), *_runs(here, given)]


def _answers(here: Workspace, given: dict[str, Any]) -> list[str]:
    """The questions of the run that is named before."""
    from genaipa.runs.selection import find_runs

    orders = find_runs(here, str(given.get("run"))).folders[0].manifest().orders
    return sorted({question for order in orders.values() for question in order})


systems, documents, experiments = map(_completing, (_systems, _documents, _experiments))
data_sets = _completing(_data_sets)
initializations, wordings = map(_completing, (_initializations, _wordings))
question_sets = _completing(lambda here, _given: here.names("questions"))
prompts = _completing(_templates)
prompt_sets = _completing(_sets)
runs, runs_and_systems, answers = map(_completing, (_runs, _runs_and_systems, _answers))
