"""A table of a report: data with its title, its caption, and how each column is headed and written."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from genaipa.answers.tidy import list_metrics
from genaipa.files.html import format_one_line_repr
from genaipa.systems.provider import shorten_system_names
from genaipa.words import first_sentences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


HEADINGS = {
    "m_all": "M_all",
    "rank": "place",
    "low": "for these documents",
    "policies_low": "for policies like these",
    "q1": "1st quartile",
    "q3": "3rd quartile",
    "unique_words": "unique words",
    "reading_minutes": "reading time (min)",
    "grade": "reading level (grade)",
    "ease": "reading ease",
    "connective_words": "connective words",
    "document_shown": "document shown",
    "name_only": "name only",
    "seconds": "seconds (median)",
    "cost": "cost per answer ($)",
    "cost_low": "for these documents",
    "cost_policies_low": "for policies like these",
    "cost_total": "cost ($)",
    "silent": "silent documents",
    "scored_by": "scored by",
    "published": "published scores",
    "score_left_out": "score left out",
}
"""Column → its heading; the others are headed by their own names."""
_SHOWN = 60
"""Rows that a notebook shows at most, as it does of a frame."""
_TENTHS = (
    *("m_all", "minimum", "q1", "median", "q3", "maximum", "mean", "original", "paraphrased"),
    *("low", "high", "policies_low", "policies_high"),
    *("document_shown", "name_only", "spread", "grade", "ease"),
)
FORMATS = {
    **dict.fromkeys(_TENTHS, ".1f"),
    **dict.fromkeys(("drop", "difference"), "+.1f"),
    **dict.fromkeys(("unique_words", "connective_words", "alpha", "ac2"), ".2f"),
    **dict.fromkeys(("same", "agreement", "commonest"), ".0%"),
    "seconds": ".2f",
    **dict.fromkeys(("cost", "cost_low", "cost_high", "cost_policies_low", "cost_policies_high"), ".4f"),
    "cost_total": ".2f",
    "words": ",d",
}
"""Column → how its numbers are written."""


@dataclass(frozen=True, repr=False)
class Table:
    """Data that is ready to be shown, and the source of every figure that is drawn from it.

    `name` is the stem of its files. `note` says how the numbers were computed, how many there are, and the
    paper's section. `data` has plain columns and no index; `headings` are the columns as people read them (a column
    that is not listed is headed by its own name), `formats` how their numbers are written ("+.2f"), and an absent
    number is left blank. `aside` are the columns that only CSV and JSON have, because people would have too many, and
    `faint` the ones that HTML shows in grey, because nothing may be concluded from them.
    """

    name: str
    title: str
    note: str
    data: pd.DataFrame
    headings: Mapping[str, str] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    aside: frozenset[str] = frozenset()
    faint: frozenset[str] = frozenset()

    @property
    def first_sentences_of_note(self) -> str:
        """At most two sentences for the page: the note's first."""
        return first_sentences(self.note)

    def __bool__(self) -> bool:
        """Tell whether there is anything to show."""
        return not self.data.empty

    @property
    def main_columns(self) -> list[str]:
        """The columns that are not aside."""
        return [str(column) for column in self.data.columns if column not in self.aside]

    @cached_property
    def visible_columns(self) -> list[str]:
        """The columns that people see: those with anything in them, the upper end of an interval in the lower's."""
        names = self.main_columns
        names = [
            name for name in names if not name.endswith("high") or _column_of_other_interval_end(name) not in names
        ]
        return [name for name in names if any(self._format_column_merging_intervals(name))] or names

    @cached_property
    def copy_without_groups_equal_to_all(self) -> Table:
        """The table without rows that say what another one says."""
        data = self.data
        if "questions" not in data or not (data["questions"] == "all").any():
            return self
        other_columns = [name for name in data.columns if name != "questions"]
        every = data.loc[data["questions"] == "all", other_columns]
        # The only source there is has the values of all questions.
        is_repeated = pd.MultiIndex.from_frame(data[other_columns].astype(str)).isin(
            pd.MultiIndex.from_frame(every.astype(str))
        )
        return replace(self, data=data[(data["questions"] == "all") | ~is_repeated].reset_index(drop=True))

    @cached_property
    def cells(self) -> list[tuple[str, ...]]:
        """The cells of `visible_columns` as people read them, row by row: each form of the table has the same."""
        return list(zip(*map(self._format_column_merging_intervals, self.visible_columns), strict=True))

    def _format_column_merging_intervals(self, name: str) -> list[str]:
        cells = [self.format_cell(name, value) for value in self.data[name]]
        if name == "system":
            short = shorten_system_names(cells)
            return [short[cell] for cell in cells]
        if not name.endswith("low") or _column_of_other_interval_end(name) not in self.data:
            return cells
        ends = (self.format_cell(name, value) for value in self.data[_column_of_other_interval_end(name)])
        return [f"{low} to {high}" if low or high else "" for low, high in zip(cells, ends, strict=True)]

    def __repr__(self) -> str:
        return format_one_line_repr("Table", self.name, f"{len(self.data):,} rows, {self.title}")

    def _repr_html_(self) -> str:
        from genaipa.reports.render import as_html

        return as_html(replace(self, note=self.first_sentences_of_note), max_rows=_SHOWN)

    def format_cell(self, column: str, value: object) -> str:
        """Return a cell as people read it."""
        if value is None or value != value:  # noqa: PLR0124 - only NaN differs from itself
            return ""
        if column not in self.formats:
            return str(value)
        # What rounds to nothing has no sign: "0.0", never "-0.0" or "+0.0".
        written = format(value, self.formats[column])
        return written.lstrip("+-") if not written.strip("+-0.%") else written


def _column_of_other_interval_end(name: str) -> str:
    return f"{name.removesuffix('low')}high" if name.endswith("low") else f"{name.removesuffix('high')}low"


def metric_formats(frame: pd.DataFrame) -> dict[str, str]:
    """Return the number formats of the averages of a tidy table's metrics."""
    return dict.fromkeys(list_metrics(frame), "+.2f")


def make_table(
    name: str,
    title: str,
    note: str,
    data: pd.DataFrame,
    columns: Sequence[str],
    *,
    headings: dict[str, str] | None = None,
    formats: dict[str, str] | None = None,
    aside: Sequence[str] = (),
    faint: Sequence[str] = (),
) -> Table:
    """Return a table of these columns, headed and written as everywhere but for what `headings` and `formats` say.

    Categories become text. A column that the data lacks is there without values, so that an empty table has all; those
    `aside` come last.
    """
    columns = [*columns, *aside]
    plain = data.reindex(columns=columns).reset_index(drop=True)
    for column in columns:
        if isinstance(plain[column].dtype, pd.CategoricalDtype):
            plain[column] = plain[column].astype("str")
    column_names = set(columns)
    return Table(
        name=name,
        title=title,
        note=note,
        data=plain,
        headings={column: text for column, text in {**HEADINGS, **(headings or {})}.items() if column in column_names},
        formats={column: form for column, form in {**FORMATS, **(formats or {})}.items() if column in column_names},
        aside=frozenset(aside),
        faint=frozenset(faint),
    )
