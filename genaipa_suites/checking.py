"""Whether the files in a workspace's `suites/` can be read: splits of its own, the cross-walk, settings of training."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from genaipa.errors import DataError, GenaipaError, nearest
from genaipa.files.strict_yaml import read_partly
from genaipa.questions.sets import load_question_set
from genaipa.validation import NO_WORKSPACE, Checked, FileProblem, as_findings
from genaipa_suites.asking import PROBES, faults, own_templates, shipped_templates
from genaipa_suites.catalog import suites
from genaipa_suites.data import CROSSWALK, FOLDER, QUESTIONS, Crosswalk, FaultsError, crosswalk_faults
from genaipa_suites.encoders.encoder import SETTINGS, TrainingSettings
from genaipa_suites.plan import SAMPLE, SuitePlan, spec_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from genaipa.workspace import Workspace
    from genaipa_suites.suite import Suite


def _suite_files(workspace: Workspace) -> list[Path]:
    """The files in `suites/` of its folder, but for hidden ones and a README."""
    home = workspace.home / FOLDER
    files = [path for path in sorted(home.rglob("*")) if path.is_file() and path.stem.lower() != "readme"]
    return [path for path in files if not any(part.startswith(".") for part in path.relative_to(home).parts)]


def check(workspace: Workspace) -> Checked:
    """Read every file there as its suite would, with the published splits in which it takes a file's place."""
    home, files = workspace.home / FOLDER, _suite_files(workspace)
    if workspace.layers[0][0] != "workspace":
        return Checked(FOLDER, [], [FileProblem(str(path), "", NO_WORKSPACE, "warning") for path in files], {})
    # The shipped one may not fit a question set of the user's own, who can't mend it.
    findings = [*_check_crosswalk(workspace)] if workspace.home / CROSSWALK in files else []
    read = {workspace.home / CROSSWALK, workspace.home / SETTINGS}
    if workspace.home / SETTINGS in files:
        findings += as_findings(read_partly(workspace.home / SETTINGS, TrainingSettings, lambda _: ())[1])
    folders: dict[str, list[Path]] = {}
    for path in files:
        folders.setdefault(path.relative_to(home).parts[0], []).append(path)
    splits: dict[str, dict[str, int]] = {}
    for name, suite in suites().items():
        if name in folders:
            reading = _SuiteFiles(name, suite, workspace, folders[name])
            splits[name] = {split: size for split in reading.names() if (size := reading.size(split))}
            findings += reading.findings
            read |= reading.read
    known = [*suites(), Path(SETTINGS).parent.name]
    findings += [_unread(path, home, known) for path in files if path not in read]
    findings += _check_prompts(workspace)
    return Checked(FOLDER, files, findings, {name: found for name, found in splits.items() if found})


class _SuiteFiles:
    """The own files of a suite, read split by split."""

    def __init__(self, name: str, suite: type[Suite], workspace: Workspace, files: Sequence[Path]) -> None:
        self._name, self._suite, self._workspace, self._files = name, suite, workspace, files
        self.findings: list[FileProblem] = []
        self.read: set[Path] = set()

    def names(self) -> list[str]:
        """Names that a split may have, shorter ones first: the published ones, and the words of the files' names."""
        published = dict.fromkeys((*self._suite.splits, self._suite.train, SAMPLE))
        others = {name for path in self._files for name in _words(path)} - published.keys()
        return [*published, *sorted(others, key=lambda name: (len(name), name))]

    def size(self, split: str) -> int:
        """The number of items of a split that has files here; 0 for a name that is no split, or a file at fault."""
        suite = self._suite(spec_of(self._name, SuitePlan(split)), self._workspace)
        items, error = 0, None
        try:
            items = len(suite.load(split).items)
        except GenaipaError as problem:
            error = problem
        mine = {path for path in suite.files.own.values() if path in self._files}
        if isinstance(error, DataError) and Path(error.path) in self._files:
            mine.add(Path(error.path))
        if not mine - self.read:
            # Of a name that is no split nothing is read, or a file of another split.
            return 0
        if error is not None:
            self.findings += as_findings(error.every if isinstance(error, FaultsError) else [error], min(mine))
            mine |= {path for path in self._files if split in _words(path)}
        elif split in self._suite.splits:
            changed = (path for path in suite.files.changed if suite.files.own[path] in mine)
            self.findings += [_replaces(suite, path) for path in changed]
        self.read |= mine
        return items


def _words(path: Path) -> set[str]:
    """Names of splits that a file may be of, by its own name and its folder's: `mine` for mine_dataset.csv."""
    found = set()
    for name in (path.stem, path.parent.name) if path.suffix not in (".zip", ".xz") else ():
        words = name.split("_")
        found |= {"_".join(words[begin:end]) for begin in range(len(words)) for end in range(begin, len(words) + 1)}
    return found - {""}


def _replaces(suite: Suite, path: str) -> FileProblem:
    problem = (
        f"takes the place of the published {path} and is another file: runs on it are of your own items, and have no "
        "published rows beside them. To ask both, give it another name."
    )
    return FileProblem(str(suite.files.own[path]), "", problem, "warning")


def _unread(path: Path, home: Path, known: Iterable[str]) -> FileProblem:
    inside = path.relative_to(home).parts
    if len(inside) > 1 and inside[0] in known:
        problem = f"is not read: {inside[0]} has no file of that name, or the other files of its split are missing."
        return FileProblem(str(path), "", problem, "warning")
    if len(inside) == 1:
        return FileProblem(str(path), "", f"is not read: it belongs into a suite's folder, {FOLDER}/NAME/.", "warning")
    problem = f"is not read: there is no suite '{inside[0]}'{nearest(inside[0], known)}"
    return FileProblem(str(path), "", problem, "warning")


def _check_prompts(workspace: Workspace) -> Iterator[FileProblem]:
    """Templates that can't be rendered, and templates that no suite has."""
    ours = {*PROBES, *(name for suite in suites().values() for name in shipped_templates(suite))}
    for name, path in own_templates(workspace).items():
        yield from as_findings(faults(path))
        if name not in ours:
            yield FileProblem(str(path), "", f"is no message of a suite's{nearest(name, ours)}", "warning")


def _check_crosswalk(workspace: Workspace) -> Iterator[FileProblem]:
    try:
        known = load_question_set(QUESTIONS, workspace).categories
    except GenaipaError:  # which is told already
        return
    path = workspace.home / CROSSWALK
    rules = partial(crosswalk_faults, path, known=known)
    yield from as_findings(read_partly(path, Crosswalk, rules)[1])
