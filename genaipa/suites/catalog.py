"""The suites that there are, by name; `tasks/catalog.py` lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.suites.baseline import PREFIX
from genaipa.systems.plugins import load
from genaipa.tasks.catalog import SUITES

if TYPE_CHECKING:
    from genaipa.suites.data import Source
    from genaipa.suites.suite import Suite
    from genaipa.tasks.base import Task


def suites() -> dict[str, type[Suite]]:
    """Name → class of every suite; a task that joins several is none itself."""
    from genaipa.suites.suite import Suite

    kinds = {name: load(target) for name, target in SUITES.items()}
    return {name: kind for name, kind in kinds.items() if issubclass(kind, Suite)}


def sources() -> dict[str, Source]:
    """Name → data set of every suite: what `genaipa pull` can fetch for them."""
    return {source.name: source for suite in suites().values() for source in suite.data}


def baseline_names() -> tuple[str, ...]:
    """Full names of all baselines, each once."""
    return tuple(dict.fromkeys(PREFIX + one.name for suite in suites().values() for one in suite.baselines))


def parts_of(task: Task) -> dict[str, Suite]:
    """The suites that a task asks, by name: itself, or the parts of one that joins several; none for any other task."""
    from genaipa.suites.suite import Suite

    parts: dict[str, Suite] = getattr(task, "parts", {})
    return {task.name: task} if isinstance(task, Suite) else dict(parts)
