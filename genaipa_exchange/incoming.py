"""Runs and scores that a form has read: written here, they come back as they were; any other becomes a recorded run.

All of them are taken in, or none. An answer that is here already is left alone, as is a score.

Somebody else's answers are scored, judged and reported as any other. Their metadata may name the document (`document`
or `policy`: a name, or the text itself), the `company`, the `question` if the input has more than that, its
`category`, and how the document was shown (`initialization`).
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, get_args

import msgspec
from msgspec.structs import replace

from genaipa.errors import DataError, UnknownNameError, UsageError, clip, format_shell_command
from genaipa.files.names import clean_folder_name
from genaipa.files.stamps import now
from genaipa.files.strict_yaml import convert_to_type, format_yaml, parse_yaml_or_keep_bytes
from genaipa.files.text import DAMAGE, clip_error_message, sha256_of
from genaipa.kinds import DEFAULT
from genaipa.policies.companies import name_as_company_or_placeholder
from genaipa.policies.document import About, Document, document_layers_and_paths_by_name, load_document
from genaipa.policies.formats import SUFFIXED, extract_document
from genaipa.questions.annotations import AnnotatedAnswer, Annotations
from genaipa.questions.sets import Question, QuestionSet
from genaipa.runs.experiments import classify_experiment
from genaipa.runs.folder import RunFolder
from genaipa.runs.imported import (
    RecordedRun,
    count_records_by_status,
    encode_answers_and_manifest,
    update_run_listing_its_name_if_changed,
)
from genaipa.runs.integrity import describe_record_flaw_or_empty as flaw_of_record
from genaipa.runs.manifest import LEFT_OUT, MANIFEST, WITHHELD, WithheldTextFacts
from genaipa.runs.procedure import (
    INITIALIZATIONS,
    Initialization,
    ProcedurePlan,
    RecordCoordinates,
    assert_procedure_run_and_get_plan,
    read_coordinates,
)
from genaipa.runs.records import FailureInfo, Manifest, Record, RunSpec, Status, answer_digest, record_key
from genaipa.runs.selection import list_run_folders_oldest_first
from genaipa.scoring.answers import AnswerPool
from genaipa.scoring.events import Event, make_event_decoder, new_event_id
from genaipa.scoring.importing import (
    ImportOutcome,
    ReadEvent,
    event_content_without_time_and_ticks,
    find_imported_event_problem,
    store_events_or_return_problems,
)
from genaipa.scoring.people import FILE as DESK
from genaipa.scoring.people import load_desk_people_and_plan
from genaipa.scoring.rubric import load_rubric
from genaipa.scoring.store import open_existing_store, open_or_create_store
from genaipa.systems.base import Usage
from genaipa.systems.thoughts import split_thoughts
from genaipa.words import format_count, join_names
from genaipa_exchange.chat_options import ChatOptions, MatchRow
from genaipa_exchange.outgoing import HEAD_FORMAT, ExportHead

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from genaipa.scoring.people import People
    from genaipa.workspace import Workspace


_FILE_PATH = re.compile(
    r"(prompts/([\w-][\w.-]*/)?|questions/|annotations/)[\w-][\w.-]*\.(jinja|yaml)|exclusions\.csv|published-scores\.csv"
)
"""The path of a file that comes with the answers of a run."""


@dataclass(frozen=True)
class ImportSummary:
    """The outcome of an import: the runs made, and the numbers of their answers and of answers that were here before.

    With problems among the `scores`, nothing was taken. `ignored` are scores by other metrics than the rubric's, and
    `notes` say what was left out or replaced in texts that came along, and what looks wrong there.
    """

    runs: tuple[str, ...]
    answers: int
    known: int
    scores: ImportOutcome
    ignored: int
    notes: tuple[str, ...] = ()
    matches: tuple[MatchRow, ...] = ()
    """The questions that were found in chats."""


class Incoming:
    """Runs and scores on their way into a workspace. `documents` is a folder of texts, by the documents' names.

    `annotators` are the names of people whom a file knows by number alone, by that number.
    """

    def __init__(
        self,
        workspace: Workspace,
        documents: Path | None = None,
        annotators: Mapping[str, str] | None = None,
        chats: ChatOptions | None = None,
    ) -> None:
        self.workspace, self.rubric, self.chats = workspace, load_rubric(workspace), chats or ChatOptions()
        self._annotators = dict(annotators or {})
        self._numbers: Counter[str] = Counter()
        """Number → how many scores a file has of the person whom it knows by this number alone."""
        self.ignored = self.unscored = 0
        self._pool = AnswerPool(workspace, list_run_folders_oldest_first(workspace))
        self._texts = _map_document_names_to_files(documents) if documents else {}
        self._runs: dict[str, dict[str, bytes]] = {}
        self._notes: dict[str, None] = {}
        self._digests: set[str] = set()
        self._answers = self._known = 0
        self._events: dict[str, ReadEvent] = {}
        """By the event's id: an answer that was given in several places brings its scores with each."""
        self._decode = make_event_decoder(self.rubric).decode

    # -- documents --

    def make_or_load_document(self, name: str, text: str = "", company: str = "") -> Document | None:
        """Return a document by its name, of this `text` if it is known; else of the given folder or the workspace."""
        if text or name in self._texts:
            extracted = None if text else extract_document(str(self._texts[name]))
            if extracted:
                self._notes |= dict.fromkeys(f"{extracted.source}: {note}." for note in extracted.notes)
            about = About(
                company=company or name_as_company_or_placeholder(name), source=extracted.source if extracted else ""
            )
            return Document(name, extracted.text if extracted else text, about)
        try:
            return load_document(name, self.workspace)
        except UnknownNameError:
            return None

    @property
    def given_and_workspace_document_names(self) -> list[str]:
        """The names of the documents of the given folder, and of the workspace."""
        return [*dict.fromkeys((*self._texts, *document_layers_and_paths_by_name(self.workspace)))]

    @property
    def name_of_only_given_document(self) -> str:
        """The name of the only document of the given folder; empty where there are more, or none."""
        return next(iter(self._texts)) if len(self._texts) == 1 else ""

    # -- runs --

    def parse_export_head(self, path_for_errors: Path, raw: Any) -> ExportHead:
        """Return the head of answers that were written here; a DataError for another genaipa's, or a damaged one."""
        head = convert_to_type(raw, ExportHead, path_for_errors)
        if head.format != HEAD_FORMAT:
            raise DataError(
                path_for_errors,
                f"has format {head.format}, but genaipa reads format {HEAD_FORMAT}; export it with this version.",
            )
        return head

    def parse_verified_record(self, path: Path, entry: str, head: ExportHead, fields: Mapping[str, Any]) -> Record:
        """Return an answer that was written here; a DataError if anything in it was changed since."""
        try:
            record = msgspec.convert(fields, Record)
        except msgspec.ValidationError as error:
            raise DataError(path, f"is not an answer that genaipa wrote ({error}).", entry) from None
        digests = {name: facts.digest for name, facts in head.manifest.documents.items()}
        if flaw := flaw_of_record(record, digests, texts_withheld=True):
            raise DataError(path, f"was changed after genaipa wrote it ({flaw}); export it again.", entry)
        return record

    def add_genaipa_run(self, path_for_errors: Path, head: ExportHead, records: Sequence[Record]) -> None:
        """Take in answers that were written here, as a run, unless their own run is here and has them."""
        self._digests |= {record.digest for record in records}
        if records and all(self._has_answer(head.run, record) for record in records):
            self._known += len(records)
            return
        if foreign_paths := [path_in_run for path_in_run in head.files if not _FILE_PATH.fullmatch(path_in_run)]:
            raise DataError(
                path_for_errors,
                f"has a file '{clip(foreign_paths[0])}', which does not belong in a run; genaipa did not write it.",
            )
        files = {path_in_run: text.encode() for path_in_run, text in head.files.items()}
        for document, facts in head.manifest.documents.items():
            policy = self.make_or_load_document(document, head.documents.get(document, ""))
            if policy is None or policy.digest != facts.digest:
                wrong = f"lacks the text of {document}; give a folder with a file of that name: --documents FOLDER."
                raise DataError(path_for_errors, wrong)
            files[f"documents/{facts.digest}.txt"] = policy.text.encode()
        if any(record.asked == LEFT_OUT for record in records):
            files[WITHHELD] = msgspec.json.encode(WithheldTextFacts())
        name = clean_folder_name(head.name, max_characters=150)
        manifest = replace(
            _restrict_manifest_to_records(head, records, files), name=name, totals=count_records_by_status(records)
        )
        self.add_run_or_refuse_taken_name(name, records, files | encode_answers_and_manifest(manifest, records))

    def count_matching_answers_in_runs(self, system: str, digest: str, *, key: str = "", started: str = "") -> int:
        """Count the answers of a system here that have this digest, and the `key` and the start that are given."""
        pooled, count = self._pool.answers.get(digest), 0
        for occurrence in pooled.occurrences if pooled else ():
            if occurrence.system == system and key in ("", occurrence.key):
                folder = RunFolder(self.workspace.runs / occurrence.run)
                count += not started or folder.read_records_at([occurrence.offset])[0].started == started
        return count

    def increment_known_answer_count(self) -> None:
        """Count an answer that is here already."""
        self._known += 1

    def _has_answer(self, run_name: str, record: Record) -> bool:
        pooled = self._pool.answers.get(record.digest)
        return pooled is not None and any(
            (occurrence.run, occurrence.key) == (run_name, record.key) for occurrence in pooled.occurrences
        )

    def add_run_or_refuse_taken_name(self, name: str, records: Sequence[Record], files: dict[str, bytes]) -> None:
        """Take in a run of these records with all files of its folder; a UsageError if another has its name."""
        replies = sum(record.reply is not None for record in records)
        folder = self.workspace.runs / name
        before = self._runs.get(name)
        if not before:
            present = (path for path in files if (folder / path).is_file())
            before = {path: (folder / path).read_bytes() for path in present} if folder.exists() else None
        if before is not None and _comparable_files(before) != _comparable_files(files):
            remove = format_shell_command("genaipa", "runs", "rm", name)
            raise UsageError(f"there is already a run {name} with other answers; remove it: {remove}")
        self._digests |= {record.digest for record in records if record.reply is not None}
        if before is not None:
            self._known += replies
        else:
            self._answers += replies
            self._runs[name] = files

    # -- scores --

    def add_genaipa_score_or_correction(
        self, path: Path, entry: str, written_event: Any, answer_digest: str, current_values: Any, current_note: str
    ) -> None:
        """Take in a score that was written here, or what has become of it: then it is a correction by its analyst.

        `written_event` is its event as it was written, `answer_digest` the digest of the answer that it is with. A
        DataError where these don't fit each other, or the rubric.
        """
        try:
            event = self._decode(msgspec.json.encode(written_event))
            new_values = self.rubric.make_values(current_values)
        except (*DAMAGE, TypeError, ValueError, AttributeError) as error:
            raise DataError(
                path, f"is not a valid score for this rubric ({clip_error_message(error)}).", entry
            ) from None
        if event.answer != answer_digest:
            raise DataError(path, "belongs to another answer.", entry)
        if problem := find_imported_event_problem(event, self.rubric):
            raise DataError(path, problem, entry)
        is_unchanged = (event.values, " ".join(event.note.split())) == (new_values, " ".join(current_note.split()))
        if not is_unchanged:
            changes = {"values": new_values, "note": current_note, "ticks": None, "order": ""}  # not at the desk
            event = replace(event, id=new_event_id(), time=now(), **changes)
        self._events.setdefault(event.id, ReadEvent(event, path, entry, has_id=is_unchanged))

    def add_foreign_score(self, path: Path, entry: str, event: Event) -> None:
        """Take in a score that was given elsewhere; a DataError if its analyst has no name that can be kept."""
        try:
            event = replace(event, analyst=self._person_name_resolver(event.analyst))
        except UsageError as error:
            raise DataError(path, str(error), entry) from None
        self._events[event.id] = ReadEvent(event, path, entry, has_id=False)

    def count_score_and_name_annotator(self, number: str) -> str:
        """Name a person whom a file knows by number alone: as was given, else "annotator" and the number."""
        self._numbers[number] += 1
        return self._annotators.get(number) or _name_annotator(number)

    def _check_and_note_annotator_numbers(self, file_names: str, stored_events: Sequence[Event]) -> None:
        """Note who has a number alone; a UsageError for a name that was given to none, or if somebody has it already.

        Each server counts its people from 1, so that its first user is not that of another.
        """
        if lacking := sorted(self._annotators.keys() - self._numbers.keys()):
            numbers = (
                f"its annotators are numbered {join_names(sorted(self._numbers))}"
                if self._numbers
                else "it names all of its annotators"
            )
            raise UsageError(f"{file_names} has no annotator {clip(lacking[0])}: {numbers}.")
        unnamed = {_name_annotator(key): key for key in self._numbers if key not in self._annotators}
        given_scores, events = (
            {event_content_without_time_and_ticks(event) for event in stored_events},
            [read.event for read in self._events.values()],
        )
        for key, name in self._annotators.items():
            before, spelt = _name_annotator(key), self._person_name_resolver(name)
            renamed_events = (replace(event, analyst=before) for event in events if event.analyst == spelt != before)
            if not self._desk_people.exclusion_reason_or_empty(before) and any(
                event_content_without_time_and_ticks(event) in given_scores for event in renamed_events
            ):
                raise UsageError(
                    f"scores from {file_names} are already here under the name {before} and would count twice; "
                    f"exclude that name in {DESK} with left_out: {{{before}: is {name}}}, and import again."
                )
        if not unnamed:
            return
        example = ",".join(f"{key}=NAME" for key in unnamed.values())
        scored = {event.analyst for event in stored_events}
        for name in unnamed:
            if name in scored and not all(
                event_content_without_time_and_ticks(event) in given_scores for event in events if event.analyst == name
            ):
                raise UsageError(
                    f"{file_names} identifies an annotator only by number, and scores of {name} are already "
                    f"here; only you know whether this is the same person. Name the annotator: --annotators {example}"
                )
        names_with_counts = ", ".join(
            f"{name} ({format_count(self._numbers[key], 'score')})" for name, key in unnamed.items()
        )
        self._notes[
            f"{file_names} identifies annotators only by number; they are called {names_with_counts}. To name them: "
            f"--annotators {example}"
        ] = None

    @cached_property
    def _person_name_resolver(self) -> Callable[[str], str]:
        """A person's name as the file has it → as their scores are kept."""
        with open_existing_store(self.workspace) as store:
            analysts = {event.analyst for _, event in store.read_numbered_events()} if store else set()
        return cache(lambda name: self._desk_people.resolve_name(name, analysts))

    @cached_property
    def _desk_people(self) -> People:
        return load_desk_people_and_plan(self.workspace)

    def write_runs_and_scores(self, notes: tuple[str, ...] = (), matches: tuple[MatchRow, ...] = ()) -> ImportSummary:
        """Write the runs and keep the scores; nothing if a score is wrong."""
        with contextlib.closing(open_or_create_store(self.workspace)) as store:
            if self._numbers or self._annotators:
                paths = dict.fromkeys(event.path.name for event in self._events.values())
                self._check_and_note_annotator_numbers(
                    " and ".join(paths) or "the file", [event for _, event in store.read_numbered_events()]
                )
            known_answers = self._pool.answers.keys() | self._digests
            scores = store_events_or_return_problems(store, self._events.values(), known_answers, self._pool.authors)
        scores.unscored = self.unscored
        if scores.problems:
            return ImportSummary((), 0, 0, scores, self.ignored)
        for name, files in self._runs.items():
            update_run_listing_its_name_if_changed(self.workspace.runs / name, files)
        notes = (*self._notes, *notes)
        return ImportSummary(tuple(self._runs), self._answers, self._known, scores, self.ignored, notes, matches)


