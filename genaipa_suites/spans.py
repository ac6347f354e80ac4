"""Spans over given tokens: verbatim texts placed on them, BIO tags, and the counts that slot scores are made of.

Shared by suites that ask for spans as texts and are scored on tokens (PolicyIE, PI-Extract). One layer at a time:

    placed(tokens, texts)         # [(2, 4), None, …]: the tokens that each text stands on; None if it stands nowhere
    bio([Span(2, 4, "SHARE")], 9) # ["O", "O", "B-SHARE", "I-SHARE", "O", …]
    chunks(tags)                  # the spans of gold or predicted tags, as seqeval's default mode finds them
    counted(predicted, gold)      # (true positives, predicted, gold): add these up, and `measure.f1` is micro F1
    counted_by_label(predicted, gold)  # label → such counts: `measure.macro_f1` of them over the labels
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

Counts = tuple[int, int, int]
"""True positives, predicted, gold."""

# A double quotation mark counts as two single ones, as which it is often written.
_SAME = str.maketrans(
    dict.fromkeys("‘’‚‛′`´", "'")  # noqa: RUF001 - these are what is folded
    | dict.fromkeys('“”„‟″«»"', "''")
    | dict.fromkeys("‐‑‒–—―−", "-"),  # noqa: RUF001 - as above
)


class Span(NamedTuple):
    """Tokens from `start` up to but without `end`, and their label."""

    start: int
    end: int
    label: str


def folded(text: str) -> str:
    """A text without its blanks, quotation marks and dashes each of one form: what a copy by hand may differ in."""
    return "".join(text.split()).translate(_SAME)


def placed(
    tokens: Sequence[str], texts: Sequence[str], firsts: Sequence[int | None] = ()
) -> list[tuple[int, int] | None]:
    """For each text the tokens that it stands on (first, last + 1), or None if it stands nowhere (any more).

    The texts are taken in their order, which should be that of appearance: each has the first place after the one
    before it, or, where there is none, the first in the whole sentence. No token is used twice, so that a text named
    twice has two places. A text begins and ends with a token; letters have to be the same, case included (`folded`
    says what may differ). `firsts` are the first tokens of those texts for which they are known.
    """
    each = [folded(token) for token in tokens]
    whole = "".join(each)
    begins: dict[int, int] = {}
    ends: dict[int, int] = {}
    at = 0
    for place, token in enumerate(each):
        begins[at] = place
        at += len(token)
        ends.setdefault(at, place + 1)
    used: set[int] = set()
    after = 0
    found: list[tuple[int, int] | None] = []
    for text, first in zip(texts, firsts or [None] * len(texts), strict=True):
        places = [place for place in _places(whole, folded(text), begins, ends) if used.isdisjoint(range(*place))]
        later = (place for place in places if place[0] >= after)
        known = (place for place in places if place[0] == first)
        best = next(known, None) or next(later, None) or next(iter(places), None)
        if best:
            used.update(range(*best))
            after = best[1]
        found.append(best)
    return found


def _places(whole: str, text: str, begins: Mapping[int, int], ends: Mapping[int, int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    at = whole.find(text) if text else -1
    while at >= 0:
        if at in begins and at + len(text) in ends:
            found.append((begins[at], ends[at + len(text)]))
        at = whole.find(text, at + 1)
    return found


def bio(spans: Iterable[Span], length: int) -> list[str]:
    """BIO tags of spans, no two sharing a token, for a sentence of N tokens; a ValueError otherwise."""
    tags = ["O"] * length
    for start, end, label in spans:
        if not 0 <= start < end <= length or tags[start:end] != ["O"] * (end - start):
            raise ValueError(f"the span {start} to {end} is empty, leaves {length} tokens or shares one with another")
        tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
    return tags


def chunks(tags: Sequence[str]) -> list[Span]:
    """The spans of BIO tags, from left to right, by conlleval's rule, which is seqeval's default mode.

    A stray I- (after O, or after another label) opens a span. A ValueError for a tag that is neither O, B- nor I-.
    """
    found: list[Span] = []
    start, label = 0, ""
    for place, tag in enumerate([*tags, "O"]):
        form, _, name = tag.partition("-")
        if (form, name) != ("O", "") and (form not in ("B", "I") or not name):
            raise ValueError(f"'{tag}' is no BIO tag")
        if label and (form != "I" or name != label):
            found.append(Span(start, place, label))
            label = ""
        if name and not label:
            start, label = place, name
    return found


def counted(predicted: Collection[Hashable], gold: Collection[Hashable]) -> Counts:
    """(true positives, predicted, gold) of one sentence; a thing given twice is right as often as it is in the gold."""
    right = Counter(predicted) & Counter(gold)
    return right.total(), len(predicted), len(gold)


def counted_by_label(predicted: Collection[Span], gold: Collection[Span]) -> dict[str, Counts]:
    """Label → (true positives, predicted, gold) of one sentence, for labels that are predicted or gold in it."""
    labels = sorted({span.label for span in (*predicted, *gold)})
    return {
        label: counted(
            [span for span in predicted if span.label == label], [span for span in gold if span.label == label]
        )
        for label in labels
    }
