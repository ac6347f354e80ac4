"""The run of one system's answers in chats: repetitions, conversations, and what was here before."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from genaipa.errors import DataError
from genaipa.files.names import clean_folder_name
from genaipa.files.strict_yaml import format_yaml
from genaipa.files.text import read_text, sha256_of
from genaipa.kinds import DEFAULT
from genaipa.questions.annotations import find_annotation_file
from genaipa.questions.sets import WORDINGS
from genaipa.runs import journal
from genaipa.runs.documents import encode_introduction
from genaipa.runs.experiments import classify_experiment
from genaipa.runs.imported import RecordedRun
from genaipa.runs.manifest import CONVERSATIONS
from genaipa.runs.procedure import INITIALIZATIONS, ProcedurePlan, RecordCoordinates, conversation_id
from genaipa.runs.records import ConversationRecord, FailureInfo, Record, RunSpec, answer_digest, record_key
from genaipa.systems.base import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.policies.document import Document
    from genaipa.questions.sets import QuestionSet
    from genaipa.runs.procedure import Initialization
    from genaipa.runs.records import Status
    from genaipa.systems.thoughts import SplitReply
    from genaipa_exchange.chats import Exchange
    from genaipa_exchange.incoming import Incoming
    from genaipa_exchange.question_matching import QuestionMatch


@dataclass(frozen=True)
class MatchedAnswer:
    """An answer to a question of a set about a document, with the `file` that has it, as a sentence names it.

    `chat` tells conversations apart; a `repetition` of 0 is not given.
    """

    file: str
    chat: int
    system: str
    document: Document
    questions: QuestionSet
    initialization: Initialization
    match: QuestionMatch
    exchange: Exchange
    reply: SplitReply | None
    repetition: int

    @property
    def digest(self) -> str:
        """The digest by which a score finds the answer; empty for a failure."""
        return answer_digest(self.document.digest, self.match.asked, self.reply.answer) if self.reply else ""

    @property
    def digest_started_and_repetition(self) -> tuple[str, str, int]:
        """What two files have in common that hold this very answer."""
        return self.digest or self.match.asked, self.exchange.started, self.repetition

    def key(self, repetition: int) -> str:
        """Return the key of its record."""
        return record_key(self.system, DEFAULT, self.coordinates(repetition).as_dict_without_empty_values())

    def coordinates(self, repetition: int) -> RecordCoordinates:
        """Return its place among the answers of its system."""
        at = self.match
        return RecordCoordinates(self.document.name, self.initialization, at.wording, repetition, "", at.question)


def add_chat_run_to_incoming(incoming: Incoming, layout_title: str, answers: Sequence[MatchedAnswer]) -> None:
    """Hand over the run of a system's answers, without those that are here already."""
    if all(answer.exchange.started for answer in answers):
        answers = sorted(answers, key=lambda answer: answer.exchange.started)
    unknown = _select_new_and_count_known_answers(incoming, answers)
    if not any(answer.reply for answer in unknown):
        return
    chats = Counter((answer.chat, answer.document.name) for answer in unknown)
    conversations: dict[str, _Conversation] = {}
    ids: dict[tuple[int, str], str] = {}
    records: list[Record] = []
    orders: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for answer, repetition in zip(unknown, _assign_repetitions(unknown), strict=True):
        at, chat = answer.coordinates(repetition), (answer.chat, answer.document.name)
        key = begun = answer.key(repetition)
        if chats[chat] > 1:
            begun = conversation_id(answer.system, at.document, at.initialization, at.wording, repetition)
            begun = ids.setdefault(chat, begun)
        conversation = conversations.setdefault(begun, _Conversation(begun, answer, is_shared=begun != key))
        conversation.order.append(at.question)
        orders[f"{at.document}|{repetition}"][at.question] = None
        records.append(_make_answer_record(answer, at, key, begun, len(conversation.order)))
    beside_answers = {
        CONVERSATIONS: b"".join(
            journal.encode_record_line(conversation.conversation_record) for conversation in conversations.values()
        )
    }
    beside_answers |= {
        f"introductions/{conversation.introduction_digest}.json": conversation.introduction_content
        for conversation in conversations.values()
    }
    run = _make_recorded_run(
        incoming, layout_title, unknown, records, {key: tuple(order) for key, order in orders.items()}, beside_answers
    )
    incoming.add_run_or_refuse_taken_name(run.name, records, run.files)


