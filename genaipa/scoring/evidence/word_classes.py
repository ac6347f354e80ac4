"""Write a sentence as the classes of its words, so that one rule holds for many wordings of the same construction.

"The policy never mentions beetles" is "xtnvx" where t is a text, n a negation and v a verb of saying. A language names
the classes and their words, and its rules are expressions over these letters.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from genaipa.languages.language import expression

if TYPE_CHECKING:
    from collections.abc import Callable

    from genaipa.languages.language import SilenceRules

    Span = tuple[int, int]

OTHER = "x"
"""A word of no class."""
_WORD = re.compile(
    r"(?:[cdjlmnst]|(?:lors|puis|jus)?qu)'(?=\w)|[^\W_]+(?:['-][^\W_]+)*'?|[,;:()\u2013\u2014\u2026]|(?<!\w)-(?!\w)",
    re.IGNORECASE,
)
_LONGEST = 120  # words of a sentence that are looked at: a reply may be one word again and again


@cache
def _make_word_classifier(rules: SilenceRules) -> Callable[[str], str]:
    """Make a function that returns the class of a word in a language: the first class that has it."""
    classes = [(letter, expression(words)) for letter, words in rules.classes.items()]

    @lru_cache(maxsize=20_000)  # a text says most of its words many times
    def classify_word(word: str) -> str:
        if not word[0].isalnum():
            return ":" if word in ":;\u2013\u2014-\u2026" else ","
        return next((letter for letter, words in classes if words.fullmatch(word)), OTHER)

    return classify_word


def classify_words_to_letters_and_spans(sentence: str, rules: SilenceRules) -> tuple[str, list[Span]]:
    """Return the classes of a sentence's words and marks, a letter each, and where they stand."""
    classify_word = _make_word_classifier(rules)
    words = list(_WORD.finditer(sentence))[:_LONGEST]
    letters = "".join([classify_word(word.group().lower()) for word in words])
    if rules.source_of:
        # "According to the policy" says whose words follow; the policy does nothing itself.
        letters = expression(rules.source_of).sub(lambda match: OTHER * len(match.group()), letters)
    return letters, [word.span() for word in words]
