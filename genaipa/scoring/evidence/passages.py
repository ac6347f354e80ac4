"""Place the passages that a system retrieved in a document.

Each is placed by rule, as quotations are: word for word, up to typography and line breaks, nearly, or not at all. A
summary or a translation is not in the document.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from genaipa.policies.reading import read_markdown
from genaipa.policies.search import token_pattern
from genaipa.scoring.evidence.quotations import (
    FEWEST_WORDS,
    NEAR,
    casefold_and_compose_word,
    index_text,
    match_quotation_exact_or_normalized,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from genaipa.scoring.evidence.quotations import Match, Span

RUN = 4  # words in a row by which a near match, or another document, is found
_KNOWN = 0.2  # share of a passage's runs of words that the document has, if it is nearly in it
SAME = 0.5  # share of them that another document has, if the passage is of that one
_LONGEST = 10_000  # words of a passage for which a near match is sought
_DOCUMENTS = 32  # whose indices are kept; ten times as many are searched for passages that are elsewhere
_WORD = re.compile(r"[^\W_]+")
_LEFT_OUT = re.compile(r"\u2026|\.{3}|\. \. \.|\[")


class PlacedPassage(NamedTuple):
    """A passage's match with a document, and its span there; None if it is not in this document."""

    match: Match
    span: Span | None


class PassageFinder:
    """Places passages in one document's text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.place = cache(self._locate_passage)  # a retriever gives the same passages again and again

    def _locate_passage(self, passage: str) -> PlacedPassage:
        """Place a passage; a chunk may begin and end within a word."""
        sought = passage.strip()
        exact = self._text.find(sought)
        if exact >= 0 and sought:
            return PlacedPassage("exact", (exact, exact + len(sought)))
        sought = " ".join(sought.split())
        words = list_normalized_words(sought)
        indices = [
            index for run in list_four_word_runs(words) if (index := self._first_place_by_word_run.get(run)) is not None
        ]
        if not words or len(indices) < _KNOWN * (len(words) - RUN + 1):
            return _NOWHERE  # as most that is not here, and found out in no time
        folded = self._find_ignoring_typography(sought, words)
        if folded:
            return PlacedPassage("normalised", folded)
        span = self._find_similar_passage(words)
        return PlacedPassage("near", span) if span else _NOWHERE

    def _find_ignoring_typography(self, passage: str, passage_words: list[str]) -> Span | None:
        """Find a passage up to typography, perhaps without its first and last word, which a chunk may have cut."""
        document = index_text(self._text)
        span = document.find_normalized_letters("".join(passage_words)) or document.find_normalized_letters(
            "".join(passage_words[1:-1])
        )
        if not span and _LEFT_OUT.search(passage):
            ellipsis = match_quotation_exact_or_normalized(passage, self._text)
            return ellipsis and ellipsis[1]
        return span

    @cached_property
    def _first_place_by_word_run(self) -> dict[tuple[str, ...], int]:
        """Run of words → its first place among the words."""
        words = index_text(self._text).words
        places: dict[tuple[str, ...], int] = {}
        for index, run in enumerate(list_four_word_runs(words)):
            places.setdefault(run, index)
        return places

    def _find_similar_passage(self, passage_words: list[str]) -> Span | None:
        """Find the passage of the document that has nearly these words, in this order."""
        from rapidfuzz.distance import LCSseq

        if not FEWEST_WORDS <= len(passage_words) <= _LONGEST:
            return None
        positions = (
            (self._first_place_by_word_run.get(run), offset)
            for offset, run in enumerate(list_four_word_runs(passage_words))
        )
        begins = Counter(
            (position - offset) // len(passage_words) for position, offset in positions if position is not None
        )
        if not begins:
            return None
        begin = max(begins, key=lambda block: begins[block] + begins[block + 1]) * len(passage_words)
        document, first = index_text(self._text), max(0, begin - len(passage_words) // 2)
        window = document.words[first : begin + 3 * len(passage_words)]
        blocks = [block for block in LCSseq.opcodes(passage_words, window) if block.tag == "equal"]
        # Words that stand alone, perhaps far from the others, say nothing about its ends.
        blocks = [block for block in blocks if block.src_end - block.src_start >= RUN - 1]
        if not blocks:
            return None
        begun = max(0, blocks[0].dest_start - blocks[0].src_start)
        ended = min(len(window), blocks[-1].dest_end + len(passage_words) - blocks[-1].src_end)
        shared = LCSseq.similarity(passage_words, window[begun:ended])
        if 200 * shared < NEAR * (len(passage_words) + ended - begun):
            return None
        return document.spans[first + begun][0], document.spans[first + ended - 1][1]


_NOWHERE = PlacedPassage("none", None)


@lru_cache(maxsize=8)
def load_passage_finder(text: str) -> PassageFinder:
    """Return the finder of passages in a text; the last few finders are cached."""
    return PassageFinder(text)


def list_normalized_words(text: str) -> list[str]:
    """Return the words of a text as it reads, folded."""
    text = read_markdown(text).text
    return (
        _WORD.findall(text.casefold())
        if text.isascii()
        else [casefold_and_compose_word(word) for word in token_pattern(text).findall(text)]
    )


def list_four_word_runs(words: Sequence[str]) -> Iterable[tuple[str, ...]]:
    """Return every run of words, from each word on."""
    return zip(*(words[start:] for start in range(RUN)), strict=False)


class OtherDocuments:
    """Tells whether a passage is of one of these texts (name → text), but for the one that was asked about."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    @cached_property
    def _text_bits_by_word_run_hash(self) -> dict[int, int]:
        """Run of words, as a number → the texts that have it, a bit each."""
        masks: dict[int, int] = {}
        for number, text in enumerate(self._texts.values()):
            for run in list_four_word_runs(list_normalized_words(text)):
                key = hash(run)
                masks[key] = masks.get(key, 0) | 1 << number
        return masks

    def does_one_contain_most_of_passage(self, passage: str, asked_document_name: str = "") -> bool:
        """Whether one of the texts, but for `asked_document_name`, has at least half of the passage's runs of words."""
        runs = [hash(run) for run in list_four_word_runs(list_normalized_words(passage))]
        masks = Counter(self._text_bits_by_word_run_hash.get(run, 0) for run in runs)
        bits = (1 << number for number, name in enumerate(self._texts) if name != asked_document_name)
        best = max((sum(times for mask, times in masks.items() if mask & bit) for bit in bits), default=0)
        return bool(runs) and best >= SAME * len(runs)
