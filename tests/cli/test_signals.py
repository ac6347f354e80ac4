"""A signal to end, in the first moments, in a shell's background job, and in the middle of a run: as Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from running import KEY, SYSTEM, make_workspace
from servers import OpenAIServer

from genaipa.runs.selection import list_run_folders_oldest_first
from genaipa.workspace import find_workspace

ENTRY = "from genaipa.__main__ import main; main()"


def start(*arguments: str, deaf: bool = False) -> subprocess.Popen[str]:
    """The command in a process of its own; a `deaf` one ignores Ctrl-C, as a shell's background job does."""
    # What ignores a signal hands that on: these tests may themselves run in the background, or under nohup.
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGHUP)}
    signal.signal(signal.SIGINT, signal.SIG_IGN if deaf else signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        return subprocess.Popen([sys.executable, *arguments], stderr=subprocess.PIPE, text=True)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def until(path: str, process: subprocess.Popen[str]) -> None:
    """Return once the file is there."""
    while not Path(path).exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_in_the_first_moments(monkeypatch: pytest.MonkeyPatch, number: signal.Signals) -> None:
    """While genaipa still imports what it needs, it ends with a word and the exit code of an interrupted run."""
    Path("slow").mkdir()
    Path("slow/typer.py").write_text("import pathlib, time\npathlib.Path('importing').touch()\ntime.sleep(60)\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["slow", os.environ["PYTHONPATH"]]))
    process = start("-c", ENTRY)
    until("importing", process)
    process.send_signal(number)
    assert (process.communicate(timeout=60)[1], process.returncode) == ("genaipa: interrupted.\n", 130)


@pytest.mark.full
def test_a_background_job_ends_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that a shell made deaf to Ctrl-C stays so; another signal ends its run as Ctrl-C would."""
    with OpenAIServer(models=("m",), latency=0.004) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        monkeypatch.setenv("LOOP_API_KEY", KEY)
        make_workspace(questions=50)
        plan = ("-s", SYSTEM, "-p", "acme", "--repetitions", "100", "--conversation", "independent", "-j", "4")
        process = start("-m", "genaipa", "run", *plan, deaf=True)
        while len(server.requests) < 5:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        heard = len(server.requests)
        while len(server.requests) < heard + 20:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 130, said
    (run,) = list_run_folders_oldest_first(find_workspace())
    assert run.manifest().status == "interrupted"
    assert all(record.status == "answered" for record in run.read_records())
    assert "Traceback" not in said
