"""The seam between the core and kinds of tasks: what a run is of, and what follows from that.

A kind is a `Kind`, found by an entry point of the group `genaipa.kinds`; the core's own are in `OWN`. The core asks a
kind for what it needs and compares no name. References are `module:name`, imported when they are used: a record must be
cheap to read wherever runs are listed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from genaipa.plugins import load, plugins

if TYPE_CHECKING:
    from collections.abc import KeysView

    from genaipa.runs.records import RunSpec

GROUP = "genaipa.kinds"
DEFAULT = "procedure"
"""The kind of a run that names none."""
PLAIN = "task"
"""The kind of any task that no kind names: a package's, or a user's own `module:Class`."""
OWN: dict[str, str] = {
    DEFAULT: "genaipa.tasks.kind:PROCEDURE",
    PLAIN: "genaipa.tasks.kind:PLAIN",
    "judge": "genaipa.judging.kind:JUDGE",
}


def _all(_plan: Mapping[str, Any]) -> bool:
    return True


@dataclass(frozen=True)
class Kind:
    """A kind of task. Only `make` has to be there; what is left out, the kind does not have."""

    make: str
    """Function of a spec and a workspace that makes the task."""
    people: bool = False
    """Whether people score its answers: these have their place at the desk and in the tidy table."""
    documents: bool = False
    """Whether a run names documents, which may be a corpus and may be cut into shards."""
    on_answers: bool = False
    """Whether its questions are the answers of other runs: its runs are meant by their own names alone."""
    keeps: bool = False
    """Whether the digests of its task are of files in the run's folder."""
    plan: str = ""
    """Struct of its own options, which are options of `genaipa run` where they have a help text. `label` says it in
    words, `facts(task)` by column. A kind with a plan takes `seed` and `repetitions` too."""
    planned: str = ""
    """Function of a task's name and the options given that makes the plan."""
    option: str = ""
    """Name of the option of `genaipa run` that names a task of this kind."""
    about: str = ""
    """Help of that option."""
    heading: str = ""
    """Heading of its options on the help page."""
    names: str = ""
    """Function that gives the tasks of this kind that have a name."""
    listed: str = ""
    """Function that gives a row of facts about each of them."""
    may_pass_on: Callable[[Mapping[str, Any]], bool] = _all
    """Whether the items of a plan may be passed on to others."""
    prompts: str = ""
    """Folder of its prompts in `prompts/`."""
    results: str = ""
    """Class of what it adds to reports, made of a workspace and its runs (`genaipa.reports.results.Results`)."""
    closing: str = ""
    """Function of a workspace and a run folder that gives what is printed after the run (`Closing`)."""
    page: str = ""
    """Its page at the desk: `module:Title`."""
    check: str = ""
    """Function of a workspace that gives the findings on the kind's own files (`genaipa.validation`)."""
    data: str = ""
    """Function that gives its data sets by name."""


@dataclass(frozen=True)
class Closing:
    """Lines for people and facts for machines, by their key, on a run that was asked."""

    lines: Sequence[str] = ()
    facts: Mapping[str, object] = field(default_factory=dict)


@functools.cache
def kind_of(name: str) -> Kind:
    """The kind of that name; one that has nothing, and can't be made, where its package is gone."""
    target = OWN.get(name) or plugins(GROUP).get(name, "")
    try:
        made: Kind = load(target) if target else Kind("")
    except (ImportError, AttributeError):
        return Kind("")
    return made


def names() -> KeysView[str]:
    """The names of all kinds, the core's own first."""
    return {**OWN, **plugins(GROUP)}.keys()


def kinds() -> dict[str, Kind]:
    """Name → kind of every kind that is here."""
    return {name: kind for name in names() if (kind := kind_of(name)).make}


def missing() -> str:
    """Name the kinds whose package is gone; empty for none."""
    gone = sorted(names() - kinds().keys())
    return f"not here, though installed once: the package of {' and '.join(gone)}" if gone else ""


def hooks(which: str) -> list[Any]:
    """Import what that field of all kinds refers to, each once."""
    return [load(target) for target in dict.fromkeys(getattr(kind, which) for kind in kinds().values()) if target]


def plan_of(spec: RunSpec) -> Any:
    """A run's plan in the struct of its kind; None if that has none."""
    kind = kind_of(spec.kind)
    return msgspec.convert(spec.plan, load(kind.plan)) if kind.plan else None


def plan_problem(spec: RunSpec) -> str:
    """The reason that a run's plan can be none of its kind; empty if it can."""
    try:
        plan_of(spec)
    except msgspec.ValidationError as error:
        return f"its plan: {error}"
    return ""


def task_in_words(spec: RunSpec) -> str:
    """A run's task by its name, after the word for such tasks: `suite policyqa`."""
    return f"{kind_of(spec.kind).option} {spec.task}".strip()


def in_words(spec: RunSpec) -> str:
    """A run's task and its plan in words; empty for a kind without a plan."""
    plan = plan_of(spec)
    return "" if plan is None else f"{task_in_words(spec)} ({plan.label})"
