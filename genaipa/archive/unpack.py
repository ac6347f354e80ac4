"""A packed study checked, turned into a workspace again, and its tables compared with those it came with."""

from __future__ import annotations

import contextlib
import filecmp
import hashlib
import shutil
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from genaipa.archive.pack import FORMAT, PACK, REPORT, SCORES, Pack, put
from genaipa.errors import DataError, GenaipaError, OtherFormatError, UsageError
from genaipa.files.text import DAMAGE, why
from genaipa.reports.gather import gather
from genaipa.reports.report import Report
from genaipa.reports.results import add_results
from genaipa.runs.selection import select
from genaipa.scoring.exchange.importing import import_from
from genaipa.scoring.people import FILE as DESK
from genaipa.scoring.people import People
from genaipa.scoring.rubric import GUIDELINES, load_rubric
from genaipa.scoring.store import Store
from genaipa.scoring.waves import WAVES
from genaipa.workspace import MARKER, find_workspace

if TYPE_CHECKING:
    from pathlib import Path

_FOLDERS = ("runs", REPORT, "rubrics")
_LARGEST = 4 * 2**30
"""Bytes that a pack may come to: more is no study."""
_RESERVED = {"con", "prn", "aux", "nul", *(f"{name}{number}" for name in ("com", "lpt") for number in range(1, 10))}
"""Names that Windows takes for devices."""


@dataclass(frozen=True)
class Unpacked:
    """An unpacked study: its contents, the number of its events, and the report made again here.

    Of `tables` files of tables that were compared byte for byte, `different` are not as packed.
    """

    pack: Pack
    events: int
    page: Path
    tables: int
    different: list[str]


def unpack(file: Path, folder: Path) -> Unpacked:
    """Make a workspace of a pack, its scores in a store, and make its report again in `reports/again/`.

    The folder must be new or empty (a UsageError); nothing is written for a damaged pack (a DataError).
    """
    pack, contents = read_pack(file)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists and is not an empty folder; name a new one.")
    try:
        for name, content in contents.items():
            put(folder / name, content)
    except OSError as error:
        raise UsageError(f"{error.filename or folder} can't be written ({error.strerror}).") from None
    try:
        here = find_workspace(folder)
        with contextlib.closing(Store.open(f"sqlite:///{here.home / 'scores.db'}", load_rubric(here))) as store:
            events = _bring_scores(folder, store)
            found = add_results(here, gather(here, select(here, pack.names), store, excluded=pack.excluded))
        page = Report.of(found).write(here.home / "reports" / "again", formats=("svg",))
    except GenaipaError:
        # What its own rubric or scores refuse is damaged too.
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        raise
    made, packed = page.parent / "tables", folder / REPORT / "tables"
    tables = sorted({path.name for tables in (made, packed) for path in tables.glob("*")})
    _, mismatched, missing = filecmp.cmpfiles(made, packed, tables, shallow=False)
    different = [f"tables/{name}" for name in sorted(mismatched + missing)]
    return Unpacked(pack, events, page, len(tables), different)


def read_pack(file: Path) -> tuple[Pack, dict[str, bytes]]:
    """`pack.json` and the other files of a pack, each checked against its digest; a DataError for anything else."""
    if file.exists() and not file.is_file():  # a device may have no end, from which an archive is read
        raise DataError(file, "is not a file.")
    try:
        with zipfile.ZipFile(file) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > _LARGEST:
                raise DataError(file, f"comes to more than {_LARGEST // 2**30} GiB, which no study does.")
            contents = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
        pack = msgspec.json.decode(contents.pop(PACK), type=Pack)
    except OSError as error:
        raise DataError(file, f"can't be read ({error.strerror or error}).") from None
    except KeyError:
        raise DataError(file, f"holds no {PACK}, so it is no pack of genaipa.") from None
    except (zipfile.BadZipFile, zlib.error, *DAMAGE, EOFError, RuntimeError, ValueError) as error:
        raise DataError(file, f"is not a pack, or damaged ({why(error)}).") from None
    _check(file, pack, contents)
    return pack, contents


def _check(file: Path, pack: Pack, contents: dict[str, bytes]) -> None:
    """A DataError unless the files are the listed ones, with safe names."""
    if pack.format > FORMAT:
        raise OtherFormatError(file, pack.format, FORMAT)
    for name in sorted({*contents, *pack.files}):
        if not _is_ours(name):
            raise DataError(file, "is no file that a pack holds; it was not made by genaipa.", name)
        if name not in pack.files or name not in contents:
            raise DataError(file, "is in the pack and not in its list, or the other way round; ask for it again.", name)
        if hashlib.sha256(contents[name]).hexdigest() != pack.files[name]:
            raise DataError(file, "is not as it was packed; ask for the pack again.", name)


def _is_ours(name: str) -> bool:
    """Whether a pack may hold a file of that name: in its own folders, nothing hidden, nor of a device's name."""
    parts = name.split("/")
    placed = name in (MARKER, SCORES, WAVES, GUIDELINES, DESK) or (len(parts) > 1 and parts[0] in _FOLDERS)
    plain = all(part and part[-1] not in " ." and part[0] != "." for part in parts)
    device = any(part.partition(".")[0].casefold() in _RESERVED for part in parts)
    return placed and plain and not device and all(c.isprintable() and c not in '\\:*?"<>|' for c in name)


def _bring_scores(folder: Path, store: Store) -> int:
    """Put the scores of an unpacked folder into its store; the number of events."""
    if not (folder / SCORES).stat().st_size:
        return 0  # of a study that nobody has scored yet
    brought = import_from(store, [folder / SCORES], (), People(), unknown_answers=True)
    if brought.problems:
        raise DataError(folder / SCORES, brought.problems[0])
    return brought.added + brought.known
