"""Places of a run's workers: processes of this machine, or a Ray cluster."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from genaipa.errors import UsageError
from genaipa.systems.endpoint import read_variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from genaipa.execution.engine import RunLimits
    from genaipa.workers.base import Craft, Workers

ONES_OWN = "vllm"
"""The provider whose server each worker starts for itself, unless one is named."""


@dataclass(frozen=True)
class On:
    """Place of a run's workers: processes here, or a Ray cluster; None is as many as the cluster has room for."""

    kind: str
    number: int | None
    gpus: float = 0.0
    """Accelerators of each worker on a cluster."""

    def check_installed(self) -> None:
        """Raise a MissingPackageError if the workers need a package that isn't here."""
        if self.kind == "ray":
            from genaipa.workers.ray import check_installed

            check_installed()


def place_of(on: str | None, gpus: float | None = None, *, batch: object = None, shards: bool = True) -> On | None:
    """Read the place of a run's workers before the run is prepared; None if none is named.

    `shards` is whether the run may have any. A UsageError for a place, or what is asked for beside it, that can't be.
    """
    if on is None:
        if gpus is not None:
            raise UsageError("GPUs for each worker are for workers on a cluster; have the run carried out on ray, too.")
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
    """Read `processes:4`, `ray` or `ray:8`; a UsageError if it is none of them."""
    kind, _, number = text.partition(":")
    if kind == "processes" and gpus is not None:
        raise UsageError("processes have no accelerators of their own; GPUs for each worker are for workers on ray.")
    if kind not in ("processes", "ray") or (number and not number.isdecimal()) or (kind == "processes" and not number):
        raise UsageError(f"'{text}' is no place for workers; give processes:4 (as many as cores), ray or ray:8.")
    if number and not 1 <= int(number) <= 10_000:  # noqa: PLR2004 - more than any cluster
        raise UsageError(f"{text}: give a number of workers from 1 to 10,000.")
    return On(kind, int(number) if number else None, gpus or 0.0)


def _own_servers(systems: Sequence[str]) -> list[str]:
    """Systems whose server each worker would start for itself."""
    here = [name for name in systems if name.startswith(f"{ONES_OWN}/")]
    return here if read_variable("VLLM_BASE_URL") is None else []


def check_servers(systems: Sequence[str], on: On) -> None:
    """Raise a UsageError where several processes would each start a server on the same accelerators."""
    if on.kind == "processes" and (own := _own_servers(systems)):
        raise UsageError(
            f"each process would start a server of its own for {own[0]}, on the same accelerators; start one with vllm "
            "serve and name it in VLLM_BASE_URL, or ask without worker processes."
        )


def shared_out(systems: Sequence[str], limits: RunLimits, on: On, workers: int) -> RunLimits:
    """The limits of one worker: a share of the connections, unless each worker has servers of its own."""
    if on.kind == "ray" and len(_own_servers(systems)) == len(systems):
        return limits
    return replace(limits, max_connections=max(1, limits.max_connections // workers))


@contextlib.contextmanager
def workers_at(on: On, say: Callable[[str], None]) -> Iterator[tuple[Callable[[Craft], Workers], int]]:
    """Make workers of a craft; also how many there is room for. A cluster is joined meanwhile."""
    if on.kind == "processes":
        from genaipa.workers.processes import Processes

        assert on.number is not None, "processes are counted"
        yield Processes, on.number
        return
    from genaipa.workers.ray import RayWorkers, connect, room

    ray = connect()
    try:
        found = room(ray, on.gpus)
        if found < 1:
            lacks = f"{on.gpus:g} GPUs and " if on.gpus else ""
            say(f"the cluster has no room for a worker ({lacks}a processor each) yet; waiting until it has")
        yield lambda craft: RayWorkers(ray, craft, on.gpus), on.number or max(1, found)
    finally:
        ray.shutdown()
