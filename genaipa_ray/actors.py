"""Workers that are actors of a Ray cluster: the one this process runs in, or a small one on this machine.

Ray finds each actor its place, by processors and accelerators, and tells of its death. It restarts none by itself: a
job that is given again is counted by the dispatcher, and what it had finished is on disk. An actor does one job at a
time in a thread, while others hear and stop it.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import pickle
import socket
import sys
import time
import urllib.parse
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genaipa.errors import GenaipaError, MissingPackageError, NotReadyError, clipped
from genaipa.systems.endpoint import read_variable
from genaipa.workers.base import Died, Idle, Reported
from genaipa.workers.processes import Errands

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import ModuleType

    from genaipa.workers.base import Craft, News, Workers

CONCURRENCY = 4
"""Calls at once: `do`, and beside it `told`, `stop` and `ready`."""


class Actor:
    """The remote side of a worker; `craft` is pickled, because it may be imported only with the driver's `paths`."""

    def __init__(self, worker: str, craft: bytes, paths: list[str], folder: str, environment: dict[str, str]) -> None:
        os.environ.update(environment)
        sys.path += [path for path in paths if path not in sys.path]
        with contextlib.suppress(OSError):
            os.chdir(folder)
        self._told: deque[Any] = deque(maxlen=100)
        self._errands = Errands(worker, pickle.loads(craft))  # noqa: S301 - from the driver of this cluster
        # An event loop stays in the thread that it was begun in, and Ray's calls come in any.
        self._thread = ThreadPoolExecutor(1)

    def ready(self) -> None:
        """Return once the actor is there."""

    def do(self, job: Any) -> News:
        """Do a job."""
        return self._thread.submit(self._errands.do, job, self._told.append).result()

    def told(self) -> list[Any]:
        """Reports since the last call."""
        found: list[Any] = []
        with contextlib.suppress(IndexError):
            while True:
                found.append(self._told.popleft())
        return found

    def stop(self) -> None:
        """Stop the job under way in order."""
        self._errands.stop()

    def leave(self) -> None:
        """Let go of what the craft holds, after the job under way."""
        self._thread.submit(self._errands.leave).result()


REACHED = 5.0
"""Seconds that a cluster's head has to answer."""
LEAVING = 20.0
"""Seconds that a worker has to let go of what it holds, such as a server."""
_TOLD_EVERY = 1.0
_FOR = ("GENAIPA_",)
_LIKE = ("_BASE_URL",)
"""Beginnings and ends of the variables that workers are sent. Keys are not: those are the nodes' own."""
_LONGEST = 300


def check_installed() -> None:
    """Raise a MissingPackageError, which names the extra, if Ray is not here; it is not imported yet."""
    if importlib.util.find_spec("ray") is None:
        raise MissingPackageError("a Ray cluster needs Ray; install it with: pip install 'genaipa[ray]'")


def import_ray() -> ModuleType:
    """Import Ray; a MissingPackageError names the extra."""
    check_installed()
    # Nothing is reported to anybody, and nothing is printed between our lines.
    for name, value in (("RAY_USAGE_STATS_ENABLED", "0"), ("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")):
        os.environ.setdefault(name, value)
    return importlib.import_module("ray")


def connect() -> ModuleType:
    """Join the cluster at RAY_ADDRESS, else the one of this machine, else begin one; NotReadyError if it refuses.

    Within `ray job submit` that is the job's own cluster.
    """
    ray = import_ray()
    address = os.environ.get("RAY_ADDRESS", "")
    _check_reached(address)
    _quiet()
    try:
        ray.init(log_to_driver=False, logging_level="ERROR", include_dashboard=None if address else False)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        said = " ".join(str(error).split())
        if "ersion mismatch" in said:
            raise NotReadyError(
                f"the cluster's versions differ from those here (Ray {ray.__version__}, Python "
                f"{sys.version.split()[0]}); install the same on both: {clipped(said, _LONGEST)}",
                kind="versions",
            ) from None
        where = f"the Ray cluster at {address}" if address else "Ray's cluster on this machine"
        raise NotReadyError(
            f"{where} can't be joined: {clipped(said, _LONGEST).rstrip('.')}{_token_hint(address)}.", kind="cluster"
        ) from None
    return ray


