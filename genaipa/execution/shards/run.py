"""Carry out the shards of a run: one, as a worker is given it, or all of them here, one after another."""

from __future__ import annotations

import contextlib
import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import msgspec

from genaipa.errors import GenaipaError, NoRoomError, NotReadyError, OtherAccountError
from genaipa.execution.engine import RunLimits
from genaipa.execution.observer import Observer
from genaipa.execution.ready import Started
from genaipa.execution.request import PreparedRun, check_unchanged, digests
from genaipa.execution.run import Outcome, carry_out, check_cap
from genaipa.execution.shards.request import ShardedRun, check_shared, task_of
from genaipa.runs.batches import batches_out, was_batched
from genaipa.runs.records import RunStatus
from genaipa.runs.shards.folder import ShardedFolder
from genaipa.runs.tally import Rows
from genaipa.workspace import MARKER, Workspace, find_workspace

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator, Sequence
    from pathlib import Path

    from genaipa.execution.ready import Ready
    from genaipa.runs.records import Record
    from genaipa.runs.shards.shard import Shard
    from genaipa.runs.tally import Tally

_FAILED_SHARDS = 3
"""As many shards that can't be asked are passed over at the beginning; after them, it is not the shards."""


class ShardEnd(msgspec.Struct, frozen=True):
    """The end of a shard: its status, its counts by row, and why it was not finished, as an `Outcome` says it."""

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

    Enter it in the event loop in which its shards are carried out. Until then it can be pickled.
    """

    def __init__(self, path: Path, workspace: Workspace | None = None, *, offline: bool = False) -> None:
        self.path = path
        self.workspace = workspace or _workspace_of(path)
        self.offline = offline
        self._started: Started | None = None

    async def __aenter__(self) -> Self:
        """Be ready for shards; systems are started by the first one."""
        self._started = Started()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Let go of the systems."""
        if self._started is not None:
            await self._started.close()

    async def finish(self, index: int, limits: RunLimits, observer: Observer) -> ShardEnd:
        """Ask what is missing of a shard, as `execution.run.carry_out` does; `limits.max_cost` is the shard's own.

        A RunBusyError if another process holds it, a NotReadyError if a system can't be started.
        """
        run = ShardedFolder(self.path)
        shard = run.shard(index)
        shard.make()
        with shard.writing() as repairs:
            if shard.is_answered():
                shard.seal()
                return ShardEnd(index, "complete", shard.state()[1].rows)
            for sentence in repairs:
                observer.said(sentence)
            prepared = self._prepared(run, shard, index)
            cap = math.inf if limits.max_cost is None else limits.max_cost
            outcome = await carry_out(prepared, replace(limits, max_cost=cap), observer, self._started)
            if outcome.status == "complete":
                shard.seal()
        why = outcome.stopped, outcome.capped, outcome.needed
        return ShardEnd(index, outcome.status, outcome.tally.rows, *why, outcome.aside)

    def lost(self) -> str:
        """The name of a system whose server, started here, ended; empty if none did."""
        return self._started.lost() if self._started else ""

    def _prepared(self, run: ShardedFolder, shard: Shard, index: int) -> PreparedRun:
        """The shard as a run that can be asked, its folder begun."""
        task, outline = task_of(self.workspace, run, index), run.outline()
        prepared = PreparedRun(task, outline.name, shard, self.offline)
        if not shard.is_begun:
            planned = {name: facts.digest for name, facts in run.plan(index).documents.items()}
            check_shared(run, outline, digests(task), planned)
            shard.write_manifest(prepared.manifest())
        else:
            check_unchanged(shard, shard.manifest(), digests(task))
        return prepared


def _workspace_of(path: Path) -> Workspace:
    """The workspace in which a run is."""
    home = path.parents[1]
    found = find_workspace(home)
    return found if (home / MARKER).is_file() else Workspace(home, found.layers[1:])


async def ask(run: PreparedRun, limits: RunLimits | None = None, observer: Observer | None = None) -> Outcome:
    """Carry out a run, of shards or not; the errors of `execution.run.carry_out`."""
    limits, observer = limits or RunLimits(), observer or Observer()
    if isinstance(run, ShardedRun):
        return await carry_out_shards(run, limits, observer)
    return await carry_out(run, limits, observer)