@dataclass
class _Conversation:
    """A conversation on its way to the run, begun by its first answer."""

    id: str
    begun: MatchedAnswer
    is_shared: bool
    order: list[str] = field(default_factory=list)

    @property
    def introduction_content(self) -> bytes:
        """What was shown before the questions: the document as one part, in no words of the person, or nothing."""
        text = self.begun.document.text
        is_shown = self.begun.initialization == "document"
        return encode_introduction([Message("user", text, "part", carries=text)] if is_shown else [])

    @property
    def introduction_digest(self) -> str:
        """The digest of the introduction."""
        return sha256_of(self.introduction_content.decode())

    @property
    def conversation_record(self) -> ConversationRecord:
        """The line of the conversation."""
        return ConversationRecord(
            id=self.id,
            system=self.begun.system,
            document=self.begun.document.name,
            mode="shared" if self.is_shared else "independent",
            introduction=self.introduction_digest,
            order=tuple(self.order),
        )


def _select_new_and_count_known_answers(incoming: Incoming, answers: Sequence[MatchedAnswer]) -> list[MatchedAnswer]:
    """List the answers that no run here has yet: as many of a text as one file has more than there are here.

    An earlier export of the same chats may have been given beside a later one. What a file numbers or times is known
    by that as well.
    """
    counts: defaultdict[tuple[str, str, int], Counter[str]] = defaultdict(Counter)
    for answer in answers:
        counts[answer.digest_started_and_repetition][answer.file] += 1
    fullest = {identity: files.most_common(1)[0][0] for identity, files in counts.items()}
    counts_here = {
        answer.digest_started_and_repetition: incoming.count_matching_answers_in_runs(
            answer.system,
            answer.digest,
            key=answer.key(answer.repetition) if answer.repetition else "",
            started=answer.exchange.started,
        )
        for answer in answers
    }
    unknown = list[MatchedAnswer]()
    for answer in answers:
        if answer.file != fullest[answer.digest_started_and_repetition]:
            continue
        is_known = counts_here[answer.digest_started_and_repetition] > 0
        counts_here[answer.digest_started_and_repetition] -= is_known
        if is_known and answer.reply:
            incoming.increment_known_answer_count()
        else:
            unknown.append(answer)
    return unknown


def _assign_repetitions(answers: Sequence[MatchedAnswer]) -> list[int]:
    """Assign each answer its repetition: a conversation with several questions is one of its own.

    A DataError for two answers of the same repetition, where the file numbers them.
    """
    chats: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    for index, answer in enumerate(answers):
        chats[answer.chat, answer.document.name].append(index)
    answers_by_place: dict[RecordCoordinates, MatchedAnswer] = {}
    reserved: dict[tuple[str, int], bool] = {}
    """Document and repetition → whether a conversation of several questions has it alone."""
    latest: Counter[RecordCoordinates] = Counter()
    """A question → its last repetition so far, of those that a file doesn't number."""
    repetitions = [answer.repetition for answer in answers]
    for answer in (answer for answer in answers if answer.repetition):
        at = answer.coordinates(answer.repetition)
        if at in answers_by_place:
            wrong = f"answers what {answers_by_place[at].exchange.entry} does; give each its own 'repetition'."
            raise DataError(answer.file, wrong, answer.exchange.entry)
        answers_by_place[at] = answer
        reserved.setdefault((at.document, answer.repetition), False)
    for (_, document), indices in chats.items():
        opened = [index for index in indices if not answers[index].repetition]
        if not opened:
            continue
        first = answers[opened[0]].coordinates(0)
        alone, repetition = len(indices) > 1, latest[first] + 1
        while (
            reserved.get((document, repetition), False)
            or (alone and (document, repetition) in reserved)
            or any(answers[index].coordinates(repetition) in answers_by_place for index in opened)
        ):
            repetition += 1
        reserved[document, repetition], latest[first] = alone, repetition
        for index in opened:
            repetitions[index] = repetition
            answers_by_place[answers[index].coordinates(repetition)] = answers[index]
    return repetitions


