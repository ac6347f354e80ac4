"""Launchers, and what they do with the processes of slices, which are small stand-ins here."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from genaipa.errors import OptionError
from genaipa.execution.launch import (
    Launch,
    carry_out_slices_resuming_capped,
    parse_launcher_and_slices_at_once,
    slice_environment,
)
from genaipa.execution.local import LocalLauncher

HERE = LocalLauncher()
KILLED = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
GROWS = "open('answers', 'a').write('.')"


@dataclass
class Scripted(Launch):
    """A launch whose slices run a line of Python each."""

    scripts: dict[int, str] = field(default_factory=dict)
    began: list[int] = field(default_factory=list)

    def slice_command(self, index: int, at_once: int) -> list[str]:
        """Note it, and run its script."""
        self.began.append(index)
        return [sys.executable, "-S", "-c", self.scripts.get(index, "pass")]


def scripted(number: int = 4, **scripts: str) -> tuple[Scripted, list[str]]:
    """A launch of slices, with those named `s3` scripted; and what it says."""
    said: list[str] = []
    by_index = {int(name[1:]): script for name, script in scripts.items()}
    return Scripted((), (), number, said.append, measure=lambda index: measure("answers"), scripts=by_index), said


def measure(name: str) -> int:
    """The bytes of a file, if there is one."""
    return Path(name).stat().st_size if Path(name).exists() else 0


def test_a_slice_goes_on_after_deaths_and_is_given_up_without_progress() -> None:
    """One that answered before it died goes on without end; one that did not is given up after three deaths."""
    mortal = f"import os, signal; {GROWS}; os.stat('answers').st_size > 4 or os.kill(os.getpid(), signal.SIGKILL)"
    launch, said = scripted(2, s1=mortal)
    HERE.carry_out(launch, [1], 1)
    assert (launch.codes, launch.began) == ({1: 0}, [1] * 5)
    launch, said = scripted(2, s2=KILLED)
    HERE.carry_out(launch, [1, 2], 2)
    assert launch.codes == {1: 0, 2: -signal.SIGKILL}
    assert launch.began.count(2) == 3
    assert said[-1] == (
        "slice 2 of 2 was abandoned after its process died 3 times without a new answer: signal 9 ended its process."
    )


def test_a_usage_error_ends_all_and_is_said_once() -> None:
    """Whatever all slices say is said once, without keys, and none is begun after the error."""
    complains = "import sys; print('genaipa: no such thing', file=sys.stderr); sys.exit(2)"
    launch, said = scripted(6, **{f"s{index}": complains for index in range(1, 7)})
    HERE.carry_out(launch, range(1, 7), 2)
    assert said == ["genaipa: no such thing"]
    assert len(launch.began) <= 4


def test_errors_alike_end_all_before_any_answer() -> None:
    """Three slices that can't be asked are enough, unless something was answered."""
    launch, _ = scripted(9, **{f"s{index}": "raise SystemExit(1)" for index in range(1, 10)})
    HERE.carry_out(launch, range(1, 10), 1)
    assert launch.began == [1, 2, 3]
    Path("answers").write_text(".")
    HERE.carry_out(launch, range(1, 10), 1)
    assert launch.began[3:] == [*range(1, 10)]


def test_capped_slices_go_on_while_they_get_further() -> None:
    """Passes over them end with the first that brings nothing."""
    capped = f"import os, sys; os.path.exists('answers') and os.stat('answers').st_size > 2 or {GROWS}; sys.exit(4)"
    launch, _ = scripted(2, s2=capped)
    carry_out_slices_resuming_capped(launch, HERE, [1, 2], 2)
    assert launch.codes == {1: 0, 2: 4}
    assert sorted(launch.began) == [1, 2, 2, 2, 2]


def test_stopping_ends_all_in_order() -> None:
    """Interrupted, the processes under way are asked to end, and no other is begun."""
    waits = "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(130)); open('up', 'w'); time.sleep(60)"
    launch, _ = scripted(3, s1=waits)

    def interrupt() -> None:
        while not Path("up").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        HERE.carry_out(launch, [1, 2, 3], 1)
    thread.join()
    assert launch.began == [1]


def test_connections_are_divided_among_slices_at_once() -> None:
    """Each has its share of the calls, at least one; where each has a server of its own, all of them."""
    launch = Launch(["--name=shops"], ["--resume=shops"], 16, print, measure=lambda index: index - 1, connections=10)
    assert launch.slice_command(1, 4)[-5:] == ["--name=shops", "--slice", "1/16", "--max-connections", "2"]
    assert launch.slice_command(2, 16)[-5:] == ["--resume=shops", "--slice", "2/16", "--max-connections", "1"]
    launch.shares_servers = False
    assert launch.slice_command(2, 4)[-1] == "10"


def test_a_slice_inherits_nothing_that_is_set_for_the_study() -> None:
    """Variables that stand for the driver's own options stay behind; others, and its server's, go along."""
    launch = Launch([], [], 2, print, environment={"VLLM_BASE_URL": "http://here"})
    inherited = {"GENAIPA_SLICES": "2", "GENAIPA_ON": "local:2", "GENAIPA_TIMEOUT": "9", "PATH": "/bin"}
    assert slice_environment(launch, inherited) == {
        "GENAIPA_TIMEOUT": "9", "PATH": "/bin", "VLLM_BASE_URL": "http://here", "_GENAIPA_LAUNCHED": "1",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["slurm", "local:0", "local:x", "local:", "LOCAL:2", "local:99999", "local:²"])
def test_places_that_cannot_be(text: str) -> None:
    """They are an OptionError that names those that can."""
    with pytest.raises(OptionError, match=r"must be local, local:4, ray or ray:4\.$"):
        parse_launcher_and_slices_at_once(text)
