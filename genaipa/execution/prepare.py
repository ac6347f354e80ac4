"""Prepare a run: a new one by a request, which makes its spec, the unfinished one of the same plan, or one by its name.

A run's manifest notes versions, commit and whether the working tree was changed.
"""

from __future__ import annotations

import math
import platform
import subprocess
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

import genaipa
from genaipa.datasets.base import find_unpulled_dataset_with_document, iterate_loadable_datasets
from genaipa.errors import DataError, OptionError, RunError, UsageError, clip
from genaipa.execution.observer import Observer
from genaipa.files.locks import hold_flock_on_folder
from genaipa.files.names import clean_folder_name, make_run_folder
from genaipa.files.stamps import now
from genaipa.files.text import sha256_of
from genaipa.kinds import find_kind_or_placeholder
from genaipa.runs.documents import make_workspace_with_run_documents
from genaipa.runs.folder import RunFolder
from genaipa.runs.records import FORMAT, Digests, Manifest, RunSpec, StudySlice
from genaipa.runs.selection import find_run, find_sliced_study, list_run_folders_oldest_first
from genaipa.runs.slices import shared_plan_key, shared_plan_key_of_head
from genaipa.systems.base import EFFORTS
from genaipa.systems.catalog import ResolvedSystem, resolve_system
from genaipa.systems.provider import add_effort_to_system_name, list_providers, make_default_run_name
from genaipa.tasks.catalog import digest_task_file_if_not_shipped, make_task
from genaipa.tasks.planning import plan_slice, resolve_documents
from genaipa.tasks.request import Resources, make_spec, select_options_of_task_kind
from genaipa.words import join_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.runs.records import CorpusFacts
    from genaipa.tasks.base import Task
    from genaipa.tasks.request import RunRequest
    from genaipa.workspace import Workspace


def _make_resources_that_pull_documents(observer: Observer, *, offline: bool) -> Resources:
    """Return what a request may need: the published documents, and an observer's ear."""

    def pull_missing_documents(documents: Sequence[str]) -> None:
        for name in documents:
            if (dataset := find_unpulled_dataset_with_document(name)) is None:
                continue
            if offline:
                raise UsageError(
                    f"'{name}' has not been fetched, and this run is "
                    f"offline; run 'genaipa get {dataset.name}' once, or 'genaipa get {dataset.name} --from FOLDER'."
                )
            missing = ", ".join(document for document in documents if document in dataset.documents)
            observer.on_note(f"{missing}: not fetched yet; fetching the published {dataset.title} documents (once)")
            with observer.show_download(dataset.title) as progress:
                dataset.pull(origin=None, offline=False, progress=progress)

    return Resources(
        observer.on_note,
        lambda: [name for loadable_dataset in iterate_loadable_datasets() for name in loadable_dataset.documents],
        pull_missing_documents,
    )


_PACKAGES = ("langchain-text-splitters", "jinja2", "genai-prices")
"""Beside the providers' own, those whose version can change a message or a reply."""
_version = cache(metadata.version)
"""Of a package; reading it takes a millisecond."""


def package_versions_for_manifest() -> dict[str, str]:
    """Name → version of Python, genaipa and the installed packages that matter to a run."""
    versions = {"python": platform.python_version(), "genaipa": genaipa.__version__}
    for package in (*(package for provider in list_providers() for package in provider.packages), *_PACKAGES):
        try:
            versions[package] = _version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions


def find_source_commit_and_whether_changed() -> tuple[str | None, bool | None]:
    """(commit, changed since) of the checkout that genaipa runs from; (None, None) where it is an installed wheel."""
    return _read_git_commit_and_whether_changed(Path(genaipa.__file__).resolve().parent.parent)


