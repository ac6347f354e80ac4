"""The command line, called here as `python -m genaipa` would be: the same result without the second that Python takes.

What a call changes in this process is put back: environment, working folder, standard streams, module search path and
modules of the working folder, signal handlers, the consoles and commands that the command line keeps.
"""

from __future__ import annotations

import functools
import gc
import io
import os
import signal
import sys
import traceback
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any
from unittest import mock
from weakref import WeakKeyDictionary

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    Cli = Callable[..., "Finished"]

_CACHED = type(functools.cache(len))
_KEPT: WeakKeyDictionary[ModuleType, list[Any]] = WeakKeyDictionary()
"""What each module of the command line keeps."""
_SEEN: set[tuple[int, str]] = set()
"""How many modules there were, and the last, when they were looked at: thousands, of which a call imports few."""
_COMMANDS: set[str] = set()
"""Those of the command line among them."""
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@dataclass(frozen=True)
class Finished:
    """What a command left behind: its exit code, and what it wrote to standard output and standard error."""

    code: int
    out: str
    err: str


class _Terminal(io.TextIOWrapper):
    """A stream that says that it leads to a terminal."""

    def isatty(self) -> bool:
        return True


def call(*args: str | Path, stdin: str = "", timeout: float = 120.0, terminal: str = "") -> Finished:
    """Run the command line in this process; a call that takes longer than the time-out (seconds) fails the test.

    With the encoding of a `terminal`, standard output leads there.
    """
    import genaipa
    from genaipa.__main__ import main

    argv = [str(Path(genaipa.__file__).with_name("__main__.py")), *map(str, args)]
    out, err = _Terminal(io.BytesIO(), encoding=terminal) if terminal else _stream(""), _stream("")
    with _put_back(), _at_most(timeout, argv):
        sys.argv = argv
        sys.stdin, sys.stdout, sys.stderr = _stream(stdin), out, err
        try:
            main()
            code = 0
        except SystemExit as left:
            code = _code(left.code)
        except Exception:  # noqa: BLE001 - Python itself prints it and exits with 1
            traceback.print_exc()
            code = 1
    return Finished(code, _written(out), _written(err))


def _stream(text: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")


def _written(stream: io.TextIOWrapper) -> str:
    """The text, with line ends as subprocess gives them."""
    stream.flush()
    return stream.buffer.getvalue().decode().replace("\r\n", "\n").replace("\r", "\n")


def _code(left: int | str | None) -> int:
    """The exit code that Python makes of what SystemExit carries; it prints a text."""
    if isinstance(left, str):
        sys.stderr.write(left + "\n")
        return 1
    return left or 0


@contextmanager
def _put_back() -> Iterator[None]:
    """Put back what a call may change."""
    _forget()
    here, path, modules, before = Path.cwd(), list(sys.path), sys.modules.copy(), os.environ.copy()
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    # By it the command line finds its name, "python -m genaipa".
    program = ModuleType("__main__")
    program.__package__ = "genaipa"
    thresholds = gc.get_threshold()
    with (
        mock.patch.multiple(sys, argv=sys.argv, stdin=sys.stdin, stdout=sys.stdout, stderr=sys.stderr),
        # As a process's last act, it keeps the collector of cycles from what is left; here nothing would ever be freed.
        mock.patch.object(gc, "freeze"),
    ):
        main, sys.modules["__main__"] = sys.modules["__main__"], program
        try:
            yield
        finally:
            sys.modules["__main__"] = main
            gc.set_threshold(*thresholds)
            for number, handler in handlers.items():
                signal.signal(number, handler)
            os.chdir(here)
            sys.path[:] = path
            now = os.environ.copy()
            for name in now.keys() - before.keys():
                del os.environ[name]
            os.environ.update({name: value for name, value in before.items() if now.get(name) != value})
            # What is imported comes last.
            if (len(modules), next(reversed(modules))) != (len(sys.modules), next(reversed(sys.modules))):
                for name in sys.modules.keys() - modules.keys():
                    if _from(here, name):
                        del sys.modules[name]
            sys.path_importer_cache.pop(str(here), None)
            _forget()


def _from(folder: Path, module: str) -> bool:
    """Tell whether a module is a study's own; packages stay, also where they or .venv are below the folder."""
    if module.startswith("genaipa"):
        return False
    file = getattr(sys.modules[module], "__file__", None) or ""
    return file.startswith(f"{folder}{os.sep}") and not file.startswith(f"{sys.prefix}{os.sep}")


def _forget() -> None:
    """Empty what the command line keeps for the rest of its process: consoles are as wide as the terminal was.

    The commands themselves are the same for every call.
    """
    last = len(sys.modules), next(reversed(sys.modules))
    if last not in _SEEN:
        _SEEN.clear()
        _SEEN.add(last)
        _COMMANDS.update(name for name in list(sys.modules) if name.startswith("genaipa.cli."))
    for module in filter(None, map(sys.modules.get, _COMMANDS)):
        if module not in _KEPT:
            _KEPT[module] = [value for value in vars(module).values() if isinstance(value, _CACHED)]
        for value in _KEPT[module]:
            value.cache_clear()


@contextmanager
def _at_most(seconds: float, argv: list[str]) -> Iterator[None]:
    """Fail the test when the time is over."""

    def over(number: int, frame: FrameType | None) -> None:
        pytest.fail(f"genaipa {' '.join(argv[1:])} took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, over)
    # Again each second: what is raised within a callback of asyncio's is logged there, and goes no further.
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def heeding(*numbers: int) -> Iterator[None]:
    """Processes that are started in here heed these signals, even where the tests run under nohup or in the background.

    A process that ignores a signal hands that on to those that it starts.
    """
    before = {number: signal.signal(number, signal.SIG_DFL) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
