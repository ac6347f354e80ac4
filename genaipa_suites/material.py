"""Items of a suite, as they are kept in a run folder, and the readings of replies to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

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
class Given:
    """A reply as its suite reads it: the prediction (plain JSON; None without one), and its fault (one of FAULTS).

    `in_prose` says that its JSON was found among other words: a strict reader would call it unparsable.
    """

    prediction: Any = None
    fault: str = ""
    in_prose: bool = False


@dataclass(frozen=True)
class Outcome:
    """An item, and what came of asking it once.

    `way` says how the form of the reply was asked for: "schema", "in words", or empty for a reply in no form.
    """

    item: Item
    given: Given
    repetition: int = 1
    key: str = ""
    reply: str = ""
    way: str = ""
