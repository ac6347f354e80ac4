"""A published study as run folders with fixed names, and as recordings of its systems.

Whatever reads runs reads these as well. The same data gives the same files: nothing in them tells when or where they
were made.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from genaipa.datasets.base import ImportedStudy, make_pulled_data_workspace
from genaipa.datasets.snapshot import write_cache_file
from genaipa.errors import NOT_RECORDED
from genaipa.files.text import read_text, sha256_of
from genaipa.kinds import DEFAULT
from genaipa.questions.sets import Wording
from genaipa.runs import journal
from genaipa.runs.documents import encode_introduction
from genaipa.runs.exclusions import EXCLUSIONS, Exclusion, format_exclusions_csv
from genaipa.runs.experiments import EXPERIMENTS, StudyExperiment
from genaipa.runs.imported import (
    PUBLISHED_SCORES,
    PublishedScore,
    RecordedRun,
    format_published_scores_csv,
    update_run_listing_its_name_if_changed,
)
from genaipa.runs.manifest import CONVERSATIONS
from genaipa.runs.procedure import GUIDED, INITIALIZATIONS, Initialization, ProcedurePlan, RecordCoordinates
from genaipa.runs.records import (
    ConversationRecord,
    FailureInfo,
    Record,
    RunSpec,
    answer_digest,
    record_key,
)
from genaipa.systems.base import Message
from genaipa.systems.published import RecordedAnswer, Recording, digest_ignoring_whitespace, recording_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from genaipa.policies.document import Document
    from genaipa.questions.sets import QuestionSet
from genaipa.workspace import DataKind, Workspace


class PublishedAnswer(msgspec.Struct, frozen=True):
    """A question and a system's answer as published, with their place; `text` is None if the cell is empty."""

    system: str
    experiment: StudyExperiment
    document: str
    question: str
    wording: Wording
    repetition: int
    asked: str
    text: str | None
    file: str
    sheet: str
    cell: str

    @property
    def initialization(self) -> Initialization:
        """The initialization of its experiment."""
        return EXPERIMENTS[self.experiment].initializations[0]

    @property
    def coordinates(self) -> dict[str, str]:
        """The coordinates of its record."""
        way = self.initialization, self.wording, self.repetition
        return RecordCoordinates(self.document, *way, "", self.question).as_dict_without_empty_values()

    @property
    def key(self) -> str:
        """The key of its record: that of a run which asks the same. No two answers of a study share it."""
        return record_key(self.system, DEFAULT, self.coordinates)


