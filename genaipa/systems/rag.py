"""Retrieval before reading, as products have it, in a form to copy: BM25 over sections, then any system as the reader.

Before a question `rag/SYSTEM` looks up the sections that come nearest to it, and sends SYSTEM the conversation with
these in place of the document. Beside SYSTEM alone, which is sent the whole document, it shows what retrieval costs.
"""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec.structs import replace

from genaipa.errors import PermanentError
from genaipa.policies.reading import read_markdown
from genaipa.policies.search import rank_text_indices, split_into_search_spans
from genaipa.policies.sections import find_sections
from genaipa.systems.base import Passage
from genaipa.systems.provider import Provider

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.systems.base import Message, Readiness, Reply, Settings, System

PASSAGES = 4
"""Passages that are found for a question."""
GAP = "\n\n[…]\n\n"
"""Between two passages, as the reader is shown them."""


class RagSystem:
    """`rag/SYSTEM`: the reader's replies, with the passages that it was shown."""

    provider: ClassVar[Provider] = Provider(
        name="rag",
        form="rag/SYSTEM",
        about=f"any system, given the {PASSAGES} sections that best match a question (BM25), not the whole document",
        wraps=True,
    )

    def __init__(self, *, name: str, reader: System) -> None:
        self.name = name
        self.reader = reader

    @classmethod
    def search(cls, text: str, question: str) -> list[Passage]:
        """Return the passages of a text that match a question, best first; its first ones where none has a word of it.

        A retriever of your own is a subclass with another one of these.
        """
        passages, texts = _passages_and_their_plain_texts(text)
        return [passages[position] for position in rank_text_indices(texts, question)[:PASSAGES]]

    @classmethod
    def replace_document_with_passages(
        cls, messages: Sequence[Message]
    ) -> tuple[Sequence[Message], tuple[Passage, ...]]:
        """Return the messages for the reader, and the passages in them that take the document's place.

        Where nothing did, and where no question is asked (but a summary), they stay as they are. A PermanentError
        where a message does not carry the document word for word.
        """
        question = messages[-1]
        carrying = [
            position
            for position, message in enumerate(messages[:-1])
            if message.purpose in ("introduction", "part") and message.carries.strip()
        ]
        if question.purpose != "question" or not carrying:
            return messages, ()
        text = "".join(messages[position].carries for position in carrying)
        passages = tuple(cls.search(text, question.carries or question.content))
        *left_out, last = carrying
        # Each part but the last goes, with the acknowledgement behind it.
        sent = [message for position, message in enumerate(messages) if not {position, position - 1} & {*left_out}]
        sent[sent.index(messages[last])] = _replace_quoted_document(
            messages[last], GAP.join(passage.text for passage in passages)
        )
        return sent, passages

    async def reply(self, messages: Sequence[Message], settings: Settings) -> Reply:
        """Ask the reader, about the passages alone."""
        sent, passages = self.replace_document_with_passages(messages)
        if not passages:
            return await self.reader.reply(sent, settings)
        # Every question has a beginning of its own, so that no provider's cache is of use.
        reply = await self.reader.reply(sent, replace(settings, cache_key=None))
        return dataclasses.replace(reply, passages=passages)

    async def start(self) -> Readiness:
        """Start the reader."""
        return await self.reader.start()

    async def count_tokens(self, text: str) -> int | None:
        """Count as the reader does."""
        return await self.reader.count_tokens(text)

    async def close(self) -> None:
        """Close the reader."""
        await self.reader.close()

    def __getattr__(self, name: str) -> Any:
        """Return the reader's attribute for all that is not here, such as whose `words` its replies are."""
        return getattr(self.reader, name)


@lru_cache(maxsize=16)
def _passages_and_their_plain_texts(text: str) -> tuple[list[Passage], tuple[str, ...]]:
    """Split a text into passages; also the plain words of each."""
    sections = find_sections(text)
    spans = split_into_search_spans(text, (section.start for section in sections))
    passages = [
        Passage(
            text[start:end].strip(),
            next((section.label for section in reversed(sections) if section.start <= start), ""),
        )
        for start, end in spans
    ]
    return passages, tuple(read_markdown(text).plain_text_of_source_span(*span) for span in spans)


def _replace_quoted_document(message: Message, passages_text: str) -> Message:
    before, document, after = message.content.partition(message.carries.strip())
    if not document:
        reason = "the prompt changes the document's text, so passages can't replace it; insert `text` unchanged."
        raise PermanentError(reason, fatal=True)
    return dataclasses.replace(message, content=before + passages_text + after, carries=passages_text, breakpoint=False)
