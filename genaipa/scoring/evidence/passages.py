"""Place the passages that a system retrieved in a document, and count the right sections that they show.

Each is placed by rule, as quotations are: word for word, up to typography and line breaks, nearly, or not at all. A
summary or a translation is not in the document.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from functools import cache, cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from genaipa.errors import GenaipaError
from genaipa.policies.reading import read
from genaipa.policies.search import token
from genaipa.scoring.evidence.examine import annotated_targets
from genaipa.scoring.evidence.quotations import NEAR, WORDS, fold, index_text, literal
from genaipa.scoring.evidence.section_finder import shares
from genaipa.scoring.evidence.support import sentence_spans, supporting_sentences

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from genaipa.policies.document import Document
    from genaipa.runs.inputs import Inputs
    from genaipa.scoring.evidence.quotations import Match, Span
    from genaipa.systems.base import Passage

_RUN = 4  # words in a row by which a near match, or another document, is found
_KNOWN = 0.2  # share of a passage's runs of words that the document has, if it is nearly in it
_SAME = 0.5  # share of them that another document has, if the passage is of that one
_LONGEST = 10_000  # words of a passage for which a near match is sought
_DOCUMENTS = 32  # whose indices are kept; ten times as many are searched for passages that are elsewhere
_WORD = re.compile(r"[^\W_]+")
_LEFT_OUT = re.compile(r"\u2026|\.{3}|\. \. \.|\[")


class Placed(NamedTuple):
    """A passage's match with a document, and its span there; None if it is not in this document."""

    match: Match
    span: Span | None


class PassageFinder:
    """Places passages in one document's text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.place = cache(self._place)  # a retriever gives the same passages again and again

    def _place(self, passage: str) -> Placed:
        """Place a passage; a chunk may begin and end within a word."""
        sought = passage.strip()
        exact = self._text.find(sought)
        if exact >= 0 and sought:
            return Placed("exact", (exact, exact + len(sought)))
        sought = " ".join(sought.split())
        words = _words(sought)
        places = [place for run in _runs(words) if (place := self._runs.get(run)) is not None]
        if not words or len(places) < _KNOWN * (len(words) - _RUN + 1):
            return _NOWHERE  # as most that is not here, and found out in no time
        folded = self._folded(sought, words)
        if folded:
            return Placed("normalised", folded)
        span = self._near(words)
        return Placed("near", span) if span else _NOWHERE

    def _folded(self, sought: str, words: list[str]) -> Span | None:
        """Find a passage up to typography, perhaps without its first and last word, which a chunk may have cut."""
        document = index_text(self._text)
        found = document.find_letters("".join(words)) or document.find_letters("".join(words[1:-1]))
        if not found and _LEFT_OUT.search(sought):
            ellipsis = literal(sought, self._text)
            return ellipsis and ellipsis[1]
        return found

    @cached_property
    def _runs(self) -> dict[tuple[str, ...], int]:
        """Run of words → its first place among the words."""
        words = index_text(self._text).words
        found: dict[tuple[str, ...], int] = {}
        for place, run in enumerate(_runs(words)):
            found.setdefault(run, place)
        return found

    def _near(self, words: list[str]) -> Span | None:
        """Find the passage of the document that has nearly these words, in this order."""
        from rapidfuzz.distance import LCSseq

        if not WORDS <= len(words) <= _LONGEST:
            return None
        places = ((self._runs.get(run), here) for here, run in enumerate(_runs(words)))
        begins = Counter((place - here) // len(words) for place, here in places if place is not None)
        if not begins:
            return None
        begin = max(begins, key=lambda block: begins[block] + begins[block + 1]) * len(words)
        document, first = index_text(self._text), max(0, begin - len(words) // 2)
        window = document.words[first : begin + 3 * len(words)]
        blocks = [block for block in LCSseq.opcodes(words, window) if block.tag == "equal"]
        # Words that stand alone, perhaps far from the others, say nothing about its ends.
        blocks = [block for block in blocks if block.src_end - block.src_start >= _RUN - 1]
        if not blocks:
            return None
        begun = max(0, blocks[0].dest_start - blocks[0].src_start)
        ended = min(len(window), blocks[-1].dest_end + len(words) - blocks[-1].src_end)
        same = LCSseq.similarity(words, window[begun:ended])
        if 200 * same < NEAR * (len(words) + ended - begun):
            return None
        return document.spans[first + begun][0], document.spans[first + ended - 1][1]


_NOWHERE = Placed("none", None)


@lru_cache(maxsize=8)
def passage_finder(text: str) -> PassageFinder:
    """The finder of a document's text, kept as long as few others are asked for."""
    return PassageFinder(text)


def _words(text: str) -> list[str]:
    """The words of a text as it reads, folded."""
    text = read(text).text
    return _WORD.findall(text.casefold()) if text.isascii() else [fold(word) for word in token(text).findall(text)]


def _runs(words: Sequence[str]) -> Iterable[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(_RUN)), strict=False)


class OtherDocuments:
    """Tells whether a passage is of one of these texts (name → text), but for the one that was asked about."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    @cached_property
    def _having(self) -> dict[int, int]:
        """Run of words, as a number → the texts that have it, a bit each."""
        found: dict[int, int] = {}
        for number, text in enumerate(self._texts.values()):
            for run in _runs(_words(text)):
                key = hash(run)
                found[key] = found.get(key, 0) | 1 << number
        return found

    def have(self, passage: str, asked: str = "") -> bool:
        """Whether one of the texts, other than that named `asked`, has at least half of the passage's runs of words."""
        runs = [hash(run) for run in _runs(_words(passage))]
        masks = Counter(self._having.get(run, 0) for run in runs)
        bits = (1 << number for number, name in enumerate(self._texts) if name != asked)
        most = max((sum(times for mask, times in masks.items() if mask & bit) for bit in bits), default=0)
        return bool(runs) and most >= _SAME * len(runs)


