"""A run whose shards are carried out by worker processes: the same as one process makes it, whoever is killed."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rounds import Rounds, begin, check_books, kill_one
from sharding import content, lay_documents, priced_run

from genaipa.runs.finding import find_run
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Finished

ROUNDS = 10
CONNECTIONS = 4
WORKERS = ("--on", "processes:2", "-j", str(CONNECTIONS))


def test_processes_make_the_same_run(tmp_path: Path, genaipa: Callable[..., Finished]) -> None:
    """Records, orders and digests are those of one process; one that is complete is not asked again."""
    plan = ("run", "-s", "extractive", "-p", lay_documents(5), "-i", "company-name,document", "--limit", "3")
    assert genaipa(*plan, "--name", "whole").code == 0
    done = genaipa(*plan, "--name", "cut", "--shard", "2", "--on", "processes:2")
    assert done.code == 0, done.err
    assert "asking 30 questions" in done.err
    assert "30/30" in done.out.replace(" ", "")
    here = find_workspace(tmp_path)
    assert content(find_run(here, "cut")) == content(find_run(here, "whole"))
    assert "is complete; nothing was asked" in genaipa("run", "--resume", "cut", "--on", "processes:2").out


@pytest.mark.full
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
                kill_one(rounds.chance, lambda command: "genaipa.workers.process" in command, driver.pid)
            else:
                driver.kill()
                driver.wait()
                driver = begin(*WORKERS)
        assert driver.wait(120) == 0, Path("said").read_text()
        check_books(rounds, kills, CONNECTIONS)
    assert kills == ROUNDS


@pytest.mark.full
def test_interrupted(monkeypatch: pytest.MonkeyPatch, genaipa: Callable[..., Finished]) -> None:
    """Ctrl-C keeps what came, and says how to go on; no worker is left."""
    rounds = Rounds()
    with rounds.serve() as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        driver = begin(*WORKERS)
        assert rounds.until(9, driver)
        driver.send_signal(signal.SIGINT)
        assert driver.wait(30) == 130
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


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--shard", "1", "--on", "slurm"), "'slurm' is no place for workers; give processes:4"),
        (("--shard", "1", "--on", "processes"), "'processes' is no place for workers"),
        (("--shard", "1", "--on", "processes:0"), "from 1 to 10,000"),
        (("--on", "processes:2"), "--on gives shards to workers, and this run has none"),
        (("--shard", "1", "--on", "processes:2", "--gpus-per-worker", "1"), "are for workers on ray"),
        (("--shard", "1", "--gpus-per-worker", "1"), "add --on ray"),
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
