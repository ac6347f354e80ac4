"""The append-only journal: every line whole, on disk when it is said to be, and repaired after a crash."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path

import msgspec
import pytest

from genaipa.errors import NoRoomError, RunError
from genaipa.runs import journal

PATH = Path("answers.jsonl")


class Line(msgspec.Struct):
    """A record of these tests."""

    key: str
    text: str = ""


class Key(msgspec.Struct):
    """As much of it as is read for counting."""

    key: str


def on_disk() -> bytes:
    """The whole file."""
    return PATH.read_bytes()


def append(*lines: Line, together: bool = False) -> None:
    """Append one after another, or all at once."""

    async def all_of_it() -> None:
        log = journal.Journal(PATH)
        if together:
            await asyncio.gather(*(log.append_and_get_offset(line) for line in lines))
        else:
            for line in lines:
                await log.append_and_get_offset(line)
                assert on_disk().endswith(journal.encode_record_line(line))
        await log.close()

    asyncio.run(all_of_it())


@pytest.mark.parametrize("together", [True, False])
def test_what_is_appended_is_read(*, together: bool) -> None:
    """Lines come back in order, with any text in them, and each is on disk when `append` returns."""
    lines = [Line(f"k{n}", "Zeile\n“é” \u2028 日本 \0") for n in range(50)]
    append(*lines, together=together)
    append(Line("later"))
    assert [line for _, line in journal.read_records_with_offsets(PATH, Line)] == [*lines, Line("later")]


def test_offsets_lead_to_their_lines() -> None:
    """A line can be read by the offset that was given for it, also after a reading that skipped its text."""
    lines = [Line(f"k{n}", "é" * n) for n in range(20)]
    append(*lines)
    offsets = [offset for offset, _ in journal.read_records_with_offsets(PATH, Key)]
    assert journal.read_records_at(PATH, [offsets[7], offsets[3]], Line) == [lines[7], lines[3]]


def test_reading_at_a_wrong_place_is_a_sentence() -> None:
    """An offset that is not the beginning of a record names the file and the offset."""
    append(Line("a"))
    with pytest.raises(RunError, match=r"answers\.jsonl: no record begins at byte 3"):
        journal.read_records_at(PATH, [3], Line)


def test_missing_journal_is_empty() -> None:
    """A run that was never asked anything has no file yet."""
    assert list(journal.read_records_with_offsets(PATH, Line)) == []
    assert journal.remove_cut_last_line_and_describe(PATH) == ""


def test_cut_anywhere_it_heals_to_whole_lines() -> None:
    """However many bytes of the end are missing, healing leaves the lines before, and says what it took away."""
    append(Line("first", "x" * 10), Line("second", "y" * 10))
    whole = PATH.read_bytes()
    first = whole.index(b"\n") + 1
    for size in range(len(whole) + 1):
        PATH.write_bytes(whole[:size])
        kept = len(whole) if size == len(whole) else first if size >= first else 0
        assert len(list(journal.read_records_with_offsets(PATH, Line))) == whole[:kept].count(b"\n"), (
            "a cut line is not read"
        )
        said = journal.remove_cut_last_line_and_describe(PATH)
        assert PATH.read_bytes() == whole[:kept]
        assert (f"({size - kept} bytes)" in said) if size > kept else said == ""


def test_a_long_cut_line_heals() -> None:
    """The end of the last whole line is found however far back it is."""
    append(Line("first"))
    whole = PATH.read_bytes()
    for cut in (65535, 65536, 65537, 200_000):
        PATH.write_bytes(whole + b"x" * cut)
        assert f"({cut} bytes)" in journal.remove_cut_last_line_and_describe(PATH)
        assert PATH.read_bytes() == whole


def test_damaged_line_is_named() -> None:
    """A line in the middle that is no record is named with its file and number; it is not passed over."""
    append(Line("first"), Line("second"), Line("third"))
    lines = PATH.read_bytes().split(b"\n")
    for damage in (b"garbage", b"\0" * 20, b'{"text": "no key"}', b""):
        PATH.write_bytes(b"\n".join([lines[0], damage, *lines[2:]]))
        with pytest.raises(RunError, match=r"answers\.jsonl: line 2 is not a record"):
            list(journal.read_records_with_offsets(PATH, Key))


def test_close_waits_for_what_is_being_written() -> None:
    """Nothing that was handed over is lost when the journal is closed, even if nobody waits for it any more."""

    async def all_of_it() -> None:
        log = journal.Journal(PATH)
        writing = [asyncio.create_task(log.append_and_get_offset(Line(f"k{n}"))) for n in range(20)]
        await asyncio.sleep(0)
        for task in writing:
            task.cancel()
        await log.close()

    asyncio.run(all_of_it())
    assert len(list(journal.read_records_with_offsets(PATH, Line))) == 20


def test_journal_that_can_not_be_opened() -> None:
    """A file that can't be written is named before anything is asked."""
    PATH.mkdir()
    with pytest.raises(RunError, match=r"answers\.jsonl can't be written \(Is a directory\)"):
        journal.Journal(PATH)


