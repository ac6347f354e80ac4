"""A run cut into shards of documents: planned, made once however many begin it, and found again."""

from __future__ import annotations

import hashlib
import tempfile
import weakref
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from genaipa.errors import UsageError
from genaipa.execution.corpus import open_corpus, tell_of_changes
from genaipa.execution.observer import Observer
from genaipa.execution.request import PreparedRun, check_unchanged, digests, make_spec, same_plan
from genaipa.files.locks import held, native_lock
from genaipa.kinds import kind_of
from genaipa.runs.documents import KeptDocuments
from genaipa.runs.records import Digests, Manifest, RunSpec, Shards
from genaipa.runs.shards.folder import ShardedFolder
from genaipa.runs.shards.shard import ShardPlan
from genaipa.systems.catalog import resolve
from genaipa.systems.provider import run_title
from genaipa.tasks.catalog import make_task
from genaipa.tasks.procedure import Procedure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.execution.request import RunRequest
    from genaipa.policies.corpus import Corpus
    from genaipa.policies.document import Document
    from genaipa.runs.corpus import CorpusFacts
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import RunStatus
    from genaipa.runs.tally import Tally
    from genaipa.tasks.base import Task
    from genaipa.workspace import Workspace

_LOCK = ".sharding.lock"


@dataclass
class Cut:
    """A run's documents cut into shards: the spec and digests of the whole, and a line for each shard."""

    spec: RunSpec
    digests: Digests
    shards: Shards
    plans: IO[bytes]
    sources: dict[str, str]
    parts: Parts


@dataclass
class ShardedRun(PreparedRun):
    """A run of shards that can be asked; its `task` is that of the first shard's documents."""

    cut: Cut | None = field(default=None, kw_only=True)
    """None for a run that was begun."""
    wanted: str | None = field(default=None, kw_only=True)
    """The name that was asked for."""
    new: bool = field(default=False, kw_only=True)
    part: tuple[int, int] = field(default=(1, 1), kw_only=True)
    """The part of the shards that is carried out here, from 1, and the number of parts; others have the others."""

    @property
    def spec(self) -> RunSpec:
        """The spec of the whole run, without its documents."""
        return self.cut.spec if self.cut else self.sharded.outline().spec

    @property
    def subject(self) -> str:
        """The number of its documents and shards."""
        shards = self.cut.shards if self.cut else self.sharded.outline().shards
        what = super().subject or f"{shards.documents:,} documents" if shards else ""
        return f"{what} in {shards.number:,} shards" if shards else what

    @property
    def times(self) -> float:
        """The number of its documents as a multiple of its `task`'s."""
        shards = self.cut.shards if self.cut else self.sharded.outline().shards
        return shards.documents / len(self.task.spec.documents) if shards else 1.0

    @property
    def complete(self) -> bool:
        """Whether everything of this part was answered before."""
        if self.part == (1, 1):
            return super().complete
        return self.folder is not None and not self.to_do()

    @property
    def number(self) -> int:
        """The number of shards of the whole run."""
        return self.cut.shards.number if self.cut else self.sharded.number

    def own(self) -> range:
        """The shards of this part."""
        which, parts = self.part
        return range(which - 1, self.number, parts)

    def to_do(self) -> list[int]:
        """The shards of this part in which answers are missing."""
        return self.sharded.to_do(self.own())

    def begin(self, cap: float | None) -> Tally:
        """Write into the manifest that the run goes on; the counts of this part."""
        _, whole = self.sharded.progress()
        self.sharded.note("running", whole, cap)
        return whole if self.part == (1, 1) else self.sharded.counts(self.own())[0]

    def settle(self, cap: float | None) -> tuple[RunStatus, Tally]:
        """Write into the manifest how far the run is, now that nobody asks here; this part's status, and all counts."""
        status, tally = self.sharded.settle(cap)
        # Of a part, other processes decide how the whole ends.
        done = self.part != (1, 1) and not self.to_do()
        return "complete" if done else status, tally

    def share(self, cap: float | None) -> float | None:
        """This part's share of a spending cap of the whole run."""
        return cap if cap is None or self.part == (1, 1) else cap * len(self.own()) / max(1, self.number)

    @property
    def sharded(self) -> ShardedFolder:
        """The folder of a run that was begun."""
        assert isinstance(self.folder, ShardedFolder), "only a run that exists has a folder"
        return self.folder

    def open(self) -> RunFolder:
        """The run folder; made now if the run is new and nobody made it meanwhile."""
        if self.folder is None:
            assert self.cut is not None, "a run is new, or has a folder"
            runs = self.workspace.runs
            runs.mkdir(parents=True, exist_ok=True)
            with held(native_lock(runs / _LOCK), runs):
                found = None if self.new else _found(self.workspace, self.cut, self.wanted)
                self.folder = found or self._make(self.cut)
        return self.folder

    def _make(self, cut: Cut) -> ShardedFolder:
        cut.plans.seek(0)
        copies = cut.parts.copies(cut.shards.documents_each)
        return ShardedFolder.create_with(self.workspace.runs, self.manifest(), cut.plans, cut.sources, copies)

    def manifest(self) -> Manifest:
        """The manifest of a new run, without what there is for each document."""
        assert self.cut is not None, "a new run was cut"
        manifest = super().manifest()
        manifest.spec, manifest.digests, manifest.shards = self.cut.spec, self.cut.digests, self.cut.shards
        manifest.documents, manifest.orders = {}, {}
        return manifest


