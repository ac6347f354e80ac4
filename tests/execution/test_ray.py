"""Slices as tasks of a Ray cluster of nodes on this machine: deaths of workers and of its head, and one that refuses.

Ray is in no extra that `make test` installs: CI runs this file in an environment of its own.
"""

from __future__ import annotations

import json
import signal
import socket
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rounds import PRICED, Rounds, begin, check_books, is_slice, kill_one, processes
from running import write
from size import size

from genaipa.errors import MissingPackageError, NotReadyError
from genaipa_ray.launch import join_or_start_ray_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commandline import Cli

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray (extra ray)")
HERE = "127.0.0.1"
ROUNDS = size(small=4, soak=30)
CONNECTIONS = 4


def wait_for_slices_to_end() -> None:
    """Wait until no slice of any driver runs."""
    until = time.monotonic() + 60
    while any(processes(is_slice)):
        assert time.monotonic() < until, "a slice outlives who began it"
        time.sleep(0.1)


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
def test_killed_workers_nodes_slices_and_drivers(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds of killing a worker, a slice's process, a node, or the driver: each answer once, few calls twice."""
    rounds, kills = Rounds(questions=12, patient=False), 0
    more = ("--on", "ray:2", "-j", str(CONNECTIONS))
    with rounds.serve() as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        driver = begin(*more)
        while kills < ROUNDS and rounds.until(rounds.chance.randint(1, 5), driver, 120):
            match kills % 4:
                case 0:
                    kill_one(rounds.chance, lambda command: command.startswith("ray::run_slice_and_capture_errors"))
                case 1:
                    kill_one(rounds.chance, is_slice)
                case 2:
                    driver.kill()
                    driver.wait()
                    wait_for_slices_to_end()
                    driver = begin(*more)
                case 3:
                    cluster.remove_node(rounds.chance.choice(sorted(cluster.worker_nodes, key=str)), False)
                    cluster.add_node(num_cpus=2)
            kills += 1
        rounds.patient = True
        assert driver.wait(300) == 0, Path("said").read_text()
    said = Path("said").read_text()
    assert "raylet" not in said, said
    check_books(rounds, kills, CONNECTIONS)
    assert kills == ROUNDS


@needs_ray
def test_a_killed_head(monkeypatch: pytest.MonkeyPatch, genaipa: Cli) -> None:
    """With the head of its cluster a study stops, and no slice goes on; its name finishes it, here."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    rounds = Rounds(questions=6, patient=False)
    with rounds.serve() as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        monkeypatch.setenv("RAY_ADDRESS", cluster.address)
        driver = begin("--on", "ray:2", "-j", str(CONNECTIONS))
        assert rounds.until(9, driver, 120), Path("said").read_text()
        cluster.head_node.kill_all_processes(check_alive=False, allow_graceful=False)
        wait_for_slices_to_end()
        driver.send_signal(signal.SIGINT)
        driver.wait(120)
        monkeypatch.delenv("RAY_ADDRESS")
        rounds.patient = True
        done = genaipa("run", "--resume", "shops", "--on", "local:2")
        assert done.code == 0, done.err
        check_books(rounds, 1, CONNECTIONS)
    cluster.shutdown()


@needs_ray
def test_usage_errors_and_interruption(cluster: Any, monkeypatch: pytest.MonkeyPatch, genaipa: Cli) -> None:
    """A usage error is one sentence; Ctrl-C stops the slices in order; keys are not sent."""
    rounds = Rounds(questions=4, patient=False)
    with rounds.serve() as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        write("systems.yaml", PRICED)
        plan = ("run", "-s", "loop", "--documents", "shops.jsonl", "-i", "company-name", "--slices", "4")
        refused = genaipa(*plan, "--on", "ray:2", "--max-cost", "1")
        assert (refused.code, refused.err.count("genaipa: --max-cost $1 leaves $0.25")) == (2, 1), refused.err
        assert not list(Path("runs").glob("*loop*"))
        driver = begin("--on", "ray:2", "-j", str(CONNECTIONS))
        assert rounds.until(6, driver, 120), Path("said").read_text()
        driver.send_signal(signal.SIGINT)
        assert driver.wait(40) == 130, Path("said").read_text()
        assert not any(processes(is_slice))
        assert (
            "Interrupted; all answers are kept. Continue with: genaipa run --resume shops --on ray:2"
            in Path("said").read_text()
        )
        rounds.patient = True
        done = genaipa("run", "--resume", "shops", "--on", "ray:2")
        assert done.code == 0, done.err
        check_books(rounds, 1, CONNECTIONS)


@needs_ray
def test_clusters_that_cannot_be_joined(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A head that does not answer and one of another version are a sentence each."""
    import ray

    with socket.socket() as nobody:
        nobody.bind((HERE, 0))
        port = nobody.getsockname()[1]
        monkeypatch.setenv("RAY_ADDRESS", f"{HERE}:{port}")
        with pytest.raises(NotReadyError, match=rf"^no Ray cluster answers at {HERE}:{port} \(RAY_ADDRESS; "):
            join_or_start_ray_cluster()
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    monkeypatch.setattr(ray, "__version__", "2.11.0")
    with pytest.raises(NotReadyError, match=r"^the cluster's versions differ from those here \(Ray 2\.11\.0, "):
        join_or_start_ray_cluster()


@needs_ray
def test_doctor_tells_of_the_cluster(cluster: Any, monkeypatch: pytest.MonkeyPatch, genaipa: Cli) -> None:
    """It can be joined, or not."""
    rows = json.loads(genaipa("doctor", "--json").out)["servers"]
    assert [row["state"] for row in rows if row["what"] == "RAY_ADDRESS"] == ["ok"]
    monkeypatch.setenv("RAY_ADDRESS", f"{HERE}:1")
    rows = json.loads(genaipa("doctor", "--json").out)["servers"]
    assert [row["state"] for row in rows if row["what"] == "RAY_ADDRESS"] == ["missing"]


def test_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lacks is named."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'genaipa\[ray\]'"):
        join_or_start_ray_cluster()
