"""Find the sentences of a document that an annotated answer rests on, by the words that its statements share with them.

Annotated are sections, which may have dozens of sentences. A statement is a point, or a clause of the annotated answer;
it rests on the sentence that has most of its words, rare ones counting more, and on those that have nearly as many.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from genaipa.policies.search import language_for_search_or_english, stem_content_words
from genaipa.scoring.evidence.examine import locate_labelled_sections
from genaipa.systems.extractive import split_sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from genaipa.policies.document import Document
    from genaipa.questions.annotations import AnnotatedAnswer

    Span = tuple[int, int]

_LEAST = 0.25
"""Share of a statement's words that a sentence must have for the statement to rest on it."""
_NEARLY = 0.8
"""Share of the best sentence's words that another one needs, to be as good."""
_FEWEST = 3
"""Content words of a statement; fewer are in many sentences."""
_CLAUSE = re.compile("(?<=[.!?;:])\\s+|,\\s+|[()\uff08\uff09\u3002\uff1b\uff1a\uff0c\uff01\uff1f]")


def find_supporting_sentence_spans(
    document: Document, annotated: AnnotatedAnswer, part_set: str = ""
) -> frozenset[Span]:
    """Return the sentences, within its sections, that an annotated answer and its points rest on; perhaps none.

    A point rests on a sentence of each of its own sections, a clause of the answer on one of all sections together.
    """
    index = _load_sentence_words(document.text)
    spans: set[Span] = set()
    for point in annotated.points:
        for _, section in locate_labelled_sections(point.sections, document, part_set):
            spans.update(index.find_sentence_spans_for_statement(point.text, [section] if section else []))
    sections = [span for _, span in locate_labelled_sections(annotated.sections, document, part_set) if span]
    for clause in _CLAUSE.split(annotated.answer):
        spans.update(index.find_sentence_spans_for_statement(clause, sections))
    return frozenset(spans)


class _SentenceWords:
    """The sentences of a text with their words, and how rare each word is."""

    def __init__(self, text: str) -> None:
        self._language = language_for_search_or_english(text)
        self._words = {
            span: set(self._list_content_words(text[slice(*span)])) for span in sentence_spans_without_headings(text)
        }
        having = Counter(word for words in self._words.values() for word in words)
        self._rarity = {word: self._compute_rarity(number) for word, number in having.items()}
        self._unknown = self._compute_rarity(0)

    def find_sentence_spans_for_statement(self, statement: str, sections: Sequence[Span]) -> Iterator[Span]:
        """Yield the sentences of these sections that have most of a statement's words."""
        words = set(self._list_content_words(statement))
        if len(words) < _FEWEST:
            return
        candidates = [
            span for span in self._words if any(start <= span[0] and span[1] <= end for start, end in sections)
        ]
        whole = self._sum_word_rarity(words)
        shares = {span: self._sum_word_rarity(words & self._words[span]) / whole for span in candidates}
        best = max(shares.values(), default=0.0)
        if best >= _LEAST:
            yield from (span for span, share in shares.items() if share >= _NEARLY * best)

    def _sum_word_rarity(self, words: Iterable[str]) -> float:
        return sum(self._rarity.get(word, self._unknown) for word in words)

    def _compute_rarity(self, sentence_count: int) -> float:
        return math.log(1 + (len(self._words) + 0.5) / (sentence_count + 0.5))

    def _list_content_words(self, text: str) -> list[str]:
        return stem_content_words(text, self._language)


@lru_cache(maxsize=8)
def _load_sentence_words(text: str) -> _SentenceWords:
    return _SentenceWords(text)


@lru_cache(maxsize=8)
def sentence_spans_without_headings(text: str) -> tuple[Span, ...]:
    """List the sentences and list items of a text, in order; headings are none."""
    return tuple((sentence.start, sentence.end) for sentence in split_sentences(text))