class RightSections:
    """The sections of a document that an annotated answer rests on, by their sentences.

    A section is shown by a sentence of `support`, and by half of its sentences where it has none of these.
    """

    def __init__(self, document: Document, targets: Iterable[Span], support: Collection[Span] = ()) -> None:
        self._support = frozenset(support)
        sentences = sentence_spans(document.text)
        self.sections = [
            [one for one in sentences if target[0] <= one[0] and one[1] <= target[1]] or [target]
            for target in dict.fromkeys(targets)
        ]

    def has(self, passage: Span) -> bool:
        """Whether a passage has a sentence of these sections, or is of one."""
        return any(shares(sentence, passage) for sentences in self.sections for sentence in sentences)

    def shown(self, passages: Sequence[Span]) -> int:
        """Count the sections that these passages show."""
        return sum(self._is_shown(sentences, passages) for sentences in self.sections)

    def _is_shown(self, sentences: Sequence[Span], passages: Sequence[Span]) -> bool:
        covered = {sentence for sentence in sentences if _is_covered(sentence, passages)}
        known = self._support.intersection(sentences)
        return not known.isdisjoint(covered) if known else 2 * len(covered) >= len(sentences)


def _is_covered(sentence: Span, passages: Sequence[Span]) -> bool:
    """Whether the passages together have at least half of a sentence."""
    start, end = sentence
    covered, reached = 0, start
    for first, last in sorted(passages):
        covered += max(0, min(last, end) - max(first, reached))
        reached = max(reached, last)
    return 2 * covered >= end - start


class Retrieval(msgspec.Struct, frozen=True, omit_defaults=True):
    """Counts of an answer's passages, and of the sections that its annotated answer rests on.

    Of `passages`, `passages_annotated` have a sentence of these sections, `passages_elsewhere` are not in the document,
    and `passages_other` of these are in another document of the run. `sections` is how many there are, `sections_shown`
    how many the passages show, and `shown_at` the number of passages by which the first of them is shown, 0 if none is.
    `quotes` is 1 if the reply is made of its passages: at least half of its words are in runs that these have.
    """

    passages: int = 0
    passages_annotated: int = 0
    passages_elsewhere: int = 0
    passages_other: int = 0
    sections: int = 0
    sections_shown: int = 0
    shown_at: int = 0
    quotes: int = 0


def count(
    passages: Sequence[Passage],
    finder: PassageFinder,
    right: RightSections,
    others: OtherDocuments,
    asked: str = "",
    reply: str = "",
) -> Retrieval:
    """Count an answer's passages by place, and the right sections that they show; `asked` is its document's name.

    With its `reply`, tell whether it is made of its passages.
    """
    placed = [finder.place(passage.text).span for passage in passages]
    elsewhere = [passage for passage, span in zip(passages, placed, strict=True) if span is None]
    shown_at, here = 0, list[tuple[int, int]]()
    for number, span in enumerate(placed, 1):
        here += [span] if span else []
        if span and not shown_at and right.has(span) and right.shown(here):
            shown_at = number
    return Retrieval(
        passages=len(passages),
        passages_annotated=sum(right.has(span) for span in here),
        passages_elsewhere=len(elsewhere),
        passages_other=sum(others.have(passage.text, asked) for passage in elsewhere),
        sections=len(right.sections),
        sections_shown=right.shown(here),
        shown_at=shown_at,
        quotes=int(_repeats_passages(reply, passages)),
    )


def _repeats_passages(reply: str, passages: Sequence[Passage]) -> bool:
    """Whether at least half of a reply's words are in runs that its passages have."""
    words = _words(reply) if passages else []
    having = {run for passage in passages for run in _runs(_words(passage.text))}
    taken = {at + step for at, run in enumerate(_runs(words)) if run in having for step in range(_RUN)}
    return bool(words) and len(taken) >= _SAME * len(words)


class RunPassages:
    """Counts the passages of one run's answers; `corrected` goes by the corrected annotated answers."""

    def __init__(self, inputs: Inputs, *, corrected: bool = False) -> None:
        self._inputs, self._corrected = inputs, corrected
        # Of a corpus only the latest documents stay: records of one are close together.
        self._finder = lru_cache(maxsize=_DOCUMENTS)(self._make_finder)
        self._right = lru_cache(maxsize=_DOCUMENTS * 100)(self._find_right)

    def count(
        self, document: str, question: str, passages: Sequence[Passage] = (), reply: str = ""
    ) -> Retrieval | None:
        """Count the passages of an answer, which may have none; None if the document can't be read."""
        try:
            finder, right = self._finder(document), self._right(document, question)
        except GenaipaError:
            return None  # which is said elsewhere
        return count(passages, finder, right, self._others, document, reply)

    def _make_finder(self, document: str) -> PassageFinder:
        return PassageFinder(self._inputs.document(document).text)

    def _find_right(self, document: str, question: str) -> RightSections:
        about = self._inputs.document(document)
        annotated, part_set = self._inputs.annotated(document, question, corrected=self._corrected)
        if annotated is None:
            return RightSections(about, ())
        targets = annotated_targets(annotated, about, part_set)
        support = supporting_sentences(about, annotated, part_set)
        return RightSections(about, [span for _, span in targets if span], support)

    @cached_property
    def _others(self) -> OtherDocuments:
        texts = {}
        for name in islice(self._inputs.manifest.documents, _DOCUMENTS * 10):
            with suppress(GenaipaError):
                texts[name] = self._inputs.document(name).text
        return OtherDocuments(texts)
