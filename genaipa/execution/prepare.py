"""Prepare a run: a new one by a request, which makes its spec, the unfinished one of the same plan, or one by its name.

A run has its documents in one folder, or cut into shards: then it is begun as a whole, once, by whoever is first. Its
manifest notes versions, commit and whether the working tree was changed.
"""

from __future__ import annotations

import hashlib
import math
import platform
import subprocess
import tempfile
import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec
from msgspec.structs import replace

import genaipa
from genaipa.datasets.base import find_offering, load_datasets
from genaipa.errors import DataError, RunError, UsageError
from genaipa.execution.observer import Observer
from genaipa.files.locks import hold_folder
from genaipa.files.names import folder_words, make_folder
from genaipa.files.stamps import now
from genaipa.kinds import kind_of
from genaipa.runs.documents import KeptDocuments, load_run_documents, report_corpus_change
from genaipa.runs.folder import RunFolder, ShardPlan
from genaipa.runs.procedure import ask_about, procedure_plan
from genaipa.runs.records import FORMAT, Digests, Manifest, RunSpec, Shards
from genaipa.runs.selection import find_run, run_folders
from genaipa.systems.catalog import ResolvedSystem, resolve_system
from genaipa.systems.provider import list_providers, make_run_title
from genaipa.tasks.catalog import identity, make_task
from genaipa.tasks.planning import check_one_language, resolve_documents
from genaipa.tasks.procedure import Procedure
from genaipa.tasks.request import Resources, make_spec, own_options

if TYPE_CHECKING:
    from genaipa.policies.corpus import Corpus
    from genaipa.policies.document import Document
    from genaipa.runs.records import CorpusFacts
    from genaipa.tasks.base import Task
    from genaipa.tasks.request import RunRequest
    from genaipa.workspace import Workspace


def _resources(observer: Observer, *, offline: bool) -> Resources:
    """Return what a request may need: the published documents, and an observer's ear."""

    def fetch(documents: Sequence[str]) -> None:
        for name in documents:
            if (dataset := find_offering(name)) is None:
                continue
            if offline:
                raise UsageError(
                    f"'{name}' is not here, and this run is offline; "
                    f"run 'genaipa get {dataset.name}' once, or 'genaipa get {dataset.name} --from FOLDER'."
                )
            missing = ", ".join(other for other in documents if other in dataset.documents)
            observer.said(f"{missing}: not here yet, pulling the published {dataset.title} documents (once)")
            with observer.pulling(dataset.title) as progress:
                dataset.pull(origin=None, offline=False, progress=progress)

    return Resources(observer.said, lambda: [name for known in load_datasets() for name in known.documents], fetch)


_PACKAGES = ("langchain-text-splitters", "jinja2", "genai-prices")
"""Beside the providers' own, those whose version can change a message or a reply."""
_version = cache(metadata.version)
"""Of a package; reading it takes a millisecond."""


def versions() -> dict[str, str]:
    """Name → version of Python, genaipa and the installed packages that matter to a run."""
    found = {"python": platform.python_version(), "genaipa": genaipa.__version__}
    for package in (*(package for provider in list_providers() for package in provider.packages), *_PACKAGES):
        try:
            found[package] = _version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def checkout() -> tuple[str | None, bool | None]:
    """(commit, changed since) of the checkout that genaipa runs from; (None, None) where it is an installed wheel."""
    return _read_checkout(Path(genaipa.__file__).resolve().parent.parent)


# Once a process: what it runs is the code as it was when it began, whatever is edited or committed meanwhile.
@cache
def _read_checkout(root: Path) -> tuple[str | None, bool | None]:
    if not (root / ".git").exists():
        return None, None
    # One command says both: first a line on the commit.
    settings = ("core.fsmonitor=false", "core.hooksPath=", "status.showUntrackedFiles=normal", "core.quotePath=false")
    quiet = [word for setting in settings for word in ("-c", setting)]
    command = ["git", *quiet, "-C", str(root), "status", "--porcelain=v2", "--branch", "--no-ahead-behind"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)  # noqa: S603 - it is fixed
    except (OSError, subprocess.SubprocessError):
        return None, None
    head, *changes = done.stdout.splitlines()
    commit = head.removeprefix("# branch.oid ")
    return None if commit == "(initial)" else commit, not all(line.startswith("#") for line in changes)


_BEGUN_WITH = ("systems", "documents", "questions", "prompts", "task")
"""Kinds of digests that a run's answers depend on; annotations may change without touching them."""


@dataclass
class Cut:
    """A run cut into shards: the spec and digests of the whole, and for a new one what its folder is made of."""

    spec: RunSpec
    digests: Digests
    shards: Shards
    plans: IO[bytes] | None = None
    """A line for each shard."""
    sources: dict[str, str] = field(default_factory=dict)
    copies: Callable[[], Iterator[bytes]] = lambda: iter(())
    """Each shard's own lines of documents."""


