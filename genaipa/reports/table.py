"""A table of a report: data with its title, its caption, and how each column is headed and written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd


@dataclass(frozen=True)
class Table:
    """Data that is ready to be shown, and the source of every figure that is drawn from it.

    `name` is the stem of its files. `note` says what is shown, how it was computed, how many there are, and the
    paper's section. `data` has plain columns and no index; `headings` are the columns as people read them (a column
    that is not listed is headed by its own name), `formats` how their numbers are written ("+.2f"), and an absent
    number is left blank.
    """

    name: str
    title: str
    note: str
    data: pd.DataFrame
    headings: Mapping[str, str] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether there is anything to show."""
        return not self.data.empty

    def written(self, column: str, value: object) -> str:
        """A cell as people read it."""
        if value is None or value != value:  # noqa: PLR0124 - only NaN differs from itself
            return ""
        if column not in self.formats:
            return str(value)
        # What rounds to nothing has no sign: "0.0", never "-0.0" or "+0.0".
        written = format(value, self.formats[column])
        return written.lstrip("+-") if not written.strip("+-0.%") else written
