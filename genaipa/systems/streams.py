"""Replies that come in pieces: put together as the server would have sent them whole, with the time of the first."""

from __future__ import annotations

import abc
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from genaipa.systems.thoughts import split_thoughts

if TYPE_CHECKING:
    from genaipa.systems.base import Reply


class StreamedAnswer(abc.ABC):
    """An answer of which the events of a stream come one after another; its clock runs from its making."""

    def __init__(self) -> None:
        self.answer: dict[str, Any] = {}
        """What came by now, in the form of an answer that comes whole."""
        self.is_complete = False
        """Whether the server said that the reply has ended."""
        self._start = time.perf_counter()
        self._now = 0.0
        self._first: float | None = None
        self._lengths: list[tuple[int, float]] = []
        """Characters of text by then, and seconds."""

    def time_and_add_event(self, event: Any) -> None:
        """Take an event that has just come."""
        self._now = time.perf_counter() - self._start
        self.add_event(event)

    @abc.abstractmethod
    def add_event(self, event: Any) -> None:
        """Add an event, in which anything may be missing or odd."""

    def note_text_length_and_time(self, text: object) -> None:
        """Note that this much of the reply's text has come."""
        if isinstance(text, str) and text:
            before = self._lengths[-1][0] if self._lengths else 0
            self._lengths.append((before + len(text), self._now))
            self.note_time_of_first_output(text)

    def note_time_of_first_output(self, piece: object) -> None:
        """Note that something has come: text, thoughts, or a sign of thoughts that are not shown."""
        if piece and self._first is None:
            self._first = self._now

    def add_first_output_times_to_reply(self, reply: Reply) -> Reply:
        """Return the reply with the seconds until anything of it came, and until its first text behind any thoughts."""
        answer = split_thoughts(reply.text).answer
        position = len(reply.text) - len(answer.lstrip())
        first_text = next((seconds for length, seconds in self._lengths if length > position), None)
        return replace(reply, first_token=self._first, first_text=first_text)


def append_or_replace_field(fields: dict[str, Any], field_name: str, piece: object) -> None:
    """Append a piece to a field that is a text, or a list; any other value replaces what was there."""
    before: Any = fields.get(field_name)
    if any(isinstance(before, kind) and isinstance(piece, kind) for kind in (str, list)):
        fields[field_name] = before + piece
    elif piece is not None:
        fields[field_name] = piece
