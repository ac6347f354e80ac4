"""The suites that there are: those that `tasks/catalog.py` lists, and those of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genaipa.files.frames import frame_of
from genaipa.suites.baseline import PREFIX
from genaipa.systems.plugins import find, load
from genaipa.tasks.catalog import SUITES, suite_targets

if TYPE_CHECKING:
    import pandas as pd

    from genaipa.suites.data import Source
    from genaipa.suites.suite import Suite
    from genaipa.tasks.base import Task


def suites() -> dict[str, type[Suite]]:
    """Name → class of every suite; a task that joins several is none itself."""
    from genaipa.suites.suite import Suite

    kinds = {name: load(target) if name in SUITES else find(target) for name, target in suite_targets().items()}
    return {name: kind for name, kind in kinds.items() if issubclass(kind, Suite)}


def list_suites() -> pd.DataFrame:
    """List the suites, a row each: what each asks, its splits, its measures, and the `data` to pull for it.

    Every suite has the split `sample` as well, of made-up items, which needs no data. `genaipa.run(systems, task=NAME,
    split=SPLIT)` asks one.

    >>> suites = genaipa.list_suites().set_index("suite")
    >>> suites.loc["policy-detection", ["splits", "measures"]].to_list()
    ['test, valid, train', 'micro F1, macro F1']
    """
    kinds: dict[str, type[Task]] = {**suites(), **{name: load(SUITES[name]) for name in joining()}}
    columns = ("suite", "title", "splits", "measures", "data", "about")
    return frame_of(
        (dict(zip(columns, (name, *_facts(name, kind)), strict=True)) for name, kind in kinds.items()), columns
    )


def _facts(name: str, kind: Any) -> tuple[str, ...]:
    """A suite's title, splits, measures, data and question; the parts of one that joins several have the measures."""
    measures = (measure.heading for measure in getattr(kind, "measures", ()))
    data = ", ".join(source.name for source in kind.data) or name
    return kind.title, ", ".join(kind.splits), ", ".join(measures), data, kind.about


def splits_of(name: str) -> tuple[str, ...] | None:
    """The splits of a suite, that asked by default first; None for a name, or a module:Class, that is no suite.

    A UsageError for a class that can't be had.
    """
    from genaipa.suites.suite import Suite

    target = suite_targets().get(name, name)
    if ":" not in target:
        return None
    kind = load(target) if name in SUITES else find(target)
    is_suite = name in SUITES or (isinstance(kind, type) and issubclass(kind, Suite))
    return tuple(kind.splits) if is_suite else None


def sources() -> dict[str, Source]:
    """Name → data set of every suite: what `genaipa get` can fetch for them."""
    return {source.name: source for suite in suites().values() for source in suite.data}


def joining() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Name → title and suites of every task that joins several."""
    kinds = {name: load(target) for name, target in SUITES.items()}
    return {name: (kind.title, kind.joins) for name, kind in kinds.items() if hasattr(kind, "joins")}


def baseline_names() -> tuple[str, ...]:
    """Full names of all baselines, each once."""
    return tuple(dict.fromkeys(PREFIX + one.name for suite in suites().values() for one in suite.baselines))


def parts_of(task: Task) -> dict[str, Suite]:
    """The suites that a task asks, by name: itself, or the parts of one that joins several; none for any other task."""
    from genaipa.suites.suite import Suite

    parts: dict[str, Suite] = getattr(task, "parts", {})
    return {task.name: task} if isinstance(task, Suite) else dict(parts)
