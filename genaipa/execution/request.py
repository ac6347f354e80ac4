"""The request for a run, and the spec that it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from genaipa.errors import OptionError, UnknownNameError, UsageError
from genaipa.execution.observer import Observer
from genaipa.execution.task_spec import slice_of, task_spec
from genaipa.kinds import DEFAULT, kind_of, kinds
from genaipa.plugins import load
from genaipa.policies.document import Document
from genaipa.policies.given import GIVEN, UNNAMED, needs_company
from genaipa.questions.sets import WORDINGS
from genaipa.runs.experiments import DEFAULT_EXPERIMENT, EXPERIMENTS
from genaipa.runs.records import (
    INITIALIZATIONS,
    NEUTRAL,
    RunSpec,
)
from genaipa.systems.base import Sampling
from genaipa.systems.catalog import resolve
from genaipa.systems.provider import find_provider
from genaipa.tasks.prompts import set_names

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from genaipa.policies.document import DocumentKind
    from genaipa.workspace import Workspace


class RunRequest(Sampling, frozen=True, forbid_unknown_fields=True):
    """A user's request, with fields named like the options of `genaipa run`.

    `kind` and `task` say what is asked, `plan` has the options that are only that kind's own; the other fields from
    `documents` to `summary_words` are the procedure's. A document may be a file, an
    address or `-` for standard input; `company` is then its company's name in questions. `corpus` is a file of
    documents in place of their names; of a sample of `limit_documents` each group of the column `stratify` has its
    share.
    Without `new`, an unfinished run of the same plan goes on.
    `offline` forbids fetching missing data. `shard` is the number of documents in each shard of a run that is kept in
    several folders.
    """

    systems: tuple[str, ...]
    documents: tuple[str, ...] = ()
    company: str = ""
    corpus: str | None = None
    limit_documents: int | None = None
    stratify: str | None = None
    kind: str = DEFAULT
    task: str = DEFAULT
    plan: dict[str, Any] = msgspec.field(default_factory=dict)
    experiment: str | None = None
    initializations: tuple[str, ...] = ()
    wordings: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    conversation: str = "shared"
    limit: str | None = None
    repetitions: int = 1
    seed: int = 0
    part_tokens: int | None = None
    acknowledge: bool = False
    summary_words: int = 400
    name: str | None = None
    new: bool = False
    offline: bool = False
    shard: int | None = None


_AS_THEY_ARE = (
    *("repetitions", "seed", "part_tokens", "acknowledge", "summary_words"),
    *Sampling.__struct_fields__,
)
"""Fields of a request that are the spec's."""


def make_spec(workspace: Workspace, request: RunRequest, observer: Observer) -> RunSpec:
    """The spec of a request; pulls published documents that are not here."""
    from genaipa.datasets.base import datasets
    from genaipa.policies.document import document_names

    if not request.systems:
        raise UsageError("no system is named; `genaipa systems` lists them.")
    for system in request.systems:
        resolve(system, workspace)
    if not kind_of(request.kind).documents:
        return task_spec(request)
    _check_own(request)
    if not request.documents:
        raise UsageError("no document is named; `genaipa policies` lists them.")
    _known("experiment", (request.experiment or DEFAULT_EXPERIMENT,), EXPERIMENTS)
    _known("initialization", request.initializations, INITIALIZATIONS)
    _known("wording", request.wordings, (*WORDINGS, "all"))
    _known("set of prompts", request.prompts, set_names(workspace), "See: genaipa prompts")
    _known("kind of conversation", (request.conversation,), ("shared", "independent"))
    here = document_names(workspace)
    if not here.keys() >= set(request.documents):
        offered = [name for known in datasets() for name in known.documents]
        _known("policy", request.documents, {*here, *offered}, "A file is named with its ending: policy.md")
    _pull_missing(here, request, observer)
    request = _as_recorded(request, observer)
    experiment = EXPERIMENTS[request.experiment or DEFAULT_EXPERIMENT]
    initializations = tuple(i for i in INITIALIZATIONS if i in (request.initializations or experiment.initializations))
    _check_companies(workspace, request.documents, initializations)
    chosen = WORDINGS if "all" in request.wordings else request.wordings or experiment.wordings
    wordings = tuple(w for w in WORDINGS if w in chosen)
    prompts = tuple(dict.fromkeys(request.prompts)) or experiment.prompts or (NEUTRAL,)
    if experiment.prompts and len(prompts) == 1:
        raise UsageError(f"'{request.experiment}' compares sets of prompts; '{prompts[0]}' names only one.")
    as_preset = (initializations, wordings) == (experiment.initializations, experiment.wordings)
    if request.experiment is not None and not as_preset:
        other_words = wordings != experiment.wordings
        what = "wordings" if other_words else "initializations"
        given = request.wordings if other_words else request.initializations
        raise UsageError(
            f"the {what} {', '.join(given)} make another experiment of '{request.experiment}'; leave out this name "
            f"to put together your own, or leave out the {what}."
        )
    return RunSpec(
        systems=request.systems,
        documents=request.documents,
        questions=_question_sets(workspace, request, experiment.kind),
        initializations=initializations,
        wordings=wordings,
        prompts=prompts,
        conversation="independent" if request.conversation == "independent" else "shared",
        limit=slice_of(request.limit),
        # A preset that other flags changed is the user's own experiment.
        experiment=(request.experiment or DEFAULT_EXPERIMENT) if as_preset else "",
        **{name: getattr(request, name) for name in _AS_THEY_ARE},
    )


