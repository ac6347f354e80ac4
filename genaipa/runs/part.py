"""One part of a run: a folder with its own lock and answers. A run in one folder is one part, each shard is another.

A shard that is complete is sealed: `answers.parquet` has its answers in place of `answers.jsonl`, each line as it was.
Whoever is first to seal it is the only one, and nothing that is written to it afterwards counts.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
import uuid
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeVar

import msgspec
from filelock import Timeout

from genaipa.errors import DataError, GenaipaError, NoRoomError, RunBusyError, RunError
from genaipa.files.locks import native_lock, take
from genaipa.files.sealed import Sealed, can_seal, seal, take_away_unsealed
from genaipa.files.stamps import Stamp, stamp
from genaipa.files.text import DAMAGE, why
from genaipa.runs import journal
from genaipa.runs.batches import batches_out
from genaipa.runs.documents import INTRODUCTIONS, KeptIntroductions, decoded, stored_introduction
from genaipa.runs.integrity import flaw, lacking
from genaipa.runs.journal import Journal
from genaipa.runs.manifest import ANSWERS, CONVERSATIONS, MANIFEST, MANIFEST_COPY, SEALED, ManifestFolder
from genaipa.runs.records import DOCUMENTS, ConversationRecord, Manifest, Record, RunStatus, SystemFacts, label_of
from genaipa.runs.status import Count, Counted, Tally, counted, status_read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from genaipa.runs.manifest import ManifestHead
    from genaipa.runs.records import RecordHead
    from genaipa.systems.base import Message


T = TypeVar("T")
R = TypeVar("R", bound="RecordHead")

_HOLDER = ".holder"
_LOOK_EVERY = 0.1
"""Seconds between two looks at who holds a shard: a look at each record is a fifth of what writing it costs."""
_COLUMNS = ("key", "kind", "status", "system", "document", "question")
"""Columns of a seal beside the lines."""


class _Line(msgspec.Struct):
    """As much of a record as a seal has in columns."""

    key: str
    kind: str
    status: str
    system: str
    coordinates: dict[str, str]


class _Systems(msgspec.Struct):
    """As much of a manifest."""

    systems: dict[str, SystemFacts]


class _Row(msgspec.Struct):
    """The counts of one system and initialization, in a seal."""

    system: str
    initialization: str
    count: Count


class Part(ManifestFolder):
    """One folder of a run's answers. Reading needs no lock; `writing()` takes it."""

    _token = ""
    _look_again = 0.0

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.introductions = KeptIntroductions(path)
        # A file in place of a lock would stay behind when its process is killed.
        self.lock = native_lock(path / ".lock")

    @property
    def is_begun(self) -> bool:
        """Whether anything of it was asked."""
        return (self.path / MANIFEST).is_file()

    @property
    def _unsealed(self) -> Path:
        return self.path / ANSWERS

    @cached_property
    def _seal(self) -> Sealed:
        return Sealed(self.path / SEALED)

    # -- writing --

    def make(self) -> None:
        """Make the folder, if it is not there."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise NoRoomError.of(self.path, error, "made") from None

    @contextlib.contextmanager
    def writing(self) -> Iterator[list[str]]:
        """Hold it for writing; gives the sentences about repairs. A RunBusyError if it is held already.

        Whoever held a shard before, and lost it, writes no more.
        """
        take(self.lock, self.path, self.name)
        try:
            for name in (MANIFEST, MANIFEST_COPY):
                for left in self.path.glob(f".{name}.*.tmp"):
                    left.unlink(missing_ok=True)  # of a process that was killed
            repairs = self._damage()
            repairs += [journal.repair(self.path / name) for name in (ANSWERS, CONVERSATIONS, INTRODUCTIONS)]
            if self.whole and not self._token:
                self._token = uuid.uuid4().hex
                self.write_file(_HOLDER, self._token.encode())
            yield list(filter(None, repairs))
        finally:
            self.lock.release()

    def _damage(self) -> list[str]:
        """Sentences about what is wrong with the manifest, and gone since it was written; empty ones for nothing."""
        # By itself, since `writing` would hold a manifest, large for a large run, for as long as the run takes.
        try:
            damage, lack = self.manifest_damage(), self.lack(self.outline())
        except DataError:  # told by whoever needs the manifest
            return []
        return [f"{self.path / MANIFEST}: {damage}" if damage else "", lack]

    def is_held(self) -> bool:
        """Whether a process holds it for writing now; none does where nothing can be written."""
        try:
            with self.lock.acquire(blocking=False):
                return False
        except Timeout:
            return True
        except (OSError, NotImplementedError):
            return False

    def check_held(self) -> None:
        """Raise a RunBusyError if a shard was given to another process meanwhile; looks now and then."""
        if self.whole is None or time.monotonic() < self._look_again:
            return
        try:
            holder = (self.path / _HOLDER).read_text(encoding="utf-8")
        except OSError:
            holder = ""
        if holder != self._token:
            raise RunBusyError(f"{self.name} was given to another process, which goes on with it.")
        self._look_again = time.monotonic() + _LOOK_EVERY

    def seal(self) -> None:
        """Seal the answers, unless it was done; the shard is complete and held for writing.

        Without a package for Parquet they stay lines. A RunError where there is no room.
        """
        sealed = self.path / SEALED
        if not self.is_sealed and can_seal():
            rows = [_Row(*place, count) for place, count in self.seen()[0].rows.items()]
            try:
                seal(sealed, self._lines_to_seal(), _COLUMNS, msgspec.json.encode(rows))
            except OSError as error:
                raise NoRoomError.of(sealed, error, kept="the answers are kept as they are") from None
        take_away_unsealed(sealed)
        if self.is_sealed and Sealed(sealed).rows:
            self._unsealed.unlink(missing_ok=True)

    def _lines_to_seal(self) -> Iterator[tuple[int, bytes, dict[str, str]]]:
        """The lines of the answers, but for a second answer to a question: two may have written by turns."""
        kept, decode = set[str](), msgspec.json.Decoder(_Line).decode
        for place, line in journal.lines(self._unsealed):
            head = decode(line)
            if head.key not in kept:
                if head.status != "failed":
                    kept.add(head.key)
                known = {name: getattr(head, name) for name in _COLUMNS[:4]}
                about = head.coordinates.get("document", ""), label_of(head.coordinates)
                yield place, line, known | dict(zip(_COLUMNS[4:], about, strict=True))

    # -- reading --

    def stamp(self) -> Stamp | None:
        """Numbers that change with each answer; None if there is none."""
        return stamp(self.answers)

    def lines(self, start: int = 0) -> Iterator[tuple[int, bytes]]:
        """(place, line) of each whole line of the answers from this place on; an OSError if they can't be read."""
        return self._seal.lines(start) if self.is_sealed else journal.lines(self._unsealed, start)

    def entries(self, kind: type[T]) -> Iterator[tuple[int, T]]:
        """(place, record) of each line of the answers; a RunError for a line that has not the sum of its content."""
        if self.is_sealed:
            return journal.records(self.answers, self._seal.lines(), kind)
        return journal.read(self._unsealed, kind, summed=True)

    def read(self, kind: type[R]) -> Iterator[tuple[int, R]]:
        """(place, record) of all answers, each as it was written.

        A RunError names the line that is no record, or was changed since: results computed from it would be wrong.
        """
        documents = {name: facts.digest for name, facts in self.outline().documents.items()}
        withheld = self.is_withheld
        for number, (offset, record) in enumerate(self.entries(kind), 1):
            if problem := flaw(record, documents, withheld=withheld):
                raise RunError(
                    f"{self.answers}: line {number} was changed ({problem}); restore the file, "
                    "or delete that line to have it asked again."
                )
            yield offset, record

    def records_at(self, places: list[int]) -> list[Record]:
        """The records at these places."""
        if self.is_sealed:
            return [msgspec.json.decode(line, type=Record) for line in self._seal.at(places)]
        return journal.read_at(self._unsealed, places, Record)

    def seen(self) -> tuple[Tally, dict[str, int]]:
        """The counts so far beside the planned ones, and the place of each key's latest record."""
        return counted(self.outline(), self.entries(Counted))

    def state(self) -> tuple[Manifest, Tally]:
        """The manifest, with an outdated status put right, and the counts; a sealed shard's know no keys."""
        manifest = self.outline()
        if self.is_sealed:
            try:
                rows = msgspec.json.decode(self._seal.facts, type=list[_Row])
            except DAMAGE as error:
                raise DataError(self.path / SEALED, f"is damaged ({why(error)}); restore the file.") from None
            manifest.status = "complete"
            return manifest, Tally({(row.system, row.initialization): row.count for row in rows})
        tally, _ = counted(manifest, self.entries(Counted))
        manifest.status = self.status(manifest, missing=bool(tally.missing()))
        return manifest, tally

    def status(self, manifest: Manifest, *, missing: bool) -> RunStatus:
        """The status now, wherever it is shown; `missing` says that answers are."""
        left = manifest.status == "running" and not self.is_held()
        return status_read(manifest.status, left=left, out=left and any(batches_out(self.path)), missing=missing)

    def lack(self, manifest: Manifest | ManifestHead, kept: int | None = None) -> str:
        """A sentence about answers that are gone since the manifest was written; empty if none are.

        `kept` is how many answers there are, where whoever asks knows. None can go of a sealed shard.
        """
        return "" if self.is_sealed else lacking(self._unsealed, self.name, manifest.totals, kept)

    def is_answered(self) -> bool:
        """Whether everything was answered, and still is; a DataError for a seal that is damaged."""
        if self.is_sealed:
            return bool(self._seal.rows)
        if self.whole and not self.is_begun:
            return False
        manifest = self.outline()
        if manifest.status != "complete" or self.lack(manifest):
            return False
        # What was imported does not say how long the file was.
        return bool(manifest.totals.bytes) or self.state()[0].status == "complete"

    def is_complete(self) -> bool:
        """Whether nothing is left to do: a process may have been killed just before it sealed what was answered."""
        done = self.is_sealed and not self._unsealed.exists()
        return self.is_answered() and (done or self.whole is None or not can_seal())

    def systems(self) -> dict[str, SystemFacts]:
        """The facts about the systems that were asked."""
        try:
            return msgspec.json.decode((self.path / MANIFEST).read_bytes(), type=_Systems).systems
        except (OSError, *DAMAGE):  # told by whoever reads all of it
            return {}

    @property
    def cost(self) -> float:
        """US dollars that it cost so far, by its answers: after a kill the manifest knows nothing of them."""
        if not self.is_begun:
            return 0.0
        try:
            return self.state()[1].cost
        except GenaipaError:  # told by whoever carries it out
            with contextlib.suppress(GenaipaError):
                return self.outline().totals.cost or 0.0
        return 0.0

    def conversations(self) -> Iterator[ConversationRecord]:
        """The records of how each conversation began."""
        for _, conversation in journal.read(self.conversations_file, ConversationRecord, summed=True):
            yield conversation

    def has_introduction(self, digest: str) -> bool:
        """Whether messages are stored under a digest."""
        return digest in self.introductions or self.holds(f"introductions/{digest}.json")

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


