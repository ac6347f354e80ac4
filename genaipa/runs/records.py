"""The spec of a run and the records that it leaves.

Everything here is plain data, and is written to the run folder as JSON under the same names.
"""

from __future__ import annotations

import hashlib
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, Self

import msgspec
from msgspec.structs import force_setattr

from genaipa.errors import clip
from genaipa.files.html import format_one_line_repr
from genaipa.files.names import clean_folder_name
from genaipa.kinds import DEFAULT, convert_to_kind_plan
from genaipa.runs.procedure import ConversationMode, get_plan_if_procedure_run
from genaipa.systems.base import Passage, Sampling, Usage, Words
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.kinds import Plan
    from genaipa.policies.document import Document
else:
    Plan = Any  # which struct it is, the kind says

DOCUMENTS = "documents.jsonl"
"""The documents of a run of a corpus, each a line, in place of a file for each text."""


class CorpusFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """The corpus that a run's documents are of: its file and SHA-256, how many documents and different texts it has.

    `asked` is the number of documents that the run asks about, `stratified` the column of the strata of a sample.
    """

    file: str
    digest: str
    documents: int
    texts: int
    asked: int
    stratified: str = ""

    @property
    def asked_count_and_file_name(self) -> str:
        """The number of documents that are asked about, and the file's name."""
        return f"{self.asked:,} of {PurePath(self.file).name}"

    @property
    def sentence_on_corpus_and_sample_size(self) -> str:
        """The corpus's documents and texts, and how many of them are asked about, in a sentence."""
        sentence = f"{PurePath(self.file).name}: {format_count(self.documents, 'document')}"
        if duplicates := self.documents - self.texts:
            sentence += f", {duplicates:,} with the same text as another of the company (each text is asked about once)"
        if self.asked < self.texts:
            by = f", stratified by {self.stratified}" if self.stratified else ""
            sentence += f"; genaipa asks about a sample of {self.asked:,} texts{by}"
        return f"{sentence}."


RecordKind = Literal["answer", "summary", "acknowledgement"]
Status = Literal["answered", "refused", "truncated", "failed"]
RunStatus = Literal["running", "complete", "partial", "capped", "interrupted", "waiting"]

MOST_REPETITIONS = 100_000
"""More than any study has."""

MOST_SLICES = 10_000
"""More than a study has documents to fill them."""
_STUDY_CHARACTERS = 35
"""Characters of a study's name in the names of its slices, which a folder's name cuts."""

FORMAT = 5
"""Version of the run folder's format."""


class RunSpec(Sampling, frozen=True, forbid_unknown_fields=True):
    """Everything that decides which messages are sent. Two runs of one spec ask the same things in the same order.

    `task` is the task's name within its kind, and `plan` what only that kind decides: documents, questions and the ways
    of asking about them are the procedure's. It may be given as its fields by name; a ValueError if it is no plan of
    the kind. The sampling options come last.
    """

    systems: tuple[str, ...]
    kind: str = DEFAULT
    task: str = DEFAULT
    plan: Plan = msgspec.field(default_factory=dict)  # type: ignore[assignment]
    repetitions: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        force_setattr(self, "plan", convert_to_kind_plan(self.kind, self.plan))


class FailureInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why there is no reply: `kind` is one word (`timeout`, `overload`, …), `status` the HTTP status if any."""

    kind: str
    message: str
    status: int | None = None


class RecordHead(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The fields of a `Record` by which it is identified and checked: faster to read where there are many.

    `coordinates` tell it from the others of its system and `task`, by name, and with them make its `key`. `digest`
    identifies the answer by its content: what was asked about which document and what came back, so that a score can't
    slide onto another text. `after` is the digest of the answer that a follow-up goes on from, and part of its own.
    """

    key: str
    status: Status
    kind: RecordKind
    system: str
    task: str = DEFAULT
    coordinates: dict[str, str]
    asked: str
    reply: str | None
    digest: str = ""
    after: str = ""
    thoughts: str = ""

    @property
    def document(self) -> str:
        """The document that is asked about; empty for a task that asks about none."""
        return self.coordinates.get("document", "")

    @property
    def question(self) -> str:
        """The question's id, the step on the way to it, in parentheses, or all coordinates in one word."""
        return question_id_or_all_coordinates(self.coordinates)

    @property
    def repetition(self) -> int:
        """The number of the repetition, from 1."""
        return int(self.coordinates.get("repetition", 1))


class MeasuredRecordHead(RecordHead, frozen=True, omit_defaults=True, kw_only=True):
    """The head of a record with its cost, in seconds, tokens and US dollars, the model as served, and its passages.

    `first_token` is the seconds until anything of a streamed reply came, `first_text` until its first text.
    """

    conversation: str
    seconds: float
    model: str | None = None
    usage: Usage | None = None
    cost: float | None = None
    score: float | None = None
    prompt_cut: bool = False
    passages: tuple[Passage, ...] = ()
    first_token: float | None = None
    first_text: float | None = None


