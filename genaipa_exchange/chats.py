"""Conversations with an assistant as every layout of an export gives them: what was asked, shown and answered."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError, clip
from genaipa.files.stamps import format_utc_milliseconds
from genaipa.files.text import DAMAGE, clip_error_message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from typing import Any, TypeVar

    from genaipa.runs.procedure import Initialization

    T = TypeVar("T")


@dataclass(frozen=True)
class ShownText:
    """Something that a person showed beside a message: a file by its `name`, with its `text` where that is known."""

    name: str
    text: str = ""


@dataclass(frozen=True)
class Exchange:
    """One message of a person, and the reply to it.

    `asked` are the texts that may be the question, the message itself first. `reply` has no thoughts and no tool's
    output; it is empty where nothing was answered, and None where the `error` says that asking failed. `is_cut` says
    that it was stopped, or reached a limit, before its end.
    """

    entry: str
    asked: tuple[str, ...]
    reply: str | None
    shown: tuple[ShownText, ...] = ()
    system: str = ""
    model: str = ""
    started: str = ""
    seconds: float = 0.0
    error: str = ""
    is_cut: bool = False


@dataclass(frozen=True)
class Chat:
    """A conversation: its exchanges in their order.

    `document` is the name or the text of what its file says that it is about. A `repetition` of 0 is unknown.
    """

    entry: str
    exchanges: tuple[Exchange, ...]
    document: str = ""
    language: str = ""
    initialization: Initialization | None = None
    repetition: int = 0


@dataclass(frozen=True)
class ExportFile:
    """One file of an export, or a member of its archive: where it is, and the items of its list."""

    path: Path
    name: str
    items: Iterable[tuple[str, msgspec.Raw]]
    """Each with its place in the file."""

    @property
    def label(self) -> str:
        """The file as a sentence names it."""
        return f"{self.path}: {clip(self.name)}" if self.name else str(self.path)

    def decode_item(self, entry_for_errors: str, item: msgspec.Raw, item_type: type[T], layout: ChatFileLayout) -> T:
        """Decode an item of the list; a DataError if it has another shape than items of the layout have."""
        try:
            return decode_lenient_json(item, item_type)
        except DAMAGE as error:
            wrong = (
                f"does not have the layout that genaipa knows for {layout.title} "
                f"({clip_error_message(error)}); {layout.remedy}."
            )
            raise DataError(self.label, wrong, entry_for_errors) from None


@dataclass(frozen=True)
class ChatFileLayout:
    """How a program lays out its chats. `title` says what such a file is, `marks` are keys that only its items have.

    The `remedy` is for a file that is laid out in another way.
    A `is_personal` one has all that somebody ever asked, any other what was asked for a study.
    """

    title: str
    marks: frozenset[str]
    read: Callable[[ExportFile], Iterator[Chat]]
    remedy: str
    is_personal: bool = True


def format_moment_or_empty(time_value: Any) -> str:
    """Return a time, in seconds or in ISO 8601, as records have it; empty where it is none."""
    try:
        moment = dt.datetime.fromtimestamp(time_value, dt.UTC) if isinstance(time_value, int | float) else None
        return format_utc_milliseconds(moment or dt.datetime.fromisoformat(time_value))
    except (ValueError, TypeError, OverflowError, OSError):
        return ""


_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+"|-?\b(?:NaN|Infinity)\b', re.DOTALL)
"""A text, or what Python writes where there is no number, and JSON has no word for."""
_ESCAPES = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u[dD][89a-fA-F]..|.)", re.DOTALL)
_HALF = 6
"""Bytes of half a character that is escaped."""


def decode_lenient_json(raw: bytes | msgspec.Raw, target_type: type[T]) -> T:
    """Decode JSON of other programs, which may have halves of characters and NaN; msgspec's errors for all else."""
    try:
        return msgspec.json.decode(raw, type=target_type, strict=False)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return msgspec.json.decode(
            _TOKENS.sub(_repair_json_token, bytes(memoryview(raw))), type=target_type, strict=False
        )


def _repair_json_token(token: re.Match[bytes]) -> bytes:
    text = token.group()
    return _ESCAPES.sub(_repair_json_escape, text) if text.startswith(b'"') else b"null"


def _repair_json_escape(escape: re.Match[bytes]) -> bytes:
    """Return an escape as it is, but for half a character: a program cut the text in the middle of one."""
    text = escape.group()
    return b"\\ufffd" if len(text) == _HALF and text[2:3] in b"dD" else text
