"""A linear tagger by scikit-learn (extra `baselines`): the tag of each token from the tokens around it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from genaipa.suites.linear import need_sklearn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

WINDOW = 2
"""Tokens to either side that a tag is told from."""
_FEATURES = 2**18
_RUNS = re.compile(r"(.)\1+")


def tagger(sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]]) -> Callable[[Sequence[str]], list[str]]:
    """Learn the tag of each token of these sentences; gives the tags of a sentence.

    A linear support vector machine (C = 1) for each tag, from the words, their forms and their ends within two tokens.
    The tags are chosen one by one, so that an I- may come without its B-. A MissingPackageError without scikit-learn.
    """
    need_sklearn()
    from sklearn.feature_extraction import FeatureHasher
    from sklearn.svm import LinearSVC

    hasher = FeatureHasher(_FEATURES, input_type="string", alternate_sign=False)
    known = [tag for each in tags for tag in each]
    if len(set(known)) < 2:  # noqa: PLR2004 - a machine needs two sides
        return lambda tokens: [known[0] if known else "O"] * len(tokens)
    matrix = hasher.transform(features for tokens in sentences for features in _features(tokens))
    machine = LinearSVC(C=1, random_state=0).fit(matrix, known)

    def tags_of(tokens: Sequence[str]) -> list[str]:
        if not tokens:
            return []
        return [str(tag) for tag in machine.predict(hasher.transform(_features(tokens)))]

    return tags_of


def _features(tokens: Sequence[str]) -> Iterator[list[str]]:
    """The features of each token: what is around it, each with its distance."""
    edge = [""] * WINDOW
    lower = [*edge, *(token.lower() for token in tokens), *edge]
    shapes = [*edge, *map(_shape, tokens), *edge]
    for place in range(WINDOW, WINDOW + len(tokens)):
        around = range(-WINDOW, WINDOW + 1)
        word = lower[place]
        yield [
            "every",
            *(f"{at}={lower[place + at]}" for at in around),
            *(f"{at}^{shapes[place + at]}" for at in around),
            *(f"{at}+={lower[place + at]} {lower[place + at + 1]}" for at in around[:-1]),
            *(f"<{word[:size]}" for size in (2, 3)),
            *(f">{word[-size:]}" for size in (2, 3)),
        ]


def _shape(token: str) -> str:
    """The form of a word: "Policy2" is "Xx0", for any length of each kind of sign."""
    kinds = ("X" if sign.isupper() else "x" if sign.isalpha() else "0" if sign.isdigit() else sign for sign in token)
    return _RUNS.sub(r"\1", "".join(kinds))
