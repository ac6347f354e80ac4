"""The suites that there are: shipped, brought by packages, and anybody's `module:Class`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genaipa.errors import OptionError, UnknownNameError, UsageError
from genaipa.plugins import load_object
from genaipa.systems.plugins import load_user_class
from genaipa.tasks.catalog import make_task_of_class
from genaipa.tasks.request import parse_question_range
from genaipa_suites.baseline import PREFIX
from genaipa_suites.plan import SUITES, WORDINGS, SuiteOptions, suite_class_paths

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
    """Make the suite of a spec; an UnknownNameError or UsageError where there is none."""
    target = _resolve_suite_class_path(spec.task)
    if target in SUITES.values():
        suite: Task = load_object(target)(spec, workspace)
        return suite
    return make_task_of_class(target, spec, workspace)


def _resolve_suite_class_path(name_or_class_path: str) -> str:
    """Return the module:Class of a suite by its name, or as it is given."""
    target = suite_class_paths().get(name_or_class_path, name_or_class_path)
    if ":" not in target:
        raise UnknownNameError("suite", name_or_class_path, suite_class_paths())
    return target


def _load_suite_class(name: str) -> Any:
    return load_object(SUITES[name]) if name in SUITES else load_user_class(_resolve_suite_class_path(name))


def parse_suite_options(request: RunRequest) -> SuiteOptions:
    """Make the plan of the options given; an OptionError for one that can't be, a UsageError for no suite."""
    options = request.plan
    wording, limit = options.get("wording") or ("1",), options.get("limit")
    if len(wording) > 1 or wording[0] not in map(str, WORDINGS):
        raise OptionError("wording", f" {', '.join(wording)}: a suite uses a single wording: 1, 2 or 3.")
    first, last = parse_question_range(limit) or (1, 0)
    if first != 1:
        raise OptionError("limit", f" '{limit}': for a suite, give the number of items to draw, such as 10.")
    split = options.get("split") or suite_splits(request.task)[0]
    shots, probe = options.get("shots") or 0, options.get("probe") or ""
    return SuiteOptions(split, last or None, shots, int(wording[0]), probe)


def load_suite_classes() -> dict[str, type[Suite]]:
    """Return name → class of every suite; a task that joins several is not one."""
    from genaipa_suites.suite import Suite

    classes = {name: _load_suite_class(name) for name in suite_class_paths()}
    return {name: suite for name, suite in classes.items() if issubclass(suite, Suite)}


def iterate_suite_rows() -> Iterator[dict[str, str]]:
    """Yield a row for each suite: its name and title, splits, measures, the data to pull for it, and its question."""
    kinds: dict[str, Any] = {
        **load_suite_classes(),
        **{name: _load_suite_class(name) for name in titles_and_suites_of_joining_tasks()},
    }
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


def suite_splits(suite_name: str) -> tuple[str, ...]:
    """Return the splits of a suite, the default first; a UsageError for a name or module:Class that is no suite."""
    from genaipa_suites.suite import Suite

    suite = _load_suite_class(suite_name)
    if suite_name not in SUITES and not (isinstance(suite, type) and issubclass(suite, Suite)):
        raise UsageError(f"{suite_name} is not a subclass of genaipa_suites.suite.Suite.")
    return tuple(suite.splits)


def suite_data_sources_by_source_name() -> dict[str, SuiteSource]:
    """Return name → data set of every suite: what `genaipa get` can fetch for them."""
    return {source.name: source for suite in load_suite_classes().values() for source in suite.data}


def titles_and_suites_of_joining_tasks() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return name → title and suites of every task that joins several."""
    classes = {name: _load_suite_class(name) for name in SUITES}
    return {name: (task.title, task.joins) for name, task in classes.items() if hasattr(task, "joins")}


def baseline_system_names() -> tuple[str, ...]:
    """Return the full names of all baselines, each once."""
    return tuple(
        dict.fromkeys(PREFIX + baseline.name for suite in load_suite_classes().values() for baseline in suite.baselines)
    )


def suites_of_task(task: Task) -> dict[str, Suite]:
    """Return the suites that a task asks, by name: itself, the parts of a joining task, or none."""
    from genaipa_suites.suite import Suite

    parts: dict[str, Suite] = getattr(task, "parts", {})
    return {task.name: task} if isinstance(task, Suite) else dict(parts)
