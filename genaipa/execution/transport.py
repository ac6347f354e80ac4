"""The seam under the engine: on which way a call reaches a system, and its reply comes back.

Here it is one call for each reply; `batches/` has the other way. A transport decides how many calls are under way at
once, how long one may take, how it is tried again, and for which money it waits.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from genaipa.execution.limits import BreakerOpenError, Gate, Limits, ask

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from genaipa.execution.limits import Attempt, Budget
    from genaipa.systems.base import Message, Settings, System


class LeftOutError(BreakerOpenError):
    """The call is under way, or will be; nothing came of it yet, and it is sent again for its reply."""


class Transport:
    """Single calls: each holds one of the connections until its reply is there."""

    patient = True
    """Whether to wait between two tries, and to ask for less at once if a server says so."""
    again = False
    """Whether all that has no reply yet is sent again, as a reply may come later than its call."""

    def __init__(self, system: System, connections: int, retries: int, waiting: Callable[[str], None]) -> None:
        self.system, self.at_once = system, connections
        self.limits = Limits(Gate(connections), retries, waiting=waiting, patient=self.patient)
        self._warm: dict[int, asyncio.Event] = {}

    async def send(self, messages: Sequence[Message], settings: Settings) -> Attempt:
        """Ask; the first call with a long prefix goes alone, and the others wait for it to end, well or not.

        Raises a LeftOutError, and the errors of `ask`.
        """
        prefix = next((m for m in reversed(messages) if m.breakpoint), None)
        warm = self._warm.get(id(prefix))
        if prefix is None or warm is not None:
            if warm is not None:
                await warm.wait()
            return await ask(self.system, messages, settings, self.limits)
        warm = self._warm[id(prefix)] = asyncio.Event()
        try:
            return await ask(self.system, messages, settings, self.limits)
        finally:
            warm.set()

    async def reserve(self, budget: Budget, estimate: float) -> None:
        """Set money aside for a call; a SpendingCapError if none is left, a LeftOutError if some may come free yet."""
        await budget.reserve(estimate)

    async def has_news(self) -> bool:
        """Wait, once all was sent, for replies that are still to come; whether all is to be sent again."""
        return False
