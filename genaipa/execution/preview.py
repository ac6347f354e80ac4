"""Preview of a task's messages, with a placeholder for each reply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.execution import calls
from genaipa.tasks.base import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.systems.base import Message
    from genaipa.tasks.base import Call, Target, Task

SUMMARY_PLACEHOLDER = "[the system's own summary]"
REPLY_PLACEHOLDER = "[the system's reply]"


def conversations(task: Task, target: Target) -> Iterator[tuple[str, Sequence[Message]]]:
    """(id, messages) of each fresh conversation with a system, up to the last message that it is sent."""
    for dialogue in task.guarded_dialogues(target):
        title, messages = "", ()  # type: tuple[str, Sequence[Message]]
        for call in walk(dialogue, _placeholder):
            if call.kind == "acknowledgement":
                continue
            alone = call.mode == "independent" and call.kind == "answer"
            name = (calls.key if alone else calls.conversation_id)(task, target.name, call)
            if title not in ("", name):
                yield title, messages
            title, messages = name, call.messages
        if title:
            yield title, messages


def _placeholder(call: Call) -> str:
    return call.placeholder_reply or (SUMMARY_PLACEHOLDER if call.kind == "summary" else REPLY_PLACEHOLDER)
