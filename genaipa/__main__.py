"""The entry of `genaipa` and of `python -m genaipa`: takes signals to end before anything else is imported.

A signal to end is taken as Ctrl-C is, from the first moment on.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


def main() -> None:
    """Run the command line; ended while it still starts, it says so, and ends as at Ctrl-C later on."""
    treat_termination_as_interrupt()
    # The collector of cycles looks through all that pandas and matplotlib hold each time 700 objects were made: a fifth
    # of a report's time, for next to nothing to collect.
    gc.set_threshold(100_000, 50, 100)
    # Figures become files and are shown nowhere. Without a backend matplotlib looks for one, and imports pyplot and, on
    # a desktop, a toolkit of windows.
    os.environ.setdefault("MPLBACKEND", "agg")
    try:
        from genaipa.cli import run_command_line

        code = run_command_line()
        # At the end it would look through all of it twice more: a tenth of a report's time.
        gc.freeze()
        sys.exit(code)
    except KeyboardInterrupt:
        sys.stderr.write("genaipa: interrupted.\n")
        sys.exit(130)


def treat_termination_as_interrupt() -> None:
    """Let SIGTERM and SIGHUP end this process as Ctrl-C does, so that a server that was started here ends too.

    A shell's background job stays deaf to Ctrl-C itself.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and hasattr(signal, "pthread_sigmask"):
        # Where Ctrl-C is ignored, asyncio leaves it alone, and a KeyboardInterrupt would come up anywhere, also where
        # it is lost or taken for a failed call. Held back instead, it never arrives either, and asyncio sees to it.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("SIGTERM", "SIGHUP"):  # Windows has no SIGHUP, and nohup ignores it
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt_process)


def _interrupt_process(signal_number: int, frame: FrameType | None) -> None:
    """End as at Ctrl-C, in the way that holds at this moment."""
    # asyncio's own while it runs.
    at_ctrl_c = signal.getsignal(signal.SIGINT)
    (at_ctrl_c if callable(at_ctrl_c) else signal.default_int_handler)(signal_number, frame)


if __name__ == "__main__":
    # -m puts the working folder first on the path: a file there, of a study that somebody sent, would be imported in
    # place of a library of the same name. With -P it isn't there.
    if not sys.flags.safe_path and not sys.flags.isolated:
        del sys.path[0]
    main()
