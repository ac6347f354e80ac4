"""Lines sealed in a Parquet file: written once by whoever is first, never changed, read back byte for byte.

Columns: `place`, the byte at which a line began in the file that it comes from; `line`, its bytes; and some of what is
in it, for whoever reads the file with other tools. The footer holds facts about the whole, and digests by which lost
and changed lines are found.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import os
import uuid
from array import array
from itertools import islice
from typing import TYPE_CHECKING, Any

from genaipa.errors import DataError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_GROUP = 1000
"""Lines in a group of rows, which is what is read to get one of them."""
_FACTS = b"genaipa"
_SEAL = b"genaipa-seal"
"""Metadata: the number of lines, their SHA-256, and that of both with the facts."""
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)


def seal(
    path: Path, lines: Iterable[tuple[int, bytes, Mapping[str, str]]], columns: Iterable[str], facts: bytes
) -> bool:
    """Write (place, line, columns) into a new file; False if there is one, which stays. An OSError where it can't be.

    A MissingPackageError where Parquet can't be written.
    """
    arrow, parquet = _parquet()
    named = list(columns)
    fields = [("place", arrow.int64()), *((name, arrow.string()) for name in named), ("line", arrow.binary())]
    schema = arrow.schema(fields, metadata={_FACTS: facts})
    made = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    number, known = 0, hashlib.sha256()
    try:
        with made.open("xb") as file, parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            rows = iter(lines)
            while group := list(islice(rows, _GROUP)):
                places = arrow.py_buffer(array("q", (row[0] for row in group)))
                others = [
                    _text_array(arrow, arrow.string(), [row[2][name].encode() for row in group]) for name in named
                ]
                content = [
                    arrow.Array.from_buffers(arrow.int64(), len(group), [None, places]),
                    *others,
                    _text_array(arrow, arrow.binary(), [row[1] for row in group]),
                ]
                writer.write_table(arrow.Table.from_arrays(content, schema=schema))
                number += len(group)
                known.update(b"".join(row[1] for row in group))
            writer.add_key_value_metadata({_SEAL: _sealing(number, known.hexdigest(), facts)})
        with made.open("rb+") as written:
            os.fsync(written.fileno())
        return _put_if_absent(made, path)
    finally:
        with contextlib.suppress(OSError):
            made.unlink(missing_ok=True)


def _text_array(arrow: Any, kind: Any, values: list[bytes]) -> Any:
    """Return an array of texts from its bytes: for a list, pyarrow would first import pandas, half a second of work."""
    ends = array("i", itertools.accumulate(map(len, values), initial=0))
    return arrow.Array.from_buffers(kind, len(values), [None, arrow.py_buffer(ends), arrow.py_buffer(b"".join(values))])


def _sealing(number: int, digest: str, facts: bytes) -> bytes:
    whole = hashlib.sha256(b"%d %s %s" % (number, digest.encode(), facts)).hexdigest()
    return f"{number} {digest} {whole}".encode()


def _put_if_absent(made: Path, path: Path) -> bool:
    try:
        os.link(made, path)
    except (FileExistsError, FileNotFoundError):  # whoever sealed it has taken away what others were making
        if not path.exists():
            raise
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # Without hard links, between processes that hold no lock, the later one would win.
        if path.exists():
            return False
        made.replace(path)
    return True


def take_away_unsealed(path: Path) -> None:
    """Take away what processes that were killed had made of a sealed file."""
    for made in path.parent.glob(f".{path.name}.*.tmp"):
        with contextlib.suppress(OSError):
            made.unlink(missing_ok=True)


class Sealed:
    """A sealed file; a DataError if it is damaged, a MissingPackageError where Parquet can't be read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        _, parquet = _parquet()
        # Nothing stays open: there may be more of them than a process may have files.
        with self._checked():
            self._metadata = parquet.read_metadata(path)
        number, _, digest = self._named(_SEAL).decode("ascii", "replace").partition(" ")
        self._digest = digest.partition(" ")[0]
        if self._named(_SEAL) != _sealing(self.rows, self._digest, self.facts):
            lost = f"it has {self.rows:,} of {number} lines" if number != str(self.rows) else "its facts were changed"
            lost = lost if number else "its digests are gone"
            raise DataError(path, f"is not as it was sealed ({lost[:60]}); restore the file.")

    def _named(self, name: bytes) -> bytes:
        return bytes((self._metadata.metadata or {}).get(name, b""))

    @property
    def rows(self) -> int:
        """The number of lines."""
        return int(self._metadata.num_rows)

    @property
    def facts(self) -> bytes:
        """The facts about the whole."""
        return self._named(_FACTS)

    def lines(self, start: int = 0) -> Iterator[tuple[int, bytes]]:
        """(place, line) of each line from this place on; from the first on, a DataError if they were changed."""
        known = hashlib.sha256()
        for group in self._groups(start, None):
            for place, line in self._group(group):
                if place >= start:
                    known.update(line)
                    yield place, line
        if start == 0 and known.hexdigest() != self._digest:
            raise DataError(self.path, "has other lines than were sealed; restore the file.")

    def at(self, places: Iterable[int]) -> list[bytes]:
        """Return the lines at these places; a DataError for a place where none begins."""
        wanted = list(places)
        found: dict[int, bytes] = {}
        for group in dict.fromkeys(group for place in wanted for group in self._groups(place, place)):
            found |= dict(self._group(group))
        if lost := [place for place in wanted if place not in found]:
            raise DataError(self.path, f"has no record at {lost[0]}; restore the file.")
        return [found[place] for place in wanted]

    def _groups(self, least: int, most: int | None) -> Iterator[int]:
        """Yield the groups that have places from the least to the most."""
        with self._checked():
            groups = range(self._metadata.num_row_groups)
            bounds = [self._metadata.row_group(n).column(0).statistics for n in groups]
        for group, known in enumerate(bounds):
            if known is None or (known.max >= least and (most is None or known.min <= most)):
                yield group

    def _group(self, group: int) -> Iterator[tuple[int, bytes]]:
        _, parquet = _parquet()
        with self._checked(), parquet.ParquetFile(self.path, metadata=self._metadata) as file:
            table = file.read_row_group(group, columns=["place", "line"])
            places, lines = table.column("place").to_pylist(), table.column("line").to_pylist()
        return zip(places, lines, strict=True)

    @contextlib.contextmanager
    def _checked(self) -> Iterator[None]:
        arrow, _ = _parquet()
        try:
            yield
        except (OSError, arrow.ArrowException) as error:
            said = str(error).partition("\n")[0]
            raise DataError(self.path, f"is damaged or can't be read ({said[:100]}); restore the file.") from None


def can_seal() -> bool:
    """Whether Parquet can be written here."""
    try:
        _parquet()
    except MissingPackageError:
        return False
    return True


def _parquet() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise MissingPackageError(
            "what is sealed as Parquet needs the package 'pyarrow': pip install 'genaipa[reports]'"
        ) from None
    return pa, pq
