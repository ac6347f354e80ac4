"""One archive for whoever wants to check a study: runs, scores, the report with its tables, and a digest of each file.

    pack.json               what is in it, what was left out and why, versions, digests
    genaipa.toml            so that the unpacked folder is a workspace
    runs/NAME/…             the run folders
    scores.jsonl            every event of the store about their answers
    report/…                the report, made from these

Texts that may not be passed on are left out: documents whose license does not say that they may be, what quotes them
(introductions, sheets, replies of systems that do nothing else, or may do so), annotated answers and questions of such
a license, and the replies of a published study, under whatever name its system was asked (`runs.permission`). What a
model said, and what an analyst noted, is theirs and goes along.
What the tables need to know of them goes along as facts (`runs.withheld`), so that the tables come out the same.
The same runs, scores and versions give the same bytes.
"""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec
import yaml

from genaipa.errors import DataError, UsageError
from genaipa.files.atomic import replacing
from genaipa.files.json_text import DAMAGE, why
from genaipa.files.strict_yaml import read_yaml
from genaipa.policies.statistics import measure
from genaipa.questions.annotations import read_annotations
from genaipa.questions.sets import QuestionSet
from genaipa.runs import journal
from genaipa.runs.folder import ANSWERS, CONVERSATIONS, MANIFEST
from genaipa.runs.integrity import damage
from genaipa.runs.permission import Permission, free_questions, may_be_passed_on
from genaipa.runs.records import ConversationRecord
from genaipa.runs.redactions import LEFT_OUT, WITHHELD, Withheld
from genaipa.scoring.evidence.abstention import find_silence
from genaipa.workspace import MARKER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.runs.records import Record
    from genaipa.runs.selection import Source
    from genaipa.scoring.events import Event
    from genaipa.scoring.store import Store

FORMAT = 1
PACK = "pack.json"
SCORES = "scores.jsonl"
REPORT = "report"
_STAMP = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP archive can hold: the same in every pack."""
_FOLDERS = ("runs", REPORT)
_LARGEST = 4 * 2**30
"""Bytes that a pack may come to: more is no study."""
_RESERVED = {"con", "prn", "aux", "nul", *(f"{name}{number}" for name in ("com", "lpt") for number in range(1, 10))}
"""Names that Windows takes for devices."""


class Absent(msgspec.Struct, frozen=True):
    """A document whose text is not in the pack: what it was, and where it can be had."""

    document: str
    digest: str
    source: str
    license: str


class Pack(msgspec.Struct, frozen=True):
    """`pack.json`. `names` is what the report is asked for; `files` is each other file's SHA-256."""

    format: int
    genaipa: str
    names: tuple[str, ...]
    runs: tuple[str, ...]
    excluded: bool
    rubric: str
    absent: tuple[Absent, ...]
    versions: dict[str, str]
    files: dict[str, str] = {}


def run_files(source: Source, *, whole: bool) -> Iterator[tuple[str, bytes]]:
    """(path in the run folder, content) of everything of a run that goes into a pack, in the order of the paths.

    `whole` leaves nothing out: for a colleague who has the texts anyway.
    """
    for found in damage(source.folder):
        raise DataError(found.path, found.problem, found.where)
    folder = source.folder.path
    keep = _Keep(source, whole=whole)
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        if not any(part.startswith(".") for part in PurePosixPath(name).parts) and keep.takes(name):
            yield name, keep.content(name, path)
    if keep.anything_withheld:
        yield WITHHELD, msgspec.json.format(msgspec.json.encode(keep.facts()), indent=1) + b"\n"


