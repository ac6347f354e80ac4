"""The slices of a study driven together: by processes here, whoever is killed, under one cap and one number of calls."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from batching import BatchServer
from rounds import Rounds, begin, check_books, kept, kill_one, processes, write_corpus
from running import make_workspace, write
from servers import OpenAIServer, reply
from size import size
from test_batches import serving

from genaipa.runs.batches import pending_dollars
from genaipa.runs.selection import run_folders
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from commandline import Cli

PRICED = "systems:\n  loop: {system: openai-api/loop/m, price: {input: 1000, output: 1000, as_of: '2026-11-21'}}\n"
CONNECTIONS = 4
TWO = ("--on", "local:2", "-j", str(CONNECTIONS))
ROUNDS = size(small=3, soak=20)


def is_slice(command: str) -> bool:
    """Whether a command line is a slice's."""
    return "--slice" in command and "-m genaipa run" in command


@pytest.mark.full
def test_killed_slices_and_drivers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds of killing a slice, the driver, or all at once: each answer once, and only calls in flight repeat."""
    rounds = Rounds()
    with rounds.serve() as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        driver, kills = begin(*TWO), 0
        for number in range(ROUNDS):
            if not rounds.until(rounds.chance.randint(1, max(2, 40 // ROUNDS)), driver):
                break
            kills += 1
            if number % 3 == 0:
                kill_one(rounds.chance, is_slice, driver.pid)
                continue
            children = list(processes(is_slice, driver.pid))
            driver.kill()
            driver.wait()
            for child in children if number % 3 == 2 else ():
                os.kill(child, signal.SIGKILL)
            driver = begin(*TWO)
        assert driver.wait(120) == 0, Path("said").read_text()
        check_books(rounds, kills, CONNECTIONS)
    assert kills == ROUNDS


def lay_study(documents: int, questions: int) -> tuple[str, ...]:
    """A corpus in the working folder with a priced system; the plan, without slices, that asks it about companies."""
    make_workspace(questions=questions, documents=())
    write("systems.yaml", PRICED)
    write_corpus([f"shop{number:02}" for number in range(documents)])
    return ("run", "-s", "loop", "--documents", "shops.jsonl", "-i", "company-name", "--max-tokens", "10", "-r", "2")


def spent() -> float:
    """The dollars of all answers on disk."""
    return sum(record["cost"] or 0.0 for record in kept())


@pytest.mark.full
def test_cap_holds_over_slices(monkeypatch: pytest.MonkeyPatch, genaipa: Cli) -> None:
    """Four of sixteen slices at once, and kills, spend no more than the cap, and nearly all of it; then it goes on."""
    plan = lay_study(documents=32, questions=32)
    rounds = Rounds()
    with OpenAIServer(rounds.count, models=("m",)) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        assert genaipa(*plan, "--name", "whole").code == 0
        cost = spent()
        shutil.rmtree("runs")
        cap = round(cost * 0.7, 2)
        driver = begin("--on", "local:4", "--max-cost", str(cap), plan=(*plan[1:], "--name", "shops", "--slices", "16"))
        for _ in range(3):
            assert rounds.until(150, driver), Path("said").read_text()
            kill_one(rounds.chance, is_slice, driver.pid)
        assert driver.wait(120) == 4, Path("said").read_text()
        assert cap - 0.05 * cost < spent() <= cap
        done = genaipa("run", "--resume", "shops", "--on", "local:4", "--max-cost", f"{2 * cost:.2f}")
        assert done.code == 0, done.err
        assert spent() == pytest.approx(cost, rel=0.01)
        assert {*Counter(record["key"] for record in kept()).values()} == {1}


@pytest.mark.full
def test_cap_holds_with_batches_out(genaipa: Cli) -> None:
    """What slices have handed in counts as spent, also for those that start later; all of it is collected."""
    make_workspace(questions=30, documents=())
    write_corpus([f"shop{number}" for number in range(8)])
    plan = ("run", "-s", "openai/gpt-4o", "--documents", "shops.jsonl", "-i", "company-name", "--max-tokens", "10")
    shares = ("--conversation", "independent", "--slices", "3", "--on", "local:2", "--batch", "--no-wait")
    with serving(BatchServer(script=lambda _number, _body: reply("Yes."))) as server:
        estimated = json.loads(genaipa(*plan, *shares[:4], "--batch", "--estimate", "--json").out)["rows"]
        cap = round(0.8 * sum(row["batch_cost"] for row in estimated), 4)
        left = genaipa(*plan, "--name", "shops", *shares, "--max-cost", str(cap))
        assert left.code in (3, 4), left.err
        folders = run_folders(find_workspace())
        out = sum(pending_dollars(folder.path) for folder in folders)
        print(cap, out, spent(), left)
        assert 0 < out <= cap
        done = genaipa("run", "--resume", "shops", "--on", "local:2", "--max-cost", "none")
        assert done.code == 0, done.err
        lines = Counter(line for held in server.batches for line in held.names)
        print(sum(lines.values()), len(kept()))
        assert {*Counter(record["key"] for record in kept()).values()} == {1}
