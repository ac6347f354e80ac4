"""Carry out a prepared run, and leave its manifest true."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, get_args

import msgspec

from genaipa.errors import OptionError, RunError, UsageError, format_shell_command
from genaipa.execution.batches.batched import (
    BatchedSystem,
    BatchingOptions,
    BatchTransport,
    refuse_new_batches_showing_documents,
)
from genaipa.execution.batches.ledger import BatchLedger
from genaipa.execution.caps import check_cap_and_find_least_slice_dollars, claim_cap_share
from genaipa.execution.engine import Engine
from genaipa.execution.limits import RunLimits
from genaipa.execution.manual import ManualRun
from genaipa.execution.observer import Observer
from genaipa.execution.ready import ReadySystem, StartedSystems, estimated_tokens_note, make_system_ready
from genaipa.execution.refusal import refuse_oversized_documents, refuse_retired_or_small_context_systems
from genaipa.runs.batches import count_pending_batches_in_words, find_pending_batches, has_batches
from genaipa.runs.procedure import get_plan_if_procedure_run
from genaipa.runs.records import Manifest, RunStatus, SystemFacts
from genaipa.runs.status import status_once_asking_ended
from genaipa.systems.base import Words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from genaipa.execution.prepare import PreparedRun
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Record
    from genaipa.runs.status import AnswerTally
    from genaipa.tasks.base import Task


@dataclass
class RunOutcome:
    """The outcome of a run."""

    status: RunStatus
    tally: AnswerTally
    stopped: dict[str, str] = field(default_factory=dict)
    """System → why it was asked no more."""
    capped: str = ""
    """A sentence on the spending cap, if it stopped the run; else empty."""
    needed: float = 0.0
    """US dollars that the run would have come to with the call that the cap stopped."""
    elapsed: float | None = None
    """Seconds that this process learnt and asked for; None if it asked nobody."""
    aside: float = 0.0
    """US dollars that are set aside, under a spending cap, for what is out in batches."""


def store_missing_input_files(folder: RunFolder, task: Task) -> None:
    """Keep in the run folder every text that its messages are made of, and the annotated answers beside them.

    What is there already stays: a run that was cut off while it began may lack some.
    """
    for name, text in task.texts_for_run_folder.items():
        if not folder.has_file(name):
            folder.write_file(name, text.encode())


async def carry_out_run(
    run: PreparedRun, limits: RunLimits | None = None, observer: Observer | None = None
) -> RunOutcome:
    """Ask the missing questions of a run, keep the replies, and write its status into the manifest, however it ends.

    Opens the folder of a new run, and holds it for writing meanwhile. For web chats, which are driven by hand, it
    writes the files to paste from. Raises NotReadyError, UsageError (a cap that can't be kept), RunError and
    RunBusyError; a call that fails is kept as a record.
    """
    observer = observer or Observer()
    limits = limits or RunLimits()
    limits = replace(limits, max_cost=run.resolve_spending_cap(limits.max_cost))
    if run.is_complete:
        folder = run.open_or_create_folder()
        return RunOutcome("complete", folder.read_manifest_and_tally()[1])
    check_batching_and_spending_cap(run, limits)
    plan = _choose_batching_by_option_or_begun_run(run, limits.batch)
    if plan is not None:
        _refuse_streamed_batches(limits)
    started = StartedSystems(limits.server_flags)
    try:
        systems = await make_systems_ready(run, observer.on_note, started)
        if plan is not None:
            systems = _apply_batch_prices_and_give_notes(run, systems, observer)
        least_share = (
            check_cap_and_find_least_slice_dollars(run, systems, limits.max_cost)
            if run.slice and limits.max_cost is not None
            else 0.0
        )
        observer.on_systems_ready(run, systems, limits.max_cost)
        # What a suite's baselines learn before anything is asked takes time as well.
        since = time.monotonic()
        folder = run.open_or_create_folder()
        with folder.hold_for_writing_and_list_repairs() as repairs:
            store_missing_input_files(folder, run.task)
            for sentence in repairs:
                observer.on_note(sentence)
            if run.slice is not None and limits.max_cost is not None:
                limits = replace(limits, max_cost=claim_cap_share(run, folder, limits.max_cost, least_share))
            with (
                run.task.open_record_listener(folder) as keep,
                observer.observer_while_asking(run, systems, limits.max_cost) as watching,
            ):
                batches = RunBatches(folder, systems, plan, watching, limits.max_retries)
                outcome = await _ask_and_save_status(run, folder, batches, limits, watching, keep)
            if any(ready.resolved.is_manual for ready in systems):
                ManualRun(folder, run.task, systems).write_new_sheets()
        if not all(ready.resolved.is_manual for ready in systems):
            outcome.elapsed = round(time.monotonic() - since, 3)
    finally:
        await started.close_systems()
    return outcome


def check_batching_and_spending_cap(run: PreparedRun, limits: RunLimits) -> None:
    """Raise a UsageError, before anything is started, for batches that cost more or a cap that could not be kept."""
    if limits.batch:
        _refuse_streamed_batches(limits)
        refuse_new_batches_showing_documents(run)
    unpriced = [system.requested_name for system in run.systems if system.tariff is None]
    if limits.max_cost is not None and unpriced:
        raise UsageError(
            f"the spending cap can't be enforced: no price is known for {unpriced[0]}; add one to systems.yaml "
            "(price: {input: …, output: …, as_of: …}, dollars per million tokens)."
        )


def _refuse_streamed_batches(limits: RunLimits) -> None:
    """Raise an OptionError where the replies of batches are to come in pieces."""
    if limits.stream:
        raise OptionError("stream", " applies only to single calls; leave it out, or ask without batches.")


async def _ask_and_save_status(
    run: PreparedRun,
    folder: RunFolder,
    batches: RunBatches,
    limits: RunLimits,
    observer: Observer,
    keep_record: Callable[[Record], None],
) -> RunOutcome:
    # Read and written only now that no other process can be at it.
    manifest, systems = folder.manifest(), batches.systems
    engine = Engine(folder, run.task, limits, observer, keep_record)
    _set_system_facts_in_manifest(manifest, systems)
    manifest.status, manifest.max_cost = "running", limits.max_cost
    if manifest.slice is not None and limits.max_cost is None:
        manifest.slice = msgspec.structs.replace(manifest.slice, cap=None)
    folder.write_manifest(manifest)
    in_order = False
    try:
        async with batches:
            await engine.ask_systems([ready for ready in systems if not ready.resolved.is_manual])
            await batches.delete_results_of_recorded_batches(engine)
        in_order = True
    finally:
        for ready in systems:
            facts = manifest.systems[ready.resolved.requested_name]
            facts.served = sorted({*facts.served, *engine.served.get(ready.resolved.requested_name, ())})
            facts.sent = engine.sent.get(ready.resolved.requested_name, facts.sent)
        ended = {"clean_exit": in_order, "capped": bool(engine.capped), "batches_pending": batches.has_pending}
        manifest.status = status = status_once_asking_ended(
            engine.tally.incomplete_systems(), _manual_system_names(systems), **ended
        )
        manifest.totals = engine.tally.totals()
        folder.write_manifest(manifest)
    aside = max(0.0, engine.budget.spent + sum(engine.budget.left.values()) - engine.tally.cost)
    return RunOutcome(status, engine.tally, engine.stopped, engine.capped, engine.needed, aside=aside)


def _manual_system_names(systems: Sequence[ReadySystem]) -> set[str]:
    return {ready.resolved.requested_name for ready in systems if ready.resolved.is_manual}


async def open_manual_run_without_lock(run: PreparedRun) -> ManualRun:
    """Return the web chats of a run; a RunError if it has none."""
    folder, manual = run.open_or_create_folder(), [system for system in run.systems if system.is_manual]
    if not manual:
        go_on = format_shell_command("genaipa", "run", "--resume", folder.name)
        raise RunError(f"{folder.name} has no system that is driven by hand; continue with: {go_on}")
    # The others, which may count tokens in another way without their server, have no part in it.
    ready = [await make_system_ready(system, run.task, offline=True, say=lambda _text: None) for system in manual]
    return ManualRun(folder, run.task, ready)


def save_manual_progress(manual: ManualRun) -> RunOutcome:
    """Write into the manifest how far a run by hand is."""
    manifest = manual.folder.manifest()
    manifest.status = status_once_asking_ended(manual.tally.incomplete_systems(), _manual_system_names(manual.systems))
    manifest.totals = manual.tally.totals()
    manual.folder.write_manifest(manifest)
    return RunOutcome(manifest.status, manual.tally)


def _set_system_facts_in_manifest(manifest: Manifest, systems: list[ReadySystem]) -> None:
    for ready in systems:
        name = ready.resolved.requested_name
        earlier_facts = manifest.systems.get(name)
        manifest.systems[name] = SystemFacts(
            model=ready.resolved.name,
            words=_find_origin_of_reply_words(ready, earlier_facts),
            counter="; ".join(sorted({counter.label for counter in ready.target.counters.values()})),
            context=ready.context,
            part_tokens=ready.target.part_tokens,
            served=earlier_facts.served if earlier_facts else [],
            sent=earlier_facts.sent if earlier_facts else {},
            notes=ready.notes,
            price=ready.tariff.label if ready.tariff else "",
        )


def _find_origin_of_reply_words(ready: ReadySystem, earlier_facts: SystemFacts | None) -> Words:
    """Return the author of a system's replies as its adapter says; a shipped adapter may leave it out."""
    if ready.system is None:
        return "own" if ready.resolved.is_manual else earlier_facts.words if earlier_facts else ""
    record = ready.resolved.provider_record
    origin: Words = getattr(ready.system, "words", record.words if record else "")
    return origin if origin in get_args(Words) else ""


async def make_systems_ready(
    run: PreparedRun, say: Callable[[str], None], started_systems: StartedSystems | None = None
) -> list[ReadySystem]:
    """Every system of a run, made ready; `started_systems` collects the systems asked, for the caller to close.

    A RefusedSystemError, as early as can be, where any is retired or has too small a context.
    """
    await refuse_retired_or_small_context_systems(run, will_start=started_systems is not None)
    ready = [
        await make_system_ready(system, run.task, offline=run.offline, say=say, started_systems=started_systems)
        for system in run.systems
    ]
    refuse_oversized_documents(run, ready)
    if guessed := [ready_system.resolved.requested_name for ready_system in ready if ready_system.are_tokens_guessed]:
        say(estimated_tokens_note(guessed))
    return ready


def _choose_batching_by_option_or_begun_run(
    run: PreparedRun, batching_option: BatchingOptions | bool | None
) -> BatchingOptions | None:
    """Return the way in which a run is asked by batches, or None: as given now, else as it was begun.

    A RunError where single calls would ask again for what is out.
    """
    if batching_option is False:
        out = list(find_pending_batches(run.folder.path)) if run.folder else []
        if out and run.folder:
            raise RunError(
                f"{count_pending_batches_in_words(out)}; collect them first, or abandon them (they are still "
                "charged) with: "
                f"genaipa runs batches forget {run.folder.name}"
            )
        return None
    if batching_option is None:
        return BatchingOptions() if run.folder and has_batches(run.folder.path) else None
    return BatchingOptions() if batching_option is True else batching_option


def _takes_batches(ready: ReadySystem) -> bool:
    """Whether a system can be asked by batches."""
    return ready.system is not None and ready.resolved.takes_batches


def _apply_batch_prices_and_give_notes(
    run: PreparedRun, systems: list[ReadySystem], observer: Observer
) -> list[ReadySystem]:
    """Price the systems at the rate of batches, and say what that means; a UsageError if none takes them."""
    if not any(map(_takes_batches, systems)):
        names = ", ".join(ready.resolved.requested_name for ready in systems)
        raise UsageError(
            f"{names} can't be asked in batches (only openai/…, anthropic/… and google/… can); use single calls."
        )
    for ready in systems:
        if not _takes_batches(ready) and ready.resolved.provider_record and ready.resolved.provider_record.hosted:
            observer.on_note(
                f"{ready.resolved.requested_name} does not accept batches; genaipa sends single calls at full price"
            )
    rounds = max(map(len, run.task.question_orders.values()), default=1)
    plan = get_plan_if_procedure_run(run.spec)
    if plan and plan.conversation == "shared" and rounds > 1:
        observer.on_note(
            f"shared conversations need one batch per turn, {rounds} one after another, and each may take "
            f"from minutes to 24 hours; independent conversations need one batch"
        )
    return [replace(ready, tariff=ready.resolved.batch_tariff) if _takes_batches(ready) else ready for ready in systems]


class RunBatches:
    """The batches of a run while it is asked; `systems` are those to ask. Without a plan it does nothing."""

    def __init__(
        self,
        folder: RunFolder,
        systems: list[ReadySystem],
        plan: BatchingOptions | None,
        observer: Observer,
        retries: int,
    ) -> None:
        self.systems = systems
        self._ledger: BatchLedger | None = None
        self._batched: list[BatchedSystem] = []
        if plan is None:
            return
        self._ledger = ledger = BatchLedger(folder)
        self.systems = []
        for ready in systems:
            if _takes_batches(ready):
                system: Any = ready.system
                name = ready.resolved.requested_name
                say, tell = partial(observer.on_wait, name), partial(observer.on_batch_progress, name)
                system = BatchedSystem(system, ledger, folder.name, plan, say, retries, tell, ready.tariff)
                self._batched.append(system)
                self.systems.append(replace(ready, system=system, transport=BatchTransport))
            else:
                self.systems.append(ready)

    async def __aenter__(self) -> Self:
        """Take up what earlier processes left."""
        try:
            for batched in self._batched:
                await batched.resume_earlier_batches()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Leave what is out, and let go of the journal."""
        for batched in self._batched:
            await batched.stop_following_batches()
        if self._ledger is not None:
            await self._ledger.close()

    @property
    def has_pending(self) -> bool:
        """Whether any are out."""
        return self._ledger is not None and bool(self._ledger.pending_batches)

    async def delete_results_of_recorded_batches(self, engine: Engine) -> None:
        """Note which batches are done with; the run has ended in order."""
        for batched in self._batched:
            await batched.delete_results_of_recorded_batches(all_asked=not engine.capped and not engine.stopped)
