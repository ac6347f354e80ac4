"""Tell a reply that says nothing of its question: one without words, and one that refuses in words, and only that."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from genaipa.languages.catalog import ENGLISH, LANGUAGES
from genaipa.languages.language import NEVER, STOPS, compile_lower, lower
from genaipa.policies.search import HALF, count_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.languages.language import Language, RefusalRules

_LONGEST = 1_500
"""Characters of a refusal at most: who writes more says something."""
_SENTENCE = re.compile(rf"(?:[^.!?\n{STOPS}]|[.!?](?=\S))+")
_MARKS = r"[;:\u2013\u2014\uff1b\uff1a]"
_COURTESY = 3  # words; fewer say nothing
_HAS_WORDS = re.compile(r"[^\W_]")


def says_nothing(reply: str, language: str = ENGLISH.code) -> bool:
    """Tell whether a reply about a document in a `language` has no words, or refuses in words and adds no answer.

    It is read by the rules of the document's language and of English, in which assistants often refuse.
    """
    if not _HAS_WORDS.search(reply):
        return True
    if len(reply) > _LONGEST:
        return False
    return any(_refusals(lower(reply), language))


def answers_at_once(opening: str, language: str) -> bool:
    """Tell whether the first sentence of a reply, in small letters, says something, so that the reply does."""
    return all(refusal is False for refusal in _refusals(opening, language))


def _refusals(small: str, language: str) -> Iterator[bool | None]:
    """Yield whether a reply refuses by the rules of the document's language and of English."""
    plain = small.replace("\u2019", "'")
    for known in (LANGUAGES[code] for code in dict.fromkeys((language, ENGLISH.code)) if code in LANGUAGES):
        if known.refusals is not None:
            yield _refuses(plain, known, known.refusals)


def _refuses(reply: str, language: Language, rules: RefusalRules) -> bool | None:
    """Tell whether some clause refuses, and every other is an aside; none says that the document is not known.

    None if all are asides.
    """
    refused, unknown = False, language.silence.unknown if language.silence else NEVER
    for clause in _clauses(reply, rules):
        refusal = compile_lower(rules.refuses).search(clause)
        if refusal and not _has(rules.grounded, clause) and not _has(unknown, clause[: refusal.start()]):
            if any(_asserts(part, rules) for part in clause[refusal.end() :].split(",")[1:]):
                return False
            refused = True
        elif count_words(clause, HALF) >= _COURTESY and (_has(unknown, clause) or not _is_aside(clause, rules)):
            return False
    return refused or None


def _asserts(part: str, rules: RefusalRules) -> bool:
    """Tell whether what follows a refusal behind a comma tells of the document: "while I can't advise you, it says"."""
    return count_words(part, HALF) > _COURTESY and _has(rules.text, part) and not _is_aside(part, rules)


def _clauses(reply: str, rules: RefusalRules) -> Iterator[str]:
    """Yield the clauses of a reply's sentences, without its questions."""
    for sentence in _SENTENCE.finditer(reply):
        if reply[sentence.end() : sentence.end() + 1] not in {"?", "\uff1f"}:
            yield from compile_lower(f"{rules.breaks}|{_MARKS}").split(sentence.group())


def _is_aside(clause: str, rules: RefusalRules) -> bool:
    """Tell whether a clause only advises, offers or excuses, or speaks of nobody but the assistant."""
    return _has(rules.aside, clause) or (_has(rules.oneself, clause) and not _has(rules.text, clause))


def _has(pattern: str, text: str) -> bool:
    return compile_lower(pattern).search(text) is not None
