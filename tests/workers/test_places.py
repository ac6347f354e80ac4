"""Places of workers come from packages: a stranger's is taken as ours is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from running import write
from sharding import lay_documents

from genaipa.workers.base import places

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

LAB = """
from contextlib import contextmanager
from genaipa.workers.base import Place
from genaipa.workers.processes import Processes

PLACE = Place(about="by machines of the lab", workers="lab:here", check="lab:check")

@contextmanager
def here(number, gpus, say):
    say("the lab is open")
    yield Processes, number or 1

def check():
    yield "lab", "ok", "open", ""
"""


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that brings a place of workers, as pip would have installed it."""
    write("lab.py", LAB)
    write("lab-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: lab\nVersion: 1\n")
    write("lab-1.dist-info/entry_points.txt", "[genaipa.workers]\nlab = lab:PLACE\ngone = nowhere:PLACE\n")
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))


@pytest.mark.full
@pytest.mark.usefixtures("lab")
def test_a_place_of_somebody_elses(genaipa_process: Callable[..., Finished]) -> None:
    """A run's shards are carried out there; help and doctor know it; one whose package is gone is a sentence."""
    plan = ("run", "-s", "extractive", "-p", lay_documents(2), "-i", "company-name", "--limit", "1", "--shard", "1")
    refused = genaipa_process(*plan, "--on", "gone:2")
    assert (refused.code, "workers on gone are not here, though installed once" in refused.err) == (2, True), (
        refused.err
    )
    done = genaipa_process(*plan, "--on", "lab")
    assert (done.code, "the lab is open" in done.err, "2/2" in done.out.replace(" ", "")) == (0, True, True), done.err
    assert "by machines of the lab" in " ".join(genaipa_process("run", "--help-all").out.split())
    assert '"lab"' in genaipa_process("doctor", "--json").out


def test_the_cores_own_place_comes_first() -> None:
    """Processes come first, and the package beside the core is here."""
    assert next(iter(places())) == "processes"
    assert places()["ray"]
