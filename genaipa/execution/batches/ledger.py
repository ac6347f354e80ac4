"""The writing side of a run's `batches.jsonl`, and the results on their way into `answers.jsonl`."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import IO, TYPE_CHECKING, Any

import msgspec

from genaipa.errors import DataError, NoRoomError, TransientError
from genaipa.files.atomic import replacing
from genaipa.files.text import DAMAGE, why
from genaipa.runs import journal
from genaipa.runs.batches import BATCHES, RESULTS, Batch, BatchEvent, name_of, read_batches
from genaipa.systems.provider import known_keys, mask

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from genaipa.runs.batches import Step
    from genaipa.runs.manifest import ManifestFolder


class Ledger:
    """The batches of one run that is held for writing. The file is made with its first line."""

    def __init__(self, folder: ManifestFolder) -> None:
        self._folder = folder
        # A cut line announced what was not begun, or told what the provider can tell again.
        journal.repair(folder.path / BATCHES)
        self.batches = read_batches(folder.path)
        self._journal: journal.Journal | None = None
        self._reading: dict[str, IO[bytes]] = {}

    @property
    def out(self) -> list[Batch]:
        """The batches whose results are still to come."""
        return [batch for batch in self.batches.values() if batch.out]

    async def intend(self, **facts: Any) -> Batch:
        """Note a batch before its provider is asked to take it."""
        event = BatchEvent(step="intended", at=time.time(), **facts)
        await self._append(event)
        batch = self.batches[event.mark] = Batch(event)
        return batch

    async def note(self, batch: Batch, step: Step, **facts: Any) -> None:
        """Note what became of a batch; it is on disk when this returns."""
        event = BatchEvent(step=step, mark=batch.mark, at=time.time(), **facts)
        await self._append(event)
        batch.take(event)

    async def _append(self, event: BatchEvent) -> None:
        if self._journal is None:
            self._journal = journal.Journal(self._folder.path / BATCHES)
        await self._journal.append(event)

    async def keep_results(self, batch: Batch, lines: AsyncGenerator[bytes]) -> None:
        """Write the results of a batch to disk as they come, without any key that they may repeat.

        Whole or not at all; a TransientError if what came is no JSON, a NoRoomError if it can't be written.
        """
        path = self._path(batch.mark)
        try:
            await self._keep(batch, lines, path)
        except OSError as error:
            raise NoRoomError.of(path, error, kept="the results stay at the provider") from None

    @staticmethod
    async def _keep(batch: Batch, lines: AsyncGenerator[bytes], path: Path) -> None:
        keys = known_keys()
        path.parent.mkdir(exist_ok=True)
        with replacing(path, durable=True) as file:
            async with contextlib.aclosing(lines):
                async for line in lines:
                    if not line:
                        continue
                    try:
                        msgspec.json.decode(line, type=msgspec.Raw)
                    except msgspec.DecodeError:
                        said = f"{batch.intended.system} sent a line of results that is no JSON"
                        raise TransientError(said, kind="malformed-reply") from None
                    file.write(mask(line.decode(errors="replace"), keys).encode() + b"\n")

    def places(self, batch: Batch) -> dict[str, int]:
        """Name of a line → byte offset of its result on disk, the first of each; a DataError if they can't be read."""
        path, offset, found = self._path(batch.mark), 0, dict[str, int]()
        try:
            with path.open("rb") as file:
                for line in file:
                    found.setdefault(name_of(line), offset)
                    offset += len(line)
        except OSError as error:
            raise self._unreadable(path, error) from None
        return found

    def result(self, mark: str, offset: int) -> dict[str, Any]:
        """Read one line of results; a DataError if it can't be read."""
        path = self._path(mark)
        try:
            if mark not in self._reading:
                self._reading[mark] = path.open("rb")
            file = self._reading[mark]
            file.seek(offset)
            return msgspec.json.decode(file.readline(), type=dict[str, Any])
        except (OSError, *DAMAGE) as error:
            raise self._unreadable(path, error) from None

    def _unreadable(self, path: Path, error: Exception) -> DataError:
        forget = f"genaipa runs batches forget {self._folder.name}"
        return DataError(path, f"can't be read ({why(error)}); restore it, or ask again after: {forget}")

    def close_results(self) -> None:
        """Let go of the files of results."""
        for file in self._reading.values():
            file.close()
        self._reading.clear()

    def has_results(self, batch: Batch) -> bool:
        """Whether the results of a batch can be read."""
        try:
            self.places(batch)
        except DataError:
            return False
        return True

    def drop_results(self, batch: Batch) -> None:
        """Take away the results of a batch that are all in `answers.jsonl`."""
        path = self._path(batch.mark)
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
            path.parent.rmdir()

    def _path(self, mark: str) -> Path:
        return self._folder.path / RESULTS / f"{mark}.results.jsonl"

    async def close(self) -> None:
        """Flush and close the file."""
        if self._journal is not None:
            await asyncio.shield(self._journal.close())
            self._journal = None
