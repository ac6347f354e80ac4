"""The file of a corpus, `corpus.jsonl` or `corpus.parquet`, as rows in a stream."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

from genaipa.errors import DataError, MissingPackageError
from genaipa.files.text import DAMAGE, clip_error_message
from genaipa.policies.document import LONGEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

LONGEST_ROW = 12 * LONGEST
"""Bytes of a line that is read: a character takes at most twelve, escaped."""
_BATCH = 128
"""Rows of a Parquet file that are in memory at once: 128 of the longest documents are 256 MB of ASCII."""


class CorpusRow(NamedTuple):
    """One row as it was found: its line (or row, from 1), where it starts, its cells, or why it can't be read."""

    number: int
    start: int
    cells: dict[str, Any]
    problem: str = ""


class CorpusFile(Protocol):
    """A file of a corpus, as rows in a stream."""

    place: str
    """A row's place in words: line or row."""

    def rows(self) -> Iterator[CorpusRow]:
        """Yield every row."""

    def digest(self) -> str:
        """Return the SHA-256 of the file; read along where all of its rows were."""

    def read_rows_by_start(self, starts: Sequence[int]) -> Iterator[CorpusRow]:
        """Yield the rows that start there, in the order of the file; `starts` rise."""


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def make_corpus_file_reader(path: Path) -> CorpusFile:
    """Open a corpus by its ending; a DataError for any other, or a file that can't be read.

    A MissingPackageError where Parquet can't be read.
    """
    try:
        if not path.is_file():
            raise DataError(
                path,
                "is not a file; give a .jsonl file (one document per line) or a .parquet file (one document per row).",
            )
        path.open("rb").close()
    except OSError as error:
        raise DataError(path, f"can't be read ({error.strerror}).") from None
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return _JsonLinesCorpus(path)
    if path.suffix.lower() == ".parquet":
        return _ParquetCorpus(path)
    raise DataError(path, "is not a corpus; a corpus is a .jsonl file (one JSON object per line) or a .parquet file.")


class _JsonLinesCorpus:
    """JSON lines; blank ones are passed over. A start is a byte offset."""

    place = "line"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._digest = ""

    def digest(self) -> str:
        return self._digest or file_digest(self._path)

    def rows(self) -> Iterator[CorpusRow]:
        number, start, hasher = 0, 0, hashlib.sha256()
        with self._path.open("rb") as file:
            while line := file.readline(LONGEST_ROW):
                number += 1
                hasher.update(line)
                length = len(line)
                if length == LONGEST_ROW and not line.endswith(b"\n"):
                    while continuation := file.readline(LONGEST_ROW):
                        hasher.update(continuation)
                        length += len(continuation)
                        if continuation.endswith(b"\n"):
                            break
                    yield CorpusRow(number, start, {}, f"is longer than {LONGEST_ROW // 1_000_000} MB")
                elif not line.isspace() and line != _MARK:
                    yield _parse_json_row_or_problem(number, start, line.removeprefix(_MARK) if number == 1 else line)
                start += length
        self._digest = hasher.hexdigest()

    def read_rows_by_start(self, starts: Sequence[int]) -> Iterator[CorpusRow]:
        with self._path.open("rb") as file:
            for number, start in enumerate(starts, 1):
                file.seek(start)
                line = file.readline(LONGEST_ROW)
                yield _parse_json_row_or_problem(number, start, line if start else line.removeprefix(_MARK))


_MARK = b"\xef\xbb\xbf"


def _parse_json_row_or_problem(line_number: int, byte_offset: int, line: bytes) -> CorpusRow:
    try:
        cells = msgspec.json.decode(line)
    except DAMAGE as error:
        return CorpusRow(line_number, byte_offset, {}, f"not a JSON object ({clip_error_message(error)})")
    if not isinstance(cells, dict):
        return CorpusRow(line_number, byte_offset, {}, "not a JSON object")
    return CorpusRow(line_number, byte_offset, cells)


class _ParquetCorpus:
    """A Parquet file, read a few rows at a time however large its row groups are. A start is a row's number from 0."""

    place = "row"

    def __init__(self, path: Path) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ModuleNotFoundError:
            raise MissingPackageError(
                f"reading {path} needs the package 'pyarrow': pip install 'genaipa[reports]', or save it as .jsonl."
            ) from None
        self._path, self._reader, self._wrong = path, pq, (pa.ArrowException, OSError, ValueError)

    def digest(self) -> str:
        return file_digest(self._path)

    def rows(self) -> Iterator[CorpusRow]:
        start = 0
        for batch in self._read_batches():
            for cells in batch.to_pylist():
                yield CorpusRow(start + 1, start, cells)
                start += 1

    def _read_batches(self) -> Iterator[Any]:
        try:
            # Buffered: a column of a row group, which may be all of the file, is never in memory as a whole.
            with self._reader.ParquetFile(self._path, buffer_size=1 << 20) as file:
                yield from file.iter_batches(_BATCH)
        except self._wrong as error:
            raise DataError(self._path, f"can't be read as Parquet ({' '.join(str(error).split())[:200]}).") from None

    def read_rows_by_start(self, starts: Sequence[int]) -> Iterator[CorpusRow]:
        first, rows_read = 0, 0
        for batch in self._read_batches():
            if rows_read == len(starts):
                return
            end = bisect_left(starts, first + batch.num_rows, rows_read)
            wanted = starts[rows_read:end]
            for start, cells in zip(wanted, batch.take([start - first for start in wanted]).to_pylist(), strict=True):
                yield CorpusRow(start + 1, start, cells)
            first, rows_read = first + batch.num_rows, end
