"""From the options of `genaipa run` to a job: a spec and its data, for a new run or one that goes on."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from genaipa.errors import UnknownNameError, UsageError, command
from genaipa.execution.prepare import Material, load_material
from genaipa.questions.sets import WORDINGS
from genaipa.runs.folder import RunFolder, find_run, folder_words
from genaipa.runs.records import INITIALIZATIONS, RunSpec
from genaipa.tasks.procedure import DEFAULT_EXPERIMENT, EXPERIMENTS

if TYPE_CHECKING:
    from genaipa.policies.document import DocumentKind
    from genaipa.workspace import Workspace


@dataclass(frozen=True)
class Wanted:
    """What the command line asks for; `options` are the fields of RunSpec that are taken as they are."""

    systems: tuple[str, ...]
    documents: tuple[str, ...]
    experiment: str | None = None
    initializations: tuple[str, ...] = ()
    wordings: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    conversation: str = "shared"
    limit: str | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass
class Job:
    """What is to be carried out; `folder` is None until a new run is opened."""

    spec: RunSpec
    material: Material
    name: str
    folder: RunFolder | None = None

    @property
    def complete(self) -> bool:
        """Whether everything was answered before."""
        return self.folder is not None and self.folder.is_complete()

    def cap(self, given: float | None) -> float | None:
        """The spending cap that holds, in US dollars: the one given now (infinity lifts it), else the run's own."""
        if given is None:
            return self.folder.manifest().max_cost if self.folder else None
        return None if math.isinf(given) else given

    def open(self, workspace: Workspace) -> RunFolder:
        """The run folder, made now if the run is new."""
        from genaipa.execution import run as study

        if self.folder is None:
            self.folder = RunFolder.create(workspace.runs, study.describe(self.spec, self.material, self.name))
        return self.folder


def resumed(workspace: Workspace, name: str) -> Job:
    """The job of a run that was begun before."""
    from genaipa.execution import run as study

    folder = find_run(workspace, name)
    manifest = folder.manifest()
    material = load_material(manifest.spec, workspace)
    study.check_unchanged(folder, manifest, material)
    _say_notes(material)
    return Job(manifest.spec, material, manifest.name, folder)


def begun(workspace: Workspace, wanted: Wanted, *, name: str | None, new: bool, offline: bool) -> Job:
    """The job of this very plan: the run that was begun with it, else a new one."""
    from genaipa.cli.console import say
    from genaipa.execution import run as study

    spec = _spec(workspace, wanted, offline=offline)
    material = load_material(spec, workspace)
    for document, questions in material.questions.items():
        if spec.limit is not None and spec.limit[0] > len(questions.questions):
            most = len(questions.questions)
            raise UsageError(f"--limit {wanted.limit}: there are only {most} questions about {document}.")
    if name is not None and not folder_words(name):
        raise UsageError(f"--name '{name}' leaves nothing that a folder can be called; use letters or digits.")
    _say_notes(material)
    title = name or "-".join((*spec.systems, *spec.documents)).replace("/", "-")
    folder = None if new else study.same_plan(workspace, spec, material.digests, name)
    if folder is not None and not folder.is_complete():
        say(f"this plan was begun before: going on with {folder.name} (--new begins afresh)")
    return Job(spec, material, title, folder)


def _say_notes(material: Material) -> None:
    """Say what is to be known about the data before anything is asked."""
    from genaipa.cli.console import say

    for note in material.notes:
        say(note)


