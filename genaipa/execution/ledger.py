"""The writing side of a run's `batches.jsonl`, and the results on their way into `answers.jsonl`."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any

import msgspec

from genaipa.errors import DataError
from genaipa.files.json_text import DAMAGE, why
from genaipa.runs import journal
from genaipa.runs.batches import BATCHES, RESULTS, Batch, BatchEvent, read_batches
from genaipa.systems.redaction import known_keys, mask

if TYPE_CHECKING:
    from pathlib import Path

    from genaipa.runs.batches import Step
    from genaipa.runs.folder import RunFolder


class Ledger:
    """The batches of one run that is held for writing. The file is made with its first line."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        # A cut line announced what was not begun, or told what the provider can tell again.
        journal.repair(folder.path / BATCHES)
        self.batches = read_batches(folder.path)
        self._journal: journal.Journal | None = None

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

    def keep_results(self, batch: Batch, lines: list[dict[str, Any]]) -> None:
        """Write the results of a batch to disk, whole, without any key that they may repeat."""
        text = b"".join(msgspec.json.encode(line) + b"\n" for line in lines).decode()
        path = self._path(batch)
        path.parent.mkdir(exist_ok=True)
        self._folder.write_file(str(path.relative_to(self._folder.path)), mask(text, known_keys()).encode())

    def results(self, batch: Batch) -> list[dict[str, Any]]:
        """Read the results of a batch from disk; a DataError if they can't be read."""
        path = self._path(batch)
        try:
            return [msgspec.json.decode(line, type=dict[str, Any]) for line in path.read_bytes().splitlines()]
        except (OSError, *DAMAGE) as error:
            forget = f"genaipa batches forget {self._folder.name}"
            raise DataError(path, f"can't be read ({why(error)}); restore it, or ask again after: {forget}") from None

    def has_results(self, batch: Batch) -> bool:
        """Whether the results of a batch can be read."""
        try:
            self.results(batch)
        except DataError:
            return False
        return True

    def drop_results(self, batch: Batch) -> None:
        """Take away the results of a batch that are all in `answers.jsonl`."""
        path = self._path(batch)
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
            path.parent.rmdir()

    def _path(self, batch: Batch) -> Path:
        return self._folder.path / RESULTS / f"{batch.mark}.results.jsonl"

    async def close(self) -> None:
        """Flush and close the file."""
        if self._journal is not None:
            await asyncio.shield(self._journal.close())
            self._journal = None
