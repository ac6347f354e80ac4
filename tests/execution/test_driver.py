"""The slices of a study driven together, whoever is killed, and under one cap."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from batching import BatchServer
from rounds import DOCUMENTS, PRICED, Rounds, begin, check_books, is_slice, kept, kill_one, processes, write_corpus
from running import make_workspace, write
from servers import OpenAIServer, reply
from size import size
from test_batches import serving

from genaipa.runs.batches import max_unrecorded_batch_dollars
from genaipa.runs.procedure import make_spec_for_other_documents
from genaipa.runs.selection import list_run_folders_oldest_first
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from commandline import Cli

CONNECTIONS = 4
TWO = ("--on", "local:2", "-j", str(CONNECTIONS))
ROUNDS = size(small=3, soak=20)


def test_a_study_is_finished_by_its_name(genaipa: Cli) -> None:
    """A slice that was never begun is asked as its siblings were, by itself or with the rest; then nothing is left."""
    make_workspace(questions=3, documents=())
    corpus = write_corpus(DOCUMENTS)
    plan = ("-s", "extractive", "--documents", "shops.jsonl", "-i", "company-name,document", "--limit", "2", "-r", "2")
    assert genaipa("run", *plan, "--slice", "1/3", "--name", "shops", "--seed", "7", "--max-tokens", "9").code == 0
    done = genaipa("run", "--resume", "shops", "--slice", "2/3")
    assert done.code == 0, done.err
    first, second = (folder.manifest() for folder in list_run_folders_oldest_first(find_workspace()))
    alike = [make_spec_for_other_documents(manifest.spec, (), {}) for manifest in (first, second)]
    assert (alike[0], first.slice.plan) == (alike[1], second.slice.plan)
    other = genaipa("run", "--resume", "shops", "--slice", "3/4")
    assert other.err == "genaipa: --slice 3/4: shops has 3 slices; write 3/3.\n"
    whole = corpus.read_bytes()
    corpus.write_bytes(whole + b'{"name": "dune", "company": "Dune", "text": "We collect sand."}\n')
    changed = genaipa("run", "--resume", "shops")
    assert (changed.code, "started with a different corpus" in changed.err) == (2, True), changed.err
    corpus.write_bytes(whole)
    done = genaipa("run", "--resume", "shops", "--json")
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    assert (facts["status"], facts["unfinished"], len(facts["runs"])) == ("complete", [], 3)
    assert sum(row["answered"] for row in facts["rows"]) == len(kept()) == len(DOCUMENTS) * 2 * 2 * 2
    alone = genaipa("run", *plan, "--slices", "1", "--name", "alone")
    assert (alone.code, "processes of this machine" in alone.err) == (0, False), alone.err
    assert "alone-slice-1-of-1" in alone.out, "the only slice is carried out in this process"
    again = genaipa("run", *plan, "--slices", "3", "--name", "shops", "--seed", "7", "--max-tokens", "9")
    assert (again.code, "3 of 3 slices complete" in again.out) == (0, True), again.err


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--slices", "3", "--slice", "1/3"), "--slices starts all slices of a study; leave it out"),
        (("--on", "local:2"), "--on applies to all slices of a study; start one with"),
        (("--slice", "1/3", "--on", "local:2"), "--on applies to all slices of a study; start one with"),
        (("--slices", "3", "--on", "slurm"), "--on 'slurm': must be local"),
        (("--slices", "3", "--data-parallel-size", "2"), "--data-parallel-size is for a server that genaipa starts"),
    ],
)
def test_refused(genaipa: Cli, options: tuple[str, ...], complaint: str) -> None:
    """Options that don't go together are a sentence, and nothing is begun."""
    make_workspace(questions=1, documents=())
    write_corpus(DOCUMENTS[:2])
    done = genaipa("run", "-s", "extractive", "--documents", "shops.jsonl", "-i", "company-name", *options)
    assert (done.code, complaint in done.err) == (2, True), done.err
    assert not list_run_folders_oldest_first(find_workspace())


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
        if driver.wait(120) == 3:  # a slice was killed three times before an answer
            driver = begin(*TWO)
        assert driver.wait(120) == 0, Path("said").read_text()
        check_books(rounds, kills, CONNECTIONS)
    assert kills == ROUNDS


