"""Find the sentences of a document that come nearest to what an answer claims: a hint where to look, and no verdict.

Words are compared without endings, as a search compares them, and count the more, the fewer sentences of the document
have them. Whatever denies that the document speaks of something, cites, or speaks of the assistant claims nothing of
the document: no sentence comes nearest to it.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from genaipa.languages.catalog import LANGUAGES, is_mark_end_of_sentence
from genaipa.languages.language import CAPITAL, ENDS, STOPS, expression
from genaipa.policies.search import language_for_search_or_english, stem_content_words
from genaipa.systems.extractive import split_sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from genaipa.languages.language import Language
    from genaipa.policies.document import Document
    from genaipa.scoring.evidence.examine import Evidence
    from genaipa.systems.extractive import Sentence

Span = tuple[int, int]

MOST_CLAIMS = 200
"""Sentences of an answer that are held against the document."""
MOST = 3
"""Sentences of the document that come nearest to one of the answer."""
SHOWN_SHARE = 0.42
"""Share of a claim (0 to 1, rare words counting more) that a sentence has at least to be shown beneath it."""
KNOWN_SHARE = 0.5
"""Share of a claim that the whole document has at least; of one that has less, nothing is said to be near."""
LEAST = 0.15
"""Likeness (0 to 1) of a sentence to a question, or share of a claim, below which it has little to do with it."""
FEWEST = 3
"""Different content words of a sentence that claims something."""
EXCERPT = 150
"""Characters of a sentence that are shown beneath a claim."""

_WORD = re.compile(r"\w+")
_MARKERS = re.compile(r"\s*(?:#{1,6}\s+|>\s*|[-*+\u2022\u2013]\s+|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]\s+|\|\s*)*")
_TITLE = re.compile(r"\s*(?:#{1,6}\s|(?P<strong>\*\*|__)(?:(?!(?P=strong)).)*(?P=strong):?\s*$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")
_END = re.compile(
    rf"[{ENDS}]+[\"\u201d\u2019\u00bb)\]*_]*(?=\s+(?![a-zß-öø-ÿ])|\s*$)|[{STOPS}]+[\u201d\u300d\u300f\uff09]*"
)
_BRACKETS = re.compile(r"\([^()\n]{0,400}\)|\[[^\[\]\n]{0,400}\]")
_NUMBER = re.compile(r"(?<![\w.])(\d{1,2}(?:\.\d{1,2})*)$")
_LEADING = ".!?([{,;:\"'\u2018\u201c\u201e\u00ab\u2013\u2014-*_>#|"
"""What is before a number of a list, or at the beginning of a citation's title."""
_SHORT = rf"(?<!\w)[{CAPITAL}]"


@dataclass(frozen=True)
class SentenceMatch:
    """A sentence of an answer, from its first character to the one behind its last, and what comes nearest to it.

    `near` are sentences of the document, the nearest first. `line` is how the nearest reads where it bears on the
    claim, and empty where nothing in the document is near; None where there is nothing to be said. A `literal`
    sentence is in the document word for word, but for what it cites.
    """

    start: int
    end: int
    near: tuple[Span, ...] = ()
    line: str | None = None
    literal: bool = False


def match_sentences_to_document(reply: str, document: Document, evidence: Evidence) -> list[SentenceMatch]:
    """List the sentences of an answer in order, each with what comes nearest to it in the document."""
    language, index = LANGUAGES.get(evidence.language), load_sentence_index(document.text)
    unclaimed = _merge_overlapping_spans(_find_citation_and_denial_spans(reply, evidence, language))
    citations = _merge_overlapping_spans([(reference.start, reference.end) for reference in evidence.references])
    company = set(stem_content_words(document.company, index.language))
    claims: list[SentenceMatch] = []
    for start, end, title in walk_sentence_and_title_bounds(
        reply, language, [(reference.start, reference.end) for reference in evidence.references]
    ):
        sentence_words = list(_WORD.finditer(reply, start, end))
        claiming_words = [
            word for word in sentence_words if not _lies_in_any_span(unclaimed, word.start(), word.start())
        ]
        wanted = set(stem_content_words(" ".join(word[0] for word in claiming_words), index.language)) - company
        near, share = index.find_nearest_sentences_and_first_share(wanted if len(claims) < MOST_CLAIMS else set())
        line, literal = None, False
        if (
            len(claims) < MOST_CLAIMS
            and not title
            and 2 * len(claiming_words) > len(sentence_words)
            and not _is_boilerplate(reply[start:end], language)
            and len(wanted) >= FEWEST
        ):
            # A citation behind a quotation is no word of it.
            uncited = (
                word[0] for word in sentence_words if not _lies_in_any_span(citations, word.start(), word.start())
            )
            literal = index.has_phrase(" ".join(uncited))
            line = cut_excerpt(near[0].text, wanted, index.language) if share >= SHOWN_SHARE else None
            line = "" if index.measure_share_of_known_words(wanted) < KNOWN_SHARE else line
        claims.append(
            SentenceMatch(start, end, tuple((sentence.start, sentence.end) for sentence in near), line, literal)
        )
    return claims


