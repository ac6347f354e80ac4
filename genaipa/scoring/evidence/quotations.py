"""Find quotations in an answer, and match them: word for word, up to typography, nearly, or not at all."""

from __future__ import annotations

import heapq
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Literal

from genaipa.languages.language import STOPS, UNSPACED
from genaipa.policies.reading import markdown_line_text, read_markdown
from genaipa.policies.search import token_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.policies.document import Document


class TextIndex:
    """A text, as it reads, as its letters and digits alone: published policies have lost typographic characters.

    `spans` are the places of its words in the source.
    """

    def __init__(self, source: str) -> None:
        reading = read_markdown(source)
        self.token = token_pattern(reading.text)
        words = [*self.token.finditer(reading.text)]
        self.spans = reading.source_spans_in_order(word.span() for word in words)
        self.words = [casefold_and_compose_word(word[0]) for word in words]
        self._starts = [0, *accumulate(map(len, self.words))]
        self._letters = "".join(self.words)

    @cached_property
    def indices_by_word(self) -> dict[str, list[int]]:
        """Word → its indices among the words of the text."""
        places: dict[str, list[int]] = {}
        for index, word in enumerate(self.words):
            places.setdefault(word, []).append(index)
        return places

    def find_phrase(self, phrase: str, start: int = 0, end: int | None = None) -> tuple[int, int] | None:
        """Find a phrase by its letters and digits, between two characters of the text.

        It must begin and end where words do: "the rapist" is not found in "therapist".
        """
        return self.find_normalized_letters(
            "".join(casefold_and_compose_word(word) for word in self.token.findall(phrase)), start, end
        )

    def find_normalized_letters(self, letters: str, start: int = 0, end: int | None = None) -> tuple[int, int] | None:
        """Find a phrase that is given as its folded letters and digits."""
        border = self._count_preceding_letters(len(self._letters) * 4 if end is None else end + 1)
        position = self._letters.find(letters, self._count_preceding_letters(start), border) if letters else -1
        while position >= 0:
            span = self._span_of_letters(position, position + len(letters))
            if span:
                return span if end is None or span[1] <= end else None
            position = self._letters.find(letters, position + 1, border)
        return None

    def _count_preceding_letters(self, position: int) -> int:
        """Count the letters of the words that begin before a character."""
        return self._starts[bisect_left(self.spans, (position, 0))]

    def _span_of_letters(self, first_letter: int, end_letter: int) -> tuple[int, int] | None:
        """Return the span of the letters `first_letter` to `end_letter` in the text; None if they cut a word."""
        begin, finish = bisect_right(self._starts, first_letter) - 1, bisect_right(self._starts, end_letter) - 1
        if self._starts[begin] != first_letter or self._starts[finish] != end_letter:
            return None
        return self.spans[begin][0], self.spans[finish - 1][1]


def casefold_and_compose_word(word: str) -> str:
    """Normalise a word for comparison: case and composition of characters."""
    return word.casefold() if word.isascii() else unicodedata.normalize("NFKC", word).casefold()


@lru_cache(maxsize=8)
def index_text(text: str) -> TextIndex:
    """Index a text, cached for further answers about it."""
    return TextIndex(text)


Match = Literal["exact", "normalised", "near", "none"]
Span = tuple[int, int]

FEWEST_WORDS = 4
"""Fewest words of a quotation; less is a term, a title or a button."""
_OF_WORD = 2 / 3
"""Words of a character in a script without blanks between them."""
NEAR = 85.0
"""Least similarity (0 to 100) of a near match."""
_MOST = 1000  # quotations of one answer that are looked at
_GAP = 2000  # characters that an ellipsis may leave out
_LONGEST = 2000  # characters of a quotation for which a near match is sought
_SOUGHT = 150  # quotations of one answer for which a near match, or quotes around others, are sought
_COMMON = 400  # places of a word that is too common to tell anything
_WINDOWS = 3  # places where a near match is sought

