"""The seam to other people's data: the protocol of a data set.

A data set is a class that fits `Dataset`, by an entry point of the group `genaipa.datasets`. A kind of task brings its
own (`genaipa.kinds.TaskKind.data_sets`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from genaipa.errors import UnknownNameError, UsageError
from genaipa.files.html import format_one_line_repr
from genaipa.kinds import load_kinds
from genaipa.plugins import entry_point_targets, load_object
from genaipa.policies.document import document_layers_and_paths_by_name, load_document
from genaipa.workspace import Workspace, pulled_folder

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from pathlib import Path

    from genaipa.policies.document import Document

Progress = Callable[[int, int], None]
"""Called with (files done, files to fetch) after each file."""

ENTRY_POINTS = "genaipa.datasets"
"""Entry points: name of a data set → its class. Importing its module must be cheap: names are listed often."""


@dataclass(frozen=True, repr=False)
class Pulled:
    """Outcome of a pull: how many files were fetched, kept and unavailable; sentences on defects of the data."""

    folder: Path
    fetched: int
    kept: int
    notes: tuple[str, ...] = ()
    absent: int = 0

    def __repr__(self) -> str:
        absent = f", {self.absent:,} unavailable" if self.absent else ""
        return format_one_line_repr(
            "Pulled", str(self.folder), f"{self.fetched:,} files fetched, {self.kept:,} already here{absent}"
        )


@dataclass
class ImportedStudy:
    """Outcome of an import: runs by system, their numbers of answers and scores, and the names of changed files.

    `notes` are lines that a data set has to say of its data, `facts` the same for machines.
    """

    runs: dict[str, list[str]] = field(default_factory=dict)
    answers: dict[str, int] = field(default_factory=dict)
    scores: dict[str, int] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    facts: dict[str, object] = field(default_factory=dict)


class Dataset(Protocol):
    """Published documents, questions and annotated answers, and perhaps recorded answers of systems.

    `name` is its name in commands, `title` its authors' name for it, `terms` a sentence on its license. A pull provides
    `documents`, `question_sets`, annotated answers, and recordings of `systems` (`published/NAME`).

    One without documents may say how much of it is here (`state`) and what to do next
    (`next_step(workspace)`). One whose parts are data sets `is_joined`.
    """

    name: str
    title: str
    terms: str
    documents: tuple[str, ...]
    question_sets: tuple[str, ...]
    systems: tuple[str, ...]

    def is_pulled(self) -> bool:
        """Tell whether documents, questions and annotated answers were pulled."""
        ...

    def pull(self, *, origin: str | None, offline: bool, progress: Progress | None = None) -> Pulled:
        """Fetch missing files, check them, and write them as genaipa's own below `workspace.pulled()`.

        `origin` is a folder or a URL (default: the published place).
        A GenaipaError if a file is unavailable or isn't the published one; fetched files are kept.
        """
        ...

    def import_study(self, workspace: Workspace) -> ImportedStudy:
        """Write recorded answers and scores as runs; a UsageError if they are not here."""
        ...


_METHODS = ("is_pulled", "pull", "import_study")


def dataset_names() -> list[str]:
    """Return the data sets that can be pulled, shipped ones first."""
    return list(dict.fromkeys((*_dataset_class_paths_by_name(), *_datasets_of_task_kinds_by_name())))


def find_dataset(name: str) -> Dataset:
    """Return the data set of that name; a UsageError if there is none, or if its class can't be loaded."""
    if kind_dataset := _datasets_of_task_kinds_by_name().get(name):
        return kind_dataset
    targets = _dataset_class_paths_by_name()
    if name not in targets:
        raise UnknownNameError("data set", name, dataset_names())
    try:
        dataset: Dataset = load_object(targets[name])()
    except Exception as error:
        raise UsageError(f"the data set {name} can't be loaded ({type(error).__name__}: {error}).") from error
    missing = [attribute for attribute in (*Dataset.__annotations__, *_METHODS) if not hasattr(dataset, attribute)]
    if missing or dataset.name != name:
        problem = f"has no '{missing[0]}'" if missing else f"calls itself '{dataset.name}'"
        raise UsageError(f"the data set {name} {problem}; see genaipa/datasets/base.py for the protocol.")
    return dataset


def pull(name: str, *, origin: str | os.PathLike[str] | None = None, offline: bool = False) -> Pulled:
    """Fetch a data set once, each file checked against its published hash.

    `origin` is a checkout or a mirror's address, in place of the published repository. A GenaipaError if there is no
    data set of that name, or a file is unavailable or isn't the published one.

    >>> try:
    ...     genaipa.pull("genaipabnech")
    ... except genaipa.GenaipaError as error:
    ...     print(error)
    no data set 'genaipabnech': did you mean 'genaipabench'?
    """
    return find_dataset(name).pull(origin=None if origin is None else str(origin), offline=offline)


def iterate_loadable_datasets() -> Iterator[Dataset]:
    """Yield every data set that can be loaded."""
    for name in dataset_names():
        try:
            yield find_dataset(name)
        except UsageError:
            continue  # told when it is named


def find_unpulled_dataset_with_document(document_name: str) -> Dataset | None:
    """Return the data set, not pulled yet, that provides a document of this name."""
    return next(
        (
            dataset
            for dataset in iterate_loadable_datasets()
            if document_name in dataset.documents and not dataset.is_pulled()
        ),
        None,
    )


def load_named_document(workspace: Workspace, name: str) -> Document:
    """Load the document of that name; a UsageError says how to get a published document that isn't here."""
    if name not in document_layers_and_paths_by_name(workspace) and (
        dataset := find_unpulled_dataset_with_document(name)
    ):
        raise UsageError(f"'{name}' has not been fetched yet; fetch it with: genaipa get {dataset.name}")
    return load_document(name, workspace)


def map_recorded_systems_to_datasets() -> dict[str, Dataset]:
    """Return system (`published/NAME`) → the data set that recorded its answers."""
    return {system: dataset for dataset in iterate_loadable_datasets() for system in dataset.systems}


def make_pulled_data_workspace() -> Workspace:
    """Return the pulled data alone, without the user's workspace."""
    return Workspace(home=pulled_folder(), layers=(("pulled", pulled_folder()),))


def _datasets_of_task_kinds_by_name() -> dict[str, Dataset]:
    """Return name → data set of a kind of task."""
    return {name: dataset for kind in load_kinds().values() for name, dataset in kind.data_sets().items()}


def _dataset_class_paths_by_name() -> dict[str, str]:
    """Return name → module:Class."""
    return entry_point_targets(ENTRY_POINTS)
