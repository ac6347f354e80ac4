"""One shard of a run: a run folder for some of its documents, sealed when it is complete."""

from __future__ import annotations

import contextlib
import time
import uuid
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import msgspec

from genaipa.errors import DataError, GenaipaError, NoRoomError, RunBusyError
from genaipa.files.json_text import DAMAGE, why
from genaipa.files.sealed import Sealed, can_seal, seal, take_away_unsealed
from genaipa.runs import journal
from genaipa.runs.folder import MANIFEST, RunFolder
from genaipa.runs.records import DocumentFacts, Manifest, Record, SystemFacts
from genaipa.runs.shards import FOLDER
from genaipa.runs.tally import Count, Tally

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from genaipa.runs.records import RecordHead

T = TypeVar("T", bound="RecordHead | Record")

_SHARED = ("prompts/", "questions/")
"""Folders that are with the run, for all of its shards."""
SEALED = "answers.parquet"
_HOLDER = ".holder"
_LOOK_EVERY = 0.1
"""Seconds between two looks at who holds a shard: a look at each record is a fifth of what writing it costs."""
_COLUMNS = ("key", "kind", "status", "system", "document", "question")
"""Columns of a seal beside the lines."""


class ShardPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of `shards.jsonl`: the documents of a shard, the question set of each, and the orders of its questions."""

    documents: dict[str, DocumentFacts]
    questions: dict[str, str]
    orders: dict[str, tuple[str, ...]]
    annotations: dict[str, str] = {}
    """The digests of the documents' annotated answers."""


class _Line(msgspec.Struct):
    """As much of a record as a seal has in columns."""

    key: str
    kind: str
    status: str
    system: str
    document: str
    question: str


class _Systems(msgspec.Struct):
    """As much of a manifest."""

    systems: dict[str, SystemFacts]


class _Row(msgspec.Struct):
    """The counts of one system and initialization, in a seal."""

    system: str
    initialization: str
    count: Count


class Shard(RunFolder):
    """One shard of a run; its prompts and questions are with the run.

    When it is complete its answers are sealed: `answers.parquet` has them in place of `answers.jsonl`, each line as it
    was. Whoever is first to seal it is the only one, and nothing that is written to it afterwards counts.
    """

    _token = ""
    _look_again = 0.0

    @property
    def name(self) -> str:
        """The run's name, and which of its shards this is."""
        return f"{self.path.parent.parent.name}/{FOLDER}/{self.path.name}"

    @property
    def shared(self) -> Path:
        """The run's folder."""
        return self.path.parent.parent

    @property
    def is_begun(self) -> bool:
        """Whether anything of it was asked."""
        return (self.path / MANIFEST).is_file()

    @property
    def is_sealed(self) -> bool:
        """Whether it is complete for good."""
        return (self.path / SEALED).is_file()

    @property
    def answers(self) -> Path:
        """The file of answers: lines, or the sealed ones."""
        return self.path / SEALED if self.is_sealed else super().answers

    @cached_property
    def _seal(self) -> Sealed:
        return Sealed(self.path / SEALED)

    def make(self) -> None:
        """Make the folder, if it is not there."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise NoRoomError.of(self.path, error, "made") from None

    @contextlib.contextmanager
    def writing(self) -> Iterator[list[str]]:
        """Hold the shard for writing, as a run is held; whoever held it before, and lost it, writes no more."""
        with super().writing() as repairs:
            if not self._token:
                self._token = uuid.uuid4().hex
                self.write_file(_HOLDER, self._token.encode())
            yield repairs

    def check_held(self) -> None:
        """Raise a RunBusyError if it was given to another process meanwhile; looks now and then."""
        if time.monotonic() < self._look_again:
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
        lines = super().answers
        if not self.is_sealed and can_seal():
            rows = [_Row(*place, count) for place, count in super().seen()[0].rows.items()]
            try:
                seal(self.path / SEALED, self._kept_lines(), _COLUMNS, msgspec.json.encode(rows))
            except OSError as error:
                kept = "the answers are kept as they are"
                raise NoRoomError.of(self.path / SEALED, error, kept=kept) from None
        take_away_unsealed(self.path / SEALED)
        if self.is_sealed and Sealed(self.path / SEALED).rows:
            lines.unlink(missing_ok=True)

    def _kept_lines(self) -> Iterator[tuple[int, bytes, dict[str, str]]]:
        """The lines of the answers, but for a second answer to a question: two may have written by turns."""
        kept, decode = set[str](), msgspec.json.Decoder(_Line).decode
        for place, line in journal.lines(super().answers):
            head = decode(line)
            if head.key not in kept:
                if head.status != "failed":
                    kept.add(head.key)
                yield place, line, {name: getattr(head, name) for name in _COLUMNS}

    def lines(self, start: int = 0) -> Iterator[tuple[int, bytes]]:
        """(place, line) of each whole line of the answers from this place on; an OSError if they can't be read."""
        return self._seal.lines(start) if self.is_sealed else super().lines(start)

    def entries(self, kind: type[T]) -> Iterator[tuple[int, T]]:
        """(place, record) of each line of the answers, unchecked."""
        return journal.records(self.answers, self._seal.lines(), kind) if self.is_sealed else super().entries(kind)

    def records_at(self, offsets: list[int]) -> list[Record]:
        """The records at these places."""
        if not self.is_sealed:
            return super().records_at(offsets)
        return [msgspec.json.decode(line, type=Record) for line in self._seal.at(offsets)]

    def state(self) -> tuple[Manifest, Tally]:
        """The manifest, with its status put right, and the counts; a sealed shard's know no keys."""
        if not self.is_sealed:
            return super().state()
        try:
            rows = msgspec.json.decode(self._seal.facts, type=list[_Row])
        except DAMAGE as error:
            raise DataError(self.path / SEALED, f"is damaged ({why(error)}); restore the file.") from None
        manifest = self.outline()
        manifest.status = "complete"
        return manifest, Tally({(row.system, row.initialization): row.count for row in rows})

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

    def lack(self, manifest: Manifest, kept: int | None = None) -> str:
        """A sentence about answers that are gone; none can go of a sealed shard."""
        return "" if self.is_sealed else super().lack(manifest, kept)

    def is_answered(self) -> bool:
        """Whether everything was answered, and still is; a DataError for a seal that is damaged."""
        if self.is_sealed:
            return bool(self._seal.rows)
        return self.is_begun and super().is_complete()

    def is_complete(self) -> bool:
        """Whether nothing is left to do: a process may have been killed just before it sealed what was answered."""
        done = self.is_sealed and not super().answers.exists()
        return self.is_answered() and (done or not can_seal())

    def holds(self, name: str) -> bool:
        """Whether a file is there, or with the run."""
        return super().holds(name) or (name.startswith(_SHARED) and (self.shared / name).exists())
