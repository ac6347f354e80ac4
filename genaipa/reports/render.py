"""A table as people and programs want it: plain text, CSV, LaTeX, HTML.

What a table holds may come from a model, a file or a person, so that every cell is escaped where it is written. CSV
has the numbers as they are, under the columns' own names; the other forms have them as people read them, and the two
ends of an interval (`low` and `high`) in one cell under the heading of the lower one.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.files.spreadsheets import escape_formula
from genaipa.reports import latex
from genaipa.reports.tidy import metrics_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.reports.table import Table

_FITS = 28
"""Characters of a text up to which its cell in HTML is never broken into lines."""
_BROAD = 9
"""Columns above which a table is set closer."""
_LINKED = ("question", "m_all", "m_all10")
"""Columns whose cells lead to the answers behind them, beside the metrics'."""


def headings(table: Table) -> list[str]:
    """The columns as people read them."""
    return [table.headings.get(name, name) for name in table.shown]


def numeric(table: Table) -> list[int]:
    """The places of the columns that hold numbers, and are written to the right."""
    kinds = table.data.dtypes
    return [
        place
        for place, name in enumerate(table.shown)
        if pd.api.types.is_numeric_dtype(kinds[name]) and not pd.api.types.is_bool_dtype(kinds[name])
    ]


def as_text(table: Table) -> str:
    """Plain text with aligned columns, the title above and the note below."""
    right = set(numeric(table))
    cells = [tuple(headings(table)), *(tuple(map(_one_line, row)) for row in table.cells)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([_one_line(table.title), "", lines[0], rule, *lines[1:], "", _one_line(table.note)]) + "\n"


def as_csv(table: Table) -> str:
    """CSV with a header: the data's own columns, numbers to ten digits, an absent value left empty."""
    data = table.data.copy(deep=False)
    for name in data.columns:
        if not pd.api.types.is_numeric_dtype(data[name].dtype):
            data[name] = _harmless(data[name])
    written: str = data.to_csv(index=False, lineterminator="\n", float_format="%.10g")
    return written


def _harmless(column: pd.Series[Any]) -> list[Any]:
    """The values, none of them one that a spreadsheet takes for a formula."""
    known: dict[str, str] = {}
    for value in column.unique():
        if isinstance(value, str):
            known[value] = escape_formula(value, csv=True)
    return [known.get(value, value) if isinstance(value, str) else value for value in column]


def as_rows(table: Table) -> list[dict[str, Any]]:
    """The data row by row for machines, under the columns' own names; an absent value is None."""
    data = table.data.astype(object).where(table.data.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in data.to_dict(orient="records")]


def as_latex(table: Table) -> str:
    """A table that fits a page of LaTeX, with booktabs' rules (`reports.latex`)."""
    return latex.as_latex(table.name, table.title, table.note, headings(table), table.cells, set(numeric(table)))


def as_html(table: Table, *, most: int | None = None, hrefs: Sequence[str] = (), bare: bool = False) -> str:
    """A `<table>` with its title as caption, and its note under it; of `most` rows at most, and then it says so.

    `hrefs` are the links, one for each row or empty, of its question, metrics and M_all. A `bare` table has neither
    title nor note.
    """
    rows_in_all = len(table.data)
    if most is not None and rows_in_all > most:
        cut = f"Shown here are the first {most:,} of {rows_in_all:,} rows."
        table = replace(table, note=f"{table.note} {cut}".strip(), data=table.data.head(most))
    right = set(numeric(table))
    head = "".join(
        f'<th scope="col"{_number(place, right)}>{escape(name)}</th>' for place, name in enumerate(headings(table))
    )
    # The first column that holds no number says what the row is about.
    columns = table.shown
    lead = next((place for place in range(len(columns)) if place not in right), None)
    linked_to = {*_LINKED, *metrics_of(table.data)}
    linked = {place for place, name in enumerate(columns) if name in linked_to}
    faint = {place for place, name in enumerate(columns) if name in table.faint}
    lines = (
        "".join(
            _html_cell(place, cell, right, lead, href if place in linked else "", faint=place in faint)
            for place, cell in enumerate(row)
        )
        for row, href in itertools.zip_longest(table.cells, hrefs[: len(table.data)], fillvalue="")
    )
    broad = ' class="broad"' if len(columns) > _BROAD else ""
    return "\n".join(
        (
            f"<table{broad}>",
            *((f"<caption><span>{escape(table.title)}</span></caption>",) if table.title and not bare else ()),
            f"<thead><tr>{head}</tr></thead>",
            "<tbody>",
            *(f"<tr>{line}</tr>" for line in lines),
            "</tbody>",
            "</table>",
            *((f'<p class="note">{prose(table.note)}</p>',) if table.note and not bare else ()),
        )
    )


def as_page(table: Table) -> str:
    """A page of HTML with the table alone."""
    head = f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{escape(table.title)}</title>\n'
    return f"{head}{as_html(table)}\n</html>\n"


FORMS = {".csv": as_csv, ".html": as_page, ".tex": as_latex, ".txt": as_text}
"""Suffix of a table's file → its text: all that writes such files goes by these."""


def prose(text: str) -> str:
    """A note as HTML: escaped, and text between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _html_cell(place: int, cell: str, right: set[int], lead: int | None, href: str, *, faint: bool) -> str:
    text = f'<a href="{escape(href)}">{escape(cell)}</a>' if href and cell else escape(cell)
    text = f'<span style="color: #767676">{text}</span>' if faint else text
    kind = ' class="long"' if len(cell) > _FITS and place not in right else _number(place, right)
    return f'<th scope="row"{kind}>{text}</th>' if place == lead else f"<td{kind}>{text}</td>"


def _number(place: int, right: set[int]) -> str:
    return ' class="number"' if place in right else ""


def _one_line(text: str) -> str:
    """The text without line breaks and characters that steer a terminal."""
    return "".join(c if c.isprintable() else "�" for c in " ".join(text.split()))