def _token_hint(address: str) -> str:
    """How to give the token that newer clusters ask for: of the refusal itself Ray's error says nothing."""
    if not address or os.environ.get("RAY_AUTH_MODE") == "token":
        return ""
    return "; if it asks for a token, set RAY_AUTH_MODE=token and put the cluster's token into ~/.ray/auth_token"


def _quiet() -> None:
    """Keep Ray from printing deaths between our lines, on standard output; `hear` tells of them."""
    worker = importlib.import_module("ray._private.worker")
    if hasattr(worker, "print_to_stdstream"):  # no option turns it off
        worker.print_to_stdstream = lambda *_what, **_how: None  # type: ignore[attr-defined]


def _check_reached(address: str) -> None:
    """Raise a NotReadyError if nothing answers at the address; Ray itself would try for a minute."""
    try:
        parts = urllib.parse.urlsplit(address if "://" in address else f"ray://{address}")
        if parts.hostname and parts.port:
            socket.create_connection((parts.hostname, parts.port), timeout=REACHED).close()
    except (OSError, ValueError) as error:
        raise NotReadyError(
            f"no Ray cluster answers at {address} (RAY_ADDRESS; {error}); start it there with ray start --head, or "
            "unset the variable.",
            kind="cluster",
        ) from None


def room(ray: ModuleType, gpus: float) -> int:
    """Workers that the cluster has room for as it is now."""
    resources = ray.cluster_resources()
    most = resources.get("CPU", 0.0)
    return int(min(most, resources.get("GPU", 0.0) / gpus) if gpus else most)


@contextlib.contextmanager
def joined(
    number: int | None, gpus: float, say: Callable[[str], None]
) -> Iterator[tuple[Callable[[Craft], Workers], int]]:
    """Join the cluster meanwhile: makes workers of a craft; also their number, else how many there is room for."""
    ray = connect()
    try:
        found = room(ray, gpus)
        if found < 1:
            lacks = f"{gpus:g} GPUs and " if gpus else ""
            say(f"the cluster has no room for a worker ({lacks}a processor each) yet; waiting until it has")
        yield lambda craft: RayWorkers(ray, craft, gpus), number or max(1, found)
    finally:
        ray.shutdown()


def check() -> Iterator[tuple[str, str, str, str]]:
    """Report to `genaipa doctor` on the cluster that RAY_ADDRESS names: whether it can be joined, with what it has."""
    address = read_variable("RAY_ADDRESS")
    if address is None or importlib.util.find_spec("ray") is None:
        return
    try:
        ray = connect()
    except GenaipaError as error:
        yield "RAY_ADDRESS", "missing", f"{address} can't be joined", str(error).removesuffix(".")
        return
    try:
        nodes = sum(bool(node["Alive"]) for node in ray.nodes())
        found = ray.cluster_resources()
        cards = f"{found.get('CPU', 0):g} processors, {found.get('GPU', 0):g} GPUs"
        yield "RAY_ADDRESS", "ok", f"{address}, Ray {ray.__version__}, as here; {nodes} nodes, {cards}", ""
    finally:
        ray.shutdown()


@dataclass
class _Asked:
    """A call of an actor whose result is to come."""

    worker: str
    kind: str


