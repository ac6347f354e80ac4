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

_FENCED = re.compile(r"```(?:json)?(.*?)```", re.DOTALL)
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
        attempt = (await ask([*asked, Message("assistant", first.reply.text, "answer"), again])).after(first)
        text = read_json(attempt.reply.text, schema)[0]
    sent = {**attempt.reply.sent, "json_schema": "in words"}
    return dataclasses.replace(attempt, reply=dataclasses.replace(attempt.reply, text=text, sent=sent))


def read_json(reply: str, schema: Mapping[str, Any]) -> tuple[str, str]:
    """(the JSON of a reply, "") if it fits the schema, else (the reply, its flaw).

    Checked are the fields that have to be there, types and permitted values, at every depth.
    """
    fenced = _FENCED.findall(reply)
    if len(fenced) > 1:
        return reply, "it has several blocks, and nothing says which is meant"
    text = (fenced[0] if fenced else reply).strip()
    try:
        found = json.loads(text)
        flaw = _misfit(found, {"type": "object", **schema}, "it")
    except ValueError as error:
        return reply, f"it is no JSON ({error})"
    except RecursionError:
        return reply, "it is nested too deeply"
    return (reply, flaw) if flaw else (text, "")


def _misfit(found: object, schema: Mapping[str, Any], name: str) -> str:
    """The first reason, in words, why a part of a reply does not fit its part of the schema; empty if it fits."""
    kind = str(schema.get("type", ""))
    if kind in _TYPES and not isinstance(found, _TYPES[kind]):
        return f"{name} is no {'JSON object' if name == 'it' else kind}"
    if "enum" in schema and found not in schema["enum"]:
        return f"{name} is none of {json.dumps(schema['enum'])}"
    if choices := schema.get("anyOf"):
        flaws = [_misfit(found, choice, name) for choice in choices]
        return "" if "" in flaws else f"{name} fits none of its forms ({'; '.join(dict.fromkeys(flaws))})"
    if isinstance(found, list):
        entries = ((entry, f"{name}[{place}]") for place, entry in enumerate(found))
        return next(filter(None, (_misfit(entry, schema.get("items", {}), place) for entry, place in entries)), "")
    if isinstance(found, dict):
        lacking = [field for field in schema.get("required", ()) if field not in found]
        fields = ((field, known) for field, known in schema.get("properties", {}).items() if field in found)
        misfits = (_misfit(found[field], known, f"'{field}'") for field, known in fields)
        return f"'{lacking[0]}' is missing" if lacking else next(filter(None, misfits), "")
    return ""
