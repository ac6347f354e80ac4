"""Carry out the shards of a run by workers: processes of this machine, or actors of a Ray cluster."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import threading
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from genaipa.errors import UsageError
from genaipa.execution.observer import Observer
from genaipa.execution.run import Outcome, check_cap, ready_systems
from genaipa.execution.shards.request import ShardedRun
from genaipa.execution.shards.run import ShardWorker
from genaipa.runs.folder import ANSWERS
from genaipa.runs.tally import Tally
from genaipa.systems.endpoint import read_variable
from genaipa.systems.redaction import known_keys, mask
from genaipa.workers.base import LostServerError
from genaipa.workers.dispatch import Dispatcher, Jobs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from genaipa.execution.engine import RunLimits
    from genaipa.execution.request import PreparedRun
    from genaipa.execution.shards.run import ShardEnd
    from genaipa.runs.records import Record
    from genaipa.runs.tally import Rows
    from genaipa.workers.base import Report, Workers

_TOLD_EVERY = 0.5
"""Seconds between two reports of a shard's counts."""
ONES_OWN = "vllm"
"""The provider whose server each worker starts for itself, unless one is named."""


@dataclass(frozen=True)
class On:
    """Place of a run's workers: processes here, or a Ray cluster; None is as many as the cluster has room for."""

    kind: str
    number: int | None
    gpus: float = 0.0
    """Accelerators of each worker on a cluster."""

    def check_installed(self) -> None:
        """Raise a MissingPackageError if the workers need a package that isn't here."""
        if self.kind == "ray":
            from genaipa.workers.ray import check_installed

            check_installed()


def place_of(on: str | None, gpus: float | None = None, *, batch: object = None, shards: bool = True) -> On | None:
    """Read the place of a run's workers before the run is prepared; None if none is named.

    `shards` is whether the run may have any. A UsageError for a place, or what is asked for beside it, that can't be.
    """
    if on is None:
        if gpus is not None:
            raise UsageError("GPUs for each worker are for workers on a cluster; have the run carried out on ray, too.")
        return None
    place = _read_on(on, gpus)
    if batch:
        raise UsageError("batches are carried out by their provider, not by workers; leave out one of the two.")
    if not shards:
        raise UsageError(_NO_SHARDS)
    return place


def check_shards(run: PreparedRun) -> None:
    """Raise a UsageError if a prepared run has no shards that workers could be given."""
    if not isinstance(run, ShardedRun):
        raise UsageError(_NO_SHARDS)


_NO_SHARDS = "workers are given shards, and this run has none; begin one with a number of documents for each shard."


def _read_on(text: str, gpus: float | None) -> On:
    """Read `processes:4`, `ray` or `ray:8`; a UsageError if it is none of them."""
    kind, _, number = text.partition(":")
    if kind == "processes" and gpus is not None:
        raise UsageError("processes have no accelerators of their own; GPUs for each worker are for workers on ray.")
    if kind not in ("processes", "ray") or (number and not number.isdecimal()) or (kind == "processes" and not number):
        raise UsageError(f"'{text}' is no place for workers; give processes:4 (as many as cores), ray or ray:8.")
    if number and not 1 <= int(number) <= 10_000:  # noqa: PLR2004 - more than any cluster
        raise UsageError(f"{text}: give a number of workers from 1 to 10,000.")
    return On(kind, int(number) if number else None, gpus or 0.0)


class ShardCraft(ShardWorker):
    """Carries out shards as jobs of a worker, whose systems and servers serve one shard after the other."""

    async def carry_out(self, job: tuple[int, RunLimits], report: Report) -> ShardEnd:
        """Carry out the shard of this number; a LostServerError if a server that was started here died."""
        index, limits = job
        end = await self.finish(index, limits, _Reporting(report))
        if end.stopped and (lost := self.lost()):
            raise LostServerError(end.stopped.get(lost, f"{lost}: its server ended."))
        return end


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
        self._next = time.monotonic() + _TOLD_EVERY
        # Of the keys nothing is sent; the rows change while they are on their way.
        self._report(("counts", copy.deepcopy(tally.rows)))


