"""The seam between the core and kinds of tasks: what a run is of, and what follows from that.

A kind is a `TaskKind`, found by an entry point of the group `genaipa.kinds`; the core's own are in `OWN`. The core asks
a kind for what it needs and compares no name.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar, get_args, get_origin

import msgspec
from msgspec import Meta

from genaipa.errors import MissingPackageError
from genaipa.plugins import entry_point_targets, load_object

if TYPE_CHECKING:
    from collections.abc import KeysView

    from genaipa.datasets.base import Dataset
    from genaipa.reports.chapters.chapter import TaskKindResults
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import RunSpec
    from genaipa.scoring.people import User
    from genaipa.tasks.base import Task
    from genaipa.tasks.request import Resources, RunRequest
    from genaipa.ui.desk import Desk
    from genaipa.validation import KindFilesCheck
    from genaipa.workspace import Workspace

GROUP = "genaipa.kinds"
DEFAULT = "procedure"
"""The kind of a run that names none."""
PLAIN = "task"
"""The kind of any task that no kind names: a package's, or a user's own `module:Class`."""
OWN: dict[str, str] = {
    DEFAULT: "genaipa.tasks.kinds:PROCEDURE",
    PLAIN: "genaipa.tasks.kinds:PLAIN",
    "judge": "genaipa.judging.kind:JUDGE",
}


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The part of a run's spec that only its kind knows.

    A field with a help text, by `option`, is an option of `genaipa run` and of `genaipa.run`.
    """

    @property
    def label(self) -> str:
        """The plan in a few words; empty where the documents and initializations say all."""
        return ""

    def run_table_facts(self, task_name: str) -> Mapping[str, str]:  # noqa: ARG002 - for plans that have some
        """Return facts for a table of runs, by column."""
        return {}


P = TypeVar("P", bound=Plan)


def make_plan_option(help_text: str, *flags: str, **details: str | int) -> Meta:
    """Make a plan's field an option of `genaipa run`: its help, and its flags where they aren't the field's name.

    `details` are its `metavar`; its bounds `min` and `max` on the command line; the option `before` which it is listed;
    the heading of its `panel`, which only `--help-all` shows, the kind's own where it names neither; and the names that
    it `completes`, as `genaipa.cli.terminal.completion` has them.
    """
    return Meta(description=help_text, extra={"flags": flags, **details})


class PlanOption(NamedTuple):
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


@dataclass(frozen=True)
class RunClosing:
    """Lines for people and facts for machines, by their key, on a run that was asked."""

    lines: Sequence[str] = ()
    facts: Mapping[str, object] = field(default_factory=dict)


class TaskKind(Generic[P]):
    """A kind of task; itself, it stands for one whose package is gone. A subclass only needs `make`.

    Methods import what they need in their bodies: a kind must be cheap to read wherever runs are listed.
    """

    plan: ClassVar[type[Plan]] = Plan
    """Its plan. A kind with one of its own takes `seed` and `repetitions` too."""
    people: ClassVar[bool] = False
    """Whether people score its answers: these have their place at the desk and in the tidy table."""
    documents: ClassVar[bool] = False
    """Whether a run names documents, which may be a corpus."""
    on_answers: ClassVar[bool] = False
    """Whether its questions are the answers of other runs: its runs are meant by their own names alone."""
    keeps: ClassVar[bool] = False
    """Whether the digests of its task are of files in the run's folder."""
    option: ClassVar[str] = ""
    """Name of the option of `genaipa run` that names a task of this kind."""
    about: ClassVar[str] = ""
    """Help of that option."""
    heading: ClassVar[str] = ""
    """Heading of its options on the help page."""
    prompts: ClassVar[str] = ""
    """Folder of its prompts in `prompts/`."""
    page: ClassVar[str] = ""
    """Title of its page at the desk, which `show_page` draws; empty without one."""

    @property
    def is_package_missing(self) -> bool:
        """Tell whether the package that brings the kind is not installed."""
        return type(self) is TaskKind

    @property
    def plan_fields(self) -> tuple[str, ...]:
        """The fields of its plan."""
        return self.plan.__struct_fields__

    @property
    def has_results_class(self) -> bool:
        """Tell whether reports have a part on its runs (`load_results_class`), without importing that."""
        return type(self).load_results_class is not TaskKind.load_results_class

    def make_task_for_spec(self, spec: RunSpec, workspace: Workspace) -> Task:  # noqa: ARG002 - for kinds that are here
        """Make the task of a spec; a UsageError for an unknown name, and any error of its data."""
        raise MissingPackageError(
            f"the kind of task '{spec.kind}' is not installed; install the package that provides it."
        )

    def make_plan(self, request: RunRequest, workspace: Workspace, resources: Resources) -> P:  # noqa: ARG002 - for kinds that resolve them
        """Make the plan of a request, whose `plan` has the kind's own options as they were given."""
        plan: P = msgspec.convert(request.plan, self.plan)  # type: ignore[assignment]
        return plan

    def task_names(self) -> Sequence[str] | None:
        """Return the tasks of this kind that have a name; None if it is one task, called like the kind."""
        return None

    def list_task_rows(self) -> Iterable[dict[str, str]]:
        """Return a row of facts about each of these tasks, for a list of them."""
        return ()

    def is_redistributable(self, plan: P) -> bool:  # noqa: ARG002 - for kinds that may not
        """Tell whether the items of a plan may be passed on to others."""
        return True

    def load_results_class(self) -> type[TaskKindResults] | None:
        """Return the class of what it adds to reports, made of a workspace and its runs."""
        return None

    def closing_lines_and_facts(self, workspace: Workspace, folder: RunFolder) -> RunClosing:  # noqa: ARG002 - for kinds that say something
        """Return what is printed after a run."""
        return RunClosing()

    def show_page(self, desk: Desk, user: User) -> None:
        """Draw its `page` at the desk for a user."""

    def check_workspace_files(self, workspace: Workspace) -> KindFilesCheck | None:  # noqa: ARG002 - for kinds with files
        """Check the kind's own files in a workspace; None if it has none."""
        return None

    def data_sets(self) -> Mapping[str, Dataset]:
        """Return its data sets by name."""
        return {}


