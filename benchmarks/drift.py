"""Drift: how often chance is taken for a change, how often a loss is found, and how long many occasions take.

    python -m benchmarks.drift [--quick]

The series are 32 questions about five documents, scored with a standard deviation of 8 points of asking again, over
twelve looks a year; or, with every measure, systems that refuse, abstain, cite and repeat themselves as `_habits` says,
asked twice on the first day. Times are of the tests and the figure alone (24 occasions, five systems, 160 answers
each), and of the command over runs on disk of one of the systems.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.__main__ import print_table
from benchmarks.finished_run import write_run
from benchmarks.measure import Measured, measure
from benchmarks.workload import SYSTEM, Workload, make_workspace
from genaipa.runs.selection import Occasion
from genaipa_watch.over_time import (
    draw_changes_over_time,
    find_loss_on_latest_scored_occasion,
    tabulate_changes_since_first_occasion,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

QUESTIONS, DOCUMENTS = 32, 5
AGAIN = 8.0
"""Standard deviation, in points of M_all, of asking the same again."""
_LOOKS = 12


class Moved(NamedTuple):
    """What a change adds to the rates of refusals and abstentions, takes from right citations, or makes of the rest."""

    refuses: float = 0.0
    abstains: float = 0.0
    cites: float = 0.0
    tokens: float = 0.0
    words: float = 0.0


UNMOVED = Moved()


class Change(NamedTuple):
    """A change of one system at the last look, in words, and the measure in which it is to be found."""

    words: str
    measure: str
    lost: float = 0.0
    moved: Moved = UNMOVED


STUDIES = ((1, 1), (1, 2), (1, 6), (3, 2), (3, 6))
"""Systems and looks of studies with every measure."""
CHANGES = (
    Change("M_all 3 points lower", "M_all", 3),
    Change("M_all 5 points lower", "M_all", 5),
    Change("refusals 2 % to 7 %", "refuses", moved=Moved(refuses=0.05)),
    Change("refusals 2 % to 12 %", "refuses", moved=Moved(refuses=0.1)),
    Change("abstentions 10 % to 20 %", "abstains", moved=Moved(abstains=0.1)),
    Change("right citations 90 % to 80 %", "cites", moved=Moved(cites=0.1)),
    Change("15 % more tokens", "tokens", moved=Moved(tokens=0.15)),
    Change("half as many replies the same", "same words", moved=Moved(words=0.5)),
)


def series(
    seed: int, looks: int, lost: float = 0.0, systems: int = 1, *, replies: bool = False, moved: Moved = UNMOVED
) -> tuple[pd.DataFrame, dict[str, list[Occasion]]]:
    """Return the answers of scripted systems on 1 + `looks` days, scored; on the last day `lost` points worse.

    With `replies` every other measure is known as well, and the first day has two repetitions; on the last day the
    first system's replies have `moved`.
    """
    random = np.random.default_rng(seed)
    cells = [(f"q{q}", f"d{d}") for q in range(QUESTIONS) for d in range(DOCUMENTS)]
    level = random.normal(65, 12, len(cells))
    frames, days = [], [f"2026-{1 + look // 28:02}-{1 + look % 28:02}" for look in range(looks + 1)]
    for system in range(systems):
        habits = _habits(random, len(cells)) if replies else None
        for look, day in enumerate(days):
            for repetition in range(2 if replies and not look else 1):
                points = level + random.normal(0, AGAIN, len(cells)) - (lost if look == looks else 0)
                rows = pd.DataFrame(cells, columns=["question", "document"]).assign(
                    run=f"run {day}",
                    system=f"s{system}",
                    key=[f"s{system}|{d}|{q}|{repetition}" for q, d in cells],
                    m_all=points,
                    answer=[f"{look}-{repetition}-{n}" for n in range(len(cells))],
                )
                if habits is not None:
                    last = look == looks and not system
                    rows = rows.assign(**_replies(random, habits, rows["answer"], moved if last else UNMOVED))
                frames.append(rows)
    constant = dict.fromkeys(("status", "claims_silence", "cites_there", "tokens_out", "cost"), np.nan)
    same = ("unit", "scorer", "analyst", "wording", "initialization", "experiment", "prompts", "model")
    known = dict(zip(same, ("answer", "human", "ada", "original", "document", "quality", "neutral", "m"), strict=True))
    found = {f"s{system}": [Occasion(day, (f"run {day}",)) for day in days] for system in range(systems)}
    made = pd.concat(frames, ignore_index=True).assign(**({} if replies else constant), **known, counted=True)
    return made, found


def _habits(random: np.random.Generator, cells: int) -> dict[str, Floats]:
    """How a system replies to each cell: the chance to refuse, to abstain, to cite rightly, to repeat itself; tokens.

    Rates are of whole questions as well: refusals of 2 % on average, abstentions of 10 %.
    """
    question = np.repeat(np.arange(QUESTIONS), DOCUMENTS)
    return {
        "refuses": random.beta(0.1, 4.9, QUESTIONS)[question],
        "abstains": random.beta(0.2, 1.8, QUESTIONS)[question],
        "cites": random.beta(9, 1, cells),
        "same": random.beta(0.5, 0.8, cells),
        "tokens": np.exp(random.normal(5.5, 0.5, cells)),
    }


def _replies(random: np.random.Generator, habits: dict[str, Floats], answer: Any, moved: Moved) -> dict[str, Any]:
    """One day's replies, as columns of the tidy table."""
    cells = len(answer)
    refused = random.random(cells) < np.minimum(habits["refuses"] + moved.refuses, 1)
    abstained = random.random(cells) < np.minimum(habits["abstains"] + moved.abstains, 1)
    cited = random.poisson(2, cells)
    right = random.binomial(cited, np.maximum(habits["cites"] - moved.cites, 0))
    tokens = habits["tokens"] * np.exp(random.normal(0, 0.25, cells)) * (1 + moved.tokens)
    usual = random.random(cells) < habits["same"] * (1 - moved.words)
    return {
        "status": np.where(refused, "refused", "answered"),
        "claims_silence": np.where(abstained, "abstains", "no"),
        "cites_there": np.where(cited > 0, right / np.maximum(cited, 1), np.nan),
        "tokens_out": tokens.round(),
        "cost": (tokens * 1e-5 + 0.002),
        "answer": np.where(usual, [f"usual {n}" for n in range(cells)], answer),
    }


