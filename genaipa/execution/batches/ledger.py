"""The writing side of `batches.jsonl`: results on their way into `answers.jsonl`, and batches that nobody confirmed.

`UnconfirmedBatches` finds in a provider's list whether it accepted a batch: no answer to the hand-in came, or nobody
lived to hear it.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import IO, TYPE_CHECKING, Any

import msgspec

from genaipa.errors import DataError, NoReplyError, NoRoomError, TransientError
from genaipa.files.atomic import open_for_atomic_write
from genaipa.files.text import DAMAGE, clip_error_message
from genaipa.runs import journal
from genaipa.runs.batches import BATCHES, RESULTS, Batch, BatchEvent, read_batches_by_mark, read_request_name_or_empty
from genaipa.systems.provider import list_api_keys_in_environment, mask_api_keys

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable
    from pathlib import Path

    from genaipa.execution.batches.batched import BatchingOptions
    from genaipa.runs.batches import Step
    from genaipa.runs.folder import RunFolder
    from genaipa.systems.base import BatchState, BatchSystem


class BatchLedger:
    """The batches of one run that is held for writing. The file is made with its first line."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        # A cut line announced what was not begun, or told what the provider can tell again.
        journal.remove_cut_last_line_and_describe(folder.path / BATCHES)
        self.batches = read_batches_by_mark(folder.path)
        self._journal: journal.Journal | None = None
        self._reading: dict[str, IO[bytes]] = {}

    @property
    def pending_batches(self) -> list[Batch]:
        """The batches whose results are still to come."""
        return [batch for batch in self.batches.values() if batch.is_pending]

    async def record_intended_batch(self, **event_fields: Any) -> Batch:
        """Note a batch before its provider is asked to take it."""
        event = BatchEvent(step="intended", at=time.time(), **event_fields)
        await self._append_event(event)
        batch = self.batches[event.mark] = Batch(event)
        return batch

    async def record_batch_step(self, batch: Batch, step: Step, **event_fields: Any) -> None:
        """Note what became of a batch; it is on disk when this returns."""
        event = BatchEvent(step=step, mark=batch.mark, at=time.time(), **event_fields)
        await self._append_event(event)
        batch.apply_event(event)

    async def _append_event(self, event: BatchEvent) -> None:
        self._folder.check_still_held()
        if self._journal is None:
            self._journal = journal.Journal(self._folder.path / BATCHES)
        await self._journal.append_and_get_offset(event)

    async def save_results(self, batch: Batch, result_lines: AsyncGenerator[bytes]) -> None:
        """Write the results of a batch to disk as they come, without any key that they may repeat.

        Whole or not at all; a TransientError if what came is no JSON, a NoRoomError if it can't be written.
        """
        path = self._results_path(batch.mark)
        try:
            await self._write_results(batch, result_lines, path)
        except OSError as error:
            raise NoRoomError.from_os_error(path, error, what_is_saved="the results stay at the provider") from None

    @staticmethod
    async def _write_results(batch: Batch, result_lines: AsyncGenerator[bytes], path: Path) -> None:
        keys = list_api_keys_in_environment()
        path.parent.mkdir(exist_ok=True)
        with open_for_atomic_write(path, durable=True) as file:
            async with contextlib.aclosing(result_lines):
                async for line in result_lines:
                    if not line:
                        continue
                    try:
                        msgspec.json.decode(line, type=msgspec.Raw)
                    except msgspec.DecodeError:
                        message = f"{batch.intended.system} sent a result line that is not JSON"
                        raise TransientError(message, kind="malformed-reply") from None
                    file.write(mask_api_keys(line.decode(errors="replace"), keys).encode() + b"\n")

    def read_result_offsets_by_request_name(self, batch: Batch) -> dict[str, int]:
        """Name of a line → byte offset of its result on disk, the first of each; a DataError if they can't be read."""
        path, offset, offsets = self._results_path(batch.mark), 0, dict[str, int]()
        try:
            with path.open("rb") as file:
                for line in file:
                    offsets.setdefault(read_request_name_or_empty(line), offset)
                    offset += len(line)
        except OSError as error:
            raise self._make_unreadable_error(path, error) from None
        return offsets

    def read_result(self, batch_mark: str, byte_offset: int) -> dict[str, Any]:
        """Read one line of results; a DataError if it can't be read."""
        path = self._results_path(batch_mark)
        try:
            if batch_mark not in self._reading:
                self._reading[batch_mark] = path.open("rb")
            file = self._reading[batch_mark]
            file.seek(byte_offset)
            return msgspec.json.decode(file.readline(), type=dict[str, Any])
        except (OSError, *DAMAGE) as error:
            raise self._make_unreadable_error(path, error) from None

    def _make_unreadable_error(self, path: Path, error: Exception) -> DataError:
        forget = f"genaipa runs batches forget {self._folder.name}"
        return DataError(path, f"can't be read ({clip_error_message(error)}); restore it, or discard it with: {forget}")

    def close_result_files(self) -> None:
        """Let go of the files of results."""
        for file in self._reading.values():
            file.close()
        self._reading.clear()

    def has_readable_results(self, batch: Batch) -> bool:
        """Whether the results of a batch can be read."""
        try:
            self.read_result_offsets_by_request_name(batch)
        except DataError:
            return False
        return True

    def delete_results(self, batch: Batch) -> None:
        """Take away the results of a batch that are all in `answers.jsonl`."""
        path = self._results_path(batch.mark)
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
            path.parent.rmdir()

    def _results_path(self, batch_mark: str) -> Path:
        return self._folder.path / RESULTS / f"{batch_mark}.results.jsonl"

    async def close(self) -> None:
        """Flush and close the file."""
        if self._journal is not None:
            await asyncio.shield(self._journal.close())
            self._journal = None


