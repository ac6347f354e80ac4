"""An append-only file of JSON lines that survives a crash.

Each line is on disk before `append` returns. Lines that arrive together are written and synced together, so that
durability costs one sync for many answers, not one each. A line ends with the `sum` of everything before it.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from typing import TYPE_CHECKING, TypeVar

import msgspec

from genaipa.errors import NoRoomError, RunError
from genaipa.files.atomic import fsync_folder
from genaipa.files.text import DAMAGE, clip_error_message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from genaipa.runs.folder import RunFolder

T = TypeVar("T")
_BYTES = getattr(os, "O_BINARY", 0)
"""Windows would write a line's end as two characters."""
_READ = 1 << 16
"""Bytes that are read at once."""
_encoder = msgspec.json.Encoder()
_SUM = b',"sum":"%s"}\n'
_LENGTH = len(_SUM % (b"0" * 16))


def encode_record_line(record: msgspec.Struct) -> bytes:
    """Return a record as a line, with its sum."""
    content = _encoder.encode(record)[:-1]
    return content + _format_checksum_ending(content)


def has_valid_checksum(line: bytes) -> bool:
    """Tell whether a line has the sum of its content."""
    return line[-_LENGTH:] == _format_checksum_ending(line[:-_LENGTH])


def _format_checksum_ending(line_content: bytes) -> bytes:
    return _SUM % hashlib.blake2b(line_content, digest_size=8).hexdigest().encode()


def remove_cut_last_line_and_describe(path: Path) -> str:
    """Take a half-written last line away; a sentence about it, empty if there was none.

    A process that dies while it writes leaves at most one line without its end. What it held was never reported as
    kept, so it is asked again.
    """
    if not path.exists():
        return ""
    with path.open("rb+") as file:
        size = file.seek(0, os.SEEK_END)
        end = size
        while end:
            start = max(0, end - 65536)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end == size:
            return ""
        file.truncate(end)
        os.fsync(file.fileno())
    return f"{path.name}: the last line was cut off ({size - end} bytes); genaipa removed it and will ask again."


def read_lines_with_offsets(path: Path, start_offset: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield (byte offset, line) for each whole line from this offset on; an OSError for a file that can't be read."""
    # Lines longer than half of the usual buffer are put together of two reads each.
    with path.open("rb", buffering=_READ) as file:
        file.seek(start_offset)
        for line in file:
            if line.endswith(b"\n"):
                yield start_offset, line
            start_offset += len(line)


def read_records_with_offsets(
    path: Path, record_type: type[T], *, has_checksums: bool = False
) -> Iterator[tuple[int, T]]:
    """Return (byte offset, record) for each whole line; a RunError naming file and line for one that is not a record.

    A kind with fewer fields than the lines hold reads faster: the rest is skipped. Where lines are `has_checksums`, the
    error also names one that was changed.
    """
    return (
        decode_lines_with_offsets(path, read_lines_with_offsets(path), record_type, has_checksums=has_checksums)
        if path.exists()
        else iter(())
    )


def decode_lines_with_offsets(
    path: Path, lines_with_offsets: Iterable[tuple[int, bytes]], record_type: type[T], *, has_checksums: bool = False
) -> Iterator[tuple[int, T]]:
    """Yield (byte offset, record) for each of the lines of a file."""
    decode = msgspec.json.Decoder(record_type).decode
    for number, (offset, content) in enumerate(lines_with_offsets, 1):
        try:
            record = decode(content)
        except DAMAGE as error:
            wrong = f"is not a record ({clip_error_message(error)})"
        else:
            # Whoever knows more of it says first what is wrong with it.
            yield offset, record
            if not has_checksums or has_valid_checksum(content):
                continue
            wrong = "was changed (its checksum does not match its content)"
        raise RunError(f"{path}: line {number} {wrong}; restore the file, or delete that line to ask again.")


def read_records_at(path: Path, offsets: list[int], record_type: type[T]) -> list[T]:
    """Return the records at these byte offsets; a RunError for an offset without a record of this kind."""
    decode = msgspec.json.Decoder(record_type).decode
    with path.open("rb") as file:
        records = []
        for offset in offsets:
            file.seek(offset)
            try:
                records.append(decode(file.readline()))
            except DAMAGE as error:
                raise RunError(
                    f"{path}: no record begins at byte {offset} ({clip_error_message(error)}); restore the file."
                ) from None
    return records


class AnswerFileFollower:
    """The file of a run's answers, followed as it grows."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.lines = 0
        self._stamp: tuple[int, int, int] | None = None
        self._offset, self._last = 0, (0, b"")

    def has_changed_since_last_call(self) -> bool:
        """Tell whether it has changed since the last call; quick where it hasn't."""
        before, self._stamp = self._stamp, self.folder.answers_file_stamp() or self._stamp
        return self._stamp != before

    def is_last_line_in_place(self) -> bool:
        """Tell whether the last line read is still in its place; if not, someone has edited or restored the file."""
        offset, last = self._last
        try:
            return not last or next(self.folder.read_answer_lines_with_offsets(offset), (0, b""))[1] == last
        except OSError:
            return True

    def read_new_lines_with_offsets(self) -> Iterator[tuple[int, bytes]]:
        """Yield (place, line) of each whole line since the last time."""
        for offset, line in self.folder.read_answer_lines_with_offsets(self._offset):
            self._offset, self.lines, self._last = offset + len(line), self.lines + 1, (offset, line)
            yield offset, line


class Journal:
    """The writing end of one file. Use it from one event loop."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _BYTES, 0o644)
            fsync_folder(path.parent)
        except OSError as error:
            raise NoRoomError.from_os_error(path, error) from None
        self._waiting: list[tuple[bytes, asyncio.Future[int]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def append_and_get_offset(self, record: msgspec.Struct) -> int:
        """Return a record's byte offset once it is on disk; a RunError if it can't be (nothing half-written stays)."""
        done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append((encode_record_line(record), done))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_waiting_records())
        # Shielded: a record that is paid for is written even if whoever waits for it is cancelled.
        return await asyncio.shield(done)

    async def _write_waiting_records(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                offset = await asyncio.to_thread(
                    self._append_lines_and_get_offset, b"".join(content for content, _ in batch)
                )
            except OSError as error:
                failure = NoRoomError.from_os_error(self.path, error, what_is_saved="everything written before is kept")
                for _, done in batch:
                    if not done.done():
                        done.set_exception(failure)
            else:
                for content, done in batch:
                    if not done.done():
                        done.set_result(offset)
                    offset += len(content)
        self._writing = None

    def _append_lines_and_get_offset(self, lines: bytes) -> int:
        before = os.fstat(self._descriptor).st_size
        try:
            view = memoryview(lines)
            while view:
                view = view[os.write(self._descriptor, view) :]
            os.fsync(self._descriptor)
        except OSError:
            os.ftruncate(self._descriptor, before)
            raise
        return before

    async def close(self) -> None:
        """Wait for pending writes, then close the file."""
        while self._writing is not None:
            await asyncio.gather(self._writing, return_exceptions=True)
        os.close(self._descriptor)
