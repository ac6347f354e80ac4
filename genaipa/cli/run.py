"""`genaipa run`: ask a system everything, and keep every answer.

Exit codes: 0 complete; 1 error; 2 usage; 3 partial, and resumable with the printed command; 4 stopped by the
spending cap; 130 interrupted (resumable as well).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    TaskOption,
    TemperatureOption,
    TimeoutOption,
    WordingOption,
    YesOption,
)
from genaipa.errors import SpendingCapError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.cli.progress import TerminalObserver
    from genaipa.execution.engine import RunLimits
    from genaipa.execution.request import PreparedRun, RunRequest
    from genaipa.execution.run import Outcome

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
    task: TaskOption = "procedure",
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
    config: ConfigOption = None,
) -> None:
    """Ask systems every question about documents, and keep every answer.

    The system is introduced to each document in up to four ways, then asked every question. The same command again,
    or --resume, asks only what is missing.
    """
    from genaipa.cli.progress import TerminalObserver
    from genaipa.execution import request
    from genaipa.execution.engine import RunLimits
    from genaipa.workspace import find_workspace

    here, observer = find_workspace(workspace), TerminalObserver(yes=yes)
    if resume is not None:
        _refuse_other_plan(context)
        prepared = request.resume(here, resume, observer, offline=offline)
    else:
        prepared = request.prepare(here, _request(context.params), observer)
    if dry_run or estimate:
        from genaipa.cli import preview

        preview.print_preview(prepared, offline=offline, messages=dry_run, json=json)
        return
    limits = RunLimits(max_connections, max_retries, timeout, max_cost)
    raise typer.Exit(carry_out(prepared, limits, observer, json=json))


def _request(options: Mapping[str, Any]) -> RunRequest:
    """What the options ask for; those of several values have their singular's name."""
    from genaipa.execution.request import RunRequest

    lists: dict[str, Any] = {
        plural: several(options[name])
        for plural, name in (
            *(("systems", "system"), ("documents", "policy"), ("initializations", "initialization")),
            *(("wordings", "wording"), ("questions", "questions")),
        )
    }
    others: dict[str, Any] = {name: options[name] for name in RunRequest.__struct_fields__ if name in options}
    return RunRequest(**others | lists)


def _refuse_other_plan(context: typer.Context) -> None:
    """Raise a UsageError for a flag that would change the plan of a run that was begun."""
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "")
        if given is not None and given.name in ("COMMANDLINE", "DEFAULT_MAP") and parameter.name not in BESIDE_RESUME:
            raise UsageError(f"--resume goes on with the run's own plan; leave out {parameter.opts[0]}.")


def carry_out(prepared: PreparedRun, limits: RunLimits, observer: TerminalObserver, *, json: bool) -> int:
    """Ask what is missing and print what came of it; the exit code."""
    import asyncio

    from genaipa.cli import run_summary
    from genaipa.cli.progress import interrupted

    if prepared.complete:
        return run_summary.already_complete(prepared, json=json)
    try:
        outcome = asyncio.run(_promptly(prepared, limits, observer))
    except (KeyboardInterrupt, asyncio.CancelledError):
        interrupted(prepared.folder)
        return INTERRUPTED
    run_summary.print_closing(prepared.open(), outcome, json=json)
    return {"complete": 0, "capped": CAPPED}.get(outcome.status, PARTIAL)


async def _promptly(prepared: PreparedRun, limits: RunLimits, observer: TerminalObserver) -> Outcome:
    """Carry out a run that Ctrl-C stops also while a document is cut into parts."""
    from genaipa.cli.stopping import promptly
    from genaipa.execution.run import carry_out as ask

    with promptly():
        return await ask(prepared, limits, observer)
