"""The seam between the core and kinds of tasks: what a run is of, and what follows from that.

A kind is a `Kind`, found by an entry point of the group `genaipa.kinds`; the core's own are in `OWN`. The core asks a
kind for what it needs and compares no name. References are `module:name`, imported when they are used: a record must be
cheap to read wherever runs are listed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_origin

import msgspec
from msgspec import Meta

from genaipa.plugins import load, plugins

if TYPE_CHECKING:
    from collections.abc import Iterable, KeysView

    from genaipa.questions.sets import Wording
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import ConversationMode, Initialization, RunSpec
    from genaipa.workspace import Workspace

GROUP = "genaipa.kinds"
DEFAULT = "procedure"
"""The kind of a run that names none."""
PLAIN = "task"
"""The kind of any task that no kind names: a package's, or a user's own `module:Class`."""
OWN: dict[str, str] = {
    DEFAULT: "genaipa.tasks.plan:PROCEDURE",
    PLAIN: "genaipa.tasks.plan:PLAIN",
    "judge": "genaipa.judging.name:JUDGE",
}


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The part of a run's spec that only its kind knows, and all that is asked of it where runs of any kind are read.

    A field with a help text, by `option`, is an option of `genaipa run` and of `genaipa.run`.
    """

    @property
    def label(self) -> str:
        """The plan in a few words; empty where the documents and initializations say all."""
        return ""

    def facts(self, task: str) -> Mapping[str, str]:  # noqa: ARG002 - for plans that have some
        """Facts for a table of runs, by column."""
        return {}

    @property
    def documents(self) -> tuple[str, ...]:
        """The documents that are asked about."""
        return ()

    @property
    def questions(self) -> Mapping[str, str]:
        """Document → question set that is asked about it; in a run of shards, its kind → question set."""
        return {}

    @property
    def initializations(self) -> tuple[Initialization, ...]:
        """The ways in which systems are introduced to a document; only the procedure has them."""
        return ()

    @property
    def wordings(self) -> tuple[Wording, ...]:
        """The wordings of its questions."""
        return ("original",)

    @property
    def prompts(self) -> tuple[str, ...]:
        """The sets of prompts that it is asked with, one by one."""
        return ()

    @property
    def conversation(self) -> ConversationMode:
        """Whether questions share a conversation."""
        return "shared"

    @property
    def experiment(self) -> str:
        """The experiment whose preset it is."""
        return ""


def option(about: str, *flags: str, **details: str | int) -> Meta:
    """Make a plan's field an option of `genaipa run`: its help, and its flags where they aren't the field's name.

    `details` are its `metavar`; its bounds `min` and `max` on the command line; the option `before` which it is listed;
    the heading of its `panel`, which only `--help-all` shows, the kind's own where it names neither; and the names that
    it `completes`, as `genaipa.cli.terminal.completion` has them.
    """
    return Meta(description=about, extra={"flags": flags, **details})


class Option(NamedTuple):
    """A field of a plan that is an option."""

    kind: str
    type: Any
    """The field's own."""
    takes: type
    """The form in which it is given: `tuple` for several words, `str` for one."""
    default: Any
    about: str
    flags: tuple[str, ...]
    """The long one first."""
    details: Mapping[str, Any]
    """As in `option`."""

    @property
    def name(self) -> str:
        """The long flag as a word, as the messages of an OptionError begin."""
        return self.flags[0].removeprefix("--").replace("-", "_")


