"""The request for a run: what a user asks for, and the spec that it comes to."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from genaipa.errors import OptionError, clip
from genaipa.kinds import DEFAULT, Plan, find_kind_or_placeholder, load_first_plan_option_by_name
from genaipa.runs.records import RunSpec
from genaipa.systems.base import Sampling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.workspace import Workspace


class RunRequest(Sampling, frozen=True, forbid_unknown_fields=True):
    """A user's request, with fields named like the options of `genaipa run`.

    `kind` and `task` say what is asked; `plan` has the options that are only a kind's own, as they were given, by the
    fields of its plan. A document may be a file, an
    address or `-` for standard input; `company` is then its company's name in questions. `corpus` is a file of
    documents in place of their names; of a sample of `limit_documents` each group of the column `stratify` has its
    share.
    Without `new`, an unfinished run of the same plan goes on.
    `effort` are levels: each system that takes any is asked at each of them, as a system of its own.
    `offline` forbids fetching missing data. `slice` is (which, of how many): only the documents of that slice of the
    corpus are asked about.
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
    slice: tuple[int, int] | None = None
    effort: tuple[str, ...] = ()


class Resources(NamedTuple):
    """What a request may need from outside the workspace, and a way to tell its user something."""

    say: Callable[[str], None]
    published: Callable[[], Collection[str]]
    """Return the names of all documents that data sets bring."""
    fetch: Callable[[Sequence[str]], None]
    """Fetch those of these documents that are published; a UsageError if that is forbidden."""


_OF_DOCUMENTS = {
    "documents": "policy",
    "company": "company",
    "corpus": "documents",
    "limit_documents": "limit_documents",
    "stratify": "stratify",
    "slice": "slice",
}
"""Field of a request that only a kind with documents takes → the option that it is of."""
_SAMPLED = {"repetitions": "repetitions", "seed": "seed"}
"""The same for a kind with a plan."""


def select_options_of_task_kind(request: RunRequest) -> dict[str, Any]:
    """Return the options of a request's kind, by the fields of its plan; an OptionError for one of another kind."""
    kind = find_kind_or_placeholder(request.kind)
    with_it = f"leave it out for the {kind.option or 'task'} '{request.task}'."
    plain = RunRequest(request.systems)
    foreign = ({} if kind.documents else _OF_DOCUMENTS) | (_SAMPLED if kind.plan is Plan else {})
    for named, option in foreign.items():
        if getattr(request, named) != getattr(plain, named):
            raise OptionError(option, f" is an option of the {DEFAULT}; {with_it}")
    option_fields, kind_options = load_first_plan_option_by_name(), dict[str, Any]()
    for name, value in request.plan.items():
        option = option_fields[name].name if name in option_fields else name
        if field := next((field for field in (name, option) if field in kind.plan_fields), ""):
            kind_options[field] = value
        elif name not in option_fields:
            raise OptionError(option, f" is not an option of the task '{request.task}'; leave it out.")
        else:
            owner = find_kind_or_placeholder(option_fields[name].kind).option
            of = (
                f"{owner}s; name a {owner}, or leave it out." if owner else f"the {option_fields[name].kind}; {with_it}"
            )
            raise OptionError(option, f" is an option of {of}")
    return kind_options


def make_spec(request: RunRequest, workspace: Workspace, resources: Resources) -> RunSpec:
    """Make the spec of a request; fetches published documents that are not here."""
    return RunSpec(
        request.systems,
        request.kind,
        request.task,
        find_kind_or_placeholder(request.kind).make_plan(request, workspace, resources),
        request.repetitions,
        request.seed,
        **{name: getattr(request, name) for name in Sampling.__struct_fields__},
    )


_DIGITS = 9
"""Digits of a number of questions, at most."""


def parse_question_range(text: str | None) -> tuple[int, int] | None:
    """Return the first and last of the questions that `N` or `A-B` means, None for all; else raise a UsageError."""
    if text is None:
        return None
    match = re.fullmatch(r"(?:(\d+)-)?(\d+)", text.strip())
    ends = [digits.lstrip("0") or "0" for digits in (match[1] or "1", match[2])] if match else ["0", "0"]
    if any(len(digits) > _DIGITS for digits in ends):
        raise OptionError("limit", f" '{clip(text)}': write the number of questions with at most {_DIGITS} digits.")
    first, last = map(int, ends)
    if not 1 <= first <= last:
        raise OptionError("limit", f" '{clip(text)}': must be N or A-B, such as 10 or 11-20.")
    return first, last
