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

from genaipa.errors import GenaipaError, UsageError
from genaipa.plugins import load, plugins
from genaipa.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractContextManager

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
class Idle:
    """A worker can be given a job."""

    worker: str


@dataclass(frozen=True)
class Reported:
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


News = Idle | Reported | Ended | Failed | Stopped | Died


class Workers(Protocol):
    """Some workers, by name. No method waits for a worker but `hear`, and `close` a moment."""

    def start(self, worker: str) -> None:
        """Start a worker, or start it again after its death; `Idle` is heard once it can be given a job."""
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

    def rows(self) -> Iterable[tuple[str, Any, str, str]]:
        """The rows for `genaipa doctor` (`check`)."""
        found: Iterable[tuple[str, Any, str, str]] = load(self.check)() if self.check else ()
        return found


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


@dataclass(frozen=True)
class On:
    """A place of a run's workers with their number; None is as many as there is room for."""

    place: Place
    number: int | None
    gpus: float = 0.0
    """Accelerators of each worker, where it can have its own."""

    def check_installed(self) -> None:
        """Raise a MissingPackageError if the workers need a package that isn't here."""
        if self.place.check_installed:
            load(self.place.check_installed)()

    def workers(self, say: Callable[[str], None]) -> AbstractContextManager[tuple[Callable[[Craft], Workers], int]]:
        """Open the place: it makes workers of a craft, and has room for a number of them."""
        opened: AbstractContextManager[tuple[Callable[[Craft], Workers], int]]
        opened = load(self.place.workers)(self.number, self.gpus, say)
        return opened


def place_of(on: str | None, gpus: float | None = None, *, batch: object = None, shards: bool = True) -> On | None:
    """Read the place of a run's workers before the run is prepared; None if none is named.

    `shards` is whether the run may have any. A UsageError for a place, or what is asked for beside it, that can't be.
    """
    if on is None:
        if gpus is not None:
            names = with_gpus()
            also = f"; have the run carried out on {names}, too" if names else ""
            raise UsageError(f"GPUs for each worker are for workers on a cluster{also}.")
        return None
    place = _read_on(on, gpus)
    if batch:
        raise UsageError("batches are carried out by their provider, not by workers; leave out one of the two.")
    if not shards:
        raise no_shards()
    return place


def no_shards() -> UsageError:
    """The error of workers for a run without shards."""
    return UsageError(
        "workers are given shards, and this run has none; begin one with a number of documents for each shard."
    )


def _read_on(text: str, gpus: float | None) -> On:
    """Read `NAME` or `NAME:8`; a UsageError if it is no place, or its package is gone."""
    name, _, number = text.partition(":")
    known = places()
    if name in known and known[name] is None:
        raise UsageError(
            f"workers on {name} are not here, though installed once: their package is gone; give {PROCESSES}:4."
        )
    place = known.get(name)
    if place is None or (number and not number.isdecimal()) or (place.counted and not number):
        others = (form for other in known if other != PROCESSES for form in (other, f"{other}:8"))
        forms = [f"{PROCESSES}:4 (as many as cores)", *others]
        raise UsageError(f"'{text}' is no place for workers; give {listed(forms, 'or')}.")
    if gpus is not None and not place.own_accelerators:
        raise UsageError(
            f"{name} have no accelerators of their own; GPUs for each worker are for workers on "
            f"{with_gpus() or 'a cluster'}."
        )
    if number and not 1 <= int(number) <= 10_000:  # noqa: PLR2004 - more than any cluster
        raise UsageError(f"{text}: give a number of workers from 1 to 10,000.")
    return On(place, int(number) if number else None, gpus or 0.0)
