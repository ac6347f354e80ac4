"""`genaipa run`: ask a system everything, and keep every answer.

Exit codes: 0 complete; 1 error; 2 usage; 3 partial, and resumable with the printed command; 4 stopped by the
spending cap; 130 interrupted (resumable as well).
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import typer

from genaipa.cli.commands import run_options as options
from genaipa.cli.commands.run_options import KIND_OPTIONS, SAMPLING_OPTIONS
from genaipa.cli.terminal.options import JsonOption, OfflineOption, current_workspace, split_names
from genaipa.errors import RunBusyError, SpendingCapError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from genaipa.cli.terminal.progress import TerminalObserver
    from genaipa.execution.batches.batched import BatchingOptions
    from genaipa.execution.limits import RunLimits
    from genaipa.execution.prepare import PreparedRun
    from genaipa.execution.run import RunOutcome

PARTIAL, CAPPED, INTERRUPTED = 3, SpendingCapError.exit_code, 130
_PATIENCE = 60.0
"""Seconds that a slice waits for the process that holds it: one that a launcher began before, which is stopping."""


def _signature_with_all_run_options(command: Any) -> inspect.Signature:
    """Return a command's signature with the options of the tables in place of its `own`, each in its place."""
    signature = inspect.signature(command, eval_str=True)
    *parameters, _ = signature.parameters.values()
    for name, (annotation, default, before) in {**SAMPLING_OPTIONS, **KIND_OPTIONS}.items():
        at = next((index for index, parameter in enumerate(parameters) if parameter.name == before), len(parameters))
        like = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters.insert(at, inspect.Parameter(name, like, default=default, annotation=annotation))
    return signature.replace(parameters=parameters)


def run(
    context: typer.Context,
    system: options.System = None,
    policy: options.Policy = None,
    company: options.Company = "",
    corpus: options.Documents = None,
    limit_documents: options.LimitDocuments = None,
    stratify: options.Stratify = None,
    task: options.Task = "procedure",
    repetitions: options.Repetitions = 1,
    seed: options.Seed = 0,
    effort: options.Effort = None,
    max_connections: options.MaxConnections = 10,
    max_retries: options.MaxRetries = 5,
    timeout: options.Timeout = 120.0,
    stream: options.Stream = False,
    max_cost: options.MaxCost = None,
    batch: options.Batch = None,
    no_wait: options.NoWait = False,
    slice_: options.Slice = None,
    slices: options.Slices = None,
    on: options.On = None,
    data_parallel_size: options.DataParallelSize = None,
    tensor_parallel_size: options.TensorParallelSize = None,
    name: options.Name = None,
    resume: options.Resume = None,
    new: options.New = False,
    dry_run: options.DryRun = False,
    estimate: options.Estimate = False,
    yes: options.Yes = False,
    offline: OfflineOption = False,
    json: JsonOption = False,
    config: options.Config = None,
    **own: Any,
) -> None:
    """Ask systems about documents, keeping answers as runs.

    Each system is introduced to each document in up to four ways, then asked every question. The same command again,
    or --resume, asks only the missing questions.
    """
    from genaipa.cli.commands import run_slices
    from genaipa.cli.commands.run_summary import print_messages_or_estimate
    from genaipa.cli.terminal.progress import TerminalObserver
    from genaipa.execution.limits import RunLimits
    from genaipa.tasks.request import RunRequest

    launched = run_slices.end_with_driver_if_launched()
    observer, workspace = TerminalObserver(yes=yes, connections=max_connections, launched=launched), current_workspace()
    part = run_slices.parse_slice_option(slice_, slices, resume)
    if resume is not None:
        _refuse_plan_options_with_resume(context)
        prepared = run_slices.prepare_resumed_run_or_slice(workspace, resume, part, observer, offline=offline)
    else:
        sampling = options.read_system_prompt_file_into_options({name: own.pop(name) for name in SAMPLING_OPTIONS})
        kind, task, plan = _resolve_kind_task_and_plan_options(
            task, {name: own[name] for name in own if _is_option_given(context, name)}
        )
        request = RunRequest(
            systems=split_names(system), documents=split_names(policy), company=company,
            corpus=str(corpus) if corpus else None, limit_documents=limit_documents, stratify=stratify,
            slice=part if slices is None else (1, slices), kind=kind, task=task, plan=plan,
            repetitions=repetitions, seed=seed, effort=split_names(effort), name=name, new=new, offline=offline,
            **sampling,
        )  # fmt: skip
        prepared = run_slices.prepare_run_or_first_slice(workspace, request, observer, covers_all_slices=part is None)
    run_slices.refuse_launcher_unless_all_slices(on, prepared)
    if dry_run or estimate:
        print_messages_or_estimate(prepared, show_messages=dry_run, json=json, in_batches=bool(batch))
        return
    parallel_sizes = {"data_parallel_size": data_parallel_size, "tensor_parallel_size": tensor_parallel_size}
    sizes = _format_given_options_as_words(**parallel_sizes)
    batch_mode = combine_batch_and_no_wait_options(batch, prepared, no_wait=no_wait)
    flags = check_server_starts_for_flags(sizes, prepared)
    limits = RunLimits(max_connections, max_retries, timeout, max_cost, batch_mode, flags, stream)
    if run_slices.needs_study_driver(prepared, on, json=json):
        driver = run_slices.StudyDriver(workspace, prepared, limits, on or run_slices.ONE, json=json)
        raise typer.Exit(driver.run_study(context, observer))
    raise typer.Exit(
        carry_out_and_print_run(prepared, limits, observer, json=json, resume_options=flags, by_driver=launched)
    )


