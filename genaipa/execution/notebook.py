"""Runs and judges from a notebook or a script: systems, documents and options as the arguments of a function."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack

from genaipa.errors import UsageError
from genaipa.execution import judging
from genaipa.execution.limits import RunLimits
from genaipa.execution.observer import Observer
from genaipa.execution.prepare import prepare_run
from genaipa.execution.run import carry_out_run
from genaipa.files.strict_yaml import convert_to_type
from genaipa.judging.plan import JudgeRequest
from genaipa.kinds import DEFAULT, load_first_plan_option_by_name
from genaipa.runs.run import Run, Runs, resolve_workspace_and_run_names
from genaipa.systems.base import SamplingOptions
from genaipa.tasks.catalog import find_task_kind_or_plain
from genaipa.tasks.request import RunRequest
from genaipa.workspace import Named, find_workspace, list_names

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from genaipa.kinds import PlanOption
    from genaipa.workspace import WorkspaceLike

Systems = str | type | Sequence[str | type]
"""Systems by name, or the user's own by their classes."""
Documents = str | Path | Named | Sequence[str | Path | Named]
"""Documents by name, as objects, or as files and addresses."""
T = TypeVar("T")

_LIMITS: dict[str, Any] = {
    "max_connections": int,
    "max_retries": int,
    "timeout": float,
    "max_cost": float | None,
    "batch": bool | None,
    "server_flags": tuple[str, ...],
    "stream": bool,
}
"""Field of `RunLimits` → what a caller may give for it."""


class RunOptions(SamplingOptions, total=False):
    """The options of a run as the arguments of a function: `RunRequest`'s and `RunLimits`' fields.

    Options of kinds are taken without being here, too; the procedure's are, for type checkers.
    """

    company: str
    """Of a document that is given as a file or an address: the name of its company in questions."""
    effort: str | Sequence[str]
    """Levels of effort: each system that takes any is asked at each of them."""
    corpus: str | Path | None
    """A file of documents, .jsonl or .parquet, in place of their names."""
    limit_documents: int | None
    """Of a corpus: the size of a sample, drawn by the seed."""
    stratify: str | None
    """Of a corpus: the column whose groups each have their share of the sample."""
    task: str
    """Another task than the paper's procedure: a suite's name, with `plan` for the options that are only its own."""
    plan: Mapping[str, Any]
    experiment: str | None
    """quality, robustness, recall, regulation, summary or procedure; without it, all of the paper's procedure."""
    initializations: str | Sequence[str]
    wordings: str | Sequence[str]
    prompts: str | Sequence[str]
    """Sets of prompts: neutral (the default), guided, paper, or your own."""
    questions: str | Named | Sequence[str | Named]
    """Question sets in place of the ones for a document's kind."""
    follow_up: str
    """A second question, asked after each answer."""
    conversation: Literal["shared", "independent"]
    limit: int | tuple[int, int] | None
    """The first N of the shuffled questions, or those from A to B."""
    repetitions: int
    seed: int
    part_tokens: int | None
    acknowledge: bool
    summary_words: int
    slice: tuple[int, int] | None
    """Which slice of a corpus, and of how many: (3, 16). `name` names the study of all."""
    name: str | None
    new: bool
    """Begin a new run even where the same plan was begun before."""
    offline: bool
    max_connections: int
    max_retries: int
    timeout: float
    """Seconds until a call counts as stalled."""
    max_cost: float | None
    """US dollars that the whole run may come to."""
    batch: bool
    """Whether hosted systems are asked by batches: half the price, within a day."""
    server_flags: tuple[str, ...]
    """Further flags of a vllm/… model's server that is started here, such as `--tensor-parallel-size`, `2`."""
    stream: bool
    """Whether replies come in pieces, so that the time until the first is in their records."""


def make_run_request_and_limits(
    systems: Systems, documents: Documents, arguments: RunOptions
) -> tuple[RunRequest, RunLimits]:
    """Make the request and limits from arguments: names, objects that have one, or classes of systems."""
    request_options: dict[str, Any] = {**arguments}
    request_options["systems"] = _system_names(systems)
    request_options["documents"] = _names_given_in_argument("documents", documents)
    request_options["effort"] = _names_given_in_argument("effort", request_options.get("effort", ()))
    request_options["corpus"] = None if request_options.get("corpus") is None else str(request_options["corpus"])
    request_options["kind"] = find_task_kind_or_plain(request_options.get("task", DEFAULT))
    plan_options = {
        name: _convert_task_kind_option(name, option, request_options.pop(name))
        for name, option in load_first_plan_option_by_name().items()
        if name in request_options
    }
    request_options["plan"] = {
        **request_options.get("plan", {}),
        **{name: value for name, value in plan_options.items() if value is not None},
    }
    limits = {
        field.name: request_options.pop(field.name) for field in fields(RunLimits) if field.name in request_options
    }
    for name, limit in limits.items():
        convert_to_type({name: limit}, dict[str, _LIMITS[name]], "genaipa.run")  # type: ignore[valid-type]
    return convert_to_type(request_options, RunRequest, "genaipa.run"), RunLimits(**limits)


def _convert_task_kind_option(option_name: str, option: PlanOption, value: Any) -> Any:
    """Read an option that is only a kind's: names, a word, or a number; None stays none."""
    if value is None:
        return None
    if option.takes is tuple:
        return _names_given_in_argument(option_name, value)
    if option.takes is str:
        return "-".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return convert_to_type({option_name: value}, dict[str, option.type], "genaipa.run")[option_name]  # type: ignore[name-defined]