def prepare_shards(
    workspace: Workspace, request: RunRequest, observer: Observer, opened: tuple[Corpus, CorpusFacts] | None = None
) -> ShardedRun:
    """Prepare the unfinished run of this very plan in shards of this size, else a new one; the errors of its data.

    `opened` is the request's corpus, where it was opened already.
    """
    if not kind_of(request.kind).documents:
        raise UsageError("shards are of documents, and another task has none; leave out the size of shards.")
    for name in request.systems:
        if resolve(name, workspace).manual:
            raise UsageError(f"{name} is driven by hand; ask it in a run of its own, without shards.")
    each, parts = request.shard or 1, Parts(workspace, request, observer, opened)
    cut, first = _cut(parts, each, observer)
    what = Path(parts.corpus.file).stem if parts.corpus else f"{cut.shards.documents}-documents"
    title = request.name or run_title(request.systems, what)
    folder = None if request.new else _found(workspace, cut, request.name)
    if folder is not None and not folder.is_complete():
        observer.said(f"this plan was begun before: going on with {folder.name} (the option new begins afresh)")
    return ShardedRun(
        first, title, folder, request.offline, parts.corpus, cut=cut, wanted=request.name, new=request.new
    )


class Parts:
    """The documents of a request, a shard's at a time: the named ones, or its corpus's, which are streamed."""

    def __init__(
        self,
        workspace: Workspace,
        request: RunRequest,
        observer: Observer,
        opened: tuple[Corpus, CorpusFacts] | None = None,
    ) -> None:
        self._workspace = workspace
        self.corpus: CorpusFacts | None = None
        self._documents: Corpus | None = None
        if request.corpus is None:
            self._whole = make_spec(workspace, request, observer)
            return
        self._documents, self.corpus = opened or open_corpus(request, observer)
        self._request, self._observer = replace(request, corpus=None), observer

    def tasks(self, each: int) -> Iterator[Task]:
        """The task of each shard."""
        if self._documents is None:
            for start in range(0, len(self._whole.documents), each):
                names = self._whole.documents[start : start + each]
                questions = {name: self._whole.questions[name] for name in names}
                yield make_task(replace(self._whole, documents=names, questions=questions), self._workspace)
            return
        alike: dict[frozenset[str], Task] = {}
        for part in self.documents(each):
            kinds = frozenset(one.kind for one in part.values())
            task = alike.get(kinds)
            if isinstance(task, Procedure):
                yield task.about(part)
                continue
            here, request = self._workspace.holding(part), replace(self._request, documents=tuple(part))
            alike[kinds] = make_task(make_spec(here, request, self._observer), here)
            yield alike[kinds]
            self._observer = Observer()  # the same is said of each

    def copies(self, each: int) -> Iterator[bytes]:
        """The lines of each shard's own copies of a corpus's documents."""
        if self._documents is not None:
            lines = self._documents.copies(self._documents.chosen(self._request.limit_documents))
            while part := b"".join(islice(lines, each)):
                yield part

    def documents(self, each: int) -> Iterator[dict[str, Document]]:
        """The documents of each shard of a corpus; none of documents that the workspace has."""
        if self._documents is not None:
            rows = self._documents.chosen(self._request.limit_documents)
            entries = self._documents.entries(rows)
            while part := {one.name: one for one in islice(entries, each)}:
                yield part


