"""Commands in a process of their own that start in a moment: forked from one that has imported what they need.

Each has the environment and the working folder of the test that starts it, and writes to a file of its own. What Python
itself does at a start and an end is left out; where that matters, the command is started as a person starts it.

The process that forks is never a test's own, which may have threads of any kind: a fork copies their memory and not
them, and what they held then stays held, or half changed, in the copy. It runs one thread, and `fork` makes sure.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
from dataclasses import dataclass
from multiprocessing import forkserver
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, ForkServerProcess

# Numpy and pyarrow start threads as they are imported, unless these say otherwise.
_ALONE = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        *(
            "pytest",
            "forking",
            "genaipa.cli",
            "genaipa.cli.commands.run",
            "genaipa.cli.terminal.console",
            "rich.console",
            "rich.table",
        ),
        # What a run needs,
        *(
            "genaipa.cli.commands.run",
            "genaipa.cli.commands.run_summary",
            "genaipa.execution.prepare",
            "genaipa.cli.terminal.progress",
            "genaipa.execution.run",
            "jinja2",
        ),
        *("genaipa.cli.commands.judge", "genaipa.execution.judging"),
        *("genaipa.systems.openai", "openai.types.chat", "genai_prices.data", "langchain_text_splitters"),
        # and what the desk needs.
        *("genaipa.cli.commands.score", "genaipa.ui.launch", "genaipa.ui.pages.scoring", "genaipa.ui.signin"),
        *("genaipa.systems.catalog", "sqlalchemy.dialects.sqlite", "streamlit.web.cli", "streamlit.web.bootstrap"),
        *("anyio._backends._asyncio", "pydantic.json_schema", "pydantic.main", "starlette.applications"),
        *("starlette.middleware.sessions", "uvicorn.protocols.http.auto", "uvicorn.protocols.websockets.auto"),
        *("genaipa.scoring.assignment", "genaipa.ui.desk", "genaipa.ui.gate", "streamlit.web.server.app_discovery"),
        *("scanned", "streamlit.web.server.starlette.starlette_agent_routes"),
        # Streamlit imports these for the first visitor.
        *("markdown_it", "pandas", "streamlit.emojis"),
    ]
)


@dataclass
class Forked:
    """A command under way, used as a `subprocess.Popen` is."""

    process: ForkServerProcess

    @property
    def pid(self) -> int:
        """The number of its process, and of the group that it leads."""
        assert self.process.pid is not None
        return self.process.pid

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""
        return self.process.exitcode

    def wait(self, timeout: float = 180.0) -> int:
        """Its exit code, once it has ended."""
        self.process.join(timeout)
        if self.process.exitcode is None:
            raise subprocess.TimeoutExpired("genaipa", timeout)
        return self.process.exitcode

    def send_signal(self, number: int) -> None:
        """Send a signal to it, unless it has ended."""
        if self.process.exitcode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it between two of its instructions."""
        self.send_signal(signal.SIGKILL)


def forks() -> ForkServerContext:
    """The context whose processes are forked from that one; the first call starts it."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in _ALONE.items():
            patch.setenv(name, value)
        # Python 3.11 looks for what is preloaded on the path of a fresh process, not on ours.
        patch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
        forkserver.ensure_running()
    return _FORKS


def fork(*args: str, log: Path) -> Forked:
    """`genaipa ARGS` in the working folder; what it prints is added to the log."""
    process = forks().Process(target=_run, args=(args, dict(os.environ), Path.cwd(), log.resolve()), daemon=True)
    process.start()
    assert process.pid is not None
    assert len(threads := _beside(process.pid)) <= 1, f"{threads} ran at the fork; add to _ALONE what prevents them"
    return Forked(process)


def _beside(number: int) -> list[str]:
    """The names of the threads of a process's parent; none where the system has no /proc, or the process is gone."""
    try:
        parent = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1]
        return [task.read_text().strip() for task in Path(f"/proc/{parent}/task").glob("*/comm")]
    except OSError:
        return []


def _run(args: tuple[str, ...], environment: dict[str, str], folder: Path, log: Path) -> None:
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for number, file in ((0, os.open(os.devnull, os.O_RDONLY)), (1, written), (2, written)):
        os.dup2(file, number)
    # A process that crashes says where, in its log.
    faulthandler.enable(2)
    sys.argv = ["genaipa", *args]
    runpy.run_module("genaipa", run_name="__main__", alter_sys=True)
