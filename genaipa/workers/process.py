"""A worker process: `python -m genaipa.workers.process NAME PIPE`, started by `processes.py`.

From the pipe come the folders to import from, the craft, then jobs; None asks to stop. When the pipe ends, the process
stops in order and ends. Jobs are done one after another in one event loop (`Errands`, which other workers use, too).
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import queue
import sys
import threading
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genaipa.errors import GenaipaError, MissingPackageError, NotReadyError, RunBusyError
from genaipa.workers.base import Ended, Failed, LostServerError, Ready, Stopped, Told

if TYPE_CHECKING:
    from genaipa.workers.base import Craft, Fault, News, Report


class Errands:
    """A worker's craft, entered with its first job and left with its last. One thread calls all but `stop`."""

    def __init__(self, worker: str, craft: Craft) -> None:
        # As the command itself has it: else a tenth of a worker's time goes into looking for cycles.
        gc.set_threshold(100_000, 50, 100)
        self._worker = worker
        self._craft = craft
        self._entered = False
        self._runner = asyncio.Runner()
        self._lock = threading.Lock()
        self._under_way: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None
        self._stopped = False

    def do(self, job: Any, report: Report) -> News:
        """Carry out a job; whatever it raises becomes news."""
        try:
            return Ended(self._worker, self._runner.run(self._watched(job, report)))
        except (asyncio.CancelledError, KeyboardInterrupt):
            return Stopped(self._worker)
        except LostServerError as error:
            return Failed(self._worker, str(error), "server")
        except GenaipaError as error:
            return Failed(self._worker, str(error), _fault(error))
        except Exception as error:  # noqa: BLE001 - a worker outlives a job that breaks
            frame = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(frame.filename).name}, line {frame.lineno}"
            return Failed(self._worker, f"{type(error).__name__}: {error} ({where})", "job")

    async def _watched(self, job: Any, report: Report) -> Any:
        task = asyncio.current_task()
        assert task is not None
        with self._lock:
            if self._stopped:
                raise asyncio.CancelledError
            self._under_way = (asyncio.get_running_loop(), task)
        try:
            if not self._entered:
                await self._craft.__aenter__()
                self._entered = True
            return await self._craft.carry_out(job, report)
        finally:
            with self._lock:
                self._under_way = None

    def stop(self) -> None:
        """Break off the job that is under way, as Ctrl-C would, and begin no other; from any thread."""
        with self._lock:
            self._stopped = True
            if self._under_way is not None:
                loop, task = self._under_way
                loop.call_soon_threadsafe(task.cancel)

    def leave(self) -> None:
        """Let go of what the craft holds."""
        if self._entered:
            self._entered = False
            self._runner.run(self._left())
        self._runner.close()

    async def _left(self) -> None:
        await self._craft.__aexit__(None, None, None)


def _fault(error: GenaipaError) -> Fault:
    if isinstance(error, RunBusyError):
        return "busy"
    return "worker" if isinstance(error, NotReadyError | MissingPackageError) else "job"


BEAT = 5.0
"""Seconds between two signs of life."""


class _Gone:
    """The pipe's end."""


def main(worker: str, pipe: Connection) -> None:
    """Do jobs until the pipe ends."""
    sys.path[:] = pipe.recv()
    craft: Craft = pipe.recv()
    errands, jobs = Errands(worker, craft), queue.SimpleQueue[Any]()

    def listen() -> None:
        try:
            while (job := pipe.recv()) is not None:
                jobs.put(job)
        except (EOFError, OSError):
            pass
        errands.stop()
        jobs.put(_Gone)

    def report(what: Any) -> None:
        send(Told(worker, what))

    sending, ended = threading.Lock(), threading.Event()

    def send(news: Any) -> None:
        # Nobody listens any more: the job is being stopped.
        with sending, contextlib.suppress(OSError):
            pipe.send(news)

    def beat() -> None:
        while not ended.wait(BEAT):
            send(None)

    threading.Thread(target=listen, daemon=True).start()
    threading.Thread(target=beat, daemon=True).start()
    send(Ready(worker))
    try:
        while (job := jobs.get()) is not _Gone:
            send(errands.do(job, report))
    finally:
        errands.leave()
        ended.set()


if __name__ == "__main__":
    main(sys.argv[1], Connection(int(sys.argv[2])))
