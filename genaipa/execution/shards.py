"""Carry out a run: in its one folder, or shard by shard, here one after another or by workers elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import math
import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import msgspec

from genaipa.errors import GenaipaError, NoRoomError, NotReadyError, OtherAccountError, UsageError
from genaipa.execution.limits import RunLimits
from genaipa.execution.observer import Observer
from genaipa.execution.prepare import PreparedRun, check_shared, check_unchanged, task_of
from genaipa.execution.ready import Started
from genaipa.execution.run import RunOutcome, carry_out, check_limits, ready_systems
from genaipa.runs.batches import batches_out, pending_dollars, was_batched
from genaipa.runs.folder import RunFolder
from genaipa.runs.manifest import ANSWERS
from genaipa.runs.records import RunStatus
from genaipa.runs.status import Rows, Tally
from genaipa.systems.endpoint import read_variable
from genaipa.systems.provider import environment_keys, mask_keys
from genaipa.workers.base import LostServerError, no_shards
from genaipa.workers.dispatch import Dispatcher, Jobs
from genaipa.workspace import MARKER, Workspace, find_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from genaipa.execution.ready import Ready
    from genaipa.runs.part import Part
    from genaipa.runs.records import Record
    from genaipa.workers.base import On, Report

Job = tuple[int, RunLimits]
"""A shard's number, and its limits: the spending cap is its own."""

_FAILED_SHARDS = 3
"""As many shards that can't be asked are passed over at the beginning; after them, it is not the shards."""
_REPORT_EVERY = 0.5
"""Seconds between two reports of a shard's counts from elsewhere."""
ONES_OWN = "vllm"
"""The provider whose server each worker starts for itself, unless one is named."""


async def ask(
    run: PreparedRun, limits: RunLimits | None = None, observer: Observer | None = None, on: On | None = None
) -> RunOutcome:
    """Carry out a run, of shards or not; shards by workers, if a place for them is given.

    A shard that can't be asked is reported and left out. Raises what `execution.run.carry_out` does; cancelled, it has
    the shards under way stop in order first.
    """
    limits, observer = limits or RunLimits(), observer or Observer()
    if run.cut is None:
        if on is not None:
            raise no_shards()
        return await carry_out(run, limits, observer)
    since, limits = time.monotonic(), replace(limits, max_cost=run.cap(limits.max_cost))
    check_limits(run, limits)
    if run.complete:
        return RunOutcome("complete", run.open().progress()[1])
    with contextlib.ExitStack() as held:
        whole = Whole(run, limits, observer, held)
        try:
            await (_here(run, whole) if on is None else _elsewhere(run, whole, on, held))
        finally:
            if whole.is_begun:
                outcome = whole.end(since)
    return outcome


async def _here(run: PreparedRun, whole: Whole) -> None:
    """Carry out the shards one after another in this event loop. Raises why none can be asked."""
    folder = whole.begin()
    failed, ends = list[GenaipaError](), 0
    async with ShardWorker(folder.path, run.workspace, offline=run.offline, replicas=whole.limits.replicas) as worker:
        for index in _in_order(folder, run.own()):
            try:
                if (job := whole.make(index, 1)) is None:
                    break
                end = await worker.finish(*job, whole)
            except (NotReadyError, NoRoomError, OtherAccountError):
                raise
            except GenaipaError as error:
                whole.on_requeue(index)
                whole.said(f"shard {index:05}: {error}")
                failed.append(error)
                if len(failed) > _FAILED_SHARDS > ends:
                    break
            else:
                ends += 1
                if whole.on_done(index, end):
                    break  # it was granted all that is left
    if failed and not ends:
        raise failed[0]


async def _elsewhere(run: PreparedRun, whole: Whole, on: On, held: contextlib.ExitStack) -> None:
    """Have workers carry out the shards; connections to a server that all of them share are divided among them."""
    check_servers(run.spec.systems, on)
    ready = await ready_systems(run, whole.said)
    workers, room = held.enter_context(on.workers(whole.said))
    whole.ready(run, ready, None)
    folder = whole.begin()
    to_do = _in_order(folder, run.own())
    number = max(1, min(room, len(to_do)))
    whole.limits = shared_out(run.spec.systems, whole.limits, on, number)
    held.enter_context(whole.watching(run, ready, None))
    craft = ShardWorker(folder.path, offline=run.offline)
    stop = threading.Event()
    dispatcher = Dispatcher(workers(craft), number, whole, stop=stop)
    working = asyncio.get_running_loop().run_in_executor(None, dispatcher.run, to_do)
    try:
        await asyncio.shield(working)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([working])
        working.exception()  # looked at: it was stopped
        raise
    for index, why in dispatcher.given_up.items():
        whole.said(f"shard {index:05} was given up: {why}")