def _find_citation_and_denial_spans(reply: str, evidence: Evidence, language: Language | None) -> list[Span]:
    """Find the stretches of a reply that cite, answer by a word, or deny that the document speaks of something."""
    unclaimed = [(reference.start, reference.end) for reference in evidence.references]
    if language and language.silence:
        answered = expression(rf"\W*{language.silence.answered}", re.IGNORECASE).match(reply)
        unclaimed += [answered.span()] if answered else []
    contrast = language.silence.contrast if language and language.silence else None
    for start, end in evidence.silence.phrases:
        first = max(reply.rfind(mark, 0, start) for mark in "\n.!?;") + 1
        last = min((at for mark in "\n.!?;" if (at := reply.find(mark, end)) >= 0), default=len(reply))
        if contrast:
            turns = list(expression(contrast, re.IGNORECASE).finditer(reply, first, last))
            first = max((turn.start() for turn in turns if turn.end() <= start), default=first)
            last = min((turn.start() for turn in turns if turn.start() >= end), default=last)
        unclaimed.append((first, last))
    return unclaimed


def _is_boilerplate(sentence: str, language: Language | None) -> bool:
    """Whether a sentence asks, leads in a list, names sources, or speaks of the assistant and of no document."""
    if sentence.rstrip("*_ ").endswith(("?", ":", "\uff1f", "\uff1a")):
        return True
    rules = language.silence if language else None
    if rules is None:
        return False
    plain = sentence.replace("\u2019", "'").replace("i.e.", "")
    begins = (rules.preface, rules.source)
    within = (rules.oneself, rules.unknown)
    return any(expression(rule, re.IGNORECASE).match(plain) for rule in begins) or any(
        expression(rule, re.IGNORECASE).search(plain) for rule in within
    )


def walk_sentence_and_title_bounds(
    text: str, language: Language | None, unsplit_spans: Sequence[Span] = ()
) -> Iterator[tuple[int, int, bool]]:
    """Yield the first and last place of each sentence of a text in Markdown, and whether it is a title.

    No sentence crosses a line, nor begins with the signs of a heading or a list; code is none. No mark ends one inside
    brackets, nor in one of these stretches that are `unsplit_spans`.
    """
    fence = ""
    closed = _merge_overlapping_spans([*unsplit_spans, *(match.span() for match in _BRACKETS.finditer(text))])
    for line in re.finditer(r"[^\n]+", text):
        signs = _FENCE.match(line[0])
        if signs and not fence and "`" not in signs[2]:
            fence = signs[1]
            continue
        if fence:
            fence = "" if signs and signs[1].startswith(fence) and not signs[2].strip("`~ \t") else fence
            continue
        markers = _MARKERS.match(line[0])
        start = line.start() + (markers.end() if markers else 0)
        title = bool(_TITLE.match(line[0]))
        for mark in _END.finditer(text, start, line.end()):
            inside = _lies_in_any_span(closed, mark.start() - 1, mark.end())
            if inside or not _ends_sentence(text, line.start(), mark, language):
                continue
            yield from _yield_trimmed_span_if_nonblank(text, start, mark.end(), title)
            start = mark.end()
        yield from _yield_trimmed_span_if_nonblank(text, start, line.end(), title)


