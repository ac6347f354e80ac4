"""The published study as runs: its answers, scores and the audit of both in run folders with fixed names.

Whatever reads runs reads these as well. The same data gives the same files: nothing in them tells when or where they
were made.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from genaipa import __version__
from genaipa.datasets.base import Imported, pulled_only
from genaipa.datasets.genaipabench.audit_answers import audit_annotations, audit_answers
from genaipa.datasets.genaipabench.audit_scores import audit_scores, with_exclusions
from genaipa.datasets.genaipabench.files import COMMIT, REPOSITORY
from genaipa.datasets.genaipabench.layout import (
    ANSWERS,
    EXPERIMENTS,
    POLICIES,
    REGULATIONS,
    REPETITIONS,
    RESULTS,
    origin_of,
)
from genaipa.datasets.genaipabench.origins import COMMAND
from genaipa.datasets.genaipabench.questions import POLICY_SET, REGULATION_SET
from genaipa.datasets.genaipabench.results import read_scores
from genaipa.datasets.genaipabench.transcripts import read_answers
from genaipa.errors import RunError, UsageError
from genaipa.files.strict_yaml import digest, read_text
from genaipa.policies.document import Document, load_document
from genaipa.questions.annotations import Annotations, load_annotations
from genaipa.questions.sets import load_questions
from genaipa.runs.audit import AUDIT, Finding, write_audit
from genaipa.runs.folder import ANSWERS as JOURNAL
from genaipa.runs.folder import CONVERSATIONS, MANIFEST, RunFolder, stored_introduction
from genaipa.runs.records import (
    FORMAT,
    ConversationRecord,
    Digests,
    DocumentFacts,
    Manifest,
    Record,
    RunSpec,
    SystemFacts,
    Totals,
    Trouble,
    answer_digest,
)
from genaipa.scoring.published import PUBLISHED_SCORES, PublishedScore, write_published
from genaipa.systems.base import Message

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from genaipa.datasets.genaipabench.files import Tree
    from genaipa.datasets.genaipabench.transcripts import Answer
    from genaipa.questions.sets import QuestionSet
    from genaipa.workspace import Kind, Workspace

AUDIT_FILE = "published/genaipabench-audit.csv"
"""Where the whole audit lies in the workspace."""

_PART_SETS = {"published/chatgpt-4": "GPT-4"}
"""In which parts a system was shown the documents; the others share one set."""
_SHARED_PARTS = "BingAI&Bard"


@dataclass(frozen=True)
class Study:
    """Everything that was read: answers, scores, what was found about them, and the data that they are about."""

    answers: list[Answer]
    scores: list[PublishedScore]
    findings: list[Finding]
    documents: dict[str, Document]
    annotations: dict[str, Annotations]
    questions: dict[str, QuestionSet]


def read_study(tree: Tree) -> Study:
    """The published study as far as its files are here; a UsageError with the command that fetches them."""
    here = pulled_only()
    if POLICY_SET not in here.names("questions") or not any(map(tree.holds, tree.study)):
        raise UsageError(f"the published study is not here; fetch it with: {COMMAND} (or {COMMAND} --from FOLDER)")
    questions = {name: load_questions(here, name) for name in (POLICY_SET, REGULATION_SET)}
    documents = {name: load_document(here, name) for name in (*POLICIES, *REGULATIONS)}
    annotations = {name: load_annotations(here, name) for name in documents}
    answers, found = read_answers(tree, questions[POLICY_SET])
    scores, said = read_scores(tree)
    findings = [*found, *said, *audit_answers(answers, questions[POLICY_SET]), *audit_scores(scores)]
    for name in POLICIES:
        findings += audit_annotations(tree, documents[name], annotations[name])
    return Study(answers, with_exclusions(scores, findings, answers), findings, documents, annotations, questions)


def import_study(tree: Tree, workspace: Workspace) -> Imported:
    """Write the study's runs and its audit into the workspace; what is there and right is left alone."""
    study = read_study(tree)
    audit = workspace.home / AUDIT_FILE
    done = Imported(audit=audit, findings=study.findings)
    for system in sorted({answer.system for answer in study.answers} | {score.system for score in study.scores}):
        done.answers[system] = sum(a.system == system and a.text is not None for a in study.answers)
        done.scores[system] = sum(score.system == system for score in study.scores)
        done.runs[system] = []
        for run in _runs(study, system):
            done.runs[system].append(run.name)
            done.changed += _write(workspace.runs / run.name, run.files())
    done.changed += _write_audit(audit, write_audit(study.findings))
    return done


