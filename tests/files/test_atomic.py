"""Files are replaced whole or not at all, whoever writes and whatever fails."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import BinaryIO

import pytest

from genaipa.files.atomic import open_draft_folder, open_for_atomic_write


def test_a_file_appears_whole_in_a_folder_that_is_made_for_it() -> None:
    """Nobody sees the half of a new file, and no temporary file is left."""
    path = Path("new/folder/file.txt")
    with open_for_atomic_write(path, durable=True) as file:
        file.write(b"half")
        file.flush()
        assert not path.exists()
        file.write(b" and half")
    assert path.read_bytes() == b"half and half"
    assert [each.name for each in path.parent.iterdir()] == ["file.txt"]


def _break_off(file: BinaryIO) -> None:
    file.write(b"new")
    raise KeyboardInterrupt


def test_an_error_leaves_the_file_as_it_was_and_nothing_beside_it() -> None:
    """Ctrl-C while a file is written changes nothing."""
    path = Path("file.txt")
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), open_for_atomic_write(path) as file:
        _break_off(file)
    assert path.read_bytes() == b"old"
    assert [each.name for each in Path().iterdir()] == ["file.txt"]


def test_a_folder_in_the_way_is_an_error_that_leaves_nothing() -> None:
    """What can't be replaced raises an OSError that names it."""
    path = Path("taken")
    path.mkdir()
    with pytest.raises(OSError, match="taken"), open_for_atomic_write(path) as file:
        file.write(b"new")
    assert [each.name for each in Path().iterdir()] == ["taken"]


def test_a_name_as_long_as_the_file_system_allows_can_be_replaced() -> None:
    """The temporary file's name stays short, however long the file's is."""
    path = Path("n" * 255)
    with open_for_atomic_write(path) as file:
        file.write(b"whole")
    assert path.read_bytes() == b"whole"


def test_writers_of_one_file_never_mix() -> None:
    """Four threads replace one file: each reader finds the whole content of one of them."""
    path = Path("file.txt")
    begun = threading.Barrier(4)

    def write(letter: bytes) -> None:
        for _ in range(20):
            begun.wait(60)
            with open_for_atomic_write(path) as file:
                for _ in range(100):
                    file.write(letter)
                    file.flush()
            content = path.read_bytes()
            assert len(content) == 100
            assert len(set(content)) == 1

    failures: list[BaseException] = []

    def run(letter: bytes) -> None:
        try:
            write(letter)
        except BaseException as error:  # noqa: BLE001 - told by the test's own thread
            failures.append(error)
            begun.abort()

    threads = [threading.Thread(target=run, args=(letter,)) for letter in (b"a", b"b", b"c", b"d")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def _write_draft(folder: Path, *, breaks_off: bool = False) -> None:
    with open_draft_folder(folder) as draft:
        (draft / "tables").mkdir()
        (draft / "tables" / "a.csv").write_bytes(b"new")
        if breaks_off:
            raise KeyboardInterrupt
        (draft / "tables" / "b.csv").write_bytes(b"new")


def _contents() -> dict[str, bytes]:
    return {path.as_posix(): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def test_a_folder_appears_whole_or_not_at_all() -> None:
    """Ctrl-C leaves no folder, nor one above it; what an earlier folder has besides stays."""
    with pytest.raises(KeyboardInterrupt):
        _write_draft(Path("new/folder"), breaks_off=True)
    assert list(Path().iterdir()) == []
    _write_draft(Path("new/folder"))
    whole = {"new/folder/tables/a.csv": b"new", "new/folder/tables/b.csv": b"new"}
    assert _contents() == whole
    own = Path("new/folder/tables/a.csv"), Path("new/folder/mine.txt")
    for path in own:
        path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        _write_draft(Path("new/folder"), breaks_off=True)
    assert _contents() == whole | dict.fromkeys(map(Path.as_posix, own), b"old")
    _write_draft(Path("new/folder"))
    assert _contents() == whole | {"new/folder/mine.txt": b"old"}
    with pytest.raises(FileExistsError):
        _write_draft(Path("new/folder/mine.txt"))
