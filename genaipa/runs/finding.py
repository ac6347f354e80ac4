"""Find the runs of a workspace: by a name, a part of one, or all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.errors import UnknownNameError, UsageError
from genaipa.files.names import folder_words
from genaipa.runs.folder import RunFolder
from genaipa.runs.manifest import MANIFEST, MANIFEST_COPY

if TYPE_CHECKING:
    from pathlib import Path

    from genaipa.workspace import Workspace


def is_run(path: Path) -> bool:
    """Whether a folder is a run, by its manifest or the copy of it."""
    return any((path / name).is_file() for name in (MANIFEST, MANIFEST_COPY))


def run_folders(workspace: Workspace) -> list[RunFolder]:
    """The runs of a workspace, oldest first; imported ones, whose names say no time, before all others."""
    # A manifest that is lost has a copy beside it, which is read in its place.
    known = {path.parent for name in (MANIFEST, MANIFEST_COPY) for path in workspace.runs.glob(f"*/{name}")}
    folders = [path for path in known if not path.name.startswith(".")]
    return [RunFolder(path) for path in sorted(folders, key=lambda path: (path.name[:1].isdigit(), path.name))]


def find_run(workspace: Workspace, name: str) -> RunFolder:
    """The run of that name, path, or unambiguous part of a name.

    `latest` is the newest in which answers were asked for: a judge's runs come after the judged ones.
    """
    direct = workspace.home / name
    for path in (direct, workspace.runs / name):
        if is_run(path):
            return RunFolder(path)
    runs = run_folders(workspace)
    if name == "latest" and runs:
        return next((run for run in reversed(runs) if not run.is_judges), runs[-1])
    words = folder_words(name) or name
    matching = [run for run in runs if name in run.name or words in run.name]
    if len(matching) > 1:
        matching = [run for run in matching if run.is_called(words)] or matching
    if len(matching) == 1:
        return matching[0]
    if matching:
        newest = ", ".join(run.name for run in reversed(matching[-5:]))
        raise UsageError(f"'{name}' could be any of {len(matching)} runs, such as {newest}; write more of the name.")
    known = [*(run.name for run in runs[-5:]), *(["latest"] if runs else [])]
    raise UnknownNameError("run", name, known, "See: genaipa runs")
