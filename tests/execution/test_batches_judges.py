"""The spending cap over several judges' runs: what they spend, and set aside for their batches, is of one purse."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from batching import BatchServer, Fate
from judges import judge_runs, study, verdict
from running import write
from servers import Behaviour, reply
from test_batches import serving

from genaipa.runs.batches import max_unrecorded_batch_dollars

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from commandline import Finished

    Cli = Callable[..., Finished]

ONE = ("judge", "--batch", "--no-wait", "--max-tokens", "900", "--judge")
SLOW = Fate(looks=10**6)


class _Judges(BatchServer):
    """A server of batches whose models judge, at the most that a verdict may cost or for next to nothing."""

    dear = True

    def _behaviour(self, number: int, body: dict[str, Any]) -> Behaviour:
        long = verdict(right_answer="So it says. " * 200) if self.dear else verdict()
        return reply(long)


@pytest.fixture
def judged(genaipa: Cli) -> float:
    """A study of four answers, with three judges at one price; the dollars of a judge's batch at most."""
    study(genaipa)
    price = "price: {input: 40, output: 160, as_of: '2026-01-01'}"
    listed = {"one": "gpt-4o", "two": "gpt-4o-mini", "three": "gpt-5.6"}
    models = ", ".join(f"{name}: {{system: openai/{model}, {price}}}" for name, model in listed.items())
    write("systems.yaml", f"systems: {{{models}}}")
    with serving(_Judges(lambda _number: SLOW)):
        assert genaipa(*ONE, "one", "--max-cost", "1000").code == 3
    (folder,) = judge_runs()
    dollars = max_unrecorded_batch_dollars(folder.path)
    assert dollars > 0.1
    shutil.rmtree(folder.path)
    return dollars


def spent_and_aside() -> float:
    """Dollars of all judges' runs: spent, and set aside."""
    return sum(folder.cost + max_unrecorded_batch_dollars(folder.path) for folder in judge_runs())


def test_a_cap_holds_what_is_out_in_batches(genaipa: Cli, judged: float) -> None:
    """Whatever is out when a judge comes in its turn, and in a later process: all of them stay below the cap."""
    cap = 1.3 * judged
    server = _Judges(lambda _number: SLOW)
    with serving(server):
        for judges in ("one", "two,one", "one,two,three"):
            done = genaipa(*ONE, judges, "--max-cost", f"{cap:.6f}")
            assert done.code in (3, 4), done.err
            assert judged <= spent_and_aside() <= cap, judges
    assert len(judge_runs()) > 1
    assert sum(len(held.lines) for held in server.batches) == 5, "four of one judge, one of another"
    assert "is spent or set aside" in done.out


@pytest.mark.parametrize("dear", [True, False])
def test_a_cap_holds_when_batches_come_back(dear: bool, genaipa: Cli, judged: float) -> None:
    """Dear replies leave nothing for a later judge, cheap ones leave it their share; nothing that is paid is lost."""
    cap = 1.3 * judged
    fates = [SLOW]
    server = _Judges(lambda _number: fates[-1])
    server.dear = dear
    with serving(server):
        for judges in ("one", "one,two"):
            genaipa(*ONE, judges, "--max-cost", f"{cap:.6f}")
        fates.append(Fate())
        for held in server.batches:
            held.fate = Fate()
        genaipa("judge", "--judge", "one,two", "--max-tokens", "900", "--max-cost", f"{cap:.6f}")
        assert spent_and_aside() <= cap
    answers = sum(folder.read_manifest_and_tally()[1].totals().answer_count for folder in judge_runs())
    assert answers == len(server.requests), "all that was paid is kept"
    assert (answers < 8) is dear
