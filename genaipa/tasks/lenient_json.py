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
# A comment without an end is looked for in a thousand characters, from each place where one begins.
_BLANK = re.compile(r"(?:[\s\ufeff\u200b]|//[^\n]*|#[^\n]*|/\*.{0,1000}?\*/)*", re.DOTALL)
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


class JsonObject(dict[str, Any]):
    """An object; `twice` if two of its fields have one name, so that neither can be believed."""

    twice = False


class _UnreadableError(ValueError):
    """No object or list can be read; one was `begun` if at least one of its fields could be."""

    def __init__(self, why: str, *, begun: bool = False) -> None:
        super().__init__(why)
        self.begun = begun


def find_json_objects_and_lists_or_raise(text: str) -> list[Any]:
    """Return the objects and lists of a text, the outermost ones in their order.

    A ValueError where an object was begun that can't be read: what is within it, and what is beside it, may be a draft,
    or somebody else's words.
    """
    reader, values, position = _JsonReader(text), list[Any](), 0
    while begin := _BEGINS.search(text, position):
        try:
            value, position = _decode_standard_json_and_end(text, begin.start())
        except (ValueError, RecursionError):
            try:
                value, position = reader.read_value_and_end(begin.start(), 0)
            except _UnreadableError as error:
                if error.begun:
                    raise
                position = begin.end()
                continue
        values.append(value)
    return values


def _decode_standard_json_and_end(text: str, position: int) -> tuple[Any, int]:
    return json.JSONDecoder(strict=False, object_pairs_hook=_make_json_object).raw_decode(text, position)


def _merge_surrogate_pairs(text: str) -> str:
    """Return a text in which two halves of a character, written as escapes, are one; a half alone is replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _make_json_object(pairs: list[tuple[str, Any]]) -> JsonObject:
    fields = JsonObject(pairs)
    fields.twice = len(fields) < len(pairs)
    return fields


class _JsonReader:
    """A reader of one text, from any place of it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._read = 0

    def read_value_and_end(self, position: int, depth: int) -> tuple[Any, int]:
        """Return the value that begins at a place, and the place after it."""
        if depth > _DEEPEST or self._read > _MOST:
            raise _UnreadableError("it is nested too deeply", begun=True)
        sign = self._text[position : position + 1]
        if sign == "{":
            return self._read_object_and_end(position + 1, depth)
        if sign == "[":
            return self._read_list_and_end(position + 1, depth)
        if sign and sign in _CLOSERS:
            return self._read_string_and_end(position)
        if match := _CONSTANT.match(self._text, position):
            return _CONSTANTS[match[0]], match.end()
        if match := _NUMBER.match(self._text, position):
            return (float if set(match[0]) & set(".eE") else int)(match[0]), match.end()
        raise _UnreadableError("it is not JSON")

    def _read_object_and_end(self, position: int, depth: int) -> tuple[JsonObject, int]:
        pairs: list[tuple[str, Any]] = []
        position = self._skip_blanks_and_comments(position)
        try:
            while self._text[position : position + 1] != "}":
                key, position = self._read_key_and_end(position)
                value, position = self.read_value_and_end(self._skip_colon(position), depth + 1)
                pairs.append((key, value))
                position = self._skip_entry_separator(position, "}")
        except _UnreadableError as error:
            error.begun = error.begun or bool(pairs)
            raise
        return _make_json_object(pairs), position + 1

    def _read_list_and_end(self, position: int, depth: int) -> tuple[list[Any], int]:
        entries = []
        position = self._skip_blanks_and_comments(position)
        while self._text[position : position + 1] != "]":
            entry, position = self.read_value_and_end(position, depth + 1)
            entries.append(entry)
            position = self._skip_entry_separator(position, "]")
        return entries, position + 1

    def _read_key_and_end(self, position: int) -> tuple[str, int]:
        if self._text[position : position + 1] in _CLOSERS:
            return self._read_string_and_end(position)
        if match := _KEY.match(self._text, position):
            return match[0], match.end()
        raise _UnreadableError("it is not JSON")

    def _read_string_and_end(self, position: int) -> tuple[str, int]:
        """Return a string: a quote ends it where a comma, a colon or a bracket follows, or a new line."""
        closers, signs = _CLOSERS[self._text[position]], list[str]()
        begin, position = position, position + 1
        while position < len(self._text):
            sign = self._text[position]
            if sign == "\\":
                text, position = self._read_escape_and_end(position)
                signs.append(text)
                continue
            if sign in closers and self._is_quote_before_string_end(position + 1):
                self._read += position - begin
                return _merge_surrogate_pairs("".join(signs)), position + 1
            signs.append(sign)
            position += 1
        self._read += position - begin
        raise _UnreadableError("it is cut off within a string")

    def _read_escape_and_end(self, position: int) -> tuple[str, int]:
        code = self._text[position + 1 : position + 2]
        if code == "u" and re.fullmatch(r"[0-9a-fA-F]{4}", self._text[position + 2 : position + 6]):
            return chr(int(self._text[position + 2 : position + 6], 16)), position + 6
        return _ESCAPED.get(code, code), position + 2

    def _is_quote_before_string_end(self, position_after_quote: int) -> bool:
        """Tell whether what follows a quote shows that its string ends there."""
        following = self._text[position_after_quote : position_after_quote + 1]
        if following and following in _ENDS:
            return True
        blank = _BLANK.match(self._text, position_after_quote)
        end = blank.end() if blank else position_after_quote
        return end == len(self._text) or self._text[end] in _ENDS or "\n" in self._text[position_after_quote:end]

    def _skip_blanks_and_comments(self, position: int) -> int:
        blank = _BLANK.match(self._text, position)
        end = blank.end() if blank else position
        self._read += end - position + 1
        return end

    def _skip_colon(self, position: int) -> int:
        position = self._skip_blanks_and_comments(position)
        if (sign := self._text[position : position + 1]) and sign in _COLONS:
            return self._skip_blanks_and_comments(position + 1)
        raise _UnreadableError("it is not JSON")

    def _skip_entry_separator(self, position: int, closing_bracket: str) -> int:
        """Return the place of the next field or entry, or of the `closing_bracket`.

        A comma may be missing at a line's end.
        """
        following = self._skip_blanks_and_comments(position)
        sign = self._text[following : following + 1]
        if sign and sign in _COMMAS:
            return self._skip_blanks_and_comments(following + 1)
        if (
            sign == closing_bracket
            or "\n" in self._text[position:following]
            or (sign == "{" and self._text[position - 1] == "}")
        ):
            return following
        raise _UnreadableError("it is not JSON" if sign else "it is cut off")