# Once a process: what it runs is the code as it was when it began, whatever is edited or committed meanwhile.
@cache
def _read_git_commit_and_whether_changed(root: Path) -> tuple[str | None, bool | None]:
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
class PreparedRun:
    """A run that can be asked, by the name that it was given, if any; `folder` is None until a new one is opened."""

    task: Task
    named: str | None
    folder: RunFolder | None = None
    offline: bool = False
    corpus: CorpusFacts | None = None
    slice: StudySlice | None = None
    stands_for_all: bool = field(default=False, kw_only=True)
    """Whether a slice is an example of all slices of its study."""
    find_begun: Callable[[], RunFolder | None] = field(default=lambda: None, kw_only=True)
    """Find a run of the same plan that another process has begun meanwhile."""
    digests: Digests = field(init=False)
    """Digests of everything that replies depend on; making them finds faults in a system's own files."""

    def __post_init__(self) -> None:
        self.digests = compute_input_digests(self.task, self.systems)

    @property
    def name(self) -> str:
        """The name that it was given, or else one of its systems and what it is about; of a slice with its number."""
        if self.slice is not None:
            return self.slice.run_name
        subjects = tuple(self.task.facts) or (self.spec.task,)
        if self.corpus is not None:
            subjects = (Path(self.corpus.file).stem,)
        return self.named or make_default_run_name(self.spec.systems, *subjects)

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
        """The spec of the run."""
        return self.task.spec

    @property
    def documents_label(self) -> str:
        """The documents that are asked about, by name or number; empty for a task without any."""
        if self.slice is not None and self.corpus is not None and not self.stands_for_all:
            return f"{len(self.task.facts):,} of {Path(self.corpus.file).name}, {self.slice.label_in_words}"
        return self.corpus.asked_count_and_file_name if self.corpus else ", ".join(self.task.facts)

    @property
    def study_size_factor(self) -> float:
        """The size of the study as a multiple of a slice that stands for all of it; 1 for any other run."""
        if self.stands_for_all and self.corpus is not None:
            return self.corpus.asked / max(1, len(self.task.facts))
        return 1.0

    @property
    def is_complete(self) -> bool:
        """Whether everything was answered before."""
        return self.folder is not None and self.folder.is_complete()

    def resolve_spending_cap(self, given_cap: float | None) -> float | None:
        """Return the spending cap in US dollars: the one given now (infinity lifts it), else the run's own."""
        if given_cap is None and self.slice is not None:
            return self.slice.cap
        if given_cap is None:
            return self.folder.manifest().max_cost if self.folder else None
        return None if math.isinf(given_cap) else given_cap

    def open_or_create_folder(self) -> RunFolder:
        """Open the run folder, made now if the run is new, and nobody has begun the same meanwhile."""
        if self.folder is None:
            runs = self.workspace.runs
            make_run_folder(runs)
            with hold_flock_on_folder(runs):
                self.folder = self.find_begun() or RunFolder.create_with_manifest(runs, self.make_manifest())
        return self.folder

    def make_manifest(self) -> Manifest:
        """Return the manifest of a new run."""
        commit, dirty = find_source_commit_and_whether_changed()
        return Manifest(
            format=FORMAT,
            name=self.name,
            status="running",
            created=now(),
            updated=now(),
            spec=self.spec,
            digests=self.digests,
            documents=dict(self.task.facts),
            systems={},
            orders=self.task.question_orders,
            versions=package_versions_for_manifest(),
            commit=commit,
            dirty=dirty,
            planned=0 if self.task.question_orders else self.task.count_planned_answers(),
            corpus=self.corpus,
            slice=self.slice,
        )


def prepare_run(workspace: Workspace, request: RunRequest, observer: Observer | None = None) -> PreparedRun:
    """Prepare the unfinished run of this very plan, else a new one.

    A UsageError, UnknownNameError or DataError for a request that can't be carried out; nothing is written.
    """
    observer = observer or Observer()
    _check_request(workspace, request)
    request = replace(request, systems=tuple(_expand_systems_by_effort_level(workspace, request)), effort=())
    request = replace(request, plan=select_options_of_task_kind(request))
    resources = _make_resources_that_pull_documents(observer, offline=request.offline)
    if request.slice is not None:
        return _prepare_slice(workspace, request, resources)
    corpus = None
    if find_kind_or_placeholder(request.kind).documents:
        workspace, request, corpus = resolve_documents(workspace, request, resources)
    task = make_task(make_spec(request, workspace, resources), workspace)
    if request.citations is not None and not task.shows_documents:
        raise OptionError("citations", " is for a document that is sent, and this run sends none; leave it out.")
    run = PreparedRun(task, request.name, None, request.offline, corpus)
    if not request.new:
        earlier_run_names = frozenset(folder.name for folder in list_run_folders_oldest_first(workspace))
        run.folder = find_newest_run_of_same_plan(run, request.name)
        run.find_begun = partial(find_newest_run_of_same_plan, run, request.name, earlier_run_names)
    for note in task.notes if run.folder is None else ():
        observer.on_note(note)
    if run.folder is not None and not run.folder.is_complete():
        observer.on_note(
            f"there is already a run with this plan: continuing {run.folder.name} (the option `new` starts another)"
        )
    return run


