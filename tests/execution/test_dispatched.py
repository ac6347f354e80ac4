"""A run whose shards are carried out by worker processes: the same as one process makes it, whoever is killed."""

from __future__ import annotations

import asyncio
import importlib.util
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rounds import DOCUMENTS, Rounds, begin, check_books, kill_one
from running import SYSTEM
from sharding import content, lay_documents, priced_run

import genaipa as front
from genaipa.errors import UsageError
from genaipa.execution.shards import Whole
from genaipa.runs.selection import find_run
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

ROUNDS = 10
CONNECTIONS = 4
WORKERS = ("--on", "processes:2", "-j", str(CONNECTIONS))


def test_processes_make_the_same_run(tmp_path: Path, genaipa: Callable[..., Finished]) -> None:
    """Records, orders and digests are those of one process; one that is complete is not asked again."""
    plan = ("run", "-s", "scripted/careful", "-p", lay_documents(5), "-i", "company-name,document", "--limit", "3")
    assert genaipa(*plan, "--name", "whole").code == 0
    done = genaipa(*plan, "--name", "cut", "--shard", "2", "--on", "processes:1")
    assert done.code == 0, done.err
    assert "asking 30 questions" in done.err
    assert "30/30" in done.out.replace(" ", "")
    here = find_workspace(tmp_path)
    assert content(find_run(here, "cut")) == content(find_run(here, "whole"))
    assert "is complete; nothing was asked" in genaipa("run", "--resume", "cut", "--on", "processes:2").out


def test_places_are_checked_first(genaipa: Callable[..., Finished]) -> None:
    """A place that can't be is refused before anything is said of the plan, of a complete run, and from Python."""
    lay_documents(2)
    plan = ("run", "-s", "extractive", "-p", "shop-000,shop-001", "-i", "company-name", "--limit", "1")
    assert genaipa(*plan, "--shard", "1").code == 0
    for of in (("run", "--resume", "latest"), (*plan, "--shard", "1")):
        refused = genaipa(*of, "--on", "ray:none")
        assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1), refused.err
        if importlib.util.find_spec("ray") is None:
            missing = genaipa(*of, "--on", "ray")
            assert (missing.code, "pip install 'genaipa[ray]'" in missing.err) == (1, True), missing.err
    for options, complaint in (
        ({"on": "processes:2"}, "workers are given shards"),
        ({"on": "slurm", "shard": 1}, "is no place for workers"),
        ({"on": "processes:2", "shard": 1, "batch": True}, "not by workers"),
        ({"gpus_per_worker": 1}, "are for workers on a cluster"),
    ):
        with pytest.raises(UsageError, match=complaint):
            front.run("extractive", "shop-000", **options)


@pytest.mark.full
def test_workers_from_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """`genaipa.run` gives shards to processes; cancelled in an event loop, they stop in order, and the run goes on."""
    rounds = Rounds(questions=2, patient=False, left=5)
    with rounds.serve() as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        plan: dict[str, Any] = {"initializations": "document", "shard": len(DOCUMENTS), "max_connections": 2}

        async def stopped() -> None:
            asking = asyncio.create_task(front.run_async(SYSTEM, DOCUMENTS, on="processes:1", **plan))
            assert await asyncio.to_thread(rounds.now.wait, 60)
            asking.cancel()
            await asking

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(stopped())
        run, rounds.patient = front.load_run(), True
        assert run.status == "interrupted"
        assert 3 <= len(run.answers()) < 2 * len(DOCUMENTS)
        assert front.run(SYSTEM, DOCUMENTS, **plan).path == run.path
        check_books(rounds, 1, 2)


@pytest.mark.soak  # test_workers has each kind of death once
def test_killed_workers_and_drivers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds of killing a worker, or the driver with all: each answer once, and only calls in flight are repeated."""
    rounds = Rounds()
    with rounds.serve() as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        driver, kills = begin(*WORKERS), 0
        for number in range(ROUNDS):
            if not rounds.until(rounds.chance.randint(1, max(2, 40 // ROUNDS)), driver):
                break
            kills += 1
            if number % 2:
                kill_one(rounds.chance, lambda command: "genaipa.workers.processes" in command, driver.pid)
            else:
                driver.kill()
                driver.wait()
                driver = begin(*WORKERS)
        assert driver.wait(120) == 0, Path("said").read_text()
        check_books(rounds, kills, CONNECTIONS)
    assert kills == ROUNDS


def test_words_of_workers_have_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys are taken out of what a process said; test_a_lost_job_is_given_again shows that it is asked to."""
    monkeypatch.setenv("MINE_API_KEY", "a-key-of-my-own-0123456789")
    assert Whole.redact(None, "Fatal: a-key-of-my-own-0123456789") == "Fatal: [key]"


