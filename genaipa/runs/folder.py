"""The run folder: create, open, lock, append, read.

runs/<time>-<name>/
manifest.json         the spec, digests, versions, orders, status (its last good copy is .manifest.json)
answers.jsonl         one record per answer or failure, append-only
conversations.jsonl   how each conversation began, append-only
introductions/        the messages before the first question, once by digest
documents/            the documents' texts, once by digest; of a corpus lines of documents.jsonl, as introductions
prompts/ questions/ annotations/   the files that were in effect
sheets/               for web chats driven by hand: messages to paste, and files for the replies
batches.jsonl         with --batch: what was handed in to a provider, append-only; batches/ has results on their way
"""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
from typing import TYPE_CHECKING, Self, TypeVar

import msgspec
from filelock import Timeout

from genaipa.errors import DataError, NoRoomError, RunError
from genaipa.files.atomic import replacing
from genaipa.files.json_text import DAMAGE, why
from genaipa.files.locks import native_lock, take
from genaipa.files.names import folder_words, free_names
from genaipa.files.stamps import stamp
from genaipa.kinds import kind_of
from genaipa.runs import journal
from genaipa.runs.batches import batches_out
from genaipa.runs.documents import KeptDocuments
from genaipa.runs.integrity import flaw, lacking
from genaipa.runs.introductions import INTRODUCTIONS, KeptIntroductions, decoded
from genaipa.runs.records import (
    FORMAT,
    ConversationRecord,
    Manifest,
    MeasuredHead,
    Record,
    RunStatus,
)
from genaipa.runs.redactions import WITHHELD
from genaipa.runs.status import status_read
from genaipa.runs.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from genaipa.runs.records import RecordHead
    from genaipa.systems.base import Message

ANSWERS = "answers.jsonl"
CONVERSATIONS = "conversations.jsonl"
MANIFEST = "manifest.json"
MANIFEST_COPY = ".manifest.json"
_LASTING = (
    *("format", "name", "created", "spec", "digests", "documents", "orders", "versions", "commit", "dirty", "planned"),
    *("corpus", "shards"),
)
"""Fields of a manifest that stay as they are for as long as the run goes on."""


T = TypeVar("T", bound="RecordHead | Record")


class _OtherFormError(DataError):
    """Another genaipa wrote the manifest, in a form that this one does not read."""


class _Format(msgspec.Struct):
    """The part of a manifest that every genaipa can read."""

    format: int


