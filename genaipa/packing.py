"""One archive for whoever wants to check a study: runs, scores, the report with its tables, and a digest of each file.

    pack.json               what is in it, what was left out and why, versions, digests
    genaipa.toml            so that the unpacked folder is a workspace
    runs/NAME/…             the run folders
    scores.jsonl            every event of the store about their answers
    report/…                the report, made from these

Texts that may not be passed on are left out: documents whose license does not say that they may be, what quotes them
whole (introductions, sheets), annotated answers and questions of such a license, and the replies of a published study.
What the tables need to know of them goes along as facts (`runs.withheld`), so that the tables come out the same.
The same runs, scores and versions give the same bytes.
"""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec
import yaml

from genaipa.annotations import Annotations
from genaipa.datafiles import read_yaml
from genaipa.errors import DataError, UsageError
from genaipa.policies.statistics import measure
from genaipa.questions import QuestionSet
from genaipa.runs import journal
from genaipa.runs.folder import ANSWERS, CONVERSATIONS
from genaipa.runs.records import ConversationRecord, Record
from genaipa.runs.withheld import WITHHELD, Withheld
from genaipa.scoring.evidence.silence import find_silence
from genaipa.workspace import MARKER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.reports.gather import Source
    from genaipa.scoring.events import Event
    from genaipa.scoring.store import Store

FORMAT = 1
PACK = "pack.json"
SCORES = "scores.jsonl"
REPORT = "report"
_STAMP = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP archive can hold: the same in every pack."""
_LEFT_OUT = "(left out of the pack; see its source)"
_RECORDED = "published/"
"""Systems of this provider repeat what a study recorded: their replies are the study's."""


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


def may_be_passed_on(license: str) -> bool:  # noqa: A002 - what it is called in every file
    """Whether a license, as it is stated beside a text, lets the text be passed on; silence does not."""
    return bool(license.strip()) and "not redistributable" not in license and "not stated" not in license


def run_files(source: Source, *, whole: bool) -> Iterator[tuple[str, bytes]]:
    """(path in the run folder, content) of everything of a run that goes into a pack, in the order of the paths.

    `whole` leaves nothing out: for a colleague who has the texts anyway.
    """
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
        self._source = source
        documents = source.manifest.documents
        self._documents = {
            name for name, facts in documents.items() if not whole and not may_be_passed_on(facts.license)
        }
        digests = {documents[name].digest for name in self._documents}
        self._texts = {f"documents/{digest}.txt" for digest in digests}
        begun = journal.read(source.folder.path / CONVERSATIONS, ConversationRecord)
        self._introductions = {
            f"introductions/{c.introduction}.json" for _, c in begun if c.document in self._documents
        }
        self._recorded = not whole and any(name.startswith(_RECORDED) for name in source.manifest.spec.systems)
        self._whole = whole

    @property
    def anything_withheld(self) -> bool:
        return bool(self._documents or self._recorded)

    def takes(self, name: str) -> bool:
        """Whether a file goes along at all."""
        sheet = name.startswith("sheets/") and bool(self._documents)
        return not sheet and name not in self._texts and name not in self._introductions

    def content(self, name: str, path: Path) -> bytes:
        """A file without what may not be passed on."""
        if self._whole:
            return path.read_bytes()
        if name.startswith("annotations/"):
            return _annotations(path)
        if name.startswith("questions/"):
            return _questions(path)
        if name == ANSWERS and self._recorded:
            records = (record for _, record in journal.read(path, Record))
            return b"".join(msgspec.json.encode(_without_texts(record)) + b"\n" for record in records)
        return path.read_bytes()

    def facts(self) -> Withheld:
        """What the tables need to know of the texts that are left out."""
        folder = self._source.folder.path
        claims = []
        if self._recorded:
            for _, record in journal.read(folder / ANSWERS, Record):
                if record.reply is not None and find_silence(record.reply, None).claimed:
                    claims.append(record.key)
        documents = self._source.manifest.documents
        return Withheld(
            statistics={
                name: measure((folder / "documents" / f"{documents[name].digest}.txt").read_text(encoding="utf-8"))
                for name in sorted(self._documents)
            },
            claims_silence=tuple(claims),
        )


def _without_texts(record: Record) -> Record:
    return msgspec.structs.replace(record, asked=_LEFT_OUT, reply=None)


def _annotations(path: Path) -> bytes:
    """Annotated answers, without their words if these may not be passed on: which are silent, and their sections."""
    annotations = read_yaml(path, Annotations)
    if may_be_passed_on(annotations.license):
        return path.read_bytes()
    answers = {
        question: msgspec.structs.replace(answer, answer=_LEFT_OUT, note="")
        for question, answer in annotations.answers.items()
    }
    return _yaml(msgspec.structs.replace(annotations, answers=answers))


def _questions(path: Path) -> bytes:
    """A question set, without its words if these may not be passed on: ids, categories and origins."""
    questions = read_yaml(path, QuestionSet)
    if may_be_passed_on(questions.license):
        return path.read_bytes()
    bare = tuple(
        msgspec.structs.replace(question, text=_LEFT_OUT, paraphrases=(_LEFT_OUT,) * len(question.paraphrases))
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
    part = file.with_name(f".{file.name}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(part, "w") as archive:
            archive.writestr(_entry(PACK), msgspec.json.format(msgspec.json.encode(pack), indent=1) + b"\n")
            for name, path in sorted(files.items()):
                archive.writestr(_entry(name), path.read_bytes())
        part.replace(file)
    except OSError as error:
        part.unlink(missing_ok=True)
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


def read_pack(file: Path) -> tuple[Pack, dict[str, bytes]]:
    """What stands in a pack, each file checked against its digest; a DataError for anything else."""
    try:
        with zipfile.ZipFile(file) as archive:
            contents = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
        pack = msgspec.json.decode(contents.pop(PACK), type=Pack)
    except OSError as error:
        raise DataError(file, f"can't be read ({error.strerror}).") from None
    except KeyError:
        raise DataError(file, f"holds no {PACK}, so it is no pack of genaipa.") from None
    except (zipfile.BadZipFile, msgspec.DecodeError, ValueError, NotImplementedError) as error:
        raise DataError(file, f"is not a pack, or damaged ({error}).") from None
    if pack.format > FORMAT:
        raise DataError(file, f"was written by a newer genaipa (format {pack.format}); upgrade genaipa.")
    for name in sorted({*contents, *pack.files}):
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts or "\\" in name or ":" in name:
            raise DataError(file, "names a file outside of itself; it was not made by genaipa.", name)
        if name not in pack.files or name not in contents:
            raise DataError(file, "is in the pack and not in its list, or the other way round; ask for it again.", name)
        if hashlib.sha256(contents[name]).hexdigest() != pack.files[name]:
            raise DataError(file, "is not as it was packed; ask for the pack again.", name)
    return pack, contents


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
