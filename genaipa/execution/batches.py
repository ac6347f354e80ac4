"""Ask by batches: the same `reply()` as ever, whose answer comes hours later, for half the price.

Requests that arrive together are handed in together. What was handed in is in the run's journal before the provider is
asked to take it, so that a process that was killed finds again what it paid for, and hands in nothing twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import hashlib
import hmac
import secrets
import time
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from genaipa.errors import GenaipaError, NoReplyError, RunError, TransientError
from genaipa.execution.limits import BreakerOpenError
from genaipa.runs.batches import out_sentence
from genaipa.systems.base import UNCLEAR, UNDONE
from genaipa.systems.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from genaipa.execution.ledger import Ledger
    from genaipa.runs.batches import Batch
    from genaipa.systems.base import BatchState, BatchSystem, Message, Readiness, Reply, Settings

_UPLOADS = 2
"""Batches handed in at once; more would only fill memory."""
_CLOCKS = 3600.0
"""Seconds by which a provider's clock may differ from this one."""
_DOWNLOADS = 8
"""Times that the results of an ended batch are asked for, at most: a file that exists may not be found at first."""


@dataclass(frozen=True)
class Batching:
    """Batches as a run is asked by them; times in seconds."""

    wait: bool = True
    """Whether to stay until the results are there; else they are collected when the run goes on."""
    quiet: float = 1.0
    """Time without a further request after which those at hand are handed in."""
    first_look: float = 1.0
    longest_look: float = 60.0
    """Time between two looks at a batch: the first, doubled up to the longest."""
    patience: float = 600.0
    """Time after which a batch that the provider's list does not have was never accepted."""


class LeftOutError(BreakerOpenError):
    """The request is in a batch that nobody waits for now; nothing came of it yet."""


class _Again:
    """In place of a result: the batch was never accepted, so the request is handed in anew."""


_Taken = tuple[str, dict[str, Any]]
"""A batch's mark and one of its lines."""


