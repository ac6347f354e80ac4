"""Answers of somebody else's evaluation as the run of a recorded system: scored, judged and reported as any other.

Their metadata may name the document (`document` or `policy`: a name, or the text itself), the `company`, the
`question` if the input has more than that, its `category`, and how the document was shown (`initialization`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

from genaipa import __version__
from genaipa.errors import DataError
from genaipa.files.names import folder_words
from genaipa.files.strict_yaml import as_yaml
from genaipa.files.text import digest
from genaipa.questions.annotations import AnnotatedAnswer, Annotations
from genaipa.questions.sets import Question, QuestionSet
from genaipa.runs.experiments import experiment_of
from genaipa.runs.records import (
    FORMAT,
    Digests,
    DocumentFacts,
    FailureInfo,
    Initialization,
    Manifest,
    Record,
    RunSpec,
    Status,
    SystemFacts,
    answer_digest,
    conversation_of,
)
from genaipa.systems.base import Usage
from genaipa.tasks.plan import ProcedurePlan

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from genaipa.exchange.incoming import Incoming
    from genaipa.policies.document import Document

_NAME = 100
"""Characters up to which a line is a document's name, and not its text."""


@dataclass(frozen=True)
class Sample:
    """One answer of somebody else's, with all that is known of it; `entry` is its place in the file.

    `target` is what should have been answered, `started` when it was asked (ISO 8601), `seconds` the time to the reply.
    """

    entry: str
    metadata: Mapping[str, Any]
    asked: str
    reply: str | None
    target: str = ""
    repetition: int = 1
    status: Status = "answered"
    error: str = ""
    model: str | None = None
    started: str = ""
    seconds: float = 0.0
    usage: Usage | None = None

    def said(self, *names: str) -> str:
        """The first of these metadata that is a text; empty if none is."""
        return next((value for name in names if isinstance(value := self.metadata.get(name), str) and value), "")