def _spec(workspace: Workspace, wanted: Wanted, *, offline: bool) -> RunSpec:
    from genaipa.cli.fetching import pull_missing
    from genaipa.datasets.base import datasets
    from genaipa.policies.document import document_names
    from genaipa.systems.catalog import resolve

    if not wanted.systems:
        raise UsageError("no system is named: genaipa run --system NAME --policy NAME; see: genaipa systems")
    if not wanted.documents:
        raise UsageError("no document is named: genaipa run --system NAME --policy NAME; see: genaipa policies")
    for system in wanted.systems:
        resolve(system, workspace)
    _known("experiment", (wanted.experiment or DEFAULT_EXPERIMENT,), EXPERIMENTS)
    _known("initialization", wanted.initializations, INITIALIZATIONS)
    _known("wording", wanted.wordings, (*WORDINGS, "all"))
    _known("kind of conversation", (wanted.conversation,), ("shared", "independent"))
    here = document_names(workspace)
    if not here.keys() >= set(wanted.documents):
        offered = [name for known in datasets() for name in known.documents]
        _known("policy", wanted.documents, {*here, *offered}, _hint(wanted.documents))
    pull_missing(workspace, wanted.documents, offline=offline)
    wanted = _as_recorded(wanted)
    experiment = EXPERIMENTS[wanted.experiment or DEFAULT_EXPERIMENT]
    initializations = tuple(i for i in INITIALIZATIONS if i in (wanted.initializations or experiment.initializations))
    chosen = WORDINGS if "all" in wanted.wordings else wanted.wordings or experiment.wordings
    wordings = tuple(w for w in WORDINGS if w in chosen)
    as_preset = (initializations, wordings) == (experiment.initializations, experiment.wordings)
    if wanted.experiment is not None and not as_preset:
        other_words = wordings != experiment.wordings
        flag = "--wording" if other_words else "--initialization"
        given = wanted.wordings if other_words else wanted.initializations
        raise UsageError(
            f"{flag} {','.join(given)} makes another experiment of '{wanted.experiment}'; leave out --experiment "
            f"{wanted.experiment} to put together your own, or leave out {flag}."
        )
    return RunSpec(
        systems=wanted.systems,
        documents=wanted.documents,
        questions=_question_sets(workspace, wanted, experiment.kind),
        initializations=initializations,
        wordings=wordings,
        conversation="independent" if wanted.conversation == "independent" else "shared",
        limit=_limit(wanted.limit),
        # A preset that other flags changed is the user's own experiment.
        experiment=(wanted.experiment or DEFAULT_EXPERIMENT) if as_preset else "",
        **wanted.options,
    )


def _as_recorded(wanted: Wanted) -> Wanted:
    """Where nothing else is named, a system of a published study is asked what it was asked then; says so."""
    from genaipa.cli.console import say
    from genaipa.datasets.base import replayed
    from genaipa.systems.published import PROVIDER, is_recorded, read_recording

    recorded = [name for name in wanted.systems if name.startswith(f"{PROVIDER}/") and is_recorded(name)]
    if not recorded:
        return wanted
    if not wanted.questions:
        sets = replayed()[recorded[0]].question_sets
        say(f"{recorded[0]}: asking the questions of the published study ({sets[0]})")
        wanted = replace(wanted, questions=sets)
    if not wanted.initializations and wanted.experiment is None:
        ways = [set(read_recording(name).initializations) for name in recorded]
        known = tuple(way for way in INITIALIZATIONS if all(way in ways_of_one for ways_of_one in ways))
        say(f"{recorded[0]}: introduced as it was recorded, in {len(known)} ways ({', '.join(known)})")
        wanted = replace(wanted, initializations=known)
    return wanted


def _known(kind: str, names: tuple[str, ...], known: Any, hint: str = "") -> None:
    for name in names:
        if name not in known:
            raise UnknownNameError(kind, name, known, hint)


def _hint(documents: tuple[str, ...]) -> str:
    """For whoever names a file or an address: it has to be added first."""
    foreign = next((name for name in documents if "/" in name or "." in name), "")
    add = command("genaipa", "policies", "add", foreign, "--name", "NAME", "--company", "COMPANY")
    return f"Add it first: {add}" if foreign else ""


def _question_sets(workspace: Workspace, wanted: Wanted, only: DocumentKind | None) -> dict[str, str]:
    """Document → question set: the one named for its kind, else the one that is called like its kind."""
    from genaipa.policies.document import load_document
    from genaipa.questions.sets import load_questions

    named: dict[str, str] = {}
    for questions in (load_questions(workspace, name) for name in wanted.questions):
        if questions.kind in named:
            raise UsageError(
                f"'{named[questions.kind]}' and '{questions.name}' are both asked about a {questions.kind}; "
                "name one set for each kind of document, and ask the other in a run of its own."
            )
        named[questions.kind] = questions.name
    sets = {}
    for name in wanted.documents:
        kind = load_document(workspace, name).kind
        if only not in (None, kind):
            raise UsageError(f"the experiment '{wanted.experiment}' is about a {only}, and {name} is a {kind}.")
        if wanted.questions and kind not in named:
            raise UsageError(f"{name} is a {kind}, and none of the question sets named is about one.")
        sets[name] = named.get(kind, kind)
    return sets


def _limit(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    found = re.fullmatch(r"(?:(\d{1,9})-)?(\d{1,9})", text.strip())
    first, last = (int(found[1] or 1), int(found[2])) if found else (0, 0)
    if not 1 <= first <= last:
        raise UsageError(f"--limit {text}: wants N (the first N questions) or A-B (from the A-th to the B-th).")
    return first, last
