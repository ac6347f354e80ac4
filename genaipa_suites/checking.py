"""Whether the files in a workspace's `suites/` can be read: splits of its own, the cross-walk, settings of training."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from genaipa.errors import DataError, GenaipaError, name_suggestion
from genaipa.files.strict_yaml import read_valid_yaml_part_and_errors
from genaipa.questions.sets import load_question_set
from genaipa.validation import NO_WORKSPACE, FileProblem, KindFilesCheck, convert_to_findings
from genaipa_suites.asking import PROBES, list_template_syntax_errors, suite_templates, workspace_templates
from genaipa_suites.catalog import load_suite_classes
from genaipa_suites.data import CROSSWALK, FOLDER, QUESTIONS, Crosswalk, FaultsError, unknown_category_errors
from genaipa_suites.encoders.encoder import SETTINGS, TrainingSettings
from genaipa_suites.plan import SAMPLE, SuiteOptions, make_suite_run_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from genaipa.workspace import Workspace
    from genaipa_suites.suite import Suite


def _list_suite_files(workspace: Workspace) -> list[Path]:
    """List the files in the workspace's `suites/`, except hidden ones and READMEs."""
    home = workspace.home / FOLDER
    files = [path for path in sorted(home.rglob("*")) if path.is_file() and path.stem.lower() != "readme"]
    return [path for path in files if not any(part.startswith(".") for part in path.relative_to(home).parts)]


def check_suite_files(workspace: Workspace) -> KindFilesCheck:
    """Read every file there as its suite would, with the published splits in which it takes a file's place."""
    home, files = workspace.home / FOLDER, _list_suite_files(workspace)
    if workspace.layers[0][0] != "workspace":
        return KindFilesCheck(FOLDER, [], [FileProblem(str(path), "", NO_WORKSPACE, "warning") for path in files], {})
    # The shipped one may not fit a question set of the user's own, who can't mend it.
    findings = [*_check_crosswalk(workspace)] if workspace.home / CROSSWALK in files else []
    read = {workspace.home / CROSSWALK, workspace.home / SETTINGS}
    if workspace.home / SETTINGS in files:
        findings += convert_to_findings(
            read_valid_yaml_part_and_errors(workspace.home / SETTINGS, TrainingSettings, lambda _: ())[1]
        )
    folders: dict[str, list[Path]] = {}
    for path in files:
        folders.setdefault(path.relative_to(home).parts[0], []).append(path)
    splits: dict[str, dict[str, int]] = {}
    for name, suite in load_suite_classes().items():
        if name in folders:
            reading = _SuiteFiles(name, suite, workspace, folders[name])
            splits[name] = {
                split: size
                for split in reading.possible_split_names()
                if (size := reading.count_items_and_note_findings(split))
            }
            findings += reading.findings
            read |= reading.read
    folder_names = [*load_suite_classes(), Path(SETTINGS).parent.name]
    findings += [_unread_file_warning(path, home, folder_names) for path in files if path not in read]
    findings += _check_suite_prompts(workspace)
    return KindFilesCheck(FOLDER, files, findings, {name: sizes for name, sizes in splits.items() if sizes})


class _SuiteFiles:
    """The own files of a suite, read split by split."""

    def __init__(self, name: str, suite: type[Suite], workspace: Workspace, files: Sequence[Path]) -> None:
        self._name, self._suite, self._workspace, self._files = name, suite, workspace, files
        self.findings: list[FileProblem] = []
        self.read: set[Path] = set()

    def possible_split_names(self) -> list[str]:
        """Return the names that a split may have, shorter first: the published ones, and words of the files' names."""
        published = dict.fromkeys((*self._suite.splits, self._suite.train, SAMPLE))
        other_names = {name for path in self._files for name in _possible_splits_of_file(path)} - published.keys()
        return [*published, *sorted(other_names, key=lambda name: (len(name), name))]

    def count_items_and_note_findings(self, split: str) -> int:
        """Count the items of a split that has files here; 0 for a name that is no split, or a faulty file."""
        suite = self._suite(make_suite_run_spec(self._name, SuiteOptions(split)), self._workspace)
        items, error = 0, None
        try:
            items = len(suite.load(split).items)
        except GenaipaError as problem:
            error = problem
        split_files = {path for path in suite.files.own_files.values() if path in self._files}
        if isinstance(error, DataError) and Path(error.path) in self._files:
            split_files.add(Path(error.path))
        if not split_files - self.read:
            # Of a name that is no split nothing is read, or a file of another split.
            return 0
        if error is not None:
            self.findings += convert_to_findings(
                error.errors if isinstance(error, FaultsError) else [error], min(split_files)
            )
            split_files |= {path for path in self._files if split in _possible_splits_of_file(path)}
        elif split in self._suite.splits:
            changed = (path for path in suite.files.changed if suite.files.own_files[path] in split_files)
            self.findings += [_replaced_published_file_warning(suite, path) for path in changed]
        self.read |= split_files
        return items


def _possible_splits_of_file(path: Path) -> set[str]:
    """Return the splits that a file may belong to, by its name and its folder's: `mine` for mine_dataset.csv."""
    names = set()
    for name in (path.stem, path.parent.name) if path.suffix not in (".zip", ".xz") else ():
        words = name.split("_")
        names |= {"_".join(words[begin:end]) for begin in range(len(words)) for end in range(begin, len(words) + 1)}
    return names - {""}


def _replaced_published_file_warning(suite: Suite, published_path: str) -> FileProblem:
    problem = (
        f"replaces the published {published_path} with a different file: runs on it use your own items, and "
        "no published rows "
        "can be compared with them. To use both files, rename yours."
    )
    return FileProblem(str(suite.files.own_files[published_path]), "", problem, "warning")


def _unread_file_warning(path: Path, suites_folder: Path, folder_names: Iterable[str]) -> FileProblem:
    inside = path.relative_to(suites_folder).parts
    if len(inside) > 1 and inside[0] in folder_names:
        problem = f"is not read: {inside[0]} has no file of that name, or the other files of its split are missing."
        return FileProblem(str(path), "", problem, "warning")
    if len(inside) == 1:
        return FileProblem(
            str(path), "", f"is not read: move it into the folder of its suite, {FOLDER}/NAME/.", "warning"
        )
    problem = f"is not read: there is no suite '{inside[0]}'{name_suggestion(inside[0], folder_names)}"
    return FileProblem(str(path), "", problem, "warning")


def _check_suite_prompts(workspace: Workspace) -> Iterator[FileProblem]:
    """Yield problems of templates that can't be rendered, and of templates that no suite has."""
    template_names = {*PROBES, *(name for suite in load_suite_classes().values() for name in suite_templates(suite))}
    for name, path in workspace_templates(workspace).items():
        yield from convert_to_findings(list_template_syntax_errors(path))
        if name not in template_names:
            yield FileProblem(
                str(path),
                "",
                f"does not match any template of a suite{name_suggestion(name, template_names)}",
                "warning",
            )


def _check_crosswalk(workspace: Workspace) -> Iterator[FileProblem]:
    try:
        categories = load_question_set(QUESTIONS, workspace).categories
    except GenaipaError:  # which is told already
        return
    path = workspace.home / CROSSWALK
    rules = partial(unknown_category_errors, path, question_categories=categories)
    yield from convert_to_findings(read_valid_yaml_part_and_errors(path, Crosswalk, rules)[1])
