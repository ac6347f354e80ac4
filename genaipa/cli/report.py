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
    from genaipa.scoring.overall import Bounds
    from genaipa.workspace import Workspace

_GREEN, _RED = 0.5, 0.0


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
    frame: Annotated[
        Path | None,
        option("--frame", metavar="FILE", help="Write the tidy table to this .csv or .parquet file as well."),
    ] = None,
    json: JsonOption = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Write a report: one HTML page, and its figures and tables as files for a paper.

    An earlier report in the same folder is replaced. What failed, is missing, was not scored or was left out is said.
    """
    from genaipa.cli.findings import gathered
    from genaipa.cli.screen import err, print_json
    from genaipa.workspace import find_workspace

    here, names = find_workspace(workspace), several(run)
    bounds, wanted = _bounds(green, red), _formats(several(formats))
    if frame is not None and frame.suffix not in (".csv", ".parquet"):
        raise UsageError(f"'{frame.name}' ends in neither .csv nor .parquet, the two forms of the tidy table.")
    found = gathered(here, names, excluded=include_excluded)
    from genaipa.reports.writing import as_json, write_report

    with err().status("drawing figures, writing tables"):
        written = write_report(found, output or default_folder(here, names, found), bounds=bounds, formats=wanted)
    if frame is not None:
        _write_frame(found, frame)
    if json:
        print_json({"folder": str(written.folder), **as_json(written.contents)})
    else:
        print_closing(found, written)


def default_folder(workspace: Workspace, names: tuple[str, ...], found: Gathered) -> Path:
    """`reports/NAME` in the workspace: the first system or run that was named, else `all`."""
    first = found.sources[0]
    name = "all" if not names else names[0] if names[0] in first.systems else first.folder.name
    return workspace.home / "reports" / (re.sub(r"[^\w.-]+", "-", name).strip(".-") or "report")


def print_closing(found: Gathered, written: Written) -> None:
    """The table that says the most, what a reader must not miss, and where the page lies."""
    from genaipa.cli.screen import printable, show
    from genaipa.cli.tables import show_table

    if written.contents.key:
        show_table(written.contents.key)
    for sentence in (*written.contents.notable, *written.contents.absent, *sorted(set(found.problems))):
        show(f"- {printable(sentence)}")
    show(f"The report: {written.page}")


def _bounds(green: float, red: float) -> Bounds:
    from genaipa.scoring.overall import Bounds

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
    from genaipa.reports import frame

    try:
        frame.write(found.frame, path)
    except OSError as error:
        raise UsageError(f"{path} can't be written ({error.strerror}).") from None
