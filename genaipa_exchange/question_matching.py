"""Which question of a set a message asks: in its very words, in the same words, or, for a person to accept, nearly."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Literal, NamedTuple

from genaipa.questions.sets import WORDINGS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.questions.sets import QuestionSet, Wording

LEAST_SIMILAR = 70
"""Per cent of similarity from which on a message is shown as close to a question, and can be accepted."""
_CANDIDATES = 5
"""Questions with the most words in common, that a message is compared with."""
_LONGEST = 3
"""Times as long as a question, and a longer message asks something else."""


class QuestionMatch(NamedTuple):
    """A question of a set in one of its wordings, and the text that asks it: how, and how similar, in per cent."""

    question: str
    wording: Wording
    asked: str
    how: Literal["exact", "same words", "close"] = "exact"
    similarity: int = 100


class QuestionMatcher:
    """The questions of a set about a company, in all wordings, to be found in messages."""

    def __init__(self, questions: QuestionSet, company: str) -> None:
        self._exact: dict[str, tuple[str, Wording]] = {}
        self._normalized: dict[str, tuple[str, Wording]] = {}
        self._by_word: defaultdict[str, set[str]] = defaultdict(set)
        names = (company, questions.placeholder, questions.placeholder.strip("[]<>{} "))
        for wording, question in ((wording, question) for wording in WORDINGS for question in questions.questions):
            if WORDINGS.index(wording) > len(question.paraphrases):
                continue
            for name in names:
                text = questions.question_text(question.id, wording, name)
                self._exact.setdefault(text.strip(), (question.id, wording))
                self._normalized.setdefault(normalize_words(text), (question.id, wording))
        for text in self._normalized:
            for word in text.split():
                self._by_word[word].add(text)
        self._longest = _LONGEST * max(map(len, self._normalized), default=0)

    def find_best_match(self, texts: Iterable[str]) -> QuestionMatch | None:
        """Return the best match of several texts that may be the question; None if none is close to any."""
        texts = [text.strip() for text in texts if text.strip()]
        for text in texts:
            if text in self._exact:
                return QuestionMatch(*self._exact[text], text)
        words = {normalize_words(text): text for text in texts if len(text) <= 2 * self._longest}
        for normalized, text in words.items():
            if normalized in self._normalized:
                return QuestionMatch(*self._normalized[normalized], text, "same words")
        matches = filter(None, (self._find_close_match(normalized, text) for normalized, text in words.items()))
        return max(matches, key=lambda match: match.similarity, default=None)

    def _find_close_match(self, normalized_text: str, original_text: str) -> QuestionMatch | None:
        if not normalized_text or len(normalized_text) > self._longest:
            return None
        shared = Counter(
            question_text for word in {*normalized_text.split()} for question_text in self._by_word.get(word, ())
        )
        likely = [
            question_text
            for question_text, count in shared.most_common(_CANDIDATES)
            if 2 * count >= len(question_text.split())
        ]
        candidates = (
            (_measure_similarity_percent(normalized_text, question_text), question_text) for question_text in likely
        )
        similarity, question_text = max(candidates, default=(0, ""))
        if similarity < LEAST_SIMILAR:
            return None
        return QuestionMatch(*self._normalized[question_text], original_text, "close", similarity)


def _measure_similarity_percent(normalized_text: str, question_text: str) -> int:
    """Return the similarity of two texts in whole per cent, rounded down: 100 is for the same words alone."""
    matcher = SequenceMatcher(None, normalized_text, question_text, autojunk=False)
    return min(99, int(100 * matcher.ratio())) if matcher.quick_ratio() * 100 >= LEAST_SIMILAR else 0


def normalize_words(text: str) -> str:
    """Return a text's letters and digits, in lower case, its words with a blank between."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))
