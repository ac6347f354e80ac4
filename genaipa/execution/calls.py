"""Calls of a task: a preview of all, and a call's lines in a run, its record and how its conversation began."""

from __future__ import annotations

from sys import intern
from typing import TYPE_CHECKING

from genaipa.files.stamps import now
from genaipa.runs.records import ConversationRecord, Record, record_key
from genaipa.tasks.base import walk_calls

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.runs.writer import RunWriter
    from genaipa.systems.base import Message
    from genaipa.tasks.base import Call, Target, Task


def call_record_key(task: Task, system: str, call: Call) -> str:
    """Return the key of a call's record."""
    return record_key(system, task.name, call.coordinates)


def call_conversation_id(task: Task, system: str, call: Call) -> str:
    """Return the conversation of a call; one that names none shares the task's, unless it brings an introduction."""
    if call.conversation:
        return call.conversation
    return call_record_key(task, system, call) if len(call.messages) > 1 else f"{system}|{task.name}"


def make_record_without_reply(task: Task, system: str, call: Call) -> Record:
    """Return the record of a call before anything came of it."""
    return Record(
        key=call_record_key(task, system, call),
        status="failed",
        conversation=call_conversation_id(task, system, call),
        kind=call.kind,
        system=system,
        task=intern(task.name),  # the default is left out of a line where it is that very text
        coordinates=dict(call.coordinates),
        turn=call.turn,
        asked=call.messages[-1].content,
        after=call.after,
        reply=None,
        started=now(),
        seconds=0.0,
    )


async def record_conversation_opening(writer: RunWriter, task: Task, system: str, call: Call) -> None:
    """Keep how the conversation of its first call began."""
    await writer.record_conversation_opening_once(
        ConversationRecord(
            id=call_conversation_id(task, system, call),
            system=system,
            document=call.coordinates.get("document", ""),
            mode=call.mode,
            introduction=writer.store_introduction_and_get_digest(call.messages[:-1]),
            order=call.order,
        )
    )


SUMMARY_PLACEHOLDER = "[the system's own summary]"
REPLY_PLACEHOLDER = "[the system's reply]"


def preview_conversations(task: Task, target: Target) -> Iterator[tuple[str, Sequence[Message]]]:
    """(id, messages) of each fresh conversation with a system, up to the last message that it is sent."""
    for dialogue in task.dialogues_raising_task_error(target):
        title, messages = "", ()  # type: tuple[str, Sequence[Message]]
        for call in walk_calls(dialogue, _placeholder_reply_to_call):
            if call.kind == "acknowledgement":
                continue
            if call.after:
                yield call_record_key(task, target.name, call), call.messages
                continue
            alone = call.mode == "independent" and call.kind == "answer"
            name = (call_record_key if alone else call_conversation_id)(task, target.name, call)
            if title not in ("", name):
                yield title, messages
            title, messages = name, call.messages
        if title:
            yield title, messages


def _placeholder_reply_to_call(call: Call) -> str:
    return call.placeholder_reply or (SUMMARY_PLACEHOLDER if call.kind == "summary" else REPLY_PLACEHOLDER)
