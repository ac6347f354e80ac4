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
from genaipa.errors import DataError, UsageError, nearest
from genaipa.files.strict_yaml import read_yaml
from genaipa.files.text import hash_like
from genaipa.questions.sets import load_question_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from genaipa.workspace import Workspace
    from genaipa_suites.suite import Suite

FOLDER = "suites"
"""Of a workspace; what ships in the same form is beside this file."""
SHIPPED = Path(__file__).with_name("shipped")
_POINTER = b"version https://git-lfs.github.com/spec/"


def folders(workspace: Workspace) -> Iterator[Path]:
    """Folders with data of suites, nearest first: the workspace's, and the shipped one."""
    for layer, folder in workspace.layers:
        if layer != "pulled":
            yield SHIPPED if layer == "shipped" else folder / FOLDER


class FaultsError(DataError):
    """Everything that is wrong with a file: says the first, and has them all as `every`."""

    def __init__(self, every: Sequence[DataError]) -> None:
        first, more = every[0], len(every) - 1
        also = f" There {'is' if more == 1 else 'are'} {more} more: genaipa validate" if more else ""
        super().__init__(first.path, f"{first.problem}{also}", first.entry)
        self.every = tuple(every)


@dataclass(frozen=True)
class SuiteSource:
    """A data set of a suite: files of one commit of a public repository, each with its git blob hash.

    In place of the hash may be its first digits, the SHA-256 that a Git-LFS pointer states, or nothing: such a file its
    loader checks.
    `terms` is a sentence on its licence. A pull takes the files that its origin has, and refuses any other
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
    def folder(self) -> Path:
        """The folder of the pulled files, laid out as in the repository."""
        return workspace.cache() / self.name / self.commit


@dataclass
class DataFiles:
    """The files of one suite. `read` gives a file by its path in its repository, and keeps its digest."""

    suite: str
    sources: tuple[SuiteSource, ...]
    workspace: Workspace
    digests: dict[str, str] = field(default_factory=dict)
    """Path → SHA-256 of the files that were read."""
    own: dict[str, Path] = field(default_factory=dict)
    """Files that were not pulled: of the workspace, or shipped."""
    changed: list[str] = field(default_factory=list)
    """The files `own`, in the order of reading, that no hash tells to be the published files all the same."""

    def find(self, path: str) -> Path | None:
        """The file, or None if it is not here."""
        return self._own(path) or self._pulled(path)

    def read(self, path: str) -> bytes:
        """Content of a file; a UsageError with the remedy where it is not here, a DataError for a Git-LFS pointer."""
        own = self._own(path)
        found = own or self._pulled(path)
        if found is None:
            raise UsageError(self._missing(path))
        content = found.read_bytes()
        if content.startswith(_POINTER):
            raise DataError(found, "is a Git-LFS pointer, not the file itself; run 'git lfs pull' where you cloned it.")
        self.digests[path] = hashlib.sha256(content).hexdigest()
        if own:
            self.own[path] = own
            pinned = next((source.blobs[path] for source in self.sources if source.blobs.get(path)), "")
            if path not in self.changed and (not pinned or hash_like(pinned, content) != pinned):
                self.changed.append(path)
        return content

    def text(self, path: str) -> str:
        """Content of a UTF-8 file, unpacked if it is an `.xz`; a DataError for any other encoding."""
        content = self.read(path)
        try:
            return (lzma.decompress(content) if path.endswith(".xz") else content).decode("utf-8-sig")
        except lzma.LZMAError:
            raise self.fault(path, "can't be unpacked") from None
        except UnicodeDecodeError:
            raise self.fault(path, "is not UTF-8") from None

    def rows(self, path: str, columns: Sequence[str], *, heads: bool = True) -> Iterator[tuple[str, list[str]]]:
        """Each row of a CSV file as its place and its fields in these columns.

        Without `heads` there is no row of names, and a row has as many fields as there are columns. A DataError for any
        other file, or one without rows.
        """
        # A text may be longer than the fields that Python's reader takes by default.
        limit = csv.field_size_limit(sys.maxsize)
        place = "row 0"
        try:
            rows = filter(None, csv.reader(io.StringIO(self.text(path), newline="")))
            names = next(rows, []) if heads else list(columns)
            if missing := [column for column in columns if column not in names]:
                raise self.fault(path, f"has no column '{missing[0]}'", "row 1")
            for number, row in enumerate(rows, start=1):
                place = f"row {number}"
                if len(row) != len(names):
                    expected = f"{len(names)} fields" if heads else " and ".join(columns)
                    raise self.fault(path, f"is not {expected}, but {len(row)} fields", place)
                yield place, [row[names.index(column)] for column in columns]
        except csv.Error as error:
            raise self.fault(path, f"is not a CSV file ({error})", f"after {place}") from None
        finally:
            csv.field_size_limit(limit)
        if place == "row 0":
            raise self.fault(path, "has no rows")

    def fault(self, path: str, problem: str, place: str = "") -> DataError:
        """The error of a file that was found: pulled files have one remedy, for the user's own see the problem."""
        source = next((source.name for source in self.sources if path in source.blobs), self.suite)
        remedy = "correct it" if path in self.own else f"pull it again with: genaipa get {source}"
        return DataError(self.find(path) or path, f"{problem}; {remedy}", place)

    def check(self, path: str, counts: Mapping[str, int], published: Mapping[str, int]) -> None:
        """Raise a DataError if a published file that was pulled has other counts of things than the published ones."""
        if path not in self.own and counts != published:
            said = [", ".join(f"{one[thing]:,} {thing}" for thing in published) for one in (counts, published)]
            raise self.fault(path, f"has {said[0]}, published are {said[1]}")

    def _own(self, path: str) -> Path | None:
        parts = PurePosixPath(path).parts
        for folder in folders(self.workspace):
            for begin in range(len(parts)):
                here = folder.joinpath(self.suite, *parts[begin:])
                if here.is_file():
                    return here
        return None

    def _pulled(self, path: str) -> Path | None:
        places = (source.folder / path for source in self.sources if path in source.blobs)
        return next((place for place in places if place.is_file()), None)

    def _missing(self, path: str) -> str:
        source = next((one for one in self.sources if path in one.blobs), None)
        if source is None:
            place = self.workspace.home / FOLDER / self.suite
            return f"there is no '{PurePosixPath(path).name}' in {place}; name a split that is here, or put it there."
        pull = f"genaipa get {source.name}"
        # What is said of one file alone is no remedy for another.
        elsewhere = any(other in source.remedy for other in source.blobs) and path not in source.remedy
        remedy = "" if elsewhere else source.remedy
        return f"'{path}' of {source.title} is not here; run '{pull}', or '{pull} --from FOLDER'. {remedy}".strip()


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