class Disk:
    """The system's calls as this process sees them: byte by byte, with room for so many, and what is safe by now."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.room, self.sync_fails, self.safe = 10**9, False, 0
        self.confirmed: list[str] = []
        self.moments: list[tuple[int, list[str]]] = []
        """What was confirmed when so many bytes were in the file."""
        self._write, self._sync = os.write, os.fsync
        patch.setattr(os, "write", self.write)
        patch.setattr(os, "fsync", self.sync)

    def write(self, descriptor: int, content: bytes) -> int:
        """Write a byte, or say that the disk is full."""
        if os.fstat(descriptor).st_ino != PATH.stat().st_ino:
            return self._write(descriptor, content)
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.room -= 1
        written = self._write(descriptor, bytes(content[:1]))
        self.moments.append((PATH.stat().st_size, [*self.confirmed]))
        return written

    def sync(self, descriptor: int) -> None:
        """Bring everything that was written to the disk, or fail."""
        if self.sync_fails:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        self._sync(descriptor)
        self.safe = PATH.stat().st_size

    async def append(self, log: journal.Journal, line: Line) -> None:
        """Append a line; what is confirmed is safe from then on."""
        offset = await log.append_and_get_offset(line)
        assert offset + len(journal.encode_record_line(line)) <= self.safe
        self.confirmed.append(line.key)


def test_a_kill_at_any_byte_loses_and_doubles_nothing() -> None:
    """Whichever byte was the last, everything confirmed is there, and asking for the rest makes each line once."""
    lines = [Line(f"k{n}", "é" * n) for n in range(5)]

    async def all_of_it(disk: Disk) -> None:
        log = journal.Journal(PATH)
        await disk.append(log, lines[0])
        await asyncio.gather(*(disk.append(log, line) for line in lines[1:4]))
        await disk.append(log, lines[4])
        await log.close()

    with pytest.MonkeyPatch.context() as patch:
        disk = Disk(patch)
        asyncio.run(all_of_it(disk))
    whole = on_disk()
    assert [size for size, _ in disk.moments] == list(range(1, len(whole) + 1)), "it only grows"
    assert [len(confirmed) for _, confirmed in disk.moments][-1] == 4
    for size, confirmed in disk.moments:
        PATH.write_bytes(whole[:size])
        journal.remove_cut_last_line_and_describe(PATH)
        there = [line.key for _, line in journal.read_records_with_offsets(PATH, Key)]
        assert there == [line.key for line in lines[: len(there)]]
        assert {*confirmed} <= {*there}
        append(*lines[len(there) :])
        assert on_disk() == whole


def test_no_half_line_stays_wherever_the_disk_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """What can't be written and synced whole isn't written at all; all who wait are told, and with room it goes on."""
    disk, batch = Disk(monkeypatch), [Line(f"k{n}", "x" * n) for n in range(3)]

    async def refused(room: int, *, sync_fails: bool = False) -> None:
        log = journal.Journal(PATH)
        before, disk.room, disk.sync_fails = on_disk(), room, sync_fails
        for said in await asyncio.gather(*(log.append_and_get_offset(line) for line in batch), return_exceptions=True):
            assert isinstance(said, NoRoomError)
            assert "answers.jsonl can't be written" in str(said)
            assert "everything written before is kept" in str(said)
        assert on_disk() == before
        disk.room, disk.sync_fails = 10**9, False
        await log.append_and_get_offset(Line("then"))
        await log.close()
        assert on_disk() == before + journal.encode_record_line(Line("then"))

    append(Line("first"))
    for room in range(sum(len(journal.encode_record_line(line)) for line in batch)):
        asyncio.run(refused(room))
    asyncio.run(refused(10**9, sync_fails=True))
