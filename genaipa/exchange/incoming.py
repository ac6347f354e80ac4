"""Runs and scores that a form has read: written here, they come back as they were; any other becomes a recorded run.

All of them are taken in, or none. An answer that is here already is left alone, as is a score.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from genaipa.datasets.study import write_run
from genaipa.errors import DataError, UnknownNameError, UsageError, clipped, command
from genaipa.exchange.outgoing import HEAD_FORMAT, Head
from genaipa.files.names import folder_words
from genaipa.files.stamps import now
from genaipa.files.strict_yaml import convert
from genaipa.files.text import DAMAGE, digest, why
from genaipa.policies.document import About, Document, load_document
from genaipa.policies.formats import SUFFIXED, extract
from genaipa.runs import journal
from genaipa.runs.integrity import flaw
from genaipa.runs.manifest import ANSWERS, LEFT_OUT, MANIFEST, WITHHELD, Withheld
from genaipa.runs.records import INITIALIZATIONS, Record, Totals
from genaipa.runs.selection import run_folders
from genaipa.scoring.answers import Pool
from genaipa.scoring.events import Event, event_decoder, new_id
from genaipa.scoring.importing import ImportedScores, ReadEvents, take_in
from genaipa.scoring.rubric import load_rubric
from genaipa.scoring.store import open_store
from genaipa.tasks.plan import plan_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from genaipa.runs.records import Manifest
    from genaipa.workspace import Workspace

_PLACE = re.compile(
    r"(prompts/([\w-][\w.-]*/)?|questions/|annotations/)[\w-][\w.-]*\.(jinja|yaml)|audit\.csv|published-scores\.csv"
)
"""The path of a file that comes with the answers of a run."""


@dataclass(frozen=True)
class Taken:
    """The outcome of an import: the runs made, and the numbers of their answers and of answers that were here before.

    With problems among the `scores`, nothing was taken. `ignored` are scores by other metrics than the rubric's.
    """

    runs: tuple[str, ...]
    answers: int
    known: int
    scores: ImportedScores
    ignored: int


class Incoming:
    """Runs and scores on their way into a workspace. `documents` is a folder of texts, by the documents' names."""

    def __init__(self, workspace: Workspace, documents: Path | None = None) -> None:
        self.workspace, self.rubric = workspace, load_rubric(workspace)
        self.ignored = self.unscored = 0
        self._pool = Pool(workspace, run_folders(workspace)).answers
        self._texts = _texts_in(documents) if documents else {}
        self._runs: dict[str, dict[str, bytes]] = {}
        self._digests: set[str] = set()
        self._answers = self._known = 0
        self._events: dict[str, ReadEvents] = {}
        """By the event's id: an answer that was given in several places brings its scores with each."""
        self._decode = event_decoder(self.rubric).decode

    # -- documents --

    def document(self, name: str, text: str = "", company: str = "") -> Document | None:
        """A document by its name, of this `text` if it is known; else of the given folder, or of the workspace."""
        if text or name in self._texts:
            made = None if text else extract(str(self._texts[name]))
            about = About(company=company or name.replace("-", " ").title(), source=made.source if made else "")
            return Document(name, made.text if made else text, about)
        try:
            return load_document(name, self.workspace)
        except UnknownNameError:
            return None

    @property
    def only_text(self) -> str:
        """The name of the only document of the given folder; empty where there are more, or none."""
        return next(iter(self._texts)) if len(self._texts) == 1 else ""

    # -- runs --

    def head(self, path: Path, raw: Any) -> Head:
        """The head of answers that were written here; a DataError for one that another genaipa wrote, or damaged."""
        head = convert(raw, Head, path)
        if head.format != HEAD_FORMAT:
            raise DataError(path, f"was written by another genaipa (format {head.format}; {HEAD_FORMAT} is read).")
        return head

    def record(self, path: Path, entry: str, head: Head, fields: Mapping[str, Any]) -> Record:
        """An answer that was written here; a DataError if anything in it was changed since."""
        try:
            record = msgspec.convert(fields, Record)
        except msgspec.ValidationError as error:
            raise DataError(path, f"is no answer as genaipa wrote it ({error}).", entry) from None
        digests = {name: facts.digest for name, facts in head.manifest.documents.items()}
        if found := flaw(record, digests, withheld=True):
            raise DataError(path, f"was changed since genaipa wrote it ({found}); export it again.", entry)
        return record

    def bring_back(self, path: Path, head: Head, records: Sequence[Record]) -> None:
        """Take in answers that were written here, as a run, unless their own run is here and has them."""
        self._digests |= {record.digest for record in records}
        if records and all(self._has(head.run, record) for record in records):
            self._known += len(records)
            return
        if odd := [place for place in head.files if not _PLACE.fullmatch(place)]:
            raise DataError(path, f"has a file '{clipped(odd[0])}', which no run has; it was not made by genaipa.")
        files = {place: text.encode() for place, text in head.files.items()}
        for document, facts in head.manifest.documents.items():
            found = self.document(document, head.documents.get(document, ""))
            if found is None or found.digest != facts.digest:
                wrong = f"lacks the text of {document}; name a folder that has it by that name: --documents FOLDER."
                raise DataError(path, wrong)
            files[f"documents/{facts.digest}.txt"] = found.text.encode()
        if any(record.asked == LEFT_OUT for record in records):
            files[WITHHELD] = msgspec.json.encode(Withheld())
        self.add_run(folder_words(head.name, most=150), _narrowed(head, records, files), records, files)

    def _has(self, run: str, record: Record) -> bool:
        known = self._pool.get(record.digest)
        return known is not None and any((one.run, one.key) == (run, record.key) for one in known.occurrences)

    def add_run(self, name: str, manifest: Manifest, records: Sequence[Record], files: dict[str, bytes]) -> None:
        """Take in a run of these records, with other files of its folder; a UsageError if another has its name."""
        kept = sum(record.reply is not None for record in records)
        statuses = Counter(record.status for record in records)
        manifest = replace(
            manifest,
            name=name,
            totals=Totals(
                planned=len(records),
                answered=statuses["answered"],
                refused=statuses["refused"],
                truncated=statuses["truncated"],
                failed=statuses["failed"],
            ),
        )
        files[ANSWERS] = b"".join(map(journal.line, records))
        files[MANIFEST] = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
        folder = self.workspace.runs / name
        if name in self._runs or (folder.exists() and any(_other(folder / one, files[one]) for one in files)):
            remove = command("genaipa", "runs", "remove", name)
            raise UsageError(f"the run {name} is there already, with other answers; take it away: {remove}")
        self._digests |= {record.digest for record in records if record.reply is not None}
        if folder.exists():
            self._known += kept
        else:
            self._answers += kept
            self._runs[name] = files

    # -- scores --

    def add_score(self, path: Path, entry: str, kept: Any, answer: str, values: Any, note: str) -> None:
        """Take in a score that was written here, or what has become of it: then it is a correction by its analyst.

        `kept` is its event as it was written, `answer` the digest of the answer that it is with. A DataError where
        these don't fit each other, or the rubric.
        """
        try:
            event = self._decode(msgspec.json.encode(kept))
            given = self.rubric.given(values)
        except (*DAMAGE, TypeError, ValueError, AttributeError) as error:
            raise DataError(path, f"is no score by this rubric ({why(error)}).", entry) from None
        if event.answer != answer:
            raise DataError(path, "was given to another answer.", entry)
        same = (event.values, " ".join(event.note.split())) == (given, " ".join(note.split()))
        if not same:
            event = replace(event, id=new_id(), time=now(), values=given, note=note, ticks=None)
        self._events.setdefault(event.id, ReadEvents(event, path, entry, itself=same))

    def add_event(self, path: Path, entry: str, event: Event) -> None:
        """Take in a score that was given elsewhere."""
        self._events[event.id] = ReadEvents(event, path, entry, itself=False)

    def take(self) -> Taken:
        """Write the runs and keep the scores; nothing if a score is wrong."""
        with contextlib.closing(open_store(self.workspace)) as store:
            scores = take_in(store, self._events.values(), self._pool.keys() | self._digests)
        scores.unscored = self.unscored
        if scores.problems:
            return Taken((), 0, 0, scores, self.ignored)
        for name, files in self._runs.items():
            write_run(self.workspace.runs / name, files)
        return Taken(tuple(self._runs), self._answers, self._known, scores, self.ignored)