def published_rows(suite: type[Suite] | Suite) -> list[PublishedRow]:
    """The rows published for a suite, in the file's order; none if it has no file.

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
            raise DataError(path, f"'{row.split}' is no split of {kind.title}{nearest(row.split, kind.splits)}", entry)
        groups = kind.parts.get(row.breakdown, {row.group: kind.measures})
        if row.group not in groups:
            raise DataError(path, f"'{row.group}' is no group of {row.breakdown}{nearest(row.group, groups)}", entry)
        names = [measure.name for measure in groups[row.group]]
        for name in row.values:
            if name not in names:
                raise DataError(path, f"'{name}' is no measure of {kind.title}{nearest(name, names)}", entry)
    return rows


_NAME = "crosswalk.yaml"
CROSSWALK = f"{FOLDER}/{_NAME}"
QUESTIONS = "policy"
"""The question set to whose categories it leads."""


class Category(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The categories of questions that ask about one category of practices, and the other names that suites have."""

    genaipabench: tuple[str, ...]
    also: tuple[str, ...] = ()


class Crosswalk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Category of practices (OPP-115) → categories of questions (GenAIPABench)."""

    title: str
    about: str
    categories: dict[str, Category]

    @property
    def by_name(self) -> dict[str, tuple[str, ...]]:
        """Every name of a category of practices → the categories of questions."""
        return {name: one.genaipabench for known, one in self.categories.items() for name in (known, *one.also)}


def load_crosswalk(workspace: Workspace) -> tuple[Crosswalk, dict[str, str]]:
    """The nearest cross-walk, and the names of the categories of questions that it leads to.

    A DataError for a category that the question set `policy` does not have.
    """
    path = next((file for folder in folders(workspace) if (file := folder / _NAME).is_file()), None)
    if path is None:
        raise UsageError(f"{CROSSWALK} is missing; install genaipa again.")
    found, known = read_yaml(path, Crosswalk), load_question_set(QUESTIONS, workspace).categories
    for problem in crosswalk_faults(path, found, known):
        raise problem
    return found, known


def crosswalk_faults(path: Path, walk: Crosswalk, known: dict[str, str]) -> Iterator[DataError]:
    """An error for each category of questions that is none of those known."""
    for name, one in walk.categories.items():
        for code in one.genaipabench:
            if code not in known:
                problem = f"'{code}' is no category of the question set '{QUESTIONS}'{nearest(code, known)}"
                yield DataError(path, problem, f"categories.{name}")
