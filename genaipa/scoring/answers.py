"""The answers of runs that can be scored, each text once, and blind.

An answer is identified by question, document and reply (`Record.digest`). The same reply of several systems, wordings
or repetitions is one answer with several occurrences, scored once for all. The names of assistants and of their
vendors are masked in it.
"""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from sys import intern
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from genaipa.errors import DataError, GenaipaError
from genaipa.files.text import DAMAGE, clip_error_message
from genaipa.kinds import DEFAULT
from genaipa.questions.annotations import describe_correction_or_empty
from genaipa.questions.sets import Wording
from genaipa.runs.authors import AnswerAuthors
from genaipa.runs.exclusions import read_exclusions
from genaipa.runs.inputs import RunDocumentsAndQuestions
from genaipa.runs.integrity import describe_record_flaw_or_empty
from genaipa.runs.journal import AnswerFileFollower
from genaipa.runs.procedure import assert_procedure_run_and_get_plan, read_coordinates
from genaipa.runs.records import RecordHead, Status, answer_digest
from genaipa.runs.selection import describe_study_problems, list_run_folders_oldest_first
from genaipa.scoring.evidence.asked import QuestionWordings
from genaipa.scoring.evidence.doubts import describe_likely_wrong_cited_section
from genaipa.scoring.masking import list_names_revealing_system, mask_names, sort_distinct_names_longest_first

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from genaipa.policies.document import Document, DocumentKind
    from genaipa.questions.annotations import AnnotatedAnswer
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Record
    from genaipa.runs.selection import SelectedRun
    from genaipa.scoring.events import Event
    from genaipa.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One place of an answer: the run, the parts of its key in it, and the byte `offset` of its record.

    `category` is the question's, empty where the run's copy of the questions lacks it.
    """

    run: str
    key: str
    system: str
    document: str
    initialization: str
    wording: Wording
    repetition: int
    question: str
    category: str
    offset: int


@dataclass(slots=True)
class PooledAnswer:
    """One answer with its occurrences, at least one; the properties are the first one's."""

    digest: str
    document_digest: str
    kind: DocumentKind
    status: Status
    occurrences: list[Occurrence]

    @property
    def document(self) -> str:
        """The document's name."""
        return self.occurrences[0].document

    @property
    def question(self) -> str:
        """The question's id in its set."""
        return self.occurrences[0].question

    @property
    def category(self) -> str:
        """The question's category."""
        return self.occurrences[0].category

    @property
    def wording(self) -> Wording:
        """The wording of the question that was asked."""
        return self.occurrences[0].wording


def pair_events_with_all_occurrences(
    events: Iterable[Event], answers: Mapping[str, PooledAnswer]
) -> Iterator[tuple[Occurrence | None, Event]]:
    """Yield each event with each occurrence of its answer, as the rows of one table; None for an unknown answer."""
    for event in events:
        answer = answers.get(event.answer)
        for occurrence in tuple(answer.occurrences) if answer else (None,):
            yield occurrence, event


class Exchange(NamedTuple):
    """A question in its set's words, and the reply to it without the names of its system."""

    asked: str
    reply: str

    @property
    def as_text_with_speakers(self) -> str:
        """The exchange as people read it, with whose words they are; a person's reply is a system's like any other."""
        return f"Asked before: {self.asked}\nThe system replied: {self.reply}"


def format_question_with_earlier_exchange(question_text: str, earlier: Exchange | None) -> str:
    """Return a question as people read it: a follow-up says nothing without the exchange that it goes on from."""
    return f"{question_text}\n\n({earlier.as_text_with_speakers})" if earlier else question_text


