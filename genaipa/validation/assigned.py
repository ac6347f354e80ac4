"""Whether the documents, experiments and systems that desk.yaml assigns to analysts exist."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from genaipa.errors import GenaipaError, clipped, nearest
from genaipa.runs.experiments import EXPERIMENTS
from genaipa.runs.folder import RunFolder
from genaipa.scoring.people import FILE, load_people

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from genaipa.workspace import Workspace


def unknown_assignments(workspace: Workspace, runs: Iterable[Path]) -> Iterator[tuple[str, str, str]]:
    """File, entry and problem of each assigned name that is no document, no experiment and no system of a run."""
    assign: dict[str, tuple[str, ...]] = {}
    with contextlib.suppress(GenaipaError):  # which is told already
        assign = load_people(workspace).assign
    if not assign:
        return
    known = {*workspace.names("policies"), *EXPERIMENTS}
    for path in runs:
        with contextlib.suppress(GenaipaError):
            spec = RunFolder(path).manifest().spec
            known.update(spec.systems, spec.documents)
    for analyst, about in assign.items():
        for name in about:
            if name not in known:
                problem = f"'{clipped(name)}' is no document, experiment or system of a run{nearest(name, known)}"
                yield str(workspace.home / FILE), f"assign.{clipped(analyst)}", problem
