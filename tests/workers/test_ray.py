"""Workers on a Ray cluster of three nodes on this machine: deaths of actors and nodes, clusters that can't be joined.

Ray is in no extra that `make test` installs: CI runs this file in an environment of its own.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from crafts import Noting
from rounds import DOCUMENTS, Rounds, begin, check_books, kill_one, processes
from running import make_workspace
from test_workers import QUICK, Told, noted

from genaipa.errors import MissingPackageError, NotReadyError
from genaipa.workers.dispatch import Dispatcher
from genaipa_ray.actors import RayWorkers, connect, room

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commandline import Finished

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray (extra ray)")
PATIENCE = replace(QUICK, tries=4, busy=120)
HERE = "127.0.0.1"
ROUNDS = 50


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """A cluster: a head that does no work, and two nodes for two actors each."""
    import ray
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(2):
        cluster.add_node(num_cpus=2)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture
def cluster(nodes: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The cluster, at RAY_ADDRESS, with both its nodes."""
    monkeypatch.setenv("RAY_ADDRESS", nodes.address)
    while len(nodes.worker_nodes) < 2:
        nodes.add_node(num_cpus=2)
    return nodes


@needs_ray
def test_jobs_survive_their_actors(cluster: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A killed actor, and one whose server died, cost no job; one that gets no further is given up; Ray is silent."""
    ray = connect()
    assert room(ray, 0) == 4
    assert room(ray, 1) == 0
    jobs = Told({0: ("kill", 1), 2: ("server", 1), 3: ("busy", 2), 5: ("leave", 9)})
    dispatcher = Dispatcher(RayWorkers(ray, Noting(tmp_path)), 3, jobs, PATIENCE)
    dispatcher.run(range(7))
    assert sorted(jobs.of("ended")) == [(number, number * number) for number in (0, 1, 2, 3, 4, 6)]
    assert list(dispatcher.given_up) == [5]
    assert dispatcher.given_up[5].startswith("its worker died 4 times; the last because: its actor died: ")
    assert {number for number, _ in jobs.of("lost")} == {0, 2, 5}
    assert not ray.is_initialized()
    printed = capfd.readouterr()
    assert "raylet" not in printed.out + printed.err


@needs_ray
def test_jobs_survive_their_node(cluster: Any, tmp_path: Path) -> None:
    """Both jobs of a node that is cut off are given to the other one's actors."""
    jobs = Told(dict.fromkeys(range(4), ("sleep", 1)))
    dispatcher = Dispatcher(RayWorkers(connect(), Noting(tmp_path)), 4, jobs, PATIENCE)

    def cut_off() -> None:
        while sum(noted(tmp_path)[f"job-{number}"] for number in range(4)) < 4:
            time.sleep(0.05)
        cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
        until = time.monotonic() + 60
        while len(jobs.of("lost")) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        (tmp_path / "woken").touch()

    (tmp_path / "notes").touch()
    thread = threading.Thread(target=cut_off)
    thread.start()
    dispatcher.run(range(4))
    thread.join()
    assert sorted(number for number, _ in jobs.of("ended")) == [0, 1, 2, 3]
    assert len(jobs.of("lost")) == 2
    assert sum(noted(tmp_path)[f"job-{number}"] for number in range(4)) == 6


@needs_ray
def test_clusters_that_cannot_be_joined(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A head that does not answer and one of another version are a sentence each."""
    import ray

    with socket.socket() as nobody:
        nobody.bind((HERE, 0))
        port = nobody.getsockname()[1]
        monkeypatch.setenv("RAY_ADDRESS", f"{HERE}:{port}")
        with pytest.raises(NotReadyError, match=rf"^no Ray cluster answers at {HERE}:{port} \(RAY_ADDRESS; "):
            connect()
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    monkeypatch.setattr(ray, "__version__", "2.11.0")
    with pytest.raises(NotReadyError, match=r"^the cluster's versions differ from those here \(Ray 2\.11\.0, "):
        connect()


# What `vllm serve` does, with the loopback server of these tests in place of an engine; it notes who is asked what.
STAND_IN = f"""#!{sys.executable}
import os, sys, time
sys.path.insert(0, {str(Path(__file__).parents[1] / "support")!r})
from rounds import DOCUMENTS
from servers import Behaviour, OpenAIServer

def behave(number, body):
    document = next(name for name in DOCUMENTS if name.upper() in str(body))
    with open({{notes!r}}, "a") as notes:
        notes.write(f"{{{{os.getpid()}}}} {{{{document}}}}\\n")
    return Behaviour(text="Yes.", delay=0.02)

server = OpenAIServer(behave, models=[sys.argv[2]], context=40960)
server.port = int(sys.argv[sys.argv.index("--port") + 1])
server.__enter__()
time.sleep(600)
"""


@needs_ray
def test_each_actor_has_its_own_server(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, genaipa: Callable[..., Finished]
) -> None:
    """Actors start a vLLM each; every conversation saw one server only, and none is left at the end."""
    make_workspace(questions=4, documents=DOCUMENTS)
    command, notes = tmp_path / "vllm", tmp_path / "asked"
    command.write_text(STAND_IN.format(notes=str(notes)), encoding="utf-8")
    command.chmod(0o755)
    monkeypatch.setenv("GENAIPA_VLLM_COMMAND", str(command))
    plan = ("-s", "vllm/org/tiny", "-p", ",".join(DOCUMENTS), "-i", "document", "--shard", "1", "--name", "cut")
    done = genaipa("run", *plan, "--on", "ray:2")
    assert done.code == 0, done.err
    assert done.err.count("\n") < 10, "Ray prints nothing between our lines"
    asked = [line.split() for line in notes.read_text().splitlines()]
    servers = {document: {server for server, about in asked if about == document} for document in DOCUMENTS}
    assert {len(found) for found in servers.values()} == {1}
    assert len(set.union(*servers.values())) == 2
    assert len(asked) == 4 * len(DOCUMENTS)
    assert not any(processes(lambda line: str(command) in line))


@needs_ray
@pytest.mark.soak
def test_killed_workers_nodes_and_drivers(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds of killing an actor, a node with its actors, or the driver: each answer once, few calls twice."""
    rounds, kills = Rounds(questions=40, patient=False), 0
    more = ("--on", "ray:3", "-j", "6")
    with rounds.serve() as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        driver = begin(*more)
        while rounds.until(rounds.chance.randint(1, 3), driver, 120) and kills < ROUNDS:
            kills += 1
            match kills % 3:
                case 0:
                    driver.kill()
                    driver.wait()
                    driver = begin(*more)
                case 1:
                    kill_one(rounds.chance, lambda command: command.startswith("ray::Actor"))
                case 2:
                    cluster.remove_node(rounds.chance.choice(sorted(cluster.worker_nodes, key=str)), False)
                    cluster.add_node(num_cpus=2)
        rounds.patient = True
        assert driver.wait(300) == 0, Path("said").read_text()
    check_books(rounds, kills, 6)
    assert kills == ROUNDS


@needs_ray
def test_errors_are_sentences(cluster: Any, monkeypatch: pytest.MonkeyPatch, genaipa: Callable[..., Finished]) -> None:
    """A worker that can't start vLLM, and a head that nobody answers for."""
    make_workspace(questions=1, documents=("acme", "brook"))
    plan = ("run", "-s", "vllm/org/tiny", "-p", "acme,brook", "-i", "company-name", "--shard", "1", "--on", "ray:2")
    monkeypatch.setenv("GENAIPA_VLLM_COMMAND", "false")
    done = genaipa(*plan)
    assert done.code == 1
    assert "no worker can go on: vLLM ended before it was ready (exit code 1)" in done.err
    here = json.loads(genaipa("doctor", "--json").out)["servers"]
    assert [row["state"] for row in here if row["what"] == "RAY_ADDRESS"] == ["ok"]
    monkeypatch.setenv("RAY_ADDRESS", f"{HERE}:1")
    here = json.loads(genaipa("doctor", "--json").out)["servers"]
    assert [row["state"] for row in here if row["what"] == "RAY_ADDRESS"] == ["missing"]
    done = genaipa(*plan)
    assert done.code == 1
    assert "no Ray cluster answers at 127.0.0.1:1 (RAY_ADDRESS; " in done.err


def test_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lacks is named."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'genaipa\[ray\]'"):
        connect()
