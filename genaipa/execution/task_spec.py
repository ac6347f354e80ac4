"""The specs of tasks other than the procedure: a suite's, or a task's that decides by itself what is asked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from genaipa.errors import OptionError
from genaipa.runs.records import RunSpec, SuitePlan
from genaipa.suites.catalog import splits_of
from genaipa.suites.suite import WORDINGS
from genaipa.systems.base import Sampling

if TYPE_CHECKING:
    from genaipa.execution.request import RunRequest

_ANY_TASK = frozenset({"systems", "task", "name", "new", "offline", *Sampling.__struct_fields__})
"""Fields of a request that every task takes."""
_SUITE = frozenset({"split", "shots", "probe", "wordings", "limit", "seed", "repetitions"})
"""Those that a suite takes beside them."""


_CALLED = {
    "documents": "policy",
    "corpus": "documents",
    "initializations": "initialization",
    "wordings": "wording",
}
"""Field of a request → the option that it is of, where that is called otherwise."""


def task_spec(request: RunRequest) -> RunSpec:
    """The spec of a task that decides by itself what is asked; a UsageError for an option that is not for it."""
    splits = splits_of(request.task)
    suite = splits is not None
    plain = type(request)(request.systems)
    for field in plain.__struct_fields__:
        if field in _ANY_TASK or (suite and field in _SUITE) or getattr(request, field) == getattr(plain, field):
            continue
        if field in ("split", "shots", "probe"):
            raise OptionError(field, " is an option of suites; name a suite, or leave it out.")
        option = _CALLED.get(field, field)
        kind = "suite" if suite else "task"
        raise OptionError(option, f" is an option of the procedure; leave it out with the {kind} '{request.task}'.")
    sampling = {name: getattr(request, name) for name in Sampling.__struct_fields__}
    if splits is None:
        return RunSpec(request.systems, (), {}, (), other_task=request.task, **sampling)
    return RunSpec(
        request.systems,
        (),
        {},
        (),
        repetitions=request.repetitions,
        seed=request.seed,
        other_task=request.task,
        suite=_suite_plan(request, splits),
        **sampling,
    )


def _suite_plan(request: RunRequest, splits: tuple[str, ...]) -> SuitePlan:
    """The plan of a suite's run; a UsageError for a wording or a limit that it can't have."""
    wordings = {str(number) for number in WORDINGS}
    if len(request.wordings) > 1 or not wordings.issuperset(request.wordings):
        raise OptionError("wording", f" {', '.join(request.wordings)}: a suite is asked in one of 1, 2 or 3.")
    first, last = slice_of(request.limit) or (1, 0)
    if first != 1:
        raise OptionError("limit", f" '{request.limit}': a suite takes a number of items, drawn from all of them.")
    split = request.split or splits[0]
    wording = int(request.wordings[0]) if request.wordings else 1
    return SuitePlan(split, last or None, request.shots, wording, request.probe or "")


def slice_of(text: str | None) -> tuple[int, int] | None:
    """First and last of the questions that `N` or `A-B` means; None for all. A UsageError for anything else."""
    if text is None:
        return None
    found = re.fullmatch(r"(?:(\d{1,9})-)?(\d{1,9})", text.strip())
    first, last = (int(found[1] or 1), int(found[2])) if found else (0, 0)
    if not 1 <= first <= last:
        raise OptionError("limit", f" '{text}': must be N or A-B, such as 10 or 11-20.")
    return first, last
