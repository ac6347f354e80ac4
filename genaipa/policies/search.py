"""Search in a document by the words of a question (BM25): its pieces, their words, and which come nearest."""

from __future__ import annotations

import logging
import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    Span = tuple[int, int]

LONGEST = 4_000
"""Characters of a piece; a longer section is cut between paragraphs."""

WORD = re.compile(r"[^\W_]{2,}")
"""A word, of two letters or digits at least."""

# Beside English stop words: what questions about any document are made of, and says nothing about where to look.
_ASKING = re.compile(
    r"also|company|could|document|even|ever|kinds?|may|might|must|polic(?:y|ies)|sections?|shall|sorts?|types?|us|use[ds]?"
    r"|users?|using|well|whether|would"
)
# Cut off where four letters are left before it, a plural's "s" where three are.
_ENDING = re.compile(
    r"(?<=\w{4})(?:i[sz](?:ations?|ed?|es|ing)|ations?|ements?|iances?|iant|ions?|ings?|it(?:y|ies)|ous(?:ly)?|i?ally|al"
    r"|ely|(?<!p)ly|ers?|ie[ds]|e[ds]?|y)$"
    r"|(?<=\w\w[^su])s$"
)
# Policies use these for one another all the time: without them "my data" would miss "information about you".
_SAME = {
    "inform": "data",
    "disclos": "shar",
    "stor": "keep",
    "storag": "keep",
    "retain": "keep",
    "retent": "keep",
    "kept": "keep",
    "eras": "delet",
    "erasur": "delet",
}


def pieces(text: str, starts: Iterable[int]) -> tuple[Span, ...]:
    """Pieces of a text, in characters: from each start of a section to the next, long ones in several, none blank."""
    borders = sorted({0, *starts, len(text)})
    spans = (piece for border in pairwise(borders) for piece in _cut(text, *border))
    return tuple(span for span in spans if text[slice(*span)].strip())


def _cut(text: str, start: int, end: int) -> Iterable[Span]:
    """A stretch of the text in pieces that are not too long, cut behind a paragraph, else behind a sentence."""
    while end - start > LONGEST:
        least, most = start + LONGEST // 2, start + LONGEST
        places = (text.rfind(border, least, most) + len(border) for border in ("\n\n", "\n", ". "))
        cut = next((place for place in places if place > least), most)
        yield start, cut
        start = cut
    yield start, end


def words_of(text: str) -> list[str]:
    """The content words of a text, lower case, without stop words and endings."""
    stop_words = _stop_words()
    return [
        _stem(word) for word in WORD.findall(text.lower()) if word not in stop_words and not _ASKING.fullmatch(word)
    ]


@lru_cache(maxsize=1)
def _stop_words() -> frozenset[str]:
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    return frozenset(STOPWORDS_EN_PLUS)


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    """The word without its ending: "encryption", "encrypted" and "encrypts" are one word to the index."""
    stem = _ENDING.sub("", word)
    return _SAME.get(stem, stem)


def ranked(texts: tuple[str, ...], question: str) -> list[int]:
    """The places of these texts, that whose words are nearest to the question's (BM25) first."""
    asked = list(dict.fromkeys(words_of(question)))
    scores = _by_text(texts).get_scores(asked).tolist() if asked else [0.0] * len(texts)
    return sorted(range(len(texts)), key=lambda place: -scores[place])


@lru_cache(maxsize=4)
def _by_text(texts: tuple[str, ...]) -> Any:
    return index_words([words_of(text) for text in texts])


def index_words(texts: list[list[str]]) -> Any:
    """The BM25 index of texts, each given as its words; its `get_scores` takes words."""
    import bm25s

    # It sets its logger to DEBUG, and so would speak through whatever handler an application has.
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    numbers: dict[str, int] = {}
    # Numbered here, in the order of the text: bm25s would number a set, in another order in every process.
    numbered = [[numbers.setdefault(word, len(numbers)) for word in text] for text in texts]
    index = bm25s.BM25(backend="numpy")
    index.index((numbered, numbers), show_progress=False)
    return index
