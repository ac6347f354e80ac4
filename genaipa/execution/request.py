"""The request for a run, and the spec that it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from genaipa.errors import OptionError, UsageError
from genaipa.execution.observer import Observer
from genaipa.kinds import DEFAULT, Kind, kind_of, options, plan_fields
from genaipa.plugins import load
from genaipa.runs.records import RunSpec
from genaipa.systems.base import Sampling
from genaipa.systems.catalog import resolve

if TYPE_CHECKING:
    from genaipa.workspace import Workspace


class RunRequest(Sampling, frozen=True, forbid_unknown_fields=True):
    """A user's request, with fields named like the options of `genaipa run`.

    `kind` and `task` say what is asked; `plan` has the options that are only a kind's own, as they were given, by the
    fields of its plan. A document may be a file, an
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
    repetitions: int = 1
    seed: int = 0
    name: str | None = None
    new: bool = False
    offline: bool = False
    shard: int | None = None


_OF_DOCUMENTS = {
    "documents": "policy",
    "company": "company",
    "corpus": "documents",
    "limit_documents": "limit_documents",
    "stratify": "stratify",
}
"""Field of a request that only a kind with documents takes → the option that it is of."""
_SAMPLED = {"repetitions": "repetitions", "seed": "seed"}
"""The same for a kind with a plan."""


def make_spec(workspace: Workspace, request: RunRequest, observer: Observer) -> RunSpec:
    """The spec of a request; pulls published documents that are not here."""
    if not request.systems:
        raise UsageError("no system is named; `genaipa systems` lists them.")
    for system in request.systems:
        resolve(system, workspace)
    kind = kind_of(request.kind)
    request = replace(request, plan=_own_options(request, kind))
    planned: Any = load(kind.planned)(request, workspace, observer) if kind.planned else request.plan
    return RunSpec(
        request.systems,
        request.kind,
        request.task,
        planned,
        request.repetitions,
        request.seed,
        **{name: getattr(request, name) for name in Sampling.__struct_fields__},
    )


def _own_options(request: RunRequest, kind: Kind) -> dict[str, Any]:
    """The options given of a request's kind, by the fields of its plan; an OptionError for one of another kind."""
    with_it = f"leave it out with the {kind.option or 'task'} '{request.task}'."
    plain = RunRequest(request.systems)
    foreign = ({} if kind.documents else _OF_DOCUMENTS) | ({} if kind.plan else _SAMPLED)
    for field, option in foreign.items():
        if getattr(request, field) != getattr(plain, field):
            raise OptionError(option, f" is an option of the {DEFAULT}; {with_it}")
    known, fields, own = options(), plan_fields(kind), dict[str, Any]()
    for name, value in request.plan.items():
        option = known[name].name if name in known else name
        if field := next((field for field in (name, option) if field in fields), ""):
            own[field] = value
        elif name not in known:
            raise OptionError(option, f" is no option of the task '{request.task}'; leave it out.")
        else:
            other = kind_of(known[name].kind).option
            of = f"{other}s; name a {other}, or leave it out." if other else f"the {known[name].kind}; {with_it}"
            raise OptionError(option, f" is an option of {of}")
    return own
