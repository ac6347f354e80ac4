"""Index of a text's words, to find a phrase despite case, blanks, quotes and dashes."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from functools import cached_property, lru_cache
from itertools import accumulate


class TextIndex:
    """A text as its letters and digits alone: published policies have lost typographic characters."""

    def __init__(self, text: str) -> None:
        self.spans = [match.span() for match in re.finditer(r"[^\W_]+", text)]
        self.words = [fold(text[start:end]) for start, end in self.spans]
        self._starts = [0, *accumulate(map(len, self.words))]
        self._letters = "".join(self.words)

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Word → its indices among the words of the text."""
        places: dict[str, list[int]] = {}
        for place, word in enumerate(self.words):
            places.setdefault(word, []).append(place)
        return places

    def find(self, phrase: str, start: int = 0, end: int | None = None) -> tuple[int, int] | None:
        """Find a phrase by its letters and digits, between two characters of the text.

        It must begin and end where words do: "the rapist" is not found in "therapist".
        """
        sought = "".join(fold(word) for word in re.findall(r"[^\W_]+", phrase))
        border = self._letters_before(len(self._letters) * 4 if end is None else end + 1)
        found = self._letters.find(sought, self._letters_before(start), border) if sought else -1
        while found >= 0:
            span = self._span(found, found + len(sought))
            if span:
                return span if end is None or span[1] <= end else None
            found = self._letters.find(sought, found + 1, border)
        return None

    def _letters_before(self, character: int) -> int:
        """Number of letters in the words that begin before a character."""
        return self._starts[bisect_left(self.spans, (character, 0))]

    def _span(self, first: int, last: int) -> tuple[int, int] | None:
        """Span of letters `first` to `last` in the text; None if they cut a word."""
        begin, finish = bisect_right(self._starts, first) - 1, bisect_right(self._starts, last) - 1
        if self._starts[begin] != first or self._starts[finish] != last:
            return None
        return self.spans[begin][0], self.spans[finish - 1][1]


def fold(word: str) -> str:
    """Normalise a word for comparison: case and composition of characters."""
    return word.casefold() if word.isascii() else unicodedata.normalize("NFKC", word).casefold()


@lru_cache(maxsize=8)
def index_text(text: str) -> TextIndex:
    """Index a text, cached for further answers about it."""
    return TextIndex(text)
