"""The fine-tuned encoders of PrivacyGLUE's paper, as printed (Tables A3 and 3)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from genaipa.files.strict_yaml import read_yaml
from genaipa_suites.privacyglue.aggregate import Means, means
from genaipa_suites.privacyglue.rows import ROWS, Row

if TYPE_CHECKING:
    from collections.abc import Collection

PUBLISHED = Path(__file__).with_name("published.yaml")


class Averages(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The three means over all 14 rows, as printed."""

    arithmetic: float
    geometric: float
    harmonic: float


class Encoder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An encoder's rows in percent: `task/metric` → mean and population SD over seeds, and their printed means.

    `model` is its name on the model hub, `kind` how it came to its figures.
    """

    system: str
    model: str
    source: str
    split: str
    kind: str
    values: dict[str, float]
    deviations: dict[str, float]
    means: Averages
    means_of_deviations: Averages

    @property
    def rows(self) -> dict[Row, float]:
        """Row → mean in percent."""
        return {row: self.values[row.name] for row in ROWS}

    def over(self, rows: Collection[Row]) -> Means:
        """Its means over these rows alone, so that it is compared with a system over what that system has."""
        return means({row: value for row, value in self.rows.items() if row in rows})


@cache
def encoders() -> tuple[Encoder, ...]:
    """The five encoders, in the paper's order."""
    return tuple(read_yaml(PUBLISHED, list[Encoder]))
