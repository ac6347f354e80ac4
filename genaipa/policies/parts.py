"""Split a document into the parts that a system is given (paper, section 3 and Appendix A)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from genaipa.policies.document import Document

# Coarse to fine: a chapter, a section, a paragraph, a line, a sentence, a clause, a word. A finer border is used only
# where the coarser ones leave a piece too long, so a sentence is cut only when it alone exceeds a part.
_BORDERS = [
    r"(?=\n#{1,2} )",
    r"(?=\n#{3,6} )",
    r"\n\n+",
    r"\n",
    r"(?<=[.!?;][\"\u201d\u2019)\]]) +",
    r"(?<=[.!?;]) +",
    r"(?<=[,:]) ",
    r" ",
    "",
]


def split_parts(document: Document, size: int, count: Callable[[str], int]) -> list[str]:
    """Split the text into parts of at most `size` tokens, as `count` counts; joined, they are the document.

    A document that fits in one part stays whole. Blanks without room in a part stay with the text around them.
    """
    text = document.text
    if count(text) <= size:
        return [text]
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        separators=_BORDERS,
        is_separator_regex=True,
        keep_separator="end",
        chunk_size=size,
        chunk_overlap=0,
        length_function=count,
        strip_whitespace=False,
    )
    parts: list[str] = []
    for piece in splitter.split_text(text):
        if parts and not (piece.strip() and parts[-1].strip()):
            parts[-1] += piece
        else:
            parts.append(piece)
    return parts
