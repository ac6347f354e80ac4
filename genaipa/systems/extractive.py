"""Extractive baseline: answers by quoting the document, without a key, a network or a model.

A question is answered with the sentences that match its words best (BM25), each with its section;
where even the best matches little of the question, the reply is that the document does not say, in its language. A
summary is made of central sentences from all over the document. It has only what it was shown, so of a company that it
knows by name alone it knows nothing. It is the floor to compare other systems with: whoever reads should beat whoever
looks up words.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa.languages.catalog import is_mark_end_of_sentence
from genaipa.languages.language import CAPITAL, ENDS, STOPS, UNCASED
from genaipa.policies.reading import read_markdown
from genaipa.policies.search import (
    HALF,
    WORD,
    build_bm25_index,
    count_words,
    language_for_search_or_english,
    stem_content_words,
    stem_question_words,
)
from genaipa.policies.sections import find_sections
from genaipa.systems.base import BuiltinSystem, Passage, Reply
from genaipa.systems.provider import Provider

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from genaipa.languages.language import Language
    from genaipa.systems.base import Message, Settings, Words

MODEL = "extractive/2"
"""Version, raised whenever the same messages get another reply."""

READY = "Ready."
UNKNOWN = "I know nothing of this document, since I have only what I am given, and I was given none of it."
NO_SUMMARY = "I cannot summarise what I was not given."

QUOTES = 3
"""Maximum of sentences in an answer."""
NEAR_BEST = 0.6
"""Share of the best sentence's score required of further quoted sentences."""
PASSAGE_WEIGHT = 0.6
"""Weight of the surrounding sentences, relative to the sentence itself."""
NEIGHBOURS = 4
"""Sentences on either side that belong to a sentence's passage, as far as its section reaches."""
SHARE_NEEDED = 0.22
"""Share of the question's words, weighted by rarity, that a quoted sentence must have, or the document is silent."""
SUMMARY_WORDS = 350

# A sentence ends with its mark (and closing quotes) before white space and something that can begin one. A bracket
# can't: "[Section 2]" behind a sentence belongs to it.
_END = re.compile(
    rf"[{ENDS}][\"”“»’')]*(?=\s+[\"“„«‘'(]?[{CAPITAL}{UNCASED}0-9])|[{STOPS}][\u201d\u300d\u300f\uff09]*"  # noqa: RUF001 - typographic quotes are meant
)
_BULLET = re.compile(r"\s*(?:[-*+•–]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])\s+")  # noqa: RUF001 - so is the dash
_NAME = re.compile(r"\w*[A-Z]\w*")


class ExtractiveSystem(BuiltinSystem):
    """`extractive`. Only the indexes of recent documents are kept between calls."""

    provider: ClassVar[Provider] = Provider(
        name="extractive",
        form="extractive",
        about="a baseline that quotes the document; needs no setup",
        builtin=lambda: ("extractive",),
        packages=("bm25s",),
        free=True,
        words="document",
    )
    words: Words = provider.words

    def __init__(self, *, name: str = "extractive") -> None:
        super().__init__(name=name)

    async def reply_to_last_message(self, messages: Sequence[Message], settings: Settings) -> Reply:  # noqa: ARG002 - it has none
        """Quote, summarise or acknowledge, as the last message asks; equal messages get equal replies."""
        last = messages[-1]
        if last.purpose in {"introduction", "part"}:
            return _make_reply(READY)
        document = "".join(message.carries for message in messages if message.purpose in {"introduction", "part"})
        if last.purpose == "summary-request":
            return _make_reply(summarise_document(document))
        question = _strip_introduced_names(last.carries or last.content, messages)
        sentences = _find_best_sentences(document, question)
        return _make_reply(
            _format_quotes_or_silence_reply(document, sentences),
            tuple(Passage(sentence.text, sentence.label) for sentence in sentences),
        )


def _make_reply(text: str, passages: tuple[Passage, ...] = ()) -> Reply:
    return Reply(text, model=MODEL, passages=passages)


def _strip_introduced_names(question: str, messages: Sequence[Message]) -> str:
    """Return the question without the names that introduced the document ("Does ACME …", "… the GDPR fines").

    They say whose document it is, not what is asked about it, and where the document says "we" they would outweigh
    every other word.
    """
    introduced = [message for message in messages if message.purpose == "introduction"]
    own_words = " ".join(message.content.replace(message.carries or "\0", " ") for message in introduced)
    names = set(_NAME.findall(own_words))
    return _NAME.sub(lambda name: "" if name.group() in names else name.group(), question)


