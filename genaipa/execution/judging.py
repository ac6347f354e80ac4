"""Judges asked: the judge's runs of a request, prepared and carried out one after another."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from filelock import Timeout

from genaipa.errors import RunBusyError, UsageError
from genaipa.execution.limits import RunLimits
from genaipa.execution.prepare import PreparedRun, prepare_resumed_run
from genaipa.execution.run import carry_out_run
from genaipa.files.locks import hold_lock, system_file_lock
from genaipa.files.names import make_run_folder
from genaipa.judging.plan import make_worklist_and_store_verdicts
from genaipa.runs.batches import max_unrecorded_batch_dollars
from genaipa.systems.provider import make_default_run_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.execution.observer import Observer
    from genaipa.execution.run import RunOutcome
    from genaipa.judging.answers import JudgedAnswers
    from genaipa.judging.plan import JudgeRequest
    from genaipa.runs.folder import RunFolder
    from genaipa.workspace import Workspace

_LOCK = ".judging.lock"
_ROUNDING = 1e-9


@dataclass
class PreparedJudgeRuns:
    """The judge's runs to carry out: mostly one; earlier ones come first.

    `wanted` judgements of the `answers` are asked for, and `had` of them are there already.
    """

    runs: list[PreparedRun]
    wanted: int
    had: int
    answers: JudgedAnswers


def prepare_judge_runs(
    workspace: Workspace, request: JudgeRequest, observer: Observer, *, offline: bool = False
) -> PreparedJudgeRuns:
    """Prepare the asking of judges, before a new run has a folder; the errors of `make_worklist_and_store_verdicts`."""
    if not request.judges:
        raise UsageError("name a judge; `genaipa systems` lists the models.")
    worklist = make_worklist_and_store_verdicts(workspace, request)
    for sentence in worklist.notes:
        observer.on_note(sentence)
    runs = []
    for folder, missing in worklist.started:
        observer.on_note(f"continuing {folder.name}, which lacks {missing:,} judgements")
        runs.append(prepare_resumed_run(workspace, folder.name, observer, offline=offline))
    for task in worklist.new:
        title = f"judge-{make_default_run_name(task.spec.systems)}"
        runs.append(PreparedRun(task, title, None, offline))
    return PreparedJudgeRuns(runs, worklist.wanted, worklist.had, worklist.answers)


@contextlib.contextmanager
def hold_judging_lock(workspace: Workspace) -> Iterator[None]:
    """Hold the workspace's judges: two that plan at once would ask the same twice. A RunBusyError if they are held."""
    make_run_folder(workspace.runs)
    try:
        with hold_lock(system_file_lock(workspace.runs / _LOCK), workspace.runs, blocking=False):
            yield
    except Timeout:
        raise RunBusyError(
            "another command is asking judges in this workspace; wait for it to end (one command can name "
            "several judges)."
        ) from None


async def carry_out_judge_runs(
    judges: PreparedJudgeRuns, limits: RunLimits, observer: Observer
) -> list[tuple[RunFolder, RunOutcome]]:
    """Carry out the runs one after another; the spending cap holds what all of them spend and set aside for batches."""
    done: list[tuple[RunFolder, RunOutcome]] = []
    cap, run_cap = limits.max_cost, None
    dollars = [
        run.folder.cost + max_unrecorded_batch_dollars(run.folder.path) if run.folder else 0.0 for run in judges.runs
    ]
    for position, run in enumerate(judges.runs):
        if cap is not None:
            # What was set aside is set aside again as it is collected; sums of it in another order must not exceed it.
            run_cap = dollars[position] + max(0.0, cap - sum(dollars)) + _ROUNDING
        outcome = await carry_out_run(run, replace(limits, max_cost=run_cap), observer)
        dollars[position] = outcome.tally.cost + outcome.aside
        if outcome.capped and cap is not None:
            first = outcome.capped.partition(";")[0]
            why = f"{first}; ${sum(dollars):.4f} of the ${cap:.2f} cap is spent or set aside"
            outcome = replace(outcome, capped=why)
        done.append((run.open_or_create_folder(), outcome))
        if outcome.status == "capped":
            break
    return done


def judges_served_as_several_models(judge_runs: Sequence[tuple[RunFolder, RunOutcome]]) -> dict[str, list[str]]:
    """Judge → the models as which it was served, where there were several: each is a judge of its own."""
    served = ((name, facts.served) for folder, _ in judge_runs for name, facts in folder.manifest().systems.items())
    return {name: models for name, models in served if len(models) > 1}