class PartWriter:
    """The journals of a part that is held by its `writing()`. Use it from one event loop, and close it."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._begun = {one.id: one.introduction for one in part.conversations()}
        self._introduction = lru_cache(maxsize=64)(part.introduction)
        self._answers = Journal(part.path / ANSWERS)
        self._conversations = Journal(part.path / CONVERSATIONS)

    async def close(self) -> None:
        """Flush and close the files."""
        await self._answers.close()
        await self._conversations.close()

    async def append(self, record: Record) -> int:
        """Keep a record, and return its byte offset; it is on disk by then. A RunBusyError for a shard given away."""
        self._part.check_held()
        return await self._answers.append(record)

    async def begin(self, conversation: ConversationRecord) -> None:
        """Keep how a conversation began, once."""
        if conversation.id not in self._begun:
            self._begun[conversation.id] = conversation.introduction
            await self._conversations.append(conversation)

    def has_begun(self, conversation: str) -> bool:
        """Whether a conversation has begun in this run."""
        return conversation in self._begun

    def begun(self, conversation: str) -> list[Message] | None:
        """The messages with which a conversation began in this run; None if it has not begun yet."""
        digest = self._begun.get(conversation)
        return None if digest is None else list(self._introduction(digest))

    def keep_introduction(self, messages: Sequence[Message]) -> str:
        """Store the messages before the first question; their digest."""
        content = stored_introduction(messages)
        digest = hashlib.sha256(content).hexdigest()
        part, lines = self._part, self._part.introductions
        if part.holds(DOCUMENTS):
            try:
                if digest not in lines:
                    lines.add(digest, content)
            except OSError as error:
                raise NoRoomError.of(lines.path, error) from None
        elif not part.holds(f"introductions/{digest}.json"):
            part.write_file(f"introductions/{digest}.json", content)
        return digest
