"""Find in a provider's list whether it accepted a batch: no answer to the hand-in came, or nobody lived to hear it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

from genaipa.errors import NoReplyError, TransientError
from genaipa.runs.batches import name_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from genaipa.execution.batches.batched import Batching
    from genaipa.execution.batches.ledger import Ledger
    from genaipa.runs.batches import Batch
    from genaipa.systems.base import BatchState, BatchSystem

_CLOCKS = 3600.0
"""Seconds by which a provider's clock may differ from this one."""


async def looks(plan: Batching) -> AsyncIterator[None]:
    """Now, and after ever longer times; once only where nobody is to wait."""
    wait = plan.first_look
    while True:
        yield
        if not plan.wait:
            return
        await asyncio.sleep(wait)
        wait = min(2 * wait, plan.longest_look)


class Orphans:
    """The search for batches of a system whose submission was not acknowledged."""

    def __init__(self, system: BatchSystem, ledger: Ledger, plan: Batching, say: Callable[[str], None]) -> None:
        self._system, self._ledger, self._plan, self._say = system, ledger, plan, say
        self._foreign: set[str] = set()
        """Batches at the provider that are not ours."""

    async def find(self, batch: Batch, since: float) -> bool | None:
        """Whether a batch was accepted, as its journal says from now on; None if it is not clear yet, and nobody waits.

        What is not in the list long after `since` (seconds since 1970) was not.
        """
        deadline = max(since + self._plan.patience, time.time() + self._plan.patience / 10)
        async for _ in looks(self._plan):
            try:
                listed = await self._system.list_since(batch.intended.at - _CLOCKS)
            except TransientError as error:
                self._say(f"{error}; looking again whether a batch was accepted")
                continue
            found = next((state for state in listed if state.mark == batch.mark), None)
            maybe = [state for state in listed if not state.mark and self._may_be(batch, state)]
            for state in maybe:
                if found is None and state.ended and await self._has_names(batch, state):
                    found = state
            if found is not None:
                await self._ledger.note(batch, "submitted", id=found.id)
                return True
            # A batch that may be it, and whose lines can't be read yet, is waited for.
            if time.time() > deadline and all(state.id in self._foreign for state in maybe):
                await self._ledger.note(batch, "given up", why="the provider never accepted it")
                return False
            self._say("it is not clear yet whether a batch was accepted; looking again")
        return None

    def _may_be(self, batch: Batch, state: BatchState) -> bool:
        """Whether a batch without a mark, which no other of ours is, may be this one."""
        known = {one.id for one in self._ledger.batches.values()}
        return state.total == batch.count and state.id not in known | self._foreign

    async def _has_names(self, batch: Batch, state: BatchState) -> bool:
        """Whether the lines of an ended batch are this one's: a mark is in their names alone."""
        try:
            async with contextlib.aclosing(self._system.results(state)) as lines:
                async for line in lines:
                    if name_of(line).startswith(batch.mark[:8]):
                        return True
        except NoReplyError as error:
            self._say(f"{error}; looking again whether a batch was accepted")
            return False
        self._foreign.add(state.id)
        return False
