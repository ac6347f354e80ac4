"""The run folder: create, open, and read all of its parts as one run.

runs/<time>-<name>/
manifest.json         the spec, digests, versions, orders, status (its last good copy is .manifest.json)
answers.jsonl         one record per answer or failure, append-only
conversations.jsonl   how each conversation began, append-only
introductions/        the messages before the first question, once by digest
documents/            the documents' texts, once by digest; of a corpus lines of documents.jsonl, as introductions
prompts/ questions/ annotations/   the files that were in effect
sheets/               for web chats driven by hand: messages to paste, and files for the replies
batches.jsonl         with --batch: what was handed in to a provider, append-only; batches/ has results on their way

Of a run of shards the manifest is without what there is for each document, and there are also

shards.jsonl          a line for each shard: its documents, and the orders of their questions; never written again
shards/00017/         a run folder for the documents of the shard's line; complete, it has answers.parquet

An answer's place is that in its part's file, with the number of its shard in the bits above.
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
from genaipa.files.locks import hold_lock
from genaipa.files.names import folder_words, free_names, make_folder
from genaipa.files.text import DAMAGE, why
from genaipa.runs.documents import KeptDocuments
from genaipa.runs.manifest import ANSWERS, MANIFEST, SEALED, SHARDS, ManifestFolder
from genaipa.runs.part import Part
from genaipa.runs.procedure import ask_about
from genaipa.runs.records import DOCUMENTS, DocumentFacts, Manifest, Record, RunStatus
from genaipa.runs.status import Counted, Tally, counted, status_of_whole, status_together

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import IO, Self

    from genaipa.files.stamps import Stamp
    from genaipa.policies.document import Document
    from genaipa.runs.records import ConversationRecord, RecordHead, Shards
    from genaipa.systems.base import Message


PLANS = "shards.jsonl"


class ShardPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of `shards.jsonl`: the documents of a shard, the question set of each, and the orders of its questions."""

    documents: dict[str, DocumentFacts]
    questions: dict[str, str]
    orders: dict[str, tuple[str, ...]]
    annotations: dict[str, str] = {}
    """The digests of the documents' annotated answers."""


class ShardPlans:
    """The plans of all shards, read from the file when they are wanted; a DataError if it can't be read.

    `shards` is what the run's manifest says of them.
    """

    def __init__(self, folder: Path, shards: Shards | None) -> None:
        self.path, self._shards = folder / PLANS, shards

    @cached_property
    def _lines(self) -> list[int]:
        """The byte offset of each line, and of the end."""
        try:
            with self.path.open("rb") as file:
                found = list(accumulate(map(len, file), initial=0))
        except OSError as error:
            raise self._lost(error) from None
        if self._shards is not None and self._shards.number != len(found) - 1:
            raise self._other(f"it has {len(found) - 1:,} lines for {self._shards.number:,} shards")
        return found

    def _lost(self, error: Exception) -> DataError:
        return DataError(
            self.path, f"can't be read ({why(error)}); restore it: the folders beside it hold the answers."
        )

    def _other(self, how: str) -> DataError:
        return DataError(self.path, f"is not as the run began it ({how}); restore the file.")

    def __len__(self) -> int:
        """The number of shards."""
        return len(self._lines) - 1

    def __getitem__(self, index: int) -> ShardPlan:
        try:
            with self.path.open("rb") as file:
                file.seek(self._lines[index])
                return msgspec.json.decode(file.readline(), type=ShardPlan)
        except (OSError, *DAMAGE) as error:
            raise self._lost(error) from None

    @cached_property
    def whole(self) -> ShardPlan:
        """The maps by document of all shards; a DataError if they are not those with which the run began."""
        self.check()
        whole = ShardPlan({}, {}, {}, {})
        for index in range(len(self)):
            plan = self[index]
            whole.documents.update(plan.documents)
            whole.questions.update(plan.questions)
            whole.orders.update(plan.orders)
            whole.annotations.update(plan.annotations)
        return whole

    @cached_property
    def _of(self) -> dict[str, int]:
        return {name: index for index in range(len(self)) for name in self[index].documents}

    def index(self, document: str) -> int:
        """The number of the shard that asks about a document; a DataError if none does."""
        if document not in self._of:
            raise DataError(self.path, f"knows no document '{document}'.")
        return self._of[document]

    def check(self) -> None:
        """Raise a DataError if the file is not as the run began it."""
        try:
            with self.path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise self._lost(error) from None
        if self._shards is not None and self._shards.plans != found:
            raise self._other("its digest is another")


T = TypeVar("T")
R = TypeVar("R", bound="RecordHead")

_MAKING = ".making-"
_PLACE = 40
"""Bits of a place in a part's file."""


