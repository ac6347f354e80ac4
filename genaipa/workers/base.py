"""The seam of workers: start one, give it a job, hear what became of it; and the places where they can be, by name.

A worker carries out one job after the other by its craft, which holds what all jobs need, such as a server. It knows
nothing of the jobs, which are anything that can be pickled, and keeps nothing: what was done has to be on disk, so
that a job may be given again after its worker's death. A place is a `Place`, found by an entry point of the group
`genaipa.workers`; references are `module:name`, imported when they are used.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from genaipa.errors import GenaipaError
from genaipa.plugins import load, plugins

if TYPE_CHECKING:
    from collections.abc import Sequence

Report = Callable[[Any], None]
"""Sends something that can be pickled from a job that is under way to whoever gave it."""

Fault = Literal["busy", "worker", "server", "job"]
"""Blame for a failed job: another process holds it, this worker can do none, its server died, the job can't be done."""


class LostServerError(GenaipaError):
    """A craft's own server died, so that its worker has to be started again."""


class Craft(Protocol):
    """The skill of a worker. It is pickled before it is entered, and imported in the worker."""

    async def __aenter__(self) -> object:
        """Take hold of what all jobs need; a NotReadyError says what is missing."""
        ...

    async def __aexit__(self, *_error: object) -> None:
        """Let go of it."""
        ...

    async def carry_out(self, job: Any, report: Report) -> Any:
        """Carry out a job; the result can be pickled. Cancelled, it stops in order.

        Raises RunBusyError where another process holds the job, LostServerError, and what else it may.
        """
        ...


@dataclass(frozen=True)
class Ready:
    """A worker can be given a job."""

    worker: str


@dataclass(frozen=True)
class Told:
    """A job that is under way reports something."""

    worker: str
    what: Any


@dataclass(frozen=True)
class Ended:
    """A job is done; `what` its work returned."""

    worker: str
    what: Any


@dataclass(frozen=True)
class Failed:
    """A job raised; `why` is a sentence."""

    worker: str
    why: str
    fault: Fault


@dataclass(frozen=True)
class Stopped:
    """A job was broken off because it was asked to stop."""

    worker: str


@dataclass(frozen=True)
class Died:
    """A worker is gone, and with it the job that it had; `why` is a sentence."""

    worker: str
    why: str


News = Ready | Told | Ended | Failed | Stopped | Died


class Workers(Protocol):
    """Some workers, by name. No method waits for a worker but `hear`, and `close` a moment."""

    def start(self, worker: str) -> None:
        """Start a worker, or start it again after its death; `Ready` is heard once it can be given a job."""
        ...

    def give(self, worker: str, job: Any) -> None:
        """Give a job to a worker that is ready."""
        ...

    def hear(self, seconds: float) -> Sequence[News]:
        """Hear what there is, after at most this many seconds."""
        ...

    def stop(self) -> None:
        """Ask all jobs under way to stop in order; each ends as `Stopped` unless it was done before."""
        ...

    def end(self, worker: str) -> None:
        """Let a worker without a job go, with all that it holds."""
        ...

    def close(self) -> None:
        """End all workers at once, whatever they do."""
        ...


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
OWN = {PROCESSES: Place("by N processes here", "genaipa.workers.processes:processes_here", counted=True)}


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
