"""Shards written by several processes, by paused and by killed ones: each answer once, and one seal a shard."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from forking import fork
from rounds import DOCUMENTS, PLAN, Rounds, check_books, kept
from running import make_workspace

from genaipa.runs.folder import RunFolder
from genaipa.runs.records import RecordHead
from genaipa.runs.selection import find_run, run_folders
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commandline import Finished
    from forking import Forked

KILLS = 50
CONNECTIONS = 2
WANTED = len(DOCUMENTS) * Rounds.questions

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="pauses and kills forked processes")


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> Iterator[Rounds]:
    """A server that counts requests, and the workspace of the plan."""
    counting = Rounds()
    with counting.serve() as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        yield counting


def start(*more: str) -> Forked:
    """A process that carries out the plan."""
    return fork("run", "-j", str(CONNECTIONS), *PLAN, *more, log=Path("log"))


def pause(rounds: Rounds, requests: int, *more: str) -> Forked:
    """A process that carries out the plan, paused after so many requests: in the middle of a shard, which has twelve.

    Until it is, further ones take a second each: a test whose turn comes late on a busy machine is in time.
    """
    rounds.patient, rounds.hold = False, 1.0
    process = start(*more)
    assert rounds.until(requests, process), Path("log").read_text()
    process.send_signal(signal.SIGSTOP)
    rounds.patient = True
    return process


def the_run() -> RunFolder:
    """The one run of the working folder."""
    (run,) = run_folders(find_workspace())
    assert run.plans is not None
    return run


def check_seals(run: RunFolder) -> None:
    """Each shard has one seal, with each of its answers once, and no other file of answers."""
    for index in range(run.number):
        shard = run.shard(index)
        assert sorted(path.name for path in shard.path.glob("*answers*")) == ["answers.parquet"]
        keys = Counter(record.key for _, record in shard.read(RecordHead))
        assert set(keys.values()) == {1}
        assert len(keys) == sum(map(len, run.plan(index).orders.values()))


@pytest.mark.full
def test_parts_side_by_side(rounds: Rounds, genaipa: Callable[..., Finished]) -> None:
    """Two processes that begin at once make one run, and each carries out its part; a third finds nothing to do."""
    both = [start("--shards", f"{part}/2") for part in (1, 2)]
    assert [process.wait(120) for process in both] == [0, 0], Path("log").read_text()
    run = the_run()
    assert run.state()[0].status == run.outline().status == "complete"
    assert run.outline().totals.answered == WANTED
    check_books(rounds, 0, 0)
    check_seals(run)
    asked = len(rounds.asked)
    third = genaipa("run", *PLAN, "--shards", "2/3")
    assert "nothing was asked" in third.out
    assert len(rounds.asked) == asked


def test_one_part_of_two(rounds: Rounds, genaipa: Callable[..., Finished]) -> None:
    """A part that is done says so with exit code 0, though the others are missing; the whole is partial."""
    done = genaipa("run", *PLAN, "--shards", "1/2")
    assert done.code == 0, done.err
    assert "This part is complete. Of the other parts of the shards" in done.out
    idle = genaipa("run", *PLAN, "--shards", "6/6")
    assert idle.code == 0
    assert "part 6 of 6 has nothing to do: the run has" in idle.err
    run = the_run()
    assert (run.to_do(range(run.number)), run.outline().status) == ([1, 3], "partial")
    assert genaipa("runs", "--json").out.count('"partial"') == 1
    assert genaipa("run", "--resume", "cut").code == 0
    check_books(rounds, 0, 0)


@pytest.mark.full
def test_paused_and_given_away(rounds: Rounds, genaipa: Callable[..., Finished]) -> None:
    """A process that is paused while another does its shard writes nothing more there; there is one seal."""
    paused = pause(rounds, 4)
    run = the_run()
    first = run.shard(0)
    # As when the lease of a lock on a shared file system ends: the lock is another's from now on.
    (first.path / ".lock").unlink()
    assert genaipa("run", "--resume", "cut").code == 0
    before = first.answers.read_bytes()
    paused.send_signal(signal.SIGCONT)
    assert paused.wait(60) in (0, 3)
    assert first.answers.read_bytes() == before
    check_seals(the_run())
    assert len(kept()) == WANTED


@pytest.mark.soak
def test_killed_again_and_again(rounds: Rounds, genaipa: Callable[..., Finished]) -> None:
    """Killed at random moments, the run ends with each answer once; only calls in flight are asked again."""
    kills = 0
    for number in range(KILLS):
        rounds.now.clear()
        rounds.left = rounds.chance.randint(1, max(1, (WANTED - len(set(rounds.asked))) // (KILLS - number + 1)))
        process = start()
        if rounds.chance.random() < 0.8:
            assert rounds.now.wait(60) or process.poll() is not None
        time.sleep(rounds.chance.uniform(0, 0.1))
        process.kill()
        process.wait(60)
        kills += 1
    finished = genaipa("run", *PLAN)
    assert finished.code == 0, finished.err
    check_books(rounds, kills, CONNECTIONS)
    check_seals(the_run())


@pytest.mark.full  # test_beside_another_process has a shard held in this process
def test_another_process_has_it(rounds: Rounds, genaipa: Callable[..., Finished]) -> None:
    """A shard that is held is left to whoever holds it; where all are, one sentence says so."""
    process = pause(rounds, 1, "--shards", "1/5")
    try:
        done = genaipa("run", *PLAN)
        assert done.code == 3, done.err
        assert "shard 00000: another process is working on" in done.err.replace("\n", " ")
        assert (run := the_run()).to_do(range(run.number)) == [0]
        again = genaipa("run", *PLAN)
        assert again.code == 1
        assert again.err.count("another process is working on") >= 1
    finally:
        process.send_signal(signal.SIGCONT)
    assert process.wait(60) == 0
    check_books(rounds, 0, 0)


def test_damaged_seal(genaipa: Callable[..., Finished]) -> None:
    """A seal that can't be read is named by whoever reads it, and stays; the other shards go on."""
    make_workspace(questions=2, documents=("acme", "brook"))
    command = ("run", "-s", "extractive", "-p", "acme,brook", "-i", "document", "--shard", "1", "--name", "cut")
    assert genaipa(*command).code == 0
    run = find_run(find_workspace(), "cut")
    assert run.plans is not None
    seal = run.shard(0).answers
    seal.write_bytes(seal.read_bytes()[:-20])
    for words in (("show", "cut"), ("report", "cut", "-o", "out"), ("run", "--resume", "cut")):
        done = genaipa(*words)
        assert done.code in (1, 2, 3)
        assert "answers.parquet" in done.err.replace("\n", "")
        assert "Traceback" not in done.err
    assert "answers.parquet" in genaipa("validate", "--data").out.replace("\n", "")
