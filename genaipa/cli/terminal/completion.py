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


def _make_completion_callback(list_names: Callable[[Workspace, dict[str, Any]], Iterable[str]]) -> Any:
    """Return a callback for Typer from a function that gives all names; after a comma the next name begins."""

    def complete_last_name(context: typer.Context, incomplete: str) -> list[str]:
        before, comma, begun = incomplete.rpartition(",")
        try:
            workspace = current_workspace()
            return [
                f"{before}{comma}{name}" for name in list_names(workspace, context.params) if name.startswith(begun)
            ]
        except (GenaipaError, OSError):
            return []

    return complete_last_name


def make_name_completion_callback(list_names: Callable[[], Iterable[str] | None]) -> Any:
    """Return a callback for Typer from a function that gives all names, wherever it is called."""
    return _make_completion_callback(lambda _here, _given: list_names() or ())


def _list_systems(workspace: Workspace, _parameters: dict[str, Any]) -> list[str]:
    from genaipa.systems.catalog import load_usable_system_entries
    from genaipa.systems.provider import list_builtin_systems

    return [*list_builtin_systems(), *load_usable_system_entries(workspace)]


def _list_documents(workspace: Workspace, _parameters: dict[str, Any]) -> list[str]:
    from genaipa.datasets.base import iterate_loadable_datasets

    return sorted(
        {
            *workspace.nearest_files("policies"),
            *(name for dataset in iterate_loadable_datasets() for name in dataset.documents),
        }
    )


def _list_data_sets(_workspace: Workspace, _parameters: dict[str, Any]) -> list[str]:
    from genaipa.datasets.base import dataset_names

    return dataset_names()


def _list_experiments(_workspace: Workspace, _parameters: dict[str, Any]) -> Iterable[str]:
    from genaipa.runs.experiments import EXPERIMENTS

    return EXPERIMENTS


def _list_initializations(_workspace: Workspace, _parameters: dict[str, Any]) -> Iterable[str]:
    from genaipa.runs.procedure import INITIALIZATIONS

    return INITIALIZATIONS


def _list_wordings(_workspace: Workspace, _parameters: dict[str, Any]) -> list[str]:
    from genaipa.questions.sets import WORDINGS

    return [*WORDINGS, "all"]


def _list_prompt_sets(workspace: Workspace, _parameters: dict[str, Any]) -> list[str]:
    from genaipa.tasks.prompts import list_prompt_sets

    return list_prompt_sets(workspace)


def _list_prompt_templates(workspace: Workspace, parameters: dict[str, Any]) -> Iterable[str]:
    """Return the templates of the set that is named before, or of the usual one."""
    from genaipa.runs.procedure import NEUTRAL
    from genaipa.tasks.prompts import assemble_prompts_unchecked

    return assemble_prompts_unchecked(workspace, str(parameters.get("prompts") or NEUTRAL)).files


def _list_run_and_study_names(workspace: Workspace, _parameters: dict[str, Any]) -> list[str]:
    from genaipa.runs.selection import list_run_folders_oldest_first
    from genaipa.runs.slices import group_slices_by_study_name

    folders = list_run_folders_oldest_first(workspace)
    return ["latest", *group_slices_by_study_name(folders), *(folder.name for folder in reversed(folders))]


def _list_run_and_system_names(workspace: Workspace, parameters: dict[str, Any]) -> list[str]:
    """Return the runs, after the systems that were asked in them, by their full and their short names."""
    from genaipa.runs.selection import list_run_folders_oldest_first
    from genaipa.systems.provider import shorten_system_names

    systems = {
        name for folder in list_run_folders_oldest_first(workspace) for name in folder.read_manifest_head().spec.systems
    }
    return [
        *sorted({*systems, *shorten_system_names(systems).values()}),
        *_list_run_and_study_names(workspace, parameters),
    ]


def _list_question_ids_of_run(workspace: Workspace, parameters: dict[str, Any]) -> list[str]:
    """Return the questions of the run that is named before."""
    from genaipa.runs.selection import find_run_or_study

    orders = find_run_or_study(workspace, str(parameters.get("run"))).as_folders[0].manifest().orders
    return sorted({question for order in orders.values() for question in order})


systems, documents, experiments = map(_make_completion_callback, (_list_systems, _list_documents, _list_experiments))
data_sets = _make_completion_callback(_list_data_sets)
initializations, wordings = map(_make_completion_callback, (_list_initializations, _list_wordings))
question_sets = _make_completion_callback(lambda here, _given: here.nearest_files("questions"))
prompts = _make_completion_callback(_list_prompt_templates)
prompt_sets = _make_completion_callback(_list_prompt_sets)
runs, runs_and_systems, answers = map(
    _make_completion_callback, (_list_run_and_study_names, _list_run_and_system_names, _list_question_ids_of_run)
)
