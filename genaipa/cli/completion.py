"""What Tab completes beside commands and flags: systems, documents, runs, questions and the other names.

Called by the shell at each Tab: only what a kind of name needs is read, and nothing is ever said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from genaipa.errors import GenaipaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from genaipa.workspace import Workspace


def _completing(names: Callable[[Workspace, dict[str, Any]], Iterable[str]]) -> Any:
    """A callback for Typer from a function that gives all names; after a comma the next name begins."""

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        from genaipa.workspace import find_workspace

        before, comma, begun = incomplete.rpartition(",")
        folders = (one.params.get("workspace") for one in (context, context.parent) if one is not None)
        try:
            here = find_workspace(next(filter(None, folders), None))
            return [f"{before}{comma}{name}" for name in names(here, context.params) if name.startswith(begun)]
        except (GenaipaError, OSError):
            return []

    complete.__doc__ = names.__doc__
    return complete


@_completing
def systems(here: Workspace, _: dict[str, Any]) -> list[str]:
    """The short names of the catalog, and the systems that need no key."""
    from genaipa.systems.catalog import load_catalog
    from genaipa.systems.provider import builtin_systems

    return [*builtin_systems(), *load_catalog(here)]


@_completing
def documents(here: Workspace, _: dict[str, Any]) -> list[str]:
    """The documents that are here, and those that can be pulled."""
    from genaipa.datasets.base import datasets

    return sorted({*here.names("policies"), *(name for known in datasets() for name in known.documents)})


@_completing
def experiments(_here: Workspace, _: dict[str, Any]) -> list[str]:
    """The presets."""
    from genaipa.runs.experiments import EXPERIMENTS

    return list(EXPERIMENTS)


@_completing
def initializations(_here: Workspace, _: dict[str, Any]) -> list[str]:
    """The ways in which a system is introduced to a document."""
    from genaipa.runs.records import INITIALIZATIONS

    return list(INITIALIZATIONS)


@_completing
def wordings(_here: Workspace, _: dict[str, Any]) -> list[str]:
    """The wordings of a question."""
    from genaipa.questions.sets import WORDINGS

    return [*WORDINGS, "all"]


@_completing
def question_sets(here: Workspace, _: dict[str, Any]) -> list[str]:
    """The question sets."""
    return list(here.names("questions"))


@_completing
def prompts(here: Workspace, _: dict[str, Any]) -> list[str]:
    """The templates."""
    return list(here.names("prompts"))


@_completing
def runs(here: Workspace, _: dict[str, Any]) -> list[str]:
    """The runs, the newest first."""
    return _runs(here)


@_completing
def runs_and_systems(here: Workspace, _: dict[str, Any]) -> list[str]:
    """The runs, and the systems that were asked in them."""
    from genaipa.runs.folder import run_folders

    asked = {name for folder in run_folders(here) for name in folder.manifest().spec.systems}
    return [*sorted(asked), *_runs(here)]


@_completing
def answers(here: Workspace, given: dict[str, Any]) -> list[str]:
    """The questions of the run that is named before."""
    from genaipa.runs.folder import find_run

    orders = find_run(here, str(given.get("run"))).manifest().orders
    return sorted({question for order in orders.values() for question in order})


def _runs(here: Workspace) -> list[str]:
    from genaipa.runs.folder import run_folders

    return ["latest", *(folder.name for folder in reversed(run_folders(here)))]
