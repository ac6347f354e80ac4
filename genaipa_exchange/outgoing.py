"""Runs as a form is given them to write: answer by answer, with their scores, without texts that may not be passed on.

`runs.permission` decides that, as for a pack; `Outgoing.omission_counts` counts what it keeps back.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from genaipa.errors import DataError, UsageError
from genaipa.files.text import read_text
from genaipa.kinds import DEFAULT, find_kind_or_placeholder
from genaipa.questions.annotations import read_annotations_without_blanks
from genaipa.runs.exclusions import EXCLUSIONS, read_exclusions
from genaipa.runs.experiments import classify_experiment
from genaipa.runs.imported import PUBLISHED_SCORES, load_all_published_scores
from genaipa.runs.inputs import RunDocumentsAndQuestions
from genaipa.runs.permission import SharingPermission, find_withheld_documents_of_study
from genaipa.runs.procedure import assert_procedure_run_and_get_plan, make_spec_for_other_documents, read_coordinates
from genaipa.runs.records import Manifest, Record
from genaipa.scoring.answers import Exchange
from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.scoring.evidence.passages import OtherDocuments
from genaipa.scoring.people import read_counted_events
from genaipa.scoring.rubric import load_rubric
from genaipa.scoring.store import open_existing_store
from genaipa.tasks.prompts import find_prompt_set_label, map_prompt_sets_to_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd

    from genaipa.policies.document import Document
    from genaipa.questions.annotations import AnnotatedAnswer, Annotations
    from genaipa.questions.sets import QuestionSet
    from genaipa.runs.selection import SelectedRun
    from genaipa.scoring.events import Event
    from genaipa.workspace import Workspace


class ExportHead(msgspec.Struct, frozen=True):
    """All that makes a run of its answers again: the run as it was, its documents' texts, and its other files.

    `name` is the run's when it comes back, which is its name here (`run`) if all of it is in one place. `documents`
    has the texts that may be passed on, by name, and `files` the contents of text files by their path in its folder.
    """

    format: int
    name: str
    run: str
    system: str
    experiment: str
    manifest: Manifest
    documents: dict[str, str]
    files: dict[str, str]


HEAD_FORMAT = 2
_FILES = ("prompts/*.jinja", "prompts/*/*.jinja", "questions/*.yaml", EXCLUSIONS, PUBLISHED_SCORES)


@dataclass(frozen=True, slots=True)
class OutgoingAnswer:
    """An answer that may be passed on, its annotated answer (None if there is none or it may not), and its scores.

    `scores` are the scores and adjudications in effect. `excluded` is why analyses leave the answer out;
    empty if it does not. `earlier` is the exchange that a follow-up goes on from.
    """

    record: Record
    experiment: str
    annotated: AnnotatedAnswer | None
    scores: Sequence[Event]
    excluded: str = ""
    earlier: Exchange | None = None


class OutgoingRun:
    """One run to be written: its answers, and what of its documents, questions and annotated answers may go along."""

    def __init__(self, outgoing: Outgoing, source: SelectedRun) -> None:
        self.source, self.name, self.rubric = source, source.folder.name, outgoing.rubric
        self.manifest = source.manifest
        self._outgoing = outgoing
        self._inputs = RunDocumentsAndQuestions(outgoing.workspace, source.folder)
        self._permission = SharingPermission(source.folder, self.manifest, whole=outgoing.whole)
        self.licenses = self._permission.licenses
        self._excluded = read_exclusions(source.folder, "answer")
        self._labels = map_prompt_sets_to_labels(self.manifest)
        # Caches of this run alone, which go when it goes.
        self.document = cache(self._permitted_document_or_note_omission)
        self.annotations = cache(self._permitted_annotations_or_note_omission)

    def _permitted_document_or_note_omission(self, name: str) -> Document | None:
        """Return the document of that name; None if its text may not be passed on, or is not here."""
        if name in self._permission.restricted_documents:
            self._outgoing.note_omission("document", self.manifest.documents[name].digest)
            return None
        return self._read_document_or_none(name)

    def prompt_set_label(self, record: Record) -> str:
        """Return the label in tables of the set of prompts that a record was asked with."""
        return find_prompt_set_label(self.manifest, self._labels, record.system, read_coordinates(record).prompts)

    def _read_document_or_none(self, name: str) -> Document | None:
        try:
            document: Document = self._inputs.document(name)
        except DataError:  # of an unpacked study, which came without it
            return None
        return document

    def permitted_question_set(self, document: str) -> QuestionSet | None:
        """Return the question set that was asked about a document; None if it may not be passed on."""
        return None if document in self._permission.restricted_questions else self._inputs.questions(document)

    def _permitted_annotations_or_note_omission(self, document: str) -> Annotations | None:
        """Return the annotated answers that the run has kept of a document; None without any, or if they may not go."""
        path = self.source.folder.path / "annotations" / f"{document}.yaml"
        if not path.is_file():
            return None
        annotations = read_annotations_without_blanks(path)
        if not self._permission.may_share_annotations(document):
            for question in annotations.answers:
                self._outgoing.note_omission("annotated answer", f"{annotations.digest or document}|{question}")
            return None
        return annotations

    @cached_property
    def published_scores_system_and_experiment(self) -> tuple[str, str] | None:
        """The system and the experiment of the scores that a published study gives for this run; None without any."""
        scores = load_all_published_scores(self.source.folder)
        return (scores[0].system, scores[0].experiment) if scores else None

    def make_export_head(
        self, exported_run_name: str, system: str, experiment: str, documents: Iterable[str]
    ) -> dict[str, Any]:
        """Return, as plain data, the `ExportHead` of that name for a system's answers in an experiment about documents.

        Without any documents, it is about all of the run.
        """
        manifest, path = self.manifest, self.source.folder.path
        about = list(documents) or list(manifest.documents)
        texts = {document: policy.text for document in about if (policy := self.document(document))}
        run_files = {
            file.relative_to(path).as_posix(): file for pattern in _FILES for file in sorted(path.glob(pattern))
        }
        files = {
            relative_path: read_text(file)
            for relative_path, file in run_files.items()
            if relative_path not in self._permission.restricted_files
        }
        for relative_path in (
            f"annotations/{document}.yaml" for document in about if self.annotations(document) is not None
        ):
            files[relative_path] = read_text(path / relative_path)
        narrowed = msgspec.structs.replace(
            manifest,
            spec=make_spec_for_other_documents(
                manifest.spec,
                about,
                {document: assert_procedure_run_and_get_plan(manifest.spec).questions[document] for document in about},
            ),
            documents={document: manifest.documents[document] for document in about},
            orders={key: order for key, order in manifest.orders.items() if key.rpartition("|")[0] in about},
            systems={system: manifest.systems[system]} if system in manifest.systems else {},
            corpus=None,
        )
        typed_head = ExportHead(HEAD_FORMAT, exported_run_name, self.name, system, experiment, narrowed, texts, files)
        head: dict[str, Any] = msgspec.to_builtins(typed_head)
        return head

    @cached_property
    def _withheld_documents(self) -> OtherDocuments:
        texts = {name: self._read_document_or_none(name) for name in self._permission.restricted_documents}
        siblings = {} if self._outgoing.whole else find_withheld_documents_of_study(self.source.folder)
        known_texts = {name: document.text for name, document in texts.items() if document}
        return OtherDocuments(known_texts | {name: documents[name].text for name, documents in siblings.items()})

    def iterate_permitted_answers(self) -> Iterator[OutgoingAnswer]:
        """Return the latest answer of each key to a question about a document, in the order of the run's file."""
        _, latest = self.source.folder.tally_records_and_map_offsets()
        for offset, record in self.source.folder.read_verified_answers_with_offsets(Record):
            answers = record.kind == "answer" and record.task == DEFAULT and self.source.includes_record(record)
            if not answers or latest[record.key] != offset:
                continue
            if record.reply is None:
                self._outgoing.failures += record.status == "failed"
                continue
            permitted = self._permission.redact_record(
                record, self._withheld_documents.does_one_contain_most_of_passage
            )
            if permitted.reply is None:
                self._outgoing.note_omission("answer", f"{self.name}|{record.key}")
                self._outgoing.silenced.add(record.system)
                continue
            yield self._make_outgoing_answer(permitted)

    def _make_outgoing_answer(self, record: Record) -> OutgoingAnswer:
        facts, annotations = self.manifest.documents[record.document], self.annotations(record.document)
        excluded, at = self._excluded.get(record.key), read_coordinates(record)
        return OutgoingAnswer(
            record,
            classify_experiment(facts.kind, at.initialization, at.wording),
            annotations.answers.get(record.question) if annotations else None,
            self._outgoing.take_scores_and_count_left_out_verdicts(record.digest),
            excluded.reason if excluded else "",
            self._outgoing.read_permitted_exchange(record.after) if record.after else None,
        )

    def read_permitted_exchange(self, record: Record) -> Exchange:
        """Return a question and its reply, as far as they may be passed on."""
        permitted = self._permission.redact_record(record, self._withheld_documents.does_one_contain_most_of_passage)
        return Exchange(permitted.asked, permitted.reply or "")


