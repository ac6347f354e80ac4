"""Tables of a report on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.cli import console as screen

if TYPE_CHECKING:
    from genaipa.reports.table import Table


def show_table(table: Table) -> None:
    """The table with its title above and its note below, on stdout."""
    from genaipa.reports import render

    screen.show(table.title)
    screen.table(render.headings(table), render.rows(table), right=render.numeric(table))
    screen.show(table.note)
