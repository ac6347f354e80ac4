"""Prompts that a server cut without an error, by its own count of their tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

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


_LONGER, _LONGEST_QUESTION = 100, 400
"""Characters by which a question is so much longer than another that it has more tokens, and the most that count."""


class _Prompt(NamedTuple):
    """A prompt: its number of messages, the hash of all but the last, the last, and the tokens counted."""

    messages: int
    earlier: int
    last: str
    counted: int


@dataclass
class PromptCounts:
    """The tokens that one server counted of the prompts that it was sent."""

    densest: dict[str, float] = field(default_factory=dict)
    """Language → most tokens of a character that a prompt had."""
    asked: dict[str, _Prompt] = field(default_factory=dict)
    """Conversation → the last prompt of it, or the shortest of as many messages."""

    def is_prompt_cut(
        self, messages: Sequence[Message], server_token_count: int, counter: TokenCounter, language: str
    ) -> bool:
        """Tell whether a server that counted so many tokens can't have read all of a prompt in this language.

        It counts too few for the prompt's length: under half by an estimate, or well below the estimate where the count
        is the size of a context, or below what it counted itself, when it was asked for a count (`counter`) or of other
        prompts, which are compared where the language is known.
        A server that counts nothing tells nothing.
        """
        sent = estimate_least_tokens(messages, counter.rate)
        surer = counter.rate != CHARACTERS_PER_TOKEN or server_token_count % _CONTEXTS in (_CONTEXTS - 1, 0, 1)
        cut = 0 < server_token_count < (_FEWER if surer else _HALF) * sent and sent >= _LEAST_JUDGED
        length = sum(len(message.content) for message in messages)
        if server_token_count > 0 and language and length >= _LEAST_COMPARED:
            cut = cut or server_token_count < _FEWER * length * self.densest.get(language, 0.0)
            if not cut:
                self.densest[language] = max(server_token_count / length, self.densest.get(language, 0.0))
        return cut

    def has_count_stopped_growing(
        self, conversation_id: str, messages: Sequence[Message], server_token_count: int
    ) -> bool:
        """Tell whether no more tokens were counted than before, though more was said.

        Either the conversation has gone on since, or a clearly longer question about the same document took the place
        of a shorter one.
        """
        *earlier, last = (message.content for message in messages)
        current = _Prompt(len(messages), hash(tuple(earlier)), last, server_token_count)
        previous = self.asked.get(conversation_id)
        if previous is None or len(messages) != previous.messages or len(last) < len(previous.last):
            self.asked[conversation_id] = current
        if previous is None or not 0 < server_token_count <= previous.counted:
            return False
        if len(messages) > previous.messages:
            return messages[previous.messages - 1].content == previous.last
        longer = len(last) - len(previous.last) >= _LONGER and len(last) <= _LONGEST_QUESTION
        return longer and current.earlier == previous.earlier and sum(map(len, earlier)) >= _LEAST_COMPARED


def estimate_least_tokens(messages: Sequence[Message], characters_per_token: float) -> float:
    """Return the least tokens that messages have by their length.

    `characters_per_token` is a token's characters in the document.
    """
    usual = max(characters_per_token, CHARACTERS_PER_TOKEN)
    return sum(
        len(message.content) / (characters_per_token if message.purpose == "part" else usual) for message in messages
    )
