"""Ctrl-C and termination signals while an event loop runs: stop in order if possible, else cancel the busy task."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

PATIENCE = 1.0
"""Seconds that the event loop has to take note, before the task that keeps it busy is broken off."""


@contextlib.contextmanager
def promptly() -> Iterator[None]:
    """Hold this inside the main task of a running loop; it ends with CancelledError if it is itself broken off.

    asyncio cancels at Ctrl-C, which by itself waits until whatever computes has finished.
    """
    loop, main = asyncio.get_running_loop(), asyncio.current_task()
    at_ctrl_c = signal.getsignal(signal.SIGINT)
    here = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    if not here or not callable(at_ctrl_c):
        yield
        return
    before = signal.getsignal(signal.SIGALRM)
    broken_off = False

    def put_back() -> None:
        if signal.getsignal(signal.SIGALRM) is break_off:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def break_off(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a signal's handler
        nonlocal broken_off
        put_back()
        busy = asyncio.current_task()
        # What the main task does on its way out must not be cancelled as well.
        broken_off = busy is main
        if busy is not None:
            raise asyncio.CancelledError

    def in_order(number: int) -> None:
        put_back()
        if not broken_off:
            at_ctrl_c(number, None)

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a signal's handler
        signal.signal(signal.SIGALRM, break_off)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        loop.call_soon_threadsafe(in_order, number)

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        put_back()
        signal.signal(signal.SIGINT, at_ctrl_c)