def quote_answer_from_document(document_text: str, question: str) -> str:
    """Quote the sentences of the document that match the question best, or say that there are none."""
    return _format_quotes_or_silence_reply(document_text, _find_best_sentences(document_text, question))


def _find_best_sentences(document_text: str, question: str) -> list[Sentence]:
    return (
        []
        if document_text.strip() in {"", NO_SUMMARY}
        else _build_sentence_index(document_text).find_answering_sentences(question)
    )


def _format_quotes_or_silence_reply(document_text: str, sentences: Iterable[Sentence]) -> str:
    if not document_text.strip():
        return UNKNOWN
    lines, lead = [], ""
    for sentence in sentences:
        before = f'"{sentence.lead}" ' if sentence.lead not in {"", lead} else ""
        lines.append(f'{before}"{sentence.text}"{_format_section_label(sentence.label, "()")}')
        lead = sentence.lead
    return "\n".join(lines) or language_for_search_or_english(document_text).not_said


def summarise_document(document_text: str) -> str:
    """Return about 350 words in the document's own sentences, in its order, as a list, each with its section."""
    if not document_text.strip():
        return NO_SUMMARY
    chosen = _build_sentence_index(document_text).choose_central_sentences(SUMMARY_WORDS)
    return (
        "\n".join(f"- {sentence.text}{_format_section_label(sentence.label, '[]')}" for sentence in chosen)
        or NO_SUMMARY
    )


def _format_section_label(label: str, brackets: str) -> str:
    return f" {brackets[0]}{label}{brackets[1]}" if label else ""


@dataclass(frozen=True)
class Sentence:
    """A sentence or list item of the document, with its section if known."""

    text: str
    label: str
    title: str
    section: int
    """Position of the section in the document, -1 before the first."""
    lead: str
    """Lead-in of a list item: "We keep:"."""
    start: int
    """Its first character's place in the document."""
    end: int
    """The place behind its last one."""


def split_sentences(document_text: str) -> list[Sentence]:
    """Return the sentences of a document in order, as they read.

    Headings are none, nor are the words that lead in a list.
    """
    sections, language = find_sections(document_text), language_for_search_or_english(document_text)
    reading = read_markdown(document_text)
    starts = [reading.plain_position(section.start) for section in sections]
    sentences: list[Sentence] = []
    lead, led_by, before = "", "", ""
    for start, end, mark in _paragraph_and_item_bounds_and_marks(reading.text, set(starts)):
        if mark != before and sentences and sentences[-1].text.endswith(":"):
            lead, led_by = sentences.pop().text, before
        elif mark in {"", led_by}:
            lead = ""
        before = mark
        for first, last in _sentence_bounds(reading.text, start, end, language):
            at = bisect_right(starts, first) - 1
            label, title = (sections[at].label, sections[at].title) if at >= 0 else ("", "")
            sentences.append(
                Sentence(reading.text[first:last], label, title, at, lead, *reading.source_span(first, last))
            )
    return sentences


def _paragraph_and_item_bounds_and_marks(document: str, heading_starts: set[int]) -> list[tuple[int, int, str]]:
    """Return start, end and mark ("-", "1.", "(a)", none) of every paragraph and list item; headings are left out."""
    blocks: list[tuple[int, int, str]] = []
    goes_on = False
    for line in re.finditer(r"^.*$", document, re.MULTILINE):
        text, bullet = line.group(), _BULLET.match(line.group())
        start, end = line.start(), line.start() + len(text.rstrip())
        heading = text.startswith("#") or (start in heading_starts and not _END.search(text))
        if heading or not WORD.search(text):
            goes_on = False
        elif goes_on and not bullet:
            blocks[-1] = (blocks[-1][0], end, blocks[-1][2])
        else:
            mark = re.sub("[a-z]+", "a", re.sub("[0-9]+", "1", bullet.group().strip())) if bullet else ""
            blocks.append((start + (bullet.end() if bullet else len(text) - len(text.lstrip())), end, mark))
            goes_on = True
    return blocks


def _sentence_bounds(document: str, start: int, end: int, language: Language) -> Iterable[tuple[int, int]]:
    short = rf"(?<![^\s(])(?:{language.abbreviations})"
    block = document[start:end]
    ends = [
        mark.end()
        for mark in _END.finditer(document, start, end)
        if is_mark_end_of_sentence(block, mark.start() - start, short, language)
    ]
    for before, after in pairwise([start, *ends, end]):
        text = document[before:after]
        if WORD.search(text):
            yield before + len(text) - len(text.lstrip()), after


@lru_cache(maxsize=16)
def _build_sentence_index(document_text: str) -> SearchableSentences:
    return SearchableSentences(document_text)