async def carry_out_shards(run: ShardedRun, limits: RunLimits, observer: Observer) -> Outcome:
    """Carry out the unfinished shards of a run here, one after another; a shard that another process holds is left out.

    A damaged shard is reported and left out as well, unless all are. Raises what `carry_out` does.
    """
    cap, since = run.cap(limits.max_cost), time.monotonic()
    check_cap(run.spec, run.workspace, cap)
    if run.complete:
        return Outcome("complete", run.sharded.progress()[1])
    run.open()
    folder = run.sharded
    with contextlib.ExitStack() as shown:
        whole = _Whole(run, observer, cap, shown)
        ended = _Ended()
        try:
            async with ShardWorker(folder.path, run.workspace, offline=run.offline) as worker:
                purse = _Purse(run, cap)
                for index in _in_order(run):
                    left = replace(limits, max_cost=purse.left(index, ended.aside))
                    await ended.take(worker.finish(index, left, whole), whole, index)
                    if ended.over:
                        break
        finally:
            status, tally = run.settle(cap)
    ended.complain()
    elapsed = round(time.monotonic() - since, 3)
    capped = ended.capped
    if capped and cap is not None and run.part == (1, 1):
        # The shard's own cap was what the others left of it.
        aside = f" and ${ended.aside:.4f} set aside for batches" if ended.aside else ""
        capped = f"{capped.partition(';')[0]}; ${tally.cost:.4f} of the cap of ${cap:.2f} is spent{aside}"
    return Outcome(status, tally, ended.stopped, capped, ended.needed, elapsed)


def _in_order(run: ShardedRun) -> list[int]:
    """The shards to do; first any with batches out, whose account and cost decide what may be handed in."""
    to_do, folder = run.to_do(), run.sharded
    if not was_batched(folder.path):
        return to_do
    return sorted(to_do, key=lambda index: not any(batches_out(folder.shard(index).path)))


class _Purse:
    """The spending cap of the shards that are carried out here: each gets what the others have left."""

    def __init__(self, run: ShardedRun, cap: float | None) -> None:
        self._folder, self._cap = run.sharded, run.share(cap)
        self._spent = 0.0 if cap is None else sum(self._folder.shard(index).cost for index in run.own())
        self._last: tuple[int, float] | None = None

    def left(self, index: int, aside: float) -> float | None:
        """US dollars that a shard may come to, what it cost before included; None without a cap.

        So much is set `aside` for what other shards have out in batches.
        """
        if self._cap is None:
            return None
        if self._last is not None:
            before, cost = self._last
            self._spent += self._folder.shard(before).cost - cost
        cost = self._folder.shard(index).cost
        self._last = index, cost
        return max(0.0, self._cap - self._spent - aside + cost)


class _Ended:
    """The ends of the shards that were carried out here."""

    def __init__(self) -> None:
        self.stopped: dict[str, str] = {}
        self.capped, self.needed = "", 0.0
        self.aside = 0.0
        """US dollars that are set aside for what they have out in batches."""
        self.over = False
        """Whether the next shard would end as this one did."""
        self._ends = 0
        self._failed: list[GenaipaError] = []

    async def take(self, carrying_out: Awaitable[ShardEnd], observer: Observer, index: int) -> None:
        """Wait for a shard's end; what keeps one shard from being asked must not keep others."""
        try:
            end = await carrying_out
        except (NotReadyError, NoRoomError, OtherAccountError):
            raise
        except GenaipaError as error:
            self._failed.append(error)
            self.over = len(self._failed) > _FAILED_SHARDS > self._ends
            observer.said(f"shard {index:05}: {error}")
            return
        self._ends += 1
        self.stopped |= end.stopped
        self.capped, self.needed = end.capped, end.needed
        self.aside += end.aside
        self.over = bool(end.capped or end.stopped)

    def complain(self) -> None:
        """Raise what kept every shard from being asked."""
        if self._failed and not self._ends:
            raise self._failed[0]


class _Whole(Observer):
    """Shows shards, one after another, as one run or part of it: all counts together, sentences once, one display."""

    def __init__(self, run: ShardedRun, observer: Observer, cap: float | None, shown: contextlib.ExitStack) -> None:
        self._run, self._observer, self._cap, self._shown = run, observer, cap, shown
        self._display: Observer | None = None
        self._said: set[str] = set()
        self.tally = run.begin(cap)

    def said(self, sentence: str) -> None:
        """Pass on what was not said about another shard."""
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
            share = self._run.share(self._cap)
            self._display = self._shown.enter_context(self._observer.watching(self._run, systems, share))
            self._display.begun(self.tally)
        yield self

    def begun(self, tally: Tally) -> None:
        """Know the keys of this shard."""
        self.tally.statuses = dict(tally.statuses)

    def recorded(self, record: Record, tally: Tally) -> None:  # noqa: ARG002 - the shard's
        """Count it, and pass it on."""
        self.tally.add(record)
        self._shows.recorded(record, self.tally)

    def waiting(self, system: str, reason: str) -> None:
        """Pass it on."""
        self._shows.waiting(system, reason)

    def stopped(self, system: str, reason: str) -> None:
        """Pass it on."""
        self._shows.stopped(system, reason)

    @property
    def _shows(self) -> Observer:
        return self._display or self._observer