@dataclass
class PreparedRun:
    """A run that can be asked, by the name that it was given, if any; `folder` is None until a new one is opened.

    Of a run in shards, `task` is that of the first one's documents; the shards of the `part` (3, 16) are carried out
    here, the third part of sixteen.
    """

    task: Task
    named: str | None
    folder: RunFolder | None = None
    offline: bool = False
    corpus: CorpusFacts | None = None
    cut: Cut | None = None
    part: tuple[int, int] = field(default=(1, 1), kw_only=True)
    find_begun: Callable[[], RunFolder | None] = field(default=lambda: None, kw_only=True)
    """Find a run of the same plan that another process has begun meanwhile."""
    digests: Digests = field(init=False)
    """Digests of everything that replies depend on; making them finds faults in a system's own files."""

    def __post_init__(self) -> None:
        self.digests = self.cut.digests if self.cut else digests(self.task, self.systems)

    @property
    def name(self) -> str:
        """The name that it was given, or else one of its systems and what it is about."""
        subjects = tuple(self.task.facts) or (self.spec.task,)
        if self.shards is not None:
            subjects = (f"{self.shards.documents}-documents",)
        if self.corpus is not None:
            subjects = (Path(self.corpus.file).stem,)
        return self.named or make_run_title(self.spec.systems, *subjects)

    @property
    def workspace(self) -> Workspace:
        """The workspace that has the run."""
        return self.task.workspace

    @cached_property
    def systems(self) -> list[ResolvedSystem]:
        """The systems of the run."""
        return [resolve_system(name, self.workspace) for name in self.task.spec.systems]

    @property
    def spec(self) -> RunSpec:
        """The spec of the run; of one in shards without its documents."""
        return self.cut.spec if self.cut else self.task.spec

    @property
    def shards(self) -> Shards | None:
        """The number of shards and what they hold; None for a run in one folder."""
        return self.cut.shards if self.cut else None

    @property
    def subject(self) -> str:
        """The documents that are asked about, by name or number; empty for a task without any."""
        if self.shards is None:
            return self.corpus.in_words if self.corpus else ", ".join(self.task.facts)
        what = self.corpus.in_words if self.corpus else f"{self.shards.documents:,} documents"
        return f"{what} in {self.shards.number:,} shards"

    @property
    def times(self) -> float:
        """The size of the run as a multiple of its `task`."""
        return self.shards.documents / len(self.task.facts) if self.shards else 1.0

    @property
    def complete(self) -> bool:
        """Whether everything of this part was answered before."""
        if self.part == (1, 1):
            return self.folder is not None and self.folder.is_complete()
        return self.folder is not None and not self.folder.to_do(self.own())

    def cap(self, given: float | None) -> float | None:
        """The spending cap in effect, in US dollars: the one given now (infinity lifts it), else the run's own."""
        if given is None:
            return self.folder.outline().max_cost if self.folder else None
        return None if math.isinf(given) else given

    def own(self) -> range:
        """Return the shards of this part."""
        which, parts = self.part
        return range(which - 1, self.shards.number if self.shards else 1, parts)

    def open(self) -> RunFolder:
        """Open the run folder, made now if the run is new, and nobody has begun the same meanwhile."""
        if self.folder is None:
            runs = self.workspace.runs
            make_folder(runs)
            with hold_folder(runs):
                self.folder = self.find_begun() or self._make()
        return self.folder

    def _make(self) -> RunFolder:
        cut = self.cut
        if cut is None:
            return RunFolder.create(self.workspace.runs, self.manifest())
        assert cut.plans is not None, "a new run was cut"
        cut.plans.seek(0)
        return RunFolder.create_with(self.workspace.runs, self.manifest(), cut.plans, cut.sources, cut.copies())

    def manifest(self) -> Manifest:
        """Return the manifest of a new run; of one in shards without what there is for each document."""
        commit, dirty = checkout()
        whole = self.cut is None
        return Manifest(
            format=FORMAT,
            name=self.name,
            status="running",
            created=now(),
            updated=now(),
            spec=self.spec,
            digests=self.digests,
            documents=dict(self.task.facts) if whole else {},
            systems={},
            orders=self.task.orders if whole else {},
            versions=versions(),
            commit=commit,
            dirty=dirty,
            planned=0 if self.task.orders else self.task.planned(),
            corpus=self.corpus,
            shards=self.shards,
        )


