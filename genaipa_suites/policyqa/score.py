"""PolicyQA's scores: SQuAD v1.1's exact match and F1, the place of an answer in its segment, and measures made of both.

A place is word for word, but for case and signs, nearly, or nowhere: each rung's share is a measure.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

from genaipa_suites.measure import Measure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from genaipa_suites.material import Outcome

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


VERBATIM, FOLDED, FUZZY, ABSENT, EMPTY = "verbatim", "folded", "fuzzy", "absent", "empty"
RUNGS = (VERBATIM, FOLDED, FUZZY, ABSENT, EMPTY)
ONE_IN = 5
"""A nearly verbatim answer may differ from the segment in one of this many words."""
_QUOTES, _DOUBLE = "\u2018\u2019\u201a\u201b\u2032`\u00b4", "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"
_DASHES, _UNSEEN = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_SIGNS = str.maketrans(
    dict.fromkeys(_QUOTES, "'") | dict.fromkeys(_DOUBLE, '"') | dict.fromkeys(_DASHES, "-") | dict.fromkeys(_UNSEEN, "")
)


class Span(NamedTuple):
    """A stretch of a segment, and how an answer was found to be it (one of RUNGS). No text for ABSENT and EMPTY."""

    found: str
    text: str


def find(answer: str, segment: str) -> Span:
    """The stretch of the segment that an answer repeats.

    VERBATIM: as it stands, but for blanks around it. FOLDED: but for case, blanks, and the typography of quotation
    marks, dashes and letters. FUZZY: but for punctuation and articles, as SQuAD's metric compares, and for one word in
    five that is put in, left out or another. EMPTY is an answer without a word.
    """
    answer = answer.strip()
    wanted = _folded(answer)[0].strip()
    # Of signs that nobody sees nothing is left, which would be found anywhere.
    if not words_of(answer) or not wanted:
        return Span(EMPTY, "")
    if answer in segment:
        return Span(VERBATIM, answer)
    letters, places = _folded(segment)
    begin = letters.find(wanted)
    if begin >= 0:
        return Span(FOLDED, segment[places[begin] : places[begin + len(wanted) - 1] + 1])
    # A curly quotation mark is a word to SQuAD's metric, and none once it is folded.
    nearest = _nearest(words_of(wanted), _words(segment)) if words_of(wanted) else None
    return Span(FUZZY, segment[nearest[0] : nearest[1]]) if nearest else Span(ABSENT, "")


@lru_cache(maxsize=4096)
def _letters(character: str) -> str:
    return unicodedata.normalize("NFKC", character.translate(_SIGNS)).casefold()


@lru_cache(maxsize=256)
def _folded(text: str) -> tuple[str, list[int]]:
    """The folded text, and for each of its characters the place that it comes from."""
    letters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for letter in _letters(character):
            blank = letter.isspace()
            if blank and letters and letters[-1] == " ":
                continue
            letters.append(" " if blank else letter)
            places.append(place)
    return "".join(letters), places


@lru_cache(maxsize=256)
def _words(segment: str) -> list[tuple[str, int, int]]:
    """The words of a segment as they are compared, each with its begin and end."""
    found = ((words_of(_folded(word[0])[0]), *word.span()) for word in re.finditer(r"\S+", segment))
    return [("".join(words), begin, end) for words, begin, end in found if words]


def _nearest(wanted: list[str], words: list[tuple[str, int, int]]) -> tuple[int, int] | None:
    """Begin and end of the stretch with the fewest edits by whole words (Sellers 1980); None if these are too many."""
    allowed = len(wanted) // ONE_IN
    if sum((Counter(wanted) & Counter(word for word, _, _ in words)).values()) < len(wanted) - allowed:
        return None
    # A cell is edits * unit**2 - matches * unit - begin: its minimum has the fewest edits, then the most words that
    # match, then the latest begin. Cells outside low to high have too many edits already.
    unit = len(words) + len(wanted) + 1
    edit, match, limit = unit * unit, -unit, allowed * unit * unit
    row, low, high = [-begin for begin in range(len(words) + 1)], 0, len(words)
    for word in wanted:
        above, row = row, [limit + edit] * len(row)
        for place in range(low, len(row)):
            left = row[place - 1] if place > low else limit + edit
            if place > high + 1 and left > limit:
                break
            same = match if place and word == words[place - 1][0] else edit
            row[place] = min(above[place] + edit, left + edit, above[place - 1] + same if place else limit + edit)
        alive = [place for place, cell in enumerate(row) if cell <= limit]
        if not alive:
            return None
        low, high = alive[0], alive[-1]
    rest = min(row)
    begin = -rest % unit
    return words[begin][1], words[row.index(rest) - 1][2]


_EM, _F1 = 0, 1


def _as_said(outcome: Outcome, which: int) -> tuple[float, float]:
    """(score, 1) of an answer as it was said, in the segment or not; (0, 1) without one."""
    said = outcome.given.prediction
    return best(said["answer"], outcome.item.gold)[which] if said is not None else 0.0, 1.0


def _found(outcome: Outcome, which: int, rungs: Sequence[str]) -> tuple[float, float]:
    """(score, 1) of the stretch of the segment that an answer was found to be on one of the rungs, (0, 1) of others."""
    said = outcome.given.prediction
    right = said is not None and said["found"] in rungs
    return best(said["span"], outcome.item.gold)[which] if right else 0.0, 1.0


def _share(outcome: Outcome, rung: str) -> tuple[float, float]:
    said = outcome.given.prediction
    return float(said is not None and said["found"] == rung), 1.0


def _pair(
    ending: str, heading: str, counts: Callable[..., Sequence[float]], definition: str
) -> tuple[Measure, Measure]:
    return (
        Measure(f"f1_{ending}", f"F1 {heading}", f"SQuAD v1.1 F1 {definition}", partial(counts, which=_F1)),
        Measure(f"em_{ending}", f"EM {heading}", f"SQuAD v1.1 exact match {definition}", partial(counts, which=_EM)),
    )


_OFFICIAL = "of the answer as it was said: maximum over the references, mean over the examples."
_VERBATIM = "of answers that are in the segment word for word; any other scores 0."
_FOLDED = "also of the stretch of the segment that an answer is but for case, blanks and typography."
_FUZZY = "also of the stretch that an answer is but for punctuation, articles and one word in five."
MEASURES = (
    Measure("f1_squad", "F1 (SQuAD)", f"SQuAD v1.1 F1 {_OFFICIAL}", partial(_as_said, which=_F1)),
    Measure("em", "EM (SQuAD)", f"SQuAD v1.1 exact match {_OFFICIAL}", partial(_as_said, which=_EM)),
    *_pair("verbatim", "verbatim", partial(_found, rungs=(VERBATIM,)), _VERBATIM),
    *_pair("folded", "folded", partial(_found, rungs=(VERBATIM, FOLDED)), _FOLDED),
    *_pair("fuzzy", "fuzzy", partial(_found, rungs=(VERBATIM, FOLDED, FUZZY)), _FUZZY),
    *(
        Measure(f"share_{rung}", heading, definition, partial(_share, rung=rung))
        for rung, heading, definition in (
            (VERBATIM, "verbatim", "Share of replies whose answer is in the segment word for word."),
            (FOLDED, "folded", "Share of replies whose answer is in the segment but for case, blanks and typography."),
            (FUZZY, "fuzzy", "Share of replies whose answer is nearly in it: punctuation, articles, one word in five."),
            (ABSENT, "not in the text", "Share of replies whose answer is not in the segment."),
            (EMPTY, "empty", "Share of replies whose answer has no word."),
        )
    ),
)