@dataclass
class _Purse:
    """A spending cap held over shards: each may spend what it was granted, and no more than is left is granted."""

    cap: float | None
    held: dict[int, float] = field(default_factory=dict)
    """Dollars of each shard: spent, or granted while it may be under way somewhere."""
    under_way: set[int] = field(default_factory=set)
    needed: dict[int, float] = field(default_factory=dict)
    """Dollars of a shard with its next call, if a grant stopped it."""

    @property
    def spent(self) -> float:
        """Dollars spent, or granted to shards under way."""
        return sum(self.held.values())

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

    def ended(self, end: ShardEnd) -> bool:
        """Settle a shard; whether it was the grant that stopped it."""
        self.settle(end.index, end.cost)
        if end.capped:
            self.needed[end.index] = end.needed
        return bool(end.capped)


class _ShardJobs(Jobs):
    """The shards of a run as jobs, and what is heard of them as one run."""

    noun = "shards"

    def __init__(self, run: ShardedRun, limits: RunLimits, purse: _Purse, tally: Tally, observer: Observer) -> None:
        self._folder, self._limits, self._purse = run.sharded, limits, purse
        self.tally, self._observer = tally, observer
        self.stopped: dict[str, str] = {}
        self.capped, self.needed = "", 0.0
        self._rows: dict[int, Rows] = {}
        """The rows of each shard under way, as they are part of the tally."""
        self._sizes: dict[int, int] = {}
        self._said: set[str] = set()

    def make(self, number: int, workers: int) -> tuple[int, RunLimits] | None:
        """The shard's number and limits; None once a system was stopped, or while no money is left for it."""
        if self.stopped:
            return None
        shard = self._folder.shard(number)
        rows = shard.state()[1].rows if shard.is_begun else {}
        if number in self._rows:  # it was begun here, and lost
            self._count(number, rows)
        granted = self._purse.grant(number, sum(row.cost for row in rows.values()), workers)
        if granted is not None and granted <= 0:
            self.capped = self.capped or f"nothing is left of the cap of ${self._purse.cap:.2f}"
            return None
        self._rows[number], self._sizes[number] = rows, self._size(number)
        return number, replace(self._limits, max_cost=granted)

    def _size(self, number: int) -> int:
        """Bytes of a shard's answers."""
        with contextlib.suppress(OSError):
            return (self._folder.shard(number).path / ANSWERS).stat().st_size
        return 0

    def on_progress(self, number: int, what: Any) -> None:
        """Show what a shard reports."""
        match what:
            case ("counts", rows):
                self._count(number, rows)
            case ("said", sentence):
                self.log(sentence)
            case ("waiting", system, reason):
                self._observer.waiting(system, reason)
            case ("stopped", system, reason) if system not in self.stopped:
                self.stopped[system] = reason
                self._observer.stopped(system, reason)

    def _count(self, number: int, rows: Rows) -> None:
        self.tally.exchange(self._rows.get(number, {}), rows)
        self._rows[number] = rows
        self._observer.counted(self.tally)

    def on_done(self, number: int, end: ShardEnd) -> bool:
        """Count it, and settle its cost; one that its grant stopped goes on with what others leave."""
        self._count(number, end.rows)
        del self._rows[number]
        again = self._purse.ended(end)
        if again:
            self.capped, self.needed = end.capped, self._purse.spent + end.needed - end.cost
        return again and not self.stopped

    def redact(self, words: str) -> str:
        """Take out keys: a dying process may have printed anything."""
        return mask(words, known_keys())

    def on_requeue(self, number: int) -> None:
        """Have what it did not spend for others."""
        if self._purse.cap is not None:
            self._purse.settle(number, self._folder.shard(number).cost)

    def on_lost(self, number: int, why: str) -> bool:
        """Say why a shard is given again; whether its file of answers grew."""
        self.log(f"shard {number:05} is given again: {why}")
        return self._size(number) > self._sizes.get(number, 0)

    def log(self, sentence: str) -> None:
        """Pass it on, once."""
        if sentence not in self._said:
            self._said.add(sentence)
            self._observer.said(sentence)


async def ask_on(run: PreparedRun, on: On, limits: RunLimits, observer: Observer | None = None) -> Outcome:
    """Do what `carry_out_on` does beside an event loop; cancelled, it has the shards under way stop in order first."""
    stop = threading.Event()
    work = partial(carry_out_on, run, on, limits, observer, stop)
    working = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([working])
        working.exception()  # looked at: it was stopped
        raise


