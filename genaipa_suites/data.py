"""Published data of a suite: its files, where they come from and where they are found here, and the rows of papers.

Nothing of the files ships. A file is looked for in `suites/NAME/` of the workspace, then in `shipped/NAME/` here
(made-up items of ours), then among the pulled data: so a user's own data in the same form is one more split, by its
files' names. What papers print for a suite is beside its code (`published.yaml`).
The cross-walk, from suites' categories of practices to the paper's categories of questions, is a data file, too.
"""

from __future__ import annotations

import csv
import hashlib
import inspect
import io
import lzma
import sys
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated

import msgspec

from genaipa import workspace
from genaipa.errors import DataError, UsageError, name_suggestion
from genaipa.files.strict_yaml import read_yaml
from genaipa.files.text import hash_like_pinned_hash
from genaipa.questions.sets import load_question_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from genaipa.workspace import Workspace
    from genaipa_suites.suite import Suite

FOLDER = "suites"
"""Of a workspace; what ships in the same form is beside this file."""
SHIPPED = Path(__file__).with_name("shipped")
_POINTER = b"version https://git-lfs.github.com/spec/"


def workspace_and_shipped_data_folders(workspace: Workspace) -> Iterator[Path]:
    """Yield the folders with data of suites, nearest first: the workspace's, and the shipped one."""
    for layer, folder in workspace.layers:
        if layer != "pulled":
            yield SHIPPED if layer == "shipped" else folder / FOLDER


class FaultsError(DataError):
    """Everything that is wrong with a file: names the first problem, and holds all as `errors`."""

    def __init__(self, errors: Sequence[DataError]) -> None:
        first, further = errors[0], len(errors) - 1
        also = f" genaipa validate lists {further} more {'problem' if further == 1 else 'problems'}." if further else ""
        super().__init__(first.path, f"{first.problem}{also}", first.entry)
        self.errors = tuple(errors)


@dataclass(frozen=True)
class SuiteSource:
    """A data set of a suite: files of one commit of a public repository, each with its git blob hash.

    In place of the hash may be its first digits, the SHA-256 that a Git-LFS pointer states, or nothing: such a file its
    loader checks.
    `terms` is a sentence on its license. A pull takes the files that its origin has, and refuses any other
    content than the published one. `remedy` says what else to do where no snapshot has the files.
    """

    name: str
    title: str
    repository: str
    commit: str
    blobs: Mapping[str, str]
    terms: str
    remedy: str = ""

    @property
    def pulled_folder(self) -> Path:
        """The folder of the pulled files, laid out as in the repository."""
        return workspace.cache_folder() / self.name / self.commit


