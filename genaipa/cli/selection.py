"""The choice of runs that a command is about: by name, system, document, experiment and date."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli import completion
from genaipa.cli.options import option
from genaipa.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import RunSpec

RunsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        autocompletion=completion.runs_and_systems,
        help="Runs, or systems for all of their runs; by default, every run of the workspace.",
    ),
]
SystemOption = Annotated[
    list[str] | None, option("--system", "-s", autocompletion=completion.runs_and_systems, help="Only these systems.")
]
PolicyOption = Annotated[
    list[str] | None,
    option("--policy", "-p", autocompletion=completion.documents, help="Only these documents."),
]
ExperimentOption = Annotated[
    list[str] | None,
    option("--experiment", "-e", autocompletion=completion.experiments, help="Only these experiments."),
]
SinceOption = Annotated[
    str | None,
    option("--since", metavar="DATE", help="Only runs begun since 2026-01-31, or in the last so many days: 7d."),
]
ByOption = Annotated[
    str,
    option(
        "--by", metavar="COLUMN", help="Groups of documents apart, by a column of their corpus: sector, language, …"
    ),
]
WithoutOption = Annotated[
    list[str] | None,
    option(
        "--without",
        autocompletion=completion.runs_and_systems,
        metavar="NAME",
        help="Leave out these systems or runs; published leaves out the published study.",
    ),
]


@dataclass(frozen=True)
class Selection:
    """Filters on answers and scores; an empty filter selects everything."""

    systems: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    experiments: tuple[str, ...] = ()
    since: str = ""
    """A day, as 2026-01-31."""
    without: tuple[str, ...] = ()
    without_runs: tuple[str, ...] = ()
    """Parts of the names of runs to leave out; see `checked`."""

    def systems_of(self, folder: RunFolder, spec: RunSpec, created: str) -> tuple[str, ...]:
        """The selected systems of a run; none if the run is not selected."""
        if self.since and created[:10] < self.since:
            return ()
        if self.documents and not set(self.documents) & set(spec.documents):
            return ()
        if any(name in folder.name for name in self.without_runs):
            return ()
        wanted = (name for name in spec.systems if not self.systems or _among(name, self.systems))
        return tuple(name for name in wanted if not _among(name, self.without))

    def in_words(self) -> str:
        """The filters that are set; empty where none is."""
        named = {
            "systems": self.systems,
            "documents": self.documents,
            "experiments": self.experiments,
            "since": self.since and (self.since,),
            "without": self.without,
        }
        return "; ".join(f"{what} {', '.join(names)}" for what, names in named.items() if names)

    def checked(self, systems: Iterable[str], documents: Iterable[str], runs: Iterable[str]) -> Selection:
        """The same, with what to leave out told apart: a name that is no system's is a run's, or a part of it.

        An UnknownNameError for a filter that names nothing of what there is; a misspelt one would go unnoticed. That
        there is nothing published to leave out is no mistake.
        """
        from genaipa.systems.provider import providers

        systems, runs = set(systems), set(runs)
        known_systems = {name for name in self.systems + self.without if any(_among(one, (name,)) for one in systems)}
        for name in self.systems:
            if name not in known_systems:
                raise UnknownNameError("system in these runs", name, systems)
        others = tuple(name for name in self.without if name not in known_systems)
        recorded = {provider.name for provider in providers() if provider.words == "recording"}
        for name in others:
            if name not in recorded and not any(name in run for run in runs):
                raise UnknownNameError("system or run in these runs", name, systems | runs)
        for name in self.documents:
            if name not in (known := set(documents)):
                raise UnknownNameError("policy in these runs", name, known)
        return replace(self, without_runs=others)


def _among(system: str, names: Iterable[str]) -> bool:
    """Whether a system is one of these, or of a provider among them: `published` has `published/bard`."""
    return any(system == name or system.startswith(f"{name.rstrip('/')}/") for name in names)


def day(text: str | None) -> str:
    """Parse --since into a day, as 2026-01-31; empty where it isn't given. A UsageError for anything else."""
    if text is None:
        return ""
    ago = re.fullmatch(r"(\d{1,5})d", text)
    try:
        if ago:
            return (dt.datetime.now(dt.UTC).date() - dt.timedelta(days=int(ago[1]))).isoformat()
        return dt.date.fromisoformat(text).isoformat()
    except (ValueError, OverflowError):
        raise UsageError(f"--since {text}: write a day, such as 2026-01-31, or a number of days, such as 7d.") from None
