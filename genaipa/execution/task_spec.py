"""The specs of tasks other than the procedure; its plan decides what each asks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import OptionError
from genaipa.kinds import kind_of
from genaipa.plugins import load
from genaipa.runs.records import RunSpec
from genaipa.systems.base import Sampling

if TYPE_CHECKING:
    from genaipa.execution.request import RunRequest

_ANY_TASK = frozenset({"systems", "kind", "task", "plan", "name", "new", "offline", *Sampling.__struct_fields__})
"""Fields of a request that every task takes."""
_SAMPLED = frozenset({"seed", "repetitions"})
"""Options that a kind with a plan takes beside them."""

_CALLED = {
    "documents": "policy",
    "corpus": "documents",
    "initializations": "initialization",
    "wordings": "wording",
}
"""Field of a request → the option that it is of, where that is called otherwise."""


def task_spec(request: RunRequest) -> RunSpec:
    """The spec of a task that decides by itself what is asked; a UsageError for an option that is not for it."""
    kind = kind_of(request.kind)
    own = load(kind.plan) if kind.plan else None
    fields = set(own.__struct_fields__) if own else set()
    plain, given = type(request)(request.systems), dict(request.plan)
    for field in plain.__struct_fields__:
        value, option = getattr(request, field), _CALLED.get(field, field)
        if field in _ANY_TASK or value == getattr(plain, field) or (own and field in _SAMPLED):
            continue
        if option not in fields:
            what = kind.option or "task"
            raise OptionError(option, f" is an option of the procedure; leave it out with the {what} '{request.task}'.")
        given[option] = value
    if unknown := next((name for name in given if name not in fields), ""):
        raise OptionError(unknown, f" is no option of the task '{request.task}'; leave it out.")
    return RunSpec(
        request.systems,
        (),
        {},
        (),
        repetitions=request.repetitions,
        seed=request.seed,
        kind=request.kind,
        task=request.task,
        plan=msgspec.to_builtins(load(kind.planned)(request.task, given)) if own else {},
        **{name: getattr(request, name) for name in Sampling.__struct_fields__},
    )


def slice_of(text: str | None) -> tuple[int, int] | None:
    """First and last of the questions that `N` or `A-B` means; None for all. A UsageError for anything else."""
    if text is None:
        return None
    found = re.fullmatch(r"(?:(\d{1,9})-)?(\d{1,9})", text.strip())
    first, last = (int(found[1] or 1), int(found[2])) if found else (0, 0)
    if not 1 <= first <= last:
        raise OptionError("limit", f" '{text}': must be N or A-B, such as 10 or 11-20.")
    return first, last
