"""The messages before a conversation's first question, as a run folder holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import msgspec

from genaipa.systems.base import Message, Purpose, Role

if TYPE_CHECKING:
    from collections.abc import Sequence


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
