"""Prepare a run: a new one by a request, the unfinished one of the same plan, or one by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.errors import UsageError
from genaipa.execution.corpus import MOST_DOCUMENTS, given, in_shards, kept, open_corpus, taken
from genaipa.execution.observer import Observer
from genaipa.execution.request import PreparedRun, check_unchanged, digests, make_spec, same_plan
from genaipa.execution.shards.request import prepare_shards, resume_shards
from genaipa.files.names import folder_words
from genaipa.kinds import kind_of
from genaipa.runs.finding import find_run
from genaipa.runs.shards.folder import ShardedFolder
from genaipa.systems.provider import run_title
from genaipa.tasks.catalog import make_task

if TYPE_CHECKING:
    from genaipa.execution.request import RunRequest
    from genaipa.workspace import Workspace


def prepare(workspace: Workspace, request: RunRequest, observer: Observer | None = None) -> PreparedRun:
    """Prepare the unfinished run of this very plan, else a new one.

    A UsageError, UnknownNameError or DataError for a request that can't be carried out; nothing is written.
    """
    observer, corpus = observer or Observer(), None
    if request.name is not None and not folder_words(request.name):
        raise UsageError(f"the name '{request.name}' leaves nothing for the folder's name; use letters or digits.")
    workspace, request = given(workspace, request, observer)
    if request.shard is None and request.corpus is not None and kind_of(request.kind).documents:
        opened = open_corpus(request, observer)
        if opened[1].asked > MOST_DOCUMENTS:
            return prepare_shards(workspace, in_shards(request, observer), observer, opened)
        workspace, request, corpus = taken(workspace, request, *opened)
    elif request.corpus is None and (request.limit_documents is not None or request.stratify is not None):
        raise UsageError("a sample is drawn from a corpus; name its file (documents of a workspace are named).")
    if request.shard is not None:
        return prepare_shards(workspace, request, observer)
    spec = make_spec(workspace, request, observer)
    task = make_task(spec, workspace)
    title = request.name or run_title(spec.systems, *(spec.documents or (spec.task,)))
    folder = None if request.new else same_plan(workspace, spec, digests(task), request.name)
    for note in () if folder else task.notes:
        observer.said(note)
    if folder is not None and not folder.is_complete():
        observer.said(f"this plan was begun before: going on with {folder.name} (the option new begins afresh)")
    return PreparedRun(task, title, folder, request.offline, corpus)


def resume(workspace: Workspace, name: str, observer: Observer | None = None, *, offline: bool = False) -> PreparedRun:
    """Prepare a run that was begun before, by its name; a RunError if its inputs have changed since."""
    observer = observer or Observer()
    folder = find_run(workspace, name)
    if isinstance(folder, ShardedFolder):
        return resume_shards(workspace, folder, observer, offline=offline)
    manifest = folder.manifest()
    task = make_task(manifest.spec, kept(workspace, folder, manifest, observer), folder)
    check_unchanged(folder, manifest, digests(task))
    return PreparedRun(task, manifest.name, folder, offline, manifest.corpus)