def prepare(workspace: Workspace, request: RunRequest, observer: Observer | None = None) -> PreparedRun:
    """Prepare the unfinished run of this very plan, else a new one.

    A UsageError, UnknownNameError or DataError for a request that can't be carried out; nothing is written.
    """
    observer = observer or Observer()
    systems = _check(workspace, request)
    request = replace(request, plan=own_options(request))
    resources = _resources(observer, offline=request.offline)
    corpus = facts = None
    if kind_of(request.kind).documents:
        workspace, request, corpus, facts = resolve_documents(workspace, request, resources)
    elif request.shard is not None:
        raise UsageError("shards are of documents, and another task has none; leave out the size of shards.")
    if request.shard is None:
        task, cut = make_task(make_spec(request, workspace, resources), workspace), None
        notes = task.notes
    else:
        cut, task, notes = _cut(request, workspace, resources, corpus, systems)
    run = PreparedRun(task, request.name, None, request.offline, facts, cut)
    if not request.new:
        known = frozenset(folder.name for folder in run_folders(workspace))
        run.folder = same_plan(run, request.name)
        run.find_begun = partial(same_plan, run, request.name, known)
    for note in notes if cut or run.folder is None else ():
        observer.said(note)
    if run.folder is not None and not run.folder.is_complete():
        observer.said(f"this plan was begun before: going on with {run.folder.name} (the option `new` begins afresh)")
    return run


def _check(workspace: Workspace, request: RunRequest) -> list[ResolvedSystem]:
    """Return the systems of a request; a UsageError for a name that is none, and for options that need another one."""
    if request.name is not None and not folder_words(request.name):
        raise UsageError(f"the name '{request.name}' leaves nothing for the folder's name; use letters or digits.")
    if request.corpus is None and (request.limit_documents is not None or request.stratify is not None):
        raise UsageError("a sample is drawn from a corpus; name its file (documents of a workspace are named).")
    if not request.systems:
        raise UsageError("no system is named; `genaipa systems` lists them.")
    return [resolve_system(name, workspace) for name in request.systems]


def resume(workspace: Workspace, name: str, observer: Observer | None = None, *, offline: bool = False) -> PreparedRun:
    """Prepare a run that was begun before, by its name; a RunError if its inputs have changed since."""
    observer = observer or Observer()
    folder = find_run(workspace, name)
    if folder.plans is None:
        manifest = folder.outline()
        task = make_task(manifest.spec, load_run_documents(workspace, folder, manifest, observer.said), folder)
        run = PreparedRun(task, manifest.name, folder, offline, manifest.corpus)
        check_unchanged(folder, manifest, run.digests)
        return run
    folder.plans.check()
    task, manifest = task_of(workspace, folder, 0), folder.outline()
    assert manifest.shards is not None, "it has shards"
    cut = Cut(manifest.spec, manifest.digests, manifest.shards)
    run = PreparedRun(task, manifest.name, folder, offline, manifest.corpus, cut)
    check_shared(folder, manifest, digests(task, run.systems), {})
    for note in task.notes:
        observer.said(note)
    if manifest.corpus is not None and manifest.status != "complete":
        report_corpus_change(manifest.corpus, observer.said)
    return run


def digests(task: Task, systems: Sequence[ResolvedSystem]) -> Digests:
    """Digests of everything that replies depend on: the task's data, its file, and the system behind each name."""
    own = task.digests
    identities = {system.requested_name: system.identity for system in systems}
    return replace(own, systems=identities, task={**own.task, **identity(task)})


def check_unchanged(folder: RunFolder, manifest: Manifest, now_is: Digests) -> None:
    """Raise a RunError, naming what it is, if anything that the run's answers depend on has changed."""
    for kind in _BEGUN_WITH:
        before, after = getattr(manifest.digests, kind), getattr(now_is, kind)
        changed = sorted(name for name in before if before[name] != after.get(name))
        if changed:
            kept = f" (as it was, it is in {folder.path / kind})" if (folder.path / kind).is_dir() else ""
            raise RunError(
                f"{folder.name} can't go on: {kind.removesuffix('s')} '{changed[0]}' has changed since it was begun. "
                f"Put it back{kept}, or begin a new run."
            )


def same_plan(run: PreparedRun, name: str | None, besides: Collection[str] = ()) -> RunFolder | None:
    """Find the newest run of this plan, data and name (if one is given) `besides` some; None if there is none."""
    for folder in reversed(run_folders(run.workspace)):
        if folder.name in besides:
            continue
        try:
            manifest = folder.outline()
        except DataError:
            # A damaged run is named by `genaipa runs` and `validate`; it must not block another.
            continue
        same_data = all(getattr(manifest.digests, kind) == getattr(run.digests, kind) for kind in _BEGUN_WITH)
        same = (manifest.spec, manifest.shards) == (run.spec, run.shards) and name in (None, manifest.name)
        if same and same_data:
            return folder
    return None