@functools.cache
def find_kind_or_placeholder(kind_name: str) -> TaskKind[Any]:
    """Return the kind of that name; a plain `TaskKind` where its package is gone."""
    target = OWN.get(kind_name) or entry_point_targets(GROUP).get(kind_name, "")
    try:
        kind: TaskKind[Any] = load_object(target) if target else TaskKind()
    except (ImportError, AttributeError):
        return TaskKind()
    return kind


def list_registered_kind_names() -> KeysView[str]:
    """Return the names of all kinds, the core's own first."""
    return {**OWN, **entry_point_targets(GROUP)}.keys()


def load_kinds() -> dict[str, TaskKind[Any]]:
    """Return name → kind of every kind that is here."""
    return {
        name: kind
        for name in list_registered_kind_names()
        if not (kind := find_kind_or_placeholder(name)).is_package_missing
    }


def describe_missing_kinds_or_empty() -> str:
    """Name the kinds whose package is gone; empty for none."""
    gone = sorted(list_registered_kind_names() - load_kinds().keys())
    return f"no longer installed: the package that provides {' and '.join(gone)}" if gone else ""


def convert_to_kind_plan(kind_name: str, plan: Any) -> Plan:
    """Convert a plan to the struct of its kind, or of its fields if the kind is absent; a ValueError otherwise.

    `plan` may be the fields by name, as a file has them.
    """
    task_kind = find_kind_or_placeholder(kind_name)
    if task_kind.is_package_missing:
        return plan if isinstance(plan, Plan) else _make_unknown_plan(plan)
    try:
        return plan if isinstance(plan, task_kind.plan) else msgspec.convert(msgspec.to_builtins(plan), task_kind.plan)
    except msgspec.ValidationError as error:
        raise ValueError(f"its plan: {error}") from None


def _make_unknown_plan(fields: Mapping[str, Any]) -> Plan:
    plan_type: Any = msgspec.defstruct("UnknownPlan", list(fields), bases=(Plan,), frozen=True)
    plan: Plan = plan_type(**fields)
    return plan


def load_first_plan_option_by_name() -> dict[str, PlanOption]:
    """Return name → field of a plan that is an option; where several plans have it, that of the first."""
    options: dict[str, PlanOption] = {}
    for name, kind in load_kinds().items():
        for plan_field in msgspec.structs.fields(kind.plan):
            for note in getattr(plan_field.type, "__metadata__", ()):
                if isinstance(note, Meta) and note.description:
                    default = None if plan_field.default is msgspec.NODEFAULT else plan_field.default
                    details = {**(note.extra or {})}
                    flags = details.pop("flags", ()) or (f"--{plan_field.name.replace('_', '-')}",)
                    takes = _find_option_type_or_tuple_if_several(get_args(plan_field.type)[0])
                    option = PlanOption(name, plan_field.type, takes, default, note.description, flags, details)
                    options.setdefault(plan_field.name, option)
    return options


def _find_option_type_or_tuple_if_several(field_type: Any) -> type:
    """Return the form in which a field is given: a number, yes or no, several words, or a word."""
    if NoneType in get_args(field_type):
        (field_type,) = (member for member in get_args(field_type) if member is not NoneType)
    if get_origin(field_type) is dict or Ellipsis in get_args(field_type):
        return tuple
    return field_type if field_type in (bool, int, float) else str


def task_option_and_name(spec: RunSpec) -> str:
    """Return a run's task by its name, after the word for such tasks: `suite policyqa`."""
    return f"{find_kind_or_placeholder(spec.kind).option} {spec.task}".strip()


def describe_task_and_plan_or_empty(spec: RunSpec) -> str:
    """Return a run's task and its plan in words; empty for a plan that has none."""
    return f"{task_option_and_name(spec)} ({spec.plan.label})" if spec.plan.label else ""
