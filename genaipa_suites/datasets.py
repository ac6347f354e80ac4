"""The data sets of the suites: the published files as they are, from wherever they can be had."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from genaipa.datasets.base import Pulled
from genaipa.datasets.snapshot import Snapshot
from genaipa.errors import DataError, GenaipaError, UsageError, format_shell_command
from genaipa.workspace import cache_folder
from genaipa_suites.baseline import PREFIX
from genaipa_suites.catalog import (
    load_suite_classes,
    suite_data_sources_by_source_name,
    titles_and_suites_of_joining_tasks,
)
from genaipa_suites.data import FOLDER
from genaipa_suites.plan import SuiteOptions, make_suite_run_spec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.datasets.base import Dataset, ImportedStudy, Progress
    from genaipa.workspace import Workspace
    from genaipa_suites.data import SuiteSource
    from genaipa_suites.suite import Suite

_LATER = "Pull again from a source that has them."
_FEW = 4
"""Files that a sentence names; more are counted by their folders."""


class SuiteData:
    """A data set of a suite, which reads its files itself: it has no documents or questions of the procedure."""

    documents: tuple[str, ...] = ()
    question_sets: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()

    def __init__(self, source: SuiteSource) -> None:
        self.source = source
        self.name, self.title, self.terms = source.name, source.title, source.terms.rstrip(".")

    @property
    def state(self) -> str:
        """How much of it was pulled, in words; empty for nothing."""
        count, files = len(self.pulled_files), len(self.source.blobs)
        return "" if not count else "pulled" if count == files else f"pulled, {count} of {files} files"

    @property
    def pulled_files(self) -> list[str]:
        """Its pulled files, by their paths in the repository."""
        return [path for path in self.source.blobs if (self.source.pulled_folder / path).is_file()]

    def is_pulled(self) -> bool:
        """Tell whether any of its files was pulled."""
        return bool(self.pulled_files)

    def pull(self, *, origin: str | None, offline: bool, progress: Progress | None = None) -> Pulled:
        """Fetch the files that the origin has; a GenaipaError where none is to be had, or another content."""
        pulled = make_snapshot(self.source).fetch(origin=origin, offline=offline, progress=progress)
        unpinned = [path for path in self.pulled_files if not self.source.blobs[path]]
        if unpinned:
            note = (
                f"{_list_files_or_count_them_by_folder(unpinned)}: no hash is published; the content is "
                "checked when it is read"
            )
            return replace(pulled, notes=(*pulled.notes, note))
        return pulled

    def import_study(self, workspace: Workspace) -> ImportedStudy:  # noqa: ARG002 - of the protocol
        """Raise a UsageError that says what to do instead: a suite's published figures are in its report."""
        raise UsageError(
            f"{self.title} has no runs to import: a run's report shows its published figures beside your systems. "
            f"See: {format_shell_command('genaipa', 'get', self.name)}"
        )

    def next_step(self, workspace: Workspace) -> str:
        """Return the command that asks a baseline about the first readable split; else why none can be asked."""
        name, suite = _find_suite_name_and_class_of_source(self.source)
        if suite is None:
            return _format_baseline_run_command(name, suite, "SPLIT")
        reasons = []
        for split in suite.splits:
            spec = make_suite_run_spec(name, SuiteOptions(split))
            try:
                suite(spec, workspace).load(split)
            except GenaipaError as error:
                reasons.append(str(error))
            else:
                return _format_baseline_run_command(name, suite, split)
        reason = next((error for error in reasons if f"get {self.name}'" in error), reasons[0])
        return f"no split of {name} can be used yet: {reason}"


