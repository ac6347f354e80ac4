"""Ask by batches: the same `reply()` as ever, whose answer comes hours later, for half the price.

Requests that arrive together are handed in together. What was handed in is in the run's journal before the provider is
asked to take it, so that a process that was killed finds again what it paid for, and hands in nothing twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import math
import secrets
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import structs

from genaipa.errors import (
    GenaipaError,
    NoReplyError,
    PermanentError,
    RunError,
    SpendingCapError,
    TransientError,
    UsageError,
)
from genaipa.execution.batches.ledger import UnconfirmedBatches, poll_once_or_with_growing_waits
from genaipa.execution.limits import (
    LONGEST_RETRY_AFTER,
    LeftOutError,
    Transport,
    ask_with_retries_or_raise,
    max_call_usage,
)
from genaipa.runs.batches import count_pending_batches_in_words, find_pending_batches, has_batches
from genaipa.systems.base import UNCLEAR, UNDONE
from genaipa.systems.catalog import resolve_system
from genaipa.systems.provider import redact_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from genaipa.execution.batches.ledger import BatchLedger
    from genaipa.execution.limits import Attempt, Budget
    from genaipa.execution.prepare import PreparedRun
    from genaipa.runs.batches import Batch
    from genaipa.runs.folder import RunFolder
    from genaipa.systems.base import BatchState, BatchSystem, Message, Readiness, Reply, Settings
    from genaipa.systems.costs import Tariff
    from genaipa.workspace import Workspace

_UPLOADS = 1
"""Batches handed in at once, while the next one is put together; more would only fill memory."""
_FIRST_LOOK = 5.0
"""Seconds, at most, that a run that goes on waits for what its batches brought before it asks."""
_DOWNLOADS = 8
"""Times that the results of an ended batch are asked for, at most: a file that exists may not be found at first."""


@dataclass(frozen=True)
class BatchingOptions:
    """Batches as a run is asked by them; times in seconds."""

    wait: bool = True
    """Whether to stay until the results are there; else they are collected when the run goes on."""
    full: float = 60.0
    """Time after which a batch is handed in again for which there was no room, doubled each time."""
    first_look: float = 1.0
    longest_look: float = 60.0
    """Time between two looks at a batch: the first, doubled up to the longest."""
    patience: float = 600.0
    """Time after which a batch that the provider's list does not have was never accepted."""


def refuse_new_batches_showing_documents(run: PreparedRun) -> None:
    """Raise a UsageError for a run that shows documents, by batches dearer; one that was begun so may collect them."""
    begun = run.folder is not None and has_batches(run.folder.path)
    if run.task.shows_documents and not begun:
        raise UsageError(
            "questions about a document cost more in batches than as single calls, which read it from the "
            "provider's cache; ask them as single calls. Use batches for judges and for questions without a document."
        )


def address_and_key_fingerprint(system: BatchSystem, run_name: str) -> str:
    """Name a system's account for the run's journal: its address, and a digest that tells its key from others."""
    where, key = system.address_label_and_key
    return f"{where}, key {hmac.new(run_name.encode(), key.encode(), 'sha256').hexdigest()[:12]}"


class _ResultPlace(NamedTuple):
    """Place of a result: byte `offset` of the file of the batch with this `mark`; -1 where the batch ended without."""

    mark: str
    offset: int


