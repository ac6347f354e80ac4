"""Search in a document by the words of a question (BM25): its pieces, their words, and which come nearest."""

from __future__ import annotations

import logging
import math
import re
import unicodedata
from functools import lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, cast

from genaipa.languages.catalog import ENGLISH, LANGUAGES, language_of
from genaipa.languages.language import UNSPACED

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from genaipa.languages.language import Language, Search

    Span = tuple[int, int]

LONGEST = 4_000
"""Characters of a piece; a longer section is cut between paragraphs."""

WORD = re.compile(r"[^\W_]{2,}")
"""A word, of two letters or digits at least."""


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


_TOKEN = re.compile(r"[^\W_]+")
_CHARACTER = re.compile(rf"[^\W_{UNSPACED}]+|[{UNSPACED}]")
_UNSPACED = re.compile(rf"[{UNSPACED}]+")
_UNSPACED_LETTER = re.compile(rf"(?![\W_])[{UNSPACED}]")
_WORD_BETWEEN_BLANKS = re.compile(r"[^\W_]\S*")
HALF = 0.5
"""Words of English that a character of a script without blanks says about as much as."""


def is_unspaced(text: str) -> bool:
    """Whether a text is mostly in a script without blanks between words."""
    return not text.isascii() and 4 * sum(map(len, _UNSPACED.findall(text))) > len(text)


def token(text: str) -> re.Pattern[str]:
    """The expression for a word of a text; in a script without blanks a character is one."""
    return _CHARACTER if is_unspaced(text) else _TOKEN


def count_words(text: str, of_character: float = 1) -> int:
    """The number of words between blanks that have a letter or a digit; in a script without blanks a character is one.

    A limit that is set in words of English counts it as half a word (`of_character`).
    """
    if text.isascii():
        return len(_WORD_BETWEEN_BLANKS.findall(text))
    between = len(_WORD_BETWEEN_BLANKS.findall(_UNSPACED.sub(" ", text)))
    return between + math.ceil(of_character * len(_UNSPACED_LETTER.findall(text)))


# Ligatures, letters in the form that they have in a word, and radicals, which fonts have in place of letters. The rest
# of a text is left as it is: a superscript or a full-width letter means something.
_FORMS = re.compile("[\u2e80-\u2fdf\uf900-\ufaff\ufb00-\ufdff\ufe70-\ufefc]")


def plain_letters(text: str) -> str:
    """Put plain letters in the place of ligatures and of other forms of letters, so that words can be found."""
    return text if text.isascii() else _FORMS.sub(lambda form: unicodedata.normalize("NFKC", form[0]), text)


def words_of(text: str, language: Language = ENGLISH) -> list[str]:
    """The content words of a text in a language, lower case, without stop words and endings."""
    rules = _rules(language)
    stop_words = _stop_words(rules.stop_words)
    # PDF files are full of ligatures and full-width letters.
    plain = (text if text.isascii() else unicodedata.normalize("NFKC", text)).lower()
    return [
        _stem(word, rules)
        for run in WORD.findall(plain)
        for word in (_pairs(run) if _UNSPACED.search(run) else (run,))
        if word not in stop_words and not rules.asking.fullmatch(word)
    ]


def _pairs(run: str) -> Iterable[str]:
    """The words of a run of characters without blanks: each pair of neighbours, and words of other scripts whole."""
    for piece in re.findall(rf"[{UNSPACED}]+|[^{UNSPACED}]+", run):
        yield from map("".join, pairwise(piece)) if _UNSPACED.match(piece) and len(piece) > 1 else (piece,)


def _rules(language: Language) -> Search:
    return language.search or cast("Search", ENGLISH.search)


@lru_cache(maxsize=4)
def _stop_words(name: str) -> frozenset[str]:
    from bm25s import stopwords

    return frozenset(getattr(stopwords, name))


@lru_cache(maxsize=20_000)
def _stem(word: str, rules: Search) -> str:
    """The word without its ending: "encryption", "encrypted" and "encrypts" are one word to the index."""
    stem = rules.ending.sub("", word)
    return rules.same.get(stem, stem)


_SHORTEST = 5
"""Letters of a part of a compound."""


def words_asked(question: str, language: Language, known: Container[str]) -> list[str]:
    """The content words of a question, each once; of a compound that is not among the `known` words, its parts."""
    words = words_of(question, language)
    if _rules(language).compounds:
        words = [part for word in words for part in _parts(word, known)]
    return list(dict.fromkeys(words))


def _parts(word: str, known: Container[str]) -> list[str]:
    """The longest known beginning and end of a compound; the word itself if it is known, or has no known part."""
    if word in known:
        return [word]
    places = range(len(word) - 1, _SHORTEST - 1, -1)
    first = next((word[:place] for place in places if word[:place] in known), "")
    last = next((word[-place:] for place in places if word[-place:] in known), "")
    return [part for part in (first, last) if part] or [word]


def language_to_search(text: str) -> Language:
    """The language by whose rules a text is searched: its own, English's where that is not known."""
    return LANGUAGES.get(language_of(text), ENGLISH)


def ranked(texts: tuple[str, ...], question: str) -> list[int]:
    """The places of these texts, given as they read, that whose words are nearest to the question's (BM25) first."""
    language, known, index = _by_text(texts)
    asked = words_asked(question, language, known)
    scores = index.get_scores(asked).tolist() if asked else [0.0] * len(texts)
    return sorted(range(len(texts)), key=lambda place: -scores[place])


@lru_cache(maxsize=4)
def _by_text(texts: tuple[str, ...]) -> tuple[Language, frozenset[str], Any]:
    language = language_to_search("\n".join(texts))
    words = [words_of(text, language) for text in texts]
    return language, frozenset(chain.from_iterable(words)), index_words(words)


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
