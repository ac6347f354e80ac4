"""SQuAD v1.1's exact match and F1, and PolicyQA's measures made of them."""

from __future__ import annotations

import re
import string
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_PUNCTUATION = str.maketrans("", "", string.punctuation)
MISPLACED = ("too long", "too short", "overlapping", "elsewhere")
"""Errors of an answer that is in its segment, as it lies to the nearest reference."""
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def words_of(text: str) -> list[str]:
    """Words as SQuAD v1.1 compares them: lower case, then no ASCII punctuation, then no articles, then no blanks.

    >>> words_of("The opt-out, or “an option”")
    ['optout', 'or', '“', 'option”']
    """
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


@lru_cache(maxsize=1 << 15)
def squad(answer: str, reference: str) -> tuple[float, float]:
    """(exact match, F1) of an answer and one reference, each 0 to 1, as the official script has them.

    Of two texts without a word, as it compares words, the match is 1 and F1 is 0.
    """
    said, gold = words_of(answer), words_of(reference)
    common = sum((Counter(said) & Counter(gold)).values())
    return float(said == gold), 2 * common / (len(said) + len(gold)) if common else 0.0


def best(answer: str, references: Sequence[str]) -> tuple[float, float]:
    """(exact match, F1) of an answer, each its maximum over the references."""
    each = [squad(answer, reference) for reference in references]
    return max(match for match, _ in each), max(f1 for _, f1 in each)


def between_people(references: Sequence[str]) -> tuple[float, float]:
    """(exact match, F1) of a reference against the others, as a mean over each of the two or more references."""
    each = [best(one, [*references[:place], *references[place + 1 :]]) for place, one in enumerate(references)]
    return sum(match for match, _ in each) / len(each), sum(f1 for _, f1 in each) / len(each)


def misplaced(answer: str, references: Sequence[str]) -> str:
    """The error of an answer (one of MISPLACED) by the reference with the highest F1; empty for an exact match."""
    match, f1 = best(answer, references)
    if match or not f1:
        return "" if match else "elsewhere"
    nearest = max(references, key=lambda reference: squad(answer, reference)[1])
    said, gold = (f" {' '.join(words_of(text))} " for text in (answer, nearest))
    return "too long" if gold in said else "too short" if said in gold else "overlapping"