class SearchableSentences:
    """The sentences of one document, ready to be searched."""

    def __init__(self, document: str) -> None:
        self._language = language_for_search_or_english(document)
        # One or two words ("Overview.", "crash logs") answer nothing, but score high for being short.
        self.sentences = [
            sentence
            for sentence in split_sentences(document)
            if count_words(sentence.text, HALF) > 2 and self._content_word_stems(sentence.text)  # noqa: PLR2004
        ]
        self._words = [self._content_word_stems(sentence.text) for sentence in self.sentences]
        # A sentence is found by the words of its section's title, and of its list's lead-in, as well as by its own.
        self._search_words = [
            self._content_word_stems(f"{sentence.text} {sentence.title} {sentence.lead}") for sentence in self.sentences
        ]
        self._sentence_counts = Counter(word for words in self._search_words for word in set(words))

    def _content_word_stems(self, text: str) -> list[str]:
        return stem_content_words(text, self._language)

    @cached_property
    def _sentence_bm25_index(self) -> Any:
        return build_bm25_index(self._search_words)

    @cached_property
    def _passage_bm25_index(self) -> Any:
        return build_bm25_index(
            [self._words_of_sentence_and_neighbours(position) for position in range(len(self.sentences))]
        )

    def _words_of_sentence_and_neighbours(self, position: int) -> list[str]:
        """Return the words of a sentence and of its neighbours in the same section."""
        section = self.sentences[position].section
        around = range(max(0, position - NEIGHBOURS), min(len(self.sentences), position + NEIGHBOURS + 1))
        neighbours = [near for near in around if near != position and self.sentences[near].section == section]
        return self._search_words[position] + [word for near in neighbours for word in self._words[near]]

    def find_answering_sentences(self, question: str) -> list[Sentence]:
        """Return up to three sentences that answer the question, in the document's order; none if it seems silent."""
        words = stem_question_words(question, self._language, self._sentence_counts)
        if not words or not self.sentences:
            return []
        scores = (
            self._sentence_bm25_index.get_scores(words) + PASSAGE_WEIGHT * self._passage_bm25_index.get_scores(words)
        ).tolist()
        ranked = sorted(range(len(scores)), key=lambda position: -scores[position])
        chosen = [position for position in ranked[:QUOTES] if scores[position] >= NEAR_BEST * scores[ranked[0]]]
        if max(self._matched_share_of_question(words, position) for position in chosen) < SHARE_NEEDED:
            return []
        return [self.sentences[position] for position in sorted(chosen)]

    def _matched_share_of_question(self, question_words: list[str], sentence_position: int) -> float:
        """Return the share of the question that a sentence has: 0 to 1, rare words counting more."""
        matched_weight = sum(
            self._word_rarity(word) for word in question_words if word in self._search_words[sentence_position]
        )
        return matched_weight / sum(map(self._word_rarity, question_words))

    def _word_rarity(self, word: str) -> float:
        sentences_with_word = self._sentence_counts[word]
        return math.log(1 + (len(self.sentences) - sentences_with_word + 0.5) / (sentences_with_word + 0.5))

    def choose_central_sentences(self, word_budget: int) -> list[Sentence]:
        """Choose sentences of about `word_budget` words in all: from each stretch of the document the most central one.

        Central is the sentence whose words are the most frequent ones on average (SumBasic, Nenkova and Vanderwende
        2005); a word that was chosen counts for less afterwards, so that the next sentence says something else.
        """
        candidates = [at for at, sentence in enumerate(self.sentences) if _is_summary_sentence(sentence.text)]
        candidates = candidates or list(range(len(self.sentences)))
        lengths = [count_words(self.sentences[at].text, HALF) for at in candidates]
        stretches = min(len(candidates), max(1, round(word_budget * len(candidates) / max(1, sum(lengths)))))
        total = self._sentence_counts.total()
        weight = {word: count / total for word, count in self._sentence_counts.items()}
        chosen: list[Sentence] = []
        for number in range(stretches):
            stretch = candidates[number * len(candidates) // stretches : (number + 1) * len(candidates) // stretches]
            best = max(stretch, key=lambda at: sum(weight[word] for word in self._words[at]) / len(self._words[at]))
            for word in self._words[best]:
                weight[word] **= 2
            chosen.append(self.sentences[best])
        return chosen


def _is_summary_sentence(text: str) -> bool:
    """Tell whether a sentence can stand alone in a summary: neither a fragment, nor a list's lead-in, nor endless."""
    begun = text[0].isalpha() and not text[0].islower()
    ended = text[-1] in f"{ENDS}{STOPS}".replace("?", "")
    return ended and begun and 8 <= count_words(text, HALF) <= 50  # noqa: PLR2004 - words, by eye
