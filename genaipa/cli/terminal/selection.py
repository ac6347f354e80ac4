"""The runs that a command is about, by name, system, document, experiment and date."""

from __future__ import annotations

import datetime as dt
import functools
import inspect
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.options import option, split_names
from genaipa.errors import UsageError
from genaipa.runs.filters import Filters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from genaipa.runs.folder import RunFolder
    from genaipa.workspace import Workspace


RunsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        autocompletion=completion.runs_and_systems,
        help="Runs, or systems for all of their runs; by default, every run of the workspace.",
    ),
]
_System = Annotated[
    list[str] | None,
    option("--system", "-s", autocompletion=completion.runs_and_systems, help="Only these systems."),
]
_Policy = Annotated[
    list[str] | None,
    option("--policy", "-p", autocompletion=completion.documents, help="Only these documents."),
]
_Experiment = Annotated[
    list[str] | None,
    option("--experiment", "-e", autocompletion=completion.experiments, help="Only these experiments."),
]
_Since = Annotated[
    str | None,
    option("--since", metavar="DATE", help="Only runs started since this date (2026-01-31), or in the last days (7d)."),
]
ByOption = Annotated[
    str,
    option(
        "--by", metavar="COLUMN", help="Report groups of documents by a column of their corpus: sector, language, …"
    ),
]
_Without = Annotated[
    list[str] | None,
    option(
        "--without",
        autocompletion=completion.runs_and_systems,
        metavar="NAME",
        help="Leave out these systems or runs; published leaves out the published study.",
    ),
]
_FILTERS = {
    "system": _System,
    "policy": _Policy,
    "experiment": _Experiment,
    "since": _Since,
    "without": _Without,
}


def check_run_and_system_names(workspace: Workspace, *names: str) -> None:
    """Raise an UnknownNameError for a name of no run and no system here, before anything that takes seconds."""
    from genaipa.runs.selection import find_runs_by_system_or_run_names

    if names:
        find_runs_by_system_or_run_names(workspace, names)


def print_study_slice_problems(workspace: Workspace, runs: Iterable[RunFolder]) -> None:
    """Say on stderr which slices of these runs' studies are lost, and which only bear a study's name."""
    from genaipa.cli.terminal.console import print_to_stderr
    from genaipa.runs.selection import describe_study_problems

    for sentence in describe_study_problems(workspace, (run.read_manifest_head().slice for run in runs)):
        print_to_stderr(sentence)


def add_filter_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the five filters as options to a command, which gets them as its argument `only`."""
    signature = inspect.signature(command, eval_str=True)
    parameters = list(signature.parameters.values())
    position = list(signature.parameters).index("only")
    kind = parameters[position].kind
    parameters[position : position + 1] = [
        inspect.Parameter(name, kind, default=None, annotation=annotation) for name, annotation in _FILTERS.items()
    ]

    @functools.wraps(command)
    def run_with_filters(**given: Any) -> None:
        lists = (split_names(given.pop(name)) for name in ("system", "policy", "experiment", "without"))
        systems, documents, experiments, without = lists
        only = Filters(systems, documents, experiments, parse_day_or_days_ago_as_iso_day(given.pop("since")), without)
        command(**given, only=only)

    run_with_filters.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run_with_filters.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run_with_filters


def parse_day_or_days_ago_as_iso_day(text: str | None) -> str:
    """Parse --since into a day, as 2026-01-31; empty where it isn't given. A UsageError for anything else."""
    if text is None:
        return ""
    ago = re.fullmatch(r"(\d{1,5})d", text)
    try:
        if ago:
            return (dt.datetime.now(dt.UTC).date() - dt.timedelta(days=int(ago[1]))).isoformat()
        return dt.date.fromisoformat(text).isoformat()
    except (ValueError, OverflowError):
        raise UsageError(f"--since {text}: give a date, such as 2026-01-31, or a number of days, such as 7d.") from None
