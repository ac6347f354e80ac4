"""Runs that were recorded elsewhere, as run folders, with scores published as averages alone.

`published-scores.csv` has averages without their single scores.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from genaipa import __version__
from genaipa.errors import RunError
from genaipa.files.spreadsheets import format_csv_records, read_csv_records
from genaipa.files.text import sha256_of
from genaipa.runs import journal
from genaipa.runs.experiments import StudyExperiment
from genaipa.runs.folder import RunFolder
from genaipa.runs.manifest import ANSWERS, MANIFEST, encode_manifest
from genaipa.runs.records import FORMAT, Digests, DocumentFacts, Manifest, RunSpec, RunTotals, SystemFacts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from genaipa.policies.document import Document
    from genaipa.runs.records import Record


PUBLISHED_SCORES = "published-scores.csv"


Average = Annotated[float, msgspec.Meta(ge=-1, le=1)]
Overall = Annotated[float, msgspec.Meta(ge=0, le=110)]
"""From 10 to 100, and a little around, so that an impossible value of a source can be kept, and excluded."""


class PublishedScore(msgspec.Struct, frozen=True):
    """One cell (or row of metrics) of a published table.

    `document` is empty for a mean over all documents of the study. `m_all` is None if the source has the five
    metrics only, and these are None if it has M_all only. `averaged` is the number of scores in the mean, 0 if
    unknown.
    """

    system: str
    experiment: StudyExperiment
    document: str
    question: str
    m_all: Overall | None
    relevance: Average | None = None
    accuracy: Average | None = None
    clarity: Average | None = None
    completeness: Average | None = None
    reference: Average | None = None
    averaged: int = 0
    file: str = ""
    sheet: str = ""
    cell: str = ""

    @property
    def document_question_exclusion_key(self) -> str:
        """The key by which a run excludes it."""
        return f"{self.document}|{self.question}"

    def __getitem__(self, metric: str) -> float | None:
        value: float | None = getattr(self, metric)
        return value


def format_published_scores_csv(scores: Iterable[PublishedScore]) -> bytes:
    """Return a CSV file of the scores, one row each."""
    return format_csv_records(PublishedScore, scores)


def read_published_scores_csv(path: Path) -> list[PublishedScore]:
    """Return the scores in such a file, none if it does not exist; a DataError names a row that can't be read."""
    return read_csv_records(path, PublishedScore) if path.is_file() else []


def load_all_published_scores(folder: RunFolder) -> list[PublishedScore]:
    """Return the published scores of a run, if it has any."""
    return read_published_scores_csv(folder.path / PUBLISHED_SCORES)


@dataclass(frozen=True)
class RecordedRun:
    """A system's answers that were recorded elsewhere, on their way to a run folder.

    `spec` names the one system, `source` the place of its answers, and `words` what its replies are. `questions` and
    `annotations` are texts of files by their names, `more` other files of the folder by their paths.
    """

    name: str
    spec: RunSpec
    source: str
    words: Literal["recording", "own"]
    documents: Mapping[str, Document]
    questions: Mapping[str, str]
    annotations: Mapping[str, str]
    records: Sequence[Record]
    orders: dict[str, tuple[str, ...]]
    more: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def manifest(self) -> Manifest:
        """The manifest: nothing in it tells when or where the run was made."""
        (system,) = self.spec.systems
        return Manifest(
            format=FORMAT,
            name=self.name,
            status="partial" if any(record.reply is None for record in self.records) else "complete",
            created="",
            updated="",
            spec=self.spec,
            digests=Digests(
                prompts={},
                documents={name: document.digest for name, document in self.documents.items()},
                questions={name: sha256_of(text) for name, text in self.questions.items()},
                annotations={name: sha256_of(text) for name, text in self.annotations.items()},
                systems={system: f"{system}, imported from {self.source}"},
            ),
            documents={name: DocumentFacts.from_document(document) for name, document in self.documents.items()},
            systems={system: SystemFacts(system, words=self.words, notes=[f"Imported from {self.source}."])},
            orders=self.orders,
            versions={"genaipa": __version__},
            totals=count_records_by_status(self.records),
        )

    @property
    def files(self) -> dict[str, bytes]:
        """Path → content of every file of the folder."""
        texts = {f"documents/{document.digest}.txt": document.text for document in self.documents.values()}
        texts |= {f"questions/{name}.yaml": text for name, text in self.questions.items()}
        texts |= {f"annotations/{name}.yaml": text for name, text in self.annotations.items()}
        return {
            **{path: text.encode() for path, text in texts.items()},
            **self.more,
            **encode_answers_and_manifest(self.manifest, self.records),
        }


def count_records_by_status(records: Sequence[Record]) -> RunTotals:
    """Count the records of a recorded run by their status."""
    counts = Counter(record.status for record in records)
    return RunTotals(
        planned=len(records),
        answered=counts["answered"],
        refused=counts["refused"],
        truncated=counts["truncated"],
        failed=counts["failed"],
    )


def encode_answers_and_manifest(manifest: Manifest, records: Iterable[Record]) -> dict[str, bytes]:
    """Return the two files that every recorded run has: its answers, and its manifest."""
    return {ANSWERS: b"".join(map(journal.encode_record_line, records)), MANIFEST: encode_manifest(manifest)}


def is_imported_published_study(folder: RunFolder) -> bool:
    """Tell whether a run was made of a published study."""
    return (folder.path / PUBLISHED_SCORES).is_file()


def file_has_content(path: Path, content: bytes) -> bool:
    """Tell whether a file is there and has this content."""
    return path.is_file() and path.read_bytes() == content


def update_run_listing_its_name_if_changed(run_path: Path, content_by_file_name: dict[str, bytes]) -> list[str]:
    """Bring a run folder to these files; the run's name if that changed anything."""
    if all(file_has_content(run_path / name, content) for name, content in content_by_file_name.items()):
        return []
    try:
        run_path.mkdir(parents=True, exist_ok=True)
        folder = RunFolder(run_path)
        with folder.hold_for_writing_and_list_repairs():
            for name, content in content_by_file_name.items():
                folder.write_file(name, content)
    except OSError as error:
        raise RunError(f"{error.filename or run_path} can't be written ({error.strerror}).") from None
    return [run_path.name]