@dataclass(frozen=True)
class ScoringCase:
    """Everything needed to score one answer.

    `asked` is the question in its set's words (the record's may tell which system it was), `original` its original
    wording, empty if that is `asked`. `part_set` is the segmentation that "Part n" in the `annotated` answer refers to.
    `parts` are the spans (characters of the document's text) in which the system was given the document, if it was.
    `names` are masked (see `mask_names`). A `summarised` answer was given from a summary. `questions` is the set asked.
    `passages` are the texts that its system retrieved, without their sources and scores, which tell systems apart;
    `cites_passages` says that it cites them instead, by a feature of its vendor's.
    `wordings` are those of the question, `all_questions` those of the set. `doubt` says why the annotated answer is
    wrong, or seems to be; empty where nothing is known against it. `earlier` is the exchange that a follow-up goes on
    from.
    """

    answer: PooledAnswer
    asked: str
    reply: str
    original: str
    document: Document
    annotated: AnnotatedAnswer | None
    part_set: str
    parts: tuple[tuple[int, int], ...]
    names: tuple[str, ...]
    summarised: bool = False
    questions: str = ""
    passages: tuple[str, ...] = ()
    cites_passages: bool = False
    wordings: tuple[str, ...] = ()
    all_questions: tuple[str, ...] = ()
    doubt: str = ""
    earlier: Exchange | None = None

    @property
    def reliable_annotation(self) -> AnnotatedAnswer | None:
        """The annotated answer, if nothing is known against it: evidence rests on no other."""
        return None if self.doubt else self.annotated

    @property
    def question(self) -> QuestionWordings:
        """The question in all its wordings."""
        return QuestionWordings(
            tuple(dict.fromkeys(filter(None, (self.asked, self.original, *self.wordings)))), self.all_questions
        )

    @property
    def asked_with_earlier_exchange(self) -> str:
        """The question, with the exchange that a follow-up goes on from."""
        return format_question_with_earlier_exchange(self.asked, self.earlier)

    def mask_names_in_reply(self) -> str:
        """Mask the names of the reply's systems, unless document, company or question name them too."""
        earlier = self.earlier.asked if self.earlier else ""
        visible = f"{self.document.text}\n{self.document.company}\n{self.asked}\n{earlier}"
        return mask_names(self.reply, self.names, visible)


_decode = msgspec.json.Decoder(RecordHead).decode


