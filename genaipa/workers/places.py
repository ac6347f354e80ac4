"""The seam between a run and workers elsewhere: places by their names, the core's own and packages'.

A place is a `Place`, found by an entry point of the group `genaipa.workers`. References are `module:name`, imported
when they are used.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from genaipa.plugins import load, plugins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from genaipa.workers.base import Craft, Workers

GROUP = "genaipa.workers"


@dataclass(frozen=True)
class Place:
    """A place where workers can be; only `about` and `workers` have to be there."""

    about: str
    """By whom a run's shards are carried out there, after "have them carried out"."""
    workers: str
    """Context manager of a number of workers (None if none is given), the GPUs of each, and a function that says a
    sentence. It gives a function that makes workers of a craft, and their number."""
    check_installed: str = ""
    """Function that raises a MissingPackageError if a package is missing."""
    check: str = ""
    """Function that yields rows for `genaipa doctor`: what, state, found, remedy."""
    own_accelerators: bool = False
    """Whether each worker can have GPUs of its own, on which it starts servers of its own."""
    counted: bool = False
    """Whether the number of workers has to be given."""


PROCESSES = "processes"
OWN = {PROCESSES: Place("by N processes here", f"{__name__}:processes_here", counted=True)}


def places() -> dict[str, Place | None]:
    """Name → place, the core's own first; None where the package is gone that an entry point names."""
    found: dict[str, Place | None] = {**OWN}
    for name, target in plugins(GROUP).items():
        found.setdefault(name)
        with contextlib.suppress(ImportError, AttributeError):
            found[name] = found[name] or load(target)
    return found


def with_gpus() -> str:
    """Name the places whose workers can have GPUs of their own; empty if none can."""
    return " or ".join(name for name, place in places().items() if place and place.own_accelerators)


@contextlib.contextmanager
def processes_here(
    number: int | None, _gpus: float, _say: Callable[[str], None]
) -> Iterator[tuple[Callable[[Craft], Workers], int]]:
    """Make workers that are processes of this machine."""
    from genaipa.workers.processes import Processes

    assert number is not None, "processes are counted"
    yield Processes, number
