"""Which folders exist, nearest first.

A name (a prompt, a question set, a policy, annotations, a rubric) is looked up in the user's workspace, then in what
was pulled, then in what ships; the first that has it wins, name by name. The workspace is `--workspace`, else
`GENAIPA_WORKSPACE`, else the nearest parent folder with a `genaipa.toml`; without one, runs are written to the folder
that genaipa is called in.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from genaipa.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

Kind = Literal["prompts", "questions", "policies", "annotations", "rubrics"]
SUFFIXES: dict[Kind, tuple[str, ...]] = {
    "prompts": (".jinja",),
    "questions": (".yaml",),
    "policies": (".md", ".txt"),
    "annotations": (".yaml",),
    "rubrics": (".yaml",),
}
"""Kind of data → how the names of its files end; a policy's YAML file stands beside its text."""
MARKER = "genaipa.toml"
RUNS = "runs"
SYSTEMS = "systems.yaml"


class Named(Protocol):
    """Anything that is known by its name: a document, a question set, a run."""

    @property
    def name(self) -> str:
        """The name."""


def names_of(given: str | Named | Iterable[str | Named]) -> tuple[str, ...]:
    """The names of one thing or of several; a name stands for itself."""
    several = given if not isinstance(given, str) and not hasattr(given, "name") else (given,)
    return tuple(dict.fromkeys(one if isinstance(one, str) else one.name for one in several))


@dataclass(frozen=True)
class Workspace:
    """The folders in which names are looked up (nearest first), and where runs are kept.

    >>> [layer for layer, folder in genaipa.find_workspace().layers]
    ['workspace', 'pulled', 'shipped']
    """

    home: Path
    layers: tuple[tuple[str, Path], ...]

    @property
    def runs(self) -> Path:
        """Where run folders are written; a UsageError where that can't be a folder."""
        path = self.home / RUNS
        problem = no_folder(path)
        if problem:
            raise UsageError(f"{path} {problem}")
        return path

    @property
    def systems_file(self) -> Path | None:
        """The user's own additions to the catalog of systems; None where there is no workspace, or no such file."""
        path = self.home / SYSTEMS
        return path if self.layers[0][0] == "workspace" and path.is_file() else None

    def names(self, kind: Kind) -> dict[str, tuple[str, Path]]:
        """Name → (layer, file) for every data file of a kind, each from the nearest layer that has it."""
        return {name: places[0] for name, places in self.every(kind).items()}

    def every(self, kind: Kind) -> dict[str, list[tuple[str, Path]]]:
        """Name → (layer, file) in each layer that has a data file of that kind and name, the nearest first."""
        found: dict[str, list[tuple[str, Path]]] = {}
        for layer, folder in self.layers:
            here: dict[str, Path] = {}
            for path in sorted((folder / kind).glob("*")):
                if path.suffix in SUFFIXES[kind] and path.is_file() and not path.name.startswith("."):
                    here.setdefault(path.stem, path)
            for name, path in here.items():
                found.setdefault(name, []).append((layer, path))
        return dict(sorted(found.items()))

    def from_layer(self, number: int) -> Workspace:
        """The same without the layers that are nearer than this one."""
        return Workspace(home=self.home, layers=self.layers[number:])


WorkspaceLike = Workspace | Path | str | None
"""A workspace as functions take it: itself, its folder, or None for the one that is found from here."""


def elsewhere(home: Path) -> tuple[str, ...]:
    """What a printed command has to carry so that it works on this workspace: nothing, if the next one would anyway."""
    try:
        found = find_workspace().home
    except UsageError:
        found = None
    return () if home.resolve() == found else ("--workspace", str(home))


def no_folder(path: Path) -> str:
    """Why that place can't be used as a folder; empty where it is one, or where nothing is there yet."""
    if path.is_symlink() and not path.exists():
        return f"is a link to {path.readlink()}, which isn't there; remove it, or make what it points to."
    return "is not a folder; move it away." if path.exists() and not path.is_dir() else ""


def shipped() -> Path:
    """The data that comes with genaipa: inside the wheel, or at the root of a checkout."""
    package = Path(__file__).resolve().parent
    inside = package / "_data"
    return inside if inside.is_dir() else package.parent


def cache() -> Path:
    """Where pulled data is kept for ever: `GENAIPA_CACHE`, else the user's cache folder."""
    set_by_user = os.environ.get("GENAIPA_CACHE")
    if set_by_user:
        return Path(set_by_user).expanduser()
    import platformdirs

    return platformdirs.user_cache_path("genaipa")


def pulled() -> Path:
    """The data folders that `genaipa pull` fills."""
    return cache() / "data"


def find_workspace(explicit: WorkspaceLike = None) -> Workspace:
    """Find the workspace to use: the one given, else `GENAIPA_WORKSPACE`, else the nearest with a `genaipa.toml`.

    A UsageError if one was named and isn't there.

    >>> genaipa.find_workspace("my-study").runs
    PosixPath('.../my-study/runs')
    """
    if isinstance(explicit, Workspace):
        return explicit
    here = Path.cwd().resolve()
    given = explicit or os.environ.get("GENAIPA_WORKSPACE")
    named = Path(given) if given else None
    home: Path | None
    if named is not None:
        home = named.expanduser().resolve()
        if not home.is_dir():
            raise UsageError(f"the workspace {home} is not a folder; make one with: genaipa init {named}")
    else:
        home = next((folder for folder in (here, *here.parents) if (folder / MARKER).is_file()), None)
    layers = [("pulled", pulled()), ("shipped", shipped())]
    if home is not None:
        layers.insert(0, ("workspace", home))
    return Workspace(home=home or here, layers=tuple(layers))
