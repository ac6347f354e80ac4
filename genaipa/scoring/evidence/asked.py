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

from genaipa.languages.catalog import LANGUAGES, reading_language
from genaipa.languages.language import STOPS, expression
from genaipa.policies.search import content_words, question_words
from genaipa.scoring.evidence.word_classes import OTHER, classify

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


class Asked(NamedTuple):
    """A question: every wording that its set has for it, and all questions of the set, each with its wordings."""

    wordings: tuple[str, ...]
    every: tuple[str, ...] = ()


def mentions_question(reply: str, asked: Asked, document: Document) -> bool | None:
    """Whether a reply has a content word of the question; None where either has none, or they are in two languages."""
    language = _find_language(reply, asked, document)
    if language is None:
        return None
    names = set(content_words(document.company, language))
    if language.silence:
        # Whether it says yes or no first.
        first = expression(rf"\W*{language.silence.answered}", re.IGNORECASE).match(reply)
        reply = reply[first.end() :] if first else reply
    said, wanted = (set(content_words(text, language)) - names for text in (reply, "\n".join(asked.wordings)))
    return _share_word(said, wanted, language) if said and wanted else None


def denies_question(reply: str, phrases: Sequence[Span], asked: Asked, document: Document) -> bool | None:
    """Whether denials (`phrases`) in a reply are of the question asked; None for a reply in another language.

    "The policy does not say." names nothing, and so denies what was asked. What names something has to share a word
    with the question that most others of its set have not.
    """
    language = _find_language(reply, asked, document)
    if language is None:
        return None
    if not language.silence or not language.silence.classes:
        return True
    common = _find_common_words(asked.every, language.code) | set(content_words(document.company, language))
    wanted = set(content_words("\n".join(asked.wordings), language)) - common
    starts = sorted(start for start, _ in phrases)
    denying = [
        sentence.group()
        for sentence in _SENTENCE.finditer(reply)
        if bisect_left(starts, sentence.start()) < bisect_left(starts, sentence.end())
    ]
    if _share_word(set(content_words("\n".join(denying), language)) - common, wanted, language):
        return True
    named = (word for sentence in denying for word in _list_names(sentence, language.silence))
    return not set(content_words(" ".join(named), language)) - common


def _find_language(reply: str, asked: Asked, document: Document) -> Language | None:
    """Find the language that a reply and a question are both in; None if they are in two, or it is not known."""
    found = reading_language(reply, document.language)
    return found if found and found == reading_language("\n".join(asked.wordings), document.language) else None


def _list_names(sentence: str, rules: SilenceRules) -> list[str]:
    """List the words of a denial that name what it denies."""
    letters, places = classify(sentence, rules)
    vague = expression(rules.vague, re.IGNORECASE)
    words = (sentence[slice(*place)] for letter, place in zip(letters, places, strict=True) if letter in _NAMES)
    return [word for word in words if not vague.fullmatch(word)]


def _share_word(said: set[str], wanted: set[str], language: Language) -> bool:
    """Whether two sets of words have one in common, up to an ending or as a part of a compound."""
    if said & wanted:
        return True
    if any(_are_akin(one, other) for one in said for other in wanted):
        return True
    # Of a compound each part is looked for by itself.
    found = (question_words(" ".join(one), language, other) for one, other in ((said, wanted), (wanted, said)))
    return any({*parts} & other for parts, other in zip(found, (wanted, said), strict=True))


def _are_akin(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    begins = len(short) >= _STEM and len(long) - len(short) <= _ENDING and long.startswith(short)
    return begins or (len(short) >= _PART and short in long)


@lru_cache(maxsize=64)
def _find_common_words(every: tuple[str, ...], code: str) -> frozenset[str]:
    """Find the words that many questions of a set have; none in a set of few."""
    often = Counter(word for wordings in every for word in set(content_words(wordings, LANGUAGES[code])))
    least = _COMMON * len(every)
    return frozenset(word for word, count in often.items() if len(every) >= _MANY and count > least)
