"""Tell a reply that says nothing of its question: one without words, and one that refuses in words, and only that."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from genaipa.languages.catalog import ENGLISH, LANGUAGES
from genaipa.languages.language import NEVER, STOPS, compile_lowercase_pattern, lowercase_keeping_positions
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


def is_empty_or_refusal(reply: str, language: str = ENGLISH.code) -> bool:
    """Tell whether a reply about a document in a `language` has no words, or refuses in words and adds no answer.

    It is read by the rules of the document's language and of English, in which assistants often refuse.
    """
    if not _HAS_WORDS.search(reply):
        return True
    if len(reply) > _LONGEST:
        return False
    return any(_test_refusal_in_each_language(lowercase_keeping_positions(reply), language))


def is_opening_an_answer(opening: str, language: str) -> bool:
    """Tell whether the first sentence of a reply, in small letters, says something, so that the reply does."""
    return all(refusal is False for refusal in _test_refusal_in_each_language(opening, language))


def _test_refusal_in_each_language(lower_reply: str, language: str) -> Iterator[bool | None]:
    """Yield whether a reply refuses by the rules of the document's language and of English."""
    plain = lower_reply.replace("\u2019", "'")
    for spoken in (LANGUAGES[code] for code in dict.fromkeys((language, ENGLISH.code)) if code in LANGUAGES):
        if spoken.refusals is not None:
            yield _is_refusal_or_none_if_all_asides(plain, spoken, spoken.refusals)


def _is_refusal_or_none_if_all_asides(reply: str, language: Language, rules: RefusalRules) -> bool | None:
    """Tell whether some clause refuses, and every other is an aside; none says that the document is not known.

    None if all are asides.
    """
    refused, unknown = False, language.silence.unknown if language.silence else NEVER
    for clause in _split_clauses(reply, rules):
        refusal = compile_lowercase_pattern(rules.refuses).search(clause)
        if refusal and not _has_match(rules.grounded, clause) and not _has_match(unknown, clause[: refusal.start()]):
            if any(_tells_of_document(part, rules) for part in clause[refusal.end() :].split(",")[1:]):
                return False
            refused = True
        elif count_words(clause, HALF) >= _COURTESY and (
            _has_match(unknown, clause) or not _is_side_remark(clause, rules)
        ):
            return False
    return refused or None


def _tells_of_document(clause_part: str, rules: RefusalRules) -> bool:
    """Tell whether what follows a refusal behind a comma tells of the document: "while I can't advise you, it says"."""
    return (
        count_words(clause_part, HALF) > _COURTESY
        and _has_match(rules.text, clause_part)
        and not _is_side_remark(clause_part, rules)
    )


def _split_clauses(reply: str, rules: RefusalRules) -> Iterator[str]:
    """Yield the clauses of a reply's sentences, without its questions."""
    for sentence in _SENTENCE.finditer(reply):
        if reply[sentence.end() : sentence.end() + 1] not in {"?", "\uff1f"}:
            yield from compile_lowercase_pattern(f"{rules.breaks}|{_MARKS}").split(sentence.group())


def _is_side_remark(clause: str, rules: RefusalRules) -> bool:
    """Tell whether a clause only advises, offers or excuses, or speaks of nobody but the assistant."""
    return _has_match(rules.aside, clause) or (_has_match(rules.oneself, clause) and not _has_match(rules.text, clause))


def _has_match(pattern: str, text: str) -> bool:
    return compile_lowercase_pattern(pattern).search(text) is not None