def _in_order(folder: RunFolder, own: range) -> list[int]:
    """The shards to do; first any with batches out, whose account and cost decide what may be handed in."""
    to_do = folder.to_do(own)
    if not was_batched(folder.path):
        return to_do
    return sorted(to_do, key=lambda index: not any(batches_out(folder.shard(index).path)))


@dataclass
class Purse:
    """A spending cap held over shards, or runs: each may spend what it was granted, of what the others leave."""

    cap: float | None
    held: dict[int, float] = field(default_factory=dict)
    """Dollars of each: spent, set aside for its batches, or granted while it may be under way somewhere."""
    under_way: set[int] = field(default_factory=set)
    needed: dict[int, float] = field(default_factory=dict)
    """Dollars of a shard with its next call, if a grant stopped it."""

    def grant(self, index: int, spent: float, workers: int) -> float | None:
        """Dollars that a shard may come to in all; 0 or less is none."""
        if self.cap is None:
            return None
        spent = max(spent, self.held.get(index, 0.0))
        left = self.cap - sum(dollars for other, dollars in self.held.items() if other != index) - spent
        share = left / max(1, workers - len(self.under_way - {index}))
        missing = self.needed.get(index, 0.0) - spent
        if left <= 0 or missing > left:
            return 0.0
        granted = self.held[index] = spent + max(share, missing)
        self.under_way.add(index)
        return granted

    def settle(self, index: int, cost: float) -> None:
        """Take back what a shard that nobody is at any more did not spend."""
        self.under_way.discard(index)
        self.held[index] = cost


def dollars_in_use(part: Part) -> float:
    """Return the US dollars that a run or a shard spent, and those set aside for its batches."""
    return part.cost + pending_dollars(part.path)


