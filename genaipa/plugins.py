"""Classes that packages bring, by their entry points, ours like a stranger's."""

from __future__ import annotations

import functools
import importlib
import sys
from pathlib import Path
from typing import Any


def plugins(group: str) -> dict[str, str]:
    """Name → `module:name` of the entry points of a group in installed packages."""
    # Which folders are looked through, and how they are now; a run asks for each of its systems several times.
    folders = [path for path in map(Path, sys.path) if path.exists()]
    return dict(_found(group, tuple((str(path), path.stat().st_mtime_ns) for path in folders)))


@functools.lru_cache
def _found(group: str, installed: tuple[tuple[str, int], ...]) -> dict[str, str]:
    # A name of ours is ours, whatever else is installed.
    found = sorted(_points(installed).select(group=group), key=lambda point: is_ours(point.module))
    return {point.name: point.value for point in found}


@functools.lru_cache
def _points(installed: tuple[tuple[str, int], ...]) -> Any:  # noqa: ARG001 - where and when
    # A tenth of a second.
    from importlib.metadata import entry_points

    return entry_points()


def is_ours(module: str) -> bool:
    """Whether a module ships with genaipa."""
    return module.partition(".")[0] in ("genaipa", "genaipa_ray", "genaipa_study", "genaipa_suites")


def load(target: str) -> Any:
    """The object that `module:name` refers to."""
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)