def _merge_overlapping_spans(spans: Iterable[Span]) -> list[Span]:
    """Return stretches in order, those that overlap as one."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _lies_in_any_span(merged_spans: list[Span], start: int, end: int) -> bool:
    """Whether a stretch is in one of these, and does not reach to its end."""
    index = bisect_right(merged_spans, (start, math.inf)) - 1
    return index >= 0 and end < merged_spans[index][1]


def _yield_trimmed_span_if_nonblank(text: str, start: int, end: int, is_title: bool) -> Iterator[tuple[int, int, bool]]:
    """Yield a stretch without the blanks around it, if it has a word."""
    stretch = text[start:end]
    if _WORD.search(stretch):
        yield start + len(stretch) - len(stretch.lstrip()), start + len(stretch.rstrip()), is_title


def _ends_sentence(text: str, line_start: int, mark: re.Match[str], language: Language | None) -> bool:
    """Whether a mark ends a sentence: no full stop behind an abbreviation, a single capital, or a number of a list."""
    at = mark.start()
    if len(mark[0].rstrip('*_)]"')) > 1 or text[at] != ".":
        return True
    short = rf"(?:(?<![^\s(\"*_])(?:{language.abbreviations})|{_SHORT})" if language else _SHORT
    if not is_mark_end_of_sentence(text, at, short, language):
        return False
    number = _NUMBER.search(text[max(line_start, at - 12) : at])
    if not number:
        return True
    # "in Section 4. They …", but not "(4. Your data", nor "am 4. Tag".
    before = text[line_start : at - len(number[1])].rstrip()
    if not before or before[-1] in _LEADING:
        return False
    follows = _WORD.search(text, mark.end())
    # A stop word begins no title.
    return not follows or bool(language and not stem_content_words(follows[0], language))


class SentenceIndex:
    """The sentences of a document, by their words."""

    def __init__(self, text: str) -> None:
        self.language = language_for_search_or_english(text)
        self.sentences = split_sentences(text)
        self._words = [frozenset(stem_content_words(sentence.text, self.language)) for sentence in self.sentences]
        self._holding: defaultdict[str, list[int]] = defaultdict(list)
        for n, words in enumerate(self._words):
            for word in words:
                self._holding[word].append(n)
        self._sizes = [self._measure_word_vector_length(words) for words in self._words]
        self._usual = sorted(self._sizes)[len(self._sizes) // 2] if self._sizes else 0.0
        self._letters = _join_casefolded_words(" ".join(sentence.text for sentence in self.sentences))

    def _weigh_word_by_rarity(self, word: str) -> float:
        return math.log(1 + len(self.sentences) / max(1, len(self._holding.get(word, ())))) ** 2

    def _measure_word_vector_length(self, words: Iterable[str]) -> float:
        return math.sqrt(sum(map(self._weigh_word_by_rarity, words)))

    def has_phrase(self, phrase: str) -> bool:
        """Whether the document has these words in a row."""
        return _join_casefolded_words(phrase) in self._letters

    def measure_share_of_known_words(self, words: set[str]) -> float:
        """Measure the share of these words that the document has, rare words counting more."""
        shared = sum(self._weigh_word_by_rarity(word) for word in words if word in self._holding)
        return shared / (sum(map(self._weigh_word_by_rarity, words)) or 1.0)

    def _weigh_shared_words_by_sentence(self, words: Iterable[str]) -> dict[int, float]:
        shared: defaultdict[int, float] = defaultdict(float)
        for word in words:
            for n in self._holding.get(word, ()):
                shared[n] += self._weigh_word_by_rarity(word)
        return shared

    def find_nearest_sentences_and_first_share(self, claim_words: set[str]) -> tuple[list[Sentence], float]:
        """Find sentences that share part of a claim's words, the nearest first, and the share that the first has."""
        whole = self._measure_word_vector_length(claim_words) ** 2 or 1.0
        shares = {
            n: weight / whole
            for n, weight in self._weigh_shared_words_by_sentence(claim_words).items()
            if weight >= LEAST * whole
        }
        likeness = {n: share / max(self._sizes[n], self._usual) for n, share in shares.items()}
        near = self._choose_likest_sentences(likeness)
        return [self.sentences[n] for n in near], shares[near[0]] if near else 0.0

    def find_sentences_nearest_to_question(self, question: str) -> list[Sentence]:
        """Return the sentences that are likest to a question, the nearest first."""
        wanted = set(stem_content_words(question, self.language))
        size = self._measure_word_vector_length(wanted) or 1.0
        scores = {
            n: sum_ / (size * (self._sizes[n] or 1.0))
            for n, sum_ in self._weigh_shared_words_by_sentence(wanted).items()
        }
        near = self._choose_likest_sentences({n: likeness for n, likeness in scores.items() if likeness >= LEAST})
        return [self.sentences[n] for n in near]

    def _choose_likest_sentences(self, likeness_by_sentence: dict[int, float]) -> list[int]:
        """Choose the numbers of the likest sentences."""
        return sorted(likeness_by_sentence, key=lambda n: (-likeness_by_sentence[n], n))[:MOST]


@lru_cache(maxsize=16)
def load_sentence_index(text: str) -> SentenceIndex:
    """Load the index of a document's text."""
    return SentenceIndex(text)


def _join_casefolded_words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def cut_excerpt(sentence: str, wanted_words: set[str], language: Language) -> str:
    """Return the part of a long sentence that has most of these words."""
    flat = " ".join(sentence.split())
    if len(flat) <= EXCERPT:
        return flat
    places = [
        word.start()
        for word in _WORD.finditer(flat)
        if wanted_words.intersection(stem_content_words(word[0], language))
    ]
    first = max([0, *places], key=lambda start: bisect_left(places, start + EXCERPT) - bisect_left(places, start))
    window = flat[first : first + EXCERPT]
    return f"{'… ' if first else ''}{window}{'…' if first + EXCERPT < len(flat) else ''}"
