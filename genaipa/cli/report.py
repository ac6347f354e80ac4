"""`genaipa report`: runs and their scores as figures, tables and one page to read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli import completion
from genaipa.cli.options import JsonOption, WorkspaceOption, option, several
from genaipa.errors import UsageError, nearest

if TYPE_CHECKING:
    from genaipa.reports.figures.figure import Format
    from genaipa.reports.gather import Gathered
    from genaipa.reports.writing import Written
    from genaipa.scoring.m_all import Bounds
    from genaipa.workspace import Workspace

_GREEN, _RED = 0.5, 0.0
_NAMED = 3
"""Systems and runs that a folder's name has at most."""
_LONGEST = 100
"""Characters of a folder's name."""


def report(
    run: Annotated[
        list[str] | None,
        typer.Argument(
            autocompletion=completion.runs_and_systems,
            help="Runs, or systems for all of their runs; by default, every run of the workspace.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        option("--output", "-o", metavar="DIR", help="The folder; by default reports/NAME in the workspace."),
    ] = None,
    include_excluded: Annotated[
        bool, option("--include-excluded", help="Count what an audit left out as well.")
    ] = False,
    green: Annotated[float, option("--green", help="Averages of a metric from here up are Green.")] = _GREEN,
    red: Annotated[float, option("--red", help="Averages of a metric below this are Red.")] = _RED,
    formats: Annotated[
        list[str] | None, option("--formats", help="Of the figures' files: png, svg, pdf (by default all).")
    ] = None,
    with_texts: Annotated[
        bool,
        option("--with-texts", help="Show answers in the page that may not be passed on: for you alone."),
    ] = False,
    frame: Annotated[
        Path | None,
        option("--frame", metavar="FILE", help="Write the tidy table to this .csv or .parquet file as well."),
    ] = None,
    open_page: Annotated[bool, option("--open", help="Show the page in the browser when it is written.")] = False,
    json: JsonOption = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Write a report: one HTML page, and its figures and tables as files for a paper.

    An earlier report on the same is replaced. What failed, is missing, was not scored or was left out is said.
    """
    from genaipa.cli.console import err, print_json, printable, say
    from genaipa.cli.findings import gathered
    from genaipa.workspace import find_workspace

    here, names = find_workspace(workspace), several(run)
    bounds, wanted = _bounds(green, red), _formats(several(formats))
    if frame is not None and frame.suffix not in (".csv", ".parquet"):
        raise UsageError(f"'{frame.name}' ends in neither .csv nor .parquet, the two forms of the tidy table.")
    with err().status("reading the runs") as status:
        found = gathered(here, names, excluded=include_excluded)
        from genaipa.reports.writing import as_json, selection_of, write_report

        asked = selected(here, names, found)
        folder = output or default_folder(here, asked)
        before = selection_of(folder)
        written = write_report(
            found,
            folder,
            bounds=bounds,
            formats=wanted,
            selection=asked,
            tell=lambda now: status.update(printable(now)),
            whole=with_texts,
        )
    if before is not None and before != sorted(asked):
        say(f"The report on {', '.join(before) or 'everything'} that was in {folder} is replaced.")
    if frame is not None:
        _write_frame(found, frame)
    if json:
        print_json({"folder": str(written.folder), **as_json(written.contents)})
    else:
        print_closing(found, written)
    if open_page:
        _open(written.page)


def selected(workspace: Workspace, names: tuple[str, ...], found: Gathered) -> tuple[str, ...]:
    """What a report is about: the systems that were named, and the full names of the runs, each once."""
    from genaipa.runs.folder import find_run

    systems = {system for source in found.sources for system in source.systems}
    return tuple(dict.fromkeys(name if name in systems else find_run(workspace, name).name for name in names))


def default_folder(workspace: Workspace, asked: tuple[str, ...]) -> Path:
    """`reports/NAME` in the workspace, named after all that it is about, else `all`.

    Where a report on something else has that name already, a number is added.
    """
    from genaipa.reports.writing import MANIFEST, selection_of

    parts = [re.sub(r"[^\w.-]+", "-", name).strip(".-") or "report" for name in asked]
    named = "+".join(parts[:_NAMED]) + (f"+{len(parts) - _NAMED}-more" if len(parts) > _NAMED else "")
    wanted = workspace.home / "reports" / (named[:_LONGEST].rstrip(".-+") or "all")
    folder, number = wanted, 2
    while (folder / MANIFEST).is_file() and selection_of(folder) != sorted(asked):
        folder, number = wanted.with_name(f"{wanted.name}-{number}"), number + 1
    return folder


def _open(page: Path) -> None:
    """Show a page in the browser."""
    import webbrowser

    from genaipa.cli.console import say

    if not webbrowser.open(page.resolve().as_uri()):
        say(f"No browser could be opened; the page is {page}")


def print_closing(found: Gathered, written: Written) -> None:
    """The table that says the most, what a reader must not miss, and where the page lies."""
    from genaipa.cli.console import printable, show
    from genaipa.cli.tables import show_table

    if written.contents.key:
        show_table(written.contents.key)
    for sentence in (*written.contents.notable, *written.contents.absent, *sorted(set(found.problems))):
        show(f"- {printable(sentence)}")
    show(f"The report: {written.page}")


def _bounds(green: float, red: float) -> Bounds:
    from genaipa.scoring.m_all import Bounds

    try:
        return Bounds(green, red)
    except ValueError as error:
        raise UsageError(f"{error}.") from None


def _formats(names: tuple[str, ...]) -> tuple[Format, ...]:
    """The formats of figures that are meant: all if none is named."""
    known: tuple[Format, ...] = ("png", "svg", "pdf")
    for name in names:
        if name not in known:
            raise UsageError(f"no format '{name}'{nearest(name, known)}")
    return tuple(form for form in known if form in names) or known


def _write_frame(found: Gathered, path: Path) -> None:
    from genaipa.reports import tidy as frame

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        frame.write(found.frame, path)
    except OSError as error:
        raise UsageError(f"{path} can't be written ({error.strerror}).") from None