class _RunAnswers:
    """The answers of one run, read on as its file grows. A DataError if its manifest can't be used."""

    def __init__(self, workspace: Workspace, folder: RunFolder, source: SelectedRun | None, *, excluded: bool) -> None:
        self.folder = folder
        self.inputs = RunDocumentsAndQuestions(workspace, folder)
        self._source = source
        self.excluded_keys = frozenset[str]() if excluded else frozenset(read_exclusions(folder, "answer"))
        self._wrong_annotations = read_exclusions(folder, "annotation")
        self.excluded_answers: dict[str, str] = {}
        """Key → digest of an answer that the run excludes."""
        self.latest_digests: dict[str, str] = {}
        """Key → digest of its latest answer."""
        self.documents: dict[str, bool] = {}
        """Document → whether its text is there."""
        self.problems: list[str] = []
        self.starts_over = True
        """Whether nothing that was read before holds."""
        self._digests = {name: facts.digest for name, facts in self.inputs.manifest.documents.items()}
        self._withheld = folder.has_withheld_texts
        self._file = AnswerFileFollower(folder)
        self._changed = False

    def restart_if_rewritten_and_tell_if_changed(self) -> bool:
        """Tell whether the file has changed since the last call; quick where it has not."""
        self._changed = self._file.has_changed_since_last_call()
        if self._changed and not self._file.is_last_line_in_place():
            self._file = AnswerFileFollower(self.folder)
            self._changed, self.starts_over = self._file.has_changed_since_last_call(), True
        return self._changed

    def read_new_records(self) -> Iterator[tuple[int, RecordHead]]:
        """Yield (offset, record) of each whole line since the last time; damaged and lost lines become problems."""
        if self.starts_over and (lack := self.folder.describe_lost_answers_or_empty(self.inputs.manifest)):
            self.problems.append(lack)
        self.starts_over = False
        if not self._changed:
            return
        try:
            for offset, line in self._file.read_new_lines_with_offsets():
                if (record := self._decode_record_or_note_problem(line)) is not None:
                    yield offset, record
        except OSError as error:
            path = self.folder.answers_path
            self.problems.append(f"{path}: can't be read ({error.strerror}), so its answers can't be scored.")

    def _decode_record_or_note_problem(self, line: bytes) -> RecordHead | None:
        try:
            record = _decode(line)
        except DAMAGE as error:
            problem = f"is not a record ({clip_error_message(error)})"
        else:
            change = describe_record_flaw_or_empty(record, self._digests, texts_withheld=self._withheld)
            if not change:
                return record
            problem = f"was changed ({change})"
        path = self.folder.answers_path
        self.problems.append(f"{path}: line {self._file.lines} {problem}, so it can't be scored; restore the file.")
        return None

    def is_selected_by_source(self, record: RecordHead) -> bool:
        """Whether the answer is one of the wanted ones."""
        return self._source is None or self._source.includes_record(record)

    def can_read_document_or_note_problem(self, document_name: str) -> bool:
        """Whether a document's text can be read; if not, `problems` says so."""
        if document_name not in self.documents:
            self.documents[document_name] = True
            try:
                self.inputs.document(document_name)
            except GenaipaError as error:
                self.problems.append(f"{error} Answers about {document_name} in {self.folder.name} can't be scored.")
                self.documents[document_name] = False
        return self.documents[document_name]

    def describe_annotation_doubts(self, document: str, question: str) -> str:
        """Describe what speaks against an annotated answer: corrections, the run, and its own words."""
        annotated, part_set = self.inputs.annotated_answer_and_part_set_name(document, question)
        if annotated is None:
            return ""
        right, _ = self.inputs.annotated_answer_and_part_set_name(document, question, corrected=True)
        wrong = self._wrong_annotations.get(f"{document}|{question}")
        doubts = (
            describe_correction_or_empty(annotated, right) if right else "",
            wrong.reason if wrong else "",
            describe_likely_wrong_cited_section(annotated, self.inputs.document(document), part_set),
        )
        return " ".join(dict.fromkeys(filter(None, doubts)))

    def load_record(self, occurrence: Occurrence, digest: str) -> Record:
        """Load the record of an occurrence; a GenaipaError if the file no longer has this answer there."""
        with contextlib.suppress(OSError):
            record = self.folder.read_records_at([occurrence.offset])[0]
            if record.key == occurrence.key and record.reply is not None:
                document = self.inputs.manifest.documents[record.document].digest
                if record.digest == digest == answer_digest(document, record.asked, record.reply or "", record.after):
                    return record
        raise DataError(
            self.folder.answers_path,
            f"no longer has the answer '{occurrence.key}' as recorded; restore the file, then reopen the desk.",
        )