def _name_annotator(number: str) -> str:
    return f"annotator {number}".strip()


def _map_document_names_to_files(folder: Path) -> dict[str, Path]:
    """List the texts in a folder: name → file."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; --documents needs a folder with one file for each document.")
    return {clean_folder_name(path.stem): path for path in sorted(folder.iterdir()) if path.suffix.lower() in SUFFIXED}


_ORIGIN = ("source", "annotators")
"""Fields of questions and annotated answers that name the file in which they came."""


def _comparable_files(files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return a run's files as they are compared: the same log is the same run, whatever its file is called."""
    contents: dict[str, Any] = {path: content for path, content in files.items() if path != MANIFEST}
    for path in (path for path in contents if path.endswith(".yaml")):
        fields = parse_yaml_or_keep_bytes(contents[path])
        contents[path] = {k: v for k, v in fields.items() if k not in _ORIGIN} if isinstance(fields, dict) else fields
    return contents


def _restrict_manifest_to_records(head: ExportHead, records: Sequence[Record], files: Mapping[str, bytes]) -> Manifest:
    """Return the manifest of a run of these records alone, whose digests are of its files."""
    manifest, places = head.manifest, [*map(read_coordinates, records)]
    used = {at.initialization for at in places}
    plan = assert_procedure_run_and_get_plan(manifest.spec)
    worded = {at.wording for at in places}
    plan = replace(
        plan,
        experiment=head.experiment,
        initializations=tuple(choice for choice in INITIALIZATIONS if choice in used) or plan.initializations,
        wordings=tuple(choice for choice in plan.wordings if choice in worded) or plan.wordings,
    )
    documents = {name: facts.digest for name, facts in manifest.documents.items()}
    digests = replace(
        manifest.digests,
        **{
            kind: _digest_files_of_folder(files, kind, ending)
            for kind, ending in (("prompts", ".jinja"), ("questions", ".yaml"))
        },
        annotations=_digest_files_of_folder(files, "annotations", ".yaml"),
        documents=documents,
        systems={name: facts for name, facts in manifest.digests.systems.items() if name == head.system},
    )
    return replace(
        manifest,
        spec=replace(manifest.spec, systems=(head.system,), plan=plan),
        digests=digests,
        status="complete" if manifest.status == "complete" else "partial",
        planned=0,
    )