class _Keep:
    """What of one run may be passed on."""

    def __init__(self, source: Source, *, whole: bool) -> None:
        self._source, self._whole = source, whole
        folder, documents = source.folder.path, source.manifest.documents
        permission = Permission(source.folder, source.manifest)
        self._documents = set() if whole else permission.documents
        self._asked = set() if whole else permission.unasked
        self._replies = set() if whole else set(permission.held_back())
        self._texts = {f"documents/{documents[name].digest}.txt" for name in self._documents}
        begun = [conversation for _, conversation in journal.read(folder / CONVERSATIONS, ConversationRecord)]
        self._introductions = {
            f"introductions/{c.introduction}.json"
            for c in begun
            if c.document in self._documents or (c.system, c.document) in self._replies
        }

    @cached_property
    def _answers(self) -> bytes:
        kept = (record for record in self._source.folder.records() if record.system in self._source.systems)
        return b"".join(msgspec.json.encode(self._record(record)) + b"\n" for record in kept)

    def _manifest(self) -> bytes:
        """The manifest, with the length of the file of answers as it is in the pack."""
        manifest = self._source.folder.manifest()
        manifest.totals = msgspec.structs.replace(manifest.totals, bytes=len(self._answers))
        return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"

    @property
    def anything_withheld(self) -> bool:
        """Whether anything of the run stays behind."""
        return bool(self._documents or self._asked or self._replies)

    def takes(self, name: str) -> bool:
        """Whether a file goes along at all."""
        sheet = name.startswith("sheets/") and (self._documents or self._asked)
        return not sheet and name not in self._texts and name not in self._introductions

    def content(self, name: str, path: Path) -> bytes:
        """A file without what may not be passed on, and without the answers of systems that were not meant."""
        if name == ANSWERS:
            return self._answers
        if name == MANIFEST:
            return self._manifest()
        if not self._whole and name.startswith("annotations/"):
            return _annotations(path)
        if not self._whole and name.startswith("questions/"):
            return _questions(path)
        return path.read_bytes()

    def _record(self, record: Record) -> Record:
        """A record without words that are not the system's own, and without a reply that consists of such."""
        step = record.kind != "answer" and record.document in self._documents
        if step or record.document in self._asked:
            record = msgspec.structs.replace(record, asked=LEFT_OUT)
        return msgspec.structs.replace(record, reply=None) if self._is_theirs(record) else record

    def _is_theirs(self, record: Record) -> bool:
        """Whether the reply is somebody else's text: a study's, or sentences of the document put together."""
        return record.reply is not None and (record.system, record.document) in self._replies

    def facts(self) -> Withheld:
        """What the tables need to know of the texts that are left out."""
        folder, documents = self._source.folder.path, self._source.manifest.documents
        return Withheld(
            statistics={
                name: measure((folder / "documents" / f"{documents[name].digest}.txt").read_text(encoding="utf-8"))
                for name in sorted(self._documents)
            },
            claims_silence=tuple(
                record.key
                for record in self._source.folder.records()
                if self._is_theirs(record) and find_silence(record.reply or "", None).claimed
            ),
        )


def _annotations(path: Path) -> bytes:
    """Annotated answers, without their words if these may not be passed on: which are silent, and their sections."""
    annotations = read_annotations(path)
    if may_be_passed_on(annotations.license):
        return path.read_bytes()
    answers = {
        question: msgspec.structs.replace(answer, answer=LEFT_OUT, note="")
        for question, answer in annotations.answers.items()
    }
    return _yaml(msgspec.structs.replace(annotations, answers=answers))


def _questions(path: Path) -> bytes:
    """A question set, without its words if these may not be passed on: ids, categories and origins."""
    if free_questions(path):
        return path.read_bytes()
    questions = read_yaml(path, QuestionSet)
    bare = tuple(
        msgspec.structs.replace(question, text=LEFT_OUT, paraphrases=(LEFT_OUT,) * len(question.paraphrases))
        for question in questions.questions
    )
    return _yaml(msgspec.structs.replace(questions, questions=bare))


def _yaml(record: msgspec.Struct) -> bytes:
    return yaml.safe_dump(msgspec.to_builtins(record), allow_unicode=True, sort_keys=False, width=120).encode()


def stage(folder: Path, sources: Sequence[Source], events: Sequence[Event], *, whole: bool = False) -> list[Absent]:
    """Lay out in an empty folder what goes into a pack, but for the report; what of the runs' texts is left out.

    The folder is a workspace then: a report about it is the one that whoever unpacks it can make.
    """
    absent: dict[str, Absent] = {}
    _put(folder / MARKER, b"# An unpacked study: see pack.json.\n")
    for source in sources:
        for name, content in run_files(source, whole=whole):
            _put(folder / "runs" / source.folder.name / name, content)
        for name, facts in source.manifest.documents.items():
            if not whole and not may_be_passed_on(facts.license):
                absent[facts.digest] = Absent(name, facts.digest, facts.source, facts.license)
    _put(folder / SCORES, b"".join(msgspec.json.encode(event) + b"\n" for event in events))
    return sorted(absent.values(), key=lambda one: one.document)


