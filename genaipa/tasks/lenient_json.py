"""Objects and lists in a reply, written as models write JSON: in sentences and fences, with its common slips.

Taken are comments, commas too many or missing at a line's end, single and typographic quotes, quotes within a string,
keys without quotes, and Python's constants. Nothing is completed: what is cut off or can't be read is an error, so that
no value is read that the model did not write.
"""

from __future__ import annotations

import json
import re
from typing import Any

_DEEPEST = 40
_MOST = 2_000_000
"""Characters that are read in all attempts at one reply."""
_BLANK = re.compile(r"(?:[\s\ufeff\u200b]|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_CLOSERS = {
    '"': '"',
    "'": "'",
    "\u201c": '\u201d\u201c"',
    "\u201d": '\u201d"',
    "\u201e": '\u201c\u201d"',
    "\u2018": "\u2019\u2018'",
    "\u00ab": "\u00bb",
}
"""Quote that opens a string → the quotes that may close it."""
_COMMAS, _COLONS = ",\uff0c", ":\uff1a"
_ENDS = f"{_COMMAS}{_COLONS}}}]/#"
_KEY = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_CONSTANT = re.compile(r"(?:true|false|null|True|False|None)\b")
_CONSTANTS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_BEGINS = re.compile(r"[{\[]")


class Fields(dict[str, Any]):
    """An object; `twice` if two of its fields have one name, so that neither can be believed."""

    twice = False


class _UnreadableError(ValueError):
    """No object or list can be read; one was `begun` if at least one of its fields could be."""

    def __init__(self, why: str, *, begun: bool = False) -> None:
        super().__init__(why)
        self.begun = begun


def objects(text: str) -> list[Any]:
    """Return the objects and lists of a text, the outermost ones in their order.

    A ValueError where an object was begun that can't be read: what is within it, and what is beside it, may be a draft,
    or somebody else's words.
    """
    reader, found, place = _Reader(text), list[Any](), 0
    while begin := _BEGINS.search(text, place):
        try:
            value, place = _strictly(text, begin.start())
        except (ValueError, RecursionError):
            try:
                value, place = reader.value(begin.start(), 0)
            except _UnreadableError as error:
                if error.begun:
                    raise
                place = begin.end()
                continue
        found.append(value)
    return found


def _strictly(text: str, place: int) -> tuple[Any, int]:
    return json.JSONDecoder(strict=False, object_pairs_hook=_fields).raw_decode(text, place)


def _paired(text: str) -> str:
    """Return a text in which two halves of a character, written as escapes, are one; a half alone is replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _fields(pairs: list[tuple[str, Any]]) -> Fields:
    fields = Fields(pairs)
    fields.twice = len(fields) < len(pairs)
    return fields


class _Reader:
    """A reader of one text, from any place of it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._read = 0

    def value(self, place: int, depth: int) -> tuple[Any, int]:
        """Return the value that begins at a place, and the place after it."""
        if depth > _DEEPEST or self._read > _MOST:
            raise _UnreadableError("it is nested too deeply", begun=True)
        sign = self._text[place : place + 1]
        if sign == "{":
            return self._object(place + 1, depth)
        if sign == "[":
            return self._list(place + 1, depth)
        if sign and sign in _CLOSERS:
            return self._string(place)
        if found := _CONSTANT.match(self._text, place):
            return _CONSTANTS[found[0]], found.end()
        if found := _NUMBER.match(self._text, place):
            return (float if set(found[0]) & set(".eE") else int)(found[0]), found.end()
        raise _UnreadableError("it is no JSON")

    def _object(self, place: int, depth: int) -> tuple[Fields, int]:
        pairs: list[tuple[str, Any]] = []
        place = self._after_blank(place)
        try:
            while self._text[place : place + 1] != "}":
                key, place = self._key(place)
                value, place = self.value(self._after_colon(place), depth + 1)
                pairs.append((key, value))
                place = self._after_comma(place, "}")
        except _UnreadableError as error:
            error.begun = error.begun or bool(pairs)
            raise
        return _fields(pairs), place + 1

    def _list(self, place: int, depth: int) -> tuple[list[Any], int]:
        entries = []
        place = self._after_blank(place)
        while self._text[place : place + 1] != "]":
            entry, place = self.value(place, depth + 1)
            entries.append(entry)
            place = self._after_comma(place, "]")
        return entries, place + 1

    def _key(self, place: int) -> tuple[str, int]:
        if self._text[place : place + 1] in _CLOSERS:
            return self._string(place)
        if found := _KEY.match(self._text, place):
            return found[0], found.end()
        raise _UnreadableError("it is no JSON")

    def _string(self, place: int) -> tuple[str, int]:
        """Return a string: a quote ends it where a comma, a colon or a bracket follows, or a new line."""
        closers, signs = _CLOSERS[self._text[place]], list[str]()
        begin, place = place, place + 1
        while place < len(self._text):
            sign = self._text[place]
            if sign == "\\":
                text, place = self._escaped(place)
                signs.append(text)
                continue
            if sign in closers and self._ends(place + 1):
                self._read += place - begin
                return _paired("".join(signs)), place + 1
            signs.append(sign)
            place += 1
        self._read += place - begin
        raise _UnreadableError("it is cut off within a string")

    def _escaped(self, place: int) -> tuple[str, int]:
        code = self._text[place + 1 : place + 2]
        if code == "u" and re.fullmatch(r"[0-9a-fA-F]{4}", self._text[place + 2 : place + 6]):
            return chr(int(self._text[place + 2 : place + 6], 16)), place + 6
        return _ESCAPED.get(code, code), place + 2

    def _ends(self, place: int) -> bool:
        """Whether what follows a quote shows that its string ends there."""
        after = self._text[place : place + 1]
        if after and after in _ENDS:
            return True
        blank = _BLANK.match(self._text, place)
        end = blank.end() if blank else place
        return end == len(self._text) or self._text[end] in _ENDS or "\n" in self._text[place:end]

    def _after_blank(self, place: int) -> int:
        blank = _BLANK.match(self._text, place)
        end = blank.end() if blank else place
        self._read += end - place + 1
        return end

    def _after_colon(self, place: int) -> int:
        place = self._after_blank(place)
        if (sign := self._text[place : place + 1]) and sign in _COLONS:
            return self._after_blank(place + 1)
        raise _UnreadableError("it is no JSON")

    def _after_comma(self, place: int, end: str) -> int:
        """Return the place of the next field or entry, or of the `end`; a comma may be missing at a line's end."""
        after = self._after_blank(place)
        sign = self._text[after : after + 1]
        if sign and sign in _COMMAS:
            return self._after_blank(after + 1)
        if sign == end or "\n" in self._text[place:after] or (sign == "{" and self._text[place - 1] == "}"):
            return after
        raise _UnreadableError("it is no JSON" if sign else "it is cut off")
