"""The place of an answer in its segment: word for word, but for case and signs, nearly, or nowhere."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from genaipa_suites.policyqa.score import words_of

VERBATIM, FOLDED, FUZZY, ABSENT, EMPTY = "verbatim", "folded", "fuzzy", "absent", "empty"
RUNGS = (VERBATIM, FOLDED, FUZZY, ABSENT, EMPTY)
ONE_IN = 5
"""A nearly verbatim answer may differ from the segment in one of this many words."""
_QUOTES, _DOUBLE = "\u2018\u2019\u201a\u201b\u2032`\u00b4", "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"
_DASHES, _UNSEEN = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_SIGNS = str.maketrans(
    dict.fromkeys(_QUOTES, "'") | dict.fromkeys(_DOUBLE, '"') | dict.fromkeys(_DASHES, "-") | dict.fromkeys(_UNSEEN, "")
)


class Span(NamedTuple):
    """A stretch of a segment, and how an answer was found to be it (one of RUNGS). No text for ABSENT and EMPTY."""

    found: str
    text: str


def find(answer: str, segment: str) -> Span:
    """The stretch of the segment that an answer repeats.

    VERBATIM: as it stands, but for blanks around it. FOLDED: but for case, blanks, and the typography of quotation
    marks, dashes and letters. FUZZY: but for punctuation and articles, as SQuAD's metric compares, and for one word in
    five that is put in, left out or another. EMPTY is an answer without a word.
    """
    answer = answer.strip()
    wanted = _folded(answer)[0].strip()
    # Of signs that nobody sees nothing is left, which would be found anywhere.
    if not words_of(answer) or not wanted:
        return Span(EMPTY, "")
    if answer in segment:
        return Span(VERBATIM, answer)
    letters, places = _folded(segment)
    begin = letters.find(wanted)
    if begin >= 0:
        return Span(FOLDED, segment[places[begin] : places[begin + len(wanted) - 1] + 1])
    # A curly quotation mark is a word to SQuAD's metric, and none once it is folded.
    nearest = _nearest(words_of(wanted), _words(segment)) if words_of(wanted) else None
    return Span(FUZZY, segment[nearest[0] : nearest[1]]) if nearest else Span(ABSENT, "")


@lru_cache(maxsize=4096)
def _letters(character: str) -> str:
    return unicodedata.normalize("NFKC", character.translate(_SIGNS)).casefold()


@lru_cache(maxsize=256)
def _folded(text: str) -> tuple[str, list[int]]:
    """The folded text, and for each of its characters the place that it comes from."""
    letters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for letter in _letters(character):
            blank = letter.isspace()
            if blank and letters and letters[-1] == " ":
                continue
            letters.append(" " if blank else letter)
            places.append(place)
    return "".join(letters), places


@lru_cache(maxsize=256)
def _words(segment: str) -> list[tuple[str, int, int]]:
    """The words of a segment as they are compared, each with its begin and end."""
    found = ((words_of(_folded(word[0])[0]), *word.span()) for word in re.finditer(r"\S+", segment))
    return [("".join(words), begin, end) for words, begin, end in found if words]


def _nearest(wanted: list[str], words: list[tuple[str, int, int]]) -> tuple[int, int] | None:
    """Begin and end of the stretch with the fewest edits by whole words (Sellers 1980); None if these are too many."""
    allowed = len(wanted) // ONE_IN
    if sum((Counter(wanted) & Counter(word for word, _, _ in words)).values()) < len(wanted) - allowed:
        return None
    # A cell is edits * unit**2 - matches * unit - begin: its minimum has the fewest edits, then the most words that
    # match, then the latest begin. Cells outside low to high have too many edits already.
    unit = len(words) + len(wanted) + 1
    edit, match, limit = unit * unit, -unit, allowed * unit * unit
    row, low, high = [-begin for begin in range(len(words) + 1)], 0, len(words)
    for word in wanted:
        above, row = row, [limit + edit] * len(row)
        for place in range(low, len(row)):
            left = row[place - 1] if place > low else limit + edit
            if place > high + 1 and left > limit:
                break
            same = match if place and word == words[place - 1][0] else edit
            row[place] = min(above[place] + edit, left + edit, above[place - 1] + same if place else limit + edit)
        alive = [place for place, cell in enumerate(row) if cell <= limit]
        if not alive:
            return None
        low, high = alive[0], alive[-1]
    rest = min(row)
    begin = -rest % unit
    return words[begin][1], words[row.index(rest) - 1][2]
