"""What the commands that report scores begin with: the runs that are meant, with their scores from the store."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from genaipa.errors import MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.reports.gather import Gathered
    from genaipa.runs.selection import Source
    from genaipa.workspace import Workspace

NEEDED = ("matplotlib", "numpy", "pandas", "pyarrow", "scipy", "sqlalchemy")


def check_extra() -> None:
    """A MissingPackageError naming the extra where a package that reports need is not installed."""
    for name in NEEDED:
        if importlib.util.find_spec(name) is None:
            raise MissingPackageError(f"reports need the package '{name}': pip install 'genaipa[reports]'")


def gathered(workspace: Workspace, names: Sequence[str], *, excluded: bool = False) -> Gathered:
    """Everything about these runs and systems; about all runs of the workspace if none is named.

    `excluded` counts what audits left out as well. A MissingPackageError where packages are missing; a UsageError where
    there is no run.
    """
    check_extra()
    from genaipa.runs.selection import everything, select

    return gathered_from(workspace, select(workspace, names) if names else everything(workspace), excluded=excluded)


def gathered_from(workspace: Workspace, sources: Sequence[Source], *, excluded: bool = False) -> Gathered:
    """Everything about runs that were selected already."""
    from genaipa.reports.gather import gather
    from genaipa.scoring.store import existing_store

    with existing_store(workspace) as store:
        return gather(workspace, sources, store, excluded=excluded)