def _check_own(request: RunRequest) -> None:
    """Raise an error for an option of another kind of task than this, or a system that answers only its questions."""
    for name in request.plan:
        plans = ((kind.option, load(kind.plan)) for kind in kinds().values() if kind.plan)
        having = next((option for option, plan in plans if option and name in plan.__struct_fields__), "other task")
        raise OptionError(name, f" is an option of {having}s; name a {having}, or leave it out.")
    for system in request.systems:
        provider = find_provider(system)
        if provider and provider.only:
            raise UsageError(f"{system} answers {provider.only}")


def _check_companies(workspace: Workspace, documents: Iterable[str], initializations: Container[str]) -> None:
    """Raise a UsageError for a document whose company nobody named, and that is to be asked about by that name."""
    held = (one for name in documents if isinstance(one := workspace.held.get(name), Document))
    unnamed = next((one for one in held if one.layer == GIVEN and one.company == UNNAMED), None)
    if unnamed and ("company-name" in initializations or "summary-by-name" in initializations):
        raise needs_company(unnamed)


def _pull_missing(here: Container[str], request: RunRequest, observer: Observer) -> None:
    """Pull the published documents that are asked for and not here; a UsageError if that is forbidden."""
    from genaipa.datasets.base import offering

    for name in request.documents:
        dataset = None if name in here else offering(name)
        if dataset is None:
            continue
        if request.offline:
            raise UsageError(
                f"'{name}' is not here, and this run is offline; "
                f"run 'genaipa get {dataset.name}' once, or 'genaipa get {dataset.name} --from FOLDER'."
            )
        missing = [other for other in request.documents if other in dataset.documents and other not in here]
        observer.said(f"{', '.join(missing)}: not here yet, pulling the published {dataset.title} documents (once)")
        with observer.pulling(dataset.title) as progress:
            dataset.pull(origin=None, offline=False, progress=progress)


def _as_recorded(request: RunRequest, observer: Observer) -> RunRequest:
    """The request, filled in for a published system with its study's documents and questions; says so."""
    from genaipa.datasets.base import replayed
    from genaipa.systems.published import is_recorded, read_recording

    recorded = [name for name in request.systems if is_recorded(name)]
    if not recorded:
        return request
    if request.prompts or (request.experiment and EXPERIMENTS[request.experiment].prompts):
        raise UsageError(
            f"{recorded[0]} answered the prompts of its study, which are not published, and can't be asked with "
            "others; ask it in a run of its own, without naming prompts."
        )
    observer.said(f"{recorded[0]}: its answers were given to the prompts of the study, not to these")
    if not request.questions:
        sets = replayed()[recorded[0]].question_sets
        observer.said(f"{recorded[0]}: asking the questions of the published study ({sets[0]})")
        request = replace(request, questions=sets)
    if not request.initializations and request.experiment is None:
        ways = [set(read_recording(name).initializations) for name in recorded]
        known = tuple(way for way in INITIALIZATIONS if all(way in ways_of_one for ways_of_one in ways))
        observer.said(f"{recorded[0]}: introduced as it was recorded, in {len(known)} ways ({', '.join(known)})")
        request = replace(request, initializations=known)
    return request


def _known(kind: str, names: tuple[str, ...], known: Any, hint: str = "") -> None:
    for name in names:
        if name not in known:
            raise UnknownNameError(kind, name, known, hint)


def _question_sets(workspace: Workspace, request: RunRequest, only: DocumentKind | None) -> dict[str, str]:
    """Document → question set: the one named for its kind, else the one called like its kind."""
    from genaipa.policies.document import load_document
    from genaipa.questions.sets import load_question_set

    named: dict[str, str] = {}
    for questions in (load_question_set(name, workspace) for name in request.questions):
        if questions.kind in named:
            raise UsageError(
                f"'{named[questions.kind]}' and '{questions.name}' are both asked about a {questions.kind}; "
                "name one set for each kind of document, and ask the other in a run of its own."
            )
        named[questions.kind] = questions.name
    sets = {}
    for name in request.documents:
        kind = load_document(name, workspace).kind
        if only not in (None, kind):
            raise UsageError(
                f"the experiment '{request.experiment}' is about a {only}, and {name} is a {kind}; name a {only}, as "
                "`genaipa policies` lists them, or another experiment."
            )
        if request.questions and kind not in named:
            raise UsageError(f"{name} is a {kind}, and none of the question sets named is about one.")
        sets[name] = named.get(kind, kind)
    return sets
