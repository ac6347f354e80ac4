"""`genaipa run`: ask a system everything, and keep every answer.

Exit codes: 0 complete; 1 error; 2 usage; 3 partial, and resumable with the printed command; 4 stopped by the
spending cap; 130 interrupted (resumable as well).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli import completion
from genaipa.cli.options import JsonOption, OfflineOption, WorkspaceOption, option, several
from genaipa.errors import SpendingCapError, UsageError

if TYPE_CHECKING:
    from genaipa.cli.planning import Job
    from genaipa.runner import Bounds
    from genaipa.study import Outcome
    from genaipa.workspace import Workspace

PARTIAL, CAPPED, INTERRUPTED = 3, SpendingCapError.exit_code, 130
BESIDE_RESUME = frozenset(
    {
        *("resume", "max_connections", "max_retries", "timeout", "max_cost", "yes"),
        *("offline", "json", "workspace", "config", "dry_run", "estimate"),
    }
)
"""Parameters that change nothing of what is asked."""
_LARGEST = 2**63 - 1
"""The largest whole number that a server or a file is sure to take."""
_MOST_TOKENS = 10_000_000


def _cap(given: object) -> float:
    """Dollars of a spending cap; infinity for `none`."""
    text = str(given).strip()
    if text.lower() == "none":
        return math.inf
    try:
        dollars = float(text)
    except ValueError:
        dollars = math.nan
    if not 0 <= dollars < math.inf:
        raise typer.BadParameter(f"'{given}' is no amount in US dollars, such as 5 or 0.5; 'none' lifts the cap.")
    return dollars


def _config(context: typer.Context, path: Path | None) -> Path | None:
    """Make the file's values the defaults of this command; the command line still wins."""
    if path is not None:
        from genaipa.cli.config import read_config

        context.default_map = {**(context.default_map or {}), **read_config(path, context)}
    return path


def run(
    context: typer.Context,
    system: Annotated[
        list[str] | None,
        option(
            "--system",
            "-s",
            autocompletion=completion.systems,
            help="Who is asked: a short name or provider/model; several by commas or repeats.",
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        option(
            "--policy",
            "-p",
            autocompletion=completion.documents,
            help="The documents: privacy policies or regulations.",
        ),
    ] = None,
    experiment: Annotated[
        str | None,
        option(
            "--experiment",
            "-e",
            autocompletion=completion.experiments,
            help="quality, robustness, recall, regulation, summary or procedure (all four).",
        ),
    ] = None,
    initialization: Annotated[
        list[str] | None,
        option(
            "--initialization",
            "-i",
            autocompletion=completion.initializations,
            help="company-name, document, summary-by-name, summary-of-document.",
        ),
    ] = None,
    wording: Annotated[
        list[str] | None,
        option(
            "--wording",
            autocompletion=completion.wordings,
            help="original, paraphrase-1, paraphrase-2, paraphrase-3 or all.",
        ),
    ] = None,
    repetitions: Annotated[
        int, option("--repetitions", "-r", help="How often the whole is repeated.", min=1, max=10_000)
    ] = 1,
    conversation: Annotated[
        str, option("--conversation", help="shared: one growing history; independent: each question on its own.")
    ] = "shared",
    questions: Annotated[
        list[str] | None,
        option(
            "--questions",
            "-q",
            autocompletion=completion.question_sets,
            metavar="SET",
            help="Question sets instead of the ones for the document's kind.",
        ),
    ] = None,
    limit: Annotated[
        str | None, option("--limit", metavar="N|A-B", help="N or A-B: only these of the shuffled questions.")
    ] = None,
    seed: Annotated[int, option("--seed", help="Decides the shuffles.", min=-_LARGEST, max=_LARGEST)] = 0,
    part_tokens: Annotated[
        int | None,
        option("--part-tokens", help="Size of the parts in which a document is announced.", min=50, max=_MOST_TOKENS),
    ] = None,
    acknowledge: Annotated[
        bool, option("--acknowledge", help="Let the system itself acknowledge each part, as a web chat would.")
    ] = False,
    summary_words: Annotated[
        int, option("--summary-words", help="Longest summary to ask for.", min=10, max=100_000)
    ] = 400,
    temperature: Annotated[
        float | None, option("--temperature", help="Sent if the model takes it.", min=0, max=100)
    ] = None,
    max_tokens: Annotated[
        int | None, option("--max-tokens", help="Longest reply, in tokens.", min=1, max=_MOST_TOKENS)
    ] = None,
    sampling_seed: Annotated[
        int | None,
        option("--sampling-seed", help="Sent as seed if the model takes it.", min=-_LARGEST, max=_LARGEST),
    ] = None,
    max_connections: Annotated[
        int, option("--max-connections", "-j", help="Calls under way at once, per system.", min=1, max=1000)
    ] = 10,
    max_retries: Annotated[
        int, option("--max-retries", help="Further tries of a call; 0 means 0.", min=0, max=1000)
    ] = 5,
    timeout: Annotated[
        float,
        option(
            "--timeout",
            metavar="SECONDS",
            help="Seconds until a call counts as stalled.",
            min=0.1,
            max=86_400,
        ),
    ] = 120.0,
    max_cost: Annotated[
        float | None,
        option(
            "--max-cost",
            help="Stop before the whole run costs more US dollars. Kept for when it goes on; none lifts it.",
            metavar="DOLLARS|none",
            parser=_cap,
        ),
    ] = None,
    name: Annotated[str | None, option("--name", help="Name of the run; by default, systems and documents.")] = None,
    resume: Annotated[
        str | None,
        option(
            "--resume",
            autocompletion=completion.runs,
            metavar="RUN",
            help="Go on with this run (name, part of it, or latest).",
        ),
    ] = None,
    new: Annotated[bool, option("--new", help="Begin a new run even if this very plan was begun before.")] = False,
    dry_run: Annotated[bool, option("--dry-run", help="Print the exact messages; ask nothing.")] = False,
    estimate: Annotated[bool, option("--estimate", help="Print calls, tokens and money; ask nothing.")] = False,
    yes: Annotated[
        bool, option("--yes", "-y", help="Don't ask before spending (a terminal is asked from $1 on).")
    ] = False,
    offline: OfflineOption = False,
    json: JsonOption = False,
    workspace: WorkspaceOption = None,
    config: Annotated[  # noqa: ARG001 - read by its callback
        Path | None,
        option(
            "--config",
            metavar="FILE.yaml",
            help="YAML file whose keys are these flags' names.",
            callback=_config,
            is_eager=True,
        ),
    ] = None,
) -> None:
    """Question a system about documents and keep every answer.

    The system is introduced to each document in up to four ways, then asked every question. The same command again,
    or --resume, asks only what is missing.
    """
    from genaipa.cli import planning
    from genaipa.runner import Bounds
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

    from genaipa.cli import closing
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
    from genaipa import study
    from genaipa.byhand import ByHand
    from genaipa.cli.confirm import check_cap, confirm_cost
    from genaipa.cli.progress import watch
    from genaipa.cli.screen import say

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
