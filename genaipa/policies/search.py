"""Search in a document by the words of a question (BM25): its pieces, their words, and which come nearest."""

from __future__ import annotations

import logging
import math
import re
import unicodedata
from functools import lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, cast

from genaipa.languages.catalog import ENGLISH, LANGUAGES, detect_language_code_or_empty
from genaipa.languages.language import UNSPACED

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from genaipa.languages.language import Language, SearchRules

    Span = tuple[int, int]

LONGEST = 4_000
"""Characters of a piece; a longer section is cut between paragraphs."""

WORD = re.compile(r"[^\W_]{2,}")
"""A word, of two letters or digits at least."""


def split_into_search_spans(text: str, section_starts: Iterable[int]) -> tuple[Span, ...]:
    """Split a text into pieces at the starts of sections, long sections into several; blank pieces are left out."""
    borders = sorted({0, *section_starts, len(text)})
    spans = (piece for border in pairwise(borders) for piece in _split_long_span(text, *border))
    return tuple(span for span in spans if text[slice(*span)].strip())


def _split_long_span(text: str, start: int, end: int) -> Iterable[Span]:
    """Split a long stretch of the text behind paragraphs, else behind sentences."""
    while end - start > LONGEST:
        earliest, latest = start + LONGEST // 2, start + LONGEST
        positions = (text.rfind(border, earliest, latest) + len(border) for border in ("\n\n", "\n", ". "))
        cut = next((position for position in positions if position > earliest), latest)
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


def is_in_script_without_blanks(text: str) -> bool:
    """Whether a text is mostly in a script without blanks between words."""
    return not text.isascii() and 4 * sum(map(len, _UNSPACED.findall(text))) > len(text)


def token_pattern(text: str) -> re.Pattern[str]:
    """Return the pattern of a word of a text; in a script without blanks each character is a word."""
    return _CHARACTER if is_in_script_without_blanks(text) else _TOKEN


def count_words(text: str, words_per_unspaced_character: float = 1) -> int:
    """Count the words with a letter or a digit; in a script without blanks each character is a word.

    A limit that is set in words of English counts it as half a word (`words_per_unspaced_character`).
    """
    if text.isascii():
        return len(_WORD_BETWEEN_BLANKS.findall(text))
    between = len(_WORD_BETWEEN_BLANKS.findall(_UNSPACED.sub(" ", text)))
    return between + math.ceil(words_per_unspaced_character * len(_UNSPACED_LETTER.findall(text)))


# Ligatures, letters in the form that they have in a word, and radicals, which fonts have in place of letters. The rest
# of a text is left as it is: a superscript or a full-width letter means something.
_FORMS = re.compile("[\u2e80-\u2fdf\uf900-\ufaff\ufb00-\ufdff\ufe70-\ufefc]")


def replace_ligatures(text: str) -> str:
    """Put plain letters in the place of ligatures and of other forms of letters, so that words can be found."""
    return text if text.isascii() else _FORMS.sub(lambda form: unicodedata.normalize("NFKC", form[0]), text)


def stem_content_words(text: str, language: Language = ENGLISH) -> list[str]:
    """Return the content words of a text in lower case, without stop words and endings."""
    rules = _search_rules_or_english(language)
    stop_words = _stop_words(rules.stop_words)
    # PDF files are full of ligatures and full-width letters.
    plain = (text if text.isascii() else unicodedata.normalize("NFKC", text)).lower()
    return [
        _stem_word(word, rules)
        for run in WORD.findall(plain)
        for word in (_split_into_character_pairs(run) if _UNSPACED.search(run) else (run,))
        if word not in stop_words and not rules.asking.fullmatch(word)
    ]


def _split_into_character_pairs(word_run: str) -> Iterable[str]:
    """Split a run without blanks into pairs of neighbouring characters; words of other scripts stay whole."""
    for piece in re.findall(rf"[{UNSPACED}]+|[^{UNSPACED}]+", word_run):
        yield from map("".join, pairwise(piece)) if _UNSPACED.match(piece) and len(piece) > 1 else (piece,)


def _search_rules_or_english(language: Language) -> SearchRules:
    return language.search or cast("SearchRules", ENGLISH.search)


@lru_cache(maxsize=4)
def _stop_words(list_name: str) -> frozenset[str]:
    from bm25s import stopwords

    return frozenset(getattr(stopwords, list_name))


@lru_cache(maxsize=20_000)
def _stem_word(word: str, rules: SearchRules) -> str:
    """Strip the ending of a word: "encryption", "encrypted" and "encrypts" are one word to the index."""
    stem = rules.ending.sub("", word)
    return rules.same.get(stem, stem)


_SHORTEST = 5
"""Letters of a part of a compound."""


def stem_question_words(question: str, language: Language, vocabulary: Container[str]) -> list[str]:
    """Return the content words of a question, each once; a compound outside the `vocabulary` is split."""
    words = stem_content_words(question, language)
    if _search_rules_or_english(language).compounds:
        words = [part for word in words for part in _split_compound(word, vocabulary)]
    return list(dict.fromkeys(words))


def _split_compound(word: str, vocabulary: Container[str]) -> list[str]:
    """Split a compound into its longest known beginning and end; a word without known parts stays whole."""
    if word in vocabulary:
        return [word]
    positions = range(len(word) - 1, _SHORTEST - 1, -1)
    first = next((word[:position] for position in positions if word[:position] in vocabulary), "")
    last = next((word[-position:] for position in positions if word[-position:] in vocabulary), "")
    return [part for part in (first, last) if part] or [word]


def language_for_search_or_english(text: str) -> Language:
    """Return the language whose rules search a text: its own, or English."""
    return LANGUAGES.get(detect_language_code_or_empty(text), ENGLISH)


def rank_text_indices(texts: tuple[str, ...], question: str) -> list[int]:
    """Rank texts by BM25 against a question: their indices, the nearest first."""
    language, vocabulary, index = _build_language_vocabulary_and_index(texts)
    words = stem_question_words(question, language, vocabulary)
    scores = index.get_scores(words).tolist() if words else [0.0] * len(texts)
    return sorted(range(len(texts)), key=lambda place: -scores[place])


@lru_cache(maxsize=4)
def _build_language_vocabulary_and_index(texts: tuple[str, ...]) -> tuple[Language, frozenset[str], Any]:
    language = language_for_search_or_english("\n".join(texts))
    words = [stem_content_words(text, language) for text in texts]
    return language, frozenset(chain.from_iterable(words)), build_bm25_index(words)


def build_bm25_index(tokenized_texts: list[list[str]]) -> Any:
    """Build the BM25 index of texts, each given as its words; its `get_scores` takes words."""
    import bm25s

    # It sets its logger to DEBUG, and so would speak through whatever handler an application has.
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    numbers: dict[str, int] = {}
    # Numbered here, in the order of the text: bm25s would number a set, in another order in every process.
    numbered = [[numbers.setdefault(word, len(numbers)) for word in text] for text in tokenized_texts]
    index = bm25s.BM25(backend="numpy")
    index.index((numbered, numbers), show_progress=False)
    return index
