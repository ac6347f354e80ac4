"""The `genaipa` fixture: a command called in this process does what it does in one of its own, and leaves no trace."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from genaipa.cli.terminal import console

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]

ASSISTANT = """
from genaipa.systems.base import Readiness, Reply
print("imported")
class Mine:
    name = "mine"
    async def start(self, settings, **_): raise RuntimeError("Grüße \\u2028")
"""


@pytest.mark.full
def test_as_in_a_process_of_its_own(genaipa: Cli, genaipa_process: Cli) -> None:
    """Exit code, standard output and standard error are the same, for what works and for what doesn't."""
    Path("mine.py").write_text(ASSISTANT, encoding="utf-8")
    for command in (
        ("--version",),
        ("run", "--help"),
        ("policies",),
        ("run", "-s", "gpt4o", "-p", "brindlecart"),
        ("run", "--nonsense"),
        ("run", "-s", "mine:Mine", "-p", "brindlecart", "-e", "quality"),
    ):
        assert genaipa(*command) == genaipa_process(*command), command


def test_nothing_of_a_call_is_left(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither its environment, streams, modules, signal handlers nor the width of its terminal."""

    def state() -> tuple[object, ...]:
        handlers = tuple(signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        streams = (sys.stdin, sys.stdout, sys.stderr, tuple(sys.argv), tuple(sys.path), "mine" in sys.modules)
        return Path.cwd(), dict(os.environ), handlers, streams

    Path("mine.py").write_text(ASSISTANT, encoding="utf-8")
    Path(".env").write_text("LOOP_API_KEY=from-dotenv\n", encoding="utf-8")
    before = state()
    monkeypatch.setenv("COLUMNS", "50")
    genaipa("run", "-s", "mine:Mine", "-p", "brindlecart", "-e", "quality")
    narrow = genaipa("policies").out
    monkeypatch.setenv("COLUMNS", "100")
    assert state() == before
    assert narrow != genaipa("policies").out
    assert console.stdout_console.cache_info().currsize == 0


def test_a_call_has_a_time_out(genaipa: Cli) -> None:
    """A command that never ends fails its test, with the command in the message."""
    Path("mine.py").write_text("while True: pass", encoding="utf-8")
    with pytest.raises(pytest.fail.Exception, match=r"mine:Mine .*took longer than 0\.2 s"):
        genaipa("run", "-s", "mine:Mine", "-p", "brindlecart", timeout=0.2)