@dataclass
class DataFiles:
    """The files of one suite. `read_and_digest` gives a file by its path in its repository, and keeps its digest."""

    suite: str
    sources: tuple[SuiteSource, ...]
    workspace: Workspace
    digests: dict[str, str] = field(default_factory=dict)
    """Path → SHA-256 of the files that were read."""
    own_files: dict[str, Path] = field(default_factory=dict)
    """Files that were not pulled: of the workspace, or shipped."""
    changed: list[str] = field(default_factory=list)
    """Those of `own_files`, in the order of reading, whose hash is not that of the published file."""

    def find(self, repository_path: str) -> Path | None:
        """Return the path of a file, or None if it is not here."""
        return self._find_own_or_shipped_file(repository_path) or self._find_pulled_file(repository_path)

    def read_and_digest(self, repository_path: str) -> bytes:
        """Read a file; a UsageError with the remedy where it is not here, a DataError for a Git-LFS pointer."""
        own_path = self._find_own_or_shipped_file(repository_path)
        file = own_path or self._find_pulled_file(repository_path)
        if file is None:
            raise UsageError(self._missing_file_message_with_remedy(repository_path))
        content = file.read_bytes()
        if content.startswith(_POINTER):
            raise DataError(file, "is a Git-LFS pointer, not the file itself; run 'git lfs pull' where you cloned it.")
        self.digests[repository_path] = hashlib.sha256(content).hexdigest()
        if own_path:
            self.own_files[repository_path] = own_path
            pinned = next(
                (source.blobs[repository_path] for source in self.sources if source.blobs.get(repository_path)), ""
            )
            if repository_path not in self.changed and (not pinned or hash_like_pinned_hash(pinned, content) != pinned):
                self.changed.append(repository_path)
        return content

    def text(self, repository_path: str) -> str:
        """Return the content of a UTF-8 file, unpacked if it is an `.xz`; a DataError for any other encoding."""
        content = self.read_and_digest(repository_path)
        try:
            return (lzma.decompress(content) if repository_path.endswith(".xz") else content).decode("utf-8-sig")
        except lzma.LZMAError:
            raise self.make_error_with_remedy(repository_path, "can't be unpacked") from None
        except UnicodeDecodeError:
            raise self.make_error_with_remedy(repository_path, "is not UTF-8") from None

    def read_numbered_csv_rows(
        self, repository_path: str, columns: Sequence[str], *, has_header: bool = True
    ) -> Iterator[tuple[str, list[str]]]:
        """Yield each row of a CSV file as its place and its fields in these columns.

        Without `has_header` there is no row of names, and a row has as many fields as there are columns. Raise a
        DataError for any other file, or one without rows.
        """
        # A text may be longer than the fields that Python's reader takes by default.
        limit = csv.field_size_limit(sys.maxsize)
        entry = "row 0"
        try:
            rows = filter(None, csv.reader(io.StringIO(self.text(repository_path), newline="")))
            names = next(rows, []) if has_header else list(columns)
            if missing := [column for column in columns if column not in names]:
                raise self.make_error_with_remedy(repository_path, f"has no column '{missing[0]}'", "row 1")
            for number, row in enumerate(rows, start=1):
                entry = f"row {number}"
                if len(row) != len(names):
                    expected = f"{len(names)} fields" if has_header else " and ".join(columns)
                    raise self.make_error_with_remedy(
                        repository_path, f"has {len(row)} fields instead of {expected}", entry
                    )
                yield entry, [row[names.index(column)] for column in columns]
        except csv.Error as error:
            raise self.make_error_with_remedy(
                repository_path, f"is not a CSV file ({error})", f"after {entry}"
            ) from None
        finally:
            csv.field_size_limit(limit)
        if entry == "row 0":
            raise self.make_error_with_remedy(repository_path, "has no rows")

    def make_error_with_remedy(self, repository_path: str, problem: str, entry: str = "") -> DataError:
        """Return the error of a faulty file: pulled files have one remedy, for the user's own see the problem."""
        source = next((source.name for source in self.sources if repository_path in source.blobs), self.suite)
        remedy = "correct it" if repository_path in self.own_files else f"pull it again with: genaipa get {source}"
        return DataError(self.find(repository_path) or repository_path, f"{problem}; {remedy}", entry)

    def check_published_counts(
        self, repository_path: str, counts: Mapping[str, int], published_counts: Mapping[str, int]
    ) -> None:
        """Raise a DataError if a published file that was pulled has other counts of things than the published ones."""
        if repository_path not in self.own_files and counts != published_counts:
            summaries = [
                ", ".join(f"{numbers[noun]:,} {noun}" for noun in published_counts)
                for numbers in (counts, published_counts)
            ]
            raise self.make_error_with_remedy(
                repository_path, f"has {summaries[0]}, but the published file has {summaries[1]}"
            )

    def _find_own_or_shipped_file(self, repository_path: str) -> Path | None:
        parts = PurePosixPath(repository_path).parts
        for folder in workspace_and_shipped_data_folders(self.workspace):
            for begin in range(len(parts)):
                file = folder.joinpath(self.suite, *parts[begin:])
                if file.is_file():
                    return file
        return None

    def _find_pulled_file(self, repository_path: str) -> Path | None:
        candidates = (
            source.pulled_folder / repository_path for source in self.sources if repository_path in source.blobs
        )
        return next((candidate for candidate in candidates if candidate.is_file()), None)

    def _missing_file_message_with_remedy(self, repository_path: str) -> str:
        source = next((candidate for candidate in self.sources if repository_path in candidate.blobs), None)
        if source is None:
            folder = self.workspace.home / FOLDER / self.suite
            return (
                f"there is no '{PurePosixPath(repository_path).name}' in {folder}; name a split that exists, or put "
                f"the file there."
            )
        pull = f"genaipa get {source.name}"
        # What is said of one file alone is no remedy for another.
        elsewhere = any(name in source.remedy for name in source.blobs) and repository_path not in source.remedy
        remedy = "" if elsewhere else source.remedy
        return (
            f"'{repository_path}' of {source.title} has not been fetched; run '{pull}', or '{pull} --from FOLDER'. "
            f"{remedy}".strip()
        )


