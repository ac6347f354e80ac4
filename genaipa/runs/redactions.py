"""Facts about texts that a packed run lacks because they may not be passed on: its `withheld.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError
from genaipa.files.text import DAMAGE, why
from genaipa.policies.statistics import Statistics

if TYPE_CHECKING:
    from genaipa.runs.folder import RunFolder

WITHHELD = "withheld.json"
LEFT_OUT = "(left out of the pack; see its source)"
"""Stands in a packed run in place of words that may not be passed on."""


class Withheld(msgspec.Struct, frozen=True):
    """Facts in place of texts: a document's statistics, and the keys of the answers that call it silent or unknown."""

    statistics: dict[str, Statistics] = {}
    claims_silence: tuple[str, ...] = ()
    abstains: tuple[str, ...] = ()


def withheld(folder: RunFolder) -> Withheld:
    """The facts about texts that a run folder lacks; empty for one that lacks none."""
    path = folder.path / WITHHELD
    if not path.is_file():
        return Withheld()
    try:
        return msgspec.json.decode(path.read_bytes(), type=Withheld)
    except (OSError, *DAMAGE) as error:
        raise DataError(path, f"can't be read ({why(error)}); unpack the study again.") from None