def _found(workspace: Workspace, cut: Cut, name: str | None) -> RunFolder | None:
    return same_plan(workspace, cut.spec, cut.digests, name, cut.shards)


def _cut(parts: Parts, each: int, observer: Observer) -> tuple[Cut, Task]:
    """The shards of documents, and the first one's task. The lines are on disk: there may be a million documents."""
    plans: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the run
    known, lines, first = hashlib.sha256(), hashlib.sha256(), None
    kinds, sources, found = dict[str, str](), dict[str, str](), Digests({}, {}, {}, {})
    shards = Shards(each, 0, 0, 0, "", "")
    for task in parts.tasks(each):
        first = first or task
        plan = ShardPlan(dict(task.facts), task.spec.questions, task.orders, task.digests.annotations)
        line = msgspec.json.encode(plan) + b"\n"
        plans.write(line)
        lines.update(line)
        known.update(msgspec.json.encode(plan.documents))
        kinds |= {facts.kind: plan.questions[name] for name, facts in plan.documents.items()}
        sources |= task.shared if isinstance(task, Procedure) else {}
        own = digests(task)
        prompts, asked = found.prompts | own.prompts, found.questions | own.questions
        found = replace(own, prompts=prompts, questions=asked, documents={}, annotations={})
        questions = shards.questions + sum(map(len, plan.orders.values()))
        documents = shards.documents + len(plan.documents)
        shards = Shards(each, shards.number + 1, documents, questions, known.hexdigest(), lines.hexdigest())
        for note in task.notes:
            observer.said(note)
    assert first is not None, "there is a document"
    cut = Cut(replace(first.spec, documents=(), questions=kinds), found, shards, plans, sources, parts)
    weakref.finalize(cut, plans.close)
    return cut, first


def resume_shards(workspace: Workspace, folder: ShardedFolder, observer: Observer, *, offline: bool) -> ShardedRun:
    """Prepare a run of shards that was begun before; a RunError if what all shards share has changed since."""
    folder.check_plans()
    task, manifest = task_of(workspace, folder, 0), folder.outline()
    check_shared(folder, manifest, digests(task), {})
    for note in task.notes:
        observer.said(note)
    if manifest.corpus is not None and manifest.status != "complete":
        tell_of_changes(manifest.corpus, observer)
    return ShardedRun(task, manifest.name, folder, offline, manifest.corpus)


def check_shared(folder: ShardedFolder, outline: Manifest, now_is: Digests, documents: dict[str, str]) -> None:
    """Raise a RunError if what a shard's answers depend on is not as the run and the plan of its documents have it."""
    # Another shard's documents may be of another kind, with questions of their own.
    asked = {name: known for name, known in outline.digests.questions.items() if name in now_is.questions}
    outline.digests = replace(outline.digests, questions=asked, documents=documents)
    check_unchanged(folder, outline, now_is)


def task_of(workspace: Workspace, folder: ShardedFolder, index: int) -> Task:
    """The task of a shard."""
    plan, shard = folder.plan(index), folder.shard(index)
    spec = replace(folder.outline().spec, documents=tuple(plan.documents), questions=plan.questions)
    if folder.outline().corpus is not None:
        workspace = workspace.holding(KeptDocuments(shard.path).checked(plan.documents))
    return make_task(spec, workspace, shard)