@dataclass
class Recorded:
    """A system's answers in one file, on their way to a run. `texts` are documents that the file has, by name."""

    path: Path
    system: str
    task: str
    id: str
    texts: Mapping[str, str]
    incoming: Incoming
    _documents: dict[str, Document] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    """Text of a document → its name."""
    _questions: dict[str, Question] = field(default_factory=dict)
    """Text of a question → the question."""
    _records: dict[str, Record] = field(default_factory=dict)
    _targets: defaultdict[str, dict[str, AnnotatedAnswer]] = field(default_factory=lambda: defaultdict(dict))
    _orders: defaultdict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))

    @property
    def name(self) -> str:
        """The run's name."""
        return folder_words("-".join(filter(None, (self.task, self.system, self.id[:6]))), most=100) or "imported"

    def add(self, sample: Sample) -> None:
        """Take in an answer; a DataError if nothing says its document, or it comes twice."""
        document = self._document(sample)
        asked = sample.asked.replace(document.text.strip(), "").strip() or sample.asked
        question = self._question(asked, sample)
        shown = sample.said("initialization")
        initialization: Initialization = shown if shown in get_args(Initialization) else "document"  # type: ignore[assignment]
        place = conversation_of(self.system, document.name, initialization, "original", sample.repetition)
        key = f"{place}|{question.id}"
        if key in self._records:
            wrong = f"asks what another sample asks about {document.name} in the same epoch; keep one of them."
            raise DataError(self.path, wrong, sample.entry)
        failed = sample.reply is None
        self._orders[f"{document.name}|{sample.repetition}"][question.id] = None
        self._records[key] = Record(
            key=key,
            status="failed" if failed else sample.status,
            conversation=key,
            kind="answer",
            system=self.system,
            document=document.name,
            initialization=initialization,
            wording="original",
            repetition=sample.repetition,
            question=question.id,
            turn=1,
            asked=asked,
            reply=sample.reply,
            started=sample.started,
            seconds=sample.seconds,
            model=sample.model,
            usage=sample.usage,
            error=FailureInfo("error", sample.error or "the file has no answer here.") if failed else None,
            digest="" if sample.reply is None else answer_digest(document.digest, asked, sample.reply),
        )
        if sample.target.strip():
            self._targets[document.name].setdefault(question.id, AnnotatedAnswer("no", sample.target))

    def _document(self, sample: Sample) -> Document:
        """The document that an answer is about, read once."""
        said, company = sample.said("document", "policy"), sample.said("company")
        text = said if "\n" in said or len(said) > _NAME else ""
        if text:
            name = self._names.setdefault(
                text, folder_words(company.lower() or f"document-{len(self._names) + 1}") or "document"
            )
        else:
            name = folder_words(said) or (next(iter(self.texts)) if len(self.texts) == 1 else self.incoming.only_text)
        if not name:
            wrong = "names no document in its metadata; give the key 'document', or --documents with one file."
            raise DataError(self.path, wrong, sample.entry)
        if name not in self._documents:
            found = self.incoming.document(name, text or self.texts.get(name, ""), company)
            if found is None:
                wrong = f"is about '{name}'; name a folder that has its text by that name: --documents FOLDER."
                raise DataError(self.path, wrong, sample.entry)
            self._documents[name] = found
        return self._documents[name]

    def _question(self, asked: str, sample: Sample) -> Question:
        if asked not in self._questions:
            known = {one.id for one in self._questions.values()}
            said = re.sub(r"[^\w.-]+", "-", sample.said("question_id"))
            name = said if said and said not in known else f"Q{len(self._questions) + 1}"
            self._questions[asked] = Question(name, sample.said("category") or "imported", "user", asked)
        return self._questions[asked]

    def take(self) -> None:
        """Hand the run over; a DataError for a file without any answer."""
        if not self._records:
            raise DataError(self.path, "holds no answer.")
        source = f"{self.path.name}, task {self.task}"
        questions = QuestionSet(
            name=self.name,
            title=self.task,
            kind="policy",
            placeholder="[the company]",
            source=source,
            license="not stated",
            categories={one.category: one.category for one in self._questions.values()},
            questions=tuple(self._questions.values()),
        )
        files = {f"questions/{self.name}.yaml": as_yaml(questions)}
        for name, answers in self._targets.items():
            about = self._documents[name].digest
            kept = Annotations(name, self.name, (source,), answers, source=source, digest=about)
            files[f"annotations/{name}.yaml"] = as_yaml(kept)
        files |= {f"documents/{one.digest}.txt": one.text for one in self._documents.values()}
        manifest = self._manifest(files, source)
        records = list(self._records.values())
        self.incoming.add_run(self.name, manifest, records, {place: text.encode() for place, text in files.items()})

    def _manifest(self, files: Mapping[str, str], source: str) -> Manifest:
        records, documents = self._records.values(), self._documents
        shown = tuple(dict.fromkeys(record.initialization for record in records if record.initialization))
        return Manifest(
            format=FORMAT,
            name=self.name,
            status="partial" if any(record.reply is None for record in records) else "complete",
            created="",
            updated="",
            spec=RunSpec(
                systems=(self.system,),
                plan=ProcedurePlan(
                    documents=tuple(documents),
                    questions=dict.fromkeys(documents, self.name),
                    initializations=shown,
                    experiment=experiment_of("policy", shown[0], "original") if len(shown) == 1 else "",
                    conversation="independent",
                ),
                repetitions=max(record.repetition for record in records),
            ),
            digests=Digests(
                prompts={},
                documents={name: document.digest for name, document in documents.items()},
                questions={self.name: digest(files[f"questions/{self.name}.yaml"])},
                annotations={name: digest(files[f"annotations/{name}.yaml"]) for name in self._targets},
                systems={self.system: f"{self.system}, imported from {source}"},
            ),
            documents={name: DocumentFacts.of(document) for name, document in documents.items()},
            systems={self.system: SystemFacts(model=self.system, words="own", notes=[f"Imported from {source}."])},
            orders={place: tuple(questions) for place, questions in self._orders.items()},
            versions={"genaipa": __version__},
        )