FILE = "published.yaml"
_Percent = Annotated[float, msgspec.Meta(ge=0, le=100)]


class PublishedRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One published row. `values` are percentages by the name of the measure that has the very same definition.

    `source` is the paper and its table, `kind` says how the figures came about ("fine-tuned, mean of five seeds").
    A row that is about a part of the split alone names the `breakdown` and the `group` in it.
    """

    system: str
    source: str
    split: str
    kind: str
    values: Annotated[dict[str, _Percent], msgspec.Meta(min_length=1)]
    note: str = ""
    breakdown: str = ""
    group: str = ""


def read_published_rows(suite: type[Suite] | Suite) -> list[PublishedRow]:
    """Return the rows published for a suite, in the file's order; none if it has no file.

    A DataError for a split that the suite does not have, a group that a breakdown of its own does not have, or a value
    under a name that none of the measures has.
    """
    kind = suite if isinstance(suite, type) else type(suite)
    path = Path(inspect.getfile(kind)).with_name(FILE)
    if not path.is_file():
        return []
    rows = read_yaml(path, list[PublishedRow])
    for number, row in enumerate(rows, 1):
        entry = f"row {number} ({row.system})"
        if row.split not in kind.splits:
            raise DataError(
                path, f"'{row.split}' is not a split of {kind.title}{name_suggestion(row.split, kind.splits)}", entry
            )
        groups = kind.parts.get(row.breakdown, {row.group: kind.measures})
        if row.group not in groups:
            raise DataError(
                path, f"'{row.group}' is not a group of {row.breakdown}{name_suggestion(row.group, groups)}", entry
            )
        names = [measure.name for measure in groups[row.group]]
        for name in row.values:
            if name not in names:
                raise DataError(path, f"'{name}' is not a measure of {kind.title}{name_suggestion(name, names)}", entry)
    return rows


_NAME = "crosswalk.yaml"
CROSSWALK = f"{FOLDER}/{_NAME}"
QUESTIONS = "policy"
"""The question set to whose categories it leads."""


class CrosswalkCategory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The categories of questions that ask about one category of practices, and the other names that suites have."""

    genaipabench: tuple[str, ...]
    also: tuple[str, ...] = ()


class Crosswalk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Category of practices (OPP-115) → categories of questions (GenAIPABench)."""

    title: str
    about: str
    categories: dict[str, CrosswalkCategory]

    @property
    def question_categories_by_practice(self) -> dict[str, tuple[str, ...]]:
        """Every name of a category of practices → the categories of questions."""
        return {
            name: category.genaipabench
            for practice, category in self.categories.items()
            for name in (practice, *category.also)
        }


def load_crosswalk_and_category_names(workspace: Workspace) -> tuple[Crosswalk, dict[str, str]]:
    """Load the nearest cross-walk, and the names of the categories of questions that it leads to.

    A DataError for a category that the question set `policy` does not have.
    """
    path = next(
        (file for folder in workspace_and_shipped_data_folders(workspace) if (file := folder / _NAME).is_file()), None
    )
    if path is None:
        raise UsageError(f"{CROSSWALK} is missing; install genaipa again.")
    crosswalk, names = read_yaml(path, Crosswalk), load_question_set(QUESTIONS, workspace).categories
    for problem in unknown_category_errors(path, crosswalk, names):
        raise problem
    return crosswalk, names


def unknown_category_errors(
    path: Path, crosswalk: Crosswalk, question_categories: dict[str, str]
) -> Iterator[DataError]:
    """Yield an error for each category of questions that is unknown."""
    for name, category in crosswalk.categories.items():
        for code in category.genaipabench:
            if code not in question_categories:
                problem = (
                    f"'{code}' is not a category of the question set "
                    f"'{QUESTIONS}'{name_suggestion(code, question_categories)}"
                )
                yield DataError(path, problem, f"categories.{name}")
