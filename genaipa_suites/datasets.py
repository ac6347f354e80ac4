"""The data sets of the suites: the published files as they are, from wherever they can be had."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from genaipa.datasets.base import Pulled
from genaipa.datasets.snapshot import Snapshot
from genaipa.errors import DataError, GenaipaError, UsageError, command
from genaipa.workspace import cache
from genaipa_suites.baseline import PREFIX
from genaipa_suites.catalog import joining, sources, suites
from genaipa_suites.data import FOLDER
from genaipa_suites.plan import SuitePlan, spec_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.datasets.base import Dataset, Imported, Progress
    from genaipa.workspace import Workspace
    from genaipa_suites.data import SuiteSource
    from genaipa_suites.suite import Suite

_LATER = "Pull again from a place that has them."
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
        """The part of it that was pulled, in words; empty for nothing."""
        here, files = len(self.here), len(self.source.blobs)
        return "" if not here else "pulled" if here == files else f"pulled, {here} of {files} files"

    @property
    def here(self) -> list[str]:
        """Its pulled files, by their paths in the repository."""
        return [path for path in self.source.blobs if (self.source.folder / path).is_file()]

    def available(self) -> bool:
        """Whether any of its files was pulled."""
        return bool(self.here)

    def pull(self, *, origin: str | None, offline: bool, progress: Progress | None = None) -> Pulled:
        """Fetch the files that the origin has; a GenaipaError where none is to be had, or another content."""
        pulled = files(self.source).fetch(origin=origin, offline=offline, progress=progress)
        unpinned = [path for path in self.here if not self.source.blobs[path]]
        if unpinned:
            said = f"{_named(unpinned)}: known by no hash, and checked by the content when it is read"
            return replace(pulled, notes=(*pulled.notes, said))
        return pulled

    def import_study(self, workspace: Workspace) -> Imported:  # noqa: ARG002 - of the protocol
        """Raise a UsageError that says what to do instead: a suite's published figures are in its report."""
        raise UsageError(
            f"{self.title} has no runs to import: its published figures are in the report of a run, beside the "
            f"systems asked. See: {command('genaipa', 'get', self.name)}"
        )

    def next_step(self, workspace: Workspace) -> str:
        """The command that asks a baseline about the first split that can be read; else the reason why none can."""
        name, suite = _asking(self.source)
        if suite is None:
            return _command(name, suite, "SPLIT")
        reasons = []
        for split in suite.splits:
            spec = spec_of(name, SuitePlan(split))
            try:
                suite(spec, workspace).load(split)
            except GenaipaError as error:
                reasons.append(str(error))
            else:
                return _command(name, suite, split)
        own = next((reason for reason in reasons if f"get {self.name}'" in reason), reasons[0])
        return f"nothing of {name} can be asked yet: {own}"


class JoinedData(SuiteData):
    """The data of the suites that a task joins, under its name: each suite's of the same name."""

    is_joined = True

    def __init__(self, name: str, title: str, parts: Sequence[str]) -> None:
        self.name, self.title = name, title
        self.each = [SuiteData(source) for one, source in sources().items() if one in parts]
        self.terms = "; ".join(f"{one.title}: {one.terms}" for one in self.each)

    @property
    def here(self) -> list[str]:
        """The files of all of them that were pulled."""
        return [path for one in self.each for path in one.here]

    def pull(self, *, origin: str | None, offline: bool, progress: Progress | None = None) -> Pulled:
        """Fetch one after another what the origin has; the first one's GenaipaError where it has none of any."""
        done: list[Pulled] = []
        refused: list[GenaipaError] = []
        for one in self.each:
            try:
                done.append(one.pull(origin=origin, offline=offline, progress=progress))
            except DataError:
                raise
            except GenaipaError as error:
                refused.append(error)
        if not done:
            raise refused[0]
        notes = (*(note for one in done for note in one.notes), *map(str, refused))
        fetched, kept, absent = (sum(getattr(one, name) for one in done) for name in ("fetched", "kept", "absent"))
        return Pulled(cache(), fetched, kept, notes, absent)

    def next_step(self, workspace: Workspace) -> str:  # noqa: ARG002 - asked are those suites whose data are here
        """The command that asks them all."""
        return command("genaipa", "run", "--suite", self.name, "--system", "SYSTEM")


def every() -> dict[str, Dataset]:
    """Name → data set of every suite, or of a task that joins several."""
    joined = {name: JoinedData(name, *known) for name, known in joining().items()}
    return {**{name: SuiteData(source) for name, source in sources().items()}, **joined}


def files(source: SuiteSource) -> Snapshot:
    """The files of a source as they are pulled: each where it can be had, at least one in all."""
    name, suite = _asking(source)

    class Files(Snapshot):
        dataset = source.name
        title = source.title
        repository = source.repository
        optional = ("",)
        scattered = True
        shipped = _command(name, suite, "sample")
        otherwise = f"; data of your own, laid out alike, goes into {FOLDER}/{name}/ of a workspace"

        def absence(self, absent: list[str]) -> str:
            here = [path for path in self.blobs if path not in absent]
            return f"{_named(here)}: here; not here: {_named(absent)}. {source.remedy or _LATER}"

    return Files(source.commit, source.blobs)


def _asking(source: SuiteSource) -> tuple[str, type[Suite] | None]:
    """The suite that reads a source, with its name: the one of the same name, else the first."""
    reading = {name: suite for name, suite in suites().items() if source in suite.data}
    if source.name in reading:
        return source.name, reading[source.name]
    return next(iter(reading.items()), (source.name, None))


def _command(name: str, suite: type[Suite] | None, split: str) -> str:
    """The command that asks a baseline of a suite, one that reads the text if there is one."""
    known = suite.baselines if suite else ()
    baseline = next((one for one in known if one.kind == "rule"), next(iter(known), None))
    system = PREFIX + baseline.name if baseline else "SYSTEM"
    return command("genaipa", "run", "--suite", name, "--split", split, "--system", system)


def _named(paths: list[str]) -> str:
    """The files, if they are few, else their folders with how many are in each."""
    if len(paths) <= _FEW:
        return ", ".join(paths)
    folders = Counter(path.rpartition("/")[0] for path in paths)
    return ", ".join(f"{folder}/ ({count})" for folder, count in sorted(folders.items()))
