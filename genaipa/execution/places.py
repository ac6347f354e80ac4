"""The place where workers carry out a run: read, checked against the run, and opened."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from genaipa.errors import UsageError
from genaipa.plugins import load
from genaipa.systems.endpoint import read_variable
from genaipa.words import listed
from genaipa.workers.base import PROCESSES, places, with_gpus

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from genaipa.execution.limits import RunLimits
    from genaipa.workers.base import Craft, Place, Workers

ONES_OWN = "vllm"
"""The provider whose server each worker starts for itself, unless one is named."""


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


def _own_servers(systems: Sequence[str]) -> list[str]:
    """Systems whose server each worker would start for itself."""
    here = [name for name in systems if name.startswith(f"{ONES_OWN}/")]
    return here if read_variable("VLLM_BASE_URL") is None else []


def check_servers(systems: Sequence[str], on: On) -> None:
    """Raise a UsageError where several processes would each start a server on the same accelerators."""
    if not on.place.own_accelerators and (own := _own_servers(systems)):
        raise UsageError(
            f"each process would start a server of its own for {own[0]}, on the same accelerators; start one with vllm "
            "serve and name it in VLLM_BASE_URL, or ask without worker processes."
        )


def shared_out(systems: Sequence[str], limits: RunLimits, on: On, workers: int) -> RunLimits:
    """The limits of one worker: a share of the connections, unless each worker has servers of its own."""
    if on.place.own_accelerators and len(_own_servers(systems)) == len(systems):
        return limits
    return replace(limits, max_connections=max(1, limits.max_connections // workers))


def workers_at(on: On, say: Callable[[str], None]) -> AbstractContextManager[tuple[Callable[[Craft], Workers], int]]:
    """Open a place: it makes workers of a craft, and has room for a number of them."""
    opened: AbstractContextManager[tuple[Callable[[Craft], Workers], int]]
    opened = load(on.place.workers)(on.number, on.gpus, say)
    return opened
