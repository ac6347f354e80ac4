"""A run of shards: each a run folder for some of the documents, and all of them read as one run.

runs/<time>-<name>/
manifest.json         as of any run, without what there is for each document
shards.jsonl          a line for each shard: its documents, and the orders of their questions; never written again
prompts/ questions/   as in any run, for all shards
shards/00017/         a run folder for the documents of the shard's line; complete, it has answers.parquet

An answer's place is that in its shard's file, with the shard's number in the bits above.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import uuid
from functools import cached_property
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec.structs import replace

from genaipa.errors import DataError, GenaipaError, NoRoomError, RunError
from genaipa.files.json_text import DAMAGE, why
from genaipa.files.locks import held
from genaipa.files.names import free_names
from genaipa.runs.corpus import DOCUMENTS
from genaipa.runs.documents import KeptDocuments
from genaipa.runs.folder import ANSWERS, MANIFEST, RunFolder
from genaipa.runs.records import Manifest, Record, RunStatus
from genaipa.runs.shards import FOLDER
from genaipa.runs.shards.shard import SEALED, Shard, ShardPlan
from genaipa.runs.status import status_of_whole, status_together
from genaipa.runs.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import IO, Self

    from genaipa.policies.document import Document
    from genaipa.runs.records import ConversationRecord, RecordHead
    from genaipa.systems.base import Message


T = TypeVar("T", bound="RecordHead | Record")

SHARDS = "shards.jsonl"

_MAKING = ".making-"
_PLACE = 40
"""Bits of a place in a shard's file."""


class _Kept(KeptDocuments):
    """The documents of a corpus that a run of shards asks about."""

    def __init__(self, run: ShardedFolder) -> None:
        super().__init__(run.path)
        self._run = run
        self._files: dict[Path, KeptDocuments] = {}

    def _index(self) -> dict[str, int]:
        if self._places is None:
            whole = self._run.manifest().documents if self._run.outline().corpus else {}
            self._places = dict.fromkeys(whole, 0)
        return self._places

    def __getitem__(self, name: str) -> Document:
        if name not in self._index():
            raise KeyError(name)
        path = self._run.near(name).path
        return self._files.setdefault(path, KeptDocuments(path))[name]


