"""`genaipa compare`: two systems, or two runs, side by side."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import caveat, caveats, explain, follow, print_json, say, show, show_table
from genaipa.cli.terminal.console import table as print_table
from genaipa.cli.terminal.options import (
    ExcludedOption,
    ForceOption,
    FormatsOption,
    GateOption,
    JsonOption,
    check_new,
    current_workspace,
    figure_formats,
    option,
    several,
    written,
)
from genaipa.errors import DataError, UnscoredError, UsageError, command
from genaipa.kinds import kind_of
from genaipa.words import number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from genaipa.reports.chapters.chapter import Against
    from genaipa.reports.comparison import Comparison
    from genaipa.reports.figures.figure import Format
    from genaipa.reports.gate import Gate
    from genaipa.reports.table import Table
    from genaipa.runs.selection import Source
    from genaipa.workspace import Workspace

_COLUMNS = {
    "measure": "measure",
    "questions": "questions",
    "n": "n",
    "A": "mean_a",
    "B": "mean_b",
    "A \u2212 B": "difference",
    "for these documents": "interval",
    "p": "p_holm",
    "for policies like these": "policies_interval",
    "p, policies": "policies_p_holm",
    "meaning": "meaning",
}
"""Heading on the terminal → column under it; files have all columns."""
_ALWAYS = ("measure", "A", "B", "A \u2212 B", "for these documents", "p", "meaning")
"""Headings of the columns that are shown without --all."""


_ExperimentOption = Annotated[
    list[str] | None,
    option(
        "--experiment",
        "-e",
        autocompletion=completion.experiments,
        help="Only these; by default, all but regulation.",
    ),
]
_MarkdownOption = Annotated[
    Path | None, option("--md", metavar="FILE", help="Write a summary in Markdown, as for a pull request.")
]
_JudgeOption = Annotated[
    # Not from the environment, as `judge` has it: that would take people's scores away without a word.
    str, typer.Option("--judge", metavar="NAME", help="Take a judge's verdicts alone: no estimate of people's scores.")
]
_OutputOption = Annotated[
    Path | None,
    option("--output", "-o", metavar="PATH", help="A .csv, .tex or .json file; or a folder for all."),
]


def compare(
    first: Annotated[
        str,
        typer.Argument(metavar="A", autocompletion=completion.runs_and_systems, help="A system, a run, or RUN:SYSTEM."),
    ],
    second: Annotated[
        str,
        typer.Argument(
            metavar="B", autocompletion=completion.runs_and_systems, help="The system or run to compare it with."
        ),
    ],
    experiment: _ExperimentOption = None,
    include_excluded: ExcludedOption = False,
    anyway: Annotated[
        bool, option("--anyway", help="Compare the common part where documents, questions, prompts or rubric differ.")
    ] = False,
    everything: Annotated[
        bool,
        option("--all", help="Show rows on too few questions, and all measures, too; files have them anyway."),
    ] = False,
    judge: _JudgeOption = "",
    gate: GateOption = None,
    md: _MarkdownOption = None,
    output: _OutputOption = None,
    formats: FormatsOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Compare two systems or runs, with intervals.

    Differences are A minus B, question by question, with intervals and tests for these documents and for policies like
    these, adjusted within families, and effect sizes; for all questions, by source, and by category. In suites they are
    item by item, with intervals. For the gate A is the old release and B the new one: it goes by what B lost for sure.
    """
    from genaipa.reports import check_packages
    from genaipa.runs.selection import sources_of

    here, only = current_workspace(), several(experiment)
    # Names first: what reports need takes a second to import.
    sides = [sources_of(here, side) for side in (first, second)]
    check_packages()
    from genaipa.reports import comparison
    from genaipa.reports.gate import LOST, Gate

    here.check_output(output)
    form = _check_files(output, md, force=force)
    wanted = _formats(formats, folder=output is not None and not form)
    people = all(any(kind_of(one.manifest.spec.kind).people for one in sources) for sources in sides)
    alone = bool(only or judge or md or gate is not None)
    own = {} if alone else _by_rule(here, first, second, sides, people=people)
    found = None
    if people or not own:
        try:
            found = comparison.compare(
                first, second, experiments=only, excluded=include_excluded, anyway=anyway, judge=judge, workspace=here
            )
        except UnscoredError as error:
            if not own:
                raise
            say(f"Answers to questions are not compared: {error}")
    if found is None:
        _show_rule_scored(own, output, form, formats, force=force, everything=everything, json=json)
        return
    for problem in found.problems:
        say(problem)
    held = Gate(found, gate) if gate is not None else None
    runs = sorted({one.folder.name for side in sides for one in side})
    if output:
        _write(found, output, form, wanted, force=force)
        say(f"Written to {output}.")
    if md:
        _write_markdown(here, found, held, md, output, runs, force=force)
    if json:
        print_json(found.as_json() | (held.as_json() if held else {}) | _rows_by_rule(own))
    else:
        _show(found, held, runs, everything=everything)
        _print_own(own, everything=everything, json=False)
    if held and held.is_failing:
        raise typer.Exit(LOST)


