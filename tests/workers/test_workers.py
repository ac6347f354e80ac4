"""Jobs given to worker processes: each done once, again after a death, given up within bounds, stopped in order."""

from __future__ import annotations

import _thread
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from crafts import Noting

from genaipa.errors import NotReadyError, RunError
from genaipa.workers.dispatch import Dispatcher, Jobs, Patience
from genaipa.workers.processes import Processes

HERE = Path(__file__).parent
QUICK = Patience(tries=3, busy=5, again=0.02, stopping=10, look=0.05)


@dataclass
class Told(Jobs):
    """Jobs that do as they are told, and what was heard of them."""

    do: dict[int, tuple[str, int]] = field(default_factory=dict)
    heard: list[tuple[str, int, Any]] = field(default_factory=list)

    def make(self, number: int, workers: int) -> Any:
        """The job's number, and what it does."""
        return (number, *self.do.get(number, ("", 0)))

    def on_progress(self, number: int, what: Any) -> None:
        """A report."""
        self.heard.append(("told", number, what))

    def on_done(self, number: int, what: Any) -> bool:
        """A result; none is given once more."""
        self.heard.append(("ended", number, what))
        return False

    def on_requeue(self, number: int) -> None:
        """A job that is undone."""
        self.heard.append(("back", number, None))

    def on_lost(self, number: int, why: str) -> bool:
        """A loss; those of job 6 got further."""
        self.heard.append(("lost", number, why))
        return number == 6

    def redact(self, words: str) -> str:
        """Words without the key."""
        return words.replace("a-key", "[key]")

    def said(self, sentence: str) -> None:
        """A sentence."""
        self.heard.append(("said", 0, sentence))

    def of(self, kind: str) -> list[tuple[int, Any]]:
        """The news of a kind."""
        return [(number, what) for heard, number, what in self.heard if heard == kind]


def dispatch(
    folder: Path, jobs: Told, number: int, workers: int = 2, entered: str = "", patience: Patience = QUICK
) -> Dispatcher:
    """Have so many jobs done by so many processes."""
    dispatcher = Dispatcher(Processes(Noting(folder, entered)), workers, jobs, patience)
    dispatcher.run(range(number))
    return dispatcher


def noted(folder: Path) -> Counter[str]:
    """How often each word was noted."""
    return Counter(line.split()[0] for line in (folder / "notes").read_text().splitlines())


def test_every_job_is_done_once(tmp_path: Path) -> None:
    """Two processes share five jobs, each enters its craft once and leaves it; reports and results come back."""
    jobs = Told()
    assert dispatch(tmp_path, jobs, 5).given_up == {}
    assert sorted(jobs.of("ended")) == [(number, number * number) for number in range(5)]
    assert sorted(jobs.of("told")) == [(number, f"begun {number}") for number in range(5)]
    found = noted(tmp_path)
    assert found["enter"] == found["leave"] <= 2
    assert all(found[f"job-{number}"] == 1 for number in range(5))
    processes = {line.split()[1] for line in (tmp_path / "notes").read_text().splitlines()}
    assert str(os.getpid()) not in processes


def test_a_file_in_the_working_folder_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A study that somebody sent may have a file of a library's name: no process runs it."""
    (tmp_path / "queue.py").write_text("raise SystemExit('not the library')")
    monkeypatch.chdir(tmp_path)
    assert dispatch(tmp_path, Told(), 1, workers=1).given_up == {}


def test_a_lost_job_is_given_again(tmp_path: Path) -> None:
    """A killed process, or one whose server died, costs no job; one that gets no further is given up."""
    jobs = Told({0: ("kill", 1), 2: ("server", 1), 3: ("busy", 2), 5: ("leave", 9), 6: ("kill", 3)})
    given_up = dispatch(tmp_path, jobs, 7, patience=replace(QUICK, tries=2)).given_up
    assert sorted(number for number, _ in jobs.of("ended")) == [0, 1, 2, 3, 4, 6]
    assert list(given_up) == [5]
    # It may have waited at a worker that died of another job.
    assert re.search(
        r"died [23] times; the last because: its process ended with exit code 7 \(Fatal: \[key\]\)$", given_up[5]
    )
    assert {number for number, _ in jobs.of("lost")} == {0, 2, 5, 6}
    assert jobs.of("back") == [(3, None)] * 2, "of a worker that died it may be under way still"
    assert noted(tmp_path)["job-5"] == 2