def alarms(studies: int, looks: int = _LOOKS, systems: int = 1, *, replies: bool = False) -> int:
    """In how many studies of unchanged systems anything seems a change at any look."""
    meanings = (
        set(
            tabulate_changes_since_first_occasion(*series(seed, looks, systems=systems, replies=replies)).data[
                "meaning"
            ]
        )
        for seed in range(studies)
    )
    return sum(not {"higher", "lower"}.isdisjoint(found) for found in meanings)


def finds(years: int, lost: float) -> int:
    """In how many years the last look finds a loss, which the gate goes by."""
    return sum(
        find_loss_on_latest_scored_occasion(tabulate_changes_since_first_occasion(*series(seed, _LOOKS, lost))).points
        > 0
        for seed in range(years)
    )


def finds_changed(studies: int, looks: int, systems: int, change: Change) -> int:
    """In how many studies the last look finds that the first system has changed in this measure."""
    number = 0
    for seed in range(studies):
        frame, found = series(seed, looks, change.lost, systems, replies=True, moved=change.moved)
        rows = tabulate_changes_since_first_occasion(frame, found).data
        last = rows[(rows["measure"] == change.measure) & (rows["occasion"] == found["s0"][-1].day)]
        number += bool(last.loc[last["system"] == "s0", "meaning"].isin(["higher", "lower"]).any())
    return number


def on_disk(workspace: Path, occasions: int) -> Measured:
    """`genaipa drift` of a system that was asked 160 questions on each of so many days."""
    make_workspace(workspace, words=2000)
    for number in range(occasions):
        day = f"2026-{1 + number // 28:02}-{1 + number % 28:02}"
        name = asyncio.run(write_run(workspace, Workload("independent", 1, 64), 0))
        folder = (workspace / "runs" / name).rename(workspace / "runs" / f"{day}-{name}")
        for path in folder.glob("manifest*.json"):
            facts = json.loads(path.read_text())
            path.write_text(json.dumps({**facts, "name": folder.name, "created": f"{day}T10:00:00Z"}))
    command = (sys.executable, "-m", "genaipa", "drift", SYSTEM, "--workspace", str(workspace))
    return measure(command, {**os.environ, "PYTHONDONTWRITEBYTECODE": ""})


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drift", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fifty years, and three occasions")
    quick = parser.parse_args().quick
    years, some, occasions = (50, 50, 3) if quick else (1000, 200, 24)
    with tempfile.TemporaryDirectory() as folder:
        command = on_disk(Path(folder), occasions)
    tested = series(1, occasions - 1, systems=5)
    begun = time.process_time()
    figure = draw_changes_over_time(tabulate_changes_since_first_occasion(*tested))
    assert figure is not None
    figure.plot()
    alone = time.process_time() - begun
    print_table(
        ("systems, looks", f"some alarm though nothing changed, of {years:,} studies with every measure"),
        [(f"{n}, {looks}", f"{alarms(years, looks, n, replies=True) / years:.1%}") for n, looks in STUDIES],
    )
    print_table(
        (f"change found, of {some} studies", *(f"{n}, {looks}" for n, looks in STUDIES[1::3])),
        [
            (one.words, *(f"{finds_changed(some, looks, n, one) / some:.1%}" for n, looks in STUDIES[1::3]))
            for one in CHANGES
        ],
    )
    rows = [
        (f"years with a false alarm, M_all alone, of {years:,}", f"{alarms(years) / years:.1%}"),
        *((f"losses of {lost} points found, of {some}", f"{finds(some, lost) / some:.1%}") for lost in (3, 5)),
        (f"tests and figure, {occasions} occasions x 5 systems x 160 answers, CPU s", f"{alone:.1f}"),
        (f"genaipa drift, {occasions} occasions x 160 answers, CPU s", f"{command.cpu:.1f}"),
        ("genaipa drift, memory, MiB", f"{command.rss:,.0f}"),
    ]
    print_table(("drift", "figure"), rows)


if __name__ == "__main__":
    main()