class ShardedFolder(RunFolder):
    """A run of shards on disk, read as one; a shard is written by whoever holds its own lock."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._of: dict[str, int] = {}

    @cached_property
    def _lines(self) -> list[int]:
        """The byte offset of each line of `shards.jsonl`, and of its end."""
        try:
            with (self.path / SHARDS).open("rb") as file:
                found = list(accumulate(map(len, file), initial=0))
        except OSError as error:
            raise self._lost(error) from None
        shards = self.outline().shards
        if shards is not None and shards.number != len(found) - 1:
            raise self._other(f"it has {len(found) - 1:,} lines for {shards.number:,} shards")
        return found

    def _lost(self, error: Exception) -> DataError:
        return DataError(
            self.path / SHARDS, f"can't be read ({why(error)}); restore it: the folders beside it hold the answers."
        )

    def _other(self, how: str) -> DataError:
        return DataError(self.path / SHARDS, f"is not as the run began it ({how}); restore the file.")

    @property
    def number(self) -> int:
        """The number of shards."""
        return len(self._lines) - 1

    def plan(self, index: int) -> ShardPlan:
        """A shard's documents; a DataError if the file can't be read."""
        try:
            with (self.path / SHARDS).open("rb") as file:
                file.seek(self._lines[index])
                return msgspec.json.decode(file.readline(), type=ShardPlan)
        except (OSError, *DAMAGE) as error:
            raise self._lost(error) from None

    @cached_property
    def _whole(self) -> ShardPlan:
        """The maps by document of all shards; a DataError if they are not those with which the run began."""
        self.check_plans()
        whole = ShardPlan({}, {}, {}, {})
        for plan in map(self.plan, range(self.number)):
            whole.documents.update(plan.documents)
            whole.questions.update(plan.questions)
            whole.orders.update(plan.orders)
            whole.annotations.update(plan.annotations)
        return whole

    def check_plans(self) -> None:
        """Raise a DataError if `shards.jsonl` is not as the run began it."""
        shards = self.outline().shards
        try:
            with (self.path / SHARDS).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise self._lost(error) from None
        if shards is not None and shards.plans != found:
            raise self._other("its digest is another")

    @classmethod
    def create_with(
        cls, runs: Path, manifest: Manifest, plans: IO[bytes], sources: Mapping[str, str], documents: Iterable[bytes]
    ) -> Self:
        """A new folder for this manifest, whole or not at all.

        `plans` are the lines of `shards.jsonl`, `sources` the texts that all shards share, by their names, and
        `documents`, of a corpus, the content of each shard's file of documents. The caller is the only one at it: what
        a killed process was making is taken away.
        """
        names = free_names(runs, manifest.name)
        for left in runs.glob(f"{_MAKING}*"):
            shutil.rmtree(left, ignore_errors=True)
        made = cls(runs / f"{_MAKING}{uuid.uuid4().hex}")
        try:
            made._fill(manifest, plans, sources, documents)
            for path in names:
                with contextlib.suppress(OSError):
                    made.path.rename(path)
                    return cls(path)
            raise RunError(f"no free name for a run folder in {runs}.")
        finally:
            shutil.rmtree(made.path, ignore_errors=True)  # nothing is there once it has its name

    def _fill(
        self, manifest: Manifest, plans: IO[bytes], sources: Mapping[str, str], documents: Iterable[bytes]
    ) -> None:
        try:
            self.path.mkdir()
            with (self.path / SHARDS).open("wb") as file:
                shutil.copyfileobj(plans, file)
                file.flush()
                os.fsync(file.fileno())
            for index, content in enumerate(documents):
                self.shard(index).make()
                (self.shard(index).path / DOCUMENTS).write_bytes(content)
        except OSError as error:
            raise NoRoomError.of(f"{self.path.parent}: the run's folder", error, "made") from None
        for name, text in sources.items():
            self.write_file(name, text.encode())
        self.write_manifest(manifest)

    def shard(self, index: int) -> Shard:
        """The shard with this number, from 0; its folder may not be there yet."""
        return Shard(self.path / FOLDER / f"{index:05}")

    def shards(self) -> Iterator[tuple[int, Shard]]:
        """The shards that were begun, in order."""
        every = map(self.shard, range(self.number))
        return ((index, shard) for index, shard in enumerate(every) if shard.is_begun)

    def parts(self) -> Sequence[tuple[int, RunFolder]]:
        """(what is added to its places, folder) of each shard that was begun."""
        return [(index << _PLACE, shard) for index, shard in self.shards()]

    def members(self) -> Iterator[tuple[str, list[Path]]]:
        """(name, the files that make up its content) of what a run in one folder would have, by name."""
        own = (member for member in super().members() if not member[0].startswith((SHARDS, f"{FOLDER}/")))
        found: dict[str, list[Path]] = {ANSWERS: [], **dict(own)}
        for _, shard in self.shards():
            for name, paths in shard.members():
                if not name.startswith((".", MANIFEST, ANSWERS, SEALED)):
                    found.setdefault(name, []).extend(paths)
        yield from sorted(found.items())

    def lines(self, start: int = 0) -> Iterator[tuple[int, bytes]]:
        """(place, line) of each whole line of all shards' answers from this place on."""
        for base, shard in self.parts():
            for offset, line in shard.lines(max(0, start - base)):
                yield base + offset, line

    def near(self, document: str) -> RunFolder:
        """The shard that asks about a document; a DataError if none does."""
        if not self._of:
            self._of = {name: index for index in range(self.number) for name in self.plan(index).documents}
        if document not in self._of:
            raise DataError(self.path / SHARDS, f"knows no document '{document}'.")
        return self.shard(self._of[document])

    @property
    def kept_documents(self) -> KeptDocuments:
        """The documents of a corpus, as the shards have them; none of any others."""
        return _Kept(self)

    def manifest(self) -> Manifest:
        """The manifest with what there is for each document, as that of a run of one folder has it."""
        manifest, whole = self.outline(), self._whole
        documents = {name: facts.digest for name, facts in whole.documents.items()}
        manifest.spec = manifest.spec.about(whole.documents, whole.questions)
        manifest.digests = replace(manifest.digests, documents=documents, annotations=whole.annotations)
        manifest.documents, manifest.orders = whole.documents, whole.orders
        return manifest

    def counts(self, among: range | None = None) -> tuple[Tally, RunStatus]:
        """The counts of all shards, or of these, without keys, beside what is planned of them, and their status."""
        wanted = range(self.number) if among is None else among
        tally, begun, statuses = Tally(), 0, set[RunStatus]()
        for shard in map(self.shard, wanted):
            if not shard.is_begun:
                continue
            begun += 1
            try:
                manifest, counts = shard.state()
            except GenaipaError:  # told by whoever reads it
                statuses.add("partial")
                continue
            statuses.add(manifest.status)
            tally.include(counts)
        if begun < len(wanted):
            statuses.add("partial")
        outline = self.outline()
        questions = outline.shards.questions if outline.shards else 0
        if among is not None:
            questions = sum(len(order) for index in among for order in self.plan(index).orders.values())
        tally.plan(outline.spec, {"": range(questions)})
        return tally, status_together(statuses)

    def settle(self, cap: float | None) -> tuple[RunStatus, Tally]:
        """Write into the manifest how far the run is by its shards, which nobody carries out here any more."""
        # Counted while nobody else writes: of several processes, the last one to write has to have seen all shards.
        with held(self._lock, self.path):
            tally, status = self.counts()
            self.note(status, tally, cap)
        return status, tally

    def progress(self) -> tuple[Manifest, Tally]:
        """The outline, with its status put right by the shards, and the run's counts."""
        manifest = self.outline()
        tally, status = self.counts()
        manifest.status = status_of_whole(manifest.status, status)
        return manifest, tally

    def status(self, manifest: Manifest, *, missing: bool) -> RunStatus:  # noqa: ARG002 - the shards say
        """The status that the run has now, by its shards."""
        return status_of_whole(manifest.status, self.counts()[1])

    def state(self) -> tuple[Manifest, Tally]:
        """The manifest, with its status put right by the shards, and the run's counts."""
        outline, tally = self.progress()
        manifest = self.manifest()
        manifest.status = outline.status
        return manifest, tally

    def note(self, status: RunStatus, tally: Tally, cap: float | None) -> None:
        """Write into the manifest how far the run is, its cap, and the facts about its systems from its shards."""
        with held(self._lock, self.path):
            manifest = self.outline()
            manifest.status, manifest.max_cost, manifest.totals = status, cap, tally.totals()
            for _, shard in self.shards():
                for name, facts in shard.systems().items():
                    served = {*facts.served, *(manifest.systems[name].served if name in manifest.systems else ())}
                    facts.served = sorted(served)
                    manifest.systems[name] = facts
            self.write_manifest(manifest)

    def is_complete(self) -> bool:
        """Whether everything was answered, and still is."""
        return self.outline().status == "complete" and not self.to_do()

    def to_do(self, among: Iterable[int] | None = None) -> list[int]:
        """The shards in which answers are missing; only these, if any are named."""
        every = range(self.number) if among is None else among
        return [index for index in every if self._lacks(self.shard(index))]

    def _lacks(self, shard: Shard) -> bool:
        try:
            return not shard.is_complete()
        except DataError:
            return True  # told by whoever carries it out

    def lack(self, manifest: Manifest, kept: int | None = None) -> str:
        """A sentence about answers that are gone from a shard, or with a shard's folder; empty if none are."""
        unsealed = (shard for _, shard in self.shards() if not shard.is_sealed)
        if lack := next((lack for shard in unsealed if (lack := shard.lack(shard.outline()))), ""):
            return lack
        kept, before = self.counts()[0].totals().kept if kept is None else kept, manifest.totals.kept
        if kept >= before:
            return ""
        gone = f"{before - kept:,} of {before:,} answers are gone since the run was left"
        again = f"restore the folder, or have them asked again with: genaipa run --resume {self.name}"
        return f"{self.path / FOLDER}: {gone}; {again}"

    def is_held(self) -> bool:
        """Whether a process works on a shard now."""
        return any(shard.is_held() for _, shard in self.shards() if not shard.is_sealed)

    def read(self, kind: type[T]) -> Iterator[tuple[int, T]]:
        """(place, record) of every record, shard by shard; a RunError names the line that is no record."""
        for base, shard in self.parts():
            for offset, record in shard.read(kind):
                yield base + offset, record

    def entries(self, kind: type[T]) -> Iterator[tuple[int, T]]:
        """(place, record) of every record, unchecked."""
        for base, shard in self.parts():
            for offset, record in shard.entries(kind):
                yield base + offset, record

    def records_at(self, offsets: list[int]) -> list[Record]:
        """The records at these places."""
        found: list[Record] = []
        for index, places in groupby(offsets, lambda place: place >> _PLACE):
            found += self.shard(index).records_at([place & ((1 << _PLACE) - 1) for place in places])
        return found

    def conversations(self) -> Iterator[ConversationRecord]:
        """The records of how each conversation began."""
        for _, shard in self.shards():
            yield from shard.conversations()

    def introduction(self, digest: str) -> list[Message]:
        """The messages stored under a digest, in whichever shard."""
        found = next((shard for _, shard in self.shards() if shard.has_introduction(digest)), None)
        return found.introduction(digest) if found else super().introduction(digest)