def seal(file: Path, folder: Path, pack: Pack) -> Pack:
    """Write the archive of a staged folder; the pack, with the digest of each file filled in."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    digests = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in sorted(files.items())}
    pack = msgspec.structs.replace(pack, files=digests)
    try:
        with replacing(file) as written, zipfile.ZipFile(written, "w") as archive:
            archive.writestr(_entry(PACK), msgspec.json.format(msgspec.json.encode(pack), indent=1) + b"\n")
            for name, path in sorted(files.items()):
                archive.writestr(_entry(name), path.read_bytes())
    except OSError as error:
        raise UsageError(f"{file} can't be written ({error.strerror}); name another file with -o.") from None
    return pack


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _STAMP)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def _put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _refuse_device(file: Path) -> None:
    """Raise a DataError for a device, which may have no end: an archive is read from its end."""
    if file.exists() and not file.is_file():
        raise DataError(file, "is not a file.")


def read_pack(file: Path) -> tuple[Pack, dict[str, bytes]]:
    """What stands in a pack, each file checked against its digest; a DataError for anything else."""
    _refuse_device(file)
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
    if pack.format > FORMAT:
        raise DataError(file, f"was written by a newer genaipa (format {pack.format}); upgrade genaipa.")
    for name in sorted({*contents, *pack.files}):
        if not _is_ours(name):
            raise DataError(file, "is no file that a pack holds; it was not made by genaipa.", name)
        if name not in pack.files or name not in contents:
            raise DataError(file, "is in the pack and not in its list, or the other way round; ask for it again.", name)
        if hashlib.sha256(contents[name]).hexdigest() != pack.files[name]:
            raise DataError(file, "is not as it was packed; ask for the pack again.", name)
    return pack, contents


def _is_ours(name: str) -> bool:
    """Whether a pack may hold a file of that name: in its own folders, nothing hidden, nor of a device's name."""
    parts = name.split("/")
    placed = name in (MARKER, SCORES) or (len(parts) > 1 and parts[0] in _FOLDERS)
    plain = all(part and part[-1] not in " ." and part[0] != "." for part in parts)
    device = any(part.partition(".")[0].casefold() in _RESERVED for part in parts)
    return placed and plain and not device and all(c.isprintable() and c not in '\\:*?"<>|' for c in name)


def unpack(file: Path, folder: Path) -> Pack:
    """Make a workspace of a pack: its runs and its report; `bring_scores` then fills its store.

    The folder must be new or empty (a UsageError); nothing is written if the pack is not whole.
    """
    pack, contents = read_pack(file)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists and is not an empty folder; name a new one.")
    try:
        for name, content in contents.items():
            _put(folder / name, content)
    except OSError as error:
        raise UsageError(f"{error.filename or folder} can't be written ({error.strerror}).") from None
    return pack


def bring_scores(folder: Path, store: Store) -> int:
    """Put the scores of an unpacked folder into its store; how many events they are."""
    from genaipa.scoring.exchange.importing import import_scores
    from genaipa.scoring.people import People

    if not (folder / SCORES).stat().st_size:
        return 0  # of a study that nobody has scored yet
    brought = import_scores(store, [folder / SCORES], (), People(), unknown_answers=True)
    if brought.problems:
        raise DataError(folder / SCORES, brought.problems[0])
    return brought.added + brought.known


def differing(made: Path, packed: Path) -> tuple[list[str], int]:
    """The tables that are not the same, byte for byte, in two reports; and how many were compared."""
    tables = {
        path.relative_to(folder).as_posix() for folder in (made, packed) for path in (folder / "tables").glob("*")
    }
    different = [
        name
        for name in sorted(tables)
        if not (made / name).is_file()
        or not (packed / name).is_file()
        or (made / name).read_bytes() != (packed / name).read_bytes()
    ]
    return different, len(tables)
