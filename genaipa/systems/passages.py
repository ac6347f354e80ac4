"""The passages that a system gives with its reply: found in a server's response, and checked, whoever gives them.

A reply is never lost for its passages: what can't be used is left out, and a remark says so.
"""

from __future__ import annotations

from typing import Any

from genaipa.systems.base import Passage

LONGEST = 100_000
"""Characters from which a passage is remarked on: it is a document rather than a passage."""
_LARGEST = 1e300
"""Least score that is none: no retriever gives it."""
_TEXT = ("text", "content")
_SOURCE = ("source", "title", "url")
"""Fields of an item in which its text, or its source, may be, the first that has any."""


def find_passages(response: object, path: str) -> tuple[tuple[Passage, ...], str]:
    """The passages at a path of a response (`choices.0.message.context.citations`), and a remark on what is odd."""
    found: Any = response
    for step in path.split("."):
        if isinstance(found, dict):
            found = found.get(step)
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            found = None
    if not isinstance(found, list):
        return (), f"a response has no list at {path}, so that its answer has no passages; see `passages` of the entry"
    if not found:
        return (), f"a response has an empty list at {path}: nothing was retrieved for its answer"
    return check_passages([_read(item) for item in found])


def _read(item: object) -> object:
    """One item, a text or an object that has one."""
    if isinstance(item, str):
        return Passage(item)
    if not isinstance(item, dict):
        return None
    return Passage(_first(item, _TEXT), _first(item, _SOURCE), item.get("score"))


def _first(item: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := item.get(name), str) and value.strip()), "")


def check_passages(given: object) -> tuple[tuple[Passage, ...], str]:
    """The passages among these that can be kept, and a remark on what is odd.

    One without text is left out; a source that is no text, or a score that is no number, is taken off.
    """
    if not isinstance(given, list | tuple):
        return (), f"its passages are a {type(given).__name__} instead of a tuple of Passage, and are left out"
    kept = tuple(_sound(one) for one in given if _has_text(one))
    if len(kept) < len(given):
        return kept, "some of its passages are without text, and are left out"
    if any(len(one.text) > LONGEST for one in kept):
        return kept, f"a passage has more than {LONGEST:,} characters: it is a document rather than a passage"
    return kept, ""


def _has_text(one: object) -> bool:
    return isinstance(one, Passage) and isinstance(one.text, str) and bool(one.text.strip())


def _sound(one: Passage) -> Passage:
    score: object = one.score
    is_number = isinstance(score, int | float) and not isinstance(score, bool) and -_LARGEST < score < _LARGEST
    return Passage(one.text, one.source if isinstance(one.source, str) else "", one.score if is_number else None)
