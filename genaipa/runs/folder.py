"""The run folder: create, open, hold for writing, and read.

runs/<time>-<name>/
manifest.json         the spec, digests, versions, orders, status (its last good copy is .manifest.json)
answers.jsonl         one record per answer or failure, append-only
conversations.jsonl   how each conversation began, append-only
introductions/        the messages before the first question, once by digest
documents/            the documents' texts, once by digest; of a corpus lines of documents.jsonl, as introductions
prompts/ questions/ annotations/   the files that were in effect
sheets/               for web chats driven by hand: messages to paste, and files for the replies
authors.jsonl         who wrote which reply, of systems whose replies people write, append-only
author-marks.json     the same in a partner's pack, without names
batches.jsonl         with --batch: what was handed in to a provider, append-only; batches/ has results on their way
.lock .holder         the lock of whoever writes, and a token by which a process sees that another took the run over

An answer's place is the byte of `answers.jsonl` at which its line begins.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
import uuid
from typing import TYPE_CHECKING, TypeVar

from filelock import Timeout

from genaipa.errors import DataError, GenaipaError, RunBusyError, RunError
from genaipa.files.locks import system_file_lock, take_run_lock
from genaipa.files.names import clean_folder_name, make_run_folder, make_runs_folder_and_propose_paths
from genaipa.files.stamps import Stamp, read_file_stamp
from genaipa.files.text import DAMAGE, clip_error_message
from genaipa.runs import journal
from genaipa.runs.authors import AUTHORS
from genaipa.runs.batches import find_pending_batches
from genaipa.runs.documents import INTRODUCTIONS, KeptIntroductions, decode_introduction
from genaipa.runs.integrity import describe_lost_answers_or_empty, describe_record_flaw_or_empty
from genaipa.runs.manifest import ANSWERS, CONVERSATIONS, MANIFEST, MANIFEST_COPY, ManifestFolder
from genaipa.runs.records import ConversationRecord, Manifest, Record, RunStatus
from genaipa.runs.status import AnswerTally, CountedRecord, current_run_status, tally_records_and_map_offsets

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Self

    from genaipa.runs.manifest import ManifestHead
    from genaipa.runs.records import RecordHead
    from genaipa.systems.base import Message

T = TypeVar("T")
R = TypeVar("R", bound="RecordHead")

_HOLDER = ".holder"
_LOOK_EVERY = 0.1
"""Seconds between two looks at who holds a run: a look at each record is a fifth of what writing it costs."""


class RunFolder(ManifestFolder):
    """One run on disk. Reading needs no lock; `hold_for_writing_and_list_repairs` takes it."""

    _token = ""
    _look_again = 0.0

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.introductions = KeptIntroductions(path)
        # A file in place of a lock would stay behind when its process is killed.
        self.lock = system_file_lock(path / ".lock")

    @classmethod
    def create_with_manifest(cls, runs_path: Path, manifest: Manifest) -> Self:
        """Make a new folder for this manifest, named after the time and the run's name."""
        for path in make_runs_folder_and_propose_paths(runs_path, manifest.name):
            try:
                make_run_folder(path, must_be_new=True)
            except FileExistsError:
                continue
            run = cls(path)
            run.write_manifest(manifest)
            return run
        raise RunError(f"there is no free name for a run folder in {runs_path}.")

    @property
    def as_folders(self) -> list[Self]:
        """The run itself, as a study has its slices."""
        return [self]

    def has_exact_given_name(self, cleaned_name: str) -> bool:
        """Tell whether this is all of the name that the run was given; False where that can't be read."""
        try:
            return clean_folder_name(self.manifest().name) == cleaned_name
        except DataError:
            return False

    # -- writing --

    @contextlib.contextmanager
    def hold_for_writing_and_list_repairs(self) -> Iterator[list[str]]:
        """Hold it for writing; gives the sentences about repairs. A RunBusyError if it is held already.

        Whoever held it before, and lost it, writes no more: a lock on a shared file system ends with its lease.
        """
        take_run_lock(self.lock, self.path, self.name)
        try:
            for name in (MANIFEST, MANIFEST_COPY):
                for leftover in self.path.glob(f".{name}.*.tmp"):
                    leftover.unlink(missing_ok=True)  # of a process that was killed
            repairs = self._describe_manifest_and_answer_damage()
            repairs += [
                journal.remove_cut_last_line_and_describe(self.path / name)
                for name in (ANSWERS, CONVERSATIONS, INTRODUCTIONS, AUTHORS)
            ]
            self._token = uuid.uuid4().hex
            self.write_file(_HOLDER, self._token.encode())
            yield list(filter(None, repairs))
        finally:
            self._token = ""
            self.lock.release()

    def _describe_manifest_and_answer_damage(self) -> list[str]:
        """Return sentences about what is wrong with the manifest, and gone since it was written; empty for nothing."""
        # By itself, since a lock would hold a manifest, large for a large run, for as long as the run takes.
        try:
            damage, lack = self.describe_manifest_damage(), self.describe_lost_answers_or_empty(self.manifest())
        except DataError:  # told by whoever needs the manifest
            return []
        return [f"{self.path / MANIFEST}: {damage}" if damage else "", lack]

    def is_held_for_writing(self) -> bool:
        """Tell whether a process holds it for writing now; none does where nothing can be written."""
        try:
            with self.lock.acquire(blocking=False):
                return False
        except Timeout:
            return True
        except (OSError, NotImplementedError):
            return False

    def check_still_held(self) -> None:
        """Raise a RunBusyError if the run was taken over by another process meanwhile; looks now and then."""
        if time.monotonic() >= self._look_again:
            self._check_held_now()

    def _check_held_now(self) -> None:
        try:
            holder = (self.path / _HOLDER).read_text(encoding="utf-8")
        except OSError:
            holder = ""
        if holder != self._token:
            raise RunBusyError(
                f"another process took over {self.name}, or somebody moved it; this process has stopped."
            )
        self._look_again = time.monotonic() + _LOOK_EVERY

    def write_manifest(self, manifest: Manifest) -> None:
        """Replace the manifest and its copy; a RunBusyError if the run was taken over while it was held."""
        if self._token:
            self._check_held_now()
        super().write_manifest(manifest)

    # -- reading --

    def answers_file_stamp(self) -> Stamp | None:
        """Return numbers that change with each answer; None if there is none."""
        return read_file_stamp(self.answers_path)

    def read_answer_lines_with_offsets(self, offset: int = 0) -> Iterator[tuple[int, bytes]]:
        """Yield (place, line) of each whole line of the answers from this place on; an OSError if none can be read."""
        return journal.read_lines_with_offsets(self.answers_path, offset)

    def read_checksummed_answers_with_offsets(self, record_type: type[T]) -> Iterator[tuple[int, T]]:
        """Yield (place, record) of each line of the answers; a RunError for one that has not the sum of its content."""
        return journal.read_records_with_offsets(self.answers_path, record_type, has_checksums=True)

    def read_verified_answers_with_offsets(self, record_type: type[R]) -> Iterator[tuple[int, R]]:
        """Yield (place, record) of all answers, each as it was written.

        A RunError names the line that is no record, or was changed since: results computed from it would be wrong.
        """
        documents = {name: facts.digest for name, facts in self.manifest().documents.items()}
        withheld = self.has_withheld_texts
        for number, (offset, record) in enumerate(self.read_checksummed_answers_with_offsets(record_type), 1):
            if problem := describe_record_flaw_or_empty(record, documents, texts_withheld=withheld):
                raise RunError(
                    f"{self.answers_path}: line {number} was changed ({problem}); restore the file, "
                    "or delete that line to ask its question again."
                )
            yield offset, record

    def read_records(self) -> Iterator[Record]:
        """Yield every record in the order in which they were made, failures that were replaced later included."""
        return (record for _, record in self.read_verified_answers_with_offsets(Record))

    def read_records_at(self, offsets: list[int]) -> list[Record]:
        """Read the records at these places."""
        return journal.read_records_at(self.answers_path, offsets, Record)

    def read_conversations(self) -> Iterator[ConversationRecord]:
        """Yield the records of how each conversation began."""
        for _, conversation in journal.read_records_with_offsets(
            self.conversations_path, ConversationRecord, has_checksums=True
        ):
            yield conversation

    def read_introduction(self, digest: str) -> list[Message]:
        """Read the messages stored under a digest."""
        in_lines = digest in self.introductions
        path = self.introductions.path if in_lines else self.path / "introductions" / f"{digest}.json"
        try:
            content = self.introductions.read_unchecked_introduction_content(digest) if in_lines else path.read_bytes()
            messages = decode_introduction(content)
        except (OSError, *DAMAGE) as error:
            raise DataError(path, f"can't be read ({clip_error_message(error)}); restore the file.") from None
        if hashlib.sha256(content).hexdigest() != digest:
            raise DataError(path, "was changed since the conversation began; restore the file.")
        return messages

    # -- how far it is --

    def tally_records_and_map_offsets(self) -> tuple[AnswerTally, dict[str, int]]:
        """Return the counts so far beside the planned ones, and the place of each key's latest record."""
        return tally_records_and_map_offsets(self.manifest(), self.read_checksummed_answers_with_offsets(CountedRecord))

    def read_manifest_and_tally(self) -> tuple[Manifest, AnswerTally]:
        """Return the manifest, with an outdated status put right, and the counts."""
        manifest = self.manifest()
        tally, _ = tally_records_and_map_offsets(manifest, self.read_checksummed_answers_with_offsets(CountedRecord))
        manifest.status = self.status(manifest, answers_missing=bool(tally.incomplete_systems()))
        return manifest, tally

    def status(self, manifest: Manifest, *, answers_missing: bool) -> RunStatus:
        """Return the status now, wherever it is shown; `answers_missing` says that answers are."""
        abandoned = manifest.status == "running" and not self.is_held_for_writing()
        return current_run_status(
            manifest.status,
            abandoned=abandoned,
            batches_pending=abandoned and any(find_pending_batches(self.path)),
            answers_missing=answers_missing,
        )

    def describe_lost_answers_or_empty(self, manifest: Manifest | ManifestHead, answer_count: int | None = None) -> str:
        """Return a sentence about answers that are gone since the manifest was written; empty if none are.

        `answer_count` is how many answers there are, where whoever asks knows.
        """
        return describe_lost_answers_or_empty(self.answers_path, self.name, manifest.totals, answer_count)

    def is_complete(self) -> bool:
        """Tell whether everything was answered, and still is."""
        manifest = self.manifest()
        if manifest.status != "complete" or self.describe_lost_answers_or_empty(manifest):
            return False
        # What was imported does not say how long the file was.
        return bool(manifest.totals.bytes) or self.read_manifest_and_tally()[0].status == "complete"

    @property
    def cost(self) -> float:
        """US dollars that it cost so far, by its answers: after a kill the manifest knows nothing of them."""
        try:
            return self.read_manifest_and_tally()[1].cost
        except GenaipaError:  # told by whoever carries it out
            with contextlib.suppress(GenaipaError):
                return self.manifest().totals.cost or 0.0
        return 0.0