run.__signature__ = _signature_with_all_run_options(run)  # type: ignore[attr-defined]


def _resolve_kind_task_and_plan_options(task: str, given_options: Mapping[str, Any]) -> tuple[str, str, dict[str, Any]]:
    from genaipa.kinds import DEFAULT, load_kinds
    from genaipa.tasks.catalog import find_task_kind_or_plain

    naming = {kind.option: name for name, kind in load_kinds().items() if kind.option}
    values = {
        name: split_names([*value]) or None if isinstance(value, list | tuple) else value
        for name, value in given_options.items()
    }
    plan = {name: value for name, value in values.items() if name not in naming and value is not None}
    for option, kind in naming.items():
        if values.get(option) is None:
            continue
        if task != DEFAULT:
            raise UsageError(f"a {option} is a task; use either --{option} or --task.")
        return kind, str(values[option]), plan
    return find_task_kind_or_plain(task), task, plan


def _is_option_given(context: typer.Context, name: str) -> bool:
    """Tell whether an option was given, be it its default value."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _format_given_options_as_words(**options: str | float | None) -> list[str]:
    """Return the given ones of these options as words of a command line."""
    option_values = ((f"--{name.replace('_', '-')}", value) for name, value in options.items() if value is not None)
    return [word for flag, value in option_values for word in (flag, value if isinstance(value, str) else f"{value:g}")]


def check_server_starts_for_flags(server_flags: Sequence[str], prepared: PreparedRun) -> tuple[str, ...]:
    """Return the flags of a server; a UsageError where none would be started."""
    from genaipa.execution.serving import find_systems_needing_local_server

    if server_flags and not find_systems_needing_local_server(prepared.systems):
        raise UsageError(
            f"{server_flags[0]} is for a server that genaipa starts, for a vllm/… model without "
            "VLLM_BASE_URL; leave it out, "
            "or pass it to your own server."
        )
    return tuple(server_flags)


def combine_batch_and_no_wait_options(
    batch: bool | None, *runs: PreparedRun, no_wait: bool
) -> BatchingOptions | bool | None:
    """Return how a run is asked by batches: as the options say; None to go on as it was begun."""
    from genaipa.execution.batches.batched import BatchingOptions
    from genaipa.runs.batches import has_batches

    if not no_wait:
        return batch
    if batch is False or (batch is None and not any(run.folder and has_batches(run.folder.path) for run in runs)):
        raise UsageError("--no-wait is for batches; add --batch.")
    return BatchingOptions(wait=False)


def _refuse_plan_options_with_resume(context: typer.Context) -> None:
    """Raise a UsageError for a flag that would change the plan of a run that was begun."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if (
            source is not None
            and source.name in ("COMMANDLINE", "DEFAULT_MAP")
            and parameter.name not in options.BESIDE_RESUME
        ):
            raise UsageError(f"--resume continues the run's own plan, so leave out {parameter.opts[0]}.")


def carry_out_and_print_run(
    prepared: PreparedRun,
    limits: RunLimits,
    observer: TerminalObserver,
    *,
    json: bool,
    resume_options: Sequence[str] = (),
    by_driver: bool = False,
) -> int:
    """Ask the missing questions, and print the outcome, unless a driver `by_driver` it; return the exit code."""
    import asyncio

    from genaipa.cli.commands import run_summary
    from genaipa.cli.terminal.env_file import print_which_keys_came_from_env_file
    from genaipa.cli.terminal.progress import print_interruption_and_next_command

    if prepared.is_complete and by_driver:
        return 0
    if prepared.is_complete:
        return run_summary.print_run_already_complete(prepared, json=json)
    print_which_keys_came_from_env_file(system.name for system in prepared.systems)
    try:
        outcome = asyncio.run(_carry_out_interruptibly(prepared, limits, observer, _PATIENCE if by_driver else 0.0))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print_interruption_and_next_command(prepared.folder, resume_options)
        return INTERRUPTED
    if not by_driver:
        run_summary.print_run_outcome(prepared, outcome, json=json, resume_options=resume_options)
    return {"complete": 0, "capped": CAPPED}.get(outcome.status, PARTIAL)


async def _carry_out_interruptibly(
    prepared: PreparedRun, limits: RunLimits, observer: TerminalObserver, lock_wait_seconds: float
) -> RunOutcome:
    """Ask a run that Ctrl-C stops also while a document is cut into parts.

    Whoever holds it is waited for, so many seconds; a RunBusyError if that is not enough.
    """
    import asyncio

    from genaipa.cli.terminal.process import cancel_busy_task_soon_after_interrupt
    from genaipa.execution.run import carry_out_run

    until = asyncio.get_running_loop().time() + lock_wait_seconds
    with cancel_busy_task_soon_after_interrupt():
        while True:
            try:
                return await carry_out_run(prepared, limits, observer)
            except RunBusyError:
                if asyncio.get_running_loop().time() >= until:
                    raise
            await asyncio.sleep(1.0)