@pytest.mark.full
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_slices_end_with_their_driver(number: int, monkeypatch: pytest.MonkeyPatch, genaipa: Cli) -> None:
    """However it ends, no slice goes on, each stops in order, and the study's name finishes it."""
    rounds = Rounds(patient=False, hold=20.0)
    with rounds.serve() as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        driver = begin(*TWO)
        assert rounds.until(9, driver)
        driver.send_signal(number)
        assert driver.wait(60) == (-number if number == signal.SIGKILL else 130)
        until = time.monotonic() + 30
        while any(processes(is_slice)):
            assert time.monotonic() < until, "a slice outlives its driver"
            time.sleep(0.05)
        assert {folder.read_manifest_head().status for folder in list_run_folders_oldest_first(find_workspace())} <= {
            "complete",
            "interrupted",
        }
        said = Path("said").read_text()
        assert ("Continue with: genaipa run --resume shops --on local:2" in said) == (number != signal.SIGKILL)
        assert "Traceback" not in said
        rounds.patient = True
        done = genaipa("run", "--resume", "shops", *TWO)
        assert done.code == 0, done.err
        check_books(rounds, 1, CONNECTIONS)


# What `vllm serve` does, with the loopback server of these tests in place of an engine; it notes how it was started.
STAND_IN = f"""#!{sys.executable}
import sys, time
sys.path.insert(0, {str(Path(__file__).parents[1] / "support")!r})
from servers import Behaviour, OpenAIServer

open("started", "a").write(" ".join(sys.argv[1:]) + chr(10))
server = OpenAIServer(lambda number, body: Behaviour(text="Yes."), models=[sys.argv[2]], context=40960)
server.port = int(sys.argv[sys.argv.index("--port") + 1])
server.__enter__()
time.sleep(600)
"""


@pytest.mark.full
def test_slices_share_a_server(monkeypatch: pytest.MonkeyPatch, genaipa: Cli) -> None:
    """One vLLM is started for all slices, with vLLM's own sizes, and none is left at the end."""
    make_workspace(questions=2, documents=())
    write_corpus(DOCUMENTS)
    command = write("vllm", STAND_IN).resolve()
    command.chmod(0o755)
    monkeypatch.setenv("GENAIPA_VLLM_COMMAND", str(command))
    sizes = ("--data-parallel-size", "4", "--tensor-parallel-size", "2")
    plan = ("--documents", "shops.jsonl", "-i", "document", "--slices", "3", *TWO, *sizes)
    done = genaipa("run", "-s", "vllm/org/tiny", *plan)
    assert done.code == 0, done.err
    (started,) = Path("started").read_text().splitlines()
    assert started.endswith(" --data-parallel-size 4 --tensor-parallel-size 2")
    assert len(kept()) == 2 * len(DOCUMENTS)
    assert not any(processes(lambda line: str(command) in line))
    two = genaipa("run", "-s", "vllm/org/tiny,vllm/org/other", *plan, "--name", "two")
    assert (two.code, "would each need a server here" in two.err) == (2, True), two.err


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
        folders = list_run_folders_oldest_first(find_workspace())
        out = sum(max_unrecorded_batch_dollars(folder.path) for folder in folders)
        assert 0 < out <= cap
        done = genaipa("run", "--resume", "shops", "--on", "local:2", "--max-cost", "none")
        assert done.code == 0, done.err
        assert sum(len(held.names) for held in server.batches) == len(kept()) == 240
        assert {*Counter(record["key"] for record in kept()).values()} == {1}


def test_shares_of_a_cap_by_hand(monkeypatch: pytest.MonkeyPatch, genaipa: Cli) -> None:
    """A slice gets its share of what the others leave, whoever starts it; a cap that is too small is refused first."""
    plan = lay_study(documents=24, questions=12)
    with OpenAIServer(lambda _number, _body: reply("Yes."), models=("m",)) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)

        def ask(index: int, *cap: str) -> int:
            return genaipa(*plan, "--name", "shops", "--slice", f"{index}/2", *cap).code

        refused = genaipa(*plan, "--name", "shops", "--slice", "1/2", "--max-cost", "5")
        assert (refused.code, list_run_folders_oldest_first(find_workspace()), server.requests) == (2, [], [])
        assert (
            "--max-cost $5 leaves $2.5 for each of 2 slices, less than 20 of their most expensive calls cost"
            in refused.err
        )
        assert ask(1, "--max-cost", "24") == 4
        assert 11 < spent() <= 12
        assert ask(2) == 4, "the cap is the study's"
        assert 23 < spent() <= 24
        assert ask(1, "--max-cost", "38") == 4
        assert 30 < spent() <= 31, "the other may go on as well"
        assert genaipa("run", "--resume", "shops", "--slice", "2/2").code == 4
        assert 37 < spent() <= 38, "the highest cap that was given is the study's"
        assert genaipa("run", "--resume", "shops", "--slice", "2/2", "--max-cost", "none").code == 0
        assert ask(1) == 0, "it was lifted"
