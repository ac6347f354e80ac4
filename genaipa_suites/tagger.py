"""A linear tagger: an averaged perceptron that tags from left to right, in the seconds that numpy takes.

Shared by suites whose spans are layers of tags. A support vector machine for each of up to 97 tags took three minutes,
and found no more.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_ROUNDS = 8
_AROUND = 3
"""Tokens to either side that a tag depends on."""
_RUNS = re.compile(r"(.)\1+")


def tagger(sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]]) -> Callable[[Sequence[str]], list[str]]:
    """Learn the tags of these sentences, from the tokens around each and the tag before it; gives a sentence's tags."""
    import numpy as np

    known = sorted({tag for each in tags for tag in each} | {"O"})
    number = {tag: place for place, tag in enumerate(known)}
    ids: dict[str, int] = {}
    material = [
        (
            [np.array([ids.setdefault(name, len(ids)) for name in own]) for own in _features(tokens)],
            [number[tag] for tag in each],
        )
        for tokens, each in zip(sentences, tags, strict=True)
    ]
    # One row of weights for each feature, and after them one for each tag that may come before (the last: none).
    start = len(ids) + len(known)
    weights = np.zeros((start + 1, len(known)), np.float32)
    sums = np.zeros_like(weights)
    step, order = 1, random.Random(0)  # noqa: S311 - an order, not a secret
    for _ in range(_ROUNDS):
        order.shuffle(material)
        for features, gold in material:
            before = start
            for own, right in zip(features, gold, strict=True):
                rows = np.append(own, before)
                said = int(weights[rows].sum(0).argmax())
                if said != right:
                    weights[rows, right] += 1
                    weights[rows, said] -= 1
                    sums[rows, right] += step
                    sums[rows, said] -= step
                before = len(ids) + said
                step += 1
    weights -= sums / step

    def tags_of(tokens: Sequence[str]) -> list[str]:
        found, before = [], start
        for own in _features(tokens):
            rows = [*(ids[name] for name in own if name in ids), before]
            said = int(weights[rows].sum(0).argmax())
            found.append(known[said])
            before = len(ids) + said
        return found

    return tags_of


def _features(tokens: Sequence[str]) -> Iterator[list[str]]:
    """The features of each token: words, pairs of words and forms, each with its distance."""
    edge = ["#"] * _AROUND
    lower = [*edge, *(token.lower() for token in tokens), *edge]
    for place, token in enumerate(tokens, _AROUND):
        word = lower[place]
        kinds = (
            "X" if sign.isupper() else "x" if sign.isalpha() else "0" if sign.isdigit() else sign for sign in token
        )
        yield [
            "every",
            f"form={_RUNS.sub(chr(92) + '1', ''.join(kinds))}",
            *(f"<{word[:size]}" for size in (2, 3)),
            *(f">{word[-size:]}" for size in (2, 3)),
            *(f"{at}={lower[place + at]}" for at in range(-_AROUND, _AROUND + 1)),
            *(f"{at}+={lower[place + at]} {lower[place + at + 1]}" for at in range(-2, 2)),
        ]