class Whole(Jobs, Observer):
    """The shards of a run as jobs, and what is heard of them as one run: counts together, sentences once, one display.

    A shard that is carried out here has it as its observer; reports from elsewhere are calls of its methods.
    """

    noun = "shards"

    def __init__(self, run: PreparedRun, limits: RunLimits, observer: Observer, held: contextlib.ExitStack) -> None:
        self.limits, self.is_begun = limits, False
        self._run, self._observer, self._held = run, observer, held
        self._cap, self._all = limits.max_cost, run.part == (1, 1)
        # Of a part of the shards it is their share.
        own = len(run.own()) / max(1, run.shards.number) if run.shards else 1.0
        self._share = self._cap if self._cap is None or self._all else self._cap * own
        self._folder: RunFolder
        self._display: Observer | None = None
        self._tally = Tally()
        self._purse = Purse(self._share)
        self._reasons: dict[str, str] = {}
        """System → why it was asked no more."""
        self._capped, self._needed, self._aside = "", 0.0, 0.0
        self._here = 0
        """The shard that is carried out here, one at a time."""
        self._rows: dict[int, Rows] = {}
        """The rows of each shard under way, as they are part of the tally."""
        self._out: dict[tuple[str, int], tuple[int, int]] = {}
        """Questions of a system and shard that are out in batches, and how many of them its provider has done."""
        self._sizes: dict[int, int] = {}
        self._said: set[str] = set()

    def begin(self) -> RunFolder:
        """Open the run's folder, note that it goes on, and count what was spent."""
        folder = self._folder = self._run.open()
        self.is_begun = True
        self._tally = folder.progress()[1]
        folder.note("running", self._tally, self._cap)
        if not self._all:
            self._tally = folder.counts(self._run.own())[0]
        if self._cap is not None:
            begun = (index for index in self._run.own() if folder.shard(index).is_begun)
            self._purse.held = {index: dollars_in_use(folder.shard(index)) for index in begun}
        return folder

    def end(self, since: float) -> RunOutcome:
        """Note how far the run is, now that nobody asks here; the outcome, of the time since then."""
        status, tally = self._folder.settle(self._cap)
        # Of a part, other processes decide how the whole ends.
        if not self._all and not self._folder.to_do(self._run.own()):
            status = "complete"
        capped = self._capped if status != "complete" else ""
        if capped and self._cap is not None and self._all:
            # A shard's own cap was its grant.
            aside = f" and ${self._aside:.4f} set aside for batches" if self._aside else ""
            capped = f"{capped.partition(';')[0]}; ${tally.cost:.4f} of the cap of ${self._cap:.2f} is spent{aside}"
        elapsed = round(time.monotonic() - since, 3)
        return RunOutcome("capped" if capped else status, tally, self._reasons, capped, self._needed, elapsed)

    # -- jobs --

    def make(self, number: int, workers: int) -> Job | None:
        """The shard's number and limits; None once a system was stopped, or while no money is left for it."""
        if self._reasons:
            return None
        shard, self._here = self._folder.shard(number), number
        rows = shard.state()[1].rows if shard.is_begun else {}
        if number in self._rows:  # it was begun here, and lost
            self._count(number, rows)
        spent = sum(row.cost for row in rows.values())
        granted = self._purse.grant(number, spent, workers)
        if granted is not None and granted <= 0:
            if self._capped:
                return None
            granted = max(spent, self._purse.held.get(number, 0.0))  # so that it says what its next call would need
        self._rows[number], self._sizes[number] = rows, self._size(number)
        return number, replace(self.limits, max_cost=granted)

    def _size(self, number: int) -> int:
        """Bytes of a shard's answers."""
        with contextlib.suppress(OSError):
            return (self._folder.shard(number).path / ANSWERS).stat().st_size
        return 0

    def on_progress(self, number: int, what: Any) -> None:
        """Hear what a shard elsewhere reports."""
        event, *of = what
        if event == "counts":
            self._count(number, *of)
        else:
            getattr(self, event)(*of)

    def _count(self, number: int, rows: Rows) -> None:
        self._tally.exchange(self._rows.get(number, {}), rows)
        self._rows[number] = rows
        self._shows.counted(self._tally)

    def on_done(self, number: int, end: ShardEnd) -> bool:
        """Count it, and settle its cost; one that its grant stopped goes on with what others leave."""
        self._count(number, end.rows)
        del self._rows[number]
        self._reasons |= end.stopped
        self._aside += end.aside
        self._purse.settle(number, end.cost + end.aside)
        if end.capped:
            self._purse.needed[number] = end.needed
            self._capped, self._needed = end.capped, sum(self._purse.held.values()) + end.needed - end.cost
        return bool(end.capped) and not self._reasons

    def redact(self, words: str) -> str:
        """Take out keys: a dying process may have printed anything."""
        return mask_keys(words, environment_keys())

    def on_requeue(self, number: int) -> None:
        """Have what it did not spend for others."""
        if self._cap is not None:
            self._purse.settle(number, dollars_in_use(self._folder.shard(number)))

    def on_lost(self, number: int, why: str) -> bool:
        """Say why a shard is given again; whether its file of answers grew."""
        self.said(f"shard {number:05} is given again: {why}")
        return self._size(number) > self._sizes.get(number, 0)

    # -- what is heard --

    def said(self, sentence: str) -> None:
        """Pass it on, once."""
        if sentence not in self._said:
            self._said.add(sentence)
            self._observer.said(sentence)

    def ready(self, run: PreparedRun, systems: Sequence[Ready], cap: float | None) -> None:  # noqa: ARG002 - the whole's
        """Pass on once that systems are ready."""
        if self._display is None:
            self._observer.ready(self._run, systems, self._cap)

    @contextlib.contextmanager
    def watching(self, run: PreparedRun, systems: Sequence[Ready], cap: float | None) -> Iterator[Observer]:  # noqa: ARG002 - the whole's
        """Open the display with the first shard; it stays for all."""
        if self._display is None:
            self._display = self._held.enter_context(self._observer.watching(self._run, systems, self._share))
            self._display.begun(self._tally)
        yield self

    def begun(self, tally: Tally) -> None:
        """Know the keys of the shard that is carried out here; its rows are counted as they change."""
        self._count(self._here, tally.rows)
        self._tally.statuses = dict(tally.statuses)

    def recorded(self, record: Record, tally: Tally) -> None:  # noqa: ARG002 - the shard's
        """Count it, and pass it on."""
        self._tally.add(record)
        self._shows.recorded(record, self._tally)

    def waiting(self, system: str, reason: str) -> None:
        """Pass it on."""
        self._shows.waiting(system, reason)

    def out(self, system: str, asked: int, done: int) -> None:
        """Pass on what is out of all shards together."""
        self._out[system, self._here] = asked, done
        of_system = [counts for (name, _), counts in self._out.items() if name == system]
        self._shows.out(system, sum(asked for asked, _ in of_system), sum(done for _, done in of_system))

    def stopped(self, system: str, reason: str) -> None:
        """Pass it on, once; nothing more is begun."""
        if system not in self._reasons:
            self._reasons[system] = reason
            self._shows.stopped(system, reason)

    @property
    def _shows(self) -> Observer:
        return self._display or self._observer


class ShardEnd(msgspec.Struct, frozen=True):
    """The end of a shard: its status, its counts by row, and why it was not finished, as a `RunOutcome` says it."""

    index: int
    status: RunStatus
    rows: Rows
    stopped: dict[str, str] = {}
    capped: str = ""
    needed: float = 0.0
    aside: float = 0.0

    @property
    def cost(self) -> float:
        """US dollars that the shard cost so far."""
        return sum(row.cost for row in self.rows.values())