def _runs(study: Study, system: str) -> Iterator[_Run]:
    """One run for each experiment and origin of the questions, and one for the scores about regulations."""
    for experiment in EXPERIMENTS:
        for origin in REPETITIONS:
            answers = [a for a in study.answers if (a.system, a.experiment, a.origin) == (system, experiment, origin)]
            scores = [
                score
                for score in study.scores
                if (score.system, score.experiment, origin_of(score.question)) == (system, experiment, origin)
            ]
            if answers or scores:
                yield _Run(study, system, experiment, origin, answers, scores)
    regulation = [score for score in study.scores if (score.system, score.experiment) == (system, "regulation")]
    if regulation:
        yield _Run(study, system, "regulation", "", [], regulation)


@dataclass(frozen=True)
class _Run:
    """One run folder to be."""

    study: Study
    system: str
    experiment: str
    origin: str
    answers: list[Answer]
    scores: list[PublishedScore]

    @property
    def name(self) -> str:
        """The folder's name."""
        return "-".join(filter(None, (self.system.replace("/", "-"), self.experiment, self.origin)))

    @property
    def question_set(self) -> str:
        return POLICY_SET if self.origin else REGULATION_SET

    @property
    def documents(self) -> dict[str, Document]:
        """The documents that the run is about, in the study's order."""
        named = {answer.document for answer in self.answers} | {score.document for score in self.scores}
        return {name: document for name, document in self.study.documents.items() if name in named}

    def files(self) -> dict[str, bytes]:
        """Name → content of every file of the folder."""
        here = pulled_only()
        records = list(self._records())
        files = {f"documents/{document.digest}.txt": document.text.encode() for document in self.documents.values()}
        files[f"questions/{self.question_set}.yaml"] = _source(here, "questions", self.question_set)
        files |= {f"annotations/{name}.yaml": _source(here, "annotations", name) for name in self.documents}
        files[JOURNAL] = _lines(records)
        conversations, introductions = self._conversations()
        files[CONVERSATIONS] = _lines(conversations)
        files |= introductions
        files[PUBLISHED_SCORES] = write_published(self.scores)
        files[AUDIT] = write_audit(filter(self._concerns, self.study.findings))
        files[MANIFEST] = msgspec.json.format(msgspec.json.encode(self._manifest(here, records)), indent=2) + b"\n"
        return files

    def _concerns(self, finding: Finding) -> bool:
        """Whether a finding is about this run, its questions or its documents."""
        if finding.file.startswith(ANSWERS) and not self.answers:
            return False
        if finding.file.startswith(RESULTS) and not self.scores:
            return False
        return (
            finding.system in ("", self.system)
            and finding.experiment in ("", self.experiment)
            and (not finding.document or finding.document in self.documents)
            and (not finding.question or origin_of(finding.question) == self.origin)
        )

    def _orders(self) -> dict[str, tuple[str, ...]]:
        """The questions as the sheets have them: in which order they were asked is not published."""
        asked: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for answer in self.answers:
            asked[f"{answer.document}|{answer.repetition}"][answer.question] = None
        return {which: tuple(questions) for which, questions in asked.items()} or {
            f"{document}|1": () for document in self.documents
        }

    def _records(self) -> Iterator[Record]:
        """One record for each answer; one that the study lacks is a failure that says so."""
        turns: defaultdict[str, int] = defaultdict(int)
        for answer in self.answers:
            conversation = answer.key.rpartition("|")[0]
            turns[conversation] += 1
            about = self.study.documents[answer.document]
            where = f"{answer.file}, sheet '{answer.sheet}', {answer.cell}"
            text = answer.text
            yield Record(
                key=answer.key,
                status="failed" if text is None else "answered",
                conversation=conversation,
                kind="answer",
                system=answer.system,
                document=answer.document,
                initialization=EXPERIMENTS[answer.experiment].initialization,
                wording=answer.wording,
                repetition=answer.repetition,
                question=answer.question,
                turn=turns[conversation],
                asked=answer.asked,
                reply=text,
                started="",
                seconds=0.0,
                error=Trouble("not-recorded", f"the study has no answer here ({where}).") if text is None else None,
                digest="" if text is None else answer_digest(about.digest, answer.asked, text),
            )

    def _conversations(self) -> tuple[list[ConversationRecord], dict[str, bytes]]:
        """How the conversations began that were shown a document: with its parts, as the study publishes them.

        The sentences around the parts are not published. Answers cite the parts by their numbers.
        """
        introductions: dict[str, bytes] = {}
        begun: dict[str, ConversationRecord] = {}
        orders = self._orders()
        for answer in self.answers:
            conversation, mode = answer.key.rpartition("|")[0], EXPERIMENTS[answer.experiment].initialization
            if conversation in begun or mode == "company-name":
                continue
            document = self.study.documents[answer.document]
            content = self._introduction(document)
            name = digest(content.decode())
            introductions[f"introductions/{name}.json"] = content
            begun[conversation] = ConversationRecord(
                # A summary was written in a conversation of its own, which is what was shown the document.
                id=f"{conversation}|(summary)" if mode == "summary-of-document" else conversation,
                system=answer.system,
                document=answer.document,
                document_digest=document.digest,
                initialization=mode,
                wording=answer.wording,
                repetition=answer.repetition,
                mode="shared",
                introduction=name,
                order=orders[f"{answer.document}|{answer.repetition}"],
            )
        return list(begun.values()), introductions

    def _introduction(self, document: Document) -> bytes:
        part_set = _PART_SETS.get(self.system, _SHARED_PARTS)
        numbers = range(1, len(document.about.part_sets.get(part_set, ())) + 1)
        spans = [(number, document.part(part_set, number) or (0, 0)) for number in numbers]
        texts = [(number, document.text[start:end]) for number, (start, end) in spans]
        return stored_introduction(
            [Message("user", f"Part {number}:\n{text}", "part", carries=text) for number, text in texts]
        )

    def _manifest(self, here: Workspace, records: list[Record]) -> Manifest:
        documents, name = self.documents, self.question_set
        experiment = next((known for key, known in EXPERIMENTS.items() if key == self.experiment), None)
        source = f"{REPOSITORY}, commit {COMMIT}"
        missing = sum(record.reply is None for record in records)
        return Manifest(
            format=FORMAT,
            name=self.name,
            status="partial" if missing else "complete",
            created="",
            updated="",
            spec=RunSpec(
                systems=(self.system,),
                documents=tuple(documents),
                questions=dict.fromkeys(documents, name),
                initializations=(experiment.initialization if experiment else "company-name",),
                wordings=experiment.wordings[self.origin] if experiment else ("original",),
                repetitions=REPETITIONS.get(self.origin, 1),
                experiment=self.experiment,
            ),
            digests=Digests(
                prompts={},
                documents={key: document.digest for key, document in documents.items()},
                questions={name: digest(_source(here, "questions", name).decode())},
                annotations={key: digest(_source(here, "annotations", key).decode()) for key in documents},
                systems={self.system: f"{self.system}, imported from {source}"},
            ),
            documents={key: DocumentFacts.of(document) for key, document in documents.items()},
            systems={
                self.system: SystemFacts(model=self.system, words="recording", notes=[f"Imported from {source}."])
            },
            orders=self._orders(),
            versions={"genaipa": __version__},
            totals=Totals(planned=len(records), answered=len(records) - missing, failed=missing),
        )


def _source(here: Workspace, kind: Kind, name: str) -> bytes:
    """The pulled file of that name, as it is read."""
    return read_text(here.names(kind)[name][1]).encode()


def _lines(records: list[Record] | list[ConversationRecord]) -> bytes:
    return b"".join(msgspec.json.encode(record) + b"\n" for record in records)


def _write(path: Path, files: dict[str, bytes]) -> list[str]:
    """Bring a run folder to these files; the run's name if that changed anything."""
    if all((path / name).is_file() and (path / name).read_bytes() == content for name, content in files.items()):
        return []
    try:
        path.mkdir(parents=True, exist_ok=True)
        folder = RunFolder(path)
        with folder.writing():
            for name, content in files.items():
                folder.write_file(name, content)
    except OSError as error:
        raise RunError(f"{error.filename or path} can't be written ({error.strerror}).") from None
    return [path.name]


def _write_audit(path: Path, content: bytes) -> list[str]:
    """Write the whole audit; its name if that changed anything."""
    if path.is_file() and path.read_bytes() == content:
        return []
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise RunError(f"{path} can't be written ({error.strerror}).") from None
    return [path.name]
