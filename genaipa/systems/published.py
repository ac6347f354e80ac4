"""Systems of a published study, asked again: they repeat their recorded answers.

`published/chatgpt-4` reads `published/chatgpt-4.json` among the pulled data. What the study did not record is
refused: a question in another text, a document in another text under the same name, a further repetition, a summary
without the document. The study kept no summaries, so that a summary of the document is a sentence that says so.
"""

from __future__ import annotations

import hashlib
import importlib
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from genaipa.errors import NOT_RECORDED, NotReadyError, PermanentError
from genaipa.systems.base import BuiltinSystem, Readiness, Reply
from genaipa.systems.provider import Provider
from genaipa.workspace import pulled_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from genaipa.systems.base import Message, Settings, Words

NO_SUMMARY = "(the published study did not keep this summary)"


class RecordedAnswer(msgspec.Struct, frozen=True):
    """One recorded answer: the key of its record without the system, the question, the reply."""

    key: str
    asked: str
    reply: str


class Recording(msgspec.Struct, frozen=True):
    """The recorded answers of one system.

    `documents` holds for each document the digest of the text that the study showed (`digest_ignoring_whitespace`),
    `source` says where the recording comes from.
    """

    system: str
    source: str
    initializations: tuple[str, ...]
    documents: dict[str, str]
    answers: tuple[RecordedAnswer, ...]


def _map_recorded_systems_to_datasets() -> dict[str, Any]:
    # By name, as the catalog finds adapters: data sets may come from other packages, and their room is above.
    studies: dict[str, Any] = importlib.import_module("genaipa.datasets.base").map_recorded_systems_to_datasets()
    return studies


def map_recorded_systems_to_dataset_names() -> dict[str, str]:
    """Return system → name of the data set whose pull brings its recording."""
    return {system: dataset.name for system, dataset in _map_recorded_systems_to_datasets().items()}


def list_question_sets_of_recorded_system(system: str) -> tuple[str, ...]:
    """Return the question sets of the study that recorded a system's answers."""
    sets: tuple[str, ...] = _map_recorded_systems_to_datasets()[system].question_sets
    return sets


def recording_pull_command(system: str) -> str:
    """Return the command that brings the recording of a system."""
    return f"genaipa get {map_recorded_systems_to_dataset_names().get(system, 'NAME')}"


def recording_path(system: str) -> Path:
    """Return the path of a system's recording."""
    return pulled_folder() / f"{system}.json"


def is_recording_pulled(system: str) -> bool:
    """Tell whether this is a system of a study, and its recording is here."""
    return system.startswith("published/") and recording_path(system).is_file()


def read_recording(system: str) -> Recording:
    """Read the recording of a system; a NotReadyError if it isn't here or is damaged."""
    path = recording_path(system)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Recording)
    except OSError:
        raise NotReadyError(
            f"the recorded answers of {system} have not been fetched; run: {recording_pull_command(system)}",
            kind="not-pulled",
        ) from None
    except msgspec.DecodeError as error:
        raise NotReadyError(
            f"{path} is damaged ({error}); delete it and run: {recording_pull_command(system)}", kind="damaged"
        ) from None


def digest_ignoring_whitespace(text: str) -> str:
    """Return a digest that ignores white space, which is what cutting a document into parts changes."""
    return hashlib.sha256("".join(text.split()).encode()).hexdigest()


class PublishedSystem(BuiltinSystem):
    """A recording as a system under test."""

    provider: ClassVar[Provider] = Provider(
        name="published",
        form="published/NAME",
        about="repeats the replies of a published study; needs its data: genaipa get",
        builtin=map_recorded_systems_to_dataset_names,
        free=True,
        words="recording",
        source=recording_path,
        missing_setup=lambda system: [] if is_recording_pulled(system) else [recording_pull_command(system)],
    )
    words: Words = provider.words

    def __init__(self, *, name: str) -> None:
        super().__init__(name=name)
        self._recording: Recording | None = None
        self._answers: dict[str, RecordedAnswer] = {}

    async def start(self) -> Readiness:
        """Read the recording."""
        self._recording = read_recording(self.name)
        self._answers = {answer.key: answer for answer in self._recording.answers}
        return Readiness(notes=(f"{self.name} repeats the replies recorded by {self._recording.source}.",))

    async def reply_to_last_message(self, messages: Sequence[Message], settings: Settings) -> Reply:  # noqa: ARG002 - it has none
        """Return the recorded reply to the last message; a PermanentError if there is none."""
        last = messages[-1]
        key = last.key.partition("|")[2]
        document, _, place_in_run = key.partition("|")
        self._refuse_unrecorded_document_text(messages, document)
        if last.purpose == "summary-request" and place_in_run.startswith("summary-of-document|"):
            return Reply(NO_SUMMARY, model=self.name)
        if last.purpose == "summary-request":
            raise self._missing_record_error("a summary of a document that was not shown")
        if last.purpose != "question":
            raise self._missing_record_error("how the system acknowledged an introduction")
        answer = self._answers.get(key)
        if answer is None:
            raise self._missing_record_error(f"an answer to {key.replace('|', ', ')}")
        if answer.asked != last.carries:
            raise self._missing_record_error(f"an answer to {key.replace('|', ', ')} with this wording")
        return Reply(answer.reply, model=self.name)

    def _refuse_unrecorded_document_text(self, messages: Sequence[Message], document_name: str) -> None:
        """Raise a PermanentError where the messages show another text than the study did."""
        text = "".join(message.carries for message in messages if message.purpose == "part")
        recorded_digest = self._recording.documents.get(document_name) if self._recording else None
        if text and digest_ignoring_whitespace(text) != recorded_digest:
            raise self._missing_record_error(f"answers about this version of {document_name}")

    def _missing_record_error(self, missing_record: str) -> PermanentError:
        return PermanentError(f"the published study did not record {missing_record}.", kind=NOT_RECORDED)