@dataclass(frozen=True)
class StudyRun:
    """One run folder to be: a system's answers and scores in one experiment.

    `documents` may hold more than it is about, and `more` are further files of the folder. `part_set` is the published
    segmentation in which the system was shown the documents, `source` where the data was published.
    """

    name: str
    system: str
    experiment: StudyExperiment
    questions: str
    documents: Mapping[str, Document]
    answers: list[PublishedAnswer]
    scores: list[PublishedScore]
    part_set: str
    source: str
    wordings: tuple[Wording, ...] = ("original",)
    repetitions: int = 1
    exclusions: list[Exclusion] = field(default_factory=list)
    more: dict[str, bytes] = field(default_factory=dict)

    @property
    def documents_asked(self) -> dict[str, Document]:
        """The documents that it is about, in the study's order."""
        named = {item.document for items in (self.answers, self.scores) for item in items}
        return {name: document for name, document in self.documents.items() if name in named}

    def files(self) -> dict[str, bytes]:
        """Return name → content of every file of the folder."""
        documents, orders = self.documents_asked, self._question_order_by_document_repetition()
        annotated = [name for name in documents if name in make_pulled_data_workspace().nearest_files("annotations")]
        conversations, introductions = self._make_conversations_and_introductions(orders)
        plan = ProcedurePlan(
            documents=tuple(documents),
            questions=dict.fromkeys(documents, self.questions),
            initializations=EXPERIMENTS[self.experiment].initializations,
            prompts=(GUIDED,),
            wordings=self.wordings,
            experiment=self.experiment,
        )
        run = RecordedRun(
            name=self.name,
            spec=RunSpec(systems=(self.system,), plan=plan, repetitions=self.repetitions),
            source=self.source,
            words="recording",
            documents=documents,
            questions={self.questions: _read_pulled_text("questions", self.questions)},
            annotations={name: _read_pulled_text("annotations", name) for name in annotated},
            records=list(self._make_records()),
            orders=orders,
            more={
                CONVERSATIONS: b"".join(map(journal.encode_record_line, conversations)),
                **introductions,
                PUBLISHED_SCORES: format_published_scores_csv(self.scores),
                EXCLUSIONS: format_exclusions_csv(self.exclusions),
                **self.more,
            },
        )
        return run.files

    def _question_order_by_document_repetition(self) -> dict[str, tuple[str, ...]]:
        """Return the questions as published: in which order they were asked is not."""
        orders: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for answer in self.answers:
            orders[f"{answer.document}|{answer.repetition}"][answer.question] = None
        return {conversation: tuple(questions) for conversation, questions in orders.items()} or {
            f"{document}|1": () for document in self.documents_asked
        }

    def _make_records(self) -> Iterator[Record]:
        """Yield one record for each answer; one that the study lacks is a failure that says so."""
        turns: defaultdict[str, int] = defaultdict(int)
        for answer in self.answers:
            conversation, text = answer.key.rpartition("|")[0], answer.text
            turns[conversation] += 1
            where = f"{answer.file}, sheet '{answer.sheet}', {answer.cell}"
            yield Record(
                key=answer.key,
                status="failed" if text is None else "answered",
                conversation=conversation,
                kind="answer",
                system=answer.system,
                coordinates=answer.coordinates,
                turn=turns[conversation],
                asked=answer.asked,
                reply=text,
                started="",
                seconds=0.0,
                error=FailureInfo(NOT_RECORDED, f"the study has no such answer ({where}).") if text is None else None,
                digest=""
                if text is None
                else answer_digest(self.documents[answer.document].digest, answer.asked, text),
            )

    def _make_conversations_and_introductions(
        self, question_orders: Mapping[str, tuple[str, ...]]
    ) -> tuple[list[ConversationRecord], dict[str, bytes]]:
        """Return the beginnings of conversations that were shown a document: its parts, as the study publishes them.

        The sentences around the parts are not published. Answers cite the parts by their numbers.
        """
        introductions: dict[str, bytes] = {}
        conversations_by_id: dict[str, ConversationRecord] = {}
        for answer in self.answers:
            conversation = answer.key.rpartition("|")[0]
            if conversation in conversations_by_id or answer.initialization in ("company-name", "summary-by-name"):
                continue
            document = self.documents[answer.document]
            content = self._encode_introduction_of_parts(document)
            name = sha256_of(content.decode())
            introductions[f"introductions/{name}.json"] = content
            summarized = answer.initialization == "summary-of-document"
            conversations_by_id[conversation] = ConversationRecord(
                # A summary was written in a conversation of its own, and that one was shown the document.
                id=f"{conversation}|(summary)" if summarized else conversation,
                document=answer.document,
                system=answer.system,
                mode="shared",
                introduction=name,
                order=question_orders[f"{answer.document}|{answer.repetition}"],
            )
        return list(conversations_by_id.values()), introductions

    def _encode_introduction_of_parts(self, document: Document) -> bytes:
        parts = document.parts(self.part_set) or [(0, len(document.text))]
        texts = [document.text[start:end] for start, end in parts]
        return encode_introduction(
            [Message("user", f"Part {n}:\n{text}", "part", carries=text) for n, text in enumerate(texts, start=1)]
        )


def write_study_runs(workspace: Workspace, runs: Iterable[StudyRun]) -> ImportedStudy:
    """Write runs into the workspace; those that are there and right are left alone."""
    done = ImportedStudy()
    for run in runs:
        done.runs.setdefault(run.system, []).append(run.name)
        answered = sum(answer.text is not None for answer in run.answers)
        done.answers[run.system] = done.answers.get(run.system, 0) + answered
        done.scores[run.system] = done.scores.get(run.system, 0) + len(run.scores)
        done.changed += update_run_listing_its_name_if_changed(workspace.runs / run.name, run.files())
    return done


def write_recordings_and_list_systems(
    answers: Iterable[PublishedAnswer], questions: QuestionSet, documents: Mapping[str, Document], source: str
) -> list[str]:
    """Write the recording of each system that answered, for `systems.published`; their names.

    A question is recorded in the words of its set: published tables number, quote and shorten it.
    """
    by_system: defaultdict[str, list[PublishedAnswer]] = defaultdict(list)
    for answer in answers:
        by_system[answer.system].append(answer)
    for system, recorded in by_system.items():
        used = {answer.initialization for answer in recorded}
        recording = Recording(
            system=system,
            source=source,
            initializations=tuple(name for name in INITIALIZATIONS if name in used),
            documents={name: digest_ignoring_whitespace(document.text) for name, document in documents.items()},
            answers=tuple(
                RecordedAnswer(
                    key=answer.key.partition("|")[2],
                    asked=questions.question_text(answer.question, answer.wording, documents[answer.document].company),
                    reply=answer.text,
                )
                for answer in recorded
                if answer.text is not None
            ),
        )
        write_cache_file(recording_path(system), msgspec.json.encode(recording))
    return sorted(by_system)


def _read_pulled_text(kind: DataKind, name: str) -> str:
    return read_text(make_pulled_data_workspace().nearest_files(kind)[name][1])
