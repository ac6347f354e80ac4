"""Workers that are processes of this machine, and what such a process runs.

Each is a Python of its own, `python -m genaipa.workers.processes NAME PIPE`, with one pipe to this one. It ends when
the pipe does, so that none outlives the process that started it, however that ends; and it is no child by fork, nor
does it import the caller's script. From the pipe come the folders to import from, the craft, then jobs; None asks to
stop. Jobs are done one after another in one event loop (`Errands`, which other workers use, too).
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import multiprocessing
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from genaipa.errors import GenaipaError, MissingPackageError, NotReadyError, RunBusyError, UsageError, clipped
from genaipa.workers.base import Died, Ended, Failed, Idle, LostServerError, Reported, Stopped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.workers.base import Craft, Fault, News, Report, Workers


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
        send(Reported(worker, what))

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
    send(Idle(worker))
    try:
        while (job := jobs.get()) is not _Gone:
            send(errands.do(job, report))
    finally:
        errands.leave()
        ended.set()


_ENDING = 5.0
"""Seconds that a worker without a job has to end."""
_LONGEST = 300
"""Characters of a dead worker's last words."""


@dataclass
class _Process:
    """A process, our end of its pipe, and the file that it writes its complaints to."""

    running: subprocess.Popen[bytes]
    pipe: Connection
    complaints: BinaryIO
    heard: float = field(default_factory=time.monotonic)
    """When it last gave a sign of life."""

    def end(self, wait_for: float = 0.0) -> None:
        """Close its pipe; kill it after `wait_for` seconds."""
        self.pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.running.wait(wait_for)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.running.pid, signal.SIGKILL)
        self.running.wait()
        self.complaints.close()

    def last_words(self) -> str:
        """How it ended, and the last line that it complained with."""
        code = self.running.wait()
        how = f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        self.complaints.seek(0)
        lines = self.complaints.read().decode(errors="replace").split("\n")
        said = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"its process {how}" + (f" ({clipped(said, _LONGEST)})" if said else "")


@dataclass
class Processes:
    """Processes with one craft; with `environment`, variables for each by its name."""

    craft: Craft
    environment: Callable[[str], dict[str, str]] = lambda _worker: {}
    silence: float = 60.0
    """Seconds without a sign of life, due every five, after which a process is killed."""
    _running: dict[str, _Process] = field(default_factory=dict)
    _listened: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if os.name != "posix":
            raise UsageError("worker processes need Linux or macOS.")

    def start(self, worker: str) -> None:
        """Start a process; it imports nothing heavy until it has a job."""
        ours, theirs = multiprocessing.Pipe()
        complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        # In a session of its own: Ctrl-C reaches it through us, after which its job ends in order. -P: a file in the
        # working folder, of a study that somebody sent, is not imported in place of a library of the same name.
        with theirs:
            running = subprocess.Popen(  # noqa: S603 - this very Python
                [sys.executable, "-P", "-m", "genaipa.workers.processes", worker, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=complaints,
                stderr=complaints,
                start_new_session=True,
                env=os.environ | self.environment(worker),
            )
        self._running[worker] = _Process(running, ours, complaints)
        # A dead process is heard of when its pipe is read.
        with contextlib.suppress(OSError):
            ours.send(sys.path)
            ours.send(self.craft)

    def give(self, worker: str, job: Any) -> None:
        """Send a job through the pipe; of one that is dead meanwhile, `hear` tells."""
        with contextlib.suppress(OSError):
            self._running[worker].pipe.send(job)

    def hear(self, seconds: float) -> list[News]:
        """Read what the pipes hold; a closed pipe is a dead process."""
        self._kill_silent()
        names = {process.pipe: name for name, process in self._running.items()}
        found: list[News] = []
        for pipe in wait(list(names), seconds):
            assert isinstance(pipe, Connection)
            try:
                news = pipe.recv()
                self._running[names[pipe]].heard = time.monotonic()
                found += [] if news is None else [news]
            except (EOFError, OSError):
                process = self._running.pop(names[pipe])
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.running.pid, signal.SIGKILL)
                found.append(Died(names[pipe], process.last_words()))
                process.end()
        return found

    def _kill_silent(self) -> None:
        """Kill processes that stand still, and hold what they had: stopped, or on a disk that went away."""
        now = time.monotonic()
        paused = now - self._listened > BEAT  # nobody listened: this process stood still itself, or was busy
        self._listened = now
        for process in self._running.values():
            if paused:
                process.heard = now
            if now - process.heard > self.silence:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.running.pid, signal.SIGKILL)

    def stop(self) -> None:
        """Send the word; a job ends as it does at Ctrl-C."""
        for process in self._running.values():
            with contextlib.suppress(OSError):
                process.pipe.send(None)

    def end(self, worker: str) -> None:
        """Close its pipe, which ends it."""
        process = self._running.pop(worker, None)
        if process is not None:
            process.end(_ENDING)

    def close(self) -> None:
        """Close all pipes, and kill what is left."""
        for process in self._running.values():
            process.pipe.close()
        for process in self._running.values():
            process.end(_ENDING)
        self._running.clear()


@contextlib.contextmanager
def processes_here(
    number: int | None, _gpus: float, _say: Callable[[str], None]
) -> Iterator[tuple[Callable[[Craft], Workers], int]]:
    """Make workers that are processes of this machine."""
    assert number is not None, "processes are counted"
    yield Processes, number


if __name__ == "__main__":
    main(sys.argv[1], Connection(int(sys.argv[2])))
