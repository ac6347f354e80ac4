"""Workers that are processes of this machine.

Each is a Python of its own with one pipe to this one. It ends when the pipe does, so that none outlives the process
that started it, however that ends; and it is no child by fork, nor does it import the caller's script.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, BinaryIO

from genaipa.errors import UsageError, clipped
from genaipa.workers.base import Died
from genaipa.workers.process import BEAT

if TYPE_CHECKING:
    from genaipa.workers.base import Craft, News

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
                [sys.executable, "-P", "-m", "genaipa.workers.process", worker, str(theirs.fileno())],
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
