"""Citations that a vendor's own feature gives with a reply: placed in the documents that were sent.

Vendors count an offset's characters in their own way, so that a place is taken only where the document has the cited
text there: by code points, then by UTF-16; else the text itself is looked for.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from genaipa.systems.base import Passage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.systems.base import Citation, Message


class PlacedCitations(NamedTuple):
    """The cited passages of a reply, each once, and how many of them are nowhere in what was sent."""

    passages: tuple[Passage, ...]
    unplaced: int


def list_document_texts_in_messages(messages: Sequence[Message]) -> list[str]:
    """List the texts that a request carries as documents: the parts of one document, which joined are it."""
    return [message.carries for message in messages if message.purpose == "part"]


def place_citations_and_count_unplaced(citations: Sequence[Citation], messages: Sequence[Message]) -> PlacedCitations:
    """Place the citations in the document that the messages carry, in its parts; one without a text is left out.

    The text of a passage with a place is the document's from its `start` to its `end`.
    """
    parts = list_document_texts_in_messages(messages)
    sent = [(start, part) for start, part in zip(accumulate(map(len, parts), initial=0), parts, strict=False) if part]
    passages: dict[Passage, None] = {}
    for citation in citations:
        index = citation.document
        start, part = sent[index] if index is not None and 0 <= index < len(sent) else (0, "")
        span = _find_cited_span(citation, part)
        if span is None:
            # Of a document that the server numbers in another way.
            start, part, span = next(
                (
                    (at, text, nearest_span)
                    for at, text in sent
                    if (nearest_span := _find_words_nearest_to_offset(citation.text, text, 0))
                ),
                (0, "", None),
            )
        if span is not None:
            first, last = span
            passages[Passage(part[first:last], cited=True, start=start + first, end=start + last)] = None
        elif citation.text.strip():
            passages[Passage(citation.text, cited=True)] = None
    return PlacedCitations(tuple(passages), sum(passage.start is None for passage in passages))


def _find_cited_span(citation: Citation, text: str) -> tuple[int, int] | None:
    """Return where a text has the citation, by its offsets or by its words."""
    start, end = citation.start, citation.end
    if start is None or end is None or not 0 <= start < end:
        return _find_words_nearest_to_offset(citation.text, text, 0)
    if end <= len(text) and citation.text in ("", text[start:end]):
        return start, end
    before = len(text.encode("utf-16-le", "surrogatepass")[: 2 * start].decode("utf-16-le", "replace"))
    if citation.text and text.startswith(citation.text, before):
        return before, before + len(citation.text)
    return _find_words_nearest_to_offset(citation.text, text, start)


def _find_words_nearest_to_offset(cited_words: str, text: str, offset: int) -> tuple[int, int] | None:
    """Return the place of cited words in a text that is nearest to an offset, if need be without blanks around them."""
    for words in (cited_words, cited_words.strip()):
        if words.strip():
            positions = (text.find(words, offset), text.rfind(words, 0, offset + len(words)))
            start = min(
                (position for position in positions if position >= 0),
                key=lambda position: abs(position - offset),
                default=None,
            )
            if start is not None:
                return start, start + len(words)
    return None
