"""The suites that there are: shipped, brought by packages, and anybody's `module:Class`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genaipa.errors import OptionError, UnknownNameError, UsageError
from genaipa.plugins import load
from genaipa.systems.plugins import load_class
from genaipa.tasks.catalog import own_task
from genaipa.tasks.request import parse_slice
from genaipa_suites.baseline import PREFIX
from genaipa_suites.plan import SUITES, WORDINGS, SuitePlan, suite_targets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.runs.records import RunSpec
    from genaipa.tasks.base import Task
    from genaipa.tasks.request import RunRequest
    from genaipa.workspace import Workspace
    from genaipa_suites.data import SuiteSource
    from genaipa_suites.suite import Suite


SHIPS = "ships"
"""In the list of suites, in place of data to pull."""


def make_suite(spec: RunSpec, workspace: Workspace) -> Task:
    """The suite of a spec; an UnknownNameError or UsageError where there is none."""
    target = _target(spec.task)
    if target in SUITES.values():
        made: Task = load(target)(spec, workspace)
        return made
    return own_task(target, spec, workspace)


def _target(name: str) -> str:
    """The module:Class of a suite by its name, or as it is given."""
    target = suite_targets().get(name, name)
    if ":" not in target:
        raise UnknownNameError("suite", name, suite_targets())
    return target


def _class(name: str) -> Any:
    return load(SUITES[name]) if name in SUITES else load_class(_target(name))


def make_plan(request: RunRequest) -> SuitePlan:
    """Make the plan of the options given; an OptionError for one that can't be, a UsageError for no suite."""
    given = request.plan
    wording, limit = given.get("wording") or ("1",), given.get("limit")
    if len(wording) > 1 or wording[0] not in map(str, WORDINGS):
        raise OptionError("wording", f" {', '.join(wording)}: a suite is asked in one of 1, 2 or 3.")
    first, last = parse_slice(limit) or (1, 0)
    if first != 1:
        raise OptionError("limit", f" '{limit}': a suite takes a number of items, drawn from all of them.")
    split = given.get("split") or splits_of(request.task)[0]
    shots, probe = given.get("shots") or 0, given.get("probe") or ""
    return SuitePlan(split, last or None, shots, int(wording[0]), probe)


def suites() -> dict[str, type[Suite]]:
    """Name → class of every suite; a task that joins several is none itself."""
    from genaipa_suites.suite import Suite

    classes = {name: _class(name) for name in suite_targets()}
    return {name: one for name, one in classes.items() if issubclass(one, Suite)}


def listed() -> Iterator[dict[str, str]]:
    """A row for each suite: its name and title, its splits, measures, the data to pull for it, its question."""
    kinds: dict[str, Any] = {**suites(), **{name: _class(name) for name in joining()}}
    for name, kind in kinds.items():
        yield {
            "suite": name,
            "title": kind.title,
            "splits": ", ".join(kind.splits),
            # The parts of one that joins several have the measures, and the data.
            "measures": ", ".join(measure.heading for measure in getattr(kind, "measures", ())),
            "data": ", ".join(source.name for source in kind.data) or (name if hasattr(kind, "joins") else SHIPS),
            "about": kind.about,
        }


def splits_of(name: str) -> tuple[str, ...]:
    """The splits of a suite, that asked by default first; a UsageError for a name, or a module:Class, that is none."""
    from genaipa_suites.suite import Suite

    made = _class(name)
    if name not in SUITES and not (isinstance(made, type) and issubclass(made, Suite)):
        raise UsageError(f"{name}: it is no Suite; see genaipa_suites/suite.py for what a suite is.")
    return tuple(made.splits)


def sources() -> dict[str, SuiteSource]:
    """Name → data set of every suite: what `genaipa get` can fetch for them."""
    return {source.name: source for suite in suites().values() for source in suite.data}


def joining() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Name → title and suites of every task that joins several."""
    classes = {name: _class(name) for name in SUITES}
    return {name: (one.title, one.joins) for name, one in classes.items() if hasattr(one, "joins")}


def baseline_names() -> tuple[str, ...]:
    """Full names of all baselines, each once."""
    return tuple(dict.fromkeys(PREFIX + one.name for suite in suites().values() for one in suite.baselines))


def parts_of(task: Task) -> dict[str, Suite]:
    """The suites that a task asks, by name: itself, or the parts of one that joins several; none for any other task."""
    from genaipa_suites.suite import Suite

    parts: dict[str, Suite] = getattr(task, "parts", {})
    return {task.name: task} if isinstance(task, Suite) else dict(parts)
