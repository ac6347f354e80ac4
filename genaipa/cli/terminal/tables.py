"""Tables of a report on the terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from genaipa.cli.terminal.closing import explain
from genaipa.cli.terminal.console import show, table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.reports.table import Table


def show_table(made: Table) -> None:
    """The table with its title above, on stdout; its note is for `--explain`."""
    show_tables([made])


def show_tables(several: Iterable[Table]) -> None:
    """Each table with its title above, without columns in which there is nothing; their notes are for `--explain`."""
    from genaipa.reports import render

    for place, made in enumerate(several):
        show(("\n" if place else "") + made.title)
        rows, right = made.cells, set(render.numeric(made))
        heads = render.headings(made)
        kept = [column for column in range(len(heads)) if not rows or any(row[column] for row in rows)]
        cells = [[row[column] for column in kept] for row in rows]
        table([heads[one] for one in kept], cells, right=[kept.index(one) for one in right if one in kept])
        explain(*re.split(r"(?<=\.) (?=[A-Z`“])", made.note), hint="What the numbers mean: --explain")