def _of_corpus(corpus: Corpus, request: RunRequest, workspace: Workspace, resources: Resources) -> Iterator[Task]:
    """Return the task of each shard of a corpus's documents, which are streamed."""
    alike: dict[frozenset[str], Task] = {}
    first: tuple[Document, ...] = ()
    entries = corpus.entries(corpus.chosen(request.limit_documents))
    while part := {one.name: one for one in islice(entries, request.shard)}:
        kinds = frozenset(one.kind for one in part.values())
        task = alike.get(kinds)
        if first and not request.plan.get("questions"):
            check_one_language((*first, *part.values()), workspace)
        if isinstance(task, Procedure):
            yield task.about(part)
            continue
        here = workspace.holding(part)
        spec = make_spec(replace(request, corpus=None, documents=tuple(part)), here, resources)
        alike[kinds] = task = make_task(spec, here)
        first = first or tuple(islice(part.values(), 1)) if isinstance(task, Procedure) else ()
        yield task
        resources = resources._replace(say=lambda _sentence: None)  # the same is said of each


def _copies(corpus: Corpus, request: RunRequest) -> Iterator[bytes]:
    """Return the lines of each shard's own copies of a corpus's documents."""
    lines = corpus.copies(corpus.chosen(request.limit_documents))
    while part := b"".join(islice(lines, request.shard)):
        yield part


def _cut(
    request: RunRequest,
    workspace: Workspace,
    resources: Resources,
    corpus: Corpus | None,
    systems: Sequence[ResolvedSystem],
) -> tuple[Cut, Task, tuple[str, ...]]:
    """Cut a run's documents into shards: also the first one's task, and notes on all.

    The lines are on disk: there may be a million documents. A UsageError for a system that is driven by hand.
    """
    each = request.shard or 1
    if manual := next((system.requested_name for system in systems if system.manual), ""):
        raise UsageError(f"{manual} is driven by hand; ask it in a run of its own, without shards.")
    if corpus is not None:
        tasks = _of_corpus(corpus, request, workspace, resources)
    else:
        whole = make_spec(request, workspace, resources)
        names, of = procedure_plan(whole).documents, procedure_plan(whole).questions
        parts = [names[start : start + each] for start in range(0, len(names), each)]
        specs = (ask_about(whole, part, {name: of[name] for name in part}) for part in parts)
        tasks = (make_task(spec, workspace) for spec in specs)
    plans: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the run
    known, lines, first, notes = hashlib.sha256(), hashlib.sha256(), None, list[str]()
    kinds, sources, found = dict[str, str](), dict[str, str](), Digests({}, {}, {}, {})
    shards = Shards(each, 0, 0, 0, "", "")
    try:
        for task in tasks:
            first = first or task
            plan = ShardPlan(
                dict(task.facts), procedure_plan(task.spec).questions, task.orders, task.digests.annotations
            )
            line = msgspec.json.encode(plan) + b"\n"
            plans.write(line)
            lines.update(line)
            known.update(msgspec.json.encode(plan.documents))
            kinds |= {facts.kind: plan.questions[name] for name, facts in plan.documents.items()}
            sources |= task.shared if isinstance(task, Procedure) else {}
            own = digests(task, systems)
            prompts, asked = found.prompts | own.prompts, found.questions | own.questions
            found = replace(own, prompts=prompts, questions=asked, documents={}, annotations={})
            questions = shards.questions + sum(map(len, plan.orders.values()))
            documents = shards.documents + len(plan.documents)
            shards = Shards(each, shards.number + 1, documents, questions, known.hexdigest(), lines.hexdigest())
            notes += task.notes
    except BaseException:
        plans.close()
        raise
    assert first is not None, "there is a document"
    cut = Cut(ask_about(first.spec, (), kinds), found, shards, plans, sources)
    if corpus is not None:
        cut.copies = partial(_copies, corpus, request)
    weakref.finalize(cut, plans.close)
    return cut, first, tuple(notes)


def check_shared(folder: RunFolder, outline: Manifest, now_is: Digests, documents: dict[str, str]) -> None:
    """Raise a RunError if what a shard's answers depend on is not as the run and the plan of its documents have it."""
    # Another shard's documents may be of another kind, with questions of their own.
    asked = {name: known for name, known in outline.digests.questions.items() if name in now_is.questions}
    outline.digests = replace(outline.digests, questions=asked, documents=documents)
    check_unchanged(folder, outline, now_is)


def task_of(workspace: Workspace, folder: RunFolder, index: int) -> Task:
    """Return the task of a shard."""
    plan, shard, outline = folder.plan(index), RunFolder(folder.shard(index).path), folder.outline()
    spec = ask_about(outline.spec, plan.documents, plan.questions)
    if outline.corpus is not None:
        workspace = workspace.holding(KeptDocuments(shard.path).checked(plan.documents))
    return make_task(spec, workspace, shard)
