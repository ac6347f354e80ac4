"""A run by batches that is killed around the hand-in: one accepted batch for each mark, nothing lost, nothing twice.

`BATCH_KILLS=1000 make soak FILE=tests/execution/test_batches_kill.py` kills as often, and `pytest -s` shows the counts.
"""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from batching import AnthropicBatchServer, Batches, BatchServer, GoogleBatchServer
from running import answers, carry_out, lines_of, make_workspace, spec
from test_batches import PLAN, QUICK, serving, system_of

from genaipa.execution.limits import RunLimits
from genaipa.runs.folder import RunFolder

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from pathlib import Path

KILLS = int(os.environ.get("BATCH_KILLS", "30"))
KINDS = (BatchServer, AnthropicBatchServer, GoogleBatchServer)
MOMENTS = ("accepted", "create", "intended", "look", "download", "delete")
"""Moments at which a process is killed, those around the hand-in more often; `intended` is the journal's line."""
WEIGHTS = (4, 4, 4, 1, 1, 1)
SDKS = {
    "openai": ("openai.resources.batches", "genai_prices.data"),
    "anthropic": ("anthropic.resources.messages.batches",),
    "google": ("google.genai",),
}
"""Modules that a run imports."""
_WITHIN = 0.05
"""Seconds after such a moment within which it dies."""


def nursery(orders: Connection) -> None:
    """Begin runs, each in a fork of a process that has imported what they need; tell its number, and its end."""
    while order := orders.recv():
        folder, environment, system = order
        for module in SDKS[system.partition("/")[0]]:
            importlib.import_module(module)
        pid = os.fork()
        if not pid:
            os.chdir(folder)
            os.environ.update(environment)
            carry_out(spec(**PLAN | {"systems": (system,)}), None, RunLimits(batch=QUICK))
            os._exit(0)
        orders.send(pid)
        orders.send(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


@cache
def begun_nursery() -> Connection:
    """The line to the process that begins the runs."""
    spawning = multiprocessing.get_context("spawn")
    here, there = spawning.Pipe()
    spawning.Process(target=nursery, args=(there,), daemon=True).start()
    return here


def killed_once(server: Batches, moment: str, within: float, folder: Path) -> bool:
    """Whether a process died by a kill so many seconds after this moment; it may have ended before."""
    orders = begun_nursery()
    names = [name for name in os.environ if name.endswith(("_BASE_URL", "_API_KEY"))]
    pid = 0

    def kill() -> None:
        with contextlib.suppress(ProcessLookupError):  # it had ended before
            os.kill(pid, signal.SIGKILL)

    def at(now: str) -> None:
        if now == moment:
            server.at = lambda _moment: None
            # A kill at once must come before the answer is sent, which only the server's own thread can see to.
            if within:
                threading.Timer(within, kill).start()
            else:
                kill()

    server.at = at
    orders.send((str(folder), {name: os.environ[name] for name in names}, system_of(type(server))))
    pid = orders.recv()
    if moment == "intended":
        while not orders.poll() and not any(path.stat().st_size for path in folder.glob("runs/*/batches.jsonl")):
            time.sleep(0.001)
        time.sleep(within)
        if not orders.poll():
            kill()
    assert orders.poll(60)
    code = orders.recv()
    assert code in (-signal.SIGKILL, 0)
    return bool(code)


@pytest.mark.soak
def test_a_kill_at_any_moment_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """The provider accepted one batch at most of each mark, and asked for no line twice whose answer could be had."""
    chance, counts = random.Random(KILLS), Counter[str]()
    for number in range(KILLS):
        here = tmp_path / str(number)
        here.mkdir()
        os.chdir(here)
        make_workspace(questions=3)
        kind = KINDS[number % len(KINDS)]
        first = number < len(KINDS) * len(MOMENTS)
        moment = MOMENTS[number // len(KINDS)] if first else chance.choices(MOMENTS, WEIGHTS)[0]
        with serving(kind()) as server:
            killed = killed_once(server, moment, 0.0 if first else chance.uniform(0, _WITHIN), here)
            (path,) = (here / "runs").iterdir()
            before = steps_of(path)
            plan = spec(**PLAN | {"systems": (system_of(kind),)})
            folder, outcome = carry_out(plan, RunFolder(path), RunLimits(batch=QUICK))
            marks = Counter(held.mark for held in server.batches)
            lines = Counter(name.partition("-")[2] for held in server.batches for name in held.names)
        case = (number, kind, moment, before, steps_of(path))
        assert outcome.status == "complete", case
        assert set(marks.values()) == {1}, case
        assert set(lines.values()) == {1}, case
        assert len(lines) == len(answers(folder)) == len(list(folder.read_records())) == 3, case
        counts += Counter({f"{kind.__name__}: rounds": 1, "killed": killed, "batches accepted": len(marks)})
        counts += Counter({"not known whether it was accepted": before[-1:] == ["intended"], "answers": 3})
        counts += Counter({"never accepted": steps_of(path).count("given up")})
        if number % 50 == 49 or number == KILLS - 1:
            sys.stdout.write(f"\n{dict(counts)}\n")


def steps_of(folder: Path) -> list[Any]:
    """The steps of the run's journal."""
    return [line["step"] for line in lines_of(folder / "batches.jsonl")]