class BatchedSystem:
    """A system that is asked by batches, over and over until nothing is out.

    A request whose result is not there yet is put among those to be handed in, and left out: nothing waits for it, so
    that a hundred thousand of them need no more memory than their names. `submit_and_wait_for_any_result` then waits,
    and each question without a record is asked again from its beginning, with the results that are at hand by then.
    `resume_earlier_batches` comes before the first request, `stop_following_batches` before the run is let go.
    """

    concurrency = 250
    """Requests under way at once, at most: their records are written together."""

    def __init__(
        self,
        system: BatchSystem,
        ledger: BatchLedger,
        run: str,
        plan: BatchingOptions,
        say: Callable[[str], None],
        retries: int = 0,
        tell: Callable[[int, int], None] = lambda _asked, _done: None,
        tariff: Tariff | None = None,
    ) -> None:
        self.system, self.name = system, system.name
        self._ledger, self._plan, self._say, self._run, self._retries = ledger, plan, say, run, retries
        self._tell, self._tariff = tell, tariff
        """Called with the number of requests out, and done, when a batch was looked at or collected."""
        self._pending: list[tuple[str, bytes]] = []
        self._bytes, self._dollars = 0, 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self._sending = 0
        self._sent = asyncio.Condition()
        self._out: Counter[str] = Counter()
        """Requests by their lines that are to be handed in, or out."""
        self._results: defaultdict[str, list[_ResultPlace]] = defaultdict(list)
        self._asked: Counter[str] = Counter()
        """Times that each line was asked for since the last wait: the second time wants its second result."""
        self._unread: dict[str, set[int]] = {}
        self._news = False
        self._error: Exception | None = None
        """Error that the next request raises, for all."""
        self._troubles = 0
        """Batches in a row that failed as a whole."""
        self._not_before = 0.0
        self._held_back = False
        """Whether requests were not taken, since nothing is handed in before then."""
        self._states: dict[str, BatchState] = {}
        self._earlier: set[str] = set()
        self._orphans = UnconfirmedBatches(system, ledger, plan, say)

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
        """Read the request's result; a LeftOutError where it is still to come."""
        body, sent = self.system.encode_batch_request_and_sent_settings(messages, settings)
        line = hashlib.sha256(messages[-1].key.encode() + b"\0" + body).hexdigest()[:40]
        number = self._asked[line]
        self._asked[line] += 1
        results = self._results.get(line, ())
        if number >= len(results):
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            if number - len(results) >= self._out[line]:
                await self._queue_request_unless_held_back(
                    line, body, self._tariff.cost(max_call_usage(messages, settings)) if self._tariff else 0.0
                )
            # What came of earlier tries is needed once more.
            for earlier in results:
                self._unread[earlier.mark].add(earlier.offset)
            raise LeftOutError
        result_place = results[number]
        self._unread[result_place.mark].discard(result_place.offset)
        if result_place.offset < 0:
            raise TransientError(f"{self.name}: the batch ended without this answer.", kind=UNDONE)
        reply = self.system.parse_result_line(self._ledger.read_result(result_place.mark, result_place.offset), sent)
        return replace(reply, sent=reply.sent | {"batch": True})

    # -- handing in --

    async def _queue_request_unless_held_back(self, request_digest: str, body: bytes, max_dollars: float) -> None:
        """Put a request among the next batch's."""
        if time.monotonic() < self._not_before:
            self._held_back = True
            return
        while self._would_exceed_batch_limits(body):
            if self._sending < _UPLOADS:
                self._start_submitting_queued_requests()
            else:
                async with self._sent:
                    await self._sent.wait_for(lambda: self._sending < _UPLOADS)
        self._out[request_digest] += 1
        self._pending.append((request_digest, body))
        self._bytes += len(body)
        self._dollars += max_dollars

    def _would_exceed_batch_limits(self, body: bytes) -> bool:
        """Whether a request belongs into the next batch."""
        size, count = self._bytes + len(body), len(self._pending)
        return count > 0 and (size > self.system.most_bytes or count >= self.system.most_lines)

    def _start_submitting_queued_requests(self) -> None:
        if self._pending:
            lines, self._pending, self._bytes = self._pending, [], 0
            dollars, self._dollars = round(self._dollars, 8), 0.0
            self._sending += 1
            self._start_task(self._submit_batch_and_download_results(lines, dollars))

    async def _submit_batch_and_download_results(
        self, digests_and_bodies: list[tuple[str, bytes]], max_dollars: float
    ) -> None:
        try:
            batch = await self._submit_batch_or_requeue(digests_and_bodies, max_dollars)
        finally:
            digests_and_bodies.clear()
            async with self._sent:
                self._sending -= 1
                self._sent.notify_all()
        if batch is not None:
            await self._poll_and_download_results(batch)

    async def _submit_batch_or_requeue(
        self, digests_and_bodies: list[tuple[str, bytes]], max_dollars: float
    ) -> Batch | None:
        digest = hashlib.sha256()
        for _, body in digests_and_bodies:
            digest.update(body + b"\n")
        batch = await self._ledger.record_intended_batch(
            mark=secrets.token_hex(8),
            system=self.name,
            account=address_and_key_fingerprint(self.system, self._run),
            lines=tuple(line for line, _ in digests_and_bodies),
            digest=digest.hexdigest(),
            bytes=sum(len(body) for _, body in digests_and_bodies),
            dollars=max_dollars,
        )
        named = [(name, body) for name, (_, body) in zip(batch.request_names, digests_and_bodies, strict=True)]
        digests_and_bodies.clear()
        try:
            number = await self.system.submit(named, batch.mark)
        except NoReplyError as error:
            if error.kind == UNCLEAR:
                return batch if await self._check_was_accepted_or_requeue(batch, time.time()) else None
            await self._give_up_batch_and_requeue_after_delay(batch, error)
            return None
        await self._ledger.record_batch_step(batch, "submitted", id=number)
        return batch

    async def submit_and_wait_for_any_result(self) -> bool:
        """Hand in what has come together, and wait until there is something new; whether there is."""
        self._start_submitting_queued_requests()
        self._asked.clear()
        while not self._news and self._error is None:
            pause = max(0.0, self._not_before - time.monotonic()) if self._held_back else None
            if not self._tasks and (pause is None or not self._plan.wait):
                return False
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
            elif pause:
                await asyncio.sleep(pause)
            if self._held_back and time.monotonic() >= self._not_before:
                break
        if self._tasks:
            # Batches that end together are read together: each time, all questions without a record are gone through.
            await asyncio.wait(self._tasks, timeout=self._plan.longest_look)
        self._news = self._held_back = False
        return True

    # -- what an earlier process left --

    async def resume_earlier_batches(self) -> None:
        """Take up the batches of earlier processes; a RunError if they are out at another account."""
        account = address_and_key_fingerprint(self.system, self._run)
        mine = [batch for batch in self._ledger.batches.values() if batch.intended.system == self.name]
        out = [batch for batch in mine if batch.is_pending]
        foreign = [batch for batch in out if batch.intended.account != account]
        if foreign:
            raise RunError(
                f"{self.name}: its batches are pending at {foreign[0].intended.account}, not at {account}. "
                "Set the key and address that submitted them, or abandon them (they are still charged) with: "
                f"genaipa runs batches forget {self._run.partition('/')[0]}"
            )
        for batch in mine:
            if batch.is_pending:
                self._earlier.add(batch.mark)
                self._out.update(batch.intended.lines)
                self._start_task(self._resume_batch(batch))
            elif batch.step == "fetched":
                self._out.update(batch.intended.lines)
                self._make_results_available(batch)
            elif batch.step == "kept":  # a process may have died before it did
                self._ledger.delete_results(batch)
        if self._tasks:
            # What is there by now is read as questions are gone through for the first time.
            await asyncio.wait(self._tasks, timeout=min(self._plan.longest_look, _FIRST_LOOK))

    async def _resume_batch(self, batch: Batch) -> None:
        if batch.step == "submitted" or await self._check_was_accepted_or_requeue(batch, batch.intended.at):
            await self._poll_and_download_results(batch)

    async def _check_was_accepted_or_requeue(self, batch: Batch, submitted_at: float) -> bool:
        """Whether a batch was accepted; one that never was is asked again."""
        was_accepted = await self._orphans.search_and_record_whether_accepted(batch, submitted_at)
        if was_accepted is False:
            self._forget_pending_requests(batch.intended.lines)
        return bool(was_accepted)

    # -- collecting --

    async def _poll_and_download_results(self, batch: Batch) -> None:
        async for _ in poll_once_or_with_growing_waits(self._plan):
            try:
                state = await self.system.status(batch.id)
            except TransientError as error:
                self._say(f"{error}; checking again")
                continue
            if (state.state, state.done) != (batch.state, batch.done):
                await self._ledger.record_batch_step(batch, "looked", state=state.state, done=state.done)
            if state.ended:
                await self._download_results_or_requeue_failed(batch, state)
                return
            self._say(count_pending_batches_in_words(self._report_progress_and_list_pending()))

    def _report_progress_and_list_pending(self) -> list[Batch]:
        """Return the batches that are out, after their counts were reported."""
        out = [batch for batch in self._ledger.pending_batches if batch.intended.system == self.name]
        self._tell(sum(batch.request_count for batch in out), sum(batch.done for batch in out))
        return out

    async def _download_results_or_requeue_failed(self, batch: Batch, state: BatchState) -> None:
        if state.failure is not None:
            await self._give_up_batch_and_requeue_after_delay(batch, state.failure)
            return
        wait = self._plan.first_look
        for retries_left in reversed(range(_DOWNLOADS)):
            try:
                await self._ledger.save_results(batch, self.system.results(state))
                break
            except NoReplyError as error:
                if error.kind == "authentication":
                    raise
                if not retries_left:
                    raise TransientError(str(error), kind=error.kind, status=error.status) from None
                self._say(f"{error}; fetching the results again")
                await asyncio.sleep(wait)
                wait *= 2
        self._states[batch.mark] = state
        await self._ledger.record_batch_step(batch, "fetched")
        self._troubles = 0
        self._make_results_available(batch, was_cancelled=state.cancelled and batch.mark not in self._earlier)

    def _make_results_available(self, batch: Batch, *, was_cancelled: bool = False) -> None:
        """Have the results of a batch at hand; what somebody called off meanwhile is not asked again now."""
        offsets = self._ledger.read_result_offsets_by_request_name(batch)
        self._unread[batch.mark] = set(offsets.values())
        for line, name in zip(batch.intended.lines, batch.request_names, strict=True):
            if name in offsets or not was_cancelled:
                self._results[line].append(_ResultPlace(batch.mark, offsets.get(name, -1)))
                self._out[line] -= 1
        self._news = True
        self._report_progress_and_list_pending()

    def _forget_pending_requests(self, request_digests: Sequence[str]) -> None:
        """Forget requests that came to nothing: they are taken again."""
        self._out.subtract(request_digests)
        self._news = True
        self._report_progress_and_list_pending()

    async def _give_up_batch_and_requeue_after_delay(self, batch: Batch, error: NoReplyError) -> None:
        """Take the requests of a batch again that failed as a whole: after a while, a few times, if that may pass."""
        await self._ledger.record_batch_step(batch, "given up", why=str(error))
        self._forget_pending_requests(batch.intended.lines)
        if not isinstance(error, TransientError):
            self._error = error
            return
        self._troubles += 1
        if self._troubles > self._retries:
            message = f"{error} ({self._troubles} times; resume later with: genaipa run --resume {self._run})"
            self._error = PermanentError(message, kind=error.kind, status=error.status, fatal=True)
        first = self._plan.full if error.overload else self._plan.first_look
        wait = min(max(first * 2 ** (self._troubles - 1), error.retry_after or 0.0), LONGEST_RETRY_AFTER)
        self._not_before = time.monotonic() + wait
        self._say(f"{error}; submitting again in {wait:.0f} s")

    async def _await_and_keep_error(self, work: Coroutine[Any, Any, None]) -> None:
        """Tell the next request what went wrong; what is out stays out, and is looked for when the run goes on."""
        try:
            await work
        except TransientError as error:
            self._say(f"{error}; finished results are collected when the run is resumed")
        except NoReplyError as error:
            self._error = error
        except (GenaipaError, OSError) as error:
            self._error = error if isinstance(error, RunError) else RunError(str(error))
        except Exception as error:  # noqa: BLE001 - the run must not wait for ever
            self._error = RunError(redact_keys(f"{self.name}: {type(error).__name__}: {error}"))

    # -- the end --

    async def delete_results_of_recorded_batches(self, *, all_asked: bool) -> None:
        """Note the batches whose every answer is in `answers.jsonl`, and delete what their provider holds.

        With `all_asked`, nobody will come for what nobody read: it was in the records before.
        """
        out = any(batch.intended.system == self.name for batch in self._ledger.pending_batches)
        for batch in list(self._ledger.batches.values()):
            if batch.intended.system != self.name or batch.step != "fetched":
                continue
            if (all_asked and not out) or self._unread.get(batch.mark) == set():
                await self._ledger.record_batch_step(batch, "kept")
                self._ledger.delete_results(batch)
                if state := self._states.get(batch.mark):
                    with contextlib.suppress(NoReplyError):
                        await self.system.delete_batch_data(state)

    async def stop_following_batches(self) -> None:
        """Leave everything as it is; batches that are out stay out."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._ledger.close_result_files()

    def _start_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(self._await_and_keep_error(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class BatchTransport(Transport):
    """Calls that are handed in together, and sent again for their replies until none is out."""

    patient, again = False, True

    def __init__(self, system: BatchedSystem, _connections: int, retries: int, waiting: Callable[[str], None]) -> None:
        # Of what is handed in, nothing holds a connection.
        super().__init__(system, system.concurrency, retries, waiting)
        self._batched = system

    async def send(self, messages: Sequence[Message], settings: Settings) -> Attempt:
        """Ask without a time limit; nothing is warm in a batch."""
        return await ask_with_retries_or_raise(
            self.system, messages, structs.replace(settings, timeout=math.inf), self.limits
        )

    async def reserve_dollars_or_raise(self, budget: Budget, max_dollars: float) -> None:
        """Set money aside, without waiting for what is out: it is seen to when its batch has ended."""
        try:
            await budget.reserve_dollars_or_raise(max_dollars, wait_for_pending_batches=False)
        except SpendingCapError:
            if budget.left:
                raise LeftOutError from None  # what is out may cost less than was set aside for it
            raise

    async def wait_and_tell_whether_to_resend(self) -> bool:
        """Hand in what has come together, and wait for results."""
        return await self._batched.submit_and_wait_for_any_result()


async def cancel_pending_batches(folder: RunFolder, workspace: Workspace, say: Callable[[str], None]) -> int:
    """Call off the batches of a run that are out, each at its account, and count them."""
    called = 0
    out = list(find_pending_batches(folder.path))
    for name in dict.fromkeys(batch.intended.system for batch in out):
        system: Any = resolve_system(name, workspace).make_system()
        await system.start()
        try:
            account = address_and_key_fingerprint(system, folder.name)
            for batch in (batch for batch in out if batch.intended.system == name):
                if not batch.id:
                    say(
                        f"{name}: resume the run to find out whether it took a "
                        f"{len(batch.request_names):,}-question batch"
                    )
                elif batch.intended.account != account:
                    say(f"{name}: {batch.id} is pending at {batch.intended.account}, not at {account}")
                else:
                    await system.cancel(batch.id)
                    called += 1
        finally:
            await system.close()
    return called