class Record(MeasuredRecordHead, frozen=True, omit_defaults=True, kw_only=True):
    """One line of `answers.jsonl`: a reply, or the failure to get one.

    A later record of the same key replaces a failed one. `turn` counts the conversation's questions from 1, and its
    steps apart. `kind` tells answers to questions from the summaries and acknowledgements on the way. `key_masked`
    says that the reply repeated a key of the environment, replaced by `[key]`. `prompt_cut` says that the server must
    have cut the prompt, since it counted too few of the tokens sent. `thoughts` are a model's before its reply, as
    they came. `prediction` and `score` (0 to 1) are what a task read in the reply without a person.
    `passages` are what the system retrieved for the reply, in its order, where it gives them. `served` is how it was
    served, where the server says: `system_fingerprint`, `service_tier`.
    """

    turn: int
    started: str
    attempts: int = 1
    finish: str = ""
    sent: dict[str, object] = {}
    served: dict[str, str] = {}
    error: FailureInfo | None = None
    key_masked: bool = False
    prediction: str = ""

    def __repr__(self) -> str:
        return format_one_line_repr("Record", self.key, self.status)


class ConversationRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of `conversations.jsonl`: how a conversation began, and in which order it was questioned.

    `introduction` is the digest under which `introductions/` holds the messages that came before the first question.
    `document` is what the conversation is about; empty for a task that asks about none.
    """

    id: str
    system: str
    document: str
    mode: ConversationMode
    introduction: str
    order: tuple[str, ...]


class SystemFacts(msgspec.Struct, omit_defaults=True):
    """Facts about one system of a run; `words` is the author of its replies."""

    model: str
    words: Words = ""
    counter: str = ""
    context: int | None = None
    part_tokens: int | None = None
    served: list[str] = []
    sent: dict[str, object] = {}
    notes: list[str] = []
    price: str = ""


class DocumentFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """The text used under a document's name."""

    digest: str
    company: str
    kind: str
    title: str = ""
    source: str = ""
    date: str = ""
    license: str = ""
    layer: str = ""
    language: str = ""
    groups: dict[str, str] = {}
    also: tuple[str, ...] = ()
    """Names of the documents of a corpus that have this very text, and are asked about with it."""

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Return the facts of a document that a run keeps."""
        about = document.about
        return cls(
            digest=document.digest,
            company=document.company,
            kind=document.kind,
            title=about.title,
            source=about.source,
            date=about.date,
            license=about.license,
            layer=document.layer,
            language=about.language or ("" if document.english else document.language),
            groups=about.groups,
            also=about.also,
        )


class Digests(msgspec.Struct, frozen=True, omit_defaults=True):
    """Digests of a run's inputs: name → SHA-256, and for a system its full name (with its file's SHA-256, if any)."""

    prompts: dict[str, str]
    documents: dict[str, str]
    questions: dict[str, str]
    annotations: dict[str, str]
    systems: dict[str, str] = {}
    task: dict[str, str] = {}


class RunTotals(msgspec.Struct, frozen=True, omit_defaults=True):
    """Counts of a run: records by status (the latest of each key), what is still to be asked, tokens and money.

    `bytes` is how long `answers.jsonl` was when the manifest was written: it never becomes shorter.
    """

    planned: int = 0
    answered: int = 0
    refused: int = 0
    truncated: int = 0
    failed: int = 0
    usage: Usage | None = None
    cost: float | None = None
    seconds: float = 0.0
    bytes: int = 0

    @property
    def answer_count(self) -> int:
        """Answers that are there."""
        return self.answered + self.refused + self.truncated

    def sum_with(self, addend: RunTotals) -> RunTotals:
        """Return the counts of both together."""
        counts = ("planned", "answered", "refused", "truncated", "failed", "seconds", "bytes")
        costs = [cost for cost in (self.cost, addend.cost) if cost is not None]
        usages = [usage for usage in (self.usage, addend.usage) if usage is not None]
        return RunTotals(
            usage=sum(usages, Usage()) if usages else None,
            cost=sum(costs) if costs else None,
            **{name: getattr(self, name) + getattr(addend, name) for name in counts},
        )


class StudySlice(msgspec.Struct, frozen=True, omit_defaults=True):
    """The slice that a run is: `index`, from 1, of the `number` slices of the study with that name.

    `plan` is the digest of everything that decides what the slices ask, but for systems and repetitions: alike in all.
    `cap` is the spending cap of the study in US dollars, if any.
    """

    study: str
    index: int
    number: int
    plan: str
    cap: float | None = None

    @property
    def is_valid(self) -> bool:
        """Whether there can be such a slice."""
        return 1 <= self.index <= self.number <= MOST_SLICES and bool(clean_folder_name(self.study))

    @property
    def label_in_words(self) -> str:
        """The slice in words: `slice 3 of 16`."""
        return f"slice {self.index} of {self.number}"

    @property
    def run_name(self) -> str:
        """The name of the run that it is, by which slices sort: `shops-slice-03-of-16`."""
        suffix = f"-slice-{self.index:0{len(str(self.number))}}-of-{self.number}"
        return f"{clean_folder_name(self.study, _STUDY_CHARACTERS) or 'study'}{suffix}"


class Manifest(msgspec.Struct, omit_defaults=True):
    """`manifest.json`: the spec, the digests and versions of everything that went in, and how far the run is.

    `max_cost` is the spending cap in US dollars over the whole run, kept for whenever it goes on; None is no cap.
    `planned` is how many answers are wanted of each system, for tasks without `orders`. `sum` is the
    SHA-256 of all other fields as the file has them; an earlier genaipa wrote none.
    """

    format: int
    name: str
    status: RunStatus
    created: str
    updated: str
    spec: RunSpec
    digests: Digests
    documents: dict[str, DocumentFacts]
    systems: dict[str, SystemFacts]
    orders: dict[str, tuple[str, ...]]
    versions: dict[str, str]
    commit: str | None = None
    dirty: bool | None = None
    max_cost: float | None = None
    totals: RunTotals = RunTotals()
    planned: int = 0
    corpus: CorpusFacts | None = None
    slice: StudySlice | None = None
    sum: str = ""

    @property
    def models(self) -> dict[str, set[str]]:
        """The names of the model behind each system: as it was asked for, and as it was served."""
        return {system: {facts.model, *facts.served} for system, facts in self.systems.items()}

    def __repr__(self) -> str:
        return format_one_line_repr("Manifest", self.name, f"{self.status}, {len(self.spec.systems)} systems")

    @property
    def documents_description(self) -> str:
        """The names of the documents, or how many they are, and their corpus."""
        if self.slice and self.corpus:
            return f"{len(self.documents):,} of {PurePath(self.corpus.file).name}, {self.slice.label_in_words}"
        return self.corpus.asked_count_and_file_name if self.corpus else ", ".join(self.documents)

    def describe_inconsistency(self) -> str:
        """Return the reason why the parts of the manifest do not fit each other; empty if they do."""
        spec, plan = self.spec, get_plan_if_procedure_run(self.spec)
        documents, questions = (plan.documents, plan.questions) if plan else ((), {})
        lost = [f"document '{name}'" for name in documents if name not in self.documents]
        lost += [f"questions about '{name}'" for name in documents if name not in questions]
        lost += [f"digest of '{name}'" for name in documents if name not in self.digests.documents]
        if "genaipa" not in self.versions:
            lost.append("version of genaipa")
        if lost:
            return f"it lacks the {lost[0]}"
        if self.slice and not self.slice.is_valid:
            return f"it claims to be {self.slice.label_in_words} of '{clip(self.slice.study)}'"
        if not 1 <= spec.repetitions <= MOST_REPETITIONS:
            return f"it has {spec.repetitions:.3g} repetitions"
        for order_key in self.orders:
            document, _, repetition = order_key.rpartition("|")
            is_number = repetition.isdecimal() and len(repetition) <= len(str(MOST_REPETITIONS))
            if document not in self.documents or not is_number or not 1 <= int(repetition) <= spec.repetitions:
                return f"it has an order of questions for '{order_key[:60]}', which it did not ask about"
        return ""


def record_key(system: str, task: str, coordinates: Mapping[str, str]) -> str:
    """Return the key of a record: the system, the task but for the procedure, and the coordinates, with | between."""
    values = "|".join(coordinates.values())
    return f"{system}|{values}" if task == DEFAULT else f"{system}|{task}|{values}"


def question_id_or_all_coordinates(coordinates: Mapping[str, str]) -> str:
    """Return what is asked in one word or in parentheses: a question's id, a step, or all coordinates."""
    return coordinates.get("question") or "/".join("-".join(value.split()) for value in coordinates.values())


def answer_digest(document_digest: str, question_text: str, reply: str, preceding_answer_digest: str = "") -> str:
    """Return the identity of an answer by its content.

    `preceding_answer_digest` is that of the answer that a follow-up goes on from.
    """
    start = f"{preceding_answer_digest}\0" if preceding_answer_digest else ""
    return hashlib.sha256(f"{start}{document_digest}\0{question_text}\0{reply}".encode()).hexdigest()
