"""Items of a suite, as they are kept in a run folder, samples of them, and the readings of replies to them.

A sample is a stratified one for a first look, examples for a prompt, or a random split of PrivacyGLUE's; equal seeds
draw equal samples.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

UNPARSABLE, REFUSED, CUT_OFF, FAILED = "unparsable", "refused", "cut off", "failed"
OUT_OF_RANGE, NOT_IN_THE_TEXT = "out of range", "not in the text"
FAULTS = (FAILED, REFUSED, CUT_OFF, UNPARSABLE, OUT_OF_RANGE, NOT_IN_THE_TEXT)
"""Kinds of replies that are scored 0, each counted in a column of its own."""
PART = "suite"
"""The coordinate of a record that names the suite, in a run of several."""


class Item(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that is asked, once in each repetition.

    `shown` are the fields that a prompt may show, and nothing else of the item is ever shown; its `text` is the text
    that is asked about. `gold` is the reference, in the suite's own form (plain JSON). `document` is the key of a long
    text in `Material.documents` that many items share. `cluster` names the policy (empty where it is not known), which
    intervals are drawn by; `stratum` is what a sample is stratified by. `groups` are the groups by which scores are
    broken down: name of a breakdown ("category") → the item's groups in it, which may be several. `after` is the id of
    the item that it is asked after, in the same conversation; empty for one that begins its own.
    """

    id: str
    shown: dict[str, Any]
    gold: Any
    document: str = ""
    cluster: str = ""
    stratum: str = ""
    groups: dict[str, tuple[str, ...]] = {}
    after: str = ""


class Material(msgspec.Struct, frozen=True):
    """All items of a split, or the sample of them that is asked, with the long texts that they share, by key.

    `examples` are items of another split that are shown with their answers before each question. `own` are the files
    of the user's own that a published split was read from in place of the published ones, by their paths in these.
    """

    items: tuple[Item, ...]
    documents: dict[str, Any] = {}
    examples: tuple[Item, ...] = ()
    own: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    """Left out of the JSON where there are none."""


@dataclass(frozen=True)
class ParsedReply:
    """A reply as its suite reads it: the prediction (plain JSON; None without one), and its fault (one of FAULTS).

    `in_prose` says that its JSON was found among other words: a strict reader would call it unparsable.
    """

    prediction: Any = None
    fault: str = ""
    in_prose: bool = False


@dataclass(frozen=True)
class Outcome:
    """An item, and what came of asking it once.

    `reply_form` says how the form of the reply was asked for: "schema", "in words", or empty for a reply in no form.
    """

    item: Item
    parsed: ParsedReply
    repetition: int = 1
    key: str = ""
    reply: str = ""
    reply_form: str = ""


def sample_by_stratum(items: Sequence[Item], sample_size: int, seed: int) -> list[Item]:
    """Draw so many items, from each stratum its share (by largest remainders), in their original order."""
    if sample_size >= len(items):
        return list(items)
    strata: defaultdict[str, list[int]] = defaultdict(list)
    for index, item in enumerate(items):
        strata[item.stratum].append(index)
    exact = {name: sample_size * len(indices) / len(items) for name, indices in strata.items()}
    share = {name: int(exact[name]) for name in strata}
    draw = random.Random(f"{seed}|limit")  # noqa: S311 - a sample, not a secret
    # Shuffled, so that equal remainders are not always those of the strata that come first.
    names = draw.sample(list(strata), len(strata))
    for name in sorted(names, key=lambda name: share[name] - exact[name])[: sample_size - sum(share.values())]:
        share[name] += 1
    chosen = {index for name, indices in strata.items() for index in draw.sample(indices, share[name])}
    return [item for index, item in enumerate(items) if index in chosen]


def draw_prompt_examples(
    candidates: Sequence[Item], max_examples: int, seed: int, forbidden_texts: Collection[str]
) -> list[Item]:
    """Draw examples for a prompt, as many of each stratum as can be, none whose text is `forbidden_texts`."""
    allowed = [item for item in candidates if normalized_item_text(item) not in forbidden_texts]
    draw = random.Random(f"{seed}|shots")  # noqa: S311 - a sample, not a secret
    draw.shuffle(allowed)
    strata: defaultdict[str, list[Item]] = defaultdict(list)
    for item in allowed:
        strata[item.stratum].append(item)
    strata_by_size = sorted(strata.values(), key=len, reverse=True)
    chosen = [
        example
        for round_number in range(max_examples)
        for items in strata_by_size
        for example in items[round_number : round_number + 1]
    ][:max_examples]
    draw.shuffle(chosen)
    return chosen


def normalized_item_text(item: Item) -> str:
    """Return the normalized text of an item, to detect a train item that is also evaluated."""
    return " ".join(str(item.document or item.shown.get("text", "")).lower().split())


def split_rows_into_training_and_validation(row_count: int, validation_share: float) -> tuple[list[int], list[int]]:
    """Split the places of rows as PrivacyGLUE does into (training, validation), a share of them for validation.

    A permutation by numpy's `default_rng(42)`; its first ceil(share * size) places are set aside, the next
    floor((1 - share) * size) kept, both in the permutation's order.
    """
    import numpy as np

    order = np.random.default_rng(42).permutation(row_count).tolist()
    validation_size, train_size = (
        math.ceil(row_count * validation_share),
        math.floor(row_count * (1 - validation_share)),
    )
    return order[validation_size : validation_size + train_size], order[:validation_size]
