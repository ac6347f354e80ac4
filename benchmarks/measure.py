"""Run a command in a process of its own and measure it from outside: time, processor time, memory."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Measured:
    """One process, from start to end: seconds, user and system seconds, peak resident memory in MiB, stdout."""

    wall: float
    cpu: float
    rss: float
    out: str


def measure(command: Sequence[str], environment: dict[str, str], *, terminal: bool = False, code: int = 0) -> Measured:
    """Measure a command; stderr goes to a pseudo-terminal if `terminal`. A RuntimeError if it exits otherwise.

    The peak of a child begins at the peak of the process that started it, so this process has to stay small.
    """
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err, _terminal(terminal) as screen:
        begun = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=screen or err
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode != code:
            raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {err.read()[-2000:]}")
        return Measured(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, out.read())


@contextlib.contextmanager
def _terminal(wanted: bool):
    """Return the writing end of a pseudo-terminal whose output is thrown away; None if it is not wanted."""
    if not wanted:
        yield None
        return
    reading, writing = pty.openpty()

    def drain() -> None:
        # Reading fails once the writing end is closed.
        with contextlib.suppress(OSError):
            while os.read(reading, 65536):
                pass

    reader = threading.Thread(target=drain, daemon=True)
    reader.start()
    try:
        yield writing
    finally:
        os.close(writing)
        reader.join()
        os.close(reading)


@contextlib.contextmanager
def serving(command: Sequence[str]):
    """Return the address that a server prints, while it runs."""
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.kill()