def _other(path: Path, content: bytes) -> bool:
    return not path.is_file() or path.read_bytes() != content


def _texts_in(folder: Path) -> dict[str, Path]:
    """Name → file of each text in a folder."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder; --documents wants one with a file for each document.")
    return {folder_words(path.stem): path for path in sorted(folder.iterdir()) if path.suffix.lower() in SUFFIXED}


def _narrowed(head: Head, records: Sequence[Record], files: Mapping[str, bytes]) -> Manifest:
    """The manifest of a run of these records alone, whose digests are of its files."""
    manifest, used = head.manifest, {record.initialization for record in records}
    plan = plan_of(manifest.spec)
    worded = {record.wording for record in records}
    plan = replace(
        plan,
        experiment=head.experiment,
        initializations=tuple(one for one in INITIALIZATIONS if one in used) or plan.initializations,
        wordings=tuple(one for one in plan.wordings if one in worded) or plan.wordings,
    )
    documents = {name: facts.digest for name, facts in manifest.documents.items()}
    digests = replace(
        manifest.digests,
        **{kind: _of(files, kind, ending) for kind, ending in (("prompts", ".jinja"), ("questions", ".yaml"))},
        annotations=_of(files, "annotations", ".yaml"),
        documents=documents,
        systems={name: told for name, told in manifest.digests.systems.items() if name == head.system},
    )
    return replace(
        manifest,
        spec=replace(manifest.spec, systems=(head.system,), plan=plan),
        digests=digests,
        status="complete" if manifest.status == "complete" else "partial",
        planned=0,
    )


def _of(files: Mapping[str, bytes], kind: str, ending: str) -> dict[str, str]:
    """Name → SHA-256 of the files of a kind."""
    return {
        place.removeprefix(f"{kind}/").removesuffix(ending): digest(content.decode())
        for place, content in files.items()
        if place.startswith(f"{kind}/")
    }
