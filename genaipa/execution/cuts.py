"""Prompts that a server cut without an error, by its own count of their tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from genaipa.systems.costs import CHARACTERS_PER_TOKEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.systems.base import Message
    from genaipa.systems.costs import TokenCounter

_LEAST_JUDGED = 200
"""Tokens of the shortest prompt that is checked by its length."""
_LEAST_COMPARED = 2000
"""Characters of the shortest prompt that is compared with others: of shorter ones a server's own frame is a part."""
_HALF = 0.5
"""A server that counts less than this share of the tokens sent has cut the prompt: no estimate is so far off."""
_FEWER = 0.75
"""The same, where the tokens sent are known by what this very server counted of other texts in the language."""

_CONTEXTS = 1024
"""Sizes of contexts are multiples of this."""


@dataclass
class PromptCounts:
    """The tokens that one server counted of the prompts that it was sent."""

    densest: dict[str, float] = field(default_factory=dict)
    """Language → most tokens of a character that a prompt had."""
    grown: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    """Conversation → its messages when it was last asked, the hash of the last of them, and the tokens counted."""

    def is_cut(self, messages: Sequence[Message], counted: int, counter: TokenCounter, language: str) -> bool:
        """Whether a server that `counted` these tokens can't have read all of a prompt in this language.

        It counts too few for the prompt's length: under half by an estimate, or well below the estimate where the count
        is the size of a context, or below what it counted itself, when it was asked for a count (`counter`) or of other
        prompts, which are compared where the language is known.
        A server that counts nothing tells nothing.
        """
        sent = tokens_of(messages, counter.rate)
        surer = counter.rate != CHARACTERS_PER_TOKEN or counted % _CONTEXTS in (_CONTEXTS - 1, 0, 1)
        cut = 0 < counted < (_FEWER if surer else _HALF) * sent and sent >= _LEAST_JUDGED
        length = sum(len(message.content) for message in messages)
        if counted > 0 and language and length >= _LEAST_COMPARED:
            cut = cut or counted < _FEWER * length * self.densest.get(language, 0.0)
            if not cut:
                self.densest[language] = max(counted / length, self.densest.get(language, 0.0))
        return cut

    def stands_still(self, conversation: str, messages: Sequence[Message], counted: int) -> bool:
        """Whether a conversation has grown since it was last asked, and no more tokens were counted."""
        before = self.grown.get(conversation)
        self.grown[conversation] = len(messages), hash(messages[-1].content), counted
        if before is None or not 0 < counted <= before[2]:
            return False
        return len(messages) > before[0] and hash(messages[before[0] - 1].content) == before[1]


def tokens_of(messages: Sequence[Message], rate: float) -> float:
    """The least tokens that messages have, by their length; `rate` is the characters of a token in the document."""
    usual = max(rate, CHARACTERS_PER_TOKEN)
    return sum(len(message.content) / (rate if message.purpose == "part" else usual) for message in messages)