def _digest_files_of_folder(files: Mapping[str, bytes], folder_name: str, ending: str) -> dict[str, str]:
    """Digest the files of a kind: name → SHA-256."""
    return {
        path.removeprefix(f"{folder_name}/").removesuffix(ending): sha256_of(content.decode())
        for path, content in files.items()
        if path.startswith(f"{folder_name}/")
    }


_LONGEST_NAME = 100
"""Characters up to which a line is a document's name, and not its text."""


@dataclass(frozen=True)
class ForeignSample:
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

    def first_metadata_text(self, *names: str) -> str:
        """Return the first of these metadata that is a text; empty if none is."""
        return next((value for name in names if isinstance(value := self.metadata.get(name), str) and value), "")


@dataclass
class ForeignLog:
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
    def run_name(self) -> str:
        """The run's name."""
        return (
            clean_folder_name("-".join(filter(None, (self.task, self.system, self.id[:6]))), max_characters=100)
            or "imported"
        )

    def add_sample(self, sample: ForeignSample) -> None:
        """Take in an answer; a DataError if nothing says its document, or it comes twice."""
        document = self._find_or_load_document(sample)
        question_text = sample.asked.replace(document.text.strip(), "").strip() or sample.asked
        question = self._find_or_make_question(question_text, sample)
        shown_as = sample.first_metadata_text("initialization")
        initialization: Initialization = shown_as if shown_as in get_args(Initialization) else "document"  # type: ignore[assignment]
        at = RecordCoordinates(document.name, initialization, "original", sample.repetition, "", question.id)
        key = record_key(self.system, DEFAULT, at.as_dict_without_empty_values())
        if key in self._records:
            wrong = (
                f"repeats the question of another sample about {document.name} in the same epoch; keep one of the two."
            )
            raise DataError(self.path, wrong, sample.entry)
        thoughts, reply, _ = split_thoughts(sample.reply or "")
        failed = sample.reply is None
        self._orders[f"{document.name}|{sample.repetition}"][question.id] = None
        self._records[key] = Record(
            key=key,
            status="failed" if failed else "truncated" if thoughts and not reply else sample.status,
            conversation=key,
            kind="answer",
            system=self.system,
            coordinates=at.as_dict_without_empty_values(),
            turn=1,
            asked=question_text,
            reply=None if failed else reply,
            thoughts=thoughts,
            started=sample.started,
            seconds=sample.seconds,
            model=sample.model,
            usage=sample.usage,
            error=FailureInfo("error", sample.error or "the file has no answer here.") if failed else None,
            digest="" if failed else answer_digest(document.digest, question_text, reply),
        )
        if sample.target.strip():
            self._targets[document.name].setdefault(question.id, AnnotatedAnswer("no", sample.target))

    def _find_or_load_document(self, sample: ForeignSample) -> Document:
        """Return the document that an answer is about, read once."""
        document_text, company = sample.first_metadata_text("document", "policy"), sample.first_metadata_text("company")
        text = document_text if "\n" in document_text or len(document_text) > _LONGEST_NAME else ""
        if text:
            name = self._names.setdefault(
                text, clean_folder_name(company.lower() or f"document-{len(self._names) + 1}") or "document"
            )
        else:
            name = clean_folder_name(document_text) or (
                next(iter(self.texts)) if len(self.texts) == 1 else self.incoming.name_of_only_given_document
            )
        if not name:
            wrong = (
                "does not name a document in its metadata; add the key 'document', or give --documents "
                "a folder with one file."
            )
            raise DataError(self.path, wrong, sample.entry)
        if name not in self._documents:
            document = self.incoming.make_or_load_document(name, text or self.texts.get(name, ""), company)
            if document is None:
                wrong = f"lacks the text of '{name}'; give a folder with a file of that name: --documents FOLDER."
                raise DataError(self.path, wrong, sample.entry)
            self._documents[name] = document
        return self._documents[name]

    def _find_or_make_question(self, text: str, sample: ForeignSample) -> Question:
        if text not in self._questions:
            ids = {question.id for question in self._questions.values()}
            wanted_id = re.sub(r"[^\w.-]+", "-", sample.first_metadata_text("question_id"))
            name = wanted_id if wanted_id and wanted_id not in ids else f"Q{len(self._questions) + 1}"
            self._questions[text] = Question(name, sample.first_metadata_text("category") or "imported", "user", text)
        return self._questions[text]

    def add_run_to_incoming(self) -> None:
        """Hand the run over; a DataError for a file without any answer."""
        if not self._records:
            raise DataError(self.path, "contains no answers.")
        source = f"{self.path.name}, task {self.task}"
        questions = QuestionSet(
            name=self.run_name,
            title=self.task,
            kind="policy",
            placeholder="[the company]",
            source=source,
            license="not stated",
            categories={question.category: question.category for question in self._questions.values()},
            questions=tuple(self._questions.values()),
        )
        annotations = {}
        for name, answers in self._targets.items():
            about = self._documents[name].digest
            annotated = Annotations(name, self.run_name, (source,), answers, source=source, digest=about)
            annotations[name] = format_yaml(annotated)
        records, documents = list(self._records.values()), self._documents
        initializations = tuple(dict.fromkeys(read_coordinates(record).initialization for record in records))
        plan = ProcedurePlan(
            documents=tuple(documents),
            questions=dict.fromkeys(documents, self.run_name),
            initializations=initializations,
            experiment=classify_experiment("policy", initializations[0], "original")
            if len(initializations) == 1
            else "",
            conversation="independent",
        )
        run = RecordedRun(
            name=self.run_name,
            spec=RunSpec((self.system,), plan=plan, repetitions=max(record.repetition for record in records)),
            source=source,
            words="own",
            documents=documents,
            questions={self.run_name: format_yaml(questions)},
            annotations=annotations,
            records=records,
            orders={conversation: tuple(questions) for conversation, questions in self._orders.items()},
        )
        self.incoming.add_run_or_refuse_taken_name(self.run_name, records, run.files)