class AnswerPool:
    """The answers that can be scored: the latest of each key of each run, if it has a reply.

    `answers` has them by digest; `arrivals` lists the digests as they came (twice, if one went and came back), and
    `generation` grows whenever one went. Runs, lines and files that can't be used are left out and become `problems`.
    Any number of threads may share a pool.

    `sources` narrow a run to the systems and answers that they mean. Without `excluded`, answers that
    their run excludes are left out, unless the same text counts elsewhere. `authors` are those of all runs of the
    workspace: a text has the author that it has in any of them.
    """

    def __init__(
        self,
        workspace: Workspace,
        folders: Sequence[RunFolder],
        *,
        sources: Iterable[SelectedRun] = (),
        excluded: bool = True,
    ) -> None:
        self.answers: dict[str, PooledAnswer] = {}
        self.arrivals: list[str] = []
        self.generation = 0
        self.authors = AnswerAuthors([*list_run_folders_oldest_first(workspace), *folders])
        self._runs: dict[str, _RunAnswers] = {}
        self._unusable_runs: list[str] = []
        self._unreadable: dict[str, str] = {}
        """Digest of an unreadable answer → the sentence that says so."""
        self._lock = threading.Lock()
        sources_by_run = {source.folder.name: source for source in sources}
        for folder in folders:
            try:
                self._runs[folder.name] = _RunAnswers(
                    workspace, folder, sources_by_run.get(folder.name), excluded=excluded
                )
            except GenaipaError as error:
                self._unusable_runs.append(f"{error} The run is left out.")
        self._lost = describe_study_problems(workspace, (run.inputs.manifest.slice for run in self._runs.values()))
        self.read_new_answers()

    @property
    def sentence_on_exclusions_or_empty(self) -> str:
        """Return a sentence on the number of excluded answers; "" if none."""
        count = len(
            {digest for run in self._runs.values() for digest in run.excluded_answers.values()} - self.answers.keys()
        )
        if not count:
            return ""
        if count == 1:
            return "1 answer is left out because its run excludes it (--include-excluded includes it)."
        return f"{count:,} answers are left out because their runs exclude them (--include-excluded includes them)."

    @property
    def category_by_question(self) -> dict[str, str]:
        """Question → its category, in the order of the sets that the runs asked."""
        question_sets = (
            run.inputs.questions(name) for run in self._runs.values() for name in run.inputs.manifest.documents
        )
        categories = [
            (q.id, q.category)
            for question_set in question_sets
            if question_set
            for name in question_set.categories
            for q in question_set.category_questions(name)
        ]
        return dict(categories)

    @property
    def problems(self) -> list[str]:
        """Sentences on answers that can't be used, and why."""
        run_problems = (problem for run in self._runs.values() for problem in (*run.problems, *run.inputs.problems))
        return [*self._lost, *self._unusable_runs, *self._unreadable.values(), *run_problems]

    @property
    def problems_without_run_details(self) -> list[str]:
        """The same for a blind analyst: a path would name the system, so problems of runs are only counted."""
        unreadable = list(self._unreadable.values())
        count = len(self.problems) - len(unreadable) - len(self._lost)
        if not count:
            return unreadable
        amount = "1 problem" if count == 1 else f"{count:,} problems"
        return [*unreadable, f"The runs have {amount}; for details: genaipa validate --data"]

    def read_new_answers(self) -> bool:
        """Add the answers appended to the runs since the last time; return whether there were any."""
        with self._lock:
            changed = [run for run in self._runs.values() if run.restart_if_rewritten_and_tell_if_changed()]
            if changed:
                # An answer's author is on disk before it.
                self.authors.read_new_authorships()
            return sum(map(self._apply_new_records_and_count_changes, changed)) > 0

    def _apply_new_records_and_count_changes(self, run: _RunAnswers) -> int:
        """Read what was appended to a run; return how many answers came or went."""
        changed = 0
        if run.starts_over:
            changed = len(run.latest_digests)
            for key, digest in run.latest_digests.items():
                self._remove_occurrence(run.folder.name, key, digest)
            run.latest_digests, run.excluded_answers, run.documents, run.problems = {}, {}, {}, []
        for offset, line in run.read_new_records():
            if line.task == DEFAULT and line.kind == "answer" and run.is_selected_by_source(line):
                changed += 1
                replaced_digest = run.latest_digests.pop(line.key, None)
                if replaced_digest is not None:
                    self._remove_occurrence(run.folder.name, line.key, replaced_digest)
                run.excluded_answers.pop(line.key, None)
                if (
                    line.status == "failed"
                    or line.reply is None
                    or not run.can_read_document_or_note_problem(line.document)
                ):
                    continue
                if line.key in run.excluded_keys:
                    run.excluded_answers[line.key] = line.digest
                else:
                    run.latest_digests[line.key] = line.digest
                    self._add_occurrence(run, line, offset)
        return changed

    def _add_occurrence(self, run: _RunAnswers, record: RecordHead, offset: int) -> None:
        at = read_coordinates(record)
        question = run.inputs.question(at.document, at.question)
        occurrence = Occurrence(
            run=run.folder.name,
            key=record.key,
            system=intern(record.system),
            document=at.document,
            initialization=at.initialization,
            wording=at.wording,
            repetition=at.repetition,
            question=at.question,
            category=question.category if question else "",
            offset=offset,
        )
        self._unreadable.pop(record.digest, None)
        answer = self.answers.get(record.digest)
        if answer is not None:
            answer.occurrences.append(occurrence)
            return
        document = run.inputs.document(record.document)
        self.answers[record.digest] = PooledAnswer(
            record.digest, document.digest, document.kind, record.status, [occurrence]
        )
        self.arrivals.append(record.digest)

    def _remove_occurrence(self, run_name: str, record_key: str, digest: str) -> None:
        """Remove the occurrence that another record has replaced, and the answer with its last one."""
        answer = self.answers.get(digest)
        if answer is None:
            return  # it was set aside
        occurrences = [o for o in answer.occurrences if (o.run, o.key) != (run_name, record_key)]
        if occurrences:
            answer.occurrences = occurrences
        else:
            del self.answers[digest]
            self.generation += 1

    def drop_unreadable_answer(self, digest: str, problem: str) -> None:
        """Remove an answer that can't be read, and list it among the problems until it is written again."""
        with self._lock:
            if self.answers.pop(digest, None) is not None:
                self.generation += 1
                self._unreadable[digest] = problem

    def load_case(self, digest: str) -> ScoringCase:
        """Load an answer ready to be scored; a GenaipaError if it is not in the pool or its files are damaged."""
        answer = self.answers.get(digest)
        if answer is None:
            raise GenaipaError(f"the answer {digest[:12]}… is no longer in the runs that are open at this desk.")
        failures: list[GenaipaError] = []
        for occurrence in tuple(answer.occurrences):
            try:
                return self._build_case(answer, occurrence)
            except GenaipaError as error:
                failures.append(error)
        raise failures[0]

    def _build_case(self, answer: PooledAnswer, occurrence: Occurrence) -> ScoringCase:
        run = self._runs[occurrence.run]
        record = run.load_record(occurrence, answer.digest)
        annotated, part_set = run.inputs.annotated_answer_and_part_set_name(record.document, record.question)
        question, question_set = (
            run.inputs.question(record.document, record.question),
            run.inputs.questions(record.document),
        )
        return ScoringCase(
            answer=answer,
            asked=run.inputs.question_in_wording_of_set(record),
            reply=record.reply or "",
            original=run.inputs.original_question_if_paraphrased(record),
            document=run.inputs.document(record.document),
            annotated=annotated,
            part_set=part_set,
            parts=run.inputs.spans_of_document_parts_given(record),
            names=self._collect_names_to_mask(answer, record),
            summarised=read_coordinates(record).initialization.startswith("summary"),
            questions=assert_procedure_run_and_get_plan(run.inputs.manifest.spec).questions.get(record.document, ""),
            passages=tuple(passage.text for passage in record.passages),
            cites_passages=any(passage.cited for passage in record.passages),
            wordings=(question.text, *question.paraphrases) if question else (),
            all_questions=tuple(
                "\n".join((set_question.text, *set_question.paraphrases)) for set_question in question_set.questions
            )
            if question_set
            else (),
            doubt=run.describe_annotation_doubts(record.document, record.question),
            earlier=self._load_earlier_exchange(answer, record),
        )

    def _load_earlier_exchange(self, answer: PooledAnswer, record: Record) -> Exchange | None:
        """Load the question and answer that a follow-up goes on from; None for any other answer."""
        if not record.after:
            return None
        first_answer = self.answers.get(record.after)
        if first_answer is None:
            raise GenaipaError(
                f"the answer {answer.digest[:12]}… is to a follow-up, and the answer before it is not in these runs."
            )
        occurrence = first_answer.occurrences[0]
        run = self._runs[occurrence.run]
        first = run.load_record(occurrence, record.after)
        document = run.inputs.document(first.document)
        visible = f"{document.text}\n{document.company}\n{first.asked}"
        names = self._collect_names_to_mask(answer, record)
        return Exchange(run.inputs.question_in_wording_of_set(first), mask_names(first.reply or "", names, visible))

    def _collect_names_to_mask(self, answer: PooledAnswer, record: Record) -> tuple[str, ...]:
        """Return the names of every system that gave this answer, longest first."""
        names = set[str]()
        for name, system in {(o.run, o.system) for o in answer.occurrences}:
            facts = self._runs[name].inputs.manifest.systems.get(system)
            served = [*(facts.served if facts else ()), *filter(None, [record.model])]
            names.update(list_names_revealing_system(system, facts.model if facts else "", served))
        return sort_distinct_names_longest_first(names)