def carry_out_on(
    run: PreparedRun,
    on: On,
    limits: RunLimits,
    observer: Observer | None = None,
    stop: threading.Event | None = None,
) -> Outcome:
    """Carry out the unfinished shards of a run by workers; a shard that can't be asked is said and left out.

    Connections to a server that all workers share are divided among them. Raises what `execution.run.carry_out` does,
    and KeyboardInterrupt, also once `stop` is set, after the shards under way stopped in order.
    """
    check_shards(run)
    assert isinstance(run, ShardedRun), "it was checked"
    observer = observer or Observer()
    cap, since = run.cap(limits.max_cost), time.monotonic()
    check_cap(run.spec, run.workspace, cap)
    if run.complete:
        return Outcome("complete", run.sharded.progress()[1])
    _check_servers(run.spec.systems, on)
    ready = asyncio.run(ready_systems(run.task, offline=run.offline, asking=False, say=observer.said))
    with _workers(run, on, observer) as (make_workers, room):
        observer.ready(run, ready, cap)
        run.open()
        folder = run.sharded
        to_do = run.to_do()
        number = max(1, min(room, len(to_do)))
        begun = [index for index in run.own() if folder.shard(index).is_begun] if cap is not None else []
        purse = _Purse(run.share(cap), {index: folder.shard(index).cost for index in begun})
        tally = run.begin(cap)
        try:
            with observer.watching(run, ready, run.share(cap)) as watching:
                watching.begun(tally)
                jobs = _ShardJobs(run, _shared_out(run.spec.systems, limits, on, number), purse, tally, watching)
                dispatcher = Dispatcher(make_workers(folder.path), number, jobs, stop=stop)
                dispatcher.run(to_do)
        finally:
            ended, tally = run.settle(cap)
    for index, why in dispatcher.given_up.items():
        observer.said(f"shard {index:05} was given up: {why}")
    elapsed = round(time.monotonic() - since, 3)
    capped = jobs.capped if ended != "complete" else ""
    return Outcome("capped" if capped else ended, tally, jobs.stopped, capped, jobs.needed, elapsed)


def _own_servers(systems: Sequence[str]) -> list[str]:
    """Systems whose server each worker would start for itself."""
    here = [name for name in systems if name.startswith(f"{ONES_OWN}/")]
    return here if read_variable("VLLM_BASE_URL") is None else []


def _check_servers(systems: Sequence[str], on: On) -> None:
    """Raise a UsageError where several processes would each start a server on the same accelerators."""
    if on.kind == "processes" and (own := _own_servers(systems)):
        raise UsageError(
            f"each process would start a server of its own for {own[0]}, on the same accelerators; start one with vllm "
            "serve and name it in VLLM_BASE_URL, or ask without worker processes."
        )


def _shared_out(systems: Sequence[str], limits: RunLimits, on: On, workers: int) -> RunLimits:
    """The limits of one worker: a share of the connections, unless each worker has servers of its own."""
    if on.kind == "ray" and len(_own_servers(systems)) == len(systems):
        return limits
    return replace(limits, max_connections=max(1, limits.max_connections // workers))


@contextlib.contextmanager
def _workers(run: ShardedRun, on: On, observer: Observer) -> Iterator[tuple[Callable[[Path], Workers], int]]:
    """Make workers for the folder of a run; also how many there is room for. A cluster is joined meanwhile."""
    if on.kind == "processes":
        from genaipa.workers.processes import Processes

        assert on.number is not None, "processes are counted"
        yield lambda path: Processes(ShardCraft(path, offline=run.offline)), on.number
        return
    from genaipa.workers.ray import RayWorkers, connect, room

    ray = connect()
    try:
        found = room(ray, on.gpus)
        if found < 1:
            lacks = f"{on.gpus:g} GPUs and " if on.gpus else ""
            observer.said(f"the cluster has no room for a worker ({lacks}a processor each) yet; waiting until it has")
        yield lambda path: RayWorkers(ray, ShardCraft(path, offline=run.offline), on.gpus), on.number or max(1, found)
    finally:
        ray.shutdown()
