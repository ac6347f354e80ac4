"""Classes that packages bring, by their entry points, ours like a stranger's."""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OURS = "genaipa"
T = TypeVar("T")


def entry_point_targets(group: str) -> dict[str, str]:
    """Return name → `module:name` of the entry points of a group in installed packages."""
    return dict(_find_entry_point_targets(group, _list_import_folders_with_times()))


def _list_import_folders_with_times() -> tuple[tuple[str, int], ...]:
    """Return which folders are looked through, and when each changed; a run asks for its systems several times."""
    folders = []
    for path in sys.path:
        with contextlib.suppress(OSError):
            # A Path for each took four times as long, in every command.
            folders.append((path or ".", os.stat(path or ".").st_mtime_ns))  # noqa: PTH116
    return tuple(folders)


class _EntryPoint(NamedTuple):
    group: str
    name: str
    value: str

    @property
    def top_level_module_name(self) -> str:
        return self.value.partition(":")[0].partition(".")[0].strip()


@functools.lru_cache
def _find_entry_point_targets(group: str, folders_with_times: tuple[tuple[str, int], ...]) -> dict[str, str]:
    packages = _group_entry_points_by_package(folders_with_times)
    # A name of ours is ours, whatever else is installed.
    by_priority = sorted(packages.items(), key=lambda package: package[0] == OURS)
    return {point.name: point.value for _, points in by_priority for point in points if point.group == group}


def _group_entry_points_by_package(
    folders_with_times: tuple[tuple[str, int], ...],
) -> dict[str, tuple[_EntryPoint, ...]]:
    packages: dict[str, tuple[_EntryPoint, ...]] = {}
    for folder, changed in folders_with_times:
        for name, points in _read_folder_entry_points_by_package(folder, changed).items():
            # Of a package that is in two folders the first is imported.
            packages.setdefault(name, points)
    return packages


@functools.lru_cache
def _read_folder_entry_points_by_package(folder: str, modified_ns: int) -> dict[str, tuple[_EntryPoint, ...]]:  # noqa: ARG001 - where and when
    """Return package → its entry points, of all packages in a folder.

    Each is a file of lines. importlib.metadata, which reads it as well, imports email, zipfile and sockets: a quarter
    of the time of `--help`.
    """
    packages: dict[str, tuple[_EntryPoint, ...]] = {}
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):  # noqa: PTH208 - as above
            stem, _, end = name.rpartition(".")
            if end in {"dist-info", "egg-info"}:
                # Its name by its folder's: NAME-VERSION.
                package = stem.partition("-")[0].lower().replace(".", "_")
                packages.setdefault(package, tuple(_read_entry_points_file(f"{folder}/{name}/entry_points.txt")))
    return packages


def _read_entry_points_file(path: str) -> Iterator[_EntryPoint]:
    group = ""
    with contextlib.suppress(OSError, UnicodeDecodeError), open(path, encoding="utf-8") as lines:  # noqa: PTH123
        for line in map(str.strip, lines):
            if line.startswith("["):
                group = line.strip("[]")
            elif "=" in line and not line.startswith(("#", ";")):
                name, _, value = line.partition("=")
                # Extras in brackets say what to install, not what to load.
                yield _EntryPoint(group, name.strip(), value.partition("[")[0].strip())


def ships_with_genaipa(module_name: str) -> bool:
    """Tell whether a module ships with genaipa: in its package, or in one that its entry points name."""
    package = module_name.partition(".")[0]
    points = _group_entry_points_by_package(_list_import_folders_with_times()).get(OURS, ())
    return package == OURS or any(point.top_level_module_name == package for point in points)


def load_entry_points_of_type(group: str, object_type: type[T]) -> dict[str, T]:
    """Return name → object of the entry points of a group that are of a kind; what can't be imported is left out."""
    objects = {}
    for name, target in entry_point_targets(group).items():
        try:
            instance = load_object(target)
        except Exception:  # noqa: BLE001, S112 - a package that is broken or gone must not take the others along
            continue
        if isinstance(instance, object_type):
            objects[name] = instance
    return objects


def list_class_targets(plugin_noun: str, core_targets: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return name and `module:Class` of what is in the group of a noun, such as fact: `core_targets` first."""
    packages = (
        (name, target)
        for name, target in sorted(entry_point_targets(f"{OURS}.{plugin_noun}s").items())
        if name not in core_targets
    )
    return (*core_targets.items(), *packages)


def make_plugins_and_problems(
    plugin_noun: str, core_targets: Mapping[str, str], plugin_type: type[T]
) -> tuple[dict[str, T], tuple[str, ...]]:
    """Return name → object of each class in the group of a noun, and sentences on the classes that are left out.

    That is a package's that can't be loaded or made, or is of another kind.
    """
    wanted: Any = plugin_type  # mypy takes no type variable for hashable
    instances, problems = _make_plugins_and_problems(plugin_noun, list_class_targets(plugin_noun, core_targets), wanted)
    return dict(instances), problems


@functools.cache
def _make_plugins_and_problems(
    plugin_noun: str, targets: tuple[tuple[str, str], ...], plugin_type: type[Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    instances: dict[str, Any] = {}
    problems: list[str] = []
    for name, target in targets:
        try:
            instance = load_object(target)()
            if not isinstance(instance, plugin_type):
                raise TypeError(f"it is not a {plugin_noun}")  # noqa: TRY301 - told as whatever else is wrong with it
        except Exception as error:
            if target.startswith(f"{OURS}."):
                raise
            why = f"{target} can't be loaded ({type(error).__name__}: {error})"
            problems.append(f"The {plugin_noun} {name} is left out: {why}.")
            continue
        instances[name] = instance
    return instances, tuple(problems)


def find_unloadable_plugin_packages() -> dict[str, str]:
    """Return package → which of its entry points for genaipa can't be imported, and why.

    Not genaipa's own that need an extra which isn't installed.
    """
    broken: dict[str, str] = {}
    for package, points in _group_entry_points_by_package(_list_import_folders_with_times()).items():
        for point in points:
            if point.group.startswith(f"{OURS}."):
                try:
                    load_object(point.value)
                except Exception as error:  # noqa: BLE001 - whatever it is, it is told
                    is_absent = isinstance(error, ModuleNotFoundError) and not (error.name or "").startswith(OURS)
                    if package == OURS and is_absent:
                        continue
                    broken[package] = f"{point.name} can't be imported ({type(error).__name__}: {error})"
    return broken


def load_object(target: str) -> Any:
    """Return the object that `module:name` refers to."""
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)
