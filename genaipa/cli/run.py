"""`genaipa run`: ask a system everything, and keep every answer.

Exit codes: 0 complete; 1 error; 2 usage; 3 partial, and resumable with the printed command; 4 stopped by the
spending cap; 130 interrupted (resumable as well).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from genaipa.cli.options import JsonOption, OfflineOption, WorkspaceOption, several
from genaipa.cli.run_options import (
    AcknowledgeOption,
    ConfigOption,
    ConversationOption,
    DryRunOption,
    EstimateOption,
    ExperimentOption,
    InitializationOption,
    LimitOption,
    MaxConnectionsOption,
    MaxCostOption,
    MaxRetriesOption,
    MaxTokensOption,
    NameOption,
    NewOption,
    PartTokensOption,
    PolicyOption,
    QuestionsOption,
    RepetitionsOption,
    ResumeOption,
    SamplingSeedOption,
    SeedOption,
    SummaryWordsOption,
    SystemOption,
    TemperatureOption,
    TimeoutOption,
    WordingOption,
    YesOption,
)
from genaipa.errors import SpendingCapError, UsageError

if TYPE_CHECKING:
    from genaipa.cli.planning import Job
    from genaipa.execution.engine import Bounds
    from genaipa.execution.run import Outcome
    from genaipa.workspace import Workspace

PARTIAL, CAPPED, INTERRUPTED = 3, SpendingCapError.exit_code, 130
BESIDE_RESUME = frozenset(
    {
        *("resume", "max_connections", "max_retries", "timeout", "max_cost", "yes"),
        *("offline", "json", "workspace", "config", "dry_run", "estimate"),
    }
)
"""Parameters that change nothing of what is asked."""


def run(
    context: typer.Context,
    system: SystemOption = None,
    policy: PolicyOption = None,
    experiment: ExperimentOption = None,
    initialization: InitializationOption = None,
    wording: WordingOption = None,
    repetitions: RepetitionsOption = 1,
    conversation: ConversationOption = "shared",
    questions: QuestionsOption = None,
    limit: LimitOption = None,
    seed: SeedOption = 0,
    part_tokens: PartTokensOption = None,
    acknowledge: AcknowledgeOption = False,
    summary_words: SummaryWordsOption = 400,
    temperature: TemperatureOption = None,
    max_tokens: MaxTokensOption = None,
    sampling_seed: SamplingSeedOption = None,
    max_connections: MaxConnectionsOption = 10,
    max_retries: MaxRetriesOption = 5,
    timeout: TimeoutOption = 120.0,
    max_cost: MaxCostOption = None,
    name: NameOption = None,
    resume: ResumeOption = None,
    new: NewOption = False,
    dry_run: DryRunOption = False,
    estimate: EstimateOption = False,
    yes: YesOption = False,
    offline: OfflineOption = False,
    json: JsonOption = False,
    workspace: WorkspaceOption = None,
    config: ConfigOption = None,  # noqa: ARG001 - read by its callback
) -> None:
    """Question a system about documents and keep every answer.

    The system is introduced to each document in up to four ways, then asked every question. The same command again,
    or --resume, asks only what is missing.
    """
    from genaipa.cli import planning
    from genaipa.execution.engine import Bounds
    from genaipa.workspace import find_workspace

    here = find_workspace(workspace)
    bounds = Bounds(max_connections, max_retries, timeout, max_cost)
    if resume is not None:
        _refuse_other_plan(context)
        job = planning.resumed(here, resume)
    else:
        wanted = planning.Wanted(
            systems=several(system),
            documents=several(policy),
            experiment=experiment,
            initializations=several(initialization),
            wordings=several(wording),
            questions=several(questions),
            conversation=conversation,
            limit=limit,
            options={
                "repetitions": repetitions,
                "seed": seed,
                "part_tokens": part_tokens,
                "acknowledge": acknowledge,
                "summary_words": summary_words,
                "temperature": temperature,
                "max_tokens": max_tokens,
                "sampling_seed": sampling_seed,
            },
        )
        job = planning.begun(here, wanted, name=name, new=new, offline=offline)
    if dry_run or estimate:
        from genaipa.cli import preview

        preview.print_preview(job, here, offline=offline, messages=dry_run, json=json)
        return
    raise typer.Exit(carry_out(job, here, bounds, offline=offline, yes=yes, json=json))


def _refuse_other_plan(context: typer.Context) -> None:
    """Raise a UsageError for a flag that would change the plan of a run that was begun."""
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "")
        if given is not None and given.name in ("COMMANDLINE", "DEFAULT_MAP") and parameter.name not in BESIDE_RESUME:
            raise UsageError(f"--resume goes on with the run's own plan; leave out {parameter.opts[0]}.")


def carry_out(job: Job, workspace: Workspace, bounds: Bounds, *, offline: bool, yes: bool, json: bool) -> int:
    """Ask what is missing and print what came of it; the exit code."""
    import asyncio
    import dataclasses

    from genaipa.cli import run_summary as closing
    from genaipa.cli.progress import interrupted

    if job.complete:
        return closing.already_complete(job, json=json)
    bounds = dataclasses.replace(bounds, max_cost=job.cap(bounds.max_cost))
    try:
        outcome = asyncio.run(_promptly_ask(job, workspace, bounds, offline=offline, yes=yes))
    except (KeyboardInterrupt, asyncio.CancelledError):
        interrupted(job.folder)
        return INTERRUPTED
    assert job.folder is not None, "carrying out opened it"
    closing.print_closing(job.folder, outcome, json=json)
    return {"complete": 0, "capped": CAPPED}.get(outcome.status, PARTIAL)


async def _promptly_ask(job: Job, workspace: Workspace, bounds: Bounds, *, offline: bool, yes: bool) -> Outcome:
    """The same as `_ask`, so that it can be stopped also while a document is cut into parts."""
    from genaipa.cli.stopping import promptly

    with promptly():
        return await _ask(job, workspace, bounds, offline=offline, yes=yes)


async def _ask(job: Job, workspace: Workspace, bounds: Bounds, *, offline: bool, yes: bool) -> Outcome:
    """Make the systems ready, open the folder, ask."""
    from genaipa.cli.confirm import check_cap, confirm_cost
    from genaipa.cli.console import say
    from genaipa.cli.progress import watch
    from genaipa.execution import run as study
    from genaipa.execution.manual import ByHand

    check_cap(job.spec, workspace, bounds.max_cost)
    systems = await study.ready_systems(job.spec, job.material, workspace, offline=offline, asking=True, say=say)
    try:
        confirm_cost(job.spec, systems, yes=yes or bounds.max_cost is not None)
        folder = job.open(workspace)
        with folder.writing() as healed:
            # Read and written only now that no other process can be at it.
            manifest = folder.manifest()
            study.store_inputs(folder, job.material)
            for sentence in healed:
                say(sentence)
            with watch(job.spec, systems, folder, bounds.max_cost) as observer:
                outcome = await study.carry_out(folder, manifest, job.material, systems, bounds, observer)
            if any(ready.resolved.manual for ready in systems):
                ByHand(folder, job.spec, job.material, systems).write_sheets()
    finally:
        await study.close_systems(systems)
    return outcome
