"""Whether a run is asked by batches, and its batches while it is held for writing."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from genaipa.errors import RunError, UsageError
from genaipa.execution.batches.batched import Batched, Batching, ByBatch, account_of
from genaipa.execution.batches.ledger import Ledger
from genaipa.runs.batches import batches_out, out_sentence, was_batched
from genaipa.systems.catalog import resolve

if TYPE_CHECKING:
    from collections.abc import Callable

    from genaipa.execution.engine import Engine
    from genaipa.execution.observer import Observer
    from genaipa.execution.prepare import PreparedRun
    from genaipa.execution.ready import Ready
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.part import Part
    from genaipa.workspace import Workspace


def chosen(run: PreparedRun, given: Batching | bool | None) -> Batching | None:
    """The way in which a run is asked by batches, or None: as given now, else as it was begun.

    A RunError where single calls would ask again for what is out.
    """
    if given is False:
        out = list(batches_out(run.folder.path)) if run.folder else []
        if out and run.folder:
            raise RunError(
                f"{out_sentence(out)}; collect them first, or give them up, paid as they are, with: "
                f"genaipa runs batches forget {run.folder.name}"
            )
        return None
    if given is None:
        return Batching() if run.folder and was_batched(run.folder.path) else None
    return Batching() if given is True else given


def takes_batches(ready: Ready) -> bool:
    """Whether a system can be asked by batches."""
    return ready.system is not None and ready.resolved.takes_batches


def priced(run: PreparedRun, systems: list[Ready], observer: Observer) -> list[Ready]:
    """The systems at the price of batches; says what batches mean for this run. A UsageError if none takes them."""
    if not any(map(takes_batches, systems)):
        names = ", ".join(ready.resolved.asked for ready in systems)
        raise UsageError(f"{names}: takes no batches (openai/…, anthropic/… and google/… do); ask by single calls.")
    for ready in systems:
        if not takes_batches(ready) and ready.resolved.record and ready.resolved.record.hosted:
            observer.said(f"{ready.resolved.asked}: takes no batches, so it is asked by single calls at the full price")
    rounds = max(map(len, run.task.orders.values()), default=1)
    if run.spec.plan.conversation == "shared" and rounds > 1:
        observer.said(
            f"shared conversations take a batch for each of their turns, {rounds} one after another, and each may take "
            f"from minutes to 24 hours; the questions of independent conversations are one batch"
        )
    return [
        dataclasses.replace(ready, tariff=ready.resolved.batch_tariff) if takes_batches(ready) else ready
        for ready in systems
    ]


class Batches:
    """The batches of a run while it is asked; `systems` are those to ask. Without a plan it does nothing."""

    def __init__(
        self, folder: RunFolder, systems: list[Ready], plan: Batching | None, observer: Observer, retries: int
    ) -> None:
        self.systems = systems
        self._ledger: Ledger | None = None
        self._batched: list[Batched] = []
        if plan is None:
            return
        self._ledger = ledger = Ledger(folder)
        self.systems = []
        for ready in systems:
            if takes_batches(ready):
                system: Any = ready.system
                name = ready.resolved.asked
                say, tell = partial(observer.waiting, name), partial(observer.out, name)
                system = Batched(system, ledger, folder.name, plan, say, retries, tell)
                self._batched.append(system)
                self.systems.append(dataclasses.replace(ready, system=system, transport=ByBatch))
            else:
                self.systems.append(ready)

    async def __aenter__(self) -> Self:
        """Take up what earlier processes left."""
        try:
            for batched in self._batched:
                await batched.recover()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Leave what is out, and let go of the journal."""
        for batched in self._batched:
            await batched.stop()
        if self._ledger is not None:
            await self._ledger.close()

    @property
    def out(self) -> bool:
        """Whether any are out."""
        return self._ledger is not None and bool(self._ledger.out)

    async def kept(self, engine: Engine) -> None:
        """Note which batches are done with; the run has ended in order."""
        for batched in self._batched:
            await batched.kept(ended=not engine.capped and not engine.stopped)


async def call_off(part: Part, workspace: Workspace, say: Callable[[str], None]) -> int:
    """Call off the batches of a part of a run that are out, each at its account; how many were."""
    called = 0
    out = list(batches_out(part.path))
    for name in dict.fromkeys(batch.intended.system for batch in out):
        system: Any = resolve(name, workspace).make()
        await system.start()
        try:
            account = account_of(system, part.name)
            for batch in (batch for batch in out if batch.intended.system == name):
                if not batch.id:
                    say(f"{name}: whether it accepted a batch of {len(batch.names):,} is seen when the run goes on")
                elif batch.intended.account != account:
                    say(f"{name}: {batch.id} is out at {batch.intended.account}, and this is {account}")
                else:
                    await system.cancel(batch.id)
                    called += 1
        finally:
            await system.close()
    return called


async def give_up(part: Part) -> int:
    """Note that the batches of a part of a run that are out are not waited for any more; how many they are."""
    with part.writing():
        ledger = Ledger(part)
        out = ledger.out
        # Nor what was fetched and can't be read any more.
        lost = [batch for batch in ledger.batches.values() if batch.step == "fetched" and not ledger.has_results(batch)]
        for batch in [*out, *lost]:
            await ledger.note(batch, "given up", why="by the user's word")
        await ledger.close()
        manifest = part.outline()
        if manifest.status == "waiting":
            manifest.status = "interrupted"
            part.write_manifest(manifest)
    return len(out) + len(lost)