def _rows_by_rule(own: Mapping[str, Against]) -> dict[str, object]:
    """Return the differences in what is scored by a rule, for machines."""
    from genaipa.reports.render import as_rows

    return {name: as_rows(one.table) for name, one in own.items()}


def _show_rule_scored(
    own: Mapping[str, Against],
    output: Path | None,
    form: str,
    formats: list[str] | None,
    *,
    force: bool,
    everything: bool,
    json: bool,
) -> None:
    """Write and print the differences in what is scored by a rule, where no answer is compared by people's scores."""
    if output:
        _write_own(next(iter(own.values())).table, output, form, formats, force=force)
        say(f"Written to {output}.")
    _print_own(own, everything=everything, json=json)


def _write_markdown(
    here: Workspace,
    found: Comparison,
    gate: Gate | None,
    path: Path,
    output: Path | None,
    runs: Sequence[str],
    *,
    force: bool,
) -> None:
    """Write the summary for a pull request, with the way to what was written beside it, or to a report."""
    from genaipa.reports.pull_request import as_markdown, find_changed_answers, link_report, name_report

    more = link_report(output, path) if output else name_report(runs)
    with written(path, force=force) as file:
        file.write(as_markdown(found, find_changed_answers(found, here), gate=gate, report=more).encode())
    say(f"Written to {path}.")


def _by_rule(
    here: Workspace, first: str, second: str, sides: Sequence[Sequence[Source]], *, people: bool
) -> dict[str, Against]:
    """Compare them where a rule scores; a UsageError for nothing at all in common."""
    from genaipa.reports.chapters.chapter import result_classes

    classes = result_classes([source for sources in sides for source in sources])
    found = {one.name: one.against(here, first, second) for one in classes}
    shared = {name: one for name, one in found.items() if one.table}
    if not shared and not people:
        raise UsageError(
            f"{first} and {second} have no questions and no suite's items in common; ask both alike, then compare."
        )
    for one in found.values():
        for problem in one.problems:
            say(problem)
    return shared


def _print_own(found: Mapping[str, Against], *, everything: bool, json: bool) -> None:
    """Print the differences in what is scored by a rule: in the main measures, or in all."""
    for one in found.values():
        if json:
            print_json(_facts(one.table))
            continue
        some = one.table if everything else one.main
        show_table(some)
        if len(some.data) < len(one.table.data):
            show(f"{number(len(one.table.data) - len(some.data), 'row')} of further measures: --all shows them too.")


def _facts(table: Table) -> dict[str, object]:
    from genaipa.reports.render import as_rows

    return {"title": table.title, "method": table.note, "rows": as_rows(table)}


def _write_own(table: Table, output: Path, form: str, formats: list[str] | None, *, force: bool) -> None:
    """Write the differences in what is scored by a rule into a file, or a folder where there is no `form`.

    A UsageError where formats of figures are asked for, of which there are none.
    """
    if formats:
        raise UsageError("Items of suites are compared in tables, without a figure: leave out --formats.")
    import msgspec

    from genaipa.reports.render import FORMS
    from genaipa.reports.writing import write_table

    if form:
        as_json = msgspec.json.format(msgspec.json.encode(_facts(table)), indent=2).decode() + "\n"
        text = as_json if form == ".json" else FORMS[form](table)
        with written(output, force=force) as file:
            file.write(text.encode())
        return
    try:
        output.mkdir(parents=True, exist_ok=True)
        write_table(table, output)
    except OSError as error:
        raise DataError(output, f"can't be written ({error.strerror}).") from None


def _formats(given: list[str] | None, *, folder: bool) -> tuple[Format, ...]:
    """Return the formats of the figures; a UsageError for an unknown one, and where no folder is to be written."""
    wanted = figure_formats(given, ("png", "svg", "pdf"))
    if given and not folder:
        raise UsageError("--formats is for the figures in a folder: add -o FOLDER.")
    return wanted