@dataclass
class RayWorkers:
    """Actors with one craft on a cluster that was joined, each with N accelerators."""

    ray: ModuleType
    craft: Craft
    gpus: float = 0.0
    _actors: dict[str, Any] = field(default_factory=dict)
    _calls: dict[Any, _Asked] = field(default_factory=dict)
    _leaving: dict[Any, Any] = field(default_factory=dict)
    _heard: float = 0.0

    def start(self, worker: str) -> None:
        """Ask for an actor; where the cluster grows by itself, that lets it grow."""
        self._drop(worker)
        paths = [str(Path(path).resolve()) for path in sys.path]
        variables = {name: value for name, value in os.environ.items() if name.startswith(_FOR) or name.endswith(_LIKE)}
        actor = (
            self.ray.remote(Actor)
            .options(num_cpus=1, num_gpus=self.gpus, max_restarts=0, max_concurrency=CONCURRENCY)
            .remote(worker, pickle.dumps(self.craft), paths, str(Path.cwd()), variables)
        )
        self._actors[worker] = actor
        self._calls[actor.ready.remote()] = _Asked(worker, "ready")

    def give(self, worker: str, job: Any) -> None:
        """Call the actor."""
        self._calls[self._actors[worker].do.remote(job)] = _Asked(worker, "do")

    def hear(self, seconds: float) -> Sequence[News]:
        """Wait for a call to return; what jobs report is asked for every second."""
        self._ask_what_is_told()
        if not self._calls:
            time.sleep(seconds)
            return []
        done, _ = self.ray.wait(list(self._calls), num_returns=1, timeout=seconds)
        rest = [call for call in self._calls if call not in done]
        if done and rest:
            done += self.ray.wait(rest, num_returns=len(rest), timeout=0)[0]
        found: list[News] = []
        for call in done:
            # A death ends all calls of its actor, and is told once.
            if (asked := self._calls.pop(call, None)) is not None:
                found += self._returned(asked, call)
        self._let_go()
        return found

    def _ask_what_is_told(self) -> None:
        now = time.monotonic()
        if now - self._heard < _TOLD_EVERY:
            return
        self._heard = now
        asked = {(call.worker, call.kind) for call in self._calls.values()}
        for worker, actor in self._actors.items():
            if (worker, "do") in asked and (worker, "told") not in asked:
                self._calls[actor.told.remote()] = _Asked(worker, "told")

    def _returned(self, asked: _Asked, call: Any) -> list[News]:
        try:
            result = self.ray.get(call)
        except self.ray.exceptions.RayError as error:
            if asked.kind == "told":
                return []  # `do` tells of the death
            self._drop(asked.worker)
            return [Died(asked.worker, _why(error))]
        match asked.kind:
            case "ready":
                return [Idle(asked.worker)]
            case "told":
                return [Reported(asked.worker, what) for what in result]
        return [result]

    def _let_go(self) -> None:
        if self._leaving:
            done, _ = self.ray.wait(list(self._leaving), num_returns=len(self._leaving), timeout=0)
            for call in done:
                self._kill(self._leaving.pop(call))

    def _drop(self, worker: str) -> None:
        """Forget an actor with its calls, and see that it is gone."""
        self._calls = {call: asked for call, asked in self._calls.items() if asked.worker != worker}
        if (actor := self._actors.pop(worker, None)) is not None:
            self._kill(actor)

    def _kill(self, actor: Any) -> None:
        with contextlib.suppress(self.ray.exceptions.RayError, ValueError):
            self.ray.kill(actor)

    def stop(self) -> None:
        """Ask all actors; calls that were begun return as stopped."""
        for actor in self._actors.values():
            actor.stop.remote()

    def end(self, worker: str) -> None:
        """Let the actor let go of what it holds, which frees its place; hearing goes on meanwhile."""
        if (actor := self._actors.pop(worker, None)) is not None:
            self._calls = {call: asked for call, asked in self._calls.items() if asked.worker != worker}
            self._leaving[actor.leave.remote()] = actor

    def close(self) -> None:
        """Let go of all actors, and leave the cluster."""
        for worker in list(self._actors):
            self._actors[worker].stop.remote()
            self.end(worker)
        if self._leaving:
            self.ray.wait(list(self._leaving), num_returns=len(self._leaving), timeout=LEAVING)
        for actor in self._leaving.values():
            self._kill(actor)
        self._leaving.clear()
        self.ray.shutdown()


def _why(error: Exception) -> str:
    """The sentence in Ray's words on a death that says why, in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    because = next((line for line in lines if line.startswith("The actor is dead because ")), "")
    said = because.partition(". ")[0].removeprefix("The actor is dead because ") if because else lines[-1]
    return f"its actor died: {clipped(said.removesuffix('.'), _LONGEST)}"