def _prepare_slice(workspace: Workspace, request: RunRequest, resources: Resources) -> PreparedRun:
    """Prepare a slice of a study: the one that was begun, else a new one.

    A UsageError if the study's other slices were asked by another plan.
    """
    if not find_kind_or_placeholder(request.kind).documents:
        raise OptionError("slice", " divides up documents, and this task has none; leave it out.")
    if request.new:
        raise UsageError("a study has one run per slice; start a new study under another name.")
    planned = plan_slice(workspace, request, resources)
    assert request.slice is not None, "the request is for a slice"
    index, number = request.slice
    study = request.name or make_default_run_name(request.systems, Path(planned.corpus.file).stem)
    part = StudySlice(study, index, number, planned.plan)
    task = make_task(planned.spec, planned.workspace)
    run = PreparedRun(task, request.name, None, request.offline, planned.corpus, slice=part)
    run.find_begun = partial(_find_begun_slice_or_refuse_other_plan, run, part)
    run.folder = run.find_begun()
    for note in task.notes if run.folder is None else ():
        resources.say(note)
    if siblings := find_sliced_study(workspace, study):
        run.slice = replace(part, cap=siblings.highest_cap_if_all_slices_have_one)
    if run.folder is not None:
        check_inputs_unchanged(run.folder, run.folder.manifest(), run.digests)
        if not run.folder.is_complete():
            resources.say(f"there is already a run of this slice: continuing {run.folder.name}")
    return run


def _find_begun_slice_or_refuse_other_plan(run: PreparedRun, wanted_slice: StudySlice) -> RunFolder | None:
    """Find the slice of a study that was begun; a UsageError if the others have another plan."""
    study = find_sliced_study(run.workspace, wanted_slice.study)
    if study is None:
        return None
    plan = shared_plan_key(wanted_slice, run.spec.systems, run.spec.repetitions)
    differing_slice = next(
        (folder for folder in study.as_folders if shared_plan_key_of_head(folder.read_manifest_head()) != plan), None
    )
    if differing_slice is not None:
        head = differing_slice.read_manifest_head()
        assert head.slice is not None, "it is one"
        if head.slice.number != wanted_slice.number:
            difference = f"has {head.slice.number:,} slices, not {wanted_slice.number:,}"
        elif {*head.spec.systems} != {*run.spec.systems}:
            difference = f"asks {', '.join(head.spec.systems)}"
        else:
            difference = "started with a different corpus, or with other options, prompts or questions"
        raise UsageError(
            f"the study {wanted_slice.study} {difference} ({differing_slice.name}); repeat its options, or choose "
            "another name for this study."
        )
    return study.slices.get(wanted_slice.index)


def _check_request(workspace: Workspace, request: RunRequest) -> None:
    """Raise a UsageError for a system's name that is none, and for options that need another one."""
    if request.name is not None and not clean_folder_name(request.name):
        raise UsageError(
            f"the name '{request.name}' has no character that a folder's name can use; use letters or digits."
        )
    if request.corpus is None and (request.limit_documents is not None or request.stratify is not None):
        raise UsageError("a sample is drawn from a corpus; name the corpus file.")
    if not request.systems:
        raise UsageError("name a system; `genaipa systems` lists them.")
    if request.system_prompt is not None and not request.system_prompt.strip():
        raise OptionError("system_prompt", " is empty; write the prompt, or leave out the option.")
    for name in request.systems:
        resolve_system(name, workspace)
    if request.citations is not None:
        _check_vendor_citations_available(workspace, request)
    for level in request.effort:
        if level not in EFFORTS:
            raise OptionError("effort", f" '{clip(level)}': the levels are {join_names(EFFORTS)}.")


