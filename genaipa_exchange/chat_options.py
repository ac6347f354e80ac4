"""How chats are read, and which of their texts matched a question."""

from __future__ import annotations

from typing import NamedTuple


class ChatOptions(NamedTuple):
    """How chats are read: the document that they show none of, the question set, the system, all by name.

    `accept` is the similarity, in per cent, from which on a close match counts.
    """

    policy: str = ""
    questions: str = ""
    system: str = ""
    accept: int | None = None


class MatchRow(NamedTuple):
    """A text that was asked, the question that it matched (none where it is empty), how, and how often."""

    asked: str
    matched: str
    how: str
    times: int
