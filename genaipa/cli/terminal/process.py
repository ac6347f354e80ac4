"""The process: its standard streams, made fit for any text, and its signals.

At Ctrl-C or a termination signal while an event loop runs it stops in order if possible, else cancels the busy task.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from genaipa.errors import GenaipaError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from _typeshed import ReadableBuffer


def prepare_streams_or_exit_if_closed() -> None:
    """Make any text printable, in any encoding; end the process where nothing can be printed."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
    if sys.stdout is None:
        sys.stderr.write("genaipa: standard output is closed; send it to a file or to /dev/null.\n")
        sys.exit(1)
    if not sys.stdout.isatty():
        with contextlib.suppress(io.UnsupportedOperation):  # a stream in memory, which never fills up
            file = io.BufferedWriter(_StdoutSilentAfterFailure(sys.stdout.fileno(), "w", closefd=False))
            sys.stdout = io.TextIOWrapper(file, encoding=sys.stdout.encoding)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A reply may hold any character; a terminal that can't show it must not end the run.
            stream.reconfigure(errors="replace")


class _StdoutSilentAfterFailure(io.FileIO):
    """A file or pipe as standard output, which fails once, in a sentence, and then takes everything in silence."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write, or raise a GenaipaError; a BrokenPipeError where nobody reads any more, which is no fault."""
        try:
            return super().write(data)
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            if error.errno == errno.EPIPE:
                raise
            raise GenaipaError(
                f"the output could not be written ({error.strerror}); free some space, or redirect the output."
            ) from None


PATIENCE = 1.0
"""Seconds that the event loop has to take note, before the task that keeps it busy is broken off."""


@contextlib.contextmanager
def cancel_busy_task_soon_after_interrupt() -> Iterator[None]:
    """Hold this inside the main task of a running loop; it ends with CancelledError if it is itself broken off.

    asyncio cancels at Ctrl-C, which by itself waits until whatever computes has finished.
    """
    import asyncio  # as long to import as all of this package that a help page takes

    loop, main = asyncio.get_running_loop(), asyncio.current_task()
    at_ctrl_c = signal.getsignal(signal.SIGINT)
    is_supported = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    if not is_supported or not callable(at_ctrl_c):
        yield
        return
    before = signal.getsignal(signal.SIGALRM)
    broken_off = False

    def restore_handlers() -> None:
        if signal.getsignal(signal.SIGALRM) is cancel_current_task:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def cancel_current_task(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a signal's handler
        nonlocal broken_off
        restore_handlers()
        busy = asyncio.current_task()
        # What the main task does on its way out must not be cancelled as well.
        broken_off = busy is main
        if busy is not None:
            raise asyncio.CancelledError

    def call_previous_interrupt_handler(number: int) -> None:
        restore_handlers()
        if not broken_off:
            at_ctrl_c(number, None)

    def schedule_interrupt_and_cancel(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a signal's handler
        signal.signal(signal.SIGALRM, cancel_current_task)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        loop.call_soon_threadsafe(call_previous_interrupt_handler, number)

    signal.signal(signal.SIGINT, schedule_interrupt_and_cancel)
    try:
        yield
    finally:
        restore_handlers()
        signal.signal(signal.SIGINT, at_ctrl_c)


def end_process_when_stdin_closes() -> None:
    """Have this process end, as at Ctrl-C, when its standard input does: with whoever started it, however that ends."""

    def terminate_once_stdin_ends() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 1024):
                pass
        # Nobody reads what it says on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=terminate_once_stdin_ends, daemon=True).start()