class RunFolder:
    """One run on disk. Reading needs no lock; `writing()` takes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.introductions = KeptIntroductions(path)
        # A file in place of a lock would stay behind when its process is killed.
        self._lock = native_lock(path / ".lock")

    @classmethod
    def create(cls, runs: Path, manifest: Manifest) -> Self:
        """A new folder for this manifest, named after the time and the run's name."""
        for path in free_names(runs, manifest.name):
            try:
                path.mkdir()
            except FileExistsError:
                continue
            except OSError as error:
                raise RunError(f"{path} can't be made ({error.strerror}).") from None
            run = cls(path)
            run.write_manifest(manifest)
            return run
        raise RunError(f"no free name for a run folder in {runs}.")

    @property
    def name(self) -> str:
        """The folder's name, by which commands call the run."""
        return self.path.name

    @property
    def answers(self) -> Path:
        """The file of answers."""
        return self.path / ANSWERS

    @property
    def conversations_file(self) -> Path:
        """The file of how conversations began."""
        return self.path / CONVERSATIONS

    @property
    def is_earlier(self) -> bool:
        """Whether an earlier genaipa wrote it, in a form that is not read."""
        try:
            return msgspec.json.decode((self.path / MANIFEST).read_bytes(), type=_Format).format < FORMAT
        except (OSError, *DAMAGE):
            return False

    @property
    def is_withheld(self) -> bool:
        """Whether texts were left out of this folder because they may not be passed on."""
        return (self.path / WITHHELD).is_file()

    def is_called(self, words: str) -> bool:
        """Whether this is all of the name that the run was given; False where that can't be read."""
        try:
            return folder_words(self.outline().name) == words
        except DataError:
            return False

    def manifest(self) -> Manifest:
        """The manifest; the errors of `outline`."""
        return self.outline()

    def outline(self) -> Manifest:
        """The manifest as its file has it: of a run of shards, without what there is for each document.

        It is read from its copy where the file is damaged; a DataError if that can't be read either, or if another
        genaipa wrote it in a form that this one does not read.
        """
        try:
            manifest = self._manifest(MANIFEST)
        except _OtherFormError:
            raise
        except DataError as damaged:
            try:
                manifest = self._manifest(MANIFEST_COPY)
            except DataError:
                raise damaged from None
        return manifest

    def _manifest(self, name: str) -> Manifest:
        path = self.path / name
        try:
            content = path.read_bytes()
            written = msgspec.json.decode(content, type=_Format).format
            if written > FORMAT:
                raise _OtherFormError(path, f"was written by a newer genaipa (format {written}); upgrade genaipa.")
            if written < FORMAT:
                raise _OtherFormError(path, f"is of an earlier genaipa (format {written}), and not read; ask again.")
            manifest = msgspec.json.decode(content, type=Manifest)
        except OSError as error:
            raise DataError(path, f"can't be read ({error.strerror}).") from None
        except DAMAGE as error:
            raise DataError(
                path, f"is damaged ({why(error)}); restore it: answers.jsonl beside it still holds the answers."
            ) from None
        if problem := manifest.complaint():
            raise DataError(path, f"is damaged ({problem}); restore it: answers.jsonl beside it holds the answers.")
        return manifest

    @property
    def is_judges(self) -> bool:
        """Whether a judge was asked in it; where its manifest is damaged, that is not known, and it is not."""
        try:
            return kind_of(self.outline().spec.kind).on_answers
        except DataError:
            return False

    def manifest_damage(self) -> str:
        """A sentence about a damaged manifest whose copy is used in its place; empty if it is whole."""
        try:
            self._manifest(MANIFEST)
        except DataError as damaged:
            return f"{damaged.problem.partition(';')[0]}; its copy of {self.outline().updated} is used in its place."
        return ""

    def copy_differs(self) -> str:
        """A sentence about a manifest that plans something else than its copy; empty if they agree, or one is gone."""
        try:
            both = [self._manifest(name) for name in (MANIFEST, MANIFEST_COPY)]
        except DataError:  # told by `manifest_damage`, or of a run that was packed or imported
            return ""
        for name in _LASTING:
            if getattr(both[0], name) != getattr(both[1], name):
                return f"'{name}' is another than in its copy, {MANIFEST_COPY}; restore whichever was changed."
        return ""

    def write_manifest(self, manifest: Manifest) -> None:
        """Replace the manifest in one step, and then its copy: one of them is whole whatever happens to the other."""
        manifest.updated = now()
        size = self.answers.stat().st_size if self.answers.is_file() else 0
        manifest.totals = msgspec.structs.replace(manifest.totals, bytes=size)
        content = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
        for name in (MANIFEST, MANIFEST_COPY):
            self.write_file(name, content)

    def lack(self, manifest: Manifest, kept: int | None = None) -> str:
        """A sentence about answers that are gone from the file since the manifest was written; empty if none are.

        `kept` is how many answers the file has, where whoever asks knows.
        """
        return lacking(self.answers, self.name, manifest, kept)

    def holds(self, name: str) -> bool:
        """Whether a file of that name is in the folder."""
        return (self.path / name).exists()

    def parts(self) -> Sequence[tuple[int, RunFolder]]:
        """(what is added to its places, folder) of each folder that keeps answers of the run: this one alone."""
        return [(0, self)]

    def members(self) -> Iterator[tuple[str, list[Path]]]:
        """(name in the folder, the files that make up its content) of everything in it, by name."""
        for path in sorted(path for path in self.path.rglob("*") if path.is_file()):
            yield path.relative_to(self.path).as_posix(), [path]

    def lines(self, start: int = 0) -> Iterator[tuple[int, bytes]]:
        """(place, line) of each whole line of the answers from this place on; an OSError if they can't be read."""
        return journal.lines(self.answers, start)

    def stamp(self) -> tuple[int, int, int] | None:
        """Numbers that change with each answer; None if there is none."""
        return stamp(self.answers)

    def near(self, document: str) -> RunFolder:  # noqa: ARG002 - a run of shards looks for it
        """The folder with the conversations about a document."""
        return self

    @property
    def kept_documents(self) -> KeptDocuments:
        """The documents of a corpus, as the run has them; none of any others."""
        return KeptDocuments(self.path)

    def write_file(self, name: str, content: bytes) -> None:
        """A file of the run folder, whole or not at all."""
        path = self.path / name
        try:
            with replacing(path, durable=True) as file:
                file.write(content)
        except OSError as error:
            raise NoRoomError.of(path, error) from None

    @contextlib.contextmanager
    def writing(self) -> Iterator[list[str]]:
        """Hold the run for writing; gives the sentences about repairs. A RunBusyError if it is held already."""
        take(self._lock, self.path, self.name)
        try:
            for name in (MANIFEST, MANIFEST_COPY):
                for left in self.path.glob(f".{name}.*.tmp"):
                    left.unlink(missing_ok=True)  # of a process that was killed
            missed = self._missed()
            repairs = [journal.repair(self.path / name) for name in (ANSWERS, CONVERSATIONS, INTRODUCTIONS)]
            yield [*missed, *filter(None, repairs)]
        finally:
            self._lock.release()

    def _missed(self) -> list[str]:
        """Sentences on damage to the run."""
        try:
            manifest = self.manifest()
            said = self.manifest_damage()
        except DataError:  # told by whoever needs it
            return []
        return [*([f"{self.path / MANIFEST}: {said}"] if said else []), *filter(None, [self.lack(manifest)])]

    def is_held(self) -> bool:
        """Whether a process holds the run for writing now; none does where nothing can be written."""
        try:
            with self._lock.acquire(blocking=False):
                return False
        except Timeout:
            return True
        except (OSError, NotImplementedError):
            return False

    def check_held(self) -> None:
        """Raise a RunBusyError if it was given to another process meanwhile, as a shard can be."""

    def has_introduction(self, digest: str) -> bool:
        """Whether messages are stored under a digest."""
        return digest in self.introductions or self.holds(f"introductions/{digest}.json")

    # -- reading --

    def read(self, kind: type[T]) -> Iterator[tuple[int, T]]:
        """(byte offset, record) of everything in `answers.jsonl`, each as it was written.

        A RunError names the line that is no record, or was changed since: results computed from it would be wrong.
        """
        documents = {name: facts.digest for name, facts in self.manifest().documents.items()}
        withheld = self.is_withheld
        for number, (offset, record) in enumerate(self.entries(kind), 1):
            if problem := flaw(record, documents, withheld=withheld):
                raise RunError(
                    f"{self.answers}: line {number} was changed ({problem}); restore the file, "
                    "or delete that line to have it asked again."
                )
            yield offset, record

    def entries(self, kind: type[T]) -> Iterator[tuple[int, T]]:
        """(place, record) of each line of the answers, unchecked; a RunError for a line that is no record."""
        return journal.read(self.answers, kind, summed=True)

    def seen(self) -> tuple[Tally, dict[str, int]]:
        """The counts so far beside the planned ones, and the byte offset of each key's latest record."""
        manifest = self.manifest()
        tally, offsets = Tally(), dict[str, int]()
        tally.plan(manifest.spec, manifest.orders, manifest.planned)
        for offset, record in self.read(MeasuredHead):
            tally.add(record)
            offsets[record.key] = offset
        return tally, offsets

    def state(self) -> tuple[Manifest, Tally]:
        """The manifest, with an outdated status put right, and the run's counts."""
        manifest = self.manifest()
        tally, _ = self.seen()
        manifest.status = self.status(manifest, missing=bool(tally.missing()))
        return manifest, tally

    def status(self, manifest: Manifest, *, missing: bool) -> RunStatus:
        """The run's status now, wherever it is shown; `missing` says that answers are."""
        left = manifest.status == "running" and not self.is_held()
        return status_read(manifest.status, left=left, out=left and any(batches_out(self.path)), missing=missing)

    def progress(self) -> tuple[Manifest, Tally]:
        """The outline, with an outdated status put right, and the run's counts."""
        return self.state()

    def is_complete(self) -> bool:
        """Whether everything was answered, and still is."""
        manifest = self.manifest()
        if manifest.status != "complete" or self.lack(manifest):
            return False
        # What was imported does not say how long the file was.
        return bool(manifest.totals.bytes) or self.state()[0].status == "complete"

    def records_at(self, offsets: list[int]) -> list[Record]:
        """The records at these offsets."""
        return journal.read_at(self.answers, offsets, Record)

    def records(self) -> Iterator[Record]:
        """Every record in the order in which they were made, failures that were replaced later included."""
        for _, record in self.read(Record):
            yield record

    def conversations(self) -> Iterator[ConversationRecord]:
        """The records of how each conversation began."""
        for _, conversation in journal.read(self.path / CONVERSATIONS, ConversationRecord, summed=True):
            yield conversation

    def introduction(self, digest: str) -> list[Message]:
        """The messages stored under a digest."""
        one = digest in self.introductions
        path = self.introductions.path if one else self.path / "introductions" / f"{digest}.json"
        try:
            content = self.introductions.content(digest) if one else path.read_bytes()
            messages = decoded(content)
        except (OSError, *DAMAGE) as error:
            raise DataError(path, f"can't be read ({why(error)}); restore the file.") from None
        if hashlib.sha256(content).hexdigest() != digest:
            raise DataError(path, "was changed since the conversation began; restore the file.")
        return messages


def now() -> str:
    """This moment in UTC, to the millisecond, ISO 8601."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