# Pairs of quotes in one paragraph. An apostrophe opens nothing: a single quote opens only behind a blank or bracket.
_OPEN, _SHUT = r"(?:(?<=[\s(\[{>:*_\u2014\u2013-])|^)", r"(?=[\s)\]}.,;:!?<*_\u2014\u2013-]|$)"
_QUOTED = re.compile(
    "|".join(
        (
            r"\u201c(?P<a>[^\u201c\u201d\n]+)\u201d",
            r"\u201e(?P<b>[^\u201e\u201c\u201d\"\n]+)[\u201c\u201d\"]",
            r"\u00ab(?P<c>[^\u00ab\u00bb\n]+)\u00bb",
            r"\u00bb(?P<h>[^\u00ab\u00bb\n]+)\u00ab",
            r"\u300c(?P<i>[^\u300c\u300d\n]+)\u300d",
            r"\u300e(?P<j>[^\u300e\u300f\n]+)\u300f",
            r'(?<!\w)"(?=\S)(?P<d>[^"\n]+)"(?!\w)',
            rf"{_OPEN}\u2018(?P<e>(?:[^\u2018\u2019\n]|(?<=\w)\u2019(?=\w)){{1,600}})\u2019{_SHUT}",
            rf"{_OPEN}'(?P<f>\w(?:[^'\n]|(?<=\w)'(?=\w)){{0,600}})'{_SHUT}",
            r"^>[ \t]*(?P<g>[^\n]+)$",
        )
    ),
    re.MULTILINE,
)
# Straight quotes around others, the longest first: "taken while "Improve scanning" is on".
_OPENED = re.compile(r'(?<!\w)"(?=\S)')
_NESTED = [re.compile(rf'"([^"\n]*(?:"[^"\n]+"[^"\n]*){{{pairs}}})"{_SHUT}') for pairs in (3, 2, 1)]
_LEFT_OUT = re.compile(r"\s*(?:\[[^\[\]\n]{0,60}\]|\(?(?:\u2026+|\.{3,}|\. \. \.)\)?)+\s*")


@dataclass(frozen=True)
class Quotation:
    """A quotation at `reply[start:end]` (without its quotes), its match and the span in the document.

    `similarity` is 100 for a literal match, else that of the nearest passage.
    """

    start: int
    end: int
    text: str
    match: Match
    similarity: float
    target: Span | None


def find_quotations(reply: str, document: Document, cited_titles: Sequence[Span] = ()) -> tuple[Quotation, ...]:
    """Find the quotations of a reply in order (the first thousand), without cited titles."""
    quotations, sought = [], 0
    title_spans = sorted(cited_titles)
    for start, end in islice(_find_quoted_spans(reply, document.text), _MOST):
        if any(first <= start and end <= last for first, last in title_spans):
            continue
        text = reply[start:end]
        verbatim = match_quotation_exact_or_normalized(text, document.text)
        if verbatim:
            match, target = verbatim
            quotations.append(Quotation(start, end, text, match, 100.0, target))
            continue
        sought += 1
        worth = sought <= _SOUGHT and len(text) <= _LONGEST
        similarity, passage = find_percent_similarity_and_passage(text, document.text) if worth else (0.0, None)
        close = similarity >= NEAR
        quotations.append(
            Quotation(start, end, text, "near" if close else "none", similarity, passage if close else None)
        )
    return tuple(quotations)


def _find_quoted_spans(reply: str, document_text: str) -> Iterator[Span]:
    """Yield the quoted spans in order, if of more than a few words."""
    nested, unnested = _find_quotations_with_nested_quotes(reply, document_text), reply
    for start, end in nested:
        # What is quoted within it is no quotation for itself.
        unnested = f"{unnested[: start - 1]}{' ' * (end - start + 2)}{unnested[end + 1 :]}"
    simple_spans = (_trim_span(unnested, *match.span(match.lastgroup or 0)) for match in _QUOTED.finditer(unnested))
    return heapq.merge(nested, (span for span in simple_spans if _has_enough_words(unnested[slice(*span)])))


def _trim_span(text: str, start: int, end: int) -> Span:
    inner = text[start:end]
    return start + len(inner) - len(inner.lstrip()), end - len(inner) + len(inner.rstrip())


def _find_quotations_with_nested_quotes(reply: str, document_text: str) -> list[Span]:
    """Find straight quotes around other quotes and around words of the document."""
    nested: list[Span] = []
    for opened in islice(_OPENED.finditer(reply), _SOUGHT):
        if nested and opened.start() <= nested[-1][1]:
            continue
        around = (pattern.match(reply, opened.start()) for pattern in _NESTED)
        spans = (
            match.span(1)
            for match in around
            if match and _has_enough_words(match[1]) and match_quotation_exact_or_normalized(match[1], document_text)
        )
        nested += islice(spans, 1)
    return nested


