"""`genaipa leaderboard`: all systems of the workspace, the best first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from genaipa.cli.options import JsonOption, WorkspaceOption, option
from genaipa.errors import UsageError

if TYPE_CHECKING:
    from genaipa.reports.table import Table

_FORMS = (".csv", ".html", ".tex", ".txt")


def leaderboard(
    output: Annotated[
        Path | None,
        option("--output", "-o", metavar="FILE", help="Write it to a .csv, .html, .tex or .txt file instead."),
    ] = None,
    include_excluded: Annotated[
        bool, option("--include-excluded", help="Count what an audit left out as well.")
    ] = False,
    json: JsonOption = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Rank all systems of the workspace by the overall quality of their answers.

    Over all runs, published studies that were imported included. It says where systems did not answer the same.
    """
    if output is not None and output.suffix not in _FORMS:
        raise UsageError(f"'{output.name}' must end in one of {', '.join(_FORMS)}.")
    from genaipa.cli.findings import gathered
    from genaipa.cli.screen import print_json, printable, show
    from genaipa.cli.tables import show_table
    from genaipa.workspace import find_workspace

    found = gathered(find_workspace(workspace), (), excluded=include_excluded)
    from genaipa.reports import render
    from genaipa.reports.contents import notable
    from genaipa.reports.tables.leaderboard import board

    table, told = board(found.frame), [*notable(found), *sorted(set(found.problems))]
    if json:
        print_json({"title": table.title, "note": table.note, "notable": told, "rows": render.as_rows(table)})
        return
    if output is not None:
        _write(table, output)
    elif table:
        show_table(table)
    for sentence in told:
        show(f"- {printable(sentence)}")
    if output is not None:
        show(f"{output}: the leaderboard")


def _write(table: Table, path: Path) -> None:
    """The table in the form that the file's name says."""
    from genaipa.reports import render

    write = {".csv": render.as_csv, ".html": render.as_html, ".tex": render.as_latex, ".txt": render.as_text}
    try:
        path.write_text(write[path.suffix](table), encoding="utf-8", newline="")
    except OSError as error:
        raise UsageError(f"{path} can't be written ({error.strerror}).") from None