def _check_vendor_citations_available(workspace: Workspace, request: RunRequest) -> None:
    """Raise an OptionError where a vendor's own citations are not to be had: of which models, in which tasks."""
    if request.citations != "vendor":
        raise OptionError("citations", f" '{clip(request.citations or '')}': the only kind is vendor.")
    if not find_kind_or_placeholder(request.kind).documents:
        raise OptionError(
            "citations",
            " is only for questions about documents whose replies are text, and a reply in JSON can't cite; leave it "
            "out.",
        )
    for name in request.systems:
        system = resolve_system(name, workspace)
        if system.reader is not None or not (system.provider_record and system.provider_record.cites):
            vendors = [f"{provider.name}/" for provider in list_providers() if provider.cites]
            raise OptionError(
                "citations",
                f": {name} can't cite the documents that it is sent, and systems of {join_names(vendors)} can; ask it "
                "in a run without the option.",
            )


def _expand_systems_by_effort_level(workspace: Workspace, request: RunRequest) -> Iterator[str]:
    """Yield the systems of a request: each that takes levels of effort by its name with each level, others once."""
    any_takes_effort = False
    for name in request.systems:
        system = resolve_system(name, workspace)
        if request.effort and system.effort:
            raise OptionError("effort", f": {name} already names a level; leave out one of the two.")
        if not request.effort or (system.provider_record is not None and not system.provider_record.efforts):
            yield name
            continue
        any_takes_effort = True
        yield from (add_effort_to_system_name(name, level) for level in dict.fromkeys(request.effort))
    if request.effort and not any_takes_effort:
        raise OptionError("effort", f": {', '.join(request.systems)} has no levels of effort; leave it out.")


def prepare_resumed_run(
    workspace: Workspace, name: str, observer: Observer | None = None, *, offline: bool = False
) -> PreparedRun:
    """Prepare a run that was begun before, by its name; a RunError if its inputs have changed since."""
    observer = observer or Observer()
    folder = find_run(workspace, name)
    manifest = folder.manifest()
    task = make_task(
        manifest.spec, make_workspace_with_run_documents(workspace, folder, manifest, observer.on_note), folder
    )
    run = PreparedRun(task, manifest.name, folder, offline, manifest.corpus, slice=manifest.slice)
    check_inputs_unchanged(folder, manifest, run.digests)
    return run


def compute_input_digests(task: Task, systems: Sequence[ResolvedSystem]) -> Digests:
    """Digests of everything that replies depend on: the task's data, its file, and the system behind each name."""
    task_digests = task.digests
    identities = {system.requested_name: system.name_with_file_digest for system in systems}
    texts = {"system_prompt": task.spec.system_prompt} if task.spec.system_prompt else {}
    digests = {name: sha256_of(text) for name, text in texts.items()}
    return replace(
        task_digests, systems=identities, task={**task_digests.task, **digest_task_file_if_not_shipped(task), **digests}
    )


def check_inputs_unchanged(folder: RunFolder, manifest: Manifest, current_digests: Digests) -> None:
    """Raise a RunError, naming what it is, if anything that the run's answers depend on has changed."""
    for kind in _BEGUN_WITH:
        before, after = getattr(manifest.digests, kind), getattr(current_digests, kind)
        changed = sorted(name for name in before if before[name] != after.get(name))
        if changed:
            original_location = f" (the original is in {folder.path / kind})" if (folder.path / kind).is_dir() else ""
            raise RunError(
                f"{folder.name} can't be resumed: {kind.removesuffix('s')} '{changed[0]}' has changed since the run "
                f"started. Restore it{original_location}, or start a new run."
            )


def find_newest_run_of_same_plan(
    run: PreparedRun, required_name: str | None, ignored_names: Collection[str] = ()
) -> RunFolder | None:
    """Find the newest run of this plan, data and name, if one is given, but for `ignored_names`; else None."""
    for folder in reversed(list_run_folders_oldest_first(run.workspace)):
        if folder.name in ignored_names:
            continue
        try:
            manifest = folder.manifest()
        except DataError:
            # A damaged run is named by `genaipa runs` and `validate`; it must not block another.
            continue
        same_data = all(getattr(manifest.digests, kind) == getattr(run.digests, kind) for kind in _BEGUN_WITH)
        if manifest.spec == run.spec and required_name in (None, manifest.name) and same_data:
            return folder
    return None
