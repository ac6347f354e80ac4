"""Spans over given tokens: verbatim texts placed on them, BIO tags, and the counts that slot scores are made of.

Shared by suites that ask for spans as texts and are scored on tokens (PolicyIE, PI-Extract). One layer at a time:

    locate_texts_in_tokens(tokens, texts)   # [(2, 4), None, …]: the tokens that each text stands on; None for nowhere
    bio_tags_or_raise_if_spans_overlap([Span(2, 4, "SHARE")], 9)  # ["O", "O", "B-SHARE", "I-SHARE", "O", …]
    spans_from_tags(tags)               # the spans of gold or predicted tags, as seqeval's default mode finds them
    count_right_predicted_and_gold(predicted, gold)      # (true positives, predicted, gold): add these up, and
    `measure.f1` is micro F1 count_right_predicted_gold_by_label(predicted, gold)  # label → such counts:
    `measure.macro_f1` of them over the labels
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


def drop_blanks_unify_quotes_and_dashes(text: str) -> str:
    """Return a text without blanks, its quotation marks and dashes unified: the ways in which copies by hand differ."""
    return "".join(text.split()).translate(_SAME)


def locate_texts_in_tokens(
    tokens: Sequence[str], texts: Sequence[str], first_tokens: Sequence[int | None] = ()
) -> list[tuple[int, int] | None]:
    """Return for each text the tokens that it stands on (first, last + 1), or None if it stands nowhere (any more).

    The texts are taken in their order, which should be that of appearance: each has the first place after the one
    before it, or, where there is none, the first in the whole sentence. No token is used twice, so that a text named
    twice has two places. A text begins and ends with a token; letters have to be the same, case included
    (`drop_blanks_unify_quotes_and_dashes` says what may differ). `first_tokens` are the first tokens of those texts for
    which they are known.
    """
    folded_tokens = [drop_blanks_unify_quotes_and_dashes(token) for token in tokens]
    whole = "".join(folded_tokens)
    begins: dict[int, int] = {}
    ends: dict[int, int] = {}
    at = 0
    for position, token in enumerate(folded_tokens):
        begins[at] = position
        at += len(token)
        ends.setdefault(at, position + 1)
    used: set[int] = set()
    last_end = 0
    placements: list[tuple[int, int] | None] = []
    for text, first in zip(texts, first_tokens or [None] * len(texts), strict=True):
        candidates = [
            position
            for position in _find_text_at_token_borders(whole, drop_blanks_unify_quotes_and_dashes(text), begins, ends)
            if used.isdisjoint(range(*position))
        ]
        later_candidates = (position for position in candidates if position[0] >= last_end)
        given_candidates = (position for position in candidates if position[0] == first)
        best = next(given_candidates, None) or next(later_candidates, None) or next(iter(candidates), None)
        if best:
            used.update(range(*best))
            last_end = best[1]
        placements.append(best)
    return placements


def _find_text_at_token_borders(
    joined_tokens: str, text: str, first_token_by_offset: Mapping[int, int], end_token_by_offset: Mapping[int, int]
) -> list[tuple[int, int]]:
    matches: list[tuple[int, int]] = []
    at = joined_tokens.find(text) if text else -1
    while at >= 0:
        if at in first_token_by_offset and at + len(text) in end_token_by_offset:
            matches.append((first_token_by_offset[at], end_token_by_offset[at + len(text)]))
        at = joined_tokens.find(text, at + 1)
    return matches


def bio_tags_or_raise_if_spans_overlap(spans: Iterable[Span], token_count: int) -> list[str]:
    """Return BIO tags of spans, no two sharing a token, for a sentence of `token_count` tokens.

    A ValueError otherwise.
    """
    tags = ["O"] * token_count
    for start, end, label in spans:
        if not 0 <= start < end <= token_count or tags[start:end] != ["O"] * (end - start):
            raise ValueError(
                f"the span {start} to {end} is empty, exceeds the {token_count} tokens or shares a token with "
                "another span"
            )
        tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
    return tags


def spans_from_tags(tags: Sequence[str]) -> list[Span]:
    """Return the spans of BIO tags, from left to right, by conlleval's rule, which is seqeval's default mode.

    A stray I- (after O, or after another label) opens a span. A ValueError for a tag that is neither O, B- nor I-.
    """
    spans: list[Span] = []
    start, label = 0, ""
    for position, tag in enumerate([*tags, "O"]):
        form, _, name = tag.partition("-")
        if (form, name) != ("O", "") and (form not in ("B", "I") or not name):
            raise ValueError(f"'{tag}' is not a BIO tag")
        if label and (form != "I" or name != label):
            spans.append(Span(start, position, label))
            label = ""
        if name and not label:
            start, label = position, name
    return spans


def count_right_predicted_and_gold(predicted: Collection[Hashable], gold: Collection[Hashable]) -> Counts:
    """Count (true positives, predicted, gold) of one sentence; repetitions are right as often as they are gold."""
    right = Counter(predicted) & Counter(gold)
    return right.total(), len(predicted), len(gold)


def count_right_predicted_gold_by_label(predicted: Collection[Span], gold: Collection[Span]) -> dict[str, Counts]:
    """Return label → (true positives, predicted, gold) of one sentence, for labels that are predicted or gold in it."""
    labels = sorted({span.label for span in (*predicted, *gold)})
    return {
        label: count_right_predicted_and_gold(
            [span for span in predicted if span.label == label], [span for span in gold if span.label == label]
        )
        for label in labels
    }
