"""One archive for whoever wants to check a study: runs, scores, the report with its tables, and a digest of each file.

    pack.json               contents, texts left out and why, versions, digests
    genaipa.toml            so that the unpacked folder is a workspace
    runs/NAME/…             the run folders (`archive.run_files`)
    scores.jsonl            every event of the store about their answers
    waves.jsonl             the random parts of their answers that people were asked to score, if any was drawn
    guidelines.md           the guidelines that the analysts have, if they have any
    desk.yaml               the analysts whose scores are left out, and why, if any are
    report/…                the report, made from these

The same runs, scores and versions give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from genaipa import __version__
from genaipa.archive.run_files import run_files
from genaipa.errors import UsageError
from genaipa.files.atomic import replacing
from genaipa.reports.gather import gather
from genaipa.reports.provenance import versions
from genaipa.reports.report import Report, add_results
from genaipa.runs.permission import Permission, may_be_passed_on, whose_words
from genaipa.runs.selection import select
from genaipa.scoring.guidelines import FILE as GUIDELINES
from genaipa.scoring.people import FILE as DESK
from genaipa.scoring.rubric import load_rubric, rubric_file
from genaipa.scoring.store import existing_store
from genaipa.scoring.wave_file import WAVES, written
from genaipa.scoring.waves import Waves
from genaipa.workspace import MARKER, find_workspace, shipped

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from genaipa.runs.selection import Source
    from genaipa.scoring.events import Event
    from genaipa.workspace import Workspace

FORMAT = 1
PACK = "pack.json"
SCORES = "scores.jsonl"
REPORT = "report"
_STAMP = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP archive can hold: the same in every pack."""


class Absent(msgspec.Struct, frozen=True):
    """A document whose text is not in the pack, and where it can be had."""

    document: str
    digest: str
    source: str
    license: str


class Pack(msgspec.Struct, frozen=True):
    """`pack.json`: `names` are the runs and systems to report on; `files` maps each other file to its SHA-256."""

    format: int
    genaipa: str
    names: tuple[str, ...]
    runs: tuple[str, ...]
    excluded: bool
    rubric: str
    absent: tuple[Absent, ...]
    versions: dict[str, str]
    files: dict[str, str] = {}


@dataclass(frozen=True)
class Packed:
    """A written archive: its runs, how many events of scoring it holds, and the texts left out.

    `unclear` maps a system to the documents about which its replies were left out because nothing says whether they
    are its own words.
    """

    runs: tuple[str, ...]
    events: int
    absent: tuple[Absent, ...]
    unclear: dict[str, list[str]]


def pack(
    workspace: Workspace, sources: Sequence[Source], file: Path, *, excluded: bool = False, whole: bool = False
) -> Packed:
    """Write runs, their scores and their report into the archive `file`, over an earlier one.

    `excluded` counts answers that an audit excludes in the report; `whole` includes texts that may not be passed on.
    A DataError for a damaged run, a UsageError if the file can't be written.
    """
    with tempfile.TemporaryDirectory() as made, existing_store(workspace) as store:
        folder = Path(made)
        study = gather(workspace, sources, store)
        events = study.log
        absent = _lay_out(folder, sources, events, whole=whole)
        _put_rubric(folder, rubric_file(workspace))
        if (guidelines := workspace.home / GUIDELINES).is_file():
            put(folder / GUIDELINES, guidelines.read_bytes())
        _put_waves(folder, study.waves, {name for source in sources for name in source.systems})
        if study.left_out:
            put(folder / DESK, json.dumps({"left_out": study.left_out}).encode() + b"\n")
        # The report is made from the packed files, so that it holds no text that is left out.
        staged, names = find_workspace(folder), _names(sources)
        found = add_results(staged, gather(staged, select(staged, names), store, excluded=excluded))
        Report.of(found).write(folder / REPORT, whole=whole)
        content = Pack(
            format=FORMAT,
            genaipa=__version__,
            names=tuple(names),
            runs=tuple(source.folder.name for source in sources),
            excluded=excluded,
            rubric=load_rubric(workspace).digest,
            absent=tuple(absent),
            versions=versions(),
        )
        _write_zip(file, folder, content)
    return Packed(content.runs, len(events), content.absent, {} if whole else _unclear(sources))


def _lay_out(folder: Path, sources: Sequence[Source], events: Sequence[Event], *, whole: bool) -> list[Absent]:
    """Make an empty folder the workspace that whoever unpacks the study gets; the texts left out of it."""
    absent: dict[str, Absent] = {}
    put(folder / MARKER, b"# An unpacked study: see pack.json.\n")
    for source in sources:
        for name, content in run_files(source, whole=whole):
            put(folder / "runs" / source.folder.name / name, content)
        for name, facts in source.manifest.documents.items():
            if not whole and not may_be_passed_on(facts.license):
                absent[facts.digest] = Absent(name, facts.digest, facts.source, facts.license)
    put(folder / SCORES, b"".join(msgspec.json.encode(event) + b"\n" for event in events))
    return sorted(absent.values(), key=lambda one: one.document)


def _put_rubric(folder: Path, file: Path) -> None:
    """Give the unpacked study the rubric that it was scored by, unless that ships."""
    if not file.is_relative_to(shipped()):
        put(folder / "rubrics" / file.name, file.read_bytes())
        put(folder / MARKER, (folder / MARKER).read_bytes() + f"rubric = {json.dumps(file.stem)}\n".encode())


def _put_waves(folder: Path, waves: Waves, systems: Collection[str]) -> None:
    """Give the unpacked study the waves of its systems."""
    if draws := tuple(draw for draw in waves.draws if draw.system in systems):
        put(folder / WAVES, written(Waves(draws)))


def _write_zip(file: Path, folder: Path, content: Pack) -> None:
    """Write the archive of a folder, with the digest of each of its files in `pack.json`."""
    files = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    digests = {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)}
    listed = msgspec.json.encode(msgspec.structs.replace(content, files=digests))
    try:
        with replacing(file) as made, zipfile.ZipFile(made, "w") as archive:
            archive.writestr(_entry(PACK), msgspec.json.format(listed, indent=1) + b"\n")
            for name in digests:
                archive.writestr(_entry(name), files[name])
    except OSError as error:
        raise UsageError(f"{file} can't be written ({error.strerror}); name another file with -o.") from None


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _STAMP)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def put(path: Path, content: bytes) -> None:
    """Write a file, its folder made if missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _unclear(sources: Sequence[Source]) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for source in sources:
        for system, document in Permission(source.folder, source.manifest).held_back():
            if system in source.systems and not whose_words(source.manifest, system):
                found.setdefault(system, {})[document] = None
    return {system: list(documents) for system, documents in found.items()}


def _names(sources: Sequence[Source]) -> list[str]:
    """Names that select the same again: runs, and systems of runs that were selected in part."""
    found: dict[str, None] = {}
    for source in sources:
        whole = set(source.systems) == set(source.manifest.spec.systems)
        found.update(dict.fromkeys([source.folder.name] if whole else source.systems))
    return list(found)
