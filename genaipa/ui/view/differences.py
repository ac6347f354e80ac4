"""Marks what one answer says and none of the others beside it does: words, numbers and sections of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

# A section or a number is one word, so that 6.4 differs from 6.5 as a whole.
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_LEAST = 4
"""Letters from which on a word can tell two answers apart; shorter ones are mostly grammar."""
_GRAMMAR = """
about above after also been before being both could does down each from have having here into itself just like many more
most much only other over same should some such than that their them then there these they this those through under upon
very were what when where which while will with within without would your yours
"""
_COMMON = frozenset(_GRAMMAR.split())
_NO = frozenset({"no", "not", "never", "nor", "yes"})
"""Short words that turn an answer round."""


class Piece(NamedTuple):
    """A stretch of an answer; `kind` is empty where others say it, too."""

    text: str
    kind: Literal["", "word", "number"]


def marked(texts: Sequence[str]) -> list[list[Piece]]:
    """Each text in pieces, with what it alone says marked; nothing is marked in a text that stands alone.

    >>> marked(["Kept for 90 days.", "Kept for 30 days."])[0]
    [Piece(text='Kept for ', kind=''), Piece(text='90', kind='number'), Piece(text=' days.', kind='')]
    """
    said = [{_plain(found[0]) for found in _WORD.finditer(text)} for text in texts]
    several = sum(bool(text) for text in texts) > 1
    return [
        _pieces(text, frozenset().union(*(words for other, words in enumerate(said) if other != number)))
        if several
        else [Piece(text, "")]
        for number, text in enumerate(texts)
    ]


def _plain(word: str) -> str:
    """A word without what grammar adds to it."""
    word = word.casefold().replace("\u2019", "'").removesuffix("'s")
    return word.removesuffix("s") if len(word) >= _LEAST else word


def _pieces(text: str, others: frozenset[str]) -> list[Piece]:
    pieces: list[Piece] = []
    done = 0
    for found in _WORD.finditer(text):
        word = _plain(found[0])
        is_number = word[0].isdigit()
        counts = is_number or word in _NO or (len(word) >= _LEAST and word not in _COMMON)
        if word in others or not counts:
            continue
        kind: Literal["word", "number"] = "number" if is_number or word in _NO else "word"
        between = text[done : found.start()]
        if pieces and pieces[-1].kind == kind == "word" and between == " ":
            pieces[-1] = Piece(f"{pieces[-1].text} {found[0]}", kind)
        else:
            pieces += [*([Piece(between, "")] if between else []), Piece(found[0], kind)]
        done = found.end()
    return [*pieces, Piece(text[done:], "")] if done < len(text) or not pieces else pieces