class RunFolder(ManifestFolder):
    """One run on disk: a manifest, and the parts that keep its answers, read as one. A part is written by itself."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.part = Part(path)
        """The only part of a run that has no shards."""

    @cached_property
    def plans(self) -> ShardPlans | None:
        """The plans of its shards; None for a run in one folder."""
        sharded = (self.path / PLANS).is_file() or (self.path / SHARDS).is_dir()
        return ShardPlans(self.path, self.outline().shards) if sharded else None

    @classmethod
    def create(cls, runs: Path, manifest: Manifest) -> Self:
        """A new folder for this manifest, named after the time and the run's name."""
        for path in free_names(runs, manifest.name):
            try:
                make_folder(path, new=True)
            except FileExistsError:
                continue
            run = cls(path)
            run.write_manifest(manifest)
            return run
        raise RunError(f"no free name for a run folder in {runs}.")

    @classmethod
    def create_with(
        cls, runs: Path, manifest: Manifest, plans: IO[bytes], sources: Mapping[str, str], documents: Iterable[bytes]
    ) -> Self:
        """A new folder of shards for this manifest, whole or not at all.

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
            with (self.path / PLANS).open("wb") as file:
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

    def is_called(self, words: str) -> bool:
        """Whether this is all of the name that the run was given; False where that can't be read."""
        try:
            return folder_words(self.outline().name) == words
        except DataError:
            return False

    # -- parts --

    def shard(self, index: int) -> Part:
        """The shard with this number, from 0; its folder may not be there yet."""
        return Part(self.path / SHARDS / f"{index:05}")

    @property
    def number(self) -> int:
        """The number of shards; 0 for a run in one folder."""
        return len(self.plans) if self.plans is not None else 0

    def plan(self, index: int) -> ShardPlan:
        """The documents of the shard with this number; a DataError if the file can't be read."""
        assert self.plans is not None, "it has shards"
        return self.plans[index]

    def parts(self) -> Sequence[tuple[int, Part]]:
        """(what is added to its places, part) of each folder that keeps answers; a shard counts once it is begun."""
        if self.plans is None:
            return [(0, self.part)]
        every = map(self.shard, range(self.number))
        return [(index << _PLACE, shard) for index, shard in enumerate(every) if shard.is_begun]

    def stamps(self) -> tuple[Stamp | None, ...]:
        """Numbers for each part that change with each answer."""
        return tuple(part.stamp() for _, part in self.parts())

    def near(self, document: str) -> Part:
        """The part that asks about a document; a DataError if none of the shards does."""
        return self.part if self.plans is None else self.shard(self.plans.index(document))

    def members(self) -> Iterator[tuple[str, list[Path]]]:
        """(name, the files that make up its content) of everything that a run in one folder has, by name."""
        paths = sorted(path for path in self.path.rglob("*") if path.is_file())
        found = {path.relative_to(self.path).as_posix(): [path] for path in paths}
        if self.plans is not None:
            own = {name: paths for name, paths in found.items() if not name.startswith((PLANS, f"{SHARDS}/"))}
            found = {ANSWERS: [], **own}
            for _, shard in self.parts():
                for name, paths in RunFolder(shard.path).members():
                    if not name.startswith((".", MANIFEST, ANSWERS, SEALED)):
                        found.setdefault(name, []).extend(paths)
        yield from sorted(found.items())

    @property
    def kept_documents(self) -> KeptDocuments:
        """The documents of a corpus, as the parts have them; none of any others."""
        return KeptDocuments(self.path) if self.plans is None else _KeptByShards(self)

    # -- reading --

    def manifest(self) -> Manifest:
        """The manifest with what there is for each document; the errors of `outline`."""
        manifest = self.outline()
        if self.plans is not None:
            whole = self.plans.whole
            documents = {name: facts.digest for name, facts in whole.documents.items()}
            manifest.spec = ask_about(manifest.spec, whole.documents, whole.questions)
            manifest.digests = replace(manifest.digests, documents=documents, annotations=whole.annotations)
            manifest.documents, manifest.orders = whole.documents, whole.orders
        return manifest

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """(place, line) of each whole line of the answers; an OSError if they can't be read."""
        return ((base + place, line) for base, part in self.parts() for place, line in part.lines())

    def read(self, kind: type[R]) -> Iterator[tuple[int, R]]:
        """(place, record) of all answers, each as it was written; a RunError names a line that is not."""
        return ((base + place, record) for base, part in self.parts() for place, record in part.read(kind))

    def entries(self, kind: type[T]) -> Iterator[tuple[int, T]]:
        """(place, record) of each line of the answers; a RunError for a line that has not the sum of its content."""
        return ((base + place, record) for base, part in self.parts() for place, record in part.entries(kind))

    def records(self) -> Iterator[Record]:
        """Every record in the order in which they were made, failures that were replaced later included."""
        return (record for _, record in self.read(Record))

    def records_at(self, places: list[int]) -> list[Record]:
        """The records at these places."""
        if self.plans is None:
            return self.part.records_at(places)
        found: list[Record] = []
        for index, of_shard in groupby(places, lambda place: place >> _PLACE):
            found += self.shard(index).records_at([place & ((1 << _PLACE) - 1) for place in of_shard])
        return found

    def conversations(self) -> Iterator[ConversationRecord]:
        """The records of how each conversation began."""
        return (conversation for _, part in self.parts() for conversation in part.conversations())

    def introduction(self, digest: str) -> list[Message]:
        """The messages stored under a digest, in whichever part."""
        part = next((part for _, part in self.parts() if part.has_introduction(digest)), self.part)
        return part.introduction(digest)

    # -- how far it is --

    def seen(self) -> tuple[Tally, dict[str, int]]:
        """The counts so far beside the planned ones, and the place of each key's latest record."""
        return counted(self.manifest(), self.entries(Counted))

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

    def progress(self) -> tuple[Manifest, Tally]:
        """The outline, with an outdated status put right, and the run's counts; of shards, they know no keys."""
        if self.plans is None:
            return self.part.state()
        manifest = self.outline()
        tally, status = self.counts()
        manifest.status = status_of_whole(manifest.status, status)
        return manifest, tally

    def state(self) -> tuple[Manifest, Tally]:
        """The manifest, with an outdated status put right, and the run's counts."""
        outline, tally = self.progress()
        manifest = outline if self.plans is None else self.manifest()
        manifest.status = outline.status
        return manifest, tally

    def status(self, manifest: Manifest, *, missing: bool) -> RunStatus:
        """The run's status now, wherever it is shown; `missing` says that answers are."""
        if self.plans is None:
            return self.part.status(manifest, missing=missing)
        return status_of_whole(manifest.status, self.counts()[1])

    def is_complete(self) -> bool:
        """Whether everything was answered, and still is."""
        if self.plans is None:
            return self.part.is_complete()
        return self.outline().status == "complete" and not self.to_do(range(self.number))

    def to_do(self, among: Iterable[int]) -> list[int]:
        """The shards among these in which answers are missing."""
        return [index for index in among if self._lacks(self.shard(index))]

    def _lacks(self, shard: Part) -> bool:
        try:
            return not shard.is_complete()
        except DataError:
            return True  # told by whoever carries it out

    def lack(self, manifest: Manifest, kept: int | None = None) -> str:
        """A sentence about answers that are gone since the manifest was written; empty if none are.

        They may be gone from a part, or with a shard's folder. `kept` is how many there are, where whoever asks knows.
        """
        if self.plans is None:
            return self.part.lack(manifest, kept)
        unsealed = (shard for _, shard in self.parts() if not shard.is_sealed)
        if lack := next((lack for shard in unsealed if (lack := shard.lack(shard.outline()))), ""):
            return lack
        kept, before = self.counts()[0].totals().kept if kept is None else kept, manifest.totals.kept
        if kept >= before:
            return ""
        gone = f"{before - kept:,} of {before:,} answers are gone since the run was left"
        again = f"restore the folder, or have them asked again with: genaipa run --resume {self.name}"
        return f"{self.path / SHARDS}: {gone}; {again}"

    def is_held(self) -> bool:
        """Whether a process works on one of its parts now."""
        return any(part.is_held() for _, part in self.parts() if not part.is_sealed)

    # -- of shards --

    def settle(self, cap: float | None) -> tuple[RunStatus, Tally]:
        """Write into the manifest how far the run is by its shards, which nobody carries out here any more."""
        # Counted while nobody else writes: of several processes, the last one to write has to have seen all shards.
        with hold_lock(self.part.lock, self.path):
            tally, status = self.counts()
            self.note(status, tally, cap)
        return status, tally

    def note(self, status: RunStatus, tally: Tally, cap: float | None) -> None:
        """Write into the manifest how far the run is, its cap, and the facts about its systems from its shards."""
        with hold_lock(self.part.lock, self.path):
            manifest = self.outline()
            manifest.status, manifest.max_cost, manifest.totals = status, cap, tally.totals()
            for _, shard in self.parts():
                for name, facts in shard.systems().items():
                    served = {*facts.served, *(manifest.systems[name].served if name in manifest.systems else ())}
                    facts.served = sorted(served)
                    manifest.systems[name] = facts
            self.write_manifest(manifest)


class _KeptByShards(KeptDocuments):
    """The documents of a corpus that a run of shards asks about."""

    def __init__(self, run: RunFolder) -> None:
        super().__init__(run.path)
        self._run = run
        self._files: dict[Path, KeptDocuments] = {}

    def _index(self) -> dict[str, int]:
        if self._places is None:
            manifest = self._run.manifest()
            self._places = dict.fromkeys(manifest.documents if manifest.corpus else {}, 0)
        return self._places

    def __getitem__(self, name: str) -> Document:
        if name not in self._index():
            raise KeyError(name)
        path = self._run.near(name).path
        return self._files.setdefault(path, KeptDocuments(path))[name]