class JoinedData(SuiteData):
    """The data of the suites that a task joins, under its name: each suite's of the same name."""

    is_joined = True

    def __init__(self, name: str, title: str, parts: Sequence[str]) -> None:
        self.name, self.title = name, title
        self.parts = [
            SuiteData(source) for part, source in suite_data_sources_by_source_name().items() if part in parts
        ]
        self.terms = "; ".join(f"{part.title}: {part.terms}" for part in self.parts)

    @property
    def pulled_files(self) -> list[str]:
        """The pulled files of all its parts."""
        return [path for part in self.parts for path in part.pulled_files]

    def pull(self, *, origin: str | None, offline: bool, progress: Progress | None = None) -> Pulled:
        """Fetch the data of all parts; raise the first one's GenaipaError only if nothing could be fetched."""
        pulls: list[Pulled] = []
        refused: list[GenaipaError] = []
        for part in self.parts:
            try:
                pulls.append(part.pull(origin=origin, offline=offline, progress=progress))
            except DataError:
                raise
            except GenaipaError as error:
                refused.append(error)
        if not pulls:
            raise refused[0]
        notes = (*(note for part in pulls for note in part.notes), *map(str, refused))
        fetched_count, present, absent_count = (
            sum(getattr(part, name) for part in pulls) for name in ("fetched", "kept", "absent")
        )
        return Pulled(cache_folder(), fetched_count, present, notes, absent_count)

    def next_step(self, workspace: Workspace) -> str:  # noqa: ARG002 - asked are those suites whose data are here
        """Return the command that asks them all."""
        return format_shell_command("genaipa", "run", "--suite", self.name, "--system", "SYSTEM")


def make_datasets_of_suites() -> dict[str, Dataset]:
    """Return name → data set of every suite, or of a task that joins several."""
    joined = {
        name: JoinedData(name, *joined_task) for name, joined_task in titles_and_suites_of_joining_tasks().items()
    }
    return {**{name: SuiteData(source) for name, source in suite_data_sources_by_source_name().items()}, **joined}


def make_snapshot(source: SuiteSource) -> Snapshot:
    """Return a source's files as they are pulled: each where it can be had, at least one in all."""
    name, suite = _find_suite_name_and_class_of_source(source)

    class Files(Snapshot):
        dataset = source.name
        title = source.title
        repository = source.repository
        optional = ("",)
        scattered = True
        shipped = _format_baseline_run_command(name, suite, "sample")
        further_remedy = f"; your own data, in the same layout, goes into {FOLDER}/{name}/ of a workspace"

        def describe_missing_optional_files(self, absent: list[str]) -> str:
            present = [path for path in self.blobs if path not in absent]
            return (
                f"{_list_files_or_count_them_by_folder(present)} fetched; not available from this source: "
                f"{_list_files_or_count_them_by_folder(absent)}. "
                f"{source.remedy or _LATER}"
            )

    return Files(source.commit, source.blobs)


def _find_suite_name_and_class_of_source(source: SuiteSource) -> tuple[str, type[Suite] | None]:
    """Return the suite that reads a source, with its name: the one of the same name, else the first."""
    reading = {name: suite for name, suite in load_suite_classes().items() if source in suite.data}
    if source.name in reading:
        return source.name, reading[source.name]
    return next(iter(reading.items()), (source.name, None))


def _format_baseline_run_command(suite_name: str, suite: type[Suite] | None, split: str) -> str:
    """Return the command that asks a baseline of a suite, preferring one that reads the text."""
    baselines = suite.baselines if suite else ()
    baseline = next((candidate for candidate in baselines if candidate.kind == "rule"), next(iter(baselines), None))
    system = PREFIX + baseline.name if baseline else "SYSTEM"
    return format_shell_command("genaipa", "run", "--suite", suite_name, "--split", split, "--system", system)


def _list_files_or_count_them_by_folder(paths: list[str]) -> str:
    """Return a few files by name, or more of them as folders with their numbers of files."""
    if len(paths) <= _FEW:
        return ", ".join(paths)
    folders = Counter(path.rpartition("/")[0] for path in paths)
    return ", ".join(f"{folder}/ ({count})" for folder, count in sorted(folders.items()))