def _system_names(systems: Systems) -> tuple[str, ...]:
    several = [systems] if isinstance(systems, str | type) else systems
    try:
        return tuple(
            dict.fromkeys(
                system if isinstance(system, str) else f"{system.__module__}:{system.__qualname__}"
                for system in several
            )
        )
    except (AttributeError, TypeError):
        raise UsageError(f"give each system as a name or as your own class, not {systems!r}.") from None


def _names_given_in_argument(argument_name: str, value: Documents) -> tuple[str, ...]:
    try:
        return list_names(value)
    except (AttributeError, TypeError):
        raise UsageError(f"give {argument_name} as names or as loaded objects, not {value!r}.") from None


def run(
    systems: Systems,
    documents: Documents = (),
    *,
    workspace: WorkspaceLike = None,
    observer: Observer | None = None,
    **options: Unpack[RunOptions],
) -> Run:
    """Question systems about documents and keep every answer in a run folder of the workspace.

    The unfinished run of the same plan goes on where it stopped, and a complete one is given back as it is. What failed
    is in the run's `failures`. Raises NotReadyError (a key, an SDK or a server is missing), UsageError (an option or a
    name that can't be) and RunBusyError; nothing is asked then. Another `task` than the paper's procedure needs no
    documents.

    >>> run = genaipa.run("extractive", "brindlecart", experiment="quality", limit=4)
    >>> run.status, len(run.answers())
    ('complete', 4)
    >>> run.to_frame()["status"].value_counts().to_dict()
    {'answered': 4}
    """
    return _run_coroutine(run_async(systems, documents, workspace=workspace, observer=observer, **options))


async def run_async(
    systems: Systems,
    documents: Documents = (),
    *,
    workspace: WorkspaceLike = None,
    observer: Observer | None = None,
    **options: Unpack[RunOptions],
) -> Run:
    """Do what `run` does in an event loop; `observer` hears of every record.

    >>> class Bar(genaipa.Observer):
    ...     def on_record_saved(self, record, tally):
    ...         done = tally.totals()
    ...         print(f"{done.answer_count} of {done.planned}")
    >>> asyncio.run(genaipa.run_async("extractive", "vpda", limit=2, experiment="regulation", observer=Bar()))
    1 of 2
    2 of 2
    <Run ...-extractive-vpda: complete, 2 of 2 answers>
    """
    resolved_workspace = find_workspace(workspace)
    request, limits = make_run_request_and_limits(systems, documents, options)
    prepared = prepare_run(resolved_workspace, request, observer)
    await carry_out_run(prepared, limits, observer)
    return Run(resolved_workspace, prepared.open_or_create_folder())


def judge(
    runs: Runs,
    judges: str | Sequence[str],
    *,
    passes: int = 1,
    evidence: bool = False,
    own_family: bool = False,
    max_cost: float | None = None,
    workspace: WorkspaceLike = None,
    observer: Observer | None = None,
) -> list[Run]:
    """Have systems judge the answers of these runs by the rubric, and keep every verdict apart from people's scores.

    Each answer is judged once by each judge and pass; the same call again asks only what is missing. `evidence` shows
    the judge what rules found, `own_family` allows one of the family of a system that it judges, and `max_cost` is in
    US dollars, for all of them. Gives the judge's runs that were asked, none if every verdict was there. A
    UsageError for a name that fits none, or a judge that may not judge.

    >>> genaipa.judge("demo", "example_judge:RulesOfThumb")
    [<Run ...-judge-example_judge-RulesOfThumb: complete, ... answers>]
    """
    resolved_workspace, names = resolve_workspace_and_run_names(runs, workspace)
    hears = observer or Observer()
    request = JudgeRequest(names, list_names(judges), passes, evidence, own_family)
    with judging.hold_judging_lock(resolved_workspace):
        prepared = judging.prepare_judge_runs(resolved_workspace, request, hears)
        done = _run_coroutine(judging.carry_out_judge_runs(prepared, RunLimits(max_cost=max_cost), hears))
    return [Run(resolved_workspace, folder) for folder, _ in done]


def _run_coroutine(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine, also where a loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    return _run_coroutine_in_thread(coroutine)


def _run_coroutine_in_thread(coroutine: Coroutine[Any, Any, T]) -> T:
    """Carry it out in a thread where a loop runs already, as in a notebook; what stops the caller stops the run."""
    stops: list[Callable[[], object]] = []

    async def register_stop_and_await() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None, "a coroutine runs in a task"
        stops.append(lambda: loop.call_soon_threadsafe(task.cancel))
        return await coroutine

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(asyncio.run, register_stop_and_await())
        try:
            return future.result()
        except BaseException:
            for stop in stops if not future.done() else ():
                stop()
            raise


def _add_run_options_to_signature(function: Callable[..., Any]) -> None:
    """Name every option where a notebook looks for what a function takes: in its signature."""
    signature = inspect.signature(function)
    fixed = [
        parameter for parameter in signature.parameters.values() if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    kind = inspect.Parameter.KEYWORD_ONLY
    takes = {
        name: option.takes
        for name, option in load_first_plan_option_by_name().items()
        if name not in RunOptions.__annotations__
    }
    named = [
        inspect.Parameter(name, kind, default=_default_option_value(name), annotation=annotation)
        for name, annotation in {**RunOptions.__annotations__, **takes}.items()
    ]
    function.__signature__ = signature.replace(parameters=[*fixed, *named])  # type: ignore[attr-defined]


def _default_option_value(option_name: str) -> Any:
    """Return an option's default: the request's, the limits' or a plan's."""
    for holder in (RunRequest(("",)), RunLimits()):
        if hasattr(holder, option_name):
            return getattr(holder, option_name)
    return option.default if (option := load_first_plan_option_by_name().get(option_name)) else None


for _function in (run, run_async):
    _add_run_options_to_signature(_function)
