"""The layers of data folders: the user's workspace, pulled data, shipped data.

A name (a prompt, a question set, a policy, annotations, corrections, a rubric) is looked up layer by layer; the nearest
wins. The workspace is `--workspace`, else `GENAIPA_WORKSPACE`, else the nearest parent folder with a `genaipa.toml`;
without one, runs are written to the working folder.
"""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from genaipa.errors import UsageError
from genaipa.files.html import format_one_line_repr

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DataKind = Literal["prompts", "questions", "policies", "annotations", "corrections", "rubrics"]
SUFFIXES: dict[DataKind, tuple[str, ...]] = {
    "prompts": (".jinja",),
    "questions": (".yaml",),
    "policies": (".md", ".txt"),
    "annotations": (".yaml",),
    "corrections": (".yaml",),
    "rubrics": (".yaml",),
}
"""Kind of data → suffixes of its files; a policy's YAML file is beside its text."""
_SHIPPED = {"corrections": "annotations/corrections"}
"""Kind of data → its folder among what ships, where that is called otherwise than in a workspace."""
MARKER = "genaipa.toml"
RUNS = "runs"
SYSTEMS = "systems.yaml"


class Named(Protocol):
    """Anything that is known by its name: a document, a question set, a run."""

    @property
    def name(self) -> str:
        """The name."""


def list_names(named_objects: str | Named | Iterable[str | Named]) -> tuple[str, ...]:
    """Return the names of one thing or of several; a string is a name itself, and a path is named whole."""
    several = (
        named_objects if not isinstance(named_objects, str) and not hasattr(named_objects, "name") else (named_objects,)
    )
    return tuple(
        dict.fromkeys(
            str(named_object) if isinstance(named_object, str | Path) else named_object.name for named_object in several
        )
    )


@dataclass(frozen=True, repr=False)
class Workspace:
    """The folders in which names are looked up (nearest first), and where runs are kept.

    >>> [layer for layer, folder in genaipa.find_workspace().layers]
    ['workspace', 'pulled', 'shipped']
    """

    home: Path
    layers: tuple[tuple[str, Path], ...]
    held: Mapping[str, Named] = field(default_factory=dict, compare=False, repr=False)
    """Documents in memory, of a corpus, that come before the layers'."""

    def __repr__(self) -> str:
        return format_one_line_repr("Workspace", str(self.home), ", ".join(layer for layer, _ in self.layers))

    def with_documents(self, documents: Mapping[str, Named]) -> Workspace:
        """Return the same workspace with these documents, by name, before its folders'."""
        return replace(self, held=documents)

    @property
    def runs(self) -> Path:
        """Folder of run folders; a UsageError if it can't be one."""
        path = self.home / RUNS
        if problem := explain_what_blocks_folder_or_empty(path):
            raise UsageError(f"{path} {problem}")
        return path

    @property
    def own_systems_file_or_none(self) -> Path | None:
        """The user's additions to the catalog of systems; None without a workspace or the file."""
        path = self.home / SYSTEMS
        return path if self.layers[0][0] == "workspace" and path.is_file() else None

    def nearest_files(self, kind: DataKind, subfolder: str = "") -> dict[str, tuple[str, Path]]:
        """Map each name of a kind, or in a folder within it, to (layer, file) in the nearest layer that has it."""
        return {name: places[0] for name, places in self.files_in_all_layers(kind, subfolder).items()}

    def files_in_all_layers(self, kind: DataKind, subfolder: str = "") -> dict[str, list[tuple[str, Path]]]:
        """Map each name of a kind to (layer, file) in every layer that has it, nearest first."""
        files: dict[str, list[tuple[str, Path]]] = {}
        for layer, folder in self.layers:
            layer_files: dict[str, Path] = {}
            kind_folder = folder / (_SHIPPED.get(kind, kind) if layer == "shipped" else kind) / subfolder
            for entry in _list_entries_even_hidden(kind_folder):
                stem, dot, suffix = entry.name.rpartition(".")
                if stem and dot + suffix in SUFFIXES[kind] and _is_file(entry) and not stem.startswith("."):
                    layer_files.setdefault(stem, kind_folder / entry.name)
            for name, path in layer_files.items():
                files.setdefault(name, []).append((layer, path))
        return dict(sorted(files.items()))

    def check_output_outside_data(self, output_path: Path | None) -> None:
        """Raise a UsageError for a folder in which this workspace has its data or runs: nothing else belongs there."""
        if output_path is None:
            return
        output = output_path.expanduser().resolve()
        for name in (*SUFFIXES, RUNS):
            data_folder = (self.home / name).resolve()
            if data_folder in (output, *([output.parent] if name == RUNS else output.parents)):
                raise UsageError(f"{output_path} is for the {name} of the workspace; choose another folder.")

    def drop_nearer_layers(self, layer_index: int) -> Workspace:
        """Leave out the layers that are nearer than this one."""
        return Workspace(home=self.home, layers=self.layers[layer_index:])