@pytest.mark.full
def test_interrupted(monkeypatch: pytest.MonkeyPatch, genaipa: Callable[..., Finished]) -> None:
    """Ctrl-C keeps what came, and says how to go on; no worker is left."""
    rounds = Rounds(patient=False)
    with rounds.serve() as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        driver = begin(*WORKERS)
        assert rounds.until(9, driver)
        driver.send_signal(signal.SIGINT)
        assert driver.wait(120) == 130
        rounds.patient = True
        said = Path("said").read_text()
        assert "interrupted; " in said
        assert "all kept." in said
        done = genaipa("run", "--resume", "cut", *WORKERS)
        assert done.code == 0, done.err
        check_books(rounds, 1, CONNECTIONS)


@pytest.mark.full
def test_cap_holds_over_workers(monkeypatch: pytest.MonkeyPatch, genaipa: Callable[..., Finished]) -> None:
    """Workers together spend no more than the cap, and nearly all of it; a higher one goes on."""
    with priced_run(monkeypatch, genaipa, questions=4) as (plan, cost):
        done = genaipa(*plan, "--name", "cut", "--shard", "1", "--on", "processes:2", "--max-cost", f"{cost / 2:.2f}")
        assert done.code == 4, done.err
        spent = find_run(find_workspace(), "cut").state()[1].cost
        assert cost / 4 < spent <= cost / 2 + 0.01
        done = genaipa("run", "--resume", "cut", "--on", "processes:2", "--max-cost", f"{2 * cost:.2f}")
        assert done.code == 0, done.err
        assert find_run(find_workspace(), "cut").state()[1].cost == pytest.approx(cost, rel=0.01)


@pytest.mark.full  # test_a_lost_job_is_given_again shows that a job that comes back is told
def test_money_of_a_shard_that_cannot_be_asked(
    monkeypatch: pytest.MonkeyPatch, genaipa: Callable[..., Finished]
) -> None:
    """What was granted to a shard whose document has changed is there for the others."""
    with priced_run(monkeypatch, genaipa, questions=3) as (plan, cost):
        assert genaipa(*plan, "--name", "cut", "--shard", "1", "--shards", "4/4").code == 0
        with Path("policies/acme.md").open("a", encoding="utf-8") as document:
            document.write("We changed it.\n")
        done = genaipa("run", "--resume", "cut", "--on", "processes:2", "--max-cost", f"{1.05 * cost:.2f}")
        assert done.code == 3, done.err
        assert "shard 00000 was given up: " in done.err
        assert find_run(find_workspace(), "cut").progress()[1].cost == pytest.approx(0.75 * cost, rel=0.01)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--shard", "1", "--on", "slurm"), "'slurm' is no place for workers; give processes:4"),
        (("--shard", "1", "--on", "processes"), "'processes' is no place for workers"),
        (("--shard", "1", "--on", "processes:0"), "from 1 to 10,000"),
        (("--on", "processes:2"), "--on is for a run in shards; begin one with: --documents FILE --shard 100"),
        (("--shard", "1", "--on", "processes:2", "--gpus-per-worker", "1"), "are for workers on ray"),
        (("--shard", "1", "--gpus-per-worker", "1"), "have the run carried out on ray, too"),
        (
            ("--shard", "1", "--on", "processes:2", "-s", "vllm/org/tiny"),
            "each process would start a server of its own",
        ),
    ],
)
def test_refused(genaipa: Callable[..., Finished], options: tuple[str, ...], complaint: str) -> None:
    """What can't be is a sentence, and nothing is asked."""
    system = () if "-s" in options else ("-s", "extractive")
    done = genaipa("run", *system, "-p", "brindlecart", "-e", "quality", *options)
    assert done.code == 2
    assert complaint in done.err.replace("\n", " ")
    assert not list(Path.cwd().glob("runs/*"))
