"""A run by batches that is killed around the hand-in: one accepted batch for each mark, nothing lost, nothing twice."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import signal
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

from batching import BatchServer
from running import answers, carry_out, lines_of, make_workspace, spec
from size import size
from test_batches import PLAN, QUICK, serving

from genaipa.execution.engine import RunLimits
from genaipa.runs.folder import RunFolder

if TYPE_CHECKING:
    from pathlib import Path

KILLS = size(small=2, full=20)
MOMENTS = ("accepted", "create", "look", "download", "upload", "delete")
"""Where a process is killed; around the hand-in more often."""
_WITHIN = 0.05
"""Seconds after such a moment within which it dies."""


def child(folder: str, environment: dict[str, str]) -> None:
    """Begin the run, and go on until the kill."""
    os.chdir(folder)
    os.environ.update(environment)
    carry_out(spec(**PLAN), None, RunLimits(batch=QUICK))


def killed_once(server: BatchServer, moment: str, within: float, folder: Path) -> None:
    """A process that is killed so many seconds after this moment."""
    names = ("OPENAI_BASE_URL", "OPENAI_API_KEY")
    forks = multiprocessing.get_context("forkserver")
    process = forks.Process(target=child, args=(str(folder), {name: os.environ[name] for name in names}))

    def kill() -> None:
        if process.pid is not None:
            with contextlib.suppress(ProcessLookupError):  # it had ended before
                os.kill(process.pid, signal.SIGKILL)

    def at(now: str) -> None:
        if now == moment:
            server.at = lambda _moment: None
            # What comes at once must come before the answer is sent, which only the server's own thread can see to.
            if within:
                threading.Timer(within, kill).start()
            else:
                kill()

    server.at = at
    process.start()
    process.join(60)
    assert process.exitcode in (-signal.SIGKILL, 0)


def test_a_kill_at_any_moment_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """The provider accepted one batch at most of each mark, and asked for no line twice whose answer could be had."""
    chance = random.Random(15)
    for number in range(KILLS):
        here = tmp_path / str(number)
        here.mkdir()
        os.chdir(here)
        make_workspace(questions=3)
        moment = MOMENTS[number] if number < len(MOMENTS) else chance.choice(MOMENTS[:3])
        with serving(BatchServer()) as server:
            killed_once(server, moment, 0.0 if number < len(MOMENTS) else chance.uniform(0, _WITHIN), here)
            (path,) = (here / "runs").iterdir()
            folder, outcome = carry_out(spec(**PLAN), RunFolder(path), RunLimits(batch=QUICK))
            marks = Counter(held.mark for held in server.batches)
            lines = Counter(name.partition("-")[2] for held in server.batches for name in held.names)
        case = (number, moment, steps_of(path))
        assert outcome.status == "complete", case
        assert set(marks.values()) == {1}, case
        assert set(lines.values()) == {1}, case
        assert len(answers(folder)) == len(list(folder.records())) == 3, case


def steps_of(folder: Path) -> list[Any]:
    """The steps of the run's journal."""
    return [line["step"] for line in lines_of(folder / "batches.jsonl")]