def _all(_plan: Any) -> bool:
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
    """Its `Plan`, whose fields are options of `genaipa run` where they have a help text. A kind with a plan takes
    `seed` and `repetitions` too."""
    planned: str = ""
    """Function of a request, whose `plan` has the kind's own options as they were given, a workspace and an observer
    that makes the plan; without it, the options are the plan."""
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
    may_pass_on: Callable[[Any], bool] = _all
    """Whether the items of a plan may be passed on to others."""
    prompts: str = ""
    """Folder of its prompts in `prompts/`."""
    results: str = ""
    """Class of what it adds to reports, of a workspace and its runs (`Results` of `reports.chapters.chapter`)."""
    closing: str = ""
    """Function of a workspace and a run folder that gives what is printed after the run (`Closing`)."""
    page: str = ""
    """Its page at the desk: `module:Title`."""
    check: str = ""
    """Function of a workspace that gives the findings on the kind's own files (`genaipa.validation`)."""
    data: str = ""
    """Function that gives its data sets by name."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of its plan."""
        return load(self.plan).__struct_fields__ if self.plan else ()

    def plan_of(self, request: Any, workspace: Workspace, observer: Any) -> Any:
        """Make the plan of a request (`planned`)."""
        return load(self.planned)(request, workspace, observer) if self.planned else request.plan

    def task_names(self) -> list[str]:
        """The tasks of this kind that have a name."""
        return list(load(self.names)()) if self.names else []

    def closing_of(self, workspace: Workspace, folder: RunFolder) -> Closing:
        """The closing lines after a run of this kind."""
        made: Closing = load(self.closing)(workspace, folder) if self.closing else Closing()
        return made


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


def hooks(which: str, of: Iterable[str] | None = None) -> list[Any]:
    """Import what that field of these kinds refers to, each once; of all kinds, if none are named."""
    among = kinds().values() if of is None else map(kind_of, of)
    return [load(target) for target in dict.fromkeys(getattr(kind, which) for kind in among) if target]


def as_plan(kind: str, plan: Any) -> Plan:
    """A plan in the struct of its kind; one with the same fields, if the kind is not here. A ValueError if it is none.

    `plan` may be the fields by name, as a file has them.
    """
    known = kind_of(kind)
    if not known.make:
        return plan if isinstance(plan, Plan) else _unknown(plan)
    of: type[Plan] = load(known.plan) if known.plan else Plan
    try:
        return plan if isinstance(plan, of) else msgspec.convert(msgspec.to_builtins(plan), of)
    except msgspec.ValidationError as error:
        raise ValueError(f"its plan: {error}") from None


def _unknown(fields: Mapping[str, Any]) -> Plan:
    made: Any = msgspec.defstruct("UnknownPlan", list(fields), bases=(Plan,), frozen=True)
    plan: Plan = made(**fields)
    return plan


def options() -> dict[str, Option]:
    """Name → field of a plan that is an option; where several plans have a field of the name, that of the first."""
    found: dict[str, Option] = {}
    for name, kind in kinds().items():
        for one in msgspec.structs.fields(load(kind.plan)) if kind.plan else ():
            for note in getattr(one.type, "__metadata__", ()):
                if isinstance(note, Meta) and note.description:
                    default = None if one.default is msgspec.NODEFAULT else one.default
                    details = {**(note.extra or {})}
                    flags = details.pop("flags", ()) or (f"--{one.name.replace('_', '-')}",)
                    takes = _takes(get_args(one.type)[0])
                    known = Option(name, one.type, takes, default, note.description, flags, details)
                    found.setdefault(one.name, known)
    return found


def _takes(of: Any) -> type:
    """The form in which a field is given: a number, yes or no, several words, or a word."""
    if NoneType in get_args(of):
        (of,) = (one for one in get_args(of) if one is not NoneType)
    if get_origin(of) is dict or Ellipsis in get_args(of):
        return tuple
    return of if of in (bool, int, float) else str


def task_in_words(spec: RunSpec) -> str:
    """A run's task by its name, after the word for such tasks: `suite policyqa`."""
    return f"{kind_of(spec.kind).option} {spec.task}".strip()


def in_words(spec: RunSpec) -> str:
    """A run's task and its plan in words; empty for a plan that has none."""
    return f"{task_in_words(spec)} ({spec.plan.label})" if spec.plan.label else ""
