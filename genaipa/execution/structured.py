"""Structured output from a system that can't promise it: JSON asked for in words, and one repair."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import TYPE_CHECKING, Any

from genaipa.systems.base import Message

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from genaipa.execution.limits import Attempt

_FENCED = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


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
        again = Message("user", f"That does not fit: {problem}. {wanted}", key=messages[-1].key)
        attempt = await ask([*asked, Message("assistant", first.reply.text, "answer"), again])
        text = read_json(attempt.reply.text, schema)[0]
        usage = first.usage + attempt.usage if first.usage and attempt.usage else first.usage or attempt.usage
        attempt = dataclasses.replace(attempt, attempts=first.attempts + attempt.attempts, usage=usage)
    sent = {**attempt.reply.sent, "json_schema": "in words"}
    return dataclasses.replace(attempt, reply=dataclasses.replace(attempt.reply, text=text, sent=sent))


def read_json(reply: str, schema: Mapping[str, Any]) -> tuple[str, str]:
    """(the JSON of a reply, "") if it fits the schema, else (the reply, its flaw).

    Checked are the fields that have to be there, their types and their permitted values, at the top.
    """
    fenced = _FENCED.search(reply)
    text = fenced[1] if fenced else reply.strip()
    try:
        found = json.loads(text)
    except ValueError as error:
        return reply, f"it is no JSON ({error})"
    if not isinstance(found, dict):
        return reply, "it is no JSON object"
    for name in schema.get("required", ()):
        if name not in found:
            return reply, f"'{name}' is missing"
    for name, field in schema.get("properties", {}).items():
        wanted = _TYPES.get(str(field.get("type")))
        if name in found and wanted and not isinstance(found[name], wanted):
            return reply, f"'{name}' is no {field['type']}"
        if name in found and "enum" in field and found[name] not in field["enum"]:
            return reply, f"'{name}' is none of {json.dumps(field['enum'])}"
    return text, ""