def _has_enough_words(text: str) -> bool:
    spaced = re.findall(rf"[^\W_{UNSPACED}]+(?:['\u2019][^\W_{UNSPACED}]+)*", text)
    return len(spaced) + _OF_WORD * len(re.findall(rf"[{UNSPACED}]", text)) >= FEWEST_WORDS


def match_quotation_exact_or_normalized(quotation: str, document_text: str) -> tuple[Match, Span] | None:
    """Match a quotation word for word, or up to case, blanks, punctuation and ellipses."""
    core = quotation.rstrip(f" .,;:!?\u2026\uff0c\uff1b{STOPS}")
    start = document_text.find(core)
    if start >= 0 and core:
        return "exact", (start, start + len(core))
    reading = read_markdown(document_text)
    start = reading.text.find(core)
    if start >= 0 and core:
        return "exact", reading.source_span(start, start + len(core))
    # An answer may quote with links or emphasis of its own.
    spans = (
        _find_quotation_in_pieces(quoted, index_text(document_text))
        for quoted in dict.fromkeys((quotation, markdown_line_text(quotation)))
    )
    span = next(filter(None, spans), None)
    return ("normalised", span) if span else None


def _find_quotation_in_pieces(quotation: str, document_index: TextIndex) -> Span | None:
    """Find a quotation by its letters, piece by piece where something is left out."""
    pieces = [piece for piece in _LEFT_OUT.split(quotation) if re.search(r"\w", piece)]
    first = document_index.find_phrase(pieces[0]) if pieces else None
    while first:
        last = _find_last_following_piece(pieces[1:], document_index, first)
        if last:
            return first[0], last[1]
        first = document_index.find_phrase(pieces[0], first[0] + 1)
    return None


def _find_last_following_piece(pieces: list[str], document_index: TextIndex, span: Span) -> Span | None:
    """Find the last piece, each soon after the one before; None if one is missing."""
    for piece in pieces:
        next_span = document_index.find_phrase(piece, span[1], span[1] + _GAP + len(piece))
        if not next_span:
            return None
        span = next_span
    return span


@lru_cache(maxsize=4096)
def find_percent_similarity_and_passage(text: str, document_text: str) -> tuple[float, Span | None]:
    """Find the passage most similar to the text; (0, None) if they share hardly a word."""
    from rapidfuzz.fuzz import partial_ratio_alignment

    document = index_text(document_text)
    words = [casefold_and_compose_word(word) for word in document.token.findall(markdown_line_text(text))]
    sought = " ".join(words)
    best: tuple[float, Span | None] = 0.0, None
    for first in _find_candidate_window_starts(words, document):
        window = document.words[first : first + 3 * len(words)]
        aligned = partial_ratio_alignment(sought, " ".join(window))
        # The shorter of the two is slid along the longer: at a document's end that may be the passage.
        if aligned and aligned.score > best[0] and len(" ".join(window)) >= len(sought) // 2:
            begin, finish = _word_indices_between_characters(window, aligned.dest_start, aligned.dest_end)
            best = aligned.score, (document.spans[first + begin][0], document.spans[first + finish][1])
    return best


def _find_candidate_window_starts(words: list[str], document: TextIndex) -> list[int]:
    """Find the indices of the document's words from which most of these words are near."""
    size = len(words)
    votes: Counter[int] = Counter()
    for word in set(words):
        places = document.indices_by_word.get(word, ())
        if len(places) <= _COMMON:
            for block in {index // size for index in places}:
                votes[block] += 1
    pairs = {block: votes[block] + votes[block + 1] for block in votes} | {
        block - 1: votes[block - 1] + votes[block] for block in votes if block
    }
    best = sorted(pairs, key=lambda block: (-pairs[block], block))[:_WINDOWS]
    return [max(0, block * size) for block in best]


def _word_indices_between_characters(words: list[str], start: int, end: int) -> tuple[int, int]:
    """Return the indices of the first and last word between two characters of the words joined by blanks."""
    first, last, offset = 0, len(words) - 1, 0
    for number, word in enumerate(words):
        if offset <= start:
            first = number
        if offset < end:
            last = number
        offset += len(word) + 1
    return first, last
