"""Tell whether an answer speaks of what was asked: whether it shares a content word with the question.

Words are those of a search (`policies.search`): without endings, stop words, and what any question is made of. A
question has the words of all wordings that its set has for it, so that what one calls sharing another may call selling.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from genaipa.languages.catalog import LANGUAGES, language_to_read_reply
from genaipa.languages.language import STOPS, expression
from genaipa.policies.search import stem_content_words, stem_question_words
from genaipa.scoring.evidence.word_classes import OTHER, classify_words_to_letters_and_spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.languages.language import Language, SilenceRules
    from genaipa.policies.document import Document

Span = tuple[int, int]

_SENTENCE = re.compile(rf"(?:[^.!?\n{STOPS}]|[.!?](?=\S))+")
_MANY = 8
"""Questions of a set, from which on words that most have say nothing of any."""
_COMMON = 0.25
"""Share of a set's questions beyond which a word says nothing of any."""
_STEM, _ENDING = 3, 2
"""Letters that two forms of a word share at least, and that one may have more: "opt", "opted"."""
_PART = 5
"""Letters of a word that is found within another: "Schulungen", "geschult"."""
_NAMES = f"{OTHER}cLD"
"""Classes of words that name something: whose deeds, limits, and deeds are, as well as words of none."""


class QuestionWordings(NamedTuple):
    """A question: every wording that its set has for it, and all questions of the set, each with its wordings."""

    wordings: tuple[str, ...]
    all_questions: tuple[str, ...] = ()


def shares_word_with_question(reply: str, question: QuestionWordings, document: Document) -> bool | None:
    """Whether a reply has a content word of the question; None where either has none, or they are in two languages."""
    language = _find_language_shared_with_question(reply, question, document)
    if language is None:
        return None
    names = set(stem_content_words(document.company, language))
    if language.silence:
        # Whether it says yes or no first.
        first = expression(rf"\W*{language.silence.answered}", re.IGNORECASE).match(reply)
        reply = reply[first.end() :] if first else reply
    stated, wanted = (set(stem_content_words(text, language)) - names for text in (reply, "\n".join(question.wordings)))
    return _have_related_words(stated, wanted, language) if stated and wanted else None


def denials_concern_question(
    reply: str, denials: Sequence[Span], question: QuestionWordings, document: Document
) -> bool | None:
    """Tell whether denials in a reply are of the question asked; None for a reply in another language.

    "The policy does not say." names nothing, and so denies what was asked. What names something has to share a word
    with the question that most others of its set have not.
    """
    language = _find_language_shared_with_question(reply, question, document)
    if language is None:
        return None
    if not language.silence or not language.silence.classes:
        return True
    common = _find_words_common_to_questions(question.all_questions, language.code) | set(
        stem_content_words(document.company, language)
    )
    wanted = set(stem_content_words("\n".join(question.wordings), language)) - common
    starts = sorted(start for start, _ in denials)
    denying = [
        sentence.group()
        for sentence in _SENTENCE.finditer(reply)
        if bisect_left(starts, sentence.start()) < bisect_left(starts, sentence.end())
    ]
    if _have_related_words(set(stem_content_words("\n".join(denying), language)) - common, wanted, language):
        return True
    named = (word for sentence in denying for word in _list_denied_subject_words(sentence, language.silence))
    return not set(stem_content_words(" ".join(named), language)) - common


def _find_language_shared_with_question(reply: str, question: QuestionWordings, document: Document) -> Language | None:
    """Find the language that a reply and a question are both in; None if they are in two, or it is not known."""
    language = language_to_read_reply(reply, document.language)
    return (
        language
        if language and language == language_to_read_reply("\n".join(question.wordings), document.language)
        else None
    )


def _list_denied_subject_words(sentence: str, rules: SilenceRules) -> list[str]:
    """List the words of a denial that name what it denies."""
    letters, spans = classify_words_to_letters_and_spans(sentence, rules)
    vague = expression(rules.vague, re.IGNORECASE)
    words = (sentence[slice(*span)] for letter, span in zip(letters, spans, strict=True) if letter in _NAMES)
    return [word for word in words if not vague.fullmatch(word)]


def _have_related_words(reply_words: set[str], question_words: set[str], language: Language) -> bool:
    """Whether two sets of words have one in common, up to an ending or as a part of a compound."""
    if reply_words & question_words:
        return True
    if any(_are_related_words(first, second) for first in reply_words for second in question_words):
        return True
    # Of a compound each part is looked for by itself.
    compound_parts = (
        stem_question_words(" ".join(first), language, second)
        for first, second in ((reply_words, question_words), (question_words, reply_words))
    )
    return any({*parts} & second for parts, second in zip(compound_parts, (question_words, reply_words), strict=True))


def _are_related_words(first_word: str, second_word: str) -> bool:
    short, long = sorted((first_word, second_word), key=len)
    begins = len(short) >= _STEM and len(long) - len(short) <= _ENDING and long.startswith(short)
    return begins or (len(short) >= _PART and short in long)


@lru_cache(maxsize=64)
def _find_words_common_to_questions(questions: tuple[str, ...], language_code: str) -> frozenset[str]:
    """Find the words that many questions of a set have; none in a set of few."""
    counts = Counter(
        word for wordings in questions for word in set(stem_content_words(wordings, LANGUAGES[language_code]))
    )
    threshold = _COMMON * len(questions)
    return frozenset(word for word, count in counts.items() if len(questions) >= _MANY and count > threshold)
