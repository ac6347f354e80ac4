"""The seam between genaipa and everything that can be asked. Whoever opens this file can write a task.

A task defines its questions as dialogues: generators that yield a `Call`, are sent the text of its reply, and yield the
next. The engine, `--dry-run`, `--estimate`, the check against the context and the web chats by hand all drive the same
generators, so that the preview shows the messages of the run. A task asks nobody itself, writes no file, and knows no
provider.
"""

from __future__ import annotations

import sys
import traceback
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from genaipa.errors import GenaipaError, TaskError, clip
from genaipa.plugins import ships_with_genaipa
from genaipa.runs.records import Digests, question_id_or_all_coordinates
from genaipa.systems.base import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.procedure import ConversationMode
    from genaipa.runs.records import DocumentFacts, Record, RecordKind, RunSpec, Status
    from genaipa.systems.base import Reply
    from genaipa.systems.costs import TokenCounter
    from genaipa.workspace import Workspace

    Dialogue = Generator["Call | tuple[Dialogue, ...]", str, None]
    """Yields a Call and is sent its reply's text, or yields further dialogues, which go on side by side, and is sent
    an empty text once they have ended. When a call fails it is closed: what would follow can't be asked now."""


@dataclass(frozen=True)
class Call:
    """One request: the whole conversation up to the question, and where its record belongs.

    `coordinates` are what tells the record from the others of its system, names first ("item" → "7", "split" →
    "test"); the key is made of them. Calls of one `conversation` belong to one chat: in a `shared` one each goes on
    where the one before it ended, from `independent` ones each branches off on its own after the introduction.
    """

    coordinates: Mapping[str, str]
    messages: Sequence[Message]
    kind: RecordKind = "answer"
    conversation: str = ""
    """Id of the conversation, unique in the run; empty for one that all calls of the task and system share."""
    mode: ConversationMode = "independent"
    order: tuple[str, ...] = ()
    """Keys of the questions of the conversation, in order, for the record of how it began."""
    turn: int = 1
    digest: str = ""
    """SHA-256 of the document that is asked about: part of the answer's identity; it identifies a cache."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `Settings` that this call sets itself, such as `json_schema` and `max_tokens`."""
    after: str = ""
    """Digest of the answer that a follow-up goes on from; the conversation goes on from that answer without it."""
    independent_of_reply: bool = False
    """Whether what follows in the conversation is the same whatever the reply says: a chat by hand may show it."""
    words: int | None = None
    """Longest reply that is asked for, in words, where it is limited so."""
    placeholder_reply: str = ""
    """A text in place of the reply where nothing is asked, if there is a likely one."""
    compute: Callable[[Callable[[str], None]], str] | None = None
    """Works out what the last message carries once the call is asked, for systems that only repeat it. It may take
    hours: it runs in a thread, one call after another, and is given a function to say in words how far it is."""

    @property
    def label(self) -> str:
        """The name of what is asked, in one word or in parentheses: a question's id, a step, or all coordinates."""
        return question_id_or_all_coordinates(self.coordinates)

    def follow_up(self, reply: str, message: Message, **changes: Any) -> Call:
        """Return the call that sends a further message after this one's reply; `changes` are its other fields."""
        return replace(self, messages=(*self.messages, Message("assistant", reply, "answer"), message), **changes)


class PredictionAndScore(NamedTuple):
    """A task's reading of a reply without a person: its prediction, and a score between 0 and 1 (None for none)."""

    prediction: str
    score: float | None = None


def _find_no_opening_messages(_name: str) -> None:
    return None


def _is_never_done(_key: str) -> bool:
    return False


