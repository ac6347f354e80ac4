"""Splits: the names that there are, and PrivacyGLUE's recipe where its authors drew one at random."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from genaipa.errors import UnknownNameError
from genaipa_suites.plan import SAMPLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa_suites.data import DataFiles

SEED = 42
"""The seed of PrivacyGLUE's splits."""


def has_split(files: DataFiles, title: str, split: str, published: Sequence[str], path: str) -> None:
    """Raise an UnknownNameError that lists the splits if this is no published one and its file `path` is not here."""
    if split not in published and files.find(path) is None:
        raise UnknownNameError(f"split of {title}", split, [*published, SAMPLE])


def drawn(size: int, share: float, seed: int = SEED) -> tuple[list[int], list[int]]:
    """(kept, set aside): the places of `size` rows as PrivacyGLUE splits them, `share` of them (0 to 1) set aside.

    A permutation by numpy's `default_rng`; its first ceil(share * size) places are set aside, the next
    floor((1 - share) * size) kept, both in the permutation's order.
    """
    import numpy as np

    order = np.random.default_rng(seed).permutation(size).tolist()
    aside, kept = math.ceil(size * share), math.floor(size * (1 - share))
    return order[aside : aside + kept], order[:aside]
