"""A worker that is an actor of a Ray cluster: one job at a time in a thread, while others hear and stop it."""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from genaipa.workers.processes import Errands

if TYPE_CHECKING:
    from genaipa.workers.base import News

CONCURRENCY = 4
"""Calls at once: `do`, and beside it `told`, `stop` and `ready`."""


class Actor:
    """The remote side of `actors.py`; `craft` is pickled, because it may be imported only with the driver's `paths`."""

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
