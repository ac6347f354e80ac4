"""The messages before a conversation's first question, as a run folder holds them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Self

import msgspec

from genaipa.runs import journal
from genaipa.systems.base import Message, Purpose, Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


class _StoredMessage(msgspec.Struct, omit_defaults=True):
    """A message, in which the text that it carries is stored once.

    `carries` is the position of that text in the content, `margins` the blanks around it, which the content may lack.
    """

    role: Role
    content: str
    purpose: Purpose = "question"
    carries: tuple[int, int] | None = None
    margins: tuple[str, str] = ("", "")
    breakpoint: bool = False

    @classmethod
    def of(cls, message: Message) -> Self:
        """A message as it is stored."""
        bare = message.carries.strip()
        start = message.content.find(bare) if bare else -1
        known = (start, start + len(bare)) if start >= 0 else None
        before, _, after = message.carries.partition(bare) if known else ("", "", "")
        return cls(message.role, message.content, message.purpose, known, (before, after), message.breakpoint)

    def message(self) -> Message:
        """The message that was stored."""
        before, after = self.margins
        carries = f"{before}{self.content[slice(*self.carries)]}{after}" if self.carries else ""
        return Message(self.role, self.content, self.purpose, carries=carries, breakpoint=self.breakpoint)


def stored_introduction(messages: Sequence[Message]) -> bytes:
    """The messages before the first question as `introductions/` holds them, under the SHA-256 of this content."""
    stored = [_StoredMessage.of(message) for message in messages]
    return msgspec.json.format(msgspec.json.encode(stored), indent=1) + b"\n"


def decoded(content: bytes) -> list[Message]:
    """The messages of such a file; msgspec's errors if it holds none."""
    return [stored.message() for stored in msgspec.json.decode(content, type=list[_StoredMessage])]


INTRODUCTIONS = "introductions.jsonl"


class _Digest(msgspec.Struct):
    digest: str


class _Line(_Digest):
    messages: msgspec.Raw


class KeptIntroductions:
    """The introductions of a run of a corpus: lines of `introductions.jsonl`, where a file for each would be millions.

    Only where each line begins is kept in memory.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / INTRODUCTIONS
        self._places: dict[str, int] = {}
        self._size = -1

    def _index(self) -> dict[str, int]:
        size = self.path.stat().st_size if self.path.is_file() else 0
        if size != self._size:
            self._places = {one.digest: place for place, one in journal.read(self.path, _Digest)}
            self._size = size
        return self._places

    def __contains__(self, digest: str) -> bool:
        return digest in self._index()

    def __iter__(self) -> Iterator[str]:
        return iter(self._index())

    def content(self, digest: str) -> bytes:
        """The content that a file of that introduction would have; a KeyError where there is none."""
        (found,) = journal.read_at(self.path, [self._index()[digest]], _Line)
        return msgspec.json.format(bytes(found.messages), indent=1) + b"\n"

    def add(self, digest: str, content: bytes) -> None:
        """Append an introduction; it is on disk when this returns. An OSError leaves the file as it was."""
        line = msgspec.json.encode(_Line(digest, msgspec.Raw(msgspec.json.format(content, indent=-1)))) + b"\n"
        index = self._index()
        with self.path.open("ab") as file:
            before = file.tell()
            try:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                os.ftruncate(file.fileno(), before)
                raise
        index[digest], self._size = before, before + len(line)

    def without(self, left_out: set[str]) -> Iterator[bytes]:
        """The file's lines without those for some digests."""
        for _, one in journal.read(self.path, _Line):
            if one.digest not in left_out:
                yield msgspec.json.encode(one) + b"\n"
