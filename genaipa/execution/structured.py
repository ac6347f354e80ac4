"""Structured output from a system that can't promise it: JSON asked for in words, and one repair."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from genaipa.systems.base import Message
from genaipa.tasks.json_reply import read_json

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from genaipa.execution.limits import Attempt


async def ask_in_words(
    ask: Callable[[Sequence[Message]], Awaitable[Attempt]], messages: Sequence[Message], schema: Mapping[str, Any]
) -> Attempt:
    """Ask for JSON of this schema in words, and once more if the reply is none; the second reply is kept as it is."""
    wanted = f"Reply with nothing but a JSON object that fits this JSON Schema:\n{json.dumps(schema)}"
    asked = [*messages[:-1], dataclasses.replace(messages[-1], content=f"{messages[-1].content}\n\n{wanted}")]
    first = await ask(asked)
    text, problem = read_json(first.reply.text, schema)
    attempt = first
    if problem:
        # What it carries is the question still, for a system that reads no words about form.
        last = messages[-1]
        again = Message("user", f"That does not fit: {problem}. {wanted}", carries=last.carries, key=last.key)
        attempt = (await ask([*asked, Message("assistant", first.reply.text, "answer"), again])).after(first)
        text = read_json(attempt.reply.text, schema)[0]
    sent = {**attempt.reply.sent, "json_schema": "in words"}
    return dataclasses.replace(attempt, reply=dataclasses.replace(attempt.reply, text=text, sent=sent))