_CLOCKS = 3600.0
"""Seconds by which a provider's clock may differ from this one."""


async def poll_once_or_with_growing_waits(plan: BatchingOptions) -> AsyncIterator[None]:
    """Now, and after ever longer times; once only where nobody is to wait."""
    wait = plan.first_look
    while True:
        yield
        if not plan.wait:
            return
        await asyncio.sleep(wait)
        wait = min(2 * wait, plan.longest_look)


class UnconfirmedBatches:
    """The search for batches of a system whose submission was not acknowledged."""

    def __init__(
        self, system: BatchSystem, ledger: BatchLedger, plan: BatchingOptions, say: Callable[[str], None]
    ) -> None:
        self._system, self._ledger, self._plan, self._say = system, ledger, plan, say
        self._foreign: set[str] = set()
        """Batches at the provider that are not ours."""

    async def search_and_record_whether_accepted(self, batch: Batch, submitted_at: float) -> bool | None:
        """Whether a batch was accepted, as its journal says from now on; None if it is not clear yet, and nobody waits.

        What is not in the list long after `submitted_at` (seconds since 1970) was not.
        """
        deadline = max(submitted_at + self._plan.patience, time.time() + self._plan.patience / 10)
        async for _ in poll_once_or_with_growing_waits(self._plan):
            try:
                listed = await self._system.list_batches_since(batch.intended.at - _CLOCKS)
            except TransientError as error:
                self._say(f"{error}; checking again whether a batch was accepted")
                continue
            matching_state = next((state for state in listed if state.mark == batch.mark), None)
            maybe = [state for state in listed if not state.mark and self._may_be_same_batch(batch, state)]
            for state in maybe:
                if (
                    matching_state is None
                    and state.ended
                    and await self._match_results_or_note_foreign_batch(batch, state)
                ):
                    matching_state = state
            if matching_state is not None:
                await self._ledger.record_batch_step(batch, "submitted", id=matching_state.id)
                return True
            # A batch that may be it, and whose lines can't be read yet, is waited for.
            if time.time() > deadline and all(state.id in self._foreign for state in maybe):
                await self._ledger.record_batch_step(batch, "given up", why="the provider never accepted it")
                return False
            self._say("it is not yet clear whether a batch was accepted; checking again")
        return None

    def _may_be_same_batch(self, batch: Batch, state: BatchState) -> bool:
        """Whether a batch without a mark, which no other of ours is, may be this one."""
        recorded_ids = {recorded_batch.id for recorded_batch in self._ledger.batches.values()}
        return state.total == batch.request_count and state.id not in recorded_ids | self._foreign

    async def _match_results_or_note_foreign_batch(self, batch: Batch, state: BatchState) -> bool:
        """Whether the lines of an ended batch are this one's: a mark is in their names alone."""
        try:
            async with contextlib.aclosing(self._system.results(state)) as lines:
                async for line in lines:
                    if read_request_name_or_empty(line).startswith(batch.mark[:8]):
                        return True
        except NoReplyError as error:
            self._say(f"{error}; checking again whether a batch was accepted")
            return False
        self._foreign.add(state.id)
        return False


async def give_up_pending_or_unreadable_batches(folder: RunFolder) -> int:
    """Note that the batches of a run that are out are not waited for any more, and count them."""
    with folder.hold_for_writing_and_list_repairs():
        ledger = BatchLedger(folder)
        out = ledger.pending_batches
        # Nor what was fetched and can't be read any more.
        lost = [
            batch
            for batch in ledger.batches.values()
            if batch.step == "fetched" and not ledger.has_readable_results(batch)
        ]
        for batch in [*out, *lost]:
            await ledger.record_batch_step(batch, "given up", why="at the user's request")
        await ledger.close()
        manifest = folder.manifest()
        if manifest.status == "waiting":
            manifest.status = "interrupted"
            folder.write_manifest(manifest)
    return len(out) + len(lost)
