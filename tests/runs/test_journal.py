"""The append-only journal: every line whole, on disk when it is said to be, and repaired after a crash."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from genaipa.errors import RunError
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
            await asyncio.gather(*(log.append(line) for line in lines))
        else:
            for line in lines:
                await log.append(line)
                assert on_disk().endswith(journal.line(line))
        await log.close()

    asyncio.run(all_of_it())


@pytest.mark.parametrize("together", [True, False])
def test_what_is_appended_is_read(*, together: bool) -> None:
    """Lines come back in order, with any text in them, and each is on disk when `append` returns."""
    lines = [Line(f"k{n}", "Zeile\n“é” \u2028 日本 \0") for n in range(50)]
    append(*lines, together=together)
    append(Line("later"))
    assert [line for _, line in journal.read(PATH, Line)] == [*lines, Line("later")]


def test_offsets_lead_to_their_lines() -> None:
    """A line can be read by the offset that was given for it, also after a reading that skipped its text."""
    lines = [Line(f"k{n}", "é" * n) for n in range(20)]
    append(*lines)
    offsets = [offset for offset, _ in journal.read(PATH, Key)]
    assert journal.read_at(PATH, [offsets[7], offsets[3]], Line) == [lines[7], lines[3]]


def test_reading_at_a_wrong_place_is_a_sentence() -> None:
    """An offset that is not the beginning of a record names the file and the offset."""
    append(Line("a"))
    with pytest.raises(RunError, match=r"answers\.jsonl: byte 3 begins no record"):
        journal.read_at(PATH, [3], Line)


def test_missing_journal_is_empty() -> None:
    """A run that was never asked anything has no file yet."""
    assert list(journal.read(PATH, Line)) == []
    assert journal.repair(PATH) == ""


def test_cut_anywhere_it_heals_to_whole_lines() -> None:
    """However many bytes of the end are missing, healing leaves the lines before, and says what it took away."""
    append(Line("first", "x" * 10), Line("second", "y" * 10))
    whole = PATH.read_bytes()
    first = whole.index(b"\n") + 1
    for size in range(len(whole) + 1):
        PATH.write_bytes(whole[:size])
        kept = len(whole) if size == len(whole) else first if size >= first else 0
        assert len(list(journal.read(PATH, Line))) == whole[:kept].count(b"\n"), "a cut line is not read"
        said = journal.repair(PATH)
        assert PATH.read_bytes() == whole[:kept]
        assert (f"({size - kept} bytes)" in said) if size > kept else said == ""


def test_a_long_cut_line_heals() -> None:
    """The end of the last whole line is found however far back it is."""
    append(Line("first"))
    whole = PATH.read_bytes()
    for cut in (65535, 65536, 65537, 200_000):
        PATH.write_bytes(whole + b"x" * cut)
        assert f"({cut} bytes)" in journal.repair(PATH)
        assert PATH.read_bytes() == whole


def test_damaged_line_is_named() -> None:
    """A line in the middle that is no record is named with its file and number; it is not passed over."""
    append(Line("first"), Line("second"), Line("third"))
    lines = PATH.read_bytes().split(b"\n")
    for damage in (b"garbage", b"\0" * 20, b'{"text": "no key"}', b""):
        PATH.write_bytes(b"\n".join([lines[0], damage, *lines[2:]]))
        with pytest.raises(RunError, match=r"answers\.jsonl: line 2 is not a record"):
            list(journal.read(PATH, Key))


def test_close_waits_for_what_is_being_written() -> None:
    """Nothing that was handed over is lost when the journal is closed, even if nobody waits for it any more."""

    async def all_of_it() -> None:
        log = journal.Journal(PATH)
        writing = [asyncio.create_task(log.append(Line(f"k{n}"))) for n in range(20)]
        await asyncio.sleep(0)
        for task in writing:
            task.cancel()
        await log.close()

    asyncio.run(all_of_it())
    assert len(list(journal.read(PATH, Line))) == 20


def test_journal_that_can_not_be_opened() -> None:
    """A file that can't be written is named before anything is asked."""
    PATH.mkdir()
    with pytest.raises(RunError, match=r"answers\.jsonl can't be written \(Is a directory\)"):
        journal.Journal(PATH)


_FULL = """
import asyncio, resource, signal
from pathlib import Path
import msgspec
from genaipa.errors import RunError
from genaipa.runs.journal import Journal

class Line(msgspec.Struct):
    key: str
    text: str = ""

async def main():
    log = Journal(Path("answers.jsonl"))
    await log.append(Line("first"))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60, resource.RLIM_INFINITY))
    results = await asyncio.gather(*(log.append(Line(f"k{n}", "x" * 50)) for n in range(3)), return_exceptions=True)
    for result in results:
        assert isinstance(result, RunError), result
    print(result)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await log.append(Line("last"))
    await log.close()

asyncio.run(main())
"""


def test_no_half_line_stays_when_the_disk_is_full() -> None:
    """What can't be written whole isn't written at all; the sentence says what to do, and there it goes on."""
    done = subprocess.run([sys.executable, "-B", "-c", _FULL], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "answers.jsonl can't be written (File too large); everything before is kept. "
        "Make room and run the same command again.\n"
    )
    assert [line.key for _, line in journal.read(PATH, Line)] == ["first", "last"]
