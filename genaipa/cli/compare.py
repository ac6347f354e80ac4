"""`genaipa compare`: two systems, or two runs, side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from genaipa.cli import completion
from genaipa.cli.options import JsonOption, WorkspaceOption, option, several
from genaipa.cli.output import ForceOption, check_new, written
from genaipa.errors import DataError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from genaipa.reports.comparison import Comparison
    from genaipa.runs.selection import Source
    from genaipa.workspace import Workspace

_FORMS = (".csv", ".html", ".json", ".tex")


def compare(
    first: Annotated[
        str,
        typer.Argument(metavar="A", autocompletion=completion.runs_and_systems, help="A system, a run, or RUN:SYSTEM."),
    ],
    second: Annotated[
        str, typer.Argument(metavar="B", autocompletion=completion.runs_and_systems, help="What it is compared with.")
    ],
    experiment: Annotated[
        list[str] | None,
        option(
            "--experiment",
            "-e",
            autocompletion=completion.experiments,
            help="Compare these experiments only; by default, all but regulation.",
        ),
    ] = None,
    include_excluded: Annotated[
        bool, option("--include-excluded", help="Count what the audit of imported data leaves out.")
    ] = False,
    anyway: Annotated[
        bool, option("--anyway", help="Compare what is the same where documents, questions or rubric differ.")
    ] = False,
    everything: Annotated[
        bool, option("--all", help="Show the rows on too few questions to test as well; files have them anyway.")
    ] = False,
    output: Annotated[
        Path | None,
        option("--output", "-o", metavar="PATH", help="A .csv, .tex, .html or .json file; or a folder for all of it."),
    ] = None,
    force: ForceOption = False,
    json: JsonOption = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Compare two systems, or two runs: how far their scores are apart, and how sure that is.

    Differences are A minus B, question by question, with confidence intervals, tests adjusted for their number, and
    effect sizes; for all questions, by source, and by category.
    """
    from genaipa.cli import console as screen
    from genaipa.workspace import find_workspace

    form = _form(output) if output else ""
    if output and form:
        check_new(output, force=force)
    found = _compared(find_workspace(workspace), first, second, several(experiment), include_excluded, anyway)
    if output:
        _write(found, output, form, force=force)
        screen.say(f"Written to {output}.")
    if json:
        screen.print_json(_for_machines(found))
    else:
        _show(found, everything=everything)


def _compared(
    workspace: Workspace, first: str, second: str, experiments: tuple[str, ...], excluded: bool, anyway: bool
) -> Comparison:
    """The comparison of what two names stand for."""
    from genaipa.cli.console import say
    from genaipa.cli.findings import check_extra, gathered_from

    check_extra()
    from genaipa.reports import comparison

    chosen = [_sources(workspace, name) for name in (first, second)]
    if len({frozenset((source.folder.name, source.systems) for source in sources) for sources in chosen}) == 1:
        raise UsageError(f"'{first}' and '{second}' are the same; name two systems, two runs, or RUN:SYSTEM.")
    found = gathered_from(workspace, _merged([*chosen[0], *chosen[1]]), excluded=excluded)
    for problem in found.problems:
        say(problem)
    ours, theirs = (
        comparison.side(workspace, name, sources, found.frame, experiments)
        for name, sources in zip((first, second), chosen, strict=True)
    )
    return comparison.compare(ours, theirs, anyway=anyway)


def _merged(sources: list[Source]) -> list[Source]:
    """Each run once, with all systems that are meant of it."""
    runs: dict[str, Source] = {}
    for source in sources:
        before = runs.get(source.folder.name, source)
        runs[source.folder.name] = replace(source, systems=tuple(sorted({*before.systems, *source.systems})))
    return list(runs.values())


def _sources(workspace: Workspace, name: str) -> list[Source]:
    """The runs and the systems of them that are meant by a system, a run, or RUN:SYSTEM."""
    from genaipa.runs.selection import select

    run, colon, system = name.partition(":")
    try:
        return select(workspace, [name])
    except UnknownNameError:
        if not colon:
            raise
    sources = select(workspace, [run])
    systems = {known for source in sources for known in source.systems}
    if system not in systems:
        raise UnknownNameError(f"system of the run {run}", system, systems)
    return [replace(source, systems=(system,)) for source in sources if system in source.systems]


def _form(output: Path) -> str:
    """The suffix of the file that is to be written; empty for a folder."""
    if output.is_dir() or not output.suffix:
        return ""
    if output.suffix not in _FORMS:
        raise UsageError(f"{output}: the forms of a comparison are {', '.join(_FORMS)}, or a folder with all of them.")
    return output.suffix


def _show(found: Comparison, *, everything: bool) -> None:
    """Print the finding, then the rows it rests on: those that could be tested, or all."""
    from genaipa.cli import console as screen
    from genaipa.reports import render

    table, tested = found.table, found.table.data["test"] != "none"
    if not everything and tested.any():
        table = replace(table, data=table.data[tested])
    for sentence in (f"{table.title}: differences are A \u2212 B.", *found.finding):
        screen.show(screen.printable(sentence))
    headings, rows = render.headings(table), render.rows(table)
    screen.table(headings, rows, right=render.numeric(table), flexible=len(headings) - 1)
    if len(table.data) < len(found.table.data):
        left = screen.number(len(found.table.data) - len(table.data), "row")
        screen.show(f"{left} on too few questions to test: --all shows them too.")
    screen.show(screen.printable(found.method))


def _for_machines(found: Comparison) -> dict[str, Any]:
    """The comparison as JSON has it; a number that can't be had is null."""
    from genaipa.reports.render import as_rows

    return {
        "first": found.first,
        "second": found.second,
        "differing": found.differing,
        "finding": found.finding,
        "method": found.method,
        "rows": as_rows(found.table),
    }


def _write(found: Comparison, output: Path, form: str, *, force: bool) -> None:
    """One file, or a folder with every form of the table and of the figure."""
    from genaipa.reports.figures import differences
    from genaipa.reports.figures.figure import FORMATS, save

    if form:
        with written(output, force=force) as file:
            file.write(_written(found, form).encode())
        return
    figure = differences.forest(found.table, found.first, found.second)
    tables = {output / f"{found.table.name}{each}": each for each in _FORMS}
    for path in (*tables, *(output / f"{figure.name}.{each}" for each in (*FORMATS, "csv") if figure)):
        check_new(path, force=force)
    try:
        output.mkdir(parents=True, exist_ok=True)
        for path, each in tables.items():
            path.write_text(_written(found, each), encoding="utf-8", newline="")
        if figure:
            save(figure, output)
    except OSError as error:
        raise DataError(output, f"can't be written ({error.strerror}).") from None


def _written(found: Comparison, form: str) -> str:
    """The comparison as the text of a file."""
    import msgspec

    from genaipa.reports import render

    if form == ".json":
        return msgspec.json.format(msgspec.json.encode(_for_machines(found)), indent=2).decode() + "\n"
    if form == ".html":
        head = '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>genaipa compare</title>\n'
        return f"{head}{render.as_html(found.table)}\n</html>\n"
    return render.as_csv(found.table) if form == ".csv" else render.as_latex(found.table)