@dataclass(frozen=True)
class Target:
    """The system that a task asks, as far as its requests depend on it, and the replies that the run has already."""

    name: str
    counters: Mapping[str, TokenCounter] = field(default_factory=dict)
    """Name of a text of the task → how the system counts tokens of texts like it; at least one."""
    part_tokens: int = 0
    """Tokens of the parts in which a document is sent."""
    is_done: Callable[[str], bool] = _is_never_done
    """Whether the reply of this key is in: a task may leave it out."""
    opening_messages: Callable[[str], Sequence[Message] | None] = _find_no_opening_messages
    """The messages with which this conversation began; None if it has not begun. It goes on as it began."""
    memory: dict[str, Any] = field(default_factory=dict)
    """The task's own data about this system."""

    def count_tokens(self, text: str, similar_text_name: str = "") -> int:
        """Count the tokens of a text as the system counts the task's text of that name."""
        return self.counter_for_text(similar_text_name).count(text)

    def counter_for_text(self, similar_text_name: str) -> TokenCounter:
        """Return the system's token counter for texts like the task's text of that name."""
        return self.counters.get(similar_text_name) or next(iter(self.counters.values()))


class Task(ABC):
    """The questions of a run and their conversations. Made of the run's spec; a subclass only needs `dialogues`.

    The shipped ones are listed in `tasks/catalog.py`; a package brings its own by an entry point in the group
    `genaipa.tasks`, a user by `--task module:Class`.
    """

    folder: RunFolder | None = None
    """The folder of a run that goes on, for a task whose questions are kept there."""
    reads_json = False
    """Whether `find_reply_flaw_or_empty` reads the JSON of a reply itself.

    Of one that does not fit, the system gets the
    flaw."""

    def __init__(self, spec: RunSpec, workspace: Workspace) -> None:
        self.spec = spec
        self.workspace = workspace

    @property
    def name(self) -> str:
        """The name by which the run asked for it."""
        return self.spec.task

    @property
    def part_tokens(self) -> int | None:
        """Tokens of the parts in which documents are sent; None for as many as suit the system."""
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that the user should see before the run."""
        return ()

    @property
    def digests(self) -> Digests:
        """Digests of the replies' inputs, besides the system and the task's file: a run goes on only with the same."""
        return Digests({}, {}, {}, {})

    @property
    def facts(self) -> Mapping[str, DocumentFacts]:
        """The documents that are asked about, as the manifest describes them."""
        return {}

    @property
    def question_orders(self) -> dict[str, tuple[str, ...]]:
        """The order of questions by document and repetition, for the manifest."""
        return {}

    @property
    def texts_for_run_folder(self) -> Mapping[str, str]:
        """Texts that the requests are made of, under their names in the run folder, where they are kept."""
        return {}

    @property
    def long_request_texts_by_name(self) -> Mapping[str, str]:
        """Long texts that requests hold, by name: a system that can is asked how many tokens they take."""
        return {}

    @property
    def shows_documents(self) -> bool:
        """Whether many questions follow one long text: single calls read it from a provider's cache, batches don't."""
        return False

    def find_text_language(self, text_name: str) -> str:  # noqa: ARG002 - for tasks that know it
        """Return the language of the long text of that name, as a code; empty where it is not known."""
        return ""

    def count_planned_answers(self) -> int:
        """Return the number of answers wanted of each system."""
        every = (
            call
            for dialogue in self.dialogues_raising_task_error(Target(""))
            for call in walk_calls(dialogue, lambda call: call.placeholder_reply)
        )
        return sum(call.kind == "answer" for call in every)

    @abstractmethod
    def dialogues(self, target: Target) -> Iterator[Dialogue]:
        """Yield everything that a system is asked, in the order in which it is begun."""

    def estimation_dialogues_and_scale_to_run(self, target: Target) -> tuple[Iterator[Dialogue], int]:
        """Return dialogues by which the run's length is estimated, and how many times as many the run has."""
        return self.dialogues(target), 1

    def find_reply_flaw_or_empty(self, call: Call, reply: Reply) -> str:  # noqa: ARG002 - for tasks that can't use any reply
        """Return the reason that a reply is of no use, in words: it is asked for again, then a failure; empty for none.

        One that was cut off at its limit is a failure at once.
        """
        return ""

    def read_reply(self, call: Call, reply: str) -> PredictionAndScore | None:  # noqa: ARG002 - for tasks that can
        """Return the task's reading of a reply; None leaves it to people."""
        return None

    def read_reply_by_status(self, call: Call, reply: str, status: Status) -> PredictionAndScore | None:  # noqa: ARG002 - for tasks that do
        """Read a reply that may be cut off or refused, by its status; as `read_reply` unless overridden."""
        return self.read_reply(call, reply)

    @contextmanager
    def open_record_listener(self, folder: RunFolder) -> Iterator[Callable[[Record], None]]:  # noqa: ARG002 - for tasks that do
        """Return a context, held while a run is asked, that is given each record once it is on disk."""
        yield lambda _record: None

    # A subclass overrides the methods above. Whatever drives a task calls the safe ones, in which an error of a
    # user's own code is a TaskError.

    def dialogues_raising_task_error(self, target: Target) -> Iterator[Dialogue]:
        """Return the `dialogues`."""
        with self._translate_task_errors():
            dialogues = iter(self.dialogues(target))
        return self._translate_errors_of_dialogues(dialogues)

    def estimation_and_scale_raising_task_error(self, target: Target) -> tuple[Iterator[Dialogue], int]:
        """Return the `estimation_dialogues_and_scale_to_run`."""
        with self._translate_task_errors():
            dialogues, times = self.estimation_dialogues_and_scale_to_run(target)
        return self._translate_errors_of_dialogues(dialogues), times

    def find_flaw_raising_task_error(self, call: Call, reply: Reply) -> str:
        """Return the `find_reply_flaw_or_empty`."""
        with self._translate_task_errors():
            return self.find_reply_flaw_or_empty(call, reply)

    def compute_text_raising_task_error(self, call: Call, report_progress: Callable[[str], None]) -> str:
        """Return the text that a call's last message carries, by its `compute`."""
        with self._translate_task_errors():
            return call.compute(report_progress) if call.compute else call.messages[-1].carries

    def read_reply_raising_task_error(self, call: Call, reply: str, status: Status = "answered") -> PredictionAndScore:
        """Return the `read_reply_by_status`; an empty reading for None."""
        with self._translate_task_errors():
            return self.read_reply_by_status(call, reply, status) or PredictionAndScore("")

    def _translate_errors_of_dialogues(self, dialogues: Iterator[Dialogue]) -> Iterator[Dialogue]:
        while True:
            with self._translate_task_errors():
                dialogue = next(dialogues, None)
            if dialogue is None:
                return
            yield self._translate_errors_of_dialogue(dialogue)

    def _translate_errors_of_dialogue(self, dialogue: Dialogue) -> Dialogue:
        try:
            with self._translate_task_errors():
                step = next(dialogue, None)
            while step is not None:
                reply = yield tuple(map(self._translate_errors_of_dialogue, step)) if isinstance(step, tuple) else step
                with self._translate_task_errors():
                    try:
                        step = dialogue.send(reply)
                    except StopIteration:
                        return
        finally:
            dialogue.close()

    @contextmanager
    def _translate_task_errors(self) -> Iterator[None]:
        """Turn an error of a user's task into a sentence with the line of its file; a shipped task's stays as it is."""
        try:
            yield
        except GenaipaError:
            raise
        except Exception as error:
            if ships_with_genaipa(type(self).__module__):
                raise
            file = getattr(sys.modules.get(type(self).__module__), "__file__", "")
            frames = traceback.extract_tb(error.__traceback__)
            frame = next((frame for frame in reversed(frames) if frame.filename == file), frames[-1])
            raise TaskError(
                f"task '{self.name}' failed: {type(error).__name__}: {clip(str(error), 200)} "
                f"({PurePath(frame.filename).name}, line {frame.lineno})."
            ) from error


def walk_calls(dialogue: Dialogue, make_reply: Callable[[Call], str]) -> Iterator[Call]:
    """Yield every call of a dialogue in turn, each answered by `make_reply` once the caller has seen it."""
    try:
        step = next(dialogue)
        while True:
            answer = ""
            if isinstance(step, tuple):
                for branch in step:
                    yield from walk_calls(branch, make_reply)
            else:
                yield step
                answer = make_reply(step)
            step = dialogue.send(answer)
    except StopIteration:
        return
