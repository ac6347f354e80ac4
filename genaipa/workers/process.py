"""A worker process: `python -m genaipa.workers.process NAME PIPE`, started by `processes.py`.

From the pipe come the folders to import from, the craft, then jobs; None asks to stop. When the pipe ends, the process
stops in order and ends.
"""

from __future__ import annotations

import contextlib
import queue
import sys
import threading
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from genaipa.workers.base import Ready, Told
from genaipa.workers.errand import Errands

if TYPE_CHECKING:
    from genaipa.workers.base import Craft


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
