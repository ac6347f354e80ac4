"""Samples of items: a stratified one for a first look, examples for a prompt, PrivacyGLUE's random splits.

Equal seeds draw equal samples.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from genaipa_suites.material import Item


def stratified(items: Sequence[Item], size: int, seed: int) -> list[Item]:
    """As many items as `size`, from each stratum its share (by largest remainders), in the order in which they were."""
    if size >= len(items):
        return list(items)
    strata: defaultdict[str, list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        strata[item.stratum].append(place)
    exact = {name: size * len(places) / len(items) for name, places in strata.items()}
    share = {name: int(exact[name]) for name in strata}
    draw = random.Random(f"{seed}|limit")  # noqa: S311 - a sample, not a secret
    # Shuffled, so that equal remainders are not always those of the strata that come first.
    names = draw.sample(list(strata), len(strata))
    for name in sorted(names, key=lambda name: share[name] - exact[name])[: size - sum(share.values())]:
        share[name] += 1
    chosen = {place for name, places in strata.items() for place in draw.sample(places, share[name])}
    return [item for place, item in enumerate(items) if place in chosen]


def examples(candidates: Sequence[Item], number: int, seed: int, forbidden: Collection[str]) -> list[Item]:
    """Examples for a prompt, as many of each stratum as can be, none whose text is among those `forbidden`."""
    allowed = [item for item in candidates if same_text(item) not in forbidden]
    draw = random.Random(f"{seed}|shots")  # noqa: S311 - a sample, not a secret
    draw.shuffle(allowed)
    strata: defaultdict[str, list[Item]] = defaultdict(list)
    for item in allowed:
        strata[item.stratum].append(item)
    turns = sorted(strata.values(), key=len, reverse=True)
    chosen = [one for turn in range(number) for items in turns for one in items[turn : turn + 1]][:number]
    draw.shuffle(chosen)
    return chosen


def same_text(item: Item) -> str:
    """The text of an item without case and blanks: by it a train item is known to be the evaluated one."""
    return " ".join(str(item.document or item.shown.get("text", "")).lower().split())


def split_off(size: int, share: float) -> tuple[list[int], list[int]]:
    """(kept, set aside): the places of `size` rows as PrivacyGLUE splits them, `share` of them (0 to 1) set aside.

    A permutation by numpy's `default_rng(42)`; its first ceil(share * size) places are set aside, the next
    floor((1 - share) * size) kept, both in the permutation's order.
    """
    import numpy as np

    order = np.random.default_rng(42).permutation(size).tolist()
    aside, kept = math.ceil(size * share), math.floor(size * (1 - share))
    return order[aside : aside + kept], order[:aside]