@pytest.mark.full
def test_what_fails_is_given_up(tmp_path: Path) -> None:
    """A job that raises, and one that another process holds for too long, stay behind with a sentence."""
    short = replace(QUICK, busy=0.2)
    given_up = dispatch(tmp_path, Told({1: ("raise", 9), 2: ("busy", 10**6)}), 4, workers=1, patience=short).given_up
    assert given_up[1].startswith("ValueError: no such thing (crafts.py, line ")
    assert given_up[2] == "another process writes to it."


def test_a_job_after_the_other_that_fails_ends_it(tmp_path: Path) -> None:
    """Where everything fails, three are enough."""
    with pytest.raises(
        RunError, match=r"3 jobs one after another failed; .* the same command goes on\. The last because: ValueError"
    ):
        dispatch(tmp_path, Told(dict.fromkeys(range(9), ("raise", 9))), 9, workers=1)
    assert sum(word.startswith("job-") for word in noted(tmp_path)) == 3


@pytest.mark.full
def test_a_worker_that_cannot_start_is_given_nothing(tmp_path: Path) -> None:
    """The others go on; without any, its reason is the error."""
    jobs = Told()
    assert dispatch(tmp_path, jobs, 4, entered="first").given_up == {}
    assert len(jobs.of("ended")) == 4
    (said,) = jobs.of("said")
    assert said[1].endswith(" is given nothing more: vllm/x needs a vLLM server.")
    with pytest.raises(NotReadyError, match=r"no worker can go on: vllm/x needs a vLLM server\."):
        dispatch(tmp_path, Told(), 4, entered="refused")


def test_ctrl_c_stops_in_order(tmp_path: Path) -> None:
    """Jobs under way are cancelled as by Ctrl-C, crafts are left, and no process remains."""

    class Interrupting(Told):
        def on_progress(self, number: int, what: Any) -> None:
            if len(self.of("told")) == 1:
                threading.Timer(0.2, _thread.interrupt_main).start()
            super().on_progress(number, what)

    begun = time.monotonic()
    # Under nohup, and in the background of a shell, the tests are deaf to it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            dispatch(tmp_path, Interrupting(dict.fromkeys(range(4), ("sleep", 1))), 4)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - begun < 10
    assert noted(tmp_path)["cancelled"] == noted(tmp_path)["leave"] == 2


@pytest.mark.soak
def test_a_worker_that_stands_still_is_replaced(tmp_path: Path) -> None:
    """One that is stopped, and can't tell, is killed after a while; its job is done by another."""

    class Stopping(Told):
        def on_progress(self, number: int, what: Any) -> None:
            if number == 0 and not self.of("lost"):
                noted_by = next(line for line in (tmp_path / "notes").read_text().splitlines() if "job-0" in line)
                os.kill(int(noted_by.split()[1]), signal.SIGSTOP)
            super().on_progress(number, what)

    jobs = Stopping({0: ("sleep", 1), 1: ("sleep", 1)})
    threading.Timer(20, (tmp_path / "woken").touch).start()
    Dispatcher(Processes(Noting(tmp_path), silence=8), 2, jobs, QUICK).run(range(3))
    assert sorted(number for number, _ in jobs.of("ended")) == [0, 1, 2]
    assert jobs.of("lost") == [(0, "its process ended by signal 9")]


_DRIVER = """
import sys
from pathlib import Path
sys.path[:0] = {tests!r}
from crafts import Noting
from test_workers import Told
from genaipa.workers.dispatch import Dispatcher
from genaipa.workers.processes import Processes
Dispatcher(Processes(Noting(Path({folder!r}))), 2, Told(dict.fromkeys(range(2), ("sleep", 1)))).run(range(2))
"""


def test_workers_end_with_their_driver(tmp_path: Path) -> None:
    """A driver that is killed leaves no process behind: jobs under way stop in order."""
    script = _DRIVER.format(tests=[str(HERE), str(HERE.parent / "support")], folder=str(tmp_path))
    driver = subprocess.Popen([sys.executable, "-c", script])
    notes, until = tmp_path / "notes", time.monotonic() + 180
    while not notes.exists() or "job-0" not in noted(tmp_path) or "job-1" not in noted(tmp_path):
        assert time.monotonic() < until
        time.sleep(0.02)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    while noted(tmp_path)["leave"] < 2 and time.monotonic() < until:
        time.sleep(0.02)
    assert noted(tmp_path)["cancelled"] == noted(tmp_path)["leave"] == 2


@pytest.mark.full
def test_idle_workers_are_let_go_and_come_back(tmp_path: Path) -> None:
    """A worker without a job ends early; it is started anew where a job comes back."""
    jobs = Told({0: ("kill", 2)})
    assert dispatch(tmp_path, jobs, 1, workers=2).given_up == {}
    assert jobs.of("ended") == [(0, 0)]