def _classify_as_failed_cut_or_answered(answer: MatchedAnswer) -> Status:
    if answer.reply is None:
        return "failed"
    is_thoughts_alone = bool(answer.reply.thoughts) and not answer.reply.answer
    return "truncated" if answer.exchange.is_cut or is_thoughts_alone else "answered"


def _make_answer_record(
    answer: MatchedAnswer, coordinates: RecordCoordinates, key: str, conversation_name: str, turn: int
) -> Record:
    reply, exchange = answer.reply, answer.exchange
    return Record(
        key=key,
        status=_classify_as_failed_cut_or_answered(answer),
        conversation=conversation_name,
        kind="answer",
        system=answer.system,
        coordinates=coordinates.as_dict_without_empty_values(),
        turn=turn,
        asked=answer.match.asked,
        reply=reply.answer if reply else None,
        thoughts=reply.thoughts if reply else "",
        started=exchange.started,
        seconds=exchange.seconds,
        model=exchange.model or None,
        error=None if reply else FailureInfo("error", exchange.error),
        digest=answer.digest,
    )


def _make_recorded_run(
    incoming: Incoming,
    layout_title: str,
    answers: Sequence[MatchedAnswer],
    records: Sequence[Record],
    question_orders: dict[str, tuple[str, ...]],
    further_files: dict[str, bytes],
) -> RecordedRun:
    workspace, system = incoming.workspace, answers[0].system
    documents = {answer.document.name: answer.document for answer in answers}
    sets = {answer.document.name: answer.questions for answer in answers}
    initializations = {answer.initialization for answer in answers}
    wordings = {answer.match.wording for answer in answers}
    kinds = {document.kind for document in documents.values()}
    experiments = {
        classify_experiment(kind, initialization, wording)
        for kind in kinds
        for initialization in initializations
        for wording in wordings
    }
    plan = ProcedurePlan(
        documents=tuple(documents),
        questions={name: questions.name for name, questions in sets.items()},
        initializations=tuple(choice for choice in INITIALIZATIONS if choice in initializations),
        wordings=tuple(choice for choice in WORDINGS if choice in wordings),
        experiment=experiments.pop() if len(experiments) == 1 else "",
        conversation="shared" if len({record.conversation for record in records}) < len(records) else "independent",
    )
    content = sha256_of("\n".join(f"{record.key}\0{record.started}\0{record.digest}" for record in records))
    annotations = {}
    for name, document in documents.items():
        annotation_file = find_annotation_file(workspace, document)
        usable = annotation_file.usable_annotations(sets[name], document.company) if annotation_file else None
        if annotation_file and usable and usable.answers:
            is_whole = usable is annotation_file.annotations
            annotations[name] = read_text(annotation_file.path) if is_whole else format_yaml(usable)
    return RecordedRun(
        name=clean_folder_name(f"chat-{system}", max_characters=80) + f"-{content[:6]}",
        spec=RunSpec((system,), plan=plan, repetitions=max(record.repetition for record in records)),
        source=layout_title,
        words="own",
        documents=documents,
        questions={name: read_text(workspace.nearest_files("questions")[name][1]) for name in plan.questions.values()},
        annotations=annotations,
        records=records,
        orders=question_orders,
        more=further_files,
    )
