"""Classes that packages bring, by their entry points, ours like a stranger's."""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints


_OURS = "genaipa"
"""The distribution, and the package of the core."""


def plugins(group: str) -> dict[str, str]:
    """Name → `module:name` of the entry points of a group in installed packages."""
    return dict(_select(group, _folders()))


def _folders() -> tuple[tuple[str, int], ...]:
    """Return which folders are looked through, and how they are now."""
    # A run asks for each of its systems several times.
    folders = []
    for path in sys.path:
        with contextlib.suppress(OSError):
            # A Path for each took four times as long, in every command.
            folders.append((path or ".", os.stat(path or ".").st_mtime_ns))  # noqa: PTH116
    return tuple(folders)


def _list_packages(folders: tuple[tuple[str, int], ...]) -> dict[str, EntryPoints]:
    """Package → its entry points, of all packages in these folders."""
    packages: dict[str, EntryPoints] = {}
    for folder, changed in folders:
        for name, points in _points(folder, changed).items():
            # Of a package that is in two folders the first is imported.
            packages.setdefault(name, points)
    return packages


@functools.lru_cache
def _select(group: str, folders: tuple[tuple[str, int], ...]) -> dict[str, str]:
    packages = _list_packages(folders)
    # A name of ours is ours, whatever else is installed.
    ours = packages.pop(_OURS, ())
    return {
        point.name: point.value for points in (*packages.values(), ours) for point in points if point.group == group
    }


@functools.lru_cache
def _points(folder: str, changed: int) -> dict[str, EntryPoints]:  # noqa: ARG001 - where and when
    """Package → its entry points, of all packages in a folder."""
    # A tenth of a second.
    from importlib.metadata import distributions

    packages: dict[str, EntryPoints] = {}
    for package in distributions(path=[folder]):
        # Its name by its folder's, without reading what is in there.
        packages.setdefault(package._normalized_name, package.entry_points)  # type: ignore[attr-defined]  # noqa: SLF001
    return packages


def is_ours(module: str) -> bool:
    """Tell whether a module ships with genaipa: in the core, or in a package that it registers."""
    package = module.partition(".")[0]
    return package == _OURS or package in _list_own_packages(_folders())


@functools.lru_cache
def _list_own_packages(folders: tuple[tuple[str, int], ...]) -> frozenset[str]:
    return frozenset(point.module.partition(".")[0] for point in _list_packages(folders).get(_OURS, ()))


def load(target: str) -> Any:
    """The object that `module:name` refers to."""
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)