def _check_files(output: Path | None, md: Path | None, *, force: bool) -> str:
    """Return the suffix of the output; empty for a folder. A UsageError for a file that may not be written."""
    if md:
        check_new(md, force=force)
    if output is None or output.is_dir() or not output.suffix:
        return ""
    from genaipa.reports.comparison import FORMS

    if output.suffix not in FORMS:
        raise UsageError(f"{output}: the forms of a comparison are {', '.join(FORMS)}, or a folder with all of them.")
    check_new(output, force=force)
    return output.suffix


def _show(found: Comparison, gate: Gate | None, runs: Sequence[str], *, everything: bool) -> None:
    """Print the finding on these runs, the gate's, then the rows they rest on by family: those on all, or every one."""
    table, tested = found.table, found.frame["test"] != "none"
    main = table.data["questions"] == "all"
    if not everything and main.any():
        table = replace(table, data=table.data[tested & main if (tested & main).any() else main])
    show(found.verdict)
    if gate:
        show(str(gate))
    caveat(f"{_limits(found)} A is {found.first}, B {found.second}.")
    caveats([one for one in (found.favoured, found.answered) if one])
    short = [] if everything else [name for name in _COLUMNS if name not in _ALWAYS]
    columns = {head: column for head, column in _COLUMNS.items() if head not in short}
    print_table(list(columns), _rows(table, columns), right=range(2, len(columns) - 1))
    if len(table.data) < len(found.frame):
        follow(f"{number(len(found.frame) - len(table.data), 'more row')}: --all")
    if found.judge and found.scored_throughout:
        follow(f"Next: {command('genaipa', 'compare', found.first, found.second)} (people scored all of the answers)")
    elif found.judge:
        follow(f"Next: {command('genaipa', 'sample', *runs)} (people score a random part)")
    explain(f"{table.title}: differences are A \u2212 B.", *found.finding, found.method, hint="Method: --explain")


def _limits(found: Comparison) -> str:
    """Say what the result is worth for other documents, and the size of a difference that would be found."""
    row = found.frame.iloc[0].to_dict()
    read = {
        name: found.table.format_cell(name, row[name]) for name in ("policies_low", "policies_high", "policies_p_holm")
    }
    said, early = "Nothing can be said about other policies.", str(found.evidence)
    if read["policies_low"]:
        said = (
            f"For policies like these: {read['policies_low']} to {read['policies_high']}, p {read['policies_p_holm']}."
        )
    power = next(
        (re.search(r"difference in \S+ of ([\d.]+)", one) for one in found.finding if one.startswith("Power")), None
    )
    said += f" A study of this size detects a difference of {power[1]} points with 80 % probability." if power else ""
    return f"{said} {early}" if early else said


def _rows(table: Table, columns: Mapping[str, str]) -> Iterator[list[str] | str]:
    """The rows of each family under its name; p is the adjusted one."""
    for family, data in table.data.groupby("family", sort=False):
        yield f"{str(family)[0].upper()}{str(family)[1:]}"
        for row in data.to_dict("records"):
            written = {str(name): table.format_cell(str(name), value) for name, value in row.items()}
            for target in ("", "policies_"):
                low, high = written[f"{target}low"], written[f"{target}high"]
                written[f"{target}interval"] = f"{low} to {high}" if low else ""
            if "higher" in written["meaning"] and row["low"] <= 0 <= row["high"]:
                written["meaning"] = "by ranks alone"
            yield [written[name] for name in columns.values()]


def _write(found: Comparison, output: Path, form: str, formats: Sequence[Format], *, force: bool) -> None:
    """One file, or a folder with every form of the table, and the figures."""
    from genaipa.reports.comparison import FORMS
    from genaipa.reports.figures.figure import file_paths, save
    from genaipa.reports.render import as_latex

    if form:
        with written(output, force=force) as file:
            file.write(found.as_text(form).encode())
        return
    texts = {output / f"{found.table.name}{each}": found.as_text(each) for each in FORMS}
    if found.groups:
        texts[output / f"{found.groups.name}.tex"] = as_latex(found.groups)
    figures = found.figures
    for path in (*texts, *(path for figure in figures for path in file_paths(figure, output, formats))):
        check_new(path, force=force)
    try:
        output.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8", newline="")
        for figure in figures:
            save(figure, output, formats)
    except OSError as error:
        raise DataError(output, f"can't be written ({error.strerror}).") from None