class Batched:
    """A system that is asked by batches. `recover` comes before the first reply, `stop` before the run is let go."""

    at_once = 100_000
    """Requests under way at once, at most: several batches."""

    def __init__(
        self, system: BatchSystem, ledger: Ledger, run: str, plan: Batching, say: Callable[[str], None]
    ) -> None:
        self.system, self.name = system, system.name
        self._ledger, self._plan, self._say, self._run = ledger, plan, say, run
        self._pending: list[tuple[str, bytes]] = []
        self._bytes = 0
        self._gathering: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._sending = 0
        self._sent = asyncio.Condition()
        self._waiters: defaultdict[str, deque[asyncio.Future[_Taken | _Again]]] = defaultdict(deque)
        self._expected: Counter[str] = Counter()
        """Lines of batches of an earlier process that nobody has asked for again yet."""
        self._at_hand: defaultdict[str, deque[_Taken]] = defaultdict(deque)
        self._untaken: Counter[str] = Counter()
        self._states: dict[str, BatchState] = {}
        self._earlier: set[str] = set()
        self._foreign: set[str] = set()
        """Batches at the provider that are not ours."""

    # -- what every system does --

    async def start(self) -> Readiness:
        """Start the system."""
        return await self.system.start()

    async def count_tokens(self, text: str) -> int | None:
        """Count as the system does."""
        return await self.system.count_tokens(text)

    async def close(self) -> None:
        """Close the system."""
        await self.system.close()

    async def reply(self, messages: Sequence[Message], settings: Settings) -> Reply:
        """Hand in the request with others and wait for its line; a LeftOutError where nobody is to wait."""
        while True:
            async with self._sent:
                await self._sent.wait_for(lambda: self._sending < _UPLOADS)
            body, sent = self.system.line(messages, settings)
            line = hashlib.sha256(messages[-1].key.encode() + b"\0" + body).hexdigest()[:40]
            ready = self._at_hand.get(line)
            got: _Taken | _Again = ready.popleft() if ready else await self._come(line, body)
            if not isinstance(got, _Again):
                break
        mark, found = got
        self._untaken[mark] -= 1
        reply = self.system.read_line(found, sent)
        return replace(reply, sent=reply.sent | {"batch": True})

    async def _come(self, line: str, body: bytes) -> _Taken | _Again:
        coming: asyncio.Future[_Taken | _Again] = asyncio.get_running_loop().create_future()
        self._waiters[line].append(coming)
        if self._expected[line] > 0:
            self._expected[line] -= 1
            return await coming
        if self._pending and self._bytes + len(body) > self.system.most_bytes:
            self._hand_in()
        self._pending.append((line, body))
        self._bytes += len(body)
        if len(self._pending) >= self.system.most_lines:
            self._hand_in()
        elif self._gathering is None:
            self._gathering = self._begin(self._gather())
        return await coming

    # -- handing in --

    async def _gather(self) -> None:
        """Hand in what has arrived, once nothing more does."""
        seen = -1
        while self._pending and seen != len(self._pending):
            seen = len(self._pending)
            await asyncio.sleep(self._plan.quiet)
        self._gathering = None
        if self._pending:
            self._hand_in()

    def _hand_in(self) -> None:
        lines, self._pending, self._bytes = self._pending, [], 0
        self._sending += 1
        self._begin(self._send(lines))

    async def _send(self, lines: list[tuple[str, bytes]]) -> None:
        names = [line for line, _ in lines]
        async with self._delivering(names):
            try:
                batch = await self._submitted(lines)
            finally:
                lines.clear()
                async with self._sent:
                    self._sending -= 1
                    self._sent.notify_all()
            if batch is not None:
                await self._follow(batch)

    async def _submitted(self, lines: list[tuple[str, bytes]]) -> Batch | None:
        digest = hashlib.sha256(b"\n".join(body for _, body in lines)).hexdigest()
        batch = await self._ledger.intend(
            mark=secrets.token_hex(8),
            system=self.name,
            account=self.account,
            lines=tuple(line for line, _ in lines),
            digest=digest,
            bytes=sum(len(body) for _, body in lines),
        )
        named = [(name, body) for name, (_, body) in zip(batch.names, lines, strict=True)]
        try:
            number = await self.system.submit(named, batch.mark)
        except NoReplyError as error:
            if error.kind == UNCLEAR:
                return batch if await self._adopt(batch, time.time()) else None
            await self._ledger.note(batch, "given up", why=str(error))
            raise
        await self._ledger.note(batch, "submitted", id=number)
        return batch

    @property
    def account(self) -> str:
        """The account in the journal: where it is, and a digest of its key that only tells whether it is the same."""
        where, key = self.system.account
        return f"{where}, key {hmac.new(self._run.encode(), key.encode(), 'sha256').hexdigest()[:12]}"

    # -- what an earlier process left --

    async def recover(self) -> None:
        """Take up the batches of earlier processes; a RunError if they are out at another account."""
        mine = [batch for batch in self._ledger.batches.values() if batch.intended.system == self.name]
        out = [batch for batch in mine if batch.out]
        foreign = [batch for batch in out if batch.intended.account != self.account]
        if foreign:
            raise RunError(
                f"{self.name}: {len(foreign)} of its batches are out at {foreign[0].intended.account}, and this is "
                f"{self.account}. Set the key and address that they were made with; or give them up, paid as they are, "
                f"with: genaipa batches forget {self._run}"
            )
        for batch in out:
            self._earlier.add(batch.mark)
            self._expected.update(batch.intended.lines)
            self._begin(self._take_up(batch))
        for batch in mine:
            if batch.step == "fetched":
                self._deliver(batch, self._ledger.results(batch))

    async def _take_up(self, batch: Batch) -> None:
        async with self._delivering(batch.intended.lines):
            if batch.step == "submitted" or await self._adopt(batch, batch.intended.at):
                await self._follow(batch)

    async def _adopt(self, batch: Batch, since: float) -> bool:
        """Find a batch in the provider's list that was accepted, or not: no answer came. Whether it was."""
        deadline = max(since + self._plan.patience, time.time() + self._plan.patience / 10)
        async for _ in self._looks():
            try:
                listed = await self.system.recent(batch.intended.at - _CLOCKS)
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
                self._settle(batch.intended.lines, _Again())
                return False
            self._say("it is not clear yet whether a batch was accepted; looking again")
        self._settle(batch.intended.lines, LeftOutError())
        return False

    def _may_be(self, batch: Batch, state: BatchState) -> bool:
        """Whether a batch without a mark, which no other of ours is, may be this one."""
        known = {one.id for one in self._ledger.batches.values()}
        return state.total == len(batch.names) and state.id not in known | self._foreign

    async def _has_names(self, batch: Batch, state: BatchState) -> bool:
        """Whether the lines of an ended batch are this one's: a mark is in their names alone."""
        try:
            lines = await self.system.results(state)
        except NoReplyError as error:
            self._say(f"{error}; looking again whether a batch was accepted")
            return False
        if any(line.get("custom_id") in batch.names for line in lines):
            return True
        self._foreign.add(state.id)
        return False

    async def _looks(self) -> Any:
        """Now, and after ever longer times; once only where nobody is to wait."""
        wait = self._plan.first_look
        while True:
            yield None
            if not self._plan.wait:
                return
            await asyncio.sleep(wait)
            wait = min(2 * wait, self._plan.longest_look)

    # -- collecting --

    async def _follow(self, batch: Batch) -> None:
        async for _ in self._looks():
            try:
                state = await self.system.look(batch.id)
            except TransientError as error:
                self._say(f"{error}; looking again")
                continue
            if (state.state, state.done) != (batch.state, batch.done):
                await self._ledger.note(batch, "looked", state=state.state, done=state.done)
            if state.ended:
                await self._fetch(batch, state)
                return
            self._say(out_sentence([one for one in self._ledger.out if one.intended.system == self.name]))
        self._settle(batch.intended.lines, LeftOutError())

    async def _fetch(self, batch: Batch, state: BatchState) -> None:
        if state.failure is not None:
            await self._ledger.note(batch, "given up", why=str(state.failure))
            raise state.failure
        wait = self._plan.first_look
        for left in reversed(range(_DOWNLOADS)):
            try:
                lines = await self.system.results(state)
                break
            except NoReplyError as error:
                if not left or error.kind == "authentication":
                    raise
                self._say(f"{error}; fetching the results again")
                await asyncio.sleep(wait)
                wait *= 2
        self._states[batch.mark] = state
        await asyncio.to_thread(self._ledger.keep_results, batch, lines)
        await self._ledger.note(batch, "fetched")
        called_off = state.cancelled and batch.mark not in self._earlier
        self._deliver(batch, lines, LeftOutError() if called_off else None)

    def _deliver(self, batch: Batch, lines: list[dict[str, Any]], lacking: Exception | None = None) -> None:
        """Give each request its line, in the order in which they were handed in; `lacking` where there is none."""
        came: dict[str, dict[str, Any]] = {}
        for one in lines:
            came.setdefault(str(one.get("custom_id")), one)
        missing = lacking or TransientError(f"{self.name}: a batch ended without this answer.", kind=UNDONE)
        for line, name in zip(batch.intended.lines, batch.names, strict=True):
            found = came.get(name)
            if found is None:
                self._settle([line], missing)
                continue
            self._untaken[batch.mark] += 1
            if not self._settle([line], (batch.mark, found)):
                self._at_hand[line].append((batch.mark, found))

    def _settle(self, lines: Sequence[str], outcome: _Taken | _Again | Exception) -> bool:
        """Tell those who wait for these lines; whether anybody does."""
        told = False
        for line in lines:
            waiting = self._waiters.get(line, deque())
            while waiting and waiting[0].done():
                waiting.popleft()
            if not waiting:
                self._expected[line] = max(0, self._expected[line] - 1)
                continue
            told = True
            if isinstance(outcome, Exception):
                # Whoever catches it adds tokens and tries to it.
                waiting.popleft().set_exception(copy.copy(outcome))
            else:
                waiting.popleft().set_result(outcome)
        return told

    @contextlib.asynccontextmanager
    async def _delivering(self, lines: Sequence[str]) -> Any:
        """Tell those who wait what went wrong; what would be the same for thousands is told to one of them."""
        lines = list(lines)
        try:
            yield
        except TransientError as error:
            self._settle(lines, error)
        except NoReplyError as error:
            told: Exception = error
            for line in lines:
                if self._settle([line], told):
                    told = LeftOutError()
        except (GenaipaError, OSError) as error:
            self._settle(lines, error if isinstance(error, RunError) else RunError(str(error)))
        except Exception as error:  # noqa: BLE001 - those who wait must not wait for ever
            self._settle(lines, RunError(redact(f"{self.name}: {type(error).__name__}: {error}")))

    # -- the end --

    async def kept(self, *, ended: bool) -> None:
        """Note the batches of which everything is in `answers.jsonl`, and delete what their provider holds.

        Where all was asked to its end, nobody will come for what nobody took: it was in the records before.
        """
        for batch in list(self._ledger.batches.values()):
            if batch.intended.system != self.name or batch.step != "fetched":
                continue
            if ended or not self._untaken[batch.mark]:
                await self._ledger.note(batch, "kept")
                self._ledger.drop_results(batch)
                if state := self._states.get(batch.mark):
                    with contextlib.suppress(NoReplyError):
                        await self.system.discard(state)

    async def stop(self) -> None:
        """Leave everything as it is; batches that are out stay out."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
