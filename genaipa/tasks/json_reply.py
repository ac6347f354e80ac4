"""JSON in a reply: the object that fits a schema, or the reason in words why there is none."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from genaipa.systems.thoughts import split_thoughts

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST = 2_000
"""Places at which an object may begin that are looked at in a reply: the last ones."""
_FENCED = re.compile(r"```(?:json)?(.*?)```", re.DOTALL)
_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


def extract_json_or_reply_and_flaw(reply: str, schema: Mapping[str, Any]) -> tuple[str, str]:
    """Return (the JSON of a reply, "") if it fits the schema, else (the reply, its flaw).

    Checked are the fields that have to be there, types and permitted values, at every depth.
    """
    fenced = _FENCED.findall(reply)
    if len(fenced) > 1:
        return reply, "it has several code blocks, and it is unclear which of them counts"
    text = (fenced[0] if fenced else reply).strip()
    try:
        content = json.loads(text)
        flaw = _schema_misfit_or_empty(content, {"type": "object", **schema}, "it")
    except ValueError as error:
        return reply, f"it is not JSON ({error})"
    except RecursionError:
        return reply, "it is nested too deeply"
    return (reply, flaw) if flaw else (text, "")


def find_last_fitting_json_or_empty(reply: str, schema: Mapping[str, Any]) -> str:
    """Return the last JSON object of a reply that fits the schema, after a model's thoughts; empty for none.

    >>> find_last_fitting_json_or_empty('<think>{"a": 1}?</think> So: {"a": 2}, I think.', {"required": ["a"]})
    '{"a": 2}'
    """
    answer = split_thoughts(reply).answer
    reader, last_object, after = json.JSONDecoder(), "", 0
    for begin in [match.start() for match in re.finditer("{", answer)][-_MOST:]:
        if begin < after:
            continue
        try:
            value, end = reader.raw_decode(answer, begin)
        except (ValueError, RecursionError):
            continue
        if not _schema_misfit_or_empty(value, {"type": "object", **schema}, "it"):
            last_object, after = answer[begin:end], end
    return last_object


def _schema_misfit_or_empty(value: object, schema: Mapping[str, Any], value_name: str) -> str:
    """Return the first reason why a part of a reply does not fit its part of the schema; empty if it fits."""
    kind = str(schema.get("type", ""))
    if kind in _TYPES and not isinstance(value, _TYPES[kind]):
        return f"{value_name} is not {'a JSON object' if value_name == 'it' else f'of type {kind}'}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{value_name} is not one of {json.dumps(schema['enum'])}"
    if choices := schema.get("anyOf"):
        flaws = [_schema_misfit_or_empty(value, choice, value_name) for choice in choices]
        return (
            ""
            if "" in flaws
            else f"{value_name} matches none of the allowed schemas ({'; '.join(dict.fromkeys(flaws))})"
        )
    if isinstance(value, list):
        entries = ((entry, f"{value_name}[{path}]") for path, entry in enumerate(value))
        return next(
            filter(None, (_schema_misfit_or_empty(entry, schema.get("items", {}), path) for entry, path in entries)), ""
        )
    if isinstance(value, dict):
        lacking = [field for field in schema.get("required", ()) if field not in value]
        fields = (
            (field, field_schema) for field, field_schema in schema.get("properties", {}).items() if field in value
        )
        misfits = (_schema_misfit_or_empty(value[field], field_schema, f"'{field}'") for field, field_schema in fields)
        return f"'{lacking[0]}' is missing" if lacking else next(filter(None, misfits), "")
    return ""