def _list_entries_even_hidden(folder: Path) -> list[os.DirEntry[str]]:
    """Return what is in a folder, by name; nothing where there is none."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Tell whether it is a file, or a link to one, without asking the disk for each."""
    # Of a link that leads to itself, `is_file` of an entry fails, and that of a path doesn't.
    return Path(entry.path).is_file() if entry.is_symlink() else entry.is_file()


WorkspaceLike = Workspace | Path | str | None
"""A workspace as functions take it: itself, its folder, or None for the one found from here."""


def workspace_option_if_needed(home: Path) -> tuple[str, ...]:
    """Return the options that a printed command needs to find this workspace; none if it would anyway."""
    try:
        current_home = find_workspace().home
    except UsageError:
        current_home = None
    return () if home.resolve() == current_home else ("--workspace", str(home))


def explain_what_blocks_folder_or_empty(path: Path) -> str:
    """Return the reason why a path can't be used as a folder; empty if it is one, or doesn't exist yet."""
    if path.is_symlink() and not path.exists():
        return f"is a link to {path.readlink()}, which does not exist; remove the link, or create its target."
    return "is not a folder; move it away." if path.exists() and not path.is_dir() else ""


def shipped_folder(kind: DataKind | Literal[""] = "") -> Path:
    """Return the folder of shipped data, or of a kind of them: inside the wheel, or the root of a checkout."""
    return _find_shipped_data_root() / _SHIPPED.get(kind, kind)


@functools.cache
def _find_shipped_data_root() -> Path:
    package = Path(__file__).resolve().parent
    inside = package / "_data"
    return inside if inside.is_dir() else package.parent


def cache_folder() -> Path:
    """Return the folder of pulled data, never cleared: `GENAIPA_CACHE`, else the user's cache folder."""
    if set_by_user := os.environ.get("GENAIPA_CACHE"):
        return Path(set_by_user).expanduser()
    import platformdirs

    return platformdirs.user_cache_path("genaipa")


PULLED = "pulled"
"""The layer of published data."""


def pulled_folder() -> Path:
    """Return the data folder that `genaipa get` fills."""
    return cache_folder() / "data"


def find_workspace(explicit: WorkspaceLike = None) -> Workspace:
    """Find the workspace to use: the one given, else `GENAIPA_WORKSPACE`, else the nearest with a `genaipa.toml`.

    A UsageError if one was named and isn't there.

    >>> genaipa.find_workspace("my-study").runs
    PosixPath('.../my-study/runs')
    """
    if isinstance(explicit, Workspace):
        return explicit
    working_folder = Path.cwd().resolve()
    requested = explicit or os.environ.get("GENAIPA_WORKSPACE")
    named = Path(requested) if requested else None
    home: Path | None
    if named is not None:
        home = named.expanduser().resolve()
        if not home.is_dir():
            raise UsageError(f"the workspace {home} is not a folder; create it with: genaipa init {named}")
    else:
        home = next(
            (folder for folder in (working_folder, *working_folder.parents) if (folder / MARKER).is_file()), None
        )
    layers = [(PULLED, pulled_folder()), ("shipped", shipped_folder())]
    if home is not None:
        layers.insert(0, ("workspace", home))
    return Workspace(home=home or working_folder, layers=tuple(layers))
