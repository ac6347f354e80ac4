"""From a task's call to the lines that a run keeps of it: its record, and how its conversation began."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genaipa.files.stamps import now
from genaipa.runs.records import ConversationRecord, Record, is_place, key_of

if TYPE_CHECKING:
    from genaipa.runs.writer import PartWriter
    from genaipa.tasks.base import Call, Task


def key(task: Task, system: str, call: Call) -> str:
    """The key of a call's record."""
    return key_of(system, task.name, call.coordinates)


def conversation_id(task: Task, system: str, call: Call) -> str:
    """The conversation of a call; one that names none shares the task's, unless it brings an introduction."""
    if call.conversation:
        return call.conversation
    return key(task, system, call) if len(call.messages) > 1 else f"{system}|{task.name}"


def _place(system: str, call: Call) -> dict[str, Any]:
    """The fields that a record and the line of its conversation share."""
    own, known = is_place(call.coordinates), call.coordinates
    return {
        "system": system,
        "document": known.get("document", ""),
        "initialization": known["initialization"] if own else "",
        "wording": known["wording"] if own else "original",
        "repetition": int(known["repetition"]) if own else 1,
        "prompts": known.get("prompts", "") if own else "",
    }


def _own(task: Task, call: Call) -> dict[str, Any]:
    """The fields of a record that is not of the paper's questions."""
    return {} if is_place(call.coordinates) else {"task": task.name, "coordinates": dict(call.coordinates)}


def blank_record(task: Task, system: str, call: Call) -> Record:
    """The record of a call before anything came of it."""
    return Record(
        key=key(task, system, call),
        status="failed",
        conversation=conversation_id(task, system, call),
        kind=call.kind,
        **_place(system, call),
        question=call.label,
        turn=call.turn,
        asked=call.messages[-1].content,
        reply=None,
        started=now(),
        seconds=0.0,
        **_own(task, call),
    )


async def begin(writer: PartWriter, task: Task, system: str, call: Call) -> None:
    """Keep how the conversation of its first call began."""
    await writer.begin(
        ConversationRecord(
            id=conversation_id(task, system, call),
            **_place(system, call),
            document_digest=call.digest,
            mode=call.mode,
            introduction=writer.keep_introduction(call.messages[:-1]),
            order=call.order,
        )
    )