class ShardWorker:
    """Carries out shards of one run, one after another, and keeps the systems that it started for all of them.

    Enter it in the event loop in which its shards are carried out. Until then it can be pickled: elsewhere it is the
    craft of a worker.
    """

    def __init__(
        self, path: Path, workspace: Workspace | None = None, *, offline: bool = False, replicas: int | None = None
    ) -> None:
        self.path = path
        self.workspace = workspace or _workspace_of(path)
        self.offline, self.replicas = offline, replicas
        self._started: Started | None = None

    async def __aenter__(self) -> Self:
        """Be ready for shards; systems are started by the first one."""
        self._started = Started(self.replicas)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Let go of the systems."""
        if self._started is not None:
            await self._started.close()

    async def finish(self, index: int, limits: RunLimits, observer: Observer) -> ShardEnd:
        """Ask what is missing of a shard, as `execution.run.carry_out` does; `limits.max_cost` is the shard's own.

        A RunBusyError if another process holds it, a NotReadyError if a system can't be started.
        """
        run = RunFolder(self.path)
        folder = RunFolder(run.shard(index).path)
        shard = folder.part
        shard.make()
        with shard.writing() as repairs:
            if shard.is_answered():
                shard.seal()
                return ShardEnd(index, "complete", shard.state()[1].rows)
            for sentence in repairs:
                observer.said(sentence)
            prepared = self._prepared(run, folder, index)
            cap = math.inf if limits.max_cost is None else limits.max_cost
            outcome = await carry_out(prepared, replace(limits, max_cost=cap), observer, self._started)
            if outcome.status == "complete":
                shard.seal()
        why = outcome.stopped, outcome.capped, outcome.needed
        return ShardEnd(index, outcome.status, outcome.tally.rows, *why, outcome.aside)

    async def carry_out(self, job: Job, report: Report) -> ShardEnd:
        """Carry out a shard elsewhere; a LostServerError if a server that was started there died."""
        end = await self.finish(*job, _Reporting(report))
        if end.stopped and self._started and (lost := self._started.lost()):
            raise LostServerError(end.stopped.get(lost, f"{lost}: its server ended."))
        return end

    def _prepared(self, run: RunFolder, folder: RunFolder, index: int) -> PreparedRun:
        """The shard as a run that can be asked, its folder begun."""
        task, outline = task_of(self.workspace, run, index), run.outline()
        prepared = PreparedRun(task, outline.name, folder, self.offline)
        if not folder.part.is_begun:
            planned = {name: facts.digest for name, facts in run.plan(index).documents.items()}
            check_shared(run, outline, prepared.digests, planned)
            folder.write_manifest(prepared.manifest())
        else:
            check_unchanged(folder, folder.outline(), prepared.digests)
        return prepared


class _Reporting(Observer):
    """Reports counts and sentences of a shard to the process that shows them."""

    def __init__(self, report: Report) -> None:
        self._report, self._next = report, 0.0

    def said(self, sentence: str) -> None:
        """Report it."""
        self._report(("said", sentence))

    def begun(self, tally: Tally) -> None:
        """Report at once."""
        self._counts(tally)

    def recorded(self, record: Record, tally: Tally) -> None:
        """Report, unless that was done just now."""
        if record.error is not None:
            self._report(("waiting", record.system, record.error.message))
        if time.monotonic() >= self._next:
            self._counts(tally)

    def waiting(self, system: str, reason: str) -> None:
        """Report it."""
        self._report(("waiting", system, reason))

    def stopped(self, system: str, reason: str) -> None:
        """Report it."""
        self._report(("stopped", system, reason))

    def _counts(self, tally: Tally) -> None:
        self._next = time.monotonic() + _REPORT_EVERY
        # Of the keys nothing is sent; the rows change while they are on their way.
        self._report(("counts", copy.deepcopy(tally.rows)))


def _workspace_of(path: Path) -> Workspace:
    """The workspace in which a run is."""
    home = path.parents[1]
    found = find_workspace(home)
    return found if (home / MARKER).is_file() else Workspace(home, found.layers[1:])


def _own_servers(systems: Sequence[str]) -> list[str]:
    """Systems whose server each worker would start for itself."""
    here = [name for name in systems if name.startswith(f"{ONES_OWN}/")]
    return here if read_variable("VLLM_BASE_URL") is None else []


def check_servers(systems: Sequence[str], on: On) -> None:
    """Raise a UsageError where several processes would each start a server on the same accelerators."""
    if not on.place.own_accelerators and (own := _own_servers(systems)):
        raise UsageError(
            f"each process would start a server of its own for {own[0]}, on the same accelerators; start one with vllm "
            "serve and name it in VLLM_BASE_URL, or ask without worker processes."
        )


def shared_out(systems: Sequence[str], limits: RunLimits, on: On, workers: int) -> RunLimits:
    """The limits of one worker: a share of the connections, unless each worker has servers of its own."""
    if on.place.own_accelerators and len(_own_servers(systems)) == len(systems):
        return limits
    return replace(limits, max_connections=max(1, limits.max_connections // workers))