class Outgoing:
    """Runs to be written in a form, and the scores of their answers. A UsageError where none has any answers.

    `judges` takes along the verdicts of judges, `whole` what may not be passed on: for somebody who has it anyway.
    `omission_counts` counts what is kept back, by noun, `silenced` are the systems of the answers in it; `failures` are
    answers that were never given, and `verdicts` the verdicts that are left here.
    """

    def __init__(
        self, workspace: Workspace, sources: Sequence[SelectedRun], *, judges: bool = False, whole: bool = False
    ) -> None:
        self.workspace, self.judges, self.whole = workspace, judges, whole
        self.rubric = load_rubric(workspace)
        self._omissions: set[tuple[str, str]] = set()
        self.silenced: set[str] = set()
        self.failures = self.verdicts = 0
        self._unused: Counter[str] = Counter()
        kinds = {source.folder.name: find_kind_or_placeholder(source.manifest.spec.kind) for source in sources}
        about = [source for source in sources if kinds[source.folder.name].people]
        if not about:
            raise UsageError(
                "none of these runs asks about documents, and only such runs can be exported; see: genaipa runs"
            )
        self.runs = [OutgoingRun(self, source) for source in about]

    @cached_property
    def scores_by_answer_digest(self) -> dict[str, list[Event]]:
        """Answer's digest → its scores and adjudications in effect that count; read when they are first needed."""
        scores: dict[str, list[Event]] = defaultdict(list)
        with open_existing_store(self.workspace) as store:
            for event in effective_scores_and_adjudications(read_counted_events(self.workspace, store)):
                if event.scorer == "human" or self.judges:
                    scores[event.answer].append(event)
                else:
                    self._unused[event.answer] += 1
        return scores

    def take_scores_and_count_left_out_verdicts(self, digest: str) -> Sequence[Event]:
        """Return the scores of an exported answer; verdicts on it that are left here are counted."""
        scores = self.scores_by_answer_digest.get(digest, ())
        self.verdicts += self._unused.pop(digest, 0)
        return scores

    @cached_property
    def _run_and_offset_by_answer_digest(self) -> dict[str, tuple[OutgoingRun, int]]:
        places: dict[str, tuple[OutgoingRun, int]] = {}
        for run in self.runs:
            for offset, record in run.source.folder.read_verified_answers_with_offsets(Record):
                places.setdefault(record.digest, (run, offset))
        return places

    def read_permitted_exchange(self, answer_digest: str) -> Exchange | None:
        """Return what an answer with this digest was asked, and its reply; None if it is in none of these runs."""
        if answer_digest not in self._run_and_offset_by_answer_digest:
            return None
        run, offset = self._run_and_offset_by_answer_digest[answer_digest]
        (record,) = run.source.folder.read_records_at([offset])
        return run.read_permitted_exchange(record)

    def note_omission(self, noun: str, identity: str) -> None:
        """Note a thing that is kept back, each once."""
        self._omissions.add((noun, identity))

    @property
    def omission_counts(self) -> Counter[str]:
        """Noun → how many are kept back."""
        return Counter(noun for noun, _ in self._omissions)

    def make_tidy_table(self) -> pd.DataFrame:
        """Return the tidy table of these runs, with judges' rows only where their verdicts go along."""
        from genaipa.answers.gather import gather_study  # pandas takes long to import

        with open_existing_store(self.workspace) as store:
            study = gather_study(self.workspace, [run.source for run in self.runs], store)
        all_events = study.log.counted
        events = all_events if self.judges else [event for event in all_events if event.scorer == "human"]
        return (study if len(events) == len(all_events) else study.replace_scores_from_events(events)).make_tidy_table()

    @cached_property
    def licenses(self) -> list[str]:
        """The licenses of the texts that may be passed on."""
        return sorted({license_ for run in self.runs for license_ in run.licenses})


@dataclass(frozen=True)
class ExportSummary:
    """Numbers of files, answers and scores that a form has written.

    `caveat` is a sentence on what the form can't carry, `follow` the command that goes on; the folder is `{}` in it.
    """

    files: int
    answers: int
    scores: int
    caveat: str = ""
    follow: str = ""
